"""Which nets a set has in d ≥ 4, by mesh and level, and how many points without building them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from fullswap.base.protocols import Points
from fullswap.grids.base import JUST_BELOW, Grid, GriddedSet, GridMaker
from fullswap.grids.levels import nested_grid
from fullswap.grids.nets import MAX_LATTICE, NetPlan, net_grid
from fullswap.theorems import Geometry

COUNTED = 20_000
"""Nets whose lattice has so few points in its box are built to be counted: some milliseconds."""
MOST_STEPS = 16.0
"""Balls of so many steps of the lattice are counted; in larger ones the volume tells as much."""
QUARTERS = 4
"""Levels from one number of cells along the diameter to the next."""


@dataclass(frozen=True)
class NetGrids(GridMaker):
    """Nets with a barycentric rounding, for sets of any shape."""

    action_set: GriddedSet

    @property
    def longest_side(self) -> float:
        """The diameter."""
        return self.action_set.diameter

    def mesh_of(self, level: int) -> float:
        """Quarters of a cell: in many dimensions whole ones would multiply the points too fast."""
        return self.longest_side * QUARTERS / (level + QUARTERS - 1)

    def level_of(self, mesh: float) -> int:
        """The coarsest level of at most this mesh."""
        cells = self.longest_side / mesh * JUST_BELOW
        return max(1, math.ceil(QUARTERS * cells) - QUARTERS + 1)

    def at_mesh(self, kind: str, mesh: float, keep: Points | None = None) -> Grid:
        """The net of a mesh; ``keep`` (m, A) are points of a coarser one that stay."""
        plan = NetPlan(self.action_set, mesh, kind)
        return _net_grid(plan) if keep is None else net_grid(plan, keep)

    def nested(self, kind: str, level: int) -> Grid:
        """Meshes that are halved, with all points of the level before."""
        earlier = nested_grid(kind, self.action_set, level - 1).points if level else None
        return self.at_mesh(kind, self.longest_side / 2**level, earlier)

    def geometry(self, kind: str, level: int, max_points: float) -> Geometry | None:
        """What is proved of the net, with at least as many points as it has."""
        plan = self._plan(kind, self.mesh_of(level))
        if plan is None:
            return None
        size = self._most(plan)
        return None if size > max_points else plan.geometry(size)

    def nested_geometry(self, kind: str, level: int, max_points: float) -> Geometry | None:
        """The same with the points of all levels before."""
        plan = self._plan(kind, self.longest_side / 2**level)
        if plan is None:
            return None
        size: float = self._most(plan)
        if level:
            coarser = self.nested_geometry(kind, level - 1, max_points)
            size += math.inf if coarser is None else coarser.size
        return None if size > max_points else plan.geometry(int(size))

    def _plan(self, kind: str, mesh: float) -> NetPlan | None:
        """None if the net is too large to build, or no net of the sphere is fine enough."""
        plan = NetPlan(self.action_set, mesh, kind)
        if (kind != "net" and plan.rim is None) or plan.looked_at > MAX_LATTICE:
            return None
        return plan

    def _most(self, plan: NetPlan) -> int:
        """No net of this plan has more points."""
        if plan.looked_at <= COUNTED:
            return len(_net_grid(plan))
        ball = self.action_set.sphere
        steps = 0.0 if ball is None else (ball[1] + plan.margin) / plan.mesh
        if ball is None or steps > MOST_STEPS:
            return math.ceil(plan.most_points())
        inside = lattice_points_in_ball(self.action_set.dim, steps)
        return inside + (0 if plan.rim is None else plan.rim.net.size)


@lru_cache(maxsize=64)  # sets are immutable and compare by value
def _net_grid(plan: NetPlan) -> Grid:
    return net_grid(plan)


def lattice_points_in_ball(dim: int, radius: float) -> int:
    """Points of A*_d, scaled to a distance of 1 between its planes, in a ball around one of them.

    A*_d is ℤ^(d+1) seen along (1, …, 1): every point is that of one z with 0 ≤ Σz ≤ d, at the
    squared length Σz² − (Σz)²/(d + 1), in units where planes are 1/√2 apart. So z is counted by Σz
    and Σz².

    Examples
    --------
    >>> [lattice_points_in_ball(2, radius) for radius in (0.5, 1.2, 2.1)]  # hexagons
    [1, 7, 13]
    """
    square = radius**2 / 2 * (1 + 1e-9)  # a hair more: the count is to be no less than the truth
    most = math.floor(square + dim**2 / (dim + 1))
    largest = math.isqrt(most)
    span = max(dim, (dim + 1) * largest)
    ways = np.zeros((2 * span + 1, most + 1))
    ways[span, 0] = 1.0
    for _ in range(dim + 1):
        added = ways.copy()
        for entry in range(1, largest + 1):
            later = ways[:, : most + 1 - entry**2]
            added[entry:, entry**2 :] += later[:-entry]
            added[:-entry, entry**2 :] += later[entry:]
        ways = added
    return sum(
        int(ways[span + total, : math.floor(square + total**2 / (dim + 1)) + 1].sum())
        for total in range(dim + 1)
    )

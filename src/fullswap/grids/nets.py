"""Nets of balls, polytopes and sets given by functions in d ≥ 4, with a barycentric rounding.

A Delaunay triangulation of many points in many dimensions is too large to build. What the rounding
needs of it is only the simplex around one target, which can be found when it is needed; and what
the bounds need is its variance, which is proved beforehand (``fullswap.theorems.nets``).

A net has the points of a lattice in the set, projections of lattice points near it, and points of
the boundary (``fullswap.grids.rim``). The lattice is A*_d, the best known covering of space up to
d = 20 or so; its Delaunay simplices are Kuhn's in coordinates of the lattice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.progress import Progress
from fullswap.base.protocols import Indices, Points, SparseRows, Vector
from fullswap.grids.base import Grid, GriddedSet, unique_points
from fullswap.grids.rim import Rim, rim_of_size, rim_within
from fullswap.theorems import Constants, Geometry
from fullswap.theorems.nets import SPARE, charged_depth, lattice_margin, programme_bound, steepness

MAX_LATTICE = 20_000_000
"""Most lattice points that are looked at: seconds, and 80 MB for their table."""
RIM_SHARE = 1.0
"""Boundary points beside lattice points inside, where so many are not needed anyway."""
SLAB = 400_000
"""Lattice points that are projected at once."""


@dataclass(frozen=True)
class NetPlan:
    """Which lattice and which points of a sphere make the net of a mesh."""

    action_set: GriddedSet
    mesh: float
    kind: str

    @property
    def radius(self) -> float:
        """r, the covering radius of the lattice."""
        d = self.action_set.dim
        return self.mesh * math.sqrt(d * (d + 2) / (6 * (d + 1)))

    @property
    def single(self) -> bool:
        """Whether the centre alone covers the set."""
        return self.radius >= self.action_set.reach

    @property
    def covering_radius(self) -> float:
        """Every point of the set is within this distance of one of the net."""
        return min(self.radius, self.action_set.reach)

    @cached_property
    def rim(self) -> Rim | None:
        """Points on the boundary, if there is a net of the sphere that is fine enough.

        A finer one than needed brings hull distance and margin down, and costs little while it has
        few points beside those inside.
        """
        if self.kind == "net":
            return None
        coarsest = rim_within(self.action_set, self.radius)
        inside = self.action_set.volume_near(0.0, self.mesh) * self._density
        finer = rim_of_size(self.action_set, int(RIM_SHARE * inside))
        if coarsest is None or finer is None or finer.reach > coarsest.reach:
            return coarsest
        return finer

    @property
    def margin(self) -> float:
        """κ: lattice points so far outside of the set are projected."""
        if self.rim is None:
            return self.radius
        return lattice_margin(self.radius, self.rim.reach)

    def lattice(self) -> tuple[Vector, Points, Indices, Indices]:
        """Centre (d,), matrix (d, d) to lattice coordinates, the lowest (d,) and counts (d,)."""
        origin, basis = self.action_set.frame
        d = basis.shape[1]
        gram = (np.eye(d) + 1) / 2
        matrix = np.ascontiguousarray(np.linalg.cholesky(gram).T / self.mesh)
        center = (np.asarray(self.action_set.center) - origin) @ basis
        if self.single:
            return center, matrix, np.zeros(d, np.int64), np.ones(d, np.int64)
        directions = np.concatenate((matrix.T, -matrix.T)) @ basis.T
        ends = (self.action_set.minimize_linear(directions) - origin) @ basis - center
        spare = self.margin / self.mesh  # columns of the matrix have length 1/mesh
        low = np.floor(np.einsum("ij,ji->i", ends[:d], matrix) - spare).astype(np.int64)
        high = np.ceil(np.einsum("ij,ji->i", ends[d:], matrix) + spare).astype(np.int64)
        return center, matrix, low, high - low + 1

    @property
    def looked_at(self) -> float:
        """Lattice points of the box that is searched."""
        return float(np.prod(self.lattice()[3].astype(float)))

    def most_points(self) -> float:
        """At least as many points as the net has: balls around lattice points are disjoint."""
        rim = 0 if self.rim is None else self.rim.net.size
        if self.single:
            return 1 + rim
        distance = self.margin + self.radius
        return self.action_set.volume_near(distance, self.mesh) * self._density + rim

    @property
    def _density(self) -> float:
        """Lattice points in a cube with the mesh as its side."""
        d = self.action_set.dim
        return math.sqrt((d + 1) / 2**d)

    def geometry(self, size: int) -> Geometry:
        """What the bounds read of a net with so many points."""
        radius = self.covering_radius
        if self.kind == "net":
            return Geometry(size, radius, radius)
        depth = self.action_set.diameter if self.rim is None else self.rim.depth
        charged = charged_depth(self.radius, depth)
        return Geometry(size, radius, charged, SPARE * self.radius**2)


def net_grid(plan: NetPlan, keep: Points | None = None) -> Grid:
    """The net itself; ``keep`` (m, A) are points of a coarser one that stay."""
    action_set, (origin, basis) = plan.action_set, plan.action_set.frame
    center, matrix, low, counts = plan.lattice()
    if plan.looked_at > MAX_LATTICE:
        checks.refuse("mesh", f"be larger (at most {MAX_LATTICE:,} lattice points)", plan.mesh)
    inside, places, outside = _lattice_points(plan)
    rim = [] if plan.rim is None else [(plan.rim.points() - origin) @ basis]
    # old points first, and so to the bit: learners that sit on them are looked for by their place
    old = np.zeros((0, len(center))) if keep is None else (keep - origin) @ basis
    every, where = unique_points(np.concatenate((old, inside, outside, *rim)), action_set.diameter)
    points = every @ basis.T + origin
    radius = plan.covering_radius
    if plan.kind == "net":
        return Grid(points, plan.mesh, radius, radius)
    lookup = np.full(int(np.prod(counts)), -1, dtype=np.int32)
    lookup[places] = where[len(old) : len(old) + len(inside)]
    inverse = np.linalg.inv(matrix)
    corner = center + low @ inverse
    strides = np.append(np.cumprod(counts[::-1])[-2::-1], 1).astype(np.int64)
    lattice = (corner, matrix, counts - 1, strides, lookup)
    geometry = plan.geometry(len(points))
    # squared losses have L/β = D
    locator = NetLocator(plan, np.ascontiguousarray(every), lattice, action_set.diameter)
    return Grid(points, plan.mesh, radius, geometry.hull_distance, geometry.variance, locator)


def _lattice_points(plan: NetPlan) -> tuple[Points, Indices, Points]:
    """Lattice points in the set with their places in the box, and projections of those near it."""
    action_set, (origin, basis) = plan.action_set, plan.action_set.frame
    center, matrix, low, counts = plan.lattice()
    inverse, total = np.linalg.inv(matrix), int(np.prod(counts))
    same = 1e-12 * action_set.diameter
    inside, places, outside = [], [], []
    with Progress(total, None, "lattice points") as bar:
        for start in range(0, total, SLAB):
            flat = np.arange(start, min(start + SLAB, total))
            steps = np.column_stack(np.unravel_index(flat, tuple(counts))) + low
            points = (center + steps @ inverse) @ basis.T + origin
            near = action_set.could_be_within(points, plan.margin)
            flat, points = flat[near], points[near]
            nearest = action_set.project(points) if len(points) else points
            moved = np.linalg.norm(nearest - points, axis=1)
            stays = moved <= same
            inside.append((nearest[stays] - origin) @ basis)
            places.append(flat[stays])
            rim = ~stays & (moved <= plan.margin * (1 + 1e-9))
            outside.append((nearest[rim] - origin) @ basis)
            bar.update(start + SLAB)
    return np.concatenate(inside), np.concatenate(places), np.concatenate(outside)


class NetLocator:
    """Barycentric rounding on a net, by the lattice or by a small programme over near points.

    How dear a shifted mean is beside a wide spread, L/β, depends on the losses: ``tuned`` says it.
    """

    def __init__(self, plan: NetPlan, points: Points, lattice: Any, ratio: float) -> None:
        assert plan.rim is not None
        self._plan, self._points, self._lattice = plan, points, lattice
        radius, depth = plan.radius, plan.rim.depth
        k = steepness(ratio, depth)
        least = programme_bound(radius, depth, k)
        # ½·X²/H² is what the lifting adds to a minimum X: half of what is to spare
        height = math.sqrt(least / (SPARE - 1))
        # points within r mostly suffice; where they do not, the search is widened
        self._numbers = np.array([k, height, radius, SPARE * least])

    @property
    def width(self) -> int:
        """Most points of a row."""
        return int(self._points.shape[1]) + 1

    def tuned(self, constants: Constants) -> NetLocator:
        """For losses of this steepness and smoothness."""
        beta = constants.smoothness
        ratio = constants.lipschitz / beta if beta else math.inf
        return NetLocator(self._plan, self._points, self._lattice, ratio)

    def __call__(self, points: Points) -> SparseRows:
        """Round each point."""
        from fullswap.kernels.searching import locate_rows

        shape = (len(points), self.width)
        indices, weights = np.empty(shape, np.int64), np.empty(shape)
        locate_rows(self.search(), np.array(points, dtype=float, order="C"), indices, weights)
        return SparseRows(indices, weights)

    def search(self) -> Any:
        """What compiled rounding needs, with room of its own to work in."""
        from fullswap.kernels.net import NetLattice, NetSearch, net_room

        shared = (*self._frame, self._points, NetLattice(*self._lattice), self._cubes)
        return NetSearch(*shared, self._numbers, *net_room(*self._points.shape))

    @property
    def _frame(self) -> tuple[Vector, Points]:
        origin, basis = self._plan.action_set.frame
        return np.array(origin), np.array(basis)

    @cached_property
    def _cubes(self) -> Any:
        from fullswap.kernels.net import net_cubes

        return net_cubes(self._points, 2 * self._plan.radius)


def tuned(grid: Grid, constants: Constants) -> Grid:
    """The grid with a rounding that suits the losses, where that makes a difference."""
    if isinstance(grid.locate, NetLocator):
        return replace(grid, locate=grid.locate.tuned(constants))
    return grid

"""Grids of one-dimensional sets, along their own coordinate."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fullswap.base import checks
from fullswap.base.protocols import Points, SparseRows, Vector
from fullswap.grids.base import JUST_BELOW, Grid, GriddedSet, GridMaker
from fullswap.theorems import Geometry


@dataclass(frozen=True)
class LineGrids(GridMaker):
    """Cell centres as nets, cell ends as triangulations."""

    action_set: GriddedSet

    @property
    def longest_side(self) -> float:
        """The length of the line."""
        return self.action_set.diameter

    def at_mesh(self, kind: str, mesh: float) -> Grid:
        """Centres of cells (the same radius as their ends, one point less), or their ends."""
        low, high = ends(self.action_set)
        edges = np.linspace(low, high, max(1, math.ceil((high - low) / mesh * JUST_BELOW)) + 1)
        return line(self.action_set, (edges[1:] + edges[:-1]) / 2 if kind == "net" else edges)

    def nested(self, kind: str, level: int) -> Grid:
        """Every cell halved: ends of cells whatever the kind, since centres are not nested."""
        return self.at_mesh("triangulation", self.longest_side / 2**level)

    def geometry(self, kind: str, level: int, max_points: float) -> Geometry:
        """By formula."""
        low, high = ends(self.action_set)
        gap = (high - low) / level
        size, outside = (level + 1, 0.0) if kind == "triangulation" else (level, gap / 2)
        return Geometry(size, gap / 2, outside, gap**2 / 4 if size > 1 else 0.0)

    def nested_geometry(self, kind: str, level: int, max_points: float) -> Geometry:
        """By formula."""
        return self.geometry("triangulation", 2**level, max_points)


def ends(action_set: GriddedSet) -> tuple[float, float]:
    """The two ends of a one-dimensional set, as coordinates along its frame."""
    origin, basis = action_set.frame
    both = action_set.minimize_linear(np.array([basis[:, 0], -basis[:, 0]]))
    low, high = ((both - origin) @ basis)[:, 0]
    return float(low), float(high)


def line(action_set: GriddedSet, coordinates: ArrayLike) -> Grid:
    """The grid of given coordinates along a one-dimensional set, in rising order.

    Examples
    --------
    >>> from fullswap.sets import Interval
    >>> grid = line(Interval(0, 1), [0.0, 0.25, 1.0])
    >>> grid.mesh, grid.covering_radius, grid.variance
    (0.75, 0.375, 0.140625)
    """
    t = checks.vector("actions", coordinates)
    if not (np.diff(t) > 0).all():
        checks.refuse("actions", "be distinct and in rising order", t.tolist())
    low, high = ends(action_set)
    slack = 1e-9 * max(1.0, high - low)  # ends that were computed may be off by rounding
    if t[0] < low - slack or t[-1] > high + slack:
        checks.refuse("actions", f"lie in [{low:.6g}, {high:.6g}]", t.tolist())
    gaps = np.diff(t)
    widest = float(gaps.max()) if gaps.size else 0.0
    h = float(max(t[0] - low, high - t[-1], 0.0))
    origin, basis = action_set.frame
    locator = LineLocator(t, origin, basis[:, 0]) if t.size > 1 else None
    points = t[:, None] * basis[:, 0] + origin
    return Grid(points, widest, max(widest / 2, h), h, widest**2 / 4, locator)


class LineLocator:
    """Neighbours on a line that need not be evenly spaced; ends are clamped. [FKO25, Lemma 17]."""

    def __init__(self, t: Vector, origin: Vector, direction: Vector) -> None:
        self._t, self._origin, self._direction = t, origin, direction

    def __call__(self, points: Points) -> SparseRows:
        """Round each point."""
        x = np.clip((points - self._origin) @ self._direction, self._t[0], self._t[-1])
        left = np.clip(np.searchsorted(self._t, x, side="right") - 1, 0, len(self._t) - 2)
        share = (x - self._t[left]) / (self._t[left + 1] - self._t[left])
        return SparseRows(np.column_stack((left, left + 1)), np.column_stack((1 - share, share)))

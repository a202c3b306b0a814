"""Families of grids by level, as plain data: what bounds are minimised over and plans hold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol

from fullswap.base import checks
from fullswap.base.protocols import Vector
from fullswap.grids.base import Grid, GriddedSet
from fullswap.grids.boundary import boundary, boundary_geometry
from fullswap.grids.line import line
from fullswap.theorems import Geometry

MOST_GRIDS = 64
"""So many are held for the next who asks; a search over levels looks at fewer."""


@lru_cache(maxsize=MOST_GRIDS)  # sets are immutable and compare by value
def grid_of(kind: str, action_set: GriddedSet, level: int) -> Grid:
    """The grid with ``level`` cells along the longest axis, or dim + level points on the boundary.

    ``kind`` is "net", "triangulation" or "boundary".
    """
    if kind == "boundary":
        return boundary(action_set, action_set.dim + level)
    return action_set.grids.at_mesh(kind, action_set.grids.mesh_of(level))


@lru_cache(maxsize=MOST_GRIDS)
def nested_grid(kind: str, action_set: GriddedSet, level: int) -> Grid:
    """Levels 0, 1, … are about twice as fine each time, and keep all earlier points."""
    return action_set.grids.nested(kind, level)


class GridFamily(Protocol):
    """Level ↦ grid, and what it measures."""

    def grid(self, level: int) -> Grid:
        """The grid of a level."""

    def geometry(self, level: int) -> Geometry | None:
        """What it measures, without building it where a formula knows; None if out of reach."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""


@dataclass(frozen=True)
class Levels:
    """Level k = 1, 2, … has k cells along the longest axis; boundaries have dim + k points.

    Examples
    --------
    >>> from fullswap.sets import Interval
    >>> Levels("net", Interval(0, 1)).grid(4).points.ravel()
    array([0.125, 0.375, 0.625, 0.875])
    """

    kind: str
    action_set: GriddedSet
    max_points: float = math.inf
    doubled: bool = False
    """Whether level j = 0, 1, … stands for 2^j."""

    def grid(self, level: int) -> Grid:
        """The grid of a level."""
        return grid_of(self.kind, self.action_set, 2**level if self.doubled else level)

    def geometry(self, level: int) -> Geometry | None:
        """What it measures."""
        level = 2**level if self.doubled else level
        measured: Geometry | None
        if self.kind == "boundary":
            measured = boundary_geometry(self.action_set, self.action_set.dim + level)
        else:
            measured = self.action_set.grids.geometry(self.kind, level, self.max_points)
        return _within(self.max_points, measured)

    def level_of_mesh(self, mesh: float) -> int:
        """The coarsest level of at most this mesh."""
        size = checked_mesh(self.action_set, mesh)
        if self.kind != "boundary" or self.action_set.dim == 1:
            return self.action_set.grids.level_of(size)
        # a polytope approximation of mesh ε is one with hull distance at most ε²/D
        level, most = 1, 4096  # by then ε is below a thousandth of the diameter in the plane
        target, dim = size**2 / self.action_set.diameter, self.action_set.dim
        while boundary_geometry(self.action_set, dim + level).hull_distance > target:
            if level >= most:
                break
            level += max(1, level // 8)
        return level

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        family = "doubled" if self.doubled else "levels"
        return {"family": family, "kind": self.kind, "set": self.action_set.to_dict()}


@dataclass(frozen=True)
class Nested:
    """Level j = 0, 1, … is about twice as fine as the one before and keeps all its points."""

    kind: str
    action_set: GriddedSet
    max_points: float = math.inf

    def grid(self, level: int) -> Grid:
        """The grid of a level."""
        return nested_grid(self.kind, self.action_set, level)

    def geometry(self, level: int) -> Geometry | None:
        """What it measures."""
        if 2.0**level > self.max_points:
            return None
        measured = self.action_set.grids.nested_geometry(self.kind, level, self.max_points)
        return _within(self.max_points, measured)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {"family": "nested", "kind": self.kind, "set": self.action_set.to_dict()}


@dataclass(frozen=True, eq=False)
class Choices:
    """Levels are given coordinates along a one-dimensional set, each in rising order."""

    action_set: GriddedSet
    coordinates: tuple[Vector, ...]

    @cached_property
    def _grids(self) -> tuple[Grid, ...]:
        return tuple(line(self.action_set, t) for t in self.coordinates)

    def grid(self, level: int) -> Grid:
        """The grid of a level."""
        return self._grids[level]

    def geometry(self, level: int) -> Geometry | None:
        """What it measures; None after the last."""
        return self._grids[level].geometry if level < len(self._grids) else None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        coordinates = [t.tolist() for t in self.coordinates]
        return {"family": "choices", "set": self.action_set.to_dict(), "coordinates": coordinates}


def _within(max_points: float, measured: Geometry | None) -> Geometry | None:
    return None if measured is None or measured.size > max_points else measured


def checked_mesh(action_set: GriddedSet, mesh: Any) -> float:
    """Return ``mesh`` if it is a positive number at most as long as the set, else ValueError."""
    if isinstance(mesh, bool):
        checks.refuse("mesh", "be a number", mesh)
    size, longest = checks.number("mesh", mesh, above=0), action_set.grids.longest_side
    if size > longest * (1 + 1e-9):  # a side that was computed may be short by rounding
        checks.refuse("mesh", f"be at most the longest side {longest:.6g} of the set", mesh)
    return size


def net(action_set: GriddedSet, mesh: float) -> Grid:
    """An ε-net: points so that every point of the set is near one. [FKO25, Lemma 13].

    Lines and boxes use cell centres: the same radius as the corners with fewer points.

    Examples
    --------
    >>> from fullswap.sets import Interval
    >>> net(Interval(0, 1), 0.25).points.ravel()
    array([0.125, 0.375, 0.625, 0.875])
    """
    return action_set.grids.at_mesh("net", checked_mesh(action_set, mesh))


def triangulation(action_set: GriddedSet, mesh: float) -> Grid:
    """An ε-triangulation: Kuhn on boxes and simplices, a net elsewhere. [FKO25, Lemma 14].

    Examples
    --------
    >>> from fullswap.sets import Box
    >>> grid = triangulation(Box([0, 0], [1, 1]), 0.5)
    >>> len(grid), grid.variance
    (9, 0.125)
    """
    return action_set.grids.at_mesh("triangulation", checked_mesh(action_set, mesh))

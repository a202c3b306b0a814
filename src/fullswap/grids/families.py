"""Which construction serves which set, by mesh or by level."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np

from fullswap.base.protocols import Points, SparseRows, Vector
from fullswap.grids.base import Grid
from fullswap.grids.boundary import MAX_HULL_DIM, boundary, most_boundary_points
from fullswap.grids.delaunay import MAX_LATTICE, delaunay, projected_lattice, projected_net
from fullswap.grids.kuhn import (
    MAX_LOOKUP,
    box_cells,
    box_geometry,
    centred_box,
    dyadic_cells,
    kuhn_box,
    kuhn_simplex,
    simplex_geometry,
)
from fullswap.sets import Box, ConvexSetBase, Simplex
from fullswap.theorems import Geometry


def checked_mesh(action_set: ConvexSetBase, mesh: float) -> float:
    """Return ``mesh`` if it is a positive number at most as long as the set, else ValueError."""
    number = isinstance(mesh, int | float | np.number) and not isinstance(mesh, bool)
    if not (number and math.isfinite(mesh) and mesh > 0):
        raise ValueError(f"mesh must be a positive number, got {mesh!r}")
    longest = longest_side(action_set)
    if mesh > longest * (1 + 1e-9):
        raise ValueError(
            f"mesh must be at most the longest side {longest:.6g} of the set, got {mesh:.6g}"
        )
    return float(mesh)


def longest_side(action_set: ConvexSetBase) -> float:
    """The length that mesh is measured against: one cell along the longest axis."""
    if isinstance(action_set, Simplex) and action_set.dim > 1:
        return action_set.scale
    if isinstance(action_set, Box):
        return float((np.asarray(action_set.high) - np.asarray(action_set.low)).max())
    return action_set.diameter


def ends(action_set: ConvexSetBase) -> tuple[float, float]:
    """The two ends of a one-dimensional set, as coordinates along its frame."""
    origin, basis = action_set.frame
    both = action_set.minimize_linear(np.array([basis[:, 0], -basis[:, 0]]))
    low, high = ((both - origin) @ basis)[:, 0]
    return float(low), float(high)


def line(action_set: ConvexSetBase, coordinates: Vector) -> Grid:
    """The grid of given coordinates along a one-dimensional set, in rising order.

    Examples
    --------
    >>> from fullswap.sets import Interval
    >>> grid = line(Interval(0, 1), [0.0, 0.25, 1.0])
    >>> grid.mesh, grid.covering_radius, grid.variance
    (0.75, 0.375, 0.140625)
    """
    t = np.asarray(coordinates, dtype=float)
    if t.ndim != 1 or t.size == 0 or not np.isfinite(t).all():
        raise ValueError(f"actions must be a list of finite numbers, got {coordinates!r}")
    if not (np.diff(t) > 0).all():
        raise ValueError(f"actions must be distinct and in rising order, got {t.tolist()}")
    low, high = ends(action_set)
    slack = 1e-9 * max(1.0, high - low)
    if t[0] < low - slack or t[-1] > high + slack:
        raise ValueError(f"actions must lie in [{low:.6g}, {high:.6g}], got {t[0]} to {t[-1]}")
    gaps = np.diff(t)
    widest = float(gaps.max()) if gaps.size else 0.0
    h = float(max(t[0] - low, high - t[-1], 0.0))
    origin, basis = action_set.frame
    locator = _LineLocator(t, origin, basis[:, 0]) if t.size > 1 else None
    points = t[:, None] * basis[:, 0] + origin
    return Grid(points, widest, max(widest / 2, h), h, widest**2 / 4, locator)


class _LineLocator:
    """Neighbours on a line that need not be evenly spaced; ends are clamped. [FKO25, Lemma KH]."""

    def __init__(self, t: Vector, origin: Vector, direction: Vector) -> None:
        self._t, self._origin, self._direction = t, origin, direction

    def __call__(self, points: Points) -> SparseRows:
        x = np.clip((points - self._origin) @ self._direction, self._t[0], self._t[-1])
        left = np.clip(np.searchsorted(self._t, x, side="right") - 1, 0, len(self._t) - 2)
        share = (x - self._t[left]) / (self._t[left + 1] - self._t[left])
        return SparseRows(np.column_stack((left, left + 1)), np.column_stack((1 - share, share)))


def net(action_set: ConvexSetBase, mesh: float) -> Grid:
    """An ε-net: points so that every point of the set is near one. [FKO25, Lemma NH].

    Lines and boxes use cell centres: the same radius as the corners with fewer points.

    Examples
    --------
    >>> from fullswap.sets import Interval
    >>> net(Interval(0, 1), 0.25).points.ravel()
    array([0.125, 0.375, 0.625, 0.875])
    """
    mesh = checked_mesh(action_set, mesh)
    if action_set.dim == 1:
        low, high = ends(action_set)
        cells = max(1, math.ceil((high - low) / mesh * (1 - 1e-12)))
        edges = np.linspace(low, high, cells + 1)
        return line(action_set, (edges[1:] + edges[:-1]) / 2)
    if isinstance(action_set, Box):
        return centred_box(action_set, mesh)
    if isinstance(action_set, Simplex):
        return kuhn_simplex(action_set, mesh)
    return projected_net(action_set, mesh)


def triangulation(action_set: ConvexSetBase, mesh: float) -> Grid:
    """An ε-triangulation: Kuhn on boxes and simplices, Delaunay elsewhere. [FKO25, Lemma BH].

    Examples
    --------
    >>> from fullswap.sets import Box
    >>> grid = triangulation(Box([0, 0], [1, 1]), 0.5)
    >>> len(grid), grid.variance
    (9, 0.125)
    """
    mesh = checked_mesh(action_set, mesh)
    if action_set.dim == 1:
        low, high = ends(action_set)
        cells = max(1, math.ceil((high - low) / mesh * (1 - 1e-12)))
        return line(action_set, np.linspace(low, high, cells + 1))
    if isinstance(action_set, Box):
        return kuhn_box(action_set, box_cells(action_set, mesh))
    if isinstance(action_set, Simplex):
        return kuhn_simplex(action_set, mesh)
    return delaunay(action_set, mesh)


def family(kind: str, action_set: ConvexSetBase) -> Callable[[int], Grid]:
    """Level k = 1, 2, … ↦ a grid of that kind with k cells along the longest axis.

    For ``kind="boundary"`` level k has at most dim + k points. Grids are built once and kept.
    """
    if kind == "boundary":
        if action_set.dim == 1:
            return lambda level: line(action_set, np.array(ends(action_set)))
        return lru_cache(maxsize=64)(lambda level: boundary(action_set, action_set.dim + level))
    make = {"net": net, "triangulation": triangulation}[kind]
    side = longest_side(action_set)
    return lru_cache(maxsize=64)(lambda level: make(action_set, side / level))


def nested(kind: str, action_set: ConvexSetBase) -> Callable[[int], Grid]:
    """Level j = 0, 1, … ↦ grids about twice as fine each time, which keep all earlier points."""
    side = longest_side(action_set)

    @cache
    def grid(level: int) -> Grid:
        if action_set.dim > 1 and isinstance(action_set, Box):
            return kuhn_box(action_set, dyadic_cells(action_set, level))
        if action_set.dim == 1 or isinstance(action_set, Simplex):
            return triangulation(action_set, side / 2**level)
        earlier = grid(level - 1).points if level else None
        make = projected_net if kind == "net" else delaunay
        return make(action_set, side / 2**level, earlier)

    return grid


def measure(
    kind: str, action_set: ConvexSetBase, max_points: float
) -> Callable[[int], Geometry | None]:
    """Level ↦ the geometry of ``family(kind, action_set)(level)``, None beyond ``max_points``.

    Lines, boxes and simplices are measured by formula; other grids must be built.
    """
    build = family(kind, action_set)
    corners = kind == "triangulation"

    def geometry(level: int) -> Geometry | None:
        if kind == "boundary":
            if action_set.dim + level > most_boundary_points(action_set):
                return None
            measured = build(level).geometry
        elif action_set.dim == 1:
            low, high = ends(action_set)
            gap = (high - low) / level
            size, outside = (level + 1, 0.0) if corners else (level, gap / 2)
            measured = Geometry(size, gap / 2, outside, gap**2 / 4 if size > 1 else 0.0)
        elif isinstance(action_set, Box):
            cells = box_cells(action_set, longest_side(action_set) / level)
            measured = box_geometry(action_set, cells, corners)
        elif isinstance(action_set, Simplex):
            if (level + 1.0) ** action_set.dim > MAX_LOOKUP:
                return None
            measured = simplex_geometry(action_set, level)
        elif _out_of_reach(kind, action_set, level, max_points):
            return None
        else:
            measured = build(level).geometry
        return measured if measured.size <= max_points else None

    return geometry


def _out_of_reach(kind: str, action_set: ConvexSetBase, level: int, max_points: float) -> bool:
    """Whether a grid with this many cells along an axis has surely too many points to build."""
    d = action_set.dim
    if kind == "triangulation" and d > MAX_HULL_DIM:
        return True
    fewest = (level / 2) ** d / math.factorial(d)
    if fewest > max_points or (level + 3.0) ** d > MAX_LATTICE:
        return True
    # a lattice is cheap to count, a triangulation in many dimensions is not cheap to build
    lattice, _ = projected_lattice(action_set, longest_side(action_set) / level)
    return len(lattice) > max_points


def measure_nested(
    kind: str, action_set: ConvexSetBase, max_points: float
) -> Callable[[int], Geometry | None]:
    """Level ↦ the geometry of ``nested(kind, action_set)(level)``, None beyond ``max_points``."""
    build = nested(kind, action_set)

    def geometry(level: int) -> Geometry | None:
        if 2.0**level > max_points:
            return None
        if action_set.dim == 1:
            measured = measure("triangulation", action_set, max_points)(2**level)
        elif isinstance(action_set, Box):
            measured = box_geometry(action_set, dyadic_cells(action_set, level), corners=True)
        elif isinstance(action_set, Simplex):
            measured = measure("triangulation", action_set, max_points)(2**level)
        elif _out_of_reach(kind, action_set, 2**level, max_points):
            return None
        else:
            measured = build(level).geometry
        return measured if measured is not None and measured.size <= max_points else None

    return geometry

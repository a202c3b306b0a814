"""Kuhn grids: a lattice in cell coordinates y = (x − shift)·matrix, on boxes and simplices.

Cumulative sums y_j = N·(p_1 + … + p_j) turn the simplex into the ordered chamber of a cube,
which is a union of Kuhn simplices, so one locate serves both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement, permutations
from math import comb
from typing import Any, Protocol

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Indices, Points, SparseRows, Vector
from fullswap.grids.base import JUST_BELOW, Grid, GridMaker, enclosing_radius_squared, product
from fullswap.theorems import Geometry

MAX_LOOKUP = 20_000_000
"""Most entries of the table from lattice points to grid points: 160 MB."""
MOST_STRETCHED = 64
"""Nested grids of a box start with at most so many cells along an axis, however thin the box."""
_NO_LOOKUP: Indices = np.zeros(0, dtype=np.int64)


class SimplexShape(Protocol):
    """A simplex {shift + scale·p} of dimension ``dim``."""

    @property
    def dim(self) -> int:
        """One less than the number of coordinates."""

    @property
    def scale(self) -> float:
        """Sum of the coordinates, before the shift."""

    @property
    def shift(self) -> Vector:
        """Shape (dim + 1,)."""


@dataclass(frozen=True, eq=False)
class BoxGrids(GridMaker):
    """Kuhn triangulations and cell centres of the box from ``low`` to ``high`` (d,), d ≥ 2.

    N_i cells along the axes have n = Π(N_i + 1) corners with V = Σ side_i²/4 and an exact hull;
    their centres have the same radius with fewer points.
    """

    low: Vector
    high: Vector

    @property
    def longest_side(self) -> float:
        """The longest edge."""
        return float((self.high - self.low).max())

    def at_mesh(self, kind: str, mesh: float) -> Grid:
        """Centres of the cells, or their corners."""
        cells = self._cells(mesh)
        if kind != "net":
            return self._corners(cells)
        sides = (self.high - self.low) / cells
        spans = zip(self.low, sides, cells, strict=True)
        points = product([low + side * (np.arange(n) + 0.5) for low, side, n in spans])
        radius = float(np.sqrt(np.square(sides).sum()) / 2)
        return Grid(points, float(sides.max()), radius, radius)

    def nested(self, kind: str, level: int) -> Grid:
        """Corners of cells that are halved along every axis."""
        return self._corners(self._dyadic_cells(level))

    def geometry(self, kind: str, level: int, max_points: float) -> Geometry:
        """By formula."""
        cells = self._cells(self.longest_side / level)
        if kind == "triangulation":
            return self._geometry(cells)
        radius = self._geometry(cells).covering_radius
        # the hull of the centres is half a cell away from the box's corners
        return Geometry(int(np.prod(cells.astype(float))), radius, radius)

    def nested_geometry(self, kind: str, level: int, max_points: float) -> Geometry:
        """By formula."""
        return self._geometry(self._dyadic_cells(level))

    def _cells(self, mesh: float) -> Indices:
        """Cells along each axis so that none is longer than ``mesh``."""
        cells = np.ceil((self.high - self.low) / mesh * JUST_BELOW)
        return np.maximum(1, cells).astype(np.int64)

    def _dyadic_cells(self, level: int) -> Indices:
        """Cells that double with every level: about cubic at level 0, none finer than 64 : 1."""
        sides = self.high - self.low
        cells = np.clip(np.floor(sides / sides.min() * (1 + 1e-12)), 1, MOST_STRETCHED)
        doubled: Indices = cells.astype(np.int64) * 2**level
        return doubled

    def _geometry(self, cells: Indices) -> Geometry:
        """What ``_corners`` measures, without building the grid."""
        variance = float(np.square((self.high - self.low) / cells).sum() / 4)
        size = int(np.prod((cells + 1).astype(float)))
        return Geometry(size, variance**0.5, 0.0, variance)

    def _corners(self, cells: Indices) -> Grid:
        spans = zip(self.low, self.high, cells, strict=True)
        points = product([np.linspace(low, high, n + 1) for low, high, n in spans])
        sides, variance = (self.high - self.low) / cells, self._geometry(cells).variance
        locator = KuhnLocator(self.low, np.diag(1 / sides), cells, _NO_LOOKUP)
        return Grid(points, float(sides.max()), variance**0.5, 0.0, variance, locator)


@dataclass(frozen=True)
class SimplexGrids(GridMaker):
    """Kuhn triangulations of a simplex, d ≥ 2, which are its nets as well."""

    simplex: SimplexShape

    @property
    def longest_side(self) -> float:
        """The sum of the coordinates: meshes are steps of one coordinate."""
        return self.simplex.scale

    def at_mesh(self, kind: str, mesh: float) -> Grid:
        """Multiples of the mesh."""
        return kuhn_simplex(self.simplex, mesh)

    def nested(self, kind: str, level: int) -> Grid:
        """Meshes that are halved."""
        return kuhn_simplex(self.simplex, self.longest_side / 2**level)

    def geometry(self, kind: str, level: int, max_points: float) -> Geometry | None:
        """By formula."""
        if (level + 1.0) ** self.simplex.dim > MAX_LOOKUP:
            return None
        return simplex_geometry(self.simplex, level)

    def nested_geometry(self, kind: str, level: int, max_points: float) -> Geometry | None:
        """By formula."""
        return self.geometry(kind, 2**level, max_points)


class KuhnLocator:
    """Barycentric rounding on a Kuhn grid, O(d log d) a point and no search structure."""

    def __init__(self, shift: Points, matrix: Points, cells: Indices, lookup: Indices) -> None:
        self.shift, self.matrix = shift, np.ascontiguousarray(matrix)
        self.cells, self.lookup = cells.astype(np.int64), lookup
        counts = self.cells + 1
        self.strides = np.concatenate((np.cumprod(counts[::-1])[-2::-1], [1])).astype(np.int64)

    def __call__(self, points: Points) -> SparseRows:
        """Round each point."""
        from fullswap.kernels.kuhn import kuhn_locate

        y = (points - self.shift) @ self.matrix
        shape = (len(points), len(self.cells) + 1)
        indices, weights = np.empty(shape, np.int64), np.empty(shape)
        kuhn_locate(y, self.cells, self.strides, self.lookup, indices, weights)
        return SparseRows(indices, weights)

    def search(self) -> Any:
        """What compiled rounding needs, with room of its own to work in."""
        from fullswap.kernels.searching import KuhnSearch

        shift, matrix = np.array(self.shift, dtype=float), np.array(self.matrix, dtype=float)
        d = len(self.cells)
        room = np.empty(d), np.empty(d), np.empty(d, np.int64)
        return KuhnSearch(shift, matrix, self.cells, self.strides, self.lookup, *room)


def simplex_geometry(simplex: SimplexShape, cells: int) -> Geometry:
    """What ``kuhn_simplex`` measures, without building the grid."""
    variance = _chamber_variance(simplex.dim) * (simplex.scale / cells) ** 2
    return Geometry(comb(cells + simplex.dim, cells), variance**0.5, 0.0, variance)


def kuhn_simplex(simplex: SimplexShape, mesh: float) -> Grid:
    """All points of a simplex whose coordinates are multiples of scale/N."""
    d = simplex.dim
    cells = max(1, int(np.ceil(simplex.scale / mesh * JUST_BELOW)))
    if (cells + 1.0) ** d > MAX_LOOKUP:
        least = f"be larger on a simplex of dimension {d} (at most {MAX_LOOKUP} lattice points)"
        checks.refuse("mesh", least, mesh)
    chamber = np.array(list(combinations_with_replacement(range(cells + 1), d)), dtype=np.int64)
    lookup = np.full((cells + 1) ** d, -1, dtype=np.int64)
    strides = (cells + 1) ** np.arange(d - 1, -1, -1)
    lookup[chamber @ strides] = np.arange(len(chamber))
    padded = np.column_stack((np.zeros(len(chamber)), chamber, np.full(len(chamber), cells)))
    shift = np.broadcast_to(np.asarray(simplex.shift, dtype=float), (d + 1,))
    points = shift + simplex.scale * np.diff(padded, axis=1) / cells
    # y_j = N·Σ_{i ≤ j} p_i with p = (x − shift)/scale
    matrix = np.triu(np.ones((d + 1, d))) * (cells / simplex.scale)
    variance = simplex_geometry(simplex, cells).variance
    locator = KuhnLocator(shift, matrix, np.full(d, cells), lookup)
    return Grid(points, simplex.scale / cells, variance**0.5, 0.0, variance, locator)


@cache
def _chamber_variance(d: int) -> float:
    """Largest variance of a unit Kuhn simplex once cumulative sums are taken back, from above."""
    if d > 6:  # too many paths; along each of them every coordinate has two neighbouring values
        return (d + 1) / 4
    paths = []
    for order in permutations(range(d)):
        corners = np.zeros((d + 1, d))
        for step, axis in enumerate(order):
            corners[step + 1 :, axis] += 1
        paths.append(np.diff(corners, axis=1, prepend=0.0, append=0.0))
    return float(enclosing_radius_squared(np.array(paths)).max())

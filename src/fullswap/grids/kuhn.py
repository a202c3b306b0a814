"""Kuhn grids: a lattice in cell coordinates y = (x − shift)·matrix, on boxes and simplices.

Cumulative sums y_j = N·(p_1 + … + p_j) turn the simplex into the ordered chamber of a cube,
which is a union of Kuhn simplices, so one locate serves both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from math import comb
from typing import Protocol

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Indices, Points, SparseRows, Vector
from fullswap.grids.base import JUST_BELOW, Grid, GridMaker, enclosing_radius_squared
from fullswap.theorems import Geometry

MAX_LOOKUP = 20_000_000
"""Most entries of the table from lattice points to grid points: 160 MB."""
MOST_STRETCHED = 64
"""Nested grids of a box start with at most so many cells along an axis, however thin the box."""
_NO_LOOKUP: Indices = np.zeros(0, dtype=np.int64)


class BoxShape(Protocol):
    """A box: ``low`` and ``high`` of shape (d,)."""

    @property
    def low(self) -> Vector:
        """Smallest coordinates."""

    @property
    def high(self) -> Vector:
        """Largest coordinates."""


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


@dataclass(frozen=True)
class BoxGrids(GridMaker):
    """Kuhn triangulations and cell centres of a box, d ≥ 2."""

    box: BoxShape

    @property
    def longest_side(self) -> float:
        """The longest edge."""
        return float((self.box.high - self.box.low).max())

    def at_mesh(self, kind: str, mesh: float) -> Grid:
        """Centres of the cells, or their corners."""
        if kind == "net":
            return centred_box(self.box, mesh)
        return kuhn_box(self.box, box_cells(self.box, mesh))

    def nested(self, kind: str, level: int) -> Grid:
        """Corners of cells that are halved along every axis."""
        return kuhn_box(self.box, dyadic_cells(self.box, level))

    def geometry(self, kind: str, level: int, max_points: float) -> Geometry:
        """By formula."""
        cells = box_cells(self.box, self.longest_side / level)
        return box_geometry(self.box, cells, corners=kind == "triangulation")

    def nested_geometry(self, kind: str, level: int, max_points: float) -> Geometry:
        """By formula."""
        return box_geometry(self.box, dyadic_cells(self.box, level), corners=True)


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
        self.shift = shift
        self.matrix = np.ascontiguousarray(matrix)
        self.cells = cells.astype(np.int64)
        counts = self.cells + 1
        self.strides = np.concatenate((np.cumprod(counts[::-1])[-2::-1], [1])).astype(np.int64)
        self.lookup = lookup

    def __call__(self, points: Points) -> SparseRows:
        """Round each point."""
        from fullswap.kernels.kuhn import kuhn_locate

        y = (points - self.shift) @ self.matrix
        shape = (len(points), len(self.cells) + 1)
        indices, weights = np.empty(shape, np.int64), np.empty(shape)
        kuhn_locate(y, self.cells, self.strides, self.lookup, indices, weights)
        return SparseRows(indices, weights)


def box_geometry(box: BoxShape, cells: Indices, corners: bool) -> Geometry:
    """What ``kuhn_box`` (or ``centred_box``) measures, without building the grid."""
    sides = box.high - box.low
    variance = float(np.square(sides / cells).sum() / 4)
    size = int(np.prod((cells + (1 if corners else 0)).astype(float)))
    radius = variance**0.5
    if not corners:  # the hull of the centres is half a cell away from the box's corners
        return Geometry(size, radius, radius)
    return Geometry(size, radius, 0.0, variance)


def simplex_geometry(simplex: SimplexShape, cells: int) -> Geometry:
    """What ``kuhn_simplex`` measures, without building the grid."""
    variance = _chamber_variance(simplex.dim) * (simplex.scale / cells) ** 2
    return Geometry(comb(cells + simplex.dim, cells), variance**0.5, 0.0, variance)


def box_cells(box: BoxShape, mesh: float) -> Indices:
    """Cells along each axis so that none is longer than ``mesh``."""
    sides = box.high - box.low
    return np.maximum(1, np.ceil(sides / mesh * JUST_BELOW)).astype(np.int64)


def kuhn_box(box: BoxShape, cells: Indices) -> Grid:
    """All lattice corners of a box: n = Π(N_i + 1), V = Σ side_i²/4, hull exact."""
    low, high = box.low, box.high
    axes = [np.linspace(lo, hi, n + 1) for lo, hi, n in zip(low, high, cells, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(cells))
    sides = (high - low) / cells
    variance = float(np.square(sides).sum() / 4)
    locator = KuhnLocator(low, np.diag(1 / sides), cells, _NO_LOOKUP)
    return Grid(points, float(sides.max()), variance**0.5, 0.0, variance, locator)


def dyadic_cells(box: BoxShape, level: int) -> Indices:
    """Cells that double with every level: about cubic cells at level 0, none finer than 64 : 1."""
    sides = box.high - box.low
    base = np.clip(np.floor(sides / sides.min() * (1 + 1e-12)), 1, MOST_STRETCHED).astype(np.int64)
    result: Indices = base * 2**level
    return result


def centred_box(box: BoxShape, mesh: float) -> Grid:
    """The centres of the cells of a box: the same radius as its corners with fewer points."""
    cells = box_cells(box, mesh)
    low, high = box.low, box.high
    sides = (high - low) / cells
    axes = [lo + side * (np.arange(n) + 0.5) for lo, side, n in zip(low, sides, cells, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(cells))
    radius = float(np.sqrt(np.square(sides).sum()) / 2)
    return Grid(points, float(sides.max()), radius, radius)


def kuhn_simplex(simplex: SimplexShape, mesh: float) -> Grid:
    """All points of a simplex whose coordinates are multiples of scale/N."""
    d = simplex.dim
    cells = max(1, int(np.ceil(simplex.scale / mesh * JUST_BELOW)))
    if (cells + 1.0) ** d > MAX_LOOKUP:
        least = f"be larger on a simplex of dimension {d} (at most {MAX_LOOKUP} lattice points)"
        checks.refuse("mesh", least, mesh)
    chamber = np.array(list(_ordered_tuples(cells, d)), dtype=np.int64).reshape(-1, d)
    lookup = np.full((cells + 1) ** d, -1, dtype=np.int64)
    strides = (cells + 1) ** np.arange(d - 1, -1, -1)
    lookup[chamber @ strides] = np.arange(len(chamber))
    padded = np.column_stack((np.zeros(len(chamber)), chamber, np.full(len(chamber), cells)))
    shift = np.broadcast_to(np.asarray(simplex.shift, dtype=float), (d + 1,))
    points = shift + simplex.scale * np.diff(padded, axis=1) / cells
    # y_j = N·Σ_{i ≤ j} p_i with p = (x − shift)/scale
    matrix = np.triu(np.ones((d + 1, d))) * (cells / simplex.scale)
    variance = _chamber_variance(d) * (simplex.scale / cells) ** 2
    locator = KuhnLocator(shift, matrix, np.full(d, cells), lookup)
    return Grid(points, simplex.scale / cells, variance**0.5, 0.0, variance, locator)


def _ordered_tuples(top: int, length: int) -> Iterator[tuple[int, ...]]:
    """0 ≤ k_1 ≤ … ≤ k_length ≤ top, in lexicographic order."""
    if length == 0:
        yield ()
        return
    for first in range(top + 1):
        for rest in _ordered_tuples(top - first, length - 1):
            yield (first, *(first + k for k in rest))


@cache
def _chamber_variance(d: int) -> float:
    """Largest variance of a unit Kuhn simplex once cumulative sums are taken back, from above."""
    if d > 6:  # too many paths: Jung's theorem; corners differ by ±1 in an even number of places
        return 2 * ((d + 1) // 2) * d / (2 * (d + 1))
    paths = []
    for order in permutations(range(d)):
        corners = np.zeros((d + 1, d))
        for step, axis in enumerate(order):
            corners[step + 1 :, axis] += 1
        paths.append(np.diff(corners, axis=1, prepend=0.0, append=0.0))
    return float(enclosing_radius_squared(np.array(paths)).max())

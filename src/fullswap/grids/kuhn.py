"""Kuhn grids: a lattice in cell coordinates y = (x − shift)·matrix, on boxes and simplices.

Cumulative sums y_j = N·(p_1 + … + p_j) turn the simplex into the ordered chamber of a cube,
which is a union of Kuhn simplices, so one locate serves both.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import permutations
from math import comb

import numpy as np

from fullswap.base.protocols import Indices, Points, SparseRows
from fullswap.grids.base import Grid, enclosing_radius_squared
from fullswap.sets import Box, Interval, Simplex
from fullswap.theorems import Geometry

MAX_LOOKUP = 20_000_000
_NO_LOOKUP: Indices = np.zeros(0, dtype=np.int64)


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


def box_geometry(box: Box, cells: Indices, corners: bool) -> Geometry:
    """What ``kuhn_box`` (or ``centred_box``) measures, without building the grid."""
    sides = np.asarray(box.high) - np.asarray(box.low)
    variance = float(np.square(sides / cells).sum() / 4)
    size = int(np.prod((cells + (1 if corners else 0)).astype(float)))
    radius = variance**0.5
    if not corners:  # the hull of the centres is half a cell away from the box's corners
        return Geometry(size, radius, radius)
    return Geometry(size, radius, 0.0, variance)


def simplex_geometry(simplex: Simplex, cells: int) -> Geometry:
    """What ``kuhn_simplex`` measures, without building the grid."""
    variance = _chamber_variance(simplex.dim) * (simplex.scale / cells) ** 2
    return Geometry(comb(cells + simplex.dim, cells), variance**0.5, 0.0, variance)


def box_cells(box: Box | Interval, mesh: float) -> Indices:
    """Cells along each axis so that none is longer than ``mesh``."""
    sides = np.atleast_1d(np.asarray(box.high, dtype=float) - np.asarray(box.low, dtype=float))
    return np.maximum(1, np.ceil(sides / mesh * (1 - 1e-12))).astype(np.int64)


def kuhn_box(box: Box | Interval, cells: Indices) -> Grid:
    """All lattice corners of a box: n = Π(N_i + 1), V = Σ side_i²/4, hull exact."""
    low, high = np.atleast_1d(box.low).astype(float), np.atleast_1d(box.high).astype(float)
    axes = [np.linspace(lo, hi, n + 1) for lo, hi, n in zip(low, high, cells, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(cells))
    sides = (high - low) / cells
    variance = float(np.square(sides).sum() / 4)
    locator = KuhnLocator(low, np.diag(1 / sides), cells, _NO_LOOKUP)
    return Grid(points, float(sides.max()), variance**0.5, 0.0, variance, locator)


def dyadic_cells(box: Box, level: int) -> Indices:
    """Cells that double with every level: about cubic cells at level 0, none finer than 64 : 1."""
    sides = np.asarray(box.high) - np.asarray(box.low)
    base = np.clip(np.floor(sides / sides.min() * (1 + 1e-12)), 1, 64).astype(np.int64)
    return base * 2**level


def centred_box(box: Box | Interval, mesh: float) -> Grid:
    """The centres of the cells of a box: the same radius as its corners with fewer points."""
    cells = box_cells(box, mesh)
    low, high = np.atleast_1d(box.low).astype(float), np.atleast_1d(box.high).astype(float)
    sides = (high - low) / cells
    axes = [lo + side * (np.arange(n) + 0.5) for lo, side, n in zip(low, sides, cells, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(cells))
    radius = float(np.sqrt(np.square(sides).sum()) / 2)
    return Grid(points, float(sides.max()), radius, radius)


def kuhn_simplex(simplex: Simplex, mesh: float) -> Grid:
    """All points of a simplex whose coordinates are multiples of scale/N."""
    d = simplex.dim
    cells = max(1, int(np.ceil(simplex.scale / mesh * (1 - 1e-12))))
    if (cells + 1.0) ** d > MAX_LOOKUP:
        raise ValueError(
            f"mesh {mesh:.3g} on a simplex of dimension {d} needs a table of more than "
            f"{MAX_LOOKUP} lattice points: give a larger mesh"
        )
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

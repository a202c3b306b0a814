"""Grids of forecasters as plain data: a shape and a number, from which the points follow."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Indices, Points, Vector

MOST_POINTS = 1_000_001
"""Of one grid: its rows take some tens of megabytes."""
MOST_CELLS = 2**20
MOST_BINS = 64
"""Cells of the soft bins of a class: more would only be emptier."""
SHAPES = ("even", "tapered", "classes")


class Lattice(NamedTuple):
    """One grid.

    - "even": 0, 1/cells, …, 1
    - "tapered": even in the middle, ever finer towards 0 and 1, the ends half a cell inwards
    - "classes": the corners of the simplex, one a class, each with cells + 1 soft bins along its
      edge, at ``nodes``
    """

    shape: str
    cells: int

    def to_list(self) -> list[Any]:
        """Plain data, for JSON."""
        return [self.shape, self.cells]

    @classmethod
    def from_list(cls, stored: Any) -> Lattice:
        """What ``to_list`` wrote, checked."""
        if not isinstance(stored, list) or len(stored) != 2:
            checks.refuse("lattice", "be [shape, cells]", stored)
        lattice = cls(*stored)
        lattice.check()
        return lattice

    def check(self) -> None:
        """Refuse what is no grid."""
        checks.one_of("lattice shape", self.shape, SHAPES)
        least = 2 if self.shape == "tapered" else 1  # it leaves out 0 and 1
        most = MOST_BINS if self.shape == "classes" else MOST_CELLS
        checks.whole("lattice cells", self.cells, least, most)

    def refines(self, coarse: Lattice) -> bool:
        """Whether every gap of a coarser grid is halved.

        Examples
        --------
        >>> coarse = Lattice("even", 4)
        >>> Lattice("even", 8).refines(coarse), Lattice("even", 12).refines(coarse)
        (True, False)
        """
        return self.shape == coarse.shape and self.cells == 2 * coarse.cells

    def size(self, classes: int) -> int:
        """Number of points."""
        if self.shape == "classes":
            return classes
        return self.cells + 1

    @property
    def nodes(self) -> Vector:
        """Where the soft bins of a class are: sin²(πi/2·cells), finer towards 0 and 1."""
        nodes = _mirrored(np.sin(np.arange(self.cells + 1) * (math.pi / 2 / self.cells)) ** 2)
        nodes[0], nodes[-1] = 0.0, 1.0
        return nodes


@lru_cache(maxsize=64)
def points_of(lattice: Lattice, classes: int) -> Points:
    """Points in rising order (n,), or vectors (K, K) for shape "classes"; not to be written."""
    if lattice.shape == "classes":
        # a view of few numbers: of a thousand classes the whole table would take 8 MB
        edge = np.zeros(2 * classes - 1)
        edge[classes - 1] = 1.0
        values = np.lib.stride_tricks.sliding_window_view(edge, classes)[::-1]
        return values
    elif lattice.shape == "tapered":
        values = tapered(lattice.cells)
    else:
        values = np.arange(lattice.cells + 1) / lattice.cells
    values.setflags(write=False)
    return values


TAPERED_EDGE = (1 - math.sqrt(0.75)) / 2
"""Where s(1 − s) = 1/16: cells of a tapered grid are equal between here and 1 − here."""
TAPERED_LENGTH = math.pi / 12 + math.sqrt(0.75)
"""Of a tapered grid, in units of its cells in the middle: 13 % more than 1."""


def tapered(cells: int) -> Vector:
    """Points with gaps near min(1, 4·√(s(1 − s)))·w, the ends half a cell inwards.

    Equal gaps w = ``TAPERED_LENGTH``/cells in the middle; towards 0 and 1 they shrink with the
    standard deviation of an event of that probability. Nested when the number of cells doubles.

    Examples
    --------
    >>> tapered(8)
    array([0.0197..., 0.0770..., 0.2180..., 0.3590..., 0.5       , 0.6409...,
           0.7819..., 0.9229..., 0.9802...])
    """
    place = _inner(cells) * TAPERED_LENGTH
    outside = math.pi / 24  # ∫ ds/(4·√(s(1 − s))) up to the edge
    return _mirrored(
        np.where(place < outside, np.sin(2 * place) ** 2, place - outside + TAPERED_EDGE)
    )


def _inner(cells: int) -> Vector:
    """i/cells, the ends moved half a cell inwards: to where the next finer grid has a point."""
    places: Vector = np.arange(cells + 1) / cells
    places[0], places[-1] = 0.5 / cells, 1 - 0.5 / cells
    return places


def _mirrored(points: Vector) -> Vector:
    """Exact mirror images about ½, and the same numbers on every level."""
    cells = len(points) - 1
    points[cells // 2] = 0.5 if cells % 2 == 0 else points[cells // 2]
    points[(cells + 2) // 2 :] = 1.0 - points[: (cells + 1) // 2][::-1]
    return points


def places_in(coarse: Points, fine: Points) -> Indices:
    """Where the points of a coarser grid are among those of a finer one that contains them."""
    place = {row.tobytes(): i for i, row in enumerate(fine + 0.0)}
    try:
        return np.array([place[row.tobytes()] for row in coarse + 0.0], dtype=np.int64)
    except KeyError:
        raise ValueError("levels must be nested: a point of one is not in the next") from None

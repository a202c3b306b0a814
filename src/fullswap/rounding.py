"""Roundings: from points of the set to sparse distributions on a grid.

Each is a callable (m, A) -> ``fullswap.base.protocols.SparseRows``, at most d + 1 points a row.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Points, SparseRows
from fullswap.grids import Grid
from fullswap.losses import as_points


class Nearest:
    """All weight on the nearest grid point; costs at most L·r. [FKO25, Lemma 13].

    Examples
    --------
    >>> from fullswap import sets, grids
    >>> Nearest(grids.net(sets.Interval(0, 1), 0.25))(np.array([[0.3], [1.0]])).indices.ravel()
    array([1, 3])
    """

    width = 1
    """Most points of a row."""

    def __init__(self, grid: Grid) -> None:
        self._points = np.asarray(grid.points, dtype=float)

    def __call__(self, targets: Points) -> SparseRows:
        """Round each target."""
        from fullswap.kernels.searching import locate_rows

        # a copy in one layout, and so one compiled version
        points = np.array(as_points(targets, self._points.shape[1], "targets"), order="C")
        indices, weights = np.empty((len(points), 1), np.int64), np.empty((len(points), 1))
        locate_rows(self.search(), points, indices, weights)
        return SparseRows(indices, weights)

    def search(self) -> Any:
        """What compiled rounding needs, with room of its own to work in."""
        nodes, bounds = self._tree[-2:]
        return self._tree._replace(nodes=nodes.copy(), bounds=bounds.copy())

    @cached_property
    def _tree(self) -> Any:
        from fullswap.kernels.near_points import nearest_search

        return nearest_search(self._points)


class Barycentric:
    """Mean-preserving split over one simplex after projection to the hull. [FKO25, Algorithm 4].

    On a line these are the two neighbours. Costs at most L·h + β·V/2 on smooth losses.

    Examples
    --------
    >>> from fullswap import sets, grids
    >>> rows = Barycentric(grids.triangulation(sets.Interval(0, 1), 0.5))(np.array([[0.25]]))
    >>> rows.indices.tolist(), rows.weights.tolist()
    ([[0, 1]], [[0.5, 0.5]])
    """

    def __init__(self, grid: Grid) -> None:
        if grid.locate is None:
            checks.refuse("grid", "be triangulated (grids.triangulation)", grid)
        self.locate = grid.locate
        self.width: int | None = getattr(grid.locate, "width", None)
        """Most points of a row, if the grid tells."""
        self._ambient_dim = grid.points.shape[1]

    def __call__(self, targets: Points) -> SparseRows:
        """Round each target."""
        # a NaN would become a wild index in the compiled search
        return self.locate(as_points(targets, self._ambient_dim, "targets"))

    def search(self) -> Any:
        """What compiled rounding needs, with room of its own to work in; None if it has not."""
        search = getattr(self.locate, "search", None)
        return None if search is None else search()


def neighbours(grid: Grid) -> Barycentric:
    """The barycentric rounding of a line: at most two neighbours, lossless. [FKO25, Lemma 17]."""
    if np.linalg.matrix_rank(grid.points[1:] - grid.points[0]) > 1:
        checks.refuse("grid", "lie on a line (d = 1)", grid)
    return Barycentric(grid)

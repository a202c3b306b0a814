"""Roundings: from points of the set to sparse distributions on a grid.

Each is a callable (m, A) -> ``fullswap.base.protocols.SparseRows``, at most d + 1 points a row.
"""

from __future__ import annotations

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

    def __init__(self, grid: Grid) -> None:
        from scipy.spatial import cKDTree

        self._tree = cKDTree(grid.points)
        self._width = grid.points.shape[1]

    def __call__(self, targets: Points) -> SparseRows:
        """Round each target."""
        _, nearest = self._tree.query(as_points(targets, self._width, "targets"))
        indices = np.asarray(nearest, dtype=np.int64).reshape(-1, 1)
        return SparseRows(indices, np.ones_like(indices, dtype=float))


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
        self._width = grid.points.shape[1]

    def __call__(self, targets: Points) -> SparseRows:
        """Round each target."""
        # a NaN would become a wild index in the compiled search
        return self.locate(as_points(targets, self._width, "targets"))


def neighbours(grid: Grid) -> Barycentric:
    """The barycentric rounding of a line: at most two neighbours, lossless. [FKO25, Lemma 17]."""
    if np.linalg.matrix_rank(grid.points[1:] - grid.points[0]) > 1:
        checks.refuse("grid", "lie on a line (d = 1)", grid)
    return Barycentric(grid)

"""Roundings as compiled code sees them: a named tuple for each way to search a grid; ``locate``.

A grid that can be searched in compiled code brings three things: a named tuple of arrays (with room
to work in: no search allocates), an implementation of ``locate`` for its type, in a file of its
own, and a method ``search()`` of its locator that returns the tuple. Everything else, whole rounds
included, then runs on it. What is found must depend on the point alone, not on earlier searches.
"""

from typing import NamedTuple

import numpy as np

from fullswap.kernels.compiling import kernel
from fullswap.kernels.events import implementation_of, implements
from fullswap.kernels.kuhn import kuhn_locate_one


def locate(search, q, indices, weights):
    """Write the grid points (k,) to which q (A,) is rounded, and their weights (k,).

    q may be changed: to its nearest point of the grid's hull, say.
    """
    implementation_of(locate, search)(search, q, indices, weights)


@kernel
def locate_rows(search, points, indices, weights):
    """The same for all rows of points (m, A), indices and weights (m, k)."""
    for row in range(points.shape[0]):
        locate(search, points[row], indices[row], weights[row])


class KuhnSearch(NamedTuple):
    """Kuhn grid y = (x − shift)·matrix, see ``fullswap.kernels.kuhn``; y, part, order: room."""

    shift: np.ndarray
    matrix: np.ndarray
    cells: np.ndarray
    strides: np.ndarray
    lookup: np.ndarray
    y: np.ndarray
    part: np.ndarray
    order: np.ndarray


@implements(locate, KuhnSearch)
def _locate_kuhn(search, q, indices, weights):
    y = search.y
    for k in range(y.shape[0]):
        y[k] = 0.0
        for j in range(q.shape[0]):
            y[k] += (q[j] - search.shift[j]) * search.matrix[j, k]
    kuhn_locate_one(
        y, search.cells, search.strides, search.lookup, indices, weights, search.order,
        search.part,
    )  # fmt: skip

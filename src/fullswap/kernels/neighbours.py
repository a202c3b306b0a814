"""Neighbours on a line: the two grid points around a target, mean preserved.

Symbols: t (n,) coordinates of the points along x = origin + t·direction, origin, direction (A,).
"""

from typing import NamedTuple

import numpy as np

from fullswap.kernels.events import implements
from fullswap.kernels.loop import cell_of
from fullswap.kernels.searching import locate


class LineSearch(NamedTuple):
    """Arrays as above."""

    t: np.ndarray
    origin: np.ndarray
    direction: np.ndarray


@implements(locate, LineSearch)
def _locate_on_line(search, q, indices, weights):
    t, origin, direction = search
    x = 0.0
    for j in range(q.shape[0]):
        x += (q[j] - origin[j]) * direction[j]
    x = min(max(x, t[0]), t[t.shape[0] - 1])
    left = cell_of(t, x)
    share = (x - t[left]) / (t[left + 1] - t[left])
    indices[0], indices[1] = left, left + 1
    weights[0], weights[1] = 1.0 - share, share

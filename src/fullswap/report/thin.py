"""Lines with fewer corners that look the same: pictures stay small whatever the data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullswap.base.protocols import Vector


def corners(x: Vector, y: Vector, tolerance: float = 0.002) -> NDArray[np.intp]:
    """Places of the corners to keep, ends included, so that no height moves by more.

    x ascends; `tolerance` is a share of the range of y. The farthest corner of a stretch is kept
    until all others lie near enough to the straight line between those kept.

    Examples
    --------
    >>> corners(np.arange(5.0), np.array([0.0, 1.0, 2.0, 2.0, 2.0])).tolist()
    [0, 2, 4]
    """
    allowed = tolerance * float(np.ptp(y))
    kept = np.zeros(len(x), dtype=bool)
    kept[[0, -1]] = True
    waiting = [(0, len(x) - 1)]
    while waiting:
        first, last = waiting.pop()
        if last - first < 2:
            continue
        inner = slice(first + 1, last)
        width = x[last] - x[first]
        share = (x[inner] - x[first]) / width if width > 0 else np.zeros(last - first - 1)
        off = np.abs(y[inner] - y[first] - share * (y[last] - y[first]))
        place = int(off.argmax())
        # Equality counts as near: a level line has a range of 0.
        if off[place] > allowed:
            kept[first + 1 + place] = True
            waiting += [(first, first + 1 + place), (first + 1 + place, last)]
    return np.flatnonzero(kept)

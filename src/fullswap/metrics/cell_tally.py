"""Cells of a stream, in bounded memory."""

from __future__ import annotations

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.metrics.cells import Cells

WIDTH = 0.005
"""Log-odds that a cell spans: at p = 0.5 an eighth of a percentage point."""
FARTHEST = 40.0
"""Log-odds beyond which forecasts share a cell."""
BASE, WEIGHT, SHIFT, YES, COUNT, SQUARES = range(6)
"""Rows of the table of sums; SHIFT is Σ w·(p − BASE): a mean of equal forecasts is exact."""


class CellTally:
    """Yes/no events in bounded memory: cells of a fixed width on the scale of log-odds.

    Cells keep their mean forecast; p = 0 and p = 1 have cells of their own. Means and errors over
    cells differ from those of all rows by far less than the width. Merging is associative up
    to rounding, and so is adding rows in batches.

    Examples
    --------
    >>> tally = CellTally()
    >>> tally.add(np.array([1.0, 0.0, 1.0]), np.array([0.3, 0.3, 1.0]))
    >>> tally.cells().forecast, tally.cells().yes
    (array([0.3, 1. ]), array([1., 1.]))
    """

    def __init__(self, width: float = WIDTH) -> None:
        self.width = checks.number("width", width, least=1e-5, most=10)
        self._far = int(np.ceil(FARTHEST / self.width)) + 1
        self._keys: Indices = np.zeros(0, dtype=np.int64)
        self._sums: Points = np.zeros((6, 0))

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, y: Vector, p: Vector, weight: Vector | None = None) -> None:
        """Rows of outcomes and forecasts in [0, 1], checked by the caller."""
        if weight is not None and not weight.all():
            some = weight > 0
            y, p, weight = y[some], p[some], weight[some]
        if not len(p):
            return
        p = p + 0.0
        keys = self._keys_of(p)
        least = int(keys.min())
        places = keys - least
        count = np.bincount(places).astype(np.float64)
        size = len(count)
        base = np.zeros(size)
        base[places] = p  # any row's will do
        shift = p - base[places]
        if weight is None:
            sums = [base, count, np.bincount(places, shift), np.bincount(places, y), count, count]
        else:
            rows = (weight, weight * shift, weight * y, None, weight * weight)
            sums = [base, *(count if v is None else np.bincount(places, v) for v in rows)]
        filled = np.flatnonzero(count)
        self._join(filled + least, np.array(sums)[:, filled])

    def merge(self, other: CellTally) -> None:
        """The rows of another tally too."""
        if other.width != self.width:
            checks.refuse("other", f"have cells of width {self.width:g}", other.width)
        self._join(other._keys, other._sums)

    def cells(self) -> Cells:
        """The cells so far; at least one row is needed."""
        base, weight, shift, yes, count, squares = self._sums
        if not len(weight):
            raise ValueError("cells() needs at least one row of positive weight, got none")
        forecast = np.clip(base + shift / weight, 0.0, 1.0)
        # a sort, for at the edge of two cells the last digit may decide either way
        order = np.argsort(forecast, kind="stable")
        sums = (forecast, weight, np.minimum(yes, weight), count, squares)
        return Cells(*(values[order] for values in sums))

    def _keys_of(self, p: Vector) -> Indices:
        with np.errstate(divide="ignore"):
            logits = np.log(p) - np.log1p(-p)
        bounded = np.clip(logits, -FARTHEST, FARTHEST)
        keys: Indices = np.floor(bounded / self.width).astype(np.int64)
        keys[p == 0] = -self._far
        keys[p == 1] = self._far
        return keys

    def _join(self, keys: Indices, sums: Points) -> None:
        both = np.union1d(self._keys, keys)
        joined = np.zeros((6, len(both)))
        joined[:, np.searchsorted(both, self._keys)] = self._sums
        at = np.searchsorted(both, keys)
        fresh = joined[COUNT, at] == 0
        joined[BASE, at[fresh]] = sums[BASE, fresh]
        moved = sums[BASE] - joined[BASE, at]
        joined[WEIGHT:, at] += sums[WEIGHT:]
        joined[SHIFT, at] += moved * sums[WEIGHT]
        self._keys, self._sums = both, joined

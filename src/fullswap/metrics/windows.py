"""Calibration over time, in windows of equal numbers of events."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fullswap.base.protocols import Indices, Points, Vector

MOST = 64
"""Windows that are kept."""
FEWEST = 16
"""Rows of a window at first."""
EDGES = np.array([0.01, 0.05, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99])
"""Between the bins of the forecasts: narrower towards 0 and 1, for rare events."""
WEIGHT, SAYS, YES, VARIANCE, SQUARES = range(5)
"""Sums of a bin: Σ w, Σ w·p, Σ w·y, Σ w²·p·(1 − p), Σ w²."""


@dataclass(frozen=True, eq=False)
class Windows:
    """Errors window by window, in order."""

    start: Indices
    """First row of each window, shape (w,)."""
    stop: Indices
    """Row after its last, shape (w,)."""
    bias: Vector
    """Mean forecast minus mean outcome, shape (w,)."""
    noise: Vector
    """Standard error of the bias of a calibrated forecaster, shape (w,)."""
    error: Vector
    """Average error over bins of the forecasts, shape (w,)."""
    chance: Vector
    """The same for a calibrated forecaster, on average, shape (w,)."""

    @property
    def count(self) -> Indices:
        """Rows of each window, shape (w,)."""
        return self.stop - self.start

    @property
    def beyond_chance(self) -> float:
        """Mean over all rows of error − chance of their window, at least 0.

        Errors that cancel over the whole record show here.
        """
        return max(float(np.average(self.error - self.chance, weights=self.count)), 0.0)


class WindowTally:
    """Windows of a stream in bounded memory.

    Windows hold the same number of rows, 16 at first; when 64 are full, pairs become one and
    windows twice as long. Each keeps sums over ten bins of the forecasts. The result is the
    same, bit for bit, however rows come in batches.
    """

    def __init__(self) -> None:
        self.rows = 0
        self.width = FEWEST
        self._sums = np.zeros((MOST, len(EDGES) + 1, 5))

    def add(self, y: Vector, p: Vector, weight: Vector | None = None) -> None:
        """Rows in order: outcomes, forecasts in [0, 1] and weights, checked by the caller."""
        from fullswap.kernels.windows import add_rows

        weights = np.ones(1) if weight is None else weight
        columns = (np.ascontiguousarray(v, dtype=np.float64) for v in (y, p, weights))
        self.width = add_rows(self._sums, EDGES, self.rows, self.width, *columns)
        self.rows += len(y)

    def windows(self, most: int | None = None, inflation: float = 1.0) -> Windows:
        """The windows so far.

        Parameters
        ----------
        most
            Pairs are joined until there are at most so many; None: 2·n^(1/3) for n rows, at
            least 4, so that with more rows windows get both more and longer.
        inflation
            By how much shared outcomes raise the variance (`Cells.inflation`).
        """
        if not self.rows:
            raise ValueError("windows() needs at least one row, got none")
        limit = max(4, round(2 * self.rows ** (1 / 3))) if most is None else most
        width, sums = self.width, self._sums[: -(-self.rows // self.width)]
        while len(sums) > max(limit, 1):
            sums = np.add.reduceat(sums, np.arange(0, len(sums), 2), axis=0)
            width *= 2
        starts = np.arange(len(sums)) * width
        if len(sums) > 1 and 2 * (self.rows - starts[-1]) < width:
            starts = starts[:-1]
            sums = np.add.reduceat(sums, np.arange(len(starts)), axis=0)
        stop = np.append(starts[1:], self.rows)
        whole = sums.sum(axis=1)
        total = np.where(whole[:, WEIGHT] > 0, whole[:, WEIGHT], 1.0)
        gaps = sums[:, :, SAYS] - sums[:, :, YES]
        scale = np.sqrt(inflation)
        return Windows(
            starts, stop,
            gaps.sum(axis=1) / total,
            scale * np.sqrt(whole[:, VARIANCE]) / total,
            np.abs(gaps).sum(axis=1) / total,
            scale * mean_gap(sums).sum(axis=1) / total,
        )  # fmt: skip


def mean_gap(sums: Points) -> Vector:
    """Mean of |Σ w·p − Σ w·y| of every bin for a calibrated forecaster.

    Exact for equal forecasts and weights: n trials with probability p miss n·p by
    2·k·(1 − p)·P(k) on average, k = ⌊n·p⌋ + 1 (De Moivre). Else with the effective number of
    trials, rounded, and stretched to the right standard deviation.
    """
    from scipy.special import gammaln, xlog1py, xlogy

    weight, says, _, variance, squares = np.moveaxis(sums, -1, 0)
    some = (variance > 0) & (weight > 0)
    held = np.where(some, weight, 1.0)
    p = np.where(some, np.clip(says / held, 0.0, 1.0), 0.5)
    trials = np.where(some, held * held / np.where(some, squares, 1.0), 1.0)
    n = np.maximum(np.rint(trials), 1.0)
    k = np.minimum(np.floor(n * p) + 1, n)
    chosen = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    one = 2 * k * np.exp(chosen + xlogy(k, p) + xlog1py(n - k + 1, -p))
    deviation = np.sqrt(np.maximum(n * p * (1 - p), np.finfo(float).tiny))
    result: Vector = np.where(some, one / deviation * np.sqrt(variance), 0.0)
    return result

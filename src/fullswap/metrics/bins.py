"""Bins of near forecasts: the dots of a diagram and the groups of an average error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Indices, Vector
from fullswap.metrics.cells import Cells
from fullswap.metrics.neighbours import spread, starts_by_mass

ROUNDING = 1e-9
"""Relative error of a few float operations, with room: a count this near a whole one is whole."""
MOST_BINS = 10**6
STRATEGIES = ("quantile", "uniform")


@dataclass(frozen=True, eq=False)
class Bins:
    """Bins in ascending order of forecast, none of them empty."""

    forecast: Vector
    """Weighted mean forecast, shape (G,)."""
    frequency: Vector
    """Weighted mean outcome, shape (G,)."""
    weight: Vector
    """Total weight, shape (G,)."""
    trials: Vector
    """Effective numbers of events, shape (G,)."""
    count: Vector
    """Numbers of rows, shape (G,)."""
    place: Indices
    """Bin of every cell, shape (m,)."""

    def __len__(self) -> int:
        return len(self.forecast)

    @property
    def error(self) -> float:
        """Average distance between forecast and frequency, a share."""
        gaps = np.abs(self.forecast - self.frequency)
        return float(self.weight @ gaps / self.weight.sum())


def bins_of(cells: Cells, n_bins: int | str = "cube_root", strategy: str = "quantile") -> Bins:
    """Group the cells; no row is left out, and equal forecasts share a bin.

    Parameters
    ----------
    cells
        Sums by forecast.
    n_bins
        How many bins at most, or "cube_root": ⌈n^(1/3)⌉ for n rows, so that with more events
        bins get both narrower and fuller.
    strategy
        "quantile": bins of about equal weight. "uniform": of equal width, [k/n, (k+1)/n), the
        last one closed. Empty bins are left out.

    Examples
    --------
    >>> cells = Cells.of_events(np.array([0.0, 1, 0, 1]), np.array([0.1, 0.2, 0.8, 1.0]))
    >>> bins_of(cells, 2).forecast
    array([0.15, 0.9 ])
    """
    checks.one_of("strategy", strategy, STRATEGIES)
    if isinstance(n_bins, str):
        checks.one_of("n_bins", n_bins, ("cube_root",))
        wanted = cube_root(cells.rows)
    else:
        wanted = checks.whole("n_bins", n_bins, 1, MOST_BINS)
    if strategy == "quantile":
        starts = starts_by_mass(cells.weight, np.arange(1.0, wanted), wanted)
    else:
        cuts = np.searchsorted(cells.forecast, np.arange(1, wanted) / wanted)
        starts = np.unique(np.concatenate(([0], cuts))).astype(np.int64)
        starts = starts[starts < len(cells)]
    groups = cells.merged(starts)
    place = spread(starts, len(cells))
    sums = groups.weight, groups.trials, groups.count
    return Bins(groups.forecast, groups.frequency, *sums, place)


def cube_root(rows: int) -> int:
    """⌈n^(1/3)⌉, at least 1."""
    return max(1, int(np.ceil(np.cbrt(rows) - ROUNDING)))


def equal_mass(masses: Vector, bins: int) -> Indices:
    """Consecutive numbers of at most so many bins for ascending values with these masses.

    A value goes to the bin that holds the middle of its mass, so that a value with the mass of
    a bin or more stands alone.
    """
    return spread(starts_by_mass(masses, np.arange(1.0, bins), bins), len(masses))

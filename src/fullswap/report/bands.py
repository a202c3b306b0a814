"""Groups of events with like forecasts, and what a calibrated forecaster would show in each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Vector
from fullswap.base.records import Record
from fullswap.metrics.bins import ROUNDING, cube_root, equal_mass
from fullswap.metrics.cells import Cells
from fullswap.metrics.groups import Groups, distinct_rows, sums_by
from fullswap.metrics.reading import read_events

MOST_DISTINCT = 101
"""Whole percents are shown one by one; more distinct forecasts than that are binned."""
FEWEST_EVENTS = 5
"""Events that a forecast needs on average for a frequency of its own to say something."""
WEIGHTS = 1e-100, 1e100
"""Weights whose squares and sums of squares are neither 0 nor infinite."""


@dataclass(frozen=True, eq=False)
class Dots:
    """Groups of events as the diagram shows them, in ascending order of forecast."""

    groups: Groups
    forecast: Vector
    """Weighted mean forecasts p̄, shape (G,)."""
    frequency: Vector
    """Weighted mean outcomes ȳ, shape (G,)."""
    weight: Vector
    """Total weights W, shape (G,): the numbers of events if there are no weights."""
    trials: Vector
    """Effective numbers of events (Σw)²/Σw², shape (G,)."""
    binned: bool
    """Whether a group may hold forecasts that differ."""

    def __len__(self) -> int:
        return len(self.groups)


def issued_events(y_true: Any, y_proba: Any, sample_weight: Any = None) -> Groups:
    """Each event as a group of its own, in order; those of weight 0 are left out."""
    forecasts = y_proba.issued if isinstance(y_proba, Record) else y_proba
    events = read_events(y_true, forecasts, sample_weight)
    least, most = WEIGHTS
    bad = (events.weights < least) | (events.weights > most)
    if bad.any():
        value = float(events.weights[bad][0])
        checks.refuse("sample_weight", f"be 0 or lie in [{least:g}, {most:g}]", value)
    return events


def yes_no_events(y_true: Any, y_proba: Any, sample_weight: Any = None) -> Groups:
    """The same, of yes/no events only."""
    events = issued_events(y_true, y_proba, sample_weight)
    if events.classes > 1:
        checks.refuse_shape("y_proba", "(T,) of yes/no events", events.forecasts)
    return events


def group_events(events: Groups, bins: int | None = None, grid: Vector | None = None) -> Dots:
    """Groups of equal forecasts, or `bins` bins of about equal weight.

    Without `bins` as `reliability_diagram` says; ⌈T^(1/3)⌉ because with more events bins then get
    both narrower and fuller. Equal forecasts always share a bin.
    """
    rows, kinds = distinct_rows(events.forecasts)
    distinct = rows[:, 0]
    if bins is not None:
        bins = checks.whole("bins", bins, 1)
    elif grid is None or not np.isin(distinct, grid).all():
        automatic = cube_root(len(events))
        # Single forecasts also where they are no more than the bins would be.
        if len(distinct) > max(automatic, min(MOST_DISTINCT, len(events) / FEWEST_EVENTS)):
            bins = automatic
    groups = events.merged(kinds, len(distinct), rows)
    if bins is not None:
        places = equal_mass(groups.weights, bins)
        count = int(places[-1]) + 1
        first = np.searchsorted(places, np.arange(count))
        last = np.searchsorted(places, np.arange(count), side="right") - 1
        groups, kinds = groups.merged(places, count), places[kinds]
        # Rounding must not move a mean of equal forecasts off their value.
        groups = replace(groups, forecasts=np.clip(groups.forecasts, rows[first], rows[last]))
    squares = sums_by(kinds, np.square(events.weights), len(groups))
    trials, forecasts, means = np.square(groups.weights) / squares, groups.forecasts, groups.means
    return Dots(groups, forecasts[:, 0], means[:, 0], groups.weights, trials, bins is not None)


def consistency_band(forecast: Vector, trials: Vector, level: float) -> tuple[Vector, Vector]:
    """Lowest and highest frequency a calibrated forecaster would show, group by group. [BS07].

    Quantiles of Binomial(n, p̄)/n at (1 ∓ level)/2. If outcomes are 0 or 1, independent, weigh
    the same and occur with the forecast probabilities, a frequency lies in its interval, ends
    included, with probability at least `level`: for equal forecasts because the quantiles are
    exact, for unequal ones because their sum is no more spread than the binomial with the same
    mean (Hoeffding 1956, which asks that the interval contain the mean). With weights, n is the
    effective number of events, rounded down, and the statement is approximate.

    Examples
    --------
    >>> consistency_band(np.array([0.5]), np.array([10.0]), 0.9)
    (array([0.2]), array([0.8]))
    """
    from scipy.stats import binom

    counts = np.maximum(np.floor(trials * (1 + ROUNDING)), 1.0)
    mean = counts * forecast
    low = binom.ppf((1 - level) / 2, counts, forecast)
    high = binom.ppf((1 + level) / 2, counts, forecast)
    low, high = np.minimum(low, np.floor(mean)), np.maximum(high, np.ceil(mean))
    return np.clip(low / counts, 0, 1), np.clip(high / counts, 0, 1)


def expected_outside(forecast: Vector, trials: Vector, level: float) -> float:
    """How many groups of a calibrated forecaster lie outside `consistency_band`, on average.

    Counted for equal forecasts in a group; at most (1 − level) for each group, and less where
    groups are small, because frequencies jump.

    Examples
    --------
    >>> expected_outside(np.array([0.5]), np.array([10.0]), 0.9)
    0.0215
    """
    from scipy.stats import binom

    counts = np.maximum(np.floor(trials * (1 + ROUNDING)), 1.0)
    low, high = (np.rint(end * counts) for end in consistency_band(forecast, trials, level))
    return float(np.sum(binom.cdf(low - 1, counts, forecast) + binom.sf(high, counts, forecast)))


def cells_of(events: Groups) -> Cells:
    """Events summed by forecast."""
    rows, kinds = distinct_rows(events.forecasts)
    merged = events.merged(kinds, len(rows), rows)
    squares = sums_by(kinds, np.square(events.weights), len(rows))
    counts = np.bincount(kinds, minlength=len(rows)).astype(float)
    return Cells(rows[:, 0], merged.weights, merged.sums[:, 0], counts, squares)

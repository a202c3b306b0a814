"""Groups of events with like forecasts, and what a calibrated forecaster would show in each."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullswap.base.protocols import Indices, Vector
from fullswap.report.events import Events

MOST_DISTINCT = 101
"""Whole percents are shown one by one; more distinct forecasts than that are binned."""
FEWEST_EVENTS = 5
"""Events that a forecast needs on average for a frequency of its own to say something."""


@dataclass(frozen=True)
class Groups:
    """G groups of events in ascending order of forecast; all arrays have shape (G,)."""

    forecast: Vector
    """Weighted mean forecast p̄."""
    frequency: Vector
    """Weighted mean outcome ȳ."""
    weight: Vector
    """Total weight W; the number of events if there are no weights."""
    trials: Vector
    """Effective number of events (Σw)²/Σw²."""
    binned: bool
    """Whether a group may hold forecasts that differ."""

    def __len__(self) -> int:
        return len(self.forecast)

    @property
    def calibration_error(self) -> float:
        """Σ_g W_g·(p̄_g − ȳ_g)², the l2 calibration error of the groups."""
        return float(self.weight @ np.square(self.forecast - self.frequency))


def group_events(events: Events, bins: int | None = None, grid: Vector | None = None) -> Groups:
    """Groups of equal forecasts, or `bins` bins of about equal weight.

    Without `bins`, forecasts are grouped by value if all lie on `grid`, or if there are at most
    101 of them, each met five times or more on average; else there are ⌈T^(1/3)⌉ bins, so that
    with more events bins get both narrower and fuller. Equal forecasts always share a bin.

    Examples
    --------
    >>> from fullswap.report.events import as_events
    >>> groups = group_events(as_events([0, 1, 0, 1], [0.2, 0.7, 0.2, 0.2]))
    >>> groups.forecast, groups.frequency.round(3), groups.weight
    (array([0.2, 0.7]), array([0.333, 1.   ]), array([3., 1.]))
    """
    distinct, labels = events.distinct
    if bins is not None:
        bins = _as_bins(bins)
    elif grid is None or not np.isin(distinct, grid).all():
        automatic = int(np.ceil(np.cbrt(len(events)) - 1e-9))
        # Single forecasts also where they are no more than the bins would be.
        if len(distinct) > max(automatic, min(MOST_DISTINCT, len(events) / FEWEST_EVENTS)):
            bins = automatic
    if bins is None:
        places = np.arange(len(distinct))
    else:
        places = _equal_mass(_sums(labels, events.weights, len(distinct)), bins)
    count = int(places[-1]) + 1
    first = np.searchsorted(places, np.arange(count))
    last = np.searchsorted(places, np.arange(count), side="right") - 1
    of_event, weights = places[labels], events.weights
    weight = _sums(of_event, weights, count)
    mean = _sums(of_event, weights * events.forecasts, count) / weight
    frequency = _sums(of_event, weights * events.outcomes, count) / weight
    return Groups(
        # Rounding must not move a mean of equal forecasts off their value.
        forecast=np.clip(mean, distinct[first], distinct[last]),
        frequency=np.clip(frequency, 0, 1),
        weight=weight,
        trials=weight**2 / _sums(of_event, weights**2, count),
        binned=bins is not None,
    )


def consistency_band(groups: Groups, level: float) -> tuple[Vector, Vector]:
    """Lowest and highest frequency a calibrated forecaster would show, group by group. [BS07].

    Quantiles of Binomial(n, p̄)/n at (1 ∓ level)/2. If outcomes are 0 or 1, independent, weigh
    the same and occur with the forecast probabilities, a frequency lies in its interval, ends
    included, with probability at least `level`: for equal forecasts because the quantiles are
    exact, for unequal ones because their sum is no more spread than the binomial with the same
    mean (Hoeffding 1956, which asks that the interval contain the mean). With weights, n is the
    effective number of events, rounded down, and the statement is approximate.

    Examples
    --------
    >>> groups = Groups(*(np.array([x]) for x in (0.5, 0.4, 10.0, 10.0)), binned=False)
    >>> consistency_band(groups, 0.9)
    (array([0.2]), array([0.8]))
    """
    from scipy.stats import binom

    trials = np.maximum(np.floor(groups.trials * (1 + 1e-9)), 1.0)
    mean = trials * groups.forecast
    low = binom.ppf((1 - level) / 2, trials, groups.forecast)
    high = binom.ppf((1 + level) / 2, trials, groups.forecast)
    low, high = np.minimum(low, np.floor(mean)), np.maximum(high, np.ceil(mean))
    return np.clip(low / trials, 0, 1), np.clip(high / trials, 0, 1)


def _sums(labels: Indices, values: Vector, count: int) -> Vector:
    """Sum of the values with each of the labels 0 … count − 1."""
    return np.bincount(labels, values, count).astype(np.float64, copy=False)


def _equal_mass(masses: Vector, bins: int) -> Indices:
    """Consecutive numbers of bins for ascending values with these masses.

    A value goes to the bin that holds the middle of its mass, so that a value with the mass of
    a bin or more stands alone.
    """
    ends = np.cumsum(masses)
    middles = (ends - masses / 2) / ends[-1]
    wanted = np.minimum(np.floor(middles * bins), bins - 1)
    return np.cumsum(np.diff(wanted, prepend=wanted[0]) > 0, dtype=np.int64)


def _as_bins(value: Any) -> int:
    try:
        bins = operator.index(value)
    except TypeError:
        bins = 0
    if bins < 1 or isinstance(value, bool):
        raise ValueError(f"bins is {value!r}; allowed: integers >= 1, or None")
    return bins

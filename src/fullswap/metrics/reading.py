"""Outcomes and forecasts, as arrays or as a record, checked and turned into `Groups`."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Points, Vector
from fullswap.base.records import Record
from fullswap.inputs.outcomes import outcome_numbers
from fullswap.metrics.groups import Groups, distinct_rows

LARGEST_WEIGHT = 1e300
"""Far below the largest float, so that sums of weights stay finite."""
MOST_BINS = 10**7
"""Edges of more bins than that would fill the memory and tell no events apart."""
NAMES = ("y_true", "y_proba", "sample_weight")
"""What most callers call outcomes, forecasts and weights."""
SUBJECTS = ("issued", "distributions")
"""Of whom a metric of a record speaks."""
FEWEST_TO_WARN = 20
"""Events: among fewer, forecasts of a grid too are often all different."""


class DistinctForecastsWarning(UserWarning):
    """Nearly every forecast is a group of its own, so a calibration error says nothing."""


def warn_if_distinct(distinct: int, events: float, advice: str) -> None:
    """Warn where more than half of the events have a forecast of their own.

    A forecast made once is compared with one outcome: its error is then that of the outcome, and
    the calibration error is about T times the Brier score, however good the forecasts are.
    """
    if events <= FEWEST_TO_WARN or 2 * distinct <= events:
        return
    level, frame = 2, sys._getframe(1)
    # the line to mend is the first outside of the package
    while frame.f_globals.get("__name__", "").startswith("fullswap.") and frame.f_back:
        level, frame = level + 1, frame.f_back
    warnings.warn(
        f"{distinct:,} distinct forecasts in {events:,} events: nearly every one stands alone, so "
        f"this is about their squared error, not their calibration. {advice}",
        DistinctForecastsWarning,
        stacklevel=level,
    )


USE_BINS = "Use calibration_error(y, p, bins=20), or round the forecasts first."
"""What to do about it where there are no bins."""
GIVE_BINS = "Give bins, as in calibration_error(y, p, bins=20)."
"""What to do about it where there are."""


def read(
    y_true: Any, y_proba: Any, sample_weight: Any = None, of: str = "issued",
    *, weightless: bool = False,
) -> Groups:  # fmt: skip
    """Check outcomes and forecasts and group them: events of arrays one by one, records by point.

    ``weightless``: whether all events may have weight 0.
    """
    checks.one_of("of", of, SUBJECTS)
    if not isinstance(y_proba, Record):
        if of != "issued":
            checks.refuse("y_proba", "be a Record for of='distributions'", y_proba)
        return read_events(y_true, y_proba, sample_weight, weightless=weightless)
    if not len(y_proba):
        checks.refuse_shape("weights", "(T, k), not empty", y_proba.weights)
    points = as_forecasts("points", y_proba.points, "n")
    if of == "issued":
        if y_proba.issued_indices is None:
            checks.refuse("issued_indices", "be given for of='issued'", None)
        drawn = checks.indices("issued_indices", y_proba.issued_indices, len(points))
        indices, shares = drawn[:, None], np.ones((len(drawn), 1))
    else:
        shares = checks.numbers("weights", y_proba.weights).astype(np.float64, copy=False)
        inside = (shares >= 0) & (shares <= 1 + checks.ROW_TOLERANCE)
        checks.refuse_at("weights", "lie in [0, 1]", shares, ~inside)
        checks.distributions("weights", shares)
        indices = checks.indices("indices", y_proba.indices, len(points))
    weights = as_weights("sample_weight", sample_weight, len(shares), weightless)
    outcomes = as_outcomes("y_true", y_true, len(shares), points.shape[1])
    distinct, kinds = distinct_rows(points)
    entries = kinds[indices.ravel()]
    repeated = np.repeat(outcomes, shares.shape[1], axis=0)
    plays = Groups.of_events(distinct[entries], repeated, (shares * weights[:, None]).ravel())
    return plays.merged(entries, len(distinct), distinct)


def read_distinct(
    y_true: Any, y_proba: Any, sample_weight: Any, of: str, advice: str = USE_BINS
) -> Groups:
    """`read` and one group for each distinct forecast; warns of arrays of raw probabilities."""
    events = read(y_true, y_proba, sample_weight, of)
    groups = events.distinct()
    if not isinstance(y_proba, Record):  # a record has a grid
        warn_if_distinct(len(groups), len(events), advice)
    return groups


def read_events(
    y_true: Any, y_proba: Any, sample_weight: Any = None,
    *, weightless: bool = False, names: tuple[str, str, str] = NAMES,
) -> Groups:  # fmt: skip
    """Each event as a group of its own, in order, without those of weight 0.

    ``names`` are the arguments as the caller knows them.
    """
    forecasts = as_forecasts(names[1], y_proba, "T")
    weights = as_weights(names[2], sample_weight, len(forecasts), weightless)
    outcomes = as_outcomes(names[0], y_true, len(forecasts), forecasts.shape[1])
    return Groups.of_events(forecasts, outcomes, weights).weighted()


def as_forecasts(name: str, values: Any, rows: str) -> Points:
    """Forecasts of shape (rows,) in [0, 1], or (rows, K) of probabilities, as (rows, C)."""
    array = _floats(name, values)
    if not array.size or not (array.ndim == 1 or (array.ndim == 2 and array.shape[1] >= 2)):
        checks.refuse_shape(name, f"({rows},), or ({rows}, K) with K >= 2, not empty", array)
    return _probabilities(name, array)


def as_weights(name: str, values: Any, rounds: int, weightless: bool = False) -> Vector:
    """Weights of events, shape (rounds,), all 1 by default; not all 0 unless ``weightless``."""
    if values is None:
        return np.ones(rounds)
    array = _floats(name, values)
    if array.shape != (rounds,):
        checks.refuse_shape(name, f"({rounds},)", array)
    inside = (array >= 0) & (array <= LARGEST_WEIGHT)
    checks.refuse_at(name, f"lie in [0, {LARGEST_WEIGHT:g}]", array, ~inside)
    if not (weightless or array.any()):
        raise ValueError(f"{name} must be positive for some event, got 0 for all")
    return array


def as_outcomes(name: str, values: Any, rounds: int, classes: int) -> Points:
    """Outcomes of shape (T, C), as the forecasts."""
    if classes == 1:
        values = outcome_numbers(name, values)
    array = _floats(name, values)
    if classes > 1 and array.shape == (rounds,):
        rows = np.zeros((rounds, classes))
        rows[np.arange(rounds), checks.indices(name, array, classes)] = 1.0
        return rows
    if array.shape != ((rounds,) if classes == 1 else (rounds, classes)):
        either = f" of class indices or ({rounds}, {classes}) of probabilities"
        checks.refuse_shape(name, f"({rounds},)" + (either if classes > 1 else ""), array)
    return _probabilities(name, array)


def as_edges(bins: Any) -> Vector:
    """Edges of the bins: k/n for an integer n, else increasing numbers that span [0, 1]."""
    array = _floats("bins", bins)
    rule = f"be a whole number from 1 to {MOST_BINS}, or edges that increase from <= 0 to >= 1"
    if array.ndim == 0:
        whole = bool(array == np.floor(array)) and not isinstance(bins, bool | np.bool_)
        if not (whole and 1 <= array <= MOST_BINS):
            checks.refuse("bins", rule, bins)
        return np.arange(int(array) + 1) / int(array)
    increasing = array.ndim == 1 and array.size >= 2 and bool((np.diff(array) > 0).all())
    if not increasing or not (array[0] <= 0 and array[-1] >= 1):
        checks.refuse("bins", rule, bins)
    return array


def _probabilities(name: str, array: Points) -> Points:
    """Numbers in [0, 1] as a column, or rows of probabilities."""
    checks.unit(name, array)
    if array.ndim == 1:
        return array[:, None]
    checks.distributions(name, array)
    return array


def _floats(name: str, values: Any) -> Points:
    return checks.numbers(name, values).astype(np.float64, copy=False)

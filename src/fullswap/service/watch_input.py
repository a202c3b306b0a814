"""Events for a watch, checked: one table of forecasts, and which event and stream each is of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.kernels.watch import watched_of
from fullswap.kernels.watch_sums import DATA

LARGEST = 1e15
"""Of a time, in seconds."""
_NONE: Indices = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Events:
    """What the compiled loop takes; ``kernels.watch`` explains the columns."""

    places: Indices
    table: Points
    watched: Points
    hot: Vector
    weights: Vector
    times: Vector
    bounds: Indices
    touched: Indices
    """Streams that have events, ascending."""
    starts: Indices
    order: Indices
    rows: Indices
    """Forecasts of each stream in ``touched``."""


def no_events(place: int, width: int) -> Events:
    """None, of one stream; ``width`` columns has the table."""
    size, none = (width - DATA) // 3, np.zeros(0)
    return Events(
        _NONE, np.zeros((0, width)), np.zeros((0, size)), none, none, none, _NONE,
        np.array([place]), np.zeros(2, np.int64), _NONE, np.zeros(1, np.int64),
    )  # fmt: skip


def read_events(
    classes: int, streams: int, places: Any, said: Any, ours: Any, outcomes: Any, weights: Any,
    times: Any, bounds: Any,
) -> Events:  # fmt: skip
    """Arguments of ``Watch.take``, or a ValueError."""
    size = 1 if classes == 2 else classes
    own = checks.indices("places", places, streams)
    if own.ndim != 1:
        checks.refuse_shape("places", "(m,)", own)
    count = len(own)
    happened = _outcomes(outcomes, count, classes)
    weight, time = (_column(name, v, count) for name, v in (("weights", weights), ("times", times)))
    checks.unit("weights", weight)
    mean = _forecasts("ours", ours, classes, absent=False)
    model = _forecasts("said", said, classes, absent=True)
    checks.same_length("said", model, "ours", len(mean))
    ends = _bounds(bounds, count, len(mean))
    sizes = np.diff(ends)
    table = np.empty((len(mean), 3 * size + DATA))
    table[:, :size], table[:, size : 2 * size] = model, mean
    table[:, 2 * size : 3 * size] = np.repeat(happened, sizes, axis=0)
    table[:, 3 * size], table[:, 3 * size + 1] = np.repeat(weight, sizes), np.repeat(time, sizes)
    table[:, 3 * size + 2] = 0.0
    table[ends[:-1], 3 * size + 2] = 1.0
    watched, hot, each = np.empty((len(mean), size)), np.empty(len(mean)), np.empty(len(mean))
    watched_of(table, len(mean), watched, hot, each)
    order = np.argsort(own, kind="stable")
    ordered = own[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    rows = np.add.reduceat(sizes[order], starts) if count else np.zeros(0, np.int64)
    return Events(
        own, table, watched, hot, each, time, ends, ordered[starts], np.append(starts, count),
        order, rows,
    )  # fmt: skip


def _column(name: str, values: Any, count: int) -> Vector:
    column = checks.floats(name, values, LARGEST)
    if column.ndim != 1:
        checks.refuse_shape(name, "(m,)", column)
    checks.same_length(name, column, "places", count)
    return column


def _outcomes(outcomes: Any, count: int, classes: int) -> Points:
    """Shape (m, 1), or (m, K)."""
    array = checks.floats("outcomes", outcomes)
    if array.ndim != (1 if classes == 2 else 2) or array.shape[1:] not in ((), (classes,)):
        checks.refuse_shape("outcomes", "(m,)" if classes == 2 else f"(m, {classes})", array)
    checks.same_length("outcomes", array, "places", count)
    if classes == 2:
        checks.unit("outcomes", array)
        return array[:, None]
    return _scaled("outcomes", array)


def _scaled(name: str, array: Points) -> Points:
    """Rows that sum to 1; one that is certain stays so."""
    return checks.probabilities(name, array) if len(array) else array


def _forecasts(name: str, values: Any, classes: int, absent: bool) -> Points:
    """Shape (n, 1), or (n, K); rows of NaN where nothing was said."""
    array = checks.numbers(name, values).astype(np.float64)
    if array.ndim != (1 if classes == 2 else 2) or array.shape[1:] not in ((), (classes,)):
        checks.refuse_shape(name, "(n,)" if classes == 2 else f"(n, {classes})", array)
    if classes == 2:
        checks.unit(name, array, absent=absent)
        return array[:, None]
    there = ~np.isnan(array).all(axis=1) if absent else np.ones(len(array), np.bool_)
    array[there] = _scaled(name, array[there])
    return array


def _bounds(bounds: Any, count: int, rows: int) -> Indices:
    """Where the forecasts of each event begin, and where the last ones end."""
    if bounds is None:
        checks.same_length("ours", range(rows), "places", count)
        return np.arange(count + 1)
    ends = checks.indices("bounds", bounds, None)
    if ends.shape != (count + 1,):
        checks.refuse_shape("bounds", f"({count + 1},)", ends)
    if ends[0] != 0 or ends[-1] != rows or (np.diff(ends) < 1).any():
        checks.refuse("bounds", f"rise from 0 to {rows}", ends.tolist())
    return ends

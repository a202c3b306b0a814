"""Rows of forecasts and outcomes from outside, in the form that the compiled code reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base import checks
from fullswap.base.protocols import Indices, Points, Vector

NO_WEIGHTS: Vector = np.empty(0)
"""Every weight is 1."""
NO_ROWS: Indices = np.empty(0, np.int64)
MOST_CLASSES = 10_000


def half_of(step: Any) -> float:
    """Half the width of a rounding cell; 0 where nothing is rounded."""
    if step is None:
        return 0.0
    return checks.setting("step", step, above=0.0, most=0.5) / 2


def probabilities_of(p: Any, classes: int) -> Points:
    """Forecasts as a table: one column for yes/no, K otherwise."""
    array = checks.floats("p", p)
    if classes == 2:
        if array.ndim == 2 and array.shape[1] == 2:
            array = checks.probabilities("p", array)[:, 1]
        if array.ndim != 1:
            checks.refuse_shape("p", "(n,)", array)
        checks.unit("p", array)
        return np.ascontiguousarray(array)[:, None]
    if array.ndim != 2 or array.shape[1] != classes:
        checks.refuse_shape("p", f"(n, {classes})", array)
    return np.ascontiguousarray(checks.probabilities("p", array))


def outcomes_of(y: Any, count: int, classes: int) -> Vector:
    """Outcomes as floats: 0/1, or numbers of classes."""
    own = checks.indices("y", y, classes).astype(np.float64)
    if own.ndim != 1:
        checks.refuse_shape("y", "(n,)", own)
    checks.same_length("y", own, "p", count)
    return own


def weights_of(weight: Any, count: int) -> Vector:
    """Weights in [0, 1]; an empty array if there are none."""
    if weight is None:
        return NO_WEIGHTS
    own = checks.floats("weight", weight)
    if own.ndim != 1:
        checks.refuse_shape("weight", "(n,)", own)
    checks.same_length("weight", own, "p", count)
    checks.unit("weight", own)
    return np.ascontiguousarray(own)


def codes_of(name: str, values: Any, count: int) -> Indices:
    """Whole numbers, one a row."""
    codes = checks.indices(name, values, None)
    if codes.ndim != 1:
        checks.refuse_shape(name, "(n,)", codes)
    checks.same_length(name, codes, "p", count)
    return codes


def events_of(codes: Indices, streams: Indices, y: Vector) -> tuple[Indices, Indices]:
    """Rows sorted by event, events in the order of their last rows, and where each begins.

    Rows of one code in two streams are two events.
    """
    if not len(codes):
        return NO_ROWS, NO_ROWS
    _, own = np.unique(codes, return_inverse=True)
    if len(streams):
        _, own = np.unique(own * (int(streams.max()) + 1) + streams, return_inverse=True)
    last = np.zeros(int(own.max()) + 1, np.int64)
    last[own] = np.arange(len(own))
    ends = last[own]
    if (y != y[ends]).any():
        t = int(np.flatnonzero(y != y[ends])[0])
        raise ValueError(f"event must have one outcome, got others in rows {t} and {int(ends[t])}")
    rows = np.argsort(ends, kind="stable")
    bounds = np.concatenate(([0], np.flatnonzero(np.diff(ends[rows])) + 1, [len(own)]))
    return rows.astype(np.int64), bounds.astype(np.int64)


def impossible_in(y: Vector, table: Points) -> NDArray[np.bool_]:
    """Rows in which what was said to be impossible happened."""
    if table.shape[1] > 1:
        return np.asarray(table[np.arange(len(y)), y.astype(np.int64)] == 0)
    return np.asarray(table[:, 0] == 1 - y)

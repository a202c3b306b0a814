"""Checks of what comes from outside: numbers, probabilities, outcomes of one kind or the other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fullswap.base.protocols import Points, Vector

MOST_EVENTS = 2**53
"""Largest horizon: up to there floats count events one by one."""


def as_numbers(name: str, values: Any) -> Any:
    """An array of real numbers, of whatever precision it came in."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must be numbers in a regular array: {error}") from None
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"{name} must be numbers, got an array with masked entries")
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be numbers, got an array of {array.dtype}")
    return array


def as_float(value: Any) -> float:
    """The number; NaN if it is none, or a whole number beyond all floats."""
    try:
        kinds = (int, float, np.integer, np.floating, np.bool_)
        return float(value) if isinstance(value, kinds) else math.nan
    except OverflowError:
        return math.nan


def number(name: str, value: Any) -> float:
    """A finite number."""
    found = as_float(value)
    if not math.isfinite(found):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    return found


def positive(name: str, value: Any) -> float:
    """A finite number above 0."""
    found = number(name, value)
    if not found > 0:
        raise ValueError(f"{name} must be positive, got {value!r}")
    return found


def check_unit(name: str, array: Any, absent: bool) -> None:
    """Entries in [0, 1]; NaN only where entries may be absent."""
    if not array.size or (array.min() >= 0 and array.max() <= 1):  # NaN fails both
        return
    wrong = ~((array >= 0) & (array <= 1))
    if absent:
        wrong &= ~np.isnan(array)
    if wrong.any():
        at = np.unravel_index(int(wrong.argmax()), array.shape)
        place = int(at[0]) if array.ndim == 1 else tuple(int(k) for k in at)
        allowed = "[0, 1] (or be NaN: absent)" if absent else "[0, 1]"
        raise ValueError(f"{name} must lie in {allowed}, got {array[at]} at position {place}")


def binary_outcome(outcome: Any) -> float:
    """One number in [0, 1]."""
    kind = type(outcome)
    if kind is not int and kind is not float and kind is not bool:
        try:
            array = as_numbers("outcome", outcome)
        except ValueError:
            array = np.zeros(1)
        if array.ndim:
            raise ValueError(f"outcome must be one number in [0, 1], got {outcome!r}")
    if not 0 <= outcome <= 1:
        raise ValueError(f"outcome must lie in [0, 1], got {outcome!r}")
    return float(outcome)


def binary_outcomes(outcomes: Any) -> Any:
    """Numbers in [0, 1], shape (T,)."""
    array = as_numbers("outcomes", outcomes)
    if array.ndim != 1:
        raise ValueError(f"outcomes must have shape (T,), got {array.shape}")
    check_unit("outcomes", array, False)
    return array


def class_row(outcome: Any, classes: int) -> Vector:
    """One outcome, a class 0 … K − 1 or K probabilities, as probabilities (K,).

    Examples
    --------
    >>> class_row(1, 3), class_row([0.5, 0.5, 0.0], 3)
    (array([0., 1., 0.]), array([0.5, 0.5, 0. ]))
    """
    array = as_numbers("outcome", outcome)
    if array.ndim == 0 and not array.dtype.kind == "b":
        return np.eye(classes)[int(_labels(array[None], classes, "outcome")[0])]
    if array.shape != (classes,):
        raise ValueError(
            f"outcome must be a class from 0 to {classes - 1} or {classes} probabilities, "
            f"got {outcome!r}"
        )
    return _probabilities(array[None], "outcome")[0]


def class_rows(outcomes: Any, classes: int) -> Any:
    """Outcomes of many events: classes (T,), or probabilities (T, K), checked."""
    array = as_numbers("outcomes", outcomes)
    if array.ndim == 1 and not array.dtype.kind == "b":
        return _labels(array, classes, "outcomes")
    if array.ndim != 2 or array.shape[1] != classes:
        raise ValueError(
            f"outcomes must be classes of shape (T,), or probabilities of shape (T, {classes}), "
            f"got {array.dtype} of shape {array.shape}"
        )
    return _probabilities(array, "outcomes")


def _labels(array: Any, classes: int, name: str) -> Any:
    wrong = ~((array >= 0) & (array < classes) & (array == np.floor(array)))
    if wrong.any():
        at = int(wrong.argmax())
        raise ValueError(
            f"{name} must be whole numbers from 0 to {classes - 1}, got {array[at]}"
            + (f" at position {at}" if len(array) > 1 else "")
        )
    return array.astype(np.int64)


def _probabilities(array: Any, name: str) -> Points:
    rows = array.astype(float)
    sums = row_sums(rows)
    wrong = ~((rows >= 0).all(axis=1) & (np.abs(sums - 1) <= 1e-6))
    if wrong.any():
        at = int(wrong.argmax())
        raise ValueError(
            f"{name} must be probabilities that sum to 1, got {rows[at].tolist()}"
            + (f" at position {at}" if len(rows) > 1 else "")
        )
    return rows / sums[:, None]


def row_sums(rows: Any) -> Any:
    """Sums of rows, class after class: a row gives the same alone and among others."""
    total: Any = np.zeros(rows.shape[:-1])
    for k in range(rows.shape[-1]):
        total = total + rows[..., k]
    return total


def checked_horizon(horizon: Any) -> int | None:
    """A number of events, or None, or a ValueError."""
    whole = isinstance(horizon, int | np.integer) and not isinstance(horizon, bool)
    if horizon is not None and not (whole and horizon >= 1):
        raise ValueError(f"horizon must be a whole number >= 1, or None, got {horizon!r}")
    if horizon is not None and horizon > MOST_EVENTS:
        raise ValueError(f"horizon must be at most {MOST_EVENTS}, or None, got {horizon!r}")
    return None if horizon is None else int(horizon)


def checked_classes(classes: Any, most: int) -> int:
    """The number of classes, from 2 to ``most``, or a ValueError."""
    whole = isinstance(classes, int | np.integer) and not isinstance(classes, bool)
    if not whole or not 2 <= classes <= most:
        raise ValueError(f"classes must be a whole number from 2 to {most}, got {classes!r}")
    return int(classes)

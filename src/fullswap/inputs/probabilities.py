"""Probabilities as people write them: shares or percents, one column, two, or one a class."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base import checks
from fullswap.base.amounts import counted
from fullswap.base.protocols import Vector
from fullswap.inputs.columns import MISSING_WORDS, column_of, factorise, is_missing, plain
from fullswap.inputs.frames import columns_of

ROUNDING = 1e-9
"""Further outside of [0, 1] than that is no error of rounding."""
UNSAID = 1e-6
"""Sums of rows within this of 1 are normalised without a word."""
SUM_TOLERANCE = 1e-2
"""Sums of rows within this of 1 are normalised and said: logs are written with few digits."""
LEAST_PERCENT = 2.0
"""A largest value between 1 and this is rather a mistake than a percent."""
FEW = 0.01
"""Where a smaller share of values than this lies above 1, these are rather mistakes."""
FEWEST_MARKS = 3
"""A negative value that comes so often, and no other, marks what is missing."""
SCORES = "log-odds z are turned into probabilities by 1/(1 + exp(-z)), other scores by calibrating"


def probabilities(
    name: str, values: Any, *, percent: bool | None = None
) -> tuple[NDArray[np.float64], list[str]]:
    """Probabilities of yes, shape (n,), or of K >= 3 classes, shape (n, K), and notes.

    A column of values up to 100, or of texts such as "45%", is read as percent; two columns are
    the probabilities of no and of yes. NaN means that there is no forecast. Values that are out of
    range by less than 1e-9 are clipped.

    Parameters
    ----------
    name
        What the argument is called in messages.
    values
        One column, or a table of one column a class: list, array, Series or frame.
    percent
        Whether these are percents; None: as the largest value says.

    Examples
    --------
    >>> probabilities("y_proba", [3, 97])
    (array([0.03, 0.97]), ['y_proba: read as percent (largest value 97)'])
    >>> probabilities("y_proba", [[0.2, 0.8], [0.5, 0.5]])
    (array([0.8, 0.5]), [])
    >>> probabilities("y_proba", [-1.2, 0.3])
    Traceback (most recent call last):
    ValueError: y_proba must lie in [0, 1], got -1.2 at position 0: log-odds z are turned into
    probabilities by 1/(1 + exp(-z)), other scores by calibrating
    """
    table = table_of(name, values)
    notes: list[str] = []
    if table.dtype.kind == "O":
        table, percent = _without_signs(name, table, percent, notes)
    table = _without_marker(name, table, notes)
    _refuse_range(name, table, 100 if percent or percent is None else 1)
    largest = float(np.nanmax(table)) if table.size and not np.isnan(table).all() else 0.0
    if percent is None and largest > 1 + ROUNDING:
        above = np.count_nonzero(table > 1 + ROUNDING) / np.count_nonzero(~np.isnan(table))
        if largest < LEAST_PERCENT or above < FEW:
            _refuse_range(name, table, 1, "; divide by 100 if these are percents")
        percent = True
        notes.append(f"{name}: read as percent (largest value {largest:g})")
    shares: NDArray[np.float64] = np.clip(table / 100 if percent else table, 0.0, 1.0)
    if shares.ndim == 2 and shares.shape[1] == 1:
        shares = shares[:, 0]
    if shares.ndim == 2:
        shares = _summing(name, shares, notes)
    gone = np.isnan(shares if shares.ndim == 1 else shares[:, 0])
    if gone.any():
        notes.append(f"{name}: {counted(int(gone.sum()), 'row')} without a forecast left out")
    return (shares[:, 1].copy() if shares.ndim == 2 and shares.shape[1] == 2 else shares), notes


def table_of(name: str, values: Any) -> NDArray[Any]:
    """One column (n,) or a table (n, K), of floats, or of texts where some are no numbers."""
    columns = columns_of(values)
    if columns is not None:
        parts = [_numbers(f"{name} ({key})", column) for key, column in columns.items()]
        if not parts:
            checks.refuse(name, "have at least one column", list(columns))
        if any(part.dtype.kind == "O" for part in parts):
            parts = [part.astype(object) for part in parts]
        return np.column_stack(parts)
    if hasattr(values, "ndim") and values.ndim == 2 or _nested(values):
        try:
            array = np.asarray(values)
        except ValueError as error:
            raise ValueError(f"{name} must be a regular table: {error}") from None
        if array.ndim == 2 and array.shape[1] > 0:
            return _numbers(name, array.ravel()).reshape(array.shape)
        checks.refuse_shape(name, "(n,) or (n, K)", array)
    if getattr(values, "ndim", 1) != 1:
        checks.refuse_shape(name, "(n,) or (n, K)", values)
    return _numbers(name, values)


def _nested(values: Any) -> bool:
    return isinstance(values, list | tuple) and bool(len(values)) and np.ndim(values[0]) > 0


def _numbers(name: str, values: Any) -> NDArray[Any]:
    column = column_of(name, values)
    if column.kind == "time":
        checks.refuse(name, "be probabilities", str(column.values[:1]))
    numbers = column.floats()
    return column.values if numbers is None else numbers


def _without_signs(
    name: str, table: NDArray[Any], percent: bool | None, notes: list[str]
) -> tuple[Vector, bool | None]:
    """Numbers of texts such as "45%"; all with the sign, or none."""
    codes, words = factorise(table.ravel())
    values, signs = np.full(len(words), np.nan), np.zeros(len(words), dtype=np.int8)
    for k, word in enumerate(words):
        if is_missing(word) or plain(word) in MISSING_WORDS:
            continue
        found = re.fullmatch(r"\s*([^%]*?)\s*(%?)\s*", str(word))
        try:
            values[k] = float(found[1] if found else "?")
        except ValueError:
            at = _place(codes.reshape(table.shape) == k)
            raise ValueError(f"{name} must be numbers, got {word!r} at position {at}") from None
        signs[k] = 1 if found and found[2] else -1
    if (signs == 1).any() and (signs == -1).any():
        at = _place((signs == -1)[codes].reshape(table.shape))
        word = words[int(np.flatnonzero(signs == -1)[0])]
        raise ValueError(
            f"{name} must have the sign % in every row or in none, got {word!r} at position {at}"
        )
    if (signs == 1).any():
        percent = True
        first = words[int(np.flatnonzero(signs == 1)[0])].strip()
        notes.append(f'{name}: read as percent (texts such as "{first}")')
    return values[codes].reshape(table.shape), percent


def _place(bad: NDArray[np.bool_]) -> Any:
    at = tuple(int(k) for k in np.unravel_index(int(bad.argmax()), bad.shape))
    return at[0] if len(at) == 1 else at


def _refuse_range(name: str, table: Vector, most: float, hint: str = f": {SCORES}") -> None:
    """Refuse numbers outside of [0, most] by more than rounding, with what they may be."""
    bad = (table < -ROUNDING * most) | (table > most * (1 + ROUNDING))
    if bad.any():
        at = _place(bad)
        raise ValueError(f"{name} must lie in [0, 1], got {table[at]:g} at position {at}{hint}")


def _without_marker(name: str, table: Vector, notes: list[str]) -> Vector:
    """One negative value again and again, such as -1 or -999, stands for no forecast."""
    low = table[(table < -ROUNDING) & np.isfinite(table)]
    if len(low) < FEWEST_MARKS or (low != low[0]).any():
        return table
    notes.append(f"{name}: {low[0]:g} ({counted(len(low), 'time')}) read as no forecast")
    return np.where(table == low[0], np.nan, table)


def _summing(name: str, table: NDArray[np.float64], notes: list[str]) -> NDArray[np.float64]:
    """Rows made to sum to 1; a row with a gap is a gap."""
    sums = checks.row_sums(table)
    off = np.abs(sums - 1)
    bad = off > SUM_TOLERANCE + ROUNDING
    if bad.any():
        at = int(bad.argmax())
        raise ValueError(
            f"{name} must have rows that sum to 1, got {sums[at]:.6g} at position {at}: "
            "one column a class, in the order of labels"
        )
    rounded = int(np.count_nonzero(off > UNSAID))
    if rounded:
        notes.append(
            f"{name}: {counted(rounded, 'row')} summed to 1 only after rounding "
            f"(off by up to {np.nanmax(off):.2g}) and made to"
        )
    result: NDArray[np.float64] = table / sums[:, None]
    return result

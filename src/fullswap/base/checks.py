"""Checks of what comes from outside. One grammar: "`x` must …, got …".

Every function takes the name of the argument first and returns the value in the form that the
code behind it works with, or raises a ValueError that names argument, rule and value. A long value
is shortened; one bad entry of an array is shown with its position.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Collection
from numbers import Real
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from fullswap.base.protocols import Indices, Points, Vector

ROW_TOLERANCE = 1e-6
"""How far probabilities may be from summing to 1: they are often written with six digits."""
MOST_EVENTS = 2**53
"""Up to there floats count events one by one."""


def refuse(name: str, rule: str, value: object) -> NoReturn:
    """Raise the ValueError of this grammar.

    Examples
    --------
    >>> refuse("step", "divide 1", 0.3)
    Traceback (most recent call last):
    ValueError: step must divide 1, got 0.3
    """
    raise ValueError(f"{name} must {rule}, got {reprlib.repr(value)}")


def refuse_at(name: str, rule: str, array: NDArray[Any], bad: NDArray[np.bool_]) -> None:
    """Refuse the first entry that is marked as bad, if there is one.

    Examples
    --------
    >>> refuse_at("p", "lie in [0, 1]", np.array([0.5, 2.0]), np.array([False, True]))
    Traceback (most recent call last):
    ValueError: p must lie in [0, 1], got 2.0 at position 1
    """
    if not bad.any():
        return
    if array.ndim == 0:
        refuse(name, rule, array[()].item())
    at = tuple(int(k) for k in np.unravel_index(int(bad.argmax()), bad.shape))
    place = at[0] if len(at) == 1 else at
    value = array[at] if bad.ndim == array.ndim else array[at].tolist()
    raise ValueError(f"{name} must {rule}, got {value} at position {place}")


# --- one value ----------------------------------------------------------------------------------


def number(
    name: str, value: Any, *,
    above: float = -math.inf, least: float = -math.inf, most: float = math.inf,
) -> float:  # fmt: skip
    """A finite number; larger than ``above``, between ``least`` and ``most``."""
    plain = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    try:
        result = float(plain) if isinstance(plain, Real | np.bool_) else math.nan
    except OverflowError:  # a whole number beyond all floats
        result = math.nan
    if not math.isfinite(result):
        refuse(name, "be a finite number", value)
    if not result > above:
        refuse(name, "be positive" if above == 0 else f"be larger than {above:g}", value)
    if not least <= result <= most:
        ends = f"be at least {least:g}", f"be at most {most:g}", f"lie in [{least:g}, {most:g}]"
        refuse(name, ends[0 if most == math.inf else 1 if least == -math.inf else 2], value)
    return result


def setting(name: str, value: Any, **bounds: float) -> float:
    """The same for what a user chooses, where a boolean is a mistake and no 0 or 1."""
    if isinstance(value, bool | np.bool_):
        refuse(name, "be a finite number", value)
    return number(name, value, **bounds)


def whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """A whole number from ``least`` to ``most``; floats and booleans are none."""
    if not is_whole(value) or value < least or (most is not None and value > most):
        span = f">= {least}" if most is None else f"from {least} to {most}"
        refuse(name, f"be a whole number {span}", value)
    return int(value)


def is_whole(value: Any) -> bool:
    """Whether it is an integer, of Python or numpy."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def horizon(value: Any) -> int | None:
    """A number of events, or None where it is unknown."""
    if value is None:
        return None
    if not is_whole(value) or value < 1:
        refuse("horizon", "be a whole number >= 1, or None", value)
    if value > MOST_EVENTS:
        refuse("horizon", f"be at most {MOST_EVENTS}, or None", value)
    return int(value)


def one_of(name: str, value: Any, allowed: Collection[str]) -> str:
    """One of these words."""
    if not isinstance(value, str) or value not in allowed:
        words = [repr(word) for word in allowed]
        shown = " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
        refuse(name, f"be {shown}", value)
    return value


def instance(name: str, value: Any, kind: type, wanted: str) -> None:
    """An object of this class, called ``wanted`` in the message."""
    if not isinstance(value, kind):
        refuse(name, f"be {wanted}", value)


def flag(name: str, value: Any) -> bool | None:
    """True, False or None."""
    if value is not None and not isinstance(value, bool | np.bool_):
        refuse(name, "be None, True or False", value)
    return None if value is None else bool(value)


# --- arrays -------------------------------------------------------------------------------------


def numbers(name: str, values: Any) -> NDArray[Any]:
    """An array of real numbers, in whatever precision it came; no text, no masked entries."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must be numbers in a regular array: {error}") from None
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"{name} must be numbers, got an array with masked entries")
    if array.dtype.kind == "O" and not any(isinstance(v, str | bytes) for v in array.flat):
        try:
            plain = np.array(array.tolist())  # whole numbers too long for a float stay exact
            same = plain.shape == array.shape and plain.dtype.kind in "biuf"
            array = plain if same else array.astype(float)
        except (TypeError, ValueError, OverflowError):  # or a whole number beyond all floats
            refuse(name, "be numbers", values)
    if array.dtype.kind not in "biuf":
        refuse(name, "be numbers", values)
    return array


def floats(name: str, values: Any, largest: float = math.inf) -> NDArray[np.float64]:
    """Finite numbers of at most this magnitude, as float64, of any shape."""
    array = numbers(name, values).astype(np.float64, copy=False)
    inside = np.isfinite(array) if largest == math.inf else np.abs(array) <= largest  # NaN: False
    rule = "be finite" if largest == math.inf else f"be finite, of magnitude at most {largest:g}"
    refuse_at(name, rule, array, ~inside)
    return array


def vector(name: str, values: Any, length: int | None = None, largest: float = math.inf) -> Vector:
    """Finite numbers of shape (length,), at least one."""
    array = floats(name, values, largest)
    if array.ndim != 1 or array.size == 0 or (length is not None and len(array) != length):
        refuse_shape(name, "(m,) with m >= 1" if length is None else f"({length},)", array)
    return array


def rows(name: str, values: Any, width: int, largest: float = math.inf) -> tuple[Points, bool]:
    """Finite numbers of shape (m, width), m >= 1, and whether a single row (width,) came."""
    array = floats(name, values, largest)
    if array.ndim not in (1, 2) or array.shape[-1] != width or array.size == 0:
        refuse_shape(name, f"({width},) or (m, {width}) with m >= 1", array)
    return (array[np.newaxis] if array.ndim == 1 else array), array.ndim == 1


def matrix(name: str, values: Any, shape: tuple[int | None, int | None] = (None, None)) -> Points:
    """Finite numbers of shape (n, d), n and d as given or at least 1."""
    array = floats(name, values)
    fits = array.ndim == 2 and 0 not in array.shape
    if not fits or any(k not in (None, have) for k, have in zip(shape, array.shape, strict=True)):
        n, d = ("nd"[i] if k is None else str(k) for i, k in enumerate(shape))
        free = " and ".join(k for k in (n, d) if k in "nd")
        refuse_shape(name, f"({n}, {d})" + (f" with {free} >= 1" if free else ""), array)
    return array


def indices(name: str, values: Any, size: int | None) -> Indices:
    """Whole numbers from 0 to size − 1, of any shape."""
    array = numbers(name, values)
    rule = "be whole numbers >= 0" if size is None else f"be whole numbers from 0 to {size - 1}"
    inside = (array >= 0) & (array == np.floor(array))
    if size is not None:
        inside &= array < size
    refuse_at(name, rule, array, ~inside)
    return array.astype(np.int64)


def unit(name: str, array: NDArray[Any], absent: bool = False) -> None:
    """Entries in [0, 1]; NaN only where entries may be absent."""
    if not array.size or (array.min() >= 0 and array.max() <= 1):  # NaN fails both
        return
    bad = ~((array >= 0) & (array <= 1))
    if absent:
        bad &= ~np.isnan(array)
    refuse_at(name, "lie in [0, 1] (or be NaN: absent)" if absent else "lie in [0, 1]", array, bad)


def distributions(name: str, table: NDArray[np.float64]) -> Vector:
    """Sums of rows of numbers >= 0, shape (m, K), that sum to 1 up to rounding."""
    sums = row_sums(table)
    bad = ~((table >= 0).all(axis=1) & (np.abs(sums - 1) <= ROW_TOLERANCE))
    refuse_at(name, "be probabilities that sum to 1", table, bad)
    return sums


def probabilities(name: str, array: NDArray[Any]) -> Points:
    """Rows of numbers >= 0 that sum to 1, shape (m, K), made to sum to 1 exactly."""
    table = array.astype(np.float64)
    scaled: Points = table / distributions(name, table)[:, None]
    return scaled


def row_sums(table: NDArray[np.float64]) -> Vector:
    """Sums of rows, column after column: a row gives the same alone and among others."""
    total = np.zeros(table.shape[:-1])
    for k in range(table.shape[-1]):
        total = total + table[..., k]
    return total


def same_length(name: str, array: Any, other: str, length: int) -> None:
    """As many entries as another argument has."""
    if len(array) != length:
        raise ValueError(f"{name} must be as long as {other} ({length}), got {len(array)} entries")


def refuse_shape(name: str, wanted: str, array: Any) -> NoReturn:
    """Raise for an array of another shape."""
    raise ValueError(f"{name} must have shape {wanted}, got {np.shape(array)}")

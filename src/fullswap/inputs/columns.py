"""One column of values, from a list, an array or a Series of any kind, in one of four forms."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullswap.base import checks
from fullswap.base.protocols import Indices, Vector

MISSING_WORDS = frozenset({"", "na", "n/a", "nan", "nat", "null", "none", "<na>"})
"""Texts that stand for no value, in small letters and without blanks."""
SERIES_HOMES = ("pandas", "polars", "pyarrow", "narwhals", "modin", "cudf")
"""Packages whose columns are read through narwhals."""
Kind = Literal["number", "bool", "text", "time"]


@dataclass(frozen=True, eq=False)
class Column:
    """Values of one column.

    Numbers are integers or floats with NaN for missing, yes/no values are floats 0, 1 and NaN,
    texts are Python texts with None, times are `datetime64` in UTC with NaT.
    """

    kind: Kind
    values: NDArray[Any]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which values are missing, shape (n,); words such as "NA" count."""
        if self.kind == "text":
            codes, words = factorise(self.values)
            out = [is_missing(word) or plain(word) in MISSING_WORDS for word in words]
            return np.array(out, dtype=bool)[codes]
        gone: NDArray[np.bool_] = (np.isnat if self.kind == "time" else np.isnan)(self.values)
        return gone

    def floats(self) -> Vector | None:
        """The numbers, NaN where missing; None if a text is no number or these are times."""
        if self.kind == "text":
            return numbers_of_texts(self.values)
        return None if self.kind == "time" else self.values.astype(np.float64, copy=False)


def plain(text: Any) -> str:
    """The text in small letters without blanks round it."""
    return str(text).strip().casefold()


def is_missing(value: Any) -> bool:
    """Whether it is None, NaN, NaT or pandas' NA."""
    if value is None or type(value).__name__ == "NAType":
        return True
    if isinstance(value, str):
        return False
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return False


class _Seen(dict[Any, int]):
    """Numbers values as they are asked for."""

    def __missing__(self, value: Any) -> int:
        self[value] = number = len(self)
        return number


def factorise(values: Iterable[Any]) -> tuple[Indices, list[Any]]:
    """Codes in order of first appearance, and the distinct values.

    Examples
    --------
    >>> codes, names = factorise(["b", "a", "b"])
    >>> codes.tolist(), names
    ([0, 1, 0], ['b', 'a'])
    """
    seen = _Seen()
    items = values.tolist() if isinstance(values, np.ndarray) else list(values)
    codes = np.fromiter(map(seen.__getitem__, items), np.int64, len(items))
    return codes, list(seen)


def numbers_of_texts(texts: NDArray[Any]) -> Vector | None:
    """Texts as numbers, NaN where missing; None if one of them is no number."""
    try:
        return texts.astype(np.float64)  # the common case, at the speed of C; None becomes NaN
    except (TypeError, ValueError):
        pass
    codes, words = factorise(texts)
    values = np.full(len(words), np.nan)
    for k, word in enumerate(words):
        if word is None or plain(word) in MISSING_WORDS:
            continue
        try:
            values[k] = float(word)
        except ValueError:
            return None
    return values[codes]


def column_of(name: str, values: Any) -> Column:
    """Read a column of one of the four kinds.

    Examples
    --------
    >>> column_of("y_true", [1, None, 0]).values
    array([ 1., nan,  0.])
    >>> column_of("y_true", "won")
    Traceback (most recent call last):
    ValueError: y_true must be a column of values, got 'won'
    """
    if isinstance(values, Column):
        return values
    if isinstance(values, str | bytes | dict | set | frozenset) or values is None:
        checks.refuse(name, "be a column of values", values)
    if type(values).__module__.split(".")[0] in SERIES_HOMES:
        from fullswap.inputs.series import of_series

        return of_series(name, values)
    if isinstance(values, np.ma.MaskedArray):
        plain_values = np.array(values.data, dtype=object)
        plain_values[np.ma.getmaskarray(values)] = None
        values = plain_values
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O" and array.ndim == 0 and isinstance(values, Iterable):
            array = np.asarray(list(values))
    except ValueError as error:
        raise ValueError(f"{name} must be one column of values: {error}") from None
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        checks.refuse_shape(name, "(n,)", array)
    return of_array(name, array)


def of_array(name: str, array: NDArray[Any]) -> Column:
    """A column of an array of shape (n,)."""
    kind = array.dtype.kind
    if kind == "b":
        return Column("bool", array.astype(np.float64))
    if kind in "iu":
        return Column("number", array)
    if kind == "f":
        return Column("number", array.astype(np.float64, copy=False))
    if kind == "M":
        return Column("time", array)
    if kind == "m":
        gone = np.isnat(array)
        return Column("number", np.where(gone, np.nan, array.astype(np.float64)))
    if kind == "S":
        array = np.char.decode(array, "utf-8", "replace")
    if kind in "UST":
        return Column("text", array.astype(object))
    if kind == "O":
        return of_objects(name, array)
    checks.refuse(name, "be numbers, texts, yes/no values or times", array)


def of_objects(name: str, array: NDArray[Any]) -> Column:
    """A column of Python objects: what they have in common decides."""
    items = array.tolist()
    kinds = set(map(type, items))
    if kinds <= {str, type(None)} and str in kinds:
        return Column("text", array)
    gone = [is_missing(v) for v in items]
    present = [v for v, out in zip(items, gone, strict=True) if not out]
    kinds = set(map(type, present))
    if all(issubclass(k, bool | np.bool_) for k in kinds) and kinds:
        return Column("bool", _scattered(present, gone))
    if all(issubclass(k, Real | decimal.Decimal | np.bool_ | np.number) for k in kinds):
        if not any(gone) and all(issubclass(k, int | np.integer) for k in kinds):
            try:
                return Column("number", np.array(present, dtype=np.int64))
            except OverflowError:
                return Column("text", np.array([str(v) for v in present], dtype=object))
        return Column("number", _scattered(present, gone))
    if all(issubclass(k, datetime.date | np.datetime64) for k in kinds):
        return Column("time", _moments(name, present, gone))
    if any(isinstance(v, Sequence | np.ndarray | dict) and not isinstance(v, str) for v in present):
        checks.refuse(name, "be one column of values", items)
    texts = [None if out else v if isinstance(v, str) else str(v)
             for v, out in zip(items, gone, strict=True)]  # fmt: skip
    filled = np.empty(len(texts), dtype=object)
    filled[:] = texts
    return Column("text", filled)


def _scattered(present: list[Any], gone: list[bool]) -> Vector:
    result = np.full(len(gone), np.nan)
    result[~np.array(gone, dtype=bool)] = [float(v) for v in present]
    return result


def _moments(name: str, present: list[Any], gone: list[bool]) -> NDArray[np.datetime64]:
    zones = {getattr(v, "tzinfo", None) is not None for v in present}
    if zones == {True, False}:
        raise ValueError(f"{name} must have a time zone in every row or in none, got both")
    if True in zones:
        present = [v.astimezone(datetime.UTC).replace(tzinfo=None) for v in present]
    result = np.full(len(gone), np.datetime64("NaT", "us"), dtype="datetime64[us]")
    result[~np.array(gone, dtype=bool)] = [np.datetime64(v, "us") for v in present]
    return result

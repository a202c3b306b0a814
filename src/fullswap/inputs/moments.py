"""Moments in time: dates, times with and without zone, ISO texts and plain numbers."""

from __future__ import annotations

import datetime
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base import checks
from fullswap.base.amounts import counted
from fullswap.base.protocols import Indices
from fullswap.inputs.columns import MISSING_WORDS, Column, column_of, factorise, plain

DATE_LIKE = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})([T ].*)?")
DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})([T ].*)?")
"""Day, month and year; with slashes some countries write the month first."""
UNCLEAR = re.compile(r"\d{1,2}([-/])\d{1,2}\1(\d{4}|\d{2})([T ].*)?")
"""Dates of which nobody knows whether the day or the month comes first."""
YEAR_FIRST = "write dates with the year first, as in 2021-08-22"
BACKWARDS = 0.9
"""Rows are newest first if this share of the steps in time goes back."""


def moments(name: str, values: Any, *, missing: bool = False) -> NDArray[Any]:
    """Moments that can be sorted and compared, shape (n,): numbers, or times in UTC.

    Parameters
    ----------
    name
        What the argument is called in messages.
    values
        A column of dates, times, ISO texts ("2026-03-01", "2026-03-01T12:30:00+01:00") or numbers.
    missing
        Whether a moment may be missing (NaN or NaT).

    Examples
    --------
    >>> moments("time", ["2026-03-02", "2026-03-01T12:00:00Z"])
    array(['2026-03-02T00:00:00.000000', '2026-03-01T12:00:00.000000'],
          dtype='datetime64[us]')
    """
    column = column_of(name, values)
    if column.kind == "bool":
        checks.refuse(name, "be dates, times or numbers", "yes/no values")
    numbers = column.floats() if column.kind == "text" else column.values
    result = _of_texts(name, column) if numbers is None else numbers
    gone = np.isnat(result) if result.dtype.kind == "M" else np.isnan(result)
    if gone.any() and not missing:
        raise ValueError(
            f"{name} must be given for every row, got {counted(int(gone.sum()), 'row')} without "
            f"(first at position {int(gone.argmax())}): drop these rows, or leave {name} out"
        )
    if result.dtype.kind == "f" and np.isinf(result).any():
        checks.refuse_at(name, "be finite", result, np.isinf(result))
    return result


def _of_texts(name: str, column: Column) -> NDArray[Any]:
    codes, words = factorise(column.values)
    parsed: list[datetime.datetime | None] = []
    zones = set()
    for k, word in enumerate(words):
        if word is None or plain(word) in MISSING_WORDS:
            parsed.append(None)
            continue
        moment = parse(word)
        if moment is None:
            at = int(np.flatnonzero(codes == k)[0])
            hint = f": {YEAR_FIRST}" if UNCLEAR.fullmatch(word.strip()) else ""
            raise ValueError(
                f"{name} must be dates such as 2026-03-01, times such as 2026-03-01T12:30, or "
                f"numbers, got {word!r} at position {at}{hint}"
            )
        zones.add(moment.tzinfo is not None)
        parsed.append(moment)
    if zones == {True, False} and any(
        m is not None and m.tzinfo is None and m.time() != datetime.time() for m in parsed
    ):
        raise ValueError(f"{name} must have a time zone in every row or in none, got both")
    flat = [np.datetime64("NaT", "us") if m is None else np.datetime64(_utc(m), "us")
            for m in parsed]  # fmt: skip
    return np.array(flat, dtype="datetime64[us]")[codes]


def _utc(moment: datetime.datetime) -> datetime.datetime:
    if moment.tzinfo is None:
        return moment
    return moment.astimezone(datetime.UTC).replace(tzinfo=None)


def parse(text: str) -> datetime.datetime | None:
    """The moment of an ISO text, also with slashes for dashes, or of 22.08.2021; else None."""
    found = DATE_LIKE.fullmatch(text.strip())
    year, month, day = 1, 2, 3
    if found is None:
        found = DOTTED.fullmatch(text.strip())
        year, month, day = 3, 2, 1
    if found is None:
        return None
    try:
        return datetime.datetime.fromisoformat(
            f"{found[year]}-{int(found[month]):02}-{int(found[day]):02}{found[4] or ''}"
        )
    except ValueError:
        return None


def in_order(times: NDArray[Any], name: str) -> tuple[Indices, list[str]]:
    """The rows in order of time, ties as they came, and what is to say about it."""
    order = np.argsort(times, kind="stable").astype(np.int64)
    way = direction(times)
    if way == "backwards":
        return order, ["rows are newest first: read in time order"]
    return order, [] if way == "forwards" else [f"rows are not in order of {name}: sorted by it"]


def direction(times: NDArray[Any]) -> str:
    """How times run from row to row: "forwards", "backwards" or "mixed"."""
    later, earlier = times[1:] > times[:-1], times[1:] < times[:-1]
    if not earlier.any():
        return "forwards"
    back = np.count_nonzero(earlier) / (np.count_nonzero(later) + np.count_nonzero(earlier))
    return "backwards" if back >= BACKWARDS else "mixed"


def is_date_column(column: Column) -> bool:
    """Whether this is obviously a column of dates or times: by its kind, or by its texts."""
    if column.kind == "time":
        return True
    words = _first_words(column)
    return bool(words) and all(parse(word) is not None for word in words)


def _first_words(column: Column) -> list[str]:
    if column.kind != "text":
        return []
    return [v for v in column.values[:50].tolist() if v is not None and plain(v) not in
            MISSING_WORDS]  # fmt: skip


def unread_dates(columns: dict[str, Column]) -> list[str]:
    """A note if a column holds dates that cannot be read.

    Examples
    --------
    >>> unread_dates({"day": column_of("day", ["08/22/2021", "08/21/2021"])})
    ["column day (such as '08/22/2021') was not read as time, rows stay in the order of the file:
    write dates with the year first, as in 2021-08-22"]
    """
    for name, column in columns.items():
        words = _first_words(column)
        if words and all(UNCLEAR.fullmatch(word.strip()) for word in words):
            return [
                f"column {name} (such as {words[0]!r}) was not read as time, rows stay in the "
                f"order of the file: {YEAR_FIRST}"
            ]
    return []


def limit_of(name: str, value: Any, like: NDArray[Any]) -> Any:
    """The moment up to which outcomes count, of the kind of the moments it is compared with."""
    if like.dtype.kind == "M":
        if value is None:
            return np.datetime64(datetime.datetime.now(datetime.UTC).replace(tzinfo=None), "us")
        given = moments(name, [value])
        if given.dtype.kind != "M":
            checks.refuse(name, "be a date or time, as due is", value)
        return given[0]
    if value is None:
        return None
    return checks.number(name, value)

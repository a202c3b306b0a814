"""What a reader of the table would notice: rows that run backwards, rows that share an outcome."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base.protocols import Indices, Vector
from fullswap.inputs.columns import Column
from fullswap.inputs.events import extremes, joined_codes
from fullswap.inputs.moments import direction, is_date_column, moments
from fullswap.inputs.outcomes import distinct

MOST_OPEN = 2
"""So many forecasts that are open at the same time are worth a note."""
FEWEST_EVENTS = 10
"""Among fewer groups than that nothing is said."""
ROWS_EACH = 3
"""Rows that an event must have on average."""
BY_CHANCE = math.log(1e-6)
"""Log of the largest probability that independent outcomes agree within every group."""
FIRST_LOOK = 20_000
"""Rows after which most combinations of columns are seen to be no event."""
MOST_TEXTS, MOST_NUMBERS = 6, 3
"""Columns of each kind that are tried in combinations."""
ID_NAME = re.compile(
    r"(^|_|\b)(ids?|key|uuid|guid|slug|event|game|match|fixture|race|question|market|contract|"
    r"ticker|patient|customer|user|player|case)s?(_|\b|$)|id$",
    re.IGNORECASE,
)
PERIOD_NAME = re.compile(r"season|year|month|week|round|day|edition", re.IGNORECASE)
LATER_NAME = re.compile(r"due|resol|clos|end|expir|settle", re.IGNORECASE)


def notice_dates(columns: dict[str, Column]) -> list[str]:
    """A note if a column of dates says that the rows are not in order of time.

    Examples
    --------
    >>> from fullswap.inputs.columns import column_of
    >>> notice_dates({"date": column_of("date", ["2026-03-02", "2026-03-01"])})
    ["column date runs backwards: give time='date'"]
    """
    for name, column in columns.items():
        if LATER_NAME.search(name) or not is_date_column(column):
            continue
        try:
            times = moments(name, column, missing=True)
        except ValueError:
            continue
        way = direction(times[~np.isnat(times)])
        if way == "backwards":
            return [f"column {name} runs backwards: give time={name!r}"]
        if way == "mixed":
            return [f"rows are not in order of column {name}: give time={name!r}"]
        return []
    return []


def notice_repeats(columns: dict[str, Column], y: Vector) -> list[str]:
    """A note if rows seem to be several forecasts of one event."""
    names = repeated(columns, y)
    if not names:
        return []
    shown = names[0] if len(names) == 1 else f"({', '.join(names)})"
    give = repr(names[0]) if len(names) == 1 else repr(names)
    return [f"rows of one {shown} share an outcome: give event={give}"]


def repeated(columns: dict[str, Column], y: Vector) -> list[str]:
    """Columns that name events of which several rows are forecasts; none if it is not plain.

    A column, or a few together, looks like the name of an event if there are many groups of a few
    rows or more, every group has one outcome, chance would not do that, and the rows of a group
    stand near one another (or the column is called so). A column that tells the outcome wherever
    it stands, such as the final score, is none.
    """
    known = ~np.isnan(y)
    if np.count_nonzero(known) < FEWEST_EVENTS * ROWS_EACH:
        return []
    outcome = y[known]
    if (outcome == outcome[0]).all():
        return []
    parts: dict[str, Indices] = {}
    telling: set[str] = set()
    for name, column in columns.items():
        if not _may_name(name, column):
            continue
        codes = distinct(Column(column.kind, column.values[known]))[0]
        if codes.min() < 0 or codes.max() == 0:
            continue
        parts[name] = codes
        if column.kind != "time" and _is_constant(codes, outcome):
            if _is_event(codes, outcome, bool(ID_NAME.search(name))):
                return [name]
            telling.add(name)
    usable = {name: codes for name, codes in parts.items() if name not in telling}
    for group in _combinations(usable, columns):
        if not all(
            _is_constant(joined_codes([usable[name][:look] for name in group]), outcome[:look])
            for look in (FIRST_LOOK // 10, FIRST_LOOK)
        ):
            continue
        codes = joined_codes([usable[name] for name in group])
        named = any(ID_NAME.search(name) for name in group)
        if _is_constant(codes, outcome) and _is_event(codes, outcome, named):
            return group
    return []


def _may_name(name: str, column: Column) -> bool:
    """Texts, times, and whole numbers that are called like an id or a period."""
    if column.kind in ("text", "time"):
        return True
    if column.kind != "number" or not (ID_NAME.search(name) or PERIOD_NAME.search(name)):
        return False
    values = column.values
    return values.dtype.kind in "iu" or bool((values == np.floor(values)).all())


def _combinations(parts: dict[str, Indices], columns: dict[str, Column]) -> Iterator[list[str]]:
    """Pairs and triples of columns with a text among them, in the order of the table."""
    texts = [name for name in parts if columns[name].kind == "text"][:MOST_TEXTS]
    rest = [name for name in parts if columns[name].kind != "text"][:MOST_NUMBERS]
    chosen = [name for name in parts if name in texts or name in rest]
    for size in (2, 3):
        for group in combinations(chosen, size):
            if any(name in texts for name in group):
                yield list(group)


def _is_constant(codes: Indices, y: Vector) -> bool:
    if len(codes) > FIRST_LOOK and not _is_constant(codes[:FIRST_LOOK], y[:FIRST_LOOK]):
        return False
    least, most = extremes(codes, y, int(codes.max()) + 1)
    return bool((least >= most).all())


def _is_event(codes: Indices, y: Vector, named: bool) -> bool:
    """Whether groups with one outcome each are rather events than chance or a final score."""
    sizes = np.bincount(codes)
    if len(sizes) < FEWEST_EVENTS or len(codes) < ROWS_EACH * len(sizes):
        return False
    # of all ways to hand out these very outcomes to the rows, those that give a group one outcome
    of_group = extremes(codes, y, len(sizes))[0]
    if _log_arrangements(of_group) - _log_arrangements(y) > BY_CHANCE:
        return False
    return named or _stand_together(codes, sizes)


def _log_arrangements(values: Vector) -> float:
    """Log of the number of different orders of these values."""
    counts = np.unique(values, return_counts=True)[1]
    return math.lgamma(len(values) + 1) - sum(math.lgamma(int(m) + 1) for m in counts)


def _stand_together(codes: Indices, sizes: NDArray[np.int64]) -> bool:
    """Whether rows of a group are far nearer to one another than rows thrown in at random."""
    at = np.arange(len(codes), dtype=np.float64)
    first, last = extremes(codes, at, len(sizes))
    random = (sizes - 1) / (sizes + 1) * len(codes)
    return bool(((last - first) * sizes).sum() < 0.5 * (random * sizes).sum())


def notice_overlaps(start: NDArray[Any], stop: NDArray[Any]) -> list[str]:
    """Events that are open at the same time, from their first forecast to their outcome."""
    known = ~np.isnan(stop)
    start, stop = start[known], stop[known]
    if len(start) < FEWEST_EVENTS:
        return []
    begun = np.searchsorted(np.sort(start), start, side="right")
    ended = np.searchsorted(np.sort(stop), start, side="right")
    most = int((begun - ended).max())
    if most < MOST_OPEN:
        return []
    return [
        f"up to {most:,} events were open at the same time: the evidence takes their outcomes as "
        "independent given the forecasts; if one question reaches into the next (the price in so "
        "many days, asked daily), give delay, and together for what hangs together"
    ]

"""`check` of a file or of standard input, in one pass and in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.amounts import counted
from fullswap.checking.answer import Check
from fullswap.checking.comparison import Comparison
from fullswap.checking.gather import Gathered
from fullswap.checking.making import check_log, finish, groups_of, known_rows
from fullswap.checking.segments import SegmentColumn
from fullswap.checking.settings import Settings
from fullswap.inputs.columns import column_of
from fullswap.inputs.files import joined, read_batches
from fullswap.inputs.frames import columns_of, pick
from fullswap.inputs.guess import guess_roles
from fullswap.inputs.log import Log, log_of
from fullswap.inputs.moments import moments
from fullswap.inputs.outcomes import outcomes
from fullswap.inputs.probabilities import probabilities
from fullswap.inputs.rows import cut, weights
from fullswap.inputs.sources import arrow

WHOLE_ROWS = 1_000_000
"""Rows up to which a log is read as a whole and looked at from all sides."""
NEED_ALL = ("time", "event", "together", "due")
"""Roles for which all rows are needed at once."""


def check_file(
    path: Any, roles: dict[str, Any], settings: Settings, *, pos_label: Any = None,
    strict: bool = False,
) -> Check | Comparison:  # fmt: skip
    """Check a log in CSV, Parquet or JSON lines; "-" is standard input.

    ``roles`` names columns: y, p, classes, time, event, together, by, groups, sample_weight, due.
    Others are guessed where it is obvious. Logs of more than a million rows are summed as they
    come, unless they must be put in order or grouped: then the columns that are needed are kept.
    """
    named = {role: value for role, value in roles.items() if value}
    notes: list[str] = []
    batches = (batch for _, batch in read_batches(path, strict=strict, notes=notes))
    head, more = _head(batches)
    groups = named.pop("groups", None)
    named, said = completed(head, named)
    _refuse_groups(head, groups, named["y"])
    first = next(more, None)
    more = chain([] if first is None else [first], more)
    if first is not None:
        said += _without_order(head, named, roles)
        if groups or _needs_all(named):
            wanted = named if groups is None else {**named, "groups": groups}
            head, more = _whole(head, more, wanted), iter(())
            first = None
    log = log_of(head, pos_label=pos_label, **named)
    log.notes[:] = dict.fromkeys([*said, *log.notes])  # some are noticed twice
    if first is None:
        log.notes.extend(notes)
        return check_log(log, settings, groups_of(groups, head, log.rows))
    stream = _Stream(log, named, settings)
    for batch in more:
        stream.add(batch)
    return stream.finish(notes)


def _head(batches: Iterator[Any]) -> tuple[Any, Iterator[Any]]:
    """The first rows as one table, and what follows."""
    pa = arrow()
    held, rows = [], 0
    for batch in batches:
        held.append(pa.Table.from_batches([batch]))
        rows += batch.num_rows
        if rows >= WHOLE_ROWS:
            break
    return joined(held), batches


def _whole(head: Any, more: Iterator[Any], named: dict[str, Any]) -> Any:
    """All rows of the columns that have a role."""
    pa = arrow()
    listed = [value if isinstance(value, list) else [value] for value in named.values()]
    wanted = list(dict.fromkeys(name for names in listed for name in names))
    rest = (pa.Table.from_batches([batch]) for batch in more)
    return joined([table.select(wanted) for table in chain([head], rest)])


def _refuse_groups(head: Any, groups: list[str] | None, y: Any) -> None:
    """Refuse columns of groups that do not exist, or are the outcome."""
    for name in groups or ():
        pick(dict.fromkeys(head.column_names), "groups", name)
        if name in (y if isinstance(y, list) else [y]):
            checks.refuse("groups", "name columns that are known before the outcome", name)


def _needs_all(named: dict[str, Any]) -> bool:
    return isinstance(named.get("p"), list) or any(role in named for role in NEED_ALL)


def completed(head: Any, named: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Roles with those that were guessed, and what there is to say about these."""
    plain = {k: v[0] if isinstance(v, list) and len(v) == 1 else v for k, v in named.items()}
    for role in ("by", "classes", "event", "together"):
        if role in named:
            plain[role] = named[role]
    known = plain.get("p", plain.get("classes"))
    found, said = _guessed(head, plain, known)
    given = {
        "outcome": "y" in plain, "probability": known is not None, "time": "time" in plain,
        "event": "event" in plain or "together" in plain,
    }  # fmt: skip
    plain.setdefault("y", found.get("outcome"))
    if known is None:
        which = "classes" if "classes" in found else "p"
        plain[which] = found.get("classes", found.get("probability", found.get("models")))
    for role in ("time", "event"):
        if role in found and not given[role]:
            plain[role] = found[role]
    return plain, [note for note in said if not given.get(note.partition(":")[0], False)]


def _guessed(head: Any, plain: dict[str, Any], known: Any) -> tuple[dict[str, Any], list[str]]:
    """What the columns seem to be, given those that are named."""
    if "y" not in plain and "classes" in plain:  # one outcome column a class, perhaps
        try:
            found, said = guess_roles(head)
            if found.get("classes") == plain["classes"]:
                return found, said
        except ValueError:
            pass
    try:
        return guess_roles(head, outcome=plain.get("y"), probability=known)
    except ValueError:
        if "y" in plain and known is not None:  # all that must be known is
            return {}, []
        raise


def _without_order(head: Any, named: dict[str, Any], roles: dict[str, Any]) -> list[str]:
    """Rows that come in the order of a time that was only guessed need no sorting."""
    column = named.get("time")
    if column is None or roles.get("time"):
        return []
    times = moments(f"column {column}", head[column])
    if not (times[1:] < times[:-1]).any():
        del named["time"]
        return [f"rows are in the order of {column}: read as they come"]
    return []


class _Stream:
    """Rows beyond the first, read as the first were."""

    def __init__(self, log: Log, named: dict[str, Any], settings: Settings) -> None:
        self._log, self._named = log, named
        self._percent = any("read as percent" in note for note in log.notes)
        columns = [SegmentColumn(name) for name in log.by]
        self._gathered = Gathered(log.classes, settings, columns)
        known = known_rows(log)
        self._pending = int((~known).sum())
        weight = None if log.weight is None else log.weight[known]
        by = {name: values[known] for name, values in log.by.items()}
        assert log.p is not None
        self._gathered.add(log.y[known], log.p[known], weight, None, by)
        self._rows = log.rows

    def add(self, batch: Any) -> None:
        """Rows in order."""
        columns = columns_of(batch)
        assert columns is not None
        named = self._named
        which: Any = named.get("classes", named.get("p"))
        many = isinstance(which, list)
        given = {name: columns[name] for name in which} if many else columns[which]
        p, _ = probabilities(f"column {which}", given, percent=self._percent)
        y = named["y"]
        result = {name: columns[name] for name in y} if isinstance(y, list) else columns[y]
        read = outcomes(
            f"column {y}", result, labels=self._log.labels, classes=which if many else None
        )
        known = ~np.isnan(read.codes) & ~np.isnan(p if p.ndim == 1 else p[:, 0]) & ~read.absent
        weight = None
        if "sample_weight" in named:
            name = named["sample_weight"]
            weight = weights(f"column {name}", columns[name])[known]
        by = {name: cut(column_of(name, columns[name]))[known] for name in self._log.by}
        self._pending += int((~known).sum())
        self._rows += len(p)
        if known.any():
            self._gathered.add(read.codes[known], p[known], weight, None, by)

    def finish(self, notes: list[str]) -> Check:
        """The answer."""
        log = self._log
        first = f"{log.rows:,} rows"
        log.notes[:] = [note for note in log.notes if "pending" not in note]
        log.notes.append(f"{self._rows:,} rows read in one pass, in the order of the rows")
        if "sample_weight" in self._named:
            log.notes.append(
                f"evidence: weights above the largest of the first {first} count as it"
            )
        if self._log.by:
            log.notes.append(f"segments: numbers are cut at the quantiles of the first {first}")
        log.notes.extend(notes)
        if self._pending:
            log.notes.append(
                f"{counted(self._pending, 'row')} without an outcome or a forecast left out"
            )
        return finish(self._gathered, log, None, self._pending)

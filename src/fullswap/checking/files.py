"""`check` of a file or of standard input, in one pass and in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, NoReturn

import numpy as np

from fullswap.checking.answer import Check
from fullswap.checking.comparison import Comparison
from fullswap.checking.gather import Gathered
from fullswap.checking.making import check_log, finish, known_rows
from fullswap.checking.segments import SegmentColumn
from fullswap.checking.settings import Settings
from fullswap.inputs.columns import column_of
from fullswap.inputs.files import joined, read_batches
from fullswap.inputs.frames import columns_of
from fullswap.inputs.guess import guess_roles
from fullswap.inputs.log import Log, log_of
from fullswap.inputs.moments import moments
from fullswap.inputs.outcomes import outcomes
from fullswap.inputs.probabilities import probabilities
from fullswap.inputs.rows import cut, weights
from fullswap.inputs.sources import arrow

WHOLE_ROWS = 1_000_000
"""Rows up to which a log is read as a whole, put in order and looked at from all sides."""


def check_file(
    path: Any, roles: dict[str, Any], settings: Settings, *, pos_label: Any = None,
    strict: bool = False,
) -> Check | Comparison:  # fmt: skip
    """Check a log in CSV, Parquet or JSON lines; "-" is standard input.

    ``roles`` names columns: y, p, classes, time, event, together, by, sample_weight, due. Those of
    outcome and probabilities are guessed where it is obvious.
    """
    named = {role: value for role, value in roles.items() if value}
    notes: list[str] = []
    batches = (batch for _, batch in read_batches(path, strict=strict, notes=notes))
    head, more = _head(batches)
    named, said = _completed(head, named)
    first = next(more, None)
    if first is not None:
        _refuse_together(named)
    log = log_of(head, pos_label=pos_label, **named)
    log.notes[:0] = said
    if first is None:
        log.notes.extend(notes)
        return check_log(log, settings)
    _refuse_unordered(named, log)
    stream = _Stream(log, named, settings)
    for batch in chain([first], more):
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


def _completed(head: Any, named: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Roles with those that were guessed; one name in place of a list of one."""
    plain = {k: v[0] if isinstance(v, list) and len(v) == 1 else v for k, v in named.items()}
    for role in ("by", "classes", "event", "together"):
        if role in named:
            plain[role] = named[role]
    if "y" in plain and ("p" in plain or "classes" in plain):
        return plain, []
    known = plain.get("p", plain.get("classes"))
    found, said = guess_roles(head, outcome=plain.get("y"), probability=known)
    plain.setdefault("y", found["outcome"])
    if "p" not in plain and "classes" not in plain:
        if "classes" in found:
            plain["classes"] = found["classes"]
        else:
            plain["p"] = found.get("probability", found.get("models"))
    if "time" in found:
        plain.setdefault("time", found["time"])
    if "event" in found and "together" not in plain:
        plain.setdefault("event", found["event"])
    return plain, said


def _refuse_together(named: dict[str, Any]) -> None:
    """What needs all rows at once cannot be had of a stream."""
    for role in ("event", "together", "due"):
        if role in named:
            raise ValueError(
                f"--{role} must be left out for logs of more than {WHOLE_ROWS:,} rows, got "
                f"{named[role]!r}: rows of one event are needed together"
            )


def _refuse_unordered(named: dict[str, Any], log: Log) -> None:
    """A stream is one model's, and in order."""
    if log.models:
        raise ValueError(
            f"--probability must name one column for logs of more than {WHOLE_ROWS:,} rows, got "
            f"{len(log.models)}"
        )
    if log.time is not None and not np.array_equal(log.order, np.sort(log.order)):
        _refuse_order(named["time"])


def _refuse_order(column: str) -> NoReturn:
    raise ValueError(
        f"--time must be in order already in logs of more than {WHOLE_ROWS:,} rows, got column "
        f"{column} out of order: sort the file first"
    )


class _Stream:
    """Rows beyond the first, read as the first were."""

    def __init__(self, log: Log, named: dict[str, Any], settings: Settings) -> None:
        self._log, self._named = log, named
        self._percent = any("read as percent" in note for note in log.notes)
        self._last = None if log.time is None else log.time[-1]
        classes = log.classes
        columns = [SegmentColumn(name) for name in log.by]
        self._gathered = Gathered(classes, settings, columns)
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
        given = (
            {name: columns[name] for name in which} if isinstance(which, list) else columns[which]
        )
        p, _ = probabilities(f"column {which}", given, percent=self._percent)
        y = named["y"]
        result = {name: columns[name] for name in y} if isinstance(y, list) else columns[y]
        known_classes = which if isinstance(which, list) else None
        read = outcomes(f"column {y}", result, labels=self._log.labels, classes=known_classes)
        known = ~np.isnan(read.codes) & ~np.isnan(p if p.ndim == 1 else p[:, 0]) & ~read.absent
        weight = None
        if "sample_weight" in named:
            name = named["sample_weight"]
            weight = weights(f"column {name}", columns[name])[known]
        if self._last is not None:
            self._last = self._follow(named["time"], columns)
        by = {name: cut(column_of(name, columns[name]))[known] for name in self._log.by}
        self._pending += int((~known).sum())
        self._rows += len(p)
        if known.any():
            self._gathered.add(read.codes[known], p[known], weight, None, by)

    def _follow(self, name: str, columns: Any) -> Any:
        """The last moment of a batch, all of which follow what was before."""
        times = moments(f"column {name}", columns[name])
        if len(times) and (times[0] < self._last or (times[1:] < times[:-1]).any()):
            _refuse_order(name)
        return times[-1] if len(times) else self._last

    def finish(self, notes: list[str]) -> Check:
        """The answer."""
        log = self._log
        kept = [note for note in log.notes if "pending" not in note]
        whole = [*kept, f"{self._rows:,} rows read in one pass, in the order of the rows", *notes]
        if self._pending:
            whole.append(f"{self._pending:,} rows without an outcome or a forecast left out")
        log.notes[:] = whole
        return finish(self._gathered, log, None, self._pending)

"""A log in a file, or on standard input, replayed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from fullswap.base.progress import Progress
from fullswap.base.protocols import Indices
from fullswap.checking.files import WHOLE_ROWS, completed
from fullswap.checking.monitor import Monitor
from fullswap.inputs.files import joined, written_batches
from fullswap.inputs.guess import NoProbabilities, guess_roles
from fullswap.inputs.moments import direction
from fullswap.inputs.probabilities import counted
from fullswap.replay.answer import Replayed
from fullswap.replay.engine import Engine
from fullswap.replay.output import Output, refuse_kind, refuse_taken
from fullswap.replay.reading import Reading, Rows, plain_columns, reading_of
from fullswap.replay.settings import RUN_LENGTH, ReplaySettings
from fullswap.replay.streams import Streams
from fullswap.replay.summary import Summary

CHUNK = 65_536
"""Rows that are forecast, written and saved together, at most."""
NO_MODEL = ["none"]
"""What is said in place of a probability column to forecast from outcomes alone."""


def replay_file(
    path: Any, roles: dict[str, Any], settings: ReplaySettings, *, out: Any = None,
    pos_label: Any = None, strict: bool = False, progress: bool | None = None, chunk: int = CHUNK,
) -> Replayed:  # fmt: skip
    """Replay a log in CSV, Parquet or JSON lines; "-" is standard input.

    Parameters
    ----------
    path
        The log: a row a forecast.
    roles
        Names of columns: y, p, classes, time, resolved, event, key, sample_weight. Those that are
        not named are guessed where it is obvious.
    settings
        How it is replayed.
    out
        File for all rows with their forecasts; "-" is standard output.
    pos_label
        The outcome that means yes.
    strict
        Whether to raise at the first malformed line.
    progress
        Whether to show a bar; None: for long work on a terminal.
    chunk
        Rows that are forecast, written and saved together; the result does not depend on it.
    """
    refuse_kind(out, False)
    return Replay(path, roles, settings, out, pos_label, strict, chunk).run(progress)


class Replay:
    """One call."""

    def __init__(
        self, path: Any, roles: dict[str, Any], settings: ReplaySettings, out: Any,
        pos_label: Any, strict: bool, chunk: int,
    ) -> None:  # fmt: skip
        self._settings, self._chunk = settings, chunk
        self._late_notes: list[str] = []
        tables = written_batches(path, strict=strict, notes=self._late_notes)
        self.head, self.comma, self._more = _head(tables)
        named, self.notes = roles_of(self.head, self.comma, roles)
        columns = plain_columns(self.head, self.head.column_names, self.comma)
        self.reading, said = reading_of(columns, named, pos_label)
        self.notes += said
        _refuse_roles(self.reading, settings)
        refuse_taken(self.head.column_names, self.reading)
        self.output = Output(out, self.reading, "csv")

    def run(self, progress: bool | None) -> Replayed:
        """Replay all of it."""
        self.engine = self._engine()
        monitor = Monitor(RUN_LENGTH, classes=self.reading.classes) if self._settings.alarm else None
        self.summary = Summary(self.reading, self._settings.delay or 0, monitor)
        self.output.begin()
        self._said = 0
        try:
            for table in self._blocks():
                self._replay(table, progress)
            self.output.sync()
        finally:
            self.output.close()
        return self._answer()

    def _engine(self) -> Engine:
        reading, settings = self.reading, self._settings
        most = 1.0
        if reading.weight:
            column = reading.rows(self.head, self.comma).weight
            assert column is not None
            most = float(column.max())
        forecaster = settings.forecaster(reading.classes, reading.models, most)
        by_rows = settings.delay is not None or reading.time is None
        self.notes.append(_when(reading, settings))
        return Engine(Streams(forecaster, reading.key is not None), by_rows, settings.delay or 0)

    def _blocks(self) -> Iterator[Any]:
        """Tables that are each put in order, one after the other."""
        first = next(self._more, None)
        if first is None:
            yield self.head
            return
        more = chain([first], self._more)
        if self.reading.event or not _is_in_order(self.reading, self.head, self.comma):
            yield joined([self.head, *(table for table, _ in more)])
            return
        yield self.head
        for table, _ in more:
            yield table

    def _replay(self, table: Any, progress: bool | None) -> None:
        rows = self.reading.rows(table, self.comma)
        order, said = order_of(rows, self.reading.time)
        self.notes += [note for note in said if note not in self.notes]
        self._note_resolved(rows)
        if order is not None:
            rows, table = rows.taken(order), table.take(order)
        base = self.engine.seen
        numbers = base + (np.arange(len(rows)) if order is None else order)
        with Progress(len(rows), progress, "rows") as bar:
            for done in self.engine.take(rows, 0, self._next_stop):
                self.output.write(table.slice(done.start, done.stop - done.start), done.made)
                self.summary.add(done, rows, numbers)
                self._note_history()
                bar.update(done.stop)

    def _next_stop(self, engine: Engine) -> int:
        """Where the history has a point, and where a state may be saved: ever further apart."""
        wide = max(64, engine.seen // 25, 50 * len(engine.streams) * engine.streams.keyed)
        return engine.seen + min(max(wide, 32 * len(engine.waiting)), self._chunk)

    def _note_history(self) -> None:
        self.summary.note(self.engine.streams.certificates().values())

    def _note_resolved(self, rows: Rows) -> None:
        if rows.resolved is None or rows.time is None:
            return
        early = int((rows.resolved < rows.time).sum())
        if early:
            self.notes.append(
                f"{counted(early, 'row')} with an outcome known before the forecast was made: "
                "taken as known right after it"
            )
        gone = int((np.isnan(rows.resolved) & ~np.isnan(rows.y)).sum())
        if gone:
            self.notes.append(
                f"{counted(gone, 'outcome')} without a moment in {self.reading.resolved}: taken "
                "as known once time has moved on"
            )

    def _answer(self) -> Replayed:
        engine, summary = self.engine, self.summary
        engine.finish()
        self._note_history()
        if engine.older:
            self.notes.append(
                f"{counted(engine.older, 'row')} older than rows before them: taken as they came"
            )
        self.notes += self._late_notes
        pending = sum(len(said) for said in engine.pending.values())
        before, after, models = summary.checks([], pending)
        certificates = engine.streams.certificates()
        alone = None if engine.streams.keyed else certificates.pop(None)
        return Replayed(
            before, after, alone, certificates, summary.history,
            alarms=[] if summary.monitor is None else summary.monitor.alarms,
            rows=engine.seen, answered=summary.answered, pending=pending,
            skipped=engine.seen - engine.forecast, notes=self.notes, models=models,
        )  # fmt: skip


def roles_of(head: Any, comma: bool, roles: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Which column is what: those that are named, and those that are obvious; and notes."""
    given = {role: value for role, value in roles.items() if value}
    apart = {role: given.pop(role) for role in ("resolved", "key") if role in given}
    own = [name for name in head.column_names if name not in apart.values()]
    table = plain_columns(head.select(own), own, comma)
    if given.get("p") == NO_MODEL and "none" not in own:
        del given["p"]
        return {**_without_model(table, given), **apart}, []
    try:
        named, said = completed(table, given)
    except NoProbabilities:
        return {**_without_model(table, given), **apart}, []
    return {**named, **apart}, said


def _without_model(table: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    y = given.get("y")
    one = y[0] if isinstance(y, list) and len(y) == 1 else y
    found, _ = guess_roles(table, outcome=one, probability=[])
    named = {"y": found["outcome"], "time": found.get("time"), "event": found.get("event")}
    return {**named, **{role: value for role, value in given.items() if role != "y"}}


def _head(tables: Iterator[tuple[Any, bool]]) -> tuple[Any, bool, Iterator[tuple[Any, bool]]]:
    """The first rows as one table, and what follows."""
    held, rows, comma = [], 0, False
    for table, comma in tables:
        held.append(table)
        rows += table.num_rows
        if rows >= WHOLE_ROWS:
            break
    return joined(held), comma, tables


def _is_in_order(reading: Reading, head: Any, comma: bool) -> bool:
    time = reading.rows(head, comma).time
    return time is None or direction(time) == "forwards"


def order_of(rows: Rows, time: str | None) -> tuple[Indices | None, list[str]]:
    """The rows in order of time, ties as they came; None if they are in order."""
    if rows.time is None:
        return None, ["no time given: replayed in the order of the rows"]
    way = direction(rows.time)
    if way == "forwards":
        return None, []
    if way == "backwards":  # the newest of a day comes first, too
        flipped = np.arange(len(rows))[::-1]
        return flipped[np.argsort(rows.time[::-1], kind="stable")], [
            "rows are newest first: turned round"
        ]
    return np.argsort(rows.time, kind="stable"), [f"rows are not in order of {time}: sorted by it"]


def _when(reading: Reading, settings: ReplaySettings) -> str:
    """Which rule says when outcomes are known."""
    after = "after the last row of its event" if reading.event else "after its row"
    if settings.delay is not None:
        return f"an outcome is used {counted(settings.delay, 'row')} {after} at the earliest"
    if reading.resolved is not None:
        return f"an outcome is used by forecasts made after the moment in {reading.resolved}"
    if reading.time is not None:
        return (
            f"an outcome is used once {reading.time} has moved on: rows of one moment are all "
            "forecast before any of their outcomes is learnt"
        )
    return "an outcome is used by the next row" + (", " + after if reading.event else "")


def _refuse_roles(reading: Reading, settings: ReplaySettings) -> None:
    if reading.resolved is not None and settings.delay is not None:
        raise ValueError(
            f"delay must be left out where resolved is given, got {settings.delay}: give one of "
            "them"
        )
    if reading.resolved is not None and reading.time is None:
        raise ValueError(
            f"time must be given where resolved is (resolved='{reading.resolved}'), got none: it "
            "says when each forecast was made"
        )

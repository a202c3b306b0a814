"""A log in a file, or on standard input, replayed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.files import refuse_same
from fullswap.base.progress import Progress
from fullswap.checking.files import WHOLE_ROWS
from fullswap.inputs.files import joined, written_batches
from fullswap.inputs.moments import direction
from fullswap.replay.answer import Replayed
from fullswap.replay.engine import Engine
from fullswap.replay.output import refuse_kind
from fullswap.replay.reading import Reading
from fullswap.replay.session import Session
from fullswap.replay.settings import ReplaySettings
from fullswap.replay.state import opened

CHUNK = 65_536
"""Rows after which a state is saved."""


def replay_file(
    path: Any, roles: dict[str, Any], settings: ReplaySettings, *, out: Any = None,
    state: Any = None, pos_label: Any = None, strict: bool = False, progress: bool | None = None,
    chunk: int | None = None,
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
    state
        File from which a later call goes on: with the rows by which the same log has grown and the
        outcomes filled in since, or with another log. A call that was killed is made up for by the
        same call again.
    pos_label
        The outcome that means yes.
    strict
        Whether to raise at the first malformed line.
    progress
        Whether to show a bar; None: for long work on a terminal.
    chunk
        Rows that are forecast, written and saved together, for tests: the result does not depend
        on it. None: ever more, and more where many outcomes wait.
    """
    refuse_kind(out, state is not None)
    refuse_same(path=path, out=out, state=state)
    if chunk is not None:
        checks.whole("chunk", chunk, 1)
    with closing(Source(path, strict)) as source, opened(state) as file:
        session = Session(source.head, source.comma, roles, settings, pos_label, out, file)
        with session.output:
            Replay(source, session, chunk).run(progress)
        return session.answer()


class Source:
    """A log that is read table by table."""

    def __init__(self, path: Any, strict: bool) -> None:
        self.notes: list[str] = []
        """What there is to say at the end: malformed lines."""
        tables = written_batches(path, strict=strict, notes=self.notes)
        held, rows, self.comma = [], 0, False
        for table, self.comma in tables:
            held.append(table)
            rows += table.num_rows
            if rows >= WHOLE_ROWS:
                break
        self.head = joined(held)
        """The first rows as one table."""
        self._more = tables

    def close(self) -> None:
        """Let go of the file, and of what reads it ahead."""
        self._more.close()

    def tables(self, reading: Reading) -> Iterator[Any]:
        """All rows; in one table if they are to be put in order, or if there are not many."""
        first = next(self._more, None)
        if first is None:
            yield self.head
            return
        more = (table for table, _ in chain([first], self._more))
        time = reading.rows(self.head, self.comma).time
        if reading.event or (time is not None and direction(time) != "forwards"):
            yield joined([self.head, *more])
            return
        yield self.head
        yield from more


class Replay:
    """One call on a log."""

    def __init__(self, source: Source, session: Session, chunk: int | None = None) -> None:
        self._source, self._session, self._chunk = source, session, chunk
        self._saved = session.engine.seen

    def run(self, progress: bool | None) -> None:
        """Replay all of it."""
        session, offset = self._session, 0
        for table in self._source.tables(session.reading):
            self._replay(table, offset, progress)
            offset += table.num_rows
        if offset < session.log.total:
            raise ValueError(
                f"the log must hold the {session.log.total:,} rows that were read before, got "
                f"{offset:,}: give the whole log, or another one from its first row on"
            )
        session.save()
        session.notes += self._source.notes

    def _replay(self, table: Any, offset: int, progress: bool | None) -> None:
        """Rows of the log from ``offset`` on."""
        session, comma = self._session, self._source.comma
        rows = session.reading.rows(table, comma)
        session.note_resolved(rows)
        order = session.order(table, rows, offset)
        if order is not None:
            rows, table = rows.taken(order), table.take(order)
        start = session.resume(table, rows, offset)
        session.engine.streams.progress = progress
        numbers = offset + (np.arange(len(rows)) if order is None else order)
        with Progress(len(rows), progress, "rows") as bar:
            for done in session.engine.take(rows, start, self._next_stop):
                session.put(done, table, rows, numbers)
                if session.engine.seen - self._saved >= (self._chunk or CHUNK):
                    session.save()
                    self._saved = session.engine.seen
                bar.update(done.stop)

    def _next_stop(self, engine: Engine) -> int:
        """Where the history has a point, ever further apart, and where a state is saved."""
        if self._chunk is not None:
            return engine.seen + self._chunk
        wide = max(64, engine.seen // 25, 50 * len(engine.streams) * engine.streams.keyed)
        return engine.seen + min(wide, CHUNK)

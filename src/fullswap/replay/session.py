"""What a replay knows from call to call, and where its results go."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from fullswap.base.amounts import counted
from fullswap.base.protocols import Indices
from fullswap.checking.monitor import Monitor
from fullswap.inputs.moments import direction
from fullswap.replay.answer import Replayed
from fullswap.replay.engine import Chunk, Engine
from fullswap.replay.output import Output, refuse_taken
from fullswap.replay.reading import Reading, Rows, plain_columns, reading_of
from fullswap.replay.roles import refuse_roles, roles_of, when_known
from fullswap.replay.settings import RUN_LENGTH, ReplaySettings
from fullswap.replay.state import (
    Consumed,
    StateFile,
    chained,
    pack_engine,
    refuse_other,
    row_texts,
    unpack_engine,
)
from fullswap.replay.streams import Streams
from fullswap.replay.summary import Summary


class Session:
    """Forecasters, results and notes of one call; begun anew, or from a state."""

    def __init__(
        self, head: Any, comma: bool, roles: dict[str, Any], settings: ReplaySettings,
        pos_label: Any, out: Any, file: StateFile | None,
    ) -> None:  # fmt: skip
        self._settings, self._file = settings, file
        self.notes: list[str] = []
        stored = None if file is None else file.load()
        self._stored = stored
        if stored is None:
            named, self.notes = roles_of(head, comma, roles)
            columns = plain_columns(head, head.column_names, comma)
            self.reading, said = reading_of(columns, named, pos_label)
            self.notes += said
            self.columns = list(head.column_names)
            refuse_roles(self.reading, settings)
            refuse_taken(self.columns, self.reading)
        else:
            assert file is not None
            self.reading, self.columns = Reading(**stored["reading"]), stored["columns"]
            given = _given(roles, pos_label)
            was = {role: _role(self.reading, role) for role in given}
            refuse_other({**was, **stored["settings"]}, {**given, **settings.to_dict()}, file.path)
        self.notes.append(when_known(self.reading, settings))
        self.engine = self._engine(head, comma)
        monitor = self._monitor()
        step = self.engine.streams.step
        self.summary = Summary(self.reading, settings.delay or 0, step, monitor)
        self.log = Consumed() if stored is None else Consumed(**stored["log"])
        self._known = stored is not None and bool(self.log.rows)
        self._mark = ""
        self.output = Output(out, self.reading)
        if stored is not None and stored["out"]["path"] == self._out_path() is not None:
            self.output.length = stored["out"]["length"]
        self._begun = self.engine.seen, self.engine.forecast

    # --- beginning --------------------------------------------------------------------------------

    def _engine(self, head: Any, comma: bool) -> Engine:
        reading, settings = self.reading, self._settings
        most = 1.0
        if reading.weight and self._stored is None:
            column = reading.rows(head, comma).weight
            assert column is not None
            most = settings.max_weight or float(column.max())
        grouped = bool(reading.groups)
        forecaster = settings.forecaster(reading.classes, reading.models, most, grouped)
        streams = Streams(forecaster, reading.key is not None)
        by_rows = settings.delay is not None or reading.time is None
        if self._stored is None:
            return Engine(streams, by_rows, settings.delay or 0)
        return unpack_engine(self._stored["engine"], streams, by_rows, settings.delay or 0)

    def _monitor(self) -> Monitor | None:
        if not self._settings.alarm:
            return None
        if self._stored is not None:
            return Monitor.from_json(self._stored["monitor"])
        return Monitor(RUN_LENGTH, classes=self.reading.classes)

    # --- a log ------------------------------------------------------------------------------------

    def order(self, table: Any, rows: Rows, offset: int) -> Indices | None:
        """The order in which the rows of a table are replayed; None: as they are.

        Rows that were read by an earlier call keep the order they had.
        """
        if offset == 0:
            self._recognise(table, rows)
        log, total = self.log, len(rows)
        if rows.time is None:
            self._say("no time given: replayed in the order of the rows")
        elif offset == 0 and not self._known and direction(rows.time) == "backwards":
            log.turned = True
            self._say("rows are newest first: turned round")
        order = np.arange(total)
        if log.turned and offset == 0:
            order = order[::-1].copy()
        fresh = max(log.total - offset, 0)
        if rows.time is not None:
            for begin, end in log.sorted:
                if offset <= begin < end <= offset + total:
                    _sort(order, rows.time, begin - offset, end - offset)
            if (np.diff(rows.time[order[fresh:]]) < 0).any():
                log.sorted.append([offset + fresh, offset + total])
                _sort(order, rows.time, fresh, total)
                if not log.turned:
                    self._say(f"rows are not in order of {self.reading.time}: sorted by it")
        log.total = max(log.total, offset + total)
        return None if (order == np.arange(total)).all() else order

    def _recognise(self, table: Any, rows: Rows) -> None:
        """Whether this is the log that the state knows, grown or not; else another one."""
        if not self._known:
            return
        log = self.log
        missing = [name for name in self.columns if name not in table.column_names]
        if missing:
            raise ValueError(
                f"the log must have the columns that it had before, got none called {missing[0]!r}"
            )
        at = 0
        if log.turned:
            at = len(rows) - 1
        if rows.time is not None and log.sorted and log.sorted[0][0] == 0:
            end = min(log.sorted[0][1], len(rows))
            own = np.arange(len(rows))[::-1][:end] if log.turned else np.arange(end)
            at = int(own[np.argsort(rows.time[own], kind="stable")[0]])
        first = chained("", row_texts(table.slice(at, 1), self._marked()))
        if first != log.first:
            self.log, self._known = Consumed(start=self.engine.seen), False
            self._say("another log than before: all its rows are new")

    def resume(self, table: Any, rows: Rows, offset: int) -> int:
        """Where to go on in a table, after outcomes that were filled in meanwhile were taken."""
        log = self.log
        start = min(max(log.rows - offset, 0), len(rows))
        if not start or not self._known:
            return start
        self._check_prefix(table, offset, start)
        engine, base = self.engine, log.start + offset
        for token, said in list(engine.pending.items()):
            own = [one.row - base for one in said if 0 <= one.row - base < start]
            known = [row for row in own if not np.isnan(rows.y[row])]
            if known:
                moment = max(engine.moment(rows, base, row) for row in own)
                answered = [engine.answer(token, float(rows.y[known[0]]), moment)]
                self.summary.add_answered(answered)
                self.summary.watch_answered(answered)
        return start

    def _check_prefix(self, table: Any, offset: int, start: int) -> None:
        texts = row_texts(table.slice(0, start), self._marked())
        self._mark = chained(self._mark, texts)
        if offset + start == self.log.rows and self._mark != self.log.chain:
            raise ValueError(
                f"the log must begin with the {self.log.rows:,} rows that were forecast before, "
                "got others among them (only outcomes may be filled in, and rows added at the "
                "end): mend it, or give another state"
            )

    def _marked(self) -> list[str]:
        return [name for name in self.columns if name not in self.reading.later]

    def put(self, done: Chunk, table: Any, rows: Rows, numbers: Any) -> None:
        """Rows that were forecast."""
        part = table.slice(done.start, done.stop - done.start)
        self.output.write(part.select(self.columns), done.made)
        self.summary.add(done, rows, numbers)
        self.summary.note(self.engine.streams.certificates().values())
        if self._file is not None:
            self.log.extend(row_texts(part, self._marked()))
        else:
            self.log.rows += done.stop - done.start

    # --- ends ---------------------------------------------------------------------------------

    def save(self) -> None:
        """Rows on the disk first, then the state that knows of them."""
        self.output.sync(self._file is not None)
        if self._file is None:
            return
        monitor = self.summary.monitor
        self._file.save({
            "settings": self._settings.to_dict(), "reading": self.reading.to_dict(),
            "columns": self.columns, "engine": pack_engine(self.engine), "log": asdict(self.log),
            "out": {"path": self._out_path(), "length": self.output.length},
            "monitor": None if monitor is None else monitor.to_json(),
        })  # fmt: skip

    def _out_path(self) -> str | None:
        path = self.output.path
        return None if path is None else str(Path(path).absolute())

    def answer(self) -> Replayed:
        """What there is to say; nothing more can be forecast after it."""
        engine, summary = self.engine, self.summary
        engine.finish()
        certificates = engine.streams.certificates()
        summary.note(certificates.values())
        if engine.older:
            self._say(
                f"{counted(engine.older, 'row')} older than rows before them: taken as they came"
            )
        seen, forecast = self._begun
        if seen:
            self._say(
                f"before and after are of this call; the certificate covers all {engine.seen:,} "
                "rows so far"
            )
        if self._settings.alarm and (not engine.by_rows or engine.delay):
            self._say(
                "the alarm takes outcomes in the order of the rows, as if each came before the "
                "next; where outcomes of rows near each other hang together it may ring too often"
            )
        if seen and self.output.fresh:
            self._say(f"{self.output.path} begins with this call: it had no rows of earlier ones")
        step = engine.streams.step
        if step is not None:
            self._say(
                f"an issued 0 % is drawn for chances below {100 * step:.3g} %, so the evidence "
                f"after takes it as {50 * step:.3g} %, and 100 % likewise"
            )
        for note in summary.group_notes():
            self._say(note)
        pending = sum(len(said) for said in engine.pending.values())
        before, after, models = summary.checks([], pending)
        alone = None if engine.streams.keyed else certificates.pop(None)
        rows = engine.seen - seen
        return Replayed(
            before, after, alone, certificates, summary.history,
            alarms=[] if summary.monitor is None else summary.monitor.alarms,
            rows=rows, answered=summary.answered, pending=pending,
            skipped=rows - (engine.forecast - forecast), notes=self.notes, models=models,
            groups=summary.groups(engine.streams.tables(), models),
            declared=engine.streams.declared(),
        )  # fmt: skip

    def note_resolved(self, rows: Rows) -> None:
        """Say what is odd about the moments at which outcomes became known."""
        if rows.resolved is None or rows.time is None:
            return
        early = int((rows.resolved < rows.time).sum())
        if early:
            self._say(
                f"{counted(early, 'row')} with an outcome known before the forecast was made: "
                "taken as known right after it"
            )
        gone = int((np.isnan(rows.resolved) & ~np.isnan(rows.y)).sum())
        if gone:
            self._say(
                f"{counted(gone, 'outcome')} without a moment in {self.reading.resolved}: taken "
                "as known once time has moved on"
            )

    def _say(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


def _sort(order: Indices, time: Any, begin: int, end: int) -> None:
    """Put a stretch in order of time, ties as they came."""
    own = order[begin:end]
    order[begin:end] = own[np.argsort(time[own], kind="stable")]


def _given(roles: dict[str, Any], pos_label: Any) -> dict[str, Any]:
    """Roles that the user gave, as a reading has them."""
    given = {role: value for role, value in roles.items() if value}
    if pos_label is not None:
        given["pos_label"] = pos_label
    return given


def _role(reading: Reading, role: str) -> Any:
    """A role of a reading, as the user gives it."""
    if role in ("p", "classes"):
        return reading.p if (role == "classes") == reading.is_classes else []
    if role == "y":
        return reading.y if isinstance(reading.y, list) else [reading.y]
    return getattr(reading, "weight" if role == "sample_weight" else role)

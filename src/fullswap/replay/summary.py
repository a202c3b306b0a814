"""What a replay is judged by: checks before and after, the error over time, alarms."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from fullswap.base.protocols import Indices, Vector
from fullswap.certificates import Certificate, GroupTable
from fullswap.checking.answer import Check
from fullswap.checking.comparison import Comparison
from fullswap.checking.gather import MOST_ROWS, Gathered
from fullswap.checking.group_words import one_sided
from fullswap.checking.making import finish
from fullswap.checking.monitor import Monitor
from fullswap.checking.settings import Settings
from fullswap.inputs.columns import factorise
from fullswap.inputs.log import Log
from fullswap.replay.by_group import GroupChanges, changes_of
from fullswap.replay.engine import Answered, Chunk, Token
from fullswap.replay.group_bins import GroupBins, Numbered
from fullswap.replay.reading import Reading, Rows
from fullswap.report.history import History


class Judged:
    """One series of forecasts, gathered as it goes."""

    def __init__(self, reading: Reading, settings: Settings) -> None:
        self._reading = reading
        self._gathered = Gathered(reading.classes, settings, [])
        self._parts: list[tuple[Any, ...]] = []
        self._moments: list[Vector] | None = [] if reading.time else None
        self._numbers: list[Indices] | None = []

    def add(self, y: Vector, p: Any, weight: Any, tokens: Any, time: Any, number: Any) -> None:
        """Rows with outcomes; where events have names they are all kept until the end."""
        keep = ~np.isnan(p if p.ndim == 1 else p[:, 0])
        if not keep.any():
            return
        rest: Any = (None if v is None else v[keep] for v in (weight, tokens, time, number))
        y, p, (weight, tokens, time, number) = y[keep], p[keep], rest
        if tokens is None:
            self._gathered.add(y, p, weight)
        else:
            self._parts.append((y, p, weight, tokens))
        if self._gathered.rows > MOST_ROWS:  # memory stays bounded
            self._moments = self._numbers = None
        if self._moments is not None:
            self._moments.append(time)
        if self._numbers is not None:
            self._numbers.append(number)

    def check(self, notes: list[str], pending: int, labels: list[Any]) -> Check | None:
        """The answer; None without an outcome."""
        if self._parts:
            columns: Any = zip(*self._parts, strict=True)
            whole: Any = [None if c[0] is None else np.concatenate(c) for c in columns]
            y, p, weight, tokens = whole
            self._gathered.add(y, p, weight, factorise(tokens.tolist())[0])
            self._parts = []
        if not self._gathered.rows:
            return None
        log = Log(
            y=np.zeros(0), p=None, labels=labels, order=np.zeros(0, np.int64), rows=0, notes=notes
        )
        times = None
        if self._moments:
            times = np.concatenate(self._moments)
            if self._reading.dates:
                known = ~np.isnan(times)
                moments = np.where(known, times, 0.0).astype(np.int64).astype("datetime64[us]")
                times = np.where(known, moments, np.datetime64("NaT"))
        given = None if self._numbers is None else np.concatenate(self._numbers)
        return finish(self._gathered, log, times, pending, given)


class Summary:
    """Everything that is said about a replay."""

    def __init__(
        self, reading: Reading, delay: int, step: float | None, monitor: Monitor | None
    ) -> None:
        self._reading = reading
        late = 0 if reading.event else delay
        settings = Settings(recalibrate=False, delay=late)
        self._models = {name: Judged(reading, settings) for name in self._names()}
        # drawn between neighbours: an issued 0 % stands for a chance below a step
        least = 0.0 if step is None else min(step / 2, 0.25)
        self._after = Judged(reading, replace(settings, least=least))
        binned = reading.classes == 2
        self._before_bins = GroupBins() if reading.models and binned else None
        self._after_bins = GroupBins() if reading.key and binned else None
        self._event_numbers: dict[Token, int] = {}
        self._numbered = Numbered()
        self._groups_before = {name: GroupBins() for name in self._models}
        self._groups_after = GroupBins()
        self.monitor = monitor
        self.answered = 0
        self._history: list[tuple[float, ...]] = []

    def _names(self) -> list[str]:
        if self._reading.is_classes:
            return ["p"]
        return list(self._reading.p)

    def add(self, chunk: Chunk, rows: Rows, numbers: Any) -> None:
        """Rows that were forecast, and outcomes of earlier ones."""
        self.watch(chunk, rows)
        known = np.flatnonzero(~np.isnan(chunk.y))
        own = known + chunk.start

        def of(values: Any) -> Any:
            if isinstance(values, list):
                found = np.empty(len(own), dtype=object)
                found[:] = [values[k] for k in own.tolist()]
                return found
            return None if values is None else values[own]

        tokens = None
        if rows.events is not None:
            tokens = np.empty(len(own), dtype=object)
            first = chunk.number - chunk.start
            tokens[:] = [
                (None if rows.keys is None else rows.keys[k], rows.events[k] or first + k)
                for k in own.tolist()
            ]
        groups = None if rows.groups is None else [rows.groups[k] for k in own.tolist()]
        self._add(chunk.y[known], of(rows.p), chunk.made.issued[known], of(rows.weight),
                  tokens, of(rows.time), of(numbers), groups)  # fmt: skip
        self.add_answered(chunk.answered)

    def add_answered(self, answered: list[Answered]) -> None:
        """What was forecast earlier and has its outcome now."""
        if not answered:
            return
        said = [one for own in answered for one in own.said]
        y = np.array([own.y for own in answered for _ in own.said])
        p = None if said[0].p is None else np.array([one.p for one in said], dtype=float)
        weight = np.array([one.weight for one in said]) if self._reading.weight else None
        numbers = np.array([one.row for one in said])
        tokens = time = None
        if self._reading.event:
            tokens = np.empty(len(said), dtype=object)
            tokens[:] = [own.token for own in answered for _ in own.said]
        if self._reading.time:
            time = np.array([np.nan if one.time is None else one.time for one in said])
        issued = np.array([one.issued for one in said], dtype=float)
        groups = [one.groups for one in said] if self._reading.groups else None
        self._add(y, p, issued, weight, tokens, time, numbers, groups)

    def _add(
        self, y: Vector, p: Any, issued: Any, weight: Any, tokens: Any, time: Any, numbers: Any,
        groups: Any,
    ) -> None:  # fmt: skip
        if not len(y):
            return
        self.answered += len(y)
        rest = weight, tokens, time, numbers
        self._after.add(y, issued, *rest)
        columns = [p] if p is None or len(self._models) <= 1 else list(p.T)
        for judged, column in zip(self._models.values(), columns, strict=False):
            judged.add(y, column, *rest)
        events = self._numbers_of(tokens)
        if self._before_bins is not None:
            self._before_bins.add(y, columns[0], weight, None, events)
        if self._after_bins is not None:
            self._after_bins.add(y, issued, weight, None, events)
        if groups is not None:
            joined = self._numbered.joined(groups)
            self._groups_after.add(y, issued, weight, joined, events)
            for bins, column in zip(self._groups_before.values(), columns, strict=False):
                if column is not None:
                    bins.add(y, column, weight, joined, events)

    def _numbers_of(self, tokens: Any) -> Indices | None:
        """Events by number, the same in all parts of this call; None if they have no names."""
        if tokens is None:
            return None
        known = self._event_numbers
        numbers = [known.setdefault(token, len(known)) for token in tokens.tolist()]
        return np.array(numbers, np.int64)

    # --- alarms -----------------------------------------------------------------------------------

    def watch(self, chunk: Chunk, rows: Rows) -> None:
        """Show rows to the monitor: the first model's probabilities, or what was issued."""
        if self.monitor is None:
            return
        known = np.flatnonzero(~np.isnan(chunk.y))
        y, p = chunk.y[known], chunk.made.issued[known]
        if rows.p is not None:
            p = rows.p[known + chunk.start]
            p = p if p.ndim == 1 or self._reading.is_classes else p[:, 0]
        keep = ~np.isnan(p if p.ndim == 1 else p[:, 0])
        if rows.events is None:
            if keep.any():
                self.monitor.update(y[keep], p[keep])
        else:
            self._watch_events(y, p, keep, chunk.last[known], chunk.number + known)
        self.watch_answered(chunk.answered)

    def _watch_events(self, y: Vector, p: Any, keep: Any, last: Indices, number: Indices) -> None:
        """An event enters with its last row, and all its forecasts count as one."""
        assert self.monitor is not None
        for k in range(len(y)):
            name = int(last[k])
            if keep[k]:
                self.monitor.expect(p[k], event=name)
            if name == number[k] and name in self.monitor.pending:
                self.monitor.resolve(name, y[k])

    def watch_answered(self, answered: list[Answered]) -> None:
        """Show what was forecast earlier to the monitor; an event counts once."""
        for own in answered if self.monitor is not None else ():
            assert self.monitor is not None
            name = own.said[0].row
            for said in own.said:
                p = said.issued if said.p is None else said.p
                if isinstance(p, list) and not self._reading.is_classes and self._reading.p:
                    p = p[0]
                if not np.isnan(p).any():
                    self.monitor.expect(np.asarray(p) if isinstance(p, list) else p, event=name)
            if name in self.monitor.pending:
                self.monitor.resolve(name, own.y)

    # --- error over time ------------------------------------------------------------------------

    def note(self, certificates: Iterable[Certificate]) -> None:
        """A point of the history."""
        some = [c for c in certificates if c.mass]
        mass = sum(c.mass or 0.0 for c in some)
        if not mass:
            return

        def share(values: list[float | None]) -> float:
            if any(value is None for value in values):
                return math.nan
            return math.sqrt(max(sum(v or 0.0 for v in values), 0.0) / mass)

        before = math.nan if self._before_bins is None else self._before_bins.everybody()[0]
        events = sum(c.rounds if c.events is None else c.events for c in some)
        error, noise = share([c.measured for c in some]), share([c.noise for c in some])
        if self._after_bins is not None:
            # in the bins of the model; what is guaranteed of all keys holds, as merging forecasts
            # of several keys cannot raise the error
            error, noise = self._after_bins.everybody()
        point = events, error, noise, share([c.guaranteed for c in some]), before, mass
        if not self._history or events > self._history[-1][0]:
            self._history.append(point)

    @property
    def history(self) -> History | None:
        """The error over time; None if there is but one point of it."""
        if len(self._history) < 2:
            return None
        columns = [np.array(column, dtype=float) for column in zip(*self._history, strict=True)]
        events, error, noise, guaranteed, before, mass = columns
        own = None if np.allclose(events, mass) else mass
        return History(events.astype(np.int64), error, noise, guaranteed, before, mass=own)

    # --- answers --------------------------------------------------------------------------------

    def checks(
        self, notes: list[str], pending: int
    ) -> tuple[Check | None, Check | None, Comparison | None]:
        """Before (of the first model, or the best of several), after, and all models."""
        labels = self._reading.labels
        made = {name: judged.check([], pending, labels) for name, judged in self._models.items()}
        found = {name: check for name, check in made.items() if check is not None}
        after = self._after.check(notes, pending, labels)
        if len(self._models) > 1 and found:
            models = Comparison(found)
            return next(iter(models.checks.values())), after, models
        return next(iter(found.values()), None), after, None

    def groups(self, tables: list[GroupTable], models: Comparison | None) -> GroupChanges | None:
        """Groups before (of the model that ``checks`` shows) and after; None without groups."""
        if not self._reading.groups:
            return None
        shown = next(iter(self._models if models is None else models.checks), None)
        before = None if shown is None else self._groups_before[shown]
        return changes_of(self._numbered.names, before, self._groups_after, tables)

    def group_notes(self) -> list[str]:
        """What is odd about groups."""
        if not self._reading.groups:
            return []
        events, shares = self._groups_after.outcomes()
        return one_sided(self._numbered.names, events.astype(int).tolist(), shares.tolist())

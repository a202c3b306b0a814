"""Rows forecast one after the other, each outcome learnt when it was known and not before.

Time is a number that never falls: the moment of the latest row, or how many rows there were. An
outcome that is due at d is learnt just before the first row that is forecast at a time above d. So
what is learnt when does not depend on how rows come in parts.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullswap.base.protocols import Indices, Vector
from fullswap.inputs.columns import factorise
from fullswap.inputs.events import extremes
from fullswap.replay.reading import Rows
from fullswap.replay.streams import Made, Streams

Token = tuple[Any, Any]
"""Key of the stream and name of the event; of a row without a name, its number."""


class Due(NamedTuple):
    """An outcome that is known later than now."""

    moment: float
    row: int
    """The last row of the event: outcomes of one moment are learnt in this order."""
    y: float
    weight: float
    told: int = -1
    """The row that brought it, where that is another one."""


class Said(NamedTuple):
    """A forecast of an event whose outcome is not known."""

    row: int
    """Its number among all rows ever seen."""
    p: Any
    issued: Any
    weight: float
    time: float | None = None
    """When it was made, if the log says so."""
    groups: Any = ()
    """Names of the groups to which it belongs."""


class Answered(NamedTuple):
    """An event of earlier rows whose outcome has come."""

    said: list[Said]
    """Its forecasts."""
    y: float
    token: Token


@dataclass
class Chunk:
    """Rows that have been forecast: from ``start`` to ``stop`` of those that were given."""

    start: int
    stop: int
    number: int
    """Of the first row, among all rows ever seen."""
    made: Made
    y: Vector
    """Outcomes, where known by now or later; NaN where pending or not forecast."""
    last: Indices
    """Number of the last row of the event of each row, among all rows ever seen."""
    answered: list[Answered]
    """What was forecast earlier and has its outcome from these rows."""


@dataclass
class Plan:
    """When the outcomes of rows are learnt."""

    clock: Vector
    due: Vector
    """Of the event of each row."""
    y: Vector
    """The same for all rows of an event; NaN where pending."""
    last: Indices
    """Last row of the event."""
    known: Indices
    """The row just before which it is learnt; n + 1 if that is none of these."""
    tokens: list[Token] | None
    """Of every row, where events have names."""
    has: NDArray[np.bool_]
    """Rows that are forecast."""
    count: Indices
    """How many of them come before each row, and before the end, (n + 1,)."""
    following: Indices
    """The next one from each row on, and from the end; n + 1 if there is none."""


@dataclass
class Engine:
    """The forecasters of a replay, and what they wait for."""

    streams: Streams
    by_rows: bool
    """Whether time is the number of rows."""
    delay: int = 0
    seen: int = 0
    """Rows so far."""
    clock: float = -math.inf
    forecast: int = 0
    """Rows that were forecast."""
    older: int = 0
    """Rows that came after later ones."""
    waiting: dict[Token, Due] = field(default_factory=dict)
    pending: dict[Token, list[Said]] = field(default_factory=dict)
    _queue: list[tuple[float, int, int, Token]] = field(default_factory=list)

    # --- outcomes that come by themselves -------------------------------------------------------

    def answer(self, token: Token, y: float, moment: float, told: int = -1) -> Answered:
        """The outcome of a pending forecast or event is known, to be used from a moment on.

        ``told``: number of the row that brings it.
        """
        said = self.pending.pop(token)
        self._wait(token, Due(moment, said[-1].row, y, said[-1].weight, told))
        return Answered(said, y, token)

    def _wait(self, token: Token, due: Due) -> None:
        held = self.waiting.get(token)
        self.waiting[token] = due
        if held is None or held[:2] != due[:2]:
            heapq.heappush(self._queue, (due.moment, due.row, len(self._queue), token))

    def enqueue(self) -> None:
        """Find what waits, after it was read from a file."""
        self._queue = [(due.moment, due.row, k, token)
                       for k, (token, due) in enumerate(self.waiting.items())]  # fmt: skip
        heapq.heapify(self._queue)

    def _next(self) -> float:
        """The earliest moment that something waits for."""
        while self._queue:
            moment, row, _, token = self._queue[0]
            due = self.waiting.get(token)
            if due is not None and due[:2] == (moment, row):
                return moment
            heapq.heappop(self._queue)
        return math.inf

    def _learn(self, ready: list[tuple[Token, Due]]) -> None:
        if not ready:
            return
        ready.sort(key=lambda item: item[1].row)
        keys, names = [token[0] for token, _ in ready], [token[1] for token, _ in ready]
        self.streams.resolve(
            keys, names, [due.y for _, due in ready], [due.weight for _, due in ready]
        )

    def finish(self) -> None:
        """There will be no more rows: learn all that is known."""
        self._learn(list(self.waiting.items()))
        self.waiting.clear()
        self._queue.clear()

    # --- rows -----------------------------------------------------------------------------------

    def take(
        self, rows: Rows, start: int = 0, next_stop: Callable[[Engine], int] | None = None
    ) -> Iterator[Chunk]:
        """Forecast rows from ``start`` on; the earlier ones were forecast by a call before.

        After every chunk all is in order: a state may be saved, and what follows does not depend
        on where chunks end.
        """
        base, total = self.seen - start, len(rows)
        self._refuse_weights(rows)
        has, told = self._answers(rows, start)
        plan = self._plan(rows, base, has)
        while start < total:
            stop = total if next_stop is None else min(next_stop(self) - base, total)
            stop = max(stop, start + 1)
            own, answered = slice(start, stop), []
            while told and told[-1][0] < stop:
                row, token, y = told.pop()
                if token in self.pending:
                    answered.append(self.answer(token, y, float(plan.due[row]), base + row))
            made = self._run(rows, plan, base, start, stop)
            self.seen, self.forecast = base + stop, self.forecast + int(has[own].sum())
            self.clock = max(self.clock, float(plan.clock[stop - 1]))
            y = np.where(has[own], plan.y[own], np.nan)
            yield Chunk(start, stop, base + start, made, y, base + plan.last[own], answered)
            start = stop

    def _answers(self, rows: Rows, start: int) -> tuple[NDArray[np.bool_], list[Any]]:
        """Rows that are forecast; and those that bring outcomes of events forecast earlier.

        The first of these comes last.
        """
        has = rows.has.copy()
        if not self.pending or rows.events is None:
            return has, []
        found = []
        for row in range(start, len(rows)):
            token = _key(rows, row), rows.events[row]
            if token in self.pending and not math.isnan(rows.y[row]):
                found.append((row, token, float(rows.y[row])))
                has[row] = False
        return has, found[::-1]

    def _refuse_weights(self, rows: Rows) -> None:
        """A weight above the largest is refused with its row, not when its outcome comes."""
        most = self.streams.held.spec.max_weight
        if rows.weight is not None and len(rows) and rows.weight.max() > most:
            row = int(rows.weight.argmax())
            raise ValueError(
                f"weight must be at most {most:g}, the largest when this began, got "
                f"{rows.weight[row]:g} in row {row + 1:,}: give max_weight at the beginning"
            )

    def _plan(self, rows: Rows, base: int, has: NDArray[np.bool_]) -> Plan:
        total = len(rows)
        numbers = np.arange(total)
        y, due, last = rows.y.copy(), self._due(rows, base), numbers.copy()
        clock = base + numbers.astype(np.float64)
        if not self.by_rows:
            assert rows.time is not None
            before = np.maximum.accumulate(np.concatenate(([self.clock], rows.time)))
            self.older += int((rows.time < before[:-1])[max(self.seen - base, 0) :].sum())
            clock = before[1:]
        tokens = None
        if rows.events is not None:
            tokens = [
                (_key(rows, k), base + k if name is None else name)
                for k, name in enumerate(rows.events)
            ]
            _share(tokens, has, y, due, last, clock, rows.weight)
        known = np.maximum(np.searchsorted(clock, due, side="right"), last + 1)
        # the next row that is forecast
        following = np.full(total + 1, total + 1)
        following[:total][has] = numbers[has]
        following = np.minimum.accumulate(following[::-1])[::-1]
        count = np.concatenate(([0], np.cumsum(has)))
        return Plan(clock, due, y, last, following[known], tokens, has, count, following)

    def moment(self, rows: Rows, base: int, row: int) -> float:
        """The moment above which the outcome of a row may be used."""
        return float(self._due(rows.taken(np.array([row])), base + row)[0])

    def _due(self, rows: Rows, base: int) -> Vector:
        """The moment above which an outcome may be used."""
        if self.by_rows:
            return np.arange(base + self.delay, base + self.delay + len(rows), dtype=np.float64)
        assert rows.time is not None
        if rows.resolved is None:
            return rows.time.copy()
        return np.where(np.isnan(rows.resolved), rows.time, rows.resolved)

    def _run(self, rows: Rows, plan: Plan, base: int, start: int, stop: int) -> Made:
        """Forecast rows, and learn what is known before one of them.

        What is known before the next row is learnt here as well if that is forecast: then nothing
        can come between.
        """
        made = Made.room(stop - start, self.streams.classes)
        own = np.flatnonzero(plan.has[start:stop]) + start
        if not len(own):
            return made
        end = stop if stop < len(rows) and plan.has[stop] else stop - 1
        y = plan.y[own]
        inside = (plan.known[own] <= end) & ~np.isnan(y)
        names = self._names(plan, base, own, ~inside)
        told = set() if plan.tokens is None else {plan.tokens[k] for k in own[inside].tolist()}
        ready = [item for item in self._ready(plan, base, start, end) if item[0] not in told]
        known = np.where(inside, plan.count[plan.known[own] * inside] - plan.count[start], 9**18)
        keys = None if rows.keys is None else [rows.keys[k] for k in own]
        p = None if rows.p is None else rows.p[own]
        weight = None if rows.weight is None else rows.weight[own]
        groups = None if rows.groups is None else [rows.groups[k] for k in own.tolist()]
        try:
            in_time = names is None and not ready and _in_time(known)
            result = self.streams.run(
                keys,
                p,
                y,
                weight,
                names,
                None if in_time else known,
                self._told(ready),
                groups,
            )
        except ValueError:  # before anything was learnt: all of it waits on
            for token, due, _ in ready:
                self._wait(token, due)
            raise
        made.put(own - start, result)
        self._hold(rows, plan, base, own[~inside], result.issued[~inside])
        return made

    def _ready(self, plan: Plan, base: int, start: int, end: int) -> list[tuple[Token, Due, int]]:
        """What waits and is learnt before row ``end`` at the latest, in the order of its rows.

        Each with how many rows of the run are forecast by then.
        """
        ready, later = [], []
        while self._next() < plan.clock[end]:
            token = heapq.heappop(self._queue)[3]
            due = self.waiting.pop(token)
            first = int(np.searchsorted(plan.clock, due.moment, side="right"))
            row = int(plan.following[max(first, start, 1 + max(due.row, due.told) - base)])
            if row > end:
                later.append((token, due))
            else:
                ready.append((token, due, int(plan.count[row] - plan.count[start])))
        for token, due in later:
            self._wait(token, due)
        return sorted(ready, key=lambda item: item[1].row)

    def _told(self, ready: list[tuple[Token, Due, int]]) -> Any:
        """What waited, as the forecasters are told of it."""
        if not ready:
            return None
        keys, names = [token[0] for token, _, _ in ready], [token[1] for token, _, _ in ready]
        y, weight = [due.y for _, due, _ in ready], [due.weight for _, due, _ in ready]
        return self.streams.answers(keys, names, y, weight, [count for _, _, count in ready])

    def _names(
        self, plan: Plan, base: int, own: Indices, stays: NDArray[np.bool_]
    ) -> list[Any] | None:
        """Names by which the forecasts that wait will be found."""
        if plan.tokens is not None:
            return [plan.tokens[k][1] for k in own.tolist()]
        if not stays.any():
            return None
        return [base + k if waits else None for k, waits in zip(own.tolist(), stays, strict=True)]

    def _hold(self, rows: Rows, plan: Plan, base: int, own: Indices, issued: Any) -> None:
        for k, said in zip(own.tolist(), issued, strict=True):
            token = (_key(rows, k), base + k) if plan.tokens is None else plan.tokens[k]
            weight = 1.0 if rows.weight is None else float(rows.weight[k])
            y = float(plan.y[k])
            if math.isnan(y):
                p = None if rows.p is None else rows.p[k].tolist()
                time = None if rows.time is None else float(rows.time[k])
                groups = () if rows.groups is None else rows.groups[k]
                one = Said(base + k, p, said.tolist(), weight, time, groups)
                self.pending.setdefault(token, []).append(one)
            else:
                self._wait(token, Due(float(plan.due[k]), base + int(plan.last[k]), y, weight))


def _in_time(local: Indices) -> bool:
    """Whether there are rows, and each outcome is known before the next row."""
    return bool(len(local)) and bool((local == np.arange(1, len(local) + 1)).all())


def _key(rows: Rows, row: int) -> Any:
    return None if rows.keys is None else rows.keys[row]


def _share(
    tokens: list[Token], has: NDArray[np.bool_], y: Vector, due: Vector, last: Indices,
    clock: Vector, weight: Vector | None,
) -> None:  # fmt: skip
    """Give all rows of an event its outcome, its last row, and the moment when all is known.

    That is not before its last row, whenever the outcome itself was known.
    """
    own = np.flatnonzero(has)
    codes, names = factorise([tokens[k] for k in own.tolist()])
    count = len(names)
    known = ~np.isnan(y[own])
    least, most = extremes(codes[known], y[own][known], count)
    bad = np.flatnonzero(least < most)
    if len(bad):
        first, second = names[int(bad[0])]
        shown = second if first is None else (first, *second)
        raise ValueError(
            f"event must have one outcome each, got several for {' / '.join(map(str, shown))}; "
            f"{len(bad):,} of {count:,} events are like that"
        )
    if weight is not None:
        lightest, heaviest = extremes(codes, weight[own], count)
        if (lightest < heaviest).any():
            name = names[int((lightest < heaviest).argmax())][1]
            raise ValueError(f"event must have one weight each, got several for {name!r}")
    moment, row = np.full(count, -np.inf), np.zeros(count, np.int64)
    np.maximum.at(moment, codes, due[own])
    np.maximum.at(row, codes, last[own])
    several = np.bincount(codes, minlength=count) > 1
    moment = np.where(several, np.maximum(moment, clock[row]), moment)
    y[own] = np.where(np.isfinite(least), least, np.nan)[codes]
    due[own], last[own] = moment[codes], row[codes]

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


FEW = 16
"""Rows up to which they are forecast one by one where outcomes come late."""


class Due(NamedTuple):
    """An outcome that is known later than now."""

    moment: float
    row: int
    """The last row of the event: outcomes of one moment are learnt in this order."""
    y: float
    weight: float


class Said(NamedTuple):
    """A forecast of an event whose outcome is not known."""

    row: int
    """Its number among all rows ever seen."""
    p: Any
    issued: Any
    weight: float


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
    answered: list[tuple[Said, float]]
    """Forecasts of earlier calls whose outcomes came with these rows."""


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

    def answer(self, token: Token, y: float, moment: float) -> list[tuple[Said, float]]:
        """The outcome of a pending forecast or event is known, to be used from a moment on."""
        said = self.pending.pop(token)
        self._wait(token, Due(moment, said[-1].row, y, said[-1].weight))
        return [(one, y) for one in said]

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

    def _learn_until(self, time: float) -> None:
        """Learn what is due before this time."""
        ready = []
        while self._next() < time:
            token = heapq.heappop(self._queue)[3]
            ready.append((token, self.waiting.pop(token)))
        self._learn(ready)

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
        self, rows: Rows, start: int = 0, next_stop: Callable[[Engine], int] | None = None,
        anywhere: bool = False,
    ) -> Iterator[Chunk]:  # fmt: skip
        """Forecast rows from ``start`` on; the earlier ones were forecast by a call before.

        After every chunk all is in order: a state may be saved, and what follows does not depend
        on where chunks end. Unless they may end ``anywhere``, they do where no outcome is awaited
        but by the next row: others cost time, for the run that awaits them is cut short.
        """
        base, total = self.seen - start, len(rows)
        has, answers = self._answers(rows, start)
        plan = self._plan(rows, base, has)
        before = np.concatenate(([0], np.cumsum(has)))
        ends = _ends(plan, has)
        while start < total:
            stop = total if next_stop is None else min(next_stop(self) - base, total)
            stop = max(stop, start + 1)
            if not anywhere:
                stop = int(ends[np.searchsorted(ends, stop)])
            made = Made.room(stop - start, self.streams.classes)
            answered: list[tuple[Said, float]] = []
            done = start
            while done < stop:
                end = self._run(rows, plan, has, before, base, done, stop, answers, made, start)
                while answers and answers[0][0] < end:
                    row, token, y = answers.pop(0)
                    if token in self.pending:
                        answered += self.answer(token, y, float(plan.due[row]))
                done = end
            own = slice(start, stop)
            self.seen, self.forecast = base + stop, self.forecast + int(has[own].sum())
            self.clock = max(self.clock, float(plan.clock[stop - 1]))
            y = np.where(has[own], plan.y[own], np.nan)
            yield Chunk(start, stop, base + start, made, y, base + plan.last[own], answered)
            start = stop

    def _answers(self, rows: Rows, start: int) -> tuple[NDArray[np.bool_], list[Any]]:
        """Rows that are forecast; and those that bring outcomes of events forecast earlier."""
        has = rows.has.copy()
        if not self.pending or rows.events is None:
            return has, []
        found = []
        for row in range(start, len(rows)):
            token = _key(rows, row), rows.events[row]
            if token in self.pending and not math.isnan(rows.y[row]):
                found.append((row, token, float(rows.y[row])))
                has[row] = False
        return has, found

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
            _share(tokens, has, y, due, last, clock)
        known = np.maximum(np.searchsorted(clock, due, side="right"), last + 1)
        # the next row that is forecast
        following = np.full(total + 1, total + 1)
        following[:total][has] = numbers[has]
        following = np.minimum.accumulate(following[::-1])[::-1]
        return Plan(clock, due, y, last, following[known], tokens)

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

    def _run(
        self, rows: Rows, plan: Plan, has: NDArray[np.bool_], before: Indices, base: int,
        start: int, stop: int, answers: list[Any], made: Made, origin: int,
    ) -> int:  # fmt: skip
        """Learn what is due, then forecast rows up to where earlier outcomes are due again."""
        while start < stop and not has[start]:
            start += 1
            if answers and answers[0][0] < start:
                return start
        if start == stop:
            return stop
        self._learn_until(float(plan.clock[start]))
        end = stop if not answers else min(stop, max(answers[0][0], start) + 1)
        moment = self._next()
        if moment < math.inf:
            place = int(np.searchsorted(plan.clock, moment, side="right"))
            end = max(min(end, place), start + 1)
        # what waits from before and is due there as well is older, and goes first
        held = end < len(rows) and moment < plan.clock[end]
        own = np.flatnonzero(has[start:end]) + start
        y, known = plan.y[own], plan.known[own]
        inside = (known <= end - held) & ~np.isnan(y)
        local = np.where(inside, before[np.minimum(known, len(rows))] - before[start], len(own) + 1)
        stays = ~inside
        first = int(stays.argmax())
        if plan.tokens is None and stays[first] and _in_time(local[:first]):
            end = int(own[first])  # the rest waits, and is slower
            own, y, local, stays = own[:first], y[:first], local[:first], stays[:first]
        if len(own) <= FEW and not (_in_time(local) and plan.tokens is None):
            # a run has its costs: a row alone, whose outcome waits, is quicker
            own, y, end, stays = own[:1], y[:1], int(own[0]) + 1, np.ones(1, np.bool_)
        names = self._names(plan, base, own, stays)
        in_time = names is None and _in_time(local)
        keys = None if rows.keys is None else [rows.keys[k] for k in own]
        p = None if rows.p is None else rows.p[own]
        weight = None if rows.weight is None else rows.weight[own]
        if len(own) == 1 and stays[0]:  # as lines come one by one
            result = self.streams.predict(keys, p, names)
        else:
            result = self.streams.run(keys, p, y, weight, names, None if in_time else local)
        made.put(own - origin, result)
        self._hold(rows, plan, base, own[stays], result.issued[stays])
        return end

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
                self.pending.setdefault(token, []).append(Said(base + k, p, said.tolist(), weight))
            else:
                self._wait(token, Due(float(plan.due[k]), base + int(plan.last[k]), y, weight))


def _ends(plan: Plan, has: NDArray[np.bool_]) -> Indices:
    """Rows before which no outcome is awaited but by that row itself; and the end."""
    total = len(plan.y)
    late = np.flatnonzero(has & ~np.isnan(plan.y))
    change = np.bincount(late + 1, minlength=total + 2).astype(np.int64)
    change -= np.bincount(np.minimum(plan.known[late], total + 1), minlength=total + 2)
    free = np.flatnonzero(np.cumsum(change)[:total] == 0)
    return np.append(free, total)


def _in_time(local: Indices) -> bool:
    """Whether there are rows, and each outcome is known before the next row."""
    return bool(len(local)) and bool((local == np.arange(1, len(local) + 1)).all())


def _key(rows: Rows, row: int) -> Any:
    return None if rows.keys is None else rows.keys[row]


def _share(
    tokens: list[Token], has: NDArray[np.bool_], y: Vector, due: Vector, last: Indices,
    clock: Vector,
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
    moment, row = np.full(count, -np.inf), np.zeros(count, np.int64)
    np.maximum.at(moment, codes, due[own])
    np.maximum.at(row, codes, last[own])
    several = np.bincount(codes, minlength=count) > 1
    moment = np.where(several, np.maximum(moment, clock[row]), moment)
    y[own] = np.where(np.isfinite(least), least, np.nan)[codes]
    due[own], last[own] = moment[codes], row[codes]

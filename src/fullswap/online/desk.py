"""Forecasts of many streams that wait, made and answered in batches by compiled code.

To be imported where it is used: it brings the compiled code of all kinds. The same numbers as
``Stream.predict`` and ``Stream.resolve``, event by event.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from fullswap.base.protocols import Indices, Points, Vector
from fullswap.kernels import desk, events
from fullswap.kernels.columns import NEXT_ID
from fullswap.online.loop import NOTHING, Recorded, room_for
from fullswap.online.rows import Rows

FEWEST = 64
"""Forecasts that can wait before more room is made."""
KEPT = (desk.NUMBER, desk.DRAWN, desk.GRID, desk.BESIDE)
"""Notes of a ticket that are not about its neighbours."""


class Made(NamedTuple):
    """Forecasts of a batch; arrays have one entry each."""

    slots: Indices
    """Where they wait."""
    numbers: Indices
    """Their ids, which name them among those of their stream."""
    supports: Points
    """Points of the distributions, (T, m), or vectors (T, 1, K)."""
    weights: Points
    """(T, m)."""
    issued: Points
    """(T,) or (T, K)."""
    means: Points
    """(T,) or (T, K)."""
    declared: Indices | None = None
    """Top labels (T,), where vectors have them."""


class Tickets(NamedTuple):
    """Forecasts that wait, as plain arrays."""

    notes: Indices
    """(T, 4): id, place of the draw, level and crowd."""
    plays: Points
    """(T, W): as their kind encodes them."""


class Desk:
    """What waits in all streams of some rows.

    Events have names of their own in each stream; a forecast whose event is None is alone.
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self._events: dict[tuple[int, Hashable], int] = {}
        """(Stream, name) ↦ where the oldest forecast of the event waits."""
        self._names: dict[int, Hashable] = {}
        """Where such a forecast waits ↦ name."""
        self._first: Indices = np.full(0, -1)
        self._crowds: Indices = np.zeros(0, np.int64)
        self._pool: Points = np.zeros((0, rows.kind.encoded_length()))
        self._notes = np.zeros((0, desk.NOTES), np.int64)
        self._stamps = np.zeros(0, np.int64)
        self._free: list[int] = []
        self._stamp = 0
        self._values: tuple[int, Points] = (0, np.zeros(0))
        self._free.extend(self._take(1).tolist())  # arrays that compiled code can look into
        self.add()

    # --- room ---------------------------------------------------------------------------------

    def add(self) -> None:
        """Notice streams that the rows have got since."""
        more = len(self.rows) - len(self._first)
        if more > 0:
            more = max(more, len(self._first) // 4)
            self._first = np.concatenate((self._first, np.full(more, -1)))
            self._crowds = np.concatenate((self._crowds, np.zeros(more, np.int64)))

    def _take(self, count: int) -> Indices:
        """Places for so many more forecasts."""
        if count > len(self._free):
            old = len(self._pool)
            more = max(FEWEST, old, count)
            self._pool = np.concatenate((self._pool, np.zeros((more, self._pool.shape[1]))))
            self._notes = np.concatenate((self._notes, np.zeros((more, desk.NOTES), np.int64)))
            self._stamps = np.concatenate((self._stamps, np.zeros(more, np.int64)))
            self._free.extend(range(old + more - 1, old - 1, -1))
        taken = self._free[len(self._free) - count :]
        del self._free[len(self._free) - count :]
        return np.array(taken[::-1], np.int64)

    # --- what waits ---------------------------------------------------------------------------

    def pending(self, stream: int) -> int:
        """How many events of a stream wait."""
        return int(self._crowds[stream])

    def pending_of_all(self) -> Indices:
        """The same for every stream."""
        return self._crowds[: len(self.rows)]

    def find(self, stream: int, number: int) -> int:
        """Where the forecast of this id waits, or −1."""
        return int(desk.find(self._notes, self._first, stream, number))

    def find_all(self, streams: Indices, numbers: Indices) -> Indices:
        """``find`` for many."""
        slots = np.empty(len(streams), np.int64)
        desk.find_all(self._notes, self._first, streams, numbers, slots)
        return slots

    def event(self, stream: int, name: Hashable) -> int:
        """Where the oldest forecast of this event waits, or −1."""
        return self._events.get((stream, name), -1)

    def head(self, slot: int) -> int:
        """Where the oldest forecast of the same event waits."""
        return int(self._notes[slot, desk.HEAD])

    def heads(self, slots: Indices) -> Indices:
        """``head`` for many; −1 where a place is −1."""
        return np.where(slots < 0, -1, self._notes[slots, desk.HEAD])

    def counts(self, heads: Indices) -> Indices:
        """How many forecasts these events have that wait."""
        counts: Indices = self._notes[heads, desk.COUNT]
        return counts

    def siblings(self, head: int) -> list[int]:
        """Where all forecasts of an event wait, oldest first."""
        own = [head]
        while (slot := int(self._notes[own[-1], desk.SIBLING])) >= 0:
            own.append(slot)
        return own

    def waiting(self, stream: int) -> Iterator[int]:
        """Where the forecasts of a stream wait, youngest first."""
        slot = int(self._first[stream])
        while slot >= 0:
            yield slot
            slot = int(self._notes[slot, desk.OLDER])

    def oldest(self, stream: int) -> int:
        """Where the oldest forecast of a stream waits, or −1."""
        return int(desk.oldest(self._notes, self._first, stream))

    def stream(self, slot: int) -> int:
        """Whose forecast waits there."""
        return int(self._notes[slot, desk.STREAM])

    def number(self, slot: int) -> int:
        """The id of a forecast that waits."""
        return int(self._notes[slot, desk.NUMBER])

    def name(self, slot: int) -> Hashable:
        """The name of its event, or None."""
        return self._names.get(self.head(slot))

    # --- the verbs ----------------------------------------------------------------------------

    def forecast(
        self, streams: Indices, contexts: Any, names: Sequence[Hashable] | None = None
    ) -> Made:
        """Forecast one event of each of these streams; ``contexts`` as the kind reads them."""
        rows, kind, total = self.rows, self.rows.kind, len(streams)
        slots = self._take(total)
        heads = slots.copy()
        for t, name in enumerate(names or ()):
            if name is not None:
                token = (int(streams[t]), name)
                heads[t] = self._events.setdefault(token, int(slots[t]))
                self._names.setdefault(int(heads[t]), name)
        given = NOTHING if contexts is None else contexts
        recorded = room_for(total, kind)
        desk.forecast_all(
            kind.kernel, rows.arena, rows.start, rows.words, rows.seed, streams, given, slots,
            heads, self._first, self._crowds, self._pool, self._notes, *recorded,
        )  # fmt: skip
        return self._made(slots, recorded)

    def undo(self, slots: Indices) -> None:
        """As if these forecasts, which must be the last of their streams, had not been made."""
        for slot in slots.tolist():
            self._forget(slot)
        desk.undo_all(
            self.rows.arena, self.rows.start, slots, self._first, self._crowds, self._notes
        )
        self._free.extend(slots.tolist()[::-1])

    def resolve(self, heads: Indices, outcomes: Any, scales: Vector) -> None:
        """Learn the outcomes of events, each given by its oldest forecast, in this order."""
        rows = self.rows
        released = heads.tolist()
        if (self.counts(heads) > 1).any():
            released = [slot for head in released for slot in self.siblings(head)]
        progress = np.array([0, -1, self._stamp])
        values = np.ascontiguousarray(outcomes, dtype=np.float64)
        reason = events.NO_ROOM
        while reason != events.DONE:
            reason, stream = desk.learn_all(
                rows.kind.kernel, rows.arena, rows.start, rows._room, self._pool, self._notes,
                self._first, self._crowds, self._stamps, progress, heads, values, scales,
            )  # fmt: skip
            if reason == events.NO_ROOM:
                rows.refine(stream)
        self._stamp = int(progress[desk.STAMP])
        if self._names:
            for head in heads.tolist():
                self._forget(head)
        self._free.extend(released)

    def drop(self, slot: int) -> None:
        """The outcome of this forecast will never come; others of its event wait on."""
        head, stream, name = self.head(slot), int(self._notes[slot, desk.STREAM]), self.name(slot)
        next_oldest = int(self._notes[slot, desk.SIBLING])
        self._forget(slot)
        desk.remove(self._notes, self._first, self._crowds, slot)
        self._free.append(slot)
        if slot == head and name is not None and next_oldest >= 0:
            self._events[stream, name] = next_oldest
            self._names[next_oldest] = name

    def _forget(self, slot: int) -> None:
        """The name of an event whose oldest forecast this is."""
        name = self._names.pop(slot, None)
        if name is not None:
            del self._events[int(self._notes[slot, desk.STREAM]), name]

    # --- tickets as plain arrays --------------------------------------------------------------

    def tickets(self, slots: Any) -> Tickets:
        """Copies of what waits at these places."""
        own = np.asarray(slots, dtype=np.int64)
        plays = self._pool[own]
        return Tickets(self._notes[own][:, KEPT], plays[:, : self.rows.kind.used_length(plays)])

    def put(
        self, streams: Indices, tickets: Tickets, names: Sequence[Hashable] | None = None
    ) -> Indices:
        """Have tickets wait again, oldest first; ids of their streams go on behind them."""
        rows = self.rows
        slots = self._take(len(streams))
        self._pool[slots, : tickets.plays.shape[1]] = tickets.plays
        for t, (slot, stream) in enumerate(zip(slots.tolist(), streams.tolist(), strict=True)):
            name = names[t] if names is not None else None
            self._notes[slot, KEPT] = tickets.notes[t, : len(KEPT)]
            head = slot if name is None else self._events.setdefault((stream, name), slot)
            if name is not None:
                self._names.setdefault(head, name)
            desk.link(self._notes, self._first, self._crowds, stream, slot, head)
            number, place = int(tickets.notes[t, 0]), int(rows.start[stream])
            rows.arena[place + NEXT_ID] = max(rows.arena[place + NEXT_ID], number + 1)
        return slots

    # --- answers ------------------------------------------------------------------------------

    def _made(self, slots: Indices, recorded: Recorded) -> Made:
        """Values of what was recorded, which has places in the grid of all levels."""
        kind, (indices, weights, issued) = self.rows.kind, recorded
        if kind.vectors:
            record = kind.record(0, recorded)
            numbers = self._notes[slots, desk.NUMBER]
            one = np.ones((len(slots), 1))
            declared = None if record.declared is None else record.declared.astype(np.int64)
            own = record.issued, record.mean
            return Made(slots, numbers, weights[:, None], one, *own, declared=declared)
        levels = len(kind.kernel.first) - 1
        if self._values[0] != levels:
            points = [kind.points(level) for level in range(levels)]
            self._values = levels, np.concatenate(points)
        values = self._values[1]
        weights = np.column_stack((weights, 1.0 - weights))
        supports = values[indices]
        means = weights[:, 0] * supports[:, 0] + weights[:, 1] * supports[:, 1]
        return Made(
            slots, self._notes[slots, desk.NUMBER], supports, weights, values[issued], means
        )

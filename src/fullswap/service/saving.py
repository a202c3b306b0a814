"""From memory to the tables and back: what has to be written, and up to where the journal is done.

A stream is written when it has not been for long, a few at a time, so that no request waits for
it. Entries of the journal are deleted when all that they changed is in the tables.
"""

from __future__ import annotations

import sqlite3
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from fullswap.service import records
from fullswap.service.fleet import Fleet, Held, answers_of
from fullswap.service.messages import SpecBody
from fullswap.service.problems import Unavailable
from fullswap.service.records import unpacked
from fullswap.service.resolving import settle

if TYPE_CHECKING:
    from fullswap.online.desk import Made
    from fullswap.service.engine import Engine
    from fullswap.service.storage import Journal

ROWS_AT_ONCE = 40_000
"""Resolved forecasts that wait for the tables before they are handed over: sorted by stream, many
of them share a page."""
STREAMS_AT_ONCE = 256
"""Streams that are written in one go."""
LOW, HIGH = 2**25, 2**28
"""Bytes of the journal from which on streams are written, and from which on in earnest."""
PUT = "INSERT OR REPLACE INTO streams VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class Saving:
    """What of an engine is not in its tables yet."""

    def __init__(self, engine: Engine, journal: Journal) -> None:
        self._engine, self._journal = engine, journal
        self._dirty: dict[int, int] = {}
        """Streams that have changed ↦ the first entry since they were written; oldest first."""
        self._rows_since: int | None = None
        """The first entry whose resolved forecasts are not in the tables."""
        self._flying: list[tuple[Future[Any], int, Any, list[int]]] = []
        """What the keeper is writing: its first entry, a parcel of the index, or streams."""
        self.trouble: str | None = None
        """Why the tables could not be written, if they could not."""

    # --- what has changed -------------------------------------------------------------------------

    def begin(self, seq: int) -> int:
        """An entry that changes the tables has been written."""
        if self._rows_since is None:
            self._rows_since = seq
        return seq

    def touch(self, no: int, seq: int) -> None:
        """A stream has changed with this entry."""
        if no not in self._dirty:
            self._dirty[no] = seq

    def touch_all(self, nos: list[int], seq: int) -> None:
        """The same for many."""
        dirty = self._dirty
        for no in nos:
            if no not in dirty:
                dirty[no] = seq

    @property
    def unsaved(self) -> int:
        """Streams that have changed since they were written."""
        return len(self._dirty)

    # --- to the tables --------------------------------------------------------------------------

    def work(self, items: int) -> None:
        """After so many items: hand over what is due."""
        self._land()
        index = self._engine.index
        if len(index.rows) + len(index.ids) >= ROWS_AT_ONCE:
            self._hand_rows()
        if self._journal.bytes > LOW and len(self._flying) < 4:
            self._hand_streams(
                max(STREAMS_AT_ONCE // 4, items * (1 + (self._journal.bytes > HIGH)))
            )

    def rest(self) -> bool:
        """Nothing else is to do: write some more; whether anything is left."""
        self._land()
        if not self._flying:
            self._hand_rows()
            self._hand_streams(STREAMS_AT_ONCE)
        return bool(self._flying or self._dirty)

    def save_all(self) -> None:
        """Everything, now; raises if it cannot be written."""
        self._land(wait=True)
        self._hand_rows()
        while self._dirty:
            self._hand_streams(STREAMS_AT_ONCE)
            self._land(wait=True)
            if self.trouble:
                break
        self._land(wait=True)
        if self.trouble:
            raise Unavailable(self.trouble)

    def flush_rows(self) -> None:
        """Have all resolved forecasts in the tables."""
        self._hand_rows()
        self._land(wait=True)
        if self.trouble:
            raise Unavailable(self.trouble)

    def _hand_rows(self) -> None:
        index = self._engine.index
        if not (index.rows or index.ids):
            self._rows_since = None
            return
        parcel = ids, rows, _ = index.hand_over()

        def write(tables: sqlite3.Connection) -> None:
            listed = sorted((name, *place) for name, place in ids.items())
            tables.executemany("INSERT OR REPLACE INTO ids VALUES (?, ?, ?)", listed)
            tables.executemany(
                "INSERT OR REPLACE INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [rows[key] for key in sorted(rows)],
            )

        since = self._rows_since or self._journal.seq
        self._rows_since = None
        self._flying.append((self._engine.keeper.submit(write), since, parcel, []))

    def _hand_streams(self, count: int) -> None:
        """The streams that have waited longest."""
        engine = self._engine
        nos = [no for no, _ in zip(self._dirty, range(count), strict=False)]
        if not nos:
            return
        first, seq, rows = self._dirty[nos[0]], self._journal.seq, []
        for no in nos:
            del self._dirty[no]
            fleet, place = engine.by_no[no]
            about = fleet.names[place], fleet.no, fleet.created[place], float(fleet.last[place])
            rows.append((no, *about, seq, *fleet.state(place)))
        future = engine.keeper.submit(lambda tables: tables.executemany(PUT, rows))
        self._flying.append((future, first, None, nos))

    def _land(self, wait: bool = False) -> None:
        """Notice what has been written, and delete entries of the journal that are done."""
        left = []
        for future, since, parcel, nos in self._flying:
            if not future.done() and not wait:
                left.append((future, since, parcel, nos))
                continue
            error = future.exception()
            self.trouble = None if error is None else str(error)
            if error is None:
                if parcel is not None:
                    self._engine.index.written(parcel)
                continue
            # once more, later; what waits longest stays first
            if parcel is not None:
                self._take_back(parcel, since)
            alive = [no for no in nos if no in self._engine.by_no]
            self._dirty = {**dict.fromkeys(alive, since), **self._dirty}
            for no in alive:
                self._dirty[no] = since
        self._flying = left
        self._trim()

    def _take_back(self, parcel: Any, since: int) -> None:
        index = self._engine.index
        index.written(parcel)
        ids, rows, _ = parcel
        for name, place in ids.items():
            index.ids.setdefault(name, place)
        for row in rows.values():
            if (row[0], row[1]) not in index.rows:
                index.add(row)
        self._rows_since = since

    def _trim(self) -> None:
        needed = [since for _, since, _, _ in self._flying]
        if self._dirty:
            needed.append(min(self._dirty[next(iter(self._dirty))], self._journal.seq + 1))
        if self._rows_since is not None:
            needed.append(self._rows_since)
        upto = min(needed, default=self._journal.seq + 1) - 1
        if upto > self._trimmed:
            self._journal.trim(upto)
            self._trimmed = upto

    _trimmed = 0

    def delete(self, no: int, seq: int) -> None:
        """A stream is no more, in memory and in the tables; an entry of the journal says so."""
        engine = self._engine
        fleet, place = engine.by_no.pop(no)
        name = fleet.names[place]
        waiting = list(fleet.desk.waiting(place))
        own = [fleet.held[slot].id for slot in waiting if fleet.held[slot].id is not None]
        for slot in waiting:
            event = fleet.held.pop(slot).event
            fleet.desk.drop(slot)
            if event is not None:
                engine.forget_event(event, no)
        fleet.watch.remove(place)
        fleet.names[place] = None
        if name is not None:
            del engine.places[name]
        self._dirty.pop(no, None)
        engine.index.forget(no)

        def write(tables: sqlite3.Connection) -> None:
            tables.execute("DELETE FROM ids WHERE id IN "
                           "(SELECT id FROM history WHERE stream = ?)", (no,))  # fmt: skip
            tables.executemany("DELETE FROM ids WHERE id = ?", [(one,) for one in own])
            tables.execute("DELETE FROM history WHERE stream = ?", (no,))
            tables.execute("DELETE FROM streams WHERE no = ?", (no,))

        self._flying.append((engine.keeper.submit(write), seq, ({}, {}, {}), []))

    # --- from the tables ----------------------------------------------------------------------

    def load(self) -> dict[int, int]:
        """All specs and streams; up to which entry each stream has gone."""
        engine = self._engine
        for no, name, body, seed in engine.index.all_specs():
            engine.add_fleet(Fleet(no, name, msgspec.json.decode(body, type=SpecBody), int(seed)))
        saved = {}
        for no, name, spec, created, last, seq, *state in engine.index.all_streams():
            fleet = engine.fleets[spec]
            engine.begin(fleet, no, name)
            place = len(fleet) - 1
            fleet.created[place], fleet.last[place] = created, last
            fleet.restore(place, *state)
            saved[no] = seq
            for slot in fleet.desk.waiting(place):
                if (event := fleet.held[slot].event) is not None:
                    engine.where.setdefault(event, {})[no] = None
        for fleet in engine.fleets.values():
            fleet.rows.compact()
            ringing = np.flatnonzero(fleet.watch.columns()["alarm"] > 0).tolist()
            for place, row in zip(ringing, fleet.watch.rows(ringing), strict=True):
                engine.note_alarm(fleet, place, row["alarm"])
        return saved

    def redo(
        self, seq: int, entry: records.Entry, saved: dict[int, int], gone: set[int]
    ) -> None:  # fmt: skip
        """Do again what an entry of the journal says, for streams that have not gone so far."""
        engine = self._engine
        if isinstance(entry, records.Deleted):
            if entry.no in engine.by_no:
                self.delete(entry.no, seq)
            return
        if isinstance(entry, records.Acknowledged):
            if entry.no in engine.by_no and saved.get(entry.no, 0) < seq:
                fleet, place = engine.by_no[entry.no]
                fleet.watch.acknowledge(place, entry.time)
                self.touch(entry.no, seq)
            return
        fleet = engine.fleets[entry.spec]
        if isinstance(entry, records.Forecasts):
            for no, name in entry.new:
                if no not in engine.by_no and no not in gone:
                    engine.begin(fleet, no, name)
        nos = unpacked(entry.nos)
        keep = np.array([no not in gone and saved.get(no, 0) < seq for no in nos.tolist()], bool)
        if not keep.any():
            return
        self.begin(seq)
        self.touch_all(nos[keep].tolist(), seq)
        places = np.array([engine.by_no[no][1] for no in nos[keep].tolist()], np.int64)
        if isinstance(entry, records.Forecasts):
            self._redo_forecasts(fleet, places, entry, keep)
            return
        slots = fleet.desk.find_all(places, unpacked(entry.numbers)[keep])
        if (slots < 0).any():
            raise ValueError("journal must fit the tables, got an outcome of no forecast")
        if isinstance(entry, records.Dropped):
            settle(engine, fleet, places, slots, None, None, entry.time)
        else:
            outcomes, scales = unpacked(entry.outcomes)[keep], unpacked(entry.scales)[keep]
            settle(engine, fleet, places, slots, outcomes, scales, entry.time)

    def _redo_forecasts(
        self, fleet: Fleet, places: Any, entry: records.Forecasts, keep: Any
    ) -> None:  # fmt: skip
        from fullswap.online.desk import Made
        from fullswap.service.forecasting import own_id, remember

        tickets = entry.tickets
        chosen = np.flatnonzero(keep).tolist()
        numbers = tickets.notes[keep, 0]
        ids, events = [entry.ids[t] for t in chosen], [entry.events[t] for t in chosen]
        made: Made = Made(
            places, numbers, *(unpacked(getattr(entry, name))[keep]
                               for name in ("supports", "weights", "issued", "means"))
        )  # fmt: skip
        names = [
            name or own_id(fleet.nos[place], int(number))
            for name, place, number in zip(ids, places.tolist(), numbers, strict=True)
        ]
        answers = answers_of(made, names)
        said: list[Any] = [None] * len(chosen)
        if entry.contexts is not None:
            said = fleet.plain(unpacked(entry.contexts)[keep])
        held = [
            Held(entry.time, *own) for own in zip(ids, events, said, answers, strict=True)
        ]  # fmt: skip
        fleet.put(places, tickets.notes[keep], tickets.plays[keep], held)
        remember(self._engine, fleet, places, numbers.tolist(), held)

"""From memory to the tables and back: what has to be written, and up to where the journal is done.

A stream is written when it has not been for long, a few at a time, so that no request waits for
it. Entries of the journal are deleted when all that they changed is in the tables.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from fullswap.service import records
from fullswap.service.fleet import Fleet, Held, answers_of
from fullswap.service.index import Parcel
from fullswap.service.messages import SpecBody
from fullswap.service.problems import Unavailable
from fullswap.service.records import unpacked
from fullswap.service.settling import settle

if TYPE_CHECKING:
    from fullswap.online.desk import Made
    from fullswap.service.engine import Engine
    from fullswap.service.storage import Journal

ROWS_AT_ONCE = 40_000
"""Resolved forecasts that wait for the tables before they are handed over: sorted by stream, many
of them share a page."""
STREAMS_AT_ONCE = 256
"""Streams that are written in one go."""
MOST_AT_ONCE = 20_000
"""The same, when there is much to do."""
LOW, HIGH = 2**27, 2**29
"""Bytes of the journal from which on streams are written, and from which on in earnest."""
MOST_BYTES = 2**30
"""Bytes of the journal from which on nothing is taken while the tables cannot be written."""
PUT = "INSERT OR REPLACE INTO streams VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class Flight(NamedTuple):
    """What the keeper is writing, in one transaction."""

    future: Future[Any]
    since: int
    """The first entry of the journal that it is about."""
    parcel: Parcel
    nos: list[int]
    gone: dict[int, tuple[int, list[str]]]


class Saving:
    """What of an engine is not in its tables yet.

    Resolved forecasts, streams and deletions are written together, and one lot after the other: a
    stream in the tables has gone past entries that are not done again, so all that these brought
    must be there too.
    """

    def __init__(self, engine: Engine, journal: Journal) -> None:
        self._engine, self._journal = engine, journal
        self._dirty: dict[int, int] = {}
        """Streams that have changed ↦ the first entry since they were written; oldest first."""
        self._rows_since: int | None = None
        """The first entry whose resolved forecasts are not in the tables."""
        self._gone: dict[int, tuple[int, list[str]]] = {}
        """Deleted streams that the tables may have ↦ the entry that says so, ids that waited."""
        self._flight: Flight | None = None
        self._due, self._trimmed = 0.0, 0
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
    def stuck(self) -> str | None:
        """Why no more is taken: the tables have not been written for long, and memory fills."""
        return self.trouble if self._journal.bytes > MOST_BYTES else None

    @property
    def unsaved(self) -> int:
        """Streams that have changed since they were written."""
        return len(self._dirty)

    # --- to the tables --------------------------------------------------------------------------

    def work(self, items: int) -> None:
        """After so many items: hand over what is due."""
        self._land()
        index, size = self._engine.index, self._journal.bytes
        # a stream for every fourth item: seldom enough to be cheap, and the journal has an end
        self._due = min(self._due + (items if size > HIGH else items / 4), MOST_AT_ONCE)
        if size > LOW:
            self._hand(max(STREAMS_AT_ONCE // 4, int(self._due)))
        elif len(index.rows) + len(index.ids) >= ROWS_AT_ONCE or self._gone:
            self._hand(0)

    def rest(self) -> bool:
        """Nothing else is to do: write some more; whether anything is left."""
        self._land()
        self._hand(STREAMS_AT_ONCE)
        return bool(self._flight or self._dirty)

    def save_all(self) -> None:
        """Everything, now; raises if it cannot be written."""
        self.flush_rows()
        while self._dirty:
            self._hand(STREAMS_AT_ONCE)
            self._land(wait=True)
            if self.trouble:
                raise Unavailable(self.trouble)

    def flush_rows(self) -> None:
        """Have all resolved forecasts in the tables; raises if they cannot be written."""
        self._land(wait=True)
        self._hand(0)
        self._land(wait=True)
        if self.trouble:
            raise Unavailable(self.trouble)

    def _hand(self, count: int) -> None:
        """What was resolved and deleted, and the streams that have waited longest."""
        engine, seq = self._engine, self._journal.seq
        if self._flight is not None:
            return
        nos = list(islice(self._dirty, count))
        index, gone = engine.index, self._gone
        if not (nos or gone or index.rows or index.ids):
            self._rows_since = None
            return
        since = min(self._needed(), default=seq)
        streams = []
        for no in nos:
            del self._dirty[no]
            fleet, place = engine.by_no[no]
            about = fleet.names[place], fleet.no, fleet.created[place], float(fleet.last[place])
            streams.append((no, *about, seq, *fleet.state(place)))
        parcel = index.hand_over()
        # lists of its own: a stream that is deleted meanwhile leaves the parcel
        ids, rows = list(parcel[0].items()), list(parcel[1].values())

        def write(tables: sqlite3.Connection) -> None:
            for no, (_, own) in gone.items():
                _forget(tables, no, own)
            tables.executemany(
                "INSERT OR REPLACE INTO ids VALUES (?, ?, ?)",
                sorted((name, *place) for name, place in ids),
            )
            listed = sorted(rows, key=lambda row: row[:2])
            tables.executemany(
                "INSERT OR REPLACE INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?)", listed
            )
            tables.executemany(PUT, streams)

        self._rows_since, self._gone, self._due = None, {}, 0
        self._flight = Flight(engine.keeper.submit(write), since, parcel, nos, gone)

    def _land(self, wait: bool = False) -> None:
        """Notice what has been written, and delete entries of the journal that are done."""
        flight = self._flight
        if flight is not None and (wait or flight.future.done()):
            error = flight.future.exception()
            self.trouble = None if error is None else str(error)
            self._flight = None
            if error is None:
                self._engine.index.written(flight.parcel)
            else:  # once more, later; it is older than all else, and stays first
                self._engine.index.take_back(flight.parcel)
                alive = [no for no in flight.nos if no in self._engine.by_no]
                self._dirty = dict.fromkeys(alive, flight.since) | {
                    no: seq for no, seq in self._dirty.items() if no not in set(alive)
                }
                self._gone = flight.gone | self._gone
                self._rows_since = flight.since
        self._trim()

    def _needed(self) -> Iterator[int]:
        """First entries of the journal that something still needs."""
        if self._flight is not None:
            yield self._flight.since
        if self._dirty:
            yield self._dirty[next(iter(self._dirty))]
        if self._gone:
            yield self._gone[next(iter(self._gone))][0]
        if self._rows_since is not None:
            yield self._rows_since

    def _trim(self) -> None:
        upto = min(self._needed(), default=self._journal.seq + 1) - 1
        if upto > self._trimmed:
            self._journal.trim(upto)
            self._trimmed = upto

    def delete(self, no: int, seq: int, ids: Iterable[str] = ()) -> None:
        """A stream is no more; an entry of the journal says so. ``ids``: others that it had."""
        own = {*ids, *self.forget(no)}
        self._gone[no] = seq, sorted(own)

    def forget(self, no: int) -> list[str]:
        """Forget a stream, if there is one, as far as memory goes; ids of what waited in it."""
        engine = self._engine
        engine.index.forget(no)
        self._dirty.pop(no, None)
        if no not in engine.by_no:
            return []
        fleet, place = engine.by_no.pop(no)
        own = []
        for slot in list(fleet.desk.waiting(place)):
            held = fleet.held.pop(slot)
            fleet.desk.drop(slot)
            if held.id is not None:
                own.append(held.id)
            if held.event is not None:
                engine.forget_event(held.event, no)
        del engine.places[str(fleet.names[place])]
        fleet.remove(place)
        engine.unsent = {
            token: alarm for token, alarm in engine.unsent.items()
            if not token.startswith(f"{no}:")
        }  # fmt: skip
        return own

    # --- from the tables ----------------------------------------------------------------------

    def load(self) -> dict[int, int]:
        """All specs and streams; up to which entry each stream has gone."""
        engine = self._engine
        for no, name, body, seed in engine.index.all_specs():
            engine.add_fleet(Fleet(no, name, msgspec.json.decode(body, type=SpecBody), int(seed)))
        saved = {}
        engine.next_no = engine.index.last_deleted() + 1
        for no, name, spec, created, last, seq, *state in engine.index.all_streams():
            fleet = engine.fleets[spec]
            place = engine.begin(fleet, no, name, created)
            fleet.last[place] = last
            fleet.restore(place, *state)
            saved[no] = seq
            for slot in fleet.desk.waiting(place):
                if (event := fleet.held[slot].event) is not None:
                    engine.where.setdefault(event, {})[no] = None
        if max(saved.values(), default=0) > self._journal.seq:
            raise ValueError(
                "folder must have journal.db and streams.db of one moment, got an older journal: "
                "restore both from one backup"
            )
        for fleet in engine.fleets.values():
            fleet.rows.compact()
            ringing = np.flatnonzero(fleet.watch.columns()["alarm"] > 0).tolist()
            for place, row in zip(ringing, fleet.watch.rows(ringing), strict=True):
                engine.note_alarm(fleet, place, row["alarm"])
        return saved

    def redo(
        self, seq: int, entry: records.Entry, saved: dict[int, int], gone: dict[int, list[str]]
    ) -> None:  # fmt: skip
        """Do again what an entry of the journal says, for streams that have not gone so far."""
        engine = self._engine
        if isinstance(entry, records.Deleted):
            self.delete(entry.no, seq, gone[entry.no])
            return
        if isinstance(entry, records.Acknowledged):
            if entry.no in engine.by_no and saved.get(entry.no, 0) < seq:
                fleet, place = engine.by_no[entry.no]
                fleet.watch.acknowledge(place, entry.time)
                self.touch(entry.no, seq)
            return
        fleet = engine.fleets[entry.spec]
        if isinstance(entry, records.Forecasts):
            for no, own in zip(unpacked(entry.nos).tolist(), entry.ids, strict=True):
                if own is not None and no in gone:
                    gone[no].append(own)
            for no, name in entry.new:
                if no not in engine.by_no and no not in gone:
                    engine.begin(fleet, no, name, entry.time)
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
        if entry.declared is not None:
            made = made._replace(declared=unpacked(entry.declared)[keep])
        names = [
            name or own_id(fleet.nos[place], int(number))
            for name, place, number in zip(ids, places.tolist(), numbers, strict=True)
        ]
        answers = answers_of(made, names, fleet.labels)
        said: list[Any] = [None] * len(chosen)
        if entry.contexts is not None:
            said = fleet.plain(unpacked(entry.contexts)[keep])
        groups: list[Any] = [None] * len(chosen)
        if entry.contexts is not None:
            groups = fleet.group_names(unpacked(entry.contexts)[keep], len(chosen))
        rows = zip(ids, events, said, answers, groups, strict=True)
        held = [Held(entry.time, *own) for own in rows]
        fleet.put(places, tickets.notes[keep], tickets.plays[keep], held)
        remember(self._engine, fleet, places, numbers.tolist(), held)


def _forget(tables: sqlite3.Connection, no: int, ids: list[str]) -> None:
    """Delete a stream; its number is never used again, because clients may still name it."""
    tables.execute(
        "DELETE FROM ids WHERE stream = ? AND id IN (SELECT id FROM history WHERE stream = ?)",
        (no, no),
    )
    tables.executemany("DELETE FROM ids WHERE stream = ? AND id = ?", [(no, one) for one in ids])
    tables.execute("DELETE FROM history WHERE stream = ?", (no,))
    tables.execute("DELETE FROM streams WHERE no = ?", (no,))
    tables.execute(
        "INSERT INTO about VALUES ('deleted', ?) ON CONFLICT (name) DO UPDATE SET value = "
        "max(CAST(value AS INTEGER), CAST(excluded.value AS INTEGER))",
        (no,),
    )

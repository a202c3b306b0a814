"""Which ids and events are known: those in the tables, and those that are not there yet.

Lookups of a batch are one statement each, so a table of a hundred million ids costs a few
microseconds an id.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from fullswap.service.storage import connect

Place = tuple[int, int]
"""Number of a stream, and id of a forecast among those of the stream."""
Row = tuple[int, int, float, float | None, str | None, str | None, str | None, bytes]
"""Stream, number, time, when it was resolved, client's id, event, outcome as JSON (None: dropped),
and what was said."""
Events = dict[str, dict[int, Place]]
"""Name of an event ↦ by stream, one of its forecasts."""
Parcel = tuple[dict[str, Place], dict[Place, Row], Events]
"""Ids, rows and events that are not in the tables yet."""
_DECODE = msgspec.msgpack.Decoder().decode


class Index:
    """Reads the tables; what they do not have yet is kept here until they do."""

    def __init__(self, path: Path) -> None:
        self._tables = connect(path)
        self._tables.execute("PRAGMA query_only=ON")
        self.ids: dict[str, Place] = {}
        self.rows: dict[Place, Row] = {}
        self.events: Events = {}
        self._flying: list[Parcel] = []

    def close(self) -> None:
        """Close the file."""
        self._tables.close()

    # --- what is not in the tables yet --------------------------------------------------------

    def add(self, row: Row) -> None:
        """A forecast that has got its outcome, or never will."""
        self.rows[row[0], row[1]] = row
        if row[5] is not None:
            self.events.setdefault(row[5], {})[row[0]] = (row[0], row[1])

    def hand_over(self) -> Parcel:
        """All of it, to be written; it is found here until ``written`` is called with it."""
        parcel = self.ids, self.rows, self.events
        self._flying.append(parcel)
        self.ids, self.rows, self.events = {}, {}, {}
        return parcel

    def written(self, parcel: Parcel) -> None:
        """It is in the tables now."""
        self._flying = [other for other in self._flying if other is not parcel]

    def take_back(self, parcel: Parcel) -> None:
        """It could not be written, and waits again."""
        self.written(parcel)
        ids, rows, events = parcel
        self.ids, self.rows = ids | self.ids, rows | self.rows
        for name, own in self.events.items():
            events[name] = events.get(name, {}) | own
        self.events = events

    def forget(self, no: int) -> None:
        """A stream is no more."""
        for ids, rows, events in (*self._flying, (self.ids, self.rows, self.events)):
            for place in [place for place in rows if place[0] == no]:
                del rows[place]
            for own in events.values():
                own.pop(no, None)
            for name in [name for name, place in ids.items() if place[0] == no]:
                del ids[name]

    def _parts(self) -> Iterable[Parcel]:
        return (self.ids, self.rows, self.events), *self._flying

    # --- lookups ------------------------------------------------------------------------------

    def find_ids(self, names: Collection[str]) -> dict[str, Place]:
        """Where the forecasts of these clients' ids are; those that nobody used are left out."""
        found: dict[str, Place] = {}
        missing = []
        for name in names:
            for ids, _, _ in self._parts():
                if name in ids:
                    found[name] = ids[name]
                    break
            else:
                missing.append(name)
        if missing:
            query = "SELECT id, stream, n FROM ids WHERE id IN (SELECT value FROM json_each(?))"
            for name, stream, n in self._tables.execute(query, (json.dumps(missing),)):
                found[name] = (stream, n)
        return found

    def find_row(self, place: Place) -> Row | None:
        """What became of a forecast; None if it waits, or was never made."""
        for _, rows, _ in self._parts():
            if place in rows:
                return rows[place]
        query = "SELECT * FROM history WHERE stream = ? AND n = ?"
        row: Row | None = self._tables.execute(query, place).fetchone()
        return row

    def find_events(self, names: Collection[str]) -> dict[tuple[int, str], Place]:
        """Events of these names that have their outcome: (stream, name) ↦ one of its forecasts."""
        wanted = set(names)
        found: dict[tuple[int, str], Place] = {}
        if wanted:
            query = (
                "SELECT stream, event, n FROM history "
                "WHERE event IN (SELECT value FROM json_each(?))"
            )
            for stream, event, n in self._tables.execute(query, (json.dumps(list(wanted)),)):
                found[stream, event] = (stream, n)
            for _, _, events in self._parts():
                for name in wanted.intersection(events):
                    found.update({(no, name): place for no, place in events[name].items()})
        return found

    def recent(self, no: int, count: int) -> list[Row]:
        """The last resolved forecasts of a stream, newest first."""
        query = "SELECT * FROM history WHERE stream = ? ORDER BY n DESC LIMIT ?"
        rows = {(row[0], row[1]): row for row in self._tables.execute(query, (no, count))}
        for _, own, _ in self._parts():
            rows.update({key: row for key, row in own.items() if key[0] == no})
        return [rows[key] for key in sorted(rows, reverse=True)[:count]]

    def page(self, after: Place, no: int | None, count: int) -> list[Row]:
        """Resolved forecasts behind this one, in the order of streams; only those in the tables."""
        where = "" if no is None else "AND stream = ?"
        query = f"SELECT * FROM history WHERE (stream, n) > (?, ?) {where} ORDER BY 1, 2 LIMIT ?"
        own = (*after, *(() if no is None else (no,)), count)
        return self._tables.execute(query, own).fetchall()

    def was_sent(self, token: str) -> bool:
        """Whether somebody outside was told of this alarm."""
        query = "SELECT 1 FROM sent WHERE alarm = ?"
        return self._tables.execute(query, (token,)).fetchone() is not None

    def last_deleted(self) -> int:
        """The largest number of a stream that was deleted, or 0."""
        query = "SELECT CAST(value AS INTEGER) FROM about WHERE name = 'deleted'"
        found = self._tables.execute(query).fetchone()
        return 0 if found is None else int(found[0])

    def all_streams(self) -> Iterable[Any]:
        """Rows of the tables, in the order of numbers."""
        return self._tables.execute("SELECT * FROM streams ORDER BY no")

    def all_specs(self) -> list[Any]:
        """Specs in the order of numbers."""
        query = "SELECT no, name, body, seed FROM specs ORDER BY no"
        return self._tables.execute(query).fetchall()


class Said(NamedTuple):
    """What models said, and what was answered, of a resolved forecast."""

    p: Any
    issued: Any
    mean: Any
    points: list[Any]
    weights: list[float]
    groups: list[str] | None = None
    """None where its spec has none."""
    declared: int | str | UnsetType = UNSET


def said_of(row: Row) -> Said:
    """Of a row of the history."""
    return Said(*_DECODE(row[7]))

"""All that a service knows, and the verbs that change it. For one thread: that of the writer.

Verbs come in two steps. ``prepare`` checks and computes; nothing that clients can see has changed.
When the entries of the journal are durable ``finish`` makes the change; if they could not be
written ``undo`` leaves no trace.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from fullswap.service import records
from fullswap.service.fleet import Fleet, pattern_of, run_length_of
from fullswap.service.index import Index
from fullswap.service.keeper import Keeper
from fullswap.service.limits import Limits
from fullswap.service.listing import Listing
from fullswap.service.messages import SpecBody
from fullswap.service.problems import Conflict, Refused
from fullswap.service.saving import Saving
from fullswap.service.storage import Journal
from fullswap.service.warming import warm

DEFAULT = "default"
"""The spec of streams that are asked for without one."""
MOST_UNSENT = 10_000
"""Alarms that are kept for whoever is to be told of them."""
CONTROL = frozenset(map(chr, (*range(32), 127)))
"""Characters that no name has."""
SURROGATE = re.compile("[\ud800-\udfff]")
"""Halves of characters, which cannot be written."""


class Engine(Listing):
    """Streams by name, fleets by spec, and what of them is in the tables.

    Parameters
    ----------
    folder : Path
        Where the tables are.
    journal : Journal
        Written by the caller; entries are deleted here when they are no longer needed.
    clock : callable
        Seconds since 1970. It may jump: times are shown, never reckoned with.
    """

    def __init__(
        self, folder: Path, journal: Journal, limits: Limits,
        clock: Callable[[], float] = time.time,
    ) -> None:  # fmt: skip
        self.limits, self.clock, self.journal = limits, clock, journal
        self.keeper = Keeper(folder / "streams.db")
        self.index = Index(folder / "streams.db")
        self.saving = Saving(self, journal)
        self.fleets: dict[int, Fleet] = {}
        self.specs_by_name: dict[str, Fleet] = {}
        self.places: dict[str, tuple[Fleet, int]] = {}
        """Name of a stream ↦ where it is."""
        self.by_no: dict[int, tuple[Fleet, int]] = {}
        self.next_no = 1
        self.where: dict[str, dict[int, None]] = {}
        """Name of an event ↦ numbers of the streams in which it waits."""
        self.unsent: dict[str, dict[str, Any]] = {}
        """Alarms that nobody outside was told of."""
        self.counts = {"forecasts": 0, "outcomes": 0, "refused": 0, "alarms": 0}
        self.started, self.recovered = clock(), 0

    def abandon(self) -> None:
        """Close the tables as they are; the journal has the rest."""
        self.keeper.close()
        self.index.close()

    # --- names ----------------------------------------------------------------------------------

    def check_name(self, what: str, name: str) -> str:
        """A name of a stream, event, spec or forecast."""
        fits = 0 < len(name) <= self.limits.name and CONTROL.isdisjoint(name)
        if not fits or not (name.isascii() or SURROGATE.search(name) is None):
            shown = name if len(name) <= 40 else f"{name[:40]}… ({len(name)} characters)"
            raise Refused(
                f"bad-{what}",
                f"{what} must have 1 to {self.limits.name} characters, none of them a control "
                f"character or half of one, got {shown!r}",
            )
        return name

    def stream_of(self, name: str, spec: str | None, now: float) -> tuple[Fleet, int]:
        """Where a stream is; it begins if it is new."""
        found = self.places.get(name)
        if found is not None:
            if spec is not None and spec != found[0].name:
                raise Refused("conflict", f"stream {name!r} has the spec {found[0].name!r}, "
                              f"got {spec!r}")  # fmt: skip
            return found
        fleet = self.specs_by_name.get(DEFAULT if spec is None else spec)
        if fleet is None:
            raise Refused("unknown-spec", f"spec must be one that was put before, got {spec!r}")
        self.check_name("stream", name)
        if len(self.places) >= self.limits.streams:
            raise Refused("too-many-streams",
                          f"a service has at most {self.limits.streams} streams")  # fmt: skip
        self.begin(fleet, self.next_no, name, now)
        return self.places[name]

    def begin(self, fleet: Fleet, no: int, name: str, created: float) -> int:
        """A blank stream of this number and name; its place."""
        place = fleet.add(no, name, created)
        self.places[name] = self.by_no[no] = (fleet, place)
        self.next_no = max(self.next_no, no + 1)
        return place

    # --- specs ----------------------------------------------------------------------------------

    def put_spec(self, name: str, body: SpecBody) -> tuple[bool, dict[str, Any]]:
        """Name a kind of stream: whether it is new, and what it is."""
        self.check_name("spec", name)
        pattern_of(body)
        length, tolerance = run_length_of(body), body.tolerance
        if length is not None and not 1 < length <= 1e15:
            raise ValueError(f"monitor must be true, false or above 1, got {body.monitor}")
        if not 0 <= tolerance <= 1:
            raise ValueError(f"tolerance must lie in [0, 1], got {tolerance}")
        body = msgspec.structs.replace(body, forecaster=body.forecaster.lower())
        known = self.specs_by_name.get(name)
        if known is not None:
            if known.body != body:
                raise Conflict(
                    f"spec {name!r} is there already, with other settings: specs never change; "
                    "take another name"
                )
            return False, self.spec_view(known)
        warm(body)
        fleet = Fleet(max(self.fleets, default=0) + 1, name, body)
        row = (fleet.no, name, msgspec.json.encode(body).decode(), str(fleet.seed))
        self.keeper.submit(lambda tables: tables.execute(
            "INSERT INTO specs VALUES (?, ?, ?, ?)", row)).result()  # fmt: skip
        self.add_fleet(fleet)
        return True, self.spec_view(fleet)

    def add_fleet(self, fleet: Fleet) -> None:
        """Streams of this spec may begin."""
        self.fleets[fleet.no] = self.specs_by_name[fleet.name] = fleet

    # --- recovery ---------------------------------------------------------------------------------

    def recover(self) -> int:
        """Read the tables, then do again what the journal says: how many entries."""
        saved = self.saving.load()
        if DEFAULT not in self.specs_by_name:
            self.put_spec(DEFAULT, SpecBody())
        entries = [(seq, body) for seq, body in self.journal.read()]
        gone: dict[int, list[str]] = {}
        for _, body in entries:
            entry = records.decode(body)
            if isinstance(entry, records.Deleted):
                gone[entry.no] = []
                self.next_no = max(self.next_no, entry.no + 1)
        for seq, body in entries:
            self.saving.redo(seq, records.decode(body), saved, gone)
        for token in [token for token in self.unsent if self.index.was_sent(token)]:
            del self.unsent[token]
        self.recovered = len(entries)
        return self.recovered

    # --- small changes ----------------------------------------------------------------------------

    def delete(self, name: str) -> bool:
        """Forget a stream and all that was written of it; whether there was one."""
        found = self.places.get(name)
        if found is None:
            return False
        no = found[0].nos[found[1]]
        self.saving.delete(no, self.journal.append([records.encode(records.Deleted(no))]))
        return True

    def forget_event(self, event: str, no: int) -> None:
        """An event waits no longer in this stream."""
        own = self.where.get(event, {})
        own.pop(no, None)
        if not own:
            self.where.pop(event, None)

    def acknowledge(self, name: str) -> bool:
        """Somebody has seen the alarm of a stream; whether there was one."""
        found = self.places.get(name)
        if found is None or self.watch_row(*found)["alarm"] is None:
            return False
        fleet, place = found
        now, no = self.clock(), fleet.nos[place]
        seq = self.journal.append([records.encode(records.Acknowledged(now, no))])
        self.saving.touch(no, seq)
        return fleet.watch.acknowledge(place, now)

    # --- alarms for others ------------------------------------------------------------------------

    def note_alarm(self, fleet: Fleet, place: int, alarm: dict[str, Any]) -> None:
        """An alarm has begun."""
        self.counts["alarms"] += 1
        token = f"{fleet.nos[place]}:{alarm['at']}"
        self.unsent[token] = {**alarm, "id": token, "stream": fleet.names[place]}
        while len(self.unsent) > MOST_UNSENT:  # nobody listens, or has not for long
            del self.unsent[next(iter(self.unsent))]

    def alarms_to_send(self) -> list[dict[str, Any]]:
        """Alarms that nobody outside was told of yet, oldest first."""
        return list(self.unsent.values())

    def alarms_sent(self, tokens: list[Any]) -> None:
        """These need not be told again."""
        own = [(str(token),) for token in tokens]
        self.keeper.submit(lambda tables: tables.executemany(
            "INSERT OR IGNORE INTO sent VALUES (?)", own)).result()  # fmt: skip
        for (token,) in own:
            self.unsent.pop(token, None)

"""Monitors of many streams over one array: one row a stream."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.amounts import counted
from fullswap.base.files import write_text
from fullswap.base.keys import Keyed, event_name, event_names, key_of, plain_key
from fullswap.base.protocols import Points, Vector
from fullswap.checking.evidence_inputs import NO_WEIGHTS, probabilities_of
from fullswap.checking.monitor import Monitor
from fullswap.checking.monitor_alarm import Alarm, note
from fullswap.checking.monitor_events import (
    Batch,
    Settled,
    Waiting,
    refuse_settled,
    remember,
    sort_rows,
    waiting_of,
)
from fullswap.checking.monitor_state import (
    BETS_VERSION,
    read_alarms,
    read_row,
    read_settings,
    read_settled,
    read_waiting,
    write_settings,
    write_settled,
    write_waiting,
)
from fullswap.forecasting.state import pack, pack_row, unpack
from fullswap.kernels.evidence import ALARMS, NOW, NOW_SCALE, NUMBER, RANG_AT, STEP_LOG

FIELDS = frozenset({"bets", "settings", "streams"})
"""Of a saved state."""
GROWTH = 1.25
"""How much more memory is taken when the rows are full."""


class MonitorBank(Keyed):
    """A monitor for each of many keys: a model, a market, a customer.

    ``bank[key]`` is the monitor that the events of this key alone would have made.

    Parameters
    ----------
    pattern : Monitor
        One without events: what every stream begins as.

    Examples
    --------
    >>> bank = MonitorBank(Monitor(run_length=10_000))
    >>> bank.update(["north", "south", "north"], [1, 0, 1], [0.8, 0.3, 0.7])
    >>> len(bank), bank["north"].events
    (2, 2)
    """

    def __init__(self, pattern: Monitor) -> None:
        checks.instance("pattern", pattern, Monitor, "a Monitor")
        if pattern.events or pattern.pending:
            checks.refuse("pattern", "be a monitor without events", pattern)
        self._settings = pattern._settings
        self._blank: Vector = pattern._row.copy()
        self._state: Points = np.zeros((0, len(self._blank)))
        self._places: dict[Any, int] = {}
        self._waiting: dict[int, Waiting] = {}
        self._settled: dict[int, Settled] = {}
        self._alarms: dict[int, list[Alarm]] = {}
        self._rang: set[int] = set()

    # --- streams ----------------------------------------------------------------------------------

    @property
    def run_length(self) -> float:
        """Events of a stream between two of its false alarms, at least, on average."""
        return self._settings.run_length

    @property
    def nbytes(self) -> int:
        """Memory of all rows."""
        return self._state.nbytes

    def __getitem__(self, key: Any) -> Monitor:
        """A monitor that goes on from where this stream is; the bank does not follow it."""
        place = self._place(key)
        monitor = object.__new__(Monitor)
        monitor._settings = self._settings
        monitor._begin(self._state[place : place + 1].copy())
        monitor._waiting = {name: list(h) for name, h in self._waiting.get(place, {}).items()}
        monitor._settled = {0: dict(self._settled[place])} if place in self._settled else {}
        monitor._alarms = list(self._alarms.get(place, []))
        monitor._rang = place in self._rang
        return monitor

    def _place(self, key: Any) -> int:
        try:
            return self._places[key]
        except (KeyError, TypeError):
            raise KeyError(f"no stream has the key {key!r}") from None

    def _new(self, keys: list[Any]) -> list[Any]:
        """Those that no stream has yet, checked."""
        try:
            new = [key for key in dict.fromkeys(keys) if key not in self._places]
        except TypeError:
            checks.refuse("keys", "be texts, numbers, or tuples of such", keys)
        for key in new:
            key_of(plain_key(key))
        return new

    def _add(self, keys: list[Any]) -> None:
        """Blank rows for these keys, behind the others."""
        first, need = len(self), len(self) + len(keys)
        if need > len(self._state):
            state = np.empty((max(need, int(GROWTH * len(self._state))), len(self._blank)))
            state[:first] = self._state[:first]
            self._state = state
        self._state[first:need] = self._blank
        self._places.update(zip(keys, range(first, need), strict=True))

    # --- the verbs --------------------------------------------------------------------------------

    def update(
        self, keys: Sequence[Any], y: Any, p: Any, *, event: Any = None, weight: Any = None
    ) -> None:
        """``Monitor.update`` with arrays, and keys first: events of all streams, in order.

        The same numbers as if every stream were watched alone. The same name of an event in two
        streams is two events.
        """
        own, table, weights = self._settings.rows(y, p, weight)
        listed = _listed(keys)
        checks.same_length("keys", listed, "p", len(table))
        names = event_names(event, len(own))
        new = self._new(listed)
        places = self._places
        if new:  # they become streams when all else has been checked
            places = places | dict(zip(new, range(len(self), len(self) + len(new)), strict=True))
        streams = np.fromiter(map(places.__getitem__, listed), np.int64, len(listed))
        batch = sort_rows(own, table, weights, streams, names, self._waiting)
        refuse_settled(batch, self._settled)
        self._add(new)
        self._take(batch)

    def expect(
        self, keys: Sequence[Any], p: Any, *, event: Sequence[Any], weight: Any = None
    ) -> None:
        """Note forecasts whose outcomes come later, by ``resolve``; each has an event."""
        table = probabilities_of(p, self._settings.classes)
        names = event_names(event, len(table))
        if names is None or None in names:
            checks.refuse("event", "name an event for each forecast", event)
        self.update(keys, np.full(len(table), np.nan), p, event=names, weight=weight)

    def resolve(self, keys: Sequence[Any], events: Sequence[Any], y: Any) -> None:
        """Take the outcomes of events of these streams, in the given order.

        All are checked before any enters.
        """
        listed, names = _listed(keys), [event_name(name) for name in _listed(events)]
        checks.same_length("events", names, "keys", len(listed))
        values = [self._settings.outcome(value) for value in _listed(y)]
        checks.same_length("y", values, "keys", len(listed))
        places = [self._place(key) for key in listed]
        held = [
            waiting_of(self._waiting.get(place, {}), name)
            for place, name in zip(places, names, strict=True)
        ]
        tokens = list(zip(places, names, strict=True))
        if len(set(tokens)) < len(tokens):
            checks.refuse("events", "be distinct", events)
        sizes = [len(rows) for rows in held]
        more = np.array([row for rows in held for row in rows]).reshape(sum(sizes), -1)
        weights = NO_WEIGHTS if (more[:, :1] == 1).all() else np.ascontiguousarray(more[:, 0])
        self._take(
            Batch(
                np.repeat(values, sizes), np.ascontiguousarray(more[:, 1:]), weights,
                np.repeat(np.array(places, np.int64), sizes), np.arange(len(more)),
                np.cumsum([0, *sizes]), tokens, [], tokens,
            )
        )  # fmt: skip

    def drop(self, *, key: Any, event: Any) -> None:
        """The outcome of this event will never come: forget its forecasts."""
        place = self._place(key)
        waiting_of(self._waiting.get(place, {}), event)
        self._forget(place, event_name(event))

    def _forget(self, place: int, name: Any) -> None:
        del self._waiting[place][name]
        if not self._waiting[place]:
            del self._waiting[place]

    def _take(self, batch: Batch) -> None:
        remember(batch, self._settled)
        for place, name in batch.settled:
            self._forget(place, name)
        for place, name, forecast in batch.added:
            self._waiting.setdefault(place, {}).setdefault(name, []).append(forecast)
        self._rang -= set(np.unique(batch.streams).tolist())
        done = 0
        while done < len(batch):
            done = self._settings.run(self._state, batch, done)
            place = batch.stream_of(done - 1)
            row = self._state[place]
            if row[RANG_AT] == row[NUMBER]:  # the alarm rang with the event that came last
                own = self._alarms.setdefault(place, [])
                note(own, Alarm.of_row(row, self._settings.classes, self.run_length))
                self._rang.add(place)

    # --- what they say ----------------------------------------------------------------------------

    @property
    def pending(self) -> list[tuple[Any, Any]]:
        """Key and event of all outcomes that are awaited, stream by stream."""
        keys = list(self._places)
        return [(keys[place], name) for place, held in self._waiting.items() for name in held]

    def alarms(self) -> list[tuple[Any, Alarm]]:
        """Key and alarm, stream by stream; of each stream the latest last."""
        keys = list(self._places)
        return [(keys[k], alarm) for k in sorted(self._alarms) for alarm in self._alarms[k]]

    def log10_evidence(self) -> dict[Any, float]:
        """log10 of the e-value of every stream, now."""
        rows = self._state[: len(self)]
        values = np.log10(rows[:, NOW]) + rows[:, NOW_SCALE] * STEP_LOG
        return dict(zip(self._places, values.tolist(), strict=True))

    def evidence(self) -> dict[Any, float]:
        """The e-value of every stream, now."""
        return {key: self[key].evidence for key in self._places}

    # --- saved state ------------------------------------------------------------------------------

    def to_json(self) -> str:
        """The whole state as JSON, forecasts that wait included."""
        streams = [
            [
                plain_key(key), pack_row(self._state[place]),
                write_waiting(self._waiting.get(place, {})),
                [alarm.to_list() for alarm in self._alarms.get(place, [])], place in self._rang,
                write_settled(self._settled.get(place, {})),
            ]
            for key, place in self._places.items()
        ]  # fmt: skip
        settings = write_settings(self._settings)
        return pack("MonitorBank", {"bets": BETS_VERSION, "settings": settings, "streams": streams})

    @classmethod
    def from_json(cls, text: str | bytes) -> MonitorBank:
        """The bank that ``to_json`` wrote: every stream goes on as if nothing had happened."""
        stored = unpack("MonitorBank", text, FIELDS)
        self = cls(Monitor(**read_settings(stored)))
        if not isinstance(stored["streams"], list):
            checks.refuse("streams", "be a list", stored["streams"])
        rows: list[Vector] = []
        for entry in stored["streams"]:
            if not isinstance(entry, list) or len(entry) != 6:
                checks.refuse(
                    "streams", "be [key, row, pending, alarms, rang, settled] each", entry
                )
            key, place = key_of(entry[0]), len(rows)
            if key in self._places:
                checks.refuse("streams", "have distinct keys", key)
            self._places[key] = place
            rows.append(read_row(entry[1], self._settings))
            waiting = read_waiting(entry[2], self._settings.classes)
            alarms = read_alarms(entry[3])
            rings = sum(alarm.rings for alarm in alarms)
            if not isinstance(entry[4], bool) or rings > rows[-1][ALARMS]:
                checks.refuse("alarms", "fit the row", len(alarms))
            if waiting:
                self._waiting[place] = waiting
            if alarms:
                self._alarms[place] = alarms
            if entry[5] != []:
                self._settled[place] = read_settled(entry[5])
            if entry[4]:
                self._rang.add(place)
        self._state = np.array(rows).reshape(len(rows), len(self._blank))
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file; a crash in the middle leaves the old one."""
        write_text(path, self.to_json(), private=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> MonitorBank:
        """The bank that ``save`` wrote."""
        return cls.from_json(Path(path).read_text(encoding="utf-8"))

    def __reduce__(self) -> tuple[Any, ...]:
        return MonitorBank.from_json, (self.to_json(),)

    def __repr__(self) -> str:
        return f"MonitorBank(run_length={self.run_length:g}; {counted(len(self), 'stream')})"


def _listed(values: Any) -> list[Any]:
    """Entries one after the other, as plain values."""
    return values.tolist() if isinstance(values, np.ndarray) else list(values)

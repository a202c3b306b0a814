"""Which rows are forecast, which bring outcomes, and in what order these are learnt.

Rows come key by key, each key in the order in which it is played. What a row does depends on what
it has, and on whether a forecast with its id waits:

============  =======  ==================  =====================================================
probability   outcome  id waits            what happens, and the status of the row
============  =======  ==================  =====================================================
yes           yes      no, or has no id    forecast and learnt at once: learnt
yes           no       no                  forecast, waits for its outcome: forecast
yes           no       has no id           forecast, never learnt: forecast
yes           no       yes                 the forecast that waits, once more: known
yes or no     yes      yes                 the forecast that waits learns the outcome: learnt
no            yes      no, or has no id    nothing to learn from: unknown
============  =======  ==================  =====================================================

All others are refused: neither of the two, no key, no time, or a value that is none. A forecast
that has waited too long is dropped just before the first row of its key that is so much later: the
clock of a key is that of its own rows, so that nothing depends on when, or in how many parts, rows
are handed over. What is never learnt counts as an event of weight 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullswap.base.protocols import Indices
from fullswap.online.tickets import Forecast

STATUS = ("forecast", "learnt", "known", "unknown", "refused")
FORECAST, LEARNT, KNOWN, UNKNOWN, REFUSED = range(5)
NEVER = -1
"""In place of the row that brings an outcome."""
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Events:
    """n rows of some keys, key by key; what is refused is neither forecast nor an outcome."""

    keys: list[Any]
    places: Indices
    """(n,): whose row it is, as a place among the keys; it never falls."""
    times: NDArray[Any]
    """(n,), not falling within a key."""
    forecast: Flags
    """(n,): rows with a probability."""
    outcome: Flags
    """(n,): rows with an outcome."""
    contexts: Any
    """What models say, (n, …); None for forecasters without models."""
    outcomes: Any
    """(n,) or (n, K), as compiled code reads them; anything where there is none."""
    ids: Indices
    """(n,): places among the names, -1 where there is no id."""
    names: list[Any]


class Waiting(NamedTuple):
    """A forecast that waits for its outcome."""

    ticket: Forecast
    time: Any
    issued: Any
    mean: Any


Held = dict[tuple[int, Any], Waiting]
"""Forecasts that wait, by place of the key and id."""


@dataclass(frozen=True)
class Plan:
    """What a run of n rows is to do. A source is a row, or −1 − k for the k-th that waited already.

    Attributes
    ----------
    rows : (T,) array
        The rows that are forecast.
    learns, brings, moments : (L,) arrays
        What is learnt, in this order: sources, the rows that bring the outcomes, and how many
        rows have been forecast by then.
    sources, status : (n,) arrays
        Whose forecast a row shows, and what became of it.
    waiting : dict
        Sources that wait in the end, by place of the key and id.
    """

    rows: Indices
    learns: Indices
    brings: Indices
    moments: Indices
    sources: Indices
    status: NDArray[np.int8]
    waiting: dict[tuple[int, Any], int]

    @property
    def late(self) -> bool:
        """Whether something waits, or is not learnt before the next row is forecast."""
        at_once = len(self.learns) == len(self.rows) and (self.learns == self.rows).all()
        in_time = at_once and (self.moments == np.arange(1, len(self.rows) + 1)).all()
        return bool(self.waiting) or not in_time


def plan_of(events: Events, held: Held, expire: Any = None) -> Plan:
    """``held`` has what waits already; ``expire`` says how long it may, None: for ever."""
    gives, brings, every = events.forecast, events.outcome, np.arange(len(events.places))
    status = np.full(len(every), REFUSED, np.int8)
    status[brings] = UNKNOWN
    status[gives] = np.where(brings[gives], LEARNT, FORECAST)
    match = _Match(events, held, expire)
    match.go_through(_rows_to_match(events, held))
    match.expire()
    sources = every.copy()
    for row, source, learnt in match.shown:
        sources[row], status[row] = source, LEARNT if learnt else KNOWN
    made = gives & (sources == every)
    at_once = np.flatnonzero(made & (brings | (events.ids < 0)))
    own = at_once, np.where(brings[at_once], at_once, NEVER), at_once, np.full(len(at_once), AFTER)
    late = np.array(match.learnt, np.int64).reshape(-1, 4)
    learns, bringing, when, turn = np.concatenate((np.column_stack(own), late)).T
    order = np.lexsort((turn, when))
    # by the row at which it is learnt, that row included unless it comes before it
    moments = np.cumsum(made)[when] - (made[when] & (turn == BEFORE))
    return Plan(
        np.flatnonzero(made), learns[order], bringing[order], moments[order], sources, status,
        match.waiting,
    )  # fmt: skip


BEFORE, AFTER = 0, 1
"""Whether something is learnt just before a row is forecast or after it."""


def _rows_to_match(events: Events, held: Held) -> list[int]:
    """Rows with an id that more rows may have, or for which a forecast waits."""
    if not events.names:
        return []
    gives, brings = events.forecast, events.outcome
    named = (gives | brings) & (events.ids >= 0)
    waited = {name for _, name in held}
    open_ids = np.fromiter((name in waited for name in events.names), bool, len(events.names))
    open_ids[events.ids[named & ~(gives & brings)]] = True
    rows: list[int] = np.flatnonzero(named & open_ids[events.ids]).tolist()
    return rows


class _Match:
    """Outcomes find their forecasts, row by row."""

    def __init__(self, events: Events, held: Held, expire: Any) -> None:
        self._events, self._expire = events, expire
        self._earlier = list(held.values())
        self.waiting = {own: -1 - k for k, own in enumerate(held)}
        self.shown: list[tuple[int, int, bool]] = []
        """Rows that show the forecast of another source, and whether they bring its outcome."""
        self.learnt: list[tuple[int, int, int, int]] = []
        """Sources, the rows that bring their outcomes, when, and before or after that row."""

    def go_through(self, rows: list[int]) -> None:
        """Match these rows, in the order in which they are played."""
        events, waiting = self._events, self.waiting
        places, codes = events.places[rows].tolist(), events.ids[rows].tolist()
        brings = events.outcome[rows].tolist()
        for row, place, code, outcome in zip(rows, places, codes, brings, strict=True):
            own = place, events.names[code]
            source = waiting.get(own)
            if source is not None and self._drop_by(own, source, row):
                source = None
            if source is not None:
                self.shown.append((row, source, outcome))
                if outcome:
                    self.learnt.append((source, row, row, AFTER))
                    del waiting[own]
            elif not outcome:
                waiting[own] = row

    def expire(self) -> None:
        """Drop what has waited too long by the last row of its key."""
        if self._expire is not None:
            ends = np.searchsorted(self._events.places, np.arange(len(self._events.keys)), "right")
            for own, source in list(self.waiting.items()):
                self._drop_by(own, source, int(ends[own[0]]) - 1)

    def _drop_by(self, own: tuple[int, Any], source: int, row: int) -> bool:
        """Drop a forecast that has waited too long by this row, at the first row where it has."""
        times = self._events.times
        if self._expire is None:
            return False
        most = (times[source] if source >= 0 else self._earlier[-1 - source].time) + self._expire
        if row < 0 or self._events.places[row] != own[0] or not times[row] > most:
            return False
        begin = int(np.searchsorted(self._events.places, own[0]))
        first = begin + int(np.searchsorted(times[begin : row + 1], most, "right"))
        self.learnt.append((source, NEVER, first, BEFORE))
        del self.waiting[own]
        return True

"""Whole arrays of events whose outcomes come late, through compiled code.

To be imported where it is used: it brings the compiled code of all kinds.

What is learnt is in the rows when compiled code returns, as in ``fullswap.online.loop``; what waits
is in arrays, from which ``tickets`` makes forecasts that wait as single ones do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fullswap.base.progress import Progress
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.kernels import events, replay
from fullswap.kernels.columns import LEVEL
from fullswap.online.loop import (
    NOTHING,
    STRETCH,
    Recorded,
    as_indices,
    due_rows,
    index_type,
    room_for,
)
from fullswap.online.pending import Pending
from fullswap.online.rows import Rows
from fullswap.online.tickets import Forecast

FEWEST = 64
"""Forecasts that can wait before more room is made."""


class Earlier(NamedTuple):
    """Outcomes that come in the course of a run, of forecasts that wait already; m of them."""

    streams: Indices
    """Whose forecasts, (m,)."""
    tickets: list[Forecast]
    outcomes: Any
    scales: Vector
    moments: Indices
    """How many rows of the run have been forecast by then, (m,)."""


class LateRun:
    """A run of T rows: what is due when, and what waits.

    Forecasts of earlier runs whose outcomes come are m rows before these, which are not forecast
    again.

    Parameters
    ----------
    rows : Rows
        The rows of all streams.
    streams : (T,) array
        Whose rows these are; empty for a single stream.
    moments : (T,) array
        As for ``due_rows``.
    waiting : mapping
        Forecasts that wait already, by stream.
    earlier : Earlier or None
        Those of them whose outcomes come; the others wait on.
    due : (D,) array or None
        In which order outcomes are learnt, where several come at one moment: rows of earlier
        forecasts first, then those of this run, with moments that do not fall. None: as for
        ``due_rows``.
    """

    def __init__(
        self, rows: Rows, streams: Indices, moments: Indices, waiting: Mapping[int, Pending],
        earlier: Earlier | None = None, due: Indices | None = None,
    ) -> None:  # fmt: skip
        self._rows, self._earlier = rows, earlier
        self._first = 0 if earlier is None else len(earlier.moments)
        if earlier is not None:
            moments = np.concatenate((earlier.moments, moments)) + self._first
            if len(rows) > 1:  # also where no row comes with these outcomes
                streams = np.concatenate((earlier.streams, streams))
            else:
                streams = np.zeros(len(moments) if len(streams) else 0, np.int64)
        self._streams, self._moments = streams, moments
        self._due = due_rows(moments) if due is None else due
        self._counts, self._crowds = np.zeros(len(rows.arena)), np.zeros(len(rows), np.int64)
        for stream, pending in waiting.items():
            begin = int(rows.start[stream])
            self._crowds[stream] = pending.crowd()
            for point, held in pending.held(int(rows.arena[begin + LEVEL])).items():
                self._counts[begin + point] = held
        self._slots = np.full(len(moments), -1, np.int64)
        self._pool: Points = np.zeros((0, rows.kind.encoded_length()))
        self._notes = np.zeros((0, replay.NOTES), np.int64)
        self._progress = np.array([self._first, 0, -1])
        self._make_places(max(FEWEST, self._first + 1))
        for t, ticket in enumerate(() if earlier is None else earlier.tickets):
            self._hold(t, ticket)

    def run(
        self, contexts: Any, outcomes: Any, scales: Vector, record: bool, progress: bool | None
    ) -> Recorded | None:
        """Forecast all rows and learn what is due; arguments as for ``run_events``."""
        kind, total, first = self._rows.kind, len(self._moments), self._first
        recorded = room_for(total if record else 0, kind)
        given = NOTHING if contexts is None else contexts
        results = np.ascontiguousarray(outcomes, dtype=np.float64)
        if self._earlier is not None:
            given, results, scales = _behind(self._earlier, given, results, scales)
        stop = -1
        with Progress(total, progress, "events") as bar:
            while stop < total:  # at least once: outcomes may come without rows
                stop = min(max(stop, first) + STRETCH, total)
                reason = None
                while reason != events.DONE:
                    reason, stream = self._stretch(given, results, scales, stop, recorded)
                    if reason == events.NO_ROOM:
                        self._refine(stream)
                        recorded = as_indices(recorded, index_type(kind))
                    elif reason == replay.FULL:
                        self._make_places(len(self._pool))
                bar.update(stop)
        indices, weights, issued = recorded
        return (indices[first:], weights[first:], issued[first:]) if record else None

    def _stretch(
        self, contexts: Any, outcomes: Any, scales: Vector, stop: int, recorded: Recorded
    ) -> tuple[int, int]:
        return self._rows.replay(
            self._streams,
            (
                contexts, outcomes, scales, self._moments, self._due, stop, self._counts,
                self._crowds, self._slots, self._pool, self._notes, self._progress, *recorded,
            ),
        )  # fmt: skip

    def tickets(self) -> list[tuple[int, Forecast]]:
        """The forecasts of this run that wait, each with its row."""
        kind, found = self._rows.kind, []
        for t in np.flatnonzero(self._slots[self._first :] >= 0).tolist():
            slot = int(self._slots[self._first + t])
            _, number, drawn, level, crowd = self._notes[slot].tolist()
            numbers = self._pool[slot].tolist()
            ticket = Forecast(kind, level, (number, drawn, *kind.decode(numbers, level)))
            ticket.crowd = crowd
            found.append((t, ticket))
        return found

    def answered(self) -> Indices:
        """Which of the earlier forecasts have learnt their outcome, as places among them."""
        return np.flatnonzero(self._slots[: self._first] < 0)

    # --- room ---------------------------------------------------------------------------------

    def _hold(self, t: int, ticket: Forecast) -> None:
        """Put a forecast that waits already into the next free place, as row t."""
        play = ticket._play
        numbers = self._rows.kind.encode(play)
        self._pool[t, : len(numbers)] = numbers
        self._notes[t] = t, ticket.id, play[1], ticket.level, ticket.crowd
        self._slots[t], self._progress[replay.FREE] = t, t + 1

    def _make_places(self, more: int) -> None:
        """Places for so many more forecasts; there is none that is free."""
        old = len(self._pool)
        notes = np.zeros((more, replay.NOTES), np.int64)
        notes[:, replay.ROW] = np.arange(old + 1, old + more + 1)
        notes[-1, replay.ROW] = -1
        self._pool = np.concatenate((self._pool, np.zeros((more, self._pool.shape[1]))))
        self._notes = np.concatenate((self._notes, notes))
        self._progress[replay.FREE] = old

    def _refine(self, stream: int) -> None:
        """Give a stream that is due its wider row; what is counted moves with the rows."""
        rows, kind = self._rows, self._rows.kind
        before, counts = rows.start.copy(), self._counts
        levels = rows.arena[before + LEVEL].astype(np.int64)
        sizes = np.array([kind.spec.levels[k].size(kind.spec.classes) for k in levels])
        rows.refine(stream)
        self._counts = np.zeros(len(rows.arena))
        events.relocate(counts, before, self._counts, rows.start, sizes)
        old, new, level = int(before[stream]), int(rows.start[stream]), int(levels[stream])
        held = counts[old : old + sizes[stream]]
        self._counts[new : new + len(held)] = 0.0
        self._counts[new + kind.places(level)] = held


def _behind(
    earlier: Earlier, contexts: Any, outcomes: Any, scales: Vector
) -> tuple[Any, Any, Vector]:
    """What comes with the rows of a run, behind those of earlier forecasts."""
    if len(scales) or (earlier.scales != 1.0).any():
        own = scales if len(scales) else np.ones(len(outcomes))
        scales = np.concatenate((earlier.scales, own))
    if contexts is not NOTHING:
        unread = np.zeros((len(earlier.moments), *contexts.shape[1:]))
        contexts = np.concatenate((unread, contexts))
    return contexts, np.concatenate((earlier.outcomes, outcomes)), scales

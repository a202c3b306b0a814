"""Whole arrays of events whose outcomes come late, through compiled code.

To be imported where it is used: it brings the compiled code of all kinds.

What is learnt is in the rows when compiled code returns, as in ``fullswap.online.loop``; what waits
is in arrays, from which ``tickets`` makes forecasts that wait as single ones do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
    widened,
)
from fullswap.online.pending import Pending
from fullswap.online.rows import Rows
from fullswap.online.tickets import Forecast

FEWEST = 64
"""Forecasts that can wait before more room is made."""


class LateRun:
    """A run of T rows: what is due when, and what waits.

    Parameters
    ----------
    rows : Rows
        The rows of all streams.
    streams : (T,) array
        Whose rows these are; empty for a single stream.
    moments : (T,) array
        As for ``due_rows``.
    waiting : mapping
        Forecasts that wait already, by stream; they wait on.
    """

    def __init__(
        self, rows: Rows, streams: Indices, moments: Indices, waiting: Mapping[int, Pending]
    ) -> None:
        self._rows, self._streams = rows, streams
        self._moments, self._due = moments, due_rows(moments)
        self._counts, self._crowds = np.zeros(len(rows.arena)), np.zeros(len(rows), np.int64)
        for stream, pending in waiting.items():
            begin = int(rows.start[stream])
            self._crowds[stream] = pending.crowd()
            for point, held in pending.held(int(rows.arena[begin + LEVEL])).items():
                self._counts[begin + point] = held
        self._slots = np.full(len(moments), -1, np.int64)
        self._pool: Points = np.zeros((0, rows.kind.encoded_length(rows.kind.width)))
        self._notes = np.zeros((0, replay.NOTES), np.int64)
        self._progress = np.array([0, 0, -1])
        self._make_places(FEWEST)

    def run(
        self, contexts: Any, outcomes: Any, scales: Vector, record: bool, progress: bool | None
    ) -> Recorded | None:
        """Forecast all rows and learn what is due; arguments as for ``run_events``."""
        kind, total = self._rows.kind, len(self._moments)
        recorded = room_for(total if record else 0, kind)
        given = NOTHING if contexts is None else contexts
        results = np.ascontiguousarray(outcomes, dtype=np.float64)
        stop = 0
        with Progress(total, progress, "events") as bar:
            while stop < total:
                stop = min(stop + STRETCH, total)
                reason = None
                while reason != events.DONE:
                    reason, stream = self._stretch(given, results, scales, stop, recorded)
                    if reason == events.NO_ROOM:
                        self._refine(stream)
                        recorded = as_indices(recorded, index_type(kind))
                    elif reason == events.NARROW:
                        width = 2 * recorded[0].shape[1]
                        kind.widen(width)
                        recorded = widened(recorded, kind, width)
                        self._widen_places(kind.encoded_length(width))
                    elif reason == replay.FULL:
                        self._make_places(len(self._pool))
                bar.update(stop)
        return recorded if record else None

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
        for t in np.flatnonzero(self._slots >= 0).tolist():
            slot = int(self._slots[t])
            _, number, drawn, level, crowd, size = self._notes[slot].tolist()
            numbers = self._pool[slot, : kind.encoded_length(size)].tolist()
            ticket = Forecast(kind, level, (number, drawn, *kind.decode(numbers, level)))
            ticket.crowd = crowd
            found.append((t, ticket))
        return found

    # --- room ---------------------------------------------------------------------------------

    def _make_places(self, more: int) -> None:
        """Places for so many more forecasts; there is none that is free."""
        old = len(self._pool)
        notes = np.zeros((more, replay.NOTES), np.int64)
        notes[:, replay.ROW] = np.arange(old + 1, old + more + 1)
        notes[-1, replay.ROW] = -1
        self._pool = np.concatenate((self._pool, np.zeros((more, self._pool.shape[1]))))
        self._notes = np.concatenate((self._notes, notes))
        self._progress[replay.FREE] = old

    def _widen_places(self, width: int) -> None:
        wider = np.zeros((len(self._pool), width))
        wider[:, : self._pool.shape[1]] = self._pool
        self._pool = wider

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

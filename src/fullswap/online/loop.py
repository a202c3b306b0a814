"""Whole arrays of events through the compiled loop, a stretch at a time.

What a stretch learns is in the rows when compiled code returns, all of it or nothing: no interrupt
can come between. So a run that is stopped leaves every stream after some event of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base.progress import Progress
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.base.records import Record
from fullswap.kernels import events
from fullswap.online.kind import Kind
from fullswap.online.rows import Rows
from fullswap.online.tickets import Forecast

STRETCH = 2**14
"""Events that are handed to compiled code at once: their arrays stay in the cache."""

Recorded = tuple[NDArray[np.signedinteger[Any]], Points, NDArray[np.signedinteger[Any]]]
"""Indices (T, 2), weights (T, 1) and drawn indices (T,), as places in the grid of all levels.

The weight is that of the first of two neighbours: the other has the rest. Of vectors: zeros (T, 1),
the vectors (T, K), declared classes (T,)."""


AfterStretch = Callable[[slice, Recorded], None]


def learnt_of(scales: Vector, part: slice) -> NDArray[np.bool_]:
    """Which events of a stretch were learnt: those of positive scale."""
    if not len(scales):
        return np.ones(part.stop - part.start, np.bool_)
    return scales[part] > 0


def record_of(kind: Kind, level: int, recorded: Recorded) -> Record:
    """Forecasts on one grid: that of this level, the finest that was reached."""
    return kind.record(level, recorded)


def recorded_of(kind: Kind, tickets: list[Forecast]) -> Recorded:
    """What a run writes down, of forecasts that were made one by one."""
    recorded = room_for(len(tickets), kind)
    for t, ticket in enumerate(tickets):
        kind.note(ticket._play, ticket.level, t, recorded)
    return recorded


def run_events(
    rows: Rows,
    streams: Indices,
    contexts: Any,
    outcomes: Any,
    scales: Vector,
    record: bool,
    progress: bool | None,
    watch: Callable[[slice], AfterStretch] | None = None,
) -> Recorded | None:
    """Forecast and learn events in the given order.

    ``streams`` (T,), or empty for a single stream; ``scales`` (T,), or empty if all are 1.
    ``watch`` is told of every stretch before it begins; what it gives back is called with the
    events that were run and their record.
    """
    kind, total = rows.kind, len(outcomes)
    recorded = room_for(total if record else 0, kind)
    with Progress(total, progress, "events") as bar:
        done = 0
        while done < total:
            part = slice(done, min(done + STRETCH, total))
            after = None if watch is None else watch(part)
            own = recorded
            if record:
                own = recorded[0][part], recorded[1][part], recorded[2][part]
            elif after is not None:
                own = room_for(part.stop - part.start, kind)
            count, reason, stream = rows.run(
                streams[part],
                (
                    NOTHING if contexts is None else contexts[part],
                    np.ascontiguousarray(outcomes[part], dtype=np.float64), scales[part], *own,
                ),
            )  # fmt: skip
            if after is not None:
                after(slice(done, done + count), (own[0][:count], own[1][:count], own[2][:count]))
            done += count
            if reason == events.NO_ROOM:
                rows.refine(stream)
                recorded = as_indices(recorded, index_type(kind))
            bar.update(done)
    return recorded if record else None


def due_rows(moments: Indices) -> Indices:
    """Rows whose outcomes are learnt in a log of T rows, in that order: at one moment by row.

    ``moments`` (T,): how many rows have been forecast by then; T + 1 where nothing is learnt.

    Examples
    --------
    >>> due_rows(np.array([3, 2, 4, 5]))
    array([1, 0, 2])
    """
    order = np.argsort(moments, kind="stable")
    return order[moments[order] <= len(moments)]


def peek_events(rows: Rows, streams: Indices, contexts: Any) -> Recorded:
    """What would be forecast in each of these events if it came next; no row changes.

    Nothing is drawn: each event is recorded with the first point of its support as the issued one.
    """
    kind, total = rows.kind, len(contexts)
    recorded, done = room_for(total, kind), 0
    while done < total:
        part = slice(done, min(done + STRETCH, total))
        own = recorded[0][part], recorded[1][part], recorded[2][part]
        rows.peek(streams[part], (contexts[part], *own))
        done = part.stop
    return recorded


NOTHING = np.zeros(0)
"""What comes with events, where nothing does."""


def index_type(kind: Kind) -> type[np.signedinteger[Any]]:
    """Small grids have small indices: a record costs what the memory for it costs."""
    return np.int16 if len(kind.kernel.grid) < 2**15 else np.int32


def room_for(total: int, kind: Kind) -> Recorded:
    """Blank arrays for what so many events are going to forecast."""
    own = index_type(kind)
    if kind.vectors:
        vectors = np.zeros((total, kind.spec.classes))
        return np.zeros((total, 1), own), vectors, np.zeros(total, own)
    return np.zeros((total, 2), own), np.zeros((total, 1)), np.zeros(total, own)


def as_indices(recorded: Recorded, own: type[np.signedinteger[Any]]) -> Recorded:
    """The same with indices of this type."""
    indices, weights, issued = recorded
    if indices.dtype == own:
        return recorded
    return indices.astype(own), weights, issued.astype(own)


def joined(parts: list[Recorded]) -> Recorded:
    """Records one after the other."""
    indices, weights, issued = zip(*parts, strict=True)
    return np.concatenate(indices), np.concatenate(weights), np.concatenate(issued)


def scattered(recorded: Recorded, rows: Indices) -> Recorded:
    """The same where entry k belongs to row ``rows[k]``, in the order of the rows."""
    back = np.argsort(rows)
    return recorded[0][back], recorded[1][back], recorded[2][back]

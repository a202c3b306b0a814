"""Whole arrays of events through the compiled loop, a stretch at a time.

What a stretch learns is in the rows when compiled code returns, all of it or nothing: no interrupt can
come between. So a run that is stopped leaves every stream after some event of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fullswap.base.progress import Progress
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.kernels import events
from fullswap.online.rows import Rows

STRETCH = 2**14
"""Events that are handed to compiled code at once: their arrays stay in the cache."""

Recorded = tuple[Indices, Points, Indices]
"""Indices (T, w), weights (T, w) and drawn indices (T,), as places in the grid of all levels."""


def run_events(
    rows: Rows,
    streams: Indices,
    contexts: Any,
    outcomes: Any,
    scales: Vector,
    record: bool,
    progress: bool | None,
    before: Callable[[slice], None] | None = None,
    after: Callable[[slice, Recorded], None] | None = None,
) -> Recorded | None:
    """Forecast and learn events in the given order.

    ``streams`` (T,), or empty for a single stream; ``scales`` (T,), or empty if all are 1.
    ``before`` and ``after`` are told of every stretch, whose record the latter receives.
    """
    kind, total = rows.kind, len(outcomes)
    recorded = _room(total if record else 0, kind.width)
    with Progress(total, progress, "events") as bar:
        done = 0
        while done < total:
            part = slice(done, min(done + STRETCH, total))
            if before is not None:
                before(part)
            kept = recorded
            if not record and after is not None:
                kept = _room(part.stop - part.start, recorded[0].shape[1])
            own = tuple(array[part] for array in recorded) if record else kept
            count, reason, stream = rows.run(
                streams[part],
                (
                    _NOTHING if contexts is None else contexts[part],
                    np.ascontiguousarray(outcomes[part], dtype=np.float64), scales[part], *own,
                ),
            )  # fmt: skip
            if after is not None and count:
                learnt = slice(done, done + count)
                after(learnt, tuple(array[:count] for array in own))  # type: ignore[arg-type]
            done += count
            if reason == events.NO_ROOM:
                rows.refine(stream)
            elif reason == events.NARROW:
                width = 2 * recorded[0].shape[1]
                kind.widen(width)
                recorded = _widened(recorded, width)
            bar.update(done)
    return recorded if record else None


_NOTHING = np.zeros(0)


def _room(total: int, width: int) -> Recorded:
    shape = (total, width)
    return np.zeros(shape, np.int32), np.zeros(shape), np.zeros(total, np.int32)


def _widened(recorded: Recorded, width: int) -> Recorded:
    indices, weights, issued = recorded
    wider = _room(len(issued), width)
    wider[0][:, : indices.shape[1]] = indices
    wider[1][:, : weights.shape[1]] = weights
    wider[2][:] = issued
    return wider

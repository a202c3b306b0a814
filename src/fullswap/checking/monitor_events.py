"""Rows of a call sorted into events, together with forecasts that wait for the same outcome."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.keys import event_name
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.checking.evidence_inputs import NO_ROWS, NO_WEIGHTS

Waiting = dict[Any, list[tuple[float, ...]]]
"""Name of an event ↦ its forecasts that wait: weight, then probabilities."""
Settled = dict[Any, None]
"""Names of events that have their outcome, the latest last."""
MOST_SETTLED = 1000
"""So many of them are remembered."""


@dataclass(frozen=True, eq=False)
class Batch:
    """What the compiled loop takes, and what becomes of the forecasts that wait."""

    y: Vector
    table: Points
    weights: Vector
    streams: Indices
    rows: Indices
    bounds: Indices
    settled: list[tuple[int, Any]]
    """Stream and name of events that have their outcome now."""
    added: list[tuple[int, Any, tuple[float, ...]]]
    """Stream, name and forecast of those that wait from now on."""
    named: list[tuple[int, Any]]
    """Stream and name of all events with a name that enter."""

    def __len__(self) -> int:
        """How many events enter."""
        return len(self.bounds) - 1 if len(self.bounds) else len(self.y)

    def stream_of(self, event: int) -> int:
        """The stream of an event, numbered in the order in which they enter."""
        if not len(self.streams):
            return 0
        last = int(self.rows[self.bounds[event + 1] - 1]) if len(self.bounds) else event
        return int(self.streams[last])


def sort_rows(
    y: Vector, table: Points, weights: Vector, streams: Indices, names: list[Any] | None,
    waiting: dict[int, Waiting],
) -> Batch:  # fmt: skip
    """Rows by event; y is NaN where the outcome is not known.

    An event enters where its last row of this call is. Rows without a name are events of their
    own, and left out while their outcome is not known.
    """
    if names is None:
        known = ~np.isnan(y)
        if not known.all():
            weights = weights[known] if len(weights) else weights
            streams = streams[known] if len(streams) else streams
            y, table = y[known], table[known]
        return Batch(y, table, weights, streams, NO_ROWS, NO_ROWS, [], [], [])
    groups: dict[Any, list[int]] = {}
    for t, name in enumerate(names):
        place = int(streams[t]) if len(streams) else 0
        groups.setdefault((t,) if name is None else (place, name), []).append(t)
    events, added = [], []
    for token, own in groups.items():
        values = {float(y[t]) for t in own if not math.isnan(y[t])}
        if len(values) > 1:
            checks.refuse("y", f"be the same in all rows of event {token[1]!r}", sorted(values))
        if values:
            events.append((own[-1], token, own, values.pop()))
        elif len(token) == 2:
            for t in own:
                weight = float(weights[t]) if len(weights) else 1.0
                added.append((*token, (weight, *table[t].tolist())))
    events.sort(key=lambda event: event[0])
    return _batch(events, added, table, weights, streams, waiting)


def _batch(
    events: list[Any], added: list[Any], table: Points, weights: Vector, streams: Indices,
    waiting: dict[int, Waiting],
) -> Batch:  # fmt: skip
    earlier: list[tuple[float, ...]] = []
    known: list[float] = []
    settled: list[tuple[int, Any]] = []
    rows: list[int] = []
    bounds = [0]
    outcomes = np.zeros(len(table))
    for _, token, own, value in events:
        if len(token) == 2:
            held = waiting.get(token[0], {}).get(token[1], [])
            rows.extend(range(len(table) + len(earlier), len(table) + len(earlier) + len(held)))
            earlier.extend(held)
            known.extend([value] * len(held))
            if held:
                settled.append(token)
        rows.extend(own)
        bounds.append(len(rows))
        outcomes[own] = value
    if earlier:
        more = np.array(earlier)
        weights = np.concatenate((weights if len(weights) else np.ones(len(table)), more[:, 0]))
        table = np.concatenate((table, more[:, 1:]))
        outcomes = np.concatenate((outcomes, known))
    if len(weights) and (weights == 1).all():
        weights = NO_WEIGHTS
    return Batch(
        outcomes, table, weights, streams, np.array(rows, np.int64), np.array(bounds, np.int64),
        settled, added, [token for _, token, _, _ in events if len(token) == 2],
    )  # fmt: skip


def one_event(name: Any, held: list[tuple[float, ...]], y: float) -> Batch:
    """An event all of whose forecasts wait."""
    more = np.array(held)
    weights = NO_WEIGHTS if (more[:, 0] == 1).all() else np.ascontiguousarray(more[:, 0])
    rows = np.arange(len(held), dtype=np.int64)
    return Batch(
        np.full(len(held), y), np.ascontiguousarray(more[:, 1:]), weights, NO_ROWS, rows,
        np.array([0, len(held)], np.int64), [], [], [(0, name)],
    )  # fmt: skip


def refuse_settled(batch: Batch, settled: dict[int, Settled]) -> None:
    """An outcome counts once: refuse events that have theirs already."""
    for place, name in [*batch.named, *((place, name) for place, name, _ in batch.added)]:
        if name in settled.get(place, {}):
            checks.refuse(
                "event", "be one without an outcome yet: its forecasts come in one call, or by "
                "expect() before it; another event needs another name", name,
            )  # fmt: skip


def remember(batch: Batch, settled: dict[int, Settled]) -> None:
    """Note the events that have entered."""
    for place, name in batch.named:
        own = settled.setdefault(place, {})
        own[name] = None
        if len(own) > MOST_SETTLED:
            del own[next(iter(own))]


def waiting_of(waiting: Waiting, event: Any) -> list[tuple[float, ...]]:
    """Forecasts of an event that wait, or a ValueError that names those that do."""
    name = event_name(event)
    if name not in waiting:
        checks.refuse("event", f"be one that waits ({_shown(waiting)})", event)
    return waiting[name]


def _shown(waiting: Waiting) -> str:
    names = [repr(name) for name in list(waiting)[:5]]
    return ", ".join(names) + (", …" if len(waiting) > 5 else "") if names else "none does"

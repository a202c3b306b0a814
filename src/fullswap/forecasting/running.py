"""Whole logs through one stream or many: at once, with late outcomes, or with events that return.

Every way gives the same numbers as the loop of ``predict``, ``update`` and ``resolve``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.keys import event_names
from fullswap.base.protocols import Indices, Vector
from fullswap.forecasting.contexts import event_of
from fullswap.forecasting.events import known_rows, moments_of, run_rows, values_of
from fullswap.forecasting.inputs import scales_of
from fullswap.online.loop import Recorded, recorded_of, run_events
from fullswap.online.pending import Pending
from fullswap.online.rows import Rows
from fullswap.online.stream import Stream, watch
from fullswap.online.tickets import Forecast


@dataclass(frozen=True)
class Log:
    """Rows of a run, checked; arrays have one entry a row."""

    contexts: Any
    """What models say; None where there are none."""
    outcomes: Any
    scales: Vector
    """No entries if all are 1."""
    names: list[Any] | None
    """The events; None where a row is an event of its own."""
    keys: list[Any] | None
    """Whose rows they are; None for a single stream."""
    known: Indices | None
    """When outcomes come, as by ``known_rows``; None: at once."""

    @classmethod
    def of(
        cls, contexts: Any, outcomes: Any, sample_weight: Any, max_weight: float, event: Any,
        known: Any, keys: list[Any] | None = None,
    ) -> Log:  # fmt: skip
        """Contexts and outcomes have been checked, the others have not."""
        scales = scales_of(sample_weight, len(outcomes), max_weight)
        names = event_names(event, len(outcomes))
        late = None if known is None else known_rows(known, outcomes)
        return cls(contexts, outcomes, scales, names, keys, late)

    def moments_if_events_return(self, waiting: Iterable[tuple[Any, Pending]]) -> Indices | None:
        """``moments_of``, where an event comes twice or waits already; else None.

        ``waiting``: what waits already, by key; None for a single stream.
        """
        if self.names is None:
            return None
        owners = [None] * len(self.names) if self.keys is None else self.keys
        try:
            own = [pair for pair in zip(owners, self.names, strict=True) if pair[1] is not None]
            met = set(own)
        except TypeError:
            checks.refuse("keys", "be texts, numbers, or tuples of such", self.keys)
        held = {(key, name) for key, pending in waiting for name in pending.known_events()}
        if len(met) == len(own) and met.isdisjoint(held):
            return None
        return moments_of(self.names, self.keys, self.outcomes, self.scales, self.known)


@dataclass(frozen=True)
class Home:
    """Where the rows of a log go."""

    rows: Rows
    places: Indices
    """The stream of each row of the log, as a place in ``rows``; empty for a single stream."""
    waiting: dict[int, Stream]
    """Streams that may have forecasts that wait, by place."""
    stream_at: Callable[[int], Stream]
    """The stream of a row of the log, in which forecasts may wait from now on."""


def run_log(
    log: Log, home: Home, moments: Indices | None, record: bool, progress: bool | None
) -> Recorded | None:
    """Forecast and learn all rows; ``moments`` if events return.

    What is stopped in the middle stays learnt, on the grid that is due, or waits.
    """
    try:
        if moments is not None:
            return _run_one_by_one(log, home, moments, record, progress)
        if log.known is not None:
            return _run_late(log, home, log.known, record, progress)
        held = {place: stream for place, stream in home.waiting.items() if stream.pending.tickets}
        return run_events(
            home.rows, home.places, log.contexts, log.outcomes, log.scales, record, progress,
            watch(held, home.places, log.scales),
        )  # fmt: skip
    except BaseException:
        for stream in home.waiting.values():
            stream.settle()
        raise


def _run_one_by_one(
    log: Log, home: Home, moments: Indices, record: bool, progress: bool | None
) -> Recorded | None:
    """A log in which events return: the loop of ``predict`` and ``resolve``."""
    values, names = values_of(log.outcomes), log.names or []

    def predict(t: int) -> Forecast:
        return home.stream_at(t).predict(event_of(log.contexts, t), names[t])

    def resolve(t: int, ticket: Forecast) -> None:
        stream = home.stream_at(t)
        own = [ticket] if names[t] is None else stream.pending.of_event(names[t])
        stream.resolve(own, values[t], float(log.scales[t]) if len(log.scales) else 1.0)

    tickets = run_rows(moments, predict, resolve, record, progress)
    return recorded_of(home.rows.kind, tickets) if record else None


def _run_late(
    log: Log, home: Home, known: Indices, record: bool, progress: bool | None
) -> Recorded | None:
    """A log in which outcomes come late and no event returns, in compiled code."""
    from fullswap.online.late import LateRun  # it brings the compiled code of all kinds

    held = {place: stream.pending for place, stream in home.waiting.items()}
    run = LateRun(home.rows, home.places, known, held)

    def wait() -> None:
        for t, ticket in run.tickets():
            stream = home.stream_at(t)
            ticket.key, ticket.event = stream.key, None if log.names is None else log.names[t]
            stream.pending.restore(ticket)

    try:
        recorded = run.run(log.contexts, log.outcomes, log.scales, record, progress)
        wait()
    except BaseException:
        wait()  # the same once more, if that was interrupted
        raise
    return recorded


NO_PLACES = np.zeros(0, np.int64)
"""Of a single stream."""

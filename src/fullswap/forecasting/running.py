"""Whole logs through one stream or many: at once, with late outcomes, or with events that return.

Every way gives the same numbers as the loop of ``predict``, ``update`` and ``resolve``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.keys import event_name, event_names
from fullswap.base.protocols import Indices, Vector
from fullswap.forecasting.contexts import event_of
from fullswap.forecasting.events import known_rows, moments_of, run_rows, values_of
from fullswap.forecasting.inputs import scales_of
from fullswap.online.grouped import pays, run_grouped
from fullswap.online.loop import Recorded, joined, recorded_of, run_events, scattered
from fullswap.online.pending import Pending
from fullswap.online.rows import Rows
from fullswap.online.stream import Stream, watch
from fullswap.online.tickets import Forecast


@dataclass(frozen=True)
class Answers:
    """Outcomes of events that wait already, which come in the course of a run.

    Parameters
    ----------
    events : sequence
        Their names; of a bank those of the events of ``keys``.
    outcomes : array
        One for each event.
    known : array of ints
        How many rows of the run have been forecast when the outcome becomes known, from 0 to T: it
        is learnt just before row ``known[i]``, and before outcomes of the run's own rows.
    keys : sequence or None
        Whose events they are, for a bank.
    sample_weight : array or None
        Weights of the events.
    """

    events: Any
    outcomes: Any
    known: Any
    keys: Any = None
    sample_weight: Any = None


@dataclass(frozen=True)
class Answered:
    """The same, checked: what is learnt in which stream, and when."""

    streams: list[Stream]
    names: list[Any]
    outcomes: Any
    scales: Vector
    moments: Indices

    @classmethod
    def of(
        cls, answers: Any, rows: int, find: Callable[[Any], Stream], outcomes: Callable[[Any], Any],
        max_weight: float, keyed: bool,
    ) -> Answered | None:  # fmt: skip
        """``find`` gives the stream of a key, ``outcomes`` checks outcomes; ``rows`` of the run."""
        if answers is None:
            return None
        if not isinstance(answers, Answers):
            checks.refuse("answers", "be Answers or None", answers)
        if keyed != (answers.keys is not None):
            rule = "be given for a bank" if keyed else "be left out for a single stream"
            checks.refuse("answers.keys", rule, answers.keys)
        values = np.ascontiguousarray(outcomes(answers.outcomes), dtype=np.float64)
        names = event_names(answers.events, len(values)) or [None] * len(values)
        keys = list(answers.keys) if keyed else [None] * len(names)
        checks.same_length("answers.keys", keys, "answers.events", len(names))
        known = checks.numbers("answers.known", answers.known)
        if known.shape != (len(names),):
            checks.refuse_shape("answers.known", f"({len(names)},)", known)
        whole = (known >= 0) & (known <= rows) & (known == np.floor(known))
        rule = f"be whole numbers of rows, from 0 to {rows}"
        checks.refuse_at("answers.known", rule, known, ~whole)
        streams = [find(key) for key in keys]
        for stream, name in zip(streams, names, strict=True):
            stream.pending.of_event(event_name(name))
        if len(set(zip(keys, names, strict=True))) < len(names):
            checks.refuse("answers.events", "be distinct", answers.events)
        scales = scales_of(answers.sample_weight, len(names), max_weight)
        scales = scales if len(scales) else np.ones(len(names))
        return cls(streams, names, values, scales, known.astype(np.int64))

    def tickets(self, k: int) -> list[Forecast]:
        """The forecasts that wait for an answer."""
        return self.streams[k].pending.of_event(self.names[k])


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
    answered: Answered | None
    """Outcomes of forecasts that wait already."""

    @classmethod
    def of(
        cls, contexts: Any, outcomes: Any, sample_weight: Any, max_weight: float, event: Any,
        known: Any, keys: list[Any] | None = None, answered: Answered | None = None,
    ) -> Log:  # fmt: skip
        """Contexts, outcomes and answers have been checked, the others have not."""
        scales = scales_of(sample_weight, len(outcomes), max_weight)
        names = event_names(event, len(outcomes))
        if answered is not None and known is None:
            known = np.arange(1, len(outcomes) + 1)
        late = None if known is None else known_rows(known, outcomes)
        if answered is not None and late is not None and names is not None:
            owners = keys or [None] * len(names)
            told = {(k, n) for k, n, t in zip(owners, names, late, strict=True) if t <= len(names)}
            for stream, name in zip(answered.streams, answered.names, strict=True):
                if (stream.key and stream.key[0], name) in told:
                    rule = "have no row with an outcome in the run itself"
                    checks.refuse("answers.events", rule, name)
        return cls(contexts, outcomes, scales, names, keys, late, answered)

    def moments_if_events_return(self, waiting: Iterable[tuple[Any, Pending]]) -> Indices | None:
        """``moments_of``, where an event comes twice or waits already; else None.

        ``waiting``: what waits already, by key; None for a single stream.
        """
        several = self.answered is not None and any(
            len(self.answered.tickets(k)) > 1 for k in range(len(self.answered.names))
        )
        if several:
            return moments_of(self.names, self.keys, self.outcomes, self.scales, self.known)
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
    log: Log, home: Home, moments: Indices | None, record: bool, progress: bool | None,
    threads: int | None = 1,
) -> Recorded | None:  # fmt: skip
    """Forecast and learn all rows; ``moments`` if events return, ``threads`` if none does.

    What is stopped in the middle stays learnt, on the grid that is due, or waits.
    """
    try:
        if moments is not None:
            return _run_one_by_one(log, home, moments, record, progress)
        if log.known is not None:
            return _run_late(log, home, log.known, record, progress)
        return _run_at_once(log, home, record, progress, threads)
    except BaseException:
        for stream in home.waiting.values():
            stream.settle()
        raise


def _run_at_once(
    log: Log, home: Home, record: bool, progress: bool | None, threads: int | None
) -> Recorded | None:
    """A log in which every outcome is known before the next row, in compiled code.

    Streams in which forecasts wait are watched, so their rows are run one after the other; all
    others stream by stream where that pays.
    """
    places, total = home.places, len(log.outcomes)
    held = {place: stream for place, stream in home.waiting.items() if stream.pending.tickets}
    watched = np.isin(places, list(held)) if held and len(places) else np.zeros(0, np.bool_)

    def run(where: Any, grouped: bool) -> Recorded | None:
        own = (
            places[where] if len(places) else places,
            None if log.contexts is None else log.contexts[where],
            log.outcomes[where],
            log.scales[where] if len(log.scales) else log.scales,
        )
        if grouped:
            return run_grouped(home.rows, *own, record, progress, threads)
        return run_events(home.rows, *own, record, progress, watch(held, own[0], own[3]))

    everywhere = slice(None)
    if not len(places) or not pays(home.rows, total - int(watched.sum()), threads):
        return run(everywhere, grouped=False)
    if not watched.any():
        return run(everywhere, grouped=True)
    rows = np.flatnonzero(watched), np.flatnonzero(~watched)
    first, second = run(rows[0], grouped=False), run(rows[1], grouped=True)
    if first is None or second is None:
        return None
    return scattered(joined([first, second]), np.concatenate(rows))


def _run_one_by_one(
    log: Log, home: Home, moments: Indices, record: bool, progress: bool | None
) -> Recorded | None:
    """A log in which events return: the loop of ``predict`` and ``resolve``."""
    values, names = values_of(log.outcomes), log.names or [None] * len(moments)

    def predict(t: int) -> Forecast:
        return home.stream_at(t).predict(event_of(log.contexts, t), names[t])

    def resolve(t: int, ticket: Forecast) -> None:
        stream = home.stream_at(t)
        own = [ticket] if names[t] is None else stream.pending.of_event(names[t])
        stream.resolve(own, values[t], float(log.scales[t]) if len(log.scales) else 1.0)

    answered, learnt = log.answered, 0
    order = np.zeros(0, np.int64) if answered is None else answered.moments.argsort(kind="stable")

    def answer(t: int) -> None:
        nonlocal learnt
        while answered is not None and learnt < len(order):
            k = int(order[learnt])
            if answered.moments[k] > t:
                break
            value = values_of(answered.outcomes[k : k + 1])[0]
            answered.streams[k].resolve(answered.tickets(k), value, float(answered.scales[k]))
            learnt += 1

    tickets = run_rows(moments, predict, resolve, record, progress, answer)
    return recorded_of(home.rows.kind, tickets) if record else None


def _run_late(
    log: Log, home: Home, known: Indices, record: bool, progress: bool | None
) -> Recorded | None:
    """A log in which outcomes come late and no event returns, in compiled code."""
    from fullswap.online.late import Earlier, LateRun  # it brings the compiled code of all kinds

    held = {place: stream.pending for place, stream in home.waiting.items()}
    earlier, answered = None, log.answered
    if answered is not None and answered.names:
        waited = [answered.tickets(k)[0] for k in range(len(answered.names))]
        places = np.array([stream.index for stream in answered.streams], np.int64)
        earlier = Earlier(places, waited, answered.outcomes, answered.scales, answered.moments)
    run = LateRun(home.rows, home.places, known, held, earlier)

    def wait() -> None:
        for k in run.answered().tolist():
            assert answered is not None
            pending, ticket = answered.streams[k].pending, waited[k]
            if ticket.id in pending.tickets:
                pending.remove(ticket.id, ticket)
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

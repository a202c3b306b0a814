"""Many classes by one binary stream each: any number of classes, a weaker guarantee."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

import numpy as np

from fullswap.base import checks
from fullswap.base.draws import Draws
from fullswap.base.keys import event_name, event_names
from fullswap.base.progress import Progress
from fullswap.base.protocols import Indices, Vector
from fullswap.certificates import Certificate
from fullswap.forecasting.base import OnlineForecaster
from fullswap.forecasting.binary import Forecaster
from fullswap.forecasting.contexts import Labels, are_many, contexts_of, event_of
from fullswap.forecasting.events import refuse_sibling, run_rows
from fullswap.forecasting.guarantees import explanation_of, first_certificate_of, sum_over_classes
from fullswap.forecasting.inputs import class_row, class_rows, labels_of, scale_of, scales_of
from fullswap.forecasting.one_vs_rest_state import parts_of, text_of
from fullswap.forecasting.recalibrator import Recalibrator
from fullswap.forecasting.running import Log
from fullswap.forecasting.vectors import OneVsRestForecast, OneVsRestRun, normalised
from fullswap.kernels.columns import NEXT_ID, ROUNDS
from fullswap.online.kinds import kind_of
from fullswap.online.loop import (
    STRETCH,
    Recorded,
    joined,
    peek_events,
    record_of,
    recorded_of,
    run_events,
)
from fullswap.online.pending import Pending
from fullswap.online.rows import Rows
from fullswap.online.spec import Spec
from fullswap.online.stream import Stream, is_fresh, watch
from fullswap.online.tickets import Forecast

LEAST_CLASSES, MOST_CLASSES = 2, 1000
NOT_GUARANTEED = (
    "each class's own forecasts are calibrated before they are normalised, which bounds nothing "
    "for the normalised vectors; certificates() has the guarantee of each class"
)


class OneVsRest:
    """Forecast events of many classes by a yes-or-no stream for each.

    Class k is a yes-or-no event with outcome y_k. Its issued forecasts are calibrated with the
    binary guarantee, and draw from a stream of their own. A vector is the K forecasts divided by
    their sum; uniform where all of them are 0.

    Guarantee: none for the normalised vectors; ``certificates()`` has one for each class.

    Parameters
    ----------
    classes : int or sequence
        Number of classes K, from 2 to 1000, or their names, which outcomes then have.
    pattern : Forecaster, Recalibrator or None
        A forecaster of yes-or-no events without events: what every class begins as. None: a
        ``Forecaster()``. A ``Recalibrator`` takes K probabilities of each model with every event.

    Examples
    --------
    >>> from fullswap import Forecaster
    >>> forecaster = OneVsRest(20, Forecaster(horizon=100, seed=1))
    >>> run = forecaster.run(np.arange(100) % 20)
    >>> run.issued.shape, forecaster.guarantee is None
    ((100, 20), True)
    >>> forecaster.certificates()[7].holds
    True
    """

    def __init__(
        self, classes: int | Sequence[Any], pattern: OnlineForecaster | None = None
    ) -> None:
        pattern = Forecaster() if pattern is None else pattern
        if not isinstance(pattern, Forecaster | Recalibrator) or pattern.spec.classes != 2:
            checks.refuse("pattern", "be a forecaster of yes-or-no events", pattern)
        if not is_fresh(pattern._stream.row) or pattern.pending:
            checks.refuse("pattern", "be a forecaster without events", pattern)
        count, labels = labels_of(classes, LEAST_CLASSES, MOST_CLASSES)
        self._adopt(count, pattern.spec, pattern._stream.draws.seed, labels)

    def _adopt(self, classes: int, spec: Spec, seed: int, labels: Labels | None) -> None:
        self._spec, self._seed, self._labels = spec, seed, labels
        self._rows = Rows(kind_of(spec), seed, list(range(classes)))
        self._parts = tuple(self._part(k) for k in range(classes))

    def _part(self, k: int) -> Stream:
        return Stream(self._rows, Draws(self._seed, k), Pending(), k, (k,))

    def add_class(self, label: Any = None) -> None:
        """One more class, behind the others; it begins without events, as something unheard of.

        To forecasts that wait it adds what it would have said of a class that no model expects.
        ``label`` is its name, where classes have names.
        """
        checks.whole("classes", self.classes + 1, LEAST_CLASSES, MOST_CLASSES)
        labels = self._labels
        if (labels is None) != (label is None):
            checks.refuse("label", "be given exactly where classes have names", label)
        if labels is not None:
            labels = labels_of((*labels, label), LEAST_CLASSES, MOST_CLASSES)[1]
        if len(self._rows) > self.classes:  # an interrupt came behind this
            self._rows.put(self.classes, self._rows.kind.blank)
        else:
            self._rows.add([self.classes])
        part, first = self._part(self.classes), self._parts[0]
        unheard = {0: None, 1: 0.0}.get(self._spec.models, np.zeros(self._spec.models))
        for ticket in first.pending:
            part.row[NEXT_ID] = ticket.id  # forecasts of all classes have one id
            part.predict(unheard, ticket.event)
        part.row[NEXT_ID] = first.row[NEXT_ID]
        self._labels, self._parts = labels, (*self._parts, part)

    @property
    def classes(self) -> int:
        """Number of classes K."""
        return len(self._parts)

    @property
    def labels(self) -> Labels | None:
        """Names of the classes, if they have any."""
        return self._labels

    @property
    def spec(self) -> Spec:
        """The kind of forecaster of each class, as plain data."""
        return self._spec

    @property
    def rounds(self) -> int:
        """Forecasts with an outcome so far."""
        return int(self._parts[0].row[ROUNDS])

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """All classes go through an event, or none: what breaks off is undone."""
        rows = self._rows.snapshot()
        waiting = [dict(part.pending.tickets) for part in self._parts]
        try:
            yield
        except BaseException:
            self._rows.restore(rows)
            for part, tickets in zip(self._parts, waiting, strict=True):
                part.pending.tickets, part.pending.index = tickets, None
            raise

    # --- the verbs --------------------------------------------------------------------------

    def predict(self, p: Any = None, *, event: Any = None) -> Any:
        """Forecast the next event, for which models, if any, say p (K,) or (models, K).

        ``event`` names it, if it is forecast again before its outcome is known. With one more axis,
        before these, many events are forecast from the present state: a list of forecasts.
        """
        if p is not None and are_many(p, self._spec.models, vectors=True):
            contexts = self._contexts(p)
            names = event_names(event, len(contexts)) or [None] * len(contexts)
            return [self._predict(contexts, t, name) for t, name in enumerate(names)]
        contexts = self._contexts(None if p is None else checks.numbers("p", p)[None])
        return self._predict(contexts, 0, None if event is None else event_name(event))

    def _predict(self, contexts: Any, t: int, event: Any) -> OneVsRestForecast:
        with self._whole():
            parts = tuple(
                part.predict(self._context(contexts, t, part.index), event) for part in self._parts
            )
        return OneVsRestForecast(parts)

    def peek(self, p: Any = None) -> Vector:
        """The normalised means of the next forecast; nothing is drawn and nothing changes."""
        contexts = self._contexts(None if p is None else checks.numbers("p", p)[None])
        mixtures = [part.peek(self._context(contexts, 0, part.index)) for part in self._parts]
        return normalised(np.array([float(m.weights @ m.points) for m in mixtures]))

    def peek_many(self, p: Any) -> OneVsRestRun:
        """What would be forecast in each of many events if it came next; nothing changes.

        ``p`` as for ``run``: there are models.
        """
        contexts = self._contexts(p)
        if contexts is None:
            checks.refuse("pattern", "be a Recalibrator where p differs from event to event", None)
        streams = np.tile(np.arange(self.classes), len(contexts))
        recorded = peek_events(self._rows, streams, _by_class(contexts))
        return self._run_of(recorded, drawn=False)

    def _run_of(self, recorded: Recorded, drawn: bool = True) -> OneVsRestRun:
        kind = self._rows.kind
        record = record_of(kind, kind.level_in_view(recorded[2]), recorded)
        return OneVsRestRun(record if drawn else replace(record, issued_indices=None), self.classes)

    def update(
        self, outcome: Any, forecast: Any = None, weight: float = 1.0, *, event: Any = None
    ) -> None:
        """Learn the outcome of a forecast, or of an event: a class, or K probabilities.

        ``forecast`` as for ``Forecaster.update``: one of them, its id, the name of an event that
        was forecast once, or a list of these with as many outcomes.
        """
        if event is not None:
            if forecast is not None:
                checks.refuse("forecast", "be left out where event is given", forecast)
            self.resolve(event, outcome, weight)
            return
        if isinstance(forecast, list):
            self._update_many(outcome, forecast, weight)
            return
        row = class_row(outcome, self.classes, self._labels)
        scale = scale_of(weight, self._spec.max_weight)
        tickets = self._tickets(forecast)
        refuse_sibling(tickets[0].for_key(None), self._parts[0].pending)
        self._learn([[ticket] for ticket in tickets], row, scale)

    def _update_many(self, outcomes: Any, forecasts: list[Any], weight: Any) -> None:
        found = [self._tickets(forecast) for forecast in forecasts]
        for tickets in found:
            refuse_sibling(tickets[0].for_key(None), self._parts[0].pending)
        if len({tickets[0].id for tickets in found}) < len(found):
            checks.refuse("forecast", "be a list of distinct forecasts", forecasts)
        table = class_rows(outcomes, self.classes, labels=self._labels)
        checks.same_length("forecast", found, "outcome", len(table))
        weights = [weight] * len(found) if np.ndim(weight) == 0 else weight
        scales = scales_of(weights, len(found), self._spec.max_weight).tolist()
        for tickets, row, scale in zip(found, table, scales, strict=True):
            self._learn([[ticket] for ticket in tickets], row, scale)

    def resolve(self, event: Any, outcome: Any, weight: float = 1.0) -> None:
        """Learn the outcome of an event: all its forecasts at once, which count as one."""
        row = class_row(outcome, self.classes, self._labels)
        scale = scale_of(weight, self._spec.max_weight)
        self._learn(self._of_event(event_name(event)), row, scale)

    def _learn(self, tickets: list[list[Forecast]], row: Vector, scale: float) -> None:
        with self._whole():
            for part, own, value in zip(self._parts, tickets, row.tolist(), strict=True):
                part.resolve(own, value, scale)

    def is_pending(self, event: Any) -> bool:
        """Whether forecasts of this event wait for its outcome."""
        return event_name(event) in self._parts[0].pending.known_events()

    def drop(self, forecast: Any = None, *, event: Any = None) -> None:
        """The outcome of this forecast, or event, will never come: forget it, and learn nothing."""
        if event is None:
            tickets = [[ticket] for ticket in self._tickets(forecast)]
        elif forecast is None:
            tickets = self._of_event(event_name(event))
        else:
            checks.refuse("forecast", "be left out where event is given", forecast)
        with self._whole():
            for part, own in zip(self._parts, tickets, strict=True):
                part.pending.drop(own)

    def _of_event(self, event: Any) -> list[list[Forecast]]:
        return [part.pending.of_event(event) for part in self._parts]

    def _tickets(self, forecast: Any) -> list[Forecast]:
        if isinstance(forecast, OneVsRestForecast):
            if len(forecast.parts) != self.classes:
                checks.refuse("forecast", "be made by this forecaster", forecast)
            pairs = zip(self._parts, forecast.parts, strict=True)
            return [part.find(own) for part, own in pairs]
        return [part.find(forecast) for part in self._parts]

    @property
    def pending(self) -> tuple[OneVsRestForecast, ...]:
        """Forecasts that wait for their outcome, oldest first."""
        waiting = zip(*(part.pending for part in self._parts), strict=True)
        return tuple(OneVsRestForecast(parts) for parts in waiting)

    def run(
        self,
        *columns: Any,
        sample_weight: Any = None,
        event: Any = None,
        known: Any = None,
        record: bool = True,
        progress: bool | None = None,
    ) -> OneVsRestRun | None:
        """Forecast and learn classes (T,) or probabilities (T, K), in compiled code.

        The same numbers as the loop of ``predict`` and ``update``. ``columns`` are the outcomes;
        with models their probabilities (T, K) or (T, models, K) first. ``event`` names the event of
        each row, whose forecasts are learnt at its last row. ``known`` says when outcomes came, if
        they came late: that of row i is learnt just before row ``known[i]`` is forecast.
        """
        if len(columns) != (2 if self._spec.models else 1):
            wanted = "p and outcomes" if self._spec.models else "outcomes"
            raise ValueError(f"run must be given {wanted}, got {len(columns)} arrays")
        table = class_rows(columns[-1], self.classes, known is not None, self._labels)
        contexts = self._contexts(columns[0] if len(columns) == 2 else None)
        if contexts is not None:
            checks.same_length("p", contexts, "outcomes", len(table))
        log = Log.of(contexts, table, sample_weight, self._spec.max_weight, event, known)
        moments = log.moments_if_events_return([(None, self._parts[0].pending)])
        if moments is None:
            moments = log.known
        if moments is not None:
            return self._run_rows(log, moments, record, progress)
        scales = log.scales
        parts, classes = [], np.arange(self.classes)
        waiting = {part.index: part for part in self._parts if part.pending.tickets}
        events = max(STRETCH // self.classes, 1)
        with Progress(len(table), progress, "events") as bar:
            for done in range(0, len(table), events):
                part = slice(done, done + events)
                own = None if contexts is None else _by_class(contexts[part])
                streams = np.tile(classes, len(table[part]))
                shares = np.repeat(scales[part], self.classes)
                with self._whole():
                    recorded = run_events(
                        self._rows, streams, own, table[part].ravel(), shares, record, False,
                        watch(waiting, streams, shares),
                    )  # fmt: skip
                parts.append(recorded)
                bar.update(min(done + events, len(table)))
        if not record:
            return None
        written = [part for part in parts if part is not None]
        return self._run_of(joined(written, self._rows.kind))

    def _run_rows(
        self, log: Log, moments: Indices, record: bool, progress: bool | None
    ) -> OneVsRestRun | None:
        """A log with events that return, or late outcomes: the loop of the verbs."""
        names, scales = log.names or [None] * len(moments), log.scales

        def predict(t: int) -> OneVsRestForecast:
            return self._predict(log.contexts, t, names[t])

        def resolve(t: int, forecast: OneVsRestForecast) -> None:
            own = [[ticket] for ticket in forecast.parts]
            if names[t] is not None:
                own = self._of_event(names[t])
            self._learn(own, log.outcomes[t], float(scales[t]) if len(scales) else 1.0)

        forecasts = run_rows(moments, predict, resolve, record, progress)
        if not record:
            return None
        tickets = [ticket for forecast in forecasts for ticket in forecast.parts]
        return self._run_of(recorded_of(self._rows.kind, tickets))

    def _contexts(self, p: Any) -> Any:
        """Probabilities (T, models, K), checked; None without models."""
        if not self._spec.models:
            if p is not None:
                checks.refuse("p", "be left out: no model is recalibrated", p)
            return None
        return contexts_of(p, self._spec.models, self.classes, vectors=True, labels=self._labels)

    @staticmethod
    def _context(contexts: Any, event: int, k: int) -> Any:
        return None if contexts is None else event_of(contexts[:, :, k], event)

    # --- measured against guaranteed ---------------------------------------------------------

    @property
    def guarantee(self) -> None:
        """None: nothing is guaranteed for the normalised vectors (``explain`` says why)."""
        return None

    def certificate(self) -> Certificate:
        """Errors of the classes before they are normalised, summed; no guarantee for vectors."""
        return sum_over_classes(self.certificates(), NOT_GUARANTEED)

    def certificates(self) -> tuple[Certificate, ...]:
        """For each class, the error of its own forecasts beside its guarantee."""
        return tuple(first_certificate_of(part.kind, part.row) for part in self._parts)

    def explain(self) -> str:
        """What was chosen, and what is not guaranteed."""
        part = self._parts[0]
        return (
            f"One yes-or-no forecaster for each of {self.classes} classes, divided by their sum.\n"
            f"No guarantee for the vectors: {NOT_GUARANTEED}.\n"
            f"Each class: {explanation_of(part.kind, part.row)}"
        )

    # --- saved state ----------------------------------------------------------------------

    def copy(self) -> Self:
        """The same forecaster once more: it goes on with the same forecasts and draws."""
        for part in self._parts:
            part.settle()
        other = object.__new__(type(self))
        other._spec, other._seed, other._rows = self._spec, self._seed, self._rows.copy()
        other._labels = self._labels
        other._parts = tuple(other._part(k) for k in range(self.classes))
        for mine, theirs in zip(self._parts, other._parts, strict=True):
            theirs.pending.tickets.update(mine.pending.tickets)
        return other

    def to_json(self) -> str:
        """The whole state, pending forecasts and seed of the draws included, as JSON."""
        return text_of(self._spec, self._seed, self._parts, self._labels)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The forecaster that ``to_json`` wrote: it goes on with the same forecasts and draws."""
        spec, seed, labels, entries = parts_of(text, LEAST_CLASSES, MOST_CLASSES)
        self = object.__new__(cls)
        self._adopt(len(entries), spec, seed, labels)
        for part, (row, tickets) in zip(self._parts, entries, strict=True):
            self._rows.put(part.index, row)
            for ticket in tickets:
                part.pending.add(ticket.id, ticket)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_json, (self.to_json(),)

    def __repr__(self) -> str:
        shown = self.classes if self._labels is None else list(self._labels)
        return f"OneVsRest(classes={shown}; {self.rounds} events)"


def _by_class(contexts: Any) -> Any:
    """(T, models, K) as (T·K, models): what comes with the events of all classes, one by one."""
    return np.ascontiguousarray(contexts.transpose(0, 2, 1).reshape(-1, contexts.shape[1]))

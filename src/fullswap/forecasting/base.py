"""What all forecasters share: a row, the forecasts that wait, draws, whole runs, saved state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from fullswap.base import checks
from fullswap.base.draws import Draws, seed_of
from fullswap.base.keys import event_name
from fullswap.base.protocols import Vector
from fullswap.base.records import Record
from fullswap.certificates import EVERYBODY, Certificate, GroupTable
from fullswap.forecasting.contexts import Labels
from fullswap.forecasting.events import refuse_sibling, values_of
from fullswap.forecasting.groups import (
    OPEN,
    GroupNames,
    context_in_groups,
    contexts_in_groups,
    widened_rows,
)
from fullswap.forecasting.guarantees import (
    certificates_of,
    explanation_of,
    first_certificate_of,
    group_certificate_of,
    group_table_of,
    guarantee_of,
)
from fullswap.forecasting.inputs import scale_of, scales_of
from fullswap.forecasting.running import NO_PLACES, Answered, Answers, Home, Log, run_log
from fullswap.forecasting.state import (
    pack,
    pack_groups,
    pack_labels,
    pack_row,
    unpack,
    unpack_groups,
    unpack_labels,
    unpack_number,
    unpack_stream,
)
from fullswap.kernels.columns import LEVEL, ROUNDS
from fullswap.online.kind import Kind
from fullswap.online.kinds import kind_of
from fullswap.online.loop import record_of
from fullswap.online.pending import Pending
from fullswap.online.rows import Rows
from fullswap.online.spec import Spec
from fullswap.online.stream import Stream
from fullswap.online.tickets import Forecast

FIELDS = frozenset({"spec", "seed", "stream", "row", "pending"})
"""Of a saved state."""


class OnlineForecaster(ABC):
    """Forecast, wait for the outcome, learn; outcomes may come late, out of order or never.

    A thin skin over one row of ``fullswap.online``. One thread at a time: nothing is locked.
    """

    _kinds: ClassVar[tuple[str, ...]]
    """Kinds of the online core that this class is a skin of."""
    _takes_models: ClassVar[bool] = True
    """Whether forecasts of models are given to it."""
    _settings: ClassVar[tuple[str, ...]]
    """What ``repr`` shows."""

    def _start(
        self, spec: Spec, seed: Any, labels: Labels | None = None, groups: GroupNames | None = None
    ) -> None:
        """Begin a stream of this spec."""
        self._adopt(spec, Draws(seed_of(seed)), labels, groups=groups)

    def _adopt(
        self, spec: Spec, draws: Draws, labels: Labels | None = None, row: Vector | None = None,
        groups: GroupNames | None = None,
    ) -> None:  # fmt: skip
        """Take over a spec, with a blank row or one that has been checked."""
        self._spec, self._labels, self._groups = spec, labels, groups
        self._weighted = spec.max_weight != 1.0
        rows = Rows(kind_of(spec), draws.seed, [draws.stream])
        if row is not None:
            rows.put(0, row)
        self._stream = Stream(rows, draws, Pending())

    # --- what a subclass says -----------------------------------------------------------------

    @abstractmethod
    def _outcome(self, outcome: Any) -> Any:
        """One checked outcome, as compiled code reads it."""

    @abstractmethod
    def _outcomes(self, outcomes: Any, absent: bool = False) -> Any:
        """A checked array of outcomes; rows are events. NaN only where they may be absent."""

    @abstractmethod
    def _contexts(self, *columns: Any) -> Any:
        """What comes with events before their outcomes, checked; None if nothing does."""

    @abstractmethod
    def _read(self, *columns: Any, **how: Any) -> tuple[Any, Any]:
        """Contexts and outcomes of many events, checked: the columns of ``run``.

        ``absent``: whether outcomes may be NaN.
        """

    # --- settings -----------------------------------------------------------------------------

    @property
    def spec(self) -> Spec:
        """The kind of forecaster as plain data."""
        return self._stream.rows.kind.spec

    @property
    def horizon(self) -> int | None:
        """Number of events for which the grid was chosen, None if unknown."""
        return self._spec.horizon

    @property
    def max_weight(self) -> float:
        """Largest weight of an event."""
        return self._spec.max_weight

    @property
    def labels(self) -> Labels | None:
        """Names of the classes, if they have any; of yes-or-no events (no, yes)."""
        return self._labels

    @property
    def groups(self) -> tuple[Any, ...]:
        """Names of the groups in which forecasts are calibrated, everybody apart."""
        return () if self._groups is None else self._groups.names

    @property
    def rounds(self) -> int:
        """Forecasts with an outcome so far."""
        return int(self._stream.row[ROUNDS])

    @property
    def pending(self) -> tuple[Forecast, ...]:
        """Forecasts that wait for their outcome, oldest first."""
        return tuple(self._stream.pending)

    # --- groups -----------------------------------------------------------------------------------

    def _with_group(self, said: Any, groups: Any) -> tuple[Any, GroupNames | None]:
        """What comes with one event; and all names, of which new ones are not taken in yet."""
        if self._groups is None:
            if groups is not None:
                self._refuse_groups(groups)
            return said, None
        names, own = self._groups.of_event(groups)
        return context_in_groups(said, own), names

    def _with_names(self, names: GroupNames | None) -> Self:
        """The forecaster itself, or a copy with groups that are new: to look at what it says."""
        if names is None or names is self._groups:
            return self
        other = self.copy()
        other._take_names(names)
        return other

    def _with_groups(self, said: Any, events: int, groups: Any) -> tuple[Any, GroupNames | None]:
        """The same for many events."""
        if self._groups is None:
            if groups is not None:
                self._refuse_groups(groups)
            return said, None
        names, joined = self._groups.of_events(groups, events)
        return contexts_in_groups(said, joined), names

    def _refuse_groups(self, groups: Any) -> NoReturn:
        rule = "be left out: this forecaster was made without groups"
        checks.refuse("groups", rule, groups)

    def _take_names(self, names: GroupNames | None) -> None:
        """Have these groups from now on; room is made for them."""
        if names is None or names is self._groups:
            return
        if names.room > self.spec.groups:
            stream = self._stream
            stream.settle()
            spec = replace(self._spec, groups=names.room)
            stream.move_to(widened_rows(stream.rows, spec, stream.draws.seed))
        self._spec = self.spec
        self._groups = names

    # --- the verbs ------------------------------------------------------------------------------

    def update(
        self, outcome: Any, forecast: Any = None, weight: float = 1.0, *, event: Any = None
    ) -> None:
        """Learn the outcome of a forecast.

        Parameters
        ----------
        outcome : float, text or array
            In [0, 1] for a binary event, or a word for yes or no; a class, by its name if it has
            one, or K probabilities for several classes.
        forecast : Forecast, int, text, tuple, list or None
            Which forecast (or its ``id``); None if only one is pending. A text or tuple is the
            name of an event that was forecast once: ``update(1, "game-17")``. A list of these is
            learnt in this order, with as many outcomes; all are checked before any is learnt.
        weight : float
            Importance of the event, from 0 to ``max_weight``; with a list also one for each.
        event : text, number or tuple
            In place of a forecast: all forecasts of this event, as ``resolve`` does.
        """
        if event is not None:
            if forecast is not None:
                checks.refuse("forecast", "be left out where event is given", forecast)
            self.resolve(event, outcome, weight)
            return
        if isinstance(forecast, list):
            self._update_many(outcome, forecast, weight)
            return
        stream = self._stream
        tickets = stream.pending.tickets
        if forecast is None and len(tickets) == 1:
            (ticket,) = tickets.values()
        else:
            ticket = stream.find(forecast)
        if ticket.event is not None:
            refuse_sibling(ticket, stream.pending)
        value = self._outcome(outcome)
        scale = 1.0
        if self._weighted or type(weight) is not float or weight != 1.0:
            scale = scale_of(weight, self._spec.max_weight)
        stream.learn(ticket, value, scale)

    def _update_many(self, outcomes: Any, forecasts: list[Any], weight: Any) -> None:
        stream = self._stream
        tickets = [stream.find(forecast) for forecast in forecasts]
        for ticket in tickets:
            refuse_sibling(ticket, stream.pending)
        if len({ticket.id for ticket in tickets}) < len(tickets):
            checks.refuse("forecast", "be a list of distinct forecasts", forecasts)
        array = self._outcomes(outcomes)
        checks.same_length("forecast", tickets, "outcome", len(array))
        weights = [weight] * len(tickets) if np.ndim(weight) == 0 else weight
        scales = scales_of(weights, len(tickets), self.max_weight).tolist()
        for ticket, value, scale in zip(tickets, values_of(array), scales, strict=True):
            stream.learn(ticket, value, scale)

    def resolve(self, event: Any, outcome: Any, weight: float = 1.0) -> None:
        """Learn the outcome of an event: all its pending forecasts at once, which count as one.

        Each of its n forecasts is learnt with ``weight``/n, so the event counts once however often
        it was forecast. The name may be used again: for a new event.
        """
        tickets = self._stream.pending.of_event(event_name(event))
        value = self._outcome(outcome)
        self._stream.resolve(tickets, value, scale_of(weight, self._spec.max_weight))

    def is_pending(self, event: Any) -> bool:
        """Whether forecasts of this event wait for its outcome."""
        return event_name(event) in self._stream.pending.known_events()

    def drop(self, forecast: Any = None, *, event: Any = None) -> None:
        """The outcome of this forecast, or event, will never come: forget it, and learn nothing.

        ``forecast`` as for ``update``, but not a list: ``drop("game-17")``. The guarantee is then
        about the other events, provided that what is dropped does not depend on the draw that was
        issued.
        """
        pending = self._stream.pending
        if event is None:
            tickets = [self._stream.find(forecast)]
        elif forecast is None:
            tickets = pending.of_event(event_name(event))
        else:
            checks.refuse("forecast", "be left out where event is given", forecast)
        pending.drop(tickets)

    def _run(
        self, columns: tuple[Any, ...], sample_weight: Any, record: bool, progress: bool | None,
        event: Any, known: Any, answers: Answers | None, groups: Any = None,
    ) -> Record | None:  # fmt: skip
        stream = self._stream
        progress = checks.flag("progress", progress)
        said, outcomes = self._read(*columns, absent=known is not None)
        contexts, names = self._with_groups(said, len(outcomes), groups)
        answered = Answered.of(
            answers, len(outcomes), lambda _: stream, self._outcomes, self.max_weight, keyed=False
        )
        log = Log.of(
            contexts, outcomes, sample_weight, self.max_weight, event, known, answered=answered
        )
        moments = log.moments_if_events_return([(None, stream.pending)])
        self._take_names(names)
        home = Home(stream.rows, NO_PLACES, {0: stream}, lambda t: stream)
        recorded = run_log(log, home, moments, record, progress)
        level = int(stream.row[LEVEL])
        return None if recorded is None else record_of(stream.kind, level, recorded)

    # --- measured against guaranteed ------------------------------------------------------------

    @property
    def guarantee(self) -> float | None:
        """A-priori bound on the calibration error: for the horizon, or for the events so far.

        Over more events than the horizon, for these. With late outcomes, for as many waiting at one
        grid point as there have been; None where nothing is guaranteed (``explain`` says why).
        """
        return guarantee_of(self._stream.kind, self._stream.row)

    def certificate(self, *, group: Any = None) -> Certificate:
        """Measured calibration error of the events so far beside its guarantee.

        ``group``: of the events of this group alone, by its name.
        """
        return self._certificate_of(self._stream.kind, self._stream.row, group)

    def _certificate_of(self, kind: Kind, row: Vector, group: Any) -> Certificate:
        """Of a row with the groups of this forecaster."""
        if group is None or (group == EVERYBODY and group not in self.groups):
            return first_certificate_of(kind, row)
        if self._groups is None:
            checks.refuse("group", "be left out: this forecaster was made without groups", group)
        return group_certificate_of(kind, row, self._groups.number(group), group)

    def by_group(self) -> GroupTable:
        """Certificates of everybody and of all groups, those least explained by chance first."""
        return group_table_of(self._stream.kind, self._stream.row, self.groups)

    def certificates(self) -> tuple[Certificate, ...]:
        """All that is guaranteed: the calibration error first."""
        return certificates_of(self._stream.kind, self._stream.row)

    def explain(self) -> str:
        """What was chosen and why, and what it guarantees, in words."""
        return explanation_of(self._stream.kind, self._stream.row)

    # --- copies and saved state -------------------------------------------------------------------

    def copy(self) -> Self:
        """The same forecaster once more: it goes on with the same forecasts and draws."""
        stream = self._stream
        stream.settle()
        other = object.__new__(type(self))
        other._spec, other._weighted = self._spec, self._weighted
        other._labels, other._groups = self._labels, self._groups
        other._stream = Stream(stream.rows.copy(), stream.draws, Pending())
        other._stream.pending.tickets.update(stream.pending.tickets)
        return other

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def to_json(self) -> str:
        """The whole state, pending forecasts and seed of the draws included, as JSON."""
        stream = self._stream
        return pack(
            type(self).__name__,
            {
                "spec": self.spec.to_dict(),
                "seed": str(stream.draws.seed),
                "stream": str(stream.draws.stream),
                "row": pack_row(stream.settle()),
                "pending": [ticket.to_list() for ticket in stream.pending],
                **pack_labels(self._labels),
                **pack_groups(self._groups),
            },
        )

    @classmethod
    def _check_spec(cls, spec: Spec) -> None:
        """Refuse the spec of another class."""
        if spec.kind not in cls._kinds:
            checks.refuse("spec", f"be of kind {' or '.join(cls._kinds)}", spec.kind)
        if bool(spec.models) != cls._takes_models:
            checks.refuse("spec", f"be that of a {cls.__name__}", f"models={spec.models}")

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The forecaster that ``to_json`` wrote: it goes on with the same forecasts and draws."""
        stored = unpack(cls.__name__, text, FIELDS)
        spec = Spec.from_dict(stored["spec"])
        cls._check_spec(spec)
        seed, stream = (unpack_number(name, stored[name]) for name in ("seed", "stream"))
        row, tickets = unpack_stream(spec, stored["row"], stored["pending"])
        self = object.__new__(cls)
        labels, groups = unpack_labels(stored, spec.classes), unpack_groups(stored, spec)
        self._adopt(spec, Draws(seed, stream), labels, row, groups)
        for ticket in tickets:
            self._stream.pending.add(ticket.id, ticket)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_json, (self.to_json(),)

    def __repr__(self) -> str:
        own = {name: getattr(self, name) for name in self._settings}
        if self._labels is not None:
            own["classes"] = list(self._labels)
        if self._groups is not None:
            own["groups"] = OPEN if self._groups.open else list(self._groups.names)
        shown = ", ".join(f"{name}={value!r}" for name, value in own.items())
        return f"{type(self).__name__}({shown}; {self.rounds} forecasts)"

"""What all forecasters share: a row, the forecasts that wait, draws, whole runs, saved state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from fullswap.base import checks
from fullswap.base.draws import ALONE, Draws, seed_of
from fullswap.base.protocols import Mixture, Vector
from fullswap.base.records import Record
from fullswap.certificates import Certificate
from fullswap.forecasting.guarantees import certificates_of, guarantee_of
from fullswap.forecasting.inputs import scale_of, scales_of
from fullswap.forecasting.state import pack, pack_row, unpack, unpack_number, unpack_row
from fullswap.forecasting.stretches import record_of
from fullswap.kernels.columns import DELAY, HEAD, LEARNT, LEVEL, MASS, NEXT_ID, OVERLAP, ROUNDS
from fullswap.online.kinds import kind_of
from fullswap.online.loop import Recorded, run_events
from fullswap.online.rows import Rows
from fullswap.online.spec import Spec
from fullswap.online.tickets import Forecast, Pending

FIELDS = frozenset({"spec", "seed", "stream", "row", "pending"})
"""Of a saved state."""


class OnlineForecaster(ABC):
    """Forecast, wait for the outcome, learn; outcomes may come late, out of order or never.

    A thin skin over one row of ``fullswap.online``. One thread at a time: nothing is locked.
    """

    _kinds: ClassVar[tuple[str, ...]]
    """Kinds of the online core that this class is a skin of."""
    _settings: ClassVar[tuple[str, ...]]
    """What ``repr`` shows."""

    def _start(self, spec: Spec, seed: Any, stream: int = ALONE) -> None:
        self._draws = Draws(seed_of(seed), stream)
        self._adopt(spec)

    def _adopt(self, spec: Spec, row: Vector | None = None) -> None:
        """Take over a spec, with a blank row or one that has been checked."""
        self._spec = spec
        self._kind = kind_of(spec)
        self._rows = Rows(self._kind, self._draws.seed, [self._draws.stream])
        if row is not None:
            self._rows.put(0, row)
        self._pending = Pending()

    # --- what a subclass says -----------------------------------------------------------------

    @abstractmethod
    def _outcome(self, outcome: Any) -> Any:
        """One checked outcome, as compiled code reads it."""

    @abstractmethod
    def _outcomes(self, outcomes: Any) -> Any:
        """A checked array of outcomes; rows are events."""

    # --- settings -----------------------------------------------------------------------------

    @property
    def spec(self) -> Spec:
        """The kind of forecaster as plain data."""
        return self._spec

    @property
    def horizon(self) -> int | None:
        """Number of events for which the grid was chosen, None if unknown."""
        return self._spec.horizon

    @property
    def feedback(self) -> str:
        """ "realised" or "distribution"."""
        return self._spec.feedback

    @property
    def max_weight(self) -> float:
        """Largest weight of an event."""
        return self._spec.max_weight

    @property
    def rounds(self) -> int:
        """Events with an outcome so far."""
        return int(self._rows.arena[ROUNDS])

    @property
    def pending(self) -> tuple[Forecast, ...]:
        """Forecasts that wait for their outcome, oldest first."""
        return tuple(self._pending)

    # --- one event ----------------------------------------------------------------------------

    def _predict(self, context: Any) -> Forecast:
        kind, row = self._kind, self._rows.arena
        play = kind.forecast(row, context)
        number = int(row.item(NEXT_ID))
        drawn = kind.draw(play, self._draws.of(number))
        ticket = Forecast(kind, number, int(row.item(LEVEL)), play, drawn)
        row[NEXT_ID] = number + 1
        self._pending.add(ticket)
        return ticket

    def _peek(self, context: Any) -> Mixture:
        row = self._rows.arena
        indices, weights = self._kind.support(self._kind.forecast(row, context))
        own = np.array(indices)
        return Mixture(self._kind.points(int(row[LEVEL]))[own], np.array(weights), own)

    def update(self, outcome: Any, forecast: Any = None, weight: float = 1.0) -> None:
        """Learn the outcome of a forecast.

        Parameters
        ----------
        outcome : float or array
            In [0, 1] for a binary event; a class or K probabilities for several classes.
        forecast : Forecast, int or None
            Which forecast (or its ``id``); None if only one is pending.
        weight : float
            Importance of the event, from 0 to ``max_weight``.
        """
        pending, row = self._pending, self._rows.arena
        ticket = pending.find(forecast, int(row.item(NEXT_ID)))
        value = self._outcome(outcome)
        scale = 1.0
        if type(weight) is not float or weight != 1.0 or self._spec.max_weight != 1.0:
            scale = scale_of(weight, self._spec.max_weight)
        number = ticket.id
        # What can raise came before what changes the state. Learning is one step of compiled code,
        # so after an interrupt the row itself says whether it was taken.
        try:
            pending.remove(ticket)
            if pending.tickets and scale > 0:
                self._note_lateness(ticket)
            due = self._kind.learn(
                row, ticket._play, ticket.level, ticket._drawn, value, scale, number
            )
            if due:
                self._rows.refine(0)
        except BaseException:
            if row[LEARNT] == number:
                self._settled()
            else:
                pending.tickets[number] = ticket
                pending.recount()
            raise

    def _note_lateness(self, ticket: Forecast) -> None:
        """How many others wait, where this forecast learns and anywhere."""
        row, level = self._rows.arena, int(self._rows.arena[LEVEL])
        waiting = self._pending.waiting(self._kind, level, ticket.learners(level))
        row[OVERLAP] = max(row[OVERLAP], len(self._pending))
        row[DELAY] = max(row[DELAY], waiting)

    def drop(self, forecast: Any) -> None:
        """The outcome of this forecast will never come: forget it, and learn nothing.

        The guarantee is then about the other events, provided that what is dropped does not
        depend on the draw that was issued.
        """
        next_id = int(self._rows.arena.item(NEXT_ID))
        self._pending.remove(self._pending.find(forecast, next_id))

    # --- many events --------------------------------------------------------------------------

    def _run(
        self, contexts: Any, outcomes: Any, sample_weight: Any, record: bool, progress: bool | None
    ) -> Record | None:
        scales = scales_of(sample_weight, len(outcomes), self._spec.max_weight)
        hooks: dict[str, Any] = {}
        if self._pending.tickets:
            hooks = {"before": self._expect_lateness, "after": self._settle_lateness(scales)}
        try:
            recorded = run_events(
                self._rows, np.zeros(0, np.int64), contexts, outcomes, scales, record, progress,
                **hooks,
            )  # fmt: skip
        except BaseException:
            self._settled()  # what was learnt stays, on the grid that is due
            raise
        level = int(self._rows.arena[LEVEL])
        return None if recorded is None else record_of(self._kind, level, recorded)

    def _expect_lateness(self, part: slice) -> None:
        """Before a stretch: the most that it can find waiting, should it be cut short."""
        row = self._rows.arena
        self._known = float(row[DELAY]), float(row[OVERLAP])
        most = self._pending.most(self._kind, int(row[LEVEL]))
        row[OVERLAP] = max(row[OVERLAP], len(self._pending))
        row[DELAY] = max(row[DELAY], most)

    def _settle_lateness(self, scales: Vector) -> Any:
        def settle(part: slice, recorded: Recorded) -> None:
            """After a stretch: what waited where it learnt, as single updates count it."""
            indices, weights, issued = recorded
            learnt = np.ones(len(issued), bool)
            if len(scales):
                learnt = scales[part] > 0
            row = self._rows.arena
            level = int(row[LEVEL])
            drawn = issued[:, None] if self._spec.realised else np.where(weights > 0, indices, -1)
            own = np.unique(drawn[learnt])
            own = self._kind.finest(level)[own[own >= 0]]
            delay, overlap = self._known
            waiting = self._pending.waiting(self._kind, level, own)
            row[DELAY] = max(delay, waiting if learnt.any() else 0)
            row[OVERLAP] = max(overlap, len(self._pending) if learnt.any() else 0)

        return settle

    # --- measured against guaranteed ------------------------------------------------------------

    @property
    def guarantee(self) -> float:
        """A-priori bound on the calibration error: for the horizon, or for the events so far.

        Over more events than the horizon, for these. With late outcomes, for as many waiting at one
        grid point as there have been; NaN where late outcomes leave nothing guaranteed.
        """
        return guarantee_of(self._kind, self._rows.arena)

    def certificate(self) -> Certificate:
        """Measured calibration error of the events so far beside its guarantee."""
        return self.certificates()[0]

    def certificates(self) -> tuple[Certificate, ...]:
        """All that is guaranteed: the calibration error first."""
        return certificates_of(self._kind, self._rows.arena)

    def explain(self) -> str:
        """What was chosen and why."""
        level = int(self._rows.arena[LEVEL])
        size = self._spec.levels[level].size(self._spec.classes)
        lattice = self._spec.levels[level]
        until = self._spec.end(level)
        grid = f"grid: {size} points (level {level} of {len(self._spec.levels)}, {lattice.shape})"
        if until != float("inf"):
            grid += f", refined at a mass of {until:.6g}"
        events = f"horizon {self.horizon}" if self.horizon else "no horizon"
        certificate = self.certificate()
        return "\n".join(
            [
                f"{events}; {certificate.title}",
                grid,
                f"guaranteed at most {self.guarantee:.6g} [{certificate.theorem}]",
            ]
        )

    # --- copies and saved state -------------------------------------------------------------------

    def copy(self) -> Self:
        """The same forecaster once more: it goes on with the same forecasts and draws."""
        other = object.__new__(type(self))
        other._draws = Draws(self._draws.seed, self._draws.stream)
        other._adopt(self._spec, self._settled())
        other._pending.tickets.update(self._pending.tickets)
        return other

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def _settled(self) -> Vector:
        """The row; refined, if an interrupt came in between."""
        row = self._rows.arena
        while self._spec.level_at(float(row[MASS])) > row[LEVEL]:
            self._rows.refine(0)
            row = self._rows.arena
        return row

    def to_json(self) -> str:
        """The whole state, pending forecasts and seed of the draws included, as JSON."""
        row = self._settled()
        return pack(
            type(self).__name__,
            {
                "spec": self._spec.to_dict(),
                "seed": str(self._draws.seed),
                "stream": str(self._draws.stream),
                "row": pack_row(row),
                "pending": [ticket.to_list() for ticket in self._pending],
            },
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The forecaster that ``to_json`` wrote: it goes on with the same forecasts and draws."""
        stored = unpack(cls.__name__, text, FIELDS)
        spec = Spec.from_dict(stored["spec"])
        if spec.kind not in cls._kinds:
            checks.refuse("spec", f"be of kind {' or '.join(cls._kinds)}", spec.kind)
        row = unpack_row(stored["row"])
        # before anything is laid out: what a short text can ask for stays as small as the text
        least = HEAD + spec.levels[0].size(spec.classes)
        if len(row) < least:
            checks.refuse("row", f"have at least {least} columns", len(row))
        kind = kind_of(spec)
        kind.check(row)
        if not isinstance(stored["pending"], list):
            checks.refuse("pending", "be a list", stored["pending"])
        tickets = [Forecast.from_list(kind, ticket) for ticket in stored["pending"]]
        check_pending(tickets, row)
        self = object.__new__(cls)
        seed, stream = (unpack_number(name, stored[name]) for name in ("seed", "stream"))
        self._draws = Draws(seed, stream)
        self._adopt(spec, row)
        for ticket in tickets:
            self._pending.add(ticket)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_json, (self.to_json(),)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._settings)
        return f"{type(self).__name__}({shown}; {self.rounds} events)"


def check_pending(tickets: list[Forecast], row: Vector) -> None:
    """Ids must be distinct, given out already, and not more than there can be."""
    ids = [ticket.id for ticket in tickets]
    sound = (
        len(set(ids)) == len(ids)
        and all(number < row[NEXT_ID] and number != row[LEARNT] for number in ids)
        and len(ids) + row[ROUNDS] <= row[NEXT_ID]
        and all(ticket.level <= row[LEVEL] for ticket in tickets)
    )
    if not sound:
        checks.refuse("pending", "be forecasts of this row", ids)

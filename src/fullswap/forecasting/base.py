"""What all forecasters share: draws, pending forecasts, weights, whole runs, saved state.

A forecaster is a bank of sub-learners at grid points. Subclasses say which mixture of points is
forecast (``_mix``), how the sub-learners take an outcome (``_learn``), and what follows from it
(``guarantee``, ``certificate``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from fullswap.base.progress import Progress
from fullswap.base.protocols import Indices, Mixture, Points, Vector
from fullswap.base.records import Record
from fullswap.certificates import Certificate
from fullswap.forecasting.checks import as_float, as_numbers, positive
from fullswap.forecasting.forecast import Forecast
from fullswap.forecasting.state import Draws, pack, unpack

CHUNK = 2**16
"""Events that a run hands to compiled code at once: their draws stay in the cache."""

Labels = NDArray[np.int32]
Recorded = tuple[Labels, Points, Labels]
"""Labels (m, w), weights (m, w) and issued labels (m,) of a stretch; all of length 0 if unasked."""


class OnlineForecaster(ABC):
    """Forecast, wait for the outcome, learn; outcomes may come late, out of order or never.

    One thread at a time: nothing is locked.
    """

    _settings: tuple[str, ...] = ()
    """Constructor arguments that are saved, by the name of the attribute that holds them."""
    _width: ClassVar[int] = 2
    """Largest support of one forecast, where it is fixed."""

    def __init__(self, feedback: str, seed: Any, max_weight: float) -> None:
        if feedback not in ("realised", "distribution"):
            raise ValueError(f"feedback must be 'realised' or 'distribution', got {feedback!r}")
        self.feedback = feedback
        self._realised = feedback == "realised"
        self.max_weight = positive("max_weight", max_weight)
        self.rounds = 0
        """Events with an outcome so far."""
        self._mass = 0.0  # Σ weight/max_weight of these events
        self._delay = 0  # most forecasts that waited at a grid point when it learnt
        self._draws = Draws(seed)
        self._pending: dict[int, Forecast] = {}
        self._waiting: dict[int, int] = {}  # grid point -> forecasts there, if several wait
        self._next_id = 0
        self._places: Indices | None = None  # of old points, after a refinement

    # --- what a subclass provides ---------------------------------------------------------

    _points: Any
    """Values of the grid points, (n,) or (n, K)."""

    @abstractmethod
    def _mix(self, context: Any) -> tuple[Sequence[int], Sequence[float], Any]:
        """Support and weights for this context, and what learning will need to remember.

        Nothing changes but, at most, where the next search starts (``_peek`` puts that back).
        """

    @abstractmethod
    def _learn(
        self, indices: Sequence[int], scales: Sequence[float], outcome: Any, memo: Any
    ) -> None:
        """Feed one outcome, with scales in (0, 1], to the sub-learners at these points."""

    @abstractmethod
    def _as_outcome(self, outcome: Any) -> Any:
        """One checked outcome."""

    @abstractmethod
    def _as_outcomes(self, outcomes: Any) -> Any:
        """A checked array of outcomes; rows are events."""

    @abstractmethod
    def _learned(self) -> dict[str, Any]:
        """What has been learnt, as plain data."""

    @abstractmethod
    def _relearn(self, stored: dict[str, Any]) -> None:
        """Take over what ``_learned`` gave."""

    @property
    @abstractmethod
    def guarantee(self) -> float:
        """A-priori bound on the certified quantity; NaN where nothing is guaranteed."""

    @abstractmethod
    def certificate(self) -> Certificate:
        """Measured beside guaranteed, for the events so far."""

    def _advance(self, scale: float, memo: Any) -> None:
        """An outcome of this scale has been learnt."""
        self._mass += scale

    def _advance_run(self, scales: Vector, events: int) -> None:
        """The same for a stretch of a run; no scales stand for 1 each."""
        self._mass = summed(self._mass, scales, events)

    def _until_change(self, scales: Vector, events: int) -> int:
        """How many of these coming events may be run before the grid changes, at least one."""
        return events

    @abstractmethod
    def _run_stretch(
        self, contexts: Any, outcomes: Any, scales: Vector, draws: Vector, record: bool
    ) -> tuple[int, Recorded]:
        """Events on one grid, at least one; how many were run, and their record."""

    # --- one event ------------------------------------------------------------------------

    def _predict(self, context: Any) -> Forecast:
        indices, weights, memo = self._mix(context)
        drawn = draw(weights, self._draws.one())
        number = self._next_id
        self._next_id = number + 1
        forecast = Forecast(self._points, number, indices, weights, drawn, memo)
        if self._pending:
            self._count_waiting(forecast)
        self._pending[number] = forecast
        return forecast

    def _count_waiting(self, forecast: Forecast) -> None:
        """Count where forecasts wait; one that waits alone is counted when it has company."""
        if len(self._pending) == 1:
            self._waiting.clear()
            self._count(next(iter(self._pending.values())))
        self._count(forecast)

    def _count(self, forecast: Forecast) -> None:
        for i in self._learners_of(forecast):
            self._waiting[i] = self._waiting.get(i, 0) + 1

    def _peek(self, context: Any) -> Mixture:
        """The distribution that would be forecast; nothing is drawn and nothing changes."""
        indices, weights, _ = self._mix(context)
        labels = np.array(indices)
        return Mixture(self._points[labels], np.array(weights), labels)

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
        record = self._found(forecast)
        value = self._as_outcome(outcome)
        scale = 1.0
        if type(weight) is not float or weight != 1.0 or self.max_weight != 1.0:
            scale = self._as_scale(weight)
        # What can raise comes before what changes the state.
        self._forget(record)
        if scale > 0:
            if self._pending:
                waiting = (self._waiting.get(i, 0) for i in self._learners_of(record))
                self._delay = max(self._delay, *waiting)
            indices, memo = record._indices, record._memo
            if self._realised:
                self._learn((indices[record._issued],), (scale,), value, memo)
            else:
                self._learn(indices, [w * scale for w in record._weights], value, memo)
            self._advance(scale, memo)
        self.rounds += 1

    def drop(self, forecast: Any) -> None:
        """The outcome of this forecast will never come: forget it, and learn nothing.

        The guarantee is then about the other events, provided that what is dropped does not
        depend on the draw that was issued.
        """
        self._forget(self._found(forecast))

    @property
    def pending(self) -> tuple[Forecast, ...]:
        """Forecasts that wait for their outcome, oldest first."""
        return tuple(self._pending.values())

    def _learners_of(self, forecast: Forecast) -> Sequence[int]:
        if self._realised:
            return (forecast._indices[forecast._issued],)
        return forecast._indices

    def _found(self, forecast: Any) -> Forecast:
        if forecast is None:
            if len(self._pending) != 1:
                raise ValueError(
                    "update: no forecast is pending; call predict() first"
                    if not self._pending
                    else f"forecast must be given: {len(self._pending)} forecasts are pending"
                )
            return next(iter(self._pending.values()))
        number = forecast.id if isinstance(forecast, Forecast) else forecast
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            raise ValueError(f"forecast must be a Forecast or its id, got {forecast!r}")
        record = self._pending.get(int(number))
        if record is None:
            made = 0 <= number < self._next_id
            why = (
                "it had its outcome, or was dropped" if made else "this forecaster did not make it"
            )
            raise ValueError(f"forecast {number} is not pending: {why}")
        # equal by value, because a restart makes new objects for the forecasts that wait
        if isinstance(forecast, Forecast) and not forecast._same_as(record):
            raise ValueError(f"forecast {number} was made by another forecaster")
        return record

    def _forget(self, record: Forecast) -> None:
        del self._pending[record.id]
        if not self._pending:
            return
        for i in self._learners_of(record):
            left = self._waiting[i] - 1
            if left:
                self._waiting[i] = left
            else:
                del self._waiting[i]

    def _count_delay(self, recorded: Recorded, scales: Vector) -> None:
        """Forecasts that waited where a stretch of a run learnt, as single updates count them."""
        labels, weights, issued = recorded
        if len(self._pending) == 1:
            self._waiting.clear()
            self._count(next(iter(self._pending.values())))
        used = issued[:, None] if self._realised else np.where(weights > 0, labels, -1)
        learnt = np.unique(used[scales > 0] if len(scales) else used).tolist()
        self._delay = max(self._delay, *(self._waiting.get(i, 0) for i in learnt), 0)

    def _moved(self, places: Indices) -> None:
        """The grid was refined: old point i is now point places[i]."""
        self._places = places
        for record in self._pending.values():
            record._source = self._points
            record._indices = [int(places[i]) for i in record._indices]
        if len(self._pending) > 1:
            self._waiting = {int(places[i]): count for i, count in self._waiting.items()}

    # --- many events ----------------------------------------------------------------------

    def _run(
        self, contexts: Any, outcomes: Any, sample_weight: Any, record: bool, progress: bool | None
    ) -> Record | None:
        events = len(outcomes)
        scales = self._as_scales(sample_weight, events)
        parts: list[Recorded] = []
        with Progress(events, progress) as bar:
            done = 0
            draws = np.zeros(0)
            while done < events:
                if not len(draws):
                    draws = self._draws.some(min(CHUNK, events - done))
                some = scales[done : done + len(draws)]
                part = slice(done, done + self._until_change(some, len(draws)))
                ran, recorded = self._run_stretch(
                    None if contexts is None else contexts[part],
                    np.asarray(outcomes[part], dtype=float),
                    scales[part],
                    draws[: part.stop - done],
                    record or bool(self._pending),
                )
                if self._pending:
                    self._count_delay(recorded, scales[done : done + ran])
                if record:
                    parts.append(recorded)
                self._places = None
                self._advance_run(scales[done : done + ran], ran)
                if self._places is not None:  # the grid was refined
                    places = self._places.astype(np.int32)
                    parts = [(places[label], w, places[drawn]) for label, w, drawn in parts]
                self.rounds += ran
                self._next_id += ran
                done += ran
                draws = draws[ran:]
                bar.update(done)
        return self._recorded(parts) if record else None

    def _recorded(self, parts: list[Recorded]) -> Record:
        width = max((labels.shape[1] for labels, _, _ in parts), default=self._width)
        labels, weights, issued = zip(*(parts or [empty_record(0, width)]), strict=True)
        return Record.of_forecasts(
            self._points.copy(),  # the forecaster goes on with its own, whatever becomes of these
            np.concatenate([_widened(part, width) for part in labels]),
            np.concatenate([_widened(part, width) for part in weights]),
            np.concatenate(issued),
        )

    # --- checks ---------------------------------------------------------------------------

    def _as_scale(self, weight: Any) -> float:
        scale = as_float(weight) / self.max_weight
        if not 0 <= scale <= 1:
            raise ValueError(
                f"weight must lie in [0, max_weight = {self.max_weight}], got {weight!r}"
            )
        return scale

    def _as_scales(self, sample_weight: Any, events: int) -> Vector:
        if sample_weight is None:
            if self.max_weight == 1.0:
                return np.zeros(0)
            return np.full(events, 1.0 / self.max_weight)
        weights = as_numbers("sample_weight", sample_weight)
        if weights.shape != (events,):
            raise ValueError(f"sample_weight must have shape ({events},), got {weights.shape}")
        scales = weights.astype(float) / self.max_weight
        wrong = ~((scales >= 0) & (scales <= 1))
        if wrong.any():
            at = int(wrong.argmax())
            raise ValueError(
                f"sample_weight must lie in [0, max_weight = {self.max_weight}], "
                f"got {weights[at]} at position {at}"
            )
        return scales

    # --- saved state ----------------------------------------------------------------------

    def to_json(self) -> str:
        """The whole state, pending forecasts and random generator included, as JSON."""
        return pack(
            type(self).__name__,
            {
                "settings": {name: getattr(self, name) for name in self._settings},
                "rounds": self.rounds,
                "mass": self._mass,
                "delay": self._delay,
                "next_id": self._next_id,
                "draws": self._draws.dump(),
                "pending": [
                    {
                        "id": record.id,
                        "indices": [int(i) for i in record._indices],
                        "weights": [float(w) for w in record._weights],
                        "issued": record._issued,
                        "memo": self._dump_memo(record._memo),
                    }
                    for record in self._pending.values()
                ],
                "learned": self._learned(),
            },
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The forecaster that ``to_json`` wrote: it goes on with the same forecasts and draws."""
        stored = unpack(cls.__name__, text)
        try:
            self = cls(**stored["settings"])
            self.rounds, self._mass = stored["rounds"], stored["mass"]
            self._delay, self._next_id = stored["delay"], stored["next_id"]
            self._draws = Draws.load(stored["draws"])
            self._relearn(stored["learned"])
            for kept in stored["pending"]:
                record = Forecast(
                    self._points, kept["id"], kept["indices"], kept["weights"], kept["issued"],
                    self._load_memo(kept["memo"]),
                )  # fmt: skip
                if self._pending:
                    self._count_waiting(record)
                self._pending[record.id] = record
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise ValueError(f"text is damaged: {type(error).__name__} {error}") from None
        return self

    def _dump_memo(self, memo: Any) -> Any:
        return memo

    def _load_memo(self, memo: Any) -> Any:
        return memo

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._settings)
        return f"{type(self).__name__}({told}; {self.rounds} events)"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_json, (self.to_json(),)


def draw(weights: Sequence[float], u: float) -> int:
    """The first place whose cumulative weight exceeds u."""
    total = weights[0]
    last = len(weights) - 1
    k = 0
    while k < last and u >= total:
        k += 1
        total += weights[k]
    return k


def crossing_support(left: int, share: float) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Points left and left + 1 with weights share and 1 − share, without one of weight 0."""
    if share >= 1.0:
        return (left,), (1.0,)
    if share <= 0.0:
        return (left + 1,), (1.0,)
    return (left, left + 1), (share, 1.0 - share)


def empty_record(events: int, width: int = 2) -> Recorded:
    """Room for what a run records; 0 events record nothing."""
    shape = (events, width)
    return np.zeros(shape, np.int32), np.zeros(shape), np.zeros(events, np.int32)


def summed(start: float, scales: Vector, events: int) -> float:
    """Start plus every scale, added one after the other as single updates do."""
    if not len(scales):
        if start.is_integer():
            return start + events
        scales = np.ones(events)
    return float(np.cumsum(np.concatenate(([start], scales)))[-1])


def padded(rows: list[Any], width: int, kind: Any) -> Any:
    """Rows of different lengths as one array, 0 beyond their ends."""
    array = np.zeros((len(rows), width), kind)
    for row, values in zip(array, rows, strict=True):
        row[: len(values)] = values
    return array


def _widened(part: Any, width: int) -> Any:
    return np.pad(part, ((0, 0), (0, width - part.shape[1])))

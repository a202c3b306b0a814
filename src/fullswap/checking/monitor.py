"""A watch over one stream of forecasts: is it still right?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.keys import event_name, event_names
from fullswap.base.protocols import Points, Vector
from fullswap.checking.evidence_inputs import NO_ROWS, probabilities_of
from fullswap.checking.evidence_rows import blank_rows, log10_most, log10_now
from fullswap.checking.monitor_alarm import Alarm, note
from fullswap.checking.monitor_events import (
    Batch,
    Settled,
    Waiting,
    one_event,
    refuse_settled,
    remember,
    sort_rows,
    waiting_of,
)
from fullswap.checking.monitor_settings import Settings
from fullswap.checking.monitor_state import read_monitor, write_monitor
from fullswap.checking.monitor_words import words_of
from fullswap.kernels.evidence import ALARMS, EVENTS, IMPOSSIBLE, MOST_AT, single


class Monitor:
    """Watch forecasts: evidence that they are wrong, and an alarm when they go wrong.

    It bets against every forecast. If the chances are right no bet wins for long, whoever chooses
    the outcomes and however the inputs change; only wrong chances ring.

    Parameters
    ----------
    run_length : float
        Right forecasts ring at most once in so many events, on average.
    classes : int
        2 for yes or no; K for rows of K probabilities, with outcomes 0 to K − 1.
    step : float, optional
        Forecasts are rounded to multiples of it, and count as right up to that.

    Examples
    --------
    >>> monitor = Monitor(run_length=10_000)
    >>> for t in range(400):
    ...     monitor.update(t % 2, 0.3)
    ...     if monitor.drift_detected:
    ...         break
    >>> t, monitor.alarm.direction, monitor.alarm.since
    (99, 'too low', 1)
    """

    def __init__(
        self, run_length: float = 100_000, *, classes: int = 2, step: float | None = None
    ) -> None:
        self._settings = Settings(run_length, classes, step)
        self._begin(blank_rows(1, self._settings.classes))

    def _begin(self, state: Points) -> None:
        self._state = state
        self._row: Vector = state[0]
        self._waiting: Waiting = {}
        self._settled: dict[int, Settled] = {}
        self._alarms: list[Alarm] = []
        self._rang = False

    # --- settings ---------------------------------------------------------------------------------

    @property
    def run_length(self) -> float:
        """Events between two false alarms, at least, on average."""
        return self._settings.run_length

    @property
    def classes(self) -> int:
        """Number of classes; 2 for yes or no."""
        return self._settings.classes

    @property
    def step(self) -> float | None:
        """What forecasts are rounded to multiples of."""
        return self._settings.step

    # --- the verbs --------------------------------------------------------------------------------

    def update(self, y: Any, p: Any, *, event: Any = None, weight: Any = None) -> None:
        """Take the outcome of a forecast, or arrays of both, in order.

        Parameters
        ----------
        y : 0 or 1, a class, or an array of them
            None or NaN: not known yet. Such a forecast waits for ``resolve`` if it has an event,
            otherwise it is left out.
        p : float, K floats, or an array of them
        event : name or sequence of names, optional
            Forecasts of one event share an outcome, and count as one. An event enters with its last
            row in this call, together with its forecasts that ``expect`` noted before, and only
            once: the last thousand names are remembered.
        weight : float or array, optional
            In [0, 1], fixed before the outcome is known.
        """
        s = self._settings
        if (
            event is None and weight is None and s.classes == 2 and isinstance(p, float)
            and isinstance(y, int | float) and (y == 0 or y == 1) and 0.0 <= p <= 1.0
        ):  # fmt: skip
            self._rang = single(s.prior, self._row, s.work, s.run_length, s.half, float(y), p, 1.0)
            if self._rang:
                self._note()
            return
        if np.ndim(p) == (0 if s.classes == 2 else 1):
            y, p = [y], [p]
            event = None if event is None else [event_name(event)]
            weight = None if weight is None else [weight]
        own, table, weights = s.rows(y, p, weight)
        names = event_names(event, len(own))
        self._take(sort_rows(own, table, weights, NO_ROWS, names, {0: self._waiting}))

    def expect(self, p: Any, *, event: Any, weight: float = 1.0) -> None:
        """Note a forecast whose outcome comes later, by ``resolve``."""
        name = event_name(event)
        if name in self._settled.get(0, {}):
            checks.refuse("event", "be one without an outcome yet", event)
        weight = checks.setting("weight", weight, least=0.0, most=1.0)
        if np.ndim(p) != (0 if self.classes == 2 else 1):
            checks.refuse("p", "be one forecast", p)
        row = probabilities_of([p], self.classes)[0]
        self._waiting.setdefault(name, []).append((weight, *row.tolist()))

    def resolve(self, event: Any, y: Any) -> None:
        """Take the outcome of an event, for all of its forecasts that wait."""
        held = waiting_of(self._waiting, event)
        batch = one_event(event_name(event), held, self._settings.outcome(y))
        del self._waiting[event_name(event)]
        self._take(batch)

    def drop(self, *, event: Any) -> None:
        """The outcome of this event will never come: forget its forecasts."""
        waiting_of(self._waiting, event)
        del self._waiting[event_name(event)]

    def _take(self, batch: Batch) -> None:
        refuse_settled(batch, self._settled)
        remember(batch, self._settled)
        for _, name in batch.settled:
            del self._waiting[name]
        for _, name, forecast in batch.added:
            self._waiting.setdefault(name, []).append(forecast)
        self._rang, done = False, 0
        while done < len(batch):
            alarms = self._row[ALARMS]
            done = self._settings.run(self._state, batch, done)
            if self._row[ALARMS] > alarms:
                self._rang = True
                self._note()

    def _note(self) -> None:
        note(self._alarms, Alarm.of_row(self._row, self.classes, self.run_length))

    # --- what it says -----------------------------------------------------------------------------

    @property
    def events(self) -> int:
        """How many outcomes entered."""
        return int(self._row[EVENTS])

    @property
    def impossible(self) -> int:
        """How often a forecast was certain and wrong: 0 % happened, or 100 % did not.

        No calibrated forecaster has such a record. The evidence takes them as 0.01 % and 99.99 %.
        """
        return int(self._row[IMPOSSIBLE])

    @property
    def pending(self) -> tuple[Any, ...]:
        """Names of events whose outcomes are awaited."""
        return tuple(self._waiting)

    @property
    def drift_detected(self) -> bool:
        """Whether the last ``update`` or ``resolve`` rang the alarm."""
        return bool(self._rang)

    @property
    def alarm(self) -> Alarm | None:
        """The latest alarm."""
        return self._alarms[-1] if self._alarms else None

    @property
    def alarms(self) -> list[Alarm]:
        """All alarms, the latest last, one for each flaw; a thousand of them are kept."""
        return list(self._alarms)

    @property
    def evidence(self) -> float:
        """The e-value now: right chances reach E at any moment with chance 1/E at most."""
        return _power(self.log10_evidence)

    @property
    def log10_evidence(self) -> float:
        """log10 of it, which does not overflow."""
        return log10_now(self._row)

    @property
    def evidence_most(self) -> float:
        """The largest e-value so far."""
        return _power(self.log10_evidence_most)

    @property
    def log10_evidence_most(self) -> float:
        """log10 of it."""
        return log10_most(self._row)

    @property
    def most_at(self) -> int:
        """Events seen when the evidence was largest; 0 if that was at the start."""
        return int(self._row[MOST_AT]) + 1

    def __str__(self) -> str:
        return words_of(self)

    def __repr__(self) -> str:
        shown = f"run_length={self.run_length:g}"
        shown += "" if self.classes == 2 else f", classes={self.classes}"
        shown += "" if self.step is None else f", step={self.step}"
        return f"Monitor({shown}; {self.events} events)"

    # --- saved state ------------------------------------------------------------------------------

    def copy(self) -> Monitor:
        """The same monitor once more."""
        other = object.__new__(Monitor)
        other._settings = self._settings
        other._begin(self._state.copy())
        other._waiting = {name: list(held) for name, held in self._waiting.items()}
        other._settled = {place: dict(names) for place, names in self._settled.items()}
        other._alarms, other._rang = list(self._alarms), self._rang
        return other

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Monitor:
        return self.copy()

    def to_json(self) -> str:
        """The whole state as JSON, forecasts that wait included."""
        return write_monitor(self)

    @classmethod
    def from_json(cls, text: str | bytes) -> Monitor:
        """The monitor that ``to_json`` wrote: it goes on as if nothing had happened."""
        return read_monitor(cls, text)

    def __reduce__(self) -> tuple[Any, ...]:
        return Monitor.from_json, (self.to_json(),)


def _power(exponent: float) -> float:
    return 10.0**exponent if exponent < 308 else math.inf

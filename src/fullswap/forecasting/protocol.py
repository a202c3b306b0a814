"""What every forecaster can do, whatever it forecasts and however many streams it is made of."""

from __future__ import annotations

from typing import Any, Protocol, Self, runtime_checkable

from fullswap.certificates import Certificate
from fullswap.online.spec import Spec


@runtime_checkable
class OnlineForecasting(Protocol):
    """Forecast, wait for the outcome, learn; all state saved and copied.

    ``predict`` and ``peek`` take what comes with an event (a recalibrator: the models'
    probabilities), ``run`` the same for many events and then their outcomes.
    """

    @property
    def spec(self) -> Spec:
        """The kind of forecaster as plain data."""

    @property
    def rounds(self) -> int:
        """Forecasts with an outcome so far."""

    @property
    def pending(self) -> tuple[Any, ...]:
        """Forecasts that wait for their outcome, oldest first."""

    @property
    def guarantee(self) -> float | None:
        """A-priori bound on the calibration error; None where nothing is guaranteed."""

    def predict(self, *context: Any, event: Any = None) -> Any:
        """Forecast an event: a ticket with ``id``, ``issued``, ``mean`` and ``event``."""

    def peek(self, *context: Any) -> Any:
        """What would be forecast; nothing is drawn and nothing changes."""

    def update(
        self, outcome: Any, forecast: Any = None, weight: float = 1.0, *, event: Any = None
    ) -> None:
        """Learn the outcome of a forecast, or of an event."""

    def resolve(self, event: Any, outcome: Any, weight: float = 1.0) -> None:
        """Learn the outcome of an event: all its forecasts at once, which count as one."""

    def is_pending(self, event: Any) -> bool:
        """Whether forecasts of this event wait for its outcome."""

    def drop(self, forecast: Any = None, *, event: Any = None) -> None:
        """The outcome of this forecast, or event, will never come."""

    def run(self, *columns: Any, event: Any = None) -> Any:
        """Forecast and learn many events, in compiled code: the same numbers as one by one."""

    def certificate(self) -> Certificate:
        """Measured calibration error of the events so far beside its guarantee."""

    def certificates(self) -> tuple[Certificate, ...]:
        """All that is measured and guaranteed."""

    def explain(self) -> str:
        """What was chosen and why."""

    def copy(self) -> Self:
        """The same forecaster once more."""

    def to_json(self) -> str:
        """The whole state."""

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The forecaster that ``to_json`` wrote."""

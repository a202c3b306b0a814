"""The usual recalibrators, each made to forecast a stream event by event.

All see the same forecasts in the same order and learn an outcome only when it is known, which may
be later, and for several forecasts of one event at once. Frozen ones are fitted on the first
fifth of the stream and then left alone, as is common practice.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np

import fullswap as fs
from fullswap.base.protocols import Vector
from fullswap.online.tickets import Forecast

GRID = 20
"""Forecasts are compared on multiples of 1/GRID."""
REFIT_EVERY = 200
WARM_UP = 0.2
"""Share of the stream on which frozen recalibrators are fitted, and nobody is scored."""


class Contender(Protocol):
    """One way of recalibrating, forecast by forecast."""

    def predict(self, claimed: float, event: int) -> float:
        """The forecast of this event, or the mean of its distribution."""

    def resolve(self, event: int, outcome: float) -> None:
        """What happened: the outcome of all forecasts of this event."""


class Raw:
    """The model's own probability."""

    def predict(self, claimed: float, event: int) -> float:
        """Pass it on."""
        return claimed

    def resolve(self, event: int, outcome: float) -> None:
        """Learn nothing."""


class Refitted:
    """A recalibrator fitted to all events so far, now and then.

    ``fit(claimed, outcomes)`` gives a function from a probability to a probability; until the
    first fit the model's own probability is passed on.
    """

    def __init__(
        self, fit: Callable[[Vector, Vector], Callable[[float], float]], first: int, every: int
    ) -> None:
        self._fit, self._next, self._every = fit, first, every
        self._waiting: dict[int, list[float]] = {}
        self._claimed: list[float] = []
        self._outcomes: list[float] = []
        self._map: Callable[[float], float] = float

    def predict(self, claimed: float, event: int) -> float:
        """The fitted map."""
        self._waiting.setdefault(event, []).append(claimed)
        return self._map(claimed)

    def resolve(self, event: int, outcome: float) -> None:
        """Keep the forecasts; fit when it is time."""
        claimed = self._waiting.pop(event)
        self._claimed += claimed
        self._outcomes += [outcome] * len(claimed)
        if len(self._outcomes) >= self._next:
            self._next = len(self._outcomes) + self._every
            self._map = self._fit(np.array(self._claimed), np.array(self._outcomes))


class GradientPlatt:
    """Logistic regression on the model's logit, one AdaGrad step an event [P99]."""

    def __init__(self) -> None:
        self._weights = np.array([1.0, 0.0])
        self._squares = np.full(2, 1e-8)
        self._waiting: dict[int, list[tuple[Vector, float]]] = {}

    def predict(self, claimed: float, event: int) -> float:
        """σ(a·logit p + b)."""
        features = np.array([_logit(claimed), 1.0])
        forecast = _sigmoid(float(features @ self._weights))
        self._waiting.setdefault(event, []).append((features, forecast))
        return forecast

    def resolve(self, event: int, outcome: float) -> None:
        """A step for every forecast of the event."""
        for features, forecast in self._waiting.pop(event):
            self._step(features, forecast, outcome)

    def _step(self, features: Vector, forecast: float, outcome: float) -> None:
        """Down the log loss."""
        slope = (forecast - outcome) * features
        self._squares += slope**2
        self._weights -= 0.1 * slope / np.sqrt(self._squares)


class NewtonPlatt(GradientPlatt):
    """The same with one Newton step an event, from a prior that trusts the model."""

    def __init__(self) -> None:
        super().__init__()
        self._covariance = np.eye(2)

    def _step(self, features: Vector, forecast: float, outcome: float) -> None:
        """That of a Kalman filter."""
        gain = self._covariance @ features
        curvature = forecast * (1 - forecast)
        gain /= 1 + curvature * float(features @ gain)
        self._covariance -= curvature * np.outer(gain, features @ self._covariance)
        self._weights = self._weights + gain * (outcome - forecast)


def make_recalibrator(seed: int) -> fs.Recalibrator:
    """Ours, as it comes."""
    return fs.Recalibrator(seed=seed)


class Ours:
    """``Recalibrator`` that is not told which forecasts share an outcome; keeps what was issued."""

    def __init__(self, seed: int) -> None:
        self._recalibrator = make_recalibrator(seed)
        self._waiting: dict[int, list[Forecast]] = {}
        self.issued: list[float] = []

    def predict(self, claimed: float, event: int) -> float:
        """Mean of the distribution; the draw is kept."""
        forecast = self._recalibrator.predict(claimed)
        self._waiting.setdefault(event, []).append(forecast)
        self.issued.append(forecast.issued)
        return forecast.mean

    def resolve(self, event: int, outcome: float) -> None:
        """Learn the outcome of every forecast."""
        for forecast in self._waiting.pop(event):
            self._recalibrator.update(outcome, forecast)

    @property
    def guarantee(self) -> float | None:
        """Most calibration error of what was issued, on average over the draws."""
        return self._recalibrator.guarantee


class OursByEvent(Ours):
    """``Recalibrator`` that is told the event: all of its forecasts together count once."""

    def predict(self, claimed: float, event: int) -> float:
        """Mean of the distribution; the draw is kept."""
        forecast = self._recalibrator.predict(claimed, event=event)
        self.issued.append(forecast.issued)
        return forecast.mean

    def resolve(self, event: int, outcome: float) -> None:
        """Learn the outcome of the event."""
        self._recalibrator.resolve(event, outcome)


OURS, WITHOUT_EVENTS = "fullswap", "fullswap without events"
"""Names: told the events, and not told."""


def contenders(forecasts: int, seed: int, shared: bool = False) -> dict[str, Contender]:
    """All of them, by name; scikit-learn's only where it is installed.

    ``shared``: whether forecasts share outcomes, so that it matters who knows of it.
    """
    first = max(1, int(WARM_UP * forecasts))
    players: dict[str, Contender] = {"raw model": Raw()}
    try:
        import sklearn  # noqa: F401
    except ImportError:
        pass
    else:
        players["isotonic, frozen"] = Refitted(_isotonic, first, 2**62)
        players["Platt, frozen"] = Refitted(_platt, first, 2**62)
        players[f"isotonic, refitted every {REFIT_EVERY}"] = Refitted(
            _isotonic, REFIT_EVERY, REFIT_EVERY
        )
    players["Platt, online gradient"] = GradientPlatt()
    players["Platt, online Newton"] = NewtonPlatt()
    players[OURS] = OursByEvent(seed) if shared else Ours(seed)
    if shared:
        players[WITHOUT_EVENTS] = Ours(seed)
    return players


def _isotonic(claimed: Vector, outcomes: Vector) -> Callable[[float], float]:
    from sklearn.isotonic import IsotonicRegression

    fitted = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    fitted.fit(claimed, outcomes)
    # what its predict does, without the overhead of a call for one event
    xs, ys = fitted.X_thresholds_, fitted.y_thresholds_
    return lambda p: float(np.interp(p, xs, ys))


def _platt(claimed: Vector, outcomes: Vector) -> Callable[[float], float]:
    from sklearn.linear_model import LogisticRegression

    if outcomes.min() == outcomes.max():  # it needs both classes
        return float
    logits = np.array([_logit(p) for p in claimed])
    # an outcome between 0 and 1 counts as both, in proportion
    fitted = LogisticRegression(C=1e6).fit(
        np.concatenate((logits, logits))[:, None],
        np.repeat([1, 0], len(logits)),
        sample_weight=np.concatenate((outcomes, 1 - outcomes)),
    )
    slope, shift = float(fitted.coef_[0, 0]), float(fitted.intercept_[0])
    return lambda p: _sigmoid(slope * _logit(p) + shift)


def _logit(p: float) -> float:
    p = min(max(p, 1e-6), 1 - 1e-6)
    return math.log(p / (1 - p))


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))

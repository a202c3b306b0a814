"""The usual recalibrators, each made to forecast a stream event by event.

All see the same events in the same order and learn an outcome only after forecasting it. Frozen
ones are fitted on the first fifth of the stream and then left alone, as is common practice.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np

import fullswap as fs
from fullswap.base.protocols import Vector

GRID = 20
"""Forecasts are compared on multiples of 1/GRID."""
REFIT_EVERY = 200
WARM_UP = 0.2
"""Share of the stream on which frozen recalibrators are fitted, and nobody is scored."""


class Contender(Protocol):
    """One way of recalibrating, event by event."""

    def predict(self, claimed: float) -> float:
        """The forecast, or the mean of its distribution."""

    def update(self, outcome: float) -> None:
        """What happened."""


class Raw:
    """The model's own probability."""

    def predict(self, claimed: float) -> float:
        """Pass it on."""
        return claimed

    def update(self, outcome: float) -> None:
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
        self._claimed: list[float] = []
        self._outcomes: list[float] = []
        self._map: Callable[[float], float] = float

    def predict(self, claimed: float) -> float:
        """The fitted map."""
        self._claimed.append(claimed)
        return self._map(claimed)

    def update(self, outcome: float) -> None:
        """Keep the event; fit when it is time."""
        self._outcomes.append(outcome)
        if len(self._outcomes) >= self._next:
            self._next += self._every
            self._map = self._fit(np.array(self._claimed), np.array(self._outcomes))


class GradientPlatt:
    """Logistic regression on the model's logit, one AdaGrad step an event [P99]."""

    def __init__(self) -> None:
        self._weights = np.array([1.0, 0.0])
        self._squares = np.full(2, 1e-8)
        self._seen = (np.zeros(2), 0.5)

    def predict(self, claimed: float) -> float:
        """σ(a·logit p + b)."""
        features = np.array([_logit(claimed), 1.0])
        self._seen = (features, _sigmoid(float(features @ self._weights)))
        return self._seen[1]

    def update(self, outcome: float) -> None:
        """Step down the log loss."""
        features, forecast = self._seen
        slope = (forecast - outcome) * features
        self._squares += slope**2
        self._weights -= 0.1 * slope / np.sqrt(self._squares)


class NewtonPlatt(GradientPlatt):
    """The same with one Newton step an event, from a prior that trusts the model."""

    def __init__(self) -> None:
        super().__init__()
        self._covariance = np.eye(2)

    def update(self, outcome: float) -> None:
        """Kalman filter step."""
        features, forecast = self._seen
        gain = self._covariance @ features
        curvature = forecast * (1 - forecast)
        gain /= 1 + curvature * float(features @ gain)
        self._covariance -= curvature * np.outer(gain, features @ self._covariance)
        self._weights = self._weights + gain * (outcome - forecast)


def make_recalibrator(seed: int) -> fs.Recalibrator:
    """Ours, on the multiples on which all are scored."""
    return fs.Recalibrator(step=1 / GRID, seed=seed)


class Ours:
    """``Recalibrator``, one event at a time; keeps what was issued."""

    def __init__(self, seed: int) -> None:
        self._recalibrator = make_recalibrator(seed)
        self.issued: list[float] = []

    def predict(self, claimed: float) -> float:
        """Mean of the distribution; the draw is kept."""
        forecast = self._recalibrator.predict(claimed)
        self.issued.append(forecast.issued)
        return forecast.mean

    def update(self, outcome: float) -> None:
        """Learn."""
        self._recalibrator.update(outcome)

    @property
    def guarantee(self) -> float | None:
        """Most calibration error of what was issued, on average over the draws."""
        return self._recalibrator.guarantee


def contenders(events: int, seed: int) -> dict[str, Contender]:
    """All of them, by name; scikit-learn's only where it is installed."""
    first = max(1, int(WARM_UP * events))
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
    players["fullswap"] = Ours(seed)
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

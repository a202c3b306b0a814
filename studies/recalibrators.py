"""``python -m studies recalibrators``: ours beside the usual recalibrators, event by event.

All see the same forecasts in the same order, and each outcome before the next forecast. Forecasts
are scored after the warm-up, and once more over the first events, where little is known yet. For
the calibration error all are rounded to multiples of 5 %, because a continuous forecast is hardly
ever made twice. The adversary sees the mean of a forecast before it chooses, but not the draw.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

import fullswap as fs
from fullswap.base.protocols import Vector
from fullswap.metrics import DistinctForecastsWarning, brier_score, l2_calibration_error
from studies.report.compared import Comparison, Scores, command, means
from studies.report.text import table
from studies.runs import Row

NAME = "recalibrators"
GRID = 20
"""Forecasts are compared on multiples of 1/GRID."""
REFIT_EVERY = 200
WARM_UP = 0.2
"""Share of the stream on which the frozen recalibrator is fitted, and nothing is scored."""
FIRST = 250
"""Events of a cold start."""
RAW, PLATT, ISOTONIC, ONLINE = "model", "Platt, frozen", "isotonic, refitted", "Platt, online"
MEAN, ISSUED = "ours, mean", "ours, issued"
OTHERS = (PLATT, ISOTONIC, ONLINE, MEAN, ISSUED)


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    seed: int = 0
    events: int = 5_000
    runs: int = 5


QUICK = Plan(events=600, runs=1)


class Stream(NamedTuple):
    """A model's probabilities, shape (T,), and outcomes; None: they are chosen by ``answer``."""

    name: str
    claimed: Vector
    outcomes: Vector | None


def answer(mean: float) -> float:
    """The outcome that a forecast with this mean meets; multiples of 5 % are always wrong."""
    return float(mean < 0.525)


def streams(events: int, seed: int) -> Iterator[Stream]:
    """A calibrated model, an overconfident one, two that drift, and an adversary."""
    rng = np.random.default_rng(seed)
    position = np.arange(events) / events

    def drawn(name: str, slope: Any, shift: Any) -> Stream:
        logits = rng.normal(0.0, 1.2, events)
        chance = 1 / (1 + np.exp(-(slope * logits + shift)))
        claimed = 1 / (1 + np.exp(-logits))
        return Stream(name, claimed, (rng.random(events) < chance).astype(float))

    yield drawn("calibrated", 1.0, 0.0)
    yield drawn("overconfident", 0.4, -0.3)
    yield drawn("drifting", 0.7, 1.5 * np.sin(2 * math.pi * 2 * position))
    yield drawn("flipped half-way", np.where(position < 0.5, 1.0, -1.0), 0.0)
    yield Stream("adversarial", 1 / (1 + np.exp(-rng.normal(0.0, 1.2, events))), None)


class Contender(Protocol):
    """One way of recalibrating."""

    def predict(self, claimed: float) -> float:
        """The forecast, or the mean of its distribution."""

    def learn(self, outcome: float) -> None:
        """What happened."""


class Raw:
    """The model's own probability."""

    def predict(self, claimed: float) -> float:
        """Pass it on."""
        return claimed

    def learn(self, outcome: float) -> None:
        """Learn nothing."""


class Refitted:
    """A recalibrator fitted to all events so far, now and then; until then the model's own."""

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

    def learn(self, outcome: float) -> None:
        """Fit when it is time."""
        self._outcomes.append(outcome)
        if len(self._outcomes) == self._next:
            self._next += self._every
            self._map = self._fit(np.array(self._claimed), np.array(self._outcomes))


class NewtonPlatt:
    """Logistic regression on the model's logit, one Newton step an event, from the model itself."""

    def __init__(self) -> None:
        self._weights, self._covariance = np.array([1.0, 0.0]), np.eye(2)
        self._features, self._forecast = np.zeros(2), 0.5

    def predict(self, claimed: float) -> float:
        """σ(a·logit p + b)."""
        self._features = np.array([_logit(claimed), 1.0])
        self._forecast = _sigmoid(float(self._features @ self._weights))
        return self._forecast

    def learn(self, outcome: float) -> None:
        """The step of a Kalman filter."""
        gain = self._covariance @ self._features
        curvature = self._forecast * (1 - self._forecast)
        gain /= 1 + curvature * float(self._features @ gain)
        self._covariance -= curvature * np.outer(gain, self._features @ self._covariance)
        self._weights = self._weights + gain * (outcome - self._forecast)


class Ours:
    """``Recalibrator``; keeps what was issued."""

    def __init__(self, seed: int) -> None:
        self.recalibrator = fs.Recalibrator(seed=seed)
        self.issued: list[float] = []

    def predict(self, claimed: float) -> float:
        """Mean of the distribution; the draw is kept."""
        self._waiting = self.recalibrator.predict(claimed)
        self.issued.append(self._waiting.issued)
        return self._waiting.mean

    def learn(self, outcome: float) -> None:
        """Learn it."""
        self.recalibrator.update(outcome, self._waiting)


def contenders(events: int, seed: int) -> dict[str, Contender]:
    """All of them, by name."""
    return {
        RAW: Raw(),
        PLATT: Refitted(_platt, max(1, int(WARM_UP * events)), 2**62),
        ISOTONIC: Refitted(_isotonic, REFIT_EVERY, REFIT_EVERY),
        ONLINE: NewtonPlatt(),
        MEAN: Ours(seed),
    }


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
    logits = np.array([[_logit(p)] for p in claimed])
    fitted = LogisticRegression(C=1e6).fit(logits, outcomes)
    slope, shift = float(fitted.coef_[0, 0]), float(fitted.intercept_[0])
    return lambda p: _sigmoid(slope * _logit(p) + shift)


def _logit(p: float) -> float:
    p = min(max(p, 1e-6), 1 - 1e-6)
    return math.log(p / (1 - p))


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def measure(plan: Plan) -> Iterator[Row]:
    """A row for every run, stream and contender."""
    for seed in range(plan.seed, plan.seed + plan.runs):
        for stream in streams(plan.events, seed):
            yield from scores(stream, seed)


def scores(stream: Stream, seed: int) -> Iterator[Row]:
    """Every contender on a stream; ours twice, as a mean and as what is issued."""
    for name, contender in contenders(len(stream.claimed), seed).items():
        forecasts, outcomes = play(stream, contender)
        known: Row = {"stream": stream.name, "events": len(outcomes), "seed": seed}
        yield {**known, "contender": name, **_scored(forecasts, outcomes)}
        if isinstance(contender, Ours):
            issued = np.array(contender.issued)
            yield {**known, "contender": ISSUED, **_scored(issued, outcomes)}


def play(stream: Stream, contender: Contender) -> tuple[Vector, Vector]:
    """Forecasts and outcomes, shape (T,) each."""
    forecasts, outcomes = np.empty((2, len(stream.claimed)))
    for t, claimed in enumerate(stream.claimed.tolist()):
        forecasts[t] = contender.predict(claimed)
        happened = stream.outcomes
        outcomes[t] = answer(forecasts[t]) if happened is None else happened[t]
        contender.learn(float(outcomes[t]))
    return forecasts, outcomes


def _scored(forecasts: Vector, outcomes: Vector) -> Row:
    forecasts = np.clip(forecasts, 0.0, 1.0)
    said, happened = (values[int(WARM_UP * len(values)) :] for values in (forecasts, outcomes))
    rounded = np.rint(said * GRID) / GRID
    levels = np.unique(rounded)
    with warnings.catch_warnings():
        # a short stream may well say everything once: the noise beside it tells
        warnings.simplefilter("ignore", DistinctForecastsWarning)
        calibration = l2_calibration_error(happened, rounded) / len(said)
    return {
        "calibration": calibration,
        # what a calibrated forecaster would show by chance, on average
        "noise": float((levels * (1 - levels)).sum()) / len(said),
        "brier": brier_score(happened, said),
        "first_brier": brier_score(outcomes[:FIRST], forecasts[:FIRST]),
    }


def text(rows: list[Row], said: str, plan: Plan) -> str:
    """All tables, each below what it shows."""
    found = means(rows, ("calibration", "noise", "brier", "first_brier"))
    parts = [
        f"{said} Means over {plan.runs} draws of {plan.events:,} events. Scores are of all "
        f"forecasts after the first {100 * WARM_UP:.0f} % of a stream, and once more of the first "
        f"{FIRST} events from the very first one. Ratios are to the model itself: below 1 is "
        "better than the model.",
        "Brier score:", _table(found, partial(_ratio, "brier")),
        f"The same over the first {FIRST} events:", _table(found, partial(_ratio, "first_brier")),
        "Calibration error per forecast less what chance alone would show, × 10⁴:",
        _table(found, _net),
    ]  # fmt: skip
    return "\n\n".join(parts)


def _ratio(key: str, own: Mapping[str, float], raw: Mapping[str, float]) -> str:
    return f"{raw[key]:.4f}" if own is raw else f"{own[key] / raw[key]:.3f}"


def _net(own: Mapping[str, float], raw: Mapping[str, float]) -> str:
    value = 1e4 * (own["calibration"] - own["noise"])
    digits = 1 if abs(value) < 10 else 0
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "−")


def _table(
    found: Mapping[str, Scores], cell: Callable[[dict[str, float], dict[str, float]], str]
) -> str:
    """A row a stream: the model itself, the contenders."""
    lines = [
        (stream, *(cell(own[name], own[RAW]) for name in (RAW, *OTHERS)))
        for stream, own in found.items()
    ]
    return table(("stream", "model itself", *OTHERS), lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    return command(Comparison(NAME, Plan(), QUICK, measure, text), arguments, __doc__)

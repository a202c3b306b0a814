"""Detectors of change, each fed one stream of forecasts and outcomes event by event.

river's detectors watch a number an event: the residual y − p, the Brier score (y − p)², or whether
the likelier outcome failed to happen. They are as river makes them, with no setting changed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from studies.miscalibrated import SPREAD, logit, sigmoid

Vector = NDArray[np.float64]
RUN_LENGTH = 100_000
"""Events between false alarms of ours, on average, at least."""
DUMMY_EVERY = 1_000
HARDER = 0.6
"""Standard deviation of the logits of the forecasts after the inputs have shifted."""


class Detector(Protocol):
    """Something that rings."""

    def alarms(self, y: Vector, p: Vector, seed: int) -> list[int]:
        """Events at which it rings, counted from 0, on a fresh stream."""


@dataclass(frozen=True)
class River:
    """One of river's detectors, and the number that it watches."""

    make: Callable[[int], Any]
    watched: Callable[[Vector, Vector], Vector]

    def alarms(self, y: Vector, p: Vector, seed: int) -> list[int]:
        """It starts anew by itself after each alarm."""
        detector = self.make(seed)
        rang = []
        for t, value in enumerate(self.watched(y, p).tolist()):
            detector.update(value)
            if detector.drift_detected:
                rang.append(t)
        return rang


@dataclass(frozen=True)
class Every:
    """Rings each so many events, whatever happens; the first time at random."""

    events: int = DUMMY_EVERY

    def alarms(self, y: Vector, p: Vector, seed: int) -> list[int]:
        """Without a look at the stream."""
        first = int(np.random.default_rng([seed, 77]).integers(self.events))
        return list(range(first, len(y), self.events))


@dataclass(frozen=True)
class Ours:
    """``fullswap.Monitor``."""

    run_length: int = RUN_LENGTH

    def alarms(self, y: Vector, p: Vector, seed: int) -> list[int]:
        """It starts anew by itself after each alarm."""
        import fullswap as fs

        monitor = fs.Monitor(run_length=self.run_length)
        return monitor_alarms(monitor, y, p)


def monitor_alarms(monitor: Any, y: Vector, p: Vector) -> list[int]:
    """Events at which a monitor rings."""
    rang = []
    for t, (happened, forecast) in enumerate(zip(y.tolist(), p.tolist(), strict=True)):
        monitor.update(happened, forecast)
        if monitor.drift_detected:
            rang.append(t)
    return rang


def residual(y: Vector, p: Vector) -> Vector:
    """Of mean 0 if the forecasts are right."""
    return y - p


def brier(y: Vector, p: Vector) -> Vector:
    """Its mean depends on the inputs, even if the forecasts are right."""
    return np.asarray((y - p) ** 2)


def failed(y: Vector, p: Vector) -> Vector:
    """Whether the likelier outcome did not happen: 0 or 1."""
    return np.asarray((p > 0.5) != (y > 0.5), dtype=np.float64)


def detectors() -> dict[str, Detector]:
    """All of them, by name."""
    from river import drift
    from river.drift import binary

    return {
        f"Monitor({RUN_LENGTH:,})": Ours(),
        "ADWIN on residuals": River(lambda _: drift.ADWIN(), residual),
        "ADWIN on Brier scores": River(lambda _: drift.ADWIN(), brier),
        "Page–Hinkley on residuals": River(lambda _: drift.PageHinkley(), residual),
        "Page–Hinkley on Brier scores": River(lambda _: drift.PageHinkley(), brier),
        "DDM on errors": River(lambda _: binary.DDM(), failed),
        "KSWIN on residuals": River(lambda seed: drift.KSWIN(seed=seed), residual),
        "KSWIN on Brier scores": River(lambda seed: drift.KSWIN(seed=seed), brier),
        f"dummy: each {DUMMY_EVERY:,} events": Every(),
    }


def slow(name: str) -> bool:
    """Whether it takes half a millisecond an event."""
    return name.startswith("KSWIN")


Situation = Callable[[int, int, np.random.Generator], tuple[Vector, Vector]]


def inputs_shift(events: int, change: int, rng: np.random.Generator) -> tuple[Vector, Vector]:
    """Harder cases from the change on; every forecast is right, before and after."""
    spread = np.where(np.arange(events) < change, SPREAD, HARDER)
    p = sigmoid(spread * rng.standard_normal(events))
    return (rng.random(events) < p).astype(np.float64), p


def shifted(events: int, change: int, rng: np.random.Generator) -> tuple[Vector, Vector]:
    """From the change on yes is likelier than said, by half a logit."""
    p = sigmoid(SPREAD * rng.standard_normal(events))
    late = np.arange(events) >= change
    chance = sigmoid(logit(p) + 0.5 * late)
    return (rng.random(events) < chance).astype(np.float64), p


def overconfident(events: int, change: int, rng: np.random.Generator) -> tuple[Vector, Vector]:
    """From the change on the forecasts are too far from one half: slope 0.6 in logits."""
    p = sigmoid(SPREAD * rng.standard_normal(events))
    late = np.arange(events) >= change
    chance = sigmoid(np.where(late, 0.6, 1.0) * logit(p))
    return (rng.random(events) < chance).astype(np.float64), p

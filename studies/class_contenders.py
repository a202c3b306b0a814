"""Ways to forecast events with K classes, each event by event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

import fullswap as fs
from fullswap.base.protocols import Vector
from studies.class_streams import ClassStream, softmax

OURS, GRID = "fullswap, class-wise", "fullswap, grid"
MODEL, ONE_VS_REST = "model itself", "one-vs-rest, normalised"
TEMPERATURE, VECTOR = "temperature, online", "vector scaling, online"
MOST_FULL = 8
"""Classes up to which the grid of whole vectors plays too."""
_TINY = 1e-9
"""Probabilities are at least this before their logarithm is taken."""


class Said(NamedTuple):
    """A vector that sums to 1, the label declared, and what it summed to before."""

    vector: Vector
    declared: int
    total: float


class Contender(Protocol):
    """One way of forecasting."""

    def predict(self, claimed: Vector) -> Said:
        """The forecast of the next event, of which a model claims this."""

    def resolve(self, label: int) -> None:
        """The class that happened."""


def said(vector: Vector) -> Said:
    """A vector whose top class is declared, divided by its sum."""
    total = float(vector.sum())
    whole = vector / total if total > 0 else np.full(len(vector), 1 / len(vector))
    return Said(whole, int(np.argmax(whole)), total)


class Model:
    """The model's own vector."""

    def predict(self, claimed: Vector) -> Said:
        """Pass it on."""
        return said(claimed)

    def resolve(self, label: int) -> None:
        """Learn nothing."""


class Temperature:
    """softmax(a·log p): one Newton step an event down the log loss, from a = 1."""

    def __init__(self) -> None:
        self._slope, self._precision = 1.0, 1.0
        self._logs = self._vector = np.empty(0)

    def predict(self, claimed: Vector) -> Said:
        """The present temperature."""
        self._logs = np.log(np.maximum(claimed, _TINY))
        self._vector = softmax(self._slope * self._logs)
        return said(self._vector)

    def resolve(self, label: int) -> None:
        """The step of a Kalman filter."""
        mean = float(self._vector @ self._logs)
        self._precision += float(self._vector @ (self._logs - mean) ** 2)
        self._slope += (float(self._logs[label]) - mean) / self._precision


class VectorScaling:
    """softmax(a_k·log p_k + b_k): a slope and a shift a class, one AdaGrad step an event.

    p has the right temperature already, which is learnt beside it: without that, a hundred slopes
    that start at 1 take too long, and the rival would be weaker than it needs to be.
    """

    def __init__(self, classes: int) -> None:
        self._temperature = Temperature()
        self._weights = np.vstack((np.ones(classes), np.zeros(classes)))
        self._squares = np.full((2, classes), 1e-8)
        self._features = np.ones((2, classes))
        self._vector = np.empty(0)

    def predict(self, claimed: Vector) -> Said:
        """The present slopes and shifts."""
        self._features[0] = np.log(np.maximum(self._temperature.predict(claimed).vector, _TINY))
        self._vector = softmax((self._weights * self._features).sum(axis=0))
        return said(self._vector)

    def resolve(self, label: int) -> None:
        """Down the log loss."""
        self._temperature.resolve(label)
        excess = self._vector.copy()
        excess[label] -= 1
        slope = excess * self._features
        self._squares += slope**2
        self._weights -= 0.1 * slope / np.sqrt(self._squares)


class OneVsRest:
    """A yes-or-no forecaster of each class on its own; what they say is divided by its sum."""

    def __init__(self, classes: int, modelled: bool, seed: int) -> None:
        pattern: Any = fs.Recalibrator(seed=seed) if modelled else fs.Forecaster(seed=seed)
        self._bank, self._modelled = fs.Bank(pattern), modelled
        self._keys = list(range(classes))
        self._waiting: list[Any] = []

    def predict(self, claimed: Vector) -> Said:
        """Means of all classes."""
        columns = (claimed,) if self._modelled else ()
        self._waiting = self._bank.predict(self._keys, *columns)
        return said(np.array([forecast.mean for forecast in self._waiting]))

    def resolve(self, label: int) -> None:
        """Yes for one class, no for all others."""
        self._bank.update(self._waiting, (np.array(self._keys) == label).astype(float))


class Ours:
    """A forecaster of the whole vector."""

    def __init__(self, forecaster: Any, modelled: bool) -> None:
        self._forecaster, self._modelled = forecaster, modelled
        self._waiting: Any = None

    def predict(self, claimed: Vector) -> Said:
        """Its vector, as it is."""
        self._waiting = self._forecaster.predict(*((claimed,) if self._modelled else ()))
        vector = np.asarray(self._waiting.mean)
        declared = self._waiting.declared  # None: the grid declares nothing
        top = int(np.argmax(vector)) if declared is None else int(declared)
        return Said(vector, top, float(vector.sum()))

    def resolve(self, label: int) -> None:
        """Learn it."""
        self._forecaster.update(label, self._waiting)


def contenders(stream: ClassStream, seed: int) -> dict[str, Callable[[], Contender]]:
    """Makers of all that can play here, by name."""
    classes, modelled = stream.classes, stream.claimed is not None

    def ours(calibration: str) -> Ours:
        kind: Any = fs.Recalibrator if modelled else fs.MulticlassForecaster
        return Ours(kind(classes=classes, seed=seed, calibration=calibration), modelled)

    players: dict[str, Callable[[], Contender]] = {
        MODEL: Model,
        TEMPERATURE: Temperature,
        VECTOR: lambda: VectorScaling(classes),
        ONE_VS_REST: lambda: OneVsRest(classes, modelled, seed),
        OURS: lambda: ours("classwise"),
    }
    if classes <= MOST_FULL:
        players[GRID] = lambda: ours("full")
    return players

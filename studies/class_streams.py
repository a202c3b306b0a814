"""Streams of events with K classes: made ones, adversaries, and two data sets with online models.

A stream without a model lends the shares of the classes so far to those who need one. Against an
adversary the outcome depends on the vector that was said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fullswap.base.protocols import Indices, Points, Vector

CELLS = 15
"""Cells of the soft bins, for scores and for the greedy adversary."""
SHARPENED = 6.0
"""The model of the digits says its logits times this: far too sure of itself."""
RATE = 0.05
"""Learning rate of that model."""


class Adversary(Protocol):
    """Chooses classes when it has seen the forecast."""

    def choose(self, event: int, said: Vector) -> int:
        """The class that happens."""


@dataclass(frozen=True, eq=False)
class ClassStream:
    """Events in order.

    Attributes
    ----------
    name : str
        What it is.
    classes : int
        K.
    claimed : Points or None
        A model's vectors, shape (T, K); None: there is no model.
    labels : Indices
        Classes that happened, shape (T,); for an adversary only a place for them.
    adversary : callable or None
        Makes a new adversary.
    """

    name: str
    classes: int
    claimed: Points | None
    labels: Indices
    adversary: Callable[[], Adversary] | None = None


def soft_bins(values: Vector) -> tuple[Indices, Vector]:
    """Left neighbour on the grid sin²(πi/2N) and the weight of it; the right one has the rest.

    Examples
    --------
    >>> left, weight = soft_bins(np.array([0.0, 0.5, 1.0]))
    >>> left.tolist(), weight.round(3).tolist()
    ([0, 7, 14], [1.0, 0.5, 0.0])
    """
    grid = np.sin(np.pi * np.arange(CELLS + 1) / (2 * CELLS)) ** 2
    left = np.clip(np.searchsorted(grid, values, side="right") - 1, 0, CELLS - 1)
    weight = (grid[left + 1] - values) / (grid[left + 1] - grid[left])
    return left, np.clip(weight, 0.0, 1.0)


@dataclass
class MeanAware:
    """The class whose chance, by a plan, most exceeds what is said of it."""

    plan: Points

    def choose(self, event: int, said: Vector) -> int:
        """Against the vector."""
        return int(np.argmax(self.plan[event] - said))


class Greedy:
    """The class that adds most to the class-wise error in soft bins."""

    def __init__(self, classes: int) -> None:
        self._mass = np.zeros((classes, CELLS + 1))
        self._excess = np.zeros((classes, CELLS + 1))
        self._rows = np.arange(classes)

    def choose(self, event: int, said: Vector) -> int:
        """Happened compared with not happened, class by class."""
        left, weight = soft_bins(said)
        gain = np.zeros(len(said))
        sides = ((left, weight), (left + 1, 1 - weight))
        for place, share in sides:
            mass = self._mass[self._rows, place] + share + 1e-9
            excess = self._excess[self._rows, place] - share * said
            gain += ((excess + share) ** 2 - excess**2) / mass
        chosen = int(np.argmax(gain))
        happened = (self._rows == chosen).astype(float)
        for place, share in sides:
            self._mass[self._rows, place] += share
            self._excess[self._rows, place] += share * (happened - said)
        return chosen


def made(events: int, classes: int, seed: int) -> Iterator[ClassStream]:
    """Shares by Zipf's law, the same turned round, two adversaries, and an over-confident model."""
    rng = np.random.default_rng([seed, classes])
    shares = 1 / np.arange(1, classes + 1)
    shares /= shares.sum()
    plain = np.tile(shares, (events, 1))
    turned = np.where((np.arange(events) * 4 // events % 2 == 0)[:, None], plain, plain[:, ::-1])
    nothing = np.zeros(events, dtype=int)
    yield ClassStream("Zipf", classes, None, drawn(plain, rng))
    yield ClassStream("switching", classes, None, drawn(turned, rng))
    yield ClassStream("against the mean", classes, None, nothing, lambda: MeanAware(turned))
    yield ClassStream("greedy", classes, None, nothing, lambda: Greedy(classes))
    logits = rng.normal(0.0, 1.5, (events, classes)) + np.log(shares)
    claimed = softmax(1.8 * logits + rng.normal(0.0, 0.5, classes))
    yield ClassStream("over-confident model", classes, claimed, drawn(softmax(logits), rng))


def image_segments(most: int | None = None) -> ClassStream:
    """river's ImageSegments with its naive Bayes model, which learns as it goes."""
    from river import datasets, naive_bayes, preprocessing

    model = preprocessing.StandardScaler() | naive_bayes.GaussianNB()
    rows = list(datasets.ImageSegments())[:most]
    names = sorted({label for _, label in rows})
    claimed = np.full((len(rows), len(names)), 1 / len(names))
    for event, (features, label) in enumerate(rows):
        said = model.predict_proba_one(features)
        if said:
            claimed[event] = [max(said.get(name, 0.0), 0.0) for name in names]
        model.learn_one(features, label)
    claimed /= claimed.sum(axis=1, keepdims=True)
    labels = np.array([names.index(label) for _, label in rows])
    return ClassStream("ImageSegments, naive Bayes", len(names), claimed, labels)


def digits(seed: int, most: int | None = None) -> ClassStream:
    """scikit-learn's digits, shuffled, and a softmax regression that exaggerates what it learns."""
    from sklearn.datasets import load_digits

    data = load_digits()
    order = np.random.default_rng([seed, 64]).permutation(len(data.target))[:most]
    features, labels = data.data[order] / 16, data.target[order]
    features = np.column_stack((features, np.ones(len(features))))
    weights = np.zeros((features.shape[1], 10))
    claimed = np.empty((len(labels), 10))
    for event, (row, label) in enumerate(zip(features, labels, strict=True)):
        logits = row @ weights
        claimed[event] = softmax(SHARPENED * logits)
        slope = softmax(logits)
        slope[label] -= 1
        weights -= RATE * np.outer(row, slope)
    return ClassStream(f"digits, logits × {SHARPENED:.0f}", 10, claimed, labels.astype(int))


def drawn(chances: Points, rng: np.random.Generator) -> Indices:
    """A class from each row."""
    above = np.cumsum(chances, axis=1) > rng.random(len(chances))[:, None]
    return np.asarray(np.where(above.any(axis=1), above.argmax(axis=1), chances.shape[1] - 1))


def softmax(logits: Points) -> Points:
    """e^x/Σe^x over the last axis."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))

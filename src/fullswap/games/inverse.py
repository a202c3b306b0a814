"""From points of the hull to mixed actions: in which coordinates, and one fixed answer for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Indices, Mixture, Points, Vector
from fullswap.games.actions import Action, ActionSet, Column, column_of
from fullswap.games.decompose import Mixed, decompose
from fullswap.games.hull import Hull

Oracle = Callable[[Vector], Mixed]
"""A point (dim,) of the embedding space ↦ actions and weights whose mean is the point."""
_MEAN = 1e-6  # means of decompositions may miss their points by this share of the coordinates
_BEYOND = 1e-6  # share of a payoff vector outside of the span of the given ones that is rounding


class Coordinates(Protocol):
    """How the coordinates y (A,) of a learner's points are read in the game."""

    def mixed(self, point: Vector) -> Mixed:
        """A mixed action whose mean is the point (A,)."""

    def losses(self, vectors: Points) -> Points:
        """Rows g (T, A) so that ⟨y, g⟩ is −⟨v, w⟩ but for a constant, for vectors w (T, dim)."""


@dataclass(frozen=True)
class Embedded:
    """The learner's points are embeddings."""

    actions: ActionSet
    oracle: Oracle | None

    def mixed(self, point: Vector) -> Mixed:
        """By the oracle, or by best responses."""
        if self.oracle is None:
            return decompose(self.actions, point)
        return checked_mixed(self.oracle, self.actions, point)

    def losses(self, vectors: Points) -> Points:
        """The same vectors."""
        return -vectors


@dataclass(frozen=True, eq=False)
class OnHull:
    """The learner plays in the coordinates of a hull, in which payoffs are ⟨y, w·axes⟩."""

    hull: Hull
    axes: Points
    oracle: Oracle | None = None
    beyond: Points | None = None
    """What w·beyond is not 0 cannot be told in these coordinates."""

    def mixed(self, point: Vector) -> Mixed:
        """As the hull remembers it, or by the oracle."""
        if self.oracle is None:
            return self.hull.mixed_at(point)
        place = self.hull.origin + self.hull.axes @ point
        return checked_mixed(self.oracle, self.hull.actions, place)

    def losses(self, vectors: Points) -> Points:
        """Along the axes."""
        # sums, not matrix products: a row must come out the same alone and among others
        if self.beyond is not None:
            missed = np.abs((vectors[:, :, None] * self.beyond).sum(axis=1)).max(axis=1)
            outside = missed > _BEYOND * np.abs(vectors).max(axis=1)
            rule = "be mixtures of those given as bound, inside of their span"
            checks.refuse_at("vectors", rule, vectors, outside)
        return np.asarray(-(vectors[:, :, None] * self.axes).sum(axis=1))


def checked_mixed(oracle: Oracle, actions: ActionSet, point: Vector) -> Mixed:
    """The oracle's answer, if it is a mixed action with that mean: all rests on it."""
    column, given = oracle(point)
    chosen = actions.check(column, "the actions of oracle(point)")
    weights = checks.vector("the weights of oracle(point)", given, len(chosen))
    total = float(weights.sum())
    if weights.min(initial=0.0) < 0 or abs(total - 1) > _MEAN:
        checks.refuse("the weights of oracle(point)", "be at least 0 and sum to 1", weights)
    weights = weights / total
    mean = weights @ actions.embed(chosen)
    if np.abs(mean - point).max() > _MEAN * max(1.0, float(np.abs(point).max())):
        checks.refuse("oracle(point)", f"be a mixed action with mean {point}", mean)
    return chosen, weights


class Inverse:
    """One fixed mixed action λ_s for each point s, asked for once; actions get labels 0, 1, …"""

    def __init__(self, coordinates: Coordinates) -> None:
        self._coordinates = coordinates
        self._labels: dict[Action, int] = {}
        self._actions: list[Action] = []
        self._rows: dict[bytes, int] = {}  # by point
        self._points: Points = np.zeros((0, 0))  # by the learner's own number of a point,
        self._row_of: Indices = np.zeros(0, np.int64)  # with its row, or −1
        # row by row, padded with weight 0
        self._mixed: Indices = np.zeros((0, 1), np.int64)
        self._shares: Points = np.zeros((0, 1))

    def __len__(self) -> int:
        return len(self._labels)

    def column(self, labels: Indices | None = None) -> Column:
        """Actions by label."""
        if labels is None:
            return column_of(self._actions)
        return column_of([self._actions[label] for label in labels])

    def mix(self, mixture: Mixture) -> tuple[Indices, Vector]:
        """Labels and positive weights of Σ_s x[s]·λ_s."""
        weights = np.asarray(mixture.weights)
        rows = self._numbered(mixture)
        total = np.bincount(
            self._mixed[rows].ravel(), (self._shares[rows] * weights[:, None]).ravel(), len(self)
        )
        labels = np.flatnonzero(total > 0)
        return labels, total[labels].astype(float)

    def labels(self, points: Points) -> Indices:
        """Labels of all actions that points (m, A) lead to, in rising order."""
        rows = self._by_value(points)
        return np.unique(self._mixed[rows][self._shares[rows] > 0])

    def _numbered(self, mixture: Mixture) -> Indices:
        """Rows of the points: by the learner's own numbers if they stand for the same points."""
        points, numbers = np.asarray(mixture.points), mixture.indices
        if numbers is None:
            return self._by_value(points)
        most = int(numbers.max(initial=-1)) + 1
        if most > len(self._row_of):
            room = max(most, 2 * len(self._row_of))
            row_of, known = np.full(room, -1), np.zeros((room, points.shape[1]))
            row_of[: len(self._row_of)] = self._row_of
            known[: len(self._points), : self._points.shape[1]] = self._points
            self._row_of, self._points = row_of, known
        rows = self._row_of[numbers]
        # a number that now stands for another point is looked up by the point
        wrong = (rows < 0) | (self._points[numbers] != points).any(axis=1)
        if wrong.any():
            rows[wrong] = self._by_value(points[wrong])
            self._row_of[numbers], self._points[numbers] = rows, points
        return rows

    def _by_value(self, points: Points) -> Indices:
        keys = [point.tobytes() for point in points + 0.0]
        for key, point in zip(keys, points, strict=True):
            if key not in self._rows:
                self._append(key, *self._coordinates.mixed(point))
        return np.array([self._rows[key] for key in keys], dtype=np.int64)

    def _append(self, key: bytes, actions: Column, weights: Vector) -> None:
        row, width = len(self._rows), max(self._mixed.shape[1], len(weights))
        if row == len(self._mixed) or width > self._mixed.shape[1]:
            room = 2 * row + 64 if row == len(self._mixed) else len(self._mixed)
            mixed, shares = np.zeros((room, width), np.int64), np.zeros((room, width))
            here = slice(row), slice(self._mixed.shape[1])
            mixed[here], shares[here] = self._mixed[:row], self._shares[:row]
            self._mixed, self._shares = mixed, shares
        labels = [self._label(action) for action in actions.tolist()]
        self._mixed[row, : len(labels)], self._shares[row, : len(labels)] = labels, weights
        self._rows[key] = row

    def _label(self, action: Action) -> int:
        label = self._labels.setdefault(action, len(self._actions))
        if label == len(self._actions):
            self._actions.append(action)
        return label

"""From points of the hull to mixed actions: in which coordinates, and one fixed answer for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Indices, Mixture, Points, Vector
from fullswap.games.actions import Action, ActionSet, Column, column_of
from fullswap.games.decompose import Mixed, decompose
from fullswap.games.hull import Hull

Oracle = Callable[[Vector], Mixed]
"""A point (dim,) of the embedding space ↦ actions and weights whose mean is the point."""
_MEAN = 1e-9  # means of decompositions may miss their points by this share of the hull's extent
_WEIGHTS = 1e-6  # and weights a sum of 1 by this
_BEYOND = 1e-9  # share of the payoffs that coordinates may miss unsaid: beside it, rounding
_ROUNDING = 1e-14  # share of the coordinates that is rounding


class Coordinates(Protocol):
    """How the coordinates y (A,) of a learner's points are read in the game."""

    def mixed(self, point: Vector) -> Mixed:
        """A mixed action whose mean is the point (A,)."""

    def losses(self, vectors: Points) -> Points:
        """Rows g (T, A) so that ⟨y, g⟩ is −⟨v, w⟩ but for a constant, for vectors w (T, dim)."""

    @property
    def missed(self) -> float:
        """So much of the payoffs of a round these coordinates may not see."""


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

    @property
    def missed(self) -> float:
        """Nothing."""
        return 0.0


@dataclass(frozen=True, eq=False)
class OnHull:
    """The learner plays in the coordinates y = v·inward of a hull; payoffs are ⟨y, w·axes⟩.

    That is ⟨v, w·axes·inwardᵀ⟩. What is missing, ⟨v, w − w·axes·inwardᵀ⟩, differs between actions
    by at most Σ_k |w·u_k|·σ_k, u_k and v_k the singular vectors of 1 − axes·inwardᵀ and σ_k its
    singular value times the width of the hull along v_k: directions in which the hull is next to
    flat, or into which no payoff vector reaches.
    """

    hull: Hull
    axes: Points
    inward: Points
    actions: ActionSet
    bound: Points | float | None = None
    """Vectors of which all payoff vectors are mixtures, or their largest length."""
    payoffs: float = 0.0
    """The largest difference of payoffs, where it is known: what is rounding beside it."""
    oracle: Oracle | None = None

    def mixed(self, point: Vector) -> Mixed:
        """As the hull remembers it, or by the oracle."""
        if self.oracle is None:
            return self.hull.mixed_at(point)
        place = self.hull.origin + self.hull.axes @ point
        return checked_mixed(self.oracle, self.hull.actions, place)

    def losses(self, vectors: Points) -> Points:
        """Along the axes."""
        # sums, not matrix products: a row must come out the same alone and among others
        if isinstance(self.bound, np.ndarray):
            ways, widths, extents = self._unseen
            unseen = (np.abs((vectors[:, :, None] * ways).sum(axis=1)) * widths).sum(axis=1)
            rounding = _ROUNDING * (np.abs(vectors) * extents).sum(axis=1)
            allowed = self.missed * (1 + _BEYOND) + _BEYOND * self.payoffs + rounding
            rule = "be mixtures of those given as bound, inside of their span"
            checks.refuse_at("vectors", rule, vectors, unseen > allowed)
        return np.asarray(-(vectors[:, :, None] * self.axes).sum(axis=1))

    @cached_property
    def _unseen(self) -> tuple[Points, Vector, Vector]:
        """u (dim, dim) and σ (dim,); and the extent of the hull along each coordinate (dim,)."""
        ways, values, turned = np.linalg.svd(np.eye(len(self.axes)) - self.axes @ self.inward.T)
        axes = np.eye(self.actions.dim)
        return ways, values * widths_of(self.actions, turned), widths_of(self.actions, axes)

    @cached_property
    def missed(self) -> float:
        """Σ_k |w·u_k|·σ_k at most; 0 where that is rounding."""
        ways, widths, extents = self._unseen
        if isinstance(self.bound, np.ndarray):
            unseen = float((np.abs(self.bound @ ways) @ widths).max())
            rounding = _ROUNDING * float((np.abs(self.bound) @ extents).max())
        else:
            length = 1.0 if self.bound is None else self.bound
            unseen = length * float(np.linalg.norm(widths))
            rounding = _ROUNDING * length * float(np.linalg.norm(extents))
        return unseen if unseen > rounding + _BEYOND * self.payoffs else 0.0


def widths_of(actions: ActionSet, directions: Points) -> Vector:
    """How far the hull of the embeddings reaches along directions (k, dim): payoffs differ so much.

    The directions may be payoff vectors.
    """
    ends = actions.best(directions)[1] + actions.best(-directions)[1]
    return np.asarray(np.maximum(ends, 0.0))


def checked_mixed(oracle: Oracle, actions: ActionSet, point: Vector) -> Mixed:
    """The oracle's answer, if it is a mixed action with that mean: all rests on it."""
    column, given = oracle(point)
    chosen = actions.check(column, "the actions of oracle(point)")
    weights = checks.vector("the weights of oracle(point)", given, len(chosen))
    total = float(weights.sum())
    if weights.min(initial=0.0) < 0 or abs(total - 1) > _WEIGHTS:
        checks.refuse("the weights of oracle(point)", "be at least 0 and sum to 1", weights)
    weights = weights / total
    mean = weights @ actions.embed(chosen)
    allowed = _MEAN * float(widths_of(actions, np.eye(actions.dim)).max()) + _ROUNDING * float(
        np.abs(point).max()
    )
    if np.abs(mean - point).max() > allowed:
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

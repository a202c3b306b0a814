"""Cumulative losses per support point: all that swap regret depends on.

Losses of the quadratic family add up to one row of coefficients per point, so memory does not
grow with the rounds. Losses given as functions are kept once each, with the weight that every
point carried when they came.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.base.protocols import Indices, Loss, Points, Vector
from fullswap.losses import QuadraticFamily
from fullswap.transcripts import Transcript


class Tally:
    """For each of P points s: Σ_t x_t[s], and the function Σ_t x_t[s]·ℓ_t."""

    def __init__(self, ambient_dim: int) -> None:
        self.points: Points = np.zeros((0, ambient_dim))
        self.weights: Vector = np.zeros(0)
        self.sums: Points = np.zeros((0, ambient_dim + 2))
        self.recommended: Vector = np.zeros(0)
        """Σ_t x_t[s]·ℓ_t(q_{s,t}), where a learner reports its recommendations."""
        self.others: dict[int, tuple[Loss, Vector]] = {}
        self._labels: dict[bytes, int] = {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # copies of losses have ids of their own
        self.others = {id(loss): (loss, held) for loss, held in self.others.values()}

    def labels_of(self, points: Points) -> Indices:
        """Rows of the points; points not seen before get new rows."""
        keys = [row.tobytes() for row in points + 0.0]
        labels = [self._labels.setdefault(key, len(self._labels)) for key in keys]
        missing = len(self._labels) - len(self.points)
        if missing:
            fresh = {label: row for label, row in zip(labels, points, strict=True)}
            rows = [fresh[len(self.points) + i] for i in range(missing)]
            self.points = np.vstack((self.points, rows))
            self.weights = np.append(self.weights, np.zeros(missing))
            self.recommended = np.append(self.recommended, np.zeros(missing))
            self.sums = np.vstack((self.sums, np.zeros((missing, self.sums.shape[1]))))
            self.others = {
                key: (loss, np.append(held, np.zeros(missing)))
                for key, (loss, held) in self.others.items()
            }
        return np.array(labels, dtype=np.int64)

    def add(self, labels: Indices, weights: Vector, loss: Loss) -> None:
        """One round: distinct labels with their weights, and the loss they met."""
        if isinstance(loss, QuadraticFamily):
            from fullswap.kernels.quadratic import add_to_tally

            add_to_tally(self.weights, self.sums, labels, weights, loss.coefficients)
            return
        self.weights[labels] += weights
        # the loss is kept, so its id cannot be given to another one meanwhile
        held = self.others.setdefault(id(loss), (loss, np.zeros(len(self.points))))[1]
        held[labels] += weights

    @classmethod
    def from_transcript(cls, transcript: Transcript) -> Tally:
        """Add up a whole transcript."""
        from scipy.sparse import csr_matrix

        rounds, width = transcript.weights.shape
        bounds = np.arange(0, rounds * width + 1, width)
        entries = (transcript.weights.ravel(), transcript.indices.ravel(), bounds)
        play = csr_matrix(entries, shape=(rounds, len(transcript.points))).T.tocsr()
        tally = cls(transcript.action_set.ambient_dim)
        tally.labels_of(transcript.points)
        tally.weights = np.asarray(play.sum(axis=1)).ravel()
        if transcript.coefficients is not None:
            tally.sums = np.asarray(play @ transcript.coefficients)
            return tally
        assert transcript.losses is not None
        distinct = {id(loss): loss for loss in transcript.losses}
        column = {key: j for j, key in enumerate(distinct)}
        met = np.array([column[id(loss)] for loss in transcript.losses], dtype=np.int64)
        choice = csr_matrix(
            (np.ones(rounds), met, np.arange(rounds + 1)), shape=(rounds, len(distinct))
        )
        shares = np.asarray((play @ choice).todense())
        for key, loss in distinct.items():
            if isinstance(loss, QuadraticFamily):
                tally.sums += shares[:, column[key], None] * loss.coefficients
            else:
                tally.others[key] = (loss, shares[:, column[key]].copy())
        return tally

    def total(self) -> Tally:
        """All points as one: what external regret depends on (at no particular point)."""
        whole = Tally(self.points.shape[1])
        whole.points = np.zeros((1, self.points.shape[1]))
        whole.weights = self.weights.sum(keepdims=True)
        whole.sums = self.sums.sum(axis=0, keepdims=True)
        whole.others = {
            key: (loss, held.sum(keepdims=True)) for key, (loss, held) in self.others.items()
        }
        return whole

    def incurred(self) -> Vector:
        """Σ_t x_t[s]·ℓ_t(s) of every point, shape (P,)."""
        total = _quadratic_values(self.sums, self.points)
        for loss, held in self.others.values():
            met = held > 0
            total[met] += held[met] * loss.value(self.points[met])
        return total

    def at(self, row: int, points: Points) -> Vector:
        """Σ_t x_t[s]·ℓ_t(x) of the point in this row, at many x, shape (m,)."""
        sums = np.broadcast_to(self.sums[row], (len(points), self.sums.shape[1]))
        total = _quadratic_values(sums, points)
        for loss, held in self.others.values():
            if held[row] > 0:
                total += held[row] * loss.value(points)
        return total

    def at_all(self, points: Points) -> Points:
        """Σ_t x_t[s]·ℓ_t(x) of every point s at every x, shape (P, m)."""
        features = np.column_stack((np.square(points).sum(axis=1), points, np.ones(len(points))))
        total = self.sums @ features.T
        for loss, held in self.others.values():
            total += np.outer(held, loss.value(points))
        return total


def _quadratic_values(sums: Points, points: Points) -> Vector:
    """Row-wise a·‖x‖² + ⟨b, x⟩ + c."""
    squares = np.einsum("ij,ij->i", points, points)
    return sums[:, 0] * squares + np.einsum("ij,ij->i", sums[:, 1:-1], points) + sums[:, -1]

"""Cumulative losses per support point: all that swap regret depends on.

Losses of the quadratic family add up to one row of coefficients per point, so memory does not
grow with the rounds. A loss given as functions stands once, with the weight that every point
carried when it came.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Indices, Loss, Points, Vector
from fullswap.base.records import Record
from fullswap.losses import QuadraticFamily


class Tally:
    """For each of P points s: Σ_t x_t[s], and the function Σ_t x_t[s]·ℓ_t."""

    def __init__(self, ambient_dim: int) -> None:
        self.points: Points = np.zeros((0, ambient_dim))
        self.weights: Vector = np.zeros(0)
        self.sums: Points = np.zeros((0, ambient_dim + 2))
        self.recommended: Vector = np.zeros(0)
        """Σ_t x_t[s]·ℓ_t(q_{s,t}), where a learner reports its recommendations."""
        self.others: dict[int, tuple[Loss, Vector]] = {}
        """Losses that are no quadratics by their id, with the weights under them of the points that
        were known when they were last met; see ``weights_under``."""
        self._indices: dict[bytes, int] = {}
        self._room: dict[str, Points | Vector] = {}
        """Arrays of which the public ones are the beginnings, with room to grow."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_room": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # copies of losses have ids of their own
        self.others = {id(loss): (loss, weights) for loss, weights in self.others.values()}

    def indices_of(self, points: Points) -> Indices:
        """Rows of the points; points not seen before get new rows."""
        keys = [row.tobytes() for row in points + 0.0]
        indices = [self._indices.setdefault(key, len(self._indices)) for key in keys]
        missing = len(self._indices) - len(self.points)
        if missing:
            known = len(self.points)
            fresh = {index: row for index, row in zip(indices, points, strict=True)}
            for name in ("points", "weights", "recommended", "sums"):
                setattr(self, name, self._longer(name, missing))
            self.points[known:] = [fresh[known + i] for i in range(missing)]
        return np.array(indices, dtype=np.int64)

    def _longer(self, name: str, more: int) -> Any:
        """The array with so many more rows of zeros; copied only when its room doubles."""
        array, room = getattr(self, name), self._room.get(name)
        size = len(array) + more
        if room is None or array.base is not room or size > len(room):
            room = self._room[name] = np.zeros((max(size, 2 * len(array)), *array.shape[1:]))
            room[: len(array)] = array
        return room[:size]

    def weights_under(self, loss: Loss) -> Vector:
        """Weight of every point under a loss that is no quadratic, shape (P,)."""
        met = self.others[id(loss)][1] if id(loss) in self.others else np.zeros(0)
        # points that came after the loss was last met have no entry yet
        return np.append(met, np.zeros(len(self.points) - len(met)))

    def add(self, indices: Indices, weights: Vector, loss: Loss) -> None:
        """One round: distinct rows with their weights, and the loss they met."""
        if isinstance(loss, QuadraticFamily):
            from fullswap.kernels.quadratic import add_to_tally

            add_to_tally(self.weights, self.sums, indices, weights, loss.coefficients)
            return
        self.weights[indices] += weights
        under_loss = self.weights_under(loss)
        under_loss[indices] += weights
        # the loss stays here, so its id cannot be given to another one meanwhile
        self.others[id(loss)] = (loss, under_loss)

    @classmethod
    def from_record(cls, record: Record) -> Tally:
        """Add up the whole record of a learner."""
        from scipy.sparse import csr_matrix

        if record.action_set is None or record.losses is None:
            checks.refuse("record", "hold the losses of a learner", record)
        rounds, width = record.weights.shape
        bounds = np.arange(0, rounds * width + 1, width)
        tally = cls(record.action_set.ambient_dim)
        # points that are equal, perhaps only by rounding far from 0, are one
        labels = tally.indices_of(record.points)[record.indices]
        entries = (record.weights.ravel(), labels.ravel(), bounds)
        play = csr_matrix(entries, shape=(rounds, len(tally.points))).T.tocsr()
        tally.weights = np.asarray(play.sum(axis=1)).ravel()
        if isinstance(record.losses, np.ndarray):
            tally.sums = np.asarray(play @ record.losses)
            return tally
        rows = np.zeros((rounds, tally.sums.shape[1]))
        others: dict[int, tuple[Loss, list[int]]] = {}
        for t, loss in enumerate(record.losses):
            if isinstance(loss, QuadraticFamily):
                rows[t] = loss.coefficients
            else:
                others.setdefault(id(loss), (loss, []))[1].append(t)
        tally.sums = np.asarray(play @ rows)
        for key, (loss, met_in) in others.items():
            tally.others[key] = (loss, np.asarray(play[:, met_in].sum(axis=1)).ravel())
        return tally

    def total(self) -> Tally:
        """All points as one: what external regret depends on (at no particular point)."""
        whole = Tally(self.points.shape[1])
        whole.points = np.zeros((1, self.points.shape[1]))
        whole.weights = self.weights.sum(keepdims=True)
        whole.sums = self.sums.sum(axis=0, keepdims=True)
        whole.others = {
            key: (loss, weights.sum(keepdims=True)) for key, (loss, weights) in self.others.items()
        }
        return whole

    def incurred(self) -> Vector:
        """Σ_t x_t[s]·ℓ_t(s) of every point, shape (P,)."""
        total = _quadratic_values(self.sums, self.points)
        for loss, weights in self.others.values():
            met = np.flatnonzero(weights > 0)
            total[met] += weights[met] * loss.value(self.points[met])
        return total

    def at(self, row: int, points: Points) -> Vector:
        """Σ_t x_t[s]·ℓ_t(x) of the point in this row, at many x, shape (m,)."""
        sums = np.broadcast_to(self.sums[row], (len(points), self.sums.shape[1]))
        total = _quadratic_values(sums, points)
        for loss, weights in self.others.values():
            if row < len(weights) and weights[row] > 0:
                total += weights[row] * loss.value(points)
        return total

    def slope_at(self, row: int, point: Vector) -> Vector:
        """Gradient of the function of the point in this row, at one x, shape (A,)."""
        total = 2 * self.sums[row, 0] * point + self.sums[row, 1:-1]
        for loss, weights in self.others.values():
            if row < len(weights) and weights[row] > 0:
                total = total + weights[row] * np.asarray(loss.gradient(point[None, :]))[0]
        return np.asarray(total)

    def at_all(self, points: Points) -> Points:
        """Σ_t x_t[s]·ℓ_t(x) of every point s at every x, shape (P, m)."""
        total: Points = self.sums @ quadratic_features(points).T
        for loss, weights in self.others.values():
            total[: len(weights)] += np.outer(weights, loss.value(points))
        return total


def quadratic_features(points: Points) -> Points:
    """(‖x‖², x, 1) of every x: what coefficients of quadratics multiply."""
    return np.column_stack((np.square(points).sum(axis=1), points, np.ones(len(points))))


def _quadratic_values(sums: Points, points: Points) -> Vector:
    """Row-wise a·‖x‖² + ⟨b, x⟩ + c."""
    squares = np.einsum("ij,ij->i", points, points)
    inner = np.einsum("ij,ij->i", sums[:, 1:-1], points)
    values: Vector = sums[:, 0] * squares + inner + sums[:, -1]
    return values

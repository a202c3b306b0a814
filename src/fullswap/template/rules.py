"""How one round is played: three ways to a mixture x with Σ_s x[s]·ℓ(s) ≤ Σ_s x[s]·ℓ(q_s) + δ.

- ``Crossing`` (d = 1, convex losses): two neighbours whose targets cross, O(log n).
- ``Stationary`` (any d): stationary distribution of one recurrent class of sparse rows,
  found lazily from last round's heaviest point.
- ``Dense`` (learners over the grid points): warm-started iteration on the full matrix;
  what residual remains is charged to the certificate.

A rule owns its bank. ``mix()`` gives (indices, weights) of the support; ``learn`` feeds the
loss to the learners there and returns what their recommendations lost.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from fullswap.base.protocols import Indices, Loss, Points, Rounding, Vector
from fullswap.kernels.states import CONSTANT, CURVATURE, POINT, RECOMMENDED, TARGET, WEIGHT
from fullswap.learners import Discretised, GradientDescent, Hedge, RegretMatchingPlus
from fullswap.learners.gradient import GradientState
from fullswap.losses import Custom, QuadraticFamily, piecewise_linear
from fullswap.theorems.learning import residual_tolerance

Descent = GradientDescent | Discretised[GradientState]
Stretch = tuple[int, Indices, Vector, tuple[Vector, Vector, Points]]
"""Rounds played at once; indices and weights (rounds, width) of their supports; and what the grid
points added up: weights, losses of the recommendations, coefficients."""


class Rule(Protocol):
    """One way of playing a round."""

    points: Points
    residual: float

    def mix(self) -> tuple[Indices, Vector]:
        """Support and weights of this round's mixture."""

    def learn(self, loss: Loss, indices: Indices, weights: Vector) -> Vector:
        """Update the bank; return Σ-free losses of the recommendations, one per index."""

    def carried_into(self, fresh: Any) -> Rule:
        """A fresh rule of this kind on a finer grid, with what was learnt where points stayed."""


class Crossing:
    """Crossing on a line, over the packed state of ``fullswap.kernels.loop``."""

    residual = 0.0

    def __init__(self, points: Points, low: float, high: float, rate: Vector, linearised: bool):
        self.points = points
        self.low, self.high, self.rate, self.linearised = low, high, rate, linearised
        self.state = np.zeros((CONSTANT + 1, len(points)))
        self.state[POINT] = self.state[TARGET] = points[:, 0]
        self.hint = len(points) // 2
        self._crossing = self.hint

    def mix(self) -> tuple[Indices, Vector]:
        """One or two neighbours."""
        from fullswap.kernels.crossing import crossing_weight, find_crossing

        # becomes the hint only with the round: looking twice must not change what is found
        i = self._crossing = find_crossing(self.state[POINT], self.state[TARGET], self.hint)
        share = crossing_weight(self.state[POINT], self.state[TARGET], i)
        if i < 0 or share == 0.0:
            return np.array([i + 1]), np.ones(1)
        if share == 1.0:
            return np.array([i]), np.ones(1)
        return np.array([i, i + 1]), np.array([share, 1 - share])

    def learn(self, loss: Loss, indices: Indices, weights: Vector) -> Vector:
        """Scaled gradient steps at the support."""
        from fullswap.kernels.loop import line_learn

        before = self.state[RECOMMENDED, indices]
        if isinstance(loss, QuadraticFamily):
            a, b, c = loss.coefficients
            shape = (self.rate, self.low, self.high, self.linearised)
            for i, g in zip(indices, weights, strict=True):
                line_learn(self.state, *shape, i, g, a, b, c)
        else:
            # a step only sees slope and value at its target: a line stands for the loss
            seen = piecewise_linear(loss, self.points) if self.linearised else loss
            targets = self.state[TARGET, indices][:, None]
            slopes, values = seen.gradient(targets)[:, 0], seen.value(targets)
            constants = values - slopes * targets[:, 0]
            shape = (self.rate, self.low, self.high, False)
            for i, g, slope, c in zip(indices, weights, slopes, constants, strict=True):
                line_learn(self.state, *shape, i, g, 0.0, slope, c)
        self.hint = self._crossing
        result: Vector = (self.state[RECOMMENDED, indices] - before) / weights
        return result

    def run(self, rows: Points, record: bool) -> Stretch:
        """Compiled rounds of quadratic losses (T, 3)."""
        from fullswap.kernels.loop import line_run

        before, count = self.state.copy(), len(rows) if record else 0
        left, share = np.zeros(count, np.int64), np.zeros(count)
        shape = (self.rate, self.low, self.high, self.linearised)
        self.hint = line_run(self.state, *shape, rows, self.hint, left, share)
        gained = self.state - before
        indices = np.column_stack((left, np.minimum(left + 1, len(self.points) - 1)))
        added = gained[WEIGHT], gained[RECOMMENDED], gained[CURVATURE:].T
        return len(rows), indices, np.column_stack((share, 1 - share)), added

    def carried_into(self, fresh: Crossing) -> Crossing:
        """Old points keep their state; new ones start at themselves."""
        places = np.searchsorted(fresh.points[:, 0], self.points[:, 0])
        fresh.state[:, places] = self.state
        fresh.hint = int(places[min(max(self.hint, 0), len(places) - 1)])
        return fresh


class Stationary:
    """Lazy recurrent class over cached sparse rows; a row changes only when its learner does."""

    residual = 0.0

    def __init__(self, points: Points, learner: Descent, rounding: Rounding, start: int) -> None:
        from fullswap.kernels.stationary import make_scratch

        self.points, self.learner, self.rounding = points, learner, rounding
        n, width = len(points), getattr(rounding, "width", None)
        if width is None:
            width = rounding(points[:1]).indices.shape[1]
        self.bank = learner.init(n)
        # every learner starts at its own point, so every state starts as absorbing
        self.bank.targets[:] = points
        self.row_indices = np.repeat(np.arange(n)[:, None], width, axis=1)
        self.row_weights = np.zeros((n, width))
        self.row_weights[:, 0] = 1.0
        self.heaviest = start
        self.mesh = fused_mesh(learner, rounding)
        self._scratch = make_scratch(n)
        self._stamps = np.zeros(1, np.int64)
        self._members = np.zeros(n, np.int64)
        self._weights = np.zeros(max(n, 64))
        self._work = np.zeros((64, 64))

    def mix(self) -> tuple[Indices, Vector]:
        """One recurrent class with its stationary distribution."""
        from fullswap.kernels.stationary import stationary_sparse

        while True:
            self._stamps[0] += 1
            size = stationary_sparse(
                self.row_indices, self.row_weights, self.heaviest, self._scratch,
                self._stamps[0], self._work, self._members, self._weights,
            )  # fmt: skip
            if size > 0:
                return self._members[:size].copy(), self._weights[:size].copy()
            self.enlarge(-size)

    def enlarge(self, size: int) -> None:
        """Make room to solve a class of this size."""
        self._work = np.zeros((2 * size, 2 * size))
        self._weights = np.zeros(max(len(self.points), 2 * size))

    @property
    def walk(self) -> tuple[Any, ...]:
        """What the compiled loop needs to find and solve a class."""
        return self._scratch, self._stamps, self._work, self._members, self._weights

    def learn(self, loss: Loss, indices: Indices, weights: Vector) -> Vector:
        """Scaled gradient steps at the support, then round the rows that moved."""
        if self.mesh is not None and isinstance(loss, QuadraticFamily):
            lost = self.mesh.learn(self, loss.coefficients, indices, weights)
        else:
            # the rounding is lossless for the linearised loss, so that is what they lose
            seen = self.learner.seen(loss) if isinstance(self.learner, Discretised) else loss
            lost = np.asarray(seen.value(self.bank.targets[indices]), dtype=float)
            self.bank = self.learner.update(self.bank, loss, weights, indices)
            rows = self.rounding(self.bank.targets[indices])
            self.row_indices[indices], self.row_weights[indices] = rows.indices, rows.weights
        self.heaviest = int(indices[weights.argmax()])
        return lost

    def run(self, rows: Points, record: bool) -> Stretch:
        """Compiled rounds of quadratic losses (T, A + 2), until a class needs more room."""
        assert self.mesh is not None
        # looking at the coming round makes room for its class; later ones may need more
        width = 4 * len(self.mix()[0])
        shape = (len(rows), width) if record else (0, 0)
        where, shares = np.zeros(shape, np.int64), np.zeros(shape)
        played, gained, recommended = self.mesh.run(self, rows, where, shares)
        return played, where[:played], shares[:played], (gained[:, 0], recommended, gained[:, 1:])

    def carried_into(self, fresh: Stationary) -> Stationary:
        """Old points keep their learners; rows are rounded anew on the finer grid."""
        place = {row.tobytes(): i for i, row in enumerate(fresh.points + 0.0)}
        where = np.array([place[row.tobytes()] for row in self.points + 0.0])
        fresh.heaviest = int(where[self.heaviest])
        fresh.bank.targets[where] = self.bank.targets
        fresh.bank.weight_sums[where] = self.bank.weight_sums
        moved = where[self.bank.weight_sums > 0]
        if moved.size:
            rows = fresh.rounding(fresh.bank.targets[moved])
            fresh.row_indices[moved], fresh.row_weights[moved] = rows.indices, rows.weights
        return fresh


def fused_mesh(learner: Any, rounding: Rounding) -> FusedMesh | None:
    """The compiled round: gradient descent on a set and with a rounding that have kernels."""
    make = getattr(rounding, "search", None)
    if not isinstance(learner, GradientDescent) or make is None:
        return None
    shape = learner.action_set.kernel_shape
    search = None if shape is None else make()
    return None if search is None else FusedMesh(learner.rate.parameters(), shape, search)


class FusedMesh:
    """Whole rounds of quadratic losses: arguments of ``fullswap.kernels.mesh``, gathered once."""

    def __init__(self, rate: Vector, shape: Any, search: Any) -> None:
        self._rate, self._shape, self._search = rate, shape, search

    @staticmethod
    def _bank(rule: Stationary) -> tuple[Any, ...]:
        return rule.bank.targets, rule.bank.weight_sums, rule.row_indices, rule.row_weights

    def learn(
        self, rule: Stationary, coefficients: Vector, indices: Indices, weights: Vector
    ) -> Vector:
        """One round's update; returns what each recommendation lost."""
        from fullswap.kernels.mesh import mesh_learn

        lost, room = np.empty(len(indices)), np.empty(len(coefficients) - 2)
        mesh_learn(
            self._bank(rule), self._rate, self._shape, self._search, room,
            indices, weights, coefficients, lost,
        )  # fmt: skip
        return lost

    def run(
        self, rule: Stationary, coefficients: Points, labels: Indices, weights: Vector
    ) -> tuple[int, Points, Vector]:
        """Rounds until the end, or until a class needs more room; see ``mesh_run``."""
        from fullswap.kernels.mesh import mesh_run

        n, width = len(rule.points), coefficients.shape[1]
        gained, recommended, room = np.zeros((n, width + 1)), np.zeros(n), np.empty(width - 2)
        played, rule.heaviest = mesh_run(
            self._bank(rule), self._rate, self._shape, self._search, room,
            rule.walk, rule.heaviest, coefficients, gained, recommended, labels, weights,
        )  # fmt: skip
        return played, gained, recommended


class Dense:
    """Full rows over the grid points, solved by warm-started iteration."""

    def __init__(self, points: Points, learner: Hedge | RegretMatchingPlus):
        self.points, n = points, len(points)
        self.learner: Any = learner
        self.bank = learner.init(n)
        self.residual = 0.0
        """Σ_t ‖x_tQ_t − x_t‖₁ so far."""
        self._all, self._x, self._work = np.arange(n), np.full(n, 1 / n), np.zeros((3, n))
        self._rounds, self._pending = 0, 0.0

    def mix(self) -> tuple[Indices, Vector]:
        """All points, with a distribution that is stationary up to the tolerance."""
        from fullswap.kernels.stationary import gth_in_place, stationary_dense

        rows = self.learner.propose(self.bank)
        n = len(self._x)
        tolerance = residual_tolerance(n, self._rounds + 1)
        left = stationary_dense(rows, self._x, self._work, tolerance, 30)
        if left > tolerance:
            gth_in_place(rows.copy(), n, self._x)
            left = stationary_dense(rows, self._x, self._work, tolerance, 0)
        self._pending = left
        return self._all, self._x.copy()

    def learn(self, loss: Loss, indices: Indices, weights: Vector) -> Vector:
        """Feed all experts' losses to all learners."""
        values = np.asarray(loss.value(self.points), dtype=float)
        lost = self.learner.propose(self.bank) @ values
        self.bank = self.learner.update(self.bank, Custom(lambda _: values), weights)
        self.residual += self._pending
        self._rounds += 1
        return np.asarray(lost)

    def carried_into(self, fresh: Dense) -> Dense:
        """Experts are tied to the grid: start afresh, keep the residual owed."""
        fresh.residual, fresh._rounds = self.residual, self._rounds
        return fresh

"""The greedy adversary: the loss after which swap regret is largest."""

from __future__ import annotations

import numpy as np

from fullswap.adversaries.base import Adversary
from fullswap.adversaries.parameters import Number
from fullswap.base.protocols import Indices, Loss, Mixture, Points, Vector
from fullswap.losses import QuadraticFamily
from fullswap.metrics.tally import Tally


class Greedy(Adversary):
    """Of a small pool, the loss that makes full swap regret largest after this round.

    Only points of this round's mixture change their share, so only they are looked at. The
    pool: losses towards both ends of the segment, towards the rim along each direction of the
    frame, and towards ``extra`` random members. For linear and quadratic losses the look-ahead
    is exact; for losses given as functions deviations are compared on fixed probes.
    """

    name = "greedy"
    extra = Number(2, 0, 16, whole=True)

    def start(self) -> None:
        """Fix the pool."""
        axes = self.action_set.frame[1].T
        self.tally = Tally(self.action_set.ambient_dim)
        losses = [self.losses.towards(self.low_end), self.losses.towards(self.high_end)]
        losses += [self.losses.along(sign * axis) for axis in axes for sign in (-1.0, 1.0)]
        losses += [self.losses.towards(member) for member in self._members(self.extra)]
        self.pool: list[Loss] = list({id(loss): loss for loss in losses}.values())
        self._exact = all(isinstance(loss, QuadraticFamily) for loss in self.pool)
        if self._exact:
            self._rows = np.array([loss.coefficients for loss in self.pool])  # type: ignore[attr-defined]
        else:
            self._probes = self._make_probes()
            self._at_probes = np.array([loss.value(self._probes) for loss in self.pool])

    def choose(self, mixture: Mixture, round_index: int) -> Loss:
        """The best of the pool; the first of several."""
        loss = self.pool[int(self.scores(mixture).argmax())]
        self.tally.add(self.tally.indices_of(mixture.points), mixture.weights, loss)
        return loss

    def scores(self, mixture: Mixture) -> Vector:
        """Swap regret at the mixture's points after each loss of the pool, shape (len(pool),)."""
        gains = self._exact_gains if self._exact else self._probed_gains
        gained = gains(mixture, self.tally.indices_of(mixture.points))
        return np.asarray(np.maximum(gained, 0.0).sum(axis=0))

    def _exact_gains(self, mixture: Mixture, labels: Indices) -> Points:
        """Σ_t x_t[s]·(ℓ_t(s) − min_x ℓ_t(x)) for points s and pool losses, shape (m, J)."""
        points, size = mixture.points, len(self.pool)
        after = self.tally.sums[labels][:, None] + mixture.weights[:, None, None] * self._rows
        rows = after.reshape(len(points) * size, -1)
        best = self.action_set.minimize_quadratic(rows[:, 0], rows[:, 1:-1])
        here = np.repeat(points, size, axis=0)
        squares = np.einsum("ij,ij->i", here, here) - np.einsum("ij,ij->i", best, best)
        gains = rows[:, 0] * squares + np.einsum("ij,ij->i", rows[:, 1:-1], here - best)
        return np.asarray(gains.reshape(len(points), size))

    def _probed_gains(self, mixture: Mixture, labels: Indices) -> Points:
        """The same with the minimum over the probes."""
        held = np.zeros((len(labels), len(self.pool)))
        for j, loss in enumerate(self.pool):
            held[:, j] = self.tally.weights_under(loss)[labels]
        here = np.column_stack([loss.value(mixture.points) for loss in self.pool])
        incurred = (held * here).sum(axis=1)[:, None] + mixture.weights[:, None] * here
        now = mixture.weights[:, None, None] * self._at_probes
        return np.asarray(incurred - ((held @ self._at_probes)[:, None] + now).min(axis=2))

    def _members(self, count: int) -> Points:
        """Random members: projections of normal points of the set's size."""
        basis = self.action_set.frame[1]
        offsets = self.rng.standard_normal((count, basis.shape[1])) @ basis.T
        spread = self.action_set.diameter / (2 * np.sqrt(basis.shape[1]))
        points = self.action_set.center + spread * offsets
        return self.action_set.project(points) if count else points

    def _make_probes(self) -> Points:
        along = np.linspace(0, 1, 65)[:, None] * (self.high_end - self.low_end) + self.low_end
        if self.action_set.dim == 1:
            return along
        axes = self.action_set.frame[1].T
        rim = self.action_set.minimize_linear(np.concatenate((axes, -axes)))
        return np.concatenate((along[::4], rim, self._members(64)))

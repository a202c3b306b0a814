"""External regret only: one gradient descent, as a player without any swap guarantee."""

from __future__ import annotations

import numpy as np

from fullswap.base.protocols import Indices, Loss, Mixture, Vector
from fullswap.learners.gradient import GradientDescent, LipschitzRate, StronglyConvexRate
from fullswap.losses import LossClass
from fullswap.metrics.regret import report
from fullswap.metrics.tally import Tally
from fullswap.rounding import Barycentric, Nearest
from fullswap.sets import ConvexSetBase
from fullswap.template import FullSwapLearner
from fullswap.theorems import Constants


class Descent:
    """Projected gradient descent, its point split over the grid of a full-swap learner.

    On the learner's grid, because a swap tells every point from every other: were the point
    itself played, hardly any would come twice and every round could be swapped on its own.
    """

    def __init__(self, beside: FullSwapLearner) -> None:
        self.action_set: ConvexSetBase = beside.action_set
        losses: LossClass = beside.loss_class
        constants = Constants(
            losses.lipschitz, self.action_set.diameter, losses.strong_convexity, losses.smoothness
        )
        curved = losses.strong_convexity > 0
        self._bank = GradientDescent(
            self.action_set, StronglyConvexRate(constants) if curved else LipschitzRate(constants)
        )
        self._state = self._bank.init(1)
        self._grid = beside.grid
        self._round = Nearest(self._grid) if self._grid.locate is None else Barycentric(self._grid)
        self._tally = Tally(self.action_set.ambient_dim)
        self._labels = self._tally.indices_of(self._grid.points)
        self._lipschitz = losses.lipschitz
        self._in_play = self._split()

    def play(self) -> Mixture:
        """The point in play, split over the grid."""
        indices, weights = self._in_play
        return Mixture(self._grid.points[indices], weights, self._labels[indices])

    def observe(self, loss: Loss) -> None:
        """One step down the loss at the point itself, not at its neighbours."""
        indices, weights = self._in_play
        self._tally.add(self._labels[indices], weights, loss)
        self._state = self._bank.update(self._state, loss, np.ones(1))
        self._in_play = self._split()

    def full_swap_regret(self) -> float:
        """Attained by an explicit swap."""
        return report(self._tally, self.action_set, self._lipschitz).value

    def _split(self) -> tuple[Indices, Vector]:
        split = self._round(self._bank.propose(self._state))
        used = split.weights[0] > 0
        return split.indices[0][used], split.weights[0][used]

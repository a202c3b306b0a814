"""Self-play on the active actions: learners of all players against one another.

If every player has small swap regret, the average of what they play together is nearly a
correlated equilibrium. Averages may weigh later rounds more, since early play is far from
equilibrium: whatever the weights, the average is checked.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.games.restricted import Restricted


class Learner(NamedTuple):
    """What the learner of each action does."""

    code: int  # its number in ``kernels.selfplay``
    rate: float  # step η for payoffs in [0, 1]; 0 where there is none, or where it falls by itself
    power: int  # round t weighs t^power in the average


LEARNERS = {
    "matching": Learner(0, 0.0, 2),
    # no theorem speaks for 16: of 1, 4, 8, …, 64 it took the fewest rounds over rings, auctions
    # and random games of two and three players, and every result is checked
    "optimistic": Learner(1, 16.0, 1),
    "weights": Learner(2, 0.0, 0),
}
RESIDUAL = 1e-4  # how far from stationary mixed actions of many actions may be
_YOUNGER = 0.5  # share of its age that an average keeps when actions are added
_STEADY = 500  # rounds after which a step of multiplicative weights begins to shrink
_WORK = 200_000_000  # operations of one call: part of a second, and its history fits the memory
_OPERATIONS = 8  # operations of a round for each entry of the learners' rows


class SelfPlay:
    """Blum–Mansour learners of all players in a restricted game.

    Mixtures of many actions may be ``residual`` from stationary: their share of the regret is half
    of it times the range of payoffs. Of the ``rounds`` played, ``averaged`` are in the average.
    """

    def __init__(self, restricted: Restricted, learner: str, residual: float = RESIDUAL) -> None:
        self._restricted, self._residual = restricted, residual
        self._learner, self._matching = LEARNERS[learner], learner == "matching"
        self.rounds = self.averaged = 0
        self._joint = np.zeros((0,) * len(restricted.shape))
        self._scores = np.zeros((len(restricted.shape), 0, 0))
        self.fit()

    def fit(self) -> None:
        """Take up actions that were added.

        Regrets are kept, and of new actions there are none yet; the average goes on as if it were
        half as old, so that what was played before soon counts little. Cumulative payoffs would
        put new actions last, so multiplicative weights start afresh, and so do their averages.
        """
        shape = self._restricted.shape
        before = self._joint
        players, most = len(shape), max(shape)
        scores = np.zeros((players, most, most))
        if self._matching:
            known = self._scores.shape[1]
            scores[:, :known, :known] = self._scores
        self._scores = scores
        self._rows = np.zeros((players, most, most))
        self._mixed, self._last = np.zeros((players, most)), np.zeros((players, most))
        self._charges = np.zeros((players, most))
        for p, k in enumerate(shape):
            self._rows[p, :k, :k] = self._mixed[p, :k] = 1 / k
        self._sizes = np.array(shape, dtype=np.int64)
        # multiplicative weights want payoffs in [0, 1]; regrets are to keep their unit
        units = np.ones(players) if self._matching else self._restricted.ranges
        pairs = zip(self._restricted.tables, units, strict=True)
        scaled = [(table - table.min()) / unit for table, unit in pairs]
        self._tables = np.stack([np.moveaxis(t, p, 0).ravel() for p, t in enumerate(scaled)])
        self._joint = np.zeros(shape)
        if self._matching and self.averaged:
            self._joint[tuple(slice(k) for k in before.shape)] = before
            self._joint *= _YOUNGER ** (self._learner.power + 1)
        self.averaged = int(_YOUNGER * self.averaged) if self._matching else 0

    def play(self, rounds: int) -> None:
        """Play on."""
        from fullswap.kernels.selfplay import play_rounds

        players, most = self._mixed.shape
        history = np.empty((rounds, players, most))
        # a step that is large enough to be fast may circle for ever, so it shrinks in the end
        rate = self._learner.rate / (1 + self.averaged / _STEADY) ** 0.5
        play_rounds(
            self._tables, self._sizes, self._scores, self._rows, self._mixed, self._last,
            self._charges, self._learner.code, rate, self._residual,
            history,
        )  # fmt: skip
        ages = self.averaged + np.arange(1, rounds + 1, dtype=np.float64)
        self._joint += joint_play(history, ages**self._learner.power, self._joint.shape)
        self.rounds += rounds
        self.averaged += rounds

    @property
    def work(self) -> int:
        """Operations of a round, about."""
        rows = _OPERATIONS * sum(k * k for k in self._joint.shape)
        return rows + len(self._sizes) * self._joint.size

    @property
    def longest(self) -> int:
        """Rounds to play at once."""
        return max(1, _WORK // self.work)

    def average(self) -> Points:
        """Probabilities of joint actions, shape (k_1, …, k_N)."""
        return np.asarray(self._joint / self._joint.sum())


def joint_play(history: Points, weights: Vector, shape: tuple[int, ...]) -> Points:
    """Σ_t weights[t]·x_1(t) ⊗ … ⊗ x_N(t) for mixed actions (rounds, N, K), shape (k_1, …, k_N)."""
    rest = history[:, 0, : shape[0]] * weights[:, None]
    for p, k in enumerate(shape[1:-1], 1):
        rest = (rest[:, :, None] * history[:, p, None, :k]).reshape(len(rest), -1)
    return np.asarray(rest.T @ history[:, -1, : shape[-1]]).reshape(shape)

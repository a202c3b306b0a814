"""Self-play on the active actions: learners of all players against one another.

If every player has small swap regret, the average of what they play together is nearly a
correlated equilibrium. Later rounds weigh more in the average, since early play is far from
equilibrium: round t weighs t², and the average is checked.
"""

from __future__ import annotations

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.games.restricted import Restricted

_POWER = 2  # round t weighs t^2 in the average
RESIDUAL = 1e-4  # how far from stationary mixed actions of many actions may be
_YOUNGER = 0.5  # share of its age that an average keeps when actions are added
_WORK = 200_000_000  # operations of one call: part of a second, and its history fits the memory
_OPERATIONS = 8  # operations of a round for each entry of the learners' rows


class SelfPlay:
    """Blum–Mansour learners of all players in a restricted game.

    Mixtures of many actions may be ``residual`` from stationary: their share of the regret is half
    of it times the range of payoffs. Of the ``rounds`` played, ``averaged`` are in the average.
    """

    def __init__(self, restricted: Restricted, residual: float = RESIDUAL) -> None:
        self._restricted, self._residual = restricted, residual
        self.rounds = self.averaged = 0
        self._joint = np.zeros((0,) * len(restricted.shape))
        self._scores = np.zeros((len(restricted.shape), 0, 0))
        self.fit()

    def fit(self) -> None:
        """Take up actions that were added.

        Regrets are kept, and of new actions there are none yet; the average goes on as if it were
        half as old, so that what was played before soon counts little.
        """
        shape = self._restricted.shape
        before = self._joint
        players, most = len(shape), max(shape)
        scores = np.zeros((players, most, most))
        known = self._scores.shape[1]
        scores[:, :known, :known] = self._scores
        self._scores = scores
        self._rows = np.zeros((players, most, most))
        self._mixed, self._last = np.zeros((players, most)), np.zeros((players, most))
        for p, k in enumerate(shape):
            self._rows[p, :k, :k] = self._mixed[p, :k] = 1 / k
        self._sizes = np.array(shape, dtype=np.int64)
        shifted = [table - table.min() for table in self._restricted.tables]
        self._tables = np.stack([np.moveaxis(t, p, 0).ravel() for p, t in enumerate(shifted)])
        self._joint = np.zeros(shape)
        self._joint[tuple(slice(k) for k in before.shape)] = before
        self._joint *= _YOUNGER ** (_POWER + 1)
        self.averaged = int(_YOUNGER * self.averaged)

    def play(self, rounds: int) -> None:
        """Play on."""
        from fullswap.kernels.selfplay import play_rounds

        players, most = self._mixed.shape
        history = np.empty((rounds, players, most))
        play_rounds(
            self._tables, self._sizes, self._scores, self._rows, self._mixed, self._last,
            self._residual, history,
        )  # fmt: skip
        ages = self.averaged + np.arange(1, rounds + 1, dtype=np.float64)
        self._joint += joint_play(history, ages**_POWER, self._joint.shape)
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

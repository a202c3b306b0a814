"""Self-play on the active actions: learners of all players against one another.

If every player has small swap regret, the average of what they play together is nearly a
correlated equilibrium. Averages may weigh later rounds more, since early play is far from
equilibrium: whatever the weights, the average is checked.
"""

from __future__ import annotations

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.games.restricted import Restricted

RULES = {"matching": 0, "optimistic": 1, "weights": 2}
_RATES = {"matching": 0.0, "optimistic": 16.0, "weights": 0.0}
"""Steps η for payoffs in [0, 1]; 0 where there is none, or where it falls with the rounds."""
_POWERS = {"matching": 2, "optimistic": 1, "weights": 0}
"""Round t weighs t^power in the average."""


class SelfPlay:
    """Blum–Mansour learners of all players in a restricted game.

    Parameters
    ----------
    restricted : Restricted
        The game.
    rule : {"matching", "optimistic", "weights"}
        What the learner of each action does.
    residual : float
        How far from stationary mixtures of many actions may be: their share of the regret is half
        of it times the range of payoffs.

    Attributes
    ----------
    rounds : int
        Played so far.
    averaged : int
        Of these, the rounds that are in the average: it begins again when actions are added.
    """

    def __init__(self, restricted: Restricted, rule: str, residual: float = 1e-4) -> None:
        self._restricted, self._rule, self._residual = restricted, rule, residual
        self.rounds = 0
        self._scores = np.zeros((len(restricted.shape), 0, 0))
        self.fit()

    def fit(self) -> None:
        """Take up actions that were added: the average begins again.

        Regrets are kept, and of new actions there are none yet; cumulative payoffs would put
        new actions last, so multiplicative weights start afresh.
        """
        shape = self._restricted.shape
        players, most = len(shape), max(shape)
        matching = self._rule == "matching"
        scores = np.zeros((players, most, most))
        if matching:
            before = self._scores.shape[1]
            scores[:, :before, :before] = self._scores
        self._scores = scores
        self._rows = np.zeros((players, most, most))
        self._mixed, self._last = np.zeros((players, most)), np.zeros((players, most))
        self._charges = np.zeros((players, most))
        for p, k in enumerate(shape):
            self._rows[p, :k, :k] = self._mixed[p, :k] = 1 / k
        self._sizes = np.array(shape, dtype=np.int64)
        # multiplicative weights want payoffs in [0, 1]; regrets are to keep their unit
        units = np.ones(players) if matching else self._restricted.ranges
        self._tables = np.stack(
            [
                np.moveaxis((table - table.min()) / unit, p, 0).ravel()
                for p, (table, unit) in enumerate(zip(self._restricted.tables, units, strict=True))
            ]
        )
        self._joint = np.zeros(shape)
        self.averaged = 0

    def play(self, rounds: int) -> None:
        """Play on."""
        from fullswap.kernels.selfplay import play_rounds

        players, most = self._mixed.shape
        history = np.empty((rounds, players, most))
        # a step that is large enough to be fast may circle for ever, so it shrinks in the end
        rate = _RATES[self._rule] / (1 + self.averaged / 500) ** 0.5
        play_rounds(
            self._tables, self._sizes, self._scores, self._rows, self._mixed, self._last,
            self._charges, RULES[self._rule], rate, self._residual,
            history,
        )  # fmt: skip
        ages = self.averaged + np.arange(1, rounds + 1, dtype=np.float64)
        powers = np.power(ages, _POWERS[self._rule])
        self._joint += joint_play(history, powers, self._joint.shape)
        self.rounds += rounds
        self.averaged += rounds

    @property
    def longest(self) -> int:
        """Rounds to play at once: a fraction of a second, and a history that fits the memory."""
        work = 8 * sum(k * k for k in self._joint.shape) + len(self._sizes) * self._joint.size
        return max(1, 200_000_000 // work)

    def average(self) -> Points:
        """Probabilities of joint actions, shape (k_1, …, k_N)."""
        return self._joint / self._joint.sum()


def joint_play(history: Points, weights: Vector, shape: tuple[int, ...]) -> Points:
    """Σ_t weights[t]·x_1(t) ⊗ … ⊗ x_N(t) for mixed actions (rounds, N, K), shape (k_1, …, k_N)."""
    rest = history[:, 0, : shape[0]] * weights[:, None]
    for p, k in enumerate(shape[1:-1], 1):
        rest = (rest[:, :, None] * history[:, p, None, :k]).reshape(len(rest), -1)
    return (rest.T @ history[:, -1, : shape[-1]]).reshape(shape)

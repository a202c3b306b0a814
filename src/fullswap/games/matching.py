"""Regret matching+ of one player who expects the last round again, with no action told apart.

After Tammelin (2014) and Farina, Kroer and Sandholm (2021). The learners of ``selfplay`` are one
for each recommendation; here one stands for the whole player.
"""

from __future__ import annotations

import numpy as np

from fullswap.base.protocols import Points, Vector


class Matcher:
    """Plays actions in proportion to what they would have gained."""

    def __init__(self, size: int) -> None:
        self._regrets = self._last = np.zeros(0)
        self.grow(size)

    def grow(self, size: int) -> None:
        """Take up more actions, without regret; what is expected is forgotten."""
        self._regrets = np.concatenate((self._regrets, np.zeros(size - len(self._regrets))))
        self._last = np.zeros(size)
        self.mixed: Vector = np.full(size, 1 / size)

    def play(self) -> Vector:
        """Probabilities of the actions."""
        expected = np.maximum(self._regrets + self._last, 0.0)
        total = expected.sum()
        if total > 0:
            self.mixed = expected / total
        return self.mixed

    def learn(self, paid: Vector) -> None:
        """What each action would have been paid."""
        self._last = paid - self.mixed @ paid
        self._regrets = np.maximum(self._regrets + self._last, 0.0)


def in_own_units(tables: list[Points]) -> list[Points]:
    """Payoffs divided by their range: learners of any unit are alike."""
    return [t / (float(np.ptp(t)) or 1.0) for t in tables]

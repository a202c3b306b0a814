"""The best equilibrium of a finite game that a run has seen, and what none of them exceeds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fullswap.base.protocols import Indices, Points, Vector
from fullswap.games import portfolio
from fullswap.games.game import StructuredGame
from fullswap.games.profiles import CorrelatedEquilibrium, Optimum
from fullswap.games.record import Record

_START_ROUNDS = 2_000  # of self-play, for some equilibrium to begin with
_START_WORK = portfolio.MOST_WORK / 100  # operations for it: seconds
_LEFT = 0.01  # share of the gap asked for that a mixture leaves to rounding


class BestSoFar:
    """The best profile so far that keeps the gap asked for, and the bound so far.

    ``least``: a small value is better, and the bound is from below.
    """

    def __init__(
        self, game: StructuredGame, record: Record, tables: Sequence[Points], name: str,
        least: bool = False,
    ) -> None:  # fmt: skip
        self.record, self.tables = record, tables
        self._game, self._name, self._sign = game, name, -1.0 if least else 1.0
        self._value, self._bound = -math.inf, math.inf
        self.columns: list[Indices] = []
        self.weights: Vector = np.zeros(0)
        self.method = ""

    def gap(self, joint: Points) -> float:
        """The largest gain of a player, with what payoffs may be wrong by."""
        return table_gap(self.tables, joint, self.record.notion) + float(self.record.slack.max())

    def offer(self, joint: Points, value: float, gap: float, method: str) -> None:
        """A table of probabilities, which counts if its gap is small enough."""
        if gap <= self.record.gap and self._sign * value > self._value:
            self._value, self.method = self._sign * value, method
            self.columns = [np.asarray(at) for at in np.nonzero(joint)]
            self.weights = joint[tuple(self.columns)] / joint.sum()

    def limit(self, bound: float) -> None:
        """No equilibrium has more than this."""
        self._bound = min(self._bound, self._sign * bound)

    @property
    def optimum(self) -> Optimum | None:
        """Of the profile that is best so far; None if there is none."""
        if not len(self.weights):
            return None
        bound = None if math.isinf(self._bound) else self._sign * max(self._bound, self._value)
        return Optimum(self._name, self._sign * self._value, bound)

    @property
    def proved(self) -> bool:
        """Whether nothing better can be found."""
        return self.optimum is not None and self.optimum.proved

    def mended(self, joint: Points, gap: float, safe: Points | None) -> tuple[Points, float]:
        """As little of a known equilibrium as takes the rest of the gap away, which is convex."""
        if gap <= self.record.gap or safe is None:
            return joint, gap
        known = self.gap(safe)
        if known >= self.record.gap:
            return joint, gap
        wanted = (1 - _LEFT) * self.record.gap
        share = min(1.0, (gap - wanted) / max(gap - known, _LEFT * gap))
        mixed = (1 - share) * joint + share * safe
        return mixed, self.gap(mixed)

    def some_equilibrium(
        self, rng: np.random.Generator, earlier: CorrelatedEquilibrium | None
    ) -> tuple[Points, str] | None:
        """Some table with the gap asked for, or better, to begin with, and who found it."""
        known = None
        if earlier is not None:
            self.record.settle(earlier)
            known = self._game.columns(earlier.support)
        if not self.record.done():
            members = portfolio.members_of(self._game, self.record, rng, _START_ROUNDS, known)
            if portfolio.run(members, self.record, _START_WORK):
                raise KeyboardInterrupt  # whoever asked for an end meant all of it
        best = self.record.best()
        if best is None:
            return None
        joint = np.zeros(self.tables[0].shape)
        np.add.at(joint, tuple(self._game.columns(best.support)), best.weights)
        return joint, best.method


def table_gap(tables: Sequence[Points], joint: Points, notion: str) -> float:
    """The largest gain of a player in a finite game."""
    gaps = []
    for p, table in enumerate(tables):
        own = np.moveaxis(joint, p, 0).reshape(joint.shape[p], -1)
        paid = np.moveaxis(table, p, 0).reshape(joint.shape[p], -1)
        if notion == "coarse":
            own = own.sum(axis=0, keepdims=True)
            gaps.append(float((own @ paid.T).max() - (joint * table).sum()))
            continue
        used = np.flatnonzero(own.any(axis=1))
        values = own[used] @ paid.T
        gaps.append(float((values.max(axis=1) - values[np.arange(len(used)), used]).sum()))
    return max(gaps)

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
from fullswap.games.values import (
    ceiling_of,
    levels_of,
    name_of,
    scale_of,
    value_of,
    value_of_payoffs,
)

_START_ROUNDS = 2_000  # of self-play, for some equilibrium to begin with
_START_WORK = portfolio.MOST_WORK / 100  # operations for it: seconds
_LEFT = 0.01  # share of the gap asked for that a mixture leaves to rounding


class BestSoFar:
    """The best profile so far that keeps the gap asked for, and the bound so far.

    ``tables`` are the payoffs less each player's level, and so are values and bounds; ``optimum``
    has the levels back.
    """

    def __init__(
        self, game: StructuredGame, record: Record, tables: Sequence[Points],
        objective: str | Vector,
    ) -> None:  # fmt: skip
        self.record, self.objective = record, objective
        levels = levels_of(tables, objective)
        self.tables = [t - level for t, level in zip(tables, levels, strict=True)]
        entropy = name_of(objective) == "entropy"
        self._base = 0.0 if entropy else value_of_payoffs(levels, objective)
        self._scale = scale_of(tables, objective)
        self._game = game
        self._value, self._bound = -math.inf, math.inf
        self.limit(ceiling_of(self.tables, objective))
        self.columns: list[Indices] = []
        self.weights: Vector = np.zeros(0)
        self.method = ""
        self.some: Points | None = None
        """Some equilibrium to begin with."""
        self._some_gap = math.inf

    def gap(self, joint: Points) -> float:
        """The largest gain of a player, with what payoffs may be wrong by."""
        return table_gap(self.tables, joint, self.record.notion) + float(self.record.slack.max())

    def offer(self, joint: Points, gap: float, method: str) -> None:
        """A table of probabilities, which counts if its gap is small enough."""
        if gap > self.record.gap:
            return
        paid = np.array([float((joint * t).sum()) for t in self.tables])
        value = value_of(joint, paid, self.objective)
        if value > self._value:
            self._value, self.method = value, method
            self.columns = [np.asarray(at) for at in np.nonzero(joint)]
            self.weights = joint[tuple(self.columns)] / joint.sum()

    def offer_mended(
        self, joint: Points, gap: float, method: str, safe: Points | None = None
    ) -> None:
        """The same, mixed with as little of a safe equilibrium as takes the rest of the gap away.

        Safe is ``some`` unless given; gaps are convex.
        """
        known = self._some_gap if safe is None else self.gap(safe)
        safe = self.some if safe is None else safe
        if gap > self.record.gap and safe is not None and known < self.record.gap:
            wanted = (1 - _LEFT) * self.record.gap
            share = min(1.0, (gap - wanted) / max(gap - known, _LEFT * gap))
            joint = (1 - share) * joint + share * safe
            gap = self.gap(joint)
        self.offer(joint, gap, method)

    def limit(self, bound: float) -> None:
        """No equilibrium has more than this."""
        self._bound = min(self._bound, bound)

    @property
    def optimum(self) -> Optimum | None:
        """Of the profile that is best so far; None if there is none."""
        if not len(self.weights):
            return None
        bound = max(self._bound, self._value) + self._base
        value = self._value + self._base
        return Optimum(name_of(self.objective), value, bound, self._scale)

    @property
    def proved(self) -> bool:
        """Whether nothing better can be found."""
        return self.optimum is not None and self.optimum.proved

    def find_some(self, rng: np.random.Generator, earlier: CorrelatedEquilibrium | None) -> None:
        """Some equilibrium with the gap asked for, or better, to begin with, which is offered."""
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
            return
        self.some, self._some_gap = np.zeros(self.tables[0].shape), self.record.gap_of(best)
        np.add.at(self.some, tuple(self._game.columns(best.support)), best.weights)
        self.offer(self.some, self._some_gap, best.method)


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

"""Members of the portfolio that work on active actions: programmes, and self-play.

Each has active actions of its own, which grow by best answers among all actions. Members are
iterators: a step does a piece of work, offers what it found to the record, and says how many
operations it took, about. That counts, and not the clock, so runs are the same on any machine.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator

import numpy as np

from fullswap.base.protocols import Indices, Points, Vector
from fullswap.games.actions import Column
from fullswap.games.game import StructuredGame
from fullswap.games.lp import ANY, MOST_ENTRIES, best_equilibrium, programme_entries
from fullswap.games.profiles import CorrelatedEquilibrium
from fullswap.games.record import NOISE, Record
from fullswap.games.restricted import Answers, Restricted, pass_work
from fullswap.games.selfplay import RESIDUAL, SelfPlay

FIRST_LOOK = 32  # rounds played before the first look
_LOOKS = 3  # the next look comes after 1/3 more rounds in the average: a share of the work
_MOST_PROGRAMME = 3_600  # joint actions up to which programmes are worth their time beside play
_PATIENT_ROUNDS = 500  # rounds on the same actions after which self-play counts as slow
_BATCH = 16  # most actions added at once to a player who has few
_UNSETTLED = 0.05  # share of the gap that mixed actions may cost by not being quite stationary
_LEAST_RESIDUAL = 1e-9  # nearer to stationary they need not be: rounding is not far below
# Actions are added in self-play if what they gain is this share of the gap asked for, and most of
# the present one: before that, play on the active actions gains more.
_LACKING, _MOSTLY = 0.25, 0.5
_POLISHED = 0.999  # probability of the actions that a polish keeps, as far as they fit
_SLIGHT = 0.1  # share of the gap to give away: by answers not added, joint actions left out
_CALL = 2_000_000.0  # operations that a programme takes whatever its size
_ENTRY = 4_000.0  # and for each entry of its matrix, in programmes of 400 joint actions
_USUAL = 400


class Search:
    """Active actions, and ways to find an equilibrium on them."""

    def __init__(self, game: StructuredGame, record: Record, columns: list[Column]) -> None:
        self.game, self.record, self.gap = game, record, record.gap
        self.active = Restricted(game, columns)

    def look(self, joint: Points, method: str, exact: bool = False) -> tuple[float, list[Answers]]:
        """The gap of a profile in the whole game, and the best answers to it."""
        coarse = self.record.notion == "coarse"
        answers = self.active.fixed_answers(joint) if coarse else self.active.answers(joint)
        slack = self.record.slack
        gap = max(float(a.gains.sum()) + e for a, e in zip(answers, slack, strict=True))
        self.record.offer(gap, method, lambda: self._profile(joint, exact))
        return gap, answers

    def _profile(self, joint: Points, exact: bool) -> CorrelatedEquilibrium:
        """Without joint actions of next to no probability where that will do."""
        share = _SLIGHT * self.gap / float(self.active.ranges.max())
        profile = self.active.profile(joint, NOISE if exact else share)
        if self.record.gap_of(profile) > self.gap:
            profile = self.active.profile(joint, 0.0)
        return profile

    def programme(self, objective: str | Vector, method: str) -> list[Answers] | None:
        """The best equilibrium of the active actions, looked at; None if the time did not do."""
        tables, left = self.active.tables, self.record.seconds_left
        joint = best_equilibrium(tables, objective, left, self.record.notion)
        return None if joint is None else self.look(joint, method)[1]

    def by_programmes(
        self, objective: str | Vector, method: str, most: int | None = None
    ) -> Iterator[float]:
        """Programmes on more and more actions, up to ``most`` joint ones and to what memory has."""
        while most is None or math.prod(self.active.shape) <= most:
            entries = programme_entries(self.active.shape, self.record.notion)
            if entries > MOST_ENTRIES:
                return
            answers = self.programme(objective, method)
            yield programme_work(self.active.shape, self.record.notion) + self._look_work()
            if answers is None or not self.grow(answers, 0.0):
                return

    def by_self_play(self, most_rounds: int, polish: bool) -> Iterator[float]:
        """Self-play on more and more actions."""
        share = self.gap / float(self.active.ranges.max())
        residual = min(max(_UNSETTLED * share, _LEAST_RESIDUAL), RESIDUAL)
        play = SelfPlay(self.active, residual)
        length, polished_at, rounds_left = FIRST_LOOK, _PATIENT_ROUNDS, most_rounds
        while rounds_left > 0:
            length = min(length, rounds_left, play.longest)
            play.play(length)
            rounds_left -= length
            self.record.rounds += length
            gap, answers = self.look(play.average(), "matching")
            yield length * play.work + self._look_work()
            # while play is far from its own equilibrium, what it lacks tells little
            grown = self.grow(answers, max(_LACKING * self.gap, _MOSTLY * gap))
            if not grown and polish and play.averaged >= polished_at:
                polished_at *= 2
                used = self._heaviest(play.average())
                grown = yield from self._polish(used)
            if grown:
                play.fit()
            length = max(FIRST_LOOK, play.averaged // _LOOKS)

    def _heaviest(self, joint: Points) -> list[Indices]:
        """Actions by weight, as many as one programme takes, and no more than are played."""
        orders, counts = [], []
        for p in range(joint.ndim):
            marginal = joint.sum(axis=tuple(k for k in range(joint.ndim) if k != p))
            order = np.argsort(-marginal, kind="stable")
            orders.append(order)
            counts.append(1 + int(np.searchsorted(np.cumsum(marginal[order]), _POLISHED)))
        counts = [min(n, k) for n, k in zip(counts, joint.shape, strict=True)]
        while math.prod(counts) > _MOST_PROGRAMME:
            counts[int(np.argmax(counts))] -= 1
        return [np.sort(order[:n]) for order, n in zip(orders, counts, strict=True)]

    def _polish(self, used: list[Indices]) -> Generator[float, None, bool]:
        """Programmes on what is played and best answers, while few; whether new actions came."""
        while math.prod(len(places) for places in used) <= _MOST_PROGRAMME:
            tables = [table[np.ix_(*used)] for table in self.active.tables]
            part = best_equilibrium(tables, ANY, self.record.seconds_left, self.record.notion)
            yield programme_work(tables[0].shape, self.record.notion)
            if part is None:
                return False
            whole = np.zeros(self.active.shape)
            whole[np.ix_(*used)] = part
            answers = self.look(whole, "oracle")[1]
            if self.grow(answers, 0.0):
                return True
            before = [len(places) for places in used]
            for p, answer in enumerate(answers):
                places = self.active.places(p, answer.actions)
                used[p] = np.union1d(used[p], places[places >= 0])
            if before == [len(places) for places in used]:
                break
        return False

    def _look_work(self) -> float:
        """Operations of best answers to all active actions."""
        return max(self.active.shape) * pass_work(self.game) + 10.0 * math.prod(self.active.shape)

    def grow(self, answers: list[Answers], enough: float) -> bool:
        """Add the best answers that are not active, of players who gain more than ``enough``."""
        columns = []
        for answer in answers:
            outside = answer.outside
            order = np.argsort(-outside, kind="stable")[: max(_BATCH, len(outside) // 2)]
            order = order[outside[order] > _SLIGHT * self.gap / len(outside)]
            columns.append(answer.actions[order if outside.sum() > enough else order[:0]])
        return self.active.add(columns)


def programme_work(shape: tuple[int, ...], notion: str = "correlated") -> float:
    """Operations of a programme on so many actions, about."""
    entries = programme_entries(shape, notion)
    return _CALL + _ENTRY * entries * math.sqrt(max(1.0, math.prod(shape) / _USUAL))

"""One run of the solver: a small game of active actions that grows until its equilibrium fits."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import replace

import numpy as np

from fullswap.base.progress import Progress
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.games.actions import Column
from fullswap.games.game import StructuredGame
from fullswap.games.lp import best_equilibrium
from fullswap.games.profiles import CorrelatedEquilibrium
from fullswap.games.restricted import Answers, Restricted
from fullswap.games.selfplay import RESIDUAL, SelfPlay

FIRST_LOOK = 32  # rounds played before the first look
_LOOKS = 3  # the next look comes after 1/3 more rounds in the average: a share of the work
_POLISHED = 2_500  # joint actions up to which a linear programme is tried when self-play is slow
_PATIENT_ROUNDS = 2_000  # rounds on the same actions after which self-play counts as slow
_BATCH = 16  # most actions added at once to a player who has few
_UNSETTLED = 0.05  # share of the gap that mixed actions may cost by not being quite stationary
_LEAST_RESIDUAL = 1e-9  # nearer to stationary they need not be: rounding is not far below
# Actions are added in self-play if what they gain is this share of the gap asked for, and most of
# the present one: before that, play on the active actions gains more.
_LACKING, _MOSTLY = 0.25, 0.5
_PLAYED = 1e-3  # actions with this share of the mean probability count as played
_SLIGHT = 0.1  # share of the gap to give away: by answers not added, joint actions left out
_ROUNDING = 1e-12  # probabilities of an exact result that are rounding errors of the solver


class Search:
    """One run: the active actions, the best profile so far, and what is left of the budget."""

    def __init__(
        self, game: StructuredGame, gap: float, rounds: int, seconds: float | None, bar: Progress
    ) -> None:
        self.game, self.gap, self._rounds_left = game, gap, rounds
        self._slack = 2 * np.array(game.errors)
        self._deadline = math.inf if seconds is None else time.monotonic() + seconds
        self._bar, self._rounds, self._exact = bar, 0, False
        self._first_gap = self._best_gap = math.inf
        self._earlier: CorrelatedEquilibrium | None = None
        self._checked: CorrelatedEquilibrium | None = None

    def begin(self, columns: list[Column], earlier: CorrelatedEquilibrium | None) -> None:
        """Make actions active, those of an earlier profile first."""
        if earlier is not None:
            self._earlier = earlier
            checked = self.game.columns(earlier.support)
            columns = [np.concatenate(pair) for pair in zip(checked, columns, strict=True)]
        self.active = Restricted(self.game, columns)
        self._best = np.full(self.active.shape, 1 / math.prod(self.active.shape))

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self._deadline

    def look(self, joint: Points) -> tuple[float, list[Answers]]:
        """The gap of a profile in the whole game, and the best answers to it."""
        answers = self.active.answers(joint)
        gap = max(float(a.gains.sum()) + e for a, e in zip(answers, self._slack, strict=True))
        if gap < self._best_gap:
            self._best_gap, self._best, self._checked = gap, joint, None
        self._first_gap = gap if self._first_gap == math.inf else self._first_gap
        self._bar.update(self._done_of_100(), f"gap {self._best_gap:.3g}, {self._rounds} rounds")
        return gap, answers

    def _done_of_100(self) -> int:
        """How far the gap has fallen, by orders of magnitude, of the way to the one asked for."""
        if self._best_gap <= self.gap:
            return 100
        left = math.log(self._best_gap / self.gap) / math.log(self._first_gap / self.gap)
        return int(100 * (1 - left))

    def programme(self, objective: str | Vector, exact: bool = False) -> list[Answers] | None:
        """The best equilibrium of the active actions, looked at; None if the time did not do."""
        self._exact = exact  # keeps joint actions of little probability, down to rounding errors
        joint = best_equilibrium(self.active.tables, objective, self._time_left())
        return None if joint is None else self.look(joint)[1]

    def by_programmes(self, objective: str | Vector, most: int | None) -> bool:
        """Programmes on more and more actions, up to ``most`` joint ones; whether it is done."""
        while not self.over and (most is None or math.prod(self.active.shape) <= most):
            answers = self.programme(objective)
            if answers is None or self.done() or not self._grow(answers, 0.0):
                break
        return self.done()

    def by_self_play(self, learner: str, polish: bool) -> None:
        """Self-play on more and more actions until it is done or the budget ends."""
        share = self.gap / float(self.active.ranges.max())
        residual = min(max(_UNSETTLED * share, _LEAST_RESIDUAL), RESIDUAL)
        play = SelfPlay(self.active, learner, residual)
        length, polished_at = FIRST_LOOK, _PATIENT_ROUNDS
        while self._rounds_left > 0 and not self.over:
            length = min(length, self._rounds_left, play.longest)
            play.play(length)
            self._rounds_left -= length
            self._rounds += length
            gap, answers = self.look(play.average())
            if self.done():
                return
            # while play is far from its own equilibrium, what it lacks tells little
            grown = self._grow(answers, max(_LACKING * self.gap, _MOSTLY * gap))
            if not grown and polish and play.averaged >= polished_at:
                polished_at *= 2
                grown = self._polish(play.average())
                if self.done():
                    return
            if grown:
                play.fit()
            length = max(FIRST_LOOK, play.averaged // _LOOKS)

    def _polish(self, joint: Points) -> bool:
        """Programmes on what is played and best answers, while few; whether new actions came."""
        used: list[Indices] = []
        for p in range(joint.ndim):
            marginal = joint.sum(axis=tuple(k for k in range(joint.ndim) if k != p))
            used.append(np.flatnonzero(marginal > _PLAYED / len(marginal)))
        while not self.over and math.prod(len(places) for places in used) <= _POLISHED:
            tables = [table[np.ix_(*used)] for table in self.active.tables]
            part = best_equilibrium(tables, "welfare", self._time_left())
            if part is None:
                return False
            whole = np.zeros(self.active.shape)
            whole[np.ix_(*used)] = part
            answers = self.look(whole)[1]
            if self._grow(answers, 0.0):
                return True
            before = [len(places) for places in used]
            for p, answer in enumerate(answers):
                places = self.active.places(p, answer.actions)
                used[p] = np.union1d(used[p], places[places >= 0])
            if before == [len(places) for places in used]:
                break
        return False

    def _time_left(self) -> float | None:
        return None if math.isinf(self._deadline) else self._deadline - time.monotonic()

    def _grow(self, answers: list[Answers], enough: float) -> bool:
        """Add the best answers that are not active, of players who gain more than ``enough``."""
        columns = []
        for answer in answers:
            outside = answer.outside
            order = np.argsort(-outside, kind="stable")[: max(_BATCH, len(outside) // 2)]
            order = order[outside[order] > _SLIGHT * self.gap / len(outside)]
            columns.append(answer.actions[order if outside.sum() > enough else order[:0]])
        return self.active.add(columns)

    def done(self) -> bool:
        """Whether the best profile so far passes the check."""
        return self._best_gap <= self.gap and self._profile().gap <= self.gap

    def _profile(self) -> CorrelatedEquilibrium:
        """The best profile, without joint actions of next to no probability where that will do."""
        if self._checked is None:
            share = _SLIGHT * self.gap / float(self.active.ranges.max())
            profile = self.active.profile(self._best, _ROUNDING if self._exact else share)
            if profile.gap > self.gap:
                profile = self.active.profile(self._best, 0.0)
            self._checked = profile
        return self._checked

    def result(self, method: str) -> CorrelatedEquilibrium:
        """The best profile, verified."""
        profile, earlier = self._profile(), self._earlier
        if earlier is not None and profile.gap > max(self.gap, earlier.gap):
            profile = earlier
        rounds = self._rounds + (0 if earlier is None else earlier.rounds)
        reached = profile.gap <= self.gap
        if self.active.full and not reached:
            sizes = " × ".join(str(k) for k in self.active.shape)
            message = (
                f"there was no room for more than {sizes} active actions: the gap stays at "
                f"{profile.gap:.3g}; ask for a larger one, or for embeddings of fewer dimensions"
            )
            warnings.warn(message, RuntimeWarning, stacklevel=3)
        return replace(profile, rounds=rounds, reached=reached, method=method)

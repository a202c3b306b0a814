"""What a run of the solver has found so far, and what is left of its budget."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from fullswap.base.progress import Progress
from fullswap.base.protocols import Vector
from fullswap.games.actions import Column, stack
from fullswap.games.game import StructuredGame
from fullswap.games.profiles import CorrelatedEquilibrium
from fullswap.games.verify import verify, verify_product

NOTIONS = ("correlated", "coarse")
NOISE = 1e-12  # probabilities that are rounding
_MOST_JOINT = 200_000  # joint actions of independent ones that are verified like any others


class Record:
    """The best profile of one run, whoever found it; nothing counts before it is verified.

    ``seconds`` is the time from now on; ``notion`` says which of a profile's gaps is looked at.
    """

    def __init__(
        self, game: StructuredGame, gap: float, seconds: float | None, bar: Progress,
        notion: str = "correlated",
    ) -> None:  # fmt: skip
        self.game, self.gap, self.notion = game, gap, notion
        self.slack = 2 * np.array(game.errors)
        self._deadline = math.inf if seconds is None else time.monotonic() + seconds
        self._bar = bar
        self.rounds = 0
        self._first_gap = self._least_seen = math.inf
        self._waiting: tuple[float, str, Callable[[], CorrelatedEquilibrium]] | None = None
        self._best: CorrelatedEquilibrium | None = None
        self.errors: list[Exception] = []

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self._deadline

    @property
    def seconds_left(self) -> float | None:
        """Until the time is up; None for as long as it takes."""
        return None if math.isinf(self._deadline) else self._deadline - time.monotonic()

    def part(self, share: float) -> Record:
        """A record of its own for a part of the run, with a share of the time that is left."""
        seconds = None if self.seconds_left is None else share * self.seconds_left
        return Record(self.game, self.gap, seconds, self._bar, self.notion)

    def join(self, part: Record) -> None:
        """Take over what a part of the run found."""
        profile = part.best()
        if profile is not None:
            self.settle(profile)
        self.rounds += part.rounds
        self.errors += part.errors

    def gap_of(self, profile: CorrelatedEquilibrium) -> float:
        """The gap that was asked for."""
        return profile.coarse_gap if self.notion == "coarse" else profile.gap

    def offer(self, gap: float, method: str, make: Callable[[], CorrelatedEquilibrium]) -> None:
        """A profile that should have this gap, made and verified only if it may be the best."""
        if not math.isfinite(gap):
            return
        if gap < self._best_gap and (self._waiting is None or gap < self._waiting[0]):
            self._waiting = (gap, method, make)
        self._least_seen = min(self._least_seen, gap)
        self._first_gap = gap if self._first_gap == math.inf else self._first_gap
        self._bar.update(self._done_of_100(), f"gap {self._least_seen:.3g}, {self.rounds} rounds")

    def offer_product(
        self, gap: float, method: str, columns: Sequence[Column], mixed: Sequence[Vector]
    ) -> None:
        """Independent mixed actions: weights (k_p,) of the actions in each column (k_p,)."""
        self.offer(gap, method, lambda: product(self.game, columns, mixed))

    def offer_joint(self, gap: float, method: str, columns: list[Column], weights: Vector) -> None:
        """Joint actions, columns (m,), with their weights (m,)."""
        self.offer(gap, method, lambda: verify(self.game, (stack(columns), weights)))

    @property
    def _best_gap(self) -> float:
        return math.inf if self._best is None else self.gap_of(self._best)

    def _done_of_100(self) -> int:
        """How far the gap has fallen, by orders of magnitude, of the way to the one asked for."""
        if self._least_seen <= self.gap:
            return 100
        left = math.log(self._least_seen / self.gap) / math.log(self._first_gap / self.gap)
        return int(100 * (1 - left))

    def done(self) -> bool:
        """Whether a verified profile has the gap asked for."""
        if self._waiting is not None and self._waiting[0] <= self.gap:
            self._check()
        return self._best_gap <= self.gap

    def settle(self, profile: CorrelatedEquilibrium) -> None:
        """Take up a profile that is verified already."""
        if self._best is None or self.gap_of(profile) < self._best_gap:
            self._best = profile

    def _check(self) -> None:
        """Verify the profile that waits."""
        assert self._waiting is not None
        _, method, make = self._waiting
        self._waiting = None
        try:
            profile = make()
        except (ValueError, FloatingPointError) as error:
            self.errors.append(error)
            return
        self.settle(replace(profile, method=method))

    def best(self) -> CorrelatedEquilibrium | None:
        """The best profile so far, verified; None if there is none."""
        if self._waiting is not None:
            self._check()
        return self._best


def product(
    game: StructuredGame, columns: Sequence[Column], mixed: Sequence[Vector]
) -> CorrelatedEquilibrium:
    """The verified profile of independent mixed actions, without what is rounding."""
    used = [np.flatnonzero(weights > NOISE) for weights in mixed]
    shape = [len(at) for at in used]
    weights = np.ones(1)
    for own, at in zip(mixed, used, strict=True):
        weights = np.outer(weights, own[at]).ravel()
    kept = np.flatnonzero(weights > NOISE)
    if len(kept) > _MOST_JOINT:
        return verify_product(game, columns, mixed)
    places = np.unravel_index(kept, shape)
    support = [c[at][k] for c, at, k in zip(columns, used, places, strict=True)]
    return verify(game, (stack(support), weights[kept] / weights[kept].sum()))

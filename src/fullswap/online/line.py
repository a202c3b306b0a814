"""Yes-or-no events, played by a crossing between neighbouring grid points."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.base.protocols import Indices, Points, Vector
from fullswap.kernels import line as kernel
from fullswap.kernels.columns import LEVEL
from fullswap.online.kind import Play
from fullswap.online.line_rows import LARGEST_LOGIT, LineRows
from fullswap.online.plays import check_indices, check_shares, check_unit


class Line(LineRows):
    """A play is (left, right, share of left, what left recommends, what right recommends)."""

    def _compile(
        self, grid: Points, first: Indices, ends: Vector, places: Indices, blank: Points,
        deltas: Vector,
    ) -> Any:  # fmt: skip
        self._grids = [grid[a:b] for a, b in zip(first, first[1:], strict=False)]
        # what a single event hands to the kernel: loss, rate, realised, δ, end of the level
        self._how = [
            np.array([self._loss, *self._rate, self.spec.realised, delta, end])
            for delta, end in zip(deltas, ends, strict=True)
        ]
        return kernel.LineSpec(
            grid, first, ends, places, blank, self.base, deltas, self._loss, self._rate,
            self.spec.realised,
        )  # fmt: skip

    def forecast(self, row: Vector, context: Any) -> Play:
        """One point, or two neighbours."""
        play: Play = kernel.line_forecast(self._grids[int(row[LEVEL])], row)
        return play

    def draw(self, play: Play, u: float) -> int:
        """0 for the left point, 1 for the right."""
        return 0 if u < play[2] else 1

    def learn(
        self,
        row: Vector,
        play: Play,
        level: int,
        drawn: int,
        outcome: Any,
        scale: float,
        number: int,
    ) -> bool:
        """Feed one outcome."""
        now = int(row[LEVEL])
        how = self._how[now]
        if level != now:
            left, right = self.lift(play[:2], level, now).tolist()
            play = (left, right, *play[2:])
            how = how.copy()
            how[-2] = self.rounding_cost(level)
        due: bool = kernel.line_step(
            self._grids[now], row, how, *play, drawn, scale, outcome, number
        )
        return due

    def support(self, play: Play) -> tuple[Any, Any]:
        """The points of positive weight."""
        return pair_support(*play[:3])

    def encode(self, play: Play) -> list[float]:
        """The five numbers."""
        return [float(value) for value in play]

    def decode(self, numbers: list[float], level: int) -> Play:
        """The five numbers, checked."""
        if len(numbers) != 5:
            raise ValueError(f"play must be 5 numbers, got {len(numbers)}")
        left, right, share = check_pair(numbers, self.spec.levels[level].size(2))
        targets = np.array(numbers[3:])
        if self.spec.loss != "log":
            check_unit(targets)
        elif not (np.abs(targets) <= LARGEST_LOGIT).all():
            raise ValueError(f"play must have logits of at most {LARGEST_LOGIT:g}, got {numbers}")
        return (left, right, share, *targets.tolist())


def pair_support(left: int, right: int, share: float) -> tuple[Any, Any]:
    """Two neighbours with weights share and 1 − share, without one of weight 0."""
    if share >= 1.0:
        return (left,), (1.0,)
    if share <= 0.0:
        return (right,), (1.0,)
    return (left, right), (share, 1.0 - share)


def check_pair(numbers: list[float], size: int) -> tuple[int, int, float]:
    """Neighbours on a grid, or one point twice, and the share of the first: then all."""
    left, right = check_indices(numbers[:2], size)
    if right - left != 1 and (right != left or numbers[2] != 1):
        raise ValueError(f"play must be on neighbours, got {left} and {right}")
    check_shares([numbers[2], 1 - numbers[2]])
    return left, right, float(numbers[2])

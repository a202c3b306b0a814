"""Recalibration of yes-or-no events: experts on a line, played by a crossing."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.base.protocols import Indices, Points, Vector
from fullswap.kernels import experts as kernel
from fullswap.kernels.columns import HEAD, LEVEL, LOST, MASS, ROUNDING, ROUNDING_MOST, SQUARES
from fullswap.kernels.logistic import PLATT_VARIANCE
from fullswap.online.claims import Claim
from fullswap.online.expert_rows import LARGEST_LOGIT, ODDS_BLANK, ExpertRows
from fullswap.online.kind import Play, slack_of
from fullswap.online.line import check_pair, pair_support
from fullswap.online.line_rows import mean_outcomes, sums_agree
from fullswap.online.plays import check_unit
from fullswap.theorems import IMAGINED

INTERCEPT, SLOPE, PRECISION, CROSS, SLOPE_PRECISION = range(5)
"""Numbers of one logistic recalibration; there are two of them an input."""


class Experts(ExpertRows):
    """A play is (left, right, share of left, memo): all that was advised at the forecast."""

    columns = kernel.COLUMNS
    variance = PLATT_VARIANCE

    @property
    def base(self) -> int:
        """Head, totals and mix, recalibrations, bins."""
        return HEAD + kernel.TOTALS + 3 * self.experts + self._platt + self._bins

    @property
    def _platt(self) -> int:
        return kernel.PLATT * self.inputs

    @property
    def _bins(self) -> int:
        return 2 * kernel.BINS * self.inputs

    @property
    def _memo(self) -> int:
        return kernel.MEMO_HEAD + 2 * self.inputs + self.experts

    def _blank_points(self, level: int) -> Points:
        blank = np.zeros((self.spec.levels[level].size(2), self.columns))
        blank[:, kernel.ODDS] = ODDS_BLANK
        return blank

    def _blank_shared(self) -> Vector:
        one = np.zeros(kernel.PLATT // 2)
        one[SLOPE] = 1.0
        one[PRECISION] = one[SLOPE_PRECISION] = 1.0 / PLATT_VARIANCE
        return np.concatenate(
            (self._blank_mix(), np.tile(one, 2 * self.inputs), np.zeros(self._bins))
        )

    def _compile(
        self, grid: Points, first: Indices, ends: Vector, places: Indices, blank: Points,
        deltas: Vector,
    ) -> Any:  # fmt: skip
        self._grids = [grid[a:b] for a, b in zip(first, first[1:], strict=False)]
        self._deltas, self._ends = deltas.tolist(), ends.tolist()
        self._prior = self.prior
        self._arguments = self.base, IMAGINED, self.inputs
        return kernel.ExpertsSpec(
            grid, first, ends, places, blank, self.base, deltas, self.spec.realised, IMAGINED,
            self._prior, np.zeros(self._memo),
        )  # fmt: skip

    def forecast(self, row: Vector, context: Any) -> Play:
        """Two neighbours; the memo is all that was advised."""
        memo = np.empty(self._memo)
        grid = self._grids[int(row[LEVEL])]
        return (*kernel.experts_forecast(grid, row, *self._arguments, context, memo), memo)

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
        """Feed one outcome; recommendations are charged as of the forecast."""
        now = int(row[LEVEL])
        if level != now:
            play = (*self.lift(play[:2], level, now).tolist(), *play[2:])
        due: bool = kernel.experts_learn(
            self._grids[now], row, self._arguments[0], self._prior, self._deltas[level],
            self._ends[now], self.spec.realised, *play, drawn, scale, outcome, number,
        )  # fmt: skip
        return due

    def support(self, play: Play) -> tuple[Any, Any]:
        """The points of positive weight."""
        return pair_support(*play[:3])

    def encode(self, play: Play) -> list[float]:
        """Left, right, share, memo."""
        return [*(float(value) for value in play[:3]), *play[3].tolist()]

    def decode(self, numbers: list[float], level: int) -> Play:
        """The same, checked; an absent model is NaN."""
        if len(numbers) != 3 + self._memo:
            raise ValueError(f"play must be {3 + self._memo} numbers, got {len(numbers)}")
        pair = check_pair(numbers, self.spec.levels[level].size(2))
        memo = np.array(numbers[3:])
        first, last = kernel.MEMO_HEAD, kernel.MEMO_HEAD + self.inputs
        check_unit(memo[:first])
        check_unit(memo[first:last], absent=self.spec.models > 1)
        check_unit(memo[last + self.inputs :], absent=self.spec.models > 1)
        present = ~np.isnan(memo[first:last])
        opinions = np.isnan(memo[last + self.inputs :].reshape(self.inputs, kernel.KINDS))
        logits = memo[last : last + self.inputs]
        if not (
            present.any()
            and (np.abs(logits) <= LARGEST_LOGIT).all()
            and (opinions.all(axis=1) == ~present).all()
            and (opinions.any(axis=1) == ~present).all()
        ):
            raise ValueError("play must hold what models said, got a memo that does not agree")
        return (*pair, memo)

    def rounding_cost(self, level: int) -> float:
        """A quarter of the squared gap."""
        return float(np.diff(self.points(level)).max() ** 2 / 4)

    def claims(self, row: Vector) -> list[Claim]:
        """Calibration error first, then the excess Brier score against each expert."""
        columns = self.point_columns(row)
        weights, ones = columns[:, kernel.WEIGHT], columns[:, kernel.ONES]
        means = mean_outcomes(weights, ones)
        error = float((weights * np.square(self.points(int(row[LEVEL])) - means)).sum())
        regret = float(row[LOST]) - float(row[SQUARES]) + float((ones * means).sum())
        return self._claims(row, error, regret, float(row[ROUNDING]), float(row[ROUNDING_MOST]))

    def _check_learnt(self, row: Vector) -> None:
        columns = self.point_columns(row)
        weights, ones = columns[:, kernel.WEIGHT], columns[:, kernel.ONES]
        begin = self.base - self._platt - self._bins
        platt = row[begin : begin + self._platt].reshape(-1, kernel.PLATT // 2)
        bins = row[begin + self._platt : self.base].reshape(-1, 2)
        slack = slack_of(row)
        precision = platt[:, [PRECISION, CROSS, CROSS, SLOPE_PRECISION]].reshape(-1, 2, 2)
        sound = (
            self._check_mix(row)
            and sums_agree(weights, ones, row)
            and (columns[weights == 0, kernel.ODDS] == ODDS_BLANK).all()
            and (np.abs(columns[:, kernel.ODDS] - ODDS_BLANK) <= 2 * weights + slack).all()
            and self._check_recalibrations(row, platt[:, [INTERCEPT, SLOPE]], precision)
            and (np.abs(bins[:, 1]) <= bins[:, 0]).all()
            and bins[:, 0].sum() <= self.inputs * (row[MASS] + slack)
            and row[ROUNDING] >= 0
        )
        if not sound:
            raise ValueError("row must be what a stream can come to: its experts do not agree")

"""Recalibration of yes-or-no events: experts on a line, played by a crossing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fullswap.base.draws import Words
from fullswap.base.protocols import Points, Vector
from fullswap.kernels import experts as kernel
from fullswap.kernels.columns import LEVEL, LOST, MASS, ROUNDING, ROUNDING_MOST, SQUARES
from fullswap.kernels.events import Layout
from fullswap.kernels.logistic import PLATT_VARIANCE
from fullswap.online.claims import Claim, chance_of
from fullswap.online.expert_rows import LARGEST_LOGIT, ODDS_BLANK, ExpertRows
from fullswap.online.kind import Play, grids_of, slack_of
from fullswap.online.line import check_pair, lifted_pair
from fullswap.online.line_rows import mean_outcomes, sums_agree
from fullswap.online.plays import check_unit
from fullswap.theorems.recalibration import IMAGINED

INTERCEPT, SLOPE, PRECISION, CROSS, SLOPE_PRECISION = range(5)
"""Numbers of one logistic recalibration; there are two of them an input."""


class Experts(ExpertRows):
    """A play is (id, drawn, left, right, share of left, memo of all that was advised)."""

    point_names = ("weight", "ones", "odds")
    variance = PLATT_VARIANCE

    @property
    def shared_columns(self) -> dict[str, int]:
        """Totals and mix, recalibrations, errors by bin."""
        return self._with_mix(recalibrations=self._platt, bins=self._bins)

    @property
    def _platt(self) -> int:
        return kernel.PLATT * self.inputs

    @property
    def _bins(self) -> int:
        return 2 * kernel.BINS * self.inputs

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

    def _compile(self, layout: Layout) -> Any:
        how = [self.base, IMAGINED, self.inputs, self.spec.realised]
        self._frames = [
            np.array([*how, delta, end, *self.prior, *grid])
            for delta, end, grid in zip(layout.delta, layout.ends, grids_of(layout), strict=True)
        ]
        self._memo_size = kernel.MEMO_HEAD + 2 * self.inputs + self.experts
        heard = slice(kernel.MEMO_HEAD, kernel.MEMO_HEAD + self.spec.models)
        self._heard = heard if self.spec.models > 1 else kernel.MEMO_HEAD
        memo = np.zeros(self._memo_size)
        return kernel.ExpertsSpec(*layout, self.spec.realised, IMAGINED, self.prior, memo)

    def forecaster(self, row: Vector, source: Words) -> Callable[..., Play]:
        """Two neighbours; the memo is all that was advised."""
        frame, size, heard = self._frames[self.level_of(row)], self._memo_size, self._heard

        def forecast(count: int, context: Any) -> Play:
            memo = np.empty(size)
            memo[heard] = context
            return (*kernel.experts_predict(frame, row, source, memo, count), memo)

        return forecast

    def learner(self, row: Vector, level: int) -> Callable[..., bool]:
        """Feed one outcome; recommendations are charged as of the forecast."""
        now = self.level_of(row)
        frame = self._frames[now]
        if level != now:
            frame = frame.copy()
            frame[kernel.DELTA] = self.rounding_cost(level)
        return partial(kernel.experts_update, frame, row)

    def lifted(self, play: Play, old: int, new: int) -> Play:
        """The same points on a finer grid."""
        return lifted_pair(self, play, old, new)

    def encode(self, play: Play) -> list[float]:
        """Left, right, share, memo."""
        return [*(float(value) for value in play[2:5]), *play[5].tolist()]

    def decode(self, numbers: list[float], level: int) -> tuple[Any, ...]:
        """The same, checked; an absent model is NaN."""
        if len(numbers) != 3 + self._memo_size:
            raise ValueError(f"play must be {3 + self._memo_size} numbers, got {len(numbers)}")
        pair = check_pair(numbers, self.spec.levels[level].size(2))
        memo = np.array(numbers[3:])
        first, last = kernel.MEMO_HEAD, kernel.MEMO_HEAD + self.inputs
        check_unit(memo[:first])
        check_unit(memo[first:last], absent=self.spec.models > 1)
        check_unit(memo[last + self.inputs :], absent=self.spec.models > 1)
        present = ~np.isnan(memo[first:last])
        silent = np.isnan(memo[last + self.inputs :].reshape(self.inputs, kernel.KINDS))
        if not (
            present.any()
            and (np.abs(memo[last : last + self.inputs]) <= LARGEST_LOGIT).all()
            and (silent.all(axis=1) == ~present).all()
            and (silent.any(axis=1) == ~present).all()
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
        paid, most = float(row[ROUNDING]), float(row[ROUNDING_MOST])
        table = self.points(int(row[LEVEL])), weights, means
        first, *others = self._claims(row, error, regret, paid, most)
        return [replace(first, noise=chance_of(table[0], weights), table=table), *others]

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

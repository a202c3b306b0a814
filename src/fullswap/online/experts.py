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
from fullswap.kernels.columns import CELLS, HEAD, LEVEL, LOST, MASS, ROUNDING_MOST, SQUARES
from fullswap.kernels.events import Layout
from fullswap.kernels.logistic import TIGHT, WIDE
from fullswap.online.claims import Claim, chance_of
from fullswap.online.expert_rows import LARGEST_LOGIT, ODDS_BLANK, ExpertRows
from fullswap.online.kind import Play, grids_of, slack_of
from fullswap.online.line import check_pair, line_rounding, mean_outcomes, sums_agree
from fullswap.online.plays import check_unit
from fullswap.theorems.recalibration import IMAGINED

INTERCEPT, SLOPE, PRECISION, CROSS, SLOPE_PRECISION = range(5)
"""Numbers of a logistic recalibration; of the intercept alone, the value and its precision."""
PLATT_VARIANCES = np.array([TIGHT, WIDE, WIDE])
SHIFT_VARIANCES = np.array([TIGHT, TIGHT])
"""Of the recalibrations of an input, before anything is known."""


class Experts(ExpertRows):
    """A play is (id, drawn, left, right, share of left, memo of all that was advised)."""

    point_names = ("weight", "ones", "odds")
    kinds = (
        "", "recalibrated", "recalibrated widely", "recalibrated with forgetting", "shifted",
        "shifted with forgetting", "shifted by bin",
    )  # fmt: skip
    _update, _delta = staticmethod(kernel.experts_update), kernel.DELTA
    """The kernel that feeds an outcome, and where δ is in its frame."""

    @property
    def shared_columns(self) -> dict[str, int]:
        """Totals and mix, recalibrations, errors by bin."""
        return self._with_mix(recalibrations=self._beliefs, bins=self._bins)

    @property
    def _beliefs(self) -> int:
        return kernel.BELIEFS * self.inputs

    @property
    def _bins(self) -> int:
        return 2 * kernel.BINS * self.inputs

    def _blank_points(self, level: int) -> Points:
        blank = np.zeros((self.spec.levels[level].size(2), self.columns))
        blank[:, kernel.ODDS] = ODDS_BLANK
        return blank

    def _blank_shared(self) -> Vector:
        platt = np.zeros((len(PLATT_VARIANCES), kernel.PLATT))
        platt[:, SLOPE] = 1.0
        platt[:, PRECISION] = platt[:, SLOPE_PRECISION] = 1.0 / PLATT_VARIANCES
        shifts = np.column_stack((np.zeros(len(SHIFT_VARIANCES)), 1.0 / SHIFT_VARIANCES))
        one = np.concatenate((platt.ravel(), shifts.ravel()))
        return np.concatenate((self._blank_mix(), np.tile(one, self.inputs), np.zeros(self._bins)))

    def _compile(self, layout: Layout) -> Any:
        how = [self.base, IMAGINED, self.inputs]
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
            frame[self._delta] = self.rounding_cost(level)
        return partial(self._update, frame, row)

    def encode(self, play: Play) -> list[float]:
        """Left, right, share, memo."""
        return [*(float(value) for value in play[2:5]), *play[5].tolist()]

    def encoded_length(self) -> int:
        """Of the memo, and three."""
        return 3 + self._memo_size

    def decode(self, numbers: list[float], level: int) -> tuple[Any, ...]:
        """The same, checked; an absent model is NaN."""
        if len(numbers) != self.encoded_length():
            raise ValueError(f"play must be {self.encoded_length()} numbers, got {len(numbers)}")
        pair = check_pair(numbers, self.spec.levels[level].size(2))
        memo = np.array(numbers[3:])
        self._check_memo(memo, (kernel.KINDS,))
        return (*pair, memo)

    def _check_memo(self, memo: Vector, kinds: tuple[int, ...]) -> None:
        """Refuse what no models said; opinions come in parts of so many an input."""
        first, last = kernel.MEMO_HEAD, kernel.MEMO_HEAD + self.inputs
        check_unit(memo[:first])
        check_unit(memo[first:last], absent=self.spec.models > 1)
        check_unit(memo[last + self.inputs :], absent=self.spec.models > 1)
        present = ~np.isnan(memo[first:last])
        silent = np.isnan(memo[last + self.inputs :])
        expected = np.concatenate([np.repeat(~present, kind) for kind in kinds])
        if not (
            present.any()
            and (np.abs(memo[last : last + self.inputs]) <= LARGEST_LOGIT).all()
            and (silent == expected).all()
        ):
            raise ValueError("play must hold what models said, got a memo that does not agree")

    def rounding_cost(self, level: int) -> float:
        """A quarter of the squared gap, or the square of what is beyond the ends."""
        return line_rounding(self.points(level))

    def claims(self, row: Vector) -> list[Claim]:
        """Calibration error first, then the excess Brier score against each expert."""
        points, columns = self.points(int(row[LEVEL])), self.point_columns(row)
        weights, ones = columns[:, kernel.WEIGHT], columns[:, kernel.ONES]
        means = mean_outcomes(weights, ones)
        error = float((weights * np.square(points - means)).sum())
        regret = float(row[LOST]) - float(row[SQUARES]) + float((ones * means).sum())
        paid, most = float(row[CELLS]), float(row[ROUNDING_MOST])
        claim = self._calibration(row, error, regret, paid, most, chance_of(points, weights))
        return self._claims(row, replace(claim, table=(points, weights, means)), paid, most)

    def _check_learnt(self, row: Vector) -> None:
        columns = self.point_columns(row)
        weights, ones = columns[:, kernel.WEIGHT], columns[:, kernel.ONES]
        odds, slack = columns[:, kernel.ODDS], slack_of(row)
        sound = (
            self._check_advice(row)
            and sums_agree(weights, ones, row)
            and (odds[weights == 0] == ODDS_BLANK).all()
            and (np.abs(odds - ODDS_BLANK) <= 2 * weights + slack).all()
        )
        if not sound:
            raise ValueError("row must be what a stream can come to: its experts do not agree")

    def _check_advice(self, row: Vector) -> bool:
        """Whether what all points share is what a stream can come to."""
        begin = HEAD + kernel.TOTALS + 3 * self.experts
        beliefs = row[begin : begin + self._beliefs].reshape(self.inputs, kernel.BELIEFS)
        platt = beliefs[:, : kernel.SHIFTS].reshape(-1, kernel.PLATT)
        shifts = beliefs[:, kernel.SHIFTS :].reshape(-1, kernel.SHIFT)
        begin += self._beliefs
        bins = row[begin : begin + self._bins].reshape(-1, 2)
        slack = slack_of(row)
        precision = platt[:, [PRECISION, CROSS, CROSS, SLOPE_PRECISION]].reshape(-1, 2, 2)
        return bool(
            self._check_mix(row)
            and self._check_beliefs(
                row, platt[:, [INTERCEPT, SLOPE]], precision, np.tile(PLATT_VARIANCES, self.inputs)
            )
            and self._check_beliefs(
                row, shifts[:, 0], shifts[:, 1].reshape(-1, 1, 1),
                np.tile(SHIFT_VARIANCES, self.inputs),
            )
            and (np.abs(bins[:, 1]) <= bins[:, 0]).all()
            and bins[:, 0].sum() <= self.inputs * (row[MASS] + slack)
        )  # fmt: skip

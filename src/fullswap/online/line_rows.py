"""Rows of yes-or-no events on a line: sub-learners, their errors and what is guaranteed."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.certificates import Quantity
from fullswap.kernels import line as kernel
from fullswap.kernels.columns import DELAY, LEVEL, LOST, MASS, ROUNDING_MOST, SQUARES
from fullswap.online.claims import Claim, chance_of
from fullswap.online.kind import MEAN_SLACK, Kind, slack_of
from fullswap.online.lattices import logits
from fullswap.theorems import LEDGER
from fullswap.theorems.calibration import (
    PLAIN_RATE,
    Forecasts,
    SteppedForecasts,
    log_loss_rounding,
    stepped_rate,
)

LARGEST_LOGIT = 40.0
"""Of what a point recommends for the log loss, ln(2G + 1) at most; with ln 2 also of its loss."""


class LineRows(Kind):
    """What is learnt on a line, however it is played."""

    shared_columns: ClassVar[dict[str, int]] = {}
    point_names = ("target", "weight", "ones")

    def _blank_points(self, level: int) -> Points:
        blank = np.zeros((self.spec.levels[level].size(2), self.columns))
        # a mean starts at its own point, a logit at even odds
        blank[:, kernel.TARGET] = 0.0 if self.spec.loss == "log" else self.points(level)
        return blank

    def _coordinates(self, level: int) -> Points:
        return logits(self.points(level)) if self.spec.loss == "log" else self.points(level)

    @property
    def _loss(self) -> int:
        if self.spec.loss == "log":
            return kernel.LOG
        return kernel.SQUARED if self.spec.ratio is None else kernel.LINEARISED

    @property
    def _rate(self) -> tuple[float, float, float]:
        if self.spec.ratio is None:
            return PLAIN_RATE
        return stepped_rate(self._gap(0), self.spec.ratio)

    def _gap(self, level: int) -> float:
        return float(np.diff(self.points(level)).max())

    # --- what is guaranteed ---------------------------------------------------------------------

    def rounding_cost(self, level: int) -> float:
        """A quarter of the squared gap; nothing where the loss is made linear; Jensen's gap."""
        if self.spec.loss == "log":
            return log_loss_rounding(logits(self.points(level)))
        return 0.0 if self.spec.ratio is not None else self._gap(level) ** 2 / 4

    @property
    def largest_loss(self) -> float:
        """Of a recommendation, for one event of scale 1."""
        return LARGEST_LOGIT if self.spec.loss == "log" else 1.0

    @property
    def result(self) -> str:
        """The entry of the ledger that bounds the error."""
        if self.spec.loss == "log":
            return "calibration for the log loss"
        return "calibration" if self.spec.ratio is None else "calibration in steps"

    def bound(self, mass: float, rounding: float, level: int, waiting: int) -> float:
        """By the ledger."""
        n = self.spec.levels[level].size(2)
        if self.spec.ratio is not None:
            stepped = SteppedForecasts(mass, n, self._gap(level), self.spec.ratio, waiting)
            return LEDGER[self.result].bound(stepped)
        return LEDGER[self.result].bound(Forecasts(mass, n, rounding, waiting))

    @property
    def quantity(self) -> Quantity:
        """What is bounded."""
        if self.spec.loss == "log":
            return Quantity.KL_CALIBRATION_ERROR
        if self.spec.steps is not None:
            return Quantity.DISCRETISED_SWAP_REGRET
        return Quantity.L2_CALIBRATION_ERROR

    def claims(self, row: Vector) -> list[Claim]:
        """The calibration error."""
        level, paid = int(row[LEVEL]), float(row[ROUNDING_MOST])
        columns = self.point_columns(row)
        weights, ones = columns[:, kernel.WEIGHT], columns[:, kernel.ONES]
        points = self.points(level)
        if self.spec.loss == "log":
            cross = -ones * np.log(points) - (weights - ones) * np.log1p(-points)
            best = _entropy(weights, ones)
            measured = float(np.maximum(cross - best, 0.0).sum())
            regret = float(row[LOST]) - float(best.sum())
        else:
            means = mean_outcomes(weights, ones)
            swaps = means
            if self.spec.steps is not None:
                swaps = np.rint(means * self.spec.steps) / self.spec.steps
            # Σ g·(x − y)² less Σ g·y², at the points and at what they would be swapped for
            lost = weights * points**2 - 2 * ones * points
            best = weights * swaps**2 - 2 * ones * swaps
            measured = float(np.maximum(lost - best, 0.0).sum())
            if self.spec.ratio is None:
                best = -ones * means
            regret = float(row[LOST]) - float(row[SQUARES]) - float(best.sum())
        bound = self.bound(float(row[MASS]), paid, level, int(row[DELAY]))
        noise = chance_of(points, weights)
        table = points, weights, mean_outcomes(weights, ones)
        after = min(bound, paid + regret)
        return [Claim(self.quantity, measured, bound, after, self.result, noise=noise, table=table)]

    def _check_learnt(self, row: Vector) -> None:
        columns = self.point_columns(row)
        target, weights, ones = (columns[:, k] for k in range(self.columns))
        if not (sums_agree(weights, ones, row) and row[SQUARES] <= ones.sum() + slack_of(row)):
            raise ValueError("row must be what a stream can come to: its sums do not agree")
        fresh = weights == 0
        if self.spec.loss == "log":
            expected = np.log((ones + 0.5) / (weights - ones + 0.5))
        else:
            starts = self.points(int(row[LEVEL]))
            expected = np.where(fresh, starts, mean_outcomes(weights, ones))
            if self.spec.ratio is not None:  # gradient steps: any probability, once it has learnt
                expected = np.where(fresh, starts, np.clip(target, 0.0, 1.0))
        if not (np.abs(target - expected) <= MEAN_SLACK).all():
            raise ValueError("row must be what a stream can come to: its points do not agree")


def mean_outcomes(weights: Vector, ones: Vector) -> Vector:
    """Mean outcome of every point, 0 where there was none."""
    return np.divide(ones, weights, out=np.zeros_like(ones), where=weights > 0)


def sums_agree(weights: Vector, ones: Vector, row: Vector) -> bool:
    """Whether masses of points add up and their outcomes lie between 0 and 1."""
    slack = slack_of(row)
    return bool(
        (ones >= 0).all()
        and (ones <= weights).all()  # rounding keeps this order, however many are added
        and abs(weights.sum() - row[MASS]) <= slack
        and row[SQUARES] >= (ones * mean_outcomes(weights, ones)).sum() - slack
    )


def _entropy(weights: Vector, ones: Vector) -> Vector:
    """Smallest Σ g·ℓ(x) at each point, over all x, for the log loss."""
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(weights > 0, ones / weights, 0.5)
        cost = -mean * np.log(mean) - (1 - mean) * np.log1p(-mean)
    return weights * np.where((mean > 0) & (mean < 1), cost, 0.0)

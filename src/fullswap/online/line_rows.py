"""Rows of yes-or-no events on a line: sub-learners, their errors and what is guaranteed."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.certificates import Quantity
from fullswap.kernels import line as kernel
from fullswap.kernels.columns import (
    CELLS,
    DELAY,
    LEVEL,
    LOST,
    MASS,
    OVERLAP,
    ROUNDING_MOST,
    SQUARES,
)
from fullswap.online.claims import Claim, chance_of
from fullswap.online.kind import MEAN_SLACK, Kind, slack_of
from fullswap.online.lattices import logits
from fullswap.theorems import LEDGER
from fullswap.theorems.calibration import (
    LogForecasts,
    SteppedForecasts,
    log_loss_rounding,
    stepped_rate,
)
from fullswap.theorems.means import LineForecasts

LARGEST_LOGIT = 40.0
"""Of what a point recommends for the log loss, ln(2G + 1) at most; with ln 2 also of its loss."""


class LineRows(Kind):
    """What is learnt on a line, however it is played."""

    shared_columns: ClassVar[dict[str, int]] = {}
    crossing: ClassVar[bool] = True
    """Whether what is played and what is recommended have one mean."""
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
    def _rate(self) -> tuple[float, float, float] | None:
        if self.spec.ratio is None:
            return None
        return stepped_rate(self._gap(0), self.spec.ratio)

    def _gap(self, level: int) -> float:
        return float(np.diff(self.points(level)).max())

    # --- what is guaranteed ---------------------------------------------------------------------

    def rounding_cost(self, level: int) -> float:
        """Of a cell, or beyond the ends; nothing where the loss is made linear; Jensen's gap."""
        if self.spec.loss == "log":
            return log_loss_rounding(logits(self.points(level)))
        return 0.0 if self.spec.ratio is not None else line_rounding(self.points(level))

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

    def bound(
        self, mass: float, rounding: float, level: int, waiting: int, whole: bool = False
    ) -> float:
        """By the ledger."""
        points = self.points(level)
        result = LEDGER[self.result]
        if self.spec.ratio is not None:
            gap = self._gap(level)
            return result.bound(SteppedForecasts(mass, len(points), gap, self.spec.ratio, waiting))
        if self.spec.loss == "log":
            return result.bound(LogForecasts(mass, len(points), rounding, waiting))
        coarser = tuple((self.points(k), self.spec.end(k)) for k in range(level))
        premises = LineForecasts(points, mass, rounding, self.crossing, whole, waiting, coarser)
        return result.bound(premises)

    def waiting(self, row: Vector) -> int:
        """At a point; anywhere, where forecasts of a coarser grid may be learnt on a finer one."""
        refined = row[LEVEL] > 0 and row[OVERLAP] > 0
        return max(int(row[DELAY]), int(refined))

    def claims(self, row: Vector) -> list[Claim]:
        """The calibration error; in steps also the regret among multiples, or that alone."""
        level, paid = int(row[LEVEL]), float(row[CELLS])
        columns = self.point_columns(row)
        weights, ones = columns[:, kernel.WEIGHT], columns[:, kernel.ONES]
        points, means = self.points(level), mean_outcomes(weights, ones)
        used = weights > 0
        bound = self.bound(
            float(row[MASS]), float(row[ROUNDING_MOST]), level, self.waiting(row), self.whole(row)
        )
        lost = float(row[LOST])
        noise = chance_of(points, weights)
        table = points[used], weights[used], means[used]

        def claim(quantity: Quantity, own: Vector, best: Vector, after: float) -> Claim:
            """What the points lose beside the best that they could be swapped for."""
            measured = float(np.maximum(own - best, 0.0).sum())
            return Claim(quantity, measured, bound, after, self.result, noise=noise, table=table)

        if self.spec.loss == "log":
            cross = -ones * np.log(points) - (weights - ones) * np.log1p(-points)
            best = _entropy(weights, ones)
            after = paid + lost - float(best.sum())
            return [claim(Quantity.KL_CALIBRATION_ERROR, cross, best, after)]

        def loss(x: Vector) -> Vector:
            """Σ g·(x − y)² less Σ g·y²."""
            return weights * x**2 - 2 * ones * x

        claims, lost = [], lost - float(row[SQUARES])
        own, best = loss(points), loss(means)
        after = paid + lost - float(best.sum())
        if self.spec.ratio is None:
            claims.append(claim(Quantity.L2_CALIBRATION_ERROR, own, best, after))
        if self.spec.steps is not None:
            best = loss(np.rint(means * self.spec.steps) / self.spec.steps)
            if self.spec.ratio is not None:
                after = paid + lost - float(best.sum())
            claims.append(claim(Quantity.DISCRETISED_SWAP_REGRET, own, best, after))
        return claims

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
            expected = (ones + starts) / (weights + 1)
            if self.spec.ratio is not None:  # gradient steps: any probability, once it has learnt
                expected = np.where(fresh, starts, np.clip(target, 0.0, 1.0))
        if not (np.abs(target - expected) <= MEAN_SLACK).all():
            raise ValueError("row must be what a stream can come to: its points do not agree")


def line_rounding(points: Vector) -> float:
    """The most that a round loses: a quarter of a squared gap, or the way to 0 or 1 at an end.

    Examples
    --------
    >>> line_rounding(np.array([0.1, 0.5, 0.9]))
    0.04
    """
    return float(max(np.diff(points).max() / 2, points[0], 1 - points[-1]) ** 2)


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

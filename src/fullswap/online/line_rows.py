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
from fullswap.theorems import LEDGER
from fullswap.theorems.means import LineForecasts


class LineRows(Kind):
    """What is learnt on a line."""

    shared_columns: ClassVar[dict[str, int]] = {}
    point_names = ("target", "weight", "ones")

    def _blank_points(self, level: int) -> Points:
        blank = np.zeros((self.spec.levels[level].size(2), self.columns))
        blank[:, kernel.TARGET] = self.points(level)  # a mean starts at its own point
        return blank

    # --- what is guaranteed ---------------------------------------------------------------------

    def rounding_cost(self, level: int) -> float:
        """Of a cell, or beyond the ends."""
        return line_rounding(self.points(level))

    def bound(
        self, mass: float, rounding: float, level: int, waiting: int, whole: bool = False
    ) -> float:
        """By the ledger."""
        points = self.points(level)
        coarser = tuple((self.points(k), self.spec.end(k)) for k in range(level))
        premises = LineForecasts(points, mass, rounding, whole, waiting, coarser)
        return LEDGER["calibration"].bound(premises)

    def waiting(self, row: Vector) -> int:
        """At a point; anywhere, where forecasts of a coarser grid may be learnt on a finer one."""
        refined = row[LEVEL] > 0 and row[OVERLAP] > 0
        return max(int(row[DELAY]), int(refined))

    def claims(self, row: Vector) -> list[Claim]:
        """The calibration error; in steps also the regret among multiples."""
        level, paid = int(row[LEVEL]), float(row[CELLS])
        columns = self.point_columns(row)
        weights, ones = columns[:, kernel.WEIGHT], columns[:, kernel.ONES]
        points, means = self.points(level), mean_outcomes(weights, ones)
        used = weights > 0
        bound = self.bound(
            float(row[MASS]), float(row[ROUNDING_MOST]), level, self.waiting(row), self.whole(row)
        )
        lost = float(row[LOST]) - float(row[SQUARES])
        noise = chance_of(points, weights)
        table = points[used], weights[used], means[used]

        def claim(quantity: Quantity, own: Vector, best: Vector, after: float) -> Claim:
            """What the points lose beside the best that they could be swapped for."""
            measured = float(np.maximum(own - best, 0.0).sum())
            return Claim(quantity, measured, bound, after, "calibration", noise=noise, table=table)

        def loss(x: Vector) -> Vector:
            """Σ g·(x − y)² less Σ g·y²."""
            return weights * x**2 - 2 * ones * x

        own, best = loss(points), loss(means)
        after = paid + lost - float(best.sum())
        claims = [claim(Quantity.L2_CALIBRATION_ERROR, own, best, after)]
        if self.spec.steps is not None:
            best = loss(np.rint(means * self.spec.steps) / self.spec.steps)
            claims.append(claim(Quantity.DISCRETISED_SWAP_REGRET, own, best, after))
        return claims

    def _check_learnt(self, row: Vector) -> None:
        columns = self.point_columns(row)
        target, weights, ones = (columns[:, k] for k in range(self.columns))
        if not (sums_agree(weights, ones, row) and row[SQUARES] <= ones.sum() + slack_of(row)):
            raise ValueError("row must be what a stream can come to: its sums do not agree")
        expected = (ones + self.points(int(row[LEVEL]))) / (weights + 1)
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

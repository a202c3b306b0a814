"""Yes-or-no events, played by a crossing between neighbouring grid points."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np

from fullswap.base.draws import Words
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
    PARTIAL,
    ROUNDING_MOST,
    SQUARES,
)
from fullswap.kernels.events import Layout
from fullswap.online.claims import Claim, chance_of
from fullswap.online.kind import MEAN_SLACK, Kind, Play, grids_of, slack_of
from fullswap.online.plays import check_indices, check_shares, check_unit
from fullswap.theorems import LEDGER
from fullswap.theorems.means import LineForecasts


class Line(Kind):
    """A play is (id, drawn, left, right, share of left, and what these two recommend)."""

    shared_columns: ClassVar[dict[str, int]] = {}
    point_names = ("target", "weight", "ones")

    def _blank_points(self, level: int) -> Points:
        blank = np.zeros((self.spec.levels[level].size(2), self.columns))
        blank[:, kernel.TARGET] = self.points(level)  # a mean starts at its own point
        return blank

    def _compile(self, layout: Layout) -> Any:
        realised = self.spec.realised
        self._frames = [
            np.array([realised, delta, end, *grid])
            for delta, end, grid in zip(layout.delta, layout.ends, grids_of(layout), strict=True)
        ]
        return kernel.LineSpec(*layout, realised)

    def forecaster(self, row: Vector, source: Words) -> Callable[..., Play]:
        """One point, or two neighbours."""
        return partial(kernel.line_predict, self._frames[self.level_of(row)], row, source)

    def learner(self, row: Vector, level: int) -> Callable[..., bool]:
        """Feed one outcome."""
        return partial(kernel.line_update, self._frame(row, level), row)

    def _frame(self, row: Vector, level: int) -> Vector:
        now = self.level_of(row)
        frame = self._frames[now]
        if level != now:
            frame = frame.copy()
            frame[kernel.DELTA] = self.rounding_cost(level)
        return frame

    def encode(self, play: Play) -> list[float]:
        """The five numbers after id and draw."""
        return [float(value) for value in play[2:]]

    def encoded_length(self) -> int:
        """Five."""
        return 5

    def decode(self, numbers: list[float], level: int) -> tuple[Any, ...]:
        """The five numbers, checked."""
        if len(numbers) != 5:
            raise ValueError(f"play must be 5 numbers, got {len(numbers)}")
        left, right, share = check_pair(numbers, self.spec.levels[level].size(2))
        targets = check_unit(np.array(numbers[3:]))
        return (left, right, share, *targets.tolist())

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
        part = weights % 1.0
        if self.spec.realised and (part * (1.0 - part)).sum() > row[PARTIAL] + slack_of(row):
            # one point learns each outcome: only scales that are not whole leave such masses
            raise ValueError("row must be what a stream can come to: its scales do not agree")
        expected = (ones + self.points(int(row[LEVEL]))) / (weights + 1)
        if not (np.abs(target - expected) <= MEAN_SLACK).all():
            raise ValueError("row must be what a stream can come to: its points do not agree")


def check_pair(numbers: list[float], size: int) -> tuple[int, int, float]:
    """Neighbours on a grid, or an end of it twice, and the share of the first: then all."""
    left, right = check_indices(numbers[:2], size)
    alone = right == left and numbers[2] == 1 and left in (0, size - 1)
    if right - left != 1 and not alone:
        raise ValueError(f"play must be on neighbours, got {left} and {right}")
    check_shares([numbers[2], 1 - numbers[2]])
    return left, right, float(numbers[2])


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
    with np.errstate(over="ignore"):  # of rows from outside, which are refused
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

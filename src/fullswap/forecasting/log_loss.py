"""Forecasts for the log loss, and the calibration error that it measures (KL).

In logits θ = ln(p/(1 − p)) the log loss is A(θ) − y·θ with A(θ) = ln(1 + e^θ). A crossing in θ,
Σ λ_j θ(q_j) = Σ λ_j θ(s_j) = θ*, therefore has the same excess over its recommendations for both
outcomes, and by Jensen

    Σ λ_j ℓ(s_j) − Σ λ_j ℓ(q_j) ≤ Σ λ_j A(θ_j) − A(θ*) ≤ largest Jensen gap of the cell,

which a chord of A gives in closed form (``chord_gap``). On the grid of [LSS25] it is at most about
1.25/K², half of what the rounding there is shown to cost. Below the first grid point (and above
the last) that point is played alone, at −ln(1 − z_0) at most. Sub-learners are those of [KT81]:
Reg_s ≤ ½·ln(1 + π·G_s), also for scales below 1 and for outcomes between 0 and 1, because
θ ↦ θ^a·(1 − θ)^b is concave for a + b ≤ 1. So

    KLCal ≤ Σ_t δ_t + (n/2)·ln(1 + π·T/n).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.grids import Grid
from fullswap.learners.gradient import GradientChoice
from fullswap.sets import Interval
from fullswap.template.plan import Plan
from fullswap.template.rows import TableRow
from fullswap.template.rules import Crossing
from fullswap.theorems import Constants, Geometry, Theorem
from fullswap.theorems.anytime import Schedule

MAX_CELLS = 2**20


def logits(points: Vector) -> Vector:
    """ln(p/(1 − p))."""
    return np.log(points) - np.log1p(-points)


def log_grid(cells: int) -> Vector:
    """sin²(πi/2K), the ends moved half a cell inwards; nested when K doubles. [LSS25].

    Examples
    --------
    >>> log_grid(2)
    array([0.1464..., 0.5       , 0.8535...])
    """
    angles = np.arange(cells + 1) * (math.pi / (2 * cells))
    angles[0], angles[-1] = math.pi / (4 * cells), math.pi / 2 - math.pi / (4 * cells)
    points = np.sin(angles) ** 2
    # exact mirror images, and the same numbers on every level
    points[cells // 2] = 0.5 if cells % 2 == 0 else points[cells // 2]
    points[(cells + 2) // 2 :] = 1.0 - points[: (cells + 1) // 2][::-1]
    return points


def chord_gap(left: Vector, right: Vector) -> Vector:
    """Largest Jensen gap of A(θ) = ln(1 + e^θ) between two logits.

    It is attained where A has the slope of the chord, that is at the probability p* equal to it.
    """
    low, high = np.logaddexp(0.0, left), np.logaddexp(0.0, right)
    slope = (high - low) / (right - left)
    # far out A is straight to the last digit, and so its slope may come out as 0 or 1
    best = np.clip(logits(np.clip(slope, 1e-300, 1 - 2.0**-53)), left, right)
    return low + slope * (best - left) - np.logaddexp(0.0, best)


def rounding_cost(points: Vector) -> float:
    """δ: what a crossing can cost on this grid, whatever the recommendations and the outcome."""
    theta = logits(points)
    return float(max(chord_gap(theta[:-1], theta[1:]).max(), -math.log1p(-points[0])))


def learning_cost(constants: Constants, n: int, rounds: float) -> float:
    """(n/2)·ln(1 + π·T/n): n sub-learners of [KT81]."""
    return n / 2 * math.log1p(math.pi * rounds / n)


LOG_LOSS = Theorem(
    "log loss", "LSS25; KT81", "outcomes in [0, 1]",
    # the geometry of these grids carries the cost itself in place of a variance
    lambda c, g: g.variance, learning_cost, lambda d: 1 / 3, needs_convexity=True,
)  # fmt: skip


class LogGrids:
    """Level j = 0, 1, … has 2^(j + 1) cells; ``cells`` picks one number of cells instead."""

    def __init__(self, cells: int | None = None) -> None:
        self.cells = cells

    def geometry(self, level: int) -> Geometry | None:
        """What the grid of a level measures."""
        return measured(self.cells or 2 ** (level + 1))

    def grid(self, level: int) -> Grid:
        """The grid of a level."""
        geometry = self.geometry(level)
        assert geometry is not None
        points, radius = log_grid(self.cells or 2 ** (level + 1)), geometry.covering_radius
        return Grid(points[:, None], 2 * radius, radius, 0.0, geometry.variance)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {"family": "log", "cells": self.cells}


def measured(cells: int) -> Geometry | None:
    """The geometry of a grid, whose variance carries the rounding cost."""
    if cells > MAX_CELLS:
        return None
    points = log_grid(cells)
    return Geometry(len(points), float(np.diff(points).max() / 2), 0.0, rounding_cost(points))


def log_plan(horizon: int | None) -> Plan:
    """The grid that minimises the bound, or nested ones where there is no horizon."""
    # no bound on the loss is used: min(B·T, …) takes the other branch
    constants = Constants(math.inf, 1.0)
    cells, schedule = None, None
    if horizon is not None:
        cells, _ = LOG_LOSS.tune(constants, float(horizon), measured, first=2)
    else:
        schedule = Schedule(LOG_LOSS, constants, LogGrids().geometry)
    return Plan(
        TableRow(LOG_LOSS, "log", "barycentric"), "gradient", "crossing", LOG_LOSS, constants,
        Interval(0.0, 1.0), horizon, LogGrids(cells), 0, schedule, GradientChoice(),
    )  # fmt: skip


class LogCrossing(Crossing):
    """The packed state in logits: grid points, and targets that start at even odds."""

    def __init__(self, points: Points, *unused: Any) -> None:
        # neither interval nor rate: targets are counts of outcomes
        super().__init__(points, 0.0, 1.0, np.array([1.0, 0.0, math.inf]), False)
        self.state[0] = logits(points[:, 0])
        self.state[1] = 0.0

    def carried_into(self, fresh: Crossing) -> Crossing:
        """The finer grid is one of logits, too."""
        return super().carried_into(LogCrossing(fresh.points))

"""Forecasters: calibration error of probabilities, for the squared and for the log loss.

A forecast is a mixture of grid points s with recommendations q_s such that, whatever the outcome y,
its loss is at most that of the recommendations plus δ_t. So the calibration error, which is the
full swap regret of the loss [FKO25, Thm calibration], is at most

    Σ_t g_t·δ_t + Σ_s Reg_s + (what late outcomes cost) ,

with scales g = weight/max_weight: the number of rounds becomes the mass M = Σ g, and the bounds are
to be multiplied by max_weight.

Log loss. In logits θ = ln(p/(1 − p)) it is A(θ) − y·θ with A(θ) = ln(1 + e^θ). A crossing in θ,
Σ λ_j θ(q_j) = Σ λ_j θ(s_j) = θ*, has the same excess over its recommendations for both outcomes, by
Jensen at most the largest gap between A and its chord in the cell. On the grid of [LSS25] that is
at most about 1.25/K², half of what the rounding there is shown to cost. Below the first grid point
(and above the last) that point is played alone, at −ln(1 − z_0) at most. Sub-learners are those of
[KT81]: Reg_s ≤ ½·ln(1 + π·G_s), also for scales below 1 and outcomes between 0 and 1, because
θ ↦ θ^a·(1 − θ)^b is concave for a + b ≤ 1.

Symbols: K classes · D² = 1 for yes-or-no events and 2 for K ≥ 3 classes or vectors, the squared
diameter of the set of forecasts and the largest loss · L = 2D, α = 2 of the squared loss.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fullswap.base.protocols import Vector
from fullswap.theorems.lateness import LateOutcomes, late_cost
from fullswap.theorems.learning import nearly_strongly_convex_cost, strongly_convex_cost
from fullswap.theorems.ledger import Result
from fullswap.theorems.premises import Constants

RateParameters = tuple[float, float, float]
"""(ρ, κ, switch): steps 1/(ρG) while G ≤ switch, κ/√G after."""


@dataclass(frozen=True)
class Forecasts:
    """Events of total mass M, forecast on grids of at most ``points`` points.

    ``rounding`` bounds Σ g·δ_t; ``waiting`` is the most other forecasts that waited at a grid point
    when it learnt.
    """

    mass: float
    points: int
    rounding: float
    waiting: int = 0
    squared_diameter: float = 1.0


@dataclass(frozen=True)
class SteppedForecasts:
    """The same among given actions with gaps of at most ``gap``, with the schedule of ratio τ."""

    mass: float
    points: int
    gap: float
    ratio: float
    waiting: int = 0


def squared_loss(squared_diameter: float = 1.0, gap: float = 0.0) -> Constants:
    """Constants of ‖p − y‖² on a set of this squared diameter."""
    diameter = math.sqrt(squared_diameter)
    return Constants(2 * diameter, diameter, strong_convexity=2.0, smoothness=2.0, gap=gap)


def stepped_rate(gap: float, ratio: float) -> RateParameters:
    """Learning rates of [FKO25, Thm GDK] for this gap and ratio τ, corrected."""
    c = squared_loss(gap=gap)
    modulus = c.strong_convexity * (1 - 1 / ratio) ** 2
    root = ratio * gap / (math.sqrt(2) * c.lipschitz)
    return modulus, root, 1 / (modulus * root) ** 2


PLAIN_RATE: RateParameters = (2.0, 0.0, math.inf)
"""Steps 1/(2G) on the squared loss: running means."""


def calibration_bound(p: Forecasts) -> float:
    """min(D²·M, Σδ + n·D²·Rt(M/n) + late)."""
    if p.mass <= 0:
        return 0.0
    c = squared_loss(p.squared_diameter)
    total = p.rounding + strongly_convex_cost(c, p.points, p.mass)
    if p.waiting:
        late = LateOutcomes(c, p.squared_diameter, p.points, p.mass, p.waiting, PLAIN_RATE)
        total += late_cost(late)
    return min(p.squared_diameter * p.mass, total)


def stepped_bound(p: SteppedForecasts) -> float:
    """min(M, √2·τ·ε·L·√(nM) + (n·L²/2ρ)·Rt(M/n) + late)."""
    if p.mass <= 0:
        return 0.0
    c = squared_loss(gap=p.gap)
    total = nearly_strongly_convex_cost(c, p.points, p.mass, p.ratio)
    if p.waiting:
        rate = stepped_rate(p.gap, p.ratio)
        total += late_cost(LateOutcomes(c, 1.0, p.points, p.mass, p.waiting, rate))
    return min(p.mass, total)


def log_loss_bound(p: Forecasts) -> float:
    """Σδ + (n/2)·ln(1 + π·M/n); nothing is known for late outcomes."""
    if p.waiting:
        return math.inf
    return p.rounding + p.points / 2 * math.log1p(math.pi * p.mass / p.points)


def log_loss_rounding(logits: Vector) -> float:
    """δ of a crossing on a grid given in logits, whatever the recommendations and the outcome.

    Examples
    --------
    >>> round(log_loss_rounding(np.array([-1.0, 0.0, 1.0])), 4)
    0.3133
    """
    left, right = logits[:-1], logits[1:]
    low, high = np.logaddexp(0.0, left), np.logaddexp(0.0, right)
    slope = (high - low) / (right - left)
    # Jensen's gap peaks where A has the slope of the chord, at the probability equal to it; far
    # out A is straight to the last digit, and so that slope may come out as 0 or 1
    chance = np.clip(slope, 1e-300, 1 - 2.0**-53)
    best = np.clip(np.log(chance) - np.log1p(-chance), left, right)
    gaps = low + slope * (best - left) - np.logaddexp(0.0, best)
    ends = max(np.logaddexp(0.0, logits[0]), np.logaddexp(0.0, -logits[-1]))
    return float(max(gaps.max(), ends))


CALIBRATION = (
    Result(
        "calibration", "FKO25, Thm calibration; FKO25, Table 1 row 5",
        "l2 calibration error ≤ Σδ + n·D²·Rt(M/n), for any outcomes", Forecasts, calibration_bound,
    ),
    Result(
        "calibration in steps", "FKO25, Thm disc-main",
        "discretised swap regret of forecasts in given steps, for any outcomes",
        SteppedForecasts, stepped_bound,
    ),
    Result(
        "calibration for the log loss", "LSS25; KT81",
        "KL calibration error ≤ Σδ + (n/2)·ln(1 + π·M/n), for any outcomes in time",
        Forecasts, log_loss_bound,
    ),
)  # fmt: skip

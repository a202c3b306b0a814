"""Forecasters: calibration error of probabilities, for the squared and for the log loss.

A forecast is a mixture of grid points s with recommendations q_s such that, whatever the outcome y,
its loss is at most that of the recommendations plus δ_t. So the calibration error, which is the
full swap regret of the loss [FKO25, Lemma 26], is at most

    Σ_t g_t·δ_t + Σ_s (what the learner at s costs) ,

with scales g = weight/max_weight: the number of rounds becomes the mass M = Σ g, and the bounds are
to be multiplied by max_weight.

Log loss. In logits θ = ln(p/(1 − p)) it is A(θ) − y·θ with A(θ) = ln(1 + e^θ). A crossing in θ,
Σ λ_j θ(q_j) = Σ λ_j θ(s_j) = θ*, has the same excess over its recommendations for both outcomes, by
Jensen at most the largest gap between A and its chord in the cell. On the grid of [LSS25] that is
at most about 1.25/K², half of what the rounding there is shown to cost. Below the first grid point
(and above the last) that point is played alone, at −ln(1 − z_0) at most. Sub-learners are those of
[KT81]: Reg_s ≤ ½·ln(1 + π·G_s), also for scales below 1 and outcomes between 0 and 1, because
θ ↦ θ^a·(1 − θ)^b is concave for a + b ≤ 1. Late outcomes: what a waiting forecast loses comes of
outcomes like its own that it has not heard of, each worth ln(1 + g/(S + ½)) at most, S their mass
so far; with b waiting that is b·[ln(1 + 2S) + ln(1 + 2(G − S))] ≤ 2b·ln(1 + G) a point.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fullswap.base.protocols import Vector
from fullswap.theorems.lateness import LateOutcomes, late_cost
from fullswap.theorems.learning import nearly_strongly_convex_cost
from fullswap.theorems.ledger import Result
from fullswap.theorems.means import (
    ClassForecasts,
    LineForecasts,
    class_means_cost,
    line_means_cost,
)
from fullswap.theorems.premises import Constants

RateParameters = tuple[float, float, float]
"""(ρ, κ, switch): steps 1/(ρG) while G ≤ switch, κ/√G after."""


@dataclass(frozen=True)
class LogForecasts:
    """Yes-or-no events of total mass M on ``size`` points, for the log loss."""

    mass: float
    size: int
    rounding: float
    waiting: int = 0


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
    """Learning rates of [FKO25, Thm 20] for this gap and ratio τ, corrected."""
    c = squared_loss(gap=gap)
    modulus = c.strong_convexity * (1 - 1 / ratio) ** 2
    root = ratio * gap / (math.sqrt(2) * c.lipschitz)
    return modulus, root, 1 / (modulus * root) ** 2


def calibration_bound(p: LineForecasts) -> float:
    """min(M, Σδ + what the means cost).

    Examples
    --------
    >>> points = np.arange(17) / 16
    >>> round(calibration_bound(LineForecasts(points, 1e4, 1e4 / (4 * 16**2), whole=True)), 1)
    36.6
    """
    return min(p.mass, p.rounding + line_means_cost(p))


def class_calibration_bound(p: ClassForecasts) -> float:
    """min(2M, Σδ + what the means cost)."""
    return min(2 * p.mass, p.rounding + class_means_cost(p))


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


def log_loss_bound(p: LogForecasts) -> float:
    """Σδ + (n/2)·ln(1 + π·M/n) + 2·b·n·ln(1 + M/n) where b others waited at a point."""
    each = p.mass / p.size
    late = 2 * p.waiting * math.log1p(each)
    return p.rounding + p.size * (math.log1p(math.pi * each) / 2 + late)


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
        "calibration", "FKO25, Lemma 26; fullswap, Means",
        "l2 calibration error ≤ Σδ + what running means cost, for any outcomes", LineForecasts,
        calibration_bound,
    ),
    Result(
        "calibration of classes", "FKO25, Lemma 26; fullswap, Means",
        "l2 calibration error of vectors ≤ Σδ + what running means cost, for any outcomes",
        ClassForecasts, class_calibration_bound,
    ),
    Result(
        "calibration in steps", "FKO25, Thm 21",
        "discretised swap regret of forecasts in given steps, for any outcomes",
        SteppedForecasts, stepped_bound,
    ),
    Result(
        "calibration for the log loss", "LSS25; KT81",
        "KL calibration error ≤ Σδ + (n/2)·ln(1 + π·M/n) + 2·b·n·ln(1 + M/n), for any outcomes",
        LogForecasts, log_loss_bound,
    ),
)  # fmt: skip

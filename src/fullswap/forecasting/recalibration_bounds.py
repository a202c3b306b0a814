"""What recalibration guarantees, as numbers.

Every method forecasts a mixture x_t of grid points s with recommendations q_s such that, for
every outcome y in [0, 1] and each event,

    Σ_s x_t[s]·(s − y)² ≤ Σ_s x_t[s]·(q_s − y)² + δ_t ,                              (1)

with δ_t ≤ 1/(4N²) for a crossing between neighbours of a grid with N cells. So what remains is
what the recommendations lose, point by point, against a comparator of one's choice:

- against the mean outcome ȳ_s at each point, (1) bounds the l2 calibration error, because
  Σ_t x_t[s]·[(s − y_t)² − (ȳ_s − y_t)²] = G_s·(s − ȳ_s)²;
- against another forecaster, the same at all points, it bounds the excess Brier score.

A sub-learner that merges experts by the aggregating rule loses at most ln(1/π_m)/η more than
expert m of prior weight π_m, for any scales g in [0, 1]: a loss that is η-mixable stays so when
scaled, since E[exp(−ηgℓ)] ≤ E[exp(−ηℓ)]^g. The squared loss has η = 2 on [0, 1] [HKW98] and
η = 1 on the simplex [VZ09].

The mean of the outcomes at s together with κ imagined ones of value s is ridge regression on a
constant; its regret against a constant u is exactly κ‖u − s‖² + Σ g²/(G + κ)·‖y − μ‖² minus a
square, so at most κ·c_s + D²·ln(1 + G_s/κ): c_s is the largest ‖u − s‖², and D² = 1 on [0, 1]
and 2 on the simplex.

With sample weights the number of events becomes the mass Σ w/max_weight, and the bounds are to
be multiplied by max_weight.

Symbols: N cells · n = N + 1 points · κ = 2 imagined outcomes · π_μ = ¼ prior of the mean at each
point, the rest is the shared advice's · Rt(x) = min(x, 1) + ln max(x, 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from fullswap.theorems import regret_sum

IMAGINED = 2.0
"""κ: equal to POINT_PRIOR of the kernels."""
OWN_PRIOR = 0.25
"""π_μ: prior weight of a point's own mean against the advice shared by all points."""
MOST_CELLS = 4096


def line_rounding(cells: int) -> float:
    """Most that one event loses by a crossing between neighbours, 1/(4N²).

    Examples
    --------
    >>> line_rounding(10)
    0.0025
    """
    return 0.25 / cells**2


def experts_calibration(mass: float, cells: int, rounding: float | None = None) -> float:
    """Most l2 calibration error of the experts method.

    Σδ_t + κ·Σ_s max(s, 1 − s)² + n·[½·ln(1/π_μ) + ln(1 + mass/(κn))], or the mass itself where
    that is less: ln is concave, so equal masses at all points are the worst case.

    Parameters
    ----------
    mass : float
        Events, or Σ w/max_weight.
    cells : int
        N of the grid; of the finest one if it was refined.
    rounding : float or None
        Bound on Σδ_t; None: mass/(4N²), for a grid kept throughout.

    Examples
    --------
    >>> round(experts_calibration(10_000, 20), 1)
    161.2
    """
    if rounding is None:
        rounding = mass * line_rounding(cells)
    return min(mass, rounding + experts_learning(mass, cells + 1))


def experts_learning(mass: float, points: int) -> float:
    """Most that the sub-learners at these points lose against the mean outcomes there.

    Examples
    --------
    >>> round(experts_learning(0.0, 3), 2)  # 2·(1 + ¼ + 1) + 3·ln 2
    6.58
    """
    cells = points - 1
    half = cells // 2
    spread = 2 * (_sum_of_squares(cells) - _sum_of_squares(half)) + (cells % 2 == 0) * half**2
    own = 0.5 * math.log(1 / OWN_PRIOR) + math.log1p(mass / (IMAGINED * points))
    return IMAGINED * spread / cells**2 + points * own


def _sum_of_squares(k: int) -> int:
    """1² + … + k²."""
    return k * (k + 1) * (2 * k + 1) // 6


def experts_excess(
    mass: float, cells: int, prior: float, updates: float, rounding: float | None = None
) -> float:
    """Most total Brier score of the experts method in excess of one expert of that prior.

    Σδ_t + n·½·ln(1/(1 − π_μ)) + ½·ln(1/prior) + ½·ln(updates): rounding; at each point, the
    advice against the own mean; in the advice, the expert against the others; and the
    price of letting the best expert change, Π_t (1 − 1/(t + 1)) = 1/updates.

    Examples
    --------
    >>> round(experts_excess(10_000, 20, 0.25, 10_000), 1)
    14.6
    """
    n = cells + 1
    if rounding is None:
        rounding = mass * line_rounding(cells)
    points = min(mass, n * 0.5 * math.log(1 / (1 - OWN_PRIOR)))
    return min(mass, rounding + points + 0.5 * math.log(max(updates, 1.0) / prior))


def best_cells(bound: Callable[[int], float]) -> int:
    """The number of cells with the smallest bound.

    Examples
    --------
    >>> [best_cells(lambda cells: experts_calibration(10.0**k, cells)) for k in (3, 4, 5)]
    [5, 9, 18]
    """
    return min(range(1, MOST_CELLS + 1), key=bound)


def per_bin_regret(mass: float, cells: int, base_bins: int) -> float:
    """J: most that a crossing forecaster in each bin of the model loses against bin means.

    mass/(4N²) + |Q|·(N + 1)·Rt(mass/(|Q|·(N + 1))). Both the l2 calibration error and the
    Brier score in excess of Σ_bins Σ (ȳ_bin − y)² are at most J: a mean over a union of
    (bin, point) pairs fits them no better than their own means do.

    Examples
    --------
    >>> round(per_bin_regret(10_000, 20, 20), 1)
    1757.7
    """
    n = base_bins * (cells + 1)
    return min(mass, mass * line_rounding(cells) + n * regret_sum(mass / n))


def one_weight_calibration(mass: float, cells: int, rate: float, gaps: float) -> float:
    """Most l2 calibration error of the one-weight method [CHJL26].

    mass/(4N²) + n·Rt(mass/n) + ln(1/η)/η + η·Σ(loss gap)²: the weight of the calibrated
    recommendations grows by 1 + η·gap, and ln(1 + x) ≥ x − x² for x ≥ −½.

    Examples
    --------
    >>> round(one_weight_calibration(10_000, 20, 0.02, 400.0), 1)
    360.3
    """
    n = cells + 1
    learning = n * regret_sum(mass / n) + math.log(1 / rate) / rate + rate * gaps
    return min(mass, mass * line_rounding(cells) + learning)


def one_weight_excess(mass: float, cells: int, rate: float) -> float:
    """Most total Brier score of the one-weight method in excess of the model [CHJL26].

    ln(1/(1 − η))/η + mass/(4N²): the model's own weight never moves.

    Examples
    --------
    >>> round(one_weight_excess(10_000, 20, 0.02), 2)
    7.26
    """
    return min(mass, -math.log1p(-rate) / rate + mass * line_rounding(cells))


def one_weight_rate(horizon: float) -> float:
    """η = √(ln T/T), at most ½: balances ln(1/η)/η and η·T.

    Examples
    --------
    >>> round(one_weight_rate(10_000), 4)
    0.0303
    """
    return min(0.5, math.sqrt(math.log(max(horizon, 2.0)) / max(horizon, 2.0)))


def mesh_calibration(mass: float, points: int, variance: float, spread: float) -> float:
    """Most l2 calibration error of the experts method with K classes.

    mass·V + κ·Σ_s c_s + n·[ln(1/π_μ) + 2·ln(1 + mass/(κn))], at most 2·mass; V is the largest
    variance of a distribution on one simplex of the grid, ``spread`` = Σ_s c_s, c_s the squared
    distance of s from the farthest corner.

    Examples
    --------
    >>> round(mesh_calibration(10_000, 66, 0.0075, 70.0), 1)
    879.5
    """
    own = math.log(1 / OWN_PRIOR) + 2 * math.log1p(mass / (IMAGINED * points))
    return min(2 * mass, mass * variance + IMAGINED * spread + points * own)


def mesh_excess(mass: float, points: int, variance: float, prior: float, updates: float) -> float:
    """Most total Brier score with K classes in excess of one expert of that prior.

    mass·V + n·ln(1/(1 − π_μ)) + ln(updates/prior).

    Examples
    --------
    >>> round(mesh_excess(10_000, 66, 0.0075, 0.25, 10_000), 1)
    104.6
    """
    kept = min(2 * mass, points * math.log(1 / (1 - OWN_PRIOR)))
    return min(2 * mass, mass * variance + kept + math.log(max(updates, 1.0) / prior))

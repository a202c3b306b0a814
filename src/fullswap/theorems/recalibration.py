"""Recalibration of given probabilities by experts inside every sub-learner.

A forecast is a mixture x_t of grid points s with recommendations q_s such that, for every outcome y
and each event,

    Σ_s x_t[s]·‖s − y‖² ≤ Σ_s x_t[s]·‖q_s − y‖² + δ_t .                                  (1)

So what remains is what the recommendations lose, point by point, against a comparator of one's
choice:

- against the mean outcome ȳ_s at each point, (1) bounds the l2 calibration error, because
  Σ_t x_t[s]·[‖s − y_t‖² − ‖ȳ_s − y_t‖²] = G_s·‖s − ȳ_s‖²;
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

Symbols: n points · κ imagined outcomes · π_μ prior of the mean at each point, the rest is the
shared advice's · spread = Σ_s c_s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fullswap.theorems.ledger import Result

IMAGINED = 2.0
"""κ: near the best for the bound at ordinary horizons."""
OWN_PRIOR = 0.25
"""π_μ: prior weight of a point's own mean against the advice shared by all points."""


@dataclass(frozen=True)
class Recalibration:
    """Events of total mass M on a grid of n points, Σ g·δ_t at most ``rounding``."""

    mass: float
    points: int
    rounding: float
    spread: float
    squared_diameter: float = 1.0


@dataclass(frozen=True)
class Excess:
    """The same against an expert of this prior, after so many updates of the shared advice."""

    mass: float
    points: int
    rounding: float
    prior: float
    updates: float
    squared_diameter: float = 1.0


def recalibration_bound(p: Recalibration) -> float:
    """Σδ + κ·Σ_s c_s + n·[ln(1/π_μ)/η + D²·ln(1 + M/(κn))], at most D²·M.

    ln is concave, so equal masses at all points are the worst case; 1/η = D²/2.

    Examples
    --------
    >>> grid = [i / 20 for i in range(21)]
    >>> spread = sum(max(s, 1 - s) ** 2 for s in grid)
    >>> round(recalibration_bound(Recalibration(10_000, 21, 10_000 / 1600, spread)), 1)
    161.2
    """
    return min(p.squared_diameter * p.mass, recalibration_total(p))


def recalibration_total(p: Recalibration) -> float:
    """The same, which may exceed the trivial D²·M."""
    d = p.squared_diameter
    own = d / 2 * math.log(1 / OWN_PRIOR) + d * math.log1p(p.mass / (IMAGINED * p.points))
    return p.rounding + IMAGINED * p.spread + p.points * own


def excess_bound(p: Excess) -> float:
    """Σδ + n·ln(1/(1 − π_μ))/η + ln(updates/prior)/η, at most D²·M.

    Rounding; at each point, the advice against the own mean; in the advice, the expert against the
    others; and the price of letting the best expert change, Π_t (1 − 1/(t + 1)) = 1/updates.

    Examples
    --------
    >>> round(excess_bound(Excess(10_000, 21, 10_000 / 1600, 0.25, 10_000)), 1)
    14.6
    """
    d = p.squared_diameter
    kept = min(d * p.mass, p.points * d / 2 * math.log(1 / (1 - OWN_PRIOR)))
    advice = d / 2 * math.log(max(p.updates, 1.0) / p.prior)
    return min(d * p.mass, p.rounding + kept + advice)


RECALIBRATION = (
    Result(
        "recalibration", "FKO25, Thm calibration; HKW98; VZ09",
        "l2 calibration error of recalibrated forecasts, for any outcomes in time at each point",
        Recalibration, recalibration_bound,
    ),
    Result(
        "recalibration keeps the skill", "HKW98; VZ09",
        "total Brier score in excess of any expert, for any outcomes in time", Excess, excess_bound,
    ),
)  # fmt: skip

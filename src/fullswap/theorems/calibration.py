"""Forecasters: calibration error of probabilities.

A forecast is a mixture of grid points s with recommendations q_s such that, whatever the outcome y,
its loss is at most that of the recommendations plus δ_t. So the calibration error, which is the
full swap regret of the loss [FKO25, Lemma 26], is at most

    Σ_t g_t·δ_t + Σ_s (what the learner at s costs) ,

with scales g = weight/max_weight: the number of rounds becomes the mass M = Σ g, and the bounds are
to be multiplied by max_weight.
"""

from __future__ import annotations

import math

from fullswap.theorems.ledger import Result
from fullswap.theorems.means import (
    ClassForecasts,
    LineForecasts,
    class_means_cost,
    line_means_cost,
)
from fullswap.theorems.premises import Constants


def squared_loss(squared_diameter: float = 1.0) -> Constants:
    """Constants of ‖p − y‖² on a set of this squared diameter."""
    diameter = math.sqrt(squared_diameter)
    return Constants(2 * diameter, diameter, strong_convexity=2.0, smoothness=2.0)


def calibration_bound(p: LineForecasts) -> float:
    """min(M, Σδ + what the means cost).

    Examples
    --------
    >>> import numpy as np
    >>> points = np.arange(17) / 16
    >>> round(calibration_bound(LineForecasts(points, 1e4, 1e4 / (4 * 16**2), whole=True)), 1)
    36.6
    """
    return min(p.mass, p.rounding + line_means_cost(p))


def class_calibration_bound(p: ClassForecasts) -> float:
    """min(2M, Σδ + what the means cost)."""
    return min(2 * p.mass, p.rounding + class_means_cost(p))


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
)  # fmt: skip

"""Forecasters: calibration error of probabilities.

A forecast is a mixture of grid points s with recommendations q_s such that, whatever the outcome y,
its loss is at most that of the recommendations plus δ_t. So the calibration error, which is the
full swap regret of the loss [FKO25, Lemma 26], is at most

    Σ_t g_t·δ_t + Σ_s (what the learner at s costs) ,

with scales g = weight/max_weight: the number of rounds becomes the mass M = Σ g, and the bounds are
to be multiplied by max_weight.
"""

from __future__ import annotations

from typing import Any

from fullswap.theorems.ledger import Result
from fullswap.theorems.means import LineForecasts, line_means_cost
from fullswap.theorems.premises import Constants


def squared_loss() -> Constants:
    """Constants of (p − y)² on [0, 1]."""
    return Constants(2.0, 1.0, strong_convexity=2.0, smoothness=2.0)


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


CALIBRATION: tuple[Result[Any], ...] = (
    Result(
        "calibration", "FKO25, Lemma 26; fullswap, Means",
        "l2 calibration error ≤ Σδ + what running means cost, for any outcomes", LineForecasts,
        calibration_bound,
    ),
)  # fmt: skip

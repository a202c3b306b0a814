"""Exponents of growth, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

SMALLEST = 1e-12
"""Regrets below this count as this: a power law has no zero."""
CONFIDENCE = 0.95


def exponent(sizes: Sequence[float], heights: Sequence[float]) -> list[float]:
    """Exponent a of heights ≈ c·sizes^a and the ends of its 95 % interval.

    The slope of a least-squares line through logarithms of at least three points. The interval
    (by the t distribution with k − 2 degrees of freedom for k points) would hold the true slope in
    95 % of cases if the logarithms scattered around the line independently of each other; it says
    nothing about sizes beyond those given.

    Examples
    --------
    >>> exponent([10, 100, 1000], [2.0, 2.0 * 10**0.5, 20.0])
    [0.5, 0.5, 0.5]
    """
    if len(sizes) < 3 or len(sizes) != len(heights):
        raise ValueError(
            f"sizes and heights must be equally many numbers, at least 3, "
            f"got {len(sizes)} and {len(heights)}"
        )
    from scipy.stats import t as student

    x, y = np.asarray(sizes, dtype=float), np.asarray(heights, dtype=float)
    if not (np.isfinite(x).all() and np.isfinite(y).all() and x.min() > 0 and np.ptp(x) > 0):
        raise ValueError(
            f"sizes must be positive and not all equal, heights finite, "
            f"got {list(sizes)!r} and {list(heights)!r}"
        )
    x, y = np.log(x), np.log(np.maximum(y, SMALLEST))
    x -= x.mean()
    slope = float(x @ y / (x @ x))
    residuals = y - y.mean() - slope * x
    freedom = len(x) - 2
    spread = math.sqrt(float(residuals @ residuals) / freedom / float(x @ x))
    reach = float(student.ppf((1 + CONFIDENCE) / 2, freedom)) * spread
    return [significant(value) for value in (slope, slope - reach, slope + reach)]


def significant(value: float) -> float:
    """Six significant figures.

    Examples
    --------
    >>> significant(1234.56789)
    1234.57
    """
    return float(f"{value:.6g}")

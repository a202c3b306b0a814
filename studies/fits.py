"""Exponents of growth, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SMALLEST = 1e-12
"""Regrets below this count as this: a power law has no zero."""
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Exponent:
    """Slope of a least-squares line through (ln x, ln y), with its 95 % interval.

    The interval is Student's for the slope, with k − 2 degrees of freedom for k points, as if
    the logarithms lay around the line independently: it tells of noise and of curvature within
    the range of x, not of what happens beyond it.
    """

    slope: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.slope:.2f} ({self.low:.2f} to {self.high:.2f})"


def fit_exponent(sizes: Sequence[float], heights: Sequence[float]) -> Exponent:
    """Exponent a of heights ≈ c·sizes^a; at least three points, all sizes positive.

    Examples
    --------
    >>> print(fit_exponent([10, 100, 1000], [2.0, 2.0 * 10**0.5, 20.0]))
    0.50 (0.50 to 0.50)
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
    return Exponent(slope, slope - reach, slope + reach)


def exponent(sizes: Sequence[float], heights: Sequence[float]) -> list[float]:
    """Slope of ``fit_exponent`` and the ends of its interval, for a summary.

    Examples
    --------
    >>> exponent([1, 2, 4], [3.0, 6.0, 12.0])
    [1.0, 1.0, 1.0]
    """
    found = fit_exponent(sizes, heights)
    return [significant(found.slope), significant(found.low), significant(found.high)]


def significant(value: float) -> float:
    """Six significant figures.

    Examples
    --------
    >>> significant(1234.56789)
    1234.57
    """
    return float(f"{value:.6g}")

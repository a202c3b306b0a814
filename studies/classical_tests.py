"""Tests of calibration that are read once: short versions of those in common use.

Each takes outcomes y (0 or 1) and forecasts p, shape (n,) each, and gives the chance of at least as
much deviation if every forecast were right (its p-value). It holds for one look at a number of
events that was fixed beforehand. The forecasts are taken as given, not as fitted to these outcomes:
so Hosmer–Lemeshow has as many degrees of freedom as groups.

``ece`` and ``miscalibration`` are sizes, not chances: what is large is found by drawing outcomes
from the forecasts (``critical_value``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
GROUPS = 10
_NEAREST = 1e-6
"""Logits are of forecasts at least this far from 0 and 1."""


def hosmer_lemeshow(y: Vector, p: Vector, groups: int = GROUPS) -> float:
    """Groups of equal size by forecast: yes counted beside yes expected (Hosmer, Lemeshow 1980).

    Examples
    --------
    >>> y, p = np.array([0.0, 1.0, 1.0, 1.0]), np.array([0.2, 0.2, 0.8, 0.8])
    >>> round(hosmer_lemeshow(y, p, groups=2), 3)  # Σ (1 − 0.4)²/0.32 + (2 − 1.6)²/0.32
    0.444
    """
    from scipy.special import chdtrc

    order = np.argsort(p, kind="stable")
    starts = np.arange(groups) * len(p) // groups
    excess = np.add.reduceat((y - p)[order], starts)
    variance = np.add.reduceat((p * (1 - p))[order], starts)
    return float(chdtrc(groups, np.sum(excess**2 / variance)))


def cox(y: Vector, p: Vector) -> float:
    """Likelihood ratio of σ(a + b·logit p) against a = 0, b = 1 (Cox 1958)."""
    from scipy.special import chdtrc, expit

    clipped = np.clip(p, _NEAREST, 1 - _NEAREST)
    logits = np.log(clipped) - np.log1p(-clipped)
    right = _log_likelihood(y, logits, 0.0, 1.0)
    shift, slope, best = 0.0, 1.0, right
    for _ in range(50):
        q = expit(shift + slope * logits)
        residual, variance = y - q, q * (1 - q)
        curved = variance * logits
        a, b, c = variance.sum(), curved.sum(), (curved * logits).sum()
        down, across = residual.sum(), (residual * logits).sum()
        determinant = a * c - b * b
        if determinant <= 1e-9 * a * c:  # yes and no are apart, or all forecasts are equal
            break
        step = np.array([c * down - b * across, a * across - b * down]) / determinant
        step *= min(1.0, 4.0 / float(np.abs(step).max() + 1e-12))
        gained = _log_likelihood(y, logits, shift + step[0], slope + step[1])
        for _ in range(30):
            if gained >= best:
                break
            step /= 2
            gained = _log_likelihood(y, logits, shift + step[0], slope + step[1])
        shift, slope = shift + step[0], slope + step[1]
        done, best = gained - best < 1e-9, max(gained, best)
        if done:
            break
    return float(chdtrc(2, 2 * (best - right)))


def _log_likelihood(y: Vector, logits: Vector, shift: float, slope: float) -> float:
    line = shift + slope * logits
    return float(y @ line - np.logaddexp(0.0, line).sum())


def kuiper(y: Vector, p: Vector) -> float:
    """Range of the cumulative differences y − p, sorted by forecast (ECCE-R).

    In units of their standard deviation it is, for many events, the range of a Brownian motion on
    [0, 1].
    """
    order = np.argsort(p, kind="stable")
    walk = np.cumsum((y - p)[order])
    spread = max(float(walk.max()), 0.0) - min(float(walk.min()), 0.0)
    return range_beyond(spread / float(np.sqrt(np.sum(p * (1 - p)))))


def range_beyond(x: float) -> float:
    """Chance that the range of a Brownian motion on [0, 1] exceeds x.

    8·Σ_k (−1)^(k−1)·k·(1 − Φ(kx)), by integrating its density (Feller 1951).

    Examples
    --------
    >>> round(range_beyond(2.4977), 4)
    0.05
    """
    from scipy.special import ndtr

    if x < 0.5:  # it hardly ever is that small, and the sum has many terms
        return 1.0
    k = np.arange(1, 40)
    return float(min(1.0, 8 * np.sum(np.where(k % 2, 1, -1) * k * ndtr(-k * x))))


def spiegelhalter(y: Vector, p: Vector) -> float:
    """Brier score beside its mean if all forecasts are right, two-sided (Spiegelhalter 1986)."""
    from scipy.special import ndtr

    tilt = 1 - 2 * p
    z = np.sum((y - p) * tilt) / np.sqrt(np.sum(tilt**2 * p * (1 - p)))
    return float(2 * ndtr(-abs(z)))


def ece(y: Vector, p: Vector, groups: int = GROUPS) -> float:
    """Mean distance of forecast and frequency over groups of equal size."""
    order = np.argsort(p, kind="stable")
    starts = np.arange(groups) * len(p) // groups
    return float(np.abs(np.add.reduceat((y - p)[order], starts)).sum() / len(p))


def miscalibration(y: Vector, p: Vector) -> float:
    """Brier score less that after isotonic regression (CORP)."""
    from scipy.optimize import isotonic_regression

    order = np.argsort(p, kind="stable")
    y, p = y[order], p[order]
    fitted = isotonic_regression(y).x  # forecasts here have no ties
    return float(np.mean((y - p) ** 2 - (y - fitted) ** 2))


TESTS: dict[str, Callable[[Vector, Vector], float]] = {
    "Hosmer–Lemeshow": hosmer_lemeshow,
    "Cox": cox,
    "Kuiper (ECCE)": kuiper,
    "Spiegelhalter": spiegelhalter,
}
"""Name ↦ p-value."""
SIZES: dict[str, Callable[[Vector, Vector], float]] = {
    "ECE": ece,
    "CORP MCB": miscalibration,
}
"""Name ↦ a size."""


def critical_value(
    size: Callable[[Vector, Vector], float], right: Iterable[tuple[Vector, Vector]], level: float
) -> float:
    """What the size of a calibrated stream exceeds with chance ``level``."""
    return float(np.quantile([size(y, p) for y, p in right], 1 - level))

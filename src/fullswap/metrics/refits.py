"""Isotonic fits of a calibrated forecaster: the band they fill, the score they seem to save."""

from __future__ import annotations

import numpy as np

from fullswap.base.draws import seed_of
from fullswap.base.protocols import Points, Vector
from fullswap.metrics.cells import Cells
from fullswap.metrics.chance import drawn_sums
from fullswap.metrics.neighbours import dot

FOLDED = 1000
"""Cells for the fits of a band."""
REFITTED = 10**6
"""Cells of all refits for a miscalibration by chance."""
LEAST_WIDTH = 1e-9
"""Of either half of a band."""


def consistency_band(
    cells: Cells, level: float, simultaneous: bool, draws: int, seed: int
) -> tuple[Vector, Vector]:
    """Ends of the band: pointwise from the first fits, stretched by as many others if asked.

    With R draws the k-th lowest exceeds a further one with probability k/(R + 1). The diagonal
    belongs to the band also where most fits miss it, as they do at the ends.
    """
    p = cells.forecast
    rng = np.random.default_rng(seed_of(seed))
    fits = _refits(cells, drawn_sums(cells, draws * (1 + simultaneous), rng))
    k = max(int((1 - level) / 2 * (draws + 1)), 1)
    ranked = np.sort(fits[:draws], axis=0)
    low, high = np.minimum(ranked[k - 1], p), np.maximum(ranked[-k], p)
    if not simultaneous:
        return low, high
    others = fits[draws:]
    # positive, and not so small that rounding errors seem large beside it
    spread = np.maximum(fits.std(axis=0), LEAST_WIDTH)
    down, up = np.maximum(p - low, spread), np.maximum(high - p, spread)
    farthest = np.sort(np.maximum((p - others) / down, (others - p) / up).max(axis=1))
    rank = min(int(np.ceil(level * (len(others) + 1))), len(others)) - 1
    stretch = max(float(farthest[rank]), 1.0)
    return np.maximum(p - stretch * down, 0.0), np.minimum(p + stretch * up, 1.0)


def miscalibration_by_chance(cells: Cells, draws: int = 200, seed: int = 0) -> float:
    """Median Brier miscalibration of a calibrated forecaster with these forecasts.

    Refits to drawn outcomes of all cells: folded ones would hide a part of it. The more cells,
    the less it varies from record to record and the fewer draws are needed: 10⁶/m at most and one
    at least.
    """
    weight, p = cells.weight, cells.forecast
    rng = np.random.default_rng(seed_of(seed))
    found = []
    for _ in range(min(draws, max(1, REFITTED // len(cells)))):
        yes = drawn_sums(cells, 1, rng)[:, 0]
        fit = cells.isotonic_of(yes)
        gap = dot(weight * p - 2 * yes, p) + dot(fit.weight, np.square(fit.value))
        found.append(max(gap / cells.total, 0.0))
    return float(np.median(found))


def _refits(cells: Cells, sums: Points) -> Points:
    """Isotonic fits (draws, m) to drawn sums (m, draws)."""
    from scipy.optimize import isotonic_regression

    weight = cells.weight
    means = np.ascontiguousarray((sums / weight[:, None]).T)
    fits = np.empty_like(means)
    for k, row in enumerate(means):
        fits[k] = isotonic_regression(row, weights=weight).x
    return np.clip(fits, 0.0, 1.0)

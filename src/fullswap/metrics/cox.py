"""Which way forecasts are off: too high, too low, too bold, too timid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.metrics.cells import Cells
from fullswap.metrics.neighbours import dot

CLIP = 1e-6
"""Forecasts are kept this far from 0 and 1, so that their log-odds are finite."""
WIDTH = 0.01
"""Log-odds within which cells are joined before the fit; moves slopes by about width²/24."""
FINE = 3000
"""Up to so many cells nothing is joined."""
STEPS = 100
"""Newton steps; a fit that exists needs about ten."""
CONVERGED = 1e-10
SINGULAR = 1e-12
"""Forecasts whose log-odds vary less than rounding errors do are all equal."""


@dataclass(frozen=True)
class Cox:
    """Logistic regression of the outcomes on the forecasts' log-odds, with standard errors.

    Calibrated forecasts have bias 0, intercept 0 and slope 1. None where the events cannot tell.
    """

    bias: float
    """Mean forecast minus mean outcome, a share; above 0: too high."""
    bias_error: float
    intercept: float | None
    intercept_error: float | None
    slope: float | None
    """Below 1: too bold (over-confident). Above 1: too timid."""
    slope_error: float | None


def cox_of(cells: Cells) -> Cox:
    """Bias of the forecasts and the fit of ln odds(y) = intercept + slope·ln odds(p).

    Forecasts are clipped to [1e-6, 1 − 1e-6] for the fit. The error of the bias is that of a
    calibrated forecaster; the other two are those of the fitted model, with weights taken as
    fixed. Where outcomes are shared all three come from sums over events.
    There is no fit if all events have the same outcome, all forecasts are equal, or some
    forecast parts all "yes" from all "no".

    Examples
    --------
    >>> y = np.array([0.0, 1, 0, 1, 0, 1])
    >>> cox = cox_of(Cells.of_events(y, np.array([0.1, 0.1, 0.4, 0.6, 0.9, 0.9])))
    >>> cox.bias, cox.slope
    (0.0, 0.08...)
    """
    total = cells.total
    bias = (dot(cells.weight, cells.forecast) - float(cells.yes.sum())) / total
    bias_error = float(np.sqrt(cells.shared_variance)) / total
    joined = _joined(cells)
    odds = logit(joined.forecast)
    none = Cox(bias, bias_error, None, None, None, None)
    if not _overlap(joined, odds):
        return none
    fit = _newton(joined, odds)
    if fit is None:
        return none
    inverse, theta = fit
    spread = inverse @ _noise(cells, joined, odds, theta) @ inverse
    errors = np.sqrt(np.maximum(np.diag(spread), 0.0))
    return Cox(
        bias, bias_error, float(theta[0]), float(errors[0]), float(theta[1]), float(errors[1])
    )


def logit(p: Vector) -> Vector:
    """Log-odds of clipped forecasts."""
    inside = np.clip(p, CLIP, 1 - CLIP)
    odds: Vector = np.log(inside) - np.log1p(-inside)
    return odds


def _joined(cells: Cells) -> Cells:
    """Cells joined on a grid of log-odds."""
    if len(cells) <= FINE:
        return cells
    most = float(logit(np.ones(1))[0])
    edges = 1 / (1 + np.exp(np.arange(most, -most, -WIDTH)))
    starts = np.unique(np.concatenate(([0], np.searchsorted(cells.forecast, edges))))
    return cells.merged(starts[starts < len(cells)])


def _overlap(cells: Cells, odds: Vector) -> bool:
    """Whether a fit exists: outcomes of either kind above some of the other kind."""
    yes, no = odds[cells.yes > 0], odds[cells.yes < cells.weight]
    if not len(yes) or not len(no):
        return False
    return bool(yes[0] < no[-1] and no[0] < yes[-1])


def _newton(cells: Cells, odds: Vector) -> tuple[Points, Vector] | None:
    """Inverse of the information and (intercept, slope); None if there is no fit in reach."""
    from scipy.special import expit, log_expit

    weight, yes = cells.weight, cells.yes
    # about their centre, which keeps the two parameters apart
    centre = float(weight @ odds) / cells.total
    x = odds - centre
    back = np.array([[1.0, -centre], [0.0, 1.0]])

    def likelihood(theta: Vector) -> float:
        eta = theta[0] + theta[1] * x
        return float(yes @ log_expit(eta) + (weight - yes) @ log_expit(-eta))

    theta = np.array([centre, 1.0])
    value = likelihood(theta)
    for _ in range(STEPS):
        mu = expit(theta[0] + theta[1] * x)
        slack = yes - weight * mu
        score = np.array([slack.sum(), slack @ x])
        inverse = _inverse(weight * mu * (1 - mu), x)
        if inverse is None:
            return None
        step = inverse @ score
        while (new := likelihood(theta + step)) < value - 1e-9 * abs(value):
            step = step / 2
        theta, value = theta + step, new
        if np.abs(step).max() <= CONVERGED * (1 + np.abs(theta).max()):
            return back @ inverse @ back.T, back @ theta
    return None


def _inverse(mass: Vector, x: Vector) -> Points | None:
    """Inverse of Σ mass·(1, x)(1, x)ᵀ, or None if it is singular."""
    a, b, c = float(mass.sum()), float(mass @ x), float(mass @ (x * x))
    det = a * c - b * b
    if not det > SINGULAR * a * c:
        return None
    return np.array([[c, -b], [-b, a]]) / det


def _noise(cells: Cells, joined: Cells, odds: Vector, theta: Vector) -> Points:
    """Variance of the score Σ w·(y − μ)·(1, x) at the fit."""
    from scipy.special import expit

    shared = cells.shared
    if shared is None:
        mu = expit(theta[0] + theta[1] * odds)
        mass = joined.squares * mu * (1 - mu)
        a, b, c = mass.sum(), mass @ odds, mass @ (odds * odds)
        return np.array([[a, b], [b, c]])
    x = logit(cells.forecast)
    gap = cells.forecast - expit(theta[0] + theta[1] * x)
    gaps = gap[shared.cell]
    slack = shared.residual + (gaps if shared.weight is None else shared.weight * gaps)
    rows = slack, slack * x[shared.cell]
    sums = np.array([np.bincount(shared.codes, row) for row in rows])
    noise: Points = sums @ sums.T * (shared.events / max(shared.events - 1, 1))
    return noise

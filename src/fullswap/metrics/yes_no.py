"""Calibration of yes/no events straight from outcomes and forecasts."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Vector
from fullswap.base.records import Record
from fullswap.metrics import benefit
from fullswap.metrics.cells import Cells
from fullswap.metrics.corp import Curve, ScoreDecomposition, curve_of, decompose
from fullswap.metrics.cox import Cox, cox_of
from fullswap.metrics.reading import as_forecasts, as_outcomes, as_weights

WEIGHTS = 1e-100, 1e100
"""Weights whose squares and sums of squares are neither 0 nor infinite."""


def cells_from(y_true: Any, y_proba: Any, sample_weight: Any = None) -> Cells:
    """Check yes/no events and sum them by forecast."""
    given = y_proba.issued if isinstance(y_proba, Record) else y_proba
    forecasts = as_forecasts("y_proba", given, "T")
    if forecasts.shape[1] > 1:
        raise ValueError(
            f"y_proba must have shape (T,): probabilities of yes, got {forecasts.shape}; for one "
            "class k of several give (y_true == k) and y_proba[:, k]"
        )
    outcomes = as_outcomes("y_true", y_true, len(forecasts), 1)[:, 0]
    if sample_weight is None:
        return Cells.of_events(outcomes, forecasts[:, 0])
    weights = as_weights("sample_weight", sample_weight, len(forecasts))
    least, most = WEIGHTS
    bad = (weights != 0) & ((weights < least) | (weights > most))
    checks.refuse_at("sample_weight", f"be 0 or lie in [{least:g}, {most:g}]", weights, bad)
    return Cells.of_events(outcomes, forecasts[:, 0], weights)


def score_decomposition(
    y_true: Any, y_proba: Any, sample_weight: Any = None, *, score: str = "brier"
) -> ScoreDecomposition:
    """Miscalibration, discrimination and uncertainty of a mean score, without bins.

    score = miscalibration − discrimination + uncertainty, by isotonic regression: how much the
    best increasing re-reading of the forecasts would have saved, what that re-reading gains over
    always saying the mean outcome, and the score of the mean outcome.

    Parameters
    ----------
    y_true, y_proba, sample_weight
        Outcomes and forecasts of yes/no events, and weights. Outcomes between 0 and 1 count as
        that share of a yes.
    score
        "brier" or "log" (natural logarithm; infinite if a forecast of 0 or 1 failed).

    Examples
    --------
    >>> parts = score_decomposition([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.6])
    >>> parts.score, parts.miscalibration, parts.discrimination, parts.uncertainty
    (0.1725, 0.0475, 0.125, 0.25)
    """
    checks.one_of("score", score, ("brier", "log"))
    return decompose(cells_from(y_true, y_proba, sample_weight), score)


def corp_curve(
    y_true: Any, y_proba: Any, sample_weight: Any = None,
    *, level: float = 0.9, band: str = "pointwise", draws: int = 200, seed: int = 0,
) -> Curve:  # fmt: skip
    """Reliability curve without bins, and the band that chance alone would fill.

    Parameters
    ----------
    y_true, y_proba, sample_weight
        Outcomes and forecasts of yes/no events, and weights.
    level, band
        Probability of the band, at each forecast ("pointwise") or for all ("simultaneous").
    draws, seed
        Calibrated records that are drawn for the band.

    Examples
    --------
    >>> curve = corp_curve([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8])
    >>> curve.frequency
    array([0. , 0.5, 0.5, 1. ])
    """
    return curve_of(cells_from(y_true, y_proba, sample_weight), level, band, draws, seed)


def cox_calibration(y_true: Any, y_proba: Any, sample_weight: Any = None) -> Cox:
    """Bias, and intercept and slope of a logistic regression on the forecasts' log-odds.

    Examples
    --------
    >>> cox = cox_calibration([0, 1, 0, 0, 1, 1], [0.1, 0.2, 0.4, 0.7, 0.7, 0.9])
    >>> cox.bias, cox.slope
    (0.0, 0.57...)
    """
    return cox_of(cells_from(y_true, y_proba, sample_weight))


def net_benefit(y_true: Any, y_proba: Any, thresholds: Any, sample_weight: Any = None) -> Vector:
    """Net benefit of acting when y_proba >= t, for each threshold t in [0, 1).

    TP/W − FP/W·t/(1 − t), with the weights of events where acting was right and where it was not.
    """
    wanted = checks.vector("thresholds", np.atleast_1d(thresholds))
    checks.refuse_at("thresholds", "lie in [0, 1)", wanted, (wanted < 0) | (wanted >= 1))
    return benefit.net_benefit(cells_from(y_true, y_proba, sample_weight), wanted)

"""Which way forecasts are off: too high, too low, too bold, too timid."""

from __future__ import annotations

from dataclasses import dataclass


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

"""Calibration over time, in windows of equal numbers of events."""

from __future__ import annotations

from dataclasses import dataclass

from fullswap.base.protocols import Indices, Vector


@dataclass(frozen=True, eq=False)
class Windows:
    """Errors window by window, in order."""

    start: Indices
    """First row of each window, shape (w,)."""
    stop: Indices
    """Row after its last, shape (w,)."""
    bias: Vector
    """Mean forecast minus mean outcome, shape (w,)."""
    noise: Vector
    """Standard error of the bias of a calibrated forecaster, shape (w,)."""
    error: Vector
    """Average error over bins of the forecasts, shape (w,)."""
    chance: Vector
    """The same for a calibrated forecaster, on average, shape (w,)."""

"""What chance alone would show: the error of a calibrated forecaster with the same forecasts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Chance:
    """Average errors of a calibrated forecaster, all shares."""

    median: float
    """Half of such records show more."""
    high: float
    """One such record in twenty shows more."""
    level: float
    """Share of such records with at least the measured error: right for one look only."""
    draws: int
    """Records that were drawn."""

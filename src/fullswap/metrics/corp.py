"""Calibration without bins: the best increasing re-reading of the forecasts."""

from __future__ import annotations

from dataclasses import dataclass

from fullswap.base.protocols import Vector


@dataclass(frozen=True)
class Stretch:
    """Forecasts over which the curve is outside its band."""

    low: float
    """Least forecast of the stretch."""
    high: float
    """Largest forecast of the stretch."""
    says: float
    """Mean forecast there."""
    happens: float
    """Mean outcome there."""
    share: float
    """Of the weight of all events."""


@dataclass(frozen=True, eq=False)
class Curve:
    """The curve and what a calibrated forecaster would show around the diagonal."""

    forecast: Vector
    """Corners, ascending, shape (m,)."""
    frequency: Vector
    """Fitted frequency at each corner, shape (m,)."""
    low: Vector
    """Lower end of the band, shape (m,)."""
    high: Vector
    """Upper end of the band, shape (m,)."""
    weight: Vector
    """Weight of the events at each corner, shape (m,)."""
    level: float = 0.9
    """Probability of the band."""
    band: str = "pointwise"
    """Whether the level holds at each forecast ("pointwise") or for all together."""


@dataclass(frozen=True)
class ScoreDecomposition:
    """Parts of a mean score: score = miscalibration − discrimination + uncertainty."""

    score: float
    miscalibration: float
    """What the best increasing re-reading of the forecasts would have saved."""
    discrimination: float
    """What that re-reading gains over always saying the mean outcome."""
    uncertainty: float
    """Score of always saying the mean outcome."""
    chance: float | None = None
    """Median miscalibration of a calibrated forecaster with these forecasts; None: not asked."""

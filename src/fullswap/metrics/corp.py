"""Calibration without bins: the best increasing re-reading of the forecasts.

Isotonic regression of the outcomes on the forecasts, with its consistency band and the parts of
a mean score that follow from it (CORP: Dimitriadis, Gneiting, Jordan 2021).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Indices, Vector
from fullswap.metrics.cells import Cells
from fullswap.metrics.neighbours import dot
from fullswap.metrics.refits import FOLDED, consistency_band, miscalibration_by_chance

CORNERS = 400
"""Corners of a curve: all cells up to this number, else about so many."""
LEAST_SHARE = 0.01
"""Of all weight: shorter stretches outside the band are not worth a word."""
BANDS = ("pointwise", "simultaneous")
SCORES = ("brier", "log")


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
    stretch: Stretch | None = None
    """The heaviest run of forecasts outside the band on one side; None if there is none."""
    chance: float | None = None
    """Median Brier miscalibration of a calibrated forecaster, as ``miscalibration_by_chance``."""

    @property
    def outside(self) -> int:
        """Corners outside the band; about (1 − level)·m for a calibrated forecaster."""
        return int(np.count_nonzero(self.side))

    @property
    def side(self) -> Indices:
        """1 for corners above the band, −1 for corners below it, else 0; shape (m,)."""
        return _side(self.frequency, self.low, self.high)


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


def curve_of(
    cells: Cells, level: float = 0.9, band: str = "pointwise", draws: int = 200, seed: int = 0
) -> Curve:
    """Isotonic fit, and the band that fits of a calibrated forecaster would fill.

    Parameters
    ----------
    cells
        Sums by forecast.
    level
        Probability of the band.
    band
        "pointwise": between order statistics of the refits, so that at each forecast the fit of
        a calibrated forecaster stays inside with this probability. "simultaneous": that band
        stretched round the diagonal until, of as many further refits, this share stays inside
        everywhere.
    draws
        Records with outcomes drawn from the forecasts (``drawn_sums``) that are refitted. Above
        1,000 cells these are folded for it, less so towards both ends.
    seed
        Of the draws.

    Returns
    -------
    Curve
        All cells as corners up to 400. Else as many, half of them at equal distances and half by
        weight, closer towards both ends; a corner stands for the cells from it up to the next.
    """
    level = checks.setting("level", level, above=0.0, most=0.999)
    checks.one_of("band", band, BANDS)
    draws = checks.whole("draws", draws, 1)
    folded = cells.folded(FOLDED, fine_ends=True)
    low, high = consistency_band(folded, level, band == "simultaneous", draws, seed)
    fit = cells.isotonic
    at = _corners(cells)
    forecast = cells.forecast[at]
    return Curve(
        forecast, fit.values[at],
        np.interp(forecast, folded.forecast, low), np.interp(forecast, folded.forecast, high),
        np.add.reduceat(cells.weight, at), level, band,
        _longest(cells, folded, low, high), miscalibration_by_chance(cells, draws, seed),
    )  # fmt: skip


def decompose(
    cells: Cells, score: str = "brier", chance: float | None = None
) -> ScoreDecomposition:
    """Parts of the mean Brier score (p − y)² or of the mean log loss, natural logarithm.

    A forecast of 0 or 1 that fails has an infinite log loss: then score and miscalibration are
    infinite and the other parts are not. ``chance`` is passed on: `Curve.chance` has it for the
    Brier score.
    """
    checks.one_of("score", score, SCORES)
    fit, total = cells.isotonic, cells.total
    mean = float(cells.yes.sum()) / total
    p = cells.forecast
    if score == "brier":
        uncertainty = mean * (1 - mean)
        own = dot(cells.weight * p - 2 * cells.yes, p) / total + mean
        best = mean - dot(fit.weight, np.square(fit.value)) / total
    else:
        uncertainty = _log_loss(np.array([mean]), np.ones(1), np.array([mean]))
        own = _log_loss(p, cells.weight, cells.yes) / total
        best = _log_loss(fit.value, fit.weight, fit.weight * fit.value) / total
    # rounding must not make a gain of a loss
    gain, gap = max(uncertainty - best, 0.0), max(own - best, 0.0)
    return ScoreDecomposition(own, gap, gain, uncertainty, chance)


def _log_loss(p: Vector, weight: Vector, yes: Vector) -> float:
    """−Σ (yes·ln p + no·ln(1 − p)), where nothing times ln 0 is nothing."""
    no = weight - yes
    with np.errstate(divide="ignore", invalid="ignore"):
        losses = yes * np.log(p) + no * np.log1p(-p)
    if p[0] == 0 or p[-1] == 1:  # 0·ln 0; forecasts ascend, so elsewhere there is none
        edge = (p == 0) | (p == 1)
        failed = edge & (np.where(p == 0, yes, no) > 0)
        losses[edge] = np.where(failed[edge], -np.inf, 0.0)
    return -float(losses.sum())


def _corners(cells: Cells) -> Indices:
    """Places of the corners among the cells, ascending, the first and the last among them.

    Chosen without a look at the outcomes, else too many would be outside the band.
    """
    size = len(cells)
    if size <= CORNERS:
        return np.arange(size)
    cuts = np.arange(1, CORNERS // 2) / (CORNERS // 2)
    mass = np.cumsum(cells.weight)
    by_mass = np.searchsorted(mass, np.square(np.sin(np.pi / 2 * cuts)) * mass[-1])
    p = cells.forecast
    by_forecast = np.searchsorted(p, p[0] + cuts * (p[-1] - p[0]))
    places = np.unique(np.concatenate(([0, size - 1], by_mass, by_forecast)))
    return places[places < size].astype(np.int64, copy=False)


def _longest(cells: Cells, folded: Cells, low: Vector, high: Vector) -> Stretch | None:
    """The heaviest run of cells whose fit is outside the band on one side."""
    fitted = np.interp(folded.forecast, cells.forecast, cells.isotonic.values)
    side = _side(fitted, low, high)
    starts = np.concatenate(([0], np.flatnonzero(np.diff(side)) + 1))
    runs = folded.merged(starts)
    weight = np.where(side[starts] != 0, runs.weight, 0.0)
    best = int(weight.argmax())
    share = float(weight[best] / cells.total)
    if share < LEAST_SHARE:
        return None
    stop = len(folded) if best + 1 == len(starts) else int(starts[best + 1])
    ends = float(folded.forecast[starts[best]]), float(folded.forecast[stop - 1])
    return Stretch(*ends, float(runs.forecast[best]), float(runs.frequency[best]), share)


def _side(fit: Vector, low: Vector, high: Vector) -> Indices:
    return (fit > high).astype(np.int64) - (fit < low)

"""What chance alone would show: the error of a calibrated forecaster with the same forecasts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fullswap.base import checks
from fullswap.base.draws import seed_of
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.metrics.bins import Bins
from fullswap.metrics.cells import Cells, Clusters

EXACT = 2000
"""Up to so many cells outcomes are drawn for every one; more are folded, inside their bins."""
FOLDED = 400
"""Cells they are folded to, at least."""
GROUPS = 2000
"""Events that share outcomes flip their signs one by one up to this number, then in groups."""
HIGH = 0.95
TIES = 1e-9
"""Errors that differ by less than this share are equal: their sums were rounded differently."""


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


def chance_of(cells: Cells, bins: Bins, draws: int | None = None, seed: int = 0) -> Chance:
    """Errors over these bins if outcomes came with the forecast probabilities.

    Outcomes are drawn as `drawn_sums` says. Up to 2,000 cells are taken as they are; more are
    folded inside their bins, which leaves the bins alone and makes draws very slightly more
    spread than the truth.

    Parameters
    ----------
    cells, bins
        Sums by forecast and their bins.
    draws
        Records to draw; None: 1,000, for more than 10,000 rows 500, for more than 100,000 rows
        200, where errors vary little from record to record.
    seed
        Of the draws.

    Examples
    --------
    >>> from fullswap.metrics.bins import bins_of
    >>> cells = Cells.of_events(np.tile([0.0, 1.0], 50), np.full(100, 0.5))
    >>> chance = chance_of(cells, bins_of(cells))
    >>> chance.median, chance.high, chance.level
    (0.04, 0.11, 1.0)
    """
    if draws is None:
        draws = 1000 if cells.rows <= 10_000 else 500 if cells.rows <= 100_000 else 200
    draws = checks.whole("draws", draws, 1)
    starts = np.flatnonzero(np.diff(bins.place, prepend=-1))
    if len(cells) > EXACT:
        fine = _inside(starts, len(cells), max(1, -(-FOLDED // len(bins))))
        cells = cells.merged(fine)
        starts = np.searchsorted(fine, starts)
    sums = drawn_sums(cells, draws, np.random.default_rng(seed_of(seed)))
    sums -= (cells.weight * cells.forecast)[:, None]
    errors = np.abs(np.add.reduceat(sums, starts, axis=0)).sum(axis=0) / cells.total
    larger = int(np.count_nonzero(errors >= bins.error * (1 - TIES)))
    rank = min(int(np.ceil(HIGH * (draws + 1))), draws) - 1
    high = float(np.partition(errors, rank)[rank])
    return Chance(float(np.median(errors)), high, (1 + larger) / (1 + draws), draws)


def drawn_sums(cells: Cells, draws: int, rng: np.random.Generator) -> Points:
    """Σ w·y of every cell if its outcomes came with the forecast probability, (m, draws).

    Rows of one cell weigh the same: binomial, hence exact for independent outcomes. Other
    weights: binomial with the effective number of rows, stretched to the right variance. Cells
    of single rows, as a small record of continuous forecasts has, are exact with any weights.

    Shared outcomes: which paths of forecasts an event may take is not known, so the residuals
    themselves are used (wild bootstrap). If forecasts are calibrated, the residuals of an
    event have mean 0, and so they have after a change of all their signs: every draw gives each
    event a random sign and adds up its residuals. Sums then have the variances and covariances
    that the record shows, whatever ties the rows of an event to one another.
    """
    mean = cells.weight * cells.forecast
    if cells.shared is not None:
        return _flipped(cells.shared, len(cells), draws, rng) + mean[:, None]
    if cells.count is cells.weight and len(cells) == cells.rows:
        hits: Points = (rng.random((len(cells), draws)) < cells.forecast[:, None]).astype(float)
        return hits
    trials = cells.trials
    whole = np.maximum(np.rint(trials), 1.0)
    p = np.clip(cells.forecast, 0.0, 1.0)
    size = (len(cells), draws)
    sums = rng.binomial(whole.astype(np.int64)[:, None], p[:, None], size).astype(np.float64)
    if cells.count is cells.weight:
        return sums
    sums -= (whole * p)[:, None]
    sums *= (cells.weight / whole * np.sqrt(whole / trials))[:, None]
    sums += mean[:, None]
    return sums


def _flipped(shared: Clusters, size: int, draws: int, rng: np.random.Generator) -> Points:
    """Sums of residuals by cell after random signs for events, shape (size, draws).

    Many events are joined into groups, each with a fixed random sign inside its group: then
    products of different events cancel on average, as they do with signs of their own.
    """
    codes, residual = shared.codes, shared.residual
    groups = int(codes.max()) + 1
    if groups > GROUPS:
        residual = residual * _signs(rng, groups)[codes]
        codes, groups = codes % GROUPS, GROUPS
    places = codes * size + shared.cell
    table = np.bincount(places, residual, minlength=groups * size).reshape(groups, size)
    signs = _signs(rng, groups * draws).reshape(groups, draws)
    flipped: Points = table.T @ signs
    return flipped


def _signs(rng: np.random.Generator, size: int) -> Vector:
    return 2.0 * rng.integers(0, 2, size, dtype=np.int8).astype(np.float64) - 1.0


def _inside(starts: Indices, size: int, parts: int) -> Indices:
    """Starts of at most so many parts of every group, of about equal numbers of cells."""
    lengths = np.diff(starts, append=size)
    steps = np.arange(parts)[:, None] * lengths // parts
    return np.unique(starts + steps)

"""What chance alone would show: the error of a calibrated forecaster with the same forecasts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fullswap.base import checks
from fullswap.base.draws import seed_of
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.metrics.bins import Bins
from fullswap.metrics.cells import Cells, Clusters
from fullswap.metrics.groups import sums_by

EXACT = 2000
"""Up to so many cells outcomes are drawn for every one; more are folded, inside their bins."""
FOLDED = 400
"""Cells they are folded to, at least."""
GROUPS = 2000
"""Groups that many events with shared outcomes are joined to."""
EXACT_ROWS = 3 * 10**7
"""Rows of all draws, up to which each is drawn by itself."""
RECORDS = 4
"""Records drawn where there are more, to make others from."""
LARGEST_TABLE = 10**7
"""Entries of a table of groups by cells."""
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

    Outcomes are drawn as ``drawn_sums`` says; up to 2,000 cells are taken as they are, more are
    folded inside their bins, which makes draws very slightly more spread than the truth. Where
    outcomes are shared, residuals are drawn as ``flipped_gaps`` says.

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
    rng = np.random.default_rng(seed_of(seed))
    starts = np.flatnonzero(np.diff(bins.place, prepend=-1))
    if cells.shared is not None:
        gaps = flipped_gaps(cells, bins.place, draws, rng)
    else:
        if len(cells) > EXACT:
            fine = _inside(starts, len(cells), max(1, -(-FOLDED // len(bins))))
            cells, starts = cells.merged(fine), np.searchsorted(fine, starts)
        sums = drawn_sums(cells, draws, rng) - (cells.weight * cells.forecast)[:, None]
        gaps = np.add.reduceat(sums, starts, axis=0)
    errors = np.abs(gaps).sum(axis=0) / cells.total
    larger = int(np.count_nonzero(errors >= bins.error * (1 - TIES)))
    rank = min(int(np.ceil(HIGH * (draws + 1))), draws) - 1
    high = float(np.partition(errors, rank)[rank])
    return Chance(float(np.median(errors)), high, (1 + larger) / (1 + draws), draws)


def high_squares(forecast: Vector, trials: Vector, mean: Vector, more: float = 0.0) -> float:
    """Sum of squared gaps Σ W·(p − ȳ)² that 19 of 20 calibrated forecasters stay below.

    Approximate, and without draws: the quantile of a multiple of χ² whose mean and variance are
    those of the sum if outcomes are independent and come with the forecast probabilities.

    Parameters
    ----------
    forecast, trials
        Forecasts and the numbers of their events, shape (m,).
    mean
        What each adds to the sum on average, shape (m,): p·(1 − p) where all events weigh 1.
    more
        What it adds to the variance of the sum that an event has several of the forecasts.

    Examples
    --------
    >>> p, n = np.full(4, 0.5), np.full(4, 1000.0)
    >>> high_squares(p, n, p * (1 - p))  # of the mean, 1: the χ² of 4 degrees over 4
    2.37
    """
    from scipy.stats import chi2

    some = mean > 0
    forecast, trials, mean = forecast[some], trials[some], mean[some]
    total = float(mean.sum())
    inner = np.clip(forecast, TIES, 1 - TIES)
    one = inner * (1 - inner)
    # (Σ(y − p))²/n has the variance 2·one² + one·(1 − 6·one)/n; fewer than one event: as one
    variance = float(np.square(mean) @ (2 + (1 / one - 6) / np.maximum(trials, 1.0))) + more
    if variance <= TIES * total * total:
        return total
    degrees = 2 * total * total / variance
    return total * float(chi2.ppf(HIGH, degrees)) / degrees


def drawn_sums(cells: Cells, draws: int, rng: np.random.Generator) -> Points:
    """Σ w·y of every cell if its outcomes came with the forecast probability, (m, draws).

    Rows of one cell weigh the same: binomial, hence exact for independent outcomes. Other
    weights: binomial with the effective number of rows, stretched to the right variance. Cells
    of single rows, as a small record of continuous forecasts has, are exact with any weights.

    Rows that share an outcome share one uniform number, and each is a yes if that is below its
    forecast. So every row is a yes with its own probability, and rows of one event with about
    equal forecasts have the same outcome: right for all that looks at near forecasts together,
    as a fit does. Between distant forecasts of an event the dependence is too weak; where that
    matters use `flipped_gaps`.
    """
    if cells.shared is not None:
        return _shared_sums(cells, cells.shared, draws, rng)
    if len(cells) == cells.rows:  # one row each
        hits: Points = (rng.random((len(cells), draws)) < cells.forecast[:, None]).astype(float)
        return hits if cells.count is cells.weight else hits * cells.weight[:, None]
    trials = cells.trials
    whole = np.maximum(np.rint(trials), 1.0)
    p = np.clip(cells.forecast, 0.0, 1.0)
    size = (len(cells), draws)
    sums = rng.binomial(whole.astype(np.int64)[:, None], p[:, None], size).astype(np.float64)
    if cells.count is cells.weight:
        return sums
    sums -= (whole * p)[:, None]
    sums *= (cells.weight / whole * np.sqrt(whole / trials))[:, None]
    sums += (cells.weight * cells.forecast)[:, None]
    return sums


def flipped_gaps(cells: Cells, place: Indices, draws: int, rng: np.random.Generator) -> Points:
    """Σ w·(y − p) of every bin of shared outcomes for a calibrated forecaster, (G, draws).

    ``place`` is the bin of every cell.

    Which paths the forecasts of an event may take is not known, so outcomes cannot be drawn.
    Instead every draw gives each event a random sign, and each of its rows a residual of that
    sign and of the size of its standard deviation, w·√(p·(1 − p)) (a wild bootstrap). A yes
    moves all residuals of an event up and a no all of them down, as it is in truth; variances
    of rows are exact, and so are covariances of rows with about equal forecasts. The observed
    residuals have the same covariances on average, but where few events decide a bin they say
    too little of what might have happened.
    """
    shared = cells.shared
    if shared is None:
        raise ValueError("flipped_gaps needs cells with shared outcomes")
    deviation = np.sqrt(cells.forecast * (1 - cells.forecast))[shared.cell]
    if shared.weight is not None:
        deviation *= shared.weight
    bins = int(place[-1]) + 1
    return _flipped(shared.codes, place[shared.cell], deviation, bins, draws, rng)


def _flipped(
    codes: Indices, cell: Indices, residual: Vector, size: int, draws: int,
    rng: np.random.Generator,
) -> Points:  # fmt: skip
    """Sums by cell of residuals with a random sign for every event.

    Many events are joined to groups with one sign each. Signs of their own inside the group, the
    same in all draws, make the products of different events cancel on average.
    """
    groups = int(codes.max()) + 1
    if groups > GROUPS:
        residual = residual * _signs(rng, groups)[codes]
        codes, groups = codes % GROUPS, GROUPS
    table = sums_by(codes * size + cell, residual, groups * size).reshape(groups, size)
    flipped: Points = table.T @ _signs(rng, groups * draws).reshape(groups, draws)
    return flipped


def _shared_sums(cells: Cells, shared: Clusters, draws: int, rng: np.random.Generator) -> Points:
    """Drawn sums of rows that share outcomes."""
    from fullswap.kernels.chance import add_shared

    codes, cell, size = shared.codes, shared.cell, len(cells)
    events = int(codes.max()) + 1
    weight = np.ones(1) if shared.weight is None else shared.weight
    chance = cells.forecast[cell]
    if len(codes) * draws <= EXACT_ROWS or events <= GROUPS or size * GROUPS > LARGEST_TABLE:
        sums = np.zeros((draws, size))
        for row in sums:  # draw by draw, to hold the numbers of one only
            add_shared(row[None], codes, cell, chance, weight, rng.random((1, events)))
        return sums.T
    # with very many events a few drawn records make the others, by changes of signs
    parts = []
    for part in np.array_split(np.arange(draws), RECORDS):
        residual = weight * ((rng.random(events)[codes] < chance) - chance)
        parts.append(_flipped(codes, cell, residual, size, len(part), rng))
    joined: Points = np.concatenate(parts, axis=1) + (cells.weight * cells.forecast)[:, None]
    return joined


def _signs(rng: np.random.Generator, size: int) -> Vector:
    return 2.0 * rng.integers(0, 2, size, dtype=np.int8).astype(np.float64) - 1.0


def _inside(starts: Indices, size: int, parts: int) -> Indices:
    """Starts of at most so many parts of every group, of about equal numbers of cells."""
    lengths = np.diff(starts, append=size)
    steps = np.arange(parts)[:, None] * lengths // parts
    return np.unique(starts + steps)

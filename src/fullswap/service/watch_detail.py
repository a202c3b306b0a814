"""One stream in detail: its reliability by bins and its windows over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.kernels.watch_sums import (
    ALL,
    BINS,
    COUNT,
    EVIDENCE,
    FIELDS,
    GIVEN,
    MASS,
    NOISE,
    OUR_GAP,
    OURS,
    RAW,
    RAW_GAP,
    SAYS,
    SPREAD,
    SUMS,
    TIME,
    VARIANCE,
    WIDTH,
    WINDOWS,
    YES,
)

LEVEL = 0.9
"""Share of calibrated forecasters between low and high."""


def windows_of(rest: Vector) -> Points:
    """Windows that have begun, oldest first."""
    used = -(-int(rest[COUNT]) // int(rest[WIDTH]))
    return rest[WINDOWS : WINDOWS + used * FIELDS].reshape(used, FIELDS)


def spark_of(rest: Vector, model: bool) -> list[float]:
    """Mean of what was said minus what happened, window by window; 0 where nothing was said."""
    windows = windows_of(rest)
    gap, mass = (RAW_GAP, GIVEN) if model else (OUR_GAP, ALL)
    return [float(x) for x in _shares(windows[:, gap], windows[:, mass])]


def _shares(sums: Vector, mass: Vector) -> Vector:
    return np.asarray(np.divide(sums, mass, out=np.zeros(len(sums)), where=mass > 0))


def window_rows(rest: Vector, watched: bool) -> list[dict[str, Any]]:
    """All windows, oldest first; noise is two standard deviations."""
    width, count = int(rest[WIDTH]), int(rest[COUNT])
    found = []
    for k, own in enumerate(windows_of(rest).tolist()):
        first, last = k * width, min((k + 1) * width, count)
        mass, given = own[ALL], own[GIVEN]
        watched_mass = given if given > 0 else mass
        found.append(
            {
                "from": first,
                "to": last,
                "time": own[TIME],
                "n": last - first,
                "raw_error": own[RAW_GAP] / given if given > 0 else None,
                "ours_error": own[OUR_GAP] / mass if mass > 0 else None,
                "noise": 2 * own[NOISE] ** 0.5 / watched_mass if watched_mass > 0 else None,
                "evidence_log10": own[EVIDENCE] if watched else None,
            }
        )
    return found


def reliability_of(rest: Vector) -> dict[str, list[dict[str, float]]]:
    """What happened against what was said, by bins: of the model and of ours."""
    return {"raw": _reliability(rest[RAW:OURS]), "ours": _reliability(rest[OURS:WINDOWS])}


def _reliability(sums: Vector) -> list[dict[str, float]]:
    """Bins that have forecasts; ``n`` is their weight, low to high as of a binomial.

    Weights and shared outcomes: with as many trials as have the same variance.
    """
    bins = sums.reshape(BINS, SUMS)
    bins = bins[bins[:, MASS] > 0]
    mass, p = bins[:, MASS], np.clip(bins[:, SAYS] / bins[:, MASS], 0.0, 1.0)
    varies = bins[:, VARIANCE] > 0
    trials = np.ones(len(bins))
    np.divide(bins[:, SPREAD] * mass, bins[:, VARIANCE], out=trials, where=varies)
    trials = np.maximum(np.rint(trials), 1.0)
    low = np.where(varies, _quantile((1 - LEVEL) / 2, trials, p) / trials, p)
    high = np.where(varies, _quantile((1 + LEVEL) / 2, trials, p) / trials, p)
    columns = (p, bins[:, YES] / mass, mass, low, high)
    names = ("p", "happened", "n", "low", "high")
    return [
        dict(zip(names, row, strict=True))
        for row in zip(*(column.tolist() for column in columns), strict=True)
    ]


def _quantile(level: float, trials: Vector, p: Vector) -> Vector:
    """Smallest number of hits that binomials stay below or at with this chance."""
    from scipy.special import bdtr, bdtrik  # scipy.stats takes a second to load

    hits = np.ceil(np.nan_to_num(bdtrik(level, trials, p)))
    fewer = np.maximum(hits - 1, 0.0)
    return np.asarray(np.where(bdtr(fewer, trials.astype(np.int64), p) >= level, fewer, hits))

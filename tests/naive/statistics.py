"""Calibration of yes/no events, slowly: loops over rows, exact sums, exhaustive drawing."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np


def sums_by_forecast(y, p, w):
    """{forecast: (Σ w, Σ w·y, rows, Σ w²)} of rows of positive weight, as exact fractions."""
    held: dict = {}
    for outcome, forecast, weight in zip(y, p, w, strict=True):
        if weight > 0:
            a, b, c, d = held.get(float(forecast), (0, 0, 0, 0))
            exact = Fraction(float(weight))
            held[float(forecast)] = (
                a + exact, b + exact * Fraction(float(outcome)), c + 1, d + exact * exact,
            )  # fmt: skip
    return dict(sorted(held.items()))


def quantile_bins(y, p, w, bins):
    """Lists of forecasts: each goes to the bin that holds the middle of its mass."""
    groups = sums_by_forecast(y, p, w)
    total, before = sum(g[0] for g in groups.values()), Fraction(0)
    held: dict = {}
    for forecast, (weight, *_) in groups.items():
        middle = (before + weight / 2) / total
        held.setdefault(min(int(middle * bins), bins - 1), []).append(forecast)
        before += weight
    return list(held.values())


def error_of(y, p, w, parts):
    """Σ over parts (lists of forecasts) of |Σ w·(p − y)|, over Σ w."""
    gap = 0.0
    for part in parts:
        inside = [i for i in range(len(p)) if float(p[i]) in part]
        gap += abs(math.fsum(w[i] * (p[i] - y[i]) for i in inside))
    return gap / math.fsum(w)


def isotonic(y, p, w):
    """{forecast: fitted frequency} by the max-min formula."""
    groups = sums_by_forecast(y, p, w)
    keys, sums = list(groups), list(groups.values())

    def mean(i, j):
        return sum(s[1] for s in sums[i : j + 1]) / sum(s[0] for s in sums[i : j + 1])

    size = len(keys)
    return {
        keys[k]: float(max(min(mean(i, j) for j in range(k, size)) for i in range(k + 1)))
        for k in range(size)
    }


def all_errors(p, w, parts):
    """(probability, error) for every possible record of outcomes of these forecasts."""
    found = []
    for code in range(2 ** len(p)):
        y = [(code >> i) & 1 for i in range(len(p))]
        chance = math.prod(q if b else 1 - q for q, b in zip(p, y, strict=True))
        found.append((chance, error_of(y, p, w, parts)))
    return found


def mean_deviation(n, p):
    """Mean of |X − n·p| for X binomial, by its definition."""
    return sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) * abs(k - n * p) for k in range(n + 1))


def window_bounds(rows, first, most, shown):
    """(start, stop) of windows: doubled while there are too many, a short last one joined."""
    width = first
    while math.ceil(rows / width) > most:
        width *= 2
    while math.ceil(rows / width) > shown:
        width *= 2
    bounds = [(a, min(a + width, rows)) for a in range(0, rows, width)]
    if len(bounds) > 1 and 2 * (bounds[-1][1] - bounds[-1][0]) < width:
        bounds[-2:] = [(bounds[-2][0], rows)]
    return bounds


def net_benefit(y, p, w, t):
    """TP/W − FP/W·t/(1 − t) of those who act when p >= t."""
    benefit = 0.0
    for outcome, forecast, weight in zip(y, p, w, strict=True):
        if forecast >= t:
            benefit += weight * (outcome - (1 - outcome) * t / (1 - t))
    return benefit / sum(w)


def walks(events, steps, rng, start=0.0, spread=1.0):
    """Calibrated in-game forecasts of (events × steps) rows: y, p and codes of events.

    y says whether a random walk ends above 0, p how likely that is before each of its steps.
    """
    from scipy.stats import norm

    first = (start + spread * rng.standard_normal((events, 1))) * math.sqrt(steps)
    moves = np.concatenate((first, rng.standard_normal((events, steps - 1))), axis=1)
    p = norm.cdf(np.cumsum(moves, axis=1) / np.sqrt(steps - np.arange(steps)))
    y = (rng.random(events) < p[:, -1]).astype(float)
    return np.repeat(y, steps), p.ravel(), np.repeat(np.arange(events), steps)

"""Calibrated events, slow sums over them, and what a diagram shows."""

import numpy as np

GRID = np.linspace(0, 1, 21)


def calibrated(rounds, seed, forecasts=GRID):
    rng = np.random.default_rng(seed)
    p = rng.choice(forecasts, rounds)
    return (rng.random(rounds) < p).astype(float), p


def slow_groups(y, p, w):
    """Forecast -> (frequency, weight), one event at a time."""
    sums = {}
    for outcome, forecast, weight in zip(y, p, w, strict=True):
        hit, total = sums.get(forecast, (0.0, 0.0))
        sums[forecast] = (hit + weight * outcome, total + weight)
    return {key: (hit / total, total) for key, (hit, total) in sorted(sums.items())}


def slow_error(y, p, w):
    return sum(total * (f - freq) ** 2 for f, (freq, total) in slow_groups(y, p, w).items())


def dots(figure):
    """Offsets and areas of all dots, by colour of the edge: (inside, outside)."""
    found = {}
    for kind in figure.axes[0].collections:
        if kind.get_label().startswith(("observed", "outside")):
            found[kind.get_label().split(" ")[0]] = kind
    return found


def all_dots(figure):
    kinds = dots(figure).values()
    rows = np.vstack([np.column_stack([k.get_offsets(), k.get_sizes()]) for k in kinds])
    return rows[np.argsort(rows[:, 0])]


def words(figure):
    return "\n".join(text.get_text() for text in figure.axes[0].texts)

"""Calibrated events, slow sums over them, and what a diagram shows."""

import io

import numpy as np
from matplotlib import rc_context

from fullswap.metrics.bins import Bins
from fullswap.metrics.cells import Cells
from fullswap.metrics.corp import Curve

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
    rows = np.vstack(
        [
            np.column_stack([k.get_offsets(), np.broadcast_to(k.get_sizes(), len(k.get_offsets()))])
            for k in kinds
        ]
    )
    return rows[np.argsort(rows[:, 0])]


def words(figure):
    return "\n".join(text.get_text() for text in figure.axes[0].texts)


# --- Parts of a check, made slowly ------------------------------------------------------------


def slow_isotonic(values, weights):
    """The increasing values nearest to these in weighted squares, by pooling neighbours."""
    blocks = []
    for value, weight in zip(values, weights, strict=True):
        blocks.append([value, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            right, left = blocks.pop(), blocks.pop()
            total = left[1] + right[1]
            mean = (left[0] * left[1] + right[0] * right[1]) / total
            blocks.append([mean, total, left[2] + right[2]])
    return np.concatenate([np.full(size, mean) for mean, _, size in blocks])


def slow_cells(y, p, w=None):
    y, p = np.asarray(y, float), np.asarray(p, float)
    w = np.ones(len(p)) if w is None else np.asarray(w, float)
    forecasts, kinds = np.unique(p, return_inverse=True)
    weight, yes, count, squares = (
        np.array([values[kinds == k].sum() for k in range(len(forecasts))])
        if len(forecasts) < 200
        else np.bincount(kinds, values)
        for values in (w, w * y, np.ones(len(p)), w * w)
    )
    return Cells(forecasts, weight, yes, count, squares)


def slow_curve(cells, level=0.9, draws=60, seed=0):
    """Isotonic fit, and the middle of refits to outcomes drawn from the forecasts."""
    rng = np.random.default_rng(seed)
    fits = []
    for _ in range(draws):
        drawn = rng.binomial(cells.count.astype(int), cells.forecast) / cells.count
        fits.append(slow_isotonic(drawn, cells.weight))
    low, high = np.quantile(fits, [(1 - level) / 2, (1 + level) / 2], axis=0)
    fit = slow_isotonic(cells.frequency, cells.weight)
    low, high = np.minimum(low, cells.forecast), np.maximum(high, cells.forecast)
    return Curve(cells.forecast, fit, low, high, cells.weight, level)


def slow_bins(cells, bins):
    """Bins of about equal weight."""
    middles = (np.cumsum(cells.weight) - cells.weight / 2) / cells.weight.sum()
    _, place = np.unique(np.floor(middles * bins), return_inverse=True)
    weight, yes, squares, count, mass = (
        np.bincount(place, values)
        for values in (
            cells.weight, cells.yes, cells.squares, cells.count, cells.weight * cells.forecast,
        )
    )  # fmt: skip
    return Bins(mass / weight, yes / weight, weight, weight**2 / squares, count, place)


def parts(y, p, bins=10, w=None, draws=60):
    cells = slow_cells(y, p, w)
    return slow_curve(cells, draws=draws), slow_bins(cells, bins), cells


def artist(figure, gid):
    """All that is drawn under this name."""
    return [found for found in figure.findobj() if found.get_gid() == gid]


def all_words(figure):
    from matplotlib.text import Text

    return "\n".join(text.get_text() for text in figure.findobj(Text))


def svg_of(figure, **settings):
    with rc_context({"svg.fonttype": "none", **settings}):
        stream = io.BytesIO()
        figure.savefig(stream, format="svg")
    return stream.getvalue().decode()

"""Checks with all that a page reads, worked out in the plainest way."""

import json
from types import SimpleNamespace

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import isotonic_regression

from fullswap.metrics.bins import Bins
from fullswap.metrics.cells import Cells
from fullswap.metrics.chance import Chance
from fullswap.metrics.corp import Curve, ScoreDecomposition, Stretch
from fullswap.metrics.cox import Cox
from fullswap.metrics.windows import Windows

HOSTILE = [
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "'; drop {{ 7*7 }} {% raw %}",
    "😀 naïve", "عربى من اليمين", "w" * 400, "$a_{b$ & $5–$10", "nul\x00bell\x07", "]]> </svg>",
]  # fmt: skip
"""Names as only a test would give them."""


def events(rounds=2000, seed=0, slope=0.6):
    """Outcomes and forecasts; over-confident for a slope below 1."""
    rng = np.random.default_rng(seed)
    logit = rng.normal(0, 1.5, rounds)
    y = rng.random(rounds) < 1 / (1 + np.exp(-slope * logit))
    return y.astype(float), np.round(1 / (1 + np.exp(-logit)), 4)


def parts(y, p):
    order = np.argsort(p, kind="stable")
    y, p = y[order], p[order]
    ones = np.ones(len(y))
    cells = Cells(p, ones, y, ones, ones)
    place = np.arange(len(y)) * 13 // len(y)
    count = np.bincount(place).astype(float)
    bins = Bins(
        np.bincount(place, p) / count, np.bincount(place, y) / count, count, count, count, place
    )
    fit = isotonic_regression(y).x
    corners = np.unique(np.linspace(0, len(y) - 1, 120).astype(int))
    wide = 1.645 * np.sqrt(p * (1 - p) / (len(y) / 13))
    curve = Curve(
        p[corners], fit[corners], np.maximum(p - wide, 0)[corners],
        np.minimum(p + wide, 1)[corners], np.ones(len(corners)),
    )  # fmt: skip
    return cells, bins, curve


def evidence(y, p, slope=0.8):
    """What a bet on one slope gains."""
    q = 1 / (1 + np.exp(-slope * np.log(p / (1 - p))))
    log10 = np.cumsum(np.log10(np.where(y > 0, q / p, (1 - q) / (1 - p))))
    marks = np.unique(np.linspace(0, len(y) - 1, 200).astype(int))
    return SimpleNamespace(
        log10=float(log10[-1]), log10_most=float(max(log10.max(), 0)),
        most_at=int(log10.argmax()), events=len(y), positions=marks, history=log10[marks],
        impossible=np.empty(0, int), since=len(y) // 3, shift=0.0, slope=slope,
        direction="over-confident",
    )  # fmt: skip


def windows(y, p, number=24):
    edges = np.linspace(0, len(y), number + 1).astype(int)
    slices = [slice(*pair) for pair in zip(edges[:-1], edges[1:], strict=True)]
    bias = np.array([(p[s] - y[s]).mean() for s in slices])
    noise = np.array([np.sqrt((p[s] * (1 - p[s])).sum()) / len(p[s]) for s in slices])
    return Windows(edges[:-1], edges[1:], bias, noise, np.abs(bias) + 0.02, 0.8 * noise + 0.02)


def sample(values=("mobile", "desktop", "tablet", "kiosk"), *, rounds=2000, classes=2, **changes):
    """A check of over-confident forecasts, with one segment for each of `values`."""
    y, p = events(rounds)
    cells, bins, curve = parts(y, p)
    chance = Chance(0.019, 0.026, 0.001, 1000)
    brier = ScoreDecomposition(float(np.mean((y - p) ** 2)), 0.0123, 0.0571, 0.249, 0.0021)
    segments = [
        SimpleNamespace(
            column="device", value=value, events=rounds // (i + 2), error=0.062 / (i + 1),
            chance=Chance(0.012 + 0.004 * i, 0.02 + 0.006 * i, 0.01, 200),
            beyond=max(0.062 / (i + 1) - 0.02 - 0.006 * i, 0.0),
            evidence=evidence(y[i::8], p[i::8]), flagged=i < 2, smallest_seen=0.02 + 0.004 * i,
            share_of_miscalibration=0.5 / (i + 1),
        )
        for i, value in enumerate(values)
    ]  # fmt: skip
    cox = Cox(0.004, 0.0098, 0.02, 0.05, 0.61, 0.031)
    label = SimpleNamespace(cells=cells, bins=bins, curve=curve, error=0.041, chance=chance, cox=cox)
    made = SimpleNamespace(
        verdict="miscalibrated", headline="Over-confident", tolerance=0.02,
        sentence="Over-confident: says 85 % where 74 % happen. On average 4.1 points off; chance "
        "alone would show 1.9. Such a record would come up at most once in 4,000 calibrated "
        "forecasters, however often you look. Worst: segment mobile (6.2 points).",
        events=rounds, rows=rounds + 41, pending=41, classes=classes,
        labels=["no", "yes"] if classes == 2 else [f"class {i}" for i in range(classes)],
        names={"y": "converted", "p": "score", "by": ["device"], "time": "day"},
        notes=[
            "Forecasts lay between 0 and 100 and were read as percent.",
            "Rows are in the order of the column “day”.",
            "41 rows have no outcome yet and were left out.",
        ],
        settings={"n_bins": "cube_root", "strategy": "quantile", "tolerance": 0.02, "seed": 0},
        error=bins.error, chance=chance, smallest_seen=0.018, bins=bins, curve=curve, cox=cox,
        brier=brier, log_loss=ScoreDecomposition(0.588, 0.0403, 0.146, 0.693, 0.005),
        recalibrated=dict(
            brier_before=0.2121, brier_after=0.2043, log_loss_before=0.62, log_loss_after=0.59,
            events=rounds,
        ),
        evidence=evidence(y, p), windows=windows(y, p),
        time_labels=[f"{1 + i % 28} March 2026" for i in range(24)],
        segments=segments,
        by_class=[] if classes == 2 else [
            SimpleNamespace(label=f"class {i}", **vars(label)) for i in range(classes)
        ],
        top=None, cells=cells, metrics={"error": bins.error},
    )  # fmt: skip
    vars(made).update(changes)
    made.to_json = lambda: json.dumps(made.metrics | {"values": [str(v) for v in values]})
    made.plot = lambda kind="reliability", ax=None: draw(made, kind)
    return made


def comparison(names=("base", "boosted")):
    checks = {name: sample(rounds=1000 + i) for i, name in enumerate(names)}
    return SimpleNamespace(
        checks=checks, to_json=lambda: "{}", plot=lambda: draw(next(iter(checks.values())), "plane")
    )


def draw(check, kind):
    figure = Figure(figsize=(4.65, 3.4))
    ax = figure.subplots()
    if kind == "reliability":
        ax.fill_between(check.curve.forecast, check.curve.low, check.curve.high, alpha=0.2)
        ax.plot(check.curve.forecast, check.curve.frequency)
        ax.plot(check.bins.forecast, check.bins.frequency, "o")
    elif kind == "evidence":
        ax.plot(check.evidence.positions, check.evidence.history)
    elif kind == "segments":
        ax.plot([s.error for s in check.segments], range(len(check.segments)), "o")
        ax.set_yticks(range(len(check.segments)), [s.value[:20].replace('$', r'\$') for s in check.segments])
    else:
        ax.plot(check.windows.error, label="error")
        ax.plot(check.windows.chance, label="chance")
        ax.legend()
    ax.set(xlabel="forecast", ylabel=kind)
    return figure

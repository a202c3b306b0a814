"""Checks with all that a page reads, worked out in the plainest way."""

import json
from types import SimpleNamespace

import numpy as np
from matplotlib.figure import Figure

from fullswap.certificates import Certificate, Quantity, Subject
from fullswap.metrics.bins import bins_of
from fullswap.metrics.cells import Cells
from fullswap.metrics.chance import Chance, chance_of
from fullswap.metrics.corp import curve_of, decompose
from fullswap.metrics.cox import cox_of
from fullswap.metrics.windows import Windows
from fullswap.report.benefit import draw_benefit
from fullswap.report.classes import draw_classes
from fullswap.report.evidence import draw_evidence
from fullswap.report.history import History
from fullswap.report.reliability import draw_reliability
from fullswap.report.segments import draw_segments
from fullswap.report.windows import draw_windows

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
    """Cells, bins and curve."""
    cells = Cells.of_events(y, p)
    return cells, bins_of(cells), curve_of(cells, draws=40)


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


def sample(
    values=("mobile", "desktop", "tablet", "kiosk"),
    *,
    rounds=2000,
    classes=2,
    drawn=True,
    **changes,
):
    """A check of over-confident forecasts, with one segment for each of `values`.

    `drawn`: whether its pictures show anything; words are tested faster without them.
    """
    y, p = events(rounds)
    cells, bins, curve = parts(y, p)
    chance, cox = chance_of(cells, bins, draws=100), cox_of(cells)
    after = Cells.of_events(y, 1 / (1 + np.exp(-0.62 * np.log(p / (1 - p)))))
    segments = [
        SimpleNamespace(
            column="device", value=value, name=f"device {value}",
            events=rounds // (i + 2), error=0.062 / (i + 1),
            chance=Chance(0.012 + 0.004 * i, 0.02 + 0.006 * i, 0.01, 200),
            beyond=max(0.062 / (i + 1) - 0.02 - 0.006 * i, 0.0),
            evidence=evidence(y[i::8], p[i::8]), flagged=i < 2, smallest_seen=0.02 + 0.004 * i,
            share_of_miscalibration=0.5 / (i + 1),
        )
        for i, value in enumerate(values)
    ]  # fmt: skip
    label = SimpleNamespace(
        cells=cells, bins=bins, curve=curve, error=bins.error, chance=chance, cox=cox
    )
    made = SimpleNamespace(
        verdict="miscalibrated", headline="Over-confident", tolerance=0.02,
        sentence="Over-confident: says 85 % where 74 % happen. On average "
        f"{100 * bins.error:.1f} points off; chance alone would show {100 * chance.median:.1f}. "
        "Such a record would come up at most once in 4,000 calibrated forecasters, however often "
        "you look. Worst: device mobile (6.2 points off).",
        events=rounds, rows=rounds + 41, pending=41, classes=classes,
        labels=["no", "yes"] if classes == 2 else [f"class {i}" for i in range(classes)],
        names={"y": "converted", "p": "score", "by": ["device"], "time": "day"},
        notes=[
            "Forecasts lay between 0 and 100 and were read as percent.",
            "Rows are in the order of the column “day”.",
            "41 rows have no outcome yet and were left out.",
        ],
        settings={"n_bins": "cube_root", "tolerance": 0.02, "level": 0.05, "threshold": 20.0},
        error=bins.error, chance=chance, smallest_seen=0.018, bins=bins, curve=curve, cox=cox,
        brier=decompose(cells), log_loss=decompose(cells, "log"), other=after,
        recalibrated=SimpleNamespace(
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
    made.plot = lambda kind="reliability", ax=None: draw(made, kind, ax) if drawn else Figure()
    made.time_of = lambda row: made.time_labels and made.time_labels[24 * row // rounds]
    made.row_of = lambda row: row + 1
    return made


def comparison(names=("base", "boosted")):
    checks = {name: sample(rounds=1000 + 500 * i) for i, name in enumerate(names)}
    return SimpleNamespace(
        checks=checks, sentence=f"{len(names)} models.", notes=["Rows are in the given order."],
        to_json=lambda: "{}",
    )  # fmt: skip


def draw(check, kind, ax=None):
    if kind == "reliability":
        return draw_reliability(check.curve, check.bins, check.cells, ax=ax)
    if kind == "evidence":
        e = check.evidence
        return draw_evidence(e.positions, e.history, since=e.since, ax=ax)
    if kind == "windows":
        labels = check.time_labels
        return draw_windows(check.windows, labels=labels, tolerance=check.tolerance, ax=ax)
    if kind == "segments":
        return draw_segments(check.segments, ax=ax)
    if kind == "benefit":
        return draw_benefit(check.cells, check.other, ax=ax)
    return draw_classes(
        [(part.label, part.curve, part.bins, part.cells) for part in check.by_class]
    )


def certificate(k=0, **changes):
    """A certificate; every third guarantees nothing, every fifth does not hold."""
    told = dict(
        guaranteed=None if k % 3 == 2 else 2.0 if k % 5 == 4 else 40.9,
        broken=("labels came late",) if k % 3 == 2 else (),
        on_average=True, subject=Subject.ISSUED, mass=1000.0 * (k + 1), noise=3.6,
    )  # fmt: skip
    error, count = Quantity.L2_CALIBRATION_ERROR, 1000 * (k + 1)
    return Certificate(error, count, 4.4 + k, after_the_fact=9.0, theorem="x", **told | changes)


def history(events=2000):
    """Errors that fall."""
    places = np.unique(np.linspace(1, events, 50).astype(int))
    falling = np.sqrt(4.4 / (places + 40))
    return History(places, falling, 0.8 * falling, 3 * falling, falling + 0.05)

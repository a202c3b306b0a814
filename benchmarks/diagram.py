"""A reliability diagram of 20,000 events with its bands, against relplot's, both as PNG.

relplot smooths with a kernel and resamples for its band and for the error of its calibration
error; here the curve is isotonic with a band from refits, and bins have binomial quantiles. Both
are called as a user would, with their defaults.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import Prepare, Result, best_times
from fullswap.base.protocols import Vector
from fullswap.report import reliability_diagram

EVENTS = 20_000
SPEED_UP = 10.0


def benchmark(quick: bool) -> list[Result]:
    """Time of a diagram from arrays to PNG; nothing if relplot is not installed."""
    try:
        import relplot  # type: ignore[import-untyped]
    except ImportError:
        print("diagram: left out, relplot is not installed")
        return []
    rng = np.random.default_rng(0)
    forecasts = rng.random(EVENTS)
    outcomes = (rng.random(EVENTS) < forecasts).astype(float)
    turns: list[tuple[str, Prepare]] = [
        ("relplot", lambda: lambda: _theirs(relplot, forecasts, outcomes)),
        *[("fullswap", _ours(forecasts, outcomes))] * 5,
    ]
    best = best_times(turns, passes=1 if quick else 3)
    name = f"diagram: {EVENTS:,} events to PNG, against relplot"
    return [Result(name, best["fullswap"], best["relplot"], SPEED_UP, faster=True)]


def _ours(forecasts: Vector, outcomes: Vector) -> Prepare:
    def run() -> None:
        reliability_diagram(outcomes, forecasts).savefig(io.BytesIO(), format="png")

    def prepare() -> Callable[[], object]:
        return run

    return prepare


def _theirs(relplot: Any, forecasts: Vector, outcomes: Vector) -> None:
    import matplotlib
    from matplotlib import pyplot

    # relplot sets styles for the whole process; ours must not be timed under them.
    with matplotlib.rc_context():
        figure, _ = relplot.rel_diagram(forecasts, outcomes)
        figure.savefig(io.BytesIO(), format="png")
    pyplot.close(figure)

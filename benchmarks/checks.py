"""A whole check of a million forecasts, and a monitor's loop, against one sort and isotonic fit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks import Prepare, Result, best_times
from fullswap import Monitor, check
from fullswap.base.protocols import Vector

EVENTS = 1_000_000
CHECK_TARGET, MONITOR_TARGET = 5.0, 5.0
"""Times one sort and one isotonic fit."""


def benchmark(quick: bool) -> list[Result]:
    """`check` with all that it prints; `Monitor.update` with evidence and alarm."""
    size = EVENTS // 10 if quick else EVENTS
    rng = np.random.default_rng(0)
    p = 1 / (1 + np.exp(-rng.normal(0, 1.5, size)))
    y = (rng.random(size) < p).astype(float)
    check(y[:1_000], p[:1_000])
    Monitor().update(y[:1_000], p[:1_000])
    turns: list[tuple[str, Prepare]] = [
        ("fit", lambda: lambda: _fit(y, p)),
        ("check", lambda: lambda: check(y, p)),
        ("monitor", lambda: _watch(y, p)),
    ]
    best = best_times(turns, passes=3)
    return [
        Result(f"check: {size:,} forecasts, against one sort and isotonic fit",
               best["check"], best["fit"], CHECK_TARGET),
        Result(f"monitor: {size:,} forecasts, against the same",
               best["monitor"], best["fit"], MONITOR_TARGET),
    ]  # fmt: skip


def _fit(y: Vector, p: Vector) -> None:
    from scipy.optimize import isotonic_regression

    isotonic_regression(y[np.argsort(p, kind="stable")])


def _watch(y: Vector, p: Vector) -> Callable[[], object]:
    monitor = Monitor()
    return lambda: monitor.update(y, p)

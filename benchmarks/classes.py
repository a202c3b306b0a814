"""Events of many classes: a vector of sum 1, learnt from, against one softmax in numpy.

The yardsticks are what any forecaster of K classes does at least: one softmax of the model's vector
in numpy, and one pass over its bins, K × n numbers that are read and written in compiled code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from benchmarks import Prepare, Result, best_times
from fullswap import MulticlassForecaster, Recalibrator

SOFTMAX_LIMITS = {10: 4.0, 100: 18.0, 1000: 80.0}
"""Below 15 µs, 100 µs and 1 ms, where a softmax takes 4, 4 and 7 µs."""
PASS_LIMIT = 200.0
EVENTS = {10: 20_000, 100: 4_000, 1000: 500}


@njit(cache=True)
def touch(bins, turns):
    """Read and write all bins, so many times."""
    for _ in range(turns):
        for k in range(bins.shape[0]):
            for i in range(bins.shape[1]):
                bins[k, i] = 0.5 * bins[k, i] + 0.1


def softmax(vector: Any) -> Any:
    """Probabilities ∝ exp of a vector."""
    heights = np.exp(vector - vector.max())
    return heights / heights.sum()


def benchmark(quick: bool) -> list[Result]:
    """An event of 10, 100 and 1,000 classes, with a model and without."""
    results = []
    for classes, events in EVENTS.items():
        count = events // 4 if quick else events
        logits, shares, outcomes = _log(classes, count)
        plain = MulticlassForecaster(classes, seed=1)
        model = Recalibrator(classes=classes, seed=1)
        bins = np.zeros((classes, len(plain.spec.levels[0].nodes)))

        def softmaxes(rows: Any = logits) -> object:
            return [softmax(row) for row in rows]

        turns: list[tuple[str, Prepare]] = [
            ("softmax", lambda own=softmaxes: own),  # type: ignore[misc]
            ("pass", lambda b=bins, n=count: lambda: touch(b, n)),  # type: ignore[misc]
            ("no model", _run(plain, outcomes)),
            ("a model", _run(model, shares, outcomes)),
        ]
        best = best_times(turns, passes=5)
        for name in ("no model", "a model"):
            label, own = f"classes: {classes:,}, {name}", best[name] / count
            limit = SOFTMAX_LIMITS[classes]
            results.append(
                Result(
                    f"{label}, against a softmax (an event)", own, best["softmax"] / count, limit
                )
            )
            passed = Result(
                f"{label}, against a pass (an event)", own, best["pass"] / count, PASS_LIMIT
            )
            results.append(passed)
    return results


def _log(classes: int, events: int) -> tuple[Any, Any, Any]:
    """Logits of an overconfident model, its vectors, and outcomes as vectors."""
    rng = np.random.default_rng(0)
    true = rng.normal(0, 1.5, (events, classes)) - np.log(np.arange(1, classes + 1))
    chance = np.exp(true) / np.exp(true).sum(axis=1, keepdims=True)
    logits = 1.8 * true + rng.normal(0, 0.5, classes)
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    happened = (chance.cumsum(axis=1) > rng.random((events, 1))).argmax(axis=1)
    return logits, shares, np.eye(classes)[happened]


def _run(forecaster: Any, *columns: Any) -> Prepare:
    def prepare() -> Callable[[], object]:
        own = forecaster.copy()
        return lambda: own.run(*columns)

    return prepare

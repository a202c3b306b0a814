"""Strongly convex losses on a line: whole rounds by crossing, against one running mean.

A round finds the crossing, mixes two neighbours, and makes two gradient steps with their
bookkeeping. The yardstick is the least that any forecaster does: m ← m + (b − m)/k. The horizon is
tuned for each T, so the grid grows with it; the time of a round should not.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from benchmarks import Prepare, Result, best_times
from fullswap import FullSwapLearner
from fullswap.base.protocols import Points, Vector
from fullswap.kernels.loop import line_run
from fullswap.losses import LossClass, quadratic_rows
from fullswap.sets import Interval

COST_LIMIT = 8.0
FLATNESS_LIMIT = 1.5
TURNS = 4
"""In one pass, sizes below the largest have this many turns: their times are short and noisy."""


@njit(cache=True)
def running_mean(outcomes: Vector) -> float:
    """Mean of the outcomes, one update a round."""
    mean = 0.0
    for k in range(outcomes.shape[0]):
        mean += (outcomes[k] - mean) / (k + 1)
    return mean


def benchmark(quick: bool) -> list[Result]:
    """Cost of `FullSwapLearner.run` and of its kernel at several T, and how flat they are."""
    sizes = [10**4, 10**5, 10**6] if quick else [10**5, 10**6, 10**7]
    turns: list[tuple[tuple[str, int], Prepare]] = []
    for rounds in sizes:
        turns += _contenders(rounds) * (1 if rounds == sizes[-1] else TURNS)
    best = best_times(turns, passes=25 if quick else 10)

    per_round = {key: seconds / key[1] for key, seconds in best.items()}
    results = []
    for who in ("learner.run", "bare kernel"):
        costs = [per_round[who, rounds] for rounds in sizes]
        for rounds, cost in zip(sizes, costs, strict=True):
            name = f"line: {who}, T = {rounds:.0e}, against a running mean (a round)"
            results.append(Result(name, cost, per_round["mean", rounds], COST_LIMIT))
        name = f"line: {who}, slowest T against fastest T (a round)"
        results.append(Result(name, max(costs), min(costs), FLATNESS_LIMIT))
    return results


def _contenders(rounds: int) -> list[tuple[tuple[str, int], Prepare]]:
    outcomes = (np.random.default_rng(0).random(rounds) < 0.3).astype(float)
    coefficients = quadratic_rows(outcomes)

    def mean() -> Callable[[], object]:
        return lambda: running_mean(outcomes)

    def run() -> Callable[[], object]:
        learner = _learner(rounds)
        return lambda: learner.run(coefficients)

    return [
        (("mean", rounds), mean),
        (("learner.run", rounds), run),
        (("bare kernel", rounds), lambda: _bare(rounds, coefficients)),
    ]


def _bare(rounds: int, coefficients: Points) -> Callable[[], object]:
    rule = _learner(rounds)._rule
    no_indices, no_weights = np.zeros(0, np.int64), np.zeros(0)
    return lambda: line_run(
        rule.state, rule.rate, rule.low, rule.high, rule.linearised, coefficients, rule.hint,
        no_indices, no_weights,
    )  # fmt: skip


def _learner(rounds: int) -> FullSwapLearner:
    return FullSwapLearner(Interval(0, 1), LossClass.squared(1.0), horizon=rounds)

"""Multiplicative weights over 256 points: one round, against one exp of a 256 × 256 matrix.

Rates change with the weights of each learner when there is no horizon, so a round cannot do
without an exponential of the whole matrix; all else (cumulative losses, normalisation, the
stationary distribution, the losses of the recommendations) should cost little beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import numpy as np

from benchmarks import Prepare, Result, best_times
from fullswap.learners import Hedge
from fullswap.losses import LossClass, Quadratic
from fullswap.template.rules import Dense

POINTS = 256
HORIZON = 20_000
COST_LIMIT = 4.0
OUTCOMES = (Quadratic([0.0]), Quadratic([1.0]))


def benchmark(quick: bool) -> list[Result]:
    """Cost of a round of the dense rule with Hedge, with and without a horizon."""
    rounds = 20 if quick else 100
    turns: list[tuple[str, Prepare]] = [
        ("exp", lambda: _exponentials(rounds)),
        ("known horizon", _rounds_from(HORIZON, rounds)),
        ("anytime", _rounds_from(None, rounds)),
    ]
    best = best_times(turns, passes=40 if quick else 20)
    return [
        Result(
            f"weights: {who}, n = {POINTS}, against np.exp of n × n (a round)",
            best[who] / rounds, best["exp"] / rounds, COST_LIMIT,
        )
        for who in ("known horizon", "anytime")
    ]  # fmt: skip


def play(rule: Dense, rounds: int) -> None:
    """Rounds against an adversary that moves away from the mean of the mixture."""
    for _ in range(rounds):
        indices, weights = rule.mix()
        mean = weights @ rule.points[indices, 0]
        rule.learn(OUTCOMES[int(mean < 0.5)], indices, weights)


def _rounds_from(horizon: int | None, rounds: int) -> Prepare:
    """Every repetition replays the same rounds, from a state that is no longer fresh."""
    points = np.linspace(0.0, 1.0, POINTS)[:, None]
    loss_range = LossClass.squared(1.0).lipschitz
    warm = Dense(points, Hedge(points, loss_range, horizon))
    play(warm, 300)

    def prepare() -> Callable[[], object]:
        rule = deepcopy(warm)
        return lambda: play(rule, rounds)

    return prepare


def _exponentials(rounds: int) -> Callable[[], object]:
    matrix = -5.0 * np.random.default_rng(0).random((POINTS, POINTS))
    out = np.empty_like(matrix)

    def run() -> None:
        for _ in range(rounds):
            np.exp(matrix, out=out)

    return run

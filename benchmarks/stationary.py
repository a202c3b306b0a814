"""Stationary distribution on a triangulated square: one lazy class, against a dense solve.

The lazy rule looks only at the points that it can reach from last round's heaviest one, so its
time depends on the class that it finds and not on the size of the grid. The round with the largest
class is the one that counts.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import numpy as np

from benchmarks import Result, best_times, clock
from fullswap import FullSwapLearner
from fullswap.base.protocols import Points, Vector
from fullswap.losses import LossClass, Quadratic
from fullswap.sets import Box
from fullswap.template.rules import Stationary

SPEED_UP = 100.0
ROUNDS = 2_000
RESTART = 1e-10
"""Makes the dense system regular; its solution is wrong by about this times the mixing time."""


def benchmark(quick: bool) -> list[Result]:
    """Speed-up of mix(), at the largest class met, over a dense solve on all points."""
    side = 50 if quick else 100
    rule = _hardest_state(side)
    start = rule.heaviest
    indices, weights = rule.mix()
    best = best_times([("lazy", lambda: _mix_from(rule, start))], passes=10)

    system, right = _dense_system(rule)
    # Once: at full size this takes many seconds and 1.6 GB, and no noise hides a factor of 100.
    begin = clock()
    solution = np.linalg.solve(system, right)
    dense = clock() - begin

    lazy = np.zeros(len(solution))
    lazy[indices] = weights
    difference = float(np.abs(lazy - solution).sum())
    if not difference < 1e-3:
        raise RuntimeError(f"lazy and dense distributions differ by {difference:.3g}")
    name = f"stationary: {side * side} points, class of {len(indices)}, against a dense solve"
    return [Result(name, best["lazy"], dense, SPEED_UP, faster=True)]


def _mix_from(rule: Stationary, start: int) -> Callable[[], object]:
    rule.heaviest = start
    return rule.mix


def _hardest_state(side: int) -> Stationary:
    """The rule just before it met its largest class, in rounds on a grid of side × side points.

    Losses are centred at random corners: they spread the targets, and so make larger classes
    than an adversary that moves away from the mean of the mixture.
    """
    square = Box([0.0, 0.0], [1.0, 1.0])
    learner = FullSwapLearner(
        square,
        LossClass.squared(square.diameter),
        horizon=10**6,
        row="strongly convex and smooth",
        mesh=1 / (side - 1),
    )
    rule = learner._rule
    assert isinstance(rule, Stationary) and len(rule.points) == side * side
    corners = (np.random.default_rng(0).random((ROUNDS, 2)) < 0.4).astype(float)
    hardest, largest = rule, 0
    for corner in corners:
        start = rule.heaviest
        indices, weights = rule.mix()
        if len(indices) > largest:
            hardest, largest = deepcopy(rule), len(indices)
            hardest.heaviest = start
        rule.learn(Quadratic(corner), indices, weights)
    return hardest


def _dense_system(rule: Stationary) -> tuple[Points, Vector]:
    """x = (1 − γ)·xQ + γ·e_s as a linear system, s the heaviest point and γ = RESTART.

    Other points may be absorbing or form classes of their own, so xQ = x alone is singular.
    """
    n = len(rule.points)
    system = np.zeros((n, n))
    np.subtract.at(system, (rule.row_indices, np.arange(n)[:, None]), rule.row_weights)
    system *= 1 - RESTART
    system.flat[:: n + 1] += 1.0
    right = np.zeros(n)
    right[rule.heaviest] = RESTART
    return system, right

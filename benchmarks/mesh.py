"""Whole rounds in two and three dimensions, against one dense matrix-vector product.

About 1,000 grid points on a ball and on a polytope, rows 4 (nearest point of a net) and 5 (several
points with the same mean) of the table. A product with a dense 1,000 × 1,000 matrix is what one
step of a chain on all points would take. Outcomes lie on the boundary, where rounding takes
longest. Rounds are timed once each point has learnt a little; before, when most points have learnt
from a round or two, the classes that are played have hundreds of points: whole runs of 100,000
rounds tell.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy

import numpy as np

from benchmarks import Prepare, Result, best_times
from fullswap import FullSwapLearner
from fullswap.base.protocols import Points
from fullswap.losses import LossClass, quadratic_rows
from fullswap.sets import Ball, ConvexSetBase, Polytope

LIMIT = 0.1
"""10 µs where the product, on one thread, takes 100."""
POINTS, PRODUCTS = 1_000, 50
HORIZON = 100_000
WARM, TIMED = 20_000, 5_000
ROWS = {4: "strongly convex", 5: "strongly convex and smooth"}


def benchmark(quick: bool) -> list[Result]:
    """Rounds after the first ones, and rounds of whole runs, by set, dimension and row."""
    matrix, vector = np.random.default_rng(0).random((POINTS, POINTS)), np.ones(POINTS)

    def products() -> object:
        with one_thread():
            return [matrix @ vector for _ in range(PRODUCTS)]

    turns: list[tuple[str, Prepare]] = [("product", lambda: products)] * 5
    whole = []
    for d in (2, 3):
        for name, action_set in (("ball", Ball(np.full(d, 0.5), 1.0)), ("polytope", _polytope(d))):
            for number, row in ROWS.items():
                rows = _losses(action_set, WARM + TIMED)
                learner = _learner(action_set, row)
                label = f"mesh: d = {d}, {name}, row {number}, {len(learner.grid)} points"
                if not quick:
                    whole.append((label, _later(learner, _losses(action_set, HORIZON))))
                learner = deepcopy(learner)
                learner.run(rows[:WARM])
                turns.append((label, _later(learner, rows[WARM:])))
    best = best_times(turns, passes=5)
    product = best.pop("product") / PRODUCTS
    results = [
        Result(f"{label}, against a product (a round)", seconds / TIMED, product, LIMIT)
        for label, seconds in best.items()
    ]
    for label, seconds in best_times(whole, passes=1).items():
        name = f"{label}, whole run, against a product (a round)"
        results.append(Result(name, seconds / HORIZON, product, LIMIT))
    return results


def one_thread() -> AbstractContextManager[object]:
    """Threads that wait for each other would count as work."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return nullcontext()
    limited: AbstractContextManager[object] = threadpool_limits(1)
    return limited


def _later(learner: FullSwapLearner, rows: Points) -> Prepare:
    def prepare() -> Callable[[], object]:
        copy = deepcopy(learner)
        return lambda: copy.run(rows)

    return prepare


def _polytope(d: int) -> Polytope:
    corners = np.random.default_rng(1).normal(size=(4 + 4 * d, d))
    return Polytope(corners / np.linalg.norm(corners, axis=1, keepdims=True))


def _losses(action_set: ConvexSetBase, rounds: int) -> Points:
    spread = np.random.default_rng(0).normal(size=(rounds, action_set.dim)) * action_set.diameter
    return quadratic_rows(action_set.project(action_set.center + spread))


def _learner(action_set: ConvexSetBase, row: str) -> FullSwapLearner:
    """With the finest grid of at most about 1,000 points."""
    kind = "triangulation" if row.endswith("smooth") else "net"
    grids, cells = action_set.grids, 2
    while len(grids.at_mesh(kind, grids.longest_side / (cells + 1))) <= 1.1 * POINTS:
        cells += 1
    promised, mesh = LossClass.squared(action_set.diameter), grids.longest_side / cells
    return FullSwapLearner(
        action_set, promised, HORIZON, row=row, mesh=mesh, learner="gradient", track=False
    )

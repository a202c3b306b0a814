"""The equilibrium of the largest entropy: whoever follows it is told the least."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.games.best_so_far import BestSoFar
from fullswap.games.lp import incentive_rows, programme_entries, solve_programme
from fullswap.games.profiles import CorrelatedEquilibrium

if TYPE_CHECKING:
    from scipy.sparse import csr_array

METHOD = "entropy"
MOST_ENTROPY = 12_000_000  # entries of the matrix of deviations
_NEAR_PROGRAMME = 300_000  # entries up to which the nearest equilibrium of a table is sought
_STEPS = 400
_ENTRY = 200.0  # operations for each entry in a step: 25 iterations, with their line searches


def largest_entropy(
    best: BestSoFar, rng: np.random.Generator, earlier: CorrelatedEquilibrium | None
) -> Iterator[float]:
    """P ∝ exp(−Σ y·gain) for the prices y ≥ 0 at which the logarithm of its sum is smallest."""
    from scipy.optimize import minimize

    record, shape = best.record, best.tables[0].shape
    rows = incentive_rows(best.tables, record.notion)
    across = rows.T.tocsr()
    prices = np.zeros(rows.shape[0])
    joint = np.full(shape, 1 / math.prod(shape))
    best.limit(math.log(math.prod(shape)))
    best.offer(joint, entropy_of(joint), best.gap(joint), METHOD)
    if not rows.shape[0]:  # no deviation ever pays
        return

    def dual(y: Vector) -> tuple[float, Vector]:
        powers = -(across @ y)
        top = powers.max()
        weights = np.exp(powers - top)
        total = weights.sum()
        return float(top + np.log(total)), -(rows @ (weights / total))

    start = best.some_equilibrium(rng, earlier)
    safe = None if start is None else start[0]
    if start is not None:
        best.offer(start[0], entropy_of(start[0]), best.gap(start[0]), start[1])
    yield 0.0
    for _ in range(_STEPS):
        done = minimize(
            dual, prices, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * len(prices),
            options={"maxiter": 25, "maxcor": 30, "ftol": 1e-15, "gtol": 1e-10},
        )  # fmt: skip
        still = np.array_equal(prices, done.x)
        prices = done.x
        powers = -(across @ prices)
        joint = np.exp(powers - powers.max()).reshape(shape)
        joint /= joint.sum()
        best.limit(float(done.fun))
        gap = best.gap(joint)
        mended, left = best.mended(joint, gap, safe)
        best.offer(mended, entropy_of(mended), left, METHOD)
        yield _ENTRY * rows.nnz
        if best.proved:
            return
        if still or done.success:
            break
    if gap <= record.gap or programme_entries(shape, record.notion) > _NEAR_PROGRAMME:
        return
    near = _nearest(rows, joint, record.seconds_left)  # prices that grow for ever leave a gap
    joint, gap = best.mended(joint, gap, near)
    best.offer(joint, entropy_of(joint), gap, METHOD)


def entropy_of(joint: Points) -> float:
    """−Σ P·ln P."""
    played = joint[joint > 0]
    return float(-(played * np.log(played)).sum())


def _nearest(rows: csr_array, joint: Points, seconds: float | None) -> Points | None:
    """The equilibrium nearest to a table of probabilities, by the sum of absolute differences."""
    from scipy.sparse import csr_array, eye_array, hstack, vstack

    count, one = joint.size, eye_array(joint.size)
    blank = csr_array((rows.shape[0], count))
    # t ≥ |P − joint|, for one more variable t for each joint action
    matrix = vstack((hstack((rows, blank)), hstack((one, -one)), hstack((-one, -one)))).tocsr()
    limits = np.concatenate((np.zeros(rows.shape[0]), joint.ravel(), -joint.ravel()))
    costs = np.concatenate((np.zeros(count), np.ones(count)))
    solution = solve_programme(costs, matrix, limits, 1 - costs, seconds)
    if solution is None:
        return None
    near = np.maximum(solution.x[:count], 0.0).reshape(joint.shape)
    return np.asarray(near / near.sum())

"""The equilibrium of the largest entropy: whoever follows it is told the least."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.games.best_so_far import BestSoFar
from fullswap.games.highs import no_time_for, solve_programme
from fullswap.games.lp import incentive_rows, programme_entries
from fullswap.games.profiles import CorrelatedEquilibrium
from fullswap.games.record import Record

if TYPE_CHECKING:
    from scipy.sparse import csr_array

METHOD = "entropy"
MOST_ENTROPY = 12_000_000  # entries of the matrix of deviations
_NEAR_PROGRAMME = 300_000  # entries up to which the nearest equilibrium of a table is sought
_STEPS = 400
_SECONDS_AN_ENTRY = 1e-7  # for rows, their columns, and the first steps
_ENTRY = 200.0  # operations for each entry in a step: 25 iterations, with their line searches


def largest_entropy(
    best: BestSoFar, rng: np.random.Generator, earlier: CorrelatedEquilibrium | None
) -> Iterator[float]:
    """P ∝ exp(−Σ y·gain) for the prices y ≥ 0 at which the logarithm of its sum is smallest."""
    record, shape = best.record, best.tables[0].shape
    joint = np.full(shape, 1 / math.prod(shape))
    best.offer(joint, best.gap(joint), METHOD)
    if best.proved:
        return
    # before the rows, which take time: an equilibrium to fall back on
    best.find_some(rng, earlier)
    yield 0.0
    if no_time_for(programme_entries(shape, record.notion), record.seconds_left, _SECONDS_AN_ENTRY):
        return
    rows = incentive_rows(best.tables, record.notion)
    if not rows.shape[0]:  # no deviation ever pays
        return
    dual = _Dual(rows, record)
    for _ in range(_STEPS):
        before = dual.prices
        done = dual.improve()
        joint = dual.joint().reshape(shape)
        best.limit(dual.value)
        gap = best.gap(joint)
        best.offer_mended(joint, gap, METHOD)
        yield _ENTRY * rows.nnz
        if best.proved or record.over:
            return
        if done or np.array_equal(before, dual.prices):
            break
    if gap <= record.gap or programme_entries(shape, record.notion) > _NEAR_PROGRAMME:
        return
    near = _nearest(rows, joint, record.seconds_left)  # prices that grow for ever leave a gap
    if near is not None:
        best.offer_mended(joint, gap, METHOD, near)


class _OutOfTime(Exception):
    pass


class _Dual:
    """Prices y ≥ 0 of the rows, and ln Σ exp(−Σ y·gain), which no equilibrium's entropy exceeds."""

    def __init__(self, rows: csr_array, record: Record) -> None:
        self._rows, self._across, self._record = rows, rows.T.tocsr(), record
        self.prices, self.value = np.zeros(rows.shape[0]), math.inf

    def _at(self, y: Vector) -> tuple[float, Vector]:
        if self._record.over:
            raise _OutOfTime
        powers = -(self._across @ y)
        top = powers.max()
        weights = np.exp(powers - top)
        total = weights.sum()
        value = float(top + np.log(total))
        if value < self.value:  # kept here: a search that is stopped tells nothing
            self.prices, self.value = y.copy(), value
        return value, -(self._rows @ (weights / total))

    def improve(self) -> bool:
        """Some steps; whether they have come to an end."""
        from scipy.optimize import minimize

        try:
            done = minimize(
                self._at, self.prices, jac=True, method="L-BFGS-B",
                bounds=[(0.0, None)] * len(self.prices),
                options={"maxiter": 25, "maxcor": 30, "ftol": 1e-15, "gtol": 1e-10},
            )  # fmt: skip
        except _OutOfTime:
            return False
        return bool(done.success)

    def joint(self) -> Vector:
        """Probabilities of the joint actions at these prices."""
        powers = -(self._across @ self.prices)
        weights = np.exp(powers - powers.max())
        return np.asarray(weights / weights.sum())


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

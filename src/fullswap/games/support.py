"""An equilibrium on few joint actions: a search that rarely proves that there are none on fewer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from fullswap.base.protocols import Points
from fullswap.games import pure
from fullswap.games.best_so_far import BestSoFar
from fullswap.games.highs import no_time_for, solve_programme
from fullswap.games.lp import incentive_rows, programme_entries
from fullswap.games.profiles import CorrelatedEquilibrium

if TYPE_CHECKING:
    from scipy.sparse import csr_array

METHOD = "corners"
_CORNERS = 60_000  # entries of programmes that look for a small support
_TRIES = 6  # such programmes
_BITS = 1e-9  # probabilities below this are left out
_DEAR = 1e-3  # what is played with less than this is about equally dear in the next programme
_PROGRAMME = 1e7  # operations of a programme, about


def smallest_support(
    best: BestSoFar, rng: np.random.Generator, earlier: CorrelatedEquilibrium | None
) -> Iterator[float]:
    """Pure ones if there are any; else corners of the polytope of equilibria, a few tries."""
    record, shape = best.record, best.tables[0].shape
    where, gap = pure.scan(best.tables, [1.0] * len(best.tables))
    joint = np.zeros(shape)
    joint[tuple(where)] = 1.0
    gap += float(record.slack.max())
    best.offer(joint, gap, pure.METHOD)
    best.limit(1.0 if gap <= record.gap else 2.0)
    yield 20.0 * joint.size
    if best.proved:
        return
    best.find_some(rng, earlier)
    entries = programme_entries(shape, record.notion)
    if entries > _CORNERS or no_time_for(entries, record.seconds_left):
        return
    rows = incentive_rows(best.tables, record.notion)
    costs: Points = np.zeros(shape)
    for k in range(_TRIES):
        corner = _corner(rows, costs, record.seconds_left)
        yield _PROGRAMME
        if corner is None:
            return
        joint = np.where(corner > _BITS, corner, 0.0)
        joint /= joint.sum()
        best.offer(joint, best.gap(joint), METHOD)
        # what has little probability becomes dear; every other time a corner at random
        costs = 1 / (joint + _DEAR) if k % 2 == 0 else rng.random(shape)


def _corner(rows: csr_array, costs: Points, seconds: float | None) -> Points | None:
    limits, ones = np.zeros(rows.shape[0]), np.ones(rows.shape[1])
    solution = solve_programme(costs.ravel(), rows, limits, ones, seconds)
    return None if solution is None else np.maximum(solution.x, 0.0).reshape(costs.shape)

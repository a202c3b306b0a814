"""Forecasts by a stationary distribution on a line: the paper's own rule.

The recommendation of each point is split between its two neighbours on the grid; the split is a
row of a Markov chain, and what is forecast is the stationary distribution of one closed class.
Rows, sub-learners and losses are those of ``fullswap.kernels.line``.

Symbols: walk = (scratch (n, 6), stamps (1,), dense (w, w), rows (n, 2), splits (n, 2)) and members
(n,), shares (≥ n,) as in ``fullswap.kernels.stationary`` · targets (n,): what the members
recommend.
"""

from typing import NamedTuple

import numpy as np

from fullswap.kernels import events
from fullswap.kernels.columns import CELLS, HEAD, HINT
from fullswap.kernels.compiling import kernel
from fullswap.kernels.events import count_event
from fullswap.kernels.line import COLUMNS, learn_point
from fullswap.kernels.loop import cell_of
from fullswap.kernels.stationary import meet, stationary_sparse


class Split(NamedTuple):
    """Where rows of the chain come from: points and the row that holds their recommendations."""

    points: np.ndarray
    row: np.ndarray


@events.implements(meet, Split)
def _split(source, state, row_indices, row_weights):
    """Split the target of a point between its neighbours, mean preserved."""
    points, target = source.points, source.row[HEAD + COLUMNS * state]
    cell = cell_of(points, target)
    share = (points[cell + 1] - target) / (points[cell + 1] - points[cell])
    share = min(max(share, 0.0), 1.0)
    row_indices[state, 0] = cell
    row_indices[state, 1] = cell + 1
    row_weights[state, 0] = share
    row_weights[state, 1] = 1.0 - share


@kernel
def chain_forecast(points, row, walk, members, shares, targets):
    """Size of the class (members, shares and targets are written), or −size if it needs room."""
    scratch, stamps, dense, rows, splits = walk
    stamps[0] += 1
    start = min(max(int(row[HINT]), 0), points.shape[0] - 1)
    size = stationary_sparse(
        Split(points, row), rows, splits, start, scratch, stamps[0], dense, members, shares
    )
    for k in range(size):
        targets[k] = row[HEAD + COLUMNS * members[k]]
    return size


@kernel
def chain_learn(
    points, row, loss, rate, realised, delta, members, shares, targets, size, drawn, g, y, number
):  # fmt: skip
    """Feed the outcome of one forecast; the next search starts at the heaviest learner."""
    if g > 0.0 and realised:
        learn_point(points, row, loss, rate, members[drawn], targets[drawn], g, y)
        row[HINT] = members[drawn]
    elif g > 0.0:
        heaviest = 0
        for k in range(size):
            if shares[k] * g > 0.0:  # products of small numbers may vanish
                learn_point(points, row, loss, rate, members[k], targets[k], shares[k] * g, y)
            if shares[k] > shares[heaviest]:
                heaviest = k
        row[HINT] = members[heaviest]
    row[CELLS] += g * delta
    count_event(row, g, y * y, delta, number)


ChainSpec = events.spec_type(
    "ChainSpec", __name__, "loss", "rate", "realised", "walk", "members", "shares", "targets"
)


@events.implements(events.forecast, ChainSpec)
def _forecast(spec, points, row, level, contexts, t):
    return chain_forecast(points, row, spec.walk, spec.members, spec.shares, spec.targets)


@events.implements(events.learn, ChainSpec)
def _learn(spec, points, row, level, ticket, drawn, outcomes, t, g, number):
    chain_learn(
        points, row, spec.loss, spec.rate, spec.realised, spec.delta[level], spec.members,
        spec.shares, spec.targets, ticket, drawn, g, outcomes[t], number,
    )  # fmt: skip

"""One event of K classes on the Kuhn grid of a simplex: a fixed point, and running means.

Columns of a row before its points: place (2d,) of the simplex that was played last, as in
``fullswap.kernels.fixed_point``. Columns of a point: G, then the mean (K) of its outcomes and of
one imagined outcome at the centre: that is what it recommends.

Symbols: base: where the points begin in a row · lattice, work as in
``fullswap.kernels.fixed_point`` · walk = (scratch, stamps, dense, rows, splits) as in
``fullswap.kernels.stationary``, or None · ticket = (members (w,), shares (w,), targets (w, K),
place (2d,)), beside the size of the support.
"""

from typing import NamedTuple

import numpy as np

from fullswap.kernels import events
from fullswap.kernels.columns import CELLS, HEAD, LOST, MASS, NEXT_ID
from fullswap.kernels.compiling import kernel
from fullswap.kernels.events import count_event, draw_place
from fullswap.kernels.fixed_point import MEAN, WEIGHT, Means, fixed_point
from fullswap.kernels.kuhn import kuhn_locate_one
from fullswap.kernels.philox import uniform
from fullswap.kernels.stationary import meet, stationary_sparse


class Rounded(NamedTuple):
    """Where rows of the chain come from: each point's mean, rounded to the grid around it."""

    row: np.ndarray
    base: int
    lattice: tuple[np.ndarray, np.ndarray, np.ndarray]
    floats: np.ndarray
    integers: np.ndarray


@events.implements(meet, Rounded)
def _rounded(source, state, row_indices, row_weights):
    cells, strides, lookup = source.lattice
    place, total = source.base + (cells.shape[0] + 2) * state + MEAN, 0.0
    for k in range(cells.shape[0]):
        total += source.row[place + k]
        source.floats[0, k] = total * cells[k]
    kuhn_locate_one(
        source.floats[0], cells, strides, lookup, row_indices[state], row_weights[state],
        source.integers[0], source.floats[1],
    )  # fmt: skip


@kernel(error_model="numpy")
def simplex_forecast(row, base, lattice, work, limit, walk, ticket):
    """Size of the support (the ticket is written), or −size if it needs more room.

    A fixed point on one simplex; where rounding spoils the search, a stationary distribution, which
    serves as well. That is so rare that its code is compiled only for who brings a walk.
    """
    members, shares, targets, place = ticket
    classes = targets.shape[1]
    for k in range(place.shape[0]):
        place[k] = np.int64(row[HEAD + k])
    size = fixed_point(Means(row, base), lattice, place, work, limit, members, shares)
    if size == 0:
        if walk is None:
            return -classes
        scratch, stamps, dense, row_indices, row_weights = walk
        stamps[0] += 1
        start = (row.shape[0] - base) // (classes + 1) // 2
        source = Rounded(row, base, lattice, work[0], work[1])
        size = stationary_sparse(
            source, row_indices, row_weights, start, scratch, stamps[0], dense, members, shares
        )  # fmt: skip
        if size > targets.shape[0]:
            return -size
    for c in range(size):
        begin = base + (classes + 1) * members[c] + MEAN
        for k in range(classes):
            targets[c, k] = row[begin + k]
    return size


@kernel(error_model="numpy", forceinline=True)
def _learn_at(row, base, i, target, g, y):
    """Feed one outcome y (K,) to the learner at point i, which had recommended ``target``."""
    classes = y.shape[0]
    place = base + (classes + 1) * i
    row[place + WEIGHT] += g
    share = g / (1.0 + row[place + WEIGHT])
    square = 0.0
    for k in range(classes):
        square += (y[k] - target[k]) * (y[k] - target[k])
        mean = row[place + MEAN + k]
        row[place + MEAN + k] = mean + share * (y[k] - mean)
    row[LOST] += g * square


@kernel(error_model="numpy")
def simplex_learn(row, base, delta, realised, ticket, size, drawn, g, y, number):
    """Feed the outcome y (K,) of one forecast."""
    members, shares, targets, place = ticket
    classes = y.shape[0]
    square = 0.0
    for k in range(classes):
        square += y[k] * y[k]
    if g > 0.0 and realised:
        _learn_at(row, base, members[drawn], targets[drawn], g, y)
    elif g > 0.0:
        for c in range(size):
            if shares[c] * g > 0.0:  # products of small numbers may vanish
                _learn_at(row, base, members[c], targets[c], shares[c] * g, y)
    if g > 0.0:
        for k in range(place.shape[0]):
            row[HEAD + k] = place[k]
    row[CELLS] += g * delta
    count_event(row, g, square, delta, number)


# --- single events from Python: entries, so that what they share with the loop is compiled once ---


@kernel
def simplex_predict(row, base, lattice, work, limit, walk, ticket, source, count):
    """Size of the support as from ``simplex_forecast``, id of the forecast, place that it draws.

    ``count`` ids are given out (0: just looking); ``source`` gives the draws, see ``uniform``.
    """
    number = np.int64(row[NEXT_ID])
    size = simplex_forecast(row, base, lattice, work, limit, walk, ticket)
    if size < 0:
        return size, number, 0
    row[NEXT_ID] = number + count
    return size, number, draw_place(ticket[1], size, uniform(source, number))


@kernel
def simplex_update(row, base, delta, end, realised, ticket, size, drawn, g, y, number):
    """``simplex_learn``; whether the grid is now due to be refined."""
    simplex_learn(row, base, delta, realised, ticket, size, drawn, g, y, number)
    return row[MASS] >= end


SimplexSpec = events.spec_type(
    "SimplexSpec",
    __name__,
    "realised",
    "limit",
    "cells",
    "strides",
    "lookup",
    "lookup_first",
    "work",
    "walk",
    "members",
    "shares",
    "ticket",
)


@events.implements(events.forecast, SimplexSpec)
def _forecast(spec, points, row, level, contexts, t):
    begin, end = spec.lookup_first[level], spec.lookup_first[level + 1]
    lattice = (spec.cells[level], spec.strides[level], spec.lookup[begin:end])
    return simplex_forecast(row, spec.base, lattice, spec.work, spec.limit, spec.walk, spec.ticket)


@events.implements(events.learn, SimplexSpec)
def _learn(spec, points, row, level, ticket, drawn, outcomes, t, g, number):
    simplex_learn(
        row, spec.base, spec.delta[level], spec.realised, spec.ticket, ticket, drawn, g,
        outcomes[t], number,
    )  # fmt: skip


@events.implements(events.lift, SimplexSpec)
def _lift(spec, level, row):
    """The simplex of the finer grid around the middle of the one that was played."""
    d = spec.cells.shape[1]
    place = HEAD
    middle, order = spec.work[0][0], spec.work[1][0]
    finer = spec.cells[level, 0] / spec.cells[level - 1, 0]
    for k in range(d):
        middle[k] = row[place + k]
    for j in range(d):
        middle[int(row[place + d + j])] += (d - j) / (d + 1)
    for k in range(d):
        whole = min(np.floor(middle[k] * finer), spec.cells[level, 0] - 1.0)
        row[place + k] = whole
        middle[k] = middle[k] * finer - whole
        # by falling fractional part; among equal ones the larger index first, as kuhn_locate does
        j = k
        while j > 0 and middle[order[j - 1]] <= middle[k]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = k
    for k in range(d):
        row[place + d + k] = order[k]

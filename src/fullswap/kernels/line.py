"""One event on a line of grid points: a crossing, and sub-learners that take its outcome.

Every grid point s has a recommendation q. Where the recommendations pass from "at or above their
point" to "at or below it" lies a mixture λ of two neighbours with Σ λ·q = Σ λ·s, which serves
every convex loss as a stationary distribution does. The loss of a forecast p is (p − y)².

Symbols: row as in ``fullswap.kernels.columns``, with the columns TARGET q, WEIGHT G = Σ g, ONES Σ
g·y for each point · points (n,) increasing · a ticket is (left, right, share, q of left, q of
right): left has the share, right the rest.
"""

import numpy as np

from fullswap.kernels import events
from fullswap.kernels.columns import CELLS, HEAD, HINT, LOST, MASS, NEXT_ID, ROUNDING
from fullswap.kernels.compiling import kernel
from fullswap.kernels.philox import uniform

TARGET, WEIGHT, ONES = range(3)
COLUMNS = 3
"""Columns of a point."""


@kernel(error_model="numpy", forceinline=True)
def line_forecast(points, row):
    """The two points, the share of the left one, and what they recommend; nothing changes.

    Gallops from the hint, so the cost is O(log of the distance from the last forecast). Above all
    points the last one is played alone, below them the first.
    """
    last = points.shape[0] - 1
    low = np.int64(row[HINT])
    if low < 0:
        low = np.int64(0)
    if low > last - 1:
        low = last - 1
    step = 1
    if row[HEAD + COLUMNS * low] >= points[low]:
        high = low + 1
        while row[HEAD + COLUMNS * high] > points[high]:
            if high == last:
                target = row[HEAD + COLUMNS * last]
                return last, last, 1.0, target, target
            low = high
            step *= 2
            high += step
            if high > last:
                high = last
    else:
        high = low
        low -= 1
        if high == 0:
            return 0, 0, 1.0, row[HEAD], row[HEAD]
        while row[HEAD + COLUMNS * low] < points[low]:
            if low == 0:
                return 0, 0, 1.0, row[HEAD], row[HEAD]
            high = low
            step *= 2
            low -= step
            if low < 0:
                low = np.int64(0)
    # q ≥ s at low and q ≤ s at high, throughout
    while high - low > 1:
        middle = (low + high) // 2
        if row[HEAD + COLUMNS * middle] >= points[middle]:
            low = middle
        else:
            high = middle
    left_target = row[HEAD + COLUMNS * low]
    right_target = row[HEAD + COLUMNS * high]
    left_gap = left_target - points[low]
    right_gap = points[high] - right_target
    total = left_gap + right_gap
    share = right_gap / total if total > 0.0 else 1.0
    return low, high, share, left_target, right_target


@kernel(error_model="numpy", forceinline=True)
def learn_point(points, row, i, target, g, y):
    """Feed the outcome y with scale g > 0 to point i, which had recommended ``target``."""
    base = HEAD + COLUMNS * i
    total = row[base + WEIGHT] + g
    row[base + WEIGHT] = total
    row[base + ONES] += g * y
    # the mean of the outcomes and of one imagined outcome at the point itself
    row[LOST] += g * (target - y) * (target - y)
    row[base + TARGET] = (row[base + ONES] + points[i]) / (total + 1.0)


@kernel(error_model="numpy", forceinline=True)
def line_learn(points, row, realised, delta, ticket, drawn, g, y, number):
    """Feed the outcome of one forecast; ``drawn`` is 0 for the left point, 1 for the right.

    Realised feedback goes to the drawn point alone, otherwise both learn by their shares. With
    g = 0 the event is counted and nothing is learnt. ``number`` is the forecast's id.
    """
    left, right, share, left_target, right_target = ticket
    if g > 0.0:
        i, target, own = left, left_target, share
        if realised:
            own = 1.0
            if drawn:
                i, target = right, right_target
        if own > 0.0:
            learn_point(points, row, i, target, own * g, y)
        if own < 1.0:
            learn_point(points, row, right, right_target, (1.0 - share) * g, y)
        row[HINT] = left
        gap = points[right] - points[left]
        x = points[right] - share * gap
        if left == right:  # an end of the grid, alone: all recommend what lies beyond it
            edge = x if x < 1.0 - x else 1.0 - x
            row[CELLS] += g * edge * edge
            row[ROUNDING] += g * (x - left_target) * (x + left_target - 2.0 * y)
        else:
            # Jensen's gap of the mixture, less what the recommendations gain by disagreeing
            spread = share * (left_target - x) ** 2 + (1.0 - share) * (right_target - x) ** 2
            row[CELLS] += g * 0.25 * gap * gap
            row[ROUNDING] += g * (share * (1.0 - share) * gap * gap - spread)
    events.count_event(row, g, y * y, delta, number)


LineSpec = events.spec_type("LineSpec", __name__, "realised")


@events.implements(events.forecast, LineSpec)
def _forecast(spec, points, row, level, contexts, t):
    return line_forecast(points, row)


@events.implements(events.learn, LineSpec)
def _learn(spec, points, row, level, ticket, drawn, outcomes, t, g, number):
    line_learn(points, row, spec.realised, spec.delta[level], ticket, drawn, g, outcomes[t], number)


# --- single events from Python: one array costs less than several numbers ------------------------

REALISED, DELTA, END, POINTS = range(4)
"""Where things are in a frame: realised, δ, end of the level, then the points."""


@kernel
def line_predict(frame, row, source, count):
    """Id of the forecast, 0 or 1 for the point drawn, then its ticket.

    ``count`` ids are given out (0: just looking); ``source`` gives the draws, see ``uniform``.
    """
    number = np.int64(row[NEXT_ID])
    left, right, share, left_target, right_target = line_forecast(frame[POINTS:], row)
    row[NEXT_ID] = number + count
    drawn = 0 if uniform(source, number) < share else 1
    return number, drawn, left, right, share, left_target, right_target


@kernel
def line_update(frame, row, number, drawn, left, right, share, left_target, right_target, g, y):
    """``line_learn``; whether the grid is now due to be refined."""
    ticket = (left, right, share, left_target, right_target)
    line_learn(
        frame[POINTS:], row, frame[REALISED] > 0.0, frame[DELTA], ticket, drawn, g, y, number
    )
    return row[MASS] >= frame[END]

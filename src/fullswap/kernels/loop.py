"""Whole rounds on a line: crossing, play, scaled gradient step, bookkeeping.

One array `state` (7, n) holds a bank; its rows are contiguous vectors over the grid points.
Losses are quadratics a·t² + b·t + c of the scalar coordinate t.

Symbols: rows of `state` and entries of `rate` (3,) as in ``fullswap.kernels.states``.
"""

from fullswap.kernels.compiling import kernel
from fullswap.kernels.crossing import crossing_weight, find_crossing
from fullswap.kernels.rate import scaled_rate
from fullswap.kernels.states import (
    CONSTANT,
    CURVATURE,
    MODULUS,
    POINT,
    RECOMMENDED,
    ROOT,
    SLOPE,
    SWITCH,
    TARGET,
    WEIGHT,
)


@kernel
def cell_of(points, x):
    """Largest i ≤ n − 2 with points[i] ≤ x (0 if none): the cell of x, top cell closed."""
    low, high = 0, points.shape[0] - 1
    while high - low > 1:
        middle = (low + high) // 2
        if points[middle] <= x:
            low = middle
        else:
            high = middle
    return low


@kernel(error_model="numpy")
def line_learn(state, rate, low, high, linearised, i, g, a, b, c):
    """Feed the loss with scale g > 0 to the learner at point i."""
    q = state[TARGET, i]
    slope = 2.0 * a * q + b
    value = (a * q + b) * q + c
    if linearised:
        cell = cell_of(state[POINT], q)
        left = state[POINT, cell]
        slope = a * (left + state[POINT, cell + 1]) + b
        value = (a * left + b) * left + c + slope * (q - left)
    total = state[WEIGHT, i] + g
    q -= scaled_rate(rate, total, g) * slope
    state[TARGET, i] = min(max(q, low), high)
    state[WEIGHT, i] = total
    state[RECOMMENDED, i] += g * value
    state[CURVATURE, i] += g * a
    state[SLOPE, i] += g * b
    state[CONSTANT, i] += g * c


@kernel
def line_run(state, rate, low, high, linearised, coefficients, hint, indices, weights):
    """Play all rounds of `coefficients` (T, 3); return the last crossing as the next hint.

    `indices` and `weights` (T,) receive the left point and its weight in each round (the right
    neighbour has the rest); empty arrays record nothing.
    """
    points, targets = state[POINT], state[TARGET]
    last = points.shape[0] - 1
    record = indices.shape[0] > 0
    # Scalars stay in registers; an array might overlap `state`, so the compiler would read it
    # again after every write (more than twice the time a round).
    schedule = (rate[MODULUS], rate[ROOT], rate[SWITCH])
    for t in range(coefficients.shape[0]):
        a, b, c = coefficients[t, 0], coefficients[t, 1], coefficients[t, 2]
        hint = find_crossing(points, targets, hint)
        share = crossing_weight(points, targets, hint)
        # ends: i = −1 plays point 0 alone, i = n − 1 plays point n − 1 alone
        left = hint
        if hint < 0:
            left, share = 0, 1.0
        if record:
            indices[t] = left
            weights[t] = share
        if share > 0.0:
            line_learn(state, schedule, low, high, linearised, left, share, a, b, c)
        if share < 1.0 and left < last:
            line_learn(state, schedule, low, high, linearised, left + 1, 1.0 - share, a, b, c)
    return hint

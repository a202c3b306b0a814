"""Forecasts on a line, over the packed state of ``fullswap.kernels.loop``.

The loss of a forecast p is (p − y)², piecewise linearised between grid points, or the log loss.
For the log loss points and targets are kept as logits θ = ln(p/(1 − p)): there the same crossing
makes the excess over the recommendations equal for both outcomes, so that it serves every y.

Symbols: state (7, n) as in ``fullswap.kernels.loop``, for every loss with CURVATURE Σ g, SLOPE
−2·Σ g·y and CONSTANT Σ g·y²; kind one of the constants below.
"""

import numpy as np
from numba import njit

from fullswap.kernels.crossing import crossing_weight, find_crossing
from fullswap.kernels.loop import (
    CONSTANT,
    CURVATURE,
    POINT,
    RECOMMENDED,
    SLOPE,
    TARGET,
    WEIGHT,
    line_learn,
)

SQUARED, LINEARISED, LOG = range(3)


@njit(cache=True)
def forecast_mix(state, hint):
    """Left point and its share this round; point left + 1 has the rest."""
    i = find_crossing(state[POINT], state[TARGET], hint)
    if i < 0:
        return 0, 1.0
    return i, crossing_weight(state[POINT], state[TARGET], i)


@njit(cache=True, error_model="numpy")
def _learn_log(state, i, g, y):
    """Krichevsky–Trofimov: q = (Σ g·y + ½)/(Σ g + 1), as a logit. [KT81]."""
    theta = state[TARGET, i]
    # ln(1 + e^θ) − y·θ, without overflow
    loss = max(theta, 0.0) + np.log1p(np.exp(-abs(theta))) - y * theta
    total = state[WEIGHT, i] + g
    slope = state[SLOPE, i] - 2.0 * g * y
    state[WEIGHT, i] = total
    state[SLOPE, i] = slope
    state[RECOMMENDED, i] += g * loss
    state[CURVATURE, i] += g
    state[CONSTANT, i] += g * y * y
    ones = -0.5 * slope
    state[TARGET, i] = np.log((ones + 0.5) / (max(total - ones, 0.0) + 0.5))


@njit(cache=True)
def forecast_learn(state, kind, rate, i, g, y):
    """Feed outcome y with scale g > 0 to the learner at point i."""
    if kind == LOG:
        _learn_log(state, i, g, y)
    else:
        line_learn(state, rate, 0.0, 1.0, kind == LINEARISED, i, g, 1.0, -2.0 * y, y * y)


@njit(cache=True)
def forecast_run(
    state, kind, rate, realised, hint, outcomes, scales, draws, labels, shares, issued
):  # fmt: skip
    """Forecast and learn, event by event; return the last left point as the next hint.

    `outcomes`, `draws` (T,); `scales` (T,), or empty if all are 1. Events of scale 0 are
    forecast and not learnt. `labels`, `shares` (T, 2) and `issued` (T,) receive the forecasts;
    arrays of length 0 record nothing.
    """
    last = state.shape[1] - 1
    record = issued.shape[0] > 0
    weighted = scales.shape[0] > 0
    schedule = (rate[0], rate[1], rate[2])  # scalars stay in registers, see line_run
    for t in range(outcomes.shape[0]):
        left, share = forecast_mix(state, hint)
        hint = left
        right = min(left + 1, last)
        drawn = left if draws[t] < share else right
        if record:
            labels[t, 0] = left
            labels[t, 1] = right
            shares[t, 0] = share
            shares[t, 1] = 1.0 - share
            issued[t] = drawn
        scale = scales[t] if weighted else 1.0
        if scale <= 0.0:
            continue
        y = outcomes[t]
        if realised:
            forecast_learn(state, kind, schedule, drawn, scale, y)
        else:
            if share > 0.0:
                forecast_learn(state, kind, schedule, left, share * scale, y)
            if share < 1.0:
                forecast_learn(state, kind, schedule, right, (1.0 - share) * scale, y)
    return hint

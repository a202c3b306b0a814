"""Recalibration of one model's probability c, with means of outcomes as recommendations.

Per bin: a grid of points for each bin of c; the recommendation q of a (bin, point) is the mean of
the outcomes seen there, and c if there was none. One weight: one grid, and the recommendation at a
point is w·q + (1 − w)·c with one weight w for all.

Symbols: bank (5, B·n): rows as named below, the points of bin b in columns b·n to b·n + n − 1 ·
rate = η, 0 without a weight · totals (8,) and memo (7,) as named below.
"""

import numpy as np
from numba import njit

POINT, WEIGHT, ONES, SQUARES, LOST = range(5)
"""Rows of a bank: s · G = Σg · Σg·y · Σg·y² · Σg·(q − y)²."""
MASS, MODEL_LOSS, PLAYED_LOSS, ROUNDING, ROUNDING_MOST, MIXED_LOSS, GAPS, LOG_WEIGHT = range(8)
"""Totals: Σg · of (c − y)², (s − y)², δ_t, gap²/4, (w·q + (1 − w)·c − y)² · Σ(loss gap)² · ln s."""
LEFT, MODEL, SHARE, GAP, LEFT_MEAN, RIGHT_MEAN, MIXED = range(7)
"""Memo: column of the left point · c · share of the left point · distance to the right one ·
q of the left and of the right point · w."""


@njit(cache=True, error_model="numpy")
def _mean(bank, i, model):
    return bank[ONES, i] / bank[WEIGHT, i] if bank[WEIGHT, i] > 0.0 else model


@njit(cache=True, error_model="numpy")
def one_model_mix(bank, totals, rate, bins, model, memo):
    """Forecast one event: column of the left point and its share; the memo is filled."""
    size = bank.shape[1] // bins
    first = size * min(int(model * bins), bins - 1)
    weight = 1.0
    if rate > 0.0:  # s/(s + 1 − η) without overflow
        weight = 1.0 / (1.0 + (1.0 - rate) * np.exp(-totals[LOG_WEIGHT]))
    low, high = first, first + size - 1
    # 0 ≤ q ≤ 1 and the grid reaches from 0 to 1, so there is a crossing inside
    while high - low > 1:
        middle = (low + high) // 2
        target = weight * _mean(bank, middle, model) + (1.0 - weight) * model
        if target >= bank[POINT, middle]:
            low = middle
        else:
            high = middle
    memo[LEFT], memo[MODEL], memo[MIXED] = low, model, weight
    memo[LEFT_MEAN], memo[RIGHT_MEAN] = _mean(bank, low, model), _mean(bank, high, model)
    memo[GAP] = bank[POINT, high] - bank[POINT, low]
    above = weight * memo[LEFT_MEAN] + (1.0 - weight) * model - bank[POINT, low]
    below = bank[POINT, high] - weight * memo[RIGHT_MEAN] - (1.0 - weight) * model
    share = below / (above + below) if above + below > 0.0 else 1.0
    memo[SHARE] = min(max(share, 0.0), 1.0)
    return low, memo[SHARE]


@njit(cache=True)
def one_model_learn(bank, totals, rate, memo, g_left, g_right, y):
    """Feed an outcome with scale g_left to the left point and g_right to the right one."""
    model, weight = memo[MODEL], memo[MIXED]
    model_loss = (model - y) * (model - y)
    gap = 0.0
    for side in range(2):
        g = g_right if side else g_left
        if g > 0.0:
            i = int(memo[LEFT]) + side
            mean = memo[LEFT_MEAN + side]
            loss = (mean - y) * (mean - y)
            mixed = weight * mean + (1.0 - weight) * model
            gap += g * (model_loss - loss)
            bank[WEIGHT, i] += g
            bank[ONES, i] += g * y
            bank[SQUARES, i] += g * y * y
            bank[LOST, i] += g * loss
            totals[PLAYED_LOSS] += g * (bank[POINT, i] - y) * (bank[POINT, i] - y)
            totals[MIXED_LOSS] += g * (mixed - y) * (mixed - y)
    g = g_left + g_right
    most = g * memo[GAP] * memo[GAP]
    totals[MASS] += g
    totals[MODEL_LOSS] += g * model_loss
    totals[ROUNDING] += most * memo[SHARE] * (1.0 - memo[SHARE])
    totals[ROUNDING_MOST] += 0.25 * most
    totals[GAPS] += gap * gap
    totals[LOG_WEIGHT] += np.log1p(rate * gap)


@njit(cache=True)
def one_model_run(
    bank, totals, rate, bins, memo, realised, models, outcomes, scales, draws, labels, shares,
    issued,
):  # fmt: skip
    """Forecast and learn, event by event; arguments as in ``fullswap.kernels.experts``."""
    record = issued.shape[0] > 0
    weighted = scales.shape[0] > 0
    for t in range(outcomes.shape[0]):
        left, share = one_model_mix(bank, totals, rate, bins, models[t, 0], memo)
        drawn_left = draws[t] < share
        if record:
            labels[t, 0] = left
            labels[t, 1] = left + 1
            shares[t, 0] = share
            shares[t, 1] = 1.0 - share
            issued[t] = left if drawn_left else left + 1
        scale = scales[t] if weighted else 1.0
        if scale <= 0.0:
            continue
        if realised:
            g_left = scale if drawn_left else 0.0
            g_right = 0.0 if drawn_left else scale
        else:
            g_left, g_right = share * scale, (1.0 - share) * scale
        one_model_learn(bank, totals, rate, memo, g_left, g_right, outcomes[t])

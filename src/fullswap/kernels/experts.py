"""Recalibration of given probabilities by experts, two levels of them, on a line of grid points.

First level, one for all points: every model's probability p, two logistic recalibrations of it
(one remembers everything, one forgets), and p shifted by the mean error of its bin. Vovk's
aggregating rule merges them into one advice A. Second level, at each grid point s: A against the
mean μ_s of the outcomes seen there, merged by the same rule into the recommendation q_s.
A crossing of s ↦ q_s is what is forecast.

For the squared loss and outcomes in [0, 1] the rule with weights w reads [HKW98]

    Z_y = Σ_m w_m·exp(−2(m − y)²),   q = ½ + ¼·ln(Z_1/Z_0) cut to [0, 1],

and then (q − y)² ≤ −½·ln Z_y for every y in [0, 1].

Symbols: J models · I = J inputs, or J + 1 with the pool of several models (mean logit) ·
M = 4·I experts of the first level, four an input · bank (6, n), mix (4, M), platt (I, 10),
cells (I, C, 2), totals (6,): rows and columns as named below · memo (8 + 2·I + M,): all that
was known when a forecast was made, layout as named below. NaN marks an absent model.
"""

import numpy as np
from numba import njit

from fullswap.kernels.logistic import KEPT, learn_platt, sigmoid

POINT, WEIGHT, ONES, SQUARES, LOST, ODDS = range(6)
"""Rows of a bank: s · G = Σg · Σg·y · Σg·y² · Σg·(q_s − y)² · ln of weight of μ_s over A's."""
SHARE, PRIOR, EXPERT_LOSS, AWAKE_LOSS = range(4)
"""Rows of a mix: weight · prior · Σg·(m − y)² · Σg·(A − y)² while the expert was awake."""
UPDATES, MASS, ADVICE_LOSS, PLAYED_LOSS, ROUNDING, ROUNDING_MOST = range(6)
"""Totals: updates · Σg · Σg·(A − y)² · Σg·(s − y)² of what was learnt · Σg·δ_t · Σg·gap²/4."""
LEFT, GAP, LEFT_SHARE, ADVICE, LEFT_TARGET, LEFT_MEAN, RIGHT_TARGET, RIGHT_MEAN = range(8)
"""Head of a memo: value of the left point, distance to the right one, share of the left one ·
A · q and μ of the left and of the right point; then I inputs, I logits, M expert opinions."""
HEAD = 8

KINDS = 4
"""Experts an input: itself, recalibrated, recalibrated with forgetting, shifted by its bin."""
CELL_PRIOR = 20.0
"""Events that a bin's mean error must outweigh."""
POINT_PRIOR = 2.0
"""Events with mean s that a grid point's mean starts from; near the best for the bound."""
LOGIT_EDGE = 1e-4
"""Logits are taken of probabilities cut to [edge, 1 − edge]."""


@njit(cache=True, error_model="numpy")
def _advise(mix, platt, cells, inputs, memo):
    """Fill the memo's inputs, logits, opinions and aggregate advice A for one event.

    `inputs` (J,): probabilities, NaN where a model is absent (not all).
    """
    models = inputs.shape[0]
    count = platt.shape[0]
    total, present = 0.0, 0
    for j in range(models):
        p = inputs[j]
        memo[HEAD + j] = p
        if p == p:
            clipped = min(max(p, LOGIT_EDGE), 1.0 - LOGIT_EDGE)
            logit = np.log(clipped / (1.0 - clipped))
            memo[HEAD + count + j] = logit
            total += logit
            present += 1
        else:
            memo[HEAD + count + j] = 0.0
    if count > models:
        memo[HEAD + models] = sigmoid(total / present)
        memo[HEAD + count + models] = total / present

    width = cells.shape[1]
    first = HEAD + 2 * count
    zero, one = 0.0, 0.0
    for j in range(count):
        p, logit = memo[HEAD + j], memo[HEAD + count + j]
        place = first + KINDS * j
        if p != p:
            for k in range(KINDS):
                memo[place + k] = np.nan
            continue
        cell = min(int(p * width), width - 1)
        shifted = p + cells[j, cell, 1] / (cells[j, cell, 0] + CELL_PRIOR)
        memo[place] = p
        memo[place + 1] = sigmoid(platt[j, 0] + platt[j, 1] * logit)
        memo[place + 2] = sigmoid(platt[j, 5] + platt[j, 6] * logit)
        memo[place + 3] = min(max(shifted, 0.0), 1.0)
        for k in range(KINDS):
            opinion = memo[place + k]
            weight = mix[SHARE, KINDS * j + k] * np.exp(-2.0 * opinion * opinion)
            zero += weight
            one += weight * np.exp(4.0 * opinion - 2.0)
    memo[ADVICE] = min(max(0.5 + 0.25 * np.log(one / zero), 0.0), 1.0)


@njit(cache=True, error_model="numpy")
def recommend(bank, i, advice):
    """q and μ of point i: the aggregating rule for A and μ with the point's odds."""
    mean = (bank[ONES, i] + POINT_PRIOR * bank[POINT, i]) / (bank[WEIGHT, i] + POINT_PRIOR)
    odds = bank[ODDS, i]
    # Z_1/Z_0 relative to the expert with the larger weight: no overflow, however long the run
    if odds <= 0.0:
        anchor, other, ratio = advice, mean, np.exp(odds)
    else:
        anchor, other, ratio = mean, advice, np.exp(-odds)
    gain = 2.0 * (anchor * anchor - other * other)
    zero = ratio * np.exp(gain)
    one = zero * np.exp(4.0 * (other - anchor))
    target = anchor + 0.25 * np.log((1.0 + one) / (1.0 + zero))
    return min(max(target, 0.0), 1.0), mean


@njit(cache=True, error_model="numpy")
def _crossing(bank, memo):
    """Left point i and its share; i + 1 has the rest. All of it goes to the memo.

    Gallops from the cell of A, so that usually two points are asked. As 0 ≤ q ≤ 1 and the grid
    reaches from 0 to 1, there is always a crossing inside.
    """
    last = bank.shape[1] - 1
    advice = memo[ADVICE]
    low = min(int(advice * last), last - 1)
    high = low + 1
    step = 1
    low_target, low_mean = recommend(bank, low, advice)
    if low_target >= bank[POINT, low]:
        high_target, high_mean = recommend(bank, high, advice)
        while high_target > bank[POINT, high]:
            low, low_target, low_mean = high, high_target, high_mean
            step *= 2
            high = min(high + step, last)
            high_target, high_mean = recommend(bank, high, advice)
    else:
        high, high_target, high_mean = low, low_target, low_mean
        low = high - 1
        low_target, low_mean = recommend(bank, low, advice)
        while low_target < bank[POINT, low]:
            high, high_target, high_mean = low, low_target, low_mean
            step *= 2
            low = max(low - step, 0)
            low_target, low_mean = recommend(bank, low, advice)
    while high - low > 1:
        middle = (low + high) // 2
        target, mean = recommend(bank, middle, advice)
        if target >= bank[POINT, middle]:
            low, low_target, low_mean = middle, target, mean
        else:
            high, high_target, high_mean = middle, target, mean
    left_excess = low_target - bank[POINT, low]
    right_excess = bank[POINT, high] - high_target
    excess = left_excess + right_excess
    share = right_excess / excess if excess > 0.0 else 1.0
    memo[LEFT] = bank[POINT, low]
    memo[GAP] = bank[POINT, high] - bank[POINT, low]
    memo[LEFT_SHARE] = share
    memo[LEFT_TARGET], memo[LEFT_MEAN] = low_target, low_mean
    memo[RIGHT_TARGET], memo[RIGHT_MEAN] = high_target, high_mean
    return low, share


@njit(cache=True)
def _learn_point(bank, totals, i, g, y, target, mean, advice):
    """Feed the outcome to point i; what it recommended is charged as of the forecast."""
    bank[LOST, i] += g * (target - y) * (target - y)
    bank[ODDS, i] += 2.0 * g * ((advice - y) * (advice - y) - (mean - y) * (mean - y))
    bank[WEIGHT, i] += g
    bank[ONES, i] += g * y
    bank[SQUARES, i] += g * y * y
    totals[PLAYED_LOSS] += g * (bank[POINT, i] - y) * (bank[POINT, i] - y)


@njit(cache=True, error_model="numpy")
def _learn_shared(mix, platt, cells, totals, memo, g, y):
    """Feed an outcome of scale g to everything that the points share.

    Weights w ∝ w·exp(−2g·loss), then a share 1/(updates + 1) of all weight is dealt out anew by
    the prior: so the best expert may change, at a price of ½·ln(updates). An absent expert
    counts as having said A, so its weight among the others stays [HKW98].
    """
    count, experts = platt.shape[0], mix.shape[1]
    width = cells.shape[1]
    first = HEAD + 2 * count
    advice_loss = (memo[ADVICE] - y) * (memo[ADVICE] - y)
    whole = 0.0
    for m in range(experts):
        opinion = memo[first + m]
        loss = advice_loss
        if opinion == opinion:
            loss = (opinion - y) * (opinion - y)
            mix[EXPERT_LOSS, m] += g * loss
            mix[AWAKE_LOSS, m] += g * advice_loss
        weight = mix[SHARE, m] * np.exp(-2.0 * g * loss)
        mix[SHARE, m] = weight
        whole += weight
    totals[UPDATES] += 1.0
    dealt = 1.0 / (totals[UPDATES] + 1.0)
    kept = (1.0 - dealt) / whole
    for m in range(experts):
        mix[SHARE, m] = kept * mix[SHARE, m] + dealt * mix[PRIOR, m]
    totals[MASS] += g
    totals[ADVICE_LOSS] += g * advice_loss
    for j in range(count):
        p, logit = memo[HEAD + j], memo[HEAD + count + j]
        if p == p:
            learn_platt(platt[j], 0, 1.0, logit, g, y)
            learn_platt(platt[j], 5, KEPT, logit, g, y)
            cell = min(int(p * width), width - 1)
            cells[j, cell, 0] += g
            cells[j, cell, 1] += g * (y - p)


@njit(cache=True)
def experts_learn(bank, mix, platt, cells, totals, memo, left, g_left, right, g_right, y):
    """Feed an outcome with scale g_left to the left point and g_right to the right one."""
    advice = memo[ADVICE]
    if g_left > 0.0:
        _learn_point(bank, totals, left, g_left, y, memo[LEFT_TARGET], memo[LEFT_MEAN], advice)
    if g_right > 0.0:
        _learn_point(bank, totals, right, g_right, y, memo[RIGHT_TARGET], memo[RIGHT_MEAN], advice)
    g = g_left + g_right
    most = g * memo[GAP] * memo[GAP]
    totals[ROUNDING] += most * memo[LEFT_SHARE] * (1.0 - memo[LEFT_SHARE])
    totals[ROUNDING_MOST] += 0.25 * most
    _learn_shared(mix, platt, cells, totals, memo, g, y)


@njit(cache=True)
def experts_mix(bank, mix, platt, cells, inputs, memo):
    """Forecast one event: left point and its share; the memo is filled."""
    _advise(mix, platt, cells, inputs, memo)
    return _crossing(bank, memo)


@njit(cache=True)
def experts_run(
    bank, mix, platt, cells, totals, memo, realised, inputs, outcomes, scales, draws, labels,
    shares, issued,
):  # fmt: skip
    """Forecast and learn, event by event.

    `inputs` (T, J); `outcomes`, `draws` (T,); `scales` (T,), or empty if all are 1. Events of
    scale 0 are forecast and not learnt. `labels`, `shares` (T, 2) and `issued` (T,) receive the
    forecasts; arrays of length 0 record nothing. `memo` is scratch.
    """
    record = issued.shape[0] > 0
    weighted = scales.shape[0] > 0
    for t in range(outcomes.shape[0]):
        left, share = experts_mix(bank, mix, platt, cells, inputs[t], memo)
        right = left + 1
        drawn_left = draws[t] < share
        if record:
            labels[t, 0] = left
            labels[t, 1] = right
            shares[t, 0] = share
            shares[t, 1] = 1.0 - share
            issued[t] = left if drawn_left else right
        scale = scales[t] if weighted else 1.0
        if scale <= 0.0:
            continue
        if realised:
            g_left = scale if drawn_left else 0.0
            g_right = 0.0 if drawn_left else scale
        else:
            g_left, g_right = share * scale, (1.0 - share) * scale
        experts_learn(
            bank, mix, platt, cells, totals, memo, left, g_left, right, g_right, outcomes[t]
        )

"""One event of recalibration by experts, two levels of them, on a line of grid points.

First level, one for all points: every model's probability p, logistic recalibrations of it
(intercept and slope from a tight and from a wide prior, and with forgetting; the intercept alone,
with and without forgetting), and p shifted by the mean error of its bin. Vovk's aggregating rule
merges them into one advice A. Second level, at each grid point s: A against the
mean μ_s of the outcomes seen there, merged by the same rule into the recommendation q_s.
A crossing of s ↦ q_s is what is forecast.

For the squared loss and outcomes in [0, 1] the rule with weights w reads [HKW98]

    Z_y = Σ_m w_m·exp(−2(m − y)²),   q = ½ + ¼·ln(Z_1/Z_0) cut to [0, 1],

and then (q − y)² ≤ −½·ln Z_y for every y in [0, 1].

Where b other events wait when an outcome is learnt (CROWD), it counts for less: both levels of the
rule take it with the scale g/(1 + b), recalibrations with g/√(1 + b).

Where a search asks what a point recommends, the type of its source says how: here by `Own`, with
groups by what ``fullswap.kernels.experts_groups`` adds to a point.

Symbols: J models · I = J inputs, or J + 1 with the pool of several models (mean logit) · M = 7·I
experts of the first level, seven an input · prior (M,) · imagined: outcomes of value s that μ_s
starts from · memo (5 + 2·I + M,): all that was known at the forecast, layout as named below. NaN
marks an absent model. Columns of a row before its points: totals (2,), mix (3, M), beliefs (I, 19),
bins (I, C, 2), as named below; columns of a point: WEIGHT, ONES, ODDS.
"""

from typing import NamedTuple

import numpy as np

from fullswap.kernels import events
from fullswap.kernels.columns import CELLS, CROWD, HEAD, LOST, MASS, NEXT_ID, ROUNDING
from fullswap.kernels.compiling import kernel
from fullswap.kernels.logistic import (
    KEPT,
    SHIFT_KEPT,
    TIGHT,
    WIDE,
    learn_platt,
    learn_shift,
    sigmoid,
)
from fullswap.kernels.philox import uniform

WEIGHT, ONES, ODDS = range(3)
"""Columns of a point: G = Σg · Σg·y · ln of weight of μ_s over A's."""
COLUMNS = 3
ADVICE_LOSS, PLAYED_LOSS = range(2)
"""Totals: Σg·(A − y)² · Σg·(s − y)² of the points that learnt."""
TOTALS = 2
SHARE, EXPERT_LOSS, AWAKE_LOSS = range(3)
"""Rows of a mix: weight · Σg·(m − y)² · Σg·(A − y)² while the expert was awake."""
ADVICE, LEFT_TARGET, LEFT_MEAN, RIGHT_TARGET, RIGHT_MEAN = range(5)
"""Head of a memo: A · q and μ of the left and of the right point; then I inputs, I logits, M
opinions."""
MEMO_HEAD = 5
KINDS = 7
"""Experts an input: itself, recalibrated from a tight prior, from a wide one, with forgetting, its
intercept alone, the same with forgetting, shifted by its bin."""
PLATT, SHIFT = 5, 2
"""Numbers of a recalibration: intercept, slope and what is known of them; or an intercept."""
SHIFTS = 3 * PLATT
BELIEFS = SHIFTS + 2 * SHIFT
"""Of an input: three recalibrations, then two of the intercept alone."""
FIRST = np.int64(0)
"""Where beliefs begin; typed, because a function is compiled anew for every literal."""
BINS = 20
"""Bins of a model's probability whose mean error one expert corrects."""
BIN_PRIOR = 10.0
"""Events that a bin's mean error must outweigh."""
LOGIT_EDGE = 1e-4
"""Logits are taken of probabilities cut to [edge, 1 − edge]."""


@kernel(forceinline=True)
def experts_parts(row, inputs):
    """Totals, mix, beliefs and bins as views of a row."""
    count = KINDS * inputs
    mix = HEAD + TOTALS
    beliefs = mix + 3 * count
    bins = beliefs + BELIEFS * inputs
    end = bins + 2 * BINS * inputs
    return (
        row[HEAD:mix],
        row[mix:beliefs].reshape((3, count)),
        row[beliefs:bins].reshape((inputs, BELIEFS)),
        row[bins:end].reshape((inputs, BINS, 2)),
    )


@kernel(error_model="numpy")
def opine(mix, beliefs, bins, memo):
    """Fill the memo's logits and opinions for the inputs that it holds: Z_0 and Z_1 of the rule.

    The first J inputs are the models' probabilities, NaN where one is absent (not all).
    """
    count = beliefs.shape[0]
    models = count - 1 if count > 1 else 1
    total, present = 0.0, 0
    for j in range(models):
        p = memo[MEMO_HEAD + j]
        if p == p:
            clipped = min(max(p, LOGIT_EDGE), 1.0 - LOGIT_EDGE)
            logit = np.log(clipped / (1.0 - clipped))
            memo[MEMO_HEAD + count + j] = logit
            total += logit
            present += 1
        else:
            memo[MEMO_HEAD + count + j] = 0.0
    if count > models:
        memo[MEMO_HEAD + models] = sigmoid(total / present)
        memo[MEMO_HEAD + count + models] = total / present

    first = MEMO_HEAD + 2 * count
    zero, one = 0.0, 0.0
    for j in range(count):
        p, logit = memo[MEMO_HEAD + j], memo[MEMO_HEAD + count + j]
        place = first + KINDS * j
        if p != p:
            for k in range(KINDS):
                memo[place + k] = np.nan
            continue
        cell = min(int(p * BINS), BINS - 1)
        shifted = p + bins[j, cell, 1] / (bins[j, cell, 0] + BIN_PRIOR)
        memo[place] = p
        for k in range(3):
            memo[place + 1 + k] = sigmoid(beliefs[j, PLATT * k] + beliefs[j, PLATT * k + 1] * logit)
        for k in range(2):
            memo[place + 4 + k] = sigmoid(beliefs[j, SHIFTS + SHIFT * k] + logit)
        memo[place + 6] = min(max(shifted, 0.0), 1.0)
        for k in range(KINDS):
            opinion = memo[place + k]
            weight = mix[SHARE, KINDS * j + k] * np.exp(-2.0 * opinion * opinion)
            zero += weight
            one += weight * np.exp(4.0 * opinion - 2.0)
    return zero, one


@kernel(error_model="numpy", forceinline=True)
def merged(zero, one):
    """What the rule recommends, from Z_0 and Z_1."""
    return min(max(0.5 + 0.25 * np.log(one / zero), 0.0), 1.0)


@kernel(error_model="numpy")
def _advise(mix, beliefs, bins, memo):
    """Fill the memo's logits, opinions and aggregate advice A for the inputs that it holds."""
    zero, one = opine(mix, beliefs, bins, memo)
    memo[ADVICE] = merged(zero, one)


@kernel(error_model="numpy", forceinline=True)
def recommend(points, row, base, imagined, i, advice):
    """q and μ of point i: the aggregating rule for A and μ with the point's odds."""
    place = base + COLUMNS * i
    mean = (row[place + ONES] + imagined * points[i]) / (row[place + WEIGHT] + imagined)
    odds = row[place + ODDS]
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


def recommended(source, points, row, base, i, memo):
    """q and μ of point i, as the type of the source says."""
    raise NotImplementedError


class Own(NamedTuple):
    """A point recommends by the advice and its own mean."""

    imagined: float


@events.implements(recommended, Own)
def _recommended(source, points, row, base, i, memo):
    return recommend(points, row, base, source.imagined, i, memo[ADVICE])


@kernel(error_model="numpy")
def crossing(source, points, row, base, memo):
    """Neighbours and the share of the left one; what they recommend goes to the memo.

    Gallops from the cell of A, so that usually two points are asked. Above all points the last one
    is played alone, below them the first.
    """
    last = points.shape[0] - 1
    advice = memo[ADVICE]
    low, high = 0, last
    while high - low > 1:
        middle = (low + high) // 2
        if points[middle] <= advice:
            low = middle
        else:
            high = middle
    step = 1
    low_target, low_mean = recommended(source, points, row, base, low, memo)
    if low_target >= points[low]:
        high = low + 1
        high_target, high_mean = recommended(source, points, row, base, high, memo)
        while high_target > points[high]:
            low, low_target, low_mean = high, high_target, high_mean
            if high == last:
                break
            step *= 2
            high = min(high + step, last)
            high_target, high_mean = recommended(source, points, row, base, high, memo)
    else:
        high, high_target, high_mean = low, low_target, low_mean
        while low_target < points[low]:
            high, high_target, high_mean = low, low_target, low_mean
            if low == 0:
                break
            low = max(low - step, 0)
            step *= 2
            low_target, low_mean = recommended(source, points, row, base, low, memo)
    while high - low > 1:
        middle = (low + high) // 2
        target, mean = recommended(source, points, row, base, middle, memo)
        if target >= points[middle]:
            low, low_target, low_mean = middle, target, mean
        else:
            high, high_target, high_mean = middle, target, mean
    left_excess = low_target - points[low]
    right_excess = points[high] - high_target
    excess = left_excess + right_excess
    share = right_excess / excess if low < high and excess > 0.0 else 1.0
    memo[LEFT_TARGET], memo[LEFT_MEAN] = low_target, low_mean
    memo[RIGHT_TARGET], memo[RIGHT_MEAN] = high_target, high_mean
    return low, high, share


@kernel(error_model="numpy")
def experts_forecast(points, row, base, imagined, inputs, memo):
    """The two points and the share of the left one; the memo is filled, the row stays."""
    _, mix, beliefs, bins = experts_parts(row, inputs)
    _advise(mix, beliefs, bins, memo)
    return crossing(Own(imagined), points, row, base, memo)


@kernel(forceinline=True)
def _learn_point(points, row, base, totals, i, g, rate, y, target, mean, advice):
    """Feed the outcome to point i; what it recommended is charged as of the forecast."""
    place = base + COLUMNS * i
    row[LOST] += g * (target - y) * (target - y)
    odds = 2.0 * g * rate * ((advice - y) * (advice - y) - (mean - y) * (mean - y))
    row[place + ODDS] += odds
    row[place + WEIGHT] += g
    row[place + ONES] += g * y
    totals[PLAYED_LOSS] += g * (points[i] - y) * (points[i] - y)


@kernel(error_model="numpy")
def learn_mix(totals, mix, prior, opinions, advice, g, rate, mass, y):
    """Feed an outcome of scale g to the weights of the experts.

    Weights w ∝ w·exp(−2·rate·g·loss), then a share rate·g/(mass + 1) of all weight is dealt out
    anew by the prior: so the best expert may change, at a price of ½·ln(1 + mass). An absent
    expert counts as having said A, so its weight among the others stays [HKW98].
    """
    advice_loss = (advice - y) * (advice - y)
    totals[ADVICE_LOSS] += g * advice_loss
    scale = rate * g
    whole = 0.0
    for m in range(prior.shape[0]):
        loss = advice_loss
        if opinions[m] == opinions[m]:
            loss = (opinions[m] - y) * (opinions[m] - y)
            mix[EXPERT_LOSS, m] += g * loss
            mix[AWAKE_LOSS, m] += g * advice_loss
        weight = mix[SHARE, m] * np.exp(-2.0 * scale * loss)
        mix[SHARE, m] = weight
        whole += weight
    dealt = scale / (mass + 1.0)
    kept = (1.0 - dealt) / whole
    for m in range(prior.shape[0]):
        mix[SHARE, m] = kept * mix[SHARE, m] + dealt * prior[m]


@kernel(error_model="numpy")
def learn_beliefs(beliefs, bins, memo, g, y):
    """Feed an outcome of scale g to what recalibrates every input that was there."""
    count = beliefs.shape[0]
    kept = KEPT if g == 1.0 else KEPT**g
    shift_kept = SHIFT_KEPT if g == 1.0 else SHIFT_KEPT**g
    for j in range(count):
        p, logit, state = memo[MEMO_HEAD + j], memo[MEMO_HEAD + count + j], beliefs[j]
        if p == p:
            learn_platt(state, FIRST, 1.0, 1.0 / TIGHT, logit, g, y)
            learn_platt(state, FIRST + PLATT, 1.0, 1.0 / WIDE, logit, g, y)
            learn_platt(state, FIRST + 2 * PLATT, kept, 1.0 / WIDE, logit, g, y)
            learn_shift(state, FIRST + SHIFTS, 1.0, 1.0 / TIGHT, logit, g, y)
            learn_shift(state, FIRST + SHIFTS + SHIFT, shift_kept, 1.0 / TIGHT, logit, g, y)
            cell = min(int(p * BINS), BINS - 1)
            bins[j, cell, 0] += g
            bins[j, cell, 1] += g * (y - p)


@kernel(error_model="numpy", forceinline=True)
def rounded(points, left, right, share, memo):
    """δ_t: how much more than their recommendations the points can lose, whatever the outcome."""
    s, target = points[left], memo[LEFT_TARGET]
    if left == right:
        # an end alone, whose recommendation lies outside: the worst outcome is on that side
        if target < s:
            return s * s - target * target
        return (1.0 - s) * (1.0 - s) - (1.0 - target) * (1.0 - target)
    gap = points[right] - s
    x = points[right] - share * gap
    # Jensen's gap of the mixture, less what the recommendations gain by disagreeing
    spread = share * (target - x) ** 2 + (1.0 - share) * (memo[RIGHT_TARGET] - x) ** 2
    return share * (1.0 - share) * gap * gap - spread


@kernel(forceinline=True)
def edge_of(points, left, right):
    """Half of the cell between two neighbours, or what is beyond an end that is played alone."""
    if left == right:
        return min(points[left], 1.0 - points[left])
    return 0.5 * (points[right] - points[left])


@kernel(error_model="numpy")
def experts_learn(
    points, row, base, prior, delta, left, right, share, memo, drawn, g, y, number
):  # fmt: skip
    """Feed the outcome of one forecast to the point drawn: ``drawn`` is 0 for the left, else 1."""
    inputs = prior.shape[0] // KINDS
    totals, mix, beliefs, bins = experts_parts(row, inputs)
    if g > 0.0:
        advice = memo[ADVICE]
        rate = 1.0 / (1.0 + row[CROWD])
        if drawn:
            _learn_point(points, row, base, totals, right, g, rate, y, memo[RIGHT_TARGET],
                         memo[RIGHT_MEAN], advice)  # fmt: skip
        else:
            _learn_point(points, row, base, totals, left, g, rate, y, memo[LEFT_TARGET],
                         memo[LEFT_MEAN], advice)  # fmt: skip
        row[ROUNDING] += g * rounded(points, left, right, share, memo)
        edge = edge_of(points, left, right)
        row[CELLS] += g * edge * edge
        opinions = memo[MEMO_HEAD + 2 * inputs :]
        learn_mix(totals, mix, prior, opinions, advice, g, rate, row[MASS] + g, y)
        learn_beliefs(beliefs, bins, memo, g * np.sqrt(rate), y)
    events.count_event(row, g, y * y, delta, number)


ExpertsSpec = events.spec_type("ExpertsSpec", __name__, "realised", "imagined", "prior", "memo")


@events.implements(events.forecast, ExpertsSpec)
def _forecast(spec, points, row, level, contexts, t):
    for j in range(contexts.shape[1]):
        spec.memo[MEMO_HEAD + j] = contexts[t, j]
    inputs = spec.prior.shape[0] // KINDS
    return experts_forecast(points, row, spec.base, spec.imagined, inputs, spec.memo)


@events.implements(events.learn, ExpertsSpec)
def _learn(spec, points, row, level, ticket, drawn, outcomes, t, g, number):
    experts_learn(
        points, row, spec.base, spec.prior, spec.delta[level], ticket[0], ticket[1], ticket[2],
        spec.memo, drawn, g, outcomes[t], number,
    )  # fmt: skip


# --- single events from Python: one array costs less than several numbers ------------------------

BASE, IMAGINED, INPUTS, DELTA, END, PRIOR = range(6)
"""Where things are in a frame; the prior (M,) is followed by the points."""


@kernel(error_model="numpy")
def experts_predict(frame, row, source, memo, count):
    """Id, 0 or 1 for the point drawn, the points, share of the left; ``count`` ids are given."""
    number, inputs = int(row[NEXT_ID]), int(frame[INPUTS])
    points = frame[PRIOR + KINDS * inputs :]
    left, right, share = experts_forecast(
        points, row, int(frame[BASE]), frame[IMAGINED], inputs, memo
    )
    row[NEXT_ID] = number + count
    drawn = 0 if uniform(source, number) < share else 1
    return number, drawn, left, right, share


@kernel(error_model="numpy")
def experts_update(frame, row, number, drawn, left, right, share, memo, g, y):
    """``experts_learn``; whether the grid is now due to be refined."""
    count = KINDS * int(frame[INPUTS])
    experts_learn(
        frame[PRIOR + count :], row, int(frame[BASE]), frame[PRIOR : PRIOR + count],
        frame[DELTA], left, right, share, memo, drawn, g, y, number,
    )  # fmt: skip
    return row[MASS] >= frame[END]

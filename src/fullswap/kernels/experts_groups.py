"""One event of recalibration by experts, calibrated in every group to which the event belongs.

The two levels of ``fullswap.kernels.experts``, each with more experts. First level: logistic
recalibrations of every input in which a group has a shift and a slope of its own,

    logit q = a + b·x + Σ_{j awake} (a_j + b_j·x),

shrunk to those of everybody by a tight and by a wide prior, with forgetting, and with fast
forgetting of the groups' shifts; the belief is normal with a block (a, b) for everybody and one for
each group, and a step keeps what the exact posterior says of each block alone. They are merged into
the advice of everybody. As a model that is right on the whole may be wrong in a group, each group
weighs that advice against the first two of these recalibrations anew, and the advice A of the event
is what its groups make of it, in equal shares. Second level, at each grid point s: A and the mean
μ_s of everybody are always awake, the mean μ_sj of group j in its own events. With log weights w

    q_s = rule with weights v ∝ exp(w) over the awake,   w_e ← w_e − g·(2(m_e − y)² + ln Z_y),
    Z_y = Σ_awake v_m·exp(−2(m − y)²),

so that the total weight of a point stays the same where g = 1, and never grows. Weights and means
are those of the forecast, however late the outcome: that is what several forecasts of one event,
perhaps in different groups, need (``fullswap.theorems.groups``).

Symbols as in ``fullswap.kernels.experts``, and: G room for groups · H = 4 recalibrations in groups
an input · M = (7 + H)·I experts of the first level · memo (5 + 2·I + M + 2 + 5·(2 + n),) for an
event of n groups: behind the opinions the advice of everybody and n, then a record each for A,
everybody and the groups, as named in ``group_advice``. Columns of a row before its points: totals
(2,), mix (3, M), beliefs (I, 19), bins (I, C, 2), blocks (I, H, 1 + G, 5), sums (G, 8) as named
there; columns of a point: WEIGHT, ONES, LOG of everybody, ADVICE_LOG, then WEIGHT, ONES, LOG of
each group.
"""

from typing import NamedTuple

import numpy as np

from fullswap.kernels import events
from fullswap.kernels.columns import CELLS, CROWD, HEAD, LOST, MASS, NEXT_ID, ROUNDING
from fullswap.kernels.compiling import kernel
from fullswap.kernels.experts import (
    ADVICE,
    BELIEFS,
    BINS,
    KINDS,
    LEFT_TARGET,
    MEMO_HEAD,
    PLAYED_LOSS,
    RIGHT_TARGET,
    TOTALS,
    crossing,
    edge_of,
    learn_beliefs,
    learn_mix,
    merged,
    opine,
    recommended,
    rounded,
)
from fullswap.kernels.group_advice import (
    ALWAYS,
    BLOCK,
    G_CELLS,
    G_LOST,
    G_MASS,
    G_ROUNDING_MOST,
    G_ROUNDS,
    G_SQUARES,
    HIERARCHIES,
    INDEX,
    LEFT_LOG,
    LEFT_MEAN,
    RECORD,
    SUMS,
    advise_groups,
    learn_blocks,
    learn_trust,
    opine_in_groups,
)
from fullswap.kernels.philox import uniform

WEIGHT, ONES, LOG, ADVICE_LOG = range(4)
"""Columns of a point: G = Σg · Σg·y · ln of weight, of everybody; ln of the advice's weight."""
OF_GROUP = 3
"""Columns of a group at a point, behind those four: WEIGHT, ONES, LOG."""


@kernel(forceinline=True)
def column_of(record):
    """Where the columns of a record's expert begin, among those of a point."""
    return 0 if record < 0 else ADVICE_LOG + 1 + OF_GROUP * record


@kernel(forceinline=True)
def groups_parts(row, inputs, groups):
    """Totals, mix, beliefs, bins, blocks and sums as views of a row."""
    count = (KINDS + HIERARCHIES) * inputs
    mix = HEAD + TOTALS
    beliefs = mix + 3 * count
    bins = beliefs + BELIEFS * inputs
    blocks = bins + 2 * BINS * inputs
    sums = blocks + inputs * HIERARCHIES * (1 + groups) * BLOCK
    end = sums + SUMS * groups
    return (
        row[HEAD:mix],
        row[mix:beliefs].reshape((3, count)),
        row[beliefs:bins].reshape((inputs, BELIEFS)),
        row[bins:blocks].reshape((inputs, BINS, 2)),
        row[blocks:sums].reshape((inputs, HIERARCHIES, 1 + groups, BLOCK)),
        row[sums:end].reshape((groups, SUMS)),
    )


@kernel(forceinline=True)
def memo_length(memo, experts):
    """How much of a memo is in use: records of as many groups as the event has."""
    first = MEMO_HEAD + 2 * (experts // (KINDS + HIERARCHIES)) + experts + 2
    return first + RECORD * (ALWAYS + int(memo[first - 1]))


# --- what a point recommends --------------------------------------------------------------------


class Sleepers(NamedTuple):
    """A point recommends by the advice, everybody's mean and those of the groups awake."""

    imagined: float
    first: int
    """Where records begin in the memo."""
    awake: int
    """Records but that of the advice."""


@events.implements(recommended, Sleepers)
def _recommended(source, points, row, base, i, memo):
    return _recommend(
        points, row, base, source.imagined, i, memo, source.first, source.awake
    )  # fmt: skip


@kernel(error_model="numpy")
def _recommend(points, row, base, imagined, i, memo, first, awake):
    """q and everybody's mean at point i."""
    place = _place_of(points, row, base, i)
    advice, start = memo[ADVICE], imagined * points[i]
    # relative to the largest weight: no overflow, however long the run
    top = row[place + ADVICE_LOG]
    for k in range(awake):
        top = max(top, row[place + column_of(int(memo[first + RECORD * (k + 1)])) + LOG])
    zero = np.exp(row[place + ADVICE_LOG] - top - 2.0 * advice * advice)
    one = zero * np.exp(4.0 * advice - 2.0)
    everybody = 0.0
    for k in range(awake):
        own = place + column_of(int(memo[first + RECORD * (k + 1)]))
        mean = (row[own + ONES] + start) / (row[own + WEIGHT] + imagined)
        if k == 0:
            everybody = mean
        weight = np.exp(row[own + LOG] - top - 2.0 * mean * mean)
        zero += weight
        one += weight * np.exp(4.0 * mean - 2.0)
    return merged(zero, one), everybody


@kernel(forceinline=True)
def _place_of(points, row, base, i):
    """Where the columns of a point begin."""
    return base + (row.shape[0] - base) // points.shape[0] * i


@kernel(error_model="numpy")
def _note_point(points, row, base, imagined, i, memo, first, awake, right):
    """Write means and weights at a point to the records of the memo."""
    place = _place_of(points, row, base, i)
    memo[first + LEFT_MEAN + right] = memo[ADVICE]
    memo[first + LEFT_LOG + right] = row[place + ADVICE_LOG]
    for k in range(awake):
        record = first + RECORD * (k + 1)
        own = place + column_of(int(memo[record]))
        mean = (row[own + ONES] + imagined * points[i]) / (row[own + WEIGHT] + imagined)
        memo[record + LEFT_MEAN + right] = mean
        memo[record + LEFT_LOG + right] = row[own + LOG]


# --- one event ----------------------------------------------------------------------------------


@kernel(forceinline=True)
def hear(context, models, inputs, memo):
    """Take what comes with an event to the memo: J probabilities, n, n groups."""
    first = MEMO_HEAD + (2 + KINDS + HIERARCHIES) * inputs + 2
    for j in range(models):
        memo[MEMO_HEAD + j] = context[j]
    if models == 0:
        memo[MEMO_HEAD] = 0.5
    count = int(context[models])
    memo[first - 1] = count
    memo[first + INDEX] = -1.0
    memo[first + RECORD + INDEX] = -1.0
    for k in range(count):
        memo[first + RECORD * (ALWAYS + k) + INDEX] = context[models + 1 + k]
    return first


@kernel(error_model="numpy")
def groups_forecast(points, row, base, imagined, models, inputs, groups, context, memo):
    """The two points and the share of the left one; the memo is filled, the row stays."""
    _, mix, beliefs, bins, blocks, sums = groups_parts(row, inputs, groups)
    first = hear(context, models, inputs, memo)
    zero, one = opine(mix, beliefs, bins, memo)
    more_zero, more_one = opine_in_groups(mix, blocks, memo, first)
    memo[first - 2] = merged(zero + more_zero, one + more_one)
    memo[ADVICE] = advise_groups(sums, memo, first, inputs)
    awake = 1 + int(memo[first - 1])
    left, right, share = crossing(
        Sleepers(imagined, first, awake), points, row, base, memo
    )  # fmt: skip
    _note_point(points, row, base, imagined, left, memo, first, awake, 0)
    _note_point(points, row, base, imagined, right, memo, first, awake, 1)
    return left, right, share


@kernel(error_model="numpy")
def _learn_point(points, row, base, totals, sums, i, g, rate, y, memo, first, right):
    """Feed the outcome to point i; weights and means as of the forecast."""
    target = memo[RIGHT_TARGET] if right else memo[LEFT_TARGET]
    loss = (target - y) * (target - y)
    row[LOST] += g * loss
    totals[PLAYED_LOSS] += g * (points[i] - y) * (points[i] - y)
    place = _place_of(points, row, base, i)
    records = ALWAYS + int(memo[first - 1])
    top = -np.inf
    for k in range(records):
        top = max(top, memo[first + RECORD * k + LEFT_LOG + right])
    whole, left_over = 0.0, 0.0
    for k in range(records):
        mean = memo[first + RECORD * k + LEFT_MEAN + right]
        weight = np.exp(memo[first + RECORD * k + LEFT_LOG + right] - top)
        whole += weight
        left_over += weight * np.exp(-2.0 * (mean - y) * (mean - y))
    ln_z = np.log(left_over / whole)
    advice = memo[first + LEFT_MEAN + right]
    row[place + ADVICE_LOG] -= rate * g * (2.0 * (advice - y) * (advice - y) + ln_z)
    for k in range(1, records):
        record = first + RECORD * k
        mean, j = memo[record + LEFT_MEAN + right], int(memo[record])
        own = place + column_of(j)
        row[own + LOG] -= rate * g * (2.0 * (mean - y) * (mean - y) + ln_z)
        row[own + WEIGHT] += g
        row[own + ONES] += g * y
        if j >= 0:
            sums[j, G_LOST] += g * loss


@kernel(error_model="numpy")
def groups_learn(
    points, row, base, prior, groups, delta, realised, left, right, share, memo, drawn, g, y, number
):  # fmt: skip
    """Feed the outcome of one forecast; arguments as for ``experts_learn``."""
    inputs = prior.shape[0] // (KINDS + HIERARCHIES)
    totals, mix, beliefs, bins, blocks, sums = groups_parts(row, inputs, groups)
    first = MEMO_HEAD + 2 * inputs + prior.shape[0] + 2
    edge = edge_of(points, left, right)
    for k in range(int(memo[first - 1])):
        own = sums[int(memo[first + RECORD * (ALWAYS + k)])]
        own[G_ROUNDS] += 1.0
        if g > 0.0:
            own[G_MASS] += g
            own[G_SQUARES] += g * y * y
            own[G_CELLS] += g * edge * edge
            own[G_ROUNDING_MOST] += g * delta
    if g > 0.0:
        left_g, right_g = share * g, (1.0 - share) * g
        if realised:
            left_g, right_g = (0.0, g) if drawn else (g, 0.0)
        rate = 1.0 / (1.0 + row[CROWD])
        if left_g > 0.0:
            _learn_point(points, row, base, totals, sums, left, left_g, rate, y, memo, first, 0)
        if right_g > 0.0:
            _learn_point(points, row, base, totals, sums, right, right_g, rate, y, memo, first, 1)
        row[ROUNDING] += g * rounded(points, left, right, share, memo)
        row[CELLS] += g * edge * edge
        opinions = memo[MEMO_HEAD + 2 * inputs :]
        learn_mix(totals, mix, prior, opinions, memo[first - 2], g, rate, row[MASS] + g, y)
        learn_trust(sums, memo, first, inputs, rate * g, y)
        learn_beliefs(beliefs, bins, memo, g * np.sqrt(rate), y)
        learn_blocks(blocks, memo, first, g * np.sqrt(rate), y)
    events.count_event(row, g, y * y, delta, number)


GroupsSpec = events.spec_type(
    "GroupsSpec", __name__, "realised", "imagined", "prior", "models", "groups", "memo"
)


@events.implements(events.forecast, GroupsSpec)
def _forecast(spec, points, row, level, contexts, t):
    inputs = spec.prior.shape[0] // (KINDS + HIERARCHIES)
    return groups_forecast(
        points, row, spec.base, spec.imagined, spec.models, inputs, spec.groups, contexts[t],
        spec.memo,
    )  # fmt: skip


@events.implements(events.learn, GroupsSpec)
def _learn(spec, points, row, level, ticket, drawn, outcomes, t, g, number):
    groups_learn(
        points, row, spec.base, spec.prior, spec.groups, spec.delta[level], spec.realised,
        ticket[0], ticket[1], ticket[2], spec.memo, drawn, g, outcomes[t], number,
    )  # fmt: skip


# --- single events from Python: one array costs less than several numbers -----------------------

BASE, IMAGINED, MODELS, INPUTS, GROUPS, REALISED, DELTA, END, PRIOR = range(9)
"""Where things are in a frame; the prior (M,) is followed by the points."""


@kernel(error_model="numpy")
def groups_predict(frame, row, source, memo, context, count):
    """Id, 0 or 1 for the point drawn, the points, share of the left; ``count`` ids are given."""
    number, inputs = int(row[NEXT_ID]), int(frame[INPUTS])
    points = frame[PRIOR + (KINDS + HIERARCHIES) * inputs :]
    left, right, share = groups_forecast(
        points, row, int(frame[BASE]), frame[IMAGINED], int(frame[MODELS]), inputs,
        int(frame[GROUPS]), context, memo,
    )  # fmt: skip
    row[NEXT_ID] = number + count
    drawn = 0 if uniform(source, number) < share else 1
    return number, drawn, left, right, share


@kernel(error_model="numpy")
def groups_update(frame, row, number, drawn, left, right, share, memo, g, y):
    """``groups_learn``; whether the grid is now due to be refined."""
    count = (KINDS + HIERARCHIES) * int(frame[INPUTS])
    groups_learn(
        frame[PRIOR + count :], row, int(frame[BASE]), frame[PRIOR : PRIOR + count],
        int(frame[GROUPS]), frame[DELTA], frame[REALISED] > 0.0, left, right, share, memo, drawn,
        g, y, number,
    )  # fmt: skip
    return row[MASS] >= frame[END]

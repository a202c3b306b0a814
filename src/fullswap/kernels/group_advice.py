"""What recalibrations with a part of their own in each group say of an event, and who is trusted.

The first level of ``fullswap.kernels.experts_groups``, which has symbols and formulas: logistic
recalibrations of every input in which each group has a shift and a slope of its own, shrunk to
those of everybody; and the weights that each group gives to the advice of everybody and to them.
"""

import numpy as np

from fullswap.kernels.compiling import kernel
from fullswap.kernels.experts import KINDS, MEMO_HEAD, SHARE, merged
from fullswap.kernels.logistic import KEPT, SHIFT_KEPT, TIGHT, WIDE, mode_of, sigmoid

TIGHTLY, WIDELY, FORGETTING, FAST = range(4)
"""Recalibrations in groups of an input: from a tight prior of the groups' own part, from a wide
one, with forgetting, with fast forgetting."""
HIERARCHIES = 4
INTERCEPT, SLOPE, KNOWN, KNOWN_BOTH, KNOWN_SLOPE = range(5)
"""A block: its line, and the precisions of both, with that which they share."""
BLOCK = 5
GROUP_TIGHT, GROUP_WIDE = 0.05, 1.0
"""Prior variances of a group's own shift and slope, around 0; who forgets fast learns shifts."""
G_ROUNDS, G_MASS, G_LOST, G_SQUARES, G_CELLS, G_ROUNDING_MOST = range(6)
"""Sums of a group over its events, as the columns of a row of these names."""
TRUST, TRUSTED = 6, 2
"""Behind them: ln of the weight, in the group, of the first two recalibrations in groups over the
advice's. Those that forget are noisy, and are heard through the advice."""
SUMS = TRUST + TRUSTED
INDEX, LEFT_MEAN, RIGHT_MEAN, LEFT_LOG, RIGHT_LOG = range(5)
"""A record of the memo: which group (−1: the advice or everybody) · mean and ln of weight at the
left and at the right point, as of the forecast."""
RECORD = 5
ALWAYS = 2
"""Records that every event has: of the advice and of everybody."""
MODERATION = np.pi / 8.0
"""σ(e) averaged over a normal e of variance v is nearly σ(e/√(1 + πv/8))."""


@kernel(forceinline=True)
def kept_by(h, member):
    """What a block keeps at each event of its own."""
    if h < FORGETTING:
        return 1.0
    return KEPT if h == FORGETTING or member == 0 else SHIFT_KEPT


@kernel(forceinline=True)
def variance_of(h, member, slope):
    """Of the intercept, or of the slope, in a block's prior."""
    if member == 0:
        return TIGHT if h == TIGHTLY else WIDE
    return GROUP_TIGHT if h == TIGHTLY or (h == FAST and slope) else GROUP_WIDE


@kernel(error_model="numpy", forceinline=True)
def _variance(block, logit):
    """Of intercept + slope·logit."""
    a, b, c = block[KNOWN], block[KNOWN_BOTH], block[KNOWN_SLOPE]
    return (c - 2.0 * b * logit + a * logit * logit) / (a * c - b * b)


@kernel(forceinline=True)
def _member(memo, first, k):
    """The k-th block that is awake: everybody's, then those of the groups."""
    return 0 if k == 0 else 1 + int(memo[first + RECORD * (ALWAYS - 1 + k) + INDEX])


@kernel(error_model="numpy")
def opine_in_groups(mix, blocks, memo, first):
    """Write what the recalibrations in groups say; Z_0 and Z_1 of them."""
    inputs, awake = blocks.shape[0], 1 + int(memo[first - 1])
    place = MEMO_HEAD + 2 * inputs + KINDS * inputs
    zero, one = 0.0, 0.0
    for j in range(inputs):
        p, logit = memo[MEMO_HEAD + j], memo[MEMO_HEAD + inputs + j]
        for h in range(HIERARCHIES):
            m = HIERARCHIES * j + h
            if p != p:
                memo[place + m] = np.nan
                continue
            e, variance = 0.0, 0.0
            for k in range(awake):
                block = blocks[j, h, _member(memo, first, k)]
                e += block[INTERCEPT] + block[SLOPE] * logit
                variance += _variance(block, logit)
            opinion = sigmoid(e / np.sqrt(1.0 + MODERATION * variance))
            memo[place + m] = opinion
            weight = mix[SHARE, KINDS * inputs + m] * np.exp(-2.0 * opinion * opinion)
            zero += weight
            one += weight * np.exp(4.0 * opinion - 2.0)
    return zero, one


@kernel(error_model="numpy")
def learn_blocks(blocks, memo, first, g, y):
    """One Bayesian step of the blocks that were awake: the mode, to second order.

    Of the posterior of all blocks together each keeps its own part: curvature that the others
    leave unexplained.
    """
    inputs, awake = blocks.shape[0], 1 + int(memo[first - 1])
    for j in range(inputs):
        p, logit = memo[MEMO_HEAD + j], memo[MEMO_HEAD + inputs + j]
        if p != p:
            continue
        for h in range(HIERARCHIES):
            e, variance = 0.0, 0.0
            for k in range(awake):
                member = _member(memo, first, k)
                block = blocks[j, h, member]
                if h >= FORGETTING:
                    kept = kept_by(h, member)
                    kept = kept if g == 1.0 else kept**g
                    block[KNOWN] = kept * block[KNOWN] + (1.0 - kept) / variance_of(
                        h, member, False
                    )
                    block[KNOWN_BOTH] *= kept
                    block[KNOWN_SLOPE] = kept * block[KNOWN_SLOPE] + (1.0 - kept) / variance_of(
                        h, member, True
                    )
                e += block[INTERCEPT] + block[SLOPE] * logit
                variance += _variance(block, logit)
            mean = mode_of(e, g * variance, y)
            curvature = g * mean * (1.0 - mean)
            for k in range(awake):
                block = blocks[j, h, _member(memo, first, k)]
                a, b, c = block[KNOWN], block[KNOWN_BOTH], block[KNOWN_SLOPE]
                determinant = a * c - b * b
                along_intercept = (c - b * logit) / determinant
                along_slope = (a * logit - b) / determinant
                own = along_intercept + along_slope * logit
                block[INTERCEPT] += along_intercept * g * (y - mean)
                block[SLOPE] += along_slope * g * (y - mean)
                more = curvature / (1.0 + curvature * max(variance - own, 0.0))
                block[KNOWN] = a + more
                block[KNOWN_BOTH] = b + more * logit
                block[KNOWN_SLOPE] = c + more * logit * logit


# --- whom a group trusts ------------------------------------------------------------------------


@kernel(forceinline=True)
def _own_opinions(inputs):
    """Where opinions of the recalibrations in groups begin, of the last input: the pool of all."""
    return MEMO_HEAD + (2 + KINDS) * inputs + HIERARCHIES * (inputs - 1)


@kernel(error_model="numpy")
def advise_groups(sums, memo, first, inputs):
    """The advice, of which each group of the event has its own opinion; all count the same."""
    shared, count, place = memo[first - 2], int(memo[first - 1]), _own_opinions(inputs)
    if count == 0:
        return shared
    zero, one = 0.0, 0.0
    for k in range(count):
        own = sums[int(memo[first + RECORD * (ALWAYS + k) + INDEX])]
        top = 0.0
        for h in range(TRUSTED):
            top = max(top, own[TRUST + h])
        whole = np.exp(-top)
        own_zero = whole * np.exp(-2.0 * shared * shared)
        own_one = own_zero * np.exp(4.0 * shared - 2.0)
        for h in range(TRUSTED):
            opinion, weight = memo[place + h], np.exp(own[TRUST + h] - top)
            whole += weight
            weight *= np.exp(-2.0 * opinion * opinion)
            own_zero += weight
            own_one += weight * np.exp(4.0 * opinion - 2.0)
        zero += own_zero / whole
        one += own_one / whole
    return merged(zero, one)


@kernel(error_model="numpy")
def learn_trust(sums, memo, first, inputs, scale, y):
    """Feed an outcome to the weights of the event's groups, of which each has its share."""
    shared, count, place = memo[first - 2], int(memo[first - 1]), _own_opinions(inputs)
    for k in range(count):
        own = sums[int(memo[first + RECORD * (ALWAYS + k) + INDEX])]
        for h in range(TRUSTED):
            opinion = memo[place + h]
            gained = (shared - y) * (shared - y) - (opinion - y) * (opinion - y)
            own[TRUST + h] += 2.0 * scale / count * gained

"""Bets against forecasts of yes or no: what each would have paid for one unit, when y is known.

A bet is a probability q, fixed before the outcome; it pays q(y)/p(y), whose mean under "the chance
of yes is p" is p·q/p + (1 − p)·(1 − q)/(1 − p) = 1. Two kinds:

- **Lines in logits**: q = σ(a + b·logit p) for every pair of a slope b and a shift a. Fixed
  functions of p. With u = (odds of p)^±b a pair costs one product and one division.
- **Curves that learn**: q = σ(logit p + s(p)), where s is linear between knots and follows, at each
  knot, U/(V + λ): U sums the residuals y − p of events before this one, V their variances p(1 − p).
  The past decides them, the outcome does not.

**Right up to rounding**: with ``half`` > 0 the chance π may lie anywhere in [p − h, p + h]. A bet
then pays q(y)/p*(y) with p* = q moved into that interval. Its mean under π is linear in π. For q
inside it is 1. For q > p + h = p* the slope in π, q/p* − (1 − q)/(1 − p*), is positive and the mean
at π = p* is 1: so it is at most 1 for all π ≤ p*. The same with signs changed for q < p − h.

**Weights** w in [0, 1]: a bet pays L^w, of mean at most 1 by Jensen's inequality.

A forecast of exactly 0 or 1 that comes true pays 1. One that does not enters as if it had been
``CLIP`` away from it; whoever calls reports the row. No bet pays more than ``MOST``; to pay less
is always allowed.
"""

import numpy as np

from fullswap.kernels.compiling import kernel

SLOPES = np.array([0.4, 0.55, 0.7, 0.8, 0.9, 1.0, 1.1, 1.3, 1.7])
SHIFTS = np.array(
    [-1.6, -1.1, -0.75, -0.5, -0.35, -0.2, -0.1, 0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.1, 1.6]
)
TILTS = np.exp(SHIFTS)
COUNTER_TILTS = np.exp(-SHIFTS)
LINES = len(SLOPES) * len(SHIFTS)
"""Bets that are lines in logits; the one of slope 1 and shift 0 has no weight."""

CURVES = 3
KNOTS = np.array([8, 18, 9])
"""Of each curve: the first two have them evenly in p, the last in logits."""
FIRST_KNOT = np.array([0, 8, 26])
ALL_KNOTS = 35
FORGETTING = np.array([1.0 / 512.0, 0.0, 0.0])
"""What a knot forgets with each event that it learns."""
PRIOR_VARIANCE = 3.0
"""λ: so much variance must be seen before a knot trusts half of what it saw."""
LOGIT_END = 6.0
"""Where the knots in logits end."""
LARGEST_SHIFT = 1.0
"""Of a curve, in logits."""

BETS = LINES + CURVES
CLIP = 1e-4
MOST = 1e30
FAR = 60.0
"""Largest logit that bets read: beyond it they do not change."""


@kernel(error_model="numpy")
def logit_of(p, half):
    """The logit that bets read; of a rounded forecast one that is not at an end."""
    edge = min(half, 0.25)
    own = min(max(p, edge), 1.0 - edge)
    if own <= 0.0:
        return -FAR
    if own >= 1.0:
        return FAR
    return min(max(np.log(own / (1.0 - own)), -FAR), FAR)


@kernel(error_model="numpy")
def place_among(curve, p, logit):
    """The knot to the left, numbered among all, and the share of the one to the right."""
    last = KNOTS[curve] - 1
    if curve == CURVES - 1:
        x = (min(max(logit, -LOGIT_END), LOGIT_END) + LOGIT_END) / (2.0 * LOGIT_END) * last
    else:
        x = p * last
    left = min(int(x), last - 1)
    return FIRST_KNOT[curve] + left, x - left


@kernel(error_model="numpy")
def shift_of(knots, curve, p, logit):
    """What a curve adds to the logit of this forecast."""
    left, share = place_among(curve, p, logit)
    low = knots[2 * left] / (knots[2 * left + 1] + PRIOR_VARIANCE)
    high = knots[2 * left + 2] / (knots[2 * left + 3] + PRIOR_VARIANCE)
    return min(max(low + share * (high - low), -LARGEST_SHIFT), LARGEST_SHIFT)


# Loops of their own, each over few arrays: what touches many is not vectorised.


@kernel(error_model="numpy")
def _spread(odds, tilts, u):
    """All shifts of one slope: the odds against y that they give."""
    for j in range(odds.shape[0]):
        odds[j] = tilts[j] * u


@kernel(error_model="numpy")
def _pay(factor, paid):
    """q(y)/p(y) = (1/p(y))/(1 + odds against y)."""
    for k in range(factor.shape[0]):
        factor[k] = paid / (1.0 + factor[k])


@kernel(error_model="numpy")
def pays_yes_no(knots, p, y, half, factor):
    """What every bet pays for this outcome; ``knots`` holds (U, V) of all knots.

    Returns the logit that they read.
    """
    if half == 0.0:
        if p <= 0.0 or p >= 1.0:
            if p == y:
                factor[:] = 1.0
                return 0.0
            p = CLIP if p <= 0.0 else 1.0 - CLIP
    logit = logit_of(p, half)
    if y > 0.0:
        sign, chance, tilts = -1.0, p, COUNTER_TILTS
    else:
        sign, chance, tilts = 1.0, 1.0 - p, TILTS
    away = sign * logit
    paid = min(1.0 / chance, MOST) if half == 0.0 else 1.0
    shifts = len(SHIFTS)
    twentieth = np.exp(0.05 * away)
    square = twentieth * twentieth
    cube, fourth = square * twentieth, square * square
    eighth = fourth * fourth
    for i in range(len(SLOPES)):
        # the next slope's power of the odds, from the one before
        if i == 0:
            u = eighth
        elif i < 3:
            u *= cube
        elif i < 7:
            u *= square
        elif i == 7:
            u *= fourth
        else:
            u *= eighth
        _spread(factor[i * shifts : (i + 1) * shifts], tilts, u)
    for g in range(CURVES):
        factor[LINES + g] = np.exp(away + sign * shift_of(knots, g, p, logit))
    _pay(factor, paid)
    if half > 0.0:
        low, high = max(chance - half, 0.0), min(chance + half, 1.0)
        for k in range(BETS):
            q = factor[k]
            factor[k] = q / min(max(q, low), high)
    return logit


@kernel(error_model="numpy")
def learn_yes_no(knots, p, logit, y, scale):
    """Knots learn one outcome, ``scale`` times; nothing from forecasts of 0 or 1."""
    if p <= 0.0 or p >= 1.0:
        return
    residual, variance = scale * (y - p), scale * p * (1.0 - p)
    for g in range(CURVES):
        left, share = place_among(g, p, logit)
        for side in range(2):
            part = share if side else 1.0 - share
            at = 2 * (left + side)
            keeps = 1.0 - FORGETTING[g] * part * scale
            knots[at] = keeps * knots[at] + part * residual
            knots[at + 1] = keeps * knots[at + 1] + part * variance

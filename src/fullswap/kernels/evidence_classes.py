"""Bets against forecasts of one of K classes: what each would have paid, when y is known.

Temperatures: q = softmax(τ·ln p). Shifts of a class j: q_j has odds e^s times those of p_j, and the
other classes share the rest as before, so that L = e^{s·1[y = j]}/(1 + p_j·(e^s − 1)). Both are
distributions q, and Σ p_j·q_j/p_j = 1.

Right up to rounding (``half`` > 0), each p_j alone: a shift is a bet on "class j or not", and a
temperature becomes a slope of the logit of the largest p_j, a bet on "the likeliest class or not";
either pays as ``evidence_bets`` proves for yes or no.
"""

import numpy as np

from fullswap.kernels.compiling import kernel
from fullswap.kernels.evidence_bets import CLIP, MOST, logit_of

TEMPERATURES = np.array([0.4, 0.55, 0.7, 0.85, 1.2, 1.5, 2.0, 3.0])
CLASS_SHIFTS = np.array([-1.0, -0.5, -0.2, 0.2, 0.5, 1.0])
CLASS_TILTS = np.exp(CLASS_SHIFTS)


@kernel(error_model="numpy")
def pays_classes(p, y, half, factor):
    """What every bet pays; p is the row of K probabilities, y the number of the class."""
    classes, hot, colder = p.shape[0], int(y), len(TEMPERATURES)
    chance, rest = p[hot], 1.0
    if chance <= 0.0 and half == 0.0:
        chance, rest = CLIP, 1.0 - CLIP
    if half > 0.0:
        _rounded_temperatures(p, hot, half, factor)
    else:
        _temperatures(p, hot, chance, rest, factor)
    shifts = len(CLASS_SHIFTS)
    for j in range(classes):
        own = chance if j == hot else rest * p[j]
        at = colder + j * shifts
        if half > 0.0:
            low, high = max(own - half, 0.0), min(own + half, 1.0)
            inside = min(max(own, min(half, 0.25)), 1.0 - min(half, 0.25))
            for i in range(shifts):
                q = CLASS_TILTS[i] * inside / (1.0 + inside * (CLASS_TILTS[i] - 1.0))
                moved = min(max(q, low), high)
                factor[at + i] = q / moved if j == hot else (1.0 - q) / (1.0 - moved)
        elif j == hot:
            for i in range(shifts):
                factor[at + i] = CLASS_TILTS[i] / (1.0 + own * (CLASS_TILTS[i] - 1.0))
        else:
            for i in range(shifts):
                factor[at + i] = 1.0 / (1.0 + own * (CLASS_TILTS[i] - 1.0))


@kernel(error_model="numpy")
def _temperatures(p, hot, chance, rest, factor):
    """q_y/p_y = p_y^(τ − 1)/Σ p_j^τ."""
    colder = len(TEMPERATURES)
    for i in range(colder):
        factor[i] = 0.0
    for j in range(p.shape[0]):
        own = chance if j == hot else rest * p[j]
        if own > 0.0:
            level = np.log(own)
            for i in range(colder):
                factor[i] += np.exp(TEMPERATURES[i] * level)
    level = np.log(chance)
    for i in range(colder):
        factor[i] = min(np.exp((TEMPERATURES[i] - 1.0) * level) / factor[i], MOST)


@kernel(error_model="numpy")
def _rounded_temperatures(p, hot, half, factor):
    top = 0
    for j in range(p.shape[0]):
        if p[j] > p[top]:
            top = j
    logit = logit_of(p[top], half)
    away = -logit if top == hot else logit
    chance = p[top] if top == hot else 1.0 - p[top]
    low, high = max(chance - half, 0.0), min(chance + half, 1.0)
    for i in range(len(TEMPERATURES)):
        q = 1.0 / (1.0 + np.exp(TEMPERATURES[i] * away))
        factor[i] = q / min(max(q, low), high)

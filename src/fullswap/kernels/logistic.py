"""Online logistic recalibration: Bayesian steps of a few parameters, one event after the other.

The probability is σ(intercept + slope·logit), or the slope is 1. The belief about the parameters is
normal, θ with precision P; an event moves θ to the mode of what follows and adds the curvature
there to P [P99]. With forgetting, P first falls back towards its prior, so that old events count
for less and less.
"""

import numpy as np

from fullswap.kernels.compiling import kernel

TIGHT, WIDE = 0.2, 3.0
"""Prior variances of intercept and slope, around 0 and 1. Most models are nearly right, and a tight
prior is then cheaper to start from; the wide one covers any usual distortion."""
KEPT = 0.998
"""What a forgetting recalibration keeps at each event: a memory of 500 events."""
SHIFT_KEPT = 0.99
"""The same of an intercept alone, which is learnt faster."""
STEP = 0.01
"""Newton's method stops after a step, in logits, below this."""


@kernel(inline="always")
def sigmoid(x):
    """1/(1 + e^−x)."""
    return 1.0 / (1.0 + np.exp(-x))


@kernel(error_model="numpy", forceinline=True)
def mode_of(before, variance, y):
    """σ(e) for the e that solves e = before + variance·(y − σ(e)): whatever y, no overshoot."""
    mean = sigmoid(before)
    # the mode lies between where the prediction was and where its slope there would take it
    e = before
    low = min(before, before + variance * (y - mean))
    high = max(before, before + variance * (y - mean))
    width = np.inf
    for _ in range(60):
        error = e - before - variance * (y - mean)
        if error > 0.0:
            high = e
        else:
            low = e
        last = e
        slope = mean * (1.0 - mean)
        e -= error / (1.0 + variance * slope)
        # far out the slope misleads: steps would go to and fro between the ends of the interval
        if not low <= e <= high or 2.0 * abs(e - last) > width:
            e = 0.5 * (low + high)
        width = abs(e - last)
        if width < STEP:
            return mean + slope * (e - last)
        mean = sigmoid(e)
    return mean


@kernel(error_model="numpy", forceinline=True)
def learn_platt(state, start, kept, precision, logit, g, y):
    """One Bayesian step of θ = (intercept, slope) at state[start:]: the mode, to second order.

    The belief before is N(θ, P⁻¹), of which 1 − kept falls back to the prior ``precision`` first;
    the mode after it is found along θ·(1, logit), in one dimension.
    """
    a = kept * state[start + 2] + (1.0 - kept) * precision
    b = kept * state[start + 3]
    c = kept * state[start + 4] + (1.0 - kept) * precision
    determinant = a * c - b * b
    along_intercept = (c - b * logit) / determinant
    along_slope = (a * logit - b) / determinant
    variance = g * (along_intercept + along_slope * logit)
    mean = mode_of(state[start] + state[start + 1] * logit, variance, y)
    state[start] += along_intercept * g * (y - mean)
    state[start + 1] += along_slope * g * (y - mean)
    curvature = g * mean * (1.0 - mean)
    state[start + 2] = a + curvature
    state[start + 3] = b + curvature * logit
    state[start + 4] = c + curvature * logit * logit


@kernel(error_model="numpy", forceinline=True)
def learn_shift(state, start, kept, precision, logit, g, y):
    """The same for an intercept alone, (intercept, P) at state[start:]; the slope is 1."""
    known = kept * state[start + 1] + (1.0 - kept) * precision
    mean = mode_of(state[start] + logit, g / known, y)
    state[start] += g / known * (y - mean)
    state[start + 1] = known + g * mean * (1.0 - mean)


@kernel(error_model="numpy")
def to_shares(out):
    """Turn powers into numbers ∝ exp(powers), of sum 1, in place."""
    top, total = -np.inf, 0.0
    for k in range(out.shape[0]):
        top = max(top, out[k])
    for k in range(out.shape[0]):
        out[k] = np.exp(out[k] - top)
        total += out[k]
    for k in range(out.shape[0]):
        out[k] /= total


@kernel(error_model="numpy")
def take_logs(p, edge, out):
    """Logarithms of probabilities, which are raised to the edge, of sum 0."""
    mean = 0.0
    for k in range(p.shape[0]):
        out[k] = np.log(max(p[k], edge))
        mean += out[k]
    mean /= p.shape[0]
    for k in range(p.shape[0]):
        out[k] -= mean


@kernel(forceinline=True)
def likeliest(p):
    """The first of the classes with the largest probability."""
    best = 0
    for k in range(p.shape[0]):
        if p[k] > p[best]:
            best = k
    return best

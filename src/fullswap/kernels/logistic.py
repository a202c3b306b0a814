"""Online logistic recalibration: Bayesian steps of a few parameters, one event after the other.

Two classes: probability σ(intercept + slope·logit), or the slope is 1. K classes: ∝ exp(slope·
logs_k + bias_k). The belief about the parameters is normal, θ with precision P; an event moves θ to
the mode of what follows and adds the curvature there to P [P99]. With forgetting, P first falls
back towards its prior, so that old events count for less and less.
"""

import numpy as np

from fullswap.kernels.compiling import kernel

TIGHT, WIDE = 0.2, 3.0
"""Prior variances of intercept and slope, around 0 and 1. Most models are nearly right, and a tight
prior is then cheaper to start from; the wide one covers any usual distortion."""
SCALING_TIGHT, SCALING_WIDE = 0.1, 1.0
"""The same for slope and biases of K classes, of which there are more to learn."""
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
def softmax(theta, logs, out):
    """Probabilities ∝ exp(slope·logs_k + bias_k)."""
    for k in range(out.shape[0]):
        out[k] = theta[0] * logs[k] + theta[k + 1]
    to_shares(out)


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


@kernel(error_model="numpy")
def _solve(matrix, x):
    """Replace x by matrix⁻¹x for a positive definite matrix, which is destroyed (Cholesky)."""
    size = x.shape[0]
    for j in range(size):
        for i in range(j):
            total = matrix[j, i]
            for k in range(i):
                total -= matrix[j, k] * matrix[i, k]
            matrix[j, i] = total / matrix[i, i]
        total = matrix[j, j]
        for k in range(j):
            total -= matrix[j, k] * matrix[j, k]
        matrix[j, j] = np.sqrt(total)
    _back(matrix, x)


@kernel(error_model="numpy")
def _back(factor, x):
    """Solve with a Cholesky factor in the lower triangle."""
    size = x.shape[0]
    for i in range(size):
        for k in range(i):
            x[i] -= factor[i, k] * x[k]
        x[i] /= factor[i, i]
    for i in range(size - 1, -1, -1):
        for k in range(i + 1, size):
            x[i] -= factor[k, i] * x[k]
        x[i] /= factor[i, i]


@kernel(error_model="numpy")
def learn_scaling(state, kept, prior, logs, g, y, work):
    """One Bayesian step of the parameters θ: the mode, to second order.

    The mode is approached with the largest curvature that the log loss can have, ½(I − 11ᵀ/K)
    in the logits, so that no step overshoots; the precision grows by the curvature there.
    ``prior`` is the precision to which 1 − kept falls back. `work` (K + 4, K + 1): a matrix, then
    rows for a step, for θ before, and for probabilities.
    """
    size = logs.shape[0]
    theta, precision = state[:, 0], state[:, 1:]
    step, before, chance = work[size + 1], work[size + 2], work[size + 3, :size]
    square = 0.0
    for i in range(size + 1):
        before[i] = theta[i]
        for k in range(size + 1):
            precision[i, k] *= kept
            work[i, k] = precision[i, k]
        precision[i, i] += (1.0 - kept) * prior
        work[i, i] = precision[i, i]
    for k in range(size):
        square += logs[k] * logs[k]
        work[0, k + 1] += 0.5 * g * logs[k]
        work[k + 1, 0] += 0.5 * g * logs[k]
        for j in range(size):
            work[k + 1, j + 1] -= 0.5 * g / size
        work[k + 1, k + 1] += 0.5 * g
    work[0, 0] += 0.5 * g * square
    for attempt in range(10):
        softmax(theta, logs, chance)
        step[0] = 0.0
        for k in range(size):
            step[0] += g * logs[k] * (y[k] - chance[k])
            step[k + 1] = g * (y[k] - chance[k])
        for i in range(size + 1):
            for k in range(size + 1):
                step[i] -= precision[i, k] * (theta[k] - before[k])
        if attempt == 0:
            _solve(work[: size + 1], step)
        else:
            _back(work, step)
        largest = 0.0
        for i in range(size + 1):
            theta[i] += step[i]
            largest = max(largest, abs(step[i]))
        if largest < 0.01:
            break
    softmax(theta, logs, chance)
    mean, second = 0.0, 0.0
    for k in range(size):
        mean += chance[k] * logs[k]
        second += chance[k] * logs[k] * logs[k]
    precision[0, 0] += g * (second - mean * mean)
    for k in range(size):
        slope = g * chance[k] * (logs[k] - mean)
        precision[0, k + 1] += slope
        precision[k + 1, 0] += slope
        for j in range(size):
            precision[k + 1, j + 1] -= g * chance[k] * chance[j]
        precision[k + 1, k + 1] += g * chance[k]

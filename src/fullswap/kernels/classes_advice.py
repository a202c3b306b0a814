"""What models say about many classes, merged into one advice: a few passes over K numbers an event.

As in ``fullswap.kernels.experts``, without matrices. Of every input: itself, a
temperature (one slope on its centred logarithms), the same with forgetting, and slope and K biases
that are learnt with what is known of each of them alone. Without models: class frequencies, and the
same with forgetting. Vovk's aggregating rule merges them, with η = 1 for the squared norm [VZ09].

Symbols: K classes · J models, 0 for none · I inputs: the models, and of several their pool · M
experts · mix (3, M) as in ``fullswap.kernels.experts`` · beliefs (I, BELIEFS + 2(K + 1)): slope and
precision, the same with forgetting, slope and biases and their precisions; without models (1, 2·K)
outcomes by class, and the same with forgetting · memo (1 + 2·I + M, K): rows advice A, inputs,
centred logarithms, opinions; without models the rows between stay empty · chance (K,): work.
"""

import numpy as np

from fullswap.kernels.compiling import kernel
from fullswap.kernels.experts import ADVICE_LOSS, AWAKE_LOSS, EXPERT_LOSS, SHARE
from fullswap.kernels.logistic import KEPT, STEP, take_logs, to_shares
from fullswap.kernels.projection import FEW, project_few, project_many

MODEL_KINDS, PLAIN_KINDS = 4, 2
"""Experts an input, and those without models."""
SLOPE, FORGETTING, SCALING = 0, 2, 4
"""Where beliefs of an input begin: (slope, precision) twice, then slope and biases."""
BELIEFS = 4
SLOPE_VARIANCE, BIAS_VARIANCE = 1.0, 0.1
"""Around 1 and 0, before anything is known. There are many biases, and most are small."""
EDGE = 1e-6
"""Logarithms are taken of probabilities raised to this."""
LARGEST_LOG = 14.0
"""Of such a probability, centred."""
MOST_TURNS = 60
"""Of Newton's method with halving: enough to halve any bracket of floats to its last bits."""
IMAGINED = 1.0
"""Outcomes that class frequencies start from, spread evenly over the classes."""


@kernel(forceinline=True)
def kinds_of(models):
    """Experts an input."""
    return MODEL_KINDS if models > 0 else PLAIN_KINDS


@kernel(error_model="numpy")
def _tilt(slope, logs, biases, out):
    """Probabilities ∝ exp(slope·logs_k + bias_k); no biases are zeros."""
    biased = biases.shape[0] > 0
    for k in range(out.shape[0]):
        out[k] = slope * logs[k] + (biases[k] if biased else 0.0)
    to_shares(out)


@kernel(error_model="numpy")
def _frequencies(outcomes, out):
    """Shares of the classes so far."""
    size, total = out.shape[0], IMAGINED
    for k in range(size):
        total += outcomes[k]
    for k in range(size):
        out[k] = (outcomes[k] + IMAGINED / size) / total


@kernel(error_model="numpy")
def _read_inputs(probabilities, count, memo):
    """Write inputs and their logarithms to the memo; the pool of several models comes last."""
    models, size = probabilities.shape
    pool, pool_logs = memo[count], memo[2 * count]
    if count > models:
        for k in range(size):
            pool_logs[k] = 0.0
    present = 0
    for j in range(models):
        absent = False
        for k in range(size):
            absent = absent or probabilities[j, k] != probabilities[j, k]
        for k in range(size):
            memo[1 + j, k] = np.nan if absent else probabilities[j, k]
            memo[1 + count + j, k] = 0.0
        if absent:
            continue
        present += 1
        take_logs(probabilities[j], EDGE, memo[1 + count + j])
        if count > models:
            for k in range(size):
                pool_logs[k] += memo[1 + count + j, k]
    if count > models:
        for k in range(size):
            pool_logs[k] /= present
            pool[k] = pool_logs[k]
        to_shares(pool)


@kernel(error_model="numpy")
def _opine(beliefs, said, count, memo):
    """Write all opinions to the memo; NaN where a model is absent."""
    models, size = said.shape
    first = 1 + 2 * count
    if models == 0:
        _frequencies(beliefs[0, :size], memo[first])
        _frequencies(beliefs[0, size:], memo[first + 1])
        return
    _read_inputs(said, count, memo)
    for j in range(count):
        own, logs, place = beliefs[j], memo[1 + count + j], first + MODEL_KINDS * j
        for k in range(size):
            memo[place, k] = memo[1 + j, k]
        if memo[1 + j, 0] != memo[1 + j, 0]:
            for kind in range(1, MODEL_KINDS):
                for k in range(size):
                    memo[place + kind, k] = np.nan
            continue
        _tilt(own[SLOPE], logs, own[:0], memo[place + 1])
        _tilt(own[FORGETTING], logs, own[:0], memo[place + 2])
        _tilt(own[SCALING], logs, own[SCALING + 1 : SCALING + 1 + size], memo[place + 3])


@kernel(error_model="numpy")
def advise(mix, beliefs, said, memo):
    """Fill the memo for one event; `said` (J, K), NaN marks an absent model (not all)."""
    size, count = memo.shape[1], beliefs.shape[0]
    _opine(beliefs, said, count, memo)
    advice, first = memo[0], 1 + 2 * count
    for k in range(size):
        advice[k] = 0.0
    for m in range(mix.shape[1]):
        opinion = memo[first + m]
        if opinion[0] != opinion[0]:
            continue
        square = 0.0
        for k in range(size):
            square += opinion[k] * opinion[k]
        weight = mix[SHARE, m] * np.exp(-square)
        for k in range(size):
            advice[k] += weight * np.exp(2.0 * opinion[k])
    for k in range(size):
        advice[k] = 0.5 * np.log(advice[k])
    if size <= FEW:
        project_few(advice)
    else:
        project_many(advice)


@kernel(error_model="numpy")
def _learn_slope(state, place, known, logs, biases, g, y, chance):
    """One Bayesian step of a slope, whose precision before it is `known`: the mode of what follows.

    It solves known·(slope − before) = g·(Σ y·logs − mean of logs), whose right side falls as the
    slope rises: whatever y, no overshoot. ``chance`` keeps the probabilities at the end.
    """
    size, before = logs.shape[0], state[place]
    wanted, largest = 0.0, 0.0
    for k in range(size):
        wanted += y[k] * logs[k]
        largest = max(largest, abs(logs[k]))
    slope, low, high, width, variance = before, -np.inf, np.inf, np.inf, 0.0
    for turn in range(MOST_TURNS):
        _tilt(slope, logs, biases, chance)
        mean, second = 0.0, 0.0
        for k in range(size):
            mean += chance[k] * logs[k]
            second += chance[k] * logs[k] * logs[k]
        variance = max(second - mean * mean, 0.0)
        error = known * (slope - before) - g * (wanted - mean)
        if turn == 0:
            low, high = min(before, before - error / known), max(before, before - error / known)
        if error > 0.0:
            high = slope
        else:
            low = slope
        last = slope
        slope -= error / (known + g * variance)
        # far out the curvature misleads: steps would go to and fro between the ends
        if not low <= slope <= high or 2.0 * abs(slope - last) > width:
            slope = 0.5 * (low + high)
        width = abs(slope - last)
        if width * largest < STEP:
            break
    state[place] = slope
    return variance


@kernel(error_model="numpy")
def _learn_temperature(state, place, kept, logs, g, y, chance):
    """A slope and its precision; 1 − kept of what is known falls back to the prior."""
    known = kept * state[place + 1] + (1.0 - kept) / SLOPE_VARIANCE
    variance = _learn_slope(state, place, known, logs, state[:0], g, y, chance)
    state[place + 1] = known + g * variance


@kernel(error_model="numpy")
def _learn_scaling(state, logs, g, y, chance):
    """Slope, then biases: each with what is known of it alone."""
    size = logs.shape[0]
    biases = state[SCALING + 1 : SCALING + 1 + size]
    known = state[SCALING + 1 + size :]
    variance = _learn_slope(state, SCALING, known[0], logs, biases, g, y, chance)
    known[0] += g * variance
    for k in range(size):
        own = g * chance[k] * (1.0 - chance[k])
        known[k + 1] += own
        biases[k] += g * (y[k] - chance[k]) / known[k + 1]


@kernel(forceinline=True)
def _distance(x, y):
    """‖x − y‖²."""
    total = 0.0
    for k in range(y.shape[0]):
        total += (x[k] - y[k]) * (x[k] - y[k])
    return total


@kernel(error_model="numpy")
def _learn_mix(totals, mix, prior, opinions, advice, g, rate, mass, y):
    """Feed an outcome of scale g to the weights of the experts, as for two classes."""
    advice_loss = _distance(advice, y)
    totals[ADVICE_LOSS] += g * advice_loss
    scale = rate * g
    whole = 0.0
    for m in range(prior.shape[0]):
        loss = advice_loss
        if opinions[m, 0] == opinions[m, 0]:
            loss = _distance(opinions[m], y)
            mix[EXPERT_LOSS, m] += g * loss
            mix[AWAKE_LOSS, m] += g * advice_loss
        mix[SHARE, m] *= np.exp(-scale * loss)
        whole += mix[SHARE, m]
    dealt = scale / (mass + 1.0)
    kept = (1.0 - dealt) / whole
    for m in range(prior.shape[0]):
        mix[SHARE, m] = kept * mix[SHARE, m] + dealt * prior[m]


@kernel(error_model="numpy")
def learn_advice(totals, mix, beliefs, prior, said, memo, g, rate, mass, y, chance):
    """Feed an outcome of scale g to weights and beliefs; the memo has been filled by ``advise``.

    ``rate``: what outcomes count where others wait; ``mass`` with this event.
    """
    size, count, models = memo.shape[1], beliefs.shape[0], said.shape[0]
    _learn_mix(totals, mix, prior, memo[1 + 2 * count :], memo[0], g, rate, mass, y)
    scale = g * np.sqrt(rate)
    kept = KEPT if scale == 1.0 else KEPT**scale
    if models == 0:
        for k in range(size):
            beliefs[0, k] += scale * y[k]
            beliefs[0, size + k] = kept * beliefs[0, size + k] + scale * y[k]
        return
    for j in range(count):
        if memo[1 + j, 0] == memo[1 + j, 0]:
            logs = memo[1 + count + j]
            _learn_temperature(beliefs[j], SLOPE, 1.0, logs, scale, y, chance)
            _learn_temperature(beliefs[j], FORGETTING, kept, logs, scale, y, chance)
            _learn_scaling(beliefs[j], logs, scale, y, chance)

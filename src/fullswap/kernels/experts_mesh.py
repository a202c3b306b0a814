"""Recalibration by experts for K classes, on a Kuhn grid of the simplex.

The same two levels as in ``fullswap.kernels.experts``. For the squared norm and outcomes in the
simplex the aggregating rule with weights w reads [VZ09]

    H_k = ln Σ_m w_m·exp(−‖m − e_k‖²),   q = the point of the simplex nearest to H/2,

and then ‖q − y‖² ≤ −ln Σ_m w_m·exp(−‖m − y‖²) for every y of the simplex. What is forecast is a
stationary distribution of "round q_s to the grid", on the first closed class that a search finds
from the point nearest to the advice; rows are worked out as the search meets them.

Symbols: K classes · J models · I = J, or J + 1 with the pool of several models · M = 4·I experts ·
points (n, K) · bank (n, 4 + K) · mix (4, M) · scaling (I, 2, K + 1, K + 2): parameters (slope,
K biases) and their precision, for the recalibrations that keep and that forget · cells (I, K,
1 + K): mass and errors by the class that the model holds most likely · totals (5,) ·
memo (1 + 2·I + M, K): rows advice A, inputs, centred logarithms, opinions · lattice = (cells,
strides, lookup) as in ``fullswap.kernels.kuhn`` · walk = (chain, stamps, rows, shares, members,
dense, out, floats, integers): scratch of one search.
"""

import numpy as np
from numba import njit

from fullswap.kernels.kuhn import kuhn_locate_one
from fullswap.kernels.logistic import KEPT, learn_scaling, softmax
from fullswap.kernels.stationary import (
    LOWEST,
    NEXT_EDGE,
    PARENT,
    PLACE,
    STAMP,
    STATE,
    gth_in_place,
)

WEIGHT, SQUARES, LOST, ODDS, ONES = range(5)
"""Columns of a bank: G = Σg · Σg·‖y‖² · Σg·‖q_s − y‖² · ln of weight of μ_s over A's · Σg·y (K)."""
SHARE, PRIOR, EXPERT_LOSS, AWAKE_LOSS = range(4)
"""Rows of a mix, as for two classes."""
UPDATES, MASS, ADVICE_LOSS, PLAYED_LOSS, ROUNDING_MOST = range(5)
"""Totals: updates · Σg · Σg·‖A − y‖² · Σg·‖s − y‖² of what was learnt · Σg·V."""

KINDS = 4
"""Experts an input: itself, recalibrated, recalibrated with forgetting, shifted by its class."""
CELL_PRIOR = 20.0
"""Events that a class's mean error must outweigh."""
POINT_PRIOR = 2.0
"""Events with mean s that a grid point's mean starts from."""
EDGE = 1e-4
"""Logarithms are taken of probabilities raised to this."""
HALF = 8
"""Where the second half of the scratch of a location begins: there are fewer classes."""


@njit(cache=True, error_model="numpy")
def _nearest(x):
    """Move x to the nearest point of the simplex: drop what falls below the common shift."""
    size = x.shape[0]
    active = size
    total = 0.0
    for k in range(size):
        total += x[k]
    shift = (total - 1.0) / active
    changed = True
    while changed:
        changed = False
        total, count = 0.0, 0
        for k in range(size):
            if x[k] > shift:
                total += x[k]
                count += 1
        if count < active:
            active = count
            shift = (total - 1.0) / active
            changed = True
    for k in range(size):
        x[k] = max(x[k] - shift, 0.0)


@njit(cache=True, error_model="numpy")
def _take_logs(p, out):
    """Logarithms of probabilities, of sum 0."""
    mean = 0.0
    for k in range(p.shape[0]):
        out[k] = np.log(max(p[k], EDGE))
        mean += out[k]
    mean /= p.shape[0]
    for k in range(p.shape[0]):
        out[k] -= mean


@njit(cache=True, error_model="numpy")
def _advise(mix, scaling, cells, inputs, memo):
    """Fill the memo for one event; `inputs` (J, K), a NaN marks an absent model (not all)."""
    models, size = inputs.shape
    count = scaling.shape[0]
    pool = memo[count]  # last input; with one model it is that model itself, written below
    if count > models:
        for k in range(size):
            memo[2 * count, k] = 0.0
    present = 0
    for j in range(models):
        absent = False
        for k in range(size):
            absent = absent or inputs[j, k] != inputs[j, k]
        for k in range(size):
            memo[1 + j, k] = np.nan if absent else inputs[j, k]
        if not absent:
            _take_logs(inputs[j], memo[1 + count + j])
            present += 1
            if count > models:
                for k in range(size):
                    memo[2 * count, k] += memo[1 + count + j, k]
        else:
            for k in range(size):
                memo[1 + count + j, k] = 0.0
    if count > models:
        top = -np.inf
        for k in range(size):
            memo[2 * count, k] /= present
            top = max(top, memo[2 * count, k])
        total = 0.0
        for k in range(size):
            pool[k] = np.exp(memo[2 * count, k] - top)
            total += pool[k]
        for k in range(size):
            pool[k] /= total

    advice = memo[0]
    for k in range(size):
        advice[k] = 0.0
    for j in range(count):
        p, logs = memo[1 + j], memo[1 + count + j]
        first = 1 + 2 * count + KINDS * j
        if p[0] != p[0]:
            for row in range(first, first + KINDS):
                for k in range(size):
                    memo[row, k] = np.nan
            continue
        likely = 0
        for k in range(size):
            memo[first, k] = p[k]
            if p[k] > p[likely]:
                likely = k
        softmax(scaling[j, 0, :, 0], logs, memo[first + 1])
        softmax(scaling[j, 1, :, 0], logs, memo[first + 2])
        for k in range(size):
            error = cells[j, likely, 1 + k] / (cells[j, likely, 0] + CELL_PRIOR)
            memo[first + 3, k] = p[k] + error
        _nearest(memo[first + 3])
        for kind in range(KINDS):
            opinion = memo[first + kind]
            square = 0.0
            for k in range(size):
                square += opinion[k] * opinion[k]
            weight = mix[SHARE, KINDS * j + kind] * np.exp(-square)
            for k in range(size):
                advice[k] += weight * np.exp(2.0 * opinion[k])
    for k in range(size):
        advice[k] = 0.5 * np.log(advice[k])
    _nearest(advice)


@njit(cache=True, error_model="numpy")
def _recommend(points, bank, i, advice, target, mean):
    """Write q and μ of point i: the rule for A and μ with the point's odds."""
    size = points.shape[1]
    mass = bank[i, WEIGHT] + POINT_PRIOR
    mean_square, advice_square = 0.0, 0.0
    for k in range(size):
        mean[k] = (bank[i, ONES + k] + POINT_PRIOR * points[i, k]) / mass
        mean_square += mean[k] * mean[k]
        advice_square += advice[k] * advice[k]
    # ln(e^x + e^y) relative to the larger: no overflow, however long the run
    for k in range(size):
        ours = bank[i, ODDS] - mean_square + 2.0 * mean[k]
        theirs = -advice_square + 2.0 * advice[k]
        top = max(ours, theirs)
        target[k] = 0.5 * (top + np.log1p(np.exp(min(ours, theirs) - top)))
    _nearest(target)


@njit(cache=True)
def _locate(target, lattice, indices, weights, floats, integers):
    """Vertices of the simplex of a point, and its barycentric coordinates."""
    cells, strides, lookup = lattice
    total = 0.0
    for k in range(cells.shape[0]):
        total += target[k]
        floats[k] = total * cells[k]
    kuhn_locate_one(floats, cells, strides, lookup, indices, weights, integers, floats[HALF:])


@njit(cache=True)
def _meet(state, place, parent, stamp, points, bank, lattice, advice, walk):
    """A search has found a state: note it, and work out where its recommendation rounds to."""
    chain, _, rows, shares, _, _, _, floats, integers = walk
    chain[state, STAMP] = stamp
    chain[state, PLACE] = place
    chain[place, STATE] = state
    chain[place, LOWEST] = place
    chain[place, NEXT_EDGE] = 0
    chain[place, PARENT] = parent
    size = points.shape[1]
    target, mean = floats[0, :size], floats[1, :size]
    _recommend(points, bank, state, advice, target, mean)
    _locate(target, lattice, rows[state], shares[state], floats[2], integers)


@njit(cache=True, error_model="numpy")
def mesh_experts_mix(points, bank, mix, scaling, cells, lattice, walk, inputs, memo):
    """Forecast one event: size of the support, with states and weights in the walk.

    Returns −size if the work matrix is too small. The search is that of
    ``fullswap.kernels.stationary.recurrent_class``, with rows worked out on discovery.
    """
    _advise(mix, scaling, cells, inputs, memo)
    chain, stamps, rows, shares, members, dense, out, floats, integers = walk
    advice = memo[0]
    stamps[0] += 1
    stamp = stamps[0]
    width = points.shape[1]
    _locate(advice, lattice, members[:width], out[:width], floats[2], integers)
    heaviest = 0
    for k in range(width):
        if out[k] > out[heaviest]:
            heaviest = k
    found, current = 1, 0
    _meet(members[heaviest], 0, -1, stamp, points, bank, lattice, advice, walk)
    while True:
        edge = chain[current, NEXT_EDGE]
        if edge < width:
            chain[current, NEXT_EDGE] = edge + 1
            state = chain[current, STATE]
            if shares[state, edge] > 0.0:
                successor = rows[state, edge]
                if chain[successor, STAMP] == stamp:
                    place = chain[successor, PLACE]
                    if place < chain[current, LOWEST]:
                        chain[current, LOWEST] = place
                else:
                    _meet(successor, found, current, stamp, points, bank, lattice, advice, walk)
                    current = found
                    found += 1
        else:
            lowest = chain[current, LOWEST]
            if lowest == current:
                break
            current = chain[current, PARENT]
            if lowest < chain[current, LOWEST]:
                chain[current, LOWEST] = lowest
    size = found - current
    if size > dense.shape[0]:
        return -size
    for k in range(size):
        members[k] = chain[current + k, STATE]
        for column in range(size):
            dense[k, column] = 0.0
    for k in range(size):
        state = members[k]
        for edge in range(width):
            if shares[state, edge] > 0.0:
                column = chain[rows[state, edge], PLACE] - current
                dense[k, column] += shares[state, edge]
    gth_in_place(dense, size, out)
    return size


@njit(cache=True, error_model="numpy")
def _learn_shared(mix, scaling, cells, totals, memo, g, y, work):
    """Feed an outcome of scale g to everything that the points share, as for two classes."""
    count, experts, size = scaling.shape[0], mix.shape[1], y.shape[0]
    advice_loss = 0.0
    for k in range(size):
        advice_loss += (memo[0, k] - y[k]) ** 2
    whole = 0.0
    for m in range(experts):
        opinion = memo[1 + 2 * count + m]
        loss = advice_loss
        if opinion[0] == opinion[0]:
            loss = 0.0
            for k in range(size):
                loss += (opinion[k] - y[k]) ** 2
            mix[EXPERT_LOSS, m] += g * loss
            mix[AWAKE_LOSS, m] += g * advice_loss
        mix[SHARE, m] *= np.exp(-g * loss)
        whole += mix[SHARE, m]
    totals[UPDATES] += 1.0
    dealt = 1.0 / (totals[UPDATES] + 1.0)
    kept = (1.0 - dealt) / whole
    for m in range(experts):
        mix[SHARE, m] = kept * mix[SHARE, m] + dealt * mix[PRIOR, m]
    totals[MASS] += g
    totals[ADVICE_LOSS] += g * advice_loss
    for j in range(count):
        p, logs = memo[1 + j], memo[1 + count + j]
        if p[0] == p[0]:
            learn_scaling(scaling[j, 0], 1.0, logs, g, y, work)
            learn_scaling(scaling[j, 1], KEPT, logs, g, y, work)
            likely = 0
            for k in range(size):
                if p[k] > p[likely]:
                    likely = k
            cells[j, likely, 0] += g
            for k in range(size):
                cells[j, likely, 1 + k] += g * (y[k] - p[k])


@njit(cache=True)
def mesh_experts_learn(
    points, bank, mix, scaling, cells, totals, variance, memo, indices, scales, y, work
):  # fmt: skip
    """Feed an outcome y (K,) with these scales to the points of these indices.

    What a point recommended is worked out again from the memo's advice: it is the same unless
    the point has learnt since. `work` as in ``fullswap.kernels.logistic``.
    """
    size = y.shape[0]
    target, mean = work[size + 1, :size], work[size + 2, :size]
    square, advice_loss = 0.0, 0.0
    for k in range(size):
        square += y[k] * y[k]
        advice_loss += (memo[0, k] - y[k]) ** 2
    whole = 0.0
    for place in range(indices.shape[0]):
        g = scales[place]
        if g <= 0.0:
            continue
        i = indices[place]
        whole += g
        _recommend(points, bank, i, memo[0], target, mean)
        lost, own, played = 0.0, 0.0, 0.0
        for k in range(size):
            lost += (target[k] - y[k]) ** 2
            own += (mean[k] - y[k]) ** 2
            played += (points[i, k] - y[k]) ** 2
            bank[i, ONES + k] += g * y[k]
        bank[i, WEIGHT] += g
        bank[i, SQUARES] += g * square
        bank[i, LOST] += g * lost
        bank[i, ODDS] += g * (advice_loss - own)
        totals[PLAYED_LOSS] += g * played
    totals[ROUNDING_MOST] += whole * variance
    _learn_shared(mix, scaling, cells, totals, memo, whole, y, work)


@njit(cache=True)
def mesh_experts_run(
    points, bank, mix, scaling, cells, totals, variance, lattice, walk, memo, work, realised,
    inputs, outcomes, scales, draws, labels, weights, issued,
):  # fmt: skip
    """Forecast and learn, event by event; return how many events were played.

    Stops before an event whose support does not fit the work matrix. `inputs` (T, J, K),
    `outcomes` (T, K), `scales`, `draws` (T,); `labels`, `weights` (T, w) and `issued` (T,)
    receive the forecasts, w the width of the work matrix; arrays of length 0 record nothing.
    """
    members, out = walk[4], walk[6]
    record = issued.shape[0] > 0
    weighted = scales.shape[0] > 0
    for t in range(outcomes.shape[0]):
        size = mesh_experts_mix(points, bank, mix, scaling, cells, lattice, walk, inputs[t], memo)
        if size < 0:
            return t
        drawn = size - 1
        total = 0.0
        for k in range(size - 1):
            total += out[k]
            if draws[t] < total:
                drawn = k
                break
        if record:
            for k in range(size):
                labels[t, k] = members[k]
                weights[t, k] = out[k]
            issued[t] = members[drawn]
        scale = scales[t] if weighted else 1.0
        if scale <= 0.0:
            continue
        if realised:
            members[0], out[0], size = members[drawn], scale, 1
        else:
            for k in range(size):
                out[k] *= scale
        mesh_experts_learn(
            points, bank, mix, scaling, cells, totals, variance, memo, members[:size], out[:size],
            outcomes[t], work,
        )  # fmt: skip
    return outcomes.shape[0]

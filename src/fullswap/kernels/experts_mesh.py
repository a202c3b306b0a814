"""One event of recalibration by experts for K classes, on a Kuhn grid of the simplex.

The same two levels as in ``fullswap.kernels.experts``. For the squared norm and outcomes in the
simplex the aggregating rule with weights w reads [VZ09]

    H_k = ln Σ_m w_m·exp(−‖m − e_k‖²),   q = the point of the simplex nearest to H/2,

and then ‖q − y‖² ≤ −ln Σ_m w_m·exp(−‖m − y‖²) for every y of the simplex. What is forecast is a
fixed point of s ↦ q_s on one simplex of the grid, searched from the one that holds the advice;
where rounding spoils the search, a stationary distribution of "round q_s to the grid", on the first
closed class found from the point nearest to the advice. Recommendations are worked out as a search
meets them.

Symbols: K classes · J models · I = J, or J + 1 with the pool of several models · M = 5·I experts,
an input itself, rescaled from a tight prior, from a wide one, with forgetting, and shifted ·
points (n, K) · prior (M,) · imagined: outcomes of value s that μ_s starts from · memo (1 + 2·I + M,
K): rows advice A, inputs, centred logarithms, opinions · lattice as in
``fullswap.kernels.fixed_point`` · search = (place, work) of it · walk = (scratch, stamps, dense,
rows, splits) · ticket = (members (w,), shares (w,), targets (w, K), means (w, K), memo), beside the
size of the support. Columns of a row before its points: totals (2,), mix (3, M) as for two classes,
scaling (I, 3, K + 1, K + 2): slope and K biases and their precision, three times · likely (I, K,
1 + K): mass and errors by the class that the model holds likeliest. Columns of a point: WEIGHT,
ODDS, ONES (K).
"""

from typing import NamedTuple

import numpy as np

from fullswap.kernels import events
from fullswap.kernels.columns import CELLS, CROWD, HEAD, LOST, MASS, ROUNDING
from fullswap.kernels.compiling import kernel
from fullswap.kernels.events import count_event
from fullswap.kernels.experts import (
    ADVICE_LOSS,
    AWAKE_LOSS,
    EXPERT_LOSS,
    PLAYED_LOSS,
    SHARE,
    TOTALS,
)
from fullswap.kernels.fixed_point import displace, fixed_point
from fullswap.kernels.kuhn import kuhn_locate_one
from fullswap.kernels.logistic import (
    KEPT,
    SCALING_TIGHT,
    SCALING_WIDE,
    learn_scaling,
    likeliest,
    softmax,
    take_logs,
    to_shares,
)
from fullswap.kernels.projection import project_few
from fullswap.kernels.stationary import meet, stationary_sparse

WEIGHT, ODDS, ONES = range(3)
"""Columns of a point: G = Σg · ln of weight of μ_s over A's · Σg·y (K)."""
KINDS, SCALINGS = 5, 3
"""Experts an input, and those of them that rescale it."""
LIKELY_PRIOR = 20.0
"""Events that a class's mean error must outweigh."""
EDGE = 1e-4
"""Logarithms are taken of probabilities raised to this."""


@kernel(forceinline=True)
def mesh_parts(row, inputs, classes):
    """Totals, mix, scaling and likely as views of a row."""
    count = KINDS * inputs
    mix = HEAD + TOTALS
    scaling = mix + 3 * count
    likely = scaling + inputs * SCALINGS * (classes + 1) * (classes + 2)
    end = likely + inputs * classes * (1 + classes)
    return (
        row[HEAD:mix],
        row[mix:scaling].reshape((3, count)),
        row[scaling:likely].reshape((inputs, SCALINGS, classes + 1, classes + 2)),
        row[likely:end].reshape((inputs, classes, 1 + classes)),
    )


@kernel(error_model="numpy")
def read_inputs(probabilities, count, edge, memo):
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
        take_logs(probabilities[j], edge, memo[1 + count + j])
        if count > models:
            for k in range(size):
                pool_logs[k] += memo[1 + count + j, k]
    if count > models:
        for k in range(size):
            pool_logs[k] /= present
            pool[k] = pool_logs[k]
        to_shares(pool)


@kernel(error_model="numpy")
def _advise(mix, scaling, likely, probabilities, memo):
    """Fill the memo for one event; `probabilities` (J, K), NaN marks an absent model (not all)."""
    size = probabilities.shape[1]
    count = scaling.shape[0]
    read_inputs(probabilities, count, EDGE, memo)
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
        top = likeliest(p)
        for k in range(SCALINGS):
            softmax(scaling[j, k, :, 0], logs, memo[first + 1 + k])
        shifted = memo[first + 1 + SCALINGS]
        for k in range(size):
            memo[first, k] = p[k]
            shifted[k] = p[k] + likely[j, top, 1 + k] / (likely[j, top, 0] + LIKELY_PRIOR)
        project_few(shifted)
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
    project_few(advice)


@kernel(error_model="numpy")
def _recommend(points, row, base, imagined, i, advice, target, mean):
    """Write q and μ of point i: the rule for A and μ with the point's odds."""
    size = points.shape[1]
    place = base + (ONES + size) * i
    mass = row[place + WEIGHT] + imagined
    mean_square, advice_square = 0.0, 0.0
    for k in range(size):
        mean[k] = (row[place + ONES + k] + imagined * points[i, k]) / mass
        mean_square += mean[k] * mean[k]
        advice_square += advice[k] * advice[k]
    # ln(e^x + e^y) relative to the larger: no overflow, however long the run
    for k in range(size):
        ours = row[place + ODDS] - mean_square + 2.0 * mean[k]
        theirs = -advice_square + 2.0 * advice[k]
        top = max(ours, theirs)
        target[k] = 0.5 * (top + np.log1p(np.exp(min(ours, theirs) - top)))
    project_few(target)


@kernel
def _locate(target, lattice, indices, weights, floats, integers):
    """Vertices of the simplex of a point, and its barycentric coordinates."""
    cells, strides, lookup = lattice
    total = 0.0
    for k in range(cells.shape[0]):
        total += target[k]
        floats[0, k] = total * cells[k]
    kuhn_locate_one(floats[0], cells, strides, lookup, indices, weights, integers, floats[1])


class Advised(NamedTuple):
    """Where rows of the chain come from: each point's recommendation under this advice."""

    points: np.ndarray
    row: np.ndarray
    base: int
    imagined: float
    advice: np.ndarray
    lattice: tuple[np.ndarray, np.ndarray, np.ndarray]
    floats: np.ndarray
    integers: np.ndarray


@events.implements(meet, Advised)
def _advised(source, state, row_indices, row_weights):
    size = source.points.shape[1]
    target, mean = source.floats[2, :size], source.floats[3, :size]
    _recommend(
        source.points, source.row, source.base, source.imagined, state, source.advice, target,
        mean,
    )  # fmt: skip
    _locate(
        target, source.lattice, row_indices[state], row_weights[state], source.floats,
        source.integers,
    )  # fmt: skip


@events.implements(displace, Advised)
def _displace(source, cells, corner, i, column):
    size = source.points.shape[1]
    target, mean = source.floats[2, :size], source.floats[3, :size]
    _recommend(
        source.points, source.row, source.base, source.imagined, i, source.advice, target, mean
    )  # fmt: skip
    column[0] = 1.0
    total = 0.0
    for k in range(corner.shape[0]):
        total += target[k]
        column[k + 1] = cells * total - corner[k]


@kernel
def _place_at(floats, order, place):
    """The simplex of the point that was located last: its base and order."""
    d = place.shape[0] // 2
    coordinate = 0.0
    for k in range(d):
        coordinate = max(floats[0, k], coordinate)
        place[k] = int(np.rint(coordinate - floats[1, k]))
        place[d + k] = order[k]


@kernel(error_model="numpy")
def mesh_forecast(
    points, row, base, imagined, lattice, search, limit, walk, work, probabilities, inputs, ticket
):  # fmt: skip
    """Size of the support (the ticket is written), or −size if it needs more room."""
    members, shares, targets, means, memo = ticket
    scratch, stamps, dense, row_indices, row_weights = walk
    floats, integers = work
    size = points.shape[1]
    _, mix, scaling, likely = mesh_parts(row, inputs, size)
    _advise(mix, scaling, likely, probabilities, memo)
    _locate(memo[0], lattice, members, shares, floats, integers)
    start = members[likeliest(shares[:size])]
    source = Advised(points, row, base, imagined, memo[0], lattice, floats, integers)
    place, room = search
    _place_at(floats, integers, place)
    width = fixed_point(source, lattice, place, room, limit, members, shares)
    if width == 0:
        stamps[0] += 1
        width = stationary_sparse(
            source, row_indices, row_weights, start, scratch, stamps[0], dense, members, shares
        )
    if width > targets.shape[0]:
        return -width
    for c in range(width):
        _recommend(points, row, base, imagined, members[c], memo[0], targets[c], means[c])
    return width


@kernel(forceinline=True)
def distance(x, y):
    """‖x − y‖²."""
    total = 0.0
    for k in range(y.shape[0]):
        total += (x[k] - y[k]) * (x[k] - y[k])
    return total


@kernel(error_model="numpy")
def learn_mix(totals, mix, prior, opinions, advice, g, rate, mass, y):
    """Feed an outcome of scale g to the weights of the experts, as for two classes."""
    advice_loss = distance(advice, y)
    totals[ADVICE_LOSS] += g * advice_loss
    scale = rate * g
    whole = 0.0
    for m in range(prior.shape[0]):
        loss = advice_loss
        if opinions[m, 0] == opinions[m, 0]:
            loss = distance(opinions[m], y)
            mix[EXPERT_LOSS, m] += g * loss
            mix[AWAKE_LOSS, m] += g * advice_loss
        mix[SHARE, m] *= np.exp(-scale * loss)
        whole += mix[SHARE, m]
    dealt = scale / (mass + 1.0)
    kept = (1.0 - dealt) / whole
    for m in range(prior.shape[0]):
        mix[SHARE, m] = kept * mix[SHARE, m] + dealt * prior[m]


@kernel(error_model="numpy")
def _learn_beliefs(scaling, likely, memo, g, y, matrix):
    """Feed an outcome of scale g to what recalibrates every input that was there."""
    count, size = scaling.shape[0], y.shape[0]
    kept = KEPT if g == 1.0 else KEPT**g
    for j in range(count):
        p, logs = memo[1 + j], memo[1 + count + j]
        if p[0] == p[0]:
            learn_scaling(scaling[j, 0], 1.0, 1.0 / SCALING_TIGHT, logs, g, y, matrix)
            learn_scaling(scaling[j, 1], 1.0, 1.0 / SCALING_WIDE, logs, g, y, matrix)
            learn_scaling(scaling[j, 2], kept, 1.0 / SCALING_WIDE, logs, g, y, matrix)
            top = likeliest(p)
            likely[j, top, 0] += g
            for k in range(size):
                likely[j, top, 1 + k] += g * (y[k] - p[k])


@kernel(error_model="numpy")
def mesh_learn(
    points, row, base, prior, delta, end, realised, matrix, ticket, size, drawn, g, y, number
):  # fmt: skip
    """Feed the outcome y (K,) of one forecast; whether the grid is now due to be refined.

    What a point recommended is charged as of the forecast. `matrix` is work, as in
    ``fullswap.kernels.logistic``.
    """
    members, shares, targets, means, memo = ticket
    classes = y.shape[0]
    inputs = prior.shape[0] // KINDS
    totals, mix, scaling, likely = mesh_parts(row, inputs, classes)
    rate = 1.0 / (1.0 + row[CROWD])
    square = 0.0
    for k in range(classes):
        square += y[k] * y[k]
    whole, advice_loss = 0.0, distance(memo[0], y)
    for c in range(size):
        # the mean of the points is that of their recommendations: only the squares differ
        for k in range(classes):
            s, q = points[members[c], k], targets[c, k]
            row[ROUNDING] += g * shares[c] * (s * s - q * q)
        scale = shares[c] * g
        if realised:
            scale = g if c == drawn else 0.0
        if scale <= 0.0:
            continue
        whole += scale
        place = base + (ONES + classes) * members[c]
        for k in range(classes):
            row[place + ONES + k] += scale * y[k]
        row[place + WEIGHT] += scale
        row[place + ODDS] += rate * scale * (advice_loss - distance(means[c], y))
        row[LOST] += scale * distance(targets[c], y)
        totals[PLAYED_LOSS] += scale * distance(points[members[c]], y)
    if whole > 0.0:
        opinions = memo[1 + 2 * inputs :]
        learn_mix(totals, mix, prior, opinions, memo[0], whole, rate, row[MASS] + whole, y)
        _learn_beliefs(scaling, likely, memo, whole * np.sqrt(rate), y, matrix)
    row[CELLS] += g * delta
    count_event(row, g, square, delta, number)
    return row[MASS] >= end


MeshSpec = events.spec_type(
    "MeshSpec",
    __name__,
    "realised",
    "imagined",
    "prior",
    "lattice",
    "search",
    "limit",
    "walk",
    "work",
    "matrix",
    "members",
    "shares",
    "ticket",
)


@events.implements(events.forecast, MeshSpec)
def _forecast(spec, points, row, level, contexts, t):
    inputs = spec.prior.shape[0] // KINDS
    return mesh_forecast(
        points, row, spec.base, spec.imagined, spec.lattice, spec.search, spec.limit, spec.walk,
        spec.work, contexts[t], inputs, spec.ticket,
    )  # fmt: skip


@events.implements(events.learn, MeshSpec)
def _learn(spec, points, row, level, ticket, drawn, outcomes, t, g, number):
    mesh_learn(
        points, row, spec.base, spec.prior, spec.delta[level], np.inf, spec.realised, spec.matrix,
        spec.ticket, ticket, drawn, g, outcomes[t], number,
    )  # fmt: skip

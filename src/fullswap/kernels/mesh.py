"""Whole rounds on a grid of any set: stationary mixture, play, step, projection, rounding.

Symbols: bank = (targets q (n, A), weight_sums G (n,), row_indices, row_weights (n, k)) · rate (3,)
as in ``fullswap.kernels.rate`` · shape: the set, see ``fullswap.kernels.shapes`` · search: how
points are rounded to the grid, see ``fullswap.kernels.searching`` · room (A,): a point to work on.
"""

from fullswap.kernels.compiling import kernel
from fullswap.kernels.rate import scaled_rate
from fullswap.kernels.searching import locate
from fullswap.kernels.shapes import project
from fullswap.kernels.stationary import stationary_sparse


@kernel
def _learn_one(bank, rate, shape, search, room, i, g, loss):
    """Feed the loss with scale g > 0 to the learner at point i; return ℓ(q_i) before the step."""
    targets, weight_sums, row_indices, row_weights = bank
    width = targets.shape[1]
    q = targets[i]
    square, inner = 0.0, 0.0
    for j in range(width):
        square += q[j] * q[j]
        inner += q[j] * loss[j + 1]
    value = loss[0] * square + inner + loss[width + 1]
    total = weight_sums[i] + g
    step = scaled_rate(rate, total, g)
    for j in range(width):
        q[j] -= step * (2.0 * loss[0] * q[j] + loss[j + 1])
    weight_sums[i] = total
    project(shape, q)
    for j in range(width):
        room[j] = q[j]
    locate(search, room, row_indices[i], row_weights[i])
    return value


@kernel
def mesh_learn(bank, rate, shape, search, room, indices, weights, loss, lost):
    """One round's update of the support; `lost` (m,) receives what each recommendation lost."""
    for k in range(indices.shape[0]):
        lost[k] = _learn_one(bank, rate, shape, search, room, indices[k], weights[k], loss)


@kernel
def mesh_run(
    bank, rate, shape, search, room, walk, start, coefficients, gained, recommended, labels,
    weights,
):  # fmt: skip
    """Play the rounds of `coefficients` (T, A + 2); return (rounds played, last start).

    `walk` = (scratch, stamps (1,), dense, members, out) of `stationary_sparse`. Stops early,
    before a round whose class does not fit `dense`. `gained` (n, A + 3) adds up G and the
    coefficients at each point, `recommended` (n,) what was recommended. `labels` and `weights`
    (T, w) receive the support of each round (weight 0 beyond it); (0, 0) arrays record nothing.
    A support wider than w ends the run before its round.
    """
    chain, stamps, dense, members, out = walk
    for t in range(coefficients.shape[0]):
        stamps[0] += 1
        size = stationary_sparse(bank[2], bank[3], start, chain, stamps[0], dense, members, out)
        if size < 0 or (labels.shape[0] > 0 and size > labels.shape[1]):
            return t, start
        loss = coefficients[t]
        heaviest = 0
        for k in range(size):
            if out[k] > out[heaviest]:
                heaviest = k
            i, g = members[k], out[k]
            value = _learn_one(bank, rate, shape, search, room, i, g, loss)
            recommended[i] += g * value
            gained[i, 0] += g
            for j in range(loss.shape[0]):
                gained[i, j + 1] += g * loss[j]
            if labels.shape[0] > 0:
                labels[t, k] = i
                weights[t, k] = g
        start = members[heaviest]
    return coefficients.shape[0], start

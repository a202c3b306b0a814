"""Forecasts by a stationary distribution on a line: the paper's own rule, compiled.

The recommendation of each point is split between its two neighbours on the grid; the split is a
row of a Markov chain, and what is forecast is the stationary distribution of one closed class.

Symbols: state (7, n), kind and rate as in ``fullswap.kernels.forecast`` · rows = (indices (n, 2),
weights (n, 2)) · walk = (scratch (n, 6), stamps (1,), dense (w, w), members (n,), out (≥ n,)) as
in ``fullswap.kernels.stationary``.
"""

from numba import njit

from fullswap.kernels.forecast import forecast_learn
from fullswap.kernels.loop import POINT, TARGET, cell_of
from fullswap.kernels.stationary import stationary_sparse


@njit(cache=True, error_model="numpy")
def chain_row(state, rows, i):
    """Split the target of point i between its neighbours, mean preserved."""
    indices, weights = rows
    points = state[POINT]
    target = state[TARGET, i]
    cell = cell_of(points, target)
    share = (points[cell + 1] - target) / (points[cell + 1] - points[cell])
    share = min(max(share, 0.0), 1.0)
    indices[i, 0] = cell
    indices[i, 1] = cell + 1
    weights[i, 0] = share
    weights[i, 1] = 1.0 - share


@njit(cache=True)
def chain_rows(state, rows):
    """The rows of all points."""
    for i in range(state.shape[1]):
        chain_row(state, rows, i)


@njit(cache=True)
def chain_mix(rows, start, walk):
    """Size of the class found from `start` (its members and weights are in `walk`).

    −m if a class of m points needs a larger `dense`.
    """
    scratch, stamps, dense, members, out = walk
    stamps[0] += 1
    return stationary_sparse(rows[0], rows[1], start, scratch, stamps[0], dense, members, out)


@njit(cache=True)
def chain_learn(state, kind, rate, rows, i, g, y):
    """Feed outcome y with scale g > 0 to point i, and split its new target."""
    forecast_learn(state, kind, rate, i, g, y)
    chain_row(state, rows, i)


@njit(cache=True)
def chain_run(
    state, kind, rate, rows, walk, realised, start, outcomes, scales, draws, labels, shares, issued
):  # fmt: skip
    """Forecast and learn, event by event; return (events run, next start).

    Stops before an event whose class does not fit `dense` or the columns of `labels`. Arguments
    as in ``forecast_run``, `labels` and `shares` of shape (T, w), zeros to begin with.
    """
    members, out = walk[3], walk[4]
    record = issued.shape[0] > 0
    weighted = scales.shape[0] > 0
    for t in range(outcomes.shape[0]):
        size = chain_mix(rows, start, walk)
        if size < 0 or (record and size > labels.shape[1]):
            return t, start
        drawn = 0
        total = out[0]
        while drawn < size - 1 and draws[t] >= total:
            drawn += 1
            total += out[drawn]
        if record:
            issued[t] = members[drawn]
            for k in range(size):
                labels[t, k] = members[k]
                shares[t, k] = out[k]
        scale = scales[t] if weighted else 1.0
        if scale <= 0.0:
            continue
        if realised:
            chain_learn(state, kind, rate, rows, members[drawn], scale, outcomes[t])
            start = members[drawn]
            continue
        heaviest = 0
        for k in range(size):
            g = out[k] * scale
            if g > out[heaviest] * scale:
                heaviest = k
            chain_learn(state, kind, rate, rows, members[k], g, outcomes[t])
        start = members[heaviest]
    return outcomes.shape[0], start

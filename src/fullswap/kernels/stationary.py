"""Stationary distributions of finite Markov chains.

Two situations, two ways. Where rows are sparse, any stationary distribution serves, so the chain is
explored from one state until a closed class is found and only that class is solved
(`stationary_sparse`), without subtractions and up to rounding. Where rows are dense, the last
round's distribution is nearly stationary and a few steps of the chain repair it
(`stationary_dense`); the residual that remains is reported so that it can be charged to the
guarantee.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullswap.kernels.compiling import kernel
from fullswap.kernels.settling import (
    LARGE,
    LOWEST,
    NEXT_EDGE,
    PARENT,
    PLACE,
    STAMP,
    STATE,
    settle,
)


def make_scratch(n: int) -> NDArray[np.int64]:
    """Scratch of `recurrent_class` for a chain of n states, shape (n, 6); first valid stamp 1.

    Examples
    --------
    >>> make_scratch(4).shape
    (4, 6)
    """
    return np.zeros((n, 6), dtype=np.int64)


@kernel(error_model="numpy")
def gth_in_place(matrix: NDArray, size: int, out: NDArray) -> None:
    """Stationary distribution of a stochastic matrix by Grassmann–Taksar–Heyman elimination.

    Solves πP = π, Σ π = 1 for the leading size × size block P of `matrix`, which is destroyed.
    Nothing is subtracted and the diagonal is never read (it is taken as 1 − the rest of its row),
    so every component has small relative error, however weakly parts of the chain are coupled. If
    P is reducible, or is so after underflow, the result is one of its stationary distributions.

    Symbols: matrix = P (≥ size, ≥ size), row-stochastic; out = π (≥ size,), written.

    Examples
    --------
    >>> import numpy as np
    >>> out = np.empty(2)
    >>> gth_in_place(np.array([[0.9, 0.1], [0.3, 0.7]]), 2, out)
    >>> [round(weight, 12) for weight in out.tolist()]
    [0.75, 0.25]
    """
    # Remove states from the last on: what remains is the chain watched on states 0..k−1 only.
    first = 0
    for k in range(size - 1, 0, -1):
        exit_rate = 0.0
        for j in range(k):
            exit_rate += matrix[k, j]
        if exit_rate == 0.0:
            first = k  # the watched chain never leaves k, so k carries all of its weight
            break
        # Exit probabilities are at most 1: scaling this row, not the column, cannot overflow.
        for j in range(k):
            matrix[k, j] /= exit_rate
        matrix[k, k] = exit_rate
        for i in range(k):
            entry = matrix[i, k]
            if entry != 0.0:
                for j in range(k):
                    matrix[i, j] += entry * matrix[k, j]

    # Put them back: weight of k = inflow / exit rate, relative to a largest weight of at most 1.
    for i in range(first):
        out[i] = 0.0
    out[first] = 1.0
    for k in range(first + 1, size):
        inflow = 0.0
        for i in range(first, k):
            inflow += out[i] * matrix[i, k]
        exit_rate = matrix[k, k]
        if inflow <= exit_rate:
            out[k] = inflow / exit_rate
        else:
            for i in range(first, k):
                out[i] *= exit_rate / inflow
            out[k] = 1.0

    total = 0.0
    for i in range(size):
        total += out[i]
    for i in range(size):
        out[i] /= total


@kernel
def recurrent_class(
    row_indices: NDArray,
    row_weights: NDArray,
    start: int,
    scratch: NDArray,
    stamp: int,
    members: NDArray,
) -> int:
    """First closed communicating class that a search from `start` completes.

    A class C is closed if no state of C has a successor of positive weight outside C. Tarjan's
    search completes components after all that they lead to, so the first one is closed, and the
    search may stop there: nothing beyond the path to it is read. Returns the number of states
    and writes them to `members` in the order of discovery.

    `stamp` must be larger than in every earlier call with the same scratch; so nothing is cleared.

    Symbols: row_indices, row_weights (n, k): successors of each state, unused places have weight 0;
    scratch (n, 6) from `make_scratch`; members (≥ n,) integers, written.

    Examples
    --------
    >>> import numpy as np
    >>> indices, weights = np.array([[1, 2], [1, 1], [0, 2]]), np.full((3, 2), 0.5)
    >>> members = np.empty(3, dtype=np.int64)
    >>> recurrent_class(indices, weights, 2, make_scratch(3), 1, members), members[0].item()
    (1, 1)
    """
    places_per_row = row_indices.shape[1]
    discovered, current, parent, state = 0, -1, -1, start
    # No component is completed before the last step, so every state discovered so far is on
    # Tarjan's stack, and the stack is the order of discovery itself.
    while True:
        if state >= 0:  # a new one
            scratch[state, STAMP] = stamp
            scratch[state, PLACE] = discovered
            scratch[discovered, STATE] = state
            scratch[discovered, LOWEST] = discovered
            scratch[discovered, NEXT_EDGE] = 0
            scratch[discovered, PARENT] = parent
            current = discovered
            discovered += 1
            state = -1
        edge = scratch[current, NEXT_EDGE]
        if edge < places_per_row:
            scratch[current, NEXT_EDGE] = edge + 1
            here = scratch[current, STATE]
            if row_weights[here, edge] > 0.0:
                successor = row_indices[here, edge]
                if scratch[successor, STAMP] == stamp:
                    place = scratch[successor, PLACE]
                    if place < scratch[current, LOWEST]:
                        scratch[current, LOWEST] = place
                else:
                    state, parent = successor, current
        else:
            lowest = scratch[current, LOWEST]
            if lowest == current:
                break
            current = scratch[current, PARENT]
            if lowest < scratch[current, LOWEST]:
                scratch[current, LOWEST] = lowest

    size = discovered - current
    for position in range(size):
        members[position] = scratch[current + position, STATE]
    return size


@kernel(error_model="numpy")
def stationary_sparse(
    row_indices: NDArray,
    row_weights: NDArray,
    start: int,
    scratch: NDArray,
    stamp: int,
    dense: NDArray,
    members: NDArray,
    out_weights: NDArray,
) -> int:
    """Stationary distribution on one closed class reachable from `start`.

    Finds the class as `recurrent_class` does and solves πP = π on it: by elimination, or if it is
    large by sweeps, until ‖πP − π‖₁ is down to what rounding leaves. Returns its size m and
    writes the states to ``members[:m]`` in ascending order and their weights to
    ``out_weights[:m]``. If m > 2 and the work matrix is smaller than m × m, returns −m instead and
    leaves `out_weights` alone: call again with a larger one and a new stamp.

    Symbols: row_indices, row_weights (n, k): successors of each state, unused places have weight 0;
    scratch (n, 6) and stamp as in `recurrent_class`; dense (w, w), destroyed; members (≥ n,)
    integers, written; out_weights (≥ max(w, 2),), written.

    Examples
    --------
    >>> import numpy as np
    >>> indices, weights = np.array([[0, 1], [0, 0]]), np.array([[0.5, 0.5], [1.0, 0.0]])
    >>> dense, members, out = np.empty((2, 2)), np.empty(2, dtype=np.int64), np.empty(2)
    >>> stationary_sparse(indices, weights, 0, make_scratch(2), 1, dense, members, out)
    2
    """
    size = recurrent_class(row_indices, row_weights, start, scratch, stamp, members)
    if size == 1:
        out_weights[0] = 1.0
        return 1
    if size > 2 and size > dense.shape[0]:
        return -size

    # Insertion sort: allocates nothing, and is cheap beside the cubic elimination that follows.
    for position in range(1, size):
        state = members[position]
        hole = position
        while hole > 0 and members[hole - 1] > state:
            members[hole] = members[hole - 1]
            hole -= 1
        members[hole] = state

    places_per_row = row_indices.shape[1]
    if size == 2:
        leave_first = 0.0
        leave_second = 0.0
        for edge in range(places_per_row):
            if row_indices[members[0], edge] == members[1]:
                leave_first += row_weights[members[0], edge]
            if row_indices[members[1], edge] == members[0]:
                leave_second += row_weights[members[1], edge]
        out_weights[0] = leave_second / (leave_first + leave_second)
        out_weights[1] = leave_first / (leave_first + leave_second)
        return 2

    if size > LARGE and 2 * places_per_row + 1 <= size:
        room = dense.reshape(dense.size)
        if settle(row_indices, row_weights, scratch, size, members, room, out_weights):
            return size
    for position in range(size):
        scratch[members[position], PLACE] = position
        for column in range(size):
            dense[position, column] = 0.0
    for position in range(size):
        state = members[position]
        for edge in range(places_per_row):
            if row_weights[state, edge] > 0.0:
                column = scratch[row_indices[state, edge], PLACE]
                dense[position, column] += row_weights[state, edge]
    gth_in_place(dense, size, out_weights)
    return size


@kernel
def _step(matrix: NDArray, x: NDArray, out: NDArray) -> None:
    """Write xQ to `out` row by row: every inner loop runs along memory.

    Symbols: matrix = Q (n, n) C-ordered; x, out (n,).
    """
    n = x.shape[0]
    for j in range(n):
        out[j] = 0.0
    # Four rows a sweep: `out` is loaded and stored a quarter as often.
    whole = n - n % 4
    for i in range(0, whole, 4):
        x0, x1, x2, x3 = x[i], x[i + 1], x[i + 2], x[i + 3]
        for j in range(n):
            out[j] += (x0 * matrix[i, j] + x1 * matrix[i + 1, j]) + (
                x2 * matrix[i + 2, j] + x3 * matrix[i + 3, j]
            )
    for i in range(whole, n):
        for j in range(n):
            out[j] += x[i] * matrix[i, j]


@kernel(error_model="numpy")
def stationary_dense(
    matrix: NDArray, x: NDArray, work: NDArray, tolerance: float, max_steps: int
) -> float:
    """Improve x towards a stationary distribution until ‖xQ − x‖₁ ≤ tolerance.

    Takes at most `max_steps` steps x ← xQ and returns ‖xQ − x‖₁ for exactly the x that it leaves,
    whether or not the tolerance was reached; ``max_steps=0`` only measures. Rounding aside, the
    residual never grows.

    Each step is mixed with the one before, in the proportion that minimises the residual (Aitken's
    method for vectors): this ends oscillation between two sets of states, and shortens the
    tail of slowly mixing chains. Chains that stay slow are for `gth_in_place`.

    Symbols: matrix = Q (n, n) row-stochastic, C-ordered; x (n,) distribution, updated in place;
    work (3, n).

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([1.0, 0.0])
    >>> stationary_dense(np.array([[0.0, 1.0], [1.0, 0.0]]), x, np.empty((3, 2)), 1e-12, 10)
    0.0
    >>> x.tolist()
    [0.5, 0.5]
    """
    n = x.shape[0]
    image, last_image, last_change = work[0], work[1], work[2]
    residual = np.inf
    for step in range(max_steps + 1):
        _step(matrix, x, image)
        residual = 0.0
        for j in range(n):
            residual += abs(image[j] - x[j])
        if residual <= tolerance or step == max_steps:
            break

        # The residual is linear in x, so that of x + mix·(x − last x) is known without a product.
        mix = 0.0
        if step > 0:
            along = 0.0
            length = 0.0
            for j in range(n):
                change = image[j] - x[j]
                difference = change - last_change[j]
                along += change * difference
                length += difference * difference
            if length > 0.0:
                mix = -along / length
            # No further than the weights stay nonnegative; the residual is convex along the way.
            for j in range(n):
                fall = mix * (last_image[j] - image[j])
                if fall > image[j]:
                    mix *= image[j] / fall
            predicted = 0.0
            for j in range(n):
                change = image[j] - x[j]
                predicted += abs(change + mix * (change - last_change[j]))
            if not predicted < residual:
                mix = 0.0

        total = 0.0
        for j in range(n):
            last_change[j] = image[j] - x[j]
            weight = image[j]
            if mix != 0.0:
                # Rounding can leave a weight that was brought to 0 just below it.
                weight = max(0.0, weight + mix * (weight - last_image[j]))
            last_image[j] = image[j]
            x[j] = weight
            total += weight
        for j in range(n):
            x[j] /= total
    return residual

"""Cheapest cancellation of a signed measure on a line: the dual of smooth calibration error.

    max Σ c_i f_i  over  |f_i| ≤ 1,  |f_{i+1} − f_i| ≤ d_i

equals the least cost of making all c_i vanish, where mass may be carried along the line at d_i a
unit between i and i + 1, or thrown away at 1 a unit. Let H_i(z) be the least cost up to point i
if z flows out of it. H_1(z) = |z − c_1|. The way to the next point adds d_i·|z|, the next point
shifts the argument by c_{i+1}, and throwing away cuts slopes to [−1, 1]. So H is convex, and its
kinks (where the slope grows by their mass) hold mass 2 in all: each step adds a kink of mass 2·d_i
at z = 0 and takes d_i from the lowest and d_i from the highest kinks. In coordinates where
the shift is left out, the kinks lie at 0 and at −(c_1 + … + c_i): known beforehand, hence ranked
beforehand, and two heaps of ranks find the ends.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullswap.kernels.compiling import kernel

# Heaps of our own: numba's heapq compiles, but a cached kernel that uses it cannot be loaded again.


@kernel
def push(heap: NDArray, size: int, item: int) -> None:
    """Put ``item`` into the min-heap ``heap[:size]``, which then has size + 1 items."""
    place = size
    while place > 0:
        parent = (place - 1) // 2
        if heap[parent] <= item:
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = item


@kernel
def pop(heap: NDArray, size: int) -> None:
    """Take the least item out of the min-heap ``heap[:size]``, which then has size − 1 items."""
    item = heap[size - 1]
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size - 1:
            break
        if child + 1 < size - 1 and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= item:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = item


@kernel
def cancellation_cost(
    kinks: NDArray, order: NDArray, ranks: NDArray, distances: NDArray, end: float
) -> float:
    """Value H_n of the cheapest cancellation, in O(n log n).

    Symbols: kinks (n,) = 0, −c_1, −(c_1 + c_2), …, without the last point · order (n,) = argsort
    of kinks · ranks (n,) its inverse · distances (n − 1,) = d · end = −(c_1 + … + c_n).

    Examples
    --------
    >>> import numpy as np  # 0.3 at one place, −0.2 at distance 0.5: carry 0.2, throw away 0.1
    >>> both, way = np.array([0.0, -0.3]), np.array([0.5])
    >>> cancellation_cost(both, np.array([1, 0]), np.array([1, 0]), way, -0.1)
    0.2
    """
    n = kinks.shape[0]
    mass = np.zeros(n)
    lowest, highest = np.empty(n, np.int64), np.empty(n, np.int64)
    lows, highs = 1, 1
    lowest[0], highest[0] = ranks[0], -ranks[0]
    mass[ranks[0]] = 2.0
    intercept = 0.0  # H(z) = z + intercept far to the right
    for i in range(1, n):
        way, rank = distances[i - 1], ranks[i]
        mass[rank] = 2.0 * way
        push(lowest, lows, rank)
        push(highest, highs, -rank)
        lows += 1
        highs += 1
        intercept -= way * kinks[i]
        # Mass 2 stays between what is taken at both ends, so neither heap runs empty. A kink
        # that was used up from the other end has mass 0 and is dropped when it surfaces.
        left = way
        while left > 0.0:
            top = -highest[0]
            taken = min(left, mass[top])
            intercept += taken * kinks[order[top]]
            mass[top] -= taken
            left -= taken
            if mass[top] == 0.0:
                pop(highest, highs)
                highs -= 1
        left = way
        while left > 0.0:
            top = lowest[0]
            taken = min(left, mass[top])
            mass[top] -= taken
            left -= taken
            if mass[top] == 0.0:
                pop(lowest, lows)
                lows -= 1
    value = end + intercept
    for rank in range(n):
        kink = kinks[order[rank]]
        if kink > end:
            value += mass[rank] * (kink - end)
    return value

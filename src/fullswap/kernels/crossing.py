"""Fixed points between neighbours of a one-dimensional grid.

Grid points s_0 < … < s_{n−1} each have a recommendation q_i. Where the recommendations pass from
"at or above their point" to "at or below it" lies a two-point mixture λ with Σ λ_j q_j = Σ λ_j s_j.
For convex losses that mixture serves as well as a stationary distribution of the rounded
recommendations, and it costs O(log n) to find instead of a linear system.
"""

from __future__ import annotations

from numpy.typing import NDArray

from fullswap.kernels.compiling import kernel


@kernel
def find_crossing(points: NDArray, targets: NDArray, hint: int) -> int:
    """Find neighbours between which the targets cross the points.

    Returns i with one of three meanings; at least one always applies:

    - 0 ≤ i ≤ n − 2: ``targets[i] >= points[i]`` and ``targets[i+1] <= points[i+1]``;
    - i = −1: ``targets[0] < points[0]``, play the first point alone;
    - i = n − 1: ``targets[n-1] > points[n-1]``, play the last point alone. A single point
      (n = 1) on its own target also gives 0 = n − 1.

    In each case points i and i + 1 carry the weights λ and 1 − λ of `crossing_weight`, where a
    point outside the grid has weight 0. If several crossings exist, the one found depends on
    `hint`: galloping starts there, so the cost is O(log of the distance to the answer). Every
    integer is a valid hint; the last answer is the best one.

    Symbols: points = s (n,) increasing; targets = q (n,); hint = i of the last round.

    Examples
    --------
    >>> import numpy as np
    >>> find_crossing(np.array([0.0, 0.5, 1.0]), np.array([0.7, 0.7, 0.7]), 0)
    1
    """
    last = points.shape[0] - 1
    if last == 0:
        return -1 if targets[0] < points[0] else 0

    # Starting at a left end n − 2 at most keeps the answer n − 1 for targets strictly above.
    start = min(max(hint, 0), last - 1)
    step = 1
    if targets[start] >= points[start]:
        low = start
        high = start + 1
        while targets[high] > points[high]:
            if high == last:
                return last
            low = high
            step *= 2
            high = min(high + step, last)
    else:
        high = start
        if high == 0:
            return -1
        low = start - 1
        while targets[low] < points[low]:
            if low == 0:
                return -1
            high = low
            step *= 2
            low = max(low - step, 0)

    # Invariant: targets[low] >= points[low] and targets[high] <= points[high].
    while high - low > 1:
        middle = (low + high) // 2
        if targets[middle] >= points[middle]:
            low = middle
        else:
            high = middle
    return low


@kernel(error_model="numpy")
def crossing_weight(points: NDArray, targets: NDArray, i: int) -> float:
    """Weight of point i in the mixture of points i and i + 1 that is its own target.

    λ = (s_{i+1} − q_{i+1}) / ((q_i − s_i) + (s_{i+1} − q_{i+1})), and 1 if both gaps are 0. Then
    λ q_i + (1 − λ) q_{i+1} = λ s_i + (1 − λ) s_{i+1}. Defined for every answer of `find_crossing`:
    at i = −1 the weight is 0 (all of it on point 0), at i = n − 1 it is 1.

    Symbols: points = s (n,) increasing; targets = q (n,); i from `find_crossing`.

    Examples
    --------
    >>> import numpy as np
    >>> round(crossing_weight(np.array([0.0, 0.5, 1.0]), np.array([0.7, 0.7, 0.7]), 1), 12)
    0.6
    """
    if i < 0:
        return 0.0
    if i + 1 >= points.shape[0]:
        return 1.0
    left_gap = targets[i] - points[i]
    right_gap = points[i + 1] - targets[i + 1]
    total = left_gap + right_gap
    return right_gap / total if total > 0.0 else 1.0

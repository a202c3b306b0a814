"""Linear maxima over many points that lie in groups: most groups are passed over.

No point of a group with middle c and radius r has more than ⟨c, w⟩ + r·‖w‖ in direction w. The
group that promises most is looked through first; then those that promise more than what it had.

Symbols: points (n, d), group by group · starts (g + 1,) of the groups · middles (g, d) · radii (g,)
· directions (m, d) · promises (g,).
"""

import numpy as np

from fullswap.kernels.compiling import kernel


@kernel
def best_of_groups(points, starts, middles, radii, directions):
    """Rows (m,) of points with the largest inner product with each direction."""
    m, d = directions.shape
    groups = len(radii)
    result, promises = np.zeros(m, np.int64), np.empty(groups)
    for i in range(m):
        w = directions[i]
        length = 0.0
        for k in range(d):
            length += w[k] * w[k]
        length = np.sqrt(length)
        first = 0
        for g in range(groups):
            value = radii[g] * length
            for k in range(d):
                value += middles[g, k] * w[k]
            promises[g] = value
            if value > promises[first]:
                first = g
        best, largest = _look_through(points, starts[first], starts[first + 1], w, 0, -np.inf)
        for g in range(groups):
            if g != first and promises[g] > largest:
                best, largest = _look_through(points, starts[g], starts[g + 1], w, best, largest)
        result[i] = best
    return result


@kernel
def _look_through(points, start, end, w, best, largest):
    for j in range(start, end):
        value = 0.0
        for k in range(w.shape[0]):
            value += points[j, k] * w[k]
        if value > largest:
            best, largest = j, value
    return best, largest

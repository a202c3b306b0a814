"""Kuhn's triangulation of a lattice: find the simplex of a point by sorting fractional parts.

Symbols: y (m, d) points in cell units, 0 ≤ y_i ≤ cells_i · cells (d,) · strides (d,) flat index
of a lattice point is Σ strides_i·k_i · lookup maps flat indices to grid rows (empty: identity).
"""

import numpy as np

from fullswap.kernels.compiling import kernel


@kernel
def kuhn_locate_one(y, cells, strides, lookup, indices, weights, order, part):
    """Write the d + 1 vertices of one point's simplex and its barycentric coordinates.

    The path starts at the floor of y (d,) and raises coordinates in order of falling fractional
    part; among equal parts the larger index goes first, which keeps the path inside the
    ordered chamber y_1 ≤ … ≤ y_d when y is there. `order` and `part` (≥ d,) are scratch.
    """
    d = cells.shape[0]
    flat = 0
    coordinate = 0.0
    for i in range(d):
        # in the chamber, rounding must not break the order of the coordinates
        if lookup.size == 0:
            coordinate = y[i]
        else:
            coordinate = max(y[i], coordinate)
        base = min(max(np.floor(coordinate), 0.0), cells[i] - 1.0)
        part[i] = min(max(coordinate - base, 0.0), 1.0)
        flat += strides[i] * np.int64(base)
        # insertion into the order: before every entry that is not strictly larger
        j = i
        while j > 0 and part[order[j - 1]] <= part[i]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = i
    previous = 1.0
    for j in range(d):
        current = part[order[j]]
        indices[j] = flat if lookup.size == 0 else lookup[flat]
        weights[j] = previous - current
        previous = current
        flat += strides[order[j]]
    indices[d] = flat if lookup.size == 0 else lookup[flat]
    weights[d] = previous


@kernel
def kuhn_locate(y, cells, strides, lookup, indices, weights):
    """The same for many points: y (m, d), indices and weights (m, d + 1)."""
    order = np.empty(y.shape[1], np.int64)
    part = np.empty(y.shape[1], np.float64)
    for row in range(y.shape[0]):
        kuhn_locate_one(y[row], cells, strides, lookup, indices[row], weights[row], order, part)

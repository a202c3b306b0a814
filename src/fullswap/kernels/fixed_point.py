"""Fixed points of s ↦ q_s on the Kuhn grid of a simplex.

The squared loss is convex, so a fixed point on one simplex of the grid does what a stationary
distribution does, with K = d + 1 neighbouring points at most: Σ λ_s·q_s = Σ λ_s·s = x gives
Σ λ_s·ℓ(s) ≤ ℓ(x) + β·V/2 ≤ Σ λ_s·ℓ(q_s) + β·V/2.

Symbols: source: where recommendations come from, see `displace` · lattice = (cells N (d,), strides
(d,), lookup) as in ``fullswap.kernels.kuhn``: grid points are lattice points 0 ≤ y_1 ≤ … ≤ y_d ≤ N,
N times their cumulative sums · place (2d,) = (base, order): the simplex with the corners base,
base + e_order[0], base + e_order[0] + e_order[1], … · work = (floats (d + 5, d + 2), integers
(4, d + 2)).
"""

from typing import NamedTuple

import numpy as np

from fullswap.kernels import events
from fullswap.kernels.compiling import kernel

WEIGHT, MEAN = 0, 1
"""Columns of a point: G = Σ g · what it recommends (K)."""
FLAT = 1e-12
"""Pivots below this count as 0: coordinates are of the order of the number of cells."""
SMALLEST_STEP = 1e-13
"""Moves and weights below this are rounding."""
SMALLEST_SHARE = 1e-15
"""Shares below this are rounding, and left out."""
RESIDUAL = 1e-12
"""How far, in cells of the whole grid, a fixed point may be from one."""
UNEVEN = 0.37
"""Makes the shares of the first corners unequal: symmetric ones would tie."""


@kernel(forceinline=True)
def _corner(base, order, position, corner):
    """Write corner number `position` of the path to `corner` (d,); True if on the upper level."""
    d = base.shape[0]
    upper = False
    for k in range(d):
        corner[k] = base[k]
    for j in range(position):
        if order[j] == d:
            upper = True
        else:
            corner[order[j]] += 1
    return upper


@kernel(forceinline=True)
def _row_of(corner, lattice):
    """Grid row of a lattice point, −1 outside the simplex."""
    cells, strides, lookup = lattice
    flat, previous = 0, 0
    for k in range(corner.shape[0]):
        if corner[k] < previous or corner[k] > cells[k]:
            return -1
        previous = corner[k]
        flat += strides[k] * corner[k]
    return lookup[flat]


def displace(source, cells, corner, i, column):
    """Write (1, q − s) at grid row i, which is the lattice point `corner`, in cumulative sums."""
    raise NotImplementedError


class Means(NamedTuple):
    """Each point recommends its mean: points (G, q), K + 1 numbers each, from ``base`` on."""

    row: np.ndarray
    base: int


@events.implements(displace, Means)
def _displace(source, cells, corner, i, column):
    column[0] = 1.0
    place, total = source.base + (corner.shape[0] + 2) * i + MEAN, 0.0
    for k in range(corner.shape[0]):
        total += source.row[place + k]
        column[k + 1] = cells * total - corner[k]


@kernel(error_model="numpy", short=True)
def _solve_at(source, lattice, base, order, corner, matrix, share):
    """Whether Σ λ(q − s) = 0 has a solution λ ≥ 0 on the upper corners of this path."""
    size = corner.shape[0] + 1
    for c in range(size):
        _corner(base, order, c + 1, corner)
        displace(source, lattice[0][0], corner, _row_of(corner, lattice), share)
        for k in range(size):
            matrix[k, c] = share[k]
    for k in range(size):
        matrix[k, size] = 1.0 if k == 0 else 0.0
    for c in range(size):
        best = c
        for k in range(c + 1, size):
            if abs(matrix[k, c]) > abs(matrix[best, c]):
                best = k
        if abs(matrix[best, c]) < FLAT:
            return False
        if best != c:
            for j in range(c, size + 1):
                matrix[c, j], matrix[best, j] = matrix[best, j], matrix[c, j]
        for k in range(c + 1, size):
            factor = matrix[k, c] / matrix[c, c]
            for j in range(c + 1, size + 1):
                matrix[k, j] -= factor * matrix[c, j]
    for c in range(size - 1, -1, -1):
        total = matrix[c, size]
        for j in range(c + 1, size):
            total -= matrix[c, j] * share[j]
        share[c] = total / matrix[c, c]
        if not share[c] >= 0.0:
            return False
    return True


@kernel(error_model="numpy", short=True)
def _walk_to(source, lattice, base, order, where, corner, floats, limit):
    """Follow the path of Merrill's homotopy to a fixed point [M72]; False if it breaks off.

    Between a lower level, where every corner points at `start` inside the first simplex, and the
    upper one, where corners point at their learners' targets, prisms are cut into simplices of
    one dimension more. Facets that carry a zero of the interpolated map form a path, which cannot
    leave through the sides (there everything points inwards) and so ends on the upper level.
    """
    d = base.shape[0]
    inverse = floats[: d + 1]
    share, move, column, start = floats[d + 1], floats[d + 2], floats[d + 3], floats[d + 4]
    total = 0.0
    for c in range(d + 1):
        share[c] = 1.0 + UNEVEN * c
        total += share[c]
        where[c] = c
    rest = 1.0
    for c in range(d + 1):
        share[c] /= total
        rest -= share[c]
        if c < d:
            start[order[c]] = rest  # seen from the base
    # λ_c = u_{c−1} − u_c for u_{−1} = 1 and u_j the coordinate order[j] of the point: inverted
    for c in range(d + 1):
        for k in range(d + 1):
            inverse[c, k] = 0.0
    inverse[0, 0] = 1.0
    for j in range(d):
        k = order[j]
        inverse[j + 1, 0] += start[k]
        inverse[j + 1, k + 1] -= 1.0
        inverse[j, 0] -= start[k]
        inverse[j, k + 1] += 1.0
    for k in range(d):
        start[k] += base[k]
    entering = d + 1
    for _ in range(limit):
        upper = _corner(base, order, entering, corner)
        i = _row_of(corner, lattice)
        if i < 0:
            return False
        if upper:
            displace(source, lattice[0][0], corner, i, column)
        else:
            column[0] = 1.0
            for k in range(d):
                column[k + 1] = start[k] - corner[k]
        level = 0  # corners after this place of the path are on the upper level
        while order[level] != d:
            level += 1
        leaving, step = -1, np.inf
        for c in range(d + 1):
            total = 0.0
            for k in range(d + 1):
                total += inverse[c, k] * column[k]
            move[c] = total
            if total > SMALLEST_STEP:
                ratio = share[c] / total
                if ratio < step or (ratio == step and where[c] <= level):
                    leaving, step = c, ratio
        if leaving < 0:
            return False
        scale = 1.0 / move[leaving]
        for k in range(d + 1):
            inverse[leaving, k] *= scale
        below = 0.0
        gone = where[leaving]
        where[leaving] = entering
        for c in range(d + 1):
            if c == leaving:
                share[c] = step
            else:
                rest = share[c] - step * move[c]
                share[c] = rest if rest > 0.0 else 0.0
                for k in range(d + 1):
                    inverse[c, k] -= move[c] * inverse[leaving, k]
            if where[c] <= level:
                below += share[c]
        if below <= SMALLEST_STEP:
            return True
        # The simplex on the other side of the facet without the corner that is gone.
        if 0 < gone < d + 1:
            order[gone - 1], order[gone] = order[gone], order[gone - 1]
            entering = gone
            continue
        turned = order[0] if gone == 0 else order[d]
        if turned == d:  # back on the lower level
            return False
        if gone == 0:
            base[turned] += 1
            for k in range(d):
                order[k] = order[k + 1]
            order[d] = turned
        else:
            base[turned] -= 1
            for k in range(d, 0, -1):
                order[k] = order[k - 1]
            order[0] = turned
        for c in range(d + 1):
            where[c] += -1 if gone == 0 else 1
        entering = d + 1 if gone == 0 else 0
    return False


@kernel(error_model="numpy", short=True)
def fixed_point(source, lattice, place, work, limit, members, weights):
    """Weights λ on the corners of one simplex of the grid with Σ λ_s·(q_s − s) = 0.

    Tries the simplex of `place` first, then walks from there. Returns the size of the support,
    whose rows in rising order and weights are written, and moves `place` there; 0 with `place`
    as it was if the walk breaks off or takes more than `limit` steps.
    """
    floats, integers = work
    d = place.shape[0] // 2
    base, order, where, corner = integers[0, :d], integers[1], integers[2], integers[3, :d]
    order[0] = d
    for k in range(d):
        base[k] = place[k]
        order[k + 1] = place[d + k]
    share = floats[d + 1]
    if _solve_at(source, lattice, base, order, corner, floats, share):
        for c in range(d + 1):
            where[c] = c + 1
    else:
        for k in range(d):
            order[k] = place[d + k]
        order[d] = d
        if not _walk_to(source, lattice, base, order, where, corner, floats, limit):
            return 0
    # What is played is checked, however it was found.
    column, rest = floats[d + 2], floats[d + 3]
    size, total = 0, 0.0
    for k in range(d + 1):
        rest[k] = 0.0
    for c in range(d + 1):
        if not _corner(base, order, where[c], corner) or share[c] <= SMALLEST_SHARE:
            continue
        i = _row_of(corner, lattice)
        displace(source, lattice[0][0], corner, i, column)
        for k in range(d + 1):
            rest[k] += share[c] * column[k]
        hole = size
        while hole > 0 and members[hole - 1] > i:
            members[hole] = members[hole - 1]
            weights[hole] = weights[hole - 1]
            hole -= 1
        members[hole] = i
        weights[hole] = share[c]
        size += 1
    total = rest[0]
    for k in range(1, d + 1):
        if not abs(rest[k]) <= RESIDUAL * lattice[0][0] * total:
            return 0
    for j in range(size):
        weights[j] /= total
    j = 0
    for k in range(d):
        place[k] = base[k]
        if order[j] == d:
            j += 1
        place[d + k] = order[j]
        j += 1
    return size

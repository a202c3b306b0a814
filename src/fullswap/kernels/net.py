"""Barycentric rounding on a net that is never triangulated.

Where the lattice simplex around a target lies in the set, it is used. Else the weights are those of
the point of a lifted hull nearest to a point far below it: over all s near the target q,

    minimise  k/2·‖Σ λ_s·s − q‖² + ½·Σ λ_s·‖s − q‖² ,   λ ≥ 0, Σ λ_s = 1 ,

which is the distance of (0, −H) from the hull of (√k·(s − q), ‖s − q‖²/2H) up to terms that vanish
as H grows. The nearest point lies on a face with at most d + 1 corners, found by Wolfe's method.
With k → ∞ it is the Delaunay simplex around q. What the minimum is at most stands in
``fullswap.theorems.nets``; points farther away are looked at only if the near ones exceed it.

Symbols: net = (points (n, d), lattice, buckets, numbers): lattice = (shift (d,), matrix (d, d),
cells (d,), strides (d,), lookup), lookup −1 where a lattice point is not in the set; buckets =
(low (d,), side, counts (d,), starts (·,), order (n,)): points of cube j are
order[starts[j]:starts[j + 1]]; numbers = (k, H, first radius, largest allowed minimum).
room = (lifted (n, d + 1), near (n,), vectors, matrices, indices, offset (d + 1,), parts (2, d + 1),
places (3, d + 1)).
"""

import numpy as np

from fullswap.kernels.compiling import kernel
from fullswap.kernels.nearest import scratch, walk


@kernel
def net_room(n, d):
    """Room to round one target after the other."""
    vectors, matrices, indices = scratch(d + 1)
    lifted, near = np.empty((n, d + 1)), np.empty(n, np.int64)
    parts, places = np.empty((2, d + 1)), np.empty((3, d + 1), np.int64)
    return lifted, near, vectors, matrices, indices, np.empty(d + 1), parts, places


@kernel
def in_lattice(q, lattice, parts, places, indices, weights):
    """Write the lattice simplex around q; False if a corner with weight is not in the set."""
    shift, matrix, cells, strides, lookup = lattice
    d = cells.shape[0]
    part, order = parts[0], places[0]
    flat = 0
    for i in range(d):
        y = 0.0
        for j in range(d):
            y += (q[j] - shift[j]) * matrix[j, i]
        base = np.floor(y)
        if base < 0.0 or base >= cells[i]:
            return False
        part[i] = y - base
        flat += strides[i] * np.int64(base)
        # coordinates are raised in the order of falling fractional parts
        j = i
        while j > 0 and part[order[j - 1]] < part[i]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = i
    previous = 1.0
    for j in range(d + 1):
        current = part[order[j]] if j < d else 0.0
        weights[j] = previous - current
        indices[j] = max(lookup[flat], 0)
        if weights[j] > 0.0 and lookup[flat] < 0:
            return False
        previous = current
        if j < d:
            flat += strides[order[j]]
    return True


@kernel
def _gather(q, points, buckets, radius, room):
    """Number of points within the radius, whose indices go to `near`."""
    low, side, counts, starts, order = buckets
    near, cube, last = room[1], room[7][1], room[7][2]
    d = q.shape[0]
    for i in range(d):
        first = np.int64(np.floor((q[i] - radius - low[i]) / side))
        cube[i] = min(max(first, 0), counts[i] - 1)
        final = np.int64(np.floor((q[i] + radius - low[i]) / side))
        last[i] = min(max(final, 0), counts[i] - 1)
    begin = room[7][0]
    for i in range(d):
        begin[i] = cube[i]
    found = 0
    while True:
        flat = 0
        for i in range(d):
            flat = flat * counts[i] + cube[i]
        for place in range(starts[flat], starts[flat + 1]):
            s = order[place]
            square = 0.0
            for j in range(d):
                square += (points[s, j] - q[j]) ** 2
            if square <= radius * radius:
                near[found] = s
                found += 1
        # the next cube, the last axis fastest
        i = d - 1
        while i >= 0 and cube[i] == last[i]:
            cube[i] = begin[i]
            i -= 1
        if i < 0:
            return found
        cube[i] += 1


@kernel(error_model="numpy")
def _solve(q, points, found, k, depth, room):
    """Active corners of the nearest point, and the minimum of the programme."""
    lifted, near, vectors, matrices, indices, target = room[:6]
    d = q.shape[0]
    root = np.sqrt(k)
    # lengths of about 1, as the walk expects them
    unit = 1.0 / (root * np.sqrt(_square(points[near[0]], q)) + depth)
    for i in range(found):
        square = 0.0
        for j in range(d):
            offset = points[near[i], j] - q[j]
            square += offset * offset
            lifted[i, j] = unit * root * offset
        lifted[i, d] = unit * square / (2.0 * depth)
    target[:d] = 0.0
    target[d] = -unit * depth
    _, size = walk(lifted[:found], target, room[6][1], vectors, matrices, indices)
    weights, active = vectors[0], indices[0]
    value = 0.0
    for j in range(d):
        mean = 0.0
        for i in range(size):
            mean += weights[i] * (points[near[active[i]], j] - q[j])
        value += 0.5 * k * mean * mean
    for i in range(size):
        value += 0.5 * weights[i] * _square(points[near[active[i]]], q)
    return size, value


@kernel
def _square(first, second):
    total = 0.0
    for j in range(second.shape[0]):
        total += (first[j] - second[j]) ** 2
    return total


@kernel
def net_locate_one(q, net, room, indices, weights):
    """Write at most d + 1 points of the net and weights for q (d,); unused places have weight 0.

    Returns the minimum that was reached (0 for a lattice simplex).
    """
    points, lattice, buckets, numbers = net
    if in_lattice(q, lattice, room[6], room[7], indices, weights):
        return 0.0
    radius = numbers[2]
    reach = buckets[1] * (buckets[2].max() + 2) * np.sqrt(q.shape[0])
    while True:
        found = _gather(q, points, buckets, radius, room)
        if found > 0:
            size, value = _solve(q, points, found, numbers[0], numbers[1], room)
            if value <= numbers[3] or radius >= reach:
                break
        radius *= 1.5
    near, shares, active = room[1], room[2][0], room[4][0]
    total = 0.0
    for i in range(size):
        total += shares[i]
    for i in range(indices.shape[0]):
        indices[i] = near[active[i]] if i < size else near[active[0]]
        weights[i] = shares[i] / total if i < size else 0.0
    return value


@kernel
def net_locate(rows, net, room, indices, weights):
    """The same for rows (m, d); returns the largest minimum that was reached."""
    worst = 0.0
    for i in range(rows.shape[0]):
        worst = max(worst, net_locate_one(rows[i], net, room, indices[i], weights[i]))
    return worst

"""Barycentric rounding on a net that is never triangulated.

Where the lattice simplex around a target lies in the set, it is used. Else the weights are those of
the point of a lifted hull nearest to a point far below it: over all s near the target q,

    minimise  k/2·‖Σ λ_s·s − q‖² + ½·Σ λ_s·‖s − q‖² ,   λ ≥ 0, Σ λ_s = 1 ,

which is the distance of (0, −H) from the hull of (√k·(s − q), ‖s − q‖²/2H) up to terms that vanish
as H grows. The nearest point lies on a face with at most d + 1 corners, found by Wolfe's method.
With k → ∞ it is the Delaunay simplex around q. What the minimum is at most is proved in
``fullswap.theorems.nets``; points farther away are looked at only if near ones exceed it.

Symbols: frame y = (x − origin)·basis, origin (A,), basis (A, d) · points (n, d) · lattice
coordinates (y − shift)·matrix, lookup: rows of lattice points, −1 where one is not in the set ·
cubes: points of cube j are order[starts[j] : starts[j + 1]] · numbers = (k, H, first radius,
largest allowed minimum) · the rest is room.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullswap.kernels.compiling import kernel
from fullswap.kernels.events import implements
from fullswap.kernels.nearest import scratch, walk
from fullswap.kernels.searching import locate

WIDER = 1.5
"""The radius grows by this factor while the points within it are not enough."""


class NetLattice(NamedTuple):
    """Arrays as above; strides (d,) of the lookup, cells (d,) along its axes."""

    shift: np.ndarray
    matrix: np.ndarray
    cells: np.ndarray
    strides: np.ndarray
    lookup: np.ndarray


class NetCubes(NamedTuple):
    """Arrays as above; low (d,), side and counts (d,) of the cubes."""

    low: np.ndarray
    side: float
    counts: np.ndarray
    starts: np.ndarray
    order: np.ndarray


class NetSearch(NamedTuple):
    """Arrays as above; ``lifted`` (n, d + 1) and ``near`` (n,) hold the points looked at."""

    origin: np.ndarray
    basis: np.ndarray
    points: np.ndarray
    lattice: NetLattice
    cubes: NetCubes
    numbers: np.ndarray
    lifted: np.ndarray
    near: np.ndarray
    vectors: np.ndarray
    matrices: np.ndarray
    indices: np.ndarray
    parts: np.ndarray
    places: np.ndarray


def net_cubes(points: NDArray, side: float) -> NetCubes:
    """Points (n, d) in cubes of this side."""
    low = points.min(axis=0)
    places = np.floor((points - low) / side).astype(np.int64)
    counts = places.max(axis=0) + 1
    flat = np.ravel_multi_index(tuple(places.T), tuple(counts))
    order = np.argsort(flat, kind="stable")
    starts = np.searchsorted(flat[order], np.arange(int(np.prod(counts)) + 1))
    return NetCubes(low, float(side), counts, starts.astype(np.int64), order.astype(np.int64))


def net_room(n: int, d: int) -> tuple[NDArray, ...]:
    """Room to round one target after the other."""
    lifted, near = np.empty((n, d + 1)), np.empty(n, np.int64)
    parts, places = np.empty((4, d + 1)), np.empty((3, d + 1), np.int64)
    return lifted, near, *scratch.py_func(d + 1), parts, places


@kernel
def _in_lattice(y, lattice, part, order, indices, weights):
    """Write the lattice simplex around y; False if a corner with weight is not in the set."""
    d = lattice.cells.shape[0]
    flat = 0
    for i in range(d):
        step = 0.0
        for j in range(d):
            step += (y[j] - lattice.shift[j]) * lattice.matrix[j, i]
        base = np.floor(step)
        if not (0.0 <= base < lattice.cells[i]):
            return False
        part[i] = step - base
        flat += lattice.strides[i] * np.int64(base)
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
        indices[j] = max(lattice.lookup[flat], 0)
        if weights[j] > 0.0 and lattice.lookup[flat] < 0:
            return False
        previous = current
        if j < d:
            flat += lattice.strides[order[j]]
    return True


@kernel
def _gather(search, y, radius):
    """Number of points within the radius, whose indices go to ``near``."""
    points, cubes, near = search.points, search.cubes, search.near
    first, cube, last = search.places[0], search.places[1], search.places[2]
    d = points.shape[1]
    for i in range(d):
        most = cubes.counts[i] - 1.0
        from_low = (y[i] - radius - cubes.low[i]) / cubes.side
        to_high = (y[i] + radius - cubes.low[i]) / cubes.side
        first[i] = np.int64(min(max(from_low, 0.0), most))
        last[i] = np.int64(min(max(to_high, 0.0), most))
        cube[i] = first[i]
    found = 0
    while True:
        flat = 0
        for i in range(d):
            flat = flat * cubes.counts[i] + cube[i]
        for place in range(cubes.starts[flat], cubes.starts[flat + 1]):
            s = cubes.order[place]
            if _square(points[s], y) <= radius * radius:
                near[found] = s
                found += 1
        # the next cube, the last axis fastest
        i = d - 1
        while i >= 0 and cube[i] == last[i]:
            cube[i] = first[i]
            i -= 1
        if i < 0:
            return found
        cube[i] += 1


@kernel(error_model="numpy")
def _solve(search, y, found):
    """Number of active corners of the nearest point, and the minimum of the programme."""
    points, near, lifted = search.points, search.near, search.lifted
    target, nearest = search.parts[2], search.parts[3]
    k, height, radius = search.numbers[0], search.numbers[1], search.numbers[2]
    d = points.shape[1]
    root = np.sqrt(k)
    unit = 1.0 / (root * radius + height)  # lengths of about 1, as the walk expects them
    for i in range(found):
        s = near[i]
        for j in range(d):
            lifted[i, j] = unit * root * (points[s, j] - y[j])
        lifted[i, d] = unit * _square(points[s], y) / (2.0 * height)
    for j in range(d):
        target[j] = 0.0
    target[d] = -unit * height
    _, size = walk(lifted[:found], target, nearest, search.vectors, search.matrices, search.indices)
    weights, active = search.vectors[0], search.indices[0]
    value = 0.0
    for j in range(d):
        mean = 0.0
        for i in range(size):
            mean += weights[i] * (points[near[active[i]], j] - y[j])
        value += 0.5 * k * mean * mean
    for i in range(size):
        value += 0.5 * weights[i] * _square(points[near[active[i]]], y)
    return size, value


@kernel
def _square(point, y):
    total = 0.0
    for j in range(point.shape[0]):
        total += (point[j] - y[j]) ** 2
    return total


@implements(locate, NetSearch)
def _locate_on_net(search, q, indices, weights):
    y = search.parts[1]
    d = search.points.shape[1]
    for i in range(d):
        y[i] = 0.0
        for j in range(q.shape[0]):
            y[i] += (q[j] - search.origin[j]) * search.basis[j, i]
        if not np.isfinite(y[i]):  # a walk needs numbers to end
            y[i] = search.points[0, i]
    if _in_lattice(y, search.lattice, search.parts[0], search.places[0], indices, weights):
        return
    radius, largest = search.numbers[2], search.numbers[3]
    while True:
        found = _gather(search, y, radius)
        if found > 0:
            size, value = _solve(search, y, found)
            if value <= largest or found == search.points.shape[0]:
                break
        radius *= WIDER
    near, shares, active = search.near, search.vectors[0], search.indices[0]
    total = 0.0
    for i in range(size):
        total += shares[i]
    for i in range(indices.shape[0]):
        indices[i] = near[active[i]] if i < size else near[active[0]]
        weights[i] = shares[i] / total if i < size else 0.0

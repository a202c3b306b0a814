"""Nearest points of a polytope by Wolfe's active-set method, many points in one call.

The method walks over faces: the nearest point of the affine hull of some corners is found by least
squares, corners that keep it out of their hull are left behind, and the corner that promises most
enters. In exact arithmetic the distance falls with every corner that enters, so that no face comes
twice and the walk is finite. With rounding it may go in circles, between faces whose nearest points
differ by rounding alone. One face is therefore remembered, the present one after 1, 2, 4, 8, …
corners (Brent's way to find a cycle in constant memory), and meeting it again ends the walk.

Symbols: corners (v, d), of diameter about 1 and near the origin · points (m, d) · active (k,)
indices of affinely independent corners, k <= d + 1 · weights (k,) convex weights of the current
point · goal (k,) weights of sum 1 of the nearest point of the affine hull · rest (d,) what is left
from there to the point · basis, factor (d, d) orthonormal rows Q and triangle R of the edges.

References: P. Wolfe, "Finding the nearest point in a polytope" (1976); R. Brent, "An improved
Monte Carlo factorization algorithm" (1980), section 2.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullswap.kernels.compiling import kernel

EPS = 2.220446049250313e-16


class Corners(NamedTuple):
    """A polytope {center + diameter·y : y in conv(corners)}, with room for walks in it."""

    center: np.ndarray
    diameter: float
    corners: np.ndarray
    vectors: np.ndarray
    matrices: np.ndarray
    indices: np.ndarray
    local: np.ndarray
    nearest: np.ndarray


def corners_of(center: NDArray, diameter: float, corners: NDArray) -> Corners:
    """The polytope of these corners (v, d), in the units of the diameter, seen from the centre."""
    d = len(center)
    own = (np.array(center, dtype=float), float(diameter), np.array(corners, order="C"))
    return Corners(*own, *scratch.py_func(d), np.empty(d), np.empty(d))


@kernel
def to_nearest(corners, point):
    """Replace a point (d,) by the nearest one of the polytope of these ``Corners``."""
    center, local, nearest = corners.center, corners.local, corners.nearest
    for j in range(point.shape[0]):
        local[j] = (point[j] - center[j]) / corners.diameter
        if not np.isfinite(local[j]):  # a walk needs numbers to end
            local[j] = 0.0
    walk(
        corners.corners, local, nearest, corners.vectors, corners.matrices, corners.indices,
    )  # fmt: skip
    for j in range(point.shape[0]):
        point[j] = center[j] + corners.diameter * nearest[j]


@kernel
def nearest_points(corners, points):
    """Nearest points of conv(corners), shape (m, d), and the steps (m,) that each row took.

    A step is one least-squares problem, by far the largest part of the work.
    """
    m, d = points.shape
    out, steps = np.empty((m, d)), np.empty(m, np.int64)
    vectors, matrices, indices = scratch(d)
    for row in range(m):
        steps[row], _ = walk(corners, points[row], out[row], vectors, matrices, indices)
    return out, steps


@kernel
def nearest_mixtures(corners, points):
    """The same as convex weights: corners (m, d + 1) and their weights (m, d + 1), 0 if unused."""
    m, d = points.shape
    out = np.empty(d)
    chosen, shares = np.zeros((m, d + 1), np.int64), np.zeros((m, d + 1))
    vectors, matrices, indices = scratch(d)
    for row in range(m):
        _, size = walk(corners, points[row], out, vectors, matrices, indices)
        chosen[row, :size], shares[row, :size] = indices[0, :size], vectors[0, :size]
    return chosen, shares


@kernel
def project_rows(points, center, diameter, corners, normals, offsets, rounding):
    """Replace rows outside of a polytope by its nearest points, in place; the others stay.

    The polytope is {center + diameter·y}: y in conv(corners), or normals·y <= offsets, normals
    (f, d) and offsets (f,). A row is outside if it breaks a facet by more than rounding.
    """
    m, d = points.shape
    vectors, matrices, indices = scratch(d)
    local, nearest = np.empty(d), np.empty(d)
    for row in range(m):
        for j in range(d):
            local[j] = (points[row, j] - center[j]) / diameter
        if breaks_a_facet(local, normals, offsets, rounding):
            walk(corners, local, nearest, vectors, matrices, indices)
            for j in range(d):
                points[row, j] = center[j] + diameter * nearest[j]


@kernel
def scratch(d):
    """Room for one walk: no step allocates."""
    return np.empty((4, d + 1)), np.empty((2, d, d)), np.empty((3, d + 1), np.int64)


@kernel
def breaks_a_facet(point, normals, offsets, rounding):
    """Whether a point (d,) breaks one of the facets normals·y <= offsets by more than rounding."""
    for facet in range(normals.shape[0]):
        if _dot(normals[facet], point) - offsets[facet] > rounding:
            return True
    return False


@kernel
def _dot(first, second):
    total = 0.0
    for j in range(second.shape[0]):
        total += first[j] * second[j]
    return total


@kernel
def walk(corners, point, nearest, vectors, matrices, indices):
    """Write the point of conv(corners) nearest to ``point``; return the steps and the corners used.

    These are ``indices[0]``, as many as are returned, and their weights stand in ``vectors[0]``.
    """
    d = point.shape[0]
    weights, goal, heights, rest = vectors[0], vectors[1], vectors[2], vectors[3, :d]
    basis, factor = matrices[0], matrices[1]
    active, order, remembered = indices[0], indices[1], indices[2]
    active[0], weights[0] = _nearest_corner(corners, point), 1.0
    size, steps = 1, 0
    entered, remember_at, remembered_size = 0, 1, 0
    while True:
        # Move to the nearest point of the affine hull; leave corners behind that block the way.
        while True:
            _solve(corners, active[:size], point, goal, rest, heights, basis, factor, order)
            steps += 1
            leaving, ratio = -1, np.inf
            for i in range(size):
                if goal[i] <= 0.0:
                    way = weights[i] / max(weights[i] - goal[i], 1e-300)
                    if way < ratio:
                        leaving, ratio = i, way
            if leaving < 0:
                break
            size = _leave_behind(active, weights, goal, size, leaving, ratio)
        for i in range(size):
            weights[i] = goal[i]
        gain, candidate = _best_gain(corners, active[:size], rest)
        if gain <= 4.0 * EPS * np.sqrt(_dot(rest, rest)):
            break
        if size == remembered_size and _same_face(active, remembered, size):
            break
        entered += 1
        if entered == remember_at:
            for i in range(size):
                remembered[i] = active[i]
            remembered_size = size
            remember_at *= 2
        # With d + 1 corners the rest is 0 and nothing gains: there is always room for one more.
        active[size], weights[size] = candidate, 0.0
        size += 1
    for j in range(d):
        total = 0.0
        for i in range(size):
            total += weights[i] * corners[active[i], j]
        nearest[j] = total
    return steps, size


@kernel
def _nearest_corner(corners, point):
    """Index of the largest ⟨corner, point⟩ − ‖corner‖²/2, which does not overflow far away."""
    best, largest = 0, -np.inf
    for i in range(corners.shape[0]):
        value = 0.0
        for j in range(corners.shape[1]):
            value += corners[i, j] * (point[j] - 0.5 * corners[i, j])
        if value > largest:
            best, largest = i, value
    return best


@kernel
def _leave_behind(active, weights, goal, size, leaving, ratio):
    """Go as far towards the goal as weights allow; drop those that vanish, return how many stay."""
    stay, total = 0, 0.0
    for i in range(size):
        weight = weights[i] + ratio * (goal[i] - weights[i])
        if i != leaving and weight > 0.0:
            active[stay], weights[stay] = active[i], weight
            total += weight
            stay += 1
    for i in range(stay):
        weights[i] /= total
    return stay


@kernel
def _best_gain(corners, active, rest):
    """Largest ⟨corner − face, rest⟩ over the corners that are not active, and whose it is."""
    first = active[0]
    gain, candidate = 0.0, first
    for i in range(corners.shape[0]):
        value = 0.0
        for j in range(rest.shape[0]):
            value += (corners[i, j] - corners[first, j]) * rest[j]
        if value > gain and not _holds(active, i):
            gain, candidate = value, i
    return gain, candidate


@kernel
def _holds(active, index):
    for i in range(active.shape[0]):
        if active[i] == index:
            return True
    return False


@kernel
def _same_face(active, remembered, size):
    for i in range(size):
        if not _holds(remembered[:size], active[i]):
            return False
    return True


@kernel
def _solve(corners, active, point, goal, rest, heights, basis, factor, order):
    """Goal and rest for the affine hull of the active corners, by least squares over its edges.

    Edges that depend on others up to rounding get weight 0. The rest is orthogonal to the edges to
    full relative accuracy, however short it is: that takes a second round of projections.
    """
    d, edges = point.shape[0], active.shape[0] - 1
    for j in range(d):
        rest[j] = point[j] - corners[active[0], j]
    for i in range(edges):
        order[i] = i + 1
        for j in range(d):
            basis[i, j] = corners[active[i + 1], j] - corners[active[0], j]
    rank = _orthogonalise(basis, factor, order, edges)
    for i in range(rank):
        heights[i] = 0.0
    for _ in range(2):
        for i in range(rank):
            part = _dot(basis[i], rest)
            heights[i] += part
            for j in range(d):
                rest[j] -= part * basis[i, j]
    if rank == d:
        for j in range(d):
            rest[j] = 0.0
    goal[0] = 1.0
    for i in range(edges):
        goal[i + 1] = 0.0
    for i in range(rank - 1, -1, -1):
        for k in range(i + 1, rank):
            heights[i] -= factor[i, k] * heights[k]
        heights[i] /= factor[i, i]
        goal[order[i]] = heights[i]
        goal[0] -= heights[i]


@kernel
def _orthogonalise(basis, factor, order, edges):
    """Turn the first rows of ``basis`` into orthonormal ones, the longest first; return the rank.

    Gram–Schmidt, twice for every row: edges of nearly equal corners would else stay askew.
    """
    d = basis.shape[1]
    cutoff = 0.0
    for k in range(edges):
        longest, length = k, -1.0
        for i in range(k, edges):
            square = _dot(basis[i], basis[i])
            if square > length:
                longest, length = i, square
        if longest != k:
            order[k], order[longest] = order[longest], order[k]
            for j in range(d):
                basis[k, j], basis[longest, j] = basis[longest, j], basis[k, j]
            for i in range(k):
                factor[i, k], factor[i, longest] = factor[i, longest], factor[i, k]
        for i in range(k):
            part = _dot(basis[i], basis[k])
            factor[i, k] += part
            for j in range(d):
                basis[k, j] -= part * basis[i, j]
        length = np.sqrt(_dot(basis[k], basis[k]))
        if k == 0:
            cutoff = d * EPS * length
        if length <= cutoff:
            return k
        factor[k, k] = length
        for j in range(d):
            basis[k, j] /= length
        for i in range(k + 1, edges):
            part = _dot(basis[i], basis[k])
            factor[k, i] = part
            for j in range(d):
                basis[i, j] -= part * basis[k, j]
    return edges

"""Polytope approximations from inside: few points whose hull is almost the set.

Where the set has few vertices, they are it. In two to four dimensions extreme points are added
one by one in the direction of the facet with the largest gap to the set, so the points of a smaller
approximation are a prefix of those of a larger one, and the distance of the hull is measured; on a
ball, equally spread directions are better (the regular polygon in the plane). Beyond, hulls are too
costly to look at: points come from a net of the sphere, and the distance by proof
(``fullswap.grids.rim``).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Points, Vector
from fullswap.grids.base import Grid, GriddedSet, Sphere, unique_points
from fullswap.grids.line import ends, line
from fullswap.grids.rim import Rim, rim_of_size
from fullswap.theorems import Geometry

MOST_ADDED = {2: 512, 3: 96, 4: 64}
"""Most points that are added one by one, by dimension: each needs a hull of all before it."""
MOST_SPREAD = 3
"""Dimension up to which points are spread equally on a ball."""
HEAVY = 1e4
"""Weight of a sum-to-one row in least squares: sums are off by 1e-8, and are then made exact."""
NOISE = 1e-11
"""Gaps below this share of the diameter are rounding errors of a hull."""


def boundary(action_set: GriddedSet, size: int) -> Grid:
    """An approximation with at most ``size`` points (fewer when the hull is already exact).

    Examples
    --------
    >>> from fullswap.sets import Ball
    >>> grid = boundary(Ball([0.0, 0.0], 1.0), 8)
    >>> len(grid), round(grid.hull_distance, 4)
    (8, 0.0761)
    """
    checks.whole("size", size, action_set.dim + 1)
    if action_set.dim == 1:
        return line(action_set, ends(action_set))
    diameter = action_set.diameter
    if _are_few(action_set, size):
        return Grid(np.asarray(action_set.vertices), 0.0, diameter, 0.0)
    rim = _better_rim(action_set, size)
    if rim is None:
        return _measured(action_set, size)
    points, _ = unique_points(rim.points(), diameter)
    return Grid(points, rim.depth**0.5, diameter, rim.depth)


def boundary_geometry(action_set: GriddedSet, size: int) -> Geometry:
    """What it measures, by formula where there is one, with at least as many points as it has."""
    if action_set.dim > 1 and not _are_few(action_set, size):
        rim = _better_rim(action_set, size)
        if rim is not None:
            return Geometry(rim.net.size, action_set.diameter, rim.depth)
    return boundary(action_set, size).geometry


def _are_few(action_set: GriddedSet, size: int) -> bool:
    """Whether the vertices are known, and no more than this."""
    return action_set.vertices is not None and len(action_set.vertices) <= size


def _better_rim(action_set: GriddedSet, size: int) -> Rim | None:
    """A rim of at most this size, where it is nearer to the set than what is measured."""
    if size <= _most_measured(action_set):
        return None
    rim = rim_of_size(action_set, size)
    if rim is None or rim.depth >= _measured(action_set, size).hull_distance:
        return None
    return rim


def _most_measured(action_set: GriddedSet) -> float:
    """Points up to which hulls are looked at: of those equally spread on a ball, always."""
    if action_set.sphere is not None:
        return math.inf if action_set.dim <= MOST_SPREAD else 0
    return MOST_ADDED.get(action_set.dim, 0)


def _measured(action_set: GriddedSet, size: int) -> Grid:
    """Points whose hull is looked at; d + 1 that promise nothing where none is."""
    (origin, basis), d, diameter = action_set.frame, action_set.dim, action_set.diameter
    most = _most_measured(action_set)
    if most == 0:
        coordinates, h = _greedy(action_set).prefix(d + 1), diameter
    else:
        ball = action_set.sphere
        added = min(size, MOST_ADDED[d])
        coordinates = _greedy(action_set).prefix(added) if ball is None else _spread(ball, size)
        h = min(diameter, measured_hull_distance(action_set, coordinates))
    return Grid(coordinates @ basis.T + origin, h**0.5, diameter, h)


def measured_hull_distance(action_set: GriddedSet, coordinates: Points) -> float:
    """sup over the set of the distance to the hull of the coordinates (m, d), from above.

    With facet normals n_f and gaps γ_f between the set's support and the facet, a unit
    direction in the normal cone of a vertex v is Σ c_f n_f over the facets at v, and
    Σ c_f ≤ κ_v = 1/dist(0, conv{n_f}); so the distance is at most max_v κ_v·max_{f at v} γ_f.
    A ball's is R minus the smallest facet offset, if the hull holds the centre.
    """
    from scipy.optimize import nnls
    from scipy.spatial import ConvexHull

    origin, basis = action_set.frame
    if coordinates.shape[1] == 1:
        low, high = ends(action_set)
        return float(max(coordinates.min() - low, high - coordinates.max(), 0.0))
    hull = ConvexHull(coordinates)
    normals, offsets, gaps = _facets(action_set, hull)
    if action_set.sphere is not None:
        center, radius = action_set.sphere
        inner = float((offsets - normals @ ((center - origin) @ basis)).min())
        if inner >= 0.0:  # else the hull misses the centre, and holds no ball around it
            return max(0.0, radius - inner)
    noise = NOISE * action_set.diameter
    if gaps.max() <= noise:
        return 0.0
    worst = 0.0
    for vertex in hull.vertices:
        facets = np.flatnonzero((hull.simplices == vertex).any(axis=1))
        gap = gaps[facets].max()
        if gap <= noise:
            continue
        # the point of conv{n_f} nearest to 0: least squares with a heavy sum-to-one row
        system = np.vstack((normals[facets].T, np.full(len(facets), HEAVY)))
        share = nnls(system, np.append(np.zeros(normals.shape[1]), HEAVY))[0]
        share /= share.sum()
        worst = max(worst, gap / np.linalg.norm(share @ normals[facets]))
    return float(worst)


def _facets(action_set: GriddedSet, hull: Any) -> tuple[Points, Vector, Vector]:
    """Normals and offsets, in frame coordinates, and how far the set reaches beyond each facet."""
    origin, basis = action_set.frame
    normals, offsets = hull.equations[:, :-1], -hull.equations[:, -1]
    support = (action_set.minimize_linear(-normals @ basis.T) - origin) @ basis
    return normals, offsets, np.einsum("ij,ij->i", support, normals) - offsets


def _spread(sphere: Sphere, size: int) -> Points:
    """Equally spread points of a sphere in d = 2 and 3; balls have full dimension."""
    center, radius = sphere
    if len(center) == 2:
        angle = 2 * np.pi * np.arange(size) / size
        directions = np.column_stack((np.cos(angle), np.sin(angle)))
    else:
        # Fibonacci lattice: equal areas in height, golden angle around the axis
        height = 1 - (2 * np.arange(size) + 1) / size
        angle = np.pi * (3 - np.sqrt(5)) * np.arange(size)
        ring = np.sqrt(1 - height**2)
        directions = np.column_stack((ring * np.cos(angle), ring * np.sin(angle), height))
    spread: Points = center + radius * directions
    return spread


class _Greedy:
    """The growing list of extreme points of one set."""

    def __init__(self, action_set: GriddedSet) -> None:
        self._set, self._finished = action_set, False
        self._origin, self._basis = action_set.frame
        self._points = self._start()

    def prefix(self, size: int) -> Points:
        while len(self._points) < size and not self._finished:
            self._grow()
        return self._points[:size]

    def _start(self) -> Points:
        """Extreme points that span the space, found in random directions (fixed seed)."""
        d = self._basis.shape[1]
        rng = np.random.default_rng(0)
        chosen = self._extreme(rng.standard_normal((1, d)))
        for _ in range(50 * d):
            if len(chosen) == d + 1:
                break
            # look orthogonally to what is spanned already, both ways
            _, _, rows = np.linalg.svd(chosen - chosen[0], full_matrices=True)
            direction = rng.standard_normal(d - len(chosen) + 1) @ rows[len(chosen) - 1 :]
            ends = self._extreme(np.array([direction, -direction]))
            reach = np.abs((ends - chosen[0]) @ direction)
            if reach.max() > 1e-9 * self._set.diameter * np.linalg.norm(direction):
                chosen = np.vstack((chosen, ends[reach.argmax()]))
        if len(chosen) < d + 1:
            raise ValueError("the set is flat: it has no full-dimensional approximation")
        return chosen

    def _grow(self) -> None:
        from scipy.spatial import ConvexHull

        normals, _, gaps = _facets(self._set, ConvexHull(self._points))
        widest = int(gaps.argmax())
        self._finished = gaps[widest] <= NOISE * self._set.diameter
        if not self._finished:
            extreme = self._extreme(normals[widest : widest + 1] * -1)
            self._points = np.vstack((self._points, extreme))

    def _extreme(self, directions: Points) -> Points:
        ends = self._set.minimize_linear(directions @ self._basis.T)
        return (ends - self._origin) @ self._basis


@lru_cache(maxsize=32)
def _greedy(action_set: GriddedSet) -> _Greedy:
    """One growing list per set (sets are immutable and compare by value)."""
    return _Greedy(action_set)

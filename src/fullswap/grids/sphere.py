"""Nets of the unit sphere in any dimension, with the angle that they leave proved.

On the circle they are regular polygons. Beyond, a net is a union of orbits: all vectors that
permutations and changes of sign make of a few whole vectors w, w_1 ≥ … ≥ w_d ≥ 0, each scaled to
length 1. By symmetry only directions x of the same order, x_1 ≥ … ≥ x_d ≥ 0, need to be looked at,
and of every orbit the vector nearest to such an x is the ordered one. So the largest angle to a net
is that of the farthest vertex of

    {x : x_1 ≥ … ≥ x_d ≥ 0, ⟨x, w⟩ ≤ ‖w‖ for the few w},    cos θ = 1/max ‖x‖ ,

a polytope with a handful of facets, however many points the orbits have. Orbits are added where
the present net is worst, so nets are nested.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from fullswap.base.protocols import Indices, Points, Vector

MOST_PATTERNS = 4_000
"""Orbits to choose from: entries go so far up that no more than this many patterns exist."""
MOST_POINTS = 1_000_000
"""Nets end here: no learner has more points, and more facets take long to look at."""
NEAR = 0.7
"""A new orbit comes within this share of the angle to the worst direction: of those which do, the
smallest. Between 0.5 and 0.85 nets of 10³ to 10⁵ points differ by a tenth in their angle."""


class SphereNet(NamedTuple):
    """Every direction is within ``angle`` of one of ``size`` points."""

    patterns: tuple[tuple[int, ...], ...]
    size: int
    angle: float

    def directions(self) -> Points:
        """The points, shape (size, d)."""
        rows = np.concatenate([_orbit(np.array(pattern)) for pattern in self.patterns])
        result: Points = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return result


class Polygon(NamedTuple):
    """The net of the circle: ``size`` points equally far from one another."""

    size: int

    @property
    def angle(self) -> float:
        """Half of the angle between neighbours."""
        return math.pi / self.size

    def directions(self) -> Points:
        """The points, shape (size, 2)."""
        turns = 2 * math.pi * np.arange(self.size) / self.size
        return np.column_stack((np.cos(turns), np.sin(turns)))


class Polygons:
    """The nets of the circle."""

    def within(self, angle: float) -> Polygon | None:
        """The smallest net of at most this angle; None if it has too many points."""
        size = max(3.0, math.ceil(math.pi / angle)) if angle > 0 else math.inf
        return Polygon(int(size)) if size <= MOST_POINTS else None

    def of_size(self, most: int) -> Polygon | None:
        """The net with so many points; None if they make no polygon."""
        return Polygon(most) if most >= 3 else None


class SphereNets:
    """The nets of one dimension d ≥ 3, from the 2d unit vectors on.

    Examples
    --------
    >>> [(net.size, round(net.angle, 2)) for net in (nets(4).within(1.0), nets(4).within(0.5))]
    [(24, 0.79), (144, 0.4)]
    """

    def __init__(self, dim: int) -> None:
        top = 1
        while math.comb(top + 1 + dim, dim) <= MOST_PATTERNS:
            top += 1
        ordered = combinations_with_replacement(range(top, -1, -1), dim)
        self._patterns = np.array([p for p in ordered if math.gcd(*p) == 1], dtype=np.int64)
        lengths = np.linalg.norm(self._patterns, axis=1, keepdims=True)
        self._units: Points = self._patterns / lengths
        self._sizes = np.array([_orbit_size(pattern) for pattern in self._patterns])
        first = int(np.flatnonzero(self._patterns.sum(axis=1) == 1)[0])
        self._used, self._exhausted = [first], False
        self._region = _Region(self._units[first])
        self._worst, angle = self._region.farthest()
        self._nets = [self._net(angle)]

    def within(self, angle: float) -> SphereNet | None:
        """The first net of at most this angle; None if the patterns are used up before."""
        while self._nets[-1].angle > angle and not self._exhausted:
            self._grow()
        return next((net for net in self._nets if net.angle <= angle), None)

    def of_size(self, most: int) -> SphereNet | None:
        """The finest net with at most this many points; None if 2d are too many."""
        while self._nets[-1].size <= most and not self._exhausted:
            self._grow()
        return next((net for net in reversed(self._nets) if net.size <= most), None)

    def _grow(self) -> None:
        """Add the orbit that covers the worst direction, until the angle has become smaller."""
        before = self._nets[-1].angle
        angle = before
        self._exhausted = self._nets[-1].size >= MOST_POINTS
        if self._exhausted:
            return
        while not angle < before * (1 - 1e-9):
            away = np.arccos(np.clip(self._units @ self._worst, -1.0, 1.0))
            away[self._used] = math.inf
            near = np.flatnonzero(away <= NEAR * angle)
            if not near.size:
                near = np.array([int(away.argmin())])
                if away[near[0]] >= angle * (1 - 1e-9):
                    self._exhausted = True
                    return
            order = np.lexsort((away[near], self._sizes[near]))
            self._used.append(int(near[order[0]]))
            if self._sizes[self._used].sum() > MOST_POINTS:
                self._exhausted = True
                return
            self._region.add(self._units[self._used[-1]])
            self._worst, angle = self._region.farthest()
        self._nets.append(self._net(angle))

    def _net(self, angle: float) -> SphereNet:
        patterns = tuple(tuple(int(x) for x in self._patterns[i]) for i in self._used)
        return SphereNet(patterns, int(self._sizes[self._used].sum()), angle)


@lru_cache(maxsize=16)
def nets(dim: int) -> SphereNets | Polygons:
    """The nets of a dimension, which grow as they are asked for."""
    return Polygons() if dim == 2 else SphereNets(dim)


class _Region:
    """The polytope {x ordered, ⟨x, w⟩ ≤ 1} of units w, cut down by one after the other."""

    def __init__(self, unit: Vector) -> None:
        from scipy.spatial import HalfspaceIntersection

        d = len(unit)
        falling = np.eye(d, k=1) - np.eye(d)  # x_{i+1} − x_i ≤ 0, and −x_d ≤ 0
        order = np.column_stack((falling, np.zeros(d)))
        # inside whatever is cut off: ⟨x, w⟩ ≤ ‖x‖ < 1
        inside = np.arange(d, 0, -1.0)
        inside *= 0.5 / float(np.linalg.norm(inside))
        halfspaces = np.vstack((np.append(unit, -1.0), order))
        self._hull = HalfspaceIntersection(halfspaces, inside, incremental=True)

    def add(self, unit: Vector) -> None:
        """One more unit."""
        self._hull.add_halfspaces(np.append(unit, -1.0)[None, :])

    def farthest(self) -> tuple[Vector, float]:
        """The ordered direction farthest from the units, and its angle."""
        vertices = self._hull.intersections
        lengths = np.linalg.norm(vertices, axis=1)
        far = int(lengths.argmax())
        # a hair more, so that rounding cannot make the angle too small
        angle = math.acos(min(1.0, 1.0 / float(lengths[far]))) * (1 + 1e-9)
        return vertices[far] / lengths[far], angle


def _orbit_size(pattern: Indices) -> int:
    _, counts = np.unique(pattern, return_counts=True)
    ways = math.factorial(len(pattern)) // math.prod(math.factorial(int(k)) for k in counts)
    return int(ways * 2 ** np.count_nonzero(pattern))


def _orbit(pattern: Indices) -> Indices:
    """All distinct rows that permutations and changes of sign make of the pattern (d,)."""
    rows = _arrangements(tuple(int(x) for x in pattern))
    nonzero = rows != 0
    flips = np.arange(2 ** np.count_nonzero(pattern))
    place = np.cumsum(nonzero, axis=1) - 1
    negative = (flips[:, None, None] >> np.maximum(place, 0)) & 1
    signed: Indices = np.where(negative == 1, -rows, rows).reshape(-1, rows.shape[1])
    return signed


def _arrangements(values: tuple[int, ...]) -> Indices:
    """Distinct orders of the values, shape (m, d)."""
    if len(values) == 1:
        return np.array([values], dtype=np.int64)
    parts = []
    for value in sorted(set(values)):
        rest = list(values)
        rest.remove(value)
        tails = _arrangements(tuple(rest))
        parts.append(np.column_stack((np.full(len(tails), value), tails)))
    return np.concatenate(parts)

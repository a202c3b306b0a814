"""Where the learners of a tree start: the middle of a set, and how the set lies around it."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from fullswap.base.protocols import Vector
from fullswap.sets import Box, ConvexSetBase, Interval, Simplex
from fullswap.theorems.tree import Hub

STEPS = 200
"""Of the search for a centre of the vertices: it is within 1/√STEPS of the smallest radius."""


@lru_cache(maxsize=64)  # sets are immutable and compare by value
def hub_of(action_set: ConvexSetBase) -> tuple[Vector, Hub]:
    """A point of the set, and what is known of the set around it.

    The radius is that of the smallest ball around balls, boxes and simplices, nearly so around
    polytopes; sets given by functions show their extent along the axes.

    Examples
    --------
    >>> hub_of(Box([0.0, 0.0], [3.0, 4.0]))
    (array([1.5, 2. ]), Hub(radius=2.5, inner_radius=1.5, symmetric=True))
    """
    center = action_set.center
    if action_set.sphere is not None:
        middle, radius = action_set.sphere
        return middle, Hub(float(radius), float(radius), True)
    if isinstance(action_set, Interval | Box):
        sides = np.atleast_1d(action_set.high) - np.atleast_1d(action_set.low)
        return center, Hub(action_set.reach, float(sides.min()) / 2, True)
    if isinstance(action_set, Simplex):
        inner = action_set.scale / np.sqrt(action_set.dim * (action_set.dim + 1))
        return center, Hub(action_set.reach, float(inner))
    if action_set.vertices is not None:
        return _around(np.asarray(action_set.vertices), center)
    return center, Hub(action_set.reach)


def _around(vertices: Vector, center: Vector) -> tuple[Vector, Hub]:
    """Walk from the centre towards the farthest vertex, ever less far; the best point found."""
    best, radius = center, _farthest(vertices, center)
    for step in range(STEPS):
        farthest = vertices[np.square(vertices - center).sum(axis=1).argmax()]
        center = center + (farthest - center) / (step + 2)
        if _farthest(vertices, center) < radius:
            best, radius = center, _farthest(vertices, center)
    return best, Hub(radius)


def _farthest(vertices: Vector, center: Vector) -> float:
    return float(np.linalg.norm(vertices - center, axis=1).max())

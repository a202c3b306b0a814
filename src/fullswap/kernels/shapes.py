"""Sets as compiled code sees them: a named tuple of arrays for each kind, and its projection.

``project`` is implemented for the type of the tuple (``numba.extending.overload``), so that a loop
over rounds is compiled once for each kind of set, and kept on disk. A new kind brings its tuple and
an implementation; what a projection needs to work in is part of the tuple.
"""

from typing import NamedTuple

import numpy as np

from fullswap.kernels.events import implementation_of, implements
from fullswap.kernels.nearest import Corners, breaks_a_facet, to_nearest
from fullswap.kernels.projection import project_simplex


class BoxShape(NamedTuple):
    """low and high (A,)."""

    low: np.ndarray
    high: np.ndarray


class SimplexShape(NamedTuple):
    """{shift + scale·p}: shift (A,)."""

    shift: np.ndarray
    scale: float


class BallShape(NamedTuple):
    """center (A,) and radius."""

    center: np.ndarray
    radius: float


class PolytopeShape(NamedTuple):
    """Corners, and facets normals·y ≤ offsets in the units of the corners, up to rounding."""

    corners: Corners
    normals: np.ndarray
    offsets: np.ndarray
    rounding: float


def project(shape, q):
    """Replace q (A,) by the nearest point of the set."""
    implementation_of(project, shape)(shape, q)


# Arrays are taken out of the tuples once: in loops, that costs more than what is done with them.


@implements(project, BoxShape)
def _project_box(shape, q):
    low, high = shape
    for j in range(q.shape[0]):
        q[j] = min(max(q[j], low[j]), high[j])


@implements(project, SimplexShape)
def _project_simplex(shape, q):
    shift, scale = shape
    for j in range(q.shape[0]):
        q[j] = (q[j] - shift[j]) / scale
    project_simplex(q)
    for j in range(q.shape[0]):
        q[j] = shift[j] + scale * q[j]


@implements(project, BallShape)
def _project_ball(shape, q):
    center, radius = shape
    square = 0.0
    for j in range(q.shape[0]):
        square += (q[j] - center[j]) ** 2
    norm = np.sqrt(square)
    if norm > radius:
        for j in range(q.shape[0]):
            q[j] = center[j] + (q[j] - center[j]) * (radius / norm)


@implements(project, PolytopeShape)
def _project_polytope(shape, q):
    corners, normals, offsets, rounding = shape
    center, local = corners.center, corners.local
    for j in range(q.shape[0]):
        local[j] = (q[j] - center[j]) / corners.diameter
    if breaks_a_facet(local, normals, offsets, rounding):
        to_nearest(corners, q)

"""The grid itself, and how its geometry is measured."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fullswap.base.protocols import ConvexSet, Indices, Points, SparseRows, Vector
from fullswap.theorems import Geometry

MAX_FACES = 400_000
"""Most faces whose balls are tried when the variance of a grid is measured."""

SAME = 1e-9
"""Points nearer than this share of the diameter are one."""

JUST_BELOW = 1 - 1e-12
"""Before a quotient is rounded up: 3.0000000000000004 cells are 3."""

Locator = Callable[[Points], SparseRows]
Sphere = tuple[Vector, float]
"""Centre (A,) and radius."""


class GriddedSet(ConvexSet, Protocol):
    """What grids ask of a set; ``fullswap.sets.ConvexSetBase`` has all of it."""

    @property
    def center(self) -> Vector:
        """A point of the relative interior, shape (A,)."""

    @property
    def frame(self) -> tuple[Vector, Points]:
        """Origin (A,) and orthonormal basis (A, d) of the affine hull."""

    @property
    def vertices(self) -> Points | None:
        """Extreme points, if they are finitely many and known."""

    @property
    def sphere(self) -> Sphere | None:
        """Centre and radius, if the set is a ball."""

    @property
    def grids(self) -> GridMaker:
        """How the set is discretised."""

    @property
    def reach(self) -> float:
        """No point of the set is farther from its centre than this."""

    def could_be_within(self, points: Points, distance: float) -> NDArray[np.bool_]:
        """False only for points (m, A) that are surely farther away than this."""

    def volume_near(self, distance: float, unit: float) -> float:
        """At least the volume of all points of the affine hull within this distance.

        In cubes with this side: volumes themselves may be too small or too large for a number.
        """

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""

    def __hash__(self) -> int: ...


@dataclass(frozen=True, eq=False)
class Grid:
    """Finitely many points (n, A) of a set, with what the bounds need to know of them."""

    points: Points
    mesh: float
    """Spacing along an axis; for a boundary grid √h."""
    covering_radius: float
    """Every point of the set is within this distance of a grid point."""
    hull_distance: float = 0.0
    """Every point of the set is within this distance of the grid's hull."""
    variance: float = float("inf")
    """Largest variance of a distribution on the vertices of one simplex."""
    locate: Locator | None = field(default=None, repr=False)
    """Splits hull points into at most d + 1 vertices of a simplex with the same mean."""

    @property
    def geometry(self) -> Geometry:
        """The numbers that the bounds read."""
        return Geometry(len(self.points), self.covering_radius, self.hull_distance, self.variance)

    def __len__(self) -> int:
        return len(self.points)


class GridMaker(ABC):
    """Which nets and triangulations a set has, by mesh and by level; one for a kind of set.

    ``kind`` is "net" or "triangulation". Level k = 1, 2, … has k cells along the longest axis
    unless ``mesh_of`` says otherwise; nested level j = 0, 1, … has about 2^j and keeps all earlier
    points.
    """

    @property
    @abstractmethod
    def longest_side(self) -> float:
        """The length that mesh is measured against: one cell along the longest axis."""

    def mesh_of(self, level: int) -> float:
        """The mesh of a level."""
        return self.longest_side / level

    def level_of(self, mesh: float) -> int:
        """The coarsest level of at most this mesh."""
        return max(1, math.ceil(self.longest_side / mesh * JUST_BELOW))

    @abstractmethod
    def at_mesh(self, kind: str, mesh: float) -> Grid:
        """The grid of this mesh."""

    @abstractmethod
    def nested(self, kind: str, level: int) -> Grid:
        """The nested grid of a level."""

    @abstractmethod
    def geometry(self, kind: str, level: int, max_points: float) -> Geometry | None:
        """What the grid of a level measures; None if it cannot be built, or not within reach."""

    @abstractmethod
    def nested_geometry(self, kind: str, level: int, max_points: float) -> Geometry | None:
        """The same of the nested grid of a level."""


def product(axes: Sequence[Vector]) -> Points:
    """All combinations of coordinates, the last axis changing fastest, shape (Π n_i, d)."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def unique_points(points: Points, scale: float) -> tuple[Points, Indices]:
    """Points without those that repeat an earlier one up to 1e-9 of the scale, in their order.

    Also where each of the given points went, shape (m,).
    """
    keys = np.round(points / (SAME * scale)).astype(np.int64)
    _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return points[first[order]], place[np.asarray(group).reshape(-1)]


def enclosing_radius_squared(simplices: Points) -> Vector:
    """Squared radius of the smallest ball around each simplex, shape (S, k, A) -> (S,).

    By duality this is the largest variance of a distribution on the simplex's vertices,
    max_λ Σ λ_i ‖s_i − Σ λ_j s_j‖². The smallest ball is the circumscribed ball of one of the
    faces, so all faces are tried; where these are too many, Jung's bound is returned instead.

    Examples
    --------
    >>> enclosing_radius_squared(np.array([[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]]))
    array([0.5])
    """
    count, k, _ = simplices.shape
    if k == 1:
        return np.zeros(count)
    # Jung's theorem bounds the radius from above, also where a face is degenerate.
    pairs = simplices[:, :, None, :] - simplices[:, None, :, :]
    best: Vector = np.square(pairs).sum(axis=3).max(axis=(1, 2)) * (k - 1) / (2 * k)
    if count * 2**k > MAX_FACES:
        return best
    scale = np.square(simplices - simplices[:, :1]).sum(axis=2).max(axis=1)
    for size in range(2, k + 1):
        for face in combinations(range(k), size):
            center = _circumcenters(simplices[:, face, :])
            squares = np.square(simplices - center[:, None, :]).sum(axis=2)
            radius = squares[:, face[0]]
            around = squares.max(axis=1) <= radius + 1e-9 * scale
            # never below the farthest vertex, so that rounding cannot shrink the bound
            best = np.where(around, np.minimum(best, squares.max(axis=1)), best)
    return best


def _circumcenters(faces: Points) -> Points:
    origin = faces[:, 0, :]
    edges = faces[:, 1:, :] - origin[:, None, :]
    gram = edges @ edges.transpose(0, 2, 1)
    half = np.einsum("sii->si", gram) / 2
    coordinates = np.einsum("sij,sj->si", np.linalg.pinv(gram, hermitian=True), half)
    result: Points = origin + np.einsum("si,sia->sa", coordinates, edges)
    return result

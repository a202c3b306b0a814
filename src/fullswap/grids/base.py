"""The grid itself, and how its geometry is measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from fullswap.base.protocols import Points, SparseRows, Vector
from fullswap.theorems import Geometry

MAX_FACES = 400_000
"""Most faces whose balls are tried when the variance of a grid is measured."""

Locator = Callable[[Points], SparseRows]


@dataclass(frozen=True, eq=False)
class Grid:
    """Finitely many points of a set, with what the bounds need to know of them.

    Attributes
    ----------
    points : (n, A) array
        Distinct points of the set.
    mesh : float
        Spacing along an axis; for a boundary grid √h.
    covering_radius : float
        Every point of the set is within this distance of a grid point.
    hull_distance : float
        Every point of the set is within this distance of the grid's hull.
    variance : float
        Largest variance of a distribution on the vertices of one simplex.
    locate : callable or None
        Splits hull points into at most d + 1 vertices of a simplex with the same mean.
    """

    points: Points
    mesh: float
    covering_radius: float
    hull_distance: float = 0.0
    variance: float = float("inf")
    locate: Locator | None = field(default=None, repr=False)

    @property
    def geometry(self) -> Geometry:
        """The numbers that the bounds read."""
        return Geometry(len(self.points), self.covering_radius, self.hull_distance, self.variance)

    def __len__(self) -> int:
        return len(self.points)


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
    best = np.square(pairs).sum(axis=3).max(axis=(1, 2)) * (k - 1) / (2 * k)
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
    if faces.shape[1] == 1:
        return origin
    edges = faces[:, 1:, :] - origin[:, None, :]
    gram = edges @ edges.transpose(0, 2, 1)
    half = np.einsum("sii->si", gram) / 2
    coordinates = np.einsum("sij,sj->si", np.linalg.pinv(gram, hermitian=True), half)
    return origin + np.einsum("si,sia->sa", coordinates, edges)

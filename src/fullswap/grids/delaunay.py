"""Nets and Delaunay triangulations of balls, polytopes and sets given by functions.

A lattice of spacing ε has covering radius ρ = √d·ε/2. Projection is non-expansive, so the
projections onto the set of all lattice points within ρ of it cover the set with the same ρ;
they also populate the boundary. The Delaunay triangulation of these points, together with a
polytope approximation of the boundary, has V ≤ r² up to the hull distance: the gap between
the lifted lower hull and ‖x‖² peaks at the centre of an empty ball.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullswap.base.protocols import Points, SparseRows
from fullswap.grids.base import Grid, enclosing_radius_squared
from fullswap.grids.boundary import boundary_points, measured_hull_distance
from fullswap.sets import ConvexSetBase, Polytope

MAX_LATTICE = 4_000_000


def unique_points(points: Points, scale: float) -> Points:
    """Drop points that repeat an earlier one up to 1e-9 of the scale; keep the order."""
    keys = np.round(points / (1e-9 * scale)).astype(np.int64)
    _, first = np.unique(keys, axis=0, return_index=True)
    return points[np.sort(first)]


def projected_lattice(action_set: ConvexSetBase, mesh: float) -> tuple[Points, float]:
    """Points of the set that cover it, in frame coordinates (m, d), with the radius proved."""
    origin, basis = action_set.frame
    d = basis.shape[1]
    directions = np.concatenate((basis.T, -basis.T))
    extremes = (action_set.minimize_linear(directions) - origin) @ basis
    low = np.diag(extremes[:d])
    high = np.diag(extremes[d:])
    radius = float(np.sqrt(d) * mesh / 2)
    # Lattice through the centre, so that meshes halved again and again are nested.
    middle = (np.asarray(action_set.center) - origin) @ basis
    below = np.ceil((middle - low) / mesh).astype(int)
    above = np.ceil((high - middle) / mesh).astype(int)
    if np.prod((below + above + 1).astype(float)) > MAX_LATTICE:
        raise ValueError(f"mesh {mesh:.3g} asks for more than {MAX_LATTICE} lattice points")
    axes = [m + mesh * np.arange(-b, a + 1) for m, b, a in zip(middle, below, above, strict=True)]
    lattice = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, d)
    if isinstance(action_set, Polytope):
        # a facet's violation is at most the distance: skip what is surely too far away
        lattice = lattice[action_set.contains(lattice, tolerance=1.1 * radius)]
    projected = (action_set.project(lattice @ basis.T + origin) - origin) @ basis
    near = np.linalg.norm(projected - lattice, axis=1) <= radius * (1 + 1e-9)
    return unique_points(projected[near], action_set.diameter), radius


def projected_net(action_set: ConvexSetBase, mesh: float, keep: Points | None = None) -> Grid:
    """The projected lattice as a net; ``keep`` (m, A) are points of a coarser one that stay."""
    origin, basis = action_set.frame
    coordinates, radius = projected_lattice(action_set, mesh)
    points = coordinates @ basis.T + origin
    if keep is not None:
        points = unique_points(np.concatenate((keep, points)), action_set.diameter)
    return Grid(points, mesh, radius, radius)


def delaunay(action_set: ConvexSetBase, mesh: float, keep: Points | None = None) -> Grid:
    """Delaunay triangulation of the projected lattice and a boundary approximation.

    ``keep`` (m, A) are points of a coarser grid that stay in the finer one.
    """
    origin, basis = action_set.frame
    lattice, radius = projected_lattice(action_set, mesh)
    rim = (boundary_points(action_set, mesh) - origin) @ basis
    old = np.zeros((0, basis.shape[1])) if keep is None else (keep - origin) @ basis
    coordinates = unique_points(np.concatenate((old, rim, lattice)), action_set.diameter)
    locator = DelaunayLocator(coordinates, origin, basis)
    points = locator.coordinates @ basis.T + origin
    hull_distance = measured_hull_distance(action_set, locator.coordinates)
    variance = float(enclosing_radius_squared(locator.corners).max())
    return Grid(
        points, mesh, min(radius, variance**0.5 + hull_distance), hull_distance, variance, locator
    )


class DelaunayLocator:
    """Barycentric rounding on a Delaunay triangulation, after projection to its hull."""

    def __init__(self, coordinates: Points, origin: Points, basis: Points) -> None:
        from scipy.spatial import Delaunay

        triangulation = Delaunay(coordinates)
        used = np.unique(triangulation.simplices)
        if len(used) < len(coordinates):
            # Qhull leaves out points that it cannot tell from a facet: they are not vertices.
            triangulation = Delaunay(coordinates[used])
            coordinates = coordinates[used]
        self.coordinates = coordinates
        self._origin, self._basis = origin, basis
        corners = coordinates[triangulation.simplices]
        # Slivers of rounding error along a flat facet have no interior: never use them.
        volume = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1]))
        kept = volume > 1e-9 * np.median(volume)
        self.corners = corners[kept]
        self._simplices = triangulation.simplices[kept].astype(np.int64)
        self._rank = np.full(len(kept), -1)
        self._rank[kept] = np.arange(kept.sum())
        self._find = triangulation.find_simplex
        edges = self.corners[:, :-1] - self.corners[:, -1:]
        self._inverse = np.linalg.inv(edges.transpose(0, 2, 1))
        self._last = self.corners[:, -1]
        self._hull: Polytope | None = None

    def __call__(self, points: Points) -> SparseRows:
        """Round each point."""
        y = (points - self._origin) @ self._basis
        found = self._find(y)
        simplex = np.where(found >= 0, self._rank[found], -1)
        lost = np.flatnonzero(simplex < 0)
        if lost.size:
            y[lost] = self._to_hull(y[lost])
            for row in lost:
                simplex[row] = self._closest_simplex(y[row])
        weights = self._barycentric(simplex, y)
        np.clip(weights, 0.0, None, out=weights)
        weights /= weights.sum(axis=1, keepdims=True)
        return SparseRows(self._simplices[simplex], weights)

    def _barycentric(self, simplex: NDArray[np.integer], y: Points) -> Points:
        head = np.einsum("sij,sj->si", self._inverse[simplex], y - self._last[simplex])
        return np.column_stack((head, 1 - head.sum(axis=1)))

    def _to_hull(self, y: Points) -> Points:
        if self._hull is None:
            self._hull = Polytope(vertices=self.coordinates)
        return self._hull.project(y)

    def _closest_simplex(self, y: Points) -> int:
        """The simplex in which the point's most negative coordinate is least negative."""
        everywhere = np.arange(len(self._simplices))
        weights = self._barycentric(everywhere, np.broadcast_to(y, self._last.shape))
        return int(weights.min(axis=1).argmax())

"""Nets and Delaunay triangulations of balls, polytopes and sets given by functions, d = 2 and 3.

A lattice of spacing ε has covering radius ρ = √d·ε/2. Projection is non-expansive, so the
projections onto the set of all lattice points within ρ of it cover the set with the same ρ;
they also populate the boundary. The Delaunay triangulation of these points, together with a
polytope approximation of the boundary, has V ≤ r² up to the hull distance: the gap between
the lifted lower hull and ‖x‖² peaks at the centre of an empty ball.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base import checks
from fullswap.base.protocols import Points, SparseRows
from fullswap.grids.base import (
    SAME,
    Grid,
    GriddedSet,
    GridMaker,
    enclosing_radius_squared,
    product,
    unique_points,
)
from fullswap.grids.boundary import boundary_points, measured_hull_distance
from fullswap.grids.levels import grid_of, nested_grid
from fullswap.theorems import Geometry

MAX_LATTICE = 4_000_000
"""Most points of a lattice that are projected: some seconds."""


@dataclass(frozen=True)
class LatticeGrids(GridMaker):
    """Projected lattices and their Delaunay triangulations: for sets of any shape in d = 2, 3."""

    action_set: GriddedSet

    @property
    def longest_side(self) -> float:
        """The diameter."""
        return self.action_set.diameter

    def at_mesh(self, kind: str, mesh: float, keep: Points | None = None) -> Grid:
        """The projected lattice, with a boundary and simplices for a triangulation.

        ``keep`` (m, A) are points of a coarser grid that stay in the finer one.
        """
        make = projected_net if kind == "net" else delaunay
        return make(self.action_set, mesh, keep)

    def nested(self, kind: str, level: int) -> Grid:
        """Lattices that are halved, with all points of the level before."""
        earlier = nested_grid(kind, self.action_set, level - 1).points if level else None
        return self.at_mesh(kind, self.longest_side / 2**level, earlier)

    def geometry(self, kind: str, level: int, max_points: float) -> Geometry | None:
        """As measured on the grid, which is built."""
        if self._out_of_reach(kind, level, max_points):
            return None
        return grid_of(kind, self.action_set, level).geometry

    def nested_geometry(self, kind: str, level: int, max_points: float) -> Geometry | None:
        """As measured on the grid, which is built."""
        if self._out_of_reach(kind, 2**level, max_points):
            return None
        return nested_grid(kind, self.action_set, level).geometry

    def _out_of_reach(self, kind: str, cells: int, max_points: float) -> bool:
        """Whether a grid with this many cells along an axis has surely too many points to build."""
        d = self.action_set.dim
        fewest = (cells / 2) ** d / math.factorial(d)
        return fewest > max_points or (cells + 3.0) ** d > MAX_LATTICE


def projected_lattice(action_set: GriddedSet, mesh: float) -> tuple[Points, float]:
    """Points of the set that cover it, in frame coordinates (m, d), with the radius proved."""
    origin, basis = action_set.frame
    d = basis.shape[1]
    directions = np.concatenate((basis.T, -basis.T))
    extremes = (action_set.minimize_linear(directions) - origin) @ basis
    low, high = np.diag(extremes[:d]), np.diag(extremes[d:])
    radius = float(np.sqrt(d) * mesh / 2)
    # Lattice through the centre, so that meshes halved again and again are nested.
    middle = (np.asarray(action_set.center) - origin) @ basis
    below = np.ceil((middle - low) / mesh).astype(int)
    above = np.ceil((high - middle) / mesh).astype(int)
    if np.prod((below + above + 1).astype(float)) > MAX_LATTICE:
        checks.refuse("mesh", f"be larger (at most {MAX_LATTICE} lattice points)", mesh)
    axes = [m + mesh * np.arange(-b, a + 1) for m, b, a in zip(middle, below, above, strict=True)]
    lattice = product(axes)
    points = lattice @ basis.T + origin
    near = action_set.could_be_within(points, 1.1 * radius)
    lattice = lattice[near]
    projected = (action_set.project(points[near]) - origin) @ basis
    near = np.linalg.norm(projected - lattice, axis=1) <= radius * (1 + 1e-9)
    return unique_points(projected[near], action_set.diameter)[0], radius


def projected_net(action_set: GriddedSet, mesh: float, keep: Points | None) -> Grid:
    """The projected lattice as a net."""
    origin, basis = action_set.frame
    coordinates, radius = projected_lattice(action_set, mesh)
    points = coordinates @ basis.T + origin
    if keep is not None:
        points, _ = unique_points(np.concatenate((keep, points)), action_set.diameter)
    return Grid(points, mesh, radius, radius)


def delaunay(action_set: GriddedSet, mesh: float, keep: Points | None) -> Grid:
    """Delaunay triangulation of the projected lattice and a boundary approximation."""
    origin, basis = action_set.frame
    lattice, radius = projected_lattice(action_set, mesh)
    rim = (boundary_points(action_set, mesh) - origin) @ basis
    old = np.zeros((0, basis.shape[1])) if keep is None else (keep - origin) @ basis
    coordinates, _ = unique_points(np.concatenate((old, rim, lattice)), action_set.diameter)
    locator = DelaunayLocator(action_set, coordinates)
    points = locator.coordinates @ basis.T + origin
    outside = measured_hull_distance(action_set, locator.coordinates)
    variance = float(enclosing_radius_squared(locator.corners).max())
    radius = min(radius, variance**0.5 + outside)
    return Grid(points, mesh, radius, outside, variance, locator)


class DelaunayLocator:
    """Barycentric rounding on a Delaunay triangulation, after projection to its hull."""

    def __init__(self, action_set: GriddedSet, coordinates: Points) -> None:
        from scipy.spatial import Delaunay

        triangulation = Delaunay(coordinates)
        used = np.unique(triangulation.simplices)
        if len(used) < len(coordinates):
            # Qhull leaves out points that it cannot tell from a facet: they are not vertices.
            coordinates = coordinates[used]
            triangulation = Delaunay(coordinates)
        self.coordinates = coordinates
        self._frame = action_set.frame
        corners = coordinates[triangulation.simplices]
        # Slivers of rounding error along a flat facet have no interior: never use them.
        volume = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1]))
        solid = volume > SAME * np.median(volume)
        self.corners = corners[solid]
        self.simplices = triangulation.simplices[solid].astype(np.int64)
        self.width = self.simplices.shape[1]
        self._facets = triangulation.convex_hull

    def __call__(self, points: Points) -> SparseRows:
        """Round each point."""
        from fullswap.kernels.searching import locate_rows

        shape = (len(points), self.width)
        indices, weights = np.empty(shape, np.int64), np.empty(shape)
        locate_rows(self.search(), np.array(points, dtype=float, order="C"), indices, weights)
        return SparseRows(indices, weights)

    def search(self) -> Any:
        """What compiled rounding needs, with room of its own to work in."""
        from fullswap.kernels.nearest import with_own_room

        shared = self._search
        return shared._replace(hull=with_own_room(shared.hull), y=np.empty_like(shared.y))

    @cached_property
    def _search(self) -> Any:
        from fullswap.kernels.simplices import DelaunaySearch, list_in_cubes

        edges = self.corners[:, :-1] - self.corners[:, -1:]
        inverse = np.ascontiguousarray(np.linalg.inv(edges.transpose(0, 2, 1)))
        last = np.ascontiguousarray(self.corners[:, -1])
        origin, basis = (np.array(part, dtype=float, order="C") for part in self._frame)
        cubes, y = list_in_cubes(self.corners, inverse), np.empty_like(last[0])
        found = (origin, basis, cubes, self.simplices, inverse, last)
        return DelaunaySearch(*found, *self._hull(), y)

    def _hull(self) -> tuple[Any, NDArray[np.int64]]:
        """Corners of the hull with their edges, and which of them a point is, or −1."""
        from fullswap.kernels.nearest import corners_of

        used = np.unique(self._facets)
        rim = self.coordinates[used]
        on_rim = np.full(len(self.coordinates), -1)
        on_rim[used] = np.arange(len(used))
        pairs = combinations(range(self._facets.shape[1]), 2)
        sides = np.concatenate([on_rim[self._facets[:, pair]] for pair in pairs])
        center = rim.mean(axis=0)
        # any length about that of the hull would do
        diameter = float(2 * np.linalg.norm(rim - center, axis=1).max())
        return corners_of(center, diameter, (rim - center) / diameter, sides), on_rim

"""Polytopes, given by points or by inequalities."""

from __future__ import annotations

from typing import Any, final

import numpy as np
import numpy.typing as npt

from fullswap.base import checks
from fullswap.sets.base import EPS, LARGEST, Array, Booleans, ConvexSetBase
from fullswap.sets.hull import checked_inequalities, extreme_points, vertices_of_inequalities


@final
class Polytope(ConvexSetBase):
    """The convex hull of points, or the solutions of A x <= b, with interior points.

    One of the two is given: ``vertices`` (v, A), of which those that are not extreme are dropped,
    or ``inequalities``, a pair of arrays (k, A) and (k,).

    Examples
    --------
    >>> triangle = Polytope([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [1.0, 1.0]])
    >>> triangle.project([4.0, 2.0]).round(12)
    array([3., 1.])
    >>> Polytope(inequalities=([[1.0], [-1.0]], [2.0, 1.0])).vertices.tolist()
    [[-1.0], [2.0]]
    """

    _vertices: Array
    _corners: Array  # vertices in units of the diameter, seen from the centre
    _normals: Array  # facets: normals · corner <= offsets, normals of length 1
    _offsets: Array
    _rounding: float  # by how much a facet may be broken by points that count as inside

    def __init__(
        self,
        vertices: npt.ArrayLike | None = None,
        inequalities: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    ) -> None:
        if (vertices is None) == (inequalities is None):
            given = "neither" if vertices is None else "both"
            raise ValueError(f"one of vertices and inequalities must be given, got {given}")
        if inequalities is not None:
            points = vertices_of_inequalities(*checked_inequalities(inequalities))
        else:
            assert vertices is not None
            points = checks.floats("vertices", vertices, LARGEST)
            if points.ndim != 2 or points.size == 0 or len(points) < points.shape[1] + 1:
                checks.refuse_shape("vertices", "(v, A) with v > A >= 1", points)
        extreme, normals = extreme_points(points)
        center = extreme.mean(axis=0)
        diameter = max(
            float(np.linalg.norm(extreme[i + 1 :] - corner, axis=1).max())
            for i, corner in enumerate(extreme[:-1])
        )
        corners = np.ascontiguousarray((extreme - center) / diameter)
        self._store(
            _vertices=extreme,
            _corners=corners,
            _normals=normals,
            # From the corners and not from the hull: no corner sticks out because of rounding.
            _offsets=(normals @ corners.T).max(axis=1),
            _rounding=16.0 * EPS * max(1.0, float(np.abs(center).max()) / diameter),
            dim=len(center),
            ambient_dim=len(center),
            diameter=diameter,
            center=center,
        )

    def _parameters(self) -> dict[str, Any]:
        return {"vertices": self._vertices}

    @property
    def vertices(self) -> Array:
        """Extreme points, shape (v, A), in the order in which they were given."""
        return self._vertices

    def moved(self, scale: float = 1.0, shift: npt.ArrayLike = 0.0) -> Polytope:
        """Return the polytope {scale·x + shift}."""
        factor, offset = self._moving(scale, shift)
        return Polytope(factor * self._vertices + offset)

    def could_be_within(self, points: Array, distance: float) -> Booleans:
        """A facet is broken by at most the distance."""
        return np.asarray(self.contains(points, tolerance=distance))

    def _project(self, points: Array) -> Array:
        from fullswap.kernels.nearest import project_rows

        result = np.array(points, order="C")  # one layout, and so one compiled version
        facets = (self._normals, self._offsets, self._rounding)
        project_rows(result, self.center, self.diameter, self._corners, *facets)
        return result

    def _contains(self, points: Array, slack: Array) -> Booleans:
        local = (points - self.center) / self.diameter
        violations = (local @ self._normals.T - self._offsets).max(axis=1)
        return np.asarray(violations <= slack / self.diameter)

    def _minimize_linear(self, directions: Array) -> Array:
        result: Array = self._vertices[(directions @ self._corners.T).argmin(axis=1)]
        return result

    def _minimize_concave(self, curvature: Array, slope: Array) -> Array:
        # Seen from the centre: a·‖c + y‖² + ⟨b, c + y⟩ = const + ⟨b + 2a·c, y⟩ + a·‖y‖².
        slope = self._slope_at_center(curvature, slope)
        squares = self.diameter * np.einsum("ij,ij->i", self._corners, self._corners)
        values = slope @ self._corners.T + curvature[:, np.newaxis] * squares
        result: Array = self._vertices[values.argmin(axis=1)]
        return result

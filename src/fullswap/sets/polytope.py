"""Polytopes, given by points or by inequalities, with their corners and facets."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, final

import numpy as np
import numpy.typing as npt

from fullswap.base import checks
from fullswap.sets.base import EPS, LARGEST, SMALLEST, Array, Booleans, ConvexSetBase

_TABLE = 4_000_000  # entries of a table of points by facets that are formed at once: 32 MB


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

    _volume: float  # in units of the diameter, at least
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
        extreme, normals, volume, size = extreme_points(points)
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
            _volume=volume * (size / diameter) ** len(center),
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

    @property
    def kernel_shape(self) -> Any:
        """Corners and facets."""
        from fullswap.kernels.nearest import corners_of
        from fullswap.kernels.shapes import PolytopeShape

        corners = corners_of(self.center, self.diameter, self._corners)
        facets = (np.array(self._normals, order="C"), np.array(self._offsets))
        return PolytopeShape(corners, *facets, self._rounding)

    @property
    def facets(self) -> tuple[Array, Array]:
        """Normals (f, A) and offsets (f,): ⟨normal, (x − center)/diameter⟩ <= offset inside."""
        return self._normals, self._offsets

    def moved(self, scale: float = 1.0, shift: npt.ArrayLike = 0.0) -> Polytope:
        """Return the polytope {scale·x + shift}."""
        factor, offset = self._moving(scale, shift)
        return Polytope(factor * self._vertices + offset)

    @cached_property
    def reach(self) -> float:
        """The distance of the farthest corner."""
        return self.diameter * float(np.linalg.norm(self._corners, axis=1).max())

    def volume_near(self, distance: float, unit: float = 1.0) -> float:
        """Also by stretching: the set holds a ball around its centre, so stretching holds more."""
        stretched = 1 + distance / (self.diameter * float(self._offsets.min()))
        side = self.diameter / unit * stretched
        return min(super().volume_near(distance, unit), self._volume * side**self.dim)

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
        inside = np.empty(len(points), dtype=bool)
        width = max(1, _TABLE // len(self._offsets))
        for start in range(0, len(points), width):
            part = slice(start, start + width)
            excess = (local[part] @ self._normals.T - self._offsets).max(axis=1)
            inside[part] = excess <= slack[part] / self.diameter
        return inside

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


def extreme_points(points: Array) -> tuple[Array, Array, float, float]:
    """Extreme points (v, A), in the given order, and unit facet normals (f, A).

    Also the volume, in cubes with a side that comes last.
    """
    if points.shape[1] == 1:
        extreme = np.array([points.min(axis=0), points.max(axis=0)])
        if not extreme[0, 0] < extreme[1, 0]:
            raise _flat("vertices")
        return extreme, np.array([[-1.0], [1.0]]), 1.0, float(np.ptp(extreme))
    from scipy.spatial import ConvexHull, QhullError

    centered = points - points.mean(axis=0)
    size = np.abs(centered).max()
    if size == 0.0:
        raise _flat("vertices")
    # Facets are those of an affine image, and the image with equal widths in all directions is the
    # one on which the hull is computed most accurately, however thin the polytope.
    _, widths, axes = np.linalg.svd(centered / size, full_matrices=False)
    rounding = 8.0 * EPS * np.abs(points).max() / size * math.sqrt(len(points))
    if widths[-1] <= max(1e-12 * widths[0], rounding):
        raise _flat("vertices")
    to_image = axes.T / widths * math.sqrt(len(points))
    try:
        hull = ConvexHull(centered / size @ to_image)
    except QhullError:
        raise _flat("vertices") from None
    normals = np.unique(hull.equations[:, :-1], axis=0) @ to_image.T
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    # a hair more, because it stands for an upper bound
    volume = float(hull.volume) / abs(np.linalg.det(to_image)) * (1 + 1e-9)
    return points[np.sort(hull.vertices)], normals, volume, float(size)


def checked_inequalities(inequalities: tuple[npt.ArrayLike, npt.ArrayLike]) -> tuple[Array, Array]:
    """Return A and b with rows of A scaled to length 1; rows 0 <= b_i are dropped."""
    try:
        left, right = inequalities
    except (TypeError, ValueError):
        checks.refuse("inequalities", "be a pair (A, b)", inequalities)
    matrix = checks.floats("inequalities[0]", left, LARGEST)
    bounds = checks.floats("inequalities[1]", right, LARGEST)
    if matrix.ndim != 2 or matrix.size == 0:
        checks.refuse_shape("inequalities[0]", "(k, A) with k, A >= 1", matrix)
    if bounds.shape != (len(matrix),):
        checks.refuse_shape("inequalities[1]", f"({len(matrix)},)", bounds)
    used = matrix.any(axis=1)
    lengths = np.linalg.norm(matrix, axis=1)
    if (lengths[used] < SMALLEST).any():
        rule = f"have rows of length 0 or at least {SMALLEST:g}"
        checks.refuse("inequalities[0]", rule, float(lengths[used].min()))
    if (bounds[~used] < 0.0).any():
        worst = f"0 <= {bounds[~used].min():g}"
        raise ValueError(f"inequalities must have a solution, got {worst}: the polytope is empty")
    return matrix[used] / lengths[used, np.newaxis], bounds[used] / lengths[used]


def vertices_of_inequalities(matrix: Array, bounds: Array) -> Array:
    """Return the vertices (v, A) of {x : matrix·x <= bounds}, rows of matrix of length 1."""
    from scipy.optimize import linprog
    from scipy.spatial import HalfspaceIntersection, QhullError

    unbounded = ValueError("inequalities must describe a bounded polytope, got an unbounded set")
    rows, dim = matrix.shape
    if rows == 0:
        raise unbounded
    # Centre of the largest ball: max r with ⟨a_i, x⟩ + r <= b_i. Of a bounded polytope no ball has
    # radius beyond max |b_i|, so the cap makes the programme bounded and changes nothing else.
    unit = float(np.abs(bounds).max()) or 1.0
    solution = linprog(
        np.append(np.zeros(dim), -1.0),
        A_ub=np.column_stack([matrix, np.ones(rows)]),
        b_ub=bounds / unit,
        bounds=[(None, None)] * dim + [(None, 1.0)],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if solution.x is None:
        raise ValueError(f"inequalities must be solvable, got: {solution.message}")
    inside = unit * solution.x[:-1]
    slacks = bounds - matrix @ inside
    radius = float(slacks.min())
    if radius < -1e-9 * unit:
        raise ValueError(
            "inequalities must have a solution, got an empty polytope: every point breaks one by "
            f"at least {-radius:.3g}"
        )
    if radius <= 1e-12 * unit:
        raise _flat("inequalities")
    if dim == 1:
        below, above = matrix[:, 0] < 0.0, matrix[:, 0] > 0.0
        if not (below.any() and above.any()):
            raise unbounded
        return np.array([[(-bounds[below]).max()], [bounds[above].min()]])
    scaled = np.column_stack([matrix, -slacks / radius])
    try:
        with np.errstate(divide="ignore", invalid="ignore"):  # vertices at infinity
            intersection = HalfspaceIntersection(scaled, np.zeros(dim))
    except QhullError:  # the dual hull is flat: some line is not cut off on either side
        raise unbounded from None
    # A vertex is normal / -offset of a facet of the dual hull; offset 0 puts it at infinity.
    if intersection.dual_equations[:, -1].max() > -1e-12:
        raise unbounded
    result: Array = inside + radius * intersection.intersections
    return result


def _flat(what: str) -> ValueError:
    return ValueError(
        f"{what} must describe a polytope with interior points, got a flat one. "
        "Give coordinates in its own affine hull, or use Simplex for probability vectors"
    )

r"""Convex sets with exact operations.

Every set answers the same questions about arrays of points, shape (m, A), where A is the number of
coordinates: project them, say which it contains, minimise linear functions and functions
a·‖x‖² + ⟨b, x⟩ (the losses of quadratic type) over it. "Exact" means up to rounding: closed forms
where they exist and active-set methods with finitely many steps otherwise, never an iteration
stopped early.

A set has ``dim`` (its affine dimension) and ``ambient_dim`` (A). They differ for ``Simplex`` alone,
which lies in a plane of constant sum. Public methods check their arguments; the same names with a
leading underscore take a float array of shape (m, A) and check nothing, for callers that have done
so already. Sets are immutable, compare by value and can be pickled.

References: P. Wolfe, "Finding the nearest point in a polytope" (1976); C. Lawson and R. Hanson,
"Solving Least Squares Problems" (1974), chapter 23.
"""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from functools import cached_property
from typing import Any, final

import numpy as np
import numpy.typing as npt

__all__ = ["Ball", "Box", "ConvexSetBase", "Custom", "Interval", "Polytope", "Simplex"]

Array = npt.NDArray[np.float64]
RowFunction = Callable[[Array], Any]

# Within these bounds squares of coordinates, also in units of the diameter, cannot overflow.
_LARGEST = 1e75
_SMALLEST = 1e-75
_EPS = float(np.finfo(np.float64).eps)
_MOST_BOX_VERTICES = 16  # dimension up to which a box lists its 2^dim vertices
_FAR = 1e12  # targets this many diameters away are minimised as linear functions


def _finite(name: str, values: npt.ArrayLike) -> Array:
    """Return ``values`` as a float array, or raise ValueError if some are not finite numbers."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "fiubO":
            raise TypeError
        array = array.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {values!r}; allowed: arrays of real numbers") from None
    allowed = np.abs(array) <= _LARGEST  # False for NaN
    if not allowed.all():
        raise ValueError(
            f"{name} holds {array[~allowed].flat[0]}; "
            f"allowed: finite numbers of magnitude at most {_LARGEST:g}"
        )
    return array


def _rows(name: str, values: npt.ArrayLike, width: int) -> tuple[Array, bool]:
    """Return ``values`` with shape (m, width), and whether a single row of shape (width,) came."""
    array = _finite(name, values)
    if array.ndim not in (1, 2) or array.shape[-1] != width or array.size == 0:
        raise ValueError(
            f"{name} has shape {array.shape}; allowed: ({width},) or (m, {width}) with m >= 1"
        )
    return (array[np.newaxis] if array.ndim == 1 else array), array.ndim == 1


def _vector(name: str, values: npt.ArrayLike) -> Array:
    array = _finite(name, values)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} has shape {array.shape}; allowed: (A,) with A >= 1")
    return array.copy()


def _number(name: str, value: Any) -> float:
    array = _finite(name, value)
    if array.ndim != 0:
        raise ValueError(f"{name} has shape {array.shape}; allowed: a single number")
    return float(array)


def _positive(name: str, value: Any) -> float:
    number = _number(name, value)
    if number <= 0.0:
        raise ValueError(f"{name} is {number}; allowed: numbers > 0")
    return number


def _dimension(value: Any) -> int:
    try:
        dim = operator.index(value)
    except TypeError:
        raise ValueError(f"dim is {value!r}; allowed: integers >= 1") from None
    if dim < 1 or isinstance(value, bool):
        raise ValueError(f"dim is {value!r}; allowed: integers >= 1")
    return dim


def _zero_sum_basis(dim: int) -> Array:
    """Return an orthonormal basis (dim + 1, dim) of the vectors with sum 0 (Helmert's)."""
    basis = np.triu(np.ones((dim + 1, dim)))
    counts = np.arange(1, dim + 1)
    basis[counts, counts - 1] = -counts
    return basis / np.sqrt(counts * (counts + 1.0))


def _show(value: Any) -> str:
    if isinstance(value, np.ndarray):
        shape = " x ".join(map(str, value.shape))
        return str(value.tolist()) if value.size <= 12 else f"<{shape} array>"
    return getattr(value, "__qualname__", None) or repr(value)


class ConvexSetBase(ABC):
    """What all convex sets share: checked public methods over unchecked private ones.

    Attributes
    ----------
    dim, ambient_dim : int
        Affine dimension, and number of coordinates A.
    diameter : float
        sup ‖x − y‖ over the set.
    center : array (A,)
        A point of the relative interior.
    """

    dim: int
    ambient_dim: int
    diameter: float
    center: Array

    def _store(self, **fields: Any) -> None:
        """Set the fields once and for all; arrays become read-only."""
        if fields["diameter"] < _SMALLEST:
            raise ValueError(f"diameter is {fields['diameter']}; allowed: at least {_SMALLEST:g}")
        self.__setstate__(fields)

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in state.values():
            for array in value if isinstance(value, tuple) else (value,):
                if isinstance(array, np.ndarray):
                    array.setflags(write=False)
        self.__dict__.update(state)

    def __setattr__(self, name: str, value: Any) -> None:
        raise FrozenInstanceError(f"cannot set {name!r}: {type(self).__name__} is immutable")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete {name!r}: {type(self).__name__} is immutable")

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={_show(value)}" for name, value in self._parameters().items())
        return f"{type(self).__name__}({shown})"

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, ConvexSetBase):
            return NotImplemented
        mine, theirs = self._parameters(), other._parameters()
        return mine.keys() == theirs.keys() and all(
            np.array_equal(mine[name], theirs[name]) for name in mine
        )

    def __hash__(self) -> int:
        # The sum of the centre's coordinates, and not their bytes: -0.0 equals 0.0.
        return hash((type(self).__name__, self.dim, self.diameter, float(self.center.sum())))

    @property
    @abstractmethod
    def vertices(self) -> Array | None:
        """Extreme points, shape (v, A); None if they are infinitely many, unknown or too many."""

    @abstractmethod
    def moved(self, scale: float = 1.0, shift: npt.ArrayLike = 0.0) -> ConvexSetBase:
        """Return the set {scale·x + shift} of the same kind, scale > 0, shift () or (A,)."""

    @abstractmethod
    def _parameters(self) -> dict[str, Any]:
        """Arguments that would build the set again."""

    @abstractmethod
    def _project(self, points: Array) -> Array: ...

    @abstractmethod
    def _contains(self, points: Array, slack: Array) -> npt.NDArray[np.bool_]:
        """Tell which points break no constraint by more than ``slack``, both of length m."""

    @abstractmethod
    def _minimize_linear(self, directions: Array) -> Array: ...

    @abstractmethod
    def _minimize_concave(self, curvature: Array, slope: Array) -> Array:
        """Minimise curvature·‖x‖² + ⟨slope, x⟩ for curvature < 0, shapes (m,) and (m, A)."""

    @cached_property
    def frame(self) -> tuple[Array, Array]:
        """Origin (A,) and orthonormal basis (A, dim): the affine hull is {origin + basis·y}.

        Zero and the identity for sets of full dimension.
        """
        if self.dim == self.ambient_dim:
            origin, basis = np.zeros(self.ambient_dim), np.eye(self.ambient_dim)
        else:
            origin, basis = self.center, _zero_sum_basis(self.dim)
        origin.setflags(write=False)
        basis.setflags(write=False)
        return origin, basis

    def project(self, points: npt.ArrayLike) -> Array:
        """Return the nearest points of the set: argmin ‖x − y‖ over x, for every row y.

        Parameters
        ----------
        points : array (m, A) or (A,)

        Examples
        --------
        >>> Ball([0.0, 0.0], 1.0).project([3.0, 4.0])
        array([0.6, 0.8])
        """
        rows, single = _rows("points", points, self.ambient_dim)
        result = self._project(rows)
        return result[0] if single else result

    def contains(
        self, points: npt.ArrayLike, tolerance: float = 1e-9
    ) -> bool | npt.NDArray[np.bool_]:
        """Tell whether points (m, A) or (A,) lie in the set: booleans (m,) or one.

        No constraint may be broken by more than tolerance·max(1, diameter, max_i |x_i|).

        Examples
        --------
        >>> Simplex(2).contains([[0.2, 0.3, 0.5], [0.2, 0.3, 0.6]])
        array([ True, False])
        """
        rows, single = _rows("points", points, self.ambient_dim)
        allowed = _number("tolerance", tolerance)
        if allowed < 0.0:
            raise ValueError(f"tolerance is {allowed}; allowed: numbers >= 0")
        slack = allowed * np.maximum(np.abs(rows).max(axis=1), max(1.0, self.diameter))
        result = self._contains(rows, slack)
        return bool(result[0]) if single else result

    def minimize_linear(self, directions: npt.ArrayLike) -> Array:
        """Return minimisers of ⟨direction, x⟩ over the set, shaped like ``directions``.

        The direction 0 gives some point of the set; ties are broken the same way every time.

        Examples
        --------
        >>> Box([0.0, 0.0], [1.0, 2.0]).minimize_linear([[1.0, -1.0], [-1.0, 1.0]])
        array([[0., 2.],
               [1., 0.]])
        """
        rows, single = _rows("directions", directions, self.ambient_dim)
        result = self._minimize_linear(rows)
        return result[0] if single else result

    def minimize_quadratic(self, curvature: npt.ArrayLike, slope: npt.ArrayLike) -> Array:
        """Return minimisers of curvature·‖x‖² + ⟨slope, x⟩ over the set, for curvature of any sign.

        Parameters
        ----------
        curvature : array (m,), or a number that serves for all rows
        slope : array (m, A) or (A,)

        Examples
        --------
        >>> Interval(0.0, 1.0).minimize_quadratic([1.0, 0.0, -1.0], [[-0.5], [-0.5], [1.5]])
        array([[0.25],
               [1.  ],
               [0.  ]])
        """
        slopes, single = _rows("slope", slope, self.ambient_dim)
        curvatures = _finite("curvature", curvature)
        if curvatures.shape not in ((), (len(slopes),)):
            raise ValueError(
                f"curvature has shape {curvatures.shape}; allowed: () or ({len(slopes)},), "
                "one for each row of slope"
            )
        curvatures = np.broadcast_to(curvatures, len(slopes))
        result = self._minimize_quadratic(curvatures, slopes)
        return result[0] if single else result

    def _minimize_quadratic(self, curvature: Array, slope: Array) -> Array:
        result = np.empty_like(slope)
        convex, concave = curvature > 0.0, curvature < 0.0
        if convex.any():
            result[convex] = self._minimize_convex(curvature[convex], slope[convex])
        if concave.any():
            result[concave] = self._minimize_concave(curvature[concave], slope[concave])
        linear = ~(convex | concave)
        if linear.any():
            result[linear] = self._minimize_linear(slope[linear])
        return result

    def _minimize_convex(self, curvature: Array, slope: Array) -> Array:
        with np.errstate(over="ignore"):
            target = slope / (-2.0 * curvature[:, np.newaxis])
        # Far away the set looks like a point: there the linear part at the centre decides alone,
        # the rest being below 1e-12 of it, and the target may not even be a finite number.
        near = np.abs(target - self.center).max(axis=1) <= _FAR * self.diameter
        if near.all():
            return self._project(target)
        result = np.empty_like(slope)
        result[near] = self._project(target[near]) if near.any() else 0.0
        result[~near] = self._minimize_linear(self._slope_at_center(curvature, slope)[~near])
        return result

    def _slope_at_center(self, curvature: Array, slope: Array) -> Array:
        return slope + 2.0 * curvature[:, np.newaxis] * self.center

    def _moving(self, scale: float, shift: npt.ArrayLike) -> tuple[float, Array]:
        array = _finite("shift", shift)
        if array.shape not in ((), (self.ambient_dim,)):
            raise ValueError(f"shift has shape {array.shape}; allowed: () or ({self.ambient_dim},)")
        return _positive("scale", scale), np.broadcast_to(array, self.ambient_dim)


class _Orthotope(ConvexSetBase):
    """Operations shared by ``Interval`` and ``Box``: everything goes coordinate by coordinate."""

    _low: Array
    _high: Array

    @cached_property
    def vertices(self) -> Array | None:
        """Corners, shape (2^dim, dim), the first coordinate changing fastest; None for dim > 16."""
        if self.dim > _MOST_BOX_VERTICES:
            return None
        at_high = np.arange(2**self.dim)[:, np.newaxis] >> np.arange(self.dim) & 1
        corners = np.where(at_high == 1, self._high, self._low)
        corners.setflags(write=False)
        return corners

    def _project(self, points: Array) -> Array:
        return np.minimum(np.maximum(points, self._low), self._high)

    def _contains(self, points: Array, slack: Array) -> npt.NDArray[np.bool_]:
        return np.maximum(self._low - points, points - self._high).max(axis=1) <= slack

    def _minimize_linear(self, directions: Array) -> Array:
        return np.where(directions >= 0.0, self._low, self._high)

    def _minimize_concave(self, curvature: Array, slope: Array) -> Array:
        # All corners are equally far from the centre, so that only the linear part is left.
        return self._minimize_linear(self._slope_at_center(curvature, slope))


@final
class Interval(_Orthotope):
    """The interval [low, high], a set of dimension 1 whose points have shape (m, 1).

    Examples
    --------
    >>> Interval(0.0, 2.0).project([[3.0], [1.0]])
    array([[2.],
           [1.]])
    """

    low: float
    high: float

    def __init__(self, low: float, high: float) -> None:
        low, high = _number("low", low), _number("high", high)
        if not low < high:
            raise ValueError(f"low is {low} and high is {high}; allowed: low < high")
        self._store(
            low=low,
            high=high,
            _low=np.array([low]),
            _high=np.array([high]),
            dim=1,
            ambient_dim=1,
            diameter=high - low,
            center=np.array([0.5 * low + 0.5 * high]),
        )

    def _parameters(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high}

    def moved(self, scale: float = 1.0, shift: npt.ArrayLike = 0.0) -> Interval:
        """Return the interval {scale·x + shift}."""
        factor, offset = self._moving(scale, shift)
        return Interval(factor * self.low + offset[0], factor * self.high + offset[0])


@final
class Box(_Orthotope):
    """The box of all x with low_i <= x_i <= high_i, low and high of shape (A,).

    Examples
    --------
    >>> Box([0.0, -1.0], [1.0, 1.0]).vertices.tolist()
    [[0.0, -1.0], [1.0, -1.0], [0.0, 1.0], [1.0, 1.0]]
    """

    low: Array
    high: Array

    def __init__(self, low: npt.ArrayLike, high: npt.ArrayLike) -> None:
        low, high = _vector("low", low), _vector("high", high)
        if low.shape != high.shape:
            raise ValueError(f"low has shape {low.shape} and high {high.shape}; allowed: the same")
        if not (low < high).all():
            i = int(np.argmin(low < high))
            raise ValueError(
                f"low[{i}] is {low[i]} and high[{i}] is {high[i]}; allowed: low < high everywhere"
            )
        self._store(
            low=low,
            high=high,
            _low=low,
            _high=high,
            dim=len(low),
            ambient_dim=len(low),
            diameter=math.hypot(*(high - low)),
            center=0.5 * low + 0.5 * high,
        )

    def _parameters(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high}

    def moved(self, scale: float = 1.0, shift: npt.ArrayLike = 0.0) -> Box:
        """Return the box {scale·x + shift}."""
        factor, offset = self._moving(scale, shift)
        return Box(factor * self.low + offset, factor * self.high + offset)


@final
class Simplex(ConvexSetBase):
    """The simplex {shift + scale·p : p >= 0, Σ p_i = 1}, A = dim + 1 coordinates.

    Parameters
    ----------
    dim : int
        Affine dimension: one less than the number of classes.
    scale : float
    shift : float or array (dim + 1,)

    Examples
    --------
    >>> Simplex(2).project([0.9, 0.5, -1.0])
    array([0.7, 0.3, 0. ])
    """

    scale: float
    shift: Array
    _counts: Array

    def __init__(self, dim: int, scale: float = 1.0, shift: npt.ArrayLike = 0.0) -> None:
        dim = _dimension(dim)
        scale = _positive("scale", scale)
        array = _finite("shift", shift)
        if array.shape not in ((), (dim + 1,)):
            raise ValueError(f"shift has shape {array.shape}; allowed: () or ({dim + 1},)")
        offset = np.broadcast_to(array, dim + 1).copy()
        self._store(
            scale=scale,
            shift=offset,
            _counts=np.arange(1.0, dim + 2.0),
            dim=dim,
            ambient_dim=dim + 1,
            diameter=scale * math.sqrt(2.0),
            center=offset + scale / (dim + 1),
        )

    def _parameters(self) -> dict[str, Any]:
        parameters: dict[str, Any] = {"dim": self.dim}
        if self.scale != 1.0:
            parameters["scale"] = self.scale
        if self.shift.any():
            same = bool((self.shift == self.shift[0]).all())
            parameters["shift"] = float(self.shift[0]) if same else self.shift
        return parameters

    @cached_property
    def vertices(self) -> Array:
        """Corners shift + scale·e_i, shape (dim + 1, dim + 1)."""
        corners = self.shift + self.scale * np.eye(self.ambient_dim)
        corners.setflags(write=False)
        return corners

    def moved(self, scale: float = 1.0, shift: npt.ArrayLike = 0.0) -> Simplex:
        """Return the simplex {scale·x + shift}."""
        factor, offset = self._moving(scale, shift)
        return Simplex(self.dim, factor * self.scale, factor * self.shift + offset)

    def _project(self, points: Array) -> Array:
        heights = (points - self.shift) / self.scale
        # Moving along (1, …, 1) changes nothing, and with the largest height at 0 those that stay
        # positive lie in [-1, 0]: no cancellation however far away the point is.
        heights -= heights.max(axis=1, keepdims=True)
        sums = np.cumsum(-np.sort(-heights, axis=1), axis=1)
        # p_i = max(h_i − τ, 0) with Σ p_i = 1, and τ is the largest of the candidates "k stay".
        threshold = ((sums - 1.0) / self._counts).max(axis=1, keepdims=True)
        return self.shift + self.scale * np.maximum(heights - threshold, 0.0)

    def _contains(self, points: Array, slack: Array) -> npt.NDArray[np.bool_]:
        parts = points - self.shift
        excess = np.abs(parts.sum(axis=1) - self.scale) / math.sqrt(self.ambient_dim)
        return np.maximum(excess, -parts.min(axis=1)) <= slack

    def _minimize_linear(self, directions: Array) -> Array:
        return self.vertices[directions.argmin(axis=1)]

    def _minimize_concave(self, curvature: Array, slope: Array) -> Array:
        # All corners are equally far from the centre, so that only the linear part is left.
        return self._minimize_linear(self._slope_at_center(curvature, slope))


@final
class Ball(ConvexSetBase):
    """The Euclidean ball {x : ‖x − center‖ <= radius}, center of shape (A,).

    Examples
    --------
    >>> Ball([1.0, 0.0], 2.0).minimize_linear([0.0, 5.0])
    array([ 1., -2.])
    """

    radius: float

    def __init__(self, center: npt.ArrayLike, radius: float) -> None:
        center, radius = _vector("center", center), _positive("radius", radius)
        self._store(
            radius=radius,
            dim=len(center),
            ambient_dim=len(center),
            diameter=2.0 * radius,
            center=center,
        )

    def _parameters(self) -> dict[str, Any]:
        return {"center": self.center, "radius": self.radius}

    @property
    def vertices(self) -> None:
        """None: every point of the sphere is extreme."""
        return None

    def moved(self, scale: float = 1.0, shift: npt.ArrayLike = 0.0) -> Ball:
        """Return the ball {scale·x + shift}."""
        factor, offset = self._moving(scale, shift)
        return Ball(factor * self.center + offset, factor * self.radius)

    def _project(self, points: Array) -> Array:
        offsets = points - self.center
        norms = np.sqrt(np.einsum("ij,ij->i", offsets, offsets))[:, np.newaxis]
        shrunk = self.center + offsets * (self.radius / np.maximum(norms, self.radius))
        return np.where(norms > self.radius, shrunk, points)

    def _contains(self, points: Array, slack: Array) -> npt.NDArray[np.bool_]:
        return np.linalg.norm(points - self.center, axis=1) - self.radius <= slack

    def _minimize_linear(self, directions: Array) -> Array:
        largest = np.abs(directions).max(axis=1, keepdims=True)
        # The direction 0 counts as the first axis: the result stays an extreme point.
        units = np.where(largest > 0.0, directions, np.eye(1, self.dim))
        units = units / np.where(largest > 0.0, largest, 1.0)
        units /= np.linalg.norm(units, axis=1, keepdims=True)
        return self.center - self.radius * units

    def _minimize_concave(self, curvature: Array, slope: Array) -> Array:
        # All extreme points are equally far from the centre: only the linear part is left.
        return self._minimize_linear(self._slope_at_center(curvature, slope))


@final
class Polytope(ConvexSetBase):
    """The convex hull of points, or the solutions of A x <= b, with interior points.

    Parameters
    ----------
    vertices : array (v, A), optional
        Points whose hull is the set; those that are not extreme are dropped.
    inequalities : pair of arrays (k, A) and (k,), optional
        A and b. Exactly one of the two arguments is given.

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

    def __init__(
        self,
        vertices: npt.ArrayLike | None = None,
        inequalities: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    ) -> None:
        if (vertices is None) == (inequalities is None):
            given = "neither" if vertices is None else "both"
            raise ValueError(f"{given} of vertices and inequalities given; allowed: exactly one")
        if inequalities is not None:
            points = _vertices_of_inequalities(*_checked_inequalities(inequalities))
        else:
            assert vertices is not None
            points = _finite("vertices", vertices)
            if points.ndim != 2 or points.size == 0:
                raise ValueError(f"vertices has shape {points.shape}; allowed: (v, A), A >= 1")
        ambient_dim = points.shape[1]
        if len(points) < ambient_dim + 1:
            raise ValueError(
                f"vertices has {len(points)} rows; allowed: at least {ambient_dim + 1} "
                f"in {ambient_dim} coordinates"
            )
        extreme, normals = _hull(points)
        center = extreme.mean(axis=0)
        diameter = max(
            float(np.linalg.norm(extreme[i + 1 :] - corner, axis=1).max())
            for i, corner in enumerate(extreme[:-1])
        )
        corners = (extreme - center) / diameter
        self._store(
            _vertices=extreme,
            _corners=corners,
            _normals=normals,
            # From the corners and not from the hull: no corner sticks out because of rounding.
            _offsets=(normals @ corners.T).max(axis=1),
            dim=ambient_dim,
            ambient_dim=ambient_dim,
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

    def _violations(self, points: Array) -> Array:
        """Return by how much, in units of the diameter, the worst facet of each point is broken."""
        local = (points - self.center) / self.diameter
        return (local @ self._normals.T - self._offsets).max(axis=1)

    def _project(self, points: Array) -> Array:
        result = points.copy()
        rounding = 16.0 * _EPS * max(1.0, float(np.abs(self.center).max()) / self.diameter)
        for row in np.flatnonzero(self._violations(points) > rounding):
            local = (points[row] - self.center) / self.diameter
            result[row] = self.center + self.diameter * _nearest_in_hull(self._corners, local)
        return result

    def _contains(self, points: Array, slack: Array) -> npt.NDArray[np.bool_]:
        return self._violations(points) <= slack / self.diameter

    def _minimize_linear(self, directions: Array) -> Array:
        return self._vertices[(directions @ self._corners.T).argmin(axis=1)]

    def _minimize_concave(self, curvature: Array, slope: Array) -> Array:
        # Seen from the centre: a·‖c + y‖² + ⟨b, c + y⟩ = const + ⟨b + 2a·c, y⟩ + a·‖y‖².
        slope = self._slope_at_center(curvature, slope)
        squares = self.diameter * np.einsum("ij,ij->i", self._corners, self._corners)
        values = slope @ self._corners.T + curvature[:, np.newaxis] * squares
        return self._vertices[values.argmin(axis=1)]


def _flat(what: str) -> ValueError:
    return ValueError(
        f"{what} describe a flat polytope, of affine dimension below its number of coordinates; "
        "allowed: polytopes with interior points. Give coordinates in its own affine hull, "
        "or use Simplex for probability vectors"
    )


def _hull(points: Array) -> tuple[Array, Array]:
    """Return the extreme points (v, A), in the given order, and unit facet normals (f, A)."""
    if points.shape[1] == 1:
        extreme = np.array([points.min(axis=0), points.max(axis=0)])
        if not extreme[0, 0] < extreme[1, 0]:
            raise _flat("vertices")
        return extreme, np.array([[-1.0], [1.0]])
    from scipy.spatial import ConvexHull, QhullError

    centered = points - points.mean(axis=0)
    size = np.abs(centered).max()
    if size == 0.0:
        raise _flat("vertices")
    # Facets are those of an affine image, and the image with equal widths in all directions is the
    # one on which the hull is computed most accurately, however thin the polytope.
    _, widths, axes = np.linalg.svd(centered / size, full_matrices=False)
    rounding = 8.0 * _EPS * np.abs(points).max() / size * math.sqrt(len(points))
    if widths[-1] <= max(1e-12 * widths[0], rounding):
        raise _flat("vertices")
    to_image = axes.T / widths * math.sqrt(len(points))
    try:
        hull = ConvexHull(centered / size @ to_image)
    except QhullError:
        raise _flat("vertices") from None
    normals = np.unique(hull.equations[:, :-1], axis=0) @ to_image.T
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return points[np.sort(hull.vertices)], normals


def _checked_inequalities(
    inequalities: tuple[npt.ArrayLike, npt.ArrayLike],
) -> tuple[Array, Array]:
    """Return A and b with rows of A scaled to length 1; rows 0 <= b_i are dropped."""
    try:
        left, right = inequalities
    except (TypeError, ValueError):
        raise ValueError(f"inequalities is {inequalities!r}; allowed: a pair (A, b)") from None
    matrix, bounds = _finite("inequalities[0]", left), _finite("inequalities[1]", right)
    if matrix.ndim != 2 or matrix.size == 0 or bounds.shape != (len(matrix),):
        raise ValueError(
            f"inequalities has shapes {matrix.shape} and {bounds.shape}; "
            "allowed: (k, A) and (k,) with k, A >= 1"
        )
    used = matrix.any(axis=1)
    lengths = np.linalg.norm(matrix, axis=1)
    if (lengths[used] < _SMALLEST).any():
        raise ValueError(
            f"inequalities[0] has a row of length {lengths[used].min()}; "
            f"allowed: 0 or at least {_SMALLEST:g}"
        )
    if (bounds[~used] < 0.0).any():
        raise ValueError("inequalities have no solution (0 <= b with b < 0): the polytope is empty")
    return matrix[used] / lengths[used, np.newaxis], bounds[used] / lengths[used]


def _vertices_of_inequalities(matrix: Array, bounds: Array) -> Array:
    """Return the vertices (v, A) of {x : matrix·x <= bounds}, rows of matrix of length 1."""
    from scipy.optimize import linprog
    from scipy.spatial import HalfspaceIntersection, QhullError

    unbounded = ValueError("inequalities describe an unbounded set; allowed: bounded polytopes")
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
        raise ValueError(f"inequalities cannot be solved: {solution.message}")
    inside = unit * solution.x[:-1]
    slacks = bounds - matrix @ inside
    radius = float(slacks.min())
    if radius < -1e-9 * unit:
        raise ValueError(
            "inequalities have no solution: the polytope is empty "
            f"(every point breaks one by at least {-radius:.3g})"
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
    return inside + radius * intersection.intersections


def _nearest_in_hull(corners: Array, point: Array) -> Array:
    """Return the point of conv(corners) nearest to ``point``, by Wolfe's active-set method.

    Symbols: corners (v, A), diameter 1; ``active`` holds affinely independent corners whose
    hull contains the current point in its relative interior, ``weights`` its coordinates there.
    """
    active, weights = _guess_face(corners, point)
    visited: set[bytes] = set()
    while True:
        # Move to the nearest point of the affine hull; leave corners behind that block the way.
        while True:
            goal, residual = _affine_weights(corners[active], point)
            blocked = goal <= 0.0
            if not blocked.any():
                break
            ratios = np.full(len(goal), np.inf)
            ratios[blocked] = weights[blocked] / np.maximum(weights - goal, 1e-300)[blocked]
            first = int(ratios.argmin())
            weights = np.maximum(weights + ratios[first] * (goal - weights), 0.0)
            weights[first] = 0.0
            active, weights = active[weights > 0.0], weights[weights > 0.0]
            weights /= weights.sum()
        weights = goal / goal.sum()
        gains = (corners - corners[active[0]]) @ residual
        gains[active] = 0.0
        entering = int(gains.argmax())
        # In exact arithmetic no face comes twice; if one does, the rest is rounding.
        face = np.sort(active).tobytes()
        if gains[entering] <= 4.0 * _EPS * math.sqrt(residual @ residual) or face in visited:
            return weights @ corners[active]
        visited.add(face)
        active, weights = np.append(active, entering), np.append(weights, 0.0)


def _affine_weights(corners: Array, point: Array) -> tuple[Array, Array]:
    """Return weights of sum 1 with which corners (k, A) come nearest to ``point``, and the rest.

    The rest (A,) is orthogonal to the edges to full relative accuracy, however short it is: that
    takes a second round of least squares.
    """
    rest = point - corners[0]
    if len(corners) == 1:
        return np.ones(1), rest
    edges = (corners[1:] - corners[0]).T
    steps = np.linalg.lstsq(edges, rest, rcond=None)[0]
    rest = rest - edges @ steps
    correction = np.linalg.lstsq(edges, rest, rcond=None)[0]
    steps += correction
    return np.concatenate([[1.0 - steps.sum()], steps]), rest - edges @ correction


def _guess_face(corners: Array, point: Array) -> tuple[npt.NDArray[np.intp], Array]:
    """Guess the face on which the projection lies: indices and weights of its corners.

    Non-negative least squares Σ u_i·(corner_i − point) ≈ 0, Σ u_i ≈ 1 has its solution u
    proportional to the weights of the nearest point, whatever the two parts are worth.
    """
    from scipy.optimize import nnls

    reach = 1.0 + math.sqrt(point @ point)
    if reach < 1e6:  # further away all columns look alike
        system = np.full((len(point) + 1, len(corners)), reach)
        system[:-1] = (corners - point).T
        goal = np.zeros(len(point) + 1)
        goal[-1] = reach
        try:
            weights = nnls(system, goal)[0]
        except RuntimeError:
            weights = np.zeros(len(corners))
        active = np.flatnonzero(weights > 0.0)
        if 0 < len(active) <= len(point) + 1:
            return active, weights[active] / weights[active].sum()
    return np.array([(corners @ point).argmax()]), np.ones(1)


@final
class Custom(ConvexSetBase):
    """A set of full dimension given by functions on arrays of shape (m, dim).

    Parameters
    ----------
    dim : int
    project : callable, (m, dim) -> (m, dim)
        Nearest points of the set.
    minimize_linear : callable, (m, dim) -> (m, dim)
        Minimisers of ⟨direction, x⟩ over the set.
    diameter : float
        An upper bound of the distance of two points of the set.
    contains : callable, (m, dim) -> booleans (m,), optional
        Members; without it a point belongs to the set if ``project`` leaves it where it is.

    Notes
    -----
    The functions are compared with each other on a fixed sample of points at construction.

    Examples
    --------
    >>> disc = Ball([0.0, 0.0], 1.0)
    >>> Custom(2, disc.project, disc.minimize_linear, diameter=2.0).project([0.0, 3.0])
    array([0., 1.])
    """

    _functions: tuple[RowFunction, RowFunction, RowFunction | None]

    def __init__(
        self,
        dim: int,
        project: RowFunction,
        minimize_linear: RowFunction,
        diameter: float,
        contains: RowFunction | None = None,
    ) -> None:
        dim = _dimension(dim)
        diameter = _positive("diameter", diameter)
        for name, function in [("project", project), ("minimize_linear", minimize_linear)]:
            if not callable(function):
                raise ValueError(f"{name} is {function!r}; allowed: a function")
        if contains is not None and not callable(contains):
            raise ValueError(f"contains is {contains!r}; allowed: a function or None")
        ends = _call("minimize_linear", minimize_linear, _probes(dim))
        self._store(
            _functions=(project, minimize_linear, contains),
            dim=dim,
            ambient_dim=dim,
            diameter=diameter,
            center=_call("project", project, ends.mean(axis=0, keepdims=True))[0],
        )
        _check_custom(self)

    def _parameters(self) -> dict[str, Any]:
        project, minimize_linear, contains = self._functions
        parameters: dict[str, Any] = {
            "dim": self.dim,
            "project": project,
            "minimize_linear": minimize_linear,
            "diameter": self.diameter,
        }
        return parameters if contains is None else {**parameters, "contains": contains}

    @property
    def vertices(self) -> None:
        """None: the functions do not tell."""
        return None

    def moved(self, scale: float = 1.0, shift: npt.ArrayLike = 0.0) -> Custom:
        """Return the set {scale·x + shift}, with functions that go there and back."""
        factor, offset = self._moving(scale, shift)
        project, minimize_linear, contains = self._functions
        return Custom(
            self.dim,
            lambda points: factor * project((points - offset) / factor) + offset,
            lambda directions: factor * minimize_linear(directions) + offset,
            factor * self.diameter,
            None if contains is None else lambda points: contains((points - offset) / factor),
        )

    def _project(self, points: Array) -> Array:
        return _call("project", self._functions[0], points)

    def _contains(self, points: Array, slack: Array) -> npt.NDArray[np.bool_]:
        near = np.linalg.norm(points - self._project(points), axis=1) <= slack
        contains = self._functions[2]
        return near if contains is None else near | _call_contains(contains, points)

    def _minimize_linear(self, directions: Array) -> Array:
        # The function need not know what to do with the direction 0: it gets the first axis.
        some = np.where(directions.any(axis=1, keepdims=True), directions, np.eye(1, self.dim))
        return _call("minimize_linear", self._functions[1], some)

    def _minimize_concave(self, curvature: Array, slope: Array) -> Array:
        raise NotImplementedError(
            f"curvature is {curvature.min()}: the minimum of a concave quadratic function over a "
            "Custom set cannot be found from its functions; allowed: curvature >= 0, or describe "
            "the set as a Polytope, Box, Simplex or Ball"
        )


def _call(name: str, function: RowFunction, rows: Array) -> Array:
    """Call a function of the user's; it must return finite numbers in the shape of ``rows``."""
    handed = rows.copy()  # the function may write on what it is given
    result = _finite(f"the result of {name}", function(handed))
    if result.shape != rows.shape:
        raise ValueError(f"{name} returns shape {result.shape} for {rows.shape}; allowed: the same")
    return result


def _call_contains(function: RowFunction, rows: Array) -> npt.NDArray[np.bool_]:
    result = np.asarray(function(rows.copy()))
    if result.shape != (len(rows),) or result.dtype != np.bool_:
        raise ValueError(
            f"contains returns {result.dtype} of shape {result.shape}; "
            f"allowed: booleans of shape ({len(rows)},)"
        )
    return result


def _probes(dim: int) -> Array:
    """Return directions (m, dim): both ways along the axes, and a fixed sample of others.

    Along the axes alone a set may show its faces, whose minimisers can all lie in one of them.
    """
    others = np.random.default_rng(0).normal(size=(max(16, 2 * dim), dim))
    return np.vstack([np.eye(dim), -np.eye(dim), others])


def _check_custom(custom: Custom) -> None:
    """Raise ValueError if the functions of a custom set contradict each other on a sample."""
    from scipy.spatial.distance import cdist

    dim, center, diameter = custom.dim, custom.center, custom.diameter
    directions = _probes(dim)
    support = custom._minimize_linear(directions)
    radii = diameter * np.repeat([0.1, 0.5, 3.0], 16)[:, np.newaxis]
    around = center + radii * np.random.default_rng(1).normal(size=(48, dim))
    sample = np.vstack([around, center - diameter * directions, support])
    nearest = custom._project(sample)
    known = np.vstack([support, nearest])
    moves = np.linalg.norm(custom._project(known) - known, axis=1)
    offsets = sample - nearest
    lengths = np.linalg.norm(offsets, axis=1)
    steepness = np.linalg.norm(directions, axis=1)[:, np.newaxis]
    # Positions may be off by this much, as those of a projection that iterates are.
    slack = 1e-6 * diameter + 32.0 * _EPS * float(np.abs(known).max())

    def refuse(excess: Array, name: str, what: str) -> None:
        if excess.max() > slack:
            raise ValueError(f"{name} is inconsistent: {what} (by {excess.max():.3g})")

    refuse(moves[len(support) :], "project", "projecting a second time moves points")
    refuse(
        cdist(nearest, nearest) - cdist(sample, sample),
        "project",
        "two points are farther apart after it than before",
    )
    refuse(moves[: len(support)], "minimize_linear", "it returns points that project moves")
    products = (offsets @ (known - center).T) - (offsets * (nearest - center)).sum(1)[:, np.newaxis]
    refuse(
        products / (lengths + diameter)[:, np.newaxis],
        "project",
        "some point of the set is nearer, ⟨x − Px, y − Px⟩ > 0",
    )
    values = directions @ (known - center).T
    refuse(
        (np.diagonal(values)[:, np.newaxis] - values) / steepness,
        "minimize_linear",
        "a point returned by project has a smaller value",
    )
    refuse(
        cdist(known, known) - diameter,
        "diameter",
        f"it is {diameter}, and two points of the set are farther apart",
    )
    if np.linalg.svd(known - center, compute_uv=False)[-1] <= 1e-9 * diameter:
        raise ValueError("project maps onto a flat set; allowed: sets of full dimension")
    contains = custom._functions[2]
    if contains is None:
        return
    # A little outside and a little inside, because no rule can decide exactly on the boundary.
    out = lengths > slack
    just_outside = nearest[out] + 0.01 * diameter * offsets[out] / lengths[out, np.newaxis]
    accepted = int(_call_contains(contains, np.vstack([sample[out], just_outside])).sum())
    if accepted:
        raise ValueError(f"contains is inconsistent: it accepts {accepted} points project moves")
    middle = known.mean(axis=0)
    rejected = int((~_call_contains(contains, middle + 0.99 * (known - middle))).sum())
    if rejected:
        raise ValueError(f"contains is inconsistent: it rejects {rejected} points of the set")

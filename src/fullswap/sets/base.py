"""What all convex sets share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import FrozenInstanceError
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fullswap.base import checks
from fullswap.grids.base import GridMaker, Sphere
from fullswap.grids.line import LineGrids
from fullswap.grids.net_grids import NetGrids
from fullswap.grids.sphere import nets

Array = npt.NDArray[np.float64]
Booleans = npt.NDArray[np.bool_]

LARGEST = 1e75
"""Largest coordinate: squares, also in units of the diameter, cannot overflow."""
SMALLEST = 1e-75
"""Smallest diameter: squares of distances do not underflow."""
PROBED = 2_000
"""Directions in which a set is looked at to learn how far it reaches."""
EPS = float(np.finfo(np.float64).eps)
_FAR = 1e12  # targets this many diameters away are minimised as linear functions


class ConvexSetBase(ABC):
    """What all convex sets share: checked public methods over unchecked private ones."""

    dim: int
    """Affine dimension."""
    ambient_dim: int
    """Number of coordinates A."""
    diameter: float
    """sup ‖x − y‖ over the set."""
    center: Array
    """A point of the relative interior, shape (A,)."""

    def _store(self, **fields: Any) -> None:
        """Set the fields once and for all; arrays become read-only."""
        if fields["diameter"] < SMALLEST:
            checks.refuse("diameter", f"be at least {SMALLEST:g}", fields["diameter"])
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
        same = mine.keys() == theirs.keys()
        return same and all(np.array_equal(mine[name], theirs[name]) for name in mine)

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
    def _contains(self, points: Array, slack: Array) -> Booleans:
        """Tell which points break no constraint by more than ``slack``, both of length m."""

    @abstractmethod
    def _minimize_linear(self, directions: Array) -> Array: ...

    @abstractmethod
    def _minimize_concave(self, curvature: Array, slope: Array) -> Array:
        """Minimise curvature·‖x‖² + ⟨slope, x⟩ for curvature < 0, shapes (m,) and (m, A)."""

    # --- what grids and kernels ask ---------------------------------------------------------

    @property
    def grids(self) -> GridMaker:
        """How the set is discretised."""
        return LineGrids(self) if self.dim == 1 else self._grids()

    def _grids(self) -> GridMaker:
        """The same for d ≥ 2: nets, which suit any shape."""
        return NetGrids(self)

    @property
    def sphere(self) -> Sphere | None:
        """Centre and radius, if the set is a ball."""
        return None

    @property
    def kernel_shape(self) -> Any:
        """A tuple of ``fullswap.kernels.shapes``, with room to work in; None if there is none."""
        return None

    @cached_property
    def reach(self) -> float:
        """No point of the set is farther from its centre than this.

        A point at the distance ρ reaches ρ·cos θ at least in a direction of a net with angle θ.
        """
        basis = self.frame[1]
        offsets = np.abs(self._extremes - (self.center - self.frame[0]) @ basis)
        known = min(self.diameter, float(np.linalg.norm(offsets.max(axis=0))))
        net = nets(self.dim).of_size(PROBED) if self.dim > 1 else None
        if net is None:
            return known
        directions = net.directions() @ basis.T
        ends = self._minimize_linear(-directions) - self.center
        widest = float(np.einsum("ij,ij->i", ends, directions).max())
        return min(known, widest / math.cos(net.angle))

    @property
    def _extremes(self) -> Array:
        """Lowest and highest coordinates along the frame, seen from its origin, (2, dim)."""
        origin, basis = self.frame
        ends = (self._minimize_linear(np.concatenate((basis.T, -basis.T))) - origin) @ basis
        return np.array([np.diag(ends[: self.dim]), np.diag(ends[self.dim :])])

    def volume_near(self, distance: float, unit: float = 1.0) -> float:
        """At least the volume of all points of the affine hull within this distance of the set.

        In cubes with the side ``unit``.
        """
        low, high = self._extremes
        box = float(np.prod((high - low + 2 * distance) / unit))
        return min(box, ball_volume(self.dim, (self.reach + distance) / unit))

    def could_be_within(self, points: Array, distance: float) -> Booleans:
        """False only for points (m, A) that are surely farther from the set than this."""
        return np.ones(len(points), dtype=bool)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON: the kind of set and the arguments that build it."""
        arguments = {name: _plain(value) for name, value in self._parameters().items()}
        return {"kind": type(self).__name__, **arguments}

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
        """Return the nearest points of the set: argmin ‖x − y‖ for every row y, (m, A) or (A,).

        Examples
        --------
        >>> from fullswap.sets import Ball
        >>> Ball([0.0, 0.0], 1.0).project([3.0, 4.0])
        array([0.6, 0.8])
        """
        rows, single = checks.rows("points", points, self.ambient_dim, LARGEST)
        return self._project(rows)[0 if single else slice(None)]

    def contains(self, points: npt.ArrayLike, tolerance: float = 1e-9) -> bool | Booleans:
        """Tell whether points (m, A) or (A,) lie in the set: booleans (m,) or one.

        No constraint may be broken by more than tolerance·max(1, diameter, max_i |x_i|).

        Examples
        --------
        >>> from fullswap.sets import Simplex
        >>> Simplex(2).contains([[0.2, 0.3, 0.5], [0.2, 0.3, 0.6]])
        array([ True, False])
        """
        rows, single = checks.rows("points", points, self.ambient_dim, LARGEST)
        allowed = checks.number("tolerance", tolerance, least=0.0, most=LARGEST)
        slack = allowed * np.maximum(np.abs(rows).max(axis=1), max(1.0, self.diameter))
        result = self._contains(rows, slack)
        return bool(result[0]) if single else result

    def minimize_linear(self, directions: npt.ArrayLike) -> Array:
        """Return minimisers of ⟨direction, x⟩ over the set, shaped like ``directions``.

        The direction 0 gives some point of the set; ties are broken the same way every time.

        Examples
        --------
        >>> from fullswap.sets import Box
        >>> Box([0.0, 0.0], [1.0, 2.0]).minimize_linear([[1.0, -1.0], [-1.0, 1.0]])
        array([[0., 2.],
               [1., 0.]])
        """
        rows, single = checks.rows("directions", directions, self.ambient_dim, LARGEST)
        return self._minimize_linear(rows)[0 if single else slice(None)]

    def minimize_quadratic(self, curvature: npt.ArrayLike, slope: npt.ArrayLike) -> Array:
        """Return minimisers of curvature·‖x‖² + ⟨slope, x⟩ over the set, for curvature of any sign.

        ``curvature`` (m,) or one number for all rows, ``slope`` (m, A) or (A,).

        Examples
        --------
        >>> from fullswap.sets import Interval
        >>> Interval(0.0, 1.0).minimize_quadratic([1.0, 0.0, -1.0], [[-0.5], [-0.5], [1.5]])
        array([[0.25],
               [1.  ],
               [0.  ]])
        """
        slopes, single = checks.rows("slope", slope, self.ambient_dim, LARGEST)
        curvatures = checks.floats("curvature", curvature, LARGEST)
        if curvatures.shape not in ((), (len(slopes),)):
            wanted = f"() or ({len(slopes)},), one for each row of slope"
            checks.refuse_shape("curvature", wanted, curvatures)
        bends, result = np.broadcast_to(curvatures, len(slopes)), np.empty_like(slopes)
        convex, concave = bends > 0.0, bends < 0.0
        if convex.any():
            result[convex] = self._minimize_convex(bends[convex], slopes[convex])
        if concave.any():
            result[concave] = self._minimize_concave(bends[concave], slopes[concave])
        linear = ~(convex | concave)
        if linear.any():
            result[linear] = self._minimize_linear(slopes[linear])
        return result[0] if single else result

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
        return positive("scale", scale), offset("shift", shift, self.ambient_dim)


class Cospherical(ConvexSetBase):
    """All extreme points are equally far from the centre."""

    @cached_property
    def reach(self) -> float:
        """The distance of the extreme points."""
        axis = np.eye(1, self.ambient_dim)
        return float(np.linalg.norm(self._minimize_linear(axis)[0] - self.center))

    def _minimize_concave(self, curvature: Array, slope: Array) -> Array:
        # so that only the linear part is left
        return self._minimize_linear(self._slope_at_center(curvature, slope))


def ball_volume(dim: int, radius: float) -> float:
    """Volume of a ball."""
    return float(math.pi ** (dim / 2) / math.gamma(dim / 2 + 1) * radius**dim)


def positive(name: str, value: Any) -> float:
    """A finite number > 0 of a magnitude that sets can work with."""
    return checks.number(name, value, above=0, most=LARGEST)


def corner(name: str, values: npt.ArrayLike) -> Array:
    """A copy of a vector of shape (A,)."""
    return checks.vector(name, values, largest=LARGEST).copy()


def offset(name: str, values: npt.ArrayLike, width: int) -> Array:
    """A shift of every coordinate: one number for all, or shape (width,)."""
    array = checks.floats(name, values, LARGEST)
    if array.shape not in ((), (width,)):
        checks.refuse_shape(name, f"() or ({width},)", array)
    return np.broadcast_to(array, width)


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


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value if isinstance(value, int | float) else _show(value)

"""Losses on the action set, and what a class of losses promises.

Linear and quadratic losses belong to one family, a·‖x‖² + ⟨b, x⟩ + c, and are carried as a row
of *coefficients* [a, b_1, …, b_A, c]. The family is closed under weighted sums, so the
cumulative loss at every grid point is one row, however many rounds have been played; minima
over the set are exact. Any other loss is given by functions (``Custom``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base import checks
from fullswap.base.protocols import Loss, Points, Vector
from fullswap.sets import ConvexSetBase

FLAT = 1e-12
"""Bends and slopes below this, relative to the values, are rounding errors of a hull."""
SLACK = 1e-6
"""Relative slack when a promise (Lipschitz, smooth, …) is checked in floating point."""


def as_points(points: Any, ambient_dim: int, name: str = "points") -> Points:
    """Return ``points`` as a finite (m, A) float array, or raise a ValueError that names it."""
    array = checks.floats(name, points)
    if array.ndim == 1 and array.shape[0] == ambient_dim:
        array = array[None, :]
    if array.ndim != 2 or array.shape[1] != ambient_dim:
        checks.refuse_shape(name, f"(m, {ambient_dim})", array)
    return array


def _vector(name: str, value: Any) -> Vector:
    """A vector, or a number as one of length 1."""
    array = np.atleast_1d(checks.floats(name, value))
    if array.ndim != 1 or array.size == 0:
        checks.refuse_shape(name, "() or (A,) with A >= 1", array)
    return array


class QuadraticFamily:
    """a·‖x‖² + ⟨b, x⟩ + c, as one row of coefficients [a, b_1, …, b_A, c]."""

    __slots__ = ("coefficients",)

    def __init__(self, coefficients: Any) -> None:
        row = _vector("coefficients", coefficients).copy()
        if row.size < 3:
            checks.refuse_shape("coefficients", "(A + 2,) with A >= 1, [a, b, c]", row)
        row.setflags(write=False)
        self.coefficients: Vector = row

    @property
    def ambient_dim(self) -> int:
        """Number of coordinates A."""
        return self.coefficients.size - 2

    def value(self, points: Points) -> Vector:
        """Values at the points, shape (m,)."""
        from fullswap.kernels.quadratic import quadratic_values

        result: Vector = quadratic_values(self.coefficients, self._checked(points))
        return result

    def gradient(self, points: Points) -> Points:
        """2·a·x + b at the points, shape (m, A)."""
        from fullswap.kernels.quadratic import quadratic_gradients

        result: Points = quadratic_gradients(self.coefficients, self._checked(points))
        return result

    def _checked(self, points: Points) -> Points:
        """Kernels do not look: points must have this loss's number of coordinates."""
        points = np.asarray(points, dtype=float)
        if points.ndim != 2 or points.shape[1] != self.ambient_dim:
            checks.refuse_shape("points", f"(m, {self.ambient_dim})", points)
        return points

    def __repr__(self) -> str:
        return f"{type(self).__name__}(coefficients={self.coefficients.tolist()})"


class Linear(QuadraticFamily):
    """⟨direction, x⟩ + offset.

    Examples
    --------
    >>> Linear([1.0, -2.0]).value(np.array([[3.0, 1.0]]))
    array([1.])
    """

    __slots__ = ()

    def __init__(self, direction: Any, offset: float = 0.0) -> None:
        b = _vector("direction", direction)
        super().__init__(np.concatenate(([0.0], b, [checks.number("offset", offset)])))


class Quadratic(QuadraticFamily):
    """scale·‖x − center‖²; a negative scale makes it concave.

    Examples
    --------
    >>> Quadratic([1.0], scale=2.0).value(np.array([[0.0], [1.0]]))
    array([2., 0.])
    """

    __slots__ = ()

    def __init__(self, center: Any, scale: float = 1.0) -> None:
        z = _vector("center", center)
        a = checks.number("scale", scale)
        super().__init__(np.concatenate(([a], -2 * a * z, [a * float(z @ z)])))


def quadratic_rows(centers: Any, scale: float = 1.0) -> Points:
    """Coefficients of scale·‖x − center_t‖² for many rounds at once, shape (T, A + 2).

    Examples
    --------
    >>> quadratic_rows([0.0, 1.0])
    array([[ 1., -0.,  0.],
           [ 1., -2.,  1.]])
    """
    z = checks.floats("centers", centers)
    z = z[:, None] if z.ndim == 1 else z
    if z.ndim != 2:
        checks.refuse_shape("centers", "(T,) or (T, A)", z)
    a = checks.number("scale", scale)
    squares = a * np.einsum("ij,ij->i", z, z)
    return np.column_stack((np.full(len(z), a), -2 * a * z, squares))


class Custom:
    """A loss given as functions on (m, A) arrays: value, and gradient where there is one.

    Examples
    --------
    >>> absolute = Custom(lambda x: abs(x[:, 0] - 0.3), lambda x: np.sign(x - 0.3))
    >>> absolute.value(np.array([[0.5]])).round(3)
    array([0.2])
    """

    __slots__ = ("_value", "_gradient")

    def __init__(
        self, value: Callable[[Points], Any], gradient: Callable[[Points], Any] | None = None
    ) -> None:
        if not callable(value):
            checks.refuse("value", "be a function", value)
        if not (gradient is None or callable(gradient)):
            checks.refuse("gradient", "be a function or None", gradient)
        self._value, self._gradient = value, gradient

    @property
    def has_gradient(self) -> bool:
        """Whether a gradient was given."""
        return self._gradient is not None

    def value(self, points: Points) -> Vector:
        """Values at the points, checked for shape and finiteness."""
        return _answer("loss value", self._value(points), (len(points),))

    def gradient(self, points: Points) -> Points:
        """Gradients at the points, checked for shape and finiteness."""
        if self._gradient is None:
            raise ValueError(
                "gradient must be given for this sub-learner, got a loss that has no gradient: "
                "give Custom(value, gradient), or use a row that needs none (learner='hedge')"
            )
        return _answer("loss gradient", self._gradient(points), points.shape)


def _answer(name: str, answer: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """What a function of the user's returned: finite numbers of this shape."""
    result = np.asarray(answer, dtype=float)
    if result.shape != shape:
        checks.refuse_shape(name, str(shape), result)
    checks.refuse_at(name, "be finite", result, ~np.isfinite(result))
    return result


FAR = 1e3
"""Sets this many diameters away from 0 are worked in coordinates seen from their centre."""


def is_far(action_set: ConvexSetBase) -> bool:
    """Whether a·‖x‖² + ⟨b, x⟩ + c loses digits on the set, because its parts nearly cancel."""
    return float(np.abs(action_set.center).max()) > FAR * action_set.diameter


def rows_seen_from(origin: Vector, coefficients: Points) -> Points:
    """Coefficients (T, A + 2) of the losses as functions of x − origin.

    Examples
    --------
    >>> rows_seen_from(np.array([1.0]), quadratic_rows([1.5]))
    array([[ 1.  , -1.  ,  0.25]])
    """
    a, b, c = coefficients[:, 0], coefficients[:, 1:-1], coefficients[:, -1]
    # sums, not matrix products: a row must come out the same alone and among others
    at_origin = a * (origin @ origin) + (b * origin).sum(axis=1) + c
    return np.column_stack((a, 2 * a[:, None] * origin + b, at_origin))


def seen_from(origin: Vector, loss: Loss) -> Loss:
    """The loss as a function of x − origin."""
    if isinstance(loss, QuadraticFamily):
        return QuadraticFamily(rows_seen_from(origin, loss.coefficients[None, :])[0])
    return carried(loss, lambda x: x + origin, lambda slopes: slopes)


def carried(
    loss: Loss, outward: Callable[[Points], Points], inward: Callable[[Points], Points]
) -> Custom:
    """A loss given as functions in other coordinates: points go out, its gradients come in."""
    if not getattr(loss, "has_gradient", True):
        return Custom(lambda x: loss.value(outward(x)))
    return Custom(lambda x: loss.value(outward(x)), lambda x: inward(loss.gradient(outward(x))))


def piecewise_linear(loss: Loss, points: Any) -> Custom:
    """Replace a convex loss by its piecewise linearisation on a grid. [FKO25, Def 16].

    The lower envelope of the convex hull of {(s, ℓ(s))}: in d = 1 linear interpolation
    (the top cell includes its right end), in d dimensions the largest of the affine functions
    that carry the lower facets of the lifted points. Outside the hull it goes on affinely.

    Examples
    --------
    >>> tent = piecewise_linear(Quadratic([0.0]), [[0.0], [0.5], [1.0]])
    >>> tent.value(np.array([[0.25], [1.0]]))
    array([0.125, 1.   ])
    """
    grid = np.asarray(points, dtype=float)
    grid = grid[:, None] if grid.ndim == 1 else grid
    grid = as_points(grid, grid.shape[1], "points")
    values = np.asarray(loss.value(grid), dtype=float)
    pieces = _line_pieces if grid.shape[1] == 1 else _lower_facets
    slopes, offsets = pieces(grid, values)

    return Custom(
        lambda x: (x @ slopes.T + offsets).max(axis=1),
        lambda x: slopes[(x @ slopes.T + offsets).argmax(axis=1)],
    )


def _line_pieces(grid: Points, values: Vector) -> tuple[Points, Vector]:
    order = np.argsort(grid[:, 0], kind="stable")
    s, v = grid[order, 0], values[order]
    if s.size < 2 or not (np.diff(s) > 0).all():
        checks.refuse("points", "be at least 2 distinct numbers", grid[:, 0].tolist())
    slopes = np.diff(v) / np.diff(s)
    return slopes[:, None], v[:-1] - slopes * s[:-1]


def _lower_facets(grid: Points, values: Vector) -> tuple[Points, Vector]:
    from scipy.spatial import ConvexHull, QhullError

    middle = grid.mean(axis=0)
    unit = float(np.abs(grid - middle).max()) or 1.0
    local = (grid - middle) / unit
    # Only what is not affine is lifted: so the hull is well shaped, and flat losses need none.
    design = np.column_stack((local, np.ones(len(grid))))
    fit, *_ = np.linalg.lstsq(design, values, rcond=None)
    slopes, offsets = fit[None, :-1], fit[-1:]
    rest = values - design @ fit
    bend = float(np.abs(rest).max())
    if bend > FLAT * np.abs(values).max():
        try:
            equations = ConvexHull(np.column_stack((local, rest / bend))).equations
        except QhullError as error:
            raise ValueError("points must span their space, got flat ones") from error
        lower = equations[equations[:, -2] < -FLAT]
        slopes = slopes - lower[:, :-2] / lower[:, -2:-1] * bend
        offsets = offsets - lower[:, -1] / lower[:, -2] * bend
    slopes = slopes / unit
    return slopes, offsets - slopes @ middle


@dataclass(frozen=True)
class LossClass:
    """What is promised of every loss: L-Lipschitz, α-strongly convex, β-smooth, concave, convex.

    ``smoothness=None`` promises nothing; ``strong_convexity > 0`` implies convex; linear
    losses are concave (and convex). Guarantees are computed from these constants, and each
    observed loss is checked against them where that is cheap. The norm is Euclidean: with
    ‖x‖ = √(Σ x_i²), |ℓ(x) − ℓ(y)| ≤ L·‖x − y‖, and what ℓ(y) has beyond its tangent at x lies
    between (α/2)·‖x − y‖² and (β/2)·‖x − y‖².

    Examples
    --------
    >>> LossClass.squared(diameter=1.0)
    LossClass(lipschitz=2.0, strong_convexity=2.0, smoothness=2.0, concave=False, convex=True)
    """

    lipschitz: float = 1.0
    strong_convexity: float = 0.0
    smoothness: float | None = None
    concave: bool = False
    convex: bool = False
    spread: float | None = field(default=None, repr=False)
    """No loss varies by more than this over the set; None: L·D is all that is known."""

    def __post_init__(self) -> None:
        checks.number("lipschitz", self.lipschitz, above=0)
        if self.spread is not None:
            checks.number("spread", self.spread, above=0)
        alpha, beta = self.strong_convexity, self.smoothness
        checks.number("strong_convexity", alpha, least=0)
        for name in ("concave", "convex"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                checks.refuse(name, "be True or False", getattr(self, name))
        if beta is not None and checks.number("smoothness", beta, least=0) < alpha:
            checks.refuse("smoothness", f"be at least strong_convexity = {alpha:g}", beta)
        if alpha > 0 and self.concave:
            checks.refuse("strong_convexity", "be 0 for concave losses", alpha)
        if alpha > 0:
            object.__setattr__(self, "convex", True)

    @classmethod
    def squared(cls, diameter: float, scale: float = 1.0) -> LossClass:
        """The class of scale·‖x − z‖², x and z in one set of this diameter."""
        return cls(2 * scale * diameter, 2 * scale, 2 * scale)

    @classmethod
    def linear(cls, lipschitz: float = 1.0) -> LossClass:
        """The class of linear losses, which are concave, convex and smooth."""
        return cls(lipschitz, smoothness=0.0, concave=True, convex=True)

    def violation(self, loss: Loss, points: Points, tangent: Points, diameter: float) -> str | None:
        """Say which promise the loss breaks, as far as the given points of the set show it.

        ``tangent`` is the orthonormal basis (A, d) of the set's directions: only slopes along
        the set count.
        """
        coefficients = getattr(loss, "coefficients", None)
        if coefficients is not None:
            from fullswap.kernels.quadratic import steepest_slope

            steepest = steepest_slope(coefficients, points, tangent)
        elif getattr(loss, "has_gradient", True):
            slopes = np.square(loss.gradient(points) @ tangent).sum(axis=1)
            steepest = float(np.sqrt(slopes).max())
        else:
            spread = float(np.ptp(loss.value(points)))
            above = spread > self.lipschitz * diameter * (1 + SLACK)
            return f"range {spread:.6g} exceeds lipschitz·diameter" if above else None
        if steepest > self.lipschitz * (1 + SLACK):
            return f"slope {steepest:.6g} exceeds lipschitz = {self.lipschitz:.6g}"
        if self.spread is not None:
            varies = float(np.ptp(loss.value(points)))
            if varies > self.spread * (1 + SLACK):
                return f"range {varies:.6g} exceeds spread = {self.spread:.6g}"
        if coefficients is None:
            return None
        return self._curvature_violation(2 * float(coefficients[0]), diameter)

    def _curvature_violation(self, curvature: float, diameter: float) -> str | None:
        # a bend is negligible if it changes slopes across the set by a negligible part of L
        flat, alpha = SLACK * self.lipschitz / diameter, self.strong_convexity
        if 0 < alpha and curvature < alpha * (1 - SLACK):
            return f"curvature {curvature:.6g} is below strong_convexity = {alpha:.6g}"
        if self.smoothness is not None and abs(curvature) > self.smoothness * (1 + SLACK):
            return f"curvature {curvature:.6g} exceeds smoothness = {self.smoothness:.6g}"
        if self.concave and curvature > flat:
            return f"curvature {curvature:.6g} > 0, but losses were promised to be concave"
        if self.convex and curvature < -flat:
            return f"curvature {curvature:.6g} < 0, but losses were promised to be convex"
        return None

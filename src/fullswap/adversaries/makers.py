"""Losses of a promised class with a wanted minimiser, on any set.

An adversary thinks in points: "be good at c and bad elsewhere". ``Losses`` turns such a
point into a loss that keeps every promise of the class on this set, wherever the set lies and
however large it is. What "a loss with minimiser c" looks like is its *kind*:

=========== ==========================================================================
quadratic   a·‖x − c‖², curvature at least α and at most β
kinked      α/2·‖x − c‖² + κ·‖x − c‖, strongly convex and not smooth
linear      slope L, falling from the set's centre towards c
concave     −a·‖x − z‖² with z on the other side of the centre
distance    L·‖x − c‖
tent        the smaller of two distances: a second, higher valley opposite to c
wave        A·(1 − cos(ω·‖x − c‖)): smooth, neither convex nor concave
=========== ==========================================================================
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Loss, Points, Vector
from fullswap.losses import Custom, Linear, LossClass, Quadratic
from fullswap.sets import ConvexSetBase

DISTINCT = 40
"""Largest number of losses given as functions that one maker hands out: equal centres get the
same object, near ones too, because metrics take time for each distinct function."""
REMEMBERED = 4096
"""Most losses that are looked up again by their centre: a megabyte."""
_GIVEN_AS_FUNCTIONS = ("kinked", "distance", "tent", "wave")
_DIRECTED = ("linear", "concave")


def kinds(loss_class: LossClass) -> tuple[str, ...]:
    """Kinds of losses that the class admits; the first is the one that ``"auto"`` takes.

    Examples
    --------
    >>> kinds(LossClass(lipschitz=1.0, convex=True))
    ('distance', 'quadratic', 'linear')
    """
    curved, smooth = loss_class.strong_convexity > 0, loss_class.smoothness is not None
    if curved:
        return ("quadratic",) if smooth else ("kinked", "quadratic")
    if loss_class.smoothness == 0 or (loss_class.concave and loss_class.convex):
        return ("linear",)
    if loss_class.concave:
        return ("linear", "concave")
    if loss_class.convex:
        return ("quadratic", "linear") if smooth else ("distance", "quadratic", "linear")
    mixed = ("wave", "quadratic", "linear", "concave")
    return mixed if smooth else ("tent", "distance", *mixed)


class Losses:
    """A maker of losses of one kind that stay inside ``loss_class`` on ``action_set``.

    Examples
    --------
    >>> from fullswap.sets import Interval
    >>> Losses(Interval(0, 1), LossClass.squared(1.0)).towards([0.25]).coefficients
    array([ 1.    , -0.5   ,  0.0625])
    """

    def __init__(
        self, action_set: ConvexSetBase, loss_class: LossClass, kind: str = "auto"
    ) -> None:
        checks.instance("action_set", action_set, ConvexSetBase, "a set of fullswap.sets")
        checks.instance("loss_class", loss_class, LossClass, "a LossClass")
        allowed = kinds(loss_class)
        checks.one_of("kind", kind, ("auto", *allowed))
        self.action_set, self.loss_class = action_set, loss_class
        self.kind = allowed[0] if kind == "auto" else kind
        basis = action_set.frame[1]
        self._tangent = basis @ basis.T
        self._remembered: dict[bytes, Loss] = {}
        self._centers: Points = np.zeros((0, action_set.ambient_dim))
        self._pool: list[Loss] = []
        self._middle = np.array(action_set.center)
        self._middle_reach = self._reach(self._middle)
        if loss_class.strong_convexity > 0:
            self._find_middle()

    def towards(self, center: Any) -> Loss:
        """A loss of the class with its minimiser at or near ``center``, shape (A,)."""
        point = np.asarray(center, dtype=float)
        key = point.tobytes()
        known = self._remembered.get(key)
        if known is not None:
            return known
        if point.shape != self._middle.shape:
            checks.refuse_shape("center", str(self._middle.shape), point)
        inside = self.action_set.project(point)
        if self.kind in _GIVEN_AS_FUNCTIONS:
            loss = self._pooled(inside)
        elif self.kind in _DIRECTED:
            loss = self._directed(inside - self._middle)
        else:
            loss = self._quadratic(inside)
        if len(self._remembered) < REMEMBERED:
            self._remembered[key] = loss
        return loss

    def along(self, direction: Any) -> Loss:
        """A loss of the class that falls in this direction, shape (A,), seen from the centre."""
        vector = checks.vector("direction", direction, len(self._middle))
        if self.kind in _DIRECTED:
            return self._directed(vector)
        return self.towards(self.rim(vector))

    def rim(self, direction: Vector) -> Vector:
        """The point of the set nearest to the one half a diameter from the centre, this way."""
        unit = self._unit(direction)
        return self.action_set.project(self.action_set.center + self.action_set.diameter / 2 * unit)

    def _unit(self, vector: Vector) -> Vector:
        along = self._tangent @ vector
        length = math.sqrt(float(along @ along))
        # a direction that is rounding noise would be blown up to a full one
        if length <= 1e-12 * self.action_set.diameter:
            return np.zeros_like(along)
        return along / length

    def _reach(self, point: Vector) -> float:
        """Largest distance from the point to a member of the set."""
        farthest = farthest_point(self.action_set, point)
        if farthest is not None:
            return float(np.linalg.norm(farthest - point))
        basis = self.action_set.frame[1]
        extremes = self.action_set.minimize_linear(np.concatenate((basis.T, -basis.T)))
        sides = np.abs((extremes - point) @ basis).max(axis=0)
        return min(self.action_set.diameter, float(np.linalg.norm(sides)))

    def _find_middle(self) -> None:
        """Move the middle until α/2·‖x − middle‖² fits the class, if it does not at once.

        Stepping towards the farthest member by 1/(k + 1) leads to the centre of the smallest
        enclosing ball, the only place left when lipschitz is as small as strong_convexity allows.
        """
        allowed = self.loss_class.lipschitz / self.loss_class.strong_convexity
        point = self._middle
        for k in range(1, 2000):
            if self._middle_reach <= allowed:
                return
            farthest = farthest_point(self.action_set, point)
            if farthest is None:
                break
            point = point + (farthest - point) / (k + 1)
            reach = self._reach(point)
            if reach < self._middle_reach:
                self._middle, self._middle_reach = point, reach
        if self._middle_reach > allowed * (1 + 1e-9):
            least = self._middle_reach * self.loss_class.strong_convexity
            alpha = f"strong_convexity {self.loss_class.strong_convexity:.6g}"
            rule = f"leave room on this set: be at least {least:.6g} with {alpha}"
            checks.refuse("lipschitz", rule, self.loss_class.lipschitz)

    def _fitted(self, center: Vector) -> tuple[Vector, float]:
        """The centre and its reach, moved towards the middle until α·reach ≤ L."""
        reach, alpha = self._reach(center), self.loss_class.strong_convexity
        if alpha * reach <= self.loss_class.lipschitz:
            return center, reach
        # reach is convex, so it is at most the interpolated value on the way to the middle
        room = self.loss_class.lipschitz / alpha - self._middle_reach
        share = max(room, 0.0) / (reach - self._middle_reach) if reach > self._middle_reach else 0.0
        moved = self._middle + share * (center - self._middle)
        return moved, self._reach(moved)

    def _quadratic(self, center: Vector) -> Loss:
        promised = self.loss_class
        if promised.strong_convexity > 0:
            if promised.strong_convexity * self.action_set.diameter > promised.lipschitz:
                center, _ = self._fitted(center)
            return Quadratic(center, promised.strong_convexity / 2)
        steep = promised.lipschitz / (2 * self._reach(center))
        return Quadratic(center, _least(steep, promised.smoothness, 2))

    def _directed(self, direction: Vector) -> Loss:
        unit, slope = self._unit(direction), self.loss_class.lipschitz
        if self.kind == "linear":
            return Linear(-slope * unit)
        # slopes 2a·‖x − z‖ are at most 2a·(‖z − middle‖ + reach) = L
        a = _least(slope / (4 * self._middle_reach), self.loss_class.smoothness, 2)
        return Quadratic(self._middle - (slope / (2 * a) - self._middle_reach) * unit, -a)

    def _pooled(self, center: Vector) -> Loss:
        """One of at most ``DISTINCT`` losses: a known one if it is near or no more are allowed."""
        if len(self._pool):
            gaps = self._centers - center
            squares = np.einsum("ij,ij->i", gaps, gaps)
            nearest = int(squares.argmin())
            # a line, or a closed curve round the rim, is covered before the pool is full
            spacing = self.action_set.diameter / (32 if self.action_set.dim == 1 else 12)
            if squares[nearest] < spacing**2 or len(self._pool) >= DISTINCT:
                return self._pool[nearest]
        self._centers = np.vstack((self._centers, center))
        self._pool.append(self._function(center))
        return self._pool[-1]

    def _function(self, center: Vector) -> Loss:
        slope, alpha = self.loss_class.lipschitz, self.loss_class.strong_convexity
        if self.kind == "kinked":
            fitted, reach = self._fitted(center)
            return kinked(fitted, alpha, max(slope - alpha * reach, 0.0))
        if self.kind == "distance":
            return kinked(center, 0.0, slope)
        diameter = self.action_set.diameter
        if self.kind == "tent":
            opposite = self.action_set.project(2 * self._middle - center)
            return tent(center, opposite, slope, slope * diameter / 16)
        smoothness = self.loss_class.smoothness
        # between three quarters of a period and one and a half across the set
        fastest = 3 * math.pi / diameter
        bend = fastest if smoothness is None else smoothness / slope
        frequency = min(max(bend, fastest / 2), fastest)
        return wave(center, _least(slope / frequency, smoothness, frequency**2), frequency)


def _least(value: float, smoothness: float | None, divisor: float) -> float:
    return value if smoothness is None else min(value, smoothness / divisor)


def farthest_point(action_set: ConvexSetBase, point: Vector) -> Vector | None:
    """The member farthest from a point, or None where the set cannot tell."""
    try:
        return action_set.minimize_quadratic(-1.0, 2 * point)
    except NotImplementedError:
        return None


def _offsets(points: Points, center: Vector) -> tuple[Points, Vector]:
    gaps = points - center
    return gaps, np.sqrt(np.einsum("ij,ij->i", gaps, gaps))


def kinked(center: Vector, curvature: float, slope: float) -> Custom:
    """curvature/2·‖x − center‖² + slope·‖x − center‖; the subgradient at the centre is 0."""

    def value(points: Points) -> Vector:
        distances = _offsets(points, center)[1]
        return distances * (curvature / 2 * distances + slope)

    def gradient(points: Points) -> Points:
        gaps, distances = _offsets(points, center)
        units = gaps / np.where(distances > 0, distances, 1.0)[:, None]
        return curvature * gaps + slope * units

    return Custom(value, gradient)


def tent(center: Vector, other: Vector, slope: float, height: float) -> Custom:
    """min(slope·‖x − center‖, slope·‖x − other‖ + height)."""
    here, there = kinked(center, 0.0, slope), kinked(other, 0.0, slope)

    def gradient(points: Points) -> Points:
        lower = here.value(points) <= there.value(points) + height
        return np.where(lower[:, None], here.gradient(points), there.gradient(points))

    return Custom(lambda x: np.minimum(here.value(x), there.value(x) + height), gradient)


def wave(center: Vector, amplitude: float, frequency: float) -> Custom:
    """amplitude·(1 − cos(frequency·‖x − center‖)): slopes ≤ A·ω, curvatures within ±A·ω²."""

    def value(points: Points) -> Vector:
        return amplitude * (1 - np.cos(frequency * _offsets(points, center)[1]))

    def gradient(points: Points) -> Points:
        gaps, distances = _offsets(points, center)
        # sin(ω·r)/r without dividing by 0
        ratio = frequency * np.sinc(frequency * distances / math.pi)
        return (amplitude * frequency * ratio)[:, None] * gaps

    return Custom(value, gradient)

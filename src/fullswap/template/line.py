"""A one-dimensional set seen along its own coordinate: x = origin + t·direction."""

from __future__ import annotations

import numpy as np

from fullswap.grids import ends
from fullswap.losses import Custom, QuadraticFamily
from fullswap.protocols import Loss, Points, Vector
from fullswap.sets import ConvexSetBase, Interval


class LineView:
    """Carries points out of, and losses into, the interval of coordinates t."""

    def __init__(self, action_set: ConvexSetBase) -> None:
        origin, basis = action_set.frame
        self._origin, self._direction = np.asarray(origin), np.asarray(basis)[:, 0]
        self.trivial = isinstance(action_set, Interval)
        self.interval = Interval(*ends(action_set))

    def outward(self, points: Points) -> Points:
        """Coordinates (m, 1) to points (m, A)."""
        return points if self.trivial else points * self._direction + self._origin

    def coordinates(self, points: Points) -> Vector:
        """Points (m, A) to coordinates (m,)."""
        return (points - self._origin) @ self._direction

    def inward_rows(self, coefficients: Points) -> Points:
        """Coefficient rows (T, A + 2) of losses on the set to rows (T, 3) of the coordinate."""
        if self.trivial:
            return coefficients
        o, u = self._origin, self._direction
        a, b, c = coefficients[:, 0], coefficients[:, 1:-1], coefficients[:, -1]
        # sums, not matrix products: a row must come out the same alone and among others
        along, at_origin = (b * u).sum(axis=1), (b * o).sum(axis=1)
        return np.column_stack((a, 2 * a * (o @ u) + along, a * (o @ o) + at_origin + c))

    def inward(self, loss: Loss) -> Loss:
        """The loss as a function of the coordinate."""
        if self.trivial:
            return loss
        if isinstance(loss, QuadraticFamily):
            return QuadraticFamily(self.inward_rows(loss.coefficients[None, :])[0])
        gradient = None
        if getattr(loss, "has_gradient", True):

            def gradient(t: Points) -> Points:
                return loss.gradient(self.outward(t)) @ self._direction[:, None]

        return Custom(lambda t: loss.value(self.outward(t)), gradient)

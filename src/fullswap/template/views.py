"""Sets seen in coordinates in which they are easy to work with, and the losses on them.

A one-dimensional set is seen along its own coordinate, x = origin + t·direction; a set far from 0
is seen from its centre, x = origin + t, because the values of quadratics cancel out there.
"""

from __future__ import annotations

import numpy as np

from fullswap.base.protocols import Loss, Points, Vector
from fullswap.grids import ends
from fullswap.losses import QuadraticFamily, carried, is_far, rows_seen_from, seen_from
from fullswap.sets import ConvexSetBase, Interval


class LineView:
    """Carries points out of, and losses into, the interval of coordinates t."""

    def __init__(self, action_set: ConvexSetBase) -> None:
        origin, basis = action_set.frame
        flat = action_set.ambient_dim == 1
        if flat and is_far(action_set):
            origin = action_set.center
        self._origin, self._direction = np.asarray(origin), np.asarray(basis)[:, 0]
        self.trivial = flat and not self._origin.any()
        low, high = ends(action_set)
        shift = float((self._origin - action_set.frame[0]) @ self._direction)
        self.inner = Interval(low - shift, high - shift)

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
        rows = rows_seen_from(self._origin, coefficients)
        along = (rows[:, 1:-1] * self._direction).sum(axis=1)
        return np.column_stack((rows[:, 0], along, rows[:, -1]))

    def inward(self, loss: Loss) -> Loss:
        """The loss as a function of the coordinate."""
        if self.trivial:
            return loss
        if isinstance(loss, QuadraticFamily):
            return QuadraticFamily(self.inward_rows(loss.coefficients[None, :])[0])
        return carried(loss, self.outward, lambda slopes: slopes @ self._direction[:, None])


class CentredView:
    """The same for a set of any dimension, moved so that its centre is 0."""

    def __init__(self, action_set: ConvexSetBase) -> None:
        self._origin = action_set.center
        self.inner = action_set.moved(shift=-self._origin)

    def outward(self, points: Points) -> Points:
        """Coordinates (m, A) to points (m, A)."""
        return points + self._origin

    def inward_rows(self, coefficients: Points) -> Points:
        """Coefficient rows (T, A + 2) to rows of the coordinates."""
        return rows_seen_from(self._origin, coefficients)

    def inward(self, loss: Loss) -> Loss:
        """The loss as a function of the coordinates."""
        return seen_from(self._origin, loss)


def view_of(action_set: ConvexSetBase) -> LineView | CentredView | None:
    """The view in which a learner works; None if the set is fine as it is."""
    if action_set.dim == 1:
        return LineView(action_set)
    return CentredView(action_set) if is_far(action_set) else None

"""Euclidean balls."""

from __future__ import annotations

from typing import Any, final

import numpy as np
import numpy.typing as npt

from fullswap.grids.base import Sphere
from fullswap.sets.base import Array, Booleans, Cospherical, corner, positive


@final
class Ball(Cospherical):
    """The Euclidean ball {x : ‖x − center‖ <= radius}, center of shape (A,).

    Examples
    --------
    >>> Ball([1.0, 0.0], 2.0).minimize_linear([0.0, 5.0])
    array([ 1., -2.])
    """

    radius: float

    def __init__(self, center: npt.ArrayLike, radius: float) -> None:
        center, radius = corner("center", center), positive("radius", radius)
        dim, diameter = len(center), 2.0 * radius
        self._store(radius=radius, dim=dim, ambient_dim=dim, diameter=diameter, center=center)

    def _parameters(self) -> dict[str, Any]:
        return {"center": self.center, "radius": self.radius}

    @property
    def vertices(self) -> None:
        """None: every point of the sphere is extreme."""
        return None

    @property
    def sphere(self) -> Sphere:
        """Centre and radius."""
        return self.center, self.radius

    @property
    def kernel_shape(self) -> Any:
        """Centre and radius."""
        from fullswap.kernels.shapes import BallShape

        return BallShape(np.array(self.center), self.radius)

    def moved(self, scale: float = 1.0, shift: npt.ArrayLike = 0.0) -> Ball:
        """Return the ball {scale·x + shift}."""
        factor, offset = self._moving(scale, shift)
        return Ball(factor * self.center + offset, factor * self.radius)

    def _project(self, points: Array) -> Array:
        offsets = points - self.center
        norms = np.sqrt(np.einsum("ij,ij->i", offsets, offsets))[:, np.newaxis]
        shrunk = self.center + offsets * (self.radius / np.maximum(norms, self.radius))
        return np.where(norms > self.radius, shrunk, points)

    def _contains(self, points: Array, slack: Array) -> Booleans:
        inside: Booleans = np.linalg.norm(points - self.center, axis=1) - self.radius <= slack
        return inside

    def _minimize_linear(self, directions: Array) -> Array:
        largest = np.abs(directions).max(axis=1, keepdims=True)
        # The direction 0 counts as the first axis: the result stays an extreme point.
        units = np.where(largest > 0.0, directions, np.eye(1, self.dim))
        units = units / np.where(largest > 0.0, largest, 1.0)
        units /= np.linalg.norm(units, axis=1, keepdims=True)
        return self.center - self.radius * units

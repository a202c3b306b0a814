"""Points of the boundary of any convex set, whose hull is the set up to a distance proved.

Points of a net of a sphere around the set are projected to it [D74]; the proof is in
``fullswap.theorems.nets``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.grids.base import GriddedSet
from fullswap.grids.sphere import Polygon, SphereNet, nets
from fullswap.theorems.nets import Projected, projected_depth, sphere_depth

BEYOND = 0.5
"""M/R: how far outside of the enclosing ball the sphere lies whose points are projected. For
squared losses 0.4 to 0.7 are alike, within a twentieth of the best bound."""


@dataclass(frozen=True)
class Rim:
    """Boundary points: within ``reach`` of every one there is one at most ``depth`` deep."""

    action_set: GriddedSet
    net: SphereNet | Polygon

    @property
    def _sphere(self) -> tuple[Vector, float]:
        """Centre (A,) and radius of the sphere that is projected."""
        ball = self.action_set.sphere
        if ball is not None:
            return ball
        return np.asarray(self.action_set.center), (1 + BEYOND) * self.action_set.reach

    @property
    def reach(self) -> float:
        """Chord of the net's angle."""
        return 2 * self._sphere[1] * math.sin(self.net.angle / 2)

    @property
    def depth(self) -> float:
        """τ, which is also how far the hull of the points may be from the set."""
        if self.action_set.sphere is not None:
            return sphere_depth(self._sphere[1], self.net.angle)
        return projected_depth(Projected(self.reach, BEYOND * self.action_set.reach))

    def points(self) -> Points:
        """Shape (size, A); projections may coincide."""
        _, basis = self.action_set.frame
        center, radius = self._sphere
        return self.action_set.project(center + radius * self.net.directions() @ basis.T)


def rim_within(action_set: GriddedSet, reach: float) -> Rim | None:
    """The smallest rim of at most this reach."""
    ball = action_set.sphere
    radius = (1 + BEYOND) * action_set.reach if ball is None else ball[1]
    chord = min(1.0, reach / (2 * radius))
    net = nets(action_set.dim).within(2 * math.asin(chord) * (1 - 1e-12))
    return None if net is None else Rim(action_set, net)


def rim_of_size(action_set: GriddedSet, most: int) -> Rim | None:
    """The finest rim with at most so many points."""
    net = nets(action_set.dim).of_size(most)
    return None if net is None else Rim(action_set, net)

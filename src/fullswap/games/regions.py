"""Further sets of actions: convex regions, and quadratic payoffs on them.

An action of a region is a point. Columns hold points as tuples, so that an action is one entry
of a column whatever the dimension; ``Region.column`` makes such a column from an array (m, A).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fullswap.base import checks
from fullswap.base.protocols import Points, Vector
from fullswap.games.actions import Action, ActionSet, Column, column_of, dots
from fullswap.games.decompose import refuse_outside
from fullswap.sets import ConvexSetBase


class _OnConvexSet(ActionSet):
    """Actions that are the points of a convex set."""

    size = None
    _further = 0  # coordinates of the embedding beside those of the point

    def __init__(self, action_set: ConvexSetBase) -> None:
        checks.instance("action_set", action_set, ConvexSetBase, "a set of fullswap.sets")
        self.action_set = action_set
        self.dim = action_set.ambient_dim + self._further
        self.extent = action_set.diameter or 1.0

    @staticmethod
    def column(points: ArrayLike) -> Column:
        """Points (m, A) as a column of m tuples."""
        rows = np.asarray(points, dtype=float)
        if rows.ndim != 2:
            checks.refuse_shape("points", "(m, A)", rows)
        return column_of([tuple(row) for row in rows.tolist()]).astype(object)

    def points(self, actions: Column) -> Points:
        """The array (m, A) of a column."""
        return np.array(list(actions), dtype=float).reshape(-1, self.action_set.ambient_dim)

    def check(self, actions: ArrayLike, name: str) -> Column:
        """Points of the set, as a column of tuples or an array (m, A)."""
        width = self.action_set.ambient_dim
        rows = checks.floats(name, actions.tolist() if isinstance(actions, np.ndarray) else actions)
        if rows.size == 0:
            return self.column(np.empty((0, width)))
        if rows.shape[1:] != (width,):
            checks.refuse_shape(name, f"(m, {width})", rows)
        inside = np.asarray(self.action_set.contains(rows))
        checks.refuse_at(name, f"lie in {self.action_set}", rows, ~inside)
        return self.column(rows)

    def describe(self, action: Action) -> str:
        """The coordinates."""
        return "(" + ", ".join(f"{x:.6g}" for x in action) + ")"

    def name(self, action: Action) -> list[float]:
        """The coordinates, to the last digit."""
        return [float(x) for x in action]


class Region(_OnConvexSet):
    """Points x of a convex set, embedded as they are: payoffs linear in x.

    Examples
    --------
    >>> from fullswap.sets import Ball
    >>> disc = Region(Ball([0.0, 0.0], 5.0))
    >>> disc.best(np.array([[3.0, 4.0]]))
    (array([(3.0, 4.0)], dtype=object), array([25.]))
    """

    def embed(self, actions: Column) -> Points:
        """The points."""
        return self.points(actions)

    def best(self, directions: Points) -> tuple[Column, Vector]:
        """By the set's own linear minimiser."""
        points = self.action_set.minimize_linear(-np.asarray(directions, dtype=float))
        return self.column(points), dots(points, directions)

    def decompose(self, point: Vector, tolerance: float) -> tuple[Column, Vector]:
        """The point itself."""
        nearest = self.action_set.project(point)
        distance = float(np.linalg.norm(nearest - point))
        if distance > tolerance * max(1.0, float(np.abs(nearest).max())):
            refuse_outside(distance)
        return self.column(nearest[None, :]), np.ones(1)


class Paraboloid(_OnConvexSet):
    """Points x of a convex set, embedded as (x, ‖x‖²): payoffs a·‖x‖² + ⟨b, x⟩.

    Examples
    --------
    >>> from fullswap.sets import Box
    >>> square = Paraboloid(Box([0, 0], [1, 1]))
    >>> square.best(np.array([[1.0, 3.0, -1.0]]))   # x₁ + 3x₂ − ‖x‖²
    (array([(0.5, 1.0)], dtype=object), array([2.25]))
    """

    _further = 1

    def embed(self, actions: Column) -> Points:
        """Points with their squared lengths."""
        points = self.points(actions)
        return np.column_stack((points, np.square(points).sum(axis=1)))

    def best(self, directions: Points) -> tuple[Column, Vector]:
        """By the set's own quadratic minimiser."""
        directions = np.asarray(directions, dtype=float)
        points = self.action_set.minimize_quadratic(-directions[:, -1], -directions[:, :-1])
        column = self.column(points)
        return column, dots(self.embed(column), directions)

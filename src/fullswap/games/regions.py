"""Further sets of actions: convex regions, quadratic payoffs on them, and sums of choices.

An action of a region is a point. Columns hold points as tuples, so that an action is one entry
of a column whatever the dimension; ``Region.column`` makes such a column from an array (m, A).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.games.actions import ActionSet, Column, Product, Vectors
from fullswap.sets import ConvexSetBase


class _OnConvexSet(ActionSet):
    """Actions that are the points of a convex set."""

    size = None

    def __init__(self, action_set: ConvexSetBase) -> None:
        if not isinstance(action_set, ConvexSetBase):
            raise ValueError(f"action_set must be a set of fullswap.sets, got {action_set!r}")
        self.action_set = action_set

    @staticmethod
    def column(points: Any) -> Column:
        """Points (m, A) as a column of m tuples."""
        rows = np.asarray(points, dtype=float)
        if rows.ndim != 2:
            raise ValueError(f"points must have shape (m, A), got {rows.shape}")
        column = np.empty(len(rows), dtype=object)
        for i, row in enumerate(rows.tolist()):
            column[i] = tuple(row)
        return column

    def points(self, actions: Column) -> Points:
        """The array (m, A) of a column."""
        return np.array(list(actions), dtype=float).reshape(-1, self.action_set.ambient_dim)

    def check(self, actions: Any, name: str) -> Column:
        """Points of the set, as a column of tuples or an array (m, A)."""
        width = self.action_set.ambient_dim
        try:
            rows = np.array([tuple(action) for action in actions], dtype=float)
        except (TypeError, ValueError):
            raise ValueError(f"{name} must be points with {width} coordinates each") from None
        if rows.size == 0:
            return self.column(np.empty((0, width)))
        if rows.shape[1:] != (width,) or not np.isfinite(rows).all():
            raise ValueError(
                f"{name} must be finite points of shape (m, {width}), got shape {rows.shape}"
            )
        inside = np.asarray(self.action_set.contains(rows))
        if not inside.all():
            raise ValueError(f"{name} must lie in {self.action_set}, got {rows[~inside][0]}")
        return self.column(rows)

    def describe(self, action: Any) -> str:
        """The coordinates."""
        return "(" + ", ".join(f"{x:.6g}" for x in action) + ")"


class Region(_OnConvexSet):
    """Points x of a convex set, embedded as they are: payoffs linear in x.

    Examples
    --------
    >>> from fullswap.sets import Ball
    >>> disc = Region(Ball([0.0, 0.0], 5.0))
    >>> disc.best(np.array([[3.0, 4.0]]))
    (array([(3.0, 4.0)], dtype=object), array([25.]))
    """

    def __init__(self, action_set: ConvexSetBase) -> None:
        super().__init__(action_set)
        self.dim = action_set.ambient_dim

    def embed(self, actions: Column) -> Points:
        """The points."""
        return self.points(actions)

    def best(self, directions: Points) -> tuple[Column, Vector]:
        """By the set's own linear minimiser."""
        found = self.action_set.minimize_linear(-np.asarray(directions, dtype=float))
        return self.column(found), np.einsum("ij,ij->i", found, directions)

    def decompose(self, point: Vector, tolerance: float) -> tuple[Column, Vector]:
        """The point itself."""
        nearest = self.action_set.project(point)
        distance = float(np.linalg.norm(nearest - point))
        if distance > tolerance * max(1.0, float(np.abs(nearest).max())):
            raise ValueError(f"point must lie in the hull of the actions, is {distance:.6g} away")
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

    def __init__(self, action_set: ConvexSetBase) -> None:
        super().__init__(action_set)
        self.dim = action_set.ambient_dim + 1

    def embed(self, actions: Column) -> Points:
        """Points with their squared lengths."""
        points = self.points(actions)
        return np.column_stack((points, np.square(points).sum(axis=1)))

    def best(self, directions: Points) -> tuple[Column, Vector]:
        """By the set's own quadratic minimiser."""
        directions = np.asarray(directions, dtype=float)
        found = self.action_set.minimize_quadratic(-directions[:, -1], -directions[:, :-1])
        column = self.column(found)
        return column, np.einsum("ij,ij->i", self.embed(column), directions)


class Sum(ActionSet):
    """One choice in each of several parts, embedded as the *sum* of their embeddings.

    The hull is the Minkowski sum of the parts', so B choices for each of K types make B^K plans
    in the dimension of one part. The best plan is the best choice in each part; plans are
    numbered as in ``Product``.

    Examples
    --------
    >>> plans = Sum([Vectors(np.eye(2)), Vectors(3 * np.eye(2))])
    >>> plans.size, plans.dim, plans.embed(np.array([1])).tolist()
    (4, 2, [[1.0, 3.0]])
    """

    def __init__(self, parts: Sequence[Vectors]) -> None:
        self._plans = Product(parts)
        self.parts = self._plans.parts
        self.size = self._plans.size
        dims = {part.dim for part in self.parts}
        if len(dims) > 1:
            raise ValueError(f"parts must have the same dimension, got {sorted(dims)}")
        self.dim = dims.pop()

    def choices(self, actions: Column) -> Any:
        """The choice in each part, shape (m, parts)."""
        return self._plans.choices(actions)

    def embed(self, actions: Column) -> Points:
        """Embeddings of the choices, added up."""
        chosen = self.choices(actions)
        total = np.zeros((len(chosen), self.dim))
        for k, part in enumerate(self.parts):
            total += part.embed(chosen[:, k])
        return total

    def best(self, directions: Points) -> tuple[Column, Vector]:
        """Part by part."""
        return self._plans.best(np.tile(directions, (1, len(self.parts))))

    def check(self, actions: Any, name: str) -> Column:
        """Whole numbers from 0 to n − 1."""
        return self._plans.check(actions, name)

    def describe(self, action: Any) -> str:
        """The choice in each part."""
        return self._plans.describe(action)

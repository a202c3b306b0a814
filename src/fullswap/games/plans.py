"""Choices in several finite parts at once: far more plans than are ever listed."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.games.actions import MOST_NUMBERED, Action, ActionSet, Column, Vectors


class Plans(ActionSet):
    """A choice in each of several finite parts, numbered in mixed radix, the last part fastest."""

    size: int

    def __init__(self, parts: Sequence[Vectors]) -> None:
        self.parts = tuple(parts)
        if not self.parts or not all(isinstance(part, Vectors) for part in self.parts):
            checks.refuse("parts", "be one or more sets of Vectors", self.parts)
        sizes = [part.size for part in self.parts]
        self.size = math.prod(sizes)
        if self.size >= MOST_NUMBERED:
            checks.refuse("parts", f"make fewer than {MOST_NUMBERED} plans", self.size)
        self._sizes = np.array(sizes, dtype=np.int64)
        self._strides = np.append(np.cumprod(self._sizes[::-1])[-2::-1], 1).astype(np.int64)

    @abstractmethod
    def split(self, points: Points) -> list[Points]:
        """What each part sees of directions (…, dim)."""

    def choices(self, actions: Column) -> Indices:
        """The choice in each part, shape (m, parts)."""
        return np.asarray((np.asarray(actions)[:, None] // self._strides) % self._sizes)

    def embed_parts(self, actions: Column) -> list[Points]:
        """Embeddings of the choices, part by part."""
        return [p.embed(c) for p, c in zip(self.parts, self.choices(actions).T, strict=True)]

    def best(self, directions: Points) -> tuple[Indices, Vector]:
        """Part by part."""
        actions, values = np.zeros(len(directions), np.int64), np.zeros(len(directions))
        pieces = self.split(directions)
        for part, piece, stride in zip(self.parts, pieces, self._strides, strict=True):
            choice, value = part.best(piece)
            actions += stride * choice
            values += value
        return actions, values

    def describe(self, action: Action) -> str:
        """The choice in each part."""
        choices = self.choices(np.array([int(action)]))[0]
        names = [part.describe(c) for part, c in zip(self.parts, choices, strict=True)]
        return "(" + ", ".join(names) + ")"

    def name(self, action: Action) -> list[str | int]:
        """The name of the choice in each part."""
        choices = self.choices(np.array([int(action)]))[0]
        return [part.name(c) for part, c in zip(self.parts, choices, strict=True)]


class Product(Plans):
    """One choice in each of several finite parts: a plan of what to do for every type.

    The embedding lines up those of the choices, so the best plan is the best choice in each part.
    Plans are numbered in mixed radix, the last part fastest.

    Examples
    --------
    >>> plans = Product([Vectors(np.eye(2)), Vectors(np.eye(3))])
    >>> plans.size, plans.dim, plans.choices(np.array([4])).tolist()
    (6, 5, [[1, 1]])
    """

    def __init__(self, parts: Sequence[Vectors]) -> None:
        super().__init__(parts)
        self.dim = sum(part.dim for part in self.parts)

    def split(self, points: Points) -> list[Points]:
        """The coordinates of each part."""
        return np.split(points, np.cumsum([part.dim for part in self.parts])[:-1], axis=-1)

    def embed(self, actions: Column) -> Points:
        """Embeddings of the choices, side by side."""
        return np.hstack(self.embed_parts(actions))


class Sum(Plans):
    """One choice in each of several parts, embedded as the *sum* of their embeddings.

    The hull is the Minkowski sum of the parts', so B choices for each of K types make B^K plans
    in the dimension of one part. Plans are numbered as in ``Product``.

    Examples
    --------
    >>> plans = Sum([Vectors(np.eye(2)), Vectors(3 * np.eye(2))])
    >>> plans.size, plans.dim, plans.embed(np.array([1])).tolist()
    (4, 2, [[1.0, 3.0]])
    """

    def __init__(self, parts: Sequence[Vectors]) -> None:
        super().__init__(parts)
        dims = {part.dim for part in self.parts}
        if len(dims) > 1:
            checks.refuse("parts", "have the same dimension", sorted(dims))
        self.dim = dims.pop()

    def split(self, points: Points) -> list[Points]:
        """The same for all."""
        return [points] * len(self.parts)

    def embed(self, actions: Column) -> Points:
        """Embeddings of the choices, added up."""
        return np.asarray(np.sum(self.embed_parts(actions), axis=0))

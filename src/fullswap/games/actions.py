"""Sets of actions with embeddings: what a player may do, and where it lies in R^d.

Payoffs are linear in a player's own embedding, so two oracles are all that is ever asked of a
set, however many actions it has: the best action in a direction, exactly, and a mixed action
whose mean is a given point of the hull.

Actions are given in columns, arrays of shape (m,): numbers 0 … n − 1 for finite sets, the
parameter for a curve, points as tuples for a region.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fullswap.base.protocols import Points, Vector

Column = Any
"""Array of actions, shape (m,)."""

_BLOCK = 4_000_000
"""Entries of a table of inner products that are formed at once."""


class ActionSet(ABC):
    """Actions of one player, embedded in R^dim."""

    dim: int
    size: int | None
    """Number of actions; None for a continuum."""

    @abstractmethod
    def embed(self, actions: Column) -> Points:
        """Embeddings, shape (m, dim)."""

    @abstractmethod
    def best(self, directions: Points) -> tuple[Column, Vector]:
        """For each direction (m, dim): an action that maximises ⟨v, direction⟩, and the maximum."""

    def check(self, actions: Any, name: str) -> Column:
        """A column of actions of this set, or a ValueError: numbers 0 … n − 1, or any of R."""
        if self.size is None:
            return as_floats(name, actions)
        return as_indices(name, actions, self.size)

    def describe(self, action: Any) -> str:
        """One action in words."""
        return str(action)


class Vectors(ActionSet):
    """Finitely many actions, numbered from 0, with their embeddings as rows.

    Examples
    --------
    >>> square = Vectors([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> square.best(np.array([[1.0, -2.0]]))
    (array([2]), array([1.]))
    """

    def __init__(self, embeddings: Any, labels: Sequence[str] | None = None) -> None:
        self.embeddings = as_matrix("embeddings", embeddings)
        self.size, self.dim = self.embeddings.shape
        if labels is not None and len(labels) != self.size:
            raise ValueError(f"labels must name {self.size} actions, got {len(labels)}")
        self.labels = None if labels is None else tuple(str(label) for label in labels)

    def embed(self, actions: Column) -> Points:
        """Rows of the embeddings."""
        return self.embeddings[actions]

    def best(self, directions: Points) -> tuple[Column, Vector]:
        """By trying all."""
        found = np.empty(len(directions), dtype=np.int64)
        values = np.empty(len(directions))
        width = max(1, _BLOCK // len(self.embeddings))
        for start in range(0, len(directions), width):
            part = slice(start, start + width)
            products = directions[part] @ self.embeddings.T
            found[part] = products.argmax(axis=1)
            values[part] = np.take_along_axis(products, found[part, None], axis=1)[:, 0]
        return found, values

    def check(self, actions: Any, name: str) -> Column:
        """Whole numbers from 0 to n − 1."""
        return as_indices(name, actions, self.size)

    def describe(self, action: Any) -> str:
        """Its label, or its number."""
        return str(int(action)) if self.labels is None else self.labels[int(action)]


class Curve(ActionSet):
    """A continuum of actions t ∈ [low, high], embedded along a curve.

    Parameters
    ----------
    low, high : float
        Ends of the parameter.
    embed : callable
        Parameters (m,) ↦ embeddings (m, dim).
    maximise : callable
        Directions (m, dim) ↦ parameters (m,) of exact maximisers of ⟨embed(t), direction⟩.

    Examples
    --------
    >>> parabola = Curve.parabola(0.0, 2.0)   # t ↦ (t, t²)
    >>> parabola.best(np.array([[1.0, -0.5]]))
    (array([1.]), array([0.5]))
    """

    size = None

    def __init__(
        self,
        low: float,
        high: float,
        embed: Callable[[Vector], Points],
        maximise: Callable[[Points], Vector],
    ) -> None:
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ValueError(f"low and high must be finite with low < high, got {low!r}, {high!r}")
        self.low, self.high = float(low), float(high)
        self._embed, self._maximise = embed, maximise
        ends = as_matrix("embed(ends)", self.embed(np.array([self.low, self.high])))
        self.dim = ends.shape[1]

    @classmethod
    def parabola(cls, low: float, high: float) -> Curve:
        """t ↦ (t, t²): payoffs quadratic in the own action."""

        def embed(t: Vector) -> Points:
            return np.column_stack((t, t * t))

        def maximise(directions: Points) -> Vector:
            linear, square = directions[:, 0], directions[:, 1]
            with np.errstate(divide="ignore", invalid="ignore"):
                peak = np.where(square < 0, -linear / (2 * square), low)
            candidates = np.column_stack(
                (np.full(len(peak), low), np.clip(peak, low, high), np.full(len(peak), high))
            )
            values = linear[:, None] * candidates + square[:, None] * candidates**2
            return np.take_along_axis(candidates, values.argmax(axis=1)[:, None], axis=1)[:, 0]

        return cls(low, high, embed, maximise)

    def embed(self, actions: Column) -> Points:
        """Points of the curve."""
        return np.asarray(self._embed(np.asarray(actions, dtype=float)), dtype=float)

    def best(self, directions: Points) -> tuple[Column, Vector]:
        """By the given maximiser."""
        found = np.asarray(self._maximise(directions), dtype=float)
        return found, np.einsum("ij,ij->i", self.embed(found), directions)

    def check(self, actions: Any, name: str) -> Column:
        """Numbers in [low, high]."""
        column = as_floats(name, actions)
        slack = 1e-9 * (self.high - self.low)
        if column.size and (column.min() < self.low - slack or column.max() > self.high + slack):
            raise ValueError(f"{name} must lie in [{self.low:.6g}, {self.high:.6g}]")
        return column

    def describe(self, action: Any) -> str:
        """The parameter."""
        return f"{float(action):.6g}"


class Product(ActionSet):
    """One choice in each of several finite parts: a plan of what to do for every type.

    The embedding lines up those of the parts, so the best plan is the best choice in each part.
    Plans are numbered in mixed radix, the last part fastest.

    Examples
    --------
    >>> plans = Product([Vectors(np.eye(2)), Vectors(np.eye(3))])
    >>> plans.size, plans.dim, plans.choices(np.array([4])).tolist()
    (6, 5, [[1, 1]])
    """

    def __init__(self, parts: Sequence[Vectors]) -> None:
        self.parts = tuple(parts)
        if not self.parts or not all(isinstance(part, Vectors) for part in self.parts):
            raise ValueError("parts must be one or more sets of Vectors")
        sizes = [int(part.size or 0) for part in self.parts]
        self.size = math.prod(sizes)
        if self.size >= 2**62:
            raise ValueError(f"parts must make fewer than 2^62 plans, got {self.size}")
        self.dim = sum(part.dim for part in self.parts)
        self._sizes = np.array(sizes, dtype=np.int64)
        self._strides = np.append(np.cumprod(self._sizes[::-1])[-2::-1], 1).astype(np.int64)
        self._cuts = np.cumsum([part.dim for part in self.parts])[:-1]

    def choices(self, actions: Column) -> Any:
        """The choice in each part, shape (m, parts)."""
        return (np.asarray(actions)[:, None] // self._strides) % self._sizes

    def embed(self, actions: Column) -> Points:
        """Embeddings of the parts, side by side."""
        choices = self.choices(actions)
        return np.hstack([part.embed(choices[:, k]) for k, part in enumerate(self.parts)])

    def best(self, directions: Points) -> tuple[Column, Vector]:
        """Part by part."""
        found, values = np.zeros(len(directions), np.int64), np.zeros(len(directions))
        pieces = np.split(directions, self._cuts, axis=1)
        for part, piece, stride in zip(self.parts, pieces, self._strides, strict=True):
            choice, value = part.best(piece)
            found += stride * choice
            values += value
        return found, values

    def check(self, actions: Any, name: str) -> Column:
        """Whole numbers from 0 to n − 1."""
        assert self.size is not None
        return as_indices(name, actions, self.size)

    def describe(self, action: Any) -> str:
        """The choice in each part."""
        choices = self.choices(np.array([int(action)]))[0]
        told = [part.describe(c) for part, c in zip(self.parts, choices, strict=True)]
        return "(" + ", ".join(told) + ")"


def as_matrix(name: str, values: Any) -> Points:
    """Finite numbers of shape (n, d), n and d at least 1."""
    try:
        array = np.array(values)
        array = array.astype(float, casting="same_kind" if array.dtype.kind == "c" else "unsafe")
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers of shape (n, d), got {values!r}") from None
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"{name} must have shape (n, d) with n, d >= 1, got {array.shape}")
    if not np.isfinite(array).all():
        at = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name} must be finite, got {array[at]} at {at}")
    return array


def as_indices(name: str, actions: Any, size: int | None) -> Column:
    """Whole numbers from 0 to size − 1, shape (m,)."""
    array = _plain(actions)
    if array.ndim != 1 or array.dtype.kind not in "iuf" or (array != np.floor(array)).any():
        raise ValueError(f"{name} must be whole numbers of shape (m,), got {actions!r}")
    if size is not None and array.size and not (array.min() >= 0 and array.max() < size):
        raise ValueError(f"{name} must lie between 0 and {size - 1}")
    return array.astype(np.int64)


def as_floats(name: str, values: Any) -> Vector:
    """Finite numbers, shape (m,)."""
    array = _plain(values)
    if array.dtype.kind not in "iuf" or array.ndim != 1 or not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite numbers of shape (m,), got {values!r}")
    return array.astype(float)


def _plain(values: Any) -> Any:
    """An array; numbers out of a table that also holds points as tuples become numbers again."""
    array = np.asarray(values)
    if array.dtype == object and all(isinstance(v, int | float | np.number) for v in array.flat):
        return np.array(array.tolist())
    return array

"""Sets of actions with embeddings: what a player may do, and where it lies in R^d.

Payoffs are linear in a player's own embedding, so two oracles are all that is ever asked of a
set, however many actions it has: the best action in a direction, exactly, and a mixed action
whose mean is a given point of the hull.

Actions are given in columns, arrays of shape (m,): numbers 0 … n − 1 for finite sets, the
parameter for a curve, points as tuples for a region, and whatever tuples, texts or numbers a set
of one's own takes; ``column_of`` makes such a column.
"""

from __future__ import annotations

import math
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullswap.base import checks
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.games.names import told_apart

Action = Any  # one entry of a column
Column = NDArray[Any]  # shape (m,)
# Actions are numbered in 64 bits if they are fewer: half of what fits, so that sums fit too.
MOST_NUMBERED = 2**62
BLOCK = 4_000_000  # entries of a table of products that are formed at once: 32 MB
_EXACT = 2**53  # whole numbers up to this are exact as floats
_BEYOND = 1e-9  # share of its length by which parameters may pass the ends of a curve: rounding


class ActionSet(ABC):
    """Actions of one player, embedded in R^dim."""

    dim: int
    size: int | None
    """Number of actions 0, 1, …; None for a continuum, and for actions that are texts or tuples."""
    extent: float = 1.0
    """How far apart actions of a continuum may be; 1 where that is not known."""
    listed: bool = False
    """Whether best answers look through a list of all embeddings."""

    @abstractmethod
    def embed(self, actions: Column) -> Points:
        """Embeddings, shape (m, dim)."""

    @abstractmethod
    def best(self, directions: Points) -> tuple[Column, Vector]:
        """For each direction (m, dim): an action that maximises ⟨v, direction⟩, and the maximum."""

    def values(self, actions: Column, directions: Points) -> Points:
        """⟨v(a), direction⟩ for all of them, shape (actions, directions)."""
        return np.asarray(self.embed(actions) @ directions.T)

    def check(self, actions: ArrayLike, name: str) -> Column:
        """A column of actions of this set, or a ValueError.

        Numbers 0 … n − 1 of a finite set; without a ``size``, any numbers, or texts or tuples that
        ``embed`` takes.
        """
        column: Column
        if self.size is None:
            listed = actions.tolist() if isinstance(actions, np.ndarray) else actions
            if isinstance(listed, list) and any(isinstance(a, str | tuple) for a in listed):
                return self._check_objects(listed, name)
            column = checks.floats(name, actions)
        else:
            if np.asarray(actions).dtype == bool:
                checks.refuse(name, "be numbers of actions and no mask", actions)
            column = checks.indices(name, actions, self.size)
        if column.ndim != 1:
            checks.refuse_shape(name, "(m,)", column)
        return column

    def _check_objects(self, actions: list[Action], name: str) -> Column:
        """Texts or tuples, all of which have an order and an embedding."""
        column = column_of(actions)
        try:
            sorted(set(actions))  # the check of a profile counts and sorts them
        except TypeError:
            checks.refuse(name, "be actions that can be sorted, all tuples or all texts", actions)
        try:
            embedded = np.asarray(self.embed(column), dtype=float)
        except (TypeError, ValueError, LookupError) as problem:
            raise ValueError(
                f"{name} must be actions that embed takes, got {reprlib.repr(actions)}: {problem}"
            ) from None
        if embedded.shape != (len(column), self.dim):
            wanted = f"({len(column)}, {self.dim}) when embedded"
            checks.refuse_shape(name, wanted, embedded)
        checks.floats(f"the embedding of {name}", embedded)
        return column

    def describe(self, action: Action) -> str:
        """One action in words."""
        return f"({', '.join(map(str, action))})" if isinstance(action, tuple) else str(action)

    def name(self, action: Action) -> Any:
        """The action as plain data for people, who count from 1 what has no name of its own."""
        return self.describe(action)


class Vectors(ActionSet):
    """Finitely many actions, numbered from 0, with their embeddings as rows.

    Labels are for people; those that occur again get a number behind them.

    Examples
    --------
    >>> square = Vectors([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> square.best(np.array([[1.0, -2.0]]))
    (array([2]), array([1.]))
    """

    size: int
    listed = True

    def __init__(self, embeddings: ArrayLike, labels: Sequence[str] | None = None) -> None:
        self.embeddings: Points = checks.matrix("embeddings", embeddings).copy()
        self.size, self.dim = self.embeddings.shape
        if labels is not None:
            checks.same_length("labels", labels, "embeddings", self.size)
        self.labels = None if labels is None else told_apart([str(label) for label in labels])
        # payoffs listed action by action: products with unit vectors would only copy them
        self.unit = self.size == self.dim and bool(
            (self.embeddings.diagonal() == 1).all()
            and np.count_nonzero(self.embeddings) == self.size
        )

    def embed(self, actions: Column) -> Points:
        """Rows of the embeddings."""
        return self.embeddings[actions]

    def values(self, actions: Column, directions: Points) -> Points:
        """Payoffs as they are listed, or products."""
        if self.unit:
            return np.ascontiguousarray(directions.T[actions])
        return super().values(actions, directions)

    def best(self, directions: Points) -> tuple[Indices, Vector]:
        """By trying all."""
        if self.unit:
            best = directions.argmax(axis=1)
            return best, np.asarray(directions[np.arange(len(best)), best])
        actions, values = np.empty(len(directions), np.int64), np.empty(len(directions))
        for part in blocks(len(directions), self.size):
            products = directions[part] @ self.embeddings.T
            actions[part] = products.argmax(axis=1)
            values[part] = products[np.arange(len(products)), actions[part]]
        return actions, values

    def describe(self, action: Action) -> str:
        """Its label, or its number."""
        return str(int(action)) if self.labels is None else self.labels[int(action)]

    def name(self, action: Action) -> str | int:
        """Its label, or its number from 1."""
        return int(action) + 1 if self.labels is None else self.labels[int(action)]


class Curve(ActionSet):
    """A continuum of actions t ∈ [low, high], embedded along a curve.

    ``embed`` takes parameters (m,) to embeddings (m, dim), ``maximise`` directions (m, dim) to
    parameters (m,) of exact maximisers of ⟨embed(t), direction⟩.

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
        self.low = checks.setting("low", low)
        self.high = checks.setting("high", high, above=self.low)
        self.extent = self.high - self.low
        self._embed, self._maximise = embed, maximise
        ends = checks.matrix("embed(ends)", self.embed(np.array([self.low, self.high])))
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
            inside = np.clip(peak, low, high)
            candidates = np.stack(np.broadcast_arrays(low, inside, high), axis=1)
            values = linear[:, None] * candidates + square[:, None] * candidates**2
            return np.asarray(candidates[np.arange(len(peak)), values.argmax(axis=1)])

        return cls(low, high, embed, maximise)

    def embed(self, actions: Column) -> Points:
        """Points of the curve."""
        return np.asarray(self._embed(np.asarray(actions, dtype=float)), dtype=float)

    def best(self, directions: Points) -> tuple[Vector, Vector]:
        """By the given maximiser."""
        parameters = np.asarray(self._maximise(directions), dtype=float)
        return parameters, dots(self.embed(parameters), directions)

    def check(self, actions: ArrayLike, name: str) -> Column:
        """Numbers in [low, high]."""
        column = super().check(actions, name)
        slack = _BEYOND * self.extent
        outside = (column < self.low - slack) | (column > self.high + slack)
        checks.refuse_at(name, f"lie in [{self.low:.6g}, {self.high:.6g}]", column, outside)
        return column

    def describe(self, action: Action) -> str:
        """The parameter."""
        return f"{float(action):.6g}"

    def name(self, action: Action) -> float:
        """The parameter, to the last digit."""
        return float(action)


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


def blocks(rows: int, entries: int) -> Iterator[slice]:
    """Slices of so many rows that a table with this many entries a row stays within ``BLOCK``."""
    width = max(1, BLOCK // max(1, entries))
    return (slice(start, start + width) for start in range(0, rows, width))


def dots(left: Points, right: Points) -> Vector:
    """Inner products ⟨left[i], right[i]⟩ of rows."""
    return np.asarray(np.einsum("ij,ij->i", left, right))


def column_of(actions: list[Action]) -> Column:
    """A column of these actions, tuples kept whole.

    Examples
    --------
    >>> column_of([(0, 2), (1,), ()])
    array([(0, 2), (1,), ()], dtype=object)
    """
    if not any(isinstance(action, tuple | str) for action in actions):
        return np.array(actions)
    column = np.empty(len(actions), dtype=object)
    column[:] = actions
    return column


def stack(columns: Sequence[Column]) -> NDArray[Any]:
    """Columns side by side, shape (m, players); numbers too long for a float stay what they are."""
    kinds = {column.dtype.kind for column in columns}
    long = any(c.dtype.kind in "iu" and c.size and abs(c).max() > _EXACT for c in columns)
    if not ("O" in kinds or (long and "f" in kinds)):
        return np.column_stack(columns)
    rows = np.empty((len(columns[0]), len(columns)), dtype=object)
    for p, column in enumerate(columns):
        rows[:, p] = column.tolist()
    return rows

"""Sets of actions with embeddings: what a player may do, and where it lies in R^d.

Payoffs are linear in a player's own embedding, so two oracles are all that is ever asked of a
set, however many actions it has: the best action in a direction, exactly, and a mixed action
whose mean is a given point of the hull.

Actions are given in columns, arrays of shape (m,): numbers 0 … n − 1 for finite sets, the
parameter for a curve, points as tuples for a region, and whatever tuples, texts or numbers a set
of one's own takes; ``column_of`` makes such a column.
"""

from __future__ import annotations

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


class Numbered(ActionSet):
    """Finitely many actions, numbered from 0, and looked through for the best one.

    Labels are for people; those that occur again get a number behind them.
    """

    size: int
    listed = True

    def __init__(self, size: int, labels: Sequence[str] | None) -> None:
        self.size = size
        if labels is not None:
            checks.same_length("labels", labels, "the actions", size)
        self.labels = None if labels is None else told_apart([str(label) for label in labels])

    def describe(self, action: Action) -> str:
        """Its label, or its number."""
        return str(int(action)) if self.labels is None else self.labels[int(action)]

    def name(self, action: Action) -> str | int:
        """Its label, or its number from 1."""
        return int(action) + 1 if self.labels is None else self.labels[int(action)]


class Vectors(Numbered):
    """Actions with their embeddings as rows.

    Examples
    --------
    >>> square = Vectors([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> square.best(np.array([[1.0, -2.0]]))
    (array([2]), array([1.]))
    """

    def __init__(self, embeddings: ArrayLike, labels: Sequence[str] | None = None) -> None:
        self.embeddings: Points = checks.matrix("embeddings", embeddings).copy()
        super().__init__(len(self.embeddings), labels)
        self.dim = self.embeddings.shape[1]

    def embed(self, actions: Column) -> Points:
        """Rows of the embeddings."""
        return self.embeddings[actions]

    def best(self, directions: Points) -> tuple[Indices, Vector]:
        """By trying all."""
        actions, values = np.empty(len(directions), np.int64), np.empty(len(directions))
        for part in blocks(len(directions), self.size):
            products = directions[part] @ self.embeddings.T
            actions[part] = products.argmax(axis=1)
            values[part] = products[np.arange(len(products)), actions[part]]
        return actions, values


class Units(Numbered):
    """Actions without structure: the embedding of action k is the k-th unit vector.

    The same as ``Vectors(np.eye(size))``, without the matrix: payoffs are listed action by action,
    and products with unit vectors would only copy them.

    Examples
    --------
    >>> Units(3).best(np.array([[1.0, 5.0, 2.0]]))
    (array([1]), array([5.]))
    """

    def __init__(self, size: int, labels: Sequence[str] | None = None) -> None:
        super().__init__(checks.whole("size", size, 1), labels)
        self.dim = self.size

    def embed(self, actions: Column) -> Points:
        """Unit vectors, one a row."""
        rows = np.zeros((len(actions), self.size))
        rows[np.arange(len(actions)), actions] = 1.0
        return rows

    def values(self, actions: Column, directions: Points) -> Points:
        """Entries of the directions."""
        return np.ascontiguousarray(directions.T[actions])

    def best(self, directions: Points) -> tuple[Indices, Vector]:
        """The largest entry."""
        best = directions.argmax(axis=1)
        return best, np.asarray(directions[np.arange(len(best)), best])


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

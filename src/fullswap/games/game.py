"""Structured games: payoffs linear in each player's own embedding.

A player's payoff is ⟨v, w⟩, v the embedding of the own action and w a vector that the others'
actions decide. Nothing else of a game is ever used, so its size does not matter: a thousand
billion actions are as good as ten if their embeddings are low-dimensional.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fullswap.base.protocols import Points
from fullswap.games.actions import ActionSet, Column, Vectors, as_matrix

Against = Callable[[list[Column]], Points]
"""Columns of the other players' actions, in order ↦ payoff vectors (m, dim)."""
BLOCK = 4_000_000
"""Entries of payoff vectors that are formed at once."""


class StructuredGame:
    """Two or more players, each with a set of embedded actions.

    Parameters
    ----------
    actions : sequence of ActionSet
        One set for each player.
    against : sequence of callables
        For each player: the others' actions, columns (m,) in the order of the players, to payoff
        vectors (m, dim) in the player's own embedding space.
    name : str
        What it is called.
    errors : sequence of float
        For each player: how far payoffs may be from the true ones (an embedding of lower rank).

    Examples
    --------
    >>> chicken = from_matrices([[0, 7], [2, 6]], [[0, 2], [7, 6]])
    >>> chicken.payoffs([[0, 1], [1, 1]])
    array([[7., 2.],
           [6., 6.]])
    """

    def __init__(
        self,
        actions: Sequence[ActionSet],
        against: Sequence[Against],
        name: str = "game",
        errors: Sequence[float] | None = None,
    ) -> None:
        self.actions = tuple(actions)
        self._against = tuple(against)
        self.name = name
        if len(self.actions) < 2:
            raise ValueError(f"actions must be sets of at least 2 players, got {len(self.actions)}")
        if len(self._against) != len(self.actions):
            raise ValueError(
                f"against must have one function for each of {len(self.actions)} players, "
                f"got {len(self._against)}"
            )
        wrong = [s for s in self.actions if not isinstance(s, ActionSet)]
        if wrong:
            raise ValueError(f"actions must be sets of fullswap.games.actions, got {wrong[0]!r}")
        self.errors = tuple(map(float, [0.0] * len(self.actions) if errors is None else errors))
        if len(self.errors) != len(self.actions) or not all(0 <= e < math.inf for e in self.errors):
            raise ValueError(
                f"errors must be {len(self.actions)} finite numbers >= 0, one for each player, "
                f"got {errors!r}"
            )

    @property
    def players(self) -> int:
        """How many."""
        return len(self.actions)

    def vectors(self, player: int, support: Sequence[Column]) -> Points:
        """Payoff vectors of a player against the others in each row of joint actions, (m, dim)."""
        others = [column for k, column in enumerate(support) if k != player]
        found = np.asarray(self._against[player](others), dtype=float)
        wanted = (len(support[0]), self.actions[player].dim)
        if found.shape != wanted:
            raise ValueError(f"against[{player}] must give shape {wanted}, got {found.shape}")
        if not np.isfinite(found).all():
            raise ValueError(f"against[{player}] must be finite, got NaN or infinity")
        return found

    def payoffs(self, support: Any) -> Points:
        """Payoffs of all players for rows of joint actions (m, players), shape (m, players)."""
        columns = self.columns(support)
        found = np.empty((len(columns[0]), self.players))
        for i, s in enumerate(self.actions):
            width = max(1, BLOCK // s.dim)
            for start in range(0, len(found), width):
                part = [column[start : start + width] for column in columns]
                own, vectors = s.embed(part[i]), self.vectors(i, part)
                found[start : start + width, i] = np.einsum("ij,ij->i", own, vectors)
        return found

    def columns(self, support: Any) -> list[Column]:
        """Checked columns of joint actions."""
        rows = as_support(support, self.players)
        if rows.ndim != 2 or rows.shape[1] != self.players:
            raise ValueError(f"support must have shape (m, {self.players}), got {rows.shape}")
        return [s.check(rows[:, i], f"support[:, {i}]") for i, s in enumerate(self.actions)]

    def table(self, chosen: Sequence[Column]) -> list[Points]:
        """Payoff tensors of the game in which each player has only the chosen actions.

        One array of shape (len(chosen[0]), len(chosen[1]), …) for each player.
        """
        shape = tuple(len(column) for column in chosen)
        tables = []
        for i, s in enumerate(self.actions):
            others = [k for k in range(self.players) if k != i]
            meshes = np.meshgrid(*(np.arange(shape[k]) for k in others), indexing="ij")
            columns = [chosen[k][mesh.ravel()] for k, mesh in zip(others, meshes, strict=True)]
            vectors = np.asarray(self._against[i](columns), dtype=float)
            flat = s.embed(chosen[i]) @ vectors.T
            own_first = flat.reshape(shape[i], *(shape[k] for k in others))
            tables.append(np.moveaxis(own_first, 0, i))
        return tables

    def __repr__(self) -> str:
        sizes = " × ".join("∞" if s.size is None else str(s.size) for s in self.actions)
        dims = ", ".join(str(s.dim) for s in self.actions)
        return f"StructuredGame({self.name!r}, actions {sizes}, dimensions {dims})"

    @classmethod
    def from_embeddings(
        cls, V: Any, W: Any, V2: Any, W2: Any, name: str = "game"
    ) -> StructuredGame:
        """u_1(i, j) = ⟨V[i], W[j]⟩ and u_2(i, j) = ⟨V2[i], W2[j]⟩.

        Examples
        --------
        >>> game = StructuredGame.from_embeddings([[1.0], [2.0]], [[3.0]], [[0.0], [1.0]], [[5.0]])
        >>> game.payoffs([[1, 0]])
        array([[6., 5.]])
        """
        first, second = as_matrix("V", V), as_matrix("W", W)
        third, fourth = as_matrix("V2", V2), as_matrix("W2", W2)
        for left, right, names in ((first, second, "V and W"), (third, fourth, "V2 and W2")):
            if left.shape[1] != right.shape[1]:
                raise ValueError(
                    f"{names} must have the same number of columns, "
                    f"got {left.shape[1]} and {right.shape[1]}"
                )
        for left, right, names in ((first, third, "V and V2"), (second, fourth, "W and W2")):
            if len(left) != len(right):
                raise ValueError(
                    f"{names} must have a row for every action, got {len(left)} and {len(right)}"
                )
        return cls(
            (Vectors(first), Vectors(fourth)),
            (lambda others: second[others[0]], lambda others: third[others[0]]),
            name,
        )


def from_matrices(A: Any, B: Any, rank: int | None = None, name: str = "game") -> StructuredGame:
    """The two-player game with payoffs A[i, j] and B[i, j].

    Exact in dimension min(n, n'); with ``rank``, by singular values, and the largest error of an
    entry is kept in ``errors``, to be added to gaps.
    """
    first, second = as_matrix("A", A), as_matrix("B", B)
    if first.shape != second.shape:
        raise ValueError(f"A and B must have the same shape, got {first.shape} and {second.shape}")
    if rank is not None and (
        isinstance(rank, bool) or not isinstance(rank, numbers.Integral) or rank < 1
    ):
        raise ValueError(f"rank must be a whole number >= 1, or None, got {rank!r}")
    own, other, error = _factors(first, rank)
    own2, other2, error2 = _factors(second.T, rank)
    return StructuredGame(
        (Vectors(own), Vectors(own2)),
        (lambda others: other[others[0]], lambda others: other2[others[0]]),
        name,
        (error, error2),
    )


def _factors(matrix: Points, rank: int | None) -> tuple[Points, Points, float]:
    """matrix ≈ own @ other.T, and the largest error of an entry."""
    n, m = matrix.shape
    if rank is not None and rank < min(n, m):
        left, values, right = np.linalg.svd(matrix, full_matrices=False)
        root = np.sqrt(values[:rank])
        own, other = left[:, :rank] * root, right[:rank].T * root
        return own, other, float(np.abs(own @ other.T - matrix).max())
    if n <= m:
        return np.eye(n), matrix.T, 0.0
    return matrix, np.eye(m), 0.0


def from_tensor(payoffs: Any, name: str = "game") -> StructuredGame:
    """The game with payoffs[p, a_1, …, a_N] for player p, shape (N, n_1, …, n_N)."""
    try:
        array = np.array(payoffs)
        array = array.astype(float, casting="same_kind" if array.dtype.kind == "c" else "unsafe")
    except (TypeError, ValueError):
        raise ValueError("payoffs must be numbers of shape (N, n_1, …, n_N)") from None
    if array.ndim < 3 or array.shape[0] != array.ndim - 1 or 0 in array.shape:
        raise ValueError(
            f"payoffs must have shape (N, n_1, …, n_N) for N >= 2 players, got {array.shape}"
        )
    if not np.isfinite(array).all():
        raise ValueError("payoffs must be finite, got NaN or infinity")
    players = len(array)

    def against(player: int) -> Against:
        own_last = np.moveaxis(array[player], player, -1)
        return lambda others: own_last[tuple(others)]

    sets = [Vectors(np.eye(n)) for n in array.shape[1:]]
    return StructuredGame(sets, [against(p) for p in range(players)], name)


def as_support(support: Any, players: int) -> Any:
    """Rows of joint actions as an array; points, given as tuples or rows, become tuples.

    Examples
    --------
    >>> as_support([[(0.5, 1), 3]], 2)
    array([[(0.5, 1.0), 3]], dtype=object)
    """
    if isinstance(support, np.ndarray) and support.ndim <= 2:
        return support
    try:
        rows = [list(row) for row in support]
    except TypeError:
        return np.asarray(support)
    if any(len(row) != players for row in rows):
        raise ValueError(f"support must have an action of each of {players} players in every row")
    if all(is_single(action) for row in rows for action in row):
        return np.asarray(rows).reshape(len(rows), players)
    array = np.empty((len(rows), players), dtype=object)
    for i, row in enumerate(rows):
        for p, action in enumerate(row):
            array[i, p] = action if is_single(action) else tuple(np.asarray(action).tolist())
    return array


def is_single(value: Any) -> bool:
    """Whether this is one thing, and not a row of several."""
    return not isinstance(value, list | tuple) and np.ndim(value) == 0

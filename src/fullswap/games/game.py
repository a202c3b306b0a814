"""Structured games: payoffs linear in each player's own embedding.

A player's payoff is ⟨v, w⟩, v the embedding of the own action and w a vector that the others'
actions decide. Nothing else of a game is ever used, so its size does not matter: a thousand
billion actions are as good as ten if their embeddings are low-dimensional.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullswap.base import checks
from fullswap.base.protocols import Points
from fullswap.games.actions import (
    Action,
    ActionSet,
    Column,
    Numbered,
    Units,
    Vectors,
    blocks,
    column_of,
    dots,
    stack,
)
from fullswap.games.names import told_apart

# Columns of the other players' actions, in order ↦ payoff vectors (m, dim).
Against = Callable[[list[Column]], Points]
# Rows of joint actions, (m, players); points of regions as tuples or rows of numbers.
Support = NDArray[Any] | Sequence[Sequence[Action]]
# Names of each player's actions; None where they have none.
Labels = Sequence[Sequence[str] | None]
_MOST_SHOWN = 12  # players whose sets are in the line
_COMPARED = 1_000_000  # joint actions of games that are compared as a whole
_SAMPLE = 500  # joint actions of larger ones
_ROUNDING = 1e-9  # share of the largest payoff by which one game may differ from another


class StructuredGame:
    """Two or more players, each with a set of embedded actions.

    For each player, ``against`` takes the others' actions, columns (m,) in the order of the
    players, to payoff vectors (m, dim) in the player's own embedding space, and ``errors`` says how
    far payoffs may be from the true ones (an embedding of lower rank). ``player_names`` are for
    people; without them, and for empty ones, players are numbered from 1, and those of one name are
    told apart by numbers behind it.

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
        errors: ArrayLike | None = None,
        player_names: Sequence[str] | None = None,
    ) -> None:
        self.actions, self._against, self.name = tuple(actions), tuple(against), name
        if len(self.actions) < 2:
            checks.refuse("actions", "be sets of at least 2 players", len(self.actions))
        checks.same_length("against", self._against, "actions", len(self.actions))
        for p, s in enumerate(self.actions):
            checks.instance(f"actions[{p}]", s, ActionSet, "a set of fullswap.games")
        given = np.zeros(self.players) if errors is None else errors
        sizes = checks.vector("errors", given, self.players)
        checks.refuse_at("errors", "be at least 0", sizes, sizes < 0)
        self.errors: tuple[float, ...] = tuple(sizes.tolist())
        names = [""] * self.players if player_names is None else player_names
        checks.same_length("player_names", names, "actions", self.players)
        named = [str(n) or f"player {k}" for k, n in enumerate(names, 1)]
        self.player_names = told_apart(named)

    @property
    def players(self) -> int:
        """How many."""
        return len(self.actions)

    def vectors(self, player: int, support: Sequence[Column]) -> Points:
        """Payoff vectors of a player against the others in each row of joint actions, (m, dim)."""
        others = [column for k, column in enumerate(support) if k != player]
        vectors = np.asarray(self._against[player](others), dtype=float)
        name = f"the result of against[{player}]"
        wanted = (len(others[0]), self.actions[player].dim)
        if vectors.shape != wanted:
            checks.refuse_shape(name, str(wanted), vectors)
        return checks.floats(name, vectors)

    def vectors_against_all(self, player: int, chosen: Sequence[Column]) -> Points:
        """Payoff vectors against all joint actions of the others' chosen ones, the last fastest."""
        lengths = [1 if k == player else len(column) for k, column in enumerate(chosen)]
        places = np.indices(lengths).reshape(len(lengths), -1)
        return self.vectors(player, [c[at] for c, at in zip(chosen, places, strict=True)])

    def payoffs(self, support: Support) -> Points:
        """Payoffs of all players for rows of joint actions (m, players), shape (m, players)."""
        columns = self.columns(support)
        payoffs = np.empty((len(columns[0]), self.players))
        for i, s in enumerate(self.actions):
            for rows in blocks(len(payoffs), s.dim):
                part = [column[rows] for column in columns]
                payoffs[rows, i] = dots(s.embed(part[i]), self.vectors(i, part))
        return payoffs

    def pays_like(self, other: StructuredGame, support: Support) -> bool:
        """Whether another game has as many actions, and the same payoffs.

        Whole tables are compared if they are small; else these joint actions, and some others.
        """
        sizes = [s.size for s in self.actions]
        if sizes != [s.size for s in other.actions]:
            return False
        listed = [k for k in sizes if k is not None]
        if len(listed) == len(sizes) and math.prod(listed) <= _COMPARED:
            whole = [np.arange(k) for k in listed]
            pairs = zip(self.table(whole), other.table(whole), strict=True)
            return all(_alike(own, theirs) for own, theirs in pairs)
        try:
            return all(
                _alike(self.payoffs(rows), other.payoffs(rows)) for rows in (support, self._some())
            )
        except ValueError:  # actions that one of them does not have
            return False

    def _some(self) -> NDArray[Any]:
        """Some joint actions, always the same, shape (m, players)."""
        rng = np.random.default_rng(0)
        columns: list[Column] = [
            s.best(rng.standard_normal((_SAMPLE, s.dim)))[0]
            if s.size is None
            else rng.integers(s.size, size=_SAMPLE)
            for s in self.actions
        ]
        return stack(columns)

    def columns(self, support: Support) -> list[Column]:
        """Checked columns of joint actions."""
        rows = as_support(support, self.players)
        return [s.check(rows[:, i], f"support[:, {i}]") for i, s in enumerate(self.actions)]

    def table(self, chosen: Sequence[Column]) -> list[Points]:
        """Each player's payoffs, (k_1, …, k_N), where player p has only k_p chosen actions."""
        shape = [len(column) for column in chosen]
        return [
            tensor(s.values(chosen[p], self.vectors_against_all(p, chosen)), p, shape)
            for p, s in enumerate(self.actions)
        ]

    def __repr__(self) -> str:
        shown = self.actions[:_MOST_SHOWN]
        sizes = " × ".join("∞" if s.size is None else str(s.size) for s in shown)
        dims = ", ".join(str(s.dim) for s in shown)
        if self.players > _MOST_SHOWN:
            sizes, dims = f"{sizes} × …", f"{dims}, … of {self.players} players"
        return f"StructuredGame({self.name!r}, actions {sizes}, dimensions {dims})"

    @classmethod
    def from_embeddings(
        cls, V: ArrayLike, W: ArrayLike, V2: ArrayLike, W2: ArrayLike, name: str = "game",
        labels: Labels | None = None, player_names: Sequence[str] | None = None,
    ) -> StructuredGame:  # fmt: skip
        """u_1(i, j) = ⟨V[i], W[j]⟩ and u_2(i, j) = ⟨V2[i], W2[j]⟩; ``labels`` name the actions.

        Examples
        --------
        >>> game = StructuredGame.from_embeddings([[1.0], [2.0]], [[3.0]], [[0.0], [1.0]], [[5.0]])
        >>> game.payoffs([[1, 0]])
        array([[6., 5.]])
        """
        own = checks.matrix("V", V)
        other = checks.matrix("W", W, (None, own.shape[1])).copy()
        other2 = checks.matrix("V2", V2, (len(own), None)).copy()
        own2 = checks.matrix("W2", W2, (len(other), other2.shape[1]))
        named = _labels(labels, 2)
        sets = Vectors(own, named[0]), Vectors(own2, named[1])
        return cls(sets, (_rows(other), _rows(other2)), name, None, player_names)


def _alike(own: Points, theirs: Points) -> bool:
    largest = np.maximum(np.abs(own), np.abs(theirs)).max(initial=0.0)
    return bool((np.abs(own - theirs) <= _ROUNDING * largest).all())


def _rows(matrix: Points) -> Against:
    """The row of the other player's action."""
    return lambda others: matrix[others[0]]


def tensor(payoffs: Points, player: int, shape: Sequence[int]) -> Points:
    """Payoffs (own actions, others' joint ones) in this shape, the player's own axis in place."""
    others = [k for p, k in enumerate(shape) if p != player]
    return np.moveaxis(payoffs.reshape(shape[player], *others), 0, player)


def from_matrices(
    A: ArrayLike, B: ArrayLike, rank: int | None = None, name: str = "game",
    labels: Labels | None = None, player_names: Sequence[str] | None = None,
) -> StructuredGame:  # fmt: skip
    """The two-player game with payoffs A[i, j] and B[i, j].

    Exact in dimension min(n, n'); with ``rank``, by singular values, and the largest error of an
    entry is kept in ``errors``, to be added to gaps. ``labels`` name each player's actions.
    """
    first = checks.matrix("A", A)
    second = checks.matrix("B", B, first.shape)
    most = min(first.shape) if rank is None else checks.whole("rank", rank, 1)
    named = _labels(labels, 2)
    own, against, error = _factors(first, most, named[0])
    own2, against2, error2 = _factors(second.T, most, named[1])
    return StructuredGame((own, own2), (against, against2), name, (error, error2), player_names)


def _factors(
    matrix: Points, rank: int, labels: Sequence[str] | None
) -> tuple[Numbered, Against, float]:
    """Actions and payoff vectors of one player, and the largest error of a payoff.

    A matrix of full rank is kept as it is: on the player's own side or, which takes fewer
    dimensions, the other's.
    """
    n, m = matrix.shape
    if rank < min(n, m):
        left, values, right = np.linalg.svd(matrix, full_matrices=False)
        root = np.sqrt(values[:rank])
        own, other = left[:, :rank] * root, right[:rank].T * root
        return Vectors(own, labels), _rows(other), float(np.abs(own @ other.T - matrix).max())
    if n <= m:
        return Units(n, labels), _rows(matrix.T.copy()), 0.0
    units = Units(m)
    return Vectors(matrix, labels), lambda others: units.embed(others[0]), 0.0


def from_tensor(
    payoffs: ArrayLike, name: str = "game", labels: Labels | None = None,
    player_names: Sequence[str] | None = None,
) -> StructuredGame:  # fmt: skip
    """The game with payoffs[p, a_1, …, a_N] for player p, shape (N, n_1, …, n_N).

    ``labels`` are the names of each player's actions.
    """
    array = checks.floats("payoffs", payoffs).copy()
    if array.ndim < 3 or array.shape[0] != array.ndim - 1 or 0 in array.shape:
        checks.refuse_shape("payoffs", "(N, n_1, …, n_N) for N >= 2 players", array)

    def against(player: int) -> Against:
        own_last = np.moveaxis(array[player], player, -1)
        return lambda others: own_last[tuple(others)]

    named = _labels(labels, len(array))
    sets = [Units(n, row) for n, row in zip(array.shape[1:], named, strict=True)]
    makers = [against(p) for p in range(len(array))]
    return StructuredGame(sets, makers, name, player_names=player_names)


def _labels(labels: Labels | None, players: int) -> Labels:
    named = [None] * players if labels is None else labels
    checks.same_length("labels", named, "players", players)
    return named


def as_support(support: Support, players: int) -> NDArray[Any]:
    """Rows of joint actions as an array; points, given as tuples or rows, become tuples."""
    if isinstance(support, np.ndarray) and support.ndim <= 2:
        if support.ndim != 2 or support.shape[1] != players:
            checks.refuse_shape("support", f"(m, {players})", support)
        return support
    try:
        rows = [list(row) for row in support]
    except TypeError:
        checks.refuse("support", f"be rows of joint actions, shape (m, {players})", support)
    for row in rows:
        if len(row) != players:
            checks.refuse("support", f"have an action of each of {players} players in a row", row)
    if all(is_single(action) for row in rows for action in row):
        return np.asarray(rows).reshape(len(rows), players)
    array = np.empty((len(rows), players), dtype=object)
    for p in range(players):
        array[:, p] = column_of([_whole(row[p]) for row in rows])
    return array


def _whole(action: Action) -> Action:
    """An action that is one entry of a column: points and other rows as tuples."""
    if is_single(action):
        return action
    return tuple(map(_whole, action.tolist() if isinstance(action, np.ndarray) else action))


def is_single(value: Action) -> bool:
    """Whether this is one thing, and not a row of several."""
    return not isinstance(value, list | tuple) and np.ndim(value) == 0

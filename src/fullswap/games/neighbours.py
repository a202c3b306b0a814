"""Games of many players, whose payoffs are sums over a few of them, and games without tables.

A table of twenty players with two actions has a million entries a player. What somebody is paid
often depends on neighbours, on how many take the same road, or is quickly calculated; then the
table is never made, and neither does the solver need it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from fullswap.base import checks
from fullswap.base.protocols import Points
from fullswap.games.actions import Column, Units, Vectors
from fullswap.games.game import Against, StructuredGame

Matrix: TypeAlias = ArrayLike | sparse.sparray


def polymatrix(
    sizes: Sequence[int], pairs: Mapping[tuple[int, int], Matrix], name: str = "polymatrix game"
) -> StructuredGame:
    """Everybody plays with each neighbour, and is paid the sum: u_i = Σ_j pairs[i, j][a_i, a_j].

    ``sizes`` are the players' numbers of actions, ``pairs[i, j]`` what i is paid in the game with
    j, an array or a scipy sparse array of shape (sizes[i], sizes[j]); pairs left out pay nothing.
    Payoffs of one joint action take as many operations as there are neighbours.

    Examples
    --------
    >>> same = [[1.0, 0.0], [0.0, 1.0]]
    >>> chain = polymatrix([2, 2, 2], {(0, 1): same, (1, 2): same, (2, 1): same})
    >>> chain.payoffs([[0, 0, 1], [1, 1, 1]]).tolist()
    [[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
    """
    counts = _counts(sizes)
    if not isinstance(pairs, Mapping):
        checks.refuse("pairs", "be a dict of payoffs by (i, j)", pairs)
    known: list[list[tuple[int, Any]]] = [[] for _ in counts]
    for pair, values in pairs.items():
        if not (isinstance(pair, tuple) and len(pair) == 2 and pair[0] != pair[1]):
            checks.refuse("pairs", "be named by two different players (i, j)", pair)
        i, j = (checks.whole("a player of pairs", k, 0, len(counts) - 1) for k in pair)
        # by the neighbour's action: a row is what each own action is paid
        known[i].append((j, _rows(f"pairs[{i}, {j}]", values, (counts[i], counts[j]))))

    def against(player: int) -> Against:
        def vectors(others: list[Column]) -> Points:
            total = np.zeros((len(others[0]), counts[player]))
            for j, rows in known[player]:
                total += rows(others[j - (j > player)])
            return total

        return vectors

    makers = [against(p) for p in range(len(counts))]
    return StructuredGame([Units(k) for k in counts], makers, name)


def congestion(
    plans: Sequence[Sequence[Sequence[int]]], delays: ArrayLike, name: str = "congestion game"
) -> StructuredGame:
    """Players choose sets of roads, whose delays depend on how many take them (Rosenthal).

    ``plans[p]`` lists the plans of player p, each a list of roads from 0; ``delays[r, k − 1]`` is
    the delay on road r if k players take it, shape (roads, players). Payoffs are minus the delays.
    The game has a potential, so it has pure equilibria. A plan is embedded by its roads: payoffs
    of the own plans are −Σ delay(r, others on r + 1).

    Examples
    --------
    >>> roads = congestion([[[0], [1]]] * 3, [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]])
    >>> roads.payoffs([[0, 0, 1], [0, 0, 0]]).tolist()
    [[-2.0, -2.0, -2.0], [-3.0, -3.0, -3.0]]
    """
    players = _listed("plans", plans, "be lists of plans of at least 2 players", 2)
    table = checks.matrix("delays", delays, (None, len(players))).copy()
    roads = len(table)
    sets = []
    for p, given in enumerate(players):
        own = _listed(f"plans[{p}]", given, "be one or more plans, lists of roads", 1)
        taken = np.zeros((len(own), roads))
        for k, plan in enumerate(own):
            name_of_plan = f"plans[{p}][{k}]"
            listed = _listed(name_of_plan, plan, "be a list of roads", 0)
            if len(set(map(str, listed))) < len(listed):
                checks.refuse(name_of_plan, "have each road once", listed)
            if listed:
                taken[k, checks.indices(name_of_plan, listed, roads)] = 1.0
        labels = ["+".join(map(str, plan)) or "stay" for plan in own]
        sets.append(Vectors(taken, labels))

    def against(player: int) -> Against:
        rest = [s for k, s in enumerate(sets) if k != player]

        def vectors(others: list[Column]) -> Points:
            load = np.zeros((len(others[0]), roads), dtype=np.int64)
            for s, column in zip(rest, others, strict=True):
                load += s.embeddings[column].astype(np.int64)
            return -table[np.arange(roads), load]

        return vectors

    return StructuredGame(sets, [against(p) for p in range(len(sets))], name)


def from_sparse(A: Matrix, B: Matrix, name: str = "game") -> StructuredGame:
    """The two-player game with payoffs A[i, j] and B[i, j], scipy sparse arrays that stay sparse.

    Examples
    --------
    >>> chase = from_sparse(sparse.eye_array(1000), -sparse.eye_array(1000))
    >>> chase.payoffs([[3, 3], [3, 4]]).tolist()
    [[1.0, -1.0], [0.0, 0.0]]
    """
    own: Any = A
    other: Any = B
    shape = np.shape(own) if not sparse.issparse(own) else own.shape
    if len(shape) != 2 or 0 in shape:
        checks.refuse("A", "be a matrix", shape)
    first = _rows("A", own, shape)
    turned = other.T if sparse.issparse(other) else checks.matrix("B", other, shape).T
    second = _rows("B", turned, (shape[1], shape[0]))
    against = (lambda others: first(others[0]), lambda others: second(others[0]))
    return StructuredGame([Units(shape[0]), Units(shape[1])], against, name)


def from_function(
    sizes: Sequence[int], payoffs: Callable[[int, list[Column]], ArrayLike], name: str = "game"
) -> StructuredGame:
    """The game whose payoffs a function calculates.

    ``payoffs(player, others)`` is given the other players' actions, columns (m,) in the order of
    the players, and answers what each own action is paid, shape (m, sizes[player]). Where the own
    actions are too many to list, write an :class:`ActionSet` whose ``best`` knows the best answer.

    Examples
    --------
    >>> def crowded(player, others):      # 20 people, a bar with room for 12
    ...     there = np.sum(others, axis=0)
    ...     return np.column_stack((np.zeros(len(there)), np.where(there < 12, 1.0, -1.0)))
    >>> bar = from_function([2] * 20, crowded)
    >>> bar.payoffs([[1] * 12 + [0] * 8])[0, [0, 19]].tolist()
    [1.0, 0.0]
    """
    counts = _counts(sizes)
    if not callable(payoffs):
        checks.refuse("payoffs", "be a function of a player and the others' actions", payoffs)

    def against(player: int) -> Against:
        return lambda others: np.asarray(payoffs(player, others), dtype=float)

    makers = [against(p) for p in range(len(counts))]
    return StructuredGame([Units(k) for k in counts], makers, name)


def _listed(name: str, values: Any, rule: str, least: int) -> list[Any]:
    """The entries of a list, a tuple or an array, at least so many."""
    if not isinstance(values, Sequence | np.ndarray) or isinstance(values, str):
        checks.refuse(name, rule, values)
    listed = list(values)
    if len(listed) < least:
        checks.refuse(name, rule, values)
    return listed


def _counts(sizes: Sequence[int]) -> list[int]:
    """Numbers of actions, one a player."""
    listed = _listed("sizes", sizes, "be the numbers of actions of at least 2 players", 2)
    return [checks.whole(f"sizes[{p}]", k, 1) for p, k in enumerate(listed)]


def _rows(name: str, values: Matrix, shape: tuple[int, ...]) -> Callable[[Column], Points]:
    """Columns of a matrix of this shape, as rows of dense numbers."""
    if not sparse.issparse(values):
        turned = np.ascontiguousarray(checks.matrix(name, values, (shape[0], shape[1])).T)
        return lambda column: turned[column]
    matrix = sparse.csr_array(sparse.coo_array(values, dtype=float).T)
    if matrix.shape != (shape[1], shape[0]):
        checks.refuse_shape(name, str(tuple(shape)), values)
    checks.floats(name, matrix.data)
    return lambda column: np.asarray(matrix[np.asarray(column)].toarray())

"""Payoffs of extensive games, which are linear in each player's realisation plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from fullswap.base import checks
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.games.actions import ActionSet, Column, blocks
from fullswap.games.extensive.sequence import SequenceForm
from fullswap.games.game import Against, StructuredGame

Sequences = SequenceForm | tuple[ArrayLike, ArrayLike]
Matrix: TypeAlias = ArrayLike | sparse.sparray


def from_sequence_form(
    A: Matrix, B: Matrix, first: Sequences, second: Sequences, name: str = "game"
) -> StructuredGame:
    """The two-player game with payoffs xᵀAy and xᵀBy for realisation plans x and y.

    A and B, arrays or scipy sparse arrays (s, s'), are payoffs for pairs of sequences, chance
    counted in; ``first`` and ``second`` are each player's :class:`SequenceForm`, or its arguments
    ``(parents, information_sets)``.

    Examples
    --------
    >>> coin = ([-1, 0, 0], [-1, 0, 0])
    >>> pennies = [[0, 0, 0], [0, 1, -1], [0, -1, 1]]
    >>> from_sequence_form(pennies, np.negative(pennies), coin, coin).payoffs([[0, 1]])
    array([[-1.,  1.]])
    """
    sets = [_as_form("first", first), _as_form("second", second)]
    shape = (sets[0].dim, sets[1].dim)
    own, other = _as_matrix("A", A, shape), _as_matrix("B", B, shape)
    rows, columns = (abs(own) + abs(other)).nonzero()
    payoffs = np.column_stack([np.ravel(matrix[rows, columns]) for matrix in (own, other)])
    return StructuredGame(sets, payoff_maps(sets, np.column_stack((rows, columns)), payoffs), name)


def payoff_maps(sets: Sequence[ActionSet], sequences: Indices, payoffs: Points) -> list[Against]:
    """For each player: the others' actions to the payoff of each own sequence.

    Player i is paid Σ_l payoffs[l, i] Π_p x_p[sequences[l, p]] for plans x_p; both arrays (l, N).
    """
    groups = _others_alike(sequences)
    return [_against(i, sets, sequences, payoffs[:, i], *groups[i]) for i in range(len(sets))]


def _others_alike(sequences: Indices) -> list[tuple[Indices, Indices]]:
    """For each player: leaves that the others tell apart, (g,), and which of them each is, (l,).

    Groups of all but one column follow from ranks of the columns before and of those after, which
    are found once: work in proportion to the table, not to its square for many players.
    """
    leaves, players = sequences.shape
    after = np.zeros((players + 1, leaves), dtype=np.int64)
    for i in range(players - 1, 0, -1):
        after[i] = _ranks(sequences[:, i], after[i + 1])
    before, groups = np.zeros(leaves, dtype=np.int64), []
    for i in range(players):
        _, first, where = np.unique(
            _ranks(before, after[i + 1]), return_index=True, return_inverse=True
        )
        groups.append((first, where.ravel()))
        before = _ranks(before, sequences[:, i])
    return groups


def _ranks(major: Indices, minor: Indices) -> Indices:
    """Numbers 0, 1, … of pairs in their order; equal pairs have one number."""
    keys = major * (int(minor.max(initial=0)) + 1) + minor
    return np.asarray(np.unique(keys, return_inverse=True)[1].ravel())


def _against(
    player: int, sets: Sequence[ActionSet], sequences: Indices, payoffs: Vector,
    first: Indices, where: Indices,
) -> Against:  # fmt: skip
    # Leaves that the others tell apart alike share one product of their plans.
    shape = (len(first), sets[player].dim)
    pays = sparse.coo_array((payoffs, (where, sequences[:, player])), shape=shape).tocsr()
    others = [k for k in range(len(sets)) if k != player]
    # who never moves has one plan, of the empty sequence alone: a factor of 1
    movers = [(place, k) for place, k in enumerate(others) if sets[k].dim > 1]

    def against(columns: list[Column]) -> Points:
        vectors = np.empty((len(columns[0]), sets[player].dim))
        for part in blocks(len(vectors), len(first)):
            played = np.ones((len(vectors[part]), len(first))) if not movers else None
            for place, k in movers:
                plans = sets[k].embed(columns[place][part])[:, sequences[first, k]]
                played = plans if played is None else np.multiply(played, plans, out=played)
            vectors[part] = played @ pays
        return vectors

    return against


def _as_form(name: str, sequences: Sequences) -> SequenceForm:
    if isinstance(sequences, tuple) and len(sequences) == 2:
        return SequenceForm(*sequences)
    if not isinstance(sequences, SequenceForm):
        checks.refuse(name, "be a SequenceForm or (parents, information_sets)", sequences)
    return sequences


def _as_matrix(name: str, values: Matrix, shape: tuple[int, int]) -> sparse.csr_array:
    if not sparse.issparse(values):
        return sparse.csr_array(checks.matrix(name, values, shape))
    matrix = sparse.csr_array(values, dtype=float)
    if matrix.shape != shape:
        checks.refuse_shape(name, str(shape), matrix)
    checks.floats(name, matrix.data)
    return matrix

"""Extensive games with perfect recall: plans over sequences instead of lists of strategies.

A sequence is what a player has done so far on the way to a node; with perfect recall it ends in
one action of one information set, which extends one parent sequence. A pure strategy is embedded
as its realisation plan, 1 for each sequence it plays and 0 elsewhere: as many coordinates as the
tree has sequences, however many strategies there are. Payoffs are linear in the plan, and the
best plan is found from the last information sets back to the first.

Strategies that differ only where they never get are one action here (reduced strategies).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from fullswap.base.protocols import Indices, Points, Vector
from fullswap.games.actions import ActionSet, Column, as_indices
from fullswap.games.game import Against, StructuredGame

_MOST = 2**62
"""Strategies are numbered in advance if they are fewer."""
_BLOCK = 4_000_000
"""Entries of a table of products that are formed at once."""


@dataclass(frozen=True)
class _Level:
    """Information sets with equally many own moves before them; none leads to another.

    Symbols: h information sets with k sequences in all. ``sets``, ``starts``, ``parents`` (h,);
    ``members``, ``owners`` (k,): sequences set by set, and the place of their set in the level.
    """

    sets: Indices
    starts: Indices
    parents: Indices
    members: Indices
    owners: Indices


class SequenceForm(ActionSet):
    """Reduced strategies of a player with perfect recall, embedded as realisation plans.

    Sequence 0 is empty. Strategies are numbered without gaps, from 0 to ``size`` − 1; if they are
    2^62 or more, ``size`` is None and numbers are handed out in the order of discovery.

    Parameters
    ----------
    parents : array of int, shape (s,)
        For each sequence, the one it extends, which must come before it; −1 for sequence 0.
    information_sets : array of int, shape (s,)
        For each sequence, the information set of its last action: 0 … h − 1; −1 for sequence 0.
    moves : sequence of str, optional
        For each sequence, the name of its last action (that of sequence 0 does not matter).
    places : sequence of str, optional
        The name of each information set.

    Examples
    --------
    >>> plans = SequenceForm([-1, 0, 0, 2, 2], [-1, 0, 0, 1, 1], ["", "out", "in", "hit", "run"])
    >>> plans.size, plans.embed(np.array([2])).tolist(), plans.describe(2)
    (3, [[1.0, 0.0, 1.0, 0.0, 1.0]], 'in at information set 1, run at information set 2')
    >>> plans.best(np.array([[0.0, 1.0, 0.0, 3.0, 2.0]]))
    (array([1]), array([3.]))
    """

    def __init__(
        self,
        parents: Any,
        information_sets: Any,
        moves: Sequence[str] | None = None,
        places: Sequence[str] | None = None,
    ) -> None:
        self.parents, self.information_sets = _checked(parents, information_sets)
        self.dim = len(self.parents)
        self._sets = int(self.information_sets.max()) + 1
        self.moves = _names("moves", moves, self.dim, [str(k) for k in range(self.dim)])
        unnamed = [f"information set {h + 1}" for h in range(self._sets)]
        self.places = _names("places", places, self._sets, unnamed)
        self._levels = _levels(self.parents, self.information_sets)
        self._count()
        self._ids: dict[bytes, int] = {}
        self._found: list[Indices] = []

    def _count(self) -> None:
        """Numbers of reduced strategies, from the last information sets back.

        Below a sequence the choices in its information sets multiply; in an information set the
        strategies below its actions add up. A strategy's number is read in this mixed radix.
        """
        below = [1] * self.dim  # Python's numbers, as products may need more than 64 bits
        ways, strides, offsets = [0] * self._sets, [1] * self._sets, [0] * self.dim
        for level in reversed(self._levels):
            for member in level.members:
                h = self.information_sets[member]
                offsets[member] = ways[h]
                ways[h] += below[member]
            for h, parent in zip(level.sets, level.parents, strict=True):
                strides[h] = below[parent]
                below[parent] = min(below[parent] * ways[h], _MOST)
        self.size = below[0] if below[0] < _MOST else None
        if self.size is not None:
            self._ways = np.array(ways, dtype=np.int64)
            self._strides = np.array(strides, dtype=np.int64)
            self._offsets = np.array(offsets, dtype=np.int64)

    def best(self, directions: Points) -> tuple[Column, Vector]:
        """By dynamic programming, all directions at once."""
        value = np.array(directions, dtype=float).T.copy()
        chosen = np.full((self._sets, value.shape[1]), -1, dtype=np.int64)
        for level in reversed(self._levels):
            here = value[level.members]
            top = np.maximum.reduceat(here, level.starts, axis=0)
            width = len(level.members)
            places = np.where(here == top[level.owners], np.arange(width)[:, None], width)
            chosen[level.sets] = level.members[np.minimum.reduceat(places, level.starts, axis=0)]
            np.add.at(value, level.parents, top)
        return self._number(chosen), value[0].copy()

    def embed(self, actions: Column) -> Points:
        """Realisation plans, shape (m, dim)."""
        chosen = self.choices(actions)
        plans = np.zeros((chosen.shape[0], self.dim))
        plans[:, 0] = 1.0
        rows, sets = np.nonzero(chosen >= 0)
        plans[rows, chosen[rows, sets]] = 1.0
        return plans

    def choices(self, actions: Column) -> Indices:
        """The sequence chosen in each information set, −1 where not reached, shape (m, h)."""
        numbers = np.asarray(actions, dtype=np.int64)
        if self.size is None:
            none = np.empty((0, self._sets), dtype=np.int64)
            return np.array([self._found[a] for a in numbers]) if numbers.size else none
        rest = np.full((self.dim, len(numbers)), -1, dtype=np.int64)
        rest[0] = numbers
        chosen = np.full((self._sets, len(numbers)), -1, dtype=np.int64)
        for level in self._levels:
            digits = rest[level.parents] // self._strides[level.sets, None]
            digits %= self._ways[level.sets, None]
            passed = self._offsets[level.members, None] <= digits[level.owners]
            steps = np.add.reduceat(passed.astype(np.int64), level.starts, axis=0) - 1
            taken = level.members[level.starts[:, None] + steps]
            reached = rest[level.parents] >= 0
            chosen[level.sets] = np.where(reached, taken, -1)
            _, columns = np.nonzero(reached)
            sequences = taken[reached]
            rest[sequences, columns] = digits[reached] - self._offsets[sequences]
        return chosen.T.copy()

    def _number(self, chosen: Indices) -> Indices:
        """Numbers of strategies from choices (h, m) in all information sets, reached or not."""
        if self.size is None:
            return self._discovered(chosen)
        rank = np.zeros((self.dim, chosen.shape[1]), dtype=np.int64)
        columns = np.arange(chosen.shape[1])
        for level in reversed(self._levels):
            taken = chosen[level.sets]
            digits = self._offsets[taken] + rank[taken, columns]
            np.add.at(rank, level.parents, self._strides[level.sets, None] * digits)
        return rank[0].copy()

    def _discovered(self, chosen: Indices) -> Indices:
        """Numbers in the order in which strategies turn up."""
        reached = np.zeros((self.dim, chosen.shape[1]), dtype=bool)
        reached[0] = True
        columns = np.arange(chosen.shape[1])
        for level in self._levels:
            taken, on = chosen[level.sets], reached[level.parents]
            reached[taken, columns] = on
            chosen[level.sets] = np.where(on, taken, -1)
        numbers = np.empty(chosen.shape[1], dtype=np.int64)
        for k, row in enumerate(np.ascontiguousarray(chosen.T)):
            numbers[k] = self._ids.setdefault(row.tobytes(), len(self._found))
            if numbers[k] == len(self._found):
                self._found.append(row.copy())
        return numbers

    def check(self, actions: Any, name: str) -> Column:
        """Whole numbers from 0 to size − 1, or those handed out so far."""
        column = as_indices(name, actions, self.size)
        if self.size is None and column.size:
            if column.min() < 0 or column.max() >= len(self._found):
                raise ValueError(
                    f"{name} must be numbers of strategies that best() or decompose() gave, "
                    f"{len(self._found)} so far, got {column.min()} to {column.max()}"
                )
        return column

    def describe(self, action: Any) -> str:
        """The action taken in each information set that the strategy reaches."""
        chosen = self.choices(np.array([int(action)]))[0]
        told = [f"{self.moves[s]} at {self.places[h]}" for h, s in enumerate(chosen) if s >= 0]
        return ", ".join(told) or "nothing to choose"

    def decompose(self, point: Any, tolerance: float = 1e-8) -> tuple[Column, Vector]:
        """Strategies and weights whose mean plan is a given one.

        The plan gives each sequence a piece of [0, 1], those of an information set side by side
        in the piece of their parent. Any u ∈ [0, 1] picks a strategy, and that changes only where
        two pieces meet: at most s − h strategies for s sequences and h information sets.

        Parameters
        ----------
        point : array, shape (dim,)
            A realisation plan: first entry 1, none negative, the actions of an information set
            adding up to their parent, each up to ``tolerance``.

        Examples
        --------
        >>> plans = SequenceForm([-1, 0, 0, 2, 2], [-1, 0, 0, 1, 1])
        >>> actions, weights = plans.decompose([1.0, 0.25, 0.75, 0.5, 0.25])
        >>> actions.tolist(), weights.tolist()
        ([0, 1, 2], [0.25, 0.5, 0.25])
        """
        plan = self._plan(point, tolerance)
        low, high = np.zeros(self.dim), np.ones(self.dim)
        cuts = [np.array([0.0, 1.0])]
        for level in self._levels:
            for members in np.split(level.members, level.starts[1:]):
                left, right = low[self.parents[members[0]]], high[self.parents[members[0]]]
                until = np.append(0.0, np.cumsum(plan[members]))
                edges = left + (right - left) * until / (until[-1] or 1.0)
                edges[-1] = right
                low[members], high[members] = edges[:-1], edges[1:]
                cuts.append(edges[1:-1])
        edges = np.unique(np.concatenate(cuts))
        weights = np.diff(edges)
        keep = weights > 1e-15  # left over by rounding
        middles = (edges[:-1] + edges[1:])[keep] / 2
        weights = weights[keep] / weights[keep].sum()
        chosen = np.empty((self._sets, len(middles)), dtype=np.int64)
        for level in self._levels:
            inside = (low[level.members, None] <= middles) & (middles < high[level.members, None])
            place = np.where(inside, np.arange(len(inside))[:, None], -1)
            taken = np.maximum.reduceat(place, level.starts, axis=0)
            # Not reached: any action will do, numbers do not depend on it.
            chosen[level.sets] = level.members[np.maximum(taken, level.starts[:, None])]
        return self._number(chosen), weights

    def _plan(self, point: Any, tolerance: float) -> Vector:
        plan = np.array(point, dtype=float)
        if plan.shape != (self.dim,) or not np.isfinite(plan).all():
            raise ValueError(f"point must be finite numbers of shape ({self.dim},)")
        if abs(plan[0] - 1) > tolerance:
            raise ValueError(f"point must give the empty sequence 1, got {plan[0]:.9g}")
        if plan.min() < -tolerance:
            k = int(plan.argmin())
            raise ValueError(f"point must have no negative entry, got {plan[k]:.9g} at {k}")
        for level in self._levels:
            sums = np.add.reduceat(plan[level.members], level.starts)
            wrong = np.abs(sums - plan[level.parents])
            if wrong.max() > tolerance:
                k = int(wrong.argmax())
                raise ValueError(
                    f"point must add up to {plan[level.parents[k]]:.9g} over information set "
                    f"{level.sets[k]}, as its parent sequence has, got {sums[k]:.9g}"
                )
        return np.maximum(plan, 0.0)


def from_sequence_form(
    A: Any, B: Any, first: Any, second: Any, name: str = "game"
) -> StructuredGame:
    """The two-player game with payoffs xᵀAy and xᵀBy for realisation plans x and y.

    Parameters
    ----------
    A, B : array or scipy sparse array, shape (s, s')
        Payoffs of the two players for pairs of sequences, chance counted in.
    first, second : SequenceForm or pair of arrays
        For each player, sequences as :class:`SequenceForm`, or its ``(parents,
        information_sets)``: for each sequence the one it extends, and the information set of its
        last action; both −1 for the empty sequence 0.

    Examples
    --------
    >>> coin = ([-1, 0, 0], [-1, 0, 0])
    >>> pennies = [[0, 0, 0], [0, 1, -1], [0, -1, 1]]
    >>> from_sequence_form(pennies, np.negative(pennies), coin, coin).payoffs([[0, 1]])
    array([[-1.,  1.]])
    """
    sets = []
    for label, given in (("first", first), ("second", second)):
        if isinstance(given, SequenceForm):
            sets.append(given)
        elif isinstance(given, tuple) and len(given) == 2:
            sets.append(SequenceForm(*given))
        else:
            raise ValueError(f"{label} must be a SequenceForm or (parents, information_sets)")
    shape = (sets[0].dim, sets[1].dim)
    own, other = _matrix("A", A, shape), _matrix("B", B, shape)
    both = abs(own) + abs(other)
    rows, columns = both.nonzero()
    payoffs = np.column_stack(
        [np.asarray(matrix[rows, columns]).ravel() for matrix in (own, other)]
    )
    return StructuredGame(sets, payoff_maps(sets, np.column_stack((rows, columns)), payoffs), name)


def payoff_maps(sets: Sequence[ActionSet], sequences: Indices, payoffs: Points) -> list[Against]:
    """For each player: the others' actions to the payoff of each own sequence.

    Player i is paid Σ_l payoffs[l, i] Π_p x_p[sequences[l, p]] when players follow plans x_p.

    Symbols: sequences (l, N), payoffs (l, N) for l leaves and N players.
    """
    return [_against(i, sets, sequences, payoffs[:, i]) for i in range(len(sets))]


def _against(
    player: int, sets: Sequence[ActionSet], sequences: Indices, payoffs: Vector
) -> Against:
    own = sequences[:, player]
    others = [s for k, s in enumerate(sets) if k != player]
    # Leaves that the others tell apart alike share one product of their plans.
    groups, where = np.unique(np.delete(sequences, player, axis=1), axis=0, return_inverse=True)
    shape = (len(groups), sets[player].dim)
    pays = sparse.coo_array((payoffs, (where.ravel(), own)), shape=shape).tocsr()

    def against(columns: list[Column]) -> Points:
        found = np.empty((len(columns[0]), sets[player].dim))
        width = max(1, _BLOCK // max(1, len(groups)))
        for start in range(0, len(found), width):
            part = slice(start, start + width)
            plans = [s.embed(c[part]) for s, c in zip(others, columns, strict=True)]
            played = plans[0][:, groups[:, 0]]
            for k, plan in enumerate(plans[1:], 1):
                played *= plan[:, groups[:, k]]
            found[part] = played @ pays
        return found

    return against


def _checked(parents: Any, information_sets: Any) -> tuple[Indices, Indices]:
    given = {"parents": parents, "information_sets": information_sets}
    arrays = {name: np.asarray(values) for name, values in given.items()}
    for name, array in arrays.items():
        if array.ndim != 1 or not array.size or array.dtype.kind not in "iu" or array[0] != -1:
            raise ValueError(f"{name} must be whole numbers of shape (s,), the first -1")
    above, sets = (array.astype(np.int64) for array in arrays.values())
    if above.shape != sets.shape:
        raise ValueError(
            "parents and information_sets must have one entry for each sequence, "
            f"got {len(above)} and {len(sets)}"
        )
    wrong = np.flatnonzero((above[1:] < 0) | (above[1:] >= np.arange(1, len(above)))) + 1
    if wrong.size:
        k = wrong[0]
        raise ValueError(f"parents must come before their sequences, got {above[k]} for {k}")
    used = np.unique(sets[1:])
    if not np.array_equal(used, np.arange(len(used))):
        raise ValueError("information_sets must be numbered 0, 1, 2, … without gaps")
    first = np.full(len(used), -1)
    for k in range(1, len(sets)):
        if first[sets[k]] < 0:
            first[sets[k]] = above[k]
        elif first[sets[k]] != above[k]:
            raise ValueError(
                f"parents must be the same in all of an information set (perfect recall), "
                f"got {first[sets[k]]} and {above[k]} in set {sets[k]}"
            )
    return above, sets


def _levels(parents: Indices, information_sets: Indices) -> list[_Level]:
    depth = np.zeros(len(parents), dtype=np.int64)
    for k in range(1, len(parents)):
        depth[k] = depth[parents[k]] + 1
    order = np.lexsort((information_sets, depth))
    cuts = np.flatnonzero(np.diff(depth[order])) + 1
    levels = []
    for members in np.split(order, cuts)[1:]:
        sets, starts, owners = np.unique(
            information_sets[members], return_index=True, return_inverse=True
        )
        levels.append(_Level(sets, starts, parents[members[starts]], members, owners.ravel()))
    return levels


def _names(
    name: str, given: Sequence[str] | None, size: int, otherwise: list[str]
) -> tuple[str, ...]:
    if given is None:
        return tuple(otherwise)
    if len(given) != size:
        raise ValueError(f"{name} must be {size} names, got {len(given)}")
    return tuple(str(text) for text in given)


def _matrix(name: str, values: Any, shape: tuple[int, int]) -> Any:
    try:
        matrix = sparse.csr_array(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers of shape {shape}") from None
    if matrix.shape != shape:
        raise ValueError(
            f"{name} must have shape {shape}, one entry for each pair of sequences, "
            f"got {matrix.shape}"
        )
    if not np.isfinite(matrix.data).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity")
    return matrix

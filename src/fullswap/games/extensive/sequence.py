"""Extensive games with perfect recall: plans over sequences instead of lists of strategies.

A sequence is what a player has done so far on the way to a node; with perfect recall it ends in
one action of one information set, which extends one parent sequence. A pure strategy is embedded
as its realisation plan, 1 for each sequence it plays and 0 elsewhere; payoffs are linear in it.
Strategies that differ only where they never get are one action here (reduced strategies).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fullswap.base import checks
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.games.actions import MOST_NUMBERED, Action, ActionSet, Column
from fullswap.games.names import told_apart

_NEGLIGIBLE = 1e-15  # weights up to this are left over by rounding


class _Level(NamedTuple):
    """Information sets with equally many own moves before them; none leads to another."""

    sets: Indices  # (h,)
    starts: Indices  # (h,), where each begins among the members
    parents: Indices  # (h,)
    members: Indices  # (k,), sequences set by set
    owners: Indices  # (k,), the place of their set in the level


class SequenceForm(ActionSet):
    """Reduced strategies of a player with perfect recall, embedded as realisation plans.

    Sequence 0 is empty. Strategies are numbered without gaps, from 0 to ``size`` − 1; if they are
    2^62 or more, ``size`` is None and numbers are handed out in the order of discovery.

    For each of s sequences, ``parents`` (s,) is the one it extends, which must come before it,
    ``information_sets`` (s,) that of its last action, 0 … h − 1 (both −1 for sequence 0), and
    ``moves`` names this action; ``places`` names the h information sets. Two actions of one name in
    an information set, and two information sets of one name, get numbers behind it.

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
        parents: ArrayLike,
        information_sets: ArrayLike,
        moves: Sequence[str] | None = None,
        places: Sequence[str] | None = None,
    ) -> None:
        self.parents, self.information_sets = _as_sequences(parents, information_sets)
        self.dim = len(self.parents)
        self._sets = int(self.information_sets.max()) + 1
        if moves is None:
            moves = [str(k) for k in range(self.dim)]
        if places is None:
            places = [f"information set {h + 1}" for h in range(self._sets)]
        checks.same_length("moves", moves, "parents", self.dim)
        checks.same_length("places", places, "the information sets", self._sets)
        self.moves = _moves_apart([str(move) for move in moves], self.information_sets)
        self.places = told_apart([str(place) for place in places])
        self._levels = _levels_of(self.parents, self.information_sets)
        self._count()
        self._ids: dict[bytes, int] = {}
        self._discovered: list[Indices] = []  # choices of strategies, by their number

    def _count(self) -> None:
        """Numbers of reduced strategies, from the last information sets back, a mixed radix.

        Below a sequence the choices in its information sets multiply; in an information set the
        strategies below its actions add up.
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
                below[parent] = min(below[parent] * ways[h], MOST_NUMBERED)
        self.size = below[0] if below[0] < MOST_NUMBERED else None
        if self.size is not None:
            radix = (np.array(row, dtype=np.int64) for row in (ways, strides, offsets))
            self._ways, self._strides, self._offsets = radix

    def best(self, directions: Points) -> tuple[Indices, Vector]:
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

    def within_sets(self, directions: Points) -> Points:
        """The best that a plan earns from the information set on where each sequence ends.

        By direction (m, dim), shape (dim, m); the empty sequence, which ends in none, has 0.
        """
        value = np.array(directions, dtype=float).T.copy()
        within = np.zeros_like(value)
        for level in reversed(self._levels):
            top = np.maximum.reduceat(value[level.members], level.starts, axis=0)
            within[level.members] = top[level.owners]
            np.add.at(value, level.parents, top)
        return within

    def backwards(self) -> Iterator[tuple[Indices, Indices]]:
        """Sequences with equally many moves, those with most first, and what each extends."""
        for level in reversed(self._levels):
            yield level.members, self.parents[level.members]

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
            rows = [self._discovered[a] for a in numbers]
            return np.array(rows, dtype=np.int64).reshape(len(rows), self._sets)
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
            return self._discover(chosen)
        rank = np.zeros((self.dim, chosen.shape[1]), dtype=np.int64)
        for level in reversed(self._levels):
            taken = chosen[level.sets]
            digits = self._offsets[taken] + np.take_along_axis(rank, taken, axis=0)
            np.add.at(rank, level.parents, self._strides[level.sets, None] * digits)
        return np.array(rank[0])

    def _discover(self, chosen: Indices) -> Indices:
        """Numbers in the order in which strategies turn up."""
        reached = np.zeros((self.dim, chosen.shape[1]), dtype=bool)
        reached[0] = True
        for level in self._levels:
            taken, on = chosen[level.sets], reached[level.parents]
            np.put_along_axis(reached, taken, on, axis=0)
            chosen[level.sets] = np.where(on, taken, -1)
        numbers = np.empty(chosen.shape[1], dtype=np.int64)
        for k, row in enumerate(np.ascontiguousarray(chosen.T)):
            numbers[k] = self._ids.setdefault(row.tobytes(), len(self._discovered))
            if numbers[k] == len(self._discovered):
                self._discovered.append(row.copy())
        return numbers

    def check(self, actions: ArrayLike, name: str) -> Column:
        """Whole numbers from 0 to size − 1, or those handed out so far."""
        if self.size is not None:
            return super().check(actions, name)
        column = checks.indices(name, actions, None)
        known = len(self._discovered)
        rule = f"be numbers of strategies that best() or decompose() gave, {known} so far"
        checks.refuse_at(name, rule, column, column >= known)
        return column

    def describe(self, action: Action) -> str:
        """The action taken in each information set that the strategy reaches."""
        chosen = self.choices(np.array([int(action)]))[0]
        acts = [f"{self.moves[s]} at {self.places[h]}" for h, s in enumerate(chosen) if s >= 0]
        return ", ".join(acts) or "nothing to choose"

    def decompose(self, point: ArrayLike, tolerance: float = 1e-8) -> tuple[Column, Vector]:
        """Strategies and weights whose mean plan is a given one.

        The plan gives each sequence a piece of [0, 1], those of an information set side by side
        in the piece of their parent. Any u ∈ [0, 1] picks a strategy, and that changes only where
        two pieces meet: at most s − h strategies for s sequences and h information sets. Up to
        ``tolerance``, the first entry is 1, none is negative, and the actions of an information
        set add up to their parent.

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
        used = weights > _NEGLIGIBLE
        middles = (edges[:-1] + edges[1:])[used] / 2
        weights = weights[used] / weights[used].sum()
        chosen = np.empty((self._sets, len(middles)), dtype=np.int64)
        for level in self._levels:
            inside = (low[level.members, None] <= middles) & (middles < high[level.members, None])
            place = np.where(inside, np.arange(len(inside))[:, None], -1)
            taken = np.maximum.reduceat(place, level.starts, axis=0)
            # Not reached: any action will do, numbers do not depend on it.
            chosen[level.sets] = level.members[np.maximum(taken, level.starts[:, None])]
        return self._number(chosen), weights

    def _plan(self, point: ArrayLike, tolerance: float) -> Vector:
        plan = checks.vector("point", point, self.dim)
        if abs(plan[0] - 1) > tolerance:
            checks.refuse("point", "give the empty sequence 1", float(plan[0]))
        checks.refuse_at("point", "have no negative entry", plan, plan < -tolerance)
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


def _as_sequences(parents: ArrayLike, information_sets: ArrayLike) -> tuple[Indices, Indices]:
    """Both checked: perfect recall, parents before their children, sets numbered without gaps."""
    above = _from_minus_one("parents", parents)
    sets = _from_minus_one("information_sets", information_sets)
    checks.same_length("information_sets", sets, "parents", len(above))
    late = (above < 0) | (above >= np.arange(len(above)))
    late[0] = False  # the empty sequence extends none
    checks.refuse_at("parents", "come before their sequences", above, late)
    used, first = np.unique(sets[1:], return_index=True)
    if not np.array_equal(used, np.arange(len(used))):
        checks.refuse("information_sets", "be numbered 0, 1, 2, … without gaps", used.tolist())
    expected = np.append(-1, above[1:][first])[sets + 1]
    rule = "be the same in all of an information set (perfect recall)"
    checks.refuse_at("parents", rule, above, above != expected)
    return above, sets


def _from_minus_one(name: str, values: ArrayLike) -> Indices:
    """Whole numbers of shape (s,), of which the first, that of the empty sequence, is −1."""
    array = checks.numbers(name, values)
    if array.ndim != 1 or not array.size:
        checks.refuse_shape(name, "(s,) with s >= 1", array)
    if array.dtype.kind not in "iu" or array[0] != -1:
        checks.refuse(name, "be whole numbers, the first of them -1", array.tolist())
    return array.astype(np.int64)


def _moves_apart(moves: list[str], information_sets: Indices) -> tuple[str, ...]:
    """Names of moves, those of an information set told apart."""
    members: dict[int, list[int]] = {}
    for sequence, where in enumerate(information_sets.tolist()):
        members.setdefault(where, []).append(sequence)
    for own in members.values():
        for sequence, name in zip(own, told_apart([moves[s] for s in own]), strict=True):
            moves[sequence] = name
    return tuple(moves)


def _levels_of(parents: Indices, information_sets: Indices) -> list[_Level]:
    """All information sets, those with fewer own moves before them first."""
    depth = [0] * len(parents)
    for k, parent in enumerate(parents[1:].tolist(), 1):
        depth[k] = depth[parent] + 1
    depths = np.array(depth)
    order = np.lexsort((information_sets, depths))[1:]  # without the empty sequence
    sets, here = information_sets[order], depths[order]
    opens = np.flatnonzero(np.diff(sets, prepend=-1))  # where each information set begins
    cuts = np.append(np.flatnonzero(np.diff(here, prepend=0)), len(order))  # and each level
    within = np.searchsorted(opens, cuts)
    owners = np.repeat(np.arange(len(opens)), np.diff(np.append(opens, len(order))))
    levels = []
    for k, (left, right) in enumerate(pairwise(cuts.tolist())):
        members, starts = order[left:right], opens[within[k] : within[k + 1]]
        above = parents[order[starts]]
        places = owners[left:right] - within[k]
        levels.append(_Level(sets[starts], starts - left, above, members, places))
    return levels

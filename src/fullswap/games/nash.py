"""Nash equilibria of two players by complementary pivoting (Lemke and Howson).

A Nash equilibrium is a correlated one in which recommendations are independent: its product of
mixed actions has the gap of the larger of two regrets. Paths are followed a few pivots at a time,
so that many of them, and other methods, can take turns.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fullswap.base.protocols import Points, Vector

_PERTURBED = 1e-8  # how far right-hand sides differ from 1, so that no two rows tie
# In order: as if every probability could be a little below 0, the first ones most, and numbers at
# random for what ties even so. Where actions have an order, such as bids, paths are then short.
_ORDERED, _REST = 1e-5, 1e-13
_ROOM = 16  # actions that a path has room for at first
_QUICK = 0.8  # how long a step of a sum of columns takes, next to other operations
_REFRESHED = 100  # pivots after which inverses are calculated anew


class _Polytope:
    """{z ≥ 0, M z ≤ b}, at a vertex; see ``kernels.pivoting``."""

    def __init__(self, columns: Points, right: Vector) -> None:
        self.columns, self._right = columns, right
        variables, rows = columns.shape
        self.basic, self.tight = np.full(variables, -1), np.full(rows, -1)
        self.room = min(_ROOM, min(variables, rows)) + 2
        self.members = np.zeros((2, self.room), dtype=np.int64)
        self.inverse, self.values = np.zeros((self.room, self.room)), np.zeros(self.room)
        self.slack = right.copy()

    @property
    def arrays(self) -> tuple[Points, ...]:
        return (
            self.columns, self.basic, self.tight, self.members, self.inverse, self.values,
            self.slack,
        )  # fmt: skip

    def widen(self) -> None:
        room = 2 * self.room
        members, inverse = np.zeros((2, room), dtype=np.int64), np.zeros((room, room))
        members[:, : self.room] = self.members
        inverse[: self.room, : self.room] = self.inverse
        self.values = np.concatenate((self.values, np.zeros(room - self.room)))
        self.members, self.inverse, self.room = members, inverse, room

    def refresh(self, s: int) -> bool:
        """Inverse, values and slacks from scratch, without the errors of many pivots."""
        from fullswap.kernels.pivoting import invert

        positive, rows = self.members[0, :s], self.members[1, :s]
        matrix = np.ascontiguousarray(self.columns[np.ix_(positive, rows)].T)
        if not invert(matrix, self.inverse, s):
            return False
        self.values[:s] = self.inverse[:s, :s] @ self._right[rows]
        self.slack[:] = self._right - self.values[:s] @ self.columns[positive]
        self.slack[rows] = 0.0
        return True

    def mixed(self, s: int) -> Vector:
        """Probabilities, for right-hand sides that are 1."""
        positive, rows = self.members[0, :s], self.members[1, :s]
        matrix, inverse = self.columns[np.ix_(positive, rows)].T, self.inverse[:s, :s]
        values = inverse @ np.ones(s)
        values += inverse @ (1 - matrix @ values)  # what pivots lost by rounding
        played = np.zeros(len(self.columns))
        played[positive] = np.maximum(values, 0.0)
        return np.asarray(played / played.sum())


class Paths:
    """Paths of one game, payoffs (n, n') of both players, by the label that each drops first."""

    def __init__(self, tables: Sequence[Points]) -> None:
        first, second = (_scaled(table) for table in tables)
        # variables of the first polytope are the first player's actions, rows the second's
        self._columns = np.ascontiguousarray(second), np.ascontiguousarray(first.T)
        rng = np.random.default_rng(0)  # any numbers will do, the same ones each time
        drawn = [rng.random(columns.shape[1]) for columns in self._columns]
        self._right = [np.asarray(1 + _PERTURBED * numbers) for numbers in drawn]
        self._ordered: list[Vector] = []
        for columns, numbers in zip(self._columns, drawn, strict=True):
            falling = np.linspace(1, 0, len(columns), endpoint=False) / len(columns)
            self._ordered.append(1 + _ORDERED * (falling @ columns) + _REST * numbers)
        self.labels = sum(first.shape)

    def start(self, label: int, ordered: bool = False) -> Path:
        """A path from the empty vertex that drops this label, 0 … n + n' − 1.

        Ties are broken at random, or by the order of the actions.
        """
        right = self._ordered if ordered else self._right
        pairs = zip(self._columns, right, strict=True)
        return Path([_Polytope(columns, numbers) for columns, numbers in pairs], label)


class Path:
    """One path, at some vertex."""

    def __init__(self, polytopes: list[_Polytope], label: int) -> None:
        self._polytopes = polytopes
        count = len(polytopes[0].columns)
        own = 0 if label < count else 1
        self._state = np.array([0, 0, own, label - own * count, 0, label, 0], dtype=np.int64)
        self.done = self.failed = False

    @property
    def pivots(self) -> int:
        """How many so far."""
        return int(self._state[6])

    @property
    def _work(self) -> float:
        """Operations of the next pivot, about; sums of columns are quick."""
        sizes = self._state[:2].tolist()
        pairs = zip(self._polytopes, sizes, strict=True)
        work: float = sum((s + 1) * (len(p.slack) + 2 * s) + len(p.slack) for p, s in pairs)
        return _QUICK * work / 2

    def advance(self, pivots: int) -> float:
        """So many pivots at most; the path may end in an equilibrium (``done``) or fail.

        How many operations that took, about.
        """
        from fullswap.kernels import pivoting

        left, start, each = pivots, self.pivots, self._work
        while left > 0 and not (self.done or self.failed):
            before = self.pivots
            first, second = self._polytopes
            # a fresh inverse takes s times as long as a pivot
            most = min(left, max(_REFRESHED, int(self._state[:2].max())))
            end = pivoting.follow_path(*first.arrays, *second.arrays, self._state, most)
            left -= self.pivots - before
            self.done, self.failed = end == pivoting.DONE, end == pivoting.RAY
            if end == pivoting.FULL:
                for polytope, s in zip(self._polytopes, self._state[:2], strict=True):
                    if s + 1 >= polytope.room:
                        polytope.widen()
            elif end == pivoting.CAPPED:
                self._refresh()
        return max(each, self._work) * (self.pivots - start)

    def _refresh(self) -> None:
        pairs = zip(self._polytopes, self._state[:2].tolist(), strict=True)
        self.failed = not all(polytope.refresh(s) for polytope, s in pairs)

    def equilibrium(self) -> tuple[Vector, Vector] | None:
        """Mixed actions of both players where the path ended; None if rounding spoiled them."""
        pairs = zip(self._polytopes, self._state[:2].tolist(), strict=True)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            first, second = (polytope.mixed(s) for polytope, s in pairs)
        return (first, second) if np.isfinite(first).all() and np.isfinite(second).all() else None


def _scaled(table: Points) -> Points:
    """Payoffs in [1, 2]: equilibria do not depend on units."""
    low = float(table.min())
    spread = float(table.max()) - low
    if spread <= 0:
        return np.ones(table.shape)
    if not np.isfinite(spread):
        return _scaled(table / 4)
    return np.asarray(1 + (table - low) / spread)

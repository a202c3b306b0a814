"""Programmes on some joint actions and some deviations of a finite game, both of which grow."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.base.protocols import Indices, Points, Vector
from fullswap.games.highs import LOOSE, TIGHT, solve_programme

# Deviations that are added in a step, the best ones: of a player who gains by one action instead of
# all recommendations, and from each recommendation.
_COARSE_ADDED, _ADDED = 8, 2


class Master:
    """Programmes on some joint actions and some deviations (player, a, b)."""

    def __init__(self, tables: list[Points], notion: str, penalty: float) -> None:
        self._tables, self._coarse, self.penalty = tables, notion == "coarse", penalty
        self.broken_by = 0.0
        """What rows are broken by in the last solution: more than rounding if that is too cheap."""
        self._units = [float(np.ptp(t)) or 1.0 for t in tables]
        self._shape = tables[0].shape
        self._own = [np.moveaxis(t, p, 0).reshape(t.shape[p], -1) for p, t in enumerate(tables)]
        self._rows: list[list[tuple[int, int]]] = [[] for _ in tables]
        self._known: list[set[tuple[int, int]]] = [set() for _ in tables]
        self._prices: list[Vector] = [np.zeros(0) for _ in tables]

    @property
    def size(self) -> int:
        """Deviations so far."""
        return sum(len(rows) for rows in self._rows)

    def solve(
        self, used: Indices, values: Points | None, seconds: float | None
    ) -> tuple[Vector, Points, float] | None:
        """Shares of the players (fair), probabilities, and the value; None if out of time."""
        from scipy.sparse import csr_array, hstack, vstack

        places = np.unravel_index(used, self._shape)
        count = len(used)
        blocks: list[Any] = []
        for p, rows in enumerate(self._rows):
            if rows:
                blocks.append(self._block(p, np.array(rows), places))
        matrix = vstack(blocks).tocsr() if blocks else csr_array((0, count))
        # one variable for what rows are broken by, and for "fair" the smallest payoff
        extra = [np.full((matrix.shape[0], 1), -1.0)]
        cost: list[Vector] = [
            np.zeros(count) if values is None else -values.ravel()[used],
            np.array([self.penalty]),
        ]
        if values is None:
            extra.append(np.zeros((matrix.shape[0], 1)))
            paid = np.stack([t.ravel()[used] for t in self._tables])
            floors = np.column_stack((-paid, np.zeros(len(paid)), np.ones(len(paid))))
            cost.append(np.array([-1.0]))
        matrix = hstack([matrix, csr_array(np.hstack(extra))]).tocsr()
        if values is None:
            matrix = vstack([matrix, csr_array(floors)]).tocsr()
        counted = np.append(np.ones(count), np.zeros(matrix.shape[1] - count))
        bounds = [(0.0, None)] * (count + 1) + [(None, None)] * (values is None)
        solution = solve_programme(
            np.concatenate(cost), matrix, np.zeros(matrix.shape[0]), counted, seconds, bounds,
            tolerances=(TIGHT, LOOSE), tight_prices=True,
        )  # fmt: skip
        if solution is None:
            return None
        prices = np.maximum(-solution.ineqlin.marginals, 0.0)
        start = 0
        for p, rows in enumerate(self._rows):
            self._prices[p] = prices[start : start + len(rows)]
            start += len(rows)
        shares = prices[start:]
        if len(shares):
            shares = shares / shares.sum()
        self.broken_by = float(solution.x[count])
        joint = np.zeros(self._shape)
        weights = np.maximum(solution.x[:count], 0.0)
        joint[places] = weights / weights.sum()
        return shares, joint, -float(solution.fun)

    def _block(self, p: int, rows: Indices, places: tuple[Indices, ...]) -> Any:
        """What each deviation (a, b) gains at each joint action; a = −1 is any recommendation."""
        from scipy.sparse import csr_array

        own = places[p]
        rest = self._rest(p, places)
        a, b = rows[:, 0], rows[:, 1]
        if self._coarse:
            gains = self._own[p][b][:, rest] - self._own[p][own, rest]
            return csr_array(gains / self._units[p])
        hit_rows, hit_columns = [], []
        order = np.argsort(own, kind="stable")
        starts = np.searchsorted(own[order], np.arange(self._shape[p] + 1))
        for k, action in enumerate(a):
            columns = order[starts[action] : starts[action + 1]]
            hit_rows.append(np.full(len(columns), k))
            hit_columns.append(columns)
        at_rows, at = np.concatenate(hit_rows), np.concatenate(hit_columns)
        gains = self._own[p][b[at_rows], rest[at]] - self._own[p][own[at], rest[at]]
        return csr_array((gains / self._units[p], (at_rows, at)), shape=(len(rows), len(own)))

    def _rest(self, p: int, places: tuple[Indices, ...]) -> Indices:
        """Places of the others' joint actions."""
        others = [k for k in range(len(self._shape)) if k != p]
        shape = tuple(self._shape[k] for k in others)
        return np.ravel_multi_index(tuple(places[k] for k in others), shape)

    def reduced(self, values: Points) -> Points:
        """values(s) − Σ y·gain(s), for all joint actions of the game."""
        from scipy.sparse import csr_array

        total = values.copy()
        for p, rows in enumerate(self._rows):
            if not rows or not self._prices[p].any():
                continue
            k = self._shape[p]
            a, b = np.array(rows).T
            price = self._prices[p] / self._units[p]
            if self._coarse:
                met = np.bincount(b, price, k) @ self._own[p]
                gains = met - price.sum() * self._own[p]
            else:
                matrix = csr_array((price, (a, b)), shape=(k, k))
                gains = matrix @ self._own[p] - np.bincount(a, price, k)[:, None] * self._own[p]
            others = [n for q, n in enumerate(self._shape) if q != p]
            total -= np.moveaxis(gains.reshape(k, *others), 0, p)
        return np.asarray(total)

    def add_rows(self, joint: Points, tolerance: float) -> bool:
        """Deviations that gain, the best from each recommendation; whether there were new ones."""
        grown = False
        for p, own in enumerate(self._own):
            met = np.moveaxis(joint, p, 0).reshape(len(own), -1)
            if self._coarse:
                values = met.sum(axis=0, keepdims=True) @ own.T - (met * own).sum()
                best = np.argsort(-values[0])[:_COARSE_ADDED]
                pairs = [(-1, int(b)) for b in best if values[0, b] > tolerance]
            else:
                used = np.flatnonzero(met.any(axis=1))
                values = met[used] @ own.T
                values -= values[np.arange(len(used)), used][:, None]
                best = np.argsort(-values, axis=1)[:, :_ADDED]
                pairs = [
                    (int(a), int(b))
                    for row, a in enumerate(used)
                    for b in best[row]
                    if values[row, b] > tolerance / len(used)
                ]
            for pair in pairs:
                if pair not in self._known[p]:
                    self._known[p].add(pair)
                    self._rows[p].append(pair)
                    grown = True
        return grown

"""Many players: equilibria on a few joint actions, without a table of all of them.

A programme gives some joint actions the probabilities of smallest gap. Its dual prices y_p(a, b)
say how much player p's deviation from a to b costs. If every player mixes by the stationary
distribution of their own prices, independently, all deviations together gain nothing on average
(Papadimitriou and Roughgarden's argument that equilibria exist). So among joint actions drawn
from it some gain less than the programme's gap, and adding them makes the gap smaller. Payoffs
are asked for a few joint actions at a time, so that twenty or a thousand players are no trouble.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fullswap.base.protocols import Indices, Points, Vector
from fullswap.games.actions import Column
from fullswap.games.game import StructuredGame
from fullswap.games.highs import solve_programme
from fullswap.games.record import Record
from fullswap.games.restricted import initial_actions

METHOD = "profiles"
_FEW = 4  # actions of a player to begin with
_WHOLE = 12  # actions up to which all are active
_DRAWN = 256  # joint actions drawn in a step
_ADDED = 24  # most that are added
_STEPS = 2_000
_INNER = 0.1  # share of the gap that is not worth another joint action, or another active one
_MOST_ROWS = 3_000  # of the programme, and as many columns
_ENTRY, _CALL = 300.0, 3_000_000.0  # operations for each entry of the programme, and for itself


class _Side:
    """One player: active actions, and their payoffs (k, m) against the joint actions so far."""

    def __init__(self, column: Column) -> None:
        self.column = column
        self.payoffs: Points = np.zeros((len(column), 0))
        self.vectors: Points | None = None


def by_profiles(game: StructuredGame, record: Record, rng: np.random.Generator) -> Iterator[float]:
    """Joint actions and active actions grow in turns until the gap is small enough."""
    sides = [_Side(column) for column in _first(game, rng)]
    played = np.stack([rng.integers(len(s.column), size=_DRAWN // 4) for s in sides], axis=1)
    played = np.unique(played, axis=0)
    _extend(game, sides, played)
    # prices need a gap to tell apart: exact equilibria are found when it is a little above 0
    unit = max(float(np.ptp(side.payoffs)) for side in sides) or 1.0
    for _ in range(_STEPS):
        entries = sum(len(s.column) for s in sides) * len(played)
        if sum(len(s.column) ** 2 for s in sides) > _MOST_ROWS:
            return
        solution = _programme(sides, played, unit, record.seconds_left)
        yield _CALL + _ENTRY * entries
        if solution is None:
            return
        weights, prices, value = solution
        grown = _look(game, record, sides, played, weights, record.gap)
        if grown:
            _refill(sides, game)
            continue
        if value <= _INNER * record.gap / unit:
            return
        drawn = _draw(prices, rng)
        new = _improving(game, sides, drawn, prices, value, unit)
        if len(played) > _MOST_ROWS:
            heaviest = np.argsort(-weights, kind="stable")[: _MOST_ROWS // 2]
            played = played[heaviest]
            for side in sides:
                side.payoffs = side.payoffs[:, heaviest]
                side.vectors = None if side.vectors is None else side.vectors[heaviest]
        known = set(map(tuple, played.tolist()))
        fresh = np.array([joint for joint in new.tolist() if tuple(joint) not in known])
        if len(fresh):
            _extend(game, sides, fresh)
            played = np.concatenate((played, fresh))
        yield float(_DRAWN * sum(len(s.column) for s in sides))


def _first(game: StructuredGame, rng: np.random.Generator) -> list[Column]:
    some = initial_actions(game, _FEW, rng, whole=False)
    return [
        np.arange(s.size) if s.size is not None and s.size <= _WHOLE else _distinct(column)
        for s, column in zip(game.actions, some, strict=True)
    ]


def _distinct(column: Column) -> Column:
    seen: dict[Any, int] = {}
    for k, action in enumerate(column.tolist()):
        seen.setdefault(action, k)
    return np.asarray(column[list(seen.values())])


def _extend(game: StructuredGame, sides: list[_Side], rows: Indices) -> None:
    """Payoffs for more joint actions, given by places (m, players)."""
    columns = [side.column[rows[:, p]] for p, side in enumerate(sides)]
    for p, side in enumerate(sides):
        vectors = game.vectors(p, columns)
        more = game.actions[p].values(side.column, vectors)
        side.payoffs = np.concatenate((side.payoffs, more), axis=1)
        side.vectors = vectors if side.vectors is None else np.concatenate((side.vectors, vectors))


def _refill(sides: list[_Side], game: StructuredGame) -> None:
    for p, side in enumerate(sides):
        if len(side.payoffs) < len(side.column) and side.vectors is not None:
            side.payoffs = game.actions[p].values(side.column, side.vectors)


def _programme(
    sides: list[_Side], played: Indices, unit: float, seconds: float | None
) -> tuple[Vector, list[Points], float] | None:
    """Probabilities of smallest gap, the prices of deviations, and the gap in this unit.

    None if it takes more than ``seconds``, or cannot be solved.
    Variables: probabilities (m,), what each recommendation loses (Σ k,), and the gap.
    """
    from scipy.sparse import coo_array

    count = len(played)
    sizes = [len(side.column) for side in sides]
    starts = count + np.append(0, np.cumsum(sizes))
    last = int(starts[-1])
    data, rows, columns = [], [], []
    row = 0
    for p, side in enumerate(sides):
        own = played[:, p]
        gains = (side.payoffs - side.payoffs[own, np.arange(count)]) / unit
        k = sizes[p]
        # row a·k + b of this player: what b instead of a gains, at most what a loses
        where, b = np.meshgrid(np.arange(count), np.arange(k))
        data.append(gains.ravel())
        rows.append((row + own[where] * k + b).ravel())
        columns.append(where.ravel())
        data.append(np.full(k * k, -1.0))
        rows.append(row + np.arange(k * k))
        columns.append(starts[p] + np.repeat(np.arange(k), k))
        row += k * k
        data.append(np.append(np.ones(k), -1.0))
        rows.append(np.full(k + 1, row))
        columns.append(np.append(starts[p] + np.arange(k), last))
        row += 1
    entries = np.concatenate(data), (np.concatenate(rows), np.concatenate(columns))
    matrix = coo_array(entries, shape=(row, last + 1)).tocsr()
    counted = np.append(np.ones(count), np.zeros(last + 1 - count))
    cost = np.zeros(last + 1)
    cost[-1] = 1.0
    solution = solve_programme(cost, matrix, np.zeros(row), counted, seconds, tight_prices=True)
    if solution is None:
        return None
    weights = np.maximum(solution.x[:count], 0.0)
    marginals, prices, row = -solution.ineqlin.marginals, [], 0
    for k in sizes:
        prices.append(np.maximum(marginals[row : row + k * k].reshape(k, k), 0.0))
        row += k * k + 1
    return weights / weights.sum(), prices, float(solution.fun)


def _look(
    game: StructuredGame, record: Record, sides: list[_Side], played: Indices, weights: Vector,
    gap: float,
) -> bool:  # fmt: skip
    """Offer the profile, and make best answers active; whether there were new ones."""
    gaps, grown = [], False
    for p, side in enumerate(sides):
        assert side.vectors is not None
        k = len(side.column)
        shares = np.zeros((k, len(played)))
        shares[played[:, p], np.arange(len(played))] = weights
        directions = shares @ side.vectors
        best, values = game.actions[p].best(directions)
        active = np.einsum("as,bs->ab", shares, side.payoffs)
        inside = active.max(axis=1)
        gains = np.maximum(values, inside) - active[np.arange(k), np.arange(k)]
        gaps.append(float(np.maximum(gains, 0.0).sum()))
        new = best[values - inside > _INNER * gap / k]
        if len(new):
            known = set(side.column.tolist())
            fresh = _distinct(new)
            fresh = fresh[[a not in known for a in fresh.tolist()]]
            if len(fresh):
                side.column, grown = np.concatenate((side.column, fresh)), True
    used = np.flatnonzero(weights > 0)
    columns = [side.column[played[used, p]] for p, side in enumerate(sides)]
    record.offer_joint(float((np.array(gaps) + record.slack).max()), METHOD, columns, weights[used])
    return grown


def _draw(prices: list[Points], rng: np.random.Generator) -> Indices:
    """Joint actions by the stationary distributions of everybody's prices, shape (m, players)."""
    return np.stack([rng.choice(len(y), _DRAWN, p=_stationary(y)) for y in prices], axis=1)


def _stationary(prices: Points) -> Vector:
    """x with Σ_a x_a y(a, b) = x_b Σ_c y(b, c): flows in and out of every action agree."""
    k = len(prices)
    flow = prices - np.diag(prices.sum(axis=1))
    flow += 1e-12 - np.diag(np.full(k, 1e-12 * k))
    scale = np.abs(flow).max() or 1.0
    system = np.concatenate((flow.T / scale, np.ones((1, k))))
    x = np.linalg.lstsq(system, np.append(np.zeros(k), 1.0), rcond=None)[0]
    x = np.maximum(x, 0.0)
    return np.asarray(x / x.sum())


def _improving(
    game: StructuredGame, sides: list[_Side], drawn: Indices, prices: list[Points], value: float,
    unit: float,
) -> Indices:  # fmt: skip
    """Those of the drawn joint actions that make the gap smaller, the best ones."""
    drawn = np.unique(drawn, axis=0)
    columns = [side.column[drawn[:, p]] for p, side in enumerate(sides)]
    costs = np.zeros(len(drawn))
    for p, side in enumerate(sides):
        paid = game.actions[p].values(side.column, game.vectors(p, columns)) / unit
        own = drawn[:, p]
        following = paid[own, np.arange(len(drawn))]
        costs += np.einsum("sb,bs->s", prices[p][own], paid - following)
    order = np.argsort(costs, kind="stable")[:_ADDED]
    return drawn[order[costs[order] < value]]

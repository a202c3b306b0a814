"""A game cut down to a few active actions of each player, and profiles on them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.games.actions import ActionSet, Column, Curve
from fullswap.games.game import StructuredGame
from fullswap.games.profiles import CorrelatedEquilibrium
from fullswap.games.regions import Paraboloid, Region
from fullswap.games.verify import verify

SAME = 1e-9
"""Points of a continuum that lie closer, as a share of its size, are one action."""
MOST_WHOLE = 300
"""Actions of a player that are all active from the start where embeddings are no saving."""
MOST_JOINT = 2_000_000
"""Joint actions of the active actions that are held as a table."""
MOST_ENTRIES = 50_000_000
"""Entries of the payoff vectors against all joint actions of the others."""


@dataclass(frozen=True)
class Answers:
    """Best answers of one player to each of r recommendations.

    Attributes
    ----------
    actions : Column
        The answers, shape (r,).
    gains : Vector
        What they gain, probability counted.
    outside : Vector
        How much of that the best active action does not gain.
    """

    actions: Any
    gains: Vector
    outside: Vector


class Restricted:
    """Active actions of each player, without duplicates, with the payoffs of the game on them.

    Attributes
    ----------
    columns : list of Column
        Active actions of each player, shape (k_p,); new ones go to the end.
    tables : list of arrays
        Payoffs of each player, shape (k_1, …, k_N).
    full : bool
        Whether the last actions found no room.
    """

    def __init__(self, game: StructuredGame, columns: Sequence[Column]) -> None:
        self.game = game
        self.columns: list[Column] = [np.asarray(column)[:0] for column in columns]
        self._places: list[dict[Any, int]] = [{} for _ in columns]
        self._units = [SAME * _extent(s) for s in game.actions]
        self.tables: list[Points] = []
        self._vectors: list[Points] = []
        self._embedded: list[Points] = []
        self.full = False
        if not self.add(columns):
            sizes = " × ".join(str(len(column)) for column in columns)
            raise ValueError(
                f"the game is too large to be solved: it begins with {sizes} actions and at most "
                f"{MOST_JOINT} joint actions can be held; leave out players or actions"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """How many actions are active for each player."""
        return tuple(len(column) for column in self.columns)

    @property
    def ranges(self) -> Vector:
        """Largest minus smallest payoff of each player on the active actions; 1 where it is 0."""
        spread = np.array([float(np.ptp(table)) for table in self.tables])
        return np.where(spread > 0, spread, 1.0)

    def add(self, columns: Sequence[Column]) -> bool:
        """Make actions active; whether any was new, and there was room for the new ones."""
        fresh: list[dict[Any, int]] = []
        for places, column, unit in zip(self._places, columns, self._units, strict=True):
            rows: dict[Any, int] = {}
            for row, action in enumerate(column):
                key = _key(action, unit)
                if key not in places:
                    rows.setdefault(key, row)
            fresh.append(rows)
        if not any(fresh):
            return False
        sizes = [len(old) + len(new) for old, new in zip(self._places, fresh, strict=True)]
        self.full = _too_large(self.game, sizes)
        if self.full:
            return False
        for p, rows in enumerate(fresh):
            for key in rows:
                self._places[p][key] = len(self._places[p])
            new = np.asarray(columns[p])[list(rows.values())]
            self.columns[p] = np.concatenate((self.columns[p], new))
        self._tabulate()
        return True

    def _tabulate(self) -> None:
        """Payoff vectors against all joint actions of the others, and from them the payoffs."""
        shape, players = self.shape, self.game.players
        self._vectors, self._embedded, self.tables = [], [], []
        for p, s in enumerate(self.game.actions):
            others = [k for k in range(players) if k != p]
            meshes = np.meshgrid(*(np.arange(shape[k]) for k in others), indexing="ij")
            columns = [self.columns[p][np.zeros(meshes[0].size, dtype=np.int64)]] * players
            for k, mesh in zip(others, meshes, strict=True):
                columns[k] = self.columns[k][mesh.ravel()]
            self._vectors.append(self.game.vectors(p, columns))
            self._embedded.append(s.embed(self.columns[p]))
            own_first = (self._embedded[p] @ self._vectors[p].T).reshape(
                shape[p], *(shape[k] for k in others)
            )
            self.tables.append(np.moveaxis(own_first, 0, p))

    def places(self, player: int, column: Column) -> Any:
        """Where actions stand among the active ones, −1 for those that are not, shape (m,)."""
        known, unit = self._places[player], self._units[player]
        return np.array([known.get(_key(action, unit), -1) for action in column], dtype=np.int64)

    def support(self, places: Any) -> Any:
        """Joint actions of the game at places (m, players) of the table."""
        return stack([column[places[:, p]] for p, column in enumerate(self.columns)])

    def profile(self, joint: Points, drop: float) -> CorrelatedEquilibrium:
        """The verified profile with probabilities ∝ ``joint`` (k_1, …, k_N).

        The lightest joint actions are left out, of total probability at most ``drop``.
        """
        flat = joint.ravel() / joint.sum()
        order = np.argsort(flat)
        kept = np.sort(order[np.cumsum(flat[order]) > min(drop, 0.5)])
        kept = kept[flat[kept] > 0]
        places = np.column_stack(np.unravel_index(kept, joint.shape))
        weights = flat[kept] / flat[kept].sum()
        return verify(self.game, (self.support(places), weights))

    def joint(self, profile: CorrelatedEquilibrium) -> Points:
        """The profile as a table of probabilities on the active actions, which hold its support."""
        places = [self.places(p, profile.support[:, p]) for p in range(self.game.players)]
        table = np.zeros(self.shape)
        np.add.at(table, tuple(places), profile.weights)
        return table

    def answers(self, joint: Points) -> list[Answers]:
        """Best answers of each player to every active action, by a linear maximum over all actions.

        As in the check of a profile, but payoff vectors are formed once for each joint action of
        the others and not for each joint action of all.
        """
        return [self._answers(player, joint) for player in range(self.game.players)]

    def _answers(self, player: int, joint: Points) -> Answers:
        own = np.moveaxis(joint, player, 0).reshape(self.shape[player], -1)
        played = np.flatnonzero(own.any(axis=1))
        directions = own[played] @ self._vectors[player]
        actions, values = self.game.actions[player].best(directions)
        active = directions @ self._embedded[player].T
        kept = active[np.arange(len(played)), played]
        inside = active.max(axis=1)
        return Answers(actions, np.maximum(values, inside) - kept, values - inside)


def initial_actions(game: StructuredGame, count: int, rng: np.random.Generator) -> list[Column]:
    """About ``count`` actions of each player to begin with.

    All, where there are no more or where embeddings of many dimensions promise no saving.
    Otherwise extreme actions in random directions, and then best answers to random mixtures of
    what the others have so far: those are the ones that matter.
    """
    whole = [_take_all(s, count) for s in game.actions]
    if math.prod(s.size or 1 for s, all_ in zip(game.actions, whole, strict=True) if all_) > 10**5:
        whole = [s.size is not None and s.size <= count for s in game.actions]
    chosen: list[Column] = [
        np.arange(s.size or 0)
        if all_
        else s.best(rng.standard_normal((max(2, count // 4), s.dim)))[0]
        for s, all_ in zip(game.actions, whole, strict=True)
    ]
    for _ in range(2):
        chosen = [
            chosen[p] if all_ else s.best(random_play(game, p, chosen, max(2, count // 2), rng))[0]
            for p, (s, all_) in enumerate(zip(game.actions, whole, strict=True))
        ]
    return chosen


def _take_all(actions: ActionSet, count: int) -> bool:
    """Whether to begin with all actions of a set."""
    if actions.size is None:
        return False
    return actions.size <= count or actions.size <= min(MOST_WHOLE, 4 * actions.dim)


def spread_actions(game: StructuredGame, count: int) -> list[Column]:
    """Evenly numbered actions of large sets whose embeddings are no saving, none of the others.

    Actions in an order, such as bids, answer one another step by step: best answers alone would
    climb one bid at a time.
    """
    columns: list[Column] = []
    for s in game.actions:
        plain = s.size is not None and MOST_WHOLE < s.size <= 4 * s.dim
        last = (s.size or 1) - 1
        columns.append(np.unique(np.linspace(0, last if plain else 0, count).astype(np.int64)))
        if not plain:
            columns[-1] = columns[-1][:0]
    return columns


def random_play(
    game: StructuredGame,
    player: int,
    chosen: Sequence[Column],
    count: int,
    rng: np.random.Generator,
) -> Points:
    """Payoff vectors of a player against random mixtures of three of the others' chosen actions."""
    rows = 3 * count
    columns = [column[rng.integers(len(column), size=rows)] for column in chosen]
    vectors = game.vectors(player, columns).reshape(count, 3, -1)
    return np.einsum("ij,ijk->ik", rng.dirichlet(np.ones(3), size=count), vectors)


def _too_large(game: StructuredGame, sizes: Sequence[int]) -> bool:
    """Whether a table of that many actions, or the payoff vectors behind it, are too much."""
    joint = math.prod(sizes)
    entries = max(joint // k * s.dim for k, s in zip(sizes, game.actions, strict=True))
    return joint > MOST_JOINT or entries > MOST_ENTRIES


def stack(columns: Sequence[Column]) -> Any:
    """Columns side by side, shape (m, players); numbers too long for a float stay what they are."""
    kinds = {column.dtype.kind for column in columns}
    long = any(c.dtype.kind in "iu" and c.size and abs(c).max() > 2**53 for c in columns)
    if "O" in kinds or (long and "f" in kinds):
        rows = np.empty((len(columns[0]), len(columns)), dtype=object)
        for p, column in enumerate(columns):
            rows[:, p] = column.tolist()
        return rows
    return np.column_stack(columns)


def _extent(actions: ActionSet) -> float:
    """How far apart actions of a continuum may be; 1 where that is not known."""
    if isinstance(actions, Curve):
        return actions.high - actions.low
    if isinstance(actions, Region | Paraboloid):
        return actions.action_set.diameter or 1.0
    return 1.0


def _key(action: Any, unit: float) -> Any:
    """Equal for actions that count as one."""
    if isinstance(action, tuple):
        return tuple(_key(part, unit) for part in action)
    if isinstance(action, int | np.integer):
        return int(action)
    if isinstance(action, float | np.floating):
        return round(float(action) / unit)
    return action  # of a set of the user's own: anything that can be looked up

"""What players meet on average: exact expectations, and the average of the joint play."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base import checks
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.games.actions import Action, Column, column_of, stack
from fullswap.games.game import StructuredGame
from fullswap.games.player import MixedAction
from fullswap.games.selfplay import joint_play

_DENSE = 4_000_000  # joint actions of a table in memory: 32 MB
_TABLE = 4_000_000  # entries of payoff vectors that are kept
_MOST = 10_000_000  # joint actions of an average at most: some 240 MB, and as much to check it
_BATCH = 256  # rounds that are added to a table at once


class Labels:
    """Numbers 0, 1, … for the actions of one player as they come up."""

    def __init__(self) -> None:
        self._numbers: dict[Action, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def of(self, actions: Column) -> Indices:
        """Labels of a column, new ones for new actions."""
        known = self._numbers
        return np.array([known.setdefault(a, len(known)) for a in actions.tolist()], np.int64)

    @property
    def column(self) -> Column:
        """Actions by label."""
        return column_of(list(self._numbers))


class Expectation:
    """Expected payoff vectors of one player against independent mixed actions of the others."""

    def __init__(self, game: StructuredGame, player: int, labels: Sequence[Labels]) -> None:
        self._game, self._player, self._labels = game, player, labels
        self._others = [k for k in range(game.players) if k != player]
        self._known: list[int] = []
        self._table: Points | None = None

    def vector(self, mixed: Sequence[MixedAction], labels: Sequence[Indices]) -> Vector:
        """Σ over the others' joint actions of their probability times the payoff vector, (dim,)."""
        known = [len(self._labels[k]) for k in self._others]
        dim = self._game.actions[self._player].dim
        if known != self._known or math.prod(known) * dim > _TABLE:
            # new actions came, and more may come: a table would have to be made anew each time
            self._known, self._table = known, None
            weights = np.ones(1)
            for k in self._others:
                weights = np.outer(weights, mixed[k].weights).ravel()
            chosen = [own.actions for own in mixed]
            return np.asarray(weights @ self._game.vectors_against_all(self._player, chosen))
        if self._table is None:
            columns = [own.column for own in self._labels]
            rows = self._game.vectors_against_all(self._player, columns)
            self._table = rows.reshape(*known, dim)
        total = self._table
        for k in self._others:
            total = np.tensordot(mixed[k].weights, total[labels[k]], axes=1)
        return np.asarray(total)


class JointAverage:
    """Σ_t of the products of mixed actions: a table while labels are few, else by what occurs."""

    def __init__(self, labels: Sequence[Labels]) -> None:
        self._labels = labels
        self._table: Points | None = np.zeros((0,) * len(labels))
        self._waiting: list[list[tuple[Indices, Vector]]] = []
        self._bits = 62 // len(labels)
        self._keys, self._weights = np.zeros(0, np.int64), np.zeros(0)
        self._loose: list[tuple[Indices, Vector]] = []
        self._loose_size = 0
        self.rounds = 0

    def add(self, play: list[tuple[Indices, Vector]]) -> None:
        """One round: labels and weights of every player."""
        self.rounds += 1
        if self._table is None:
            self._add_keys(play)
            return
        self._waiting.append(play)
        if len(self._waiting) >= _BATCH:
            self._flush()

    def profile(self) -> tuple[NDArray[Any], Vector]:
        """Joint actions (m, players) and their probabilities."""
        if self._table is not None:
            self._flush()
        if self._table is not None:
            places = np.nonzero(self._table)
            weights = self._table[places]
        else:
            self._merge()
            mask = (1 << self._bits) - 1
            shifts = [self._bits * k for k in range(len(self._labels))]
            places = tuple((self._keys >> shift) & mask for shift in shifts)
            weights = self._weights
        columns = [own.column[at] for own, at in zip(self._labels, places, strict=True)]
        return stack(columns), weights / weights.sum()

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        shape = tuple(len(own) for own in self._labels)
        assert self._table is not None
        if math.prod(shape) > _DENSE:
            places = np.nonzero(self._table)
            keys = self._encoded([np.asarray(at) for at in places])
            order = keys.argsort()
            self._keys, self._weights = keys[order], self._table[places][order]
            self._table = None
            for play in waiting:
                self._add_keys(play)
            return
        if shape != self._table.shape:
            wider = np.zeros(shape)
            wider[tuple(slice(k) for k in self._table.shape)] = self._table
            self._table = wider
        # joint_play forms all products but the last player's for every round
        step = max(1, _DENSE // max(1, math.prod(shape[:-1])))
        for start in range(0, len(waiting), step):
            part = waiting[start : start + step]
            history = np.zeros((len(part), len(shape), max(shape)))
            for t, play in enumerate(part):
                for k, (labels, weights) in enumerate(play):
                    history[t, k, labels] = weights
            self._table += joint_play(history, np.ones(len(part)), shape)

    def _add_keys(self, play: list[tuple[Indices, Vector]]) -> None:
        keys, weights = np.zeros(1, np.int64), np.ones(1)
        for k, (labels, own) in enumerate(play):
            keys = (keys[:, None] | (labels << (self._bits * k))).ravel()
            weights = np.outer(weights, own).ravel()
        self._loose.append((keys, weights))
        self._loose_size += len(keys)
        if self._loose_size > max(len(self._keys), _DENSE // 4):
            self._merge()

    def _merge(self) -> None:
        keys = np.concatenate([self._keys, *(k for k, _ in self._loose)])
        weights = np.concatenate([self._weights, *(w for _, w in self._loose)])
        self._keys, where = np.unique(keys, return_inverse=True)
        total = np.bincount(where.ravel(), weights, len(self._keys))
        self._weights = total.astype(float)
        self._loose, self._loose_size = [], 0
        if len(self._keys) > _MOST:
            rule = f"be fewer: the average play already has more than {_MOST:,} joint actions"
            checks.refuse("rounds", rule, self.rounds)

    def _encoded(self, places: Sequence[Indices]) -> Indices:
        keys = np.zeros(len(places[0]), np.int64)
        for k, at in enumerate(places):
            keys |= at << (self._bits * k)
        return keys

"""Coarse equilibria: nobody gains by one action that replaces all recommendations.

One learner a player will do, in place of one for each action, so a round takes as many operations
as a table has entries; programmes have one row an action in place of one a pair of actions.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fullswap.base.protocols import Points
from fullswap.games.game import StructuredGame
from fullswap.games.matching import Matcher, in_own_units
from fullswap.games.record import Record
from fullswap.games.restricted import initial_actions, spread_actions
from fullswap.games.search import Search

METHOD = "coarse matching"
_SOME = 24  # actions of a player to begin with
_FIRST_LOOK, _LOOKS = 32, 3  # rounds before the first look; then a third more
_CALL = 40_000.0  # operations of a round whatever its size


def by_play(
    game: StructuredGame, record: Record, rng: np.random.Generator, most_rounds: int
) -> Iterator[float]:
    """Regret matching+ that expects the last round again, one learner a player."""
    search = Search(game, record, initial_actions(game, _SOME, rng))
    search.active.add(spread_actions(game))
    play = _Play(search.active.tables)
    length, left = _FIRST_LOOK, most_rounds
    while left > 0:
        length = min(length, left)
        for _ in range(length):
            play.round()
        left -= length
        record.rounds += length
        answers = search.look(play.average(), METHOD)[1]
        yield length * (_CALL + 3.0 * search.active.tables[0].size * game.players)
        if search.grow(answers, 0.0):
            play.fit(search.active.tables)
        length = max(_FIRST_LOOK, play.age // _LOOKS)


class _Play:
    """The average of joint play, round t counted t² times."""

    def __init__(self, tables: list[Points]) -> None:
        self._players = [Matcher(k) for k in tables[0].shape]
        self._joint, self.age = np.zeros((0,) * len(tables)), 0
        self.fit(tables)

    def fit(self, tables: list[Points]) -> None:
        """Take up more actions; the average goes on, half as old."""
        self._tables = in_own_units(tables)
        shape = tables[0].shape
        joint = np.zeros(shape)
        # weights t² add up to about t³/3: an eighth of it at half the age
        joint[tuple(slice(k) for k in self._joint.shape)] = self._joint / 8
        self._joint, self.age = joint, self.age // 2
        for player, size in zip(self._players, shape, strict=True):
            player.grow(size)

    def round(self) -> None:
        """Everybody plays and learns."""
        self.age += 1
        mixed = [player.play() for player in self._players]
        joint = np.array(float(self.age) ** 2)
        for own in mixed:
            joint = np.multiply.outer(joint, own)
        self._joint += joint
        for p, (player, table) in enumerate(zip(self._players, self._tables, strict=True)):
            paid = np.moveaxis(table, p, 0)
            for q in reversed([k for k in range(len(mixed)) if k != p]):
                paid = paid @ mixed[q]
            player.learn(paid)

    def average(self) -> Points:
        """Probabilities of joint actions."""
        return np.asarray(self._joint / self._joint.sum())

"""Two players with opposed interests: averages of independent play are an equilibrium.

Payoffs are opposed if A + λB, for some λ > 0, is a sum of something that each player decides
alone: then whatever one gains by a change of action the other loses, up to the unit. Zero-sum
games are, and so are all-pay auctions, whose bids are lost either way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.games.actions import Column
from fullswap.games.game import StructuredGame
from fullswap.games.matching import Matcher, in_own_units
from fullswap.games.record import Record
from fullswap.games.restricted import evenly_numbered

METHOD = "averages"
_SAMPLE = 40  # actions of each player on which it is tested whether payoffs are opposed
_ROUNDING = 1e-9  # of the size of payoffs
_FIRST = 128  # actions of a player, evenly numbered, that the first stage has; then twice as many
_LOOK = 64  # rounds between looks
_MOST_ROUNDS = 30_000  # of a stage
_INNER = 0.3  # share of the gap that a stage may leave on its own actions
_CALL = 30_000  # operations of a round whatever its size


def opposed(tables: Sequence[Points]) -> bool:
    """Whether payoffs (k, k') of two players are.

    Examples
    --------
    >>> pennies = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> opposed([pennies, 5 - 2 * pennies + [[0], [1]]]), opposed([pennies, pennies])
    (True, False)
    """
    sizes = [float(np.abs(table).max()) or 1.0 for table in tables]
    first, second = (_interaction(t / size) for t, size in zip(tables, sizes, strict=True))
    square = float((first * first).sum())
    if square <= _ROUNDING**2 * first.size:
        return False
    share = float((first * second).sum()) / square
    return share < 0 and bool(np.abs(second - share * first).max() <= _ROUNDING)


def looks_opposed(game: StructuredGame) -> bool:
    """The same of some evenly numbered actions of a finite game."""
    sizes = [s.size or 0 for s in game.actions]
    return min(sizes) > 1 and opposed(game.table([evenly_numbered(n, _SAMPLE) for n in sizes]))


def _interaction(table: Points) -> Points:
    rows, columns = table.mean(axis=1, keepdims=True), table.mean(axis=0)
    return np.asarray(table - rows - columns + table.mean())


def by_averages(game: StructuredGame, record: Record) -> Iterator[float]:
    """Regret matching+ that expects the last round again, on evenly numbered actions.

    Each player has one learner, and rounds count by their number squared. Twice as many actions
    where the best answers among all show that these are too few.
    """
    sizes = [s.size or 0 for s in game.actions]
    count = _FIRST
    while True:
        columns = [evenly_numbered(n, count) for n in sizes]
        vectors = [game.vectors_against_all(p, columns) for p in range(2)]
        tables = [s.values(c, v) for s, c, v in zip(game.actions, columns, vectors, strict=True)]
        yield 4.0 * tables[0].size
        play = _Play(tables)
        best = np.inf
        for _ in range(_MOST_ROUNDS // _LOOK):
            play.rounds(_LOOK)
            mixed = play.averages()
            inner = max(
                float((t @ other).max() - own @ t @ other)
                for t, own, other in zip(tables, mixed, mixed[::-1], strict=True)
            )
            yield _LOOK * (_CALL + 2.0 * tables[0].size)
            if inner <= 0.5 * best:
                best = inner
                gap = _gap(game, record, columns, vectors, mixed)
                record.offer_product(gap, METHOD, columns, mixed)
                yield float(_CALL + sum((s.size or 1) * s.dim for s in game.actions if s.listed))
            if inner <= _INNER * record.gap:
                break
        if count >= max(sizes):
            return
        count *= 2


def _gap(
    game: StructuredGame, record: Record, columns: list[Column], vectors: list[Points],
    mixed: list[Vector],
) -> float:  # fmt: skip
    gains = []
    for p, s in enumerate(game.actions):
        direction = mixed[1 - p][None] @ vectors[p]
        following = mixed[p] @ s.values(columns[p], direction)[:, 0]
        gains.append(float(s.best(direction)[1][0] - following))
    return float((np.maximum(gains, 0.0) + record.slack).max())


class _Play:
    """The averages of play in turns, round t counted t² times; payoffs (own actions, others')."""

    def __init__(self, tables: list[Points]) -> None:
        self._tables = in_own_units(tables)
        self._players = [Matcher(len(t)) for t in tables]
        self._sums = [np.zeros(len(t)) for t in tables]
        self._played = 0

    def rounds(self, count: int) -> None:
        for _ in range(count):
            self._played += 1
            for p in (0, 1):  # the second sees what the first plays now
                mixed = self._players[p].play()
                self._players[1 - p].learn(self._tables[1 - p] @ mixed)
                self._sums[p] += float(self._played) ** 2 * mixed

    def averages(self) -> list[Vector]:
        return [own / own.sum() for own in self._sums]

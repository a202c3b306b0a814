"""Pure equilibria: a scan of whole tables, answers to answers, and firms that take turns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from fullswap.base.protocols import Indices, Points
from fullswap.games.actions import Action, Column, blocks
from fullswap.games.game import StructuredGame
from fullswap.games.record import Record
from fullswap.games.restricted import initial_actions, pass_work

MOST_SCANNED = 10_000_000  # joint actions of tables that are held: 80 MB a player
_MOST_PRODUCTS = 2_000_000_000  # operations for the answers to all actions of two players
_MOST_UNIFORM = 1_000_000  # joint actions of uniform play that is not even good enough
_STARTS = 8  # joint actions that turns begin with
_SWEEPS = 500  # turns of all players from one start
_CALL = 20_000  # operations that a call takes whatever its size

METHOD, UNIFORM = "pure", "uniform"


def scan(tables: Sequence[Points]) -> tuple[Indices, float]:
    """The joint action with the smallest gap, and that gap.

    Examples
    --------
    >>> dilemma = np.array([[3.0, 0.0], [4.0, 1.0]])
    >>> where, gap = scan([dilemma, dilemma.T])
    >>> where.tolist(), gap
    ([1, 1], 0.0)
    """
    worst = np.zeros(tables[0].shape)
    for p, table in enumerate(tables):
        np.maximum(worst, table.max(axis=p, keepdims=True) - table, out=worst)
    place = int(worst.argmin())
    return np.array(np.unravel_index(place, worst.shape)), float(worst.ravel()[place])


def by_scan(game: StructuredGame, record: Record, tables: Sequence[Points]) -> Iterator[float]:
    """Look through all joint actions of a finite game, whose payoffs are these; and uniform play.

    Everything at random is what symmetric games have, and nothing is quicker to try.
    """
    where, gap = scan(tables)
    columns = [np.array([k]) for k in where]
    record.offer_joint(gap + record.slack.max(), METHOD, columns, np.ones(1))
    if not record.done():
        gap = 0.0
        for p, table in enumerate(tables):
            paid = table.mean(axis=tuple(k for k in range(table.ndim) if k != p))
            gap = max(gap, float(paid.max() - paid.mean()))
        shape = tables[0].shape
        mixed = [np.full(k, 1 / k) for k in shape]
        whole = [np.arange(k) for k in shape]
        gap += float(record.slack.max())
        if gap <= record.gap or tables[0].size <= _MOST_UNIFORM:
            record.offer_product(gap, UNIFORM, whole, mixed)
    yield 20.0 * tables[0].size * len(tables)


def by_answers_to_answers(game: StructuredGame, record: Record) -> Iterator[float]:
    """For two players with long lists: the answer to every action, and the answer to that."""
    first, second = game.actions
    if first.size is None or second.size is None or not (first.listed and second.listed):
        return
    if first.size * second.size * (first.dim + second.dim) > _MOST_PRODUCTS:
        return
    best = math.inf
    for rows in blocks(second.size, first.size):
        theirs = np.arange(rows.start, min(rows.stop, second.size))
        mine, _ = first.best(game.vectors(0, [theirs, theirs]))
        asked, where = np.unique(mine, return_inverse=True)
        directions = game.vectors(1, [asked, asked])
        _, values = second.best(directions)
        paid = np.einsum("ij,ij->i", second.embed(theirs), directions[where.ravel()])
        regrets = values[where.ravel()] - paid
        k = int(regrets.argmin())
        if regrets[k] < best:
            best = float(regrets[k])
            pair = [mine[k : k + 1], theirs[k : k + 1]]
            record.offer_joint(max(best, 0.0) + record.slack.max(), METHOD, pair, np.ones(1))
        yield _CALL + 1.0 * len(theirs) * (first.size * first.dim + second.size * second.dim)


def by_turns(game: StructuredGame, record: Record, rng: np.random.Generator) -> Iterator[float]:
    """Players answer one another in turn, from several starts.

    It ends in games with a potential (Cournot, congestion, routing), however many
    players there are: nothing grows with the number of joint actions.
    """
    for begun in range(_STARTS):
        joint = _start(game, rng, begun)
        seen: set[tuple[Action, ...]] = set()
        for _ in range(_SWEEPS):
            most = 0.0
            for p, s in enumerate(game.actions):
                direction = game.vectors(p, joint)
                answer, value = s.best(direction)
                gain = float(value[0] - s.values(joint[p], direction)[0, 0])
                # an answer no better is none: indifferent players stay where they are
                if gain > 0:
                    joint[p] = answer
                most = max(most, gain)
            yield game.players * _CALL + pass_work(game)
            if most <= record.gap:
                _offer(game, record, joint)
                if most <= 0 or record.done():
                    break
            now = tuple(column.tolist()[0] for column in joint)
            if now in seen:  # once more round the same circle
                break
            seen.add(now)


def _offer(game: StructuredGame, record: Record, joint: list[Column]) -> None:
    gains = []
    for p, s in enumerate(game.actions):
        direction = game.vectors(p, joint)
        gains.append(float(s.best(direction)[1][0] - s.values(joint[p], direction)[0, 0]))
    gap = float((np.maximum(gains, 0.0) + record.slack).max())
    record.offer_joint(gap, METHOD, [column.copy() for column in joint], np.ones(1))


def _start(game: StructuredGame, rng: np.random.Generator, begun: int) -> list[Column]:
    """First the best actions in some direction, then answers to mixtures of these."""
    columns = initial_actions(game, 4, rng) if begun else None
    if columns is None:
        return [s.best(rng.standard_normal((1, s.dim)))[0] for s in game.actions]
    return [column[[int(rng.integers(len(column)))]] for column in columns]

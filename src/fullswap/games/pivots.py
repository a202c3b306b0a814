"""Lemke–Howson as a member of the portfolio: on the whole game, and on the active actions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.games.actions import Column, Numbered, Vectors
from fullswap.games.game import StructuredGame
from fullswap.games.nash import Path, Paths
from fullswap.games.record import Record
from fullswap.games.restricted import Restricted, initial_actions, pass_work

METHOD, ON_ACTIVE = "lemke-howson", "nash oracle"
_FIRST_CAP = 128  # pivots of a path in its first turn; twice as many in the next, and so on
_PATHS = 16  # paths that begin in a turn
_MOST_PATHS = 128  # and in all
_MOST_PIVOTS = 400_000  # of one path
_TRIED = 4  # paths on the active actions before these are given up
_ACTIVE_CAP = 3_000  # pivots of such a path
_MOST_STEPS = 4_000  # of growth
_CALL = 20_000  # operations that a few pivots take whatever their size
_STEP = 600_000  # and a step of growth
_INITIAL = 8  # actions of each player to begin with
_SAMPLED = 20_000  # actions of a long list that stand for all of it
_NEAR = 2_000  # the best ones in a direction, which join these
_INNER = 0.25  # share of the gap that may be left on the sample when all are looked at
_GOLDEN = 0.6180339887498949  # steps of this share visit all parts of a range evenly


def by_pivots(game: StructuredGame, record: Record, tables: Sequence[Points]) -> Iterator[float]:
    """One path that goes on, and many others in turns: some are short, some endless.

    The others go twice as far as in their last turn. Half of the work is the one path's, so that
    it is at most twice as late as it would be alone.
    """
    paths = Paths(tables)
    yield 10.0 * tables[0].size
    columns: list[Column] = [np.arange(k) for k in tables[0].shape]
    turns, others = [_one(paths), _several(paths)], 1
    spent = [0.0, 0.0]
    while turns:
        k = 0 if len(turns) == 1 or spent[0] <= spent[others] else others
        step = next(turns[k], None)
        if step is None:
            del turns[k], spent[k]
            continue
        work, path = step
        spent[k] += work
        if path.done:
            _offer(record, path, tables, columns)
        yield work


def _one(paths: Paths) -> Iterator[tuple[float, Path]]:
    path = paths.start(0, ordered=True)
    while not (path.done or path.failed) and path.pivots < _MOST_PIVOTS:
        yield _CALL + path.advance(_FIRST_CAP), path


def _several(paths: Paths) -> Iterator[tuple[float, Path]]:
    under_way: list[Path] = []
    cap, started = _FIRST_CAP, 0
    while cap <= _MOST_PIVOTS:
        while started < min(_MOST_PATHS, paths.labels - 1) and len(under_way) < _PATHS:
            started += 1
            under_way.append(paths.start(_label(started, paths.labels)))
        for path in under_way:
            while not (path.done or path.failed) and path.pivots < cap:
                yield _CALL + path.advance(min(cap - path.pivots, _FIRST_CAP)), path
        under_way = [path for path in under_way if not (path.done or path.failed)]
        cap *= 2


def _label(k: int, labels: int) -> int:
    return int(labels * ((k * _GOLDEN) % 1.0))


def _offer(record: Record, path: Path, tables: Sequence[Points], columns: list[Column]) -> None:
    pair = path.equilibrium()
    if pair is not None:
        gap = _regret(tables, pair) + record.slack.max()
        record.offer_product(gap, METHOD, columns, pair)


def _regret(tables: Sequence[Points], pair: tuple[Vector, Vector]) -> float:
    mine, theirs = tables[0] @ pair[1], pair[0] @ tables[1]
    return float(max(mine.max() - pair[0] @ mine, theirs.max() - theirs @ pair[1], 0.0))


def by_active_pivots(
    game: StructuredGame, record: Record, rng: np.random.Generator
) -> Iterator[float]:
    """A Nash equilibrium of the active actions, the best answers to it, and again.

    Recommendations are independent, so one best answer for each player tells the gap: one pass
    over the actions, whatever their number. Embeddings of dimension d need d + 1 actions in the
    end, and mostly ten times as many on the way. Of long lists a sample stands for the whole
    until it has an equilibrium of its own; then a pass over all finds what is missing, and what
    is nearly as good joins the sample. So there are few passes.
    """
    lists = [s for s in game.actions if isinstance(s, Numbered)]
    long = [s for s in lists if s.size > _SAMPLED]
    sampled = bool(long) and len(lists) == 2 and all(isinstance(s, Vectors) for s in long)
    samples = [_Sample(s, rng) for s in lists] if sampled else []
    among = [s.best for s in samples] if sampled else None
    active = Restricted(game, _first(game, samples if sampled else None, rng))
    passing, brief = pass_work(game), sum(len(s.places) * s.dim for s in samples)
    for step in range(_MOST_STEPS):
        pair, work = _some_equilibrium(Paths(active.tables), step)
        yield work
        mixed = (
            list(pair) if pair is not None else [rng.dirichlet(np.ones(k)) for k in active.shape]
        )
        answers = active.answers_to(mixed, among)
        gap = max(float(a.gains[0]) for a in answers)
        if sampled and pair is not None and gap <= _INNER * record.gap:
            answers = active.answers_to(mixed, [s.widen for s in samples])
            gap = max(float(a.gains[0]) for a in answers)
            record.offer_product(gap + record.slack.max(), ON_ACTIVE, list(active.columns), mixed)
            yield 4.0 * passing
        elif not sampled and pair is not None:
            record.offer_product(gap + record.slack.max(), ON_ACTIVE, list(active.columns), mixed)
        yield _STEP + (brief if sampled else passing) + 2.0 * active.tables[0].size
        grown = active.add([a.actions for a in answers])
        if not grown and pair is not None:
            return


def _first(
    game: StructuredGame, samples: list[_Sample] | None, rng: np.random.Generator
) -> list[Column]:
    if samples is None:
        return initial_actions(game, _INITIAL, rng, whole=False)
    return [s.best(rng.standard_normal((_INITIAL, s.dim)))[0] for s in samples]


class _Sample:
    """Some actions of a long list, which stand for all of them."""

    def __init__(self, actions: Numbered, rng: np.random.Generator) -> None:
        self._whole, self.dim = actions, actions.dim
        self._part: Numbered = actions
        self.share = min(1.0, _SAMPLED / actions.size)
        count = min(_SAMPLED, actions.size)
        # one of each stretch of the list: in order, so that memory is read once from end to end
        edges = np.linspace(0, actions.size, count + 1).astype(np.int64)
        self.places = edges[:-1] + (rng.random(count) * np.diff(edges)).astype(np.int64)
        self._take_part()

    def _take_part(self) -> None:
        if self.share < 1:
            self._part = Vectors(self._whole.embed(self.places))

    def best(self, directions: Points) -> tuple[Column, Vector]:
        """Of the sample."""
        found, values = self._part.best(directions)
        return self.places[found], values

    def widen(self, directions: Points) -> tuple[Column, Vector]:
        """Of all actions; those that come near join the sample."""
        products = self._whole.values(np.arange(self._whole.size), directions)[:, 0]
        count = min(_NEAR, len(products))
        near = np.argpartition(products, len(products) - count)[len(products) - count :]
        self.places = np.union1d(self.places, near)
        self._take_part()
        best = near[[int(products[near].argmax())]]
        return best, products[best]


def _some_equilibrium(paths: Paths, step: int) -> tuple[tuple[Vector, Vector] | None, float]:
    work = 0.0
    for k in range(_TRIED):
        path = paths.start(_label(k + step, paths.labels), ordered=k == 1)
        while not (path.done or path.failed) and path.pivots < _ACTIVE_CAP:
            work += _CALL + path.advance(_FIRST_CAP)
        if path.done:
            return path.equilibrium(), work + _CALL
    return None, work + _CALL

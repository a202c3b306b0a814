"""Several methods in turns, by the work they have done; the first verified gap ends the run.

No method wins on every game, and the best one is rarely known beforehand. Work is counted in
operations and not in seconds, so the same seed gives the same result on any machine. A member
that fails, whatever the error, takes nothing from the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fullswap.base.protocols import Points
from fullswap.games import coarse, many, pivots, pure, zero_sum
from fullswap.games.actions import Column
from fullswap.games.game import StructuredGame
from fullswap.games.lp import ANY
from fullswap.games.record import Record
from fullswap.games.restricted import SAVING, initial_actions, pass_work, spread_actions
from fullswap.games.search import Search

MOST_WORK = 300_000_000_000  # operations of a run without a limit of time: minutes
_STRUCTURED = 40_000  # joint actions of whole tables where embeddings are a saving
_TABLED = 8  # players up to which tables of active actions are made
_FAVOURED = 200_000_000.0  # operations, by shares, after which nobody is favoured any more
_MOST_ANY = 10_000  # joint actions of programmes for any equilibrium
_LEAST_STEP = 1_000.0  # operations that any step counts for
_SHORT_PASS = 200_000.0  # operations of a pass over all actions that is no trouble
_MILLISECOND = 1_000_000.0  # operations, about
_FEW, _SOME = 8, 24  # actions of a player that programmes and self-play begin with


@dataclass
class Member:
    """A method at work: ``steps`` say how many operations each took.

    Its turn comes when all others have spent as much as it has, in units of their ``share``, which
    is 1 for all once it had its chance;
    ``spent`` at the beginning keeps methods of expensive steps from beginning at once.
    """

    name: str
    steps: Iterator[float]
    spent: float = 0.0
    share: float = 1.0


def run(
    members: list[Member], record: Record, most_work: float = math.inf, until_done: bool = True
) -> bool:
    """Take turns until the budget ends, or a verified gap is small enough; whether interrupted."""
    waiting, total = list(members), 0.0
    try:
        while waiting and total < most_work and not record.over:
            member = min(waiting, key=lambda m: m.spent)
            try:
                work = max(next(member.steps), _LEAST_STEP)
            except StopIteration:
                waiting.remove(member)
                work = 0.0
            except Exception as error:  # whatever it is, the others go on
                error.add_note(f"in the method {member.name!r}")
                record.errors.append(error)
                waiting.remove(member)
                work = 0.0
            member.spent += work / member.share
            if member.spent > _FAVOURED:
                member.share = 1.0
            total += work
            if until_done and record.done():
                break
    except KeyboardInterrupt:
        return True
    return False


def members_of(
    game: StructuredGame,
    record: Record,
    rng: np.random.Generator,
    most_rounds: int,
    known: Sequence[Column] | None = None,
) -> list[Member]:
    """Those that can do something for this game, the quick ones first.

    Actions of each player that are ``known`` to matter are active from the start.
    """
    rngs = [np.random.default_rng(k) for k in rng.integers(2**62, size=6)]
    tables = whole_tables(game) if worth_tables(game) else None
    members: list[Member] = []

    # where a pass over the actions is long, those that need many of them come later
    late = max(1.0, pass_work(game) / _SHORT_PASS)

    def add(name: str, steps: Iterator[float], after: float = 0.0, share: float = 1.0) -> None:
        members.append(Member(name, steps, late * after * _MILLISECOND, share))

    if tables is not None:
        add(pure.METHOD, pure.by_scan(game, record, tables))
    if game.players == 2:
        add(pivots.ON_ACTIVE, pivots.by_active_pivots(game, record, rngs[0]), 0.02, 4.0)
        if tables is not None:
            add(pivots.METHOD, pivots.by_pivots(game, record, tables), 0.01, 4.0)
        if tables is None:
            add("answers to answers", pure.by_answers_to_answers(game, record), 30.0)
        if zero_sum.looks_opposed(game):
            # it gets there unless the gap is tiny, and then others have their turn
            add(zero_sum.METHOD, zero_sum.by_averages(game, record), 10.0, 16.0)
    add("turns", pure.by_turns(game, record, rngs[1]), 0.0 if tables is None else 3.0)
    if game.players > _TABLED:  # two actions each would make too many joint ones
        add(many.METHOD, many.by_profiles(game, record, rngs[5]), 5.0)
        return members
    if record.notion == "coarse":
        add("coarse play", coarse.by_play(game, record, rngs[5], most_rounds), 2.0)
        add("coarse programmes", _programmes(game, record, rngs[2], known), 5.0)
        return members
    few = game.players == 2
    add("programmes", _programmes(game, record, rngs[2], known), 20.0 if few else 2.0)
    # what is left for it when pivots have had their chance is long play
    play = _self_play(game, record, rngs[4], most_rounds, known)
    add("self-play", play, 80.0 if few else 10.0, 4.0 if few else 1.0)
    if game.players > 2:
        add(many.METHOD, many.by_profiles(game, record, rngs[5]), 5.0)
    return members


def whole_tables(game: StructuredGame) -> list[Points] | None:
    """Payoffs of a finite game whose tables fit the memory; else None."""
    sizes = [s.size for s in game.actions]
    listed = [k for k in sizes if k is not None]
    joint = math.prod(listed)
    if len(listed) < len(sizes) or joint * game.players > 2 * pure.MOST_SCANNED:
        return None
    entries = max(joint // k * s.dim for k, s in zip(listed, game.actions, strict=True))
    return None if entries > 2 * pure.MOST_SCANNED else game.table([np.arange(k) for k in listed])


def worth_tables(game: StructuredGame) -> bool:
    """Whether tables are no detour: where dimensions are few, embeddings are quicker."""
    sizes = [s.size or 0 for s in game.actions]
    saving = all(k > SAVING * s.dim for k, s in zip(sizes, game.actions, strict=True))
    return not saving or math.prod(sizes) <= _STRUCTURED


def _programmes(
    game: StructuredGame, record: Record, rng: np.random.Generator, known: Sequence[Column] | None
) -> Iterator[float]:
    search = Search(game, record, _joined(known, initial_actions(game, _FEW, rng, whole=False)))
    yield from search.by_programmes(ANY, "oracle", _MOST_ANY)


def _self_play(
    game: StructuredGame, record: Record, rng: np.random.Generator, most_rounds: int,
    known: Sequence[Column] | None,
) -> Iterator[float]:  # fmt: skip
    search = Search(game, record, _joined(known, initial_actions(game, _SOME, rng)))
    search.active.add(spread_actions(game))
    yield from search.by_self_play(most_rounds, polish=True)


def _joined(known: Sequence[Column] | None, columns: list[Column]) -> list[Column]:
    if known is None:
        return columns
    return [np.concatenate(pair) for pair in zip(known, columns, strict=True)]

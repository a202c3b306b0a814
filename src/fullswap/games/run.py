"""One call of the solver: which methods run, and which of their profiles is returned."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fullswap.base.protocols import Vector
from fullswap.games import pivots, portfolio
from fullswap.games.actions import Column, stack
from fullswap.games.best_so_far import BestSoFar
from fullswap.games.game import StructuredGame
from fullswap.games.lp import check_size, optimise
from fullswap.games.objectives import by_objective, check_entries
from fullswap.games.portfolio import Member
from fullswap.games.profiles import CorrelatedEquilibrium, Optimum
from fullswap.games.pure import MOST_SCANNED
from fullswap.games.record import Record
from fullswap.games.restricted import initial_actions, spread_actions
from fullswap.games.search import Search
from fullswap.games.values import name_of, scale_of, value_of
from fullswap.games.verify import verify

# What "auto" does if an objective is given: with tables of all joint actions, and without.
OBJECTIVE, AMONG_ACTIVE = "objective", "objective among active actions"
# Actions of a player to begin with.
_INITIAL = {"oracle": 8, "matching": 24}
_ANY_EQUILIBRIUM = 0.5  # share of the time for any equilibrium before better ones are looked for


class Run:
    """Methods at work for one game, and what they found."""

    def __init__(
        self, game: StructuredGame, record: Record, rng: np.random.Generator, rounds: int,
        earlier: CorrelatedEquilibrium | None,
    ) -> None:  # fmt: skip
        self._game, self._record, self._rng, self._rounds = game, record, rng, rounds
        self._earlier = earlier
        self._search: Search | None = None
        self._best: BestSoFar | None = None
        self._better: CorrelatedEquilibrium | None = None
        self._optimum: Optimum | None = None

    def by(self, method: str, wanted: str | Vector, unhurried: bool) -> bool:
        """Run a method; whether it was interrupted."""
        game, record = self._game, self._record
        most = portfolio.MOST_WORK if unhurried else math.inf
        if method == "auto":
            return self._by_portfolio(record, most)
        if method == AMONG_ACTIVE:
            return self._among_active(wanted, most)
        if method == pivots.METHOD:
            tables = portfolio.whole_tables(game)
            if game.players != 2 or tables is None:
                shown = " × ".join("∞" if s.size is None else f"{s.size:,}" for s in game.actions)
                raise ValueError(
                    f"game must have two players and at most {MOST_SCANNED:,} joint actions for "
                    f"method={method!r}, got {shown}"
                )
            return portfolio.run([Member(method, pivots.by_pivots(game, record, tables))], record)
        if method == OBJECTIVE or (method == "lp" and name_of(wanted) == "entropy"):
            sizes = [s.size or 0 for s in game.actions]
            check_entries(wanted, sizes, record.notion)
            tables = game.table([np.arange(k) for k in sizes])
            best = self._best = BestSoFar(game, record, tables, wanted)
            steps = by_objective(best, wanted, self._rng, self._earlier)
            return portfolio.run([Member(method, steps)], record, until_done=False)
        search = self._search = Search(game, record, self._columns(method))
        if method == "lp":
            steps = self._one_programme(search, wanted)
        elif method == "oracle":
            steps = search.by_programmes(wanted, method)
        else:
            search.active.add(spread_actions(game))
            steps = search.by_self_play(self._rounds, polish=False)
        return portfolio.run([Member(method, steps)], record)

    def _by_portfolio(self, record: Record, most: float) -> bool:
        known = None if self._earlier is None else self._game.columns(self._earlier.support)
        members = portfolio.members_of(self._game, record, self._rng, self._rounds, known)
        return portfolio.run(members, record, most)

    def _among_active(self, wanted: str | Vector, most: float) -> bool:
        """Any equilibrium first; then the best one of a few active actions, where these do."""
        record, first = self._record, self._record.part(_ANY_EQUILIBRIUM)
        if self._earlier is not None:
            first.settle(self._earlier)
        interrupted = not first.done() and self._by_portfolio(first, most)
        some = first.best()
        record.join(first)
        if interrupted:
            return True
        second = record.part(1.0)
        steps = self._programmes(second, wanted, some)
        interrupted = portfolio.run([Member("oracle", steps)], second, most)
        found = second.best()
        if found is not None and record.gap_of(found) <= record.gap:
            kept = [p for p in (some, found) if p is not None and record.gap_of(p) <= record.gap]
            self._better = max(kept, key=lambda p: value_of(p.weights, p.payoffs, wanted))
            value = value_of(self._better.weights, self._better.payoffs, wanted)
            self._optimum = Optimum(name_of(wanted), value, None)
        return interrupted

    def _programmes(
        self, record: Record, wanted: str | Vector, some: CorrelatedEquilibrium | None
    ) -> Iterator[float]:
        columns = self._columns("oracle", some)
        yield from Search(self._game, record, columns).by_programmes(wanted, "oracle")

    def _one_programme(self, search: Search, wanted: str | Vector) -> Iterator[float]:
        tables = search.active.tables
        programme = optimise(tables, wanted, self._record.seconds_left, self._record.notion)
        if programme is not None:
            search.look(programme.joint, "lp", exact=True)
            self._optimum = Optimum(
                name_of(wanted), programme.value, programme.bound, scale_of(tables, wanted)
            )
        yield 0.0

    def _columns(self, method: str, known: CorrelatedEquilibrium | None = None) -> list[Column]:
        """Actions to begin with, those of a known or an earlier profile first."""
        if method == "lp":
            check_size([s.size for s in self._game.actions])
            columns: list[Column] = [np.arange(s.size or 0) for s in self._game.actions]
        else:
            columns = initial_actions(self._game, _INITIAL[method], self._rng)
        known = known or self._earlier
        if known is None:
            return columns
        first = self._game.columns(known.support)
        return [np.concatenate(pair) for pair in zip(first, columns, strict=True)]

    def result(self, method: str, interrupted: bool) -> CorrelatedEquilibrium:
        """The best profile, verified; any profile if nothing was found in time."""
        record = self._record
        profile, optimum = self._better or record.best(), self._optimum
        if self._best is not None and self._best.optimum is not None:
            best = verify(self._game, (stack(self._best.columns), self._best.weights))
            # what rounding adds to the gap is never worth losing an equilibrium for
            if record.gap_of(best) <= record.gap or profile is None:
                profile, optimum = replace(best, method=self._best.method), self._best.optimum
        if profile is None and record.errors and not (interrupted or record.over):
            raise record.errors[0]
        if profile is None:
            own = method not in (OBJECTIVE, AMONG_ACTIVE)
            profile = replace(self._anything(), method=method if own else "")
        if self._earlier is not None and record.gap_of(profile) > max(
            record.gap, record.gap_of(self._earlier)
        ):
            profile, optimum = self._earlier, None
        rounds = record.rounds + (0 if self._earlier is None else self._earlier.rounds)
        reached = record.gap_of(profile) <= record.gap
        active = None if self._search is None else self._search.active
        if active is not None and active.full and not reached:
            sizes = " × ".join(str(k) for k in active.shape)
            message = (
                f"there was no room for more than {sizes} active actions: the gap stays at "
                f"{record.gap_of(profile):.3g}; ask for a larger one, or for embeddings of fewer "
                "dimensions"
            )
            warnings.warn(message, RuntimeWarning, stacklevel=3)
        return replace(
            profile, rounds=rounds, reached=reached, notion=record.notion, optimum=optimum
        )

    def _anything(self) -> CorrelatedEquilibrium:
        """Some profile, verified, for want of anything better."""
        if self._search is not None:
            active = self._search.active
            return active.profile(np.ones(active.shape), 0.0)
        rng = np.random.default_rng(0)
        joint = [s.best(rng.standard_normal((1, s.dim)))[0] for s in self._game.actions]
        return verify(self._game, (stack(joint), np.ones(1)))

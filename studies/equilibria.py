"""CPU seconds to a correlated equilibrium with a verified gap, for games of growing size.

Every contender meets the same games, from the smallest up, until it fails: too large for its
memory, or over its budget. The failure is a row of its own and larger sizes are not tried. Games
are made, kernels compiled and gaps verified outside the time that is told; what a contender needs
of a game, such as matrices, it makes inside it. A short run is done three times and the median
told. Budgets are CPU time.

Jobs are meant for a process whose linear algebra keeps to one thread (``threads.one_thread``), one
after the other.

On the even ring uniform play is an equilibrium. Methods that begin there are done after a round
or so, which says nothing of them; so there is also a ring with unevenly spread points.

The same question against the gap and the dimension is asked in ``rounds``; both are one part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.games import (
    CorrelatedEquilibrium,
    StructuredGame,
    from_matrices,
    verify,
    zoo,
)
from studies import rounds
from studies.baselines import (
    Found,
    checked_gap,
    dense_blum_mansour,
    linear_programme,
)
from studies.fits import significant
from studies.rounds import random_rank, solved
from studies.runs import Job, Part, Row, number, rows_where
from studies.threads import within_budget

GAP = 0.01
SIZES = (30, 100, 300, 1_000, 10_000, 100_000)
MOST_MATRIX = 1_000
"""Actions up to which there are random games without structure; a tenth of it in a quick run."""
QUICK_BUDGET, FULL_BUDGET = 1.0, 20.0
"""Seconds for a run."""
_QUICK_MOST = 300
_QUICK_WITHOUT = "ring"
"""The game that a quick run leaves out: it says the least."""
_PLANS = {
    30: (3, 3), 100: (10, 2), 300: (4, 4), 1_000: (10, 3), 10_000: (10, 4), 100_000: (16, 4),
}  # fmt: skip
"""Size ↦ bids and values of the auction with about that many plans, bids^values."""
_LATE = 1.1
"""A result that took more than this many times the budget is none."""
_REPEATED = 0.2
"""CPU seconds below which a run is done three times."""


def uneven_ring(n: int, seed: int) -> StructuredGame:
    """``zoo.ring`` with the points of both players drawn from one part of the circle more often."""
    rng = np.random.default_rng([seed, n, 1])
    mine, theirs = (2 * np.pi * rng.beta(0.5, 2.0, n) for _ in range(2))
    return StructuredGame.from_embeddings(
        _circle(mine), _circle(theirs + 1), _circle(mine + 1), _circle(theirs), "uneven ring"
    )


def random_matrices(n: int, seed: int) -> StructuredGame:
    """Independent uniform payoffs in [0, 1]: no structure to use."""
    rng = np.random.default_rng([seed, n])
    return from_matrices(rng.random((n, n)), rng.random((n, n)), name="random, full rank")


GAMES: dict[str, Callable[[int, int], StructuredGame]] = {
    "ring": lambda n, seed: zoo.ring(n),
    "ring, uneven": uneven_ring,
    "Cournot": lambda n, seed: zoo.cournot(grid=n),
    "auction": lambda n, seed: zoo.auction(*_PLANS[n]),
    "random, rank 3": random_rank,
    "random, full rank": random_matrices,
}
"""Name ↦ game of about n actions, from n and a seed."""


BASELINES: dict[str, Callable[[StructuredGame, float], Found]] = {
    "LP": lambda game, budget: linear_programme(game, budget),
    "Blum–Mansour, dense": lambda game, budget: dense_blum_mansour(game, GAP, budget),
}
"""Name ↦ what a usual method finds, from a game and a budget."""
OURS = tuple(f"fullswap, {method}" for method in ("auto", "matching"))


def attempt(
    game: StructuredGame, method: str, budget: float, seed: int
) -> Found | CorrelatedEquilibrium:
    """What a contender finds; not yet checked, so that only the finding is timed."""
    if method in BASELINES:
        return BASELINES[method](game, budget)
    return solved(game, GAP, method.removeprefix("fullswap, "), seed, None, budget)


def failure(result: Found | CorrelatedEquilibrium) -> str:
    """Why a contender ended without a result, or nothing."""
    if isinstance(result, Found):
        return result.note
    return "" if result.reached else "no result"


def jobs(quick: bool, seed: int) -> list[Job]:
    """A climb for each game and contender, then those of ``rounds``.

    Quick: up to 300 actions, and 100,000 for fullswap, at a second a run; otherwise all sizes at
    20 seconds.
    """
    budget = QUICK_BUDGET if quick else FULL_BUDGET
    climbs = [
        Job(
            climb,
            {"study": "size", "game": game, "method": method, "quick": quick, "budget": budget,
             "seed": seed},
            _cost(method, budget),
        )
        for game in GAMES
        for method in (*BASELINES, *OURS)
        if not (quick and game == _QUICK_WITHOUT)
    ]  # fmt: skip
    return climbs + rounds.jobs(quick, seed)


def _cost(method: str, budget: float) -> float:
    """CPU seconds of a climb, about."""
    known = {"LP": 1.0 + 0.2 * budget, "Blum–Mansour, dense": 1.2 * budget}
    return known.get(method, 0.3 + 0.1 * budget)


def sizes(game: str, method: str, quick: bool) -> tuple[int, ...]:
    """Numbers of actions to try.

    Examples
    --------
    >>> sizes("ring", "LP", quick=True), sizes("ring", "fullswap, auto", quick=True)
    ((30, 100, 300), (30, 100, 300, 100000))
    """
    if game == "random, full rank":
        return tuple(n for n in SIZES if n <= (MOST_MATRIX // 10 if quick else MOST_MATRIX))
    tried = [n for n in SIZES if not quick or n <= _QUICK_MOST]
    if quick and method in OURS:
        tried.append(SIZES[-1])
    return tuple(tried)


def climb(study: str, game: str, method: str, quick: bool, budget: float, seed: int) -> list[Row]:
    """One contender on one family of games, from the smallest up, until it fails."""
    rows = []
    for n in sizes(game, method, quick):
        rows.append(timed(game, method, n, budget, seed))
        if "note" in rows[-1]:
            break
    return rows


def timed(game: str, method: str, n: int, budget: float, seed: int) -> Row:
    """One run, or the median of three short ones."""
    posed = GAMES[game](n, seed)
    # the others have budgets of their own kind
    minds_the_clock = method == "LP" or method in OURS
    spent: list[float] = []
    while not spent or (spent[0] < _REPEATED and len(spent) < 3):
        result, seconds = within_budget(
            lambda clock: attempt(posed, method, clock, seed),
            lambda result: minds_the_clock and failure(result).startswith("no "),
            budget,
        )
        spent.append(seconds)
    row: Row = {
        "actions": max(s.size or 0 for s in posed.actions),
        "dim": max(s.dim for s in posed.actions),
        "seconds": float(np.median(spent)),
        "rounds": result.rounds,
    }
    if not isinstance(result, Found):
        row["gap"] = verify(posed, result).gap
    elif result.joint is not None:
        row["gap"] = checked_gap(posed, result.joint)
    note = failure(result)
    # the clock of a starved run is set longer, and it may then take more than its budget
    late = float(np.median(spent)) > _LATE * budget
    if minds_the_clock and (late or note) and not note.startswith("too large"):
        row["note"] = f"no result in {budget:g} s"
    elif note:
        row["note"] = note
    elif number(row, "gap") > GAP:
        row["note"] = f"ended with a gap above {GAP:g}"
    return row


def summarise(rows: Sequence[Row]) -> dict[str, Any]:
    """Times by game, method and size, with the size at which each failed; and ``rounds``."""
    climbs = rows_where(rows, study="size")
    curves = []
    for game, method in dict.fromkeys((row["game"], row["method"]) for row in climbs):
        here = rows_where(climbs, game=game, method=method)
        curves.append({"game": game, "method": method, **_curve(here)})
    by_gap = rounds.summarise(rows)
    return {
        "gap": GAP,
        "budget": max((number(row, "budget") for row in climbs), default=0.0),
        "sizes": curves,
        "largest_ratio": max((run["largest_share"] for run in by_gap["runs"]), default=0.0),
        "rounds": by_gap,
    }


def _curve(rows: list[Row]) -> dict[str, Any]:
    points: list[dict[str, Any]] = []
    failed: dict[str, Any] | None = None
    for row in rows:
        point = {
            "actions": int(number(row, "actions")),
            "seconds": significant(number(row, "seconds")),
        }
        if "note" in row:
            failed = {**point, "note": row["note"]}
        else:
            gap, length = significant(number(row, "gap")), int(number(row, "rounds"))
            points.append({**point, "gap": gap, "rounds": length})
    return {"dim": max(int(number(row, "dim")) for row in rows), "points": points, "failed": failed}


def warm_up() -> None:
    """Import and compile whatever the contenders use, so that no run pays for it."""
    small = uneven_ring(24, 0)
    for method in (*BASELINES, *OURS):
        attempt(small, method, 0.2, 0)
    checked_gap(small, np.full((24, 24), 1 / 24**2))
    rounds.self_play(small, 10)


def _circle(angles: Vector) -> Points:
    return np.column_stack((np.cos(angles), np.sin(angles)))


PART = Part("equilibria", jobs, summarise, timed=True, prepare=warm_up)
"""Times of equilibria."""

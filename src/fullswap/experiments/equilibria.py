"""CPU seconds to a correlated equilibrium with a verified gap of 0.01, for games of growing size.

Every contender meets the same games, from the smallest up, until it fails: too large for its
memory, or over its budget. The failure is a row of its own and larger sizes are not tried. Games
are made, kernels compiled and gaps verified outside the time that is told; what a contender needs
of a game, such as matrices, it makes inside it. A run of less than half a second is done three
times and the median told. Budgets are CPU time for Blum–Mansour and pivots for Lemke–Howson; the
solver's and the programme's are by the clock, which on a busy machine is less.

All runs are done one after the other in a process whose linear algebra keeps to one thread: on
small matrices more of them mostly wait, and waiting counts as CPU time.

On the even ring uniform play is an equilibrium. Methods that begin there are done after a round
or so, which says nothing of them; so there is also a ring with unevenly spread points.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from time import process_time

import numpy as np

from fullswap.experiments.baselines import (
    checked_gap,
    dense_blum_mansour,
    lemke_howson,
    linear_programme,
)
from fullswap.games import StructuredGame, from_matrices, solve, verify, zoo
from fullswap.protocols import Points, Vector

GAP = 0.01
SIZES = (30, 100, 300, 1_000, 10_000, 100_000)
MOST_MATRIX = 1_000
"""Actions up to which there are random games without structure."""
QUICK_BUDGET, FULL_BUDGET = 5.0, 60.0
"""Seconds for a run."""
_QUICK_MOST = 300
_PLANS = {
    30: (3, 3), 100: (10, 2), 300: (4, 4), 1_000: (10, 3), 10_000: (10, 4), 100_000: (16, 4),
}  # fmt: skip
"""Size ↦ bids and values of the auction with about that many plans, bids^values."""
_THREADS = (
    "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
)  # fmt: skip
_REPEATED = 0.5
"""CPU seconds below which a run is done three times."""


@dataclass(frozen=True)
class Timing:
    """One contender on one game.

    Attributes
    ----------
    game : str
        Family of games.
    actions, dim : int
        Number of actions and dimension of the embedding, of the player for whom it is larger.
    method : str
        The contender.
    seconds : float
        CPU seconds that it took, or that it took to fail.
    gap : float
        Verified gap of what it found; NaN if it found nothing.
    rounds : int
        Rounds of self-play, or pivots; 0 for other methods.
    note : str
        Why it failed; empty if the gap was reached.
    """

    game: str
    actions: int
    dim: int
    method: str
    seconds: float
    gap: float
    rounds: int
    note: str = ""


@dataclass(frozen=True, eq=False)
class _Outcome:
    gap: float
    rounds: int
    note: str


Check = Callable[[], _Outcome]
"""What a run found, checked when called."""
Contender = Callable[[StructuredGame, float, int], Check]
"""Game, budget, seed ↦ a check for later, so that only the finding is timed."""


def uneven_ring(n: int, seed: int) -> StructuredGame:
    """``zoo.ring`` with the points of both players drawn from one part of the circle more often."""
    rng = np.random.default_rng([seed, n, 1])
    mine, theirs = (2 * np.pi * rng.beta(0.5, 2.0, n) for _ in range(2))
    return StructuredGame.from_embeddings(
        _circle(mine), _circle(theirs + 1), _circle(mine + 1), _circle(theirs), "uneven ring"
    )


def random_rank(n: int, seed: int, rank: int = 3) -> StructuredGame:
    """Payoffs ⟨v, w⟩ of unit vectors in random directions of R^rank."""
    rng = np.random.default_rng([seed, n, rank])
    drawn = [rng.standard_normal((n, rank)) for _ in range(4)]
    V, W, V2, W2 = (points / np.linalg.norm(points, axis=1, keepdims=True) for points in drawn)
    return StructuredGame.from_embeddings(V, W, V2, W2, f"random, rank {rank}")


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


def _baseline(name: str) -> Contender:
    def run(game: StructuredGame, budget: float, seed: int) -> Check:
        if name == "LP":
            found = linear_programme(game, budget)
        elif name == "Lemke–Howson":
            found = lemke_howson(game, budget)
        else:
            found = dense_blum_mansour(game, GAP, budget)

        def check() -> _Outcome:
            gap = math.nan if found.joint is None else checked_gap(game, found.joint)
            return _Outcome(gap, found.rounds, found.note)

        return check

    return run


def _ours(method: str) -> Contender:
    def run(game: StructuredGame, budget: float, seed: int) -> Check:
        with warnings.catch_warnings():
            # a lack of room shows in the gap, which is in the row
            warnings.simplefilter("ignore", RuntimeWarning)
            found = solve(game, GAP, method, seed, seconds=budget, progress=False)

        def check() -> _Outcome:
            note = "" if found.reached else f"stopped after {budget:g} s"
            return _Outcome(verify(game, found).gap, found.rounds, note)

        return check

    return run


BASELINES: dict[str, Contender] = {
    name: _baseline(name) for name in ("LP", "Blum–Mansour, dense", "Lemke–Howson")
}
OURS: dict[str, Contender] = {
    f"fullswap, {method}": _ours(method) for method in ("auto", "matching", "optimistic", "weights")
}


def measure(quick: bool, seed: int, advance: Callable[[int, int], None]) -> list[Timing]:
    """All contenders on all games.

    Parameters
    ----------
    quick : bool
        Up to 300 actions, and 100,000 for fullswap, at 5 seconds a run; otherwise all sizes at 60.
    seed : int
        For random games and for the solver; the same seed gives the same games.
    advance : callable
        Called with the number of contenders done on a game, and of all.
    """
    budget = QUICK_BUDGET if quick else FULL_BUDGET
    jobs = [
        (game, method, sizes(game, method, quick), budget, seed)
        for game in GAMES
        for method in (*BASELINES, *OURS)
    ]
    return run_jobs(jobs, advance)


def run_jobs(
    jobs: Sequence[tuple[str, str, Sequence[int], float, int]],
    advance: Callable[[int, int], None],
) -> list[Timing]:
    """``climb`` for each job, in one process of its own, warmed up."""
    found: list[Timing] = []
    fresh = get_context("spawn")  # a fork would inherit the threads
    with _one_thread(), ProcessPoolExecutor(1, fresh, warm_up) as pool:
        for done, timings in enumerate(pool.map(climb, *zip(*jobs, strict=True)), 1):
            found.extend(timings)
            advance(done, len(jobs))
    return found


def sizes(game: str, method: str, quick: bool) -> tuple[int, ...]:
    """Numbers of actions to try.

    Examples
    --------
    >>> sizes("ring", "LP", quick=True), sizes("ring", "fullswap, auto", quick=True)
    ((30, 100, 300), (30, 100, 300, 100000))
    """
    most = MOST_MATRIX if game == "random, full rank" else SIZES[-1]
    tried = [n for n in SIZES if n <= most and (not quick or n <= _QUICK_MOST)]
    if quick and most == SIZES[-1] and method in OURS:
        tried.append(SIZES[-1])
    return tuple(tried)


def climb(game: str, method: str, tried: Sequence[int], budget: float, seed: int) -> list[Timing]:
    """One contender on one family of games, from the smallest up, until it fails."""
    found = []
    for n in tried:
        found.append(timed(game, method, n, budget, seed))
        if found[-1].note:
            break
    return found


def timed(game: str, method: str, n: int, budget: float, seed: int) -> Timing:
    """One run, or the median of three short ones."""
    posed = GAMES[game](n, seed)
    run = {**BASELINES, **OURS}[method]
    spent: list[float] = []
    while not spent or (spent[0] < _REPEATED and len(spent) < 3):
        started = process_time()
        check = run(posed, budget, seed)
        spent.append(process_time() - started)
    told = check()
    note = told.note
    if not note and not told.gap <= GAP:
        note = f"ended with a gap above {GAP:g}"
    actions = max(s.size or 0 for s in posed.actions)
    dim = max(s.dim for s in posed.actions)
    return Timing(game, actions, dim, method, float(np.median(spent)), told.gap, told.rounds, note)


def warm_up() -> None:
    """Import and compile whatever the contenders use, so that no run pays for it."""
    small = uneven_ring(24, 0)
    for run in (*BASELINES.values(), *OURS.values()):
        run(small, 0.2, 0)()


@contextmanager
def _one_thread() -> Iterator[None]:
    """Processes that are started meanwhile do linear algebra in one thread."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _circle(angles: Vector) -> Points:
    return np.column_stack((np.cos(angles), np.sin(angles)))

"""Rounds and CPU seconds to an equilibrium, against the gap and the dimension.

Corollary of [FKO25, Table 1 row 3]: two players who learn by it are at an ε-correlated equilibrium
after Õ((1/ε)^((d + 3)/2)) rounds, whatever the number of actions. Here they play one another in
games of random unit vectors of dimension d, with about a thousand actions each; beside them the
rules of ``fullswap.games.solve``.

The paper's learner knows its horizon, so that every number of rounds is a run of its own, from
few rounds up. What the mean of all joint plays of a run misses, against every action, is its
gap; a gap counts as reached after T rounds if it is met there and at all longer horizons too,
since short runs are at times lucky. The solver looks now and then and stops when it is done.

The uneven ring would say little here: the few extreme points that the paper's learner plays are
spread almost evenly even there, and on an even ring uniform play is an equilibrium.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from fullswap.base.protocols import Points
from fullswap.games import (
    CorrelatedEquilibrium,
    StructuredGame,
    StructuredLearner,
    solve,
    verify,
)
from fullswap.games.solve import FIRST_LOOK
from studies.fits import exponent, significant
from studies.runs import Job, Row, number, rows_where
from studies.threads import within_budget

DIMS = (2, 3, 4)
ACTIONS = 1_000
PAPER = "paper"
SOLVERS = ("matching", "auto")
QUICK_TARGETS = (0.2, 0.1, 0.05, 0.02, 0.01)
FULL_TARGETS = (*QUICK_TARGETS, 0.005)
FIRST_HORIZON = 64
_LEAST_POINTS = 4
"""Points without which no exponent is told: with three its interval says nothing."""
_FARTHEST = 3.0
"""Times the exponent: an upper end of its interval beyond that is left open."""
_LAST_HORIZON = {True: 1_024, False: 16_384}
_MOST_ROUNDS = {True: 10_000, False: 200_000}
_BUDGET = {True: 1.0, False: 10.0}
"""Seconds for a run of the solver; rounds mostly end it before."""
_SEEDS = {True: 1, False: 3}
_ROUND = {2: 3e-4, 3: 4e-4, 4: 7.5e-4}
"""CPU seconds that a round of the paper's learner takes, about."""


def random_rank(n: int, seed: int, rank: int = 3) -> StructuredGame:
    """Payoffs ⟨v, w⟩ of unit vectors in random directions of R^rank."""
    rng = np.random.default_rng([seed, n, rank])
    drawn = [rng.standard_normal((n, rank)) for _ in range(4)]
    V, W, V2, W2 = (points / np.linalg.norm(points, axis=1, keepdims=True) for points in drawn)
    return StructuredGame.from_embeddings(V, W, V2, W2, f"random, rank {rank}")


def paper_exponent(dim: int) -> float:
    """(d + 3)/2 of rounds ≈ (1/ε)^((d + 3)/2).

    Examples
    --------
    >>> [paper_exponent(d) for d in DIMS]
    [2.5, 3.0, 3.5]
    """
    return (dim + 3) / 2


def jobs(quick: bool, seed: int) -> list[Job]:
    """A job for each dimension, method and game."""
    planned = []
    for game_seed in range(seed, seed + _SEEDS[quick]):
        for dim in DIMS:
            game: dict[str, Any] = {"study": "rounds", "dim": dim, "actions": ACTIONS}
            ends: dict[str, Any] = {"seed": game_seed, "last": _LAST_HORIZON[quick]}
            work = _ROUND[dim] * 2 * _LAST_HORIZON[quick]
            planned.append(Job(horizons, {**game, "method": PAPER, **ends}, work))
            for method in SOLVERS:
                ends = {
                    "seed": game_seed,
                    "targets": len(QUICK_TARGETS if quick else FULL_TARGETS),
                    "most_rounds": _MOST_ROUNDS[quick],
                    "budget": _BUDGET[quick],
                }
                planned.append(Job(descend, {**game, "method": method, **ends}, 0.2))
    return planned


def horizons(study: str, dim: int, actions: int, method: str, seed: int, last: int) -> list[Row]:
    """Runs of the paper's learner against itself, each twice as long as the one before."""
    game = random_rank(actions, seed, dim)
    rows: list[Row] = []
    rounds = FIRST_HORIZON
    while rounds <= last:
        started = process_time()
        joint, supports, guaranteed = self_play(game, rounds)
        seconds = process_time() - started
        rows.append(
            {
                "rounds": rounds,
                "gap": _gap(game, joint, supports),
                "guaranteed": guaranteed,
                "played": max(joint.shape),
                "seconds": seconds,
            }
        )
        rounds *= 2
    return rows


def self_play(game: StructuredGame, rounds: int) -> tuple[Points, list[Any], float]:
    """Two of the paper's learners against one another.

    Returns
    -------
    joint : array (k_1, k_2)
        The mean of the joint plays, on the actions that the players use.
    supports : list of arrays (k_p,)
        These actions.
    guaranteed : float
        What the gap cannot exceed, known before the first round.

    Examples
    --------
    >>> joint, supports, guaranteed = self_play(random_rank(50, 0, 2), 100)
    >>> joint.shape == (len(supports[0]), len(supports[1])), 0.3 < guaranteed < 1
    (True, True)
    """
    everything = [np.arange(s.size or 0) for s in game.actions]
    met: list[Points] = []
    for player in (0, 1):
        columns = [everything[1 - player]] * 2  # the player's own is not looked at
        met.append(game.vectors(player, columns))
    longest = [float(np.linalg.norm(vectors, axis=1).max()) for vectors in met]
    learners = [  # the paper's row, also where a tree would promise more
        StructuredLearner(own, bound, rounds, row="concave", track=False)
        for own, bound in zip(game.actions, longest, strict=True)
    ]
    supports = [np.unique(learner.support) for learner in learners]
    joint = np.zeros([len(support) for support in supports])
    for _ in range(rounds):
        plays = [learner.play() for learner in learners]
        for player in (0, 1):
            other = plays[1 - player]
            learners[player].observe(other.weights @ met[player][other.actions])
        mixed = [
            np.bincount(np.searchsorted(support, play.actions), play.weights, len(support))
            for support, play in zip(supports, plays, strict=True)
        ]
        joint += np.outer(*mixed)
    guaranteed = max(learner.guarantee for learner in learners) / rounds
    return joint / joint.sum(), supports, guaranteed


def _gap(game: StructuredGame, joint: Points, supports: list[Any]) -> float:
    first, second = np.nonzero(joint)
    profile = np.column_stack((supports[0][first], supports[1][second]))
    return verify(game, (profile, joint[first, second])).gap


def descend(
    study: str,
    dim: int,
    actions: int,
    method: str,
    seed: int,
    targets: int,
    most_rounds: int,
    budget: float,
) -> list[Row]:
    """The solver by one method to smaller and smaller gaps, until it fails."""
    game = random_rank(actions, seed, dim)
    rows: list[Row] = []
    for target in FULL_TARGETS[:targets]:
        result, seconds = within_budget(
            partial(solved, game, target, method, seed, most_rounds),
            lambda result: not result.reached and result.rounds < most_rounds,
            budget,
        )
        gap = verify(game, result).gap
        row: Row = {"target": target, "rounds": result.rounds, "gap": gap, "seconds": seconds}
        rows.append(row)
        if gap > target:
            if result.rounds >= most_rounds:
                row["note"] = f"stopped after {result.rounds:,} rounds"
            else:
                early = seconds < budget / 2
                row["note"] = "ended for lack of room" if early else f"stopped after {budget:g} s"
            break
    return rows


def solved(
    game: StructuredGame, gap: float, method: str, seed: int, most: int | None, clock: float
) -> CorrelatedEquilibrium:
    """``solve`` without a word on the way: a lack of room shows in the gap."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return solve(game, gap, method, seed, rounds=most, seconds=clock, progress=False)


def summarise(rows: Sequence[Row]) -> dict[str, Any]:
    """Rounds and seconds by dimension, method and gap; medians over the games.

    A gap counts as reached by a method if it was in every game.
    """
    mine = rows_where(rows, study="rounds")
    curves, runs = [], []
    for dim in DIMS:
        here = rows_where(mine, dim=dim)
        for method in (PAPER, *SOLVERS):
            own = rows_where(here, method=method)
            if own:
                curves.append({"dim": dim, "method": method, **_curve(own, method == PAPER)})
            if own and method == PAPER:
                runs.append({"dim": dim, **_runs(own)})
    return {
        "actions": max((int(number(row, "actions")) for row in mine), default=0),
        "games": len({row["seed"] for row in mine}),
        "paper": {str(dim): paper_exponent(dim) for dim in DIMS},
        "curves": curves,
        "runs": runs,
    }


def _curve(rows: list[Row], by_horizon: bool) -> dict[str, Any]:
    games = [rows_where(rows, seed=seed) for seed in {row["seed"]: None for row in rows}]
    reached = [_reached_by_horizon(game) if by_horizon else _reached(game) for game in games]
    points = [
        {
            "target": target,
            "rounds": significant(median(game[target][0] for game in reached)),
            "seconds": significant(median(game[target][1] for game in reached)),
        }
        for target in FULL_TARGETS
        if all(target in game for game in reached)
    ]
    # a run that is done at the first look would perhaps have been done before
    played = [point for point in points if point["rounds"] > FIRST_LOOK]
    growth: list[float | None] | None = None
    if by_horizon:
        growth = _growth(rows, "gap")
    elif len(played) >= _LEAST_POINTS:
        inverse = [1 / point["target"] for point in played]
        growth = [*exponent(inverse, [point["rounds"] for point in played])]
    notes = sorted({str(row["note"]) for row in rows if "note" in row})
    return {"points": points, "exponent": growth, "notes": notes}


def _reached(rows: list[Row]) -> dict[float, tuple[float, float]]:
    return {
        number(row, "target"): (number(row, "rounds"), number(row, "seconds"))
        for row in rows
        if "note" not in row
    }


def _reached_by_horizon(rows: list[Row]) -> dict[float, tuple[float, float]]:
    """The shortest run that reaches a target, as all longer ones do."""
    reached: dict[float, tuple[float, float]] = {}
    for target in FULL_TARGETS:
        for row in sorted(rows, key=lambda row: -number(row, "rounds")):
            if number(row, "gap") > target:
                break
            reached[target] = (number(row, "rounds"), number(row, "seconds"))
    return reached


def _runs(rows: list[Row]) -> dict[str, Any]:
    """Gaps by horizon, measured and guaranteed, and how the guarantee grows."""
    points = []
    for length in sorted({int(number(row, "rounds")) for row in rows}):
        same = rows_where(rows, rounds=length)
        middle = {
            key: significant(median(number(row, key) for row in same))
            for key in ("gap", "guaranteed", "played", "seconds")
        }
        points.append({"rounds": length, **middle})
    worst = max(number(row, "gap") / number(row, "guaranteed") for row in rows)
    return {
        "points": points,
        "guaranteed_exponent": _growth(rows, "guaranteed"),
        "largest_share": significant(worst),
    }


def _growth(rows: list[Row], key: str) -> list[float | None] | None:
    """Exponent a of rounds ≈ c·(1/gap)^a and its interval, None for an end that is far off.

    It is 1/b of gap ≈ c·rounds^(−b), since it is the rounds that are given and the gaps that are
    measured; where b might be near 0 there is no telling how large a is.
    """
    if len({row["rounds"] for row in rows}) < _LEAST_POINTS:
        return None
    slope, low, high = exponent(
        [number(row, "rounds") for row in rows], [number(row, key) for row in rows]
    )
    if slope >= 0:
        return None
    near = high < 0 and slope / high <= _FARTHEST
    return [
        significant(-1 / slope),
        significant(-1 / low),
        significant(-1 / high) if near else None,
    ]

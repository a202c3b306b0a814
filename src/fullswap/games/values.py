"""Objectives: what they make of payoffs, how far apart that may be, and what none exceeds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from fullswap.base import checks
from fullswap.base.protocols import Points, Vector

OBJECTIVES = ("welfare", "fair", "entropy")
# Share of the payoffs themselves, levels included, below which ranges of values are rounding: with
# the millionth of ``Optimum.proved`` values count as the same that differ by 1e-14 of payoffs.
_ROUNDING = 1e-8


def as_objective(objective: str | ArrayLike | None, players: int) -> str | Vector:
    """A checked objective: its name, or finite weights of the players, shape (players,)."""
    if objective is None:
        return "welfare"
    if isinstance(objective, str):
        return checks.one_of("objective", objective, OBJECTIVES)
    return checks.vector("objective", objective, players)


def name_of(objective: str | Vector) -> str:
    """Of an objective that was checked."""
    return objective if isinstance(objective, str) else "weights"


def shares_of(objective: str | Vector, players: int) -> Vector:
    """Weights of the players; for objectives that have none, all alike."""
    return np.ones(players) if isinstance(objective, str) else objective


def value_of_payoffs(paid: Vector, objective: str | Vector) -> float:
    """The sum of payoffs, the smallest one, or the sum with weights."""
    if isinstance(objective, str):
        return float(paid.min() if objective == "fair" else paid.sum())
    return float(objective @ paid)


def entropy_of(weights: Points) -> float:
    """−Σ P·ln P."""
    played = weights[weights > 0]
    return float(-(played * np.log(played)).sum())


def value_of(weights: Points, paid: Vector, objective: str | Vector) -> float:
    """Of a profile with these probabilities of joint actions and payoffs of the players."""
    name = name_of(objective)
    if name == "entropy":
        return entropy_of(weights)
    return value_of_payoffs(paid, objective)


def levels_of(tables: Sequence[Points], objective: str | Vector) -> Vector:
    """What to subtract from each player's payoffs before programmes are made: their middle.

    Equilibria depend on differences only, and a large common level would take their digits. Whoever
    asks for the smallest payoff compares players, who then have one level.

    Examples
    --------
    >>> tables = [np.array([[1e9, 1e9 + 2]]), np.array([[0.0, 4.0]])]
    >>> levels_of(tables, "welfare").tolist()
    [1000000001.0, 2.0]
    """
    low = np.array([float(t.min()) for t in tables])
    high = np.array([float(t.max()) for t in tables])
    if name_of(objective) == "fair":
        low, high = np.full(len(low), low.min()), np.full(len(high), high.max())
    return low / 2 + high / 2  # halves first: the sum of two large payoffs may be infinite


def scale_of(tables: Sequence[Points], objective: str | Vector) -> float:
    """How far apart values of joint actions are: what a difference of values is a share of.

    Of the smallest payoff the least range of a player who has one, of the entropy its largest
    value.
    """
    name = name_of(objective)
    if name == "entropy":
        return math.log(tables[0].size)
    weights = shares_of(objective, len(tables))
    if name == "fair":
        spread = min((float(np.ptp(t)) for t in tables if np.ptp(t) > 0), default=0.0)
    else:
        spread = float(np.ptp(_sum(tables, weights)))
    largest = sum(abs(w) * float(np.abs(t).max()) for w, t in zip(weights, tables, strict=True))
    return max(spread, _ROUNDING * float(largest))


def ceiling_of(tables: Sequence[Points], objective: str | Vector) -> float:
    """What no profile at all exceeds."""
    name = name_of(objective)
    if name == "entropy":
        return math.log(tables[0].size)
    if name == "fair":
        return min(float(t.max()) for t in tables)
    return float(_sum(tables, shares_of(objective, len(tables))).max())


def _sum(tables: Sequence[Points], weights: Vector) -> Points:
    return np.asarray(sum(w * t for w, t in zip(weights, tables, strict=True)))

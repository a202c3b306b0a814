"""Correlated equilibria of finite games by linear programming, exactly.

Probabilities P of joint actions are an equilibrium if for every player and actions a ≠ b

    Σ P(a, others)·[u(b, others) − u(a, others)] ≤ 0   over the joint actions of the others.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Points, Vector
from fullswap.games.highs import LOOSE, TIGHT, no_time_for, solve_programme
from fullswap.games.values import levels_of, shares_of, value_of_payoffs

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_JOINT = 40_000  # joint actions of games given to the solver
MOST_ENTRIES = 12_000_000  # entries of its matrix: a hundred bytes each, in the end
ANY = "any"  # in place of an objective: whichever equilibrium is found first
_WANDERING = 900  # joint actions from which on an interior-point method is used for any equilibrium


def check_size(shape: Sequence[int | None]) -> None:
    """Whether a game with these numbers of actions is small enough, or a ValueError."""
    sizes = [k for k in shape if k is not None]
    if len(sizes) < len(shape):
        rule = 'have finitely many actions for method="lp" (else method="oracle")'
        checks.refuse("game", rule, tuple(shape))
    joint = math.prod(sizes)
    entries = programme_entries(sizes)
    if joint > MOST_JOINT or entries > MOST_ENTRIES:
        raise ValueError(
            f"game must have at most {MOST_JOINT} joint actions and {MOST_ENTRIES} constraint "
            f'entries for method="lp", got {joint} and {entries}; use method="matching", or '
            'method="oracle" for small gaps'
        )


def programme_entries(sizes: Sequence[int], notion: str = "correlated") -> int:
    """Entries of the matrix of a game's programme: what its memory and time grow with."""
    # coarse rows are as many as actions, and each sees all joint actions
    return math.prod(sizes) * sum(k if notion == "coarse" else k - 1 for k in sizes)


class Programme(NamedTuple):
    """An equilibrium, the value of its objective, and what no equilibrium exceeds."""

    joint: Points
    value: float
    bound: float


def best_equilibrium(
    tables: Sequence[Points], objective: str | Vector = "welfare", seconds: float | None = None,
    notion: str = "correlated",
) -> Points | None:  # fmt: skip
    """The equilibrium of largest value, as probabilities of shape (n_1, …, n_N), as the tables are.

    The value is the sum of payoffs ("welfare"), the smallest one ("fair"), the sum with given
    weights, or nothing (``ANY``). None if it takes more than ``seconds``.
    """
    programme = optimise(tables, objective, seconds, notion)
    return None if programme is None else programme.joint


def optimise(
    tables: Sequence[Points], objective: str | Vector = "welfare", seconds: float | None = None,
    notion: str = "correlated",
) -> Programme | None:  # fmt: skip
    """The same with its value, and a bound by duality that does not rest on the solver's word.

    For any prices y ≥ 0 of the rows, no equilibrium has more than max_s [value(s) − Σ y·gain(s)].
    """
    from scipy.sparse import csr_array, hstack, vstack

    began = time.monotonic()
    shape = tables[0].shape
    if no_time_for(programme_entries(shape, notion), seconds):
        return None
    joint = math.prod(shape)
    levels = levels_of(tables, objective)
    flat = [table.ravel() - level for table, level in zip(tables, levels, strict=True)]
    incentives = rows = incentive_rows(tables, notion)
    fair = isinstance(objective, str) and objective == "fair"
    # in units of the largest payoff, so that programmes of any unit are alike
    unit = max(float(np.abs(payoff).max()) for payoff in flat) or 1.0
    weights = shares_of(objective, len(flat))
    values = sum(w * (payoff / unit) for w, payoff in zip(weights, flat, strict=True))
    if fair:  # one more variable: the smallest payoff, below each of them
        floors = csr_array(np.column_stack((-np.stack(flat) / unit, np.ones(len(flat)))))
        rows = vstack((hstack((rows, csr_array((rows.shape[0], 1)))), floors)).tocsr()
        cost = np.append(np.zeros(joint), -1.0)
    else:
        cost = np.zeros(joint) if isinstance(objective, str) and objective == ANY else -values
    scale = float(np.abs(cost).max()) or 1.0
    counted = np.append(np.ones(joint), np.zeros(len(cost) - joint))
    bounds = [(0.0, None)] * joint + [(None, None)] * (len(cost) - joint)
    # without an objective all corners tie, and the simplex method may wander among them for long
    interior = isinstance(objective, str) and objective == ANY and joint > _WANDERING
    left = None if seconds is None else seconds - (time.monotonic() - began)
    solution = solve_programme(
        cost / scale, rows, np.zeros(rows.shape[0]), counted, left, bounds,
        "highs-ipm" if interior else "highs", (TIGHT, LOOSE),
    )  # fmt: skip
    if solution is None:
        return None
    probabilities = np.maximum(solution.x[:joint], 0.0)
    probabilities /= probabilities.sum()
    prices = np.maximum(-solution.ineqlin.marginals, 0.0) * scale
    if fair:
        shares = prices[incentives.shape[0] :]
        shares = shares / shares.sum() if shares.sum() > 0 else np.full(len(flat), 1 / len(flat))
        values = sum(w * (payoff / unit) for w, payoff in zip(shares, flat, strict=True))
        reached = min(float(probabilities @ payoff) for payoff in flat)
    else:
        reached = unit * float(probabilities @ values)
    most = values - incentives.T @ prices[: incentives.shape[0]]
    bound = math.inf if isinstance(objective, str) and objective == ANY else unit * most.max()
    base = value_of_payoffs(levels, objective)
    return Programme(probabilities.reshape(shape), reached + base, float(bound) + base)


def incentive_rows(tables: Sequence[Points], notion: str = "correlated") -> csr_array:
    """What deviations gain for each joint action, payoffs scaled to 1; equilibria have none > 0."""
    return (_coarse_incentives if notion == "coarse" else _incentives)(tables)


def _in_own_unit(table: Points) -> Points:
    """Payoffs in [0, 1]: a large level would take the digits of their differences."""
    return np.asarray((table - table.min()) / (float(np.ptp(table)) or 1.0))


def _coarse_incentives(tables: Sequence[Points]) -> csr_array:
    """One row for every player and action: what always playing it gains, payoffs scaled to 1."""
    from scipy.sparse import csr_array

    rows = []
    for p, table in enumerate(tables):
        own = np.moveaxis(_in_own_unit(table), p, 0)
        rows.append(
            np.stack([np.moveaxis(np.broadcast_to(b, own.shape) - own, 0, p).ravel() for b in own])
        )
    return csr_array(np.concatenate(rows))


def _incentives(tables: Sequence[Points]) -> csr_array:
    """One row for every player and pair of actions a ≠ b that could pay, payoffs scaled to 1."""
    from scipy.sparse import csr_array

    shape = tables[0].shape
    joint = math.prod(shape)
    places = np.arange(joint).reshape(shape)
    data, columns, lengths = [], [], []
    for p, table in enumerate(tables):
        own = np.moveaxis(_in_own_unit(table), p, 0).reshape(shape[p], -1)
        where = np.moveaxis(places, p, 0).reshape(shape[p], -1)
        for a in range(shape[p]):
            gains = own - own[a]
            # rows without a positive entry hold for every P
            gains = gains[(gains > 0).any(axis=1)]
            data.append(gains.ravel())
            columns.append(np.tile(where[a], len(gains)))
            lengths.append(np.full(len(gains), gains.shape[1]))
    starts = np.append(0, np.cumsum(np.concatenate(lengths)))
    entries = np.concatenate(data), np.concatenate(columns), starts
    rows = csr_array(entries, shape=(len(starts) - 1, joint))
    rows.eliminate_zeros()
    return rows

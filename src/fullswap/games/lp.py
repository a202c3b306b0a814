"""Correlated equilibria of finite games by linear programming, exactly.

Probabilities P of joint actions are an equilibrium if for every player and actions a ≠ b

    Σ P(a, others)·[u(b, others) − u(a, others)] ≤ 0   over the joint actions of the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from fullswap.base import checks
from fullswap.base.protocols import Points, Vector

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_JOINT = 40_000  # joint actions of games given to the solver
MOST_ENTRIES = 12_000_000  # entries of its matrix: a hundred bytes each, in the end
OBJECTIVES = ("welfare", "fair")
# How far constraints may be broken: first the tightest that the solver takes, then its default, as
# the tighter one is sometimes out of reach.
_TOLERANCES = (1e-10, 1e-7)
_SOLVED, _OUT_OF_TIME = 0, 1  # the states of scipy's linprog that end the search
_LEAST_SECONDS = 0.01  # the solver's clock takes nothing shorter for a limit


def check_size(shape: Sequence[int | None]) -> None:
    """Whether a game with these numbers of actions is small enough, or a ValueError."""
    sizes = [k for k in shape if k is not None]
    if len(sizes) < len(shape):
        rule = 'have finitely many actions for method="lp" (else method="oracle")'
        checks.refuse("game", rule, tuple(shape))
    joint = math.prod(sizes)
    entries = sum((k - 1) * joint for k in sizes)
    if joint > MOST_JOINT or entries > MOST_ENTRIES:
        raise ValueError(
            f"game must have at most {MOST_JOINT} joint actions and {MOST_ENTRIES} constraint "
            f'entries for method="lp", got {joint} and {entries}; use method="matching", or '
            'method="oracle" for small gaps'
        )


def as_objective(objective: str | ArrayLike | None, players: int) -> str | Vector:
    """A checked objective: its name, or finite weights of the players, shape (players,)."""
    if objective is None:
        return "welfare"
    if isinstance(objective, str):
        return checks.one_of("objective", objective, OBJECTIVES)
    return checks.vector("objective", objective, players)


def best_equilibrium(
    tables: Sequence[Points], objective: str | Vector = "welfare", seconds: float | None = None
) -> Points | None:
    """The equilibrium of largest value, as probabilities of shape (n_1, …, n_N), as the tables are.

    The value is the sum of payoffs ("welfare"), the smallest one ("fair"), or the sum with given
    weights. None if it takes more than ``seconds``.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack, vstack

    shape = tables[0].shape
    joint = math.prod(shape)
    flat = [table.ravel() for table in tables]
    rows = _incentives(tables)
    if isinstance(objective, str) and objective == "fair":
        # one more variable: the smallest payoff, below each of them
        floors = csr_array(np.column_stack((-np.stack(flat), np.ones(len(flat)))))
        rows = vstack((hstack((rows, csr_array((rows.shape[0], 1)))), floors)).tocsr()
        cost = np.append(np.zeros(joint), -1.0)
    else:
        weights = np.ones(len(flat)) if isinstance(objective, str) else objective
        cost = -sum(w * payoff for w, payoff in zip(weights, flat, strict=True))
    scale = float(np.abs(cost).max()) or 1.0
    one = np.ones((1, len(cost)))
    one[0, joint:] = 0.0
    limit = {} if seconds is None else {"time_limit": max(seconds, _LEAST_SECONDS)}
    bounds = [(0.0, None)] * joint + [(None, None)] * (len(cost) - joint)
    for tolerance in _TOLERANCES:
        solution = linprog(
            cost / scale, rows, np.zeros(rows.shape[0]), one, [1.0], bounds, method="highs",
            options={"primal_feasibility_tolerance": tolerance, **limit},
        )  # fmt: skip
        if solution.status in (_SOLVED, _OUT_OF_TIME):
            break
    if solution.status != _SOLVED:
        return None
    probabilities = np.maximum(solution.x[:joint], 0.0)
    return np.asarray(probabilities / probabilities.sum()).reshape(shape)


def _incentives(tables: Sequence[Points]) -> csr_array:
    """One row for every player and pair of actions a ≠ b that could pay, payoffs scaled to 1."""
    from scipy.sparse import csr_array

    shape = tables[0].shape
    joint = math.prod(shape)
    places = np.arange(joint).reshape(shape)
    data, columns, lengths = [], [], []
    for p, table in enumerate(tables):
        own = np.moveaxis(table, p, 0).reshape(shape[p], -1)
        where = np.moveaxis(places, p, 0).reshape(shape[p], -1)
        own = own / (float(np.ptp(own)) or 1.0)
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

"""The check of a profile: gaps against every action, by code that knows nothing of solvers.

For a player who is recommended a, the others' actions average to a payoff vector w_a (weighted
by probability), and the best answer is a linear maximum over all of the player's actions:

    swap gap = Σ_a [max_v ⟨v, w_a⟩ − ⟨v(a), w_a⟩].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from fullswap.base import checks
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.games.actions import Action, ActionSet, Column, blocks, dots, stack
from fullswap.games.extensive.causal import causal_gain
from fullswap.games.extensive.sequence import SequenceForm
from fullswap.games.game import StructuredGame, Support, as_support, is_single
from fullswap.games.profiles import CorrelatedEquilibrium, Gap

# What can be checked: a result, joint actions with weights, or a table of probabilities.
Profile: TypeAlias = CorrelatedEquilibrium | tuple[Support, ArrayLike] | ArrayLike
_ROUNDING = 1e-6  # best answers worse than what is recommended by this share of its size are wrong
_DIVIDED = 1e-12  # how far weights may be from summing to 1 by rounding
_LARGEST_TREE = 3_000  # sequences of a player, whose squares are held at once
_DENSE = 4  # counting is quicker than sorting if numbers are at most so many times the entries
_CROWDED = 0.05  # share of entries from which on dense products are faster than sparse ones


def verify(game: StructuredGame, profile: Profile) -> CorrelatedEquilibrium:
    """Gaps of any profile.

    That is a CorrelatedEquilibrium; a tuple of joint actions (m, players), points as tuples, and
    weights (m,); or for finite games the whole table of probabilities, shape (n_1, …, n_N).

    Examples
    --------
    >>> from fullswap.games import from_matrices
    >>> chicken = from_matrices([[0, 7], [2, 6]], [[0, 2], [7, 6]])
    >>> verify(chicken, [[0, 0.25], [0.25, 0.5]]).gap
    0.0
    """
    support, weights = _as_profile(game, profile)
    columns = game.columns(support)
    gaps = tuple(_gap(game, player, columns, weights) for player in range(game.players))
    if isinstance(profile, CorrelatedEquilibrium) and profile.game is game:
        return replace(profile, support=support, weights=weights, gaps=gaps)
    return CorrelatedEquilibrium(game, support, weights, gaps)


def verify_product(
    game: StructuredGame, columns: Sequence[Column], mixed: Sequence[Vector]
) -> CorrelatedEquilibrium:
    """Gaps of independent draws: probabilities (k_p,) of the actions in each column (k_p,).

    Whatever a player is told, the others do the same: one best answer tells the gap.
    """
    marginals = [_marginal(c, own) for c, own in zip(columns, mixed, strict=True)]
    gaps = tuple(_product_gap(game, player, marginals) for player in range(game.players))
    shape = [len(own) for _, own in marginals]
    places = np.unravel_index(np.arange(math.prod(shape)), shape)
    weights = np.ones(1)
    for _, own in marginals:
        weights = np.outer(weights, own).ravel()
    support = stack([actions[at] for (actions, _), at in zip(marginals, places, strict=True)])
    return CorrelatedEquilibrium(game, support, weights / weights.sum(), gaps)


def _marginal(column: Column, own: Vector) -> tuple[Column, Vector]:
    """Distinct actions with positive probabilities, which sum to 1."""
    actions, where = numbered(column)
    total = np.bincount(where, own, len(actions))
    played = np.flatnonzero(total > 0)
    return actions[played], total[played] / total.sum()


def _product_gap(game: StructuredGame, player: int, marginals: list[tuple[Column, Vector]]) -> Gap:
    own, (recommended, shares) = game.actions[player], marginals[player]
    met = np.ones(1)
    for k, (_, weights) in enumerate(marginals):
        met = met if k == player else np.outer(met, weights).ravel()
    shape = [1 if k == player else len(weights) for k, (_, weights) in enumerate(marginals)]
    direction = np.zeros((1, own.dim))
    for rows in blocks(len(met), own.dim):
        part = np.arange(rows.start, min(rows.stop, len(met)))
        places = np.unravel_index(part, shape)
        others = [actions[at] for (actions, _), at in zip(marginals, places, strict=True)]
        direction += met[None, rows] @ game.vectors(player, others)
    best, value = own.best(direction)
    following = own.values(recommended, direction)[:, 0]
    k = int(following.argmax())
    embedded = np.concatenate((own.embed(recommended[k : k + 1]), own.embed(best)))
    slack = _ROUNDING * float(np.abs(embedded).max() * np.abs(direction).sum())
    _refuse_worse(own, player, value[0], recommended[k], following[k], slack)
    gains = shares * np.maximum(value[0] - following, 0.0)
    coarse = max(float(value[0] - shares @ following), 0.0)
    deviations = np.repeat(best, len(recommended))
    paid = float(shares @ following)
    return Gap(float(gains.sum()), coarse, recommended, deviations, gains, best[0], paid)


def _refuse_worse(
    own: ActionSet, player: int, value: float, action: Action, following: float, slack: float
) -> None:
    """If the best answer is worse than what is recommended."""
    if not value >= following - slack:
        raise ValueError(
            f"actions[{player}].best must give the largest payoff of all actions, got "
            f"{value:.6g} where {own.describe(action)} has {following:.6g}"
        )


def _gap(game: StructuredGame, player: int, columns: list[Column], weights: Vector) -> Gap:
    own = game.actions[player]
    recommended, where = numbered(columns[player])
    directions = _directions(game, player, columns, weights, where)
    deviations, values = own.best(directions)
    embedded = own.embed(recommended)
    following = dots(embedded, directions)
    lengths = np.maximum(np.abs(embedded).max(axis=1), np.abs(own.embed(deviations)).max(axis=1))
    slack = _ROUNDING * lengths * np.abs(directions).sum(axis=1)
    k = int((values - following + slack).argmin())
    _refuse_worse(own, player, values[k], recommended[k], following[k], slack[k])
    gains = np.maximum(values - following, 0.0)
    fixed, value = own.best(directions.sum(axis=0, keepdims=True))
    coarse = max(float(value[0] - following.sum()), 0.0)
    paid = float(following.sum())
    return Gap(float(gains.sum()), coarse, recommended, deviations, gains, fixed[0], paid)


def tree_gap(profile: CorrelatedEquilibrium) -> float | None:
    """What a player gains at most if moves are told one at a time; None if that is not known.

    It is known of trees in which everybody has perfect recall, see ``extensive.causal``.
    """
    game, gains = profile.game, []
    columns = game.columns(profile.support)
    for player, own in enumerate(game.actions):
        if not isinstance(own, SequenceForm) or own.dim > _LARGEST_TREE:
            return None
        recommended, where = numbered(columns[player])
        directions = _directions(game, player, columns, profile.weights, where)
        gains.append(causal_gain(own, recommended, directions) + 2 * game.errors[player])
    return max(gains)


def _directions(
    game: StructuredGame, player: int, columns: list[Column], weights: Vector, where: Indices
) -> Points:
    """w_a for each recommendation; ``where`` tells that of each joint action.

    Payoff vectors are formed once for each joint action of the others, and a block at a time: a
    whole table of probabilities has many joint actions and long vectors.
    """
    met = np.zeros(len(weights), dtype=np.int64)
    for k, column in enumerate(columns):
        if k != player:
            actions, places = numbered(column)
            met = numbered(met * len(actions) + places)[1]
    first = np.empty(int(met.max()) + 1, dtype=np.int64)
    first[met[::-1]] = np.arange(len(met))[::-1]  # the first of each is written last
    shares = sparse.coo_array((weights, (where, met))).tocsc()
    total = np.zeros((shares.shape[0], game.actions[player].dim))
    for rows in blocks(len(first), total.shape[1]):
        vectors = game.vectors(player, [column[first[rows]] for column in columns])
        part = shares[:, rows]
        crowded = part.nnz > _CROWDED * math.prod(part.shape)  # as a whole table is
        total += (part.toarray() if crowded else part) @ vectors
    return total


def numbered(column: Column) -> tuple[Column, Indices]:
    """Distinct actions in order, and the place of each entry among them.

    What ``np.unique`` answers; where numbers are dense, by counting and not by sorting.

    Examples
    --------
    >>> [part.tolist() for part in numbered(np.array([7, 3, 7]))]
    [[3, 7], [1, 0, 1]]
    """
    if column.dtype.kind == "i" and column.size:
        low, high = int(column.min()), int(column.max())
        if high - low <= _DENSE * len(column):
            there = np.zeros(high - low + 1, dtype=bool)
            there[column - low] = True
            return np.flatnonzero(there) + low, (np.cumsum(there) - 1)[column - low]
    actions, where = np.unique(column, return_inverse=True)
    return actions, where.ravel()


def _as_profile(game: StructuredGame, profile: Profile) -> tuple[NDArray[Any], Vector]:
    """Joint actions (m, players), and their probabilities (m,) that sum to 1."""
    if isinstance(profile, CorrelatedEquilibrium):
        return profile.support, profile.weights
    if isinstance(profile, tuple) and len(profile) == 2 and not _is_row(profile[0]):
        support = as_support(profile[0], game.players)
        weights = checks.vector("weights", profile[1], len(support))
    else:
        sizes = tuple(s.size for s in game.actions)
        try:
            table = np.asarray(profile)
        except ValueError:  # not rectangular
            table = np.array(None)
        if table.dtype.kind not in "biuf":
            rule = "be a tuple (support, weights), or a table of probabilities"
            checks.refuse("profile", rule, profile)
        if table.shape != sizes:
            checks.refuse_shape("profile", f"{sizes} or be a tuple (support, weights)", table)
        support = np.argwhere(table != 0)
        weights = checks.vector("probabilities", table[tuple(support.T)])
    checks.refuse_at("weights", "be at least 0", weights, weights < 0)
    total = weights.sum()
    if abs(total - 1) > checks.ROW_TOLERANCE:
        checks.refuse("weights", "sum to 1", float(total))
    # weights that were divided already stay what they are: a profile read back has the same gap
    return support, weights if abs(total - 1) <= _DIVIDED else weights / total


def _is_row(values: Support | ArrayLike) -> bool:
    """Whether these are numbers, a row of a table, and not joint actions."""
    return isinstance(values, list | tuple | np.ndarray) and all(map(is_single, values))

"""The check of a profile: gaps against every action, by code that knows nothing of solvers.

For a player who is recommended a, the others' actions average to a payoff vector w_a (weighted
by probability), and the best answer is a linear maximum over all of the player's actions:

    swap gap = Σ_a [max_v ⟨v, w_a⟩ − ⟨v(a), w_a⟩].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.games.game import StructuredGame
from fullswap.games.profiles import CorrelatedEquilibrium, Gap
from fullswap.protocols import Vector


def verify(game: StructuredGame, profile: Any) -> CorrelatedEquilibrium:
    """Gaps of any profile.

    Parameters
    ----------
    game : StructuredGame
        The game.
    profile : CorrelatedEquilibrium, pair or array
        Joint actions (m, players) with weights (m,), or for finite games the whole table of
        probabilities, shape (n_1, …, n_N).

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
    told = profile if isinstance(profile, CorrelatedEquilibrium) else None
    return CorrelatedEquilibrium(
        game, support, weights, gaps,
        told.rounds if told else 0, told.reached if told else True, told.method if told else "",
    )  # fmt: skip


def _gap(game: StructuredGame, player: int, columns: list[Any], weights: Vector) -> Gap:
    own = game.actions[player]
    vectors = game.vectors(player, columns) * weights[:, None]
    recommended, where = np.unique(columns[player], return_inverse=True)
    order = np.argsort(where.ravel(), kind="stable")
    starts = np.searchsorted(where.ravel()[order], np.arange(len(recommended)))
    directions = np.add.reduceat(vectors[order], starts, axis=0)
    deviations, values = own.best(directions)
    kept = np.einsum("ij,ij->i", own.embed(recommended), directions)
    gains = np.maximum(values - kept, 0.0)
    whole = directions.sum(axis=0, keepdims=True)
    fixed, value = own.best(whole)
    coarse = max(float(value[0] - kept.sum()), 0.0)
    return Gap(float(gains.sum()), coarse, recommended, deviations, gains, fixed[0])


def _as_profile(game: StructuredGame, profile: Any) -> tuple[Any, Vector]:
    if isinstance(profile, CorrelatedEquilibrium):
        return profile.support, profile.weights
    if isinstance(profile, tuple) and len(profile) == 2:
        support, weights = np.asarray(profile[0]), np.asarray(profile[1])
    else:
        table = np.asarray(profile)
        sizes = tuple(s.size for s in game.actions)
        if table.dtype.kind not in "iuf" or table.shape != sizes:
            raise ValueError(
                f"profile must be (support, weights), or probabilities of shape {sizes}, "
                f"got shape {table.shape}"
            )
        support = np.argwhere(table != 0)
        weights = table[tuple(support.T)]
    if weights.dtype.kind not in "iuf" or weights.shape != (len(support),):
        raise ValueError(f"weights must have shape ({len(support)},), got {weights.shape}")
    weights = weights.astype(float)
    if not weights.size or not np.isfinite(weights).all() or weights.min() < 0:
        raise ValueError("weights must be finite numbers >= 0, at least one of them")
    total = weights.sum()
    if abs(total - 1) > 1e-6:
        raise ValueError(f"weights must add up to 1, got {total:.9g}")
    return support, weights / total

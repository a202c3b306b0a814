"""Profiles in forms that other programs read: frames, tables, plain data, Gambit and OpenSpiel."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Points, Vector
from fullswap.games.names import in_words, told_apart

if TYPE_CHECKING:
    from fullswap.games.actions import ActionSet, Column
    from fullswap.games.game import StructuredGame
    from fullswap.games.profiles import CorrelatedEquilibrium

MOST_CELLS = 50_000_000
"""Of a table of probabilities: 400 MB."""


def to_columns(e: CorrelatedEquilibrium, numbers: bool) -> dict[str, Any]:
    """Columns of a frame: each player's actions, the probability, each player's payoffs."""
    game, payoffs = e.game, e.game.payoffs(e.support)
    actions = [
        _entries(own, column, numbers)
        for own, column in zip(game.actions, game.columns(e.support), strict=True)
    ]
    paid = [f"payoff of {name}" for name in game.player_names]
    names = told_apart([*game.player_names, "probability", *paid])
    return dict(zip(names, [*actions, e.weights, *payoffs.T], strict=True))


def _entries(own: ActionSet, column: Column, numbers: bool) -> Any:
    """Names of actions, which are numbers or points where there is nothing better to say."""
    if numbers:
        return column if column.dtype != object else [plain(action) for action in column]
    names = [own.name(action) for action in column]
    parts = [part for name in names if isinstance(name, list) for part in name]
    if not all(isinstance(part, float) for part in parts):
        return [in_words(name) for name in names]
    return names


def plain(value: Any) -> Any:
    """Numbers, texts, and lists of these: what JSON can hold."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def to_table(e: CorrelatedEquilibrium) -> Points:
    """Probabilities of all joint actions, shape (n_1, …, n_N)."""
    sizes = sizes_of(e.game, "to_table")
    if math.prod(sizes) > MOST_CELLS:
        checks.refuse("game", f"have at most {MOST_CELLS:,} joint actions", math.prod(sizes))
    table = np.zeros(sizes)
    np.add.at(table, tuple(e.game.columns(e.support)), e.weights)
    return table


def to_mixed(e: CorrelatedEquilibrium) -> list[list[float]]:
    """For each player the probabilities of all actions."""
    sizes = sizes_of(e.game, "to_mixed")
    if sum(sizes) > MOST_CELLS:
        checks.refuse("game", f"have at most {MOST_CELLS:,} actions", sum(sizes))
    columns = e.game.columns(e.support)
    return [
        np.bincount(column, e.weights, size).tolist()
        for column, size in zip(columns, sizes, strict=True)
    ]


def to_openspiel(e: CorrelatedEquilibrium) -> list[tuple[float, dict[str, list[Any]]]]:
    """Weights, and what each joint action says in each information state of OpenSpiel."""
    sizes = sizes_of(e.game, "to_openspiel")
    played = np.flatnonzero(e.weights > 0)
    entries = len(played) * sum(sizes)
    if entries > MOST_CELLS:
        rule = f"have at most {MOST_CELLS:,} actions in all its joint actions"
        checks.refuse("profile", rule, entries)
    columns = [column[played] for column in e.game.columns(e.support)]
    device = []
    for weight, *joint in zip(e.weights[played], *columns, strict=True):
        policy = {
            # what pyspiel.convert_to_turn_based calls the one moment of each player
            f"Current player: {p}\nObserving player: {p}. Non-terminal": [
                (k, float(k == action)) for k in range(size)
            ]
            for p, (action, size) in enumerate(zip(joint, sizes, strict=True))
        }
        device.append((float(weight), policy))
    return device


def distance_to_product(e: CorrelatedEquilibrium) -> float:
    """Half the sum of all differences to independent draws from the marginals, in [0, 1]."""
    marginals = [_shares(column, e.weights) for column in e.game.columns(e.support)]
    rows = np.column_stack([where for where, _ in marginals])
    _, first, joint = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    weights = np.bincount(joint.ravel(), e.weights, len(first))
    product = np.ones(len(first))
    for where, shares in marginals:
        product *= shares[where[first]]
    # what the product gives to joint actions that are never recommended is all difference
    outside = max(1.0 - float(product.sum()), 0.0)
    return (float(np.abs(weights - product).sum()) + outside) / 2


def _shares(column: Column, weights: Vector) -> tuple[Any, Vector]:
    actions, where = np.unique(column, return_inverse=True)
    return where.ravel(), np.bincount(where.ravel(), weights, len(actions)).astype(float)


def sizes_of(game: StructuredGame, what: str) -> list[int]:
    """How many actions each player has, all of them finitely many."""
    sizes = []
    for own, name in zip(game.actions, game.player_names, strict=True):
        if own.size is None:
            rule = f"have finitely many numbered actions of every player for {what}"
            checks.refuse("game", rule, f"others of {name}")
        sizes.append(own.size)
    return sizes

"""An equilibrium in a line, and as a card for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fullswap.base.amounts import percent
from fullswap.base.html import card, note, table

if TYPE_CHECKING:
    from fullswap.games.profiles import CorrelatedEquilibrium

LIKELIEST = 10
"""Joint actions in a card; the rest are counted."""
MOST_PAYOFFS = 6
"""Players whose payoffs are in the line."""
LONGEST_NAME = 72
"""Letters of an action's name."""
ROUNDED = 1e-12
"""A gap or payoff below this is rounding."""


def line_of(e: CorrelatedEquilibrium) -> str:
    """Gap, size and payoffs."""
    count = len(e.weights)
    missed = " (not as small as asked for)" if e.reached is False else ""
    actions = f"{count:,} joint action{'' if count == 1 else 's'}"
    return f"{e.game.name}: gap {number(e.gap)}{missed}, {actions}, payoffs {payoffs_of(e)}"


def payoffs_of(e: CorrelatedEquilibrium) -> str:
    """Those of the first players."""
    said = [number(value) for value in e.payoffs]
    return ", ".join(said[:MOST_PAYOFFS]) + (", …" if len(said) > MOST_PAYOFFS else "")


def html_of(e: CorrelatedEquilibrium) -> str:
    """Gap and payoffs of every player, and the likeliest joint actions by name."""
    game = e.game
    players = list(game.player_names)
    gains = [
        [who, number(own.swap + 2 * error), number(payoff)]
        for who, own, error, payoff in zip(players, e.gaps, game.errors, e.payoffs, strict=True)
    ]
    head = ["player", "gains at most by deviating", "payoff"]
    order = np.argsort(-e.weights, kind="stable")[:LIKELIEST]
    columns = game.columns(e.support[order])
    named = [
        [_name(own.name(action)) for action in column]
        for own, column in zip(game.actions, columns, strict=True)
    ]
    rows = [
        [*joint, percent(float(weight))]
        for joint, weight in zip(zip(*named, strict=True), e.weights[order], strict=True)
    ]
    left, rest = len(e.weights) - len(order), 1.0 - float(e.weights[order].sum())
    notes = [note(f"and {left:,} more, {percent(max(rest, 0.0))} in all")] if left else []
    if any(
        isinstance(own.name(column[0]), int)
        for own, column in zip(game.actions, columns, strict=True)
    ):
        notes.append(note("Actions without names are numbered from 1."))
    recommended = table([*players, "probability"], rows, words=len(players))
    return card(line_of(e), table(head, gains), recommended, *notes)


def number(value: float) -> str:
    """Four figures; what is rounding is 0."""
    return "0" if abs(value) < ROUNDED else f"{value:.4g}".replace("-", "−", int(value < 0))


def _name(name: Any) -> str:
    """A name that fits a table."""
    if isinstance(name, float):
        return f"{name:.6g}"
    text = ", ".join(map(str, name)) if isinstance(name, list | tuple) else str(name)
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"

"""Where the actions of a player stand on an axis, and what they are called there."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fullswap.base.protocols import Vector
from fullswap.report.style import count_of, figures

if TYPE_CHECKING:
    from fullswap.games import ActionSet, CorrelatedEquilibrium

READABLE = 40
"""Most actions of a player that get a place and a name of their own."""
LONGEST_NAME, LONGEST_KEY, KEY_WIDTH = 22, 5, 76
"""Letters of a name on an axis, entries of a key, letters of its lines."""

ZERO = 1e-9
"""A number this small is the rounding of payoffs of order 1."""


@dataclass(frozen=True)
class Scale:
    """Where the recommended actions of one player stand on an axis, r of them in order."""

    actions: Any
    positions: Vector
    probabilities: Vector
    names: tuple[str, ...]
    """Empty if actions are read off a numeric axis."""
    key: tuple[str, ...]
    """Lines that explain the names, where these are numbers only."""
    limits: tuple[float, float]
    label: str
    """What the axis shows."""

    def place(self, action: Any) -> float:
        """Where an action stands: at its value, or where it is shown."""
        if np.array_equal(self.positions, self.actions):
            return float(action)
        return float(self.positions[np.searchsorted(self.actions, action)])


def joint_sums(
    equilibrium: CorrelatedEquilibrium, pair: tuple[int, int]
) -> tuple[list[Any], tuple[Any, Any], Vector]:
    """Distinct actions of both, and for each pair that occurs its places and probability."""
    played = equilibrium.weights > 0
    columns = equilibrium.game.columns(equilibrium.support[played])
    actions, places = zip(*(np.unique(columns[p], return_inverse=True) for p in pair), strict=True)
    width = len(actions[1])
    cells, where = np.unique(places[0].ravel() * width + places[1].ravel(), return_inverse=True)
    weights = sums_of(where, equilibrium.weights[played], len(cells))
    return list(actions), (cells // width, cells % width), weights


def sums_of(where: Any, weights: Vector, count: int) -> Vector:
    """Weights added up by place, shape (count,)."""
    return np.bincount(where.ravel(), weights, count).astype(float)


def is_line(actions: ActionSet) -> bool:
    """Whether actions are numbers of an interval."""
    return actions.size is None and hasattr(actions, "low") and hasattr(actions, "high")


def scale_of(
    own: ActionSet, player: int, seen: Any, chances: Vector, *, listed: bool = False,
    extra: Any = None,
) -> Scale:  # fmt: skip
    """The axis of a player; ``listed``: recommended actions only, side by side."""
    label = f"player {player}: {count_of(len(seen), 'action')}"
    if is_line(own):
        low, high = float(own.low), float(own.high)  # type: ignore[attr-defined]
        margin = 0.02 * (high - low)
        label += f", mean {number_of(float(seen @ chances))}"
        return Scale(seen, seen, chances, (), (), (low - margin, high + margin), label)
    if own.size is not None:
        label = f"player {player}: {len(seen):,} of {count_of(own.size, 'action')}"
    crowded = len(seen) > READABLE
    if own.size is not None and (crowded or (own.size <= READABLE and not listed)):
        names, key = ((), ()) if crowded else names_of(own, seen, chances)
        margin = 0.5 if own.size <= READABLE else 0.02 * own.size
        limits = -margin, own.size - 1 + margin
        return Scale(seen, seen.astype(float), chances, names, key, limits, label)
    if extra is not None and extra not in seen:
        at = int(np.searchsorted(seen, extra))
        seen, chances = np.insert(seen, at, extra), np.insert(chances, at, 0.0)
    names, key = ((), ()) if crowded else names_of(own, seen, chances)
    limits = -0.5, len(seen) - 0.5
    return Scale(seen, np.arange(len(seen), dtype=float), chances, names, key, limits, label)


def names_of(own: ActionSet, seen: Any, chances: Vector) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names for ticks, and the key to them if they had to be cut to numbers."""
    full = tuple(own.describe(action) for action in seen)
    if max(map(len, full)) <= LONGEST_NAME:
        return full, ()
    # A finite set's own numbers: those that support arrays hold and describe() takes.
    short = tuple(f"#{k if own.size is None else seen[k]}" for k in range(len(seen)))
    key: list[str] = []
    likeliest = np.argsort(-chances, kind="stable")[:LONGEST_KEY]
    for k in np.sort(likeliest):
        key += textwrap.wrap(f"{short[k]}  {full[k]}", KEY_WIDTH, subsequent_indent=" " * 8)
    if len(full) > LONGEST_KEY:
        key.append(f"and {len(full) - LONGEST_KEY} more")
    return short, tuple(key)


def number_of(value: float) -> str:
    """Three figures; what is zero up to rounding is zero."""
    return "0" if abs(value) < ZERO else figures(value).replace("-", "−", int(value < 0))

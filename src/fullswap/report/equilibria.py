"""Parts that pictures of correlated equilibria share: words about them, names on axes, checks.

Actions stand where they can be read: the parameter for a curve, all numbers of a small finite
set, and only the recommended actions of a large one, side by side. Names too long for an axis are
replaced by the action's number, and a key below the picture tells them.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Vector
from fullswap.metrics.groups import sums_by
from fullswap.report.style import count_of, figures, inches_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fullswap.games import ActionSet, CorrelatedEquilibrium

READABLE = 40
"""Most actions of a player that get a place and a name of their own."""
LONGEST_NAME, LONGEST_KEY, KEY_WIDTH = 22, 5, 76
"""Letters of a name on an axis, entries of a key, letters of its lines."""

ZERO = 1e-9
"""A number this small is the rounding of payoffs of order 1."""
LETTER = 0.075
"""Width of a letter in inches, with room to spare."""
MOST_PAYOFFS = 6
"""Payoffs that fit on the line above a picture."""
NO_GAP = 1e-12
"""A gap below this is rounding."""


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
    cells, where = np.unique(places[0] * width + places[1], return_inverse=True)
    weights = sums_by(where, equilibrium.weights[played], len(cells))
    return list(actions), (cells // width, cells % width), weights


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


def summary(
    equilibrium: CorrelatedEquilibrium, joint: int, pair: tuple[int, int] | None
) -> list[str]:
    """Two lines about an equilibrium: number of joint actions; gap and payoffs."""
    game, gap = equilibrium.game, equilibrium.gap
    counted = count_of(joint, "joint action")
    if pair is not None and game.players > 2:
        counted = f"players {pair[0]} and {pair[1]} of {game.players}, {counted}"
    payoffs = [number_of(value) for value in equilibrium.payoffs]
    shown = ", ".join(payoffs[:MOST_PAYOFFS]) + (", …" if len(payoffs) > MOST_PAYOFFS else "")
    missed = "" if equilibrium.reached is not False else " (not as small as asked for)"
    size = f"below {NO_GAP:g}" if gap < NO_GAP else figures(gap)
    return [f"{game.name}: {counted}", f"gap {size}{missed}, payoffs {shown}"]


def name_ticks(ax: Axes, scale: Scale, which: str, labels: bool) -> None:
    """Names at the ticks of an axis, slanted where they would run into one another."""
    axis = ax.xaxis if which == "x" else ax.yaxis
    if not labels and scale.names:
        axis.set_ticks([])
    elif scale.names:
        axis.set_ticks(list(scale.positions), list(scale.names))
        apart = np.diff(scale.positions).min(initial=scale.limits[1] - scale.limits[0])
        room = inches_of(ax) * apart / (scale.limits[1] - scale.limits[0])
        if which == "x" and LETTER * (1 + max(map(len, scale.names))) > room:
            for label in axis.get_ticklabels():
                label.set(rotation=45, ha="right", rotation_mode="anchor")
    elif scale.limits[1] >= 1000:
        axis.set_major_formatter("{x:,.0f}")


def fit(figure: Figure, stack: bool = False) -> None:
    """Give the figure the size of what is drawn; ``stack``: axes one below the other.

    Axes keep their sizes in inches, so that cells stay square, whatever the length of names.
    """
    size = figure.get_size_inches()
    boxes = [np.array(ax.get_position().bounds) * [*size, *size] for ax in figure.axes]
    floor = 0.0
    for ax, box in zip(figure.axes, boxes, strict=True):
        if stack:
            tight = ax.get_tightbbox()
            assert tight is not None
            box[1] += floor - tight.y1 / figure.dpi
            floor += -tight.height / figure.dpi - 0.2
            ax.set_position(tuple(box / [*size, *size]))
    drawn = figure.get_tightbbox()
    # Letters round to pixels, and so many lines of text are longer at some resolutions.
    margin = 0.1 + 0.015 * drawn.height
    wanted = np.array([drawn.width + 2 * margin, drawn.height + 2 * margin])
    figure.set_size_inches(*wanted)
    for ax, box in zip(figure.axes, boxes, strict=True):
        box[:2] += margin - np.array([drawn.x0, drawn.y0])
        ax.set_position(tuple(box / [*wanted, *wanted]))


def check_equilibrium(equilibrium: Any) -> None:
    """Refuse what is no equilibrium."""
    from fullswap.games import CorrelatedEquilibrium

    wanted = "a CorrelatedEquilibrium, such as solve(game) or verify(game, profile)"
    checks.instance("equilibrium", equilibrium, CorrelatedEquilibrium, wanted)

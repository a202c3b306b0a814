"""Parts that pictures of correlated equilibria share: words about them, names on axes, checks.

Actions stand where they can be read: the parameter for a curve, all numbers of a small finite
set, and only the recommended actions of a large one, side by side. An axis ends where nothing more
is recommended, and its label says so; of too many actions to name, those that are hardly ever
recommended are left out and counted. Names too long for an axis are replaced by the action's
number, and a key below the picture tells them.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fullswap.base import checks
from fullswap.base.amounts import counted as count_of
from fullswap.base.amounts import percent
from fullswap.base.protocols import Vector
from fullswap.metrics.groups import sums_by
from fullswap.report.style import figures, inches_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fullswap.games import ActionSet, CorrelatedEquilibrium

READABLE = 40
"""Most actions of a player that get a place and a name of their own."""
LONGEST_NAME, LONGEST_KEY, KEY_WIDTH = 22, 5, 76
"""Letters of a name on an axis, entries of a key, letters of its lines."""

RARE = 0.01
"""Actions of no more than this probability in all are left out if the others can be named then."""
ZOOMED = 0.4
"""An axis ends near the actions where these take up less than this share of it."""
ROUNDED = 1e-9
"""Sums of probabilities are this near to 1."""
ZERO = 1e-9
"""A number this small is the rounding of payoffs of order 1."""
SLANTED = 0.18
"""Inches between slanted names at least; nearer ones stand upright."""
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
    weights = equilibrium.weights[played]
    shown = np.ones(len(weights), dtype=bool)
    for p in pair:
        shown &= likely(columns[p], weights)
    chosen = [np.unique(columns[p][shown], return_inverse=True) for p in pair]
    (rows, row), (actions, column) = chosen
    width = len(actions)
    cells, where = np.unique(row * width + column, return_inverse=True)
    sums = sums_by(where, weights[shown], len(cells))
    return [rows, actions], (cells // width, cells % width), sums


def likely(column: Any, weights: Vector) -> Any:
    """Which of these recommendations are shown: all, or those that can be named and matter."""
    seen, where = np.unique(column, return_inverse=True)
    everything = np.ones(len(weights), dtype=bool)
    if len(seen) <= READABLE:
        return everything
    chances = sums_by(where, weights, len(seen))
    order = np.argsort(-chances, kind="stable")
    # what is left after the likeliest k, without the rounding of sums near 1
    left = np.append(np.cumsum(chances[order][::-1])[::-1][1:], 0.0)
    needed = int(np.argmax(left <= RARE)) + 1
    if needed > READABLE:
        return everything
    kept = np.zeros(len(seen), dtype=bool)
    kept[order[:needed]] = True
    return kept[where]


def is_line(actions: ActionSet) -> bool:
    """Whether actions are numbers of an interval."""
    return actions.size is None and hasattr(actions, "low") and hasattr(actions, "high")


def scale_of(
    own: ActionSet, player: str, seen: Any, chances: Vector, *, listed: bool = False,
    extra: Any = None,
) -> Scale:  # fmt: skip
    """The axis of a player; ``listed``: recommended actions only, side by side."""
    rest = 1.0 - float(chances.sum())
    most = f" ({percent(1 - rest)} of the probability)" if rest > ROUNDED else ""
    if is_line(own):
        label = f"{player}: {count_of(len(seen), 'action')}{most}"
        label += f", mean {number_of(float(seen @ chances / chances.sum()))}"
        ends = float(own.low), float(own.high)  # type: ignore[attr-defined]
        limits, told = _limits(seen, extra, ends, 0.02 * (ends[1] - ends[0]))
        return Scale(seen, seen, chances, (), (), limits, label + told)
    label = f"{player}: {count_of(len(seen), 'action')}{most}"
    if own.size is not None:
        label = f"{player}: {len(seen):,} of {count_of(own.size, 'action')}{most}"
    crowded = len(seen) > READABLE
    if own.size is not None and (crowded or (own.size <= READABLE and not listed)):
        names, key = ((), ()) if crowded else names_of(own, seen, chances)
        limits, told = (-0.5, own.size - 0.5), ""
        if own.size > READABLE:
            limits, told = _limits(seen, extra, (0.0, own.size - 1.0), 0.02 * own.size)
        label += told + _numbered(names)
        return Scale(seen, seen.astype(float), chances, names, key, limits, label)
    if extra is not None and extra not in seen:
        at = int(np.searchsorted(seen, extra))
        seen, chances = np.insert(seen, at, extra), np.insert(chances, at, 0.0)
    names, key = ((), ()) if crowded else names_of(own, seen, chances)
    limits = -0.5, len(seen) - 0.5
    label += "" if own.size is None else _numbered(names)
    return Scale(seen, np.arange(len(seen), dtype=float), chances, names, key, limits, label)


def _numbered(names: tuple[str, ...]) -> str:
    """What an axis of actions without names says of their numbers."""
    return ", numbered from 0" if all(name.isdigit() for name in names) else ""


def _limits(
    seen: Any, extra: Any, ends: tuple[float, float], margin: float
) -> tuple[tuple[float, float], str]:
    """Ends of a numeric axis, nearer where all actions lie close together, and words for that."""
    shown = seen if extra is None else np.append(seen, extra)
    low, high = float(shown.min()), float(shown.max())
    # One action alone is seen best among all that there are.
    if len(seen) < 2 or not high - low < ZOOMED * (ends[1] - ends[0]):
        return (ends[0] - margin, ends[1] + margin), ""
    room = 0.1 * (high - low)
    told = f"\nshown: {number_of(low)} to {number_of(high)} of {number_of(ends[0])} to "
    return (low - room, high + room), told + number_of(ends[1])


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
        one, other = (game.player_names[p] for p in pair)
        counted = f"{one} and {other} of {game.players} players, {counted}"
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
            upright = room < SLANTED
            for label in axis.get_ticklabels():
                label.set(rotation=90 if upright else 45, ha="right", rotation_mode="anchor")
                label.set(va="center" if upright else "baseline")
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

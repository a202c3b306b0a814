"""Parts that pictures of correlated equilibria share: words about them, names on axes, checks.

Actions stand where they can be read: the parameter for a curve, all numbers of a small finite
set, and only the recommended actions of a large one, side by side. Names too long for an axis are
replaced by the action's number, and a key below the picture tells them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fullswap.base import checks
from fullswap.report.scales import Scale, number_of
from fullswap.report.style import count_of, figures, root_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fullswap.games import CorrelatedEquilibrium

LETTER = 0.075
"""Width of a letter in inches, with room to spare."""
MOST_PAYOFFS = 6
"""Payoffs that fit on the line above a picture."""
NO_GAP = 1e-12
"""A gap below this is rounding."""


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


def inches_of(ax: Axes, wide: bool = True) -> float:
    """Width of the axes, or height."""
    extent = ax.get_window_extent()
    return float((extent.width if wide else extent.height) / root_figure(ax).dpi)


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

"""Pictures of seconds and rounds to an equilibrium."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from fullswap.report.style import (
    BLUE,
    INK,
    LINE,
    SMALL,
    VERMILION,
    new_figure,
)
from studies.fits import SMALLEST
from studies.report.axes import log_scales

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ORANGE, _GUIDE = "#E69F00", "0.6"
_LOOKS: dict[str, tuple[str, str, str]] = {
    "LP": (INK, "s", "linear programme"),
    "Blum–Mansour, dense": (_ORANGE, "D", "Blum–Mansour on all actions"),
    "paper": (VERMILION, "o", "paper’s learner in self-play"),
    "matching": ("#56B4E9", "<", "solve: matching"),
    "auto": (BLUE, "*", "solve: auto"),
}
"""Method ↦ colour, marker, name."""
OURS = "fullswap, "
_ABOVE = 1.35
"""Times the budget, where crosses are drawn: at the budget they would cover results."""


def draw_seconds(curves: list[dict[str, Any]], budget: float) -> Figure:
    """A panel a game: seconds against the number of actions, one line a method."""
    from matplotlib.ticker import LogLocator

    games = list(dict.fromkeys(curve["game"] for curve in curves))
    columns = min(3, len(games))
    lines = -(-len(games) // columns)
    figure = new_figure(2.7 * columns + 0.6, 2.35 * lines + 0.9, arranged=True)
    grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
    spare = grid.flat[len(games) :]
    for ax in spare:
        ax.set_axis_off()
    for place, (ax, game) in enumerate(zip(grid.flat, games, strict=False)):
        log_scales(ax)
        # numbers of actions are long: only powers of ten are written
        ax.xaxis.set_major_locator(LogLocator())
        ax.axhline(budget, color=_GUIDE, linewidth=0.8, zorder=1)
        crosses: dict[int, int] = {}
        for curve in (c for c in curves if c["game"] == game):
            _climb(ax, curve, budget, crosses)
        ax.set_title(game, loc="left", fontsize=10, color=INK)
        if place % columns == 0:
            ax.set_ylabel("CPU seconds", fontsize=9, color=INK)
        if place + columns >= len(games):
            ax.set_xlabel("actions of a player", fontsize=9, color=INK)
            ax.tick_params(labelbottom=True)
    _legend(figure, [curve["method"] for curve in curves], into=spare[0] if len(spare) else None)
    return figure


def _climb(ax: Axes, curve: dict[str, Any], budget: float, crosses: dict[int, int]) -> None:
    colour = look_of(curve["method"])[0]
    wide = 1.8 if curve["method"] == f"{OURS}auto" else 1.1
    xs = [point["actions"] for point in curve["points"]]
    ys = [max(point["seconds"], SMALLEST) for point in curve["points"]]
    ax.plot(xs, ys, linewidth=wide, **_marked(curve["method"]))
    if curve["failed"] is not None:
        # crosses at one place stand side by side
        actions = curve["failed"]["actions"]
        shown = actions * 1.3 ** crosses.get(actions, 0)
        crosses[actions] = crosses.get(actions, 0) + 1
        height = _ABOVE * budget
        ax.plot([*xs[-1:], shown], [*ys[-1:], height], color=colour, linewidth=0.8, linestyle=":")
        ax.plot([shown], [height], color=colour, marker="x", markersize=7, markeredgewidth=1.6,
                linestyle="none")  # fmt: skip


def draw_rounds(rounds: dict[str, Any]) -> Figure:
    """A column a dimension: rounds and seconds against the inverse of the gap."""
    runs = rounds["runs"]
    figure = new_figure(2.7 * len(runs) + 0.8, 5.4, arranged=True)
    grid = figure.subplots(2, len(runs), sharex=True, sharey="row", squeeze=False)
    for column, run in enumerate(runs):
        above, below = grid[:, column]
        for ax, key in ((above, "rounds"), (below, "seconds")):
            log_scales(ax)
            for curve in (c for c in rounds["curves"] if c["dim"] == run["dim"]):
                _descent(ax, curve, run, key)
        paper = rounds["paper"][str(run["dim"])]
        inverse = [_inverse(point["guaranteed"]) for point in run["points"]]
        counts = [point["rounds"] for point in run["points"]]
        above.plot(inverse, counts, color=VERMILION, linewidth=1.2, linestyle=":")
        _guide(above, run["points"], paper)
        above.set_title(f"d = {run['dim']}", loc="left", fontsize=10, color=INK)
        below.set_xlabel("1/ε, inverse of the gap", fontsize=9, color=INK)
    grid[0, 0].set_ylabel("rounds", fontsize=9, color=INK)
    grid[1, 0].set_ylabel("CPU seconds", fontsize=9, color=INK)
    from matplotlib.lines import Line2D

    guides = [
        Line2D([], [], color=VERMILION, linewidth=1.2, linestyle=":",
               label="guarantee of the paper’s learner"),
        Line2D([], [], color=LINE, linewidth=1.2, linestyle="--", label="slope (d + 3)/2"),
    ]  # fmt: skip
    _legend(figure, [curve["method"] for curve in rounds["curves"]], guides)
    return figure


def _descent(ax: Axes, curve: dict[str, Any], run: dict[str, Any], key: str) -> None:
    if curve["method"] == "paper":
        points = [(_inverse(point["gap"]), point[key]) for point in run["points"]]
    else:
        points = [(1 / point["target"], point[key]) for point in curve["points"] if point[key] > 0]
    wide = 1.8 if curve["method"] in ("paper", "auto") else 1.1
    xs, ys = zip(*points, strict=True) if points else ((), ())
    ax.plot(xs, ys, linewidth=wide, **_marked(curve["method"]))


def _guide(ax: Axes, points: list[dict[str, Any]], slope: float) -> None:
    """A line of this slope through the middle of the runs, over a factor of ten of 1/ε."""
    x = math.exp(fmean(math.log(_inverse(point["gap"])) for point in points))
    y = math.exp(fmean(math.log(point["rounds"]) for point in points))
    ends = [x / 10**0.5, x * 10**0.5]
    ax.plot(ends, [y * (end / x) ** slope for end in ends], color=LINE, linewidth=1.2,
            linestyle="--", zorder=1)  # fmt: skip


def _legend(
    figure: Figure, methods: list[str], more: Sequence[Any] = (), into: Axes | None = None
) -> None:
    """All methods, in axes that are free or below the others."""
    from matplotlib.lines import Line2D

    shown = [
        Line2D([], [], label=look_of(method)[2], **_marked(method))
        for method in dict.fromkeys(methods)
    ]
    look = {"handles": [*shown, *more], "frameon": False, "fontsize": SMALL, "labelcolor": INK}
    if into is None:
        figure.legend(loc="outside lower center", ncols=3, **look)
    else:
        into.legend(loc="center left", labelspacing=0.8, **look)


def look_of(method: str) -> tuple[str, str, str]:
    """Colour, marker and name of a method."""
    return _LOOKS[method.removeprefix(OURS)]


def _marked(method: str) -> dict[str, Any]:
    colour, marker, _ = look_of(method)
    return {"color": colour, "marker": marker, "markersize": 7 if marker == "*" else 4}


def _inverse(gap: float) -> float:
    return 1 / max(gap, SMALLEST)

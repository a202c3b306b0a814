"""Pictures of correlated equilibria: who is recommended what, together and by themselves.

Actions stand where they can be read: the parameter for a curve, all numbers of a small finite
set, and only the recommended actions of a large one, side by side. Names too long for an axis are
replaced by the action's number, and a key below the picture tells them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fullswap.base.protocols import Points
from fullswap.report.scales import (
    LONGEST_NAME,
    READABLE,
    Scale,
    is_line,
    joint_sums,
    number_of,
    scale_of,
    sums_of,
)
from fullswap.report.style import (
    BLUE,
    INK,
    LINE,
    SHADE,
    SMALL,
    VERMILION,
    count_of,
    figures,
    head,
    new_figure,
    root_figure,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fullswap.games import ActionSet, CorrelatedEquilibrium

NUMBERED = 8
"""Most actions a side for which cells and bars carry numbers."""
SMALLEST_DOT, LARGEST_DOT = 3.0, 130.0
"""Areas of dots in square points."""
LETTER = 0.075
"""Width of a letter in inches, with room to spare."""


def joint_distribution(
    equilibrium: CorrelatedEquilibrium,
    *,
    players: tuple[int, int] = (0, 1),
    ax: Axes | None = None,
    title: str | None = None,
    labels: bool = True,
) -> Figure:
    """Probabilities of the joint recommendations to two players, with marginals at the sides.

    Up to 40 recommended actions a side make a heat map of P(a_i = r, a_j = c), summed over what
    all other players do; more than that, and curves, make a scatter of dots whose areas grow
    with the probability.

    Parameters
    ----------
    equilibrium
        From `fullswap.games.solve` or `fullswap.games.verify`.
    players
        Numbers (i, j) of two players: rows (or height), and columns (or width).
    ax
        Axes to draw on; the marginals take strips of them. By default a new figure.
    labels
        Whether to write names of actions, and numbers into the cells of small tables.

    Examples
    --------
    >>> from fullswap.games import solve, zoo
    >>> figure = joint_distribution(solve(zoo.chicken()))
    >>> [name.get_text() for name in figure.axes[0].get_yticklabels()]
    ['dare', 'yield']
    """
    _check_equilibrium(equilibrium)
    first, second = pair = _as_players(players, equilibrium.game.players)
    if not isinstance(labels, bool | np.bool_):
        raise ValueError(f"labels is {labels!r}; allowed: True or False")
    actions, places, weights = joint_sums(equilibrium, pair)
    sets = equilibrium.game.actions
    mapped = not any(is_line(sets[p]) for p in pair) and max(map(len, actions)) <= READABLE
    rows, columns = (
        scale_of(sets[p], p, seen, sums_of(at, weights, len(seen)), listed=mapped)
        for p, seen, at in zip(pair, actions, places, strict=True)
    )
    count = len(rows.positions), len(columns.positions)
    main, top, right = _joint_axes(ax, count if mapped else None)
    numbered = bool(labels) and mapped and max(count) <= NUMBERED
    if mapped:
        table = np.zeros(count)
        table[places] = weights
        _draw_table(main, table, numbered)
    else:
        largest = np.clip(9000 / len(weights), 25.0, LARGEST_DOT)
        main.scatter(
            columns.positions[places[1]], rows.positions[places[0]],
            np.maximum(largest * weights / weights.max(), SMALLEST_DOT),
            color=BLUE, alpha=0.75, linewidth=0, zorder=3, clip_on=False,
        )  # fmt: skip
        main.grid(color=SHADE, linewidth=0.5)
    low, high = rows.limits
    main.set(xlim=columns.limits, ylim=(high, low) if mapped else (low, high))
    tidy(main)
    _name(main, columns, "x", labels)
    _name(main, rows, "y", labels)
    told: list[str] = []
    for player, scale in ((first, rows), (second, columns)):
        if labels and scale.key:
            told += ["", f"player {player}", *scale.key]
    main.set_xlabel("\n".join([columns.label, *told]), loc="left", fontsize=SMALL, color=INK)
    main.set_ylabel(rows.label, fontsize=SMALL, color=INK)
    _draw_strip(top, columns, numbered, upright=True)
    _draw_strip(right, rows, numbered, upright=False)
    head(top, title, _summary(equilibrium, len(weights), (first, second)))
    if ax is None:
        _fit(root_figure(main))
    return root_figure(main)


def marginals(
    equilibrium: CorrelatedEquilibrium,
    *,
    marks: Mapping[int, Any] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Figure:
    """For each player, how often each action is recommended.

    Parameters
    ----------
    equilibrium
        From `fullswap.games.solve` or `fullswap.games.verify`.
    marks
        Known answers: player ↦ action, or (action, text). A labelled line is drawn there.
    ax
        Axes to draw on, shared out among the players. By default a new figure.

    Examples
    --------
    >>> from fullswap.games import solve, zoo
    >>> figure = marginals(solve(zoo.cournot()), marks={0: (1 / 3, "q* = 1/3")})
    >>> [panel.get_xlabel() for panel in figure.axes]
    ['player 0: 1 action, mean 0.398', 'player 1: 1 action, mean 0.294']
    """
    _check_equilibrium(equilibrium)
    game = equilibrium.game
    known = _as_marks(marks, game.actions)
    kept = equilibrium.weights > 0
    columns = game.columns(equilibrium.support[kept])
    drawn = []
    for player, (own, column) in enumerate(zip(game.actions, columns, strict=True)):
        seen, where = np.unique(column, return_inverse=True)
        chances = sums_of(where, equilibrium.weights[kept], len(seen))
        extra = known[player][0] if player in known else None
        drawn.append(scale_of(own, player, seen, chances, extra=extra))

    panels = _panels(ax, drawn)
    for player, (panel, scale) in enumerate(zip(panels, drawn, strict=True)):
        _draw_marginal(panel, scale, marked=player in known)
        if player in known:
            action, text = known[player]
            _draw_mark(panel, scale.place(action), text)
    head(panels[0], title, _summary(equilibrium, int(kept.sum()), None))
    if ax is None:
        _fit(root_figure(panels[0]), stack=True)
    return root_figure(panels[0])


# --- Data ---------------------------------------------------------------------------------


def _summary(
    equilibrium: CorrelatedEquilibrium, joint: int, pair: tuple[int, int] | None
) -> list[str]:
    game, gap = equilibrium.game, equilibrium.gap
    counted = count_of(joint, "joint action")
    if pair is not None and game.players > 2:
        counted = f"players {pair[0]} and {pair[1]} of {game.players}, {counted}"
    paid = [number_of(value) for value in equilibrium.payoffs]
    told = ", ".join(paid[:6]) + (", …" if len(paid) > 6 else "")
    missed = "" if equilibrium.reached is not False else " (not as small as asked for)"
    size = "below 1e-12" if gap < 1e-12 else figures(gap)
    return [f"{game.name}: {counted}", f"gap {size}{missed}, payoffs {told}"]


# --- Drawing ------------------------------------------------------------------------------


def _joint_axes(ax: Axes | None, cells: tuple[int, int] | None) -> tuple[Axes, Axes, Axes]:
    """Axes for the picture, and strips above and to the right; ``cells``: rows and columns."""
    if ax is not None:
        from mpl_toolkits.axes_grid1 import make_axes_locatable  # type: ignore[import-untyped]

        divider = make_axes_locatable(ax)
        top = divider.append_axes("top", "14%", pad=0.06, sharex=ax)
        return ax, top, divider.append_axes("right", "14%", pad=0.06, sharey=ax)
    width = height = 3.4
    if cells is not None:
        cell = np.clip(3.4 / max(cells), 0.2, 0.8)
        height, width = cell * cells[0], cell * cells[1]
    strip, gap = 0.45, 0.06
    figure = new_figure(width + gap + strip, height + gap + strip)
    whole = np.array([width + gap + strip, height + gap + strip] * 2)
    boxes = (
        (0, 0, width, height),
        (0, height + gap, width, strip),
        (width + gap, 0, strip, height),
    )
    main, top, right = (figure.add_axes(tuple(np.array(box) / whole)) for box in boxes)
    top.sharex(main)
    right.sharey(main)
    return main, top, right


def _panels(ax: Axes | None, scales: list[Scale]) -> list[Axes]:
    """One below the other, one for each player."""
    if ax is not None:
        from mpl_toolkits.axes_grid1 import make_axes_locatable

        divider = make_axes_locatable(ax)
        return [ax] + [divider.append_axes("bottom", "100%", pad=0.55) for _ in scales[1:]]
    figure = new_figure(5.2, 1.2)
    # On top of one another until their labels can be measured.
    return [figure.add_axes((0, 0, 1, 1), label=str(k)) for k in range(len(scales))]


def _draw_table(ax: Axes, table: Points, numbered: bool) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    shades = LinearSegmentedColormap.from_list("probability", ["white", BLUE])
    rows, columns = table.shape
    ax.pcolormesh(
        np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5, table, cmap=shades, vmin=0,
        vmax=table.max(), edgecolors=SHADE, linewidth=0.7 if max(table.shape) <= 20 else 0.3,
    )  # fmt: skip
    if numbered:
        for (row, column), value in np.ndenumerate(table):
            if value > 0:
                ax.text(
                    column, row, _chance(value), ha="center", va="center", fontsize=SMALL,
                    color="white" if value > 0.6 * table.max() else INK,
                )  # fmt: skip


def _chance(value: float) -> str:
    return "<.001" if value < 0.0005 else f"{value:.3f}".rstrip("0").removesuffix(".")


def _draw_strip(ax: Axes, scale: Scale, numbered: bool, upright: bool) -> None:
    """The marginal at a side, in line with the picture."""
    from matplotlib.collections import LineCollection

    ax.set_axis_off()
    chances, at = scale.probabilities, scale.positions
    if scale.names:
        width = min(0.72, 0.6 * (scale.limits[1] - scale.limits[0]) / _inches(ax, upright))
        (ax.bar if upright else ax.barh)(at, chances, width, color=LINE, linewidth=0)
    else:
        ends = np.zeros((len(at), 2, 2))
        ends[:, :, 0 if upright else 1] = at[:, None]
        ends[:, 1, 1 if upright else 0] = chances
        ax.add_collection(LineCollection(list(ends), color=LINE, linewidth=1.2))
    # The numbers above the bars need room below the text at the head.
    (ax.set_ylim if upright else ax.set_xlim)(0, chances.max() * (1.6 if numbered else 1.0))
    if not numbered:
        return
    for x, p in zip(at, chances, strict=True):
        ax.annotate(
            _chance(p), (x, p) if upright else (p, x), (0, 2) if upright else (3, 0),
            textcoords="offset points", ha="center" if upright else "left",
            va="bottom" if upright else "center", fontsize=SMALL, color=INK,
        )  # fmt: skip


def _draw_marginal(ax: Axes, scale: Scale, marked: bool) -> None:
    inches = _inches(ax) / (scale.limits[1] - scale.limits[0])
    # Bars where actions have places of their own, and stems where they lie on a line.
    if scale.names:
        ax.bar(scale.positions, scale.probabilities, min(0.7, 0.5 / inches), color=BLUE)
    else:
        ax.vlines(scale.positions, 0, scale.probabilities, color=BLUE, linewidth=1.4)
        if len(scale.positions) <= READABLE:
            ax.plot(scale.positions, scale.probabilities, "o", color=BLUE, markersize=4)
    ax.set(xlim=scale.limits, ylim=(0, (1.3 if marked else 1.08) * scale.probabilities.max()))
    tidy(ax)
    ax.locator_params(axis="y", nbins=4)
    _name(ax, scale, "x", True)
    ax.set_xlabel("\n".join([scale.label, *scale.key]), loc="left", fontsize=SMALL, color=INK)
    ax.set_ylabel("probability", fontsize=SMALL, color=INK)


def _draw_mark(ax: Axes, position: float, text: str) -> None:
    ax.axvline(position, color=VERMILION, linewidth=1.2, linestyle=(0, (4, 2)), zorder=4)
    low, high = ax.get_xlim()
    left = position > (low + high) / 2
    ax.annotate(
        text, (position, 1), (-4 if left else 4, 0), xycoords=ax.get_xaxis_transform(),
        textcoords="offset points", ha="right" if left else "left", va="top", fontsize=SMALL,
        color=VERMILION,
    )  # fmt: skip


def _name(ax: Axes, scale: Scale, which: str, labels: bool) -> None:
    """Names at the ticks of an axis, slanted where they would run into one another."""
    axis = ax.xaxis if which == "x" else ax.yaxis
    if not labels and scale.names:
        axis.set_ticks([])
    elif scale.names:
        axis.set_ticks(list(scale.positions), list(scale.names))
        apart = np.diff(scale.positions).min(initial=scale.limits[1] - scale.limits[0])
        room = _inches(ax) * apart / (scale.limits[1] - scale.limits[0])
        if which == "x" and LETTER * (1 + max(map(len, scale.names))) > room:
            for label in axis.get_ticklabels():
                label.set(rotation=45, ha="right", rotation_mode="anchor")
    elif scale.limits[1] >= 1000:
        axis.set_major_formatter("{x:,.0f}")


def _inches(ax: Axes, wide: bool = True) -> float:
    """Width of the axes, or height."""
    extent = ax.get_window_extent()
    return float((extent.width if wide else extent.height) / root_figure(ax).dpi)


def _fit(figure: Figure, stack: bool = False) -> None:
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


# --- Arguments ----------------------------------------------------------------------------


def _check_equilibrium(equilibrium: Any) -> None:
    from fullswap.games import CorrelatedEquilibrium

    if not isinstance(equilibrium, CorrelatedEquilibrium):
        raise ValueError(
            f"equilibrium is {equilibrium!r}; allowed: a CorrelatedEquilibrium, "
            "such as solve(game) or verify(game, profile)"
        )


def _is_player(value: Any, count: int) -> bool:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and 0 <= value < count


def _as_players(players: Any, count: int) -> tuple[int, int]:
    pair = tuple(players) if isinstance(players, tuple | list) else ()
    if len(pair) != 2 or not all(_is_player(p, count) for p in pair) or pair[0] == pair[1]:
        raise ValueError(
            f"players is {players!r}; allowed: two different numbers from 0 to {count - 1}"
        )
    return int(pair[0]), int(pair[1])


def _as_marks(marks: Any, sets: tuple[ActionSet, ...]) -> dict[int, tuple[Any, str]]:
    """Player ↦ (action, text)."""
    if marks is None:
        return {}
    if not isinstance(marks, Mapping):
        raise ValueError(f"marks is {marks!r}; allowed: a mapping of players to actions")
    known = {}
    for player, mark in marks.items():
        if not _is_player(player, len(sets)):
            raise ValueError(
                f"marks has the key {player!r}; allowed: players from 0 to {len(sets) - 1}"
            )
        own = sets[player]
        if own.size is None and not is_line(own):
            raise ValueError(
                f"marks[{player}] is {mark!r}; allowed for curves and finite sets only"
            )
        action, text = mark if isinstance(mark, tuple) and len(mark) == 2 else (mark, None)
        if not isinstance(action, int | float | np.number) or isinstance(action, bool):
            raise ValueError(
                f"marks[{player}] is {mark!r}; allowed: a number, or a pair (number, text)"
            )
        action = own.check(np.array([action]), f"marks[{player}] = {action!r}")[0]
        told = f"{action:.4g}" if is_line(own) else own.describe(action)
        told = told if len(told) <= LONGEST_NAME else f"#{action}"
        known[int(player)] = action, told if text is None else str(text)
    return known

"""Who is recommended what together: the joint distribution of two players."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Points
from fullswap.metrics.groups import sums_by
from fullswap.report import equilibria as parts
from fullswap.report import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fullswap.games import CorrelatedEquilibrium

NUMBERED = 8
"""Most actions a side for which cells and bars carry numbers."""
DOTS_AREA, SMALLEST_DOT, LARGEST_DOT = 9000.0, 3.0, (25.0, 130.0)
"""Rough area of all dots together, least area of a dot, bounds for the largest: square points."""
SIDE, STRIP, STRIP_GAP = 3.4, 0.45, 0.06
"""Inches of the picture, of the marginals at its sides, and between them."""


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
    with the probability. Actions with at most 1 % of the probability in all are left out where
    the others are few enough to be named.

    Parameters
    ----------
    equilibrium
        From `fullswap.games.solve` or `fullswap.games.verify`.
    players
        Numbers (i, j) of two players: rows (or height), and columns (or width).
    ax, title
        Axes to draw on, of which the marginals take strips, by default a new figure; its title.
    labels
        Whether to write names of actions, and numbers into the cells of small tables.

    Examples
    --------
    >>> from fullswap.games import solve, zoo
    >>> figure = joint_distribution(solve(zoo.chicken()))
    >>> [name.get_text() for name in figure.axes[0].get_yticklabels()]
    ['dare', 'yield']
    """
    parts.check_equilibrium(equilibrium)
    first, second = pair = _as_players(players, equilibrium.game.players)
    if not isinstance(labels, bool | np.bool_):
        checks.refuse("labels", "be True or False", labels)
    actions, places, weights = parts.joint_sums(equilibrium, pair)
    sets = equilibrium.game.actions
    called = [style.plain(name, parts.LONGEST_NAME) for name in equilibrium.game.player_names]
    readable = max(map(len, actions)) <= parts.READABLE
    mapped = readable and not any(parts.is_line(sets[p]) for p in pair)
    rows, columns = (
        parts.scale_of(sets[p], called[p], seen, sums_by(at, weights, len(seen)), listed=mapped)
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
        largest = np.clip(DOTS_AREA / len(weights), *LARGEST_DOT)
        main.scatter(
            columns.positions[places[1]], rows.positions[places[0]],
            np.maximum(largest * weights / weights.max(), SMALLEST_DOT),
            color=style.main(), alpha=0.75, linewidth=0, zorder=3, clip_on=False,
        )  # fmt: skip
        main.grid(color=style.shade(), linewidth=0.5)
    low, high = rows.limits
    main.set(xlim=columns.limits, ylim=(high, low) if mapped else (low, high))
    style.tidy(main)
    parts.name_ticks(main, columns, "x", labels)
    parts.name_ticks(main, rows, "y", labels)
    keyed = [(p, scale.key) for p, scale in ((first, rows), (second, columns)) if scale.key]
    keys = [line for p, key in keyed if labels for line in ("", called[p], *key)]
    main.set_xlabel("\n".join([columns.label, *keys]), loc="left", **style.note())
    main.set_ylabel(rows.label, **style.note())
    _draw_strip(top, columns, numbered, upright=True)
    _draw_strip(right, rows, numbered, upright=False)
    style.head(top, title, parts.summary(equilibrium, len(weights), (first, second)))
    if ax is None:
        parts.fit(style.root_figure(main))
    return style.root_figure(main)


def _joint_axes(ax: Axes | None, cells: tuple[int, int] | None) -> tuple[Axes, Axes, Axes]:
    """Axes for the picture, and strips above and to the right; ``cells``: rows and columns."""
    if ax is not None:
        from mpl_toolkits.axes_grid1 import make_axes_locatable  # type: ignore[import-untyped]

        divider = make_axes_locatable(ax)
        top = divider.append_axes("top", "14%", pad=0.06, sharex=ax)
        return ax, top, divider.append_axes("right", "14%", pad=0.06, sharey=ax)
    width = height = SIDE
    if cells is not None:
        cell = np.clip(SIDE / max(cells), 0.2, 0.8)  # inches: neither cramped nor bare
        height, width = cell * cells[0], cell * cells[1]
    right_of, above = width + STRIP_GAP, height + STRIP_GAP
    figure = style.new_figure(right_of + STRIP, above + STRIP)
    whole = np.array([right_of + STRIP, above + STRIP] * 2)
    boxes = (0, 0, width, height), (0, above, width, STRIP), (right_of, 0, STRIP, height)
    main, top, right = (figure.add_axes(tuple(np.array(box) / whole)) for box in boxes)
    top.sharex(main)
    right.sharey(main)
    return main, top, right


def _draw_table(ax: Axes, table: Points, numbered: bool) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    shades = LinearSegmentedColormap.from_list("probability", [style.paper(), style.main()])
    rows, columns = table.shape
    ax.pcolormesh(
        np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5, table, cmap=shades, vmin=0,
        vmax=table.max(), edgecolors=style.shade(),
        linewidth=0.7 if max(table.shape) <= 20 else 0.3,
    )  # fmt: skip
    if numbered:
        for (row, column), value in np.ndenumerate(table):
            if value > 0:
                color = style.paper() if value > 0.6 * table.max() else style.ink()
                text = ax.text(column, row, _chance(value), fontsize=style.SMALL, color=color)
                text.set(ha="center", va="center")


def _chance(value: float) -> str:
    return "<.001" if value < 0.0005 else f"{value:.3f}".rstrip("0").removesuffix(".")


def _draw_strip(ax: Axes, scale: parts.Scale, numbered: bool, upright: bool) -> None:
    """The marginal at a side, in line with the picture."""
    from matplotlib.collections import LineCollection

    ax.set_axis_off()
    chances, at = scale.probabilities, scale.positions
    if scale.names:
        width = min(0.72, 0.6 * (scale.limits[1] - scale.limits[0]) / style.inches_of(ax, upright))
        (ax.bar if upright else ax.barh)(at, chances, width, color=style.line(), linewidth=0)
    else:
        ends = np.zeros((len(at), 2, 2))
        ends[:, :, 0 if upright else 1] = at[:, None]
        ends[:, 1, 1 if upright else 0] = chances
        ax.add_collection(LineCollection(list(ends), color=style.line(), linewidth=1.2))
    # The numbers above the bars need room below the text at the head.
    (ax.set_ylim if upright else ax.set_xlim)(0, chances.max() * (1.6 if numbered else 1.0))
    ha, va, away = ("center", "bottom", (0, 2)) if upright else ("left", "center", (3, 0))
    for x, p in zip(at, chances, strict=True) if numbered else ():
        end = (x, p) if upright else (p, x)
        look = dict(textcoords="offset points", ha=ha, va=va, **style.note())
        ax.annotate(_chance(p), end, away, **look)


def _as_players(players: Any, count: int) -> tuple[int, int]:
    pair = tuple(players) if isinstance(players, tuple | list) else ()
    valid = all(checks.is_whole(p) and 0 <= p < count for p in pair)
    if len(pair) != 2 or not valid or pair[0] == pair[1]:
        checks.refuse("players", f"be two different numbers from 0 to {count - 1}", players)
    return int(pair[0]), int(pair[1])

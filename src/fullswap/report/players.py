"""Who is recommended what by themselves: the marginal distribution of each player."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fullswap.base import checks
from fullswap.metrics.groups import sums_by
from fullswap.report import equilibria as parts
from fullswap.report import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fullswap.games import ActionSet, CorrelatedEquilibrium


def marginals(
    equilibrium: CorrelatedEquilibrium,
    *,
    marks: Mapping[int, Any] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Figure:
    """For each player, how often each action is recommended.

    Of more than 40 recommended actions those with at most 1 % of the probability in all are left
    out where the others are few enough to be named.

    Parameters
    ----------
    equilibrium
        From `fullswap.games.solve` or `fullswap.games.verify`.
    marks
        Known answers: player ↦ action, or (action, text). A labelled line is drawn there.
    ax, title
        Axes to draw on, shared out among the players, by default a new figure; its title.

    Examples
    --------
    >>> from fullswap.games import solve, zoo
    >>> figure = marginals(solve(zoo.cournot(), gap=1e-9), marks={0: (1 / 3, "q* = 1/3")})
    >>> [panel.get_xlabel() for panel in figure.axes]
    ['player 1: 1 action, mean 0.333', 'player 2: 1 action, mean 0.333']
    """
    parts.check_equilibrium(equilibrium)
    game = equilibrium.game
    marked_actions = _as_marks(marks, game.actions)
    played = equilibrium.weights > 0
    columns = game.columns(equilibrium.support[played])
    called = [style.plain(name, parts.LONGEST_NAME) for name in game.player_names]
    scales = []
    for player, (own, column) in enumerate(zip(game.actions, columns, strict=True)):
        weights = equilibrium.weights[played]
        shown = parts.likely(column, weights)
        seen, where = np.unique(column[shown], return_inverse=True)
        chances = sums_by(where, weights[shown], len(seen))
        extra = marked_actions[player][0] if player in marked_actions else None
        scales.append(parts.scale_of(own, called[player], seen, chances, extra=extra))

    panels = _panels(ax, scales)
    for player, (panel, scale) in enumerate(zip(panels, scales, strict=True)):
        _draw_marginal(panel, scale, marked=player in marked_actions)
        if player in marked_actions:
            action, text = marked_actions[player]
            _draw_mark(panel, scale.place(action), text)
    style.head(panels[0], title, parts.summary(equilibrium, int(played.sum()), None))
    if ax is None:
        parts.fit(style.root_figure(panels[0]), stack=True)
    return style.root_figure(panels[0])


def _panels(ax: Axes | None, scales: list[parts.Scale]) -> list[Axes]:
    """One below the other, one for each player."""
    if ax is not None:
        from mpl_toolkits.axes_grid1 import make_axes_locatable  # type: ignore[import-untyped]

        divider = make_axes_locatable(ax)
        return [ax] + [divider.append_axes("bottom", "100%", pad=0.55) for _ in scales[1:]]
    figure = style.new_figure(5.2, 1.2)
    # On top of one another until their labels can be measured.
    return [figure.add_axes((0, 0, 1, 1), label=str(k)) for k in range(len(scales))]


def _draw_marginal(ax: Axes, scale: parts.Scale, marked: bool) -> None:
    inches = style.inches_of(ax) / (scale.limits[1] - scale.limits[0])
    # Bars where actions have places of their own, and stems where they lie on a line.
    if scale.names:
        ax.bar(scale.positions, scale.probabilities, min(0.7, 0.5 / inches), color=style.main())
    else:
        ax.vlines(scale.positions, 0, scale.probabilities, color=style.main(), linewidth=1.4)
        if len(scale.positions) <= parts.READABLE:
            ax.plot(scale.positions, scale.probabilities, "o", color=style.main(), markersize=4)
    ax.set(xlim=scale.limits, ylim=(0, (1.3 if marked else 1.08) * scale.probabilities.max()))
    style.tidy(ax)
    ax.locator_params(axis="y", nbins=4)
    parts.name_ticks(ax, scale, "x", True)
    ax.set_xlabel("\n".join([scale.label, *scale.key]), loc="left", **style.note())
    ax.set_ylabel("probability", **style.note())


def _draw_mark(ax: Axes, position: float, text: str) -> None:
    ax.axvline(position, color=style.VERMILION, linewidth=1.2, linestyle=(0, (4, 2)), zorder=4)
    low, high = ax.get_xlim()
    left = position > (low + high) / 2
    ax.annotate(
        text, (position, 1), (-4 if left else 4, 0), xycoords=ax.get_xaxis_transform(),
        textcoords="offset points", ha="right" if left else "left", va="top",
        fontsize=style.SMALL, color=style.VERMILION,
    )  # fmt: skip


def _as_marks(marks: Any, sets: tuple[ActionSet, ...]) -> dict[int, tuple[Any, str]]:
    """Player ↦ (action, text)."""
    if marks is None:
        return {}
    if not isinstance(marks, Mapping):
        checks.refuse("marks", "be a mapping of players to actions", marks)
    marked_actions = {}
    for player, mark in marks.items():
        if not (checks.is_whole(player) and 0 <= player < len(sets)):
            checks.refuse("marks", f"have players from 0 to {len(sets) - 1} as keys", player)
        own = sets[player]
        if own.size is None and not parts.is_line(own):
            checks.refuse(f"marks[{player}]", "be absent but for curves and finite sets", mark)
        action, text = mark if isinstance(mark, tuple) and len(mark) == 2 else (mark, None)
        if not isinstance(action, int | float | np.number) or isinstance(action, bool):
            checks.refuse(f"marks[{player}]", "be a number, or a pair (number, text)", mark)
        action = own.check(np.array([action]), f"marks[{player}] = {action!r}")[0]
        name = f"{action:.4g}" if parts.is_line(own) else own.describe(action)
        name = name if len(name) <= parts.LONGEST_NAME else f"#{action}"
        marked_actions[int(player)] = action, name if text is None else str(text)
    return marked_actions

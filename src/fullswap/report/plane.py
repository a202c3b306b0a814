"""Several forecasters side by side: the parts of their scores in a plane."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Points, Vector
from fullswap.metrics.corp import ScoreDecomposition
from fullswap.report import style
from fullswap.report.names import place_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LONGEST_NAME = 26
MOST_NAMED = 7
"""Forecasters that are named beside their dots; more of them get numbers and a key."""
SAME = 1e-9
"""Uncertainties as near as this belong to the same outcomes."""


def draw_plane(
    models: Mapping[str, ScoreDecomposition],
    *,
    score: str = "Brier score",
    ax: Axes | None = None,
) -> Figure:
    """Miscalibration and discrimination of several forecasters: the better, the further top left.

    Along the slanted lines the score is the same: score = miscalibration − discrimination +
    uncertainty. They are drawn if all forecasters face the same uncertainty.

    Parameters
    ----------
    models
        Name ↦ parts of the score. Infinite ones are left out, and counted.
    score
        What the score is called.
    ax
        Axes to draw on, by default a new figure. With many forecasters a key stands below.
    """
    check_models(models)
    finite = {
        style.plain(str(name), LONGEST_NAME): parts
        for name, parts in models.items()
        if math.isfinite(parts.miscalibration) and math.isfinite(parts.discrimination)
    }
    numbered = len(finite) > MOST_NAMED
    main = style.axes_of(ax, 5.2, 3.9 + (0.06 * len(finite) if numbered else 0))
    dots = np.array([(part.miscalibration, part.discrimination) for part in finite.values()])
    dots = dots.reshape(-1, 2)
    (left, right), (bottom, top) = (_limits(column) for column in dots.T)
    main.set(xlim=(left, right), ylim=(bottom, top))
    style.tidy(main)
    main.set(xlabel=f"miscalibration ({score})", ylabel=f"discrimination ({score})")
    main.locator_params(nbins=5)
    uncertainties = np.array([part.uncertainty for part in finite.values()])
    lines = ["better to the top left"]
    if len(finite) and np.ptp(uncertainties) <= SAME * (1 + abs(uncertainties[0])):
        _draw_scores(main, float(uncertainties[0]))
        lines[0] += f"; slanted: the same {score}"
    if len(finite) < len(models):
        lines.append(f"{len(models) - len(finite)} not shown: infinite {score}")
    main.plot(
        dots[:, 0], dots[:, 1], "o", color=style.main(), markersize=6.5, zorder=3, gid="dots",
        markeredgecolor=style.paper(), markeredgewidth=0.6, clip_on=False,
    )  # fmt: skip
    style.head(main, None, lines, fold=True, lift=15)
    if numbered:
        # The best first.
        order = sorted(finite, key=lambda name: finite[name].score)
        ranks = {name: str(k + 1) for k, name in enumerate(order)}
        _write_key(main, [f"{ranks[name]} {name}" for name in order])
        names = [ranks[name] for name in finite]
    else:
        names = list(finite)
    _draw_names(main, dots, names)
    return style.root_figure(main)


def check_models(models: object) -> None:
    """Refuse what is no mapping of names, or empty."""
    if not isinstance(models, Mapping) or not len(models):
        checks.refuse("models", "be a mapping with one entry at least", models)


def _limits(values: Vector) -> tuple[float, float]:
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    room = max(0.16 * (high - low), 0.12 * high, 1e-4)
    return max(low - room, -0.03 * (high + room)), high + room


def _draw_scores(ax: Axes, uncertainty: float) -> None:
    """Lines of equal score, with their scores where they leave the picture."""
    from matplotlib.ticker import MaxNLocator

    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    lowest, highest = left - top + uncertainty, right - bottom + uncertainty
    ticks = MaxNLocator(7, steps=[1, 2, 5, 10]).tick_values(lowest, highest)
    scores = np.array([tick for tick in ticks if lowest < tick < highest])
    digits = max(0, -math.floor(math.log10(scores[1] - scores[0]) + 1e-9)) if len(scores) > 1 else 3
    for value in scores:
        shift = uncertainty - value
        ends = np.array([left, right])
        ax.plot(
            ends, ends + shift, color=style.line(), linewidth=0.6, linestyle=(0, (4, 3)), zorder=1,
            scalex=False, scaley=False, gid="scores",
        )  # fmt: skip
        at_top = top - shift <= right
        x, y = (top - shift, top) if at_top else (right, right + shift)
        text = ax.annotate(
            f"{value:.{digits}f}", (x, y), (0, 2) if at_top else (3, 0),
            textcoords="offset points", ha="center" if at_top else "left",
            va="bottom" if at_top else "center", fontsize=style.SMALL - 1.5, color=style.line(),
        )  # fmt: skip
        text.set_gid("score")


def _draw_names(ax: Axes, dots: Points, names: list[str]) -> None:
    """Words beside the dots, each nearer to its own than to others, or tied to it by a line."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    if style.root_figure(ax).get_layout_engine() is not None:
        # Axes get their size only now; dots lie nearer to each other than they would in a guess.
        style.root_figure(ax).draw_without_rendering()
    # Points of the page.
    width, height = 72 * style.inches_of(ax), 72 * style.inches_of(ax, wide=False)
    places = (dots - [left, bottom]) / [right - left, top - bottom] * [width, height]
    spots = place_names(places, [len(name) for name in names], (width, height))
    for (dx, dy, side, tied), dot, name in zip(spots, dots, names, strict=True):
        thread = dict(arrowstyle="-", color=style.line(), linewidth=0.7, shrinkA=1, shrinkB=0)
        text = ax.annotate(
            name, tuple(dot), (dx, dy), textcoords="offset points", va="center", zorder=4,
            ha={0.0: "left", 0.5: "center", 1.0: "right"}[side], annotation_clip=False,
            arrowprops=thread if tied else None, **style.note(),
        )  # fmt: skip
        if text.arrow_patch is not None:
            text.arrow_patch.set_zorder(2)  # under the dots
        # Else the axes would change their size again.
        text.set_in_layout(False)


def _write_key(ax: Axes, entries: list[str]) -> None:
    """The names to the numbers, below the axes, line by line."""
    letters = int((style.inches_of(ax) + 0.2) / style.LETTER)
    lines = [entries[0]]
    for entry in entries[1:]:
        longer = f"{lines[-1]} · {entry}"
        if len(longer) <= letters:
            lines[-1] = longer
        else:
            lines.append(entry)
    below = ax.annotate(
        "\n".join(lines), (0, 0), (-14, -40), xycoords="axes fraction",
        textcoords="offset points", va="top", ha="left", linespacing=1.4, **style.note(),
    )  # fmt: skip
    below.set_gid("key")

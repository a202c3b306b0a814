"""Several forecasters side by side: losses at every threshold, and the parts of their scores."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Points, Vector
from fullswap.metrics.benefit import murphy
from fullswap.metrics.cells import Cells
from fullswap.metrics.corp import ScoreDecomposition
from fullswap.report import style
from fullswap.report.scale import percent
from fullswap.report.thin import corners

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

THETAS = 250
"""Thresholds at which losses are drawn."""
NEGLIGIBLE = 0.02
"""Thresholds are left out at the upper end where all losses are below this share of the largest."""
LONGEST_NAME = 26
MOST_NAMED = 7
"""Forecasters that are named beside their dots; more of them get numbers and a key."""
SAME = 1e-9
"""Uncertainties as near as this belong to the same outcomes."""


def draw_murphy(models: Mapping[str, Cells], *, ax: Axes | None = None) -> Figure:
    """Mean loss of those who act from a threshold on, for every threshold. [EGJK16].

    Mean elementary scores: a forecaster whose line is nowhere above another's is better for
    everybody who acts on the forecasts, whatever is at stake. Every proper score is a weighted
    area under the line.

    Parameters
    ----------
    models
        Name ↦ events by forecast.
    ax
        Axes to draw on, by default a new figure.
    """
    _some("models", models)
    thetas = np.linspace(0, 1, 4 * THETAS + 1)
    curves = {name: murphy(cells, thetas) for name, cells in models.items()}
    largest = np.max(list(curves.values()), axis=0)
    notable = np.flatnonzero(largest > NEGLIGIBLE * largest.max())
    # Rare events: only the lower end has something to show.
    end = float(thetas[notable[-1]]) if len(notable) else 1.0
    if end < 0.5:
        thetas = np.linspace(0, end, THETAS)
        curves = {name: murphy(cells, thetas) for name, cells in models.items()}
    else:
        thetas, curves = thetas[::4], {name: curve[::4] for name, curve in curves.items()}
    ax = style.axes_of(ax, 5.4, 3.4 + 0.08 * max(len(models) - 4, 0))
    looks = style.palette(len(models))
    if len(models) == 1:
        looks[0]["color"] = style.main()
    for k, (name, curve) in enumerate(curves.items()):
        label = style.plain(str(name), LONGEST_NAME)
        kept = corners(thetas, curve)
        ax.plot(
            thetas[kept], curve[kept], linewidth=1.5, label=label, gid=f"model-{k + 1}", **looks[k]
        )
    style.tidy(ax)
    ax.set(xlim=(0, thetas[-1]), xlabel="act when the forecast is at least")
    ax.set_ylabel("mean loss (elementary score)")
    ax.set_ylim(0, 1.06 * max(float(largest.max()), 1e-9))
    ax.locator_params(axis="x", nbins=6)
    ax.xaxis.set_major_formatter(lambda value, _: percent(value))
    style.legend_above(ax, ["lower is better"])
    return style.root_figure(ax)


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
        Axes to draw on, of which a key takes a part if there are many; by default a new figure.
    """
    _some("models", models)
    finite = {
        style.plain(str(name), LONGEST_NAME): parts
        for name, parts in models.items()
        if math.isfinite(parts.miscalibration) and math.isfinite(parts.discrimination)
    }
    numbered = len(finite) > MOST_NAMED
    main = style.axes_of(ax, 6.6 if numbered else 5.0, 3.9)
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
    style.head(main, None, lines)
    if numbered:
        # The best first.
        order = sorted(finite, key=lambda name: finite[name].score)
        ranks = {name: str(k + 1) for k, name in enumerate(order)}
        _draw_key(main, [f"{ranks[name]}  {name}" for name in order])
        names = [ranks[name] for name in finite]
    else:
        names = list(finite)
    _draw_names(main, dots, names)
    return style.root_figure(main)


def _some(name: str, models: object) -> None:
    if not isinstance(models, Mapping) or not len(models):
        checks.refuse(name, "be a mapping with one entry at least", models)


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
    scores = MaxNLocator(7).tick_values(lowest, highest)
    scores = scores[(scores > lowest) & (scores < highest)]
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
        if at_top and x < left + 0.04 * (right - left):
            continue  # no room for its score
        text = ax.annotate(
            f"{value:.{digits}f}", (x, y), (2, 1) if at_top else (3, 0),
            textcoords="offset points", ha="center" if at_top else "left",
            va="bottom" if at_top else "center", fontsize=style.SMALL - 1.5, color=style.line(),
        )  # fmt: skip
        text.set_gid("score")


def _draw_names(ax: Axes, dots: Points, names: list[str]) -> None:
    """Words beside the dots, each where it hides least of others, one after the other."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    # Points of the page: the axes may still change their size a little.
    width, height = 72 * style.inches_of(ax), 72 * style.inches_of(ax, wide=False)
    places = (dots - [left, bottom]) / [right - left, top - bottom] * [width, height]
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in places]
    for (x, y), dot, name in zip(places, dots, names, strict=True):
        long, tall = 72 * style.LETTER * len(name) * 0.95, 1.2 * style.SMALL
        best: tuple[float, float, float] | None = None
        for distance in (6.0, 13.0, 21.0):
            for angle in np.arange(0, 360, 45) * math.pi / 180:
                dx, dy = distance * math.cos(angle), distance * math.sin(angle)
                x0 = x + dx - long * (1 - math.copysign(min(1.0, abs(math.cos(angle)) * 2), dx)) / 2
                y0 = y + dy - tall / 2
                box = (x0, y0, x0 + long, y0 + tall)
                cost = sum(_overlap(box, other) for other in taken) + 0.15 * distance
                outside = max(0.0, -x0, box[2] - width - 12, -y0, box[3] - height)
                cost += 40 * outside
                if best is None or cost < best[0] - 1e-9:
                    best = cost, x0 - x, y0 - y
        assert best is not None
        offset = best[1], best[2]
        taken.append((x + offset[0], y + offset[1], x + offset[0] + long, y + offset[1] + tall))
        far = math.hypot(offset[0] + long / 2, offset[1] + tall / 2) > 0.5 * long + 14
        thread = dict(arrowstyle="-", color=style.line(), linewidth=0.5, shrinkA=0, shrinkB=3)
        ax.annotate(
            name, tuple(dot), offset, textcoords="offset points", va="bottom", ha="left", zorder=4,
            annotation_clip=False, arrowprops=thread if far else None, **style.note(),
        )  # fmt: skip


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    wide = min(one[2], other[2]) - max(one[0], other[0])
    tall = min(one[3], other[3]) - max(one[1], other[1])
    return max(wide, 0.0) * max(tall, 0.0)


def _draw_key(ax: Axes, lines: list[str]) -> None:
    """The names to the numbers, beside the axes."""
    from mpl_toolkits.axes_grid1 import make_axes_locatable  # type: ignore[import-untyped]

    strip = make_axes_locatable(ax).append_axes("right", "55%", pad=0.42)
    strip.set_axis_off()
    text = strip.text(
        0, 1, "\n".join(lines), va="top", ha="left", linespacing=1.35, transform=strip.transAxes,
        **style.note(),
    )  # fmt: skip
    text.set_gid("key")

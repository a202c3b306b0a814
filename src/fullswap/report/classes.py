"""Reliability class by class: small diagrams side by side, worst first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fullswap.base import checks
from fullswap.metrics.bins import Bins
from fullswap.metrics.cells import Cells
from fullswap.metrics.corp import Curve
from fullswap.report import style
from fullswap.report.bands import consistency_band
from fullswap.report.panel import draw_panel, reliability_scale
from fullswap.report.scale import Scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Part = tuple[str, Curve, Bins, Cells]

MOST = 9
"""Diagrams of a picture."""
LONGEST_NAME = 24


def draw_classes(
    parts: Sequence[Part],
    *,
    top: Part | None = None,
    figure: Any = None,
) -> Figure:
    """A small reliability diagram for each class, those with the largest error first.

    Parameters
    ----------
    parts
        (label, curve, bins, cells) of each class against the rest. At most 9 diagrams are drawn,
        the other classes counted.
    top
        The same for the likeliest class of each forecast, drawn before all others.
    figure
        A figure or subfigure to draw on, by default a new one.
    """
    if not len(parts) and top is None:
        checks.refuse("parts", "have one class at least", parts)
    shown, more = shown_of(parts, top)
    columns = min(3, len(shown)) if len(shown) != 4 else 2
    rows = math.ceil(len(shown) / columns)
    if figure is None:
        figure = style.new_figure(0.4 + 2.05 * columns, 0.55 + 2.2 * rows, arranged=True)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    scales = [_draw_part(panel, part) for panel, part in zip(panels, shown, strict=False)]
    if len(set(scales)) == 1:
        # One axis for all: its numbers stand at the left and below, once.
        for k, panel in enumerate(panels[: len(shown)]):
            panel.tick_params(labelleft=k % columns == 0, labelbottom=k + columns >= len(shown))
    for panel in panels[len(shown) :]:
        panel.set_axis_off()
    figure.supxlabel("forecast probability", **style.note())
    figure.supylabel("observed frequency", **style.note())
    lines = "classes, worst first" if len(parts) > 1 else "by class"
    lines += f"; and {more:,} more" if more else ""
    figure.suptitle(lines, x=0.02, ha="left", **style.note())
    root: Figure = figure.figure  # of a subfigure the figure, of a figure itself
    return root


def shown_of(parts: Sequence[Part], top: Part | None = None) -> tuple[list[Part], int]:
    """The classes that are drawn, those with the largest error first, and how many are not."""
    ranked = ([] if top is None else [top]) + sorted(parts, key=lambda part: -part[2].error)
    return ranked[:MOST], max(len(ranked) - MOST, 0)


def draw_class(part: Part, *, ax: Axes | None = None) -> Figure:
    """The small reliability diagram of one class.

    Parameters
    ----------
    part
        (label, curve, bins, cells) of the class against the rest.
    ax
        Axes to draw on, by default a new figure.
    """
    ax = style.axes_of(ax, 2.7, 2.9)
    _draw_part(ax, part)
    ax.set_xlabel("forecast probability", **style.note())
    ax.set_ylabel("observed frequency", **style.note())
    return style.root_figure(ax)


def _draw_part(ax: Axes, part: Part) -> Scale:
    label, curve, bins, cells = part
    ranges = consistency_band(bins.forecast, bins.trials / max(cells.inflation, 1.0), curve.level)
    scale = reliability_scale(curve, bins, cells, None, ranges)
    scale.dress(ax)
    draw_panel(ax, curve, bins, scale, ranges, small=True)
    style.tidy(ax)
    ax.set_aspect("equal")
    ax.tick_params(labelsize=style.SMALL - 1.5)
    words = f"{style.plain(str(label), LONGEST_NAME)}\n{style.points(bins.error)} off"
    ax.set_title(words, loc="left", pad=4, linespacing=1.3, **style.note())
    return scale

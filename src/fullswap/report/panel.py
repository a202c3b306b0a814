"""One reliability diagram on axes: diagonal, band, curve and dots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base.protocols import Vector
from fullswap.metrics.bins import ROUNDING, Bins
from fullswap.metrics.cells import Cells
from fullswap.metrics.corp import Curve
from fullswap.report import style
from fullswap.report.bands import Dots
from fullswap.report.scale import Scale, scale_of
from fullswap.report.thin import corners

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

SMALLEST_DOT, DOTS_AREA, LARGEST_DOT = 7.0, 1200.0, (18.0, 55.0)
"""Least area of a dot, rough area of all together, and bounds for the largest, square points."""
SAME_SIZE = 0.85
"""Dots that differ by less in area are drawn alike."""
FULL, FAINTEST = 30.0, 0.7
"""Events of a group from which on its dot is opaque; opacity of the smallest."""


def reliability_scale(
    curve: Curve,
    dots: Dots | Bins,
    cells: Cells,
    log_odds: bool | None,
    band: tuple[Vector, Vector] | None = None,
) -> Scale:
    """The axis, for both directions, that shows the dots and what they are measured by."""
    shown = [dots.forecast, dots.frequency]
    chosen = scale_of(cells, np.concatenate(shown), log_odds)
    if band is not None and not chosen.log_odds:
        shown += [*band]
        chosen = scale_of(cells, np.concatenate(shown), False)
    return chosen


def draw_panel(
    ax: Axes, curve: Curve, dots: Dots | Bins, scale: Scale, ranges: tuple[Vector, Vector],
    small: bool = False,
) -> list[Artist]:  # fmt: skip
    """Diagonal, band, curve and dots on axes that have their scale: what a legend may name.

    `small`: without the ranges of the dots, and with fewer corners.
    """
    from matplotlib.lines import Line2D

    level = f"{100 * curve.level:g} %"
    tolerance = 0.02 if small else 0.002
    ends = scale.place(np.array([0.0, 1.0]))
    handles: list[Artist] = []
    handles += ax.plot(ends, ends, color=style.line(), linewidth=0.9, zorder=1.5, gid="diagonal")
    handles[0].set_label("calibrated")
    handles += _draw_band(ax, curve, scale, tolerance, f"{level} band of the curve")
    if not small:
        # One line with gaps: a single path, however many dots.
        low, high = (scale.place(end) for end in ranges)
        gaps = np.full(len(low), np.nan)
        handles += ax.plot(
            np.repeat(scale.place(dots.forecast), 3), np.column_stack([low, high, gaps]).ravel(),
            color=style.line(), linewidth=0.8, zorder=2, gid="ranges", solid_capstyle="butt",
        )  # fmt: skip
        # In a legend as upright as in the picture.
        upright: dict[str, Any] = dict(linestyle="", marker="|", markersize=11, markeredgewidth=0.8)
        handles[-1] = Line2D([], [], color=style.line(), label=f"{level} range of a dot", **upright)
    marker = "_" if len(curve.forecast) == 1 else ""
    handles += ax.plot(
        *_line(curve.forecast, curve.frequency, scale, tolerance), marker=marker, markersize=14,
        color=style.main(), linewidth=1.6, zorder=2.5, label="best re-reading", gid="curve",
    )  # fmt: skip
    return handles + _draw_dots(ax, dots, scale, ranges)


def _draw_band(ax: Axes, curve: Curve, scale: Scale, tolerance: float, label: str) -> list[Artist]:
    """An area round the diagonal; a bar, if there is one forecast only."""
    if len(curve.forecast) == 1:
        x, low, high = (scale.place(one)[0] for one in (curve.forecast, curve.low, curve.high))
        look: dict[str, Any] = dict(linewidth=7, solid_capstyle="butt", zorder=1)
        return [*ax.plot([x, x], [low, high], color=style.shade(), label=label, gid="band", **look)]
    lower = _line(curve.forecast, curve.low, scale, tolerance)
    upper = _line(curve.forecast, curve.high, scale, tolerance)
    x, y = (np.concatenate([ahead, back[::-1]]) for ahead, back in zip(lower, upper, strict=True))
    return [*ax.fill(x, y, color=style.shade(), linewidth=0, zorder=1, label=label, gid="band")]


def _line(x: Vector, y: Vector, scale: Scale, tolerance: float) -> tuple[Vector, Vector]:
    """A line as it is drawn, without corners that nobody would see."""
    places, heights = scale.place(x), scale.place(y)
    kept = corners(scale.flat(places), scale.flat(heights), tolerance)
    return places[kept], heights[kept]


def _draw_dots(
    ax: Axes, dots: Dots | Bins, scale: Scale, ranges: tuple[Vector, Vector]
) -> list[Artist]:
    from matplotlib.colors import to_rgba

    low, high = ranges
    largest = np.clip(DOTS_AREA / len(low), *LARGEST_DOT)
    areas = np.maximum(largest * dots.weight / dots.weight.max(), SMALLEST_DOT)
    # Dots of one size take a tenth of the room in a file.
    alike = areas.min() > SAME_SIZE * areas.max()
    opacity = np.clip(np.sqrt(dots.trials / FULL), FAINTEST, 1.0)
    outside = (dots.frequency < low - ROUNDING) | (dots.frequency > high + ROUNDING)

    def draw(chosen: NDArray[np.bool_], face: Any, edge: Any, **look: Any) -> list[Artist]:
        if not chosen.any():
            return []
        x, y = (scale.place(values[chosen]) for values in (dots.forecast, dots.frequency))
        faces = [to_rgba(face, alpha) for alpha in opacity[chosen]]
        edges = [to_rgba(edge, alpha) for alpha in opacity[chosen]]
        marks = ax.scatter(
            x, y, largest if alike else areas[chosen], zorder=3, clip_on=False, **look
        )
        marks.set(facecolor=faces, edgecolor=edges)
        return [marks]

    dot = dict(marker="o", linewidth=0.5, label="observed", gid="dots")
    diamond = dict(marker="D", linewidth=1.2, label="outside its range", gid="outside")
    paper = style.paper()
    inside = draw(~outside, style.main(), paper, **dot)
    return inside + draw(outside, paper, style.VERMILION, **diamond)

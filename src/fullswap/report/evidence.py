"""Evidence against calibration as it grows, on a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fullswap.base import checks
from fullswap.base.protocols import Vector
from fullswap.report import style
from fullswap.report.thin import corners

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STEPS = 1, 2, 3, 5
"""Powers of ten between ticks: these, ten times these, and so on."""
MOST_TICKS = 7
WRITTEN_OUT = 6
"""Powers of ten up to here are written with all their zeros."""
MOST_ALARMS = 15
"""Alarms that are marked on the line itself; more of them are marked below."""
MOST_MARKS = 100
"""Marks of alarms; of more alarms, evenly chosen ones are marked."""


def draw_evidence(
    positions: ArrayLike,
    log10: ArrayLike,
    *,
    threshold: float = 20,
    alarms: Sequence[int] = (),
    since: float | None = None,
    labels: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Evidence against calibration after each number of events.

    Evidence of E : 1 comes up, at any time, for at most one calibrated forecaster in E.

    Parameters
    ----------
    positions, log10
        Numbers of events, ascending, and the logarithms to base 10 of the evidence there.
    threshold
        Where a line says "strong evidence".
    alarms, since
        Numbers of events at which there were alarms, and at which the trouble began.
    labels
        Times of the positions, written along the axis in place of numbers of events.
    ax
        Axes to draw on, by default a new figure.

    Examples
    --------
    >>> figure = draw_evidence([100, 200, 300], [0.1, 0.9, 2.0], alarms=[300])
    >>> figure.axes[0].get_ylabel()
    'evidence against calibration'
    """
    places = checks.vector("positions", positions)
    heights = checks.vector("log10", log10, len(places))
    level = math.log10(checks.number("threshold", threshold, above=0.0))
    start = None if since is None else checks.number("since", since)
    when = np.sort(checks.vector("alarms", alarms)) if len(alarms) else np.array([])
    if labels is not None:
        checks.same_length("labels", labels, "positions", len(places))
    low, high = _limits(heights, level)

    ax = style.axes_of(ax, 5.4, 3.2)
    # One event alone is a point, not a line.
    kept = corners(places, heights)
    ax.plot(
        places[kept], heights[kept], color=style.main(), linewidth=1.6, zorder=2.5, gid="evidence",
        marker="o" if len(places) == 1 else "", markersize=4,
    )  # fmt: skip
    ax.axhline(0.0, color=style.line(), linewidth=0.8, zorder=1.2, gid="none")
    look: dict[str, Any] = dict(
        color=style.VERMILION, linewidth=1.0, linestyle=(0, (5, 2)), zorder=2
    )
    ax.axhline(level, gid="threshold", **look)
    style.tidy(ax)
    ax.set(ylim=(low, high), xlabel="events", ylabel="evidence against calibration")
    _name_ticks(ax, low, high)
    _set_times(ax, places, labels)
    _write(ax, f"strong evidence: {style.figures(threshold)}", (0.01, level), upright=False)
    if start is not None:
        ax.axvline(start, color=style.line(), linewidth=1.1, linestyle=(0, (2, 2)), gid="since")
        _write(ax, f"since {_moment(start, places, labels)}", (start, 0.98), upright=True)
    lines = [f"evidence now {odds(float(heights[-1]))}, largest {odds(float(heights.max()))}"]
    if len(when):
        lines.append(_draw_alarms(ax, when, places, heights))
    style.head(ax, None, lines, fold=True)
    return style.root_figure(ax)


def odds(log10: float) -> str:
    """Evidence for a picture, with two figures: what speaks against to what speaks for.

    Examples
    --------
    >>> odds(3.0), odds(-3.0), odds(0.1), odds(4.73), odds(20.2)
    ('1,000 : 1', '1 : 1,000', '1.3 : 1', '54,000 : 1', '$10^{20}$ : 1')
    """
    size = abs(log10)
    if size <= WRITTEN_OUT:
        number = f"{float(f'{10**size:.1e}'):,.10g}"
    else:
        number = rf"$10^{{{math.floor(size)}}}$"
    return f"{number} : 1" if log10 >= 0 else f"1 : {number}"


def _limits(heights: Vector, level: float) -> tuple[float, float]:
    """From below the evidence and 1 : 1 to above the evidence and the threshold."""
    least = min(0.0, float(heights.min()))
    most = max(level, float(heights.max()))
    room = 0.07 * (most - least)
    return least - room, most + room


def _name_ticks(ax: Axes, low: float, high: float) -> None:
    """Whole powers of ten, a few of them, in odds."""
    size = 0
    while True:
        steps = [step * 10**size for step in STEPS]
        fitting = [step for step in steps if (high - low) / step <= MOST_TICKS]
        if fitting:
            break
        size += 1
    step = fitting[0]
    ticks = np.arange(math.ceil(low / step), math.floor(high / step) + 1) * step
    ax.set_yticks([float(tick) for tick in ticks], [odds(float(tick)) for tick in ticks])


def _set_times(ax: Axes, places: Vector, labels: Sequence[str] | None) -> None:
    if labels is not None:
        style.time_ticks(ax, [float(place) for place in places], labels)
        ax.set_xlabel("time")
        return
    ends = float(places[0]), float(places[-1])
    ax.set_xlim(min(0.0, ends[0]), max(ends[1], ends[0] + 1))
    style.whole_ticks(ax, "x", 5)


def _moment(start: float, places: Vector, labels: Sequence[str] | None) -> str:
    if labels is None:
        return f"event {start:,.0f}"
    return style.plain(str(labels[int(np.abs(places - start).argmin())]))


def _write(ax: Axes, text: str, place: tuple[float, float], upright: bool) -> None:
    """Words at a line, on the side with more room."""
    low, high = ax.get_xlim()
    left = upright and place[0] > (low + high) / 2
    offset = ((-4 if left else 4), 0) if upright else (0, 3)
    words = ax.annotate(
        text, place, offset, textcoords="offset points",
        xycoords=ax.get_xaxis_transform() if upright else ax.get_yaxis_transform(),
        ha="right" if left else "left", va="top" if upright else "bottom", zorder=4,
        fontsize=style.SMALL, color=style.ink() if upright else style.VERMILION,
    )  # fmt: skip
    words.set_bbox(dict(facecolor=style.paper(), alpha=0.75, edgecolor="none", pad=0.8))


def _draw_alarms(ax: Axes, when: Vector, places: Vector, heights: Vector) -> str:
    """Marks on the curve, and their number in words."""
    look: dict[str, Any] = dict(linestyle="", color=style.VERMILION, clip_on=False, gid="alarms")
    if len(when) <= MOST_ALARMS:
        edge: dict[str, Any] = dict(markeredgecolor=style.paper(), markeredgewidth=0.6)
        at = np.interp(when, places, heights)
        ax.plot(when, at, marker="v", markersize=7, zorder=3, **edge, **look)
    else:
        chosen = np.unique(np.linspace(0, len(when) - 1, MOST_MARKS).astype(int))
        low = np.full(len(chosen), 0.025)
        look["transform"] = ax.get_xaxis_transform()
        ax.plot(when[chosen], low, marker="|", markersize=8, markeredgewidth=1.0, **look)
    marks = "triangles" if len(when) <= MOST_ALARMS else "marks at the foot"
    return f"{style.count_of(len(when), 'alarm')} ({marks}), the first at event {when[0]:,.0f}"

"""Evidence against calibration as it grows, on a logarithmic scale."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fullswap.base import checks
from fullswap.base.amounts import counted, evidence_text
from fullswap.base.protocols import Vector
from fullswap.report import style
from fullswap.report.thin import corners

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STEPS = 1, 2, 3, 5
"""Powers of ten between ticks: these, ten times these, and so on."""
MOST_TICKS = 7
WRITTEN_OUT = 2
"""Powers of ten up to here are written with all their zeros along the axis."""
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
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
    unit: str = "events",
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
    unit
        What positions count: "events", or "rows" where several rows share an event.
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
    line = ax.axhline(
        level, gid="threshold", label=f"strong evidence: {style.figures(threshold)} : 1", **look
    )
    handles: list[Artist] = [line]
    style.tidy(ax)
    ax.set(ylim=(low, high), xlabel=unit, ylabel="evidence against calibration")
    _name_ticks(ax, low, high)
    _set_times(ax, places, labels)
    if start is not None:
        handles.append(
            ax.axvline(
                start, color=style.ink(), linewidth=1.2, linestyle=(0, (1.2, 1.6)), gid="since",
                label=f"off since {_moment(start, places, labels, unit)}",
            )
        )  # fmt: skip
    lines = [f"evidence now {odds(float(heights[-1]))}, largest {odds(float(heights.max()))}"]
    if len(when):
        lines.append(_draw_alarms(ax, when, places, heights, unit))
    # Above the axes: words beside these lines would lie on the curve now and then.
    style.legend_above(ax, lines, handles=handles)
    return style.root_figure(ax)


def odds(log10: float) -> str:
    r"""Evidence in words as everywhere, of which no line breaks in the middle.

    Examples
    --------
    >>> odds(3.0), odds(-1.0), odds(4.73), odds(20.2)
    ('1,000\xa0:\xa01', '0.1\xa0:\xa01', '53,000\xa0:\xa01', '10²⁰\xa0:\xa01')
    """
    raised = re.sub(r"\^(-?\d+)", lambda power: power[1].translate(RAISED), evidence_text(log10))
    return raised.replace(" ", "\xa0")


def tick_name(power: int) -> str:
    """A power of ten as odds, short enough for the margin of any axes.

    Examples
    --------
    >>> tick_name(2), tick_name(6), tick_name(0), tick_name(-1), tick_name(-3)
    ('100 : 1', '10⁶ : 1', '1 : 1', '0.1 : 1', '10⁻³ : 1')
    """
    if abs(power) <= WRITTEN_OUT:
        return f"{10.0**power:g} : 1"
    return f"10{str(power).translate(RAISED)} : 1"


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
    ax.set_yticks([float(tick) for tick in ticks], [tick_name(int(tick)) for tick in ticks])


def _set_times(ax: Axes, places: Vector, labels: Sequence[str] | None) -> None:
    if labels is not None:
        style.time_ticks(ax, [float(place) for place in places], labels)
        ax.set_xlabel("time")
        return
    ends = float(places[0]), float(places[-1])
    ax.set_xlim(min(0.0, ends[0]), max(ends[1], ends[0] + 1))
    style.whole_ticks(ax, "x", 5)


def _moment(start: float, places: Vector, labels: Sequence[str] | None, unit: str) -> str:
    if labels is None:
        return f"{unit.removesuffix('s')} {start:,.0f}"
    return style.plain(str(labels[int(np.abs(places - start).argmin())]))


def _draw_alarms(ax: Axes, when: Vector, places: Vector, heights: Vector, unit: str) -> str:
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
    first = f"the first at {unit.removesuffix('s')} {when[0]:,.0f}"
    return f"{counted(len(when), 'alarm')} ({marks}), {first}"

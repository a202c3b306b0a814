"""The error window by window, beside what chance alone would show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fullswap.base import checks
from fullswap.base.amounts import counted
from fullswap.metrics.windows import Windows
from fullswap.report import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NOTABLE = 1.645
"""Standard errors beyond which a window is called too high or too low: one in ten by chance."""
TALLEST = 2.5
"""How far above the largest error the picture goes for the tolerance to be seen."""


def draw_windows(
    windows: Windows,
    *,
    labels: Sequence[str] | None = None,
    tolerance: float | None = None,
    unit: str = "events",
    ax: Axes | None = None,
) -> Figure:
    """Average error in points, in windows of equal numbers of events.

    Shaded is the error that a calibrated forecaster shows on average. Triangles point up where
    forecasts were too high and down where they were too low, by more than nine calibrated windows
    in ten.

    Parameters
    ----------
    windows
        Errors in order, as shares.
    labels
        Time at the start of each window, written along the axis in place of numbers of events.
    tolerance
        An error beyond chance that does not matter, as a share: dotted steps that much above
        those of chance.
    unit
        What windows hold: "events", or "rows" where several rows share an event.
    ax
        Axes to draw on, by default a new figure.
    """
    count = len(windows.start)
    if labels is not None:
        checks.same_length("labels", labels, "windows", count)
    ax = style.axes_of(ax, 5.4, 3.2)
    # Each window as wide as its events: a level stretch from its first to its last.
    edges = np.append(windows.start, windows.stop[-1]).astype(float)
    middles = (edges[:-1] + edges[1:]) / 2
    chance, error = 100 * windows.chance, 100 * windows.error
    ax.stairs(
        chance, edges, fill=True, color=style.shade(), label="chance, on average", gid="chance"
    )
    look: dict[str, Any] = dict(color=style.main(), zorder=2.5)
    ax.plot(middles, error, linewidth=1.2, label="measured", gid="error", **look)

    high = windows.bias > NOTABLE * windows.noise
    low = windows.bias < -NOTABLE * windows.noise
    size = float(np.clip(150 / count, 3.6, 5.5))
    for chosen, marker, name in ((high, "^", "too high"), (low, "v", "too low")):
        if chosen.any():
            ax.plot(
                middles[chosen], error[chosen], marker, markersize=size + 1.5,
                color=style.VERMILION, markeredgecolor=style.paper(), markeredgewidth=0.5,
                zorder=3, clip_on=False, label=name, gid=name.replace(" ", "-"),
            )  # fmt: skip
    rest = ~(high | low)
    ax.plot(middles[rest], error[rest], "o", markersize=size - 0.5, gid="dots", **look)
    top = max(float(error.max()), float(chance.max()), 0.1)
    if tolerance is not None:
        # It is about the error beyond chance, so it stands on top of what chance shows.
        allowed = chance + 100 * checks.number("tolerance", tolerance, least=0.0)
        ax.stairs(
            allowed, edges, baseline=None, color=style.ink(), linewidth=1.1, linestyle=":",
            zorder=2, gid="tolerance", label="chance + tolerance",
        )  # fmt: skip
        # A tolerance far above all errors must not make them small.
        top = max(top, min(float(allowed.max()), TALLEST * top))
    style.tidy(ax)
    ax.set(xlim=(edges[0], edges[-1]), xlabel=unit, ylabel="average error (points)")
    ax.set_ylim(0, 1.1 * top)
    if labels is None:
        style.whole_ticks(ax, "x", 5)
    else:
        style.time_ticks(ax, [float(edge) for edge in edges[:-1]], labels)
        ax.set_xlabel("time")
    style.legend_above(ax, [_summary(windows, unit)])
    return style.root_figure(ax)


def _summary(windows: Windows, unit: str) -> str:
    sizes = windows.stop - windows.start
    each = counted(int(sizes[0]), unit.removesuffix("s"))
    about = "of" if (sizes == sizes[0]).all() else "of about"
    above = int((windows.error > windows.chance).sum())
    windows_of = f"{counted(len(sizes), 'window')} {about} {each}"
    # Of calibrated windows about half show more than they do on average.
    return f"{windows_of}; {above} above chance, {len(sizes) / 2:g} expected"

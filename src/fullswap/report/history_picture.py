"""The picture of a history: measured, chance, guarantee and the model's own error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fullswap.base.amounts import counted
from fullswap.base.protocols import Indices, Vector
from fullswap.certificates.words import points as points_of
from fullswap.report import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fullswap.report.history import History

SETTLED = 0.05
"""The first so many events, as a share, may leave the picture: few events are far off by luck."""
ROOM = 1.35
"""By how much the picture goes beyond what it shows, on a logarithmic scale."""
LEAST = 1e-6
"""Shares below this are drawn as this much: a logarithm has no place for 0."""


def draw_history(
    history: History, ax: Axes | None = None, *, log: bool = False, sums: bool = False
) -> Figure:
    """How far off forecasts were after so many events, on a logarithmic scale.

    Parameters
    ----------
    history
        Errors at some numbers of events.
    ax
        Axes to draw on, by default a new figure.
    log
        Whether the number of events is on a logarithmic axis as well.
    sums
        Sums of squared errors over the events, as theorems have them, in place of percentage
        points.
    """
    ax = style.axes_of(ax, 5.4, 3.4)
    shown = {
        name: _scaled(getattr(history, name), history, sums)
        for name in ("error", "noise", "guaranteed", "before")
    }
    low, high = _limits(shown, history.events, log)
    if np.isfinite(shown["noise"]).any():
        label = f"chance alone{_at_the_end(shown['noise'], sums)}"
        heights = np.clip(shown["noise"], low, None)
        look: dict[str, Any] = dict(color=style.shade(), linewidth=0, gid="chance")
        ax.fill_between(history.events, low, heights, label=label, **look)
    looks: dict[str, dict[str, Any]] = {
        "before": dict(linewidth=1.5, **style.earlier()),
        "guaranteed": dict(color=style.VERMILION, linewidth=1.4, linestyle=(0, (5, 2))),
        "error": dict(color=style.main(), linewidth=1.8, zorder=2.5),
    }
    has_model = bool(np.isfinite(shown["before"]).any())
    words = {
        "before": "before", "guaranteed": "guaranteed at most",
        "error": "after" if has_model else "measured",
    }  # fmt: skip
    for name, look in looks.items():
        if len(history) == 1:  # a point, not a line
            look |= dict(marker="o", markersize=4)
        if np.isfinite(shown[name]).any():
            label = words[name] + _at_the_end(shown[name], sums, name == "guaranteed")
            heights = np.maximum(shown[name], low)
            ax.plot(history.events, heights, label=label, gid=name, **look)
    style.tidy(ax)
    ax.set_yscale("log")
    ax.set(ylim=(low, high), xlabel=history.unit)
    ax.set_ylabel(r"summed squared error ($\ell_2$)" if sums else "root mean square error (points)")
    _name_ticks(ax, low, high)
    if log:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.6g}")
    else:
        ax.set_xlim(0, max(int(history.events[-1]), 2))
        style.whole_ticks(ax, "x", 5)
    style.legend_above(ax, [_summary(history, sums)])
    return style.root_figure(ax)


def _scaled(shares: Vector, history: History, sums: bool) -> Vector:
    """In percentage points, or as sums of squares."""
    scaled: Vector = np.square(shares) * history.weights if sums else 100 * np.asarray(shares)
    return scaled


def _limits(shown: dict[str, Vector], events: Indices, log: bool) -> tuple[float, float]:
    """From below the least to above the largest value, the very first events left aside."""
    late = events >= (0 if log else SETTLED * events[-1])
    values = np.concatenate([curve[late] for curve in shown.values()])
    values = values[np.isfinite(values) & (values > 100 * LEAST)]
    if not len(values):
        return 0.1, 10.0
    return float(values.min()) / ROOM, float(values.max()) * ROOM


def _at_the_end(curve: Vector, sums: bool, up: bool = False) -> str:
    """The last value in words, a bound rounded up; nothing where it is not known."""
    if not np.isfinite(curve[-1]):
        return ""
    value = float(curve[-1])
    return f" {style.figures(value) if sums else points_of(value / 100, up)}"


def _name_ticks(ax: Axes, low: float, high: float) -> None:
    """1, 2 and 5 times powers of ten, written out; powers alone where the range is wide."""
    from matplotlib.ticker import LogLocator, NullLocator

    steps = (1.0, 2.0, 5.0) if high / low < 300 else (1.0,)
    ax.yaxis.set_major_locator(LogLocator(subs=steps))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.6g}")


def _summary(history: History, sums: bool) -> str:
    count = counted(int(history.events[-1]), history.unit.removesuffix("s"))
    return f"{'summed squared error' if sums else 'points off'} after {count}:"

"""The error of each segment beside what chance alone would show, worst first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fullswap.base import checks
from fullswap.metrics.chance import Chance
from fullswap.report import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMES = 0.42
"""Share of the width that names may take; what is longer is cut."""


class Segment(Protocol):
    """What is drawn of a segment; errors are shares."""

    @property
    def column(self) -> str:
        """What the events were parted by."""

    @property
    def value(self) -> str:
        """Which of its values this segment holds."""

    @property
    def events(self) -> int:
        """Number of events."""

    @property
    def error(self) -> float:
        """Average error."""

    @property
    def chance(self) -> Chance:
        """Error of a calibrated forecaster."""

    @property
    def flagged(self) -> bool:
        """Whether the evidence against it counts among all segments."""


def draw_segments(segments: Sequence[Segment], *, most: int = 20, ax: Axes | None = None) -> Figure:
    """Measured errors in points, one row for each segment.

    The bar holds 19 of 20 calibrated segments of this size, with a tick at the middle one.
    Worst is the segment whose error exceeds the end of its bar by most: small segments, which
    show large errors by chance, do not lead for that alone. Flagged ones are filled diamonds with
    bold names.

    Parameters
    ----------
    segments
        Objects with ``column``, ``value``, ``events``, ``error``, ``chance`` and ``flagged``.
    most
        Rows; the other segments are counted.
    ax
        Axes to draw on, by default a new figure whose height fits the rows.
    """
    most = checks.whole("most", most, 1)
    if not len(segments):
        checks.refuse("segments", "have one segment at least", segments)
    ranked = sorted(segments, key=lambda s: s.chance.high - s.error)
    shown = ranked[:most]
    ax = style.axes_of(ax, 5.6, 1.15 + 0.235 * len(shown))
    rows = np.arange(len(shown))
    error = 100 * np.array([segment.error for segment in shown])
    high = 100 * np.array([segment.chance.high for segment in shown])
    middle = 100 * np.array([segment.chance.median for segment in shown])
    flagged = np.array([bool(segment.flagged) for segment in shown])
    bars = ax.barh(rows, high, 0.56, color=style.shade(), linewidth=0, label="chance (19 of 20)")
    for bar in bars:
        bar.set_gid("chance")
    ax.plot(middle, rows, "|", color=style.line(), markersize=7, zorder=2, gid="middle")
    dot: dict[str, Any] = dict(marker="o", markersize=5, markerfacecolor=style.paper(), gid="dots")
    dot |= dict(color=style.main(), markeredgewidth=1.3, label="measured")
    diamond: dict[str, Any] = dict(marker="D", markersize=6, color=style.VERMILION, gid="flagged")
    diamond |= dict(label="measured, flagged")
    for chosen, look in ((~flagged, dot), (flagged, diamond)):
        if chosen.any():
            ax.plot(error[chosen], rows[chosen], linestyle="", zorder=3, clip_on=False, **look)
    style.tidy(ax)
    ax.spines["left"].set_visible(False)
    # Bold letters are a tenth wider.
    letters = int(NAMES * style.inches_of(ax) / style.BESIDE / (1.1 * style.LETTER))
    ax.set_yticks(rows, [_name(segment, letters) for segment in shown])
    ax.tick_params(axis="y", length=0)
    for name, bold in zip(ax.get_yticklabels(), flagged, strict=True):
        name.set_fontweight("bold" if bold else "normal")
    ax.set(xlim=(0, 1.06 * max(error.max(), high.max(), 0.1)), ylim=(len(shown) - 0.4, -0.6))
    more = len(ranked) - len(shown)
    hidden = sum(bool(segment.flagged) for segment in ranked[most:])
    rest = f"and {more:,} more" + (f", {hidden:,} of them flagged" if hidden else "")
    ax.set_xlabel("average error (points)" + (f"\n{rest}" if more else ""))
    lines = [f"{style.count_of(len(ranked), 'segment')}, worst first"]
    style.legend_above(ax, lines, over_names=True)
    return style.root_figure(ax)


def _name(segment: Segment, letters: int) -> str:
    name = f"{segment.column} = {segment.value}" if segment.column else str(segment.value)
    events = f" ({segment.events:,})"
    room = max(letters - len(events), 8)
    # The value says more than the column does.
    return style.plain(name if len(name) <= room else str(segment.value), room) + events

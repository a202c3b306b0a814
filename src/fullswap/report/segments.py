"""The error of each segment beside what chance alone would show, worst first."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fullswap.base import checks
from fullswap.base.amounts import counted as count_of
from fullswap.metrics.chance import Chance
from fullswap.report import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMES = 0.5
"""Share of the width that names may take; what is longer takes two lines, or is cut."""
SHORTEST, WHOLE = 18, 28
"""Letters of a line of a name at least, and of a value that is never cut."""
WIDTH, HEAD, ROW, TALL_ROW = 5.6, 1.15, 0.235, 0.36
"""Inches: width, all but the rows, a row, and a row whose name may have two lines."""


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
    ranked = _ranked(segments)
    shown = ranked[:most]
    if ax is None:
        ax = style.axes_of(ax, WIDTH, HEAD + rows_height(segments, WIDTH, most))
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
    columns = _columns(segments)
    letters = letters_of(style.inches_of(ax) / style.BESIDE)
    ax.set_yticks(rows, [_name(segment, letters, columns) for segment in shown], linespacing=1.0)
    ax.tick_params(axis="y", length=0)
    for name, bold in zip(ax.get_yticklabels(), flagged, strict=True):
        name.set_fontweight("bold" if bold else "normal")
    ax.set(xlim=(0, 1.06 * max(error.max(), high.max(), 0.1)), ylim=(len(shown) - 0.4, -0.6))
    more = len(ranked) - len(shown)
    hidden = sum(bool(segment.flagged) for segment in ranked[most:])
    rest = f"and {more:,} more" + (f", {hidden:,} of them flagged" if hidden else "")
    ax.set_xlabel("average error (points)" + (f"\n{rest}" if more else ""))
    lines = [f"{count_of(len(ranked), 'segment')}, worst first"]
    if len(columns) == 1 and columns[0]:
        lines[0] = f"{style.plain(columns[0], WHOLE)}: {lines[0]}"
    style.legend_above(ax, lines, over_names=True)
    return style.root_figure(ax)


def rows_height(segments: Sequence[Segment], width: float, most: int = 20) -> float:
    """Inches that the rows of a picture of this width need."""
    shown, columns = _ranked(segments)[:most], _columns(segments)
    names = [_name(segment, letters_of(width), columns) for segment in shown]
    return len(shown) * (TALL_ROW if any("\n" in name for name in names) else ROW)


def _ranked(segments: Sequence[Segment]) -> list[Segment]:
    """The worst first."""
    return sorted(segments, key=lambda s: s.chance.high - s.error)


def _columns(segments: Sequence[Segment]) -> list[str]:
    """What the events were parted by, each once."""
    return list(dict.fromkeys(str(segment.column) for segment in segments))


def letters_of(width: float) -> int:
    """Letters of a line of a name, where the whole picture is so wide."""
    # Bold letters are a tenth wider.
    return max(int(NAMES * width / (1.1 * style.LETTER)), SHORTEST)


def _name(segment: Segment, letters: int, columns: Sequence[str]) -> str:
    """Column, value and number of events, in two lines at most."""
    events = f"({segment.events:,})"
    value = " ".join(str(segment.value).split())
    names = [value]
    if len(columns) > 1 and segment.column:
        # The value says more than the column does.
        names.insert(0, f"{' '.join(str(segment.column).split())} = {value}")
    return fitted(names, events, letters)


def fitted(names: Sequence[str], events: str, letters: int) -> str:
    """The first of these names that fits into two lines beside the number of events.

    If none does, the last of them is cut.
    """
    tail = f"\xa0{events}" if events else ""
    for name in names:
        # No line ends before the number of events.
        lines = textwrap.wrap(f"{name}{tail}", letters, break_long_words=False) or [""]
        if len(lines) <= 2 and max(map(len, lines)) <= letters:
            return _escaped("\n".join(lines))
    room = max(letters - len(tail), 8)
    first = (textwrap.wrap(names[-1], letters) or [""])[0]
    rest = names[-1][len(first) :].lstrip()
    if not rest:
        return _escaped(f"{first}\n{events}")
    rest = rest if len(rest) <= room else rest[: room - 1] + "…"
    return _escaped(f"{first}\n{rest}{tail}")


def _escaped(name: str) -> str:
    """No dollar sign starts a formula."""
    return name.replace("$", r"\$")

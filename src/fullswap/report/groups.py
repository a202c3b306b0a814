"""The error of each group beside what chance alone would show and what is guaranteed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fullswap.base import checks
from fullswap.base.amounts import counted as count_of
from fullswap.certificates.by_group import EVERYBODY, TOO_FEW, VAIN
from fullswap.certificates.words import points as points_of
from fullswap.report import style
from fullswap.report.segments import HEAD, ROW, TALL_ROW, WIDTH, draw_segments, fitted, letters_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RIGHT = 0.6
"""Inches for the guarantees at the right."""
NOTHING = "–"
"""Where nothing is guaranteed."""
KNOWN = "be what by_group() gives, a check of groups, or errors by name"


@dataclass(frozen=True)
class _Row:
    """What is drawn of a group; errors are shares."""

    name: str
    events: int | None
    error: float
    chance: float | None = None
    high: float | None = None
    guaranteed: float | None = None
    before: float | None = None

    @property
    def everybody(self) -> bool:
        return self.name == EVERYBODY

    @property
    def beyond(self) -> bool:
        """Whether chance alone would show so much in one case of twenty at most."""
        return self.high is not None and self.error > self.high

    def label(self, letters: int) -> str:
        """Name and number of events."""
        events = "" if self.events is None else f"({self.events:,})"
        return fitted([" ".join(self.name.split())], events, letters)


def plot_groups(table: Any, *, most: int = 20, ax: Axes | None = None) -> Figure:
    """How far forecasts are off in each group, in percentage points, worst first.

    The dot is the measured error in root mean square. The bar holds about 19 of 20 right groups
    with these forecasts, with a tick at their average; dots beyond it are filled, and of many right
    groups so are one in twenty. At the right stands what is guaranteed, rounded up. The order is
    that of the table: those least explained by chance first, so that small groups, which show large
    errors by chance, do not lead for that alone. Everybody is drawn as a square, and is shown
    wherever it stands.

    Parameters
    ----------
    table
        What ``by_group()`` of a forecaster gives; or errors by name, as
        `fullswap.metrics.group_calibration_error` has them, without chance and guarantee. Of what
        `fullswap.check` gives the segments are drawn, as `draw_segments` does.
    most
        Rows; the other groups are counted.
    ax
        Axes to draw on, by default a new figure whose height fits the rows.

    Examples
    --------
    >>> figure = plot_groups({"north": 0.012, "night": 0.045})
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['night', 'north']
    """
    most = checks.whole("most", most, 1)
    if hasattr(table, "segments"):
        if not table.segments:
            checks.refuse("table", "have segments: give check(…, groups=…)", table)
        return draw_segments(table.segments, most=most, ax=ax)
    rows, silent = _rows_of(table)
    shown = _shown(rows, most)
    if ax is None:
        ax = style.axes_of(ax, WIDTH, _height(shown, WIDTH))
    _draw_rows(ax, shown)
    promised = any(row.guaranteed is not None for row in shown)
    room = style.inches_of(ax) / style.BESIDE - (RIGHT if promised else 0.0)
    letters = letters_of(room)
    places = np.arange(len(shown))
    style.tidy(ax)
    ax.spines["left"].set_visible(False)
    ax.set_yticks(places, [row.label(letters) for row in shown], linespacing=1.0)
    ax.tick_params(axis="y", length=0)
    for name, row in zip(ax.get_yticklabels(), shown, strict=True):
        name.set_fontweight("bold" if row.everybody else "normal")
    lines = [_heading(rows, shown, silent)]
    if promised:
        lines.append("at the right: guaranteed at most (points)")
        right = ax.secondary_yaxis("right")
        right.set_yticks(places, [_guarantee(row) for row in shown])
        right.tick_params(axis="y", length=0, labelsize=style.SMALL, labelcolor=style.ink())
        right.spines["right"].set_visible(False)
    ax.set_xlabel("points off")
    style.legend_above(ax, lines, over_names=True)
    return style.root_figure(ax)


def height_of(table: Any, most: int = 20, width: float = WIDTH) -> float:
    """Inches that ``plot_groups`` needs in this width."""
    return _height(_shown(_rows_of(table)[0], most), width)


def _height(shown: Sequence[_Row], width: float) -> float:
    tall = any("\n" in row.label(letters_of(width - RIGHT)) for row in shown)
    return HEAD + 0.2 + len(shown) * (TALL_ROW if tall else ROW)


def _rows_of(table: Any) -> tuple[list[_Row], int]:
    """Rows with a measured error, worst first, and how many have none."""
    if isinstance(table, Mapping):
        rows = [
            _Row(str(name), None, checks.number(f"table[{name!r}]", error, least=0))
            for name, error in table.items()
        ]
        rows.sort(key=lambda row: -row.error)
        silent = 0
    else:
        given = getattr(table, "rows", None)
        if not isinstance(given, Sequence):
            checks.refuse("table", KNOWN, table)
        measured = [row for row in given if row.points is not None]
        rows = [
            _Row(
                str(row.name),
                row.rounds,
                row.points,
                row.points_noise,
                row.points_high,
                row.points_guaranteed,
                getattr(row, "before", None),
            )
            for row in measured
        ]
        silent = len(given) - len(measured)
    if not rows:
        checks.refuse("table", "have one group with outcomes at least", table)
    return rows, silent


def _shown(rows: Sequence[_Row], most: int) -> list[_Row]:
    """The first so many, and everybody in place of the last of them if it came later."""
    shown = list(rows[:most])
    later = [row for row in rows[most:] if row.everybody]
    return [*shown[: most - 1], *later] if later else shown


def _draw_rows(ax: Axes, rows: Sequence[_Row]) -> None:
    places = np.arange(len(rows))
    error, chance, high, before = (
        100 * np.array([np.nan if value is None else value for value in values])
        for values in zip(*((r.error, r.chance, r.high, r.before) for r in rows), strict=True)
    )
    if not np.isnan(high).all():
        look: dict[str, Any] = dict(color=style.shade(), linewidth=0, label="chance (19 of 20)")
        for bar in ax.barh(places, np.nan_to_num(high), 0.56, **look):
            bar.set_gid("chance")
    if not np.isnan(chance).all():
        look = dict(color=style.line(), markersize=7, zorder=2, gid="average")
        ax.plot(chance, places, "|", **look)
    if not np.isnan(before).all():
        # A cross, for hollow dots are those that chance explains.
        look = dict(color=style.line(), markersize=4.5, zorder=2.5, clip_on=False, gid="before")
        ax.plot(before, places, "x", label="before", **look)
    # Without chance there is nothing to be beyond of: all dots are alike.
    known = ~np.isnan(high)
    beyond = np.array([row.beyond for row in rows])
    whole = np.array([row.everybody for row in rows])
    hollow = dict(markerfacecolor=style.paper())
    dot: dict[str, Any] = dict(marker="o", markersize=5, markeredgewidth=1.3)
    square: dict[str, Any] = dict(marker="s", markersize=5.5, markeredgewidth=1.4)
    for chosen, own in (
        (~whole & ~beyond & known, dict(dot, **hollow, label="measured", gid="dots")),
        (~whole & ~known, dict(dot, label="measured", gid="dots")),
        (~whole & beyond, dict(dot, label="measured, beyond chance", gid="beyond")),
        (whole & ~beyond, dict(square, **hollow, label="everybody", gid="everybody")),
        (whole & beyond, dict(square, label="everybody, beyond chance", gid="everybody")),
    ):
        if chosen.any():
            look = dict(linestyle="", zorder=3, clip_on=False, color=style.main())
            ax.plot(error[chosen], places[chosen], **look, **own)
    end = np.nanmax(np.concatenate([error, chance, high, before, [0.1]]))
    ax.set(xlim=(0, 1.06 * end), ylim=(len(rows) - 0.4, -0.6))


def _heading(rows: Sequence[_Row], shown: Sequence[_Row], silent: int) -> str:
    """How many groups there are, and how many of them are drawn."""
    groups, drawn = (sum(not row.everybody for row in part) for part in (rows, shown))
    order = "worst first" if drawn == groups else f"the worst {drawn:,} shown"
    rest = f"; {silent:,} without outcomes" if silent else ""
    return f"{count_of(groups, 'group')}, {order}{rest}"


def _guarantee(row: _Row) -> str:
    if row.guaranteed is None:
        return NOTHING
    # a bound is never rounded down
    return TOO_FEW if row.guaranteed >= VAIN else points_of(row.guaranteed, up=True)

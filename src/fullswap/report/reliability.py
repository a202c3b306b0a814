"""The reliability diagram: observed frequency against forecast, with consistency bands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fullswap.base import checks
from fullswap.base.amounts import counted as count_of
from fullswap.base.protocols import Vector
from fullswap.base.records import Record
from fullswap.metrics.bins import ROUNDING, Bins
from fullswap.metrics.cells import Cells
from fullswap.metrics.corp import Curve, curve_of
from fullswap.metrics.groups import Groups, l2_of
from fullswap.metrics.scores import brier_of
from fullswap.report import style
from fullswap.report.bands import (
    Dots,
    cells_of,
    consistency_band,
    expected_outside,
    group_events,
    yes_no_events,
)
from fullswap.report.panel import draw_panel, reliability_scale
from fullswap.report.scale import Scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROOM_FOR_LEGEND = 2.9
"""Inches a side of given axes from which on a legend fits into their emptier corner."""
ROOM_ABOVE, ROOM_OF_LINE = 0.3, 0.17
"""Inches by which given axes are taller than wide for the legend to stand above the square, and
so much more for each line over it."""


def reliability_diagram(
    y_true: ArrayLike,
    y_proba: ArrayLike | Record,
    *,
    sample_weight: ArrayLike | None = None,
    bins: int | None = None,
    grid: ArrayLike | None = None,
    band: float = 0.9,
    ax: Axes | None = None,
    title: str | None = None,
    log_odds: bool | None = None,
) -> Figure:
    """Observed frequency against forecast, with what a calibrated forecaster would show.

    The curve is the best increasing re-reading of the forecasts (isotonic regression), which
    needs no bins. Shaded is where the curve of a calibrated forecaster with these forecasts lies
    with probability ``band``, forecast by forecast.

    A dot stands at (p̄, ȳ), the mean forecast and the mean outcome of a group of events; its
    area grows with the group, and small groups fade. The upright line across the diagonal holds,
    for each group by itself, the frequencies between the (1 ∓ band)/2 quantiles of a calibrated
    forecaster [BS07]; dots beyond it are open diamonds, and above stands how many of them chance
    alone would show. Below, the forecasts' counts.

    Where nine tenths of the forecasts are below 10 %, or above 90 %, both axes are in log-odds:
    0.1 %, 1 % and 10 % are then equally far apart, and 0 and 1 stand at the ends.

    Above it stand the l2 calibration error Σ_g W_g·(p̄_g − ȳ_g)² of the groups shown, with W_g
    the weight of group g, and the Brier score, the mean of (forecast − outcome)².

    Parameters
    ----------
    y_true, y_proba
        Outcomes and forecasts in [0, 1], shape (T,), or a `Record` for the forecasts that it
        issued. Outcomes strictly between 0 and 1 vary less than the band allows for.
    sample_weight
        Weights of the events, shape (T,); the band then rests on effective counts (Σw)²/Σw².
    bins
        Number of bins of equal mass (not of equal width: no bin is then empty, and all have
        about the same say). By default a group is one distinct forecast, if there are at most
        101, each met five times or more on average, or if all lie on ``grid``; else there are
        ⌈T^(1/3)⌉ bins.
    grid
        The forecasts that could have been issued, marked by ticks below the diagram.
    band
        Probability of the band, in (0, 1).
    ax, title
        Axes to draw on, of which the counts take a strip, by default a new figure; its title.
    log_odds
        True or False to choose the axes.

    Examples
    --------
    >>> figure = reliability_diagram([0, 1, 0, 1, 1], [0.3, 0.3, 0.3, 0.8, 0.8])
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['observed frequency', 'events']
    """
    events = yes_no_events(y_true, y_proba, sample_weight)
    weighted = sample_weight is not None
    level = checks.number("band", band)
    if not 0 < level < 1:
        checks.refuse("band", "lie strictly between 0 and 1", band)
    checks.flag("log_odds", log_odds)
    issuable = None if grid is None else checks.vector("grid", grid)
    if issuable is not None:
        checks.unit("grid", issuable)
    dots, cells = group_events(events, bins, issuable), cells_of(events)
    curve = curve_of(cells, level=level)
    lines = _summary(events, dots, weighted)
    return _draw(
        curve, dots, cells, lines, ax=ax, title=title, log_odds=log_odds, grid=issuable,
        weighted=weighted,
    )  # fmt: skip


def draw_reliability(
    curve: Curve,
    bins: Bins,
    cells: Cells,
    *,
    ax: Axes | None = None,
    title: str | None = None,
    log_odds: bool | None = None,
) -> Figure:
    """The diagram of `reliability_diagram` from parts that are known already."""
    groups = len(bins.forecast)
    noun = "bin" if groups < len(cells.forecast) else "forecast"
    events = count_of(cells.events, "event")
    if cells.events < cells.rows:
        events = f"{count_of(cells.rows, 'forecast')} of {events}"
    lines = [f"{events}, {count_of(groups, noun)}, {style.points(bins.error)} off"]
    weighted = not np.array_equal(cells.weight, cells.count)
    return _draw(
        curve, bins, cells, lines, ax=ax, title=title, log_odds=log_odds, weighted=weighted
    )


def _draw(
    curve: Curve, dots: Dots | Bins, cells: Cells, lines: list[str], *, ax: Axes | None,
    title: str | None, log_odds: bool | None, weighted: bool, grid: Vector | None = None,
) -> Figure:  # fmt: skip
    # Rows that share an outcome say less than as many events would.
    trials = dots.trials / max(cells.inflation, 1.0)
    low, high = consistency_band(dots.forecast, trials, curve.level)
    outside = (dots.frequency < low - ROUNDING) | (dots.frequency > high + ROUNDING)
    expected = expected_outside(dots.forecast, trials, curve.level)
    groups = count_of(len(outside), "dot")
    lines = [*lines, f"{outside.sum()} of {groups} outside, {expected:.1f} expected"]
    scale = reliability_scale(curve, dots, cells, log_odds, (low, high))
    # Diagonal, band, range and curve, two kinds of dots and the grid, in two columns.
    entries = 4 + bool(outside.any()) + (not outside.all()) + (grid is not None)
    main, counts = _axes(ax, len(lines), title is not None, legend_rows=-(-entries // 2))
    scale.dress(main)
    handles = draw_panel(main, curve, dots, scale, (low, high))
    if grid is not None:
        handles += main.plot(
            scale.place(grid), np.zeros(len(grid)), "|", transform=main.get_xaxis_transform(),
            color=style.ink(), markersize=6, markeredgewidth=0.9, clip_on=False, zorder=2.6,
            label="grid", gid="grid",
        )  # fmt: skip
    _draw_counts(counts, cells, dots, scale)
    unit = "weight" if weighted else "rows" if cells.events < cells.rows else "events"
    _label(main, counts, unit, scale)
    if ax is None:
        style.head(main, title, lines)
        style.root_figure(main).legend(
            handles=handles, loc="lower left", bbox_to_anchor=(0.1, 0), ncols=2, frameon=False,
            columnspacing=1.4, borderpad=0, fontsize=style.SMALL, labelcolor=style.ink(),
            handlelength=1.6,
        )  # fmt: skip
    elif title is None and _has_room_above(main, lines):
        style.legend_above(main, lines, handles=handles)
    else:
        style.head(main, title, lines, fold=True)
        if min(style.inches_of(main), style.inches_of(main, wide=False)) >= ROOM_FOR_LEGEND:
            above = dots.weight @ (dots.frequency - dots.forecast) > 0
            main.legend(
                handles=handles, loc="lower right" if above else "upper left", framealpha=0.85,
                fontsize=style.SMALL - 1, labelcolor=style.ink(), edgecolor="none",
                handlelength=1.4, facecolor=style.paper(), borderpad=0.2, labelspacing=0.3,
            )  # fmt: skip
    return style.root_figure(main)


def _has_room_above(ax: Axes, lines: list[str]) -> bool:
    """Whether a layout will make room for a legend above, where it covers nothing."""
    wide, tall = style.inches_of(ax), style.inches_of(ax, wide=False)
    arranged = style.root_figure(ax).get_layout_engine() is not None
    needed = ROOM_ABOVE + ROOM_OF_LINE * len(style.folded(ax, lines))
    return arranged and wide >= ROOM_FOR_LEGEND and tall >= wide + needed


def _axes(ax: Axes | None, lines: int, titled: bool, legend_rows: int) -> tuple[Axes, Axes]:
    """Square axes for the diagram, and a strip below for the counts."""
    if ax is None:
        # Placed by hand, in inches: layout engines do not keep a square and a strip in line.
        left, side, strip, gap = 0.8, 3.7, 0.55, 0.14
        foot, above = 0.52 + 0.19 * legend_rows, 0.17 * lines + (0.44 if titled else 0.16)
        width, height = left + side + 0.22, foot + strip + gap + side + above
        figure = style.new_figure(width, height)
        main, counts = (
            figure.add_axes((left / width, bottom / height, side / width, tall / height))
            for bottom, tall in ((foot + strip + gap, side), (foot, strip))
        )
        counts.sharex(main)
        for axes in (main, counts):
            axes.yaxis.set_label_coords(-0.165, 0.5)
        return main, counts
    if style.root_figure(ax).get_layout_engine() is not None:
        # A layout engine makes room for insets, and not for axes that a divider adds.
        return ax, ax.inset_axes((0, -0.21, 1, 0.16), sharex=ax)
    from mpl_toolkits.axes_grid1 import make_axes_locatable  # type: ignore[import-untyped]

    return ax, make_axes_locatable(ax).append_axes("bottom", "16%", pad=0.12, sharex=ax)


def _bar_width(dots: Dots | Bins, extent: float) -> float:
    """Width of the bars of single forecasts: not wide, and apart where forecasts are regular."""
    gaps = np.diff(dots.forecast)
    typical = float(np.median(gaps)) if len(gaps) else extent
    # Seven tenths of the way to the next bar, two pixels at least, and a dot's width at most.
    return float(np.clip(0.7 * typical, 0.004 * extent, 0.034 * extent))


def _draw_counts(ax: Axes, cells: Cells, dots: Dots | Bins, scale: Scale) -> None:
    if not scale.log_odds and len(dots.forecast) == len(cells.forecast):
        width = _bar_width(dots, scale.high - scale.low)
        bars = ax.bar(dots.forecast, dots.weight, width, color=style.line(), linewidth=0)
        for bar in bars:
            bar.set_gid("counts")
        return
    edges = scale.edges()
    heights, _ = np.histogram(scale.place(cells.forecast), edges, weights=cells.weight)
    ax.stairs(heights, edges, fill=True, color=style.line(), gid="counts")


def _label(main: Axes, counts: Axes, unit: str, scale: Scale) -> None:
    for axes in (main, counts):
        style.tidy(axes)
    scale.dress(counts, y=False)
    main.set(aspect="equal", ylabel="observed frequency")
    main.tick_params(labelbottom=False)
    counts.set_xlabel("forecast probability")
    # The strip is lower than a label of the usual size on small axes.
    small = style.inches_of(main, wide=False) < 3
    size: dict[str, Any] = dict(fontsize=style.SMALL - 1.5) if small else {}
    counts.set_ylabel(unit, **size)
    style.whole_ticks(counts, "y", 2, integer=unit != "weight")


def _summary(events: Groups, dots: Dots, weighted: bool) -> list[str]:
    error = l2_of(dots.groups)
    counted = count_of(len(dots), "bin" if dots.binned else "forecast")
    of_what = "calibration error of the bins" if dots.binned else "calibration error"
    unit = "unit of weight" if weighted else "event"
    return [
        f"{count_of(len(events), 'event')}, {counted}; Brier score {brier_of(events):.4f}",
        f"{of_what} {style.figures(error)}, per {unit} {style.figures(error / events.total)}",
    ]

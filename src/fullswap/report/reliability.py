"""The reliability diagram: observed frequency against forecast, with consistency bands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullswap.base import checks
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
from fullswap.report.scale import Scale, scale_of
from fullswap.report.thin import corners

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMALLEST_DOT, DOTS_AREA, LARGEST_DOT = 7.0, 1200.0, (18.0, 55.0)
"""Least area of a dot, rough area of all together, and bounds for the largest, square points."""
ROOM_FOR_LEGEND = 2.9
"""Inches a side of given axes from which on a legend fits into their emptier corner."""
SAME_SIZE = 0.85
"""Dots that differ by less in area are drawn alike."""
FULL, FAINTEST = 30.0, 0.4
"""Events of a group from which on its dot is opaque; opacity of the smallest."""


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
    with probability `band`, forecast by forecast.

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
        101, each met five times or more on average, or if all lie on `grid`; else there are
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
    events = style.count_of(cells.events, "event")
    if cells.events < cells.rows:
        events = f"{style.count_of(cells.rows, 'forecast')} of {events}"
    lines = [f"{events}, {style.count_of(groups, noun)}, {style.points(bins.error)} off"]
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
    groups = style.count_of(len(outside), "dot")
    lines = [*lines, f"{outside.sum()} of {groups} outside, {expected:.1f} expected"]
    scale = reliability_scale(curve, dots, cells, log_odds, (low, high))
    main, counts = _axes(ax, len(lines), title is not None, legend_rows=3)
    scale.dress(main)
    handles = draw_panel(main, curve, dots, scale, (low, high))
    if grid is not None:
        handles += main.plot(
            scale.place(grid), np.zeros(len(grid)), "|", transform=main.get_xaxis_transform(),
            color=style.ink(), markersize=6, markeredgewidth=0.9, clip_on=False, zorder=2.6,
            label="grid", gid="grid",
        )  # fmt: skip
    _draw_counts(counts, cells, dots, scale)
    _label(main, counts, weighted, scale)
    if ax is None:
        style.head(main, title, lines)
        style.root_figure(main).legend(
            handles=handles, loc="lower left", bbox_to_anchor=(0.1, 0), ncols=2, frameon=False,
            columnspacing=1.4, borderpad=0, fontsize=style.SMALL, labelcolor=style.ink(),
            handlelength=1.6,
        )  # fmt: skip
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


def _label(main: Axes, counts: Axes, weighted: bool, scale: Scale) -> None:
    for axes in (main, counts):
        style.tidy(axes)
    scale.dress(counts, y=False)
    main.set(aspect="equal", ylabel="observed frequency")
    main.tick_params(labelbottom=False)
    counts.set_xlabel("forecast probability")
    # The strip is lower than a label of the usual size on small axes.
    small = style.inches_of(main, wide=False) < 3
    size: dict[str, Any] = dict(fontsize=style.SMALL - 1.5) if small else {}
    counts.set_ylabel("weight" if weighted else "events", **size)
    style.whole_ticks(counts, "y", 2, integer=not weighted)


def _summary(events: Groups, dots: Dots, weighted: bool) -> list[str]:
    error = l2_of(dots.groups)
    counted = style.count_of(len(dots), "bin" if dots.binned else "forecast")
    of_what = "calibration error of the bins" if dots.binned else "calibration error"
    unit = "unit of weight" if weighted else "event"
    return [
        f"{style.count_of(len(events), 'event')}, {counted}; Brier score {brier_of(events):.4f}",
        f"{of_what} {style.figures(error)}, per {unit} {style.figures(error / events.total)}",
    ]

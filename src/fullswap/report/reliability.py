"""The reliability diagram: observed frequency against forecast, with consistency bands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullswap.base import checks
from fullswap.base.protocols import Vector
from fullswap.base.records import Record
from fullswap.metrics.groups import Groups, l2_of
from fullswap.metrics.scores import brier_of
from fullswap.report import style
from fullswap.report.bands import ROUNDING, Dots, consistency_band, group_events, yes_no_events

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMALLEST_DOT, DOTS_AREA, LARGEST_DOT = 7.0, 1200.0, (18.0, 55.0)
"""Least area of a dot, rough area of all together, and bounds for the largest, square points."""
HISTOGRAM_BARS = 50
"""Bars of the counts where forecasts are continuous: two percent each on the unit interval."""


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
) -> Figure:
    """Observed frequency against forecast, with what a calibrated forecaster would show.

    A dot stands at (p̄, ȳ), the mean forecast and the mean outcome of a group of events; its
    area grows with the group. The shaded band holds, for each group by itself, the frequencies
    between the (1 ∓ band)/2 quantiles of a calibrated forecaster [BS07]; of G calibrated groups,
    up to (1 − band)·G are expected outside, drawn as open diamonds. Below, the forecasts' counts.

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
    issuable = None if grid is None else checks.vector("grid", grid)
    if issuable is not None:
        checks.unit("grid", issuable)
    dots = group_events(events, bins, issuable)
    low, high = consistency_band(dots.forecast, dots.trials, level)

    main, counts = _axes(ax, title is not None, legend_rows=2 if issuable is None else 3)
    low_end, high_end = limits = _limits(events, dots, low, high)
    width = _bar_width(dots, high_end - low_end)
    diagonal = main.plot([0, 1], [0, 1], color=style.LINE, linewidth=0.9, zorder=1.5)
    diagonal[0].set_label("calibrated")
    handles: list[Artist] = [*diagonal]
    handles += _draw_band(main, dots, low, high, width, f"{100 * level:g} % band if calibrated")
    handles += _draw_dots(main, dots, low, high)
    if issuable is not None:
        handles += main.plot(
            issuable, np.zeros(len(issuable)), "|", transform=main.get_xaxis_transform(),
            color=style.INK, markersize=6, markeredgewidth=0.9, clip_on=False, zorder=2.6,
            label="grid",
        )  # fmt: skip
    _draw_counts(counts, events, dots, width, limits)
    _label(main, counts, weighted, limits)
    style.head(main, title, _summary(events, dots, weighted))
    _draw_legend(main, handles, dots, own=ax is None)
    return style.root_figure(main)


def _axes(ax: Axes | None, titled: bool, legend_rows: int) -> tuple[Axes, Axes]:
    """Square axes for the diagram, and a strip below for the counts."""
    if ax is None:
        # Placed by hand, in inches: layout engines do not keep a square and a strip in line.
        left, side, strip, gap = 0.8, 3.7, 0.55, 0.14
        foot, above = 0.52 + 0.19 * legend_rows, 0.78 if titled else 0.5
        width, height = left + side + 0.15, foot + strip + gap + side + above
        figure = style.new_figure(width, height)
        main, counts = (
            figure.add_axes((left / width, bottom / height, side / width, tall / height))
            for bottom, tall in ((foot + strip + gap, side), (foot, strip))
        )
        counts.sharex(main)
        for axes in (main, counts):
            axes.yaxis.set_label_coords(-0.165, 0.5)
        return main, counts
    from mpl_toolkits.axes_grid1 import make_axes_locatable  # type: ignore[import-untyped]

    return ax, make_axes_locatable(ax).append_axes("bottom", "16%", pad=0.12, sharex=ax)


def _limits(events: Groups, dots: Dots, low: Vector, high: Vector) -> tuple[float, float]:
    """The unit interval, or its end that holds what is drawn, if less than half would do.

    A hundredth of the forecasts on either side may lie beyond: one stray forecast of a rare
    event should not press all others into a corner.
    """
    shown = np.concatenate([dots.forecast, dots.frequency, low, high])
    usual = np.quantile(events.forecasts[:, 0], [0.01, 0.99])
    least, most = min(shown.min(), usual[0]), max(shown.max(), usual[1])
    low_end, high_end = 0.0, 1.0
    if 0 < most <= 0.5:
        high_end = float(most)
    elif 0.5 <= least < 1:
        low_end = float(least)
    margin = 0.025 * (high_end - low_end)  # room for half a dot
    return low_end - margin, high_end + margin


def _bar_width(dots: Dots, extent: float) -> float:
    """Width of the bars of single forecasts: not wide, and apart where forecasts are regular."""
    gaps = np.diff(dots.forecast)
    typical = float(np.median(gaps)) if len(gaps) else extent
    # Seven tenths of the way to the next bar, two pixels at least, and a dot's width at most.
    return float(np.clip(0.7 * typical, 0.004 * extent, 0.034 * extent))


def _draw_band(
    ax: Axes, dots: Dots, low: Vector, high: Vector, width: float, label: str
) -> list[Artist]:
    """Bars at single forecasts; one area where forecasts are continuous and bins neighbours."""
    look: dict[str, Any] = dict(color=style.SHADE, linewidth=0, label=label)
    if dots.binned and len(dots) > 1:
        return [ax.fill_between(dots.forecast, low, high, **look)]
    bars = ax.bar(dots.forecast, high - low, width, low, **look)
    return [bars]  # type: ignore[list-item]  # a legend takes a container of bars as well


def _draw_dots(ax: Axes, dots: Dots, low: Vector, high: Vector) -> list[Artist]:
    largest = np.clip(DOTS_AREA / len(dots), *LARGEST_DOT)
    areas = np.maximum(largest * dots.weight / dots.weight.max(), SMALLEST_DOT)
    outside = (dots.frequency < low - ROUNDING) | (dots.frequency > high + ROUNDING)

    def draw(chosen: NDArray[np.bool_], **look: Any) -> list[Artist]:
        if not chosen.any():
            return []
        x, y = dots.forecast[chosen], dots.frequency[chosen]
        return [ax.scatter(x, y, areas[chosen], zorder=3, clip_on=False, **look)]

    dot = dict(marker="o", facecolor=style.BLUE, edgecolor="white", linewidth=0.5)
    diamond = dict(marker="D", facecolor="white", edgecolor=style.VERMILION, linewidth=1.2)
    stray = f"outside the band ({outside.sum()} of {len(dots)})"
    return draw(~outside, label="observed", **dot) + draw(outside, label=stray, **diamond)


def _draw_counts(
    ax: Axes, events: Groups, dots: Dots, width: float, limits: tuple[float, float]
) -> None:
    if not dots.binned:
        ax.bar(dots.forecast, dots.weight, width, color=style.LINE, linewidth=0)
        return
    span = max(limits[0], 0.0), min(limits[1], 1.0)
    forecasts = events.forecasts[:, 0]
    heights, edges = np.histogram(forecasts, HISTOGRAM_BARS, span, weights=events.weights)
    ax.stairs(heights, edges, fill=True, color=style.LINE)


def _label(main: Axes, counts: Axes, weighted: bool, limits: tuple[float, float]) -> None:
    for axes in (main, counts):
        style.tidy(axes)
    main.set(xlim=limits, ylim=limits, aspect="equal", ylabel="observed frequency")
    main.tick_params(labelbottom=False)
    main.locator_params(nbins=6)
    counts.set(xlabel="forecast probability", ylabel="weight" if weighted else "events")
    counts.locator_params(axis="y", nbins=2, integer=not weighted)
    counts.yaxis.set_major_formatter("{x:,g}")


def _draw_legend(main: Axes, handles: list[Artist], dots: Dots, own: bool) -> None:
    """Below all in a figure of our own, else in the emptier corner of the axes."""
    look: dict[str, Any] = dict(fontsize=style.SMALL, labelcolor=style.INK, handlelength=1.6)
    if own:
        look |= dict(loc="lower left", bbox_to_anchor=(0.1, 0), ncols=2, columnspacing=1.4)
        style.root_figure(main).legend(handles=handles, frameon=False, borderpad=0, **look)
        return
    above = dots.weight @ (dots.frequency - dots.forecast) > 0
    look |= dict(loc="lower right" if above else "upper left", framealpha=0.85, edgecolor="none")
    main.legend(handles=handles, **look)


def _summary(events: Groups, dots: Dots, weighted: bool) -> list[str]:
    error = l2_of(dots.groups)
    counted = style.count_of(len(dots), "bin" if dots.binned else "forecast")
    of_what = "calibration error of the bins" if dots.binned else "calibration error"
    unit = "unit of weight" if weighted else "event"
    return [
        f"{style.count_of(len(events), 'event')}, {counted}; Brier score {brier_of(events):.4f}",
        f"{of_what} {style.figures(error)}, per {unit} {style.figures(error / events.total)}",
    ]

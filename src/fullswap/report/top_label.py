"""The reliability diagram of the label that each forecast declared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fullswap.base import checks
from fullswap.metrics.bins import bins_of
from fullswap.metrics.corp import curve_of
from fullswap.metrics.soft_bins import top_label_events
from fullswap.report.classes import events_of
from fullswap.report.reliability import draw_reliability

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_top_label(
    y_true: Any, y_proba: Any, declared: Any = None, *, sample_weight: Any = None,
    bins: int | None = None, ax: Axes | None = None, title: str | None = None,
    log_odds: bool | None = None,
) -> Figure:  # fmt: skip
    """How often the declared class came true against how likely it was said to be.

    Parts and bands are those of `reliability_diagram`. Bins are hard: a forecaster that does not
    draw is calibrated in soft ones (`top_label_calibration_error`), and here only as long as
    nobody plays against it.

    Parameters
    ----------
    y_true, y_proba, sample_weight
        Classes as numbers (T,), or rows (T, K); probabilities (T, K).
    declared
        The class that each forecast declared, shape (T,), by default the likeliest.
    bins
        How many bins of equal mass, by default ⌈T^(1/3)⌉.
    ax, title, log_odds
        As for `reliability_diagram`.

    Examples
    --------
    >>> y, p = [0, 2, 1, 1], [[0.8, 0.1, 0.1], [0.1, 0.2, 0.7], [0.1, 0.9, 0.0], [0.6, 0.3, 0.1]]
    >>> plot_top_label(y, p).axes[1].get_xlabel()
    'probability of the declared class'
    """
    checks.flag("log_odds", log_odds)
    said, hits, weights = top_label_events(y_true, y_proba, declared, sample_weight)
    cells = events_of(said, hits, weights)
    groups = bins_of(cells, "cube_root" if bins is None else bins)
    figure = draw_reliability(curve_of(cells), groups, cells, ax=ax, title=title, log_odds=log_odds)
    main = figure.axes[0] if ax is None else ax
    main.set_ylabel("how often it came true")
    for axes in [*main.child_axes, *figure.axes]:
        if axes.get_xlabel() == "forecast probability":
            axes.set_xlabel("probability of the declared class")
    return figure

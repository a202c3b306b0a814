"""What acting on forecasts is worth, for every threshold from which on one acts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fullswap.base.protocols import Vector
from fullswap.metrics.benefit import net_benefit, treat_all
from fullswap.metrics.cells import Cells
from fullswap.report import style
from fullswap.report.scale import percent
from fullswap.report.thin import corners

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

THRESHOLDS = 250
"""Thresholds at which benefits are drawn: one for every other pixel."""
LOWEST = 0.05
"""How far below 0 the picture goes, as a share of what there is to gain."""


def draw_benefit(
    cells: Cells,
    recalibrated: Cells | None = None,
    *,
    earlier: Cells | None = None,
    happened: str | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Net benefit of acting when the forecast is at or above a threshold.

    Found events minus false alarms, a false alarm at threshold t weighing t/(1 − t), per 100
    events (Vickers, Elkin 2006). Beside it acting always, and never, which is worth 0.

    Parameters
    ----------
    cells
        The events by forecast.
    recalibrated
        The same events by recalibrated forecast.
    earlier
        The same events by forecast as it was before ``cells``.
    happened
        What an outcome of 1 means, as "the likeliest class was right"; by default that the event
        happened.
    ax
        Axes to draw on, by default a new figure.
    """
    prevalence = float(cells.yes.sum() / cells.total)
    top = max(prevalence, 1e-9)
    thresholds = _thresholds([cells, recalibrated, earlier], prevalence)
    ax = style.axes_of(ax, 5.4, 3.4)

    def draw(values: Vector, label: str, gid: str, **look: Any) -> None:
        kept = corners(thresholds, np.maximum(values, -top))  # far below nothing is seen
        ax.plot(thresholds[kept], 100 * values[kept], label=label, gid=gid, **look)

    look: dict[str, Any] = dict(color=style.line(), linewidth=1.1)
    draw(
        treat_all(cells, thresholds), "act on all", "all", linestyle=(0, (6, 1.5, 1.2, 1.5)), **look
    )
    draw(np.zeros(len(thresholds)), "act on none", "none", **look)
    gains = net_benefit(cells, thresholds)
    name = "model" if earlier is None else "after"
    draw(gains, name, "model", color=style.main(), linewidth=1.8, zorder=2.5)
    if earlier is not None:
        gained = net_benefit(earlier, thresholds)
        draw(gained, "before", "before", linewidth=1.5, zorder=2.4, **style.earlier())
    if recalibrated is not None:
        after = net_benefit(recalibrated, thresholds)
        dashed: dict[str, Any] = dict(color=style.VERMILION, linestyle=(0, (5, 1.6)), zorder=2.6)
        draw(after, "recalibrated", "recalibrated", linewidth=1.5, **dashed)
    style.tidy(ax)
    ax.set(
        xlim=(0, thresholds[-1]), ylim=(-100 * LOWEST * top, 105 * top),
        xlabel="act when the forecast is at least",
        ylabel="net benefit (found per 100 events)",
    )  # fmt: skip
    ax.locator_params(axis="x", nbins=6)
    ax.xaxis.set_major_formatter(lambda value, _: percent(value))
    rate = f"{style.figures(100 * prevalence)} of 100 events"
    said = f"{rate} happened" if happened is None else f"{happened} in {rate}"
    style.legend_above(ax, [style.plain(said)])
    return style.root_figure(ax)


def _thresholds(several: Sequence[Cells | None], prevalence: float) -> Vector:
    """From 0 to where hardly any forecast is left, but not short of twice the mean outcome."""
    largest = 0.0
    for one in (cells for cells in several if cells is not None):
        ends = np.cumsum(one.weight)
        place = int(np.searchsorted(ends, 0.995 * ends[-1]))
        largest = max(largest, float(one.forecast[min(place, len(ends) - 1)]))
    top = float(np.clip(1.1 * max(largest, 2 * prevalence), 0.01, 0.99))
    return np.linspace(0, 0.99 if top > 0.7 else top, THRESHOLDS)

"""Several forecasters side by side: losses at every threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from fullswap.metrics.benefit import murphy
from fullswap.metrics.cells import Cells
from fullswap.report import style
from fullswap.report.plane import LONGEST_NAME, check_models, draw_plane
from fullswap.report.scale import Scale, scale_of
from fullswap.report.thin import corners

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_murphy", "draw_plane"]

THETAS = 250
"""Thresholds at which losses are drawn."""


def draw_murphy(
    models: Mapping[str, Cells], *, earlier: str | None = None, ax: Axes | None = None
) -> Figure:
    """Mean loss of those who act from a threshold on, for every threshold.

    Mean elementary scores (Ehm, Gneiting, Jordan, Krüger 2016): a forecaster whose line is nowhere
    above another's is better for everybody who acts on the forecasts, whatever is at stake. Every
    proper score is a weighted area under the line.

    Parameters
    ----------
    models
        Name ↦ events by forecast.
    earlier
        Which of them, the first, is what was before; drawn less boldly.
    ax
        Axes to draw on, by default a new figure.
    """
    check_models(models)
    scale = _scale(list(models.values()))
    thetas = scale.edges(THETAS) if scale.log_odds else np.linspace(0, 1, THETAS + 1)
    curves = {name: murphy(cells, thetas) for name, cells in models.items()}
    largest = max(float(curve.max()) for curve in curves.values())
    ax = style.axes_of(ax, 5.4, 3.4 + 0.08 * max(len(models) - 4, 0))
    looks = [style.earlier()] if earlier in models else []
    looks += style.palette(len(models) - len(looks))
    if len(models) == 1 or earlier in models:
        looks[-1]["color"] = style.main()
    for k, (name, curve) in enumerate(curves.items()):
        label = style.plain(str(name), LONGEST_NAME)
        kept = corners(scale.flat(thetas), curve)
        ax.plot(
            thetas[kept], curve[kept], linewidth=1.5, label=label, gid=f"model-{k + 1}", **looks[k]
        )
    style.tidy(ax)
    scale.dress(ax, y=False)
    ax.set(xlabel="act when the forecast is above", ylabel="mean loss (elementary score)")
    ax.set_ylim(0, 1.06 * max(largest, 1e-9))
    if not scale.log_odds:
        ax.set_xlim(0, 1)
    style.legend_above(ax, ["lower is better"])
    return style.root_figure(ax)


def _scale(models: list[Cells]) -> Scale:
    """Log-odds where all forecast mostly rare, or mostly common, events; else the unit interval."""
    scales = [scale_of(cells, np.array([cells.yes.sum() / cells.total])) for cells in models]
    if not all(scale.log_odds for scale in scales):
        return Scale(0.0, 1.0, False)
    low, high = min(scale.low for scale in scales), max(scale.high for scale in scales)
    return Scale(low, high, True)

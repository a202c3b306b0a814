"""The decision curve: what acting on forecasts costs, for every cost/loss ratio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fullswap.base import checks
from fullswap.base.amounts import counted as count_of
from fullswap.base.protocols import Vector
from fullswap.base.records import Record
from fullswap.certificates import Certificate, Table
from fullswap.certificates.decisions import average_regret, percent, regret_at, worst_ratio
from fullswap.certificates.words import counted
from fullswap.report import style
from fullswap.report.bands import group_events, yes_no_events

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FAR = 3.0
"""A guarantee more than so many times above all that was measured is not drawn."""


def decision_curve(
    y_true: ArrayLike | Certificate,
    y_proba: ArrayLike | Record | None = None,
    *,
    certificate: Certificate | None = None,
    sample_weight: ArrayLike | None = None,
    bins: int | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Figure:
    """What acting on forecasts loses per event, against the cost/loss ratio.

    Somebody protects when the forecast p exceeds c, the cost of protection over the loss that it
    prevents. Drawn is R_c = Σ_p W_p·|ȳ_p − c|·1[c between p and ȳ_p]/Σ W, in percent of the loss
    at stake: what the best re-reading of the same forecasts would have saved. The area under it is
    half the mean squared calibration error.

    Parameters
    ----------
    y_true, y_proba
        Outcomes and forecasts in [0, 1], shape (T,), or a `Record` for the forecasts that it
        issued; or, alone, a `Certificate` of yes-or-no events.
    certificate
        Whose guarantee to draw: no ratio loses more than √(C/T). A certificate in the place of
        ``y_true`` brings its own.
    sample_weight
        Weights of the events, shape (T,).
    bins
        Number of bins of equal mass; by default as in `reliability_diagram`. A bin is taken as one
        forecast, their mean.
    ax, title
        Axes to draw on, by default a new figure; its title.

    Examples
    --------
    >>> figure = decision_curve([0, 1, 0, 1, 1], [0.3, 0.3, 0.3, 0.8, 0.8])
    >>> figure.axes[0].get_ylabel()
    'loss per event (% of the stake)'
    """
    table, about = _table(y_true, y_proba, sample_weight, bins)
    source = y_true if certificate is None else certificate
    promised = None
    if isinstance(source, Certificate):
        promised = source.decisions() if source.table is not None and source.mass else None
    elif certificate is not None:
        checks.refuse("certificate", "be a Certificate or None", certificate)
    level = None if promised is None else promised.guaranteed
    lines = [about, f"on average over ratios {percent(average_regret(table))}"]
    return draw_decisions({"measured": table}, level, lines=lines, ax=ax, title=title)


def draw_decisions(
    tables: Mapping[str, Table],
    guaranteed: float | None = None,
    *,
    lines: Sequence[str] = (),
    ax: Axes | None = None,
    title: str | None = None,
) -> Figure:
    """Decision curves of one or two forecasters: the last is the subject.

    Parameters
    ----------
    tables
        Name ↦ forecasts, their weights, and how often they came true.
    guaranteed
        No ratio loses more of the loss at stake per event, for the last of them. Said in words
        where a line would be so far above that the curves could not be read.
    lines
        Words above the picture.
    ax, title
        Axes to draw on, by default a new figure; its title.
    """
    ax = style.axes_of(ax, 4.8, 3.6)
    worst = {name: worst_ratio(table) for name, table in tables.items()}
    top = 100 * max(regret for _, regret in worst.values())
    subject = list(tables)[-1]
    for name, table in tables.items():
        ratios, regrets = _corners(table)
        ratio, regret = worst[name]
        look: dict[str, Any] = dict(color=style.main(), linewidth=1.4, zorder=2.5)
        if name == subject:
            ax.fill_between(ratios, 100 * regrets, color=style.shade(), linewidth=0)
        else:
            look = dict(linewidth=1.4, zorder=2.4, **style.earlier())
        ax.plot(ratios, 100 * regrets, label=name, gid=name, **look)
        dot: dict[str, Any] = dict(marker="o", markersize=4.5, linestyle="", color=look["color"])
        ax.plot([ratio], [100 * regret], label=f"worst: {percent(regret)} at {ratio:.3g}", **dot)
    said = [] if title is None else [style.plain(title)]
    said += lines
    if guaranteed is not None:
        label = f"guaranteed at every ratio: {percent(guaranteed, up=True)}"
        if 100 * guaranteed <= FAR * top:
            dashed: dict[str, Any] = dict(color=style.VERMILION, linewidth=1.0, linestyle="--")
            ax.axhline(100 * guaranteed, label=label, gid="guaranteed", **dashed)
            top = max(top, 100 * guaranteed)
        else:
            said.append(f"{label}, above the picture")
    style.tidy(ax)
    ax.set(xlim=(0, 1), xlabel="cost/loss ratio", ylabel="loss per event (% of the stake)")
    ax.set_ylim(0, 1.08 * max(top, 1e-3))
    style.legend_above(ax, said)
    return style.root_figure(ax)


def _table(y_true: Any, y_proba: Any, sample_weight: Any, bins: Any) -> tuple[Table, str]:
    """Forecasts, weights and frequencies, and what was counted in words."""
    if isinstance(y_true, Certificate):
        if y_proba is not None or sample_weight is not None or bins is not None:
            raise ValueError("y_true must come alone if it is a Certificate, got more beside it")
        table = y_true._known_table()
        forecasts = count_of(len(table[0]), "forecast value")
        return table, f"{counted(y_true)}, {forecasts}"
    if y_proba is None:
        checks.refuse("y_proba", "be given beside outcomes", None)
    events = yes_no_events(y_true, y_proba, sample_weight)
    dots = group_events(events, bins)
    forecasts = count_of(len(dots), "bin" if dots.binned else "forecast value")
    words = f"{count_of(len(events), 'event')}, {forecasts}"
    return (dots.forecast, dots.weight, dots.frequency), words


def _corners(table: Table) -> tuple[Vector, Vector]:
    """The curve, corner by corner: ratios in rising order, each from below and from above."""
    forecasts, _, means = table
    ratios = np.unique(np.concatenate(([0.0, 1.0], forecasts, means)))
    both = np.column_stack((regret_at(table, ratios, below=True), regret_at(table, ratios)))
    return np.repeat(ratios, 2), both.ravel()

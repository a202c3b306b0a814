"""Reliability class by class, or model by model: small diagrams side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fullswap.base import checks
from fullswap.base.amounts import counted as count_of
from fullswap.base.protocols import Vector
from fullswap.metrics.bins import ROUNDING, Bins, bins_of
from fullswap.metrics.cells import Cells
from fullswap.metrics.corp import Curve, curve_of
from fullswap.metrics.groups import Groups
from fullswap.metrics.soft_bins import class_events, classwise_calibration_error, hits_of
from fullswap.report import style
from fullswap.report.bands import cells_of, consistency_band, expected_outside
from fullswap.report.panel import draw_panel, reliability_scale
from fullswap.report.scale import Scale, marked_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Part = tuple[str, Curve, Bins, Cells]

MOST = 9
"""Diagrams of a picture."""
LONGEST_NAME = 24
LOG_SCALE = "; log scale"


def draw_classes(
    parts: Sequence[Part],
    *,
    top: Part | None = None,
    figure: Any = None,
) -> Figure:
    """A small reliability diagram for each class, those with the largest error first.

    Parameters
    ----------
    parts
        (label, curve, bins, cells) of each class against the rest. At most 9 diagrams are drawn,
        the other classes counted.
    top
        The same for the likeliest class of each forecast, drawn before all others.
    figure
        A figure or subfigure to draw on, by default a new one.
    """
    if not len(parts) and top is None:
        checks.refuse("parts", "have one class at least", parts)
    shown, more = shown_of(parts, top)
    lines = "classes, worst first" if len(parts) > 1 else "by class"
    lines += f"; and {more:,} more" if more else ""
    scales = [_scale_of(part) for part in shown]
    mixed = len({scale.log_odds for scale in scales}) > 1
    notes = [
        _off(part[2]) + (LOG_SCALE if mixed and scale.log_odds else "")
        for part, scale in zip(shown, scales, strict=True)
    ]
    return _side_by_side(shown, scales, notes, lines, figure)


def draw_models(
    parts: Sequence[Part], *, more: int = 0, columns: int = 3, figure: Any = None
) -> Figure:
    """A small reliability diagram for each of several models of the same events, on one scale.

    Parameters
    ----------
    parts
        (name, curve, bins, cells) of each model, the best Brier score first.
    more
        Models that are not drawn; they are counted.
    columns
        Diagrams side by side at most.
    figure
        A figure or subfigure to draw on, by default a new one.
    """
    lines = f"{count_of(len(parts) + more, 'model')}, best Brier score first"
    lines += f"; {more:,} not shown" if more else ""
    scale = one_scale(parts)
    lines += LOG_SCALE if scale.log_odds else ""
    notes = [_off(part[2]) for part in parts]
    return _side_by_side(parts, [scale] * len(parts), notes, lines, figure, columns)


def plot_classes(
    y_true: Any, y_proba: Any, labels: Sequence[Any] | None = None, *, most: int = 12,
    sample_weight: Any = None, columns: int = 3, figure: Any = None,
) -> Figure:  # fmt: skip
    """A small reliability diagram for each class against the rest, the worst first.

    Above each stands its error in soft bins (`classwise_calibration_error`), what chance alone
    would show of it, and how many dots are outside their range; above all, how many of these chance
    would put there. Worst is the class whose error exceeds chance by most. All have one scale, in
    log-odds if most of the classes are rare.

    Parameters
    ----------
    y_true, y_proba, sample_weight
        Classes as numbers (T,), or rows (T, K); probabilities (T, K).
    labels
        Names of the K classes, by default their numbers.
    most
        Diagrams; the other classes are counted.
    columns
        Diagrams side by side at most: 1 or 2 for a narrow page.
    figure
        A figure or subfigure to draw on, by default a new one.

    Examples
    --------
    >>> figure = plot_classes([0, 1, 2, 2], [[0.5, 0.3, 0.2]] * 4, ["home", "draw", "away"])
    >>> [axes.get_title(loc="left").splitlines()[0] for axes in figure.axes]
    ['away', 'home', 'draw']
    """
    most, columns = checks.whole("most", most, 1), checks.whole("columns", columns, 1)
    forecasts, outcomes, weights = class_events(y_true, y_proba, sample_weight)
    classes = forecasts.shape[1]
    names = _class_names(labels, classes)
    found = classwise_calibration_error(y_true, y_proba, sample_weight=sample_weight)
    ranked = np.argsort(found.chance - found.by_class, kind="stable")[:most]
    parts: list[Part] = []
    notes, outside, dots, expected = [], 0, 0, 0.0
    for k in ranked.tolist():
        hits = hits_of(outcomes, k)
        cells = events_of(np.ascontiguousarray(forecasts[:, k]), hits, weights)
        parts.append((names[k], curve_of(cells), bins_of(cells), cells))
        beyond, own = _outside(parts[-1])
        chance = style.points(found.chance[k]).split()[0]
        off = f"{style.points(found.by_class[k])} off (chance: {chance})"
        notes.append(f"{off}\n{beyond} of {count_of(len(parts[-1][2]), 'dot')} outside")
        outside, dots, expected = outside + beyond, dots + len(parts[-1][2]), expected + own
    lines = f"{count_of(classes, 'class', 'classes')}, worst first" if classes > 1 else "one class"
    lines += f"; and {classes - most:,} more" if classes > most else ""
    lines += f"\n{outside:,} of {count_of(dots, 'dot')} outside, {expected:.1f} expected"
    scale = one_scale(parts)
    lines += LOG_SCALE if scale.log_odds else ""
    return _side_by_side(parts, [scale] * len(parts), notes, lines, figure, columns)


def one_scale(parts: Sequence[Part]) -> Scale:
    """One axis for all; in log-odds if more than half of them would be by themselves."""
    log_odds = 2 * sum(_scale_of(part).log_odds for part in parts) > len(parts)
    return marked_scale([_scale_of(part, log_odds) for part in parts])


def _outside(part: Part) -> tuple[int, float]:
    """How many dots lie outside their ranges, and how many chance would put there."""
    _, curve, bins, cells = part
    low, high = _ranges(part)
    outside = (bins.frequency < low - ROUNDING) | (bins.frequency > high + ROUNDING)
    trials = bins.trials / max(cells.inflation, 1.0)
    return int(outside.sum()), expected_outside(bins.forecast, trials, curve.level)


def _class_names(labels: Sequence[Any] | None, classes: int) -> list[str]:
    if labels is None:
        return ["yes"] if classes == 1 else [f"class {k}" for k in range(classes)]
    names = [str(label) for label in labels]
    if len(names) != classes:
        checks.refuse("labels", f"be {classes} names", labels)
    return names


def events_of(forecasts: Vector, hits: Vector, weights: Vector) -> Cells:
    """Yes/no events summed by forecast."""
    groups = Groups.of_events(forecasts[:, None], hits[:, None], weights)
    return cells_of(groups.weighted())


def _side_by_side(
    shown: Sequence[Part], scales: Sequence[Scale], notes: Sequence[str], lines: str, figure: Any,
    most: int = 3,
) -> Figure:  # fmt: skip
    """Small diagrams with a note each."""
    columns = min(most, len(shown)) if len(shown) != 4 else min(most, 2)
    rows = math.ceil(len(shown) / columns)
    if figure is None:
        figure = style.new_figure(
            0.4 + 2.05 * columns,
            0.55
            + 0.15 * lines.count("\n")
            + (2.05 + 0.15 * max(note.count("\n") + 1 for note in notes)) * rows,
            arranged=True,
        )
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    names = _short_names([str(part[0]) for part in shown])
    drawn = zip(panels, shown, scales, [f"{a}\n{b}" for a, b in zip(names, notes, strict=True)],
                strict=False)  # fmt: skip
    for panel, part, scale, words in drawn:
        _draw_part(panel, part, scale, words)
    if len(set(scales)) == 1:
        # One axis for all: its numbers stand at the left and below, once.
        for k, panel in enumerate(panels[: len(shown)]):
            panel.tick_params(labelleft=k % columns == 0, labelbottom=k + columns >= len(shown))
    for panel in panels[len(shown) :]:
        panel.set_axis_off()
    figure.supxlabel("forecast probability", **style.note())
    figure.supylabel("observed frequency", **style.note())
    figure.suptitle(lines, x=0.02, ha="left", **style.note())
    root: Figure = figure.figure  # of a subfigure the figure, of a figure itself
    return root


def shown_of(parts: Sequence[Part], top: Part | None = None) -> tuple[list[Part], int]:
    """The classes that are drawn, those with the largest error first, and how many are not."""
    ranked = ([] if top is None else [top]) + sorted(parts, key=lambda part: -part[2].error)
    return ranked[:MOST], max(len(ranked) - MOST, 0)


def draw_class(part: Part, *, scale: Scale | None = None, ax: Axes | None = None) -> Figure:
    """The small reliability diagram of one class, or of one model.

    Parameters
    ----------
    part
        (label, curve, bins, cells) of the class against the rest, or of the model.
    scale
        The axis, by default its own.
    ax
        Axes to draw on, by default a new figure.
    """
    ax = style.axes_of(ax, 2.7, 2.9)
    words = f"{style.shortened(str(part[0]), LONGEST_NAME)}\n{_off(part[2])}"
    _draw_part(ax, part, scale or _scale_of(part), words)
    ax.set_xlabel("forecast probability", **style.note())
    ax.set_ylabel("observed frequency", **style.note())
    return style.root_figure(ax)


def _off(bins: Bins) -> str:
    return f"{style.points(bins.error)} off"


def _short_names(names: Sequence[str]) -> list[str]:
    """Names that fit; those that a cut would make alike are numbered."""
    short = [style.shortened(name, LONGEST_NAME) for name in names]
    return [
        f"{k + 1}. {style.shortened(name, LONGEST_NAME - 4)}" if short.count(own) > 1 else own
        for k, (name, own) in enumerate(zip(names, short, strict=True))
    ]


def _ranges(part: Part) -> tuple[Vector, Vector]:
    """Where each dot of a calibrated forecaster would lie."""
    _, curve, bins, cells = part
    return consistency_band(bins.forecast, bins.trials / max(cells.inflation, 1.0), curve.level)


def _scale_of(part: Part, log_odds: bool | None = None) -> Scale:
    """The axis of a class by itself."""
    _, curve, bins, cells = part
    return marked_scale([reliability_scale(curve, bins, cells, log_odds, _ranges(part))])


def _draw_part(ax: Axes, part: Part, scale: Scale, words: str) -> None:
    _, curve, bins, _ = part
    scale.dress(ax)
    draw_panel(ax, curve, bins, scale, _ranges(part), small=True)
    style.tidy(ax)
    ax.set_aspect("equal")
    ax.tick_params(labelsize=style.SMALL - 1.5)
    ax.set_title(words, loc="left", pad=4, linespacing=1.3, **style.note())

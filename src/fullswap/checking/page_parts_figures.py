"""The pictures of a report: which there are, what each shows in a sentence, how to read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from fullswap.base.amounts import counted, percent
from fullswap.checking.page_parts_svg import Palette, themed_svg
from fullswap.checking.page_parts_words import odds, points, score
from fullswap.checking.pictures import class_parts, model_parts, unit_of
from fullswap.checking.verdict import LITTLE, MISCALIBRATED
from fullswap.checking.words import at
from fullswap.metrics.benefit import net_benefit
from fullswap.report.classes import draw_class, one_scale, shown_of
from fullswap.report.segments import rows_height
from fullswap.report.style import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Picture:
    """A drawing with its title, its text for those who do not see it, and how to read it."""

    kind: str
    title: str
    label: str
    reading: str
    svg: str
    """One drawing or, of several classes, one for each."""


READINGS = {
    "reliability": (
        "Reliability",
        "Across: what was forecast. Up: how often it happened. A calibrated forecaster stays "
        "near the diagonal, mostly within the shaded band. The line is the best increasing "
        "re-reading of the forecasts, without bins. Dots are groups of near forecasts, open "
        "diamonds those beyond what chance alone would show. Below, how many events got each "
        "forecast.",
    ),
    "evidence": (
        "Evidence over time",
        "The line rises while forecasts fail and falls while they hold. Above the dashed line "
        "is strong evidence, at whatever moment one looks.",
    ),
    "windows": (
        "Error over time",
        "Each mark is an equal share of the data, in order. The shaded steps are what chance alone "
        "would show, the dotted ones add the tolerance; triangles point the way of the error where "
        "it is clear.",
    ),
    "segments": (
        "Segments",
        "Each row is a part of the data, the most certain error first. A mark beyond its bar is an "
        "error that chance alone would seldom show; filled diamonds are flagged.",
    ),
    "benefit": (
        "Net benefit",
        "For whoever acts when the forecast exceeds a threshold: what acting on it gains. "
        "Higher is better; acting always and never are the lines to beat.",
    ),
    "classes": (
        "Class by class",
        "One reliability diagram for every class: forecast across, frequency up, the diagonal is "
        "right.",
    ),
    "models": (
        "Side by side",
        "One reliability diagram for every model, all on one scale, the best Brier score first: "
        "forecast across, frequency up, the diagonal is right.",
    ),
}  # fmt: skip


WIDTH = 4.0
"""Inches: little more than the width of a phone."""
HEIGHTS = {
    "reliability": 5.2,
    "evidence": 3.3,
    "windows": 3.3,
    "segments": 1.3,
    "benefit": 3.3,
}
"""Inches of the pictures that are drawn in that width; others have their own size."""


def pictures_of(check: Any, palette: Palette, name: str = "f") -> list[Picture]:
    """All pictures that this check has something to show in, the reliability diagram first."""
    return [picture_of(check, kind, palette, name) for kind in kinds_of(check)]


def kinds_of(check: Any) -> Iterator[str]:
    """The kinds of picture that have something to show."""
    yield "reliability"
    if check.classes > 2 and check.by_class:
        yield "classes"
    if len(check.evidence.history) > 1:
        yield "evidence"
    if len(check.windows.start) > 1:
        yield "windows"
    if check.segments:
        yield "segments"
    yield "benefit"


def picture_of(check: Any, kind: str, palette: Palette, name: str = "f") -> Picture:
    """One picture, drawn for light and dark pages."""
    title, reading = READINGS[kind]
    label = LABELS[kind](check)
    if kind == "classes":
        return Picture(kind, title, label, reading, _panels(check, label, palette, name))
    svg = themed_svg(lambda: drawn(check, kind), f"{name}-{kind}", label, palette)
    return Picture(kind, title, label, reading, svg)


def drawn(check: Any, kind: str) -> Figure:
    """The picture in a size at which its words can be read on a phone."""
    rows = rows_height(check.segments, WIDTH) if kind == "segments" else 0.0
    figure = new_figure(WIDTH, HEIGHTS[kind] + rows, arranged=True)
    if kind == "reliability":
        # Room for the last number below the strip of counts, which is not arranged.
        cast("Any", figure.get_layout_engine()).set(rect=(0, 0, 0.96, 1))
    check.plot(kind, ax=figure.add_subplot())
    return figure


def _panels(check: Any, label: str, palette: Palette, name: str) -> str:
    """A drawing for each class."""
    shown, more = shown_of(class_parts(check))

    def one(place: int) -> str:
        part = shown[place]
        said = f"Reliability diagram of {part[0]}: {points(part[2].error)} off on average."
        return themed_svg(lambda: draw_class(part), f"{name}-class-{place}", said, palette)

    return _side_by_side(map(one, range(len(shown))), more, label)


def models_picture(checks: dict[str, Any], palette: Palette) -> Picture:
    """The reliability diagrams of several models, the best Brier score first."""
    title, reading = READINGS["models"]
    shown, more = model_parts(checks)
    scale, label = one_scale(shown), models_label(checks)

    def one(place: int) -> str:
        part = shown[place]
        said = f"Reliability diagram of {part[0]}: {points(part[2].error)} off on average."
        name = f"f-model-{place}"
        return themed_svg(lambda: draw_class(part, scale=scale), name, said, palette)

    svg = _side_by_side(map(one, range(len(shown))), more, label)
    return Picture("models", title, label, reading, svg)


def models_label(checks: dict[str, Any]) -> str:
    """The diagrams of several models in a sentence."""
    best = min(checks, key=lambda name: float(checks[name].brier.score))
    of = "" if checks[best].classes == 2 else ", for the likeliest class"
    errors = [float(check.bins.error) for check in checks.values()]
    return (
        f"Reliability diagrams of {counted(len(checks), 'model')}{of}: errors from "
        f"{points(min(errors))} to {points(max(errors))}; the lowest Brier score is "
        f"{score(checks[best].brier.score)}, by {best}."
    )


def _side_by_side(drawings: Iterable[str], more: int, label: str) -> str:
    """Drawings of which a page sets as many side by side as there is room for."""
    rest = f"<p>And {more:,} more.</p>" if more else ""
    inside = "".join(drawings)
    return f'<div class="panels" role="group" aria-label="{escape(label)}">{inside}</div>{rest}'


def _reliability(check: Any) -> str:
    off = check.verdict in (MISCALIBRATED, LITTLE)
    # most calibrated records leave a pointwise band somewhere: no word of it unless it matters
    stretch = check.curve.stretch if off else None
    start = f"Reliability diagram of {counted(check.events, 'event')}"
    if check.classes > 2:
        start += ", for the likeliest class"
    where = "the curve is about as near the diagonal as chance would have it"
    if stretch is not None:
        where = (
            f"between forecasts of {percent(stretch.low)} and {percent(stretch.high)} the curve "
            f"leaves its band, saying {percent(stretch.says)} where {percent(stretch.happens)} "
            "happen"
        )
    return f"{start}: {where}; {points(check.bins.error)} off on average."


def _data(check: Any) -> str:
    if check.events < check.rows:
        return f"{counted(check.rows, 'row')} of {counted(check.events, 'event')}"
    return counted(check.events, "event")


def _evidence(check: Any) -> str:
    evidence, threshold = check.evidence, check.settings["threshold"]
    highest = at(check, evidence.most_at) if evidence.log10_most > 0 else "at the start"
    return (
        f"Evidence over {_data(check)} on a logarithmic scale: highest "
        f"{odds(evidence.log10_most)} {highest}, "
        f"now {odds(evidence.log10)}; the line is at {threshold:,.3g} : 1."
    )


def _windows(check: Any) -> str:
    error, chance = check.windows.error, check.windows.chance
    return (
        f"Errors in {len(error)} windows of equal numbers of {unit_of(check)}: from "
        f"{points(error.min())} to {points(error.max())}; "
        f"{int((error > chance).sum())} of them are above the "
        f"{points(chance.mean())} that chance alone would show."
    )


def _segments(check: Any) -> str:
    worst = check.segments[0]
    flagged = sum(bool(segment.flagged) for segment in check.segments)
    return (
        f"Errors of {counted(len(check.segments), 'segment')}, {flagged} with evidence of "
        f"miscalibration; first {worst.name}: {points(worst.error)}, where chance "
        f"alone would show {points(worst.chance.median)}."
    )


def _benefit(check: Any) -> str:
    rate = float(check.cells.yes.sum() / check.cells.total)
    if not 0 < rate < 1:
        return "Net benefit at every threshold, of events that all had the same outcome."
    of = "" if check.classes == 2 else " for the likeliest class"
    gain = float(net_benefit(check.cells, np.array([rate]))[0])
    return (
        f"Net benefit at every threshold{of}, of the forecasts as they are beside recalibrated "
        f"forecasts, acting always and acting never: at {percent(rate)}, where acting always and "
        f"never are equal, the forecasts gain {score(gain)}."
    )


def _classes(check: Any) -> str:
    errors = np.array([part.error for part in check.by_class])
    worst = check.by_class[int(errors.argmax())]
    return (
        f"Reliability diagrams of {counted(len(errors), 'class', 'classes')}: "
        f"errors from {points(errors.min())} to {points(errors.max())}, the largest for "
        f"{worst.label}."
    )


LABELS = {
    "reliability": _reliability, "evidence": _evidence, "windows": _windows,
    "segments": _segments, "benefit": _benefit, "classes": _classes,
}  # fmt: skip

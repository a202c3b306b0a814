"""The pictures of a report: which there are, what each shows in a sentence, how to read it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullswap.checking.page_parts_svg import Palette, themed_svg
from fullswap.checking.page_parts_words import counted, odds, percent, place, points, score


@dataclass(frozen=True)
class Picture:
    """A drawing with its title, its text for those who do not see it, and how to read it."""

    kind: str
    title: str
    label: str
    reading: str
    svg: str


READINGS = {
    "reliability": (
        "Reliability",
        "Across: what was forecast. Up: how often it happened. A calibrated forecaster stays "
        "near the diagonal, mostly within the shaded band.",
    ),
    "evidence": (
        "Evidence over time",
        "The line rises while forecasts fail and falls while they hold. Above 20 is evidence, "
        "at whatever moment one looks.",
    ),
    "windows": (
        "Error over time",
        "Each mark is an equal number of events in order. Marks within the shaded band are what "
        "chance alone would show.",
    ),
    "segments": (
        "Segments",
        "Each row is a part of the data, the most certainly wrong first. A dot beyond the bar of "
        "chance is an error that chance does not explain.",
    ),
    "benefit": (
        "Net benefit",
        "For whoever acts when the forecast exceeds a threshold: what acting on it gains. "
        "Higher is better; acting always and never are the lines to beat.",
    ),
    "murphy": (
        "Murphy diagram",
        "Mean loss of deciding at each threshold; lower is better. The area under the curve is "
        "half the Brier score.",
    ),
    "classes": (
        "Class by class",
        "One reliability diagram for every class: forecast across, frequency up, the diagonal is "
        "right.",
    ),
}  # fmt: skip


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
    yield "murphy"


def picture_of(check: Any, kind: str, palette: Palette, name: str = "f") -> Picture:
    """One picture, drawn for light and dark pages."""
    title, reading = READINGS[kind]
    label = LABELS[kind](check)
    svg = themed_svg(lambda: check.plot(kind), f"{name}-{kind}", label, palette)
    return Picture(kind, title, label, reading, svg)


def _reliability(check: Any) -> str:
    stretch = getattr(check.curve, "stretch", None)
    start = f"Reliability diagram of {counted(check.events, 'event')}"
    if check.classes > 2:
        start += ", for the class forecast as likeliest"
    where = "the curve stays within its band"
    if stretch is not None:
        where = (
            f"between forecasts of {percent(stretch.low)} and {percent(stretch.high)} the curve "
            f"leaves its band, saying {percent(stretch.says)} where {percent(stretch.happens)} "
            "happen"
        )
    return f"{start}: {where}; {points(check.error)} off on average."


def _evidence(check: Any) -> str:
    evidence = check.evidence
    return (
        f"Evidence over {counted(check.events, 'event')} on a logarithmic scale: highest "
        f"{odds(evidence.log10_most)} at {place(evidence.most_at, check)}, "
        f"now {odds(evidence.log10)}; the line is at 20 : 1."
    )


def _windows(check: Any) -> str:
    error, chance = check.windows.error, check.windows.chance
    return (
        f"Errors in {len(error)} windows of equal numbers of events: from {points(error.min())} to "
        f"{points(error.max())}; {int((error > chance).sum())} of them are above the "
        f"{points(chance.mean())} that chance alone would show."
    )


def _segments(check: Any) -> str:
    worst = check.segments[0]
    flagged = sum(bool(segment.flagged) for segment in check.segments)
    return (
        f"Errors of {counted(len(check.segments), 'segment')}, {flagged} with evidence of "
        f"miscalibration; first {worst.column} {worst.value}: {points(worst.error)}, where chance "
        f"alone would show {points(worst.chance.median)}."
    )


def _benefit(check: Any) -> str:
    rate = float(check.cells.yes.sum() / check.cells.total)
    gain = _net_benefit(check.cells, rate)
    return (
        "Net benefit at every threshold, of the forecasts as they are beside recalibrated "
        f"forecasts, acting always and acting never: at {percent(rate)}, where acting always and "
        f"never are equal, the forecasts gain {score(gain)}."
    )


def _net_benefit(cells: Any, threshold: float) -> float:
    """Net benefit of acting from this threshold on."""
    if threshold >= 1:
        return 0.0
    acted = cells.forecast >= threshold
    hits, all_acts = cells.yes[acted].sum(), cells.weight[acted].sum()
    return float((hits - (all_acts - hits) * threshold / (1 - threshold)) / cells.total)


def _murphy(check: Any) -> str:
    return (
        "Murphy diagram: mean loss at every threshold for decisions; the area under the curve is "
        f"{score(check.brier.score / 2)}, half the Brier score."
    )


def _classes(check: Any) -> str:
    errors = np.array([part.error for part in check.by_class])
    worst = check.by_class[int(errors.argmax())]
    return (
        f"Reliability diagrams of {counted(len(errors), 'class').replace('classs', 'classes')}: "
        f"errors from {points(errors.min())} to {points(errors.max())}, the largest for "
        f"{worst.label}."
    )


LABELS = {
    "reliability": _reliability, "evidence": _evidence, "windows": _windows,
    "segments": _segments, "benefit": _benefit, "murphy": _murphy, "classes": _classes,
}  # fmt: skip

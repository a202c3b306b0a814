"""A check as text, as plain data, as a frame, as a file."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from fullswap.base import checks
from fullswap.base.amounts import evidence_text, percent, points
from fullswap.checking import words
from fullswap.checking.verdict import LITTLE, MISCALIBRATED

if TYPE_CHECKING:
    from fullswap.checking.answer import Check
    from fullswap.checking.comparison import Comparison

SHOWN_SEGMENTS = 50
"""Of a text; the rest is counted."""
LEAST_BIAS = 5e-4
"""Below this mean forecast and mean outcome are the same in words."""
WIDEST = 1.5
"""Interval of a slope that says nothing."""
FRAMES = ("summary", "bins", "curve", "windows")
VERSION = 1
"""Of the plain data."""


def text_of(c: Check) -> str:
    """The paragraph, then the four answers, segments and notes."""
    lines = [c.sentence, ""]
    lines += [f"{name:<14} {answer}" for name, answer in answers_of(c)]
    if c.segments:
        lines += ["", "Segments, the worst first:", *segment_lines(c)]
    if c.notes:
        lines += ["", "Notes:", *(f"- {note}" for note in c.notes)]
    return "\n".join(lines)


def answers_of(c: Check) -> list[tuple[str, str]]:
    """The four questions and their answers, one line each."""
    chance = (
        f"chance alone {points(c.chance.median, False)}, once in twenty {points(c.chance.high)}"
    )
    far = f"{points(c.error)} on average ({chance})"
    return [
        ("How far off", far),
        ("Which way", which_way(c)),
        ("What it costs", what_it_costs(c)),
        ("How sure", how_sure(c)),
    ]


def which_way(c: Check) -> str:
    """Means and slope, with intervals."""
    cells, cox = c.cells, c.cox
    mean = float(cells.weight @ cells.forecast) / cells.total
    happened = float(cells.yes.sum()) / cells.total
    text = f"says {percent(mean)} on average, {percent(happened)} happened"
    if c.classes > 2:
        text = f"the likeliest class: says {percent(mean)} on average, right {percent(happened)}"
    if abs(cox.bias) >= LEAST_BIAS:
        text += f": {points(abs(cox.bias))} too {'high' if cox.bias > 0 else 'low'}"
    text += f" (± {points(2 * cox.bias_error, False)} points)"
    if cox.slope is not None and cox.slope_error is not None:
        low, high = cox.slope - 2 * cox.slope_error, cox.slope + 2 * cox.slope_error
        word = "over-confident" if high < 1 else "under-confident" if low > 1 else "near 1"
        word = "these events cannot tell" if high - low > WIDEST else word
        text += f"; slope {cox.slope:.2f} ({low:.2f} to {high:.2f}): {word}"
    return text


def what_it_costs(c: Check) -> str:
    """Brier score, its parts, and what recalibration gives."""
    b = c.brier
    text = (
        f"Brier score {b.score:.4f} = {b.miscalibration:.4f} miscalibration − "
        f"{b.discrimination:.4f} discrimination + {b.uncertainty:.4f} uncertainty"
    )
    r = c.recalibrated
    if r is not None:
        which = "" if r.events == c.rows else f" over the last {r.events:,}"
        text += f"; recalibrated online{which}: {r.brier_before:.4f} -> {r.brier_after:.4f}"
    return text


def how_sure(c: Check) -> str:
    """The evidence in words."""
    e = c.evidence
    if len(e.impossible):
        rows = ", ".join(f"{c.row_of(int(row)):,}" for row in e.impossible[:5])
        more = f" and {len(e.impossible) - 5:,} more" if len(e.impossible) > 5 else ""
        return f"certain and wrong in row {rows}{more}: no calibrated forecaster is"
    now = f"now {evidence_text(e.log10)}"
    if e.log10_most <= 0:
        return f"no evidence against it at any time ({now})"
    return (
        f"evidence {evidence_text(e.log10_most)} at its highest ({words.at(c, e.most_at)}), {now}"
    )


def segment_lines(c: Check) -> list[str]:
    """A table of the segments in plain text."""
    rows = [("segment", "events", "points off", "chance", "evidence", "could be seen", "")]
    for s in c.segments[:SHOWN_SEGMENTS]:
        sure = (
            "certain and wrong" if len(s.evidence.impossible) else evidence_text(s.evidence.log10)
        )
        rows.append((
            s.name, f"{s.events:,}", points(s.error, False),
            points(s.chance.median, False), sure, points(s.smallest_seen, False),
            "" if not s.flagged else LITTLE if s.little else MISCALIBRATED,
        ))  # fmt: skip
    lines = table_lines(rows)
    hidden = len(c.segments) - SHOWN_SEGMENTS
    return [*lines, f"and {hidden:,} more"] if hidden > 0 else lines


def table_lines(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Columns side by side, the first and the last to the left, numbers to the right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    ends = (0, len(widths) - 1)
    return [
        "  ".join(
            cell.ljust(width) if k in ends else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def dict_of(c: Check) -> dict[str, Any]:
    """Everything as plain data."""
    return {
        "version": VERSION, "verdict": c.verdict, "sentence": c.sentence, "events": c.events,
        "rows": c.rows, "pending": c.pending, "classes": c.classes, "labels": c.labels,
        "metrics": c.metrics, "settings": c.settings, "columns": c.names, "notes": c.notes,
        "evidence": {
            "log10": c.evidence.log10, "log10_most": c.metrics["log10_evidence_most"],
            "most_at_row": c.evidence.most_at, "since_row": c.evidence.since,
            "direction": c.evidence.direction, "certain_and_wrong_rows": c.evidence.impossible,
            "rows": c.evidence.positions, "history_log10": c.evidence.history,
        },
        "curve": _columns(c.curve, ("forecast", "frequency", "low", "high")),
        "bins": _columns(c.bins, ("forecast", "frequency", "weight", "count")),
        "windows": _columns(c.windows, ("start", "stop", "bias", "noise", "error", "chance")),
        "segments": [_segment(s) for s in c.segments],
        "by_class": [
            {"label": part.label, "error": part.error, "chance": part.chance.median,
             "chance_95": part.chance.high} for part in c.by_class
        ],
    }  # fmt: skip


def _columns(source: Any, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(source, name) for name in names}


def _segment(s: Any) -> dict[str, Any]:
    return {
        "column": s.column, "value": s.value, "events": s.events, "error": s.error,
        "error_chance_median": s.chance.median, "error_chance_95": s.chance.high,
        "log10_evidence": s.evidence.log10, "log10_evidence_most": s.evidence.log10_most,
        "miscalibrated": s.flagged,
        "smallest_error_seen": s.smallest_seen,
        "share_of_miscalibration": s.share_of_miscalibration,
        "certain_and_wrong": len(s.evidence.impossible),
    }  # fmt: skip


def json_of(c: Check, indent: int | None) -> str:
    """The same as JSON."""
    return dumped(dict_of(c), indent)


def dumped(data: Any, indent: int | None) -> str:
    """JSON; numbers that it does not know are texts, "Infinity" or "-Infinity"."""
    return json.dumps(_plain(data), indent=indent, allow_nan=False, ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [
            _plain(entry) for entry in (value.tolist() if isinstance(value, np.ndarray) else value)
        ]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def frame_of(c: Check, what: str) -> Any:
    """A pandas frame."""
    checks.one_of("what", what, FRAMES)
    if what == "summary":
        whole = {
            "column": "", "value": "(all)", "events": c.events, "error": c.error,
            "error_chance_median": c.chance.median, "error_chance_95": c.chance.high,
            "log10_evidence": c.evidence.log10,
            "log10_evidence_most": c.evidence.log10_most,
            "miscalibrated": c.verdict.startswith("miscalibrated"),
            "smallest_error_seen": c.smallest_seen, "share_of_miscalibration": None,
            "certain_and_wrong": len(c.evidence.impossible),
        }  # fmt: skip
        return frame_from([whole, *(_segment(s) for s in c.segments)])
    columns = dict_of(c)[what]
    return _pandas().DataFrame({name: np.asarray(values) for name, values in columns.items()})


def frame_from(rows: list[dict[str, Any]]) -> Any:
    """Rows as a pandas frame."""
    return _pandas().DataFrame(rows)


def _pandas() -> Any:
    try:
        return import_module("pandas")
    except ImportError as error:
        raise ImportError("frames need pandas: pip install 'fullswap[frames]'") from error


def comparison_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """One row for each model."""
    return [
        {"model": name, "verdict": c.verdict, "events": c.events, "error": c.error,
         "error_chance_median": c.chance.median, "bias": c.cox.bias, "slope": c.cox.slope,
         "brier": c.brier.score, "miscalibration": c.brier.miscalibration,
         "discrimination": c.brier.discrimination, "uncertainty": c.brier.uncertainty,
         "recalibrated_brier": None if c.recalibrated is None else c.recalibrated.brier_after,
         "log10_evidence_most": c.evidence.log10_most}
        for name, c in comparison.checks.items()
    ]  # fmt: skip


def comparison_text(comparison: Comparison) -> str:
    """The paragraph and a table."""
    rows = [("model", "events", "points off", "chance", "Brier", "miscal.", "discr.", "verdict")]
    for name, c in comparison.checks.items():
        b = c.brier
        rows.append((
            name, f"{c.events:,}", points(c.error, False), points(c.chance.median, False),
            f"{b.score:.4f}", f"{b.miscalibration:.4f}", f"{b.discrimination:.4f}", c.headline,
        ))  # fmt: skip
    lines = table_lines(rows)
    notes = ["", "Notes:", *(f"- {note}" for note in comparison.notes)] if comparison.notes else []
    return "\n".join([comparison.sentence, "", *lines, *notes])


def time_text(value: Any) -> str:
    """A time of the log, without the part that says nothing."""
    if isinstance(value, np.datetime64):
        text = str(value.astype("datetime64[m]"))
        return text[:10] if text.endswith("T00:00") else text.replace("T", " ")
    if isinstance(value, float | np.floating):
        return f"{value:g}"
    return str(value)

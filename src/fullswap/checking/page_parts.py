"""The parts of a report in words: the verdict, four questions and their answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fullswap.base.amounts import counted, percent
from fullswap.checking.page_parts_words import (
    interval,
    known,
    odds,
    points,
    score,
    times,
)
from fullswap.checking.verdict import LITTLE, MISCALIBRATED, NO_EVIDENCE, TOO_LITTLE, directions
from fullswap.checking.words import at, capital

KINDS = {MISCALIBRATED: "off", LITTLE: "little", NO_EVIDENCE: "quiet", TOO_LITTLE: "unsaid"}
"""Verdicts, and the word for each in the style sheet."""
MEANINGS = {
    "over-confident": "Forecasts are further from the average than outcomes bear out.",
    "under-confident": "Forecasts are nearer to the average than outcomes allow.",
    "too high": "Events happen less often than forecast.",
    "too low": "Events happen more often than forecast.",
}
"""What the ways of being off mean."""
MOST_ROWS = 10
"""Failed certainties that are listed one by one."""


@dataclass(frozen=True)
class Line:
    """A small row of an answer: its name, its value, and what to compare the value with."""

    name: str
    value: str
    beside: str = ""


@dataclass(frozen=True)
class Answer:
    """One of the four questions with its answer."""

    question: str
    value: str
    unit: str
    beside: str
    lines: list[Line] = field(default_factory=list)
    meter: dict[str, float] | None = None
    """Positions in percent of a bar: error, chance, high."""
    table: list[tuple[str, str, str]] = field(default_factory=list)
    """Parts of the Brier score and of the log loss."""


def answers_of(check: Any) -> list[Answer]:
    """The four questions: how far off, which way, what it costs, how sure."""
    return [how_far(check), which_way(check), what_cost(check), how_sure(check)]


def how_far(check: Any) -> Answer:
    """Average error beside what chance alone would show."""
    error, chance = check.error, check.chance
    top = 1.15 * max(error, chance.high, 1e-9)
    lines = [
        Line("Chance alone, one time in 20", f"{points(chance.high)} or more"),
        Line("Smallest error that could be seen", points(check.smallest_seen)),
        Line("Tolerated", points(check.tolerance)),
    ]
    return Answer(
        "How far off?", points(error, unit=False),
        "points on average" if check.classes == 2 else "points of probability on the wrong class",
        f"Chance alone would show {points(chance.median, unit=False)}.", lines,
        {name: round(100 * value / top, 1)
         for name, value in (("error", error), ("chance", chance.median), ("high", chance.high))},
    )  # fmt: skip


def which_way(check: Any) -> Answer:
    """Bias and slope, in words and with their intervals."""
    cox = check.cox
    way = "too high" if cox.bias > 0 else "too low"
    off = check.verdict in (MISCALIBRATED, LITTLE)
    lines = [Line("Bias", f"{points(abs(cox.bias))} {way}" if cox.bias else "0 points")]
    if known(cox.bias_error):
        low, high = interval(cox.bias, cox.bias_error)
        ends = f"{points(low, unit=False)} to {points(high)}"
        lines.append(Line("± 2 standard errors", ends, "0 is right; above 0 is too high"))
    if known(cox.slope, cox.slope_error):
        low, high = interval(cox.slope, cox.slope_error)
        lines.append(Line("Slope", f"{cox.slope:.2f}".replace("-", "−")))
        ends = f"{low:.2f} to {high:.2f}".replace("-", "−")
        lines.append(Line("± 2 standard errors", ends, "1 is right; below 1 is over-confident"))
    else:
        lines.append(Line("Slope", "these events cannot tell"))
    found = directions(cox)
    # No way is named where nothing speaks against the forecasts: the numbers may be chance.
    words = found if off else []
    value = capital(" and ".join(words)) or "No clear way"
    meaning = " ".join(MEANINGS[word] for word in words) or (
        "Without evidence of miscalibration the numbers below may be chance."
        if found
        else "Neither bias nor slope is clearly off."
    )
    unit = "" if check.classes == 2 else "for the likeliest class"
    return Answer("Which way?", value, unit, meaning, lines)


def what_cost(check: Any) -> Answer:
    """Parts of the scores, and what recalibrating gives."""
    brier, log_loss, gained = check.brier, check.log_loss, check.recalibrated
    floor = "" if brier.chance is None else f"Chance alone would show {score(brier.chance)}. "
    names = {"score": "Score", "miscalibration": "Miscalibration",
             "discrimination": "− Discrimination", "uncertainty": "+ Uncertainty"}  # fmt: skip
    rows = [
        (name, score(getattr(brier, part)), score(getattr(log_loss, part)) if log_loss else "–")
        for part, name in names.items()
    ]
    if log_loss is None:
        rows[0] = *rows[0][:2], score(check.metrics.get("log_loss"))
    lines = []
    if gained is not None:
        rows += [
            ("Recalibrated online", score(gained.brier_after), score(gained.log_loss_after)),
            ("the same rows before", score(gained.brier_before), score(gained.log_loss_before)),
        ]
        lines = [
            Line(
                "Recalibrated online", counted(int(gained.events), "row"), "each before its outcome"
            )
        ]
    if log_loss is not None and not known(log_loss.score):
        lines.append(Line("Log loss", "infinite", "an outcome with probability 0 happened"))
    return Answer(
        "What does it cost?", score(brier.miscalibration),
        f"of a Brier score of {score(brier.score)}",
        f"{floor}The best fixed re-reading of the forecasts would save it.", lines, table=rows,
    )  # fmt: skip


def how_sure(check: Any) -> Answer:
    """Evidence against calibration, in plain words."""
    evidence, failed = check.evidence, len(check.evidence.impossible)
    most = max(evidence.log10_most, 0.0)
    lines = [
        Line("Evidence now", odds(evidence.log10)),
        Line("Counts as evidence", f"{check.settings['threshold']:,.3g} : 1 or more"),
    ]
    if check.classes == 2:  # of several classes only a bound is known
        lines.append(
            Line("One look only", percent(check.chance.level),
                 "of calibrated records are this far off or further")
        )  # fmt: skip
    if most > 0:
        highest = Line("Evidence at its highest", odds(most), at(check, evidence.most_at))
        lines.insert(0, highest)
    if failed:
        return Answer(
            "How sure?", "Certain", "that forecasts were wrong",
            f"{counted(failed, 'forecast')} of exactly 0 % or 100 % failed: no calibrated "
            "forecaster has such a record. The notes list them; the evidence below takes them as "
            "0.01 % or 99.99 %.", lines,
        )  # fmt: skip
    if not most:
        return Answer(
            "How sure?", "No evidence", "against calibration",
            "The evidence has never risen above where it began.", lines,
        )  # fmt: skip
    threshold = check.settings["threshold"]
    if most < math.log10(threshold):
        return Answer(
            "How sure?", odds(most), "at its highest: weak",
            f"Luck alone gets there often. {threshold:,.3g} : 1 would count as evidence.", lines,
        )  # fmt: skip
    return Answer(
        "How sure?", f"1 in {times(most)}", "at most",
        f"At most once in {times(most)} would a calibrated forecaster show such a record, "
        "however often you look.",
        lines,
    )  # fmt: skip


def failed_certainties(check: Any) -> str | None:
    """A note about forecasts of 0 or 1 that failed, with the first few rows."""
    rows = list(check.evidence.impossible)
    if not rows:
        return None
    shown = ", ".join(f"{check.row_of(int(row)):,}" for row in rows[:MOST_ROWS])
    more = f" and {len(rows) - MOST_ROWS:,} more" if len(rows) > MOST_ROWS else ""
    return f"{counted(len(rows), 'forecast')} of exactly 0 % or 100 % failed. Rows: {shown}{more}."


def facts_of(check: Any) -> list[tuple[str, str]]:
    """Names and numbers about the data."""
    facts = [
        ("Rows with an outcome", f"{check.rows:,}"),
        ("Events used", f"{check.events:,}"),
        ("Rows without an outcome yet", f"{check.pending:,}"),
    ]
    if check.classes > 2:
        facts.append(("Classes", f"{check.classes:,}"))
    for role, column in check.names.items():
        said = ", ".join(map(str, column)) if isinstance(column, (list, tuple)) else str(column)
        facts.append((f"Column: {role}", said))
    return facts


def settings_of(check: Any) -> list[tuple[str, str]]:
    """How the log was checked, in words; settings of an unknown name as they are."""
    left = dict(check.settings)
    said = []
    if "n_bins" in left:
        bins = left.pop("n_bins")
        number = "cube root of the events" if bins == "cube_root" else f"{bins:,}"
        mass = SETTINGS["strategy"][1](left.pop("strategy", "quantile"))
        said.append(("Bins of the average error", f"{number}, {mass}"))
    for name, value in left.items():
        if name in SETTINGS:
            title, words = SETTINGS[name]
            said.append((title, words(value)))
        else:
            said.append((str(name), str(value)))
    return said


SETTINGS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "strategy": ("Bins", {"quantile": "of equal mass", "uniform": "of equal width"}.__getitem__),
    "tolerance": ("Tolerance, beyond chance", lambda share: f"{100 * share:.3g} points"),
    "level": ("Called miscalibrated by mistake", lambda share: f"at most {percent(share)}"),
    "threshold": ("Counts as evidence", lambda ratio: f"{ratio:,.3g} : 1 or more"),
    "step": (
        "Forecasts are rounded to",
        lambda step: "not at all" if step is None else f"multiples of {step:g}",
    ),
    "delay": ("Outcomes late by", lambda rows: counted(int(rows), "row")),
    "band": (
        "Band of the curve holds",
        {"pointwise": "at each forecast", "simultaneous": "for the whole curve"}.__getitem__,
    ),
    "least": (
        "0 and 1 count, for the evidence, as",
        lambda least: (
            "certain" if not least else f"{100 * least:.3g} % and {100 - 100 * least:.3g} %"
        ),
    ),
    "recalibrate": ("Recalibrating online", lambda tried: "tried" if tried else "not tried"),
    "seed": ("Seed of the drawn records", str),
    "counted": ("Counted are", str),
}
"""Settings by name: what the page calls them, and their values in words."""

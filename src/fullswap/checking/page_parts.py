"""The parts of a report in words: the verdict, four questions and their answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fullswap.checking.page_parts_words import (
    counted,
    interval,
    known,
    odds,
    percent,
    place,
    points,
    score,
    times,
)

KINDS = {
    "miscalibrated": "off",
    "miscalibrated, but little": "little",
    "no evidence of miscalibration": "quiet",
    "too little data to say": "unsaid",
}
"""Verdicts, and the word for each in the style sheet."""
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


def kind_of(verdict: str) -> str:
    """The word for a verdict in the style sheet."""
    return KINDS.get(verdict, "unsaid")


def answers_of(check: Any) -> list[Answer]:
    """The four questions: how far off, which way, what it costs, how sure."""
    return [how_far(check), which_way(check), what_cost(check), how_sure(check)]


def how_far(check: Any) -> Answer:
    """Average error beside what chance alone would show."""
    error, chance = check.error, check.chance
    top = 1.15 * max(error, chance.high, 1e-9)
    lines = [
        Line("Chance alone, usually", points(chance.median)),
        Line("Chance alone, one time in 20", f"{points(chance.high, unit=False)} or more"),
    ]
    if known(check.smallest_seen):
        lines.append(Line("Smallest error that could be seen", points(check.smallest_seen)))
    lines.append(Line("Tolerated", points(check.tolerance)))
    return Answer(
        "How far off?", points(error, unit=False), "points on average",
        f"Chance alone would show {points(chance.median, unit=False)}.", lines,
        {name: round(100 * value / top, 1)
         for name, value in (("error", error), ("chance", chance.median), ("high", chance.high))},
    )  # fmt: skip


def direction(cox: Any) -> str:
    """The way forecasts are off, where intervals leave no doubt."""
    if known(cox.slope, cox.slope_error):
        low, high = interval(cox.slope, cox.slope_error)
        if high < 1:
            return "Over-confident"
        if low > 1:
            return "Under-confident"
    if known(cox.bias, cox.bias_error):
        low, high = interval(cox.bias, cox.bias_error)
        if low > 0:
            return "Too high"
        if high < 0:
            return "Too low"
    return "No clear way"


def which_way(check: Any) -> Answer:
    """Bias and slope, in words and with their intervals."""
    cox = check.cox
    way = "too high" if cox.bias > 0 else "too low"
    lines = [Line("Bias", f"{points(abs(cox.bias))} {way}" if cox.bias else "0 points")]
    if known(cox.bias_error):
        low, high = interval(cox.bias, cox.bias_error)
        ends = f"{points(low, unit=False)} to {points(high)}"
        lines.append(Line("95 % interval", ends, "0 is right; above 0 is too high"))
    if known(cox.slope, cox.slope_error):
        low, high = interval(cox.slope, cox.slope_error)
        lines.append(Line("Slope", f"{cox.slope:.2f}"))
        ends = f"{low:.2f} to {high:.2f}".replace("-", "−")
        lines.append(Line("95 % interval", ends, "1 is right; below 1 is over-confident"))
    else:
        lines.append(Line("Slope", "these events cannot tell"))
    meaning = {
        "Over-confident": "Forecasts are further from the average than outcomes bear out.",
        "Under-confident": "Forecasts are nearer to the average than outcomes allow.",
        "Too high": "Events happen less often than forecast.",
        "Too low": "Events happen more often than forecast.",
        "No clear way": "Neither bias nor slope is clearly off.",
    }
    word = direction(cox)
    unit = "for the class forecast as likeliest" if check.classes > 2 else ""
    return Answer("Which way?", word, unit, meaning[word], lines)


def what_cost(check: Any) -> Answer:
    """Parts of the scores, and what recalibrating gives."""
    brier, log_loss = check.brier, check.log_loss
    floor = "" if brier.chance is None else f"Chance alone would show {score(brier.chance)}. "
    lines = [
        Line("Brier score", score(brier.score), "miscalibration − discrimination + uncertainty"),
        Line("Miscalibration", score(brier.miscalibration)),
        Line("Discrimination", score(brier.discrimination)),
        Line("Uncertainty", score(brier.uncertainty)),
        Line("Log loss", score(log_loss.score), _infinite(log_loss)),
        Line("of it miscalibration", score(log_loss.miscalibration)),
    ]
    gained = check.recalibrated
    if gained:
        lines += [
            Line("Brier score, recalibrated", score(gained["brier_after"]),
                 f"was {score(gained['brier_before'])}"),
            Line("Log loss, recalibrated", score(gained["log_loss_after"]),
                 f"was {score(gained['log_loss_before'])}; online, over "
                 + counted(int(gained["events"]), "event")),
        ]  # fmt: skip
    return Answer(
        "What does it cost?", score(brier.miscalibration),
        f"of a Brier score of {score(brier.score)}",
        f"{floor}Recalibrating could gain this at most.", lines,
    )  # fmt: skip


def _infinite(parts: Any) -> str:
    return "" if known(parts.score) else "an outcome with probability 0 happened"


def how_sure(check: Any) -> Answer:
    """Evidence against calibration, in plain words."""
    evidence = check.evidence
    most, now = max(evidence.log10_most, 0.0), evidence.log10
    lines = [
        Line("Evidence at its highest", odds(most), f"at {place(evidence.most_at, check)}"),
        Line("Evidence now", odds(now), "20 : 1 counts as evidence"),
        Line("One look only", percent(check.chance.level),
             "of calibrated records are this far off or further"),
    ]  # fmt: skip
    failed = len(evidence.impossible)
    if failed:
        lines.insert(0, Line("Certainties that failed", f"{failed:,}", "see the notes"))
    if most < 0.005:
        return Answer(
            "How sure?", "No evidence", "against calibration",
            "The evidence has never risen above its start.", lines[1:] if not failed else lines,
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
    shown = ", ".join(f"{int(row):,}" for row in rows[:MOST_ROWS])
    more = f" and {len(rows) - MOST_ROWS:,} more" if len(rows) > MOST_ROWS else ""
    return (
        f"{counted(len(rows), 'forecast')} of exactly 0 or 1 failed: no record can be further "
        "from calibration. The evidence goes on with 0.0001 or 0.9999 in their place. "
        f"Rows, counted from 0 in the order used: {shown}{more}."
    )


def facts_of(check: Any) -> list[tuple[str, str]]:
    """Names and numbers about the data."""
    facts = [
        ("Rows", f"{check.rows:,}"),
        ("Events used", f"{check.events:,}"),
        ("Pending", f"{check.pending:,}"),
    ]
    if check.classes > 2:
        facts.append(("Classes", f"{check.classes:,}"))
    for role, column in check.names.items():
        said = ", ".join(map(str, column)) if isinstance(column, (list, tuple)) else str(column)
        facts.append((f"Column: {role}", said))
    return facts

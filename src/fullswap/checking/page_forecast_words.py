"""What changed from a model's own probabilities to the issued forecasts, in words and numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fullswap.certificates.decisions import Table, percent, worst_ratio
from fullswap.checking.group_words import change_words, groups_off, groups_words, right_words
from fullswap.checking.page_parts import KINDS
from fullswap.checking.page_parts_words import known, odds, points, score
from fullswap.checking.verdict import NO_EVIDENCE
from fullswap.checking.words import capital

SQUARES = " Points of groups are in root mean square."
"""What is to be said beside average errors."""
SAME = 0.002
"""Brier scores that differ by a smaller share than this have hardly changed."""


@dataclass(frozen=True)
class Change:
    """The first words of the page."""

    kind: str
    """Word of the style sheet for the verdict on the forecasts as they are now."""
    headline: str
    sentence: str


@dataclass(frozen=True)
class Number:
    """A row of the table: one number of each side, and which way is better."""

    name: str
    before: str | None
    after: str
    better: str


def change_of(before: Any, after: Any, groups: Any = None) -> Change:
    """From how far off to how far off, and what that did to the score; also in ``GroupChanges``."""
    kind = KINDS[after.verdict]
    unit = "points off" if after.classes == 2 else "points on the wrong class"
    now, chance = points(after.error, unit=False), points(after.chance.median, unit=False)
    if before is None:
        sentence = (
            f"On average the forecasts were {now} {unit}; chance alone would show {chance}. "
            f"{capital(after.verdict)}. Brier score {score(after.brier.score)}.{_infinite(after)}"
        )
        told = groups_words(groups, None, 0.0, 0.0)
        return Change(kind, f"{now} {unit}", f"{sentence} {told}{SQUARES if told else ''}".strip())
    was = points(before.error, unit=False)
    verdicts = f"Before: {_verdict(before)}. After: {_verdict(after)}."
    if _verdict(before) == _verdict(after):
        verdicts = f"Before and after: {_verdict(after)}."
    off = groups_off(groups)
    if before.verdict == NO_EVIDENCE and not off:
        verdicts += " There was no sign that anything was off, and so little to gain."
    sentence = (
        f"On average forecasts were {was} {unit} before and are {now} after; chance alone would "
        f"show {chance}. {_score_change(before.brier.score, after.brier.score)} {verdicts}"
        f"{_infinite(after)}"
    )
    gain, same = before.brier.score - after.brier.score, SAME * before.brier.score
    told = groups_words(groups, right_words(before), gain, same, "→")
    worst = f"; {change_words(off[0], '→')}" if off else ""
    whole = f"{sentence} {told}{SQUARES if told else ''}".strip()
    return Change(kind, f"{was} → {now} {unit}{worst}", whole)


def _verdict(check: Any) -> str:
    """The verdict, and which way in brackets."""
    verdict, _, way = str(check.headline).partition(": ")
    return verdict[:1].lower() + verdict[1:] + (f" ({way})" if way else "")


def _score_change(was: float, now: float) -> str:
    """The Brier score went from … to …"""
    if not was or abs(now / was - 1) < SAME:
        return f"The Brier score hardly changed: {score(was)} before, {score(now)} after."
    share = abs(now / was - 1)
    way = "lower, which is better" if now < was else "higher, which is worse"
    return f"The Brier score went from {score(was)} to {score(now)}: {100 * share:.2g} % {way}."


def table_of(check: Any) -> Table:
    """Forecasts, weights and frequencies in bins of near forecasts.

    What is guaranteed for single forecasts holds for bins: joining them cannot raise the error.
    """
    bins = check.bins
    return bins.forecast, bins.weight, bins.frequency


def numbers_of(before: Any, after: Any) -> list[Number]:
    """The numbers of both sides, row by row."""
    return [
        Number(name, None if before is None else say(before), say(after), better)
        for name, say, better in NUMBERS
        if say(after) != "–"
    ]


def _skill(check: Any) -> str:
    if not check.brier.uncertainty:
        return "–"
    value = 100 * (1 - check.brier.score / check.brier.uncertainty)
    return f"{value:.1f} %".replace("-", "−")


def _log_loss(check: Any) -> str:
    value = _log_score(check)
    return "–" if value is None else score(value)


def _log_score(check: Any) -> float | None:
    found: float | None = check.log_loss.score if check.log_loss else check.metrics.get("log_loss")
    return found


def _infinite(after: Any) -> str:
    """Why the log loss of the issued forecasts is infinite, where it is."""
    if _log_score(after) != math.inf:
        return ""
    return (
        " The log loss is infinite: an issued 0 % or 100 % was wrong at least once. Without --step "
        "neither is issued."
    )


def _slope(check: Any) -> str:
    return f"{check.cox.slope:.2f}".replace("-", "−") if known(check.cox.slope) else "not known"


def _bias(check: Any) -> str:
    bias = check.cox.bias
    return f"{points(abs(bias))} {'high' if bias > 0 else 'low'}" if bias else "0 points"


def _evidence(check: Any) -> str:
    if len(check.evidence.impossible):
        return "certain and wrong"
    return odds(max(check.evidence.log10_most, 0.0))


def _acting(check: Any) -> str:
    return percent(worst_ratio(table_of(check))[1])


NUMBERS: list[tuple[str, Callable[[Any], str], str]] = [
    ("Average error", lambda c: points(c.error), "lower; chance is the floor"),
    ("Chance alone would show", lambda c: points(c.chance.median), ""),
    ("Too high or too low, on average", _bias, "nearer to 0"),
    ("Slope", _slope, "nearer to 1; below 1 is over-confident"),
    ("Brier score", lambda c: score(c.brier.score), "lower"),
    ("Of it, the cost of miscalibration", lambda c: score(c.brier.miscalibration), "lower"),
    ("Of it, the gain by telling events apart", lambda c: score(c.brier.discrimination), "higher"),
    ("Skill against always saying the average", _skill, "higher"),
    ("Log loss", _log_loss, "lower"),
    ("Lost by acting, at the worst cost/loss ratio", _acting, "lower; of the loss at stake"),
    ("Evidence against calibration, at its highest", _evidence, "lower"),
]
"""Rows of the table: name, value, and which way is better."""

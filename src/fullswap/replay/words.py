"""A replay in plain words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fullswap.base.amounts import counted, points
from fullswap.certificates import Certificate
from fullswap.certificates.by_group import TOO_FEW
from fullswap.certificates.quantities import Subject
from fullswap.certificates.words import CONDITIONS
from fullswap.certificates.words import points as rounded
from fullswap.checking.answer import Check
from fullswap.checking.export import answers_of, table_lines
from fullswap.checking.group_words import groups_off, groups_words, right_words

if TYPE_CHECKING:
    from fullswap.replay.answer import Replayed
    from fullswap.replay.by_group import GroupChanges

ZERO_ALLOWED = (
    "(With several classes one of them may get exactly 0 % and happen: the certificate below "
    "counts that like any other error, odds cannot.)"
)
MOST_KEYS = 20
"""Keys that are listed; the rest is counted."""
SAME = 5e-4
"""Differences of Brier scores below this are none."""


def sentence_of(r: Replayed) -> str:
    """The paragraph that comes first."""
    after = r.after
    if after is None:
        return f"{r.pending:,} forecasts wait for their outcome; none has one yet."
    parts = []
    if r.before is not None:
        best = ""
        if r.models is not None:
            best = f" ({next(iter(r.models.checks))}, in hindsight the best model)"
        parts.append(f"Before{best}: {_off(r.before)}. After: {_off(after)}.")
        parts.append(f"Brier score {r.before.brier.score:.4f} -> {after.brier.score:.4f}.")
        parts.append(_verdict(r.before, after, r.groups))
    else:
        parts.append(f"The forecasts are {_off(after)}. Brier score {after.brier.score:.4f}.")
        parts.append(groups_words(r.groups, None, 0.0, SAME))
    parts.append(_promise(r))
    return " ".join(part for part in parts if part)


def _off(c: Check) -> str:
    return f"{points(c.error)} off (chance alone would show {points(c.chance.median, False)})"


def _verdict(before: Check, after: Check, groups: GroupChanges | None) -> str:
    """Whether it helped, plainly; on average, and in groups."""
    gain = before.brier.score - after.brier.score
    right = right_words(before)
    told = groups_words(groups, right, gain, SAME)
    if right is not None and groups_off(groups):
        return told
    return f"{_on_average(before, after, gain)} {told}".strip()


def _on_average(before: Check, after: Check, gain: float) -> str:
    likely = before.error > before.chance.high
    if gain > SAME:
        if before.verdict.startswith("miscalibrated"):
            return "Recalibration helps."
        if likely:
            return "Recalibration seems to help; so few events do not tell for sure."
        return "That is better, but these probabilities are not clearly off: it may be luck."
    if not before.verdict.startswith("miscalibrated"):
        if likely:
            return (
                "Recalibration does not help here, though these probabilities look off: more "
                "events would tell."
            )
        cost = "" if gain > -SAME else f" It costs {-gain:.4f} of Brier score here."
        return (
            "Recalibration does not help here: there is no sign that these probabilities are off, "
            f"and what is issued differs little.{cost}"
        )
    if gain < -SAME:
        return "The Brier score is worse: the model's errors are smaller than the cost of learning."
    return "The Brier score is about the same."


def _promise(r: Replayed) -> str:
    if r.certificate is not None:
        c = r.certificate
        if c.points_guaranteed is None:
            return _after_the_fact(c)
        if c.trivial or c.points_guaranteed >= 0.5:  # always saying 50 % would do
            return "Too few events for a guarantee that says much."
        ending = "with outcomes this late" if c.late else "whatever happens"
        over = f" over all {c.rounds:,} forecasts so far" if c.rounds > r.answered else ""
        return f"Guaranteed at most {rounded(c.points_guaranteed, up=True)} points{over}, {ending}."
    whole = _together(r.certificates)
    if math.isnan(whole):
        return "Not every key has a guarantee; see below."
    if whole >= 0.5:
        return "Too few events a key for a guarantee that says much."
    return (
        f"Guaranteed at most {rounded(whole, up=True)} points over all keys together "
        f"({len(r.certificates):,}), whatever happens."
    )


def _after_the_fact(c: Certificate) -> str:
    """Where nothing could be promised in advance, because outcomes came late."""
    if c.points_after_the_fact is None or c.points_after_the_fact >= 1:
        return "Nothing is guaranteed with outcomes this late; the certificate below says why."
    most = rounded(c.points_after_the_fact, up=True)
    draws = "" if c.subject == Subject.VECTORS else ", on average over its own draws"
    return (
        f"Guaranteed after the fact{draws}: at most {most} points. In "
        "advance nothing is, because outcomes came late, or not yet."
    )


def _together(certificates: dict[Any, Certificate]) -> float:
    """What is guaranteed of all streams together: errors of streams add up at most."""
    some = [c for c in certificates.values() if c.mass]
    if not some or any(c.guaranteed is None for c in some):
        return math.nan
    return math.sqrt(sum(c.guaranteed or 0.0 for c in some) / sum(c.mass or 0.0 for c in some))


def text_of(r: Replayed) -> str:
    """The paragraph, both checks, alarms, certificates and notes."""
    lines = [r.sentence, ""]
    for title, check in (("Before", r.before), ("After", r.after)):
        if check is not None:
            lines += [f"{title}: {check.headline}"]
            lines += [f"  {name:<14} {answer}" for name, answer in answers_of(check)]
            if r.declared is not None and check is r.after and len(check.evidence.impossible):
                lines.append(f"  {ZERO_ALLOWED}")
            lines.append("")
    if r.models is not None:
        lines += [r.models.sentence, ""]
    if r.alarms:
        lines += [*(str(alarm) for alarm in r.alarms), ""]
    if r.certificate is not None:
        lines += ["Certificate of the issued forecasts:", str(r.certificate), ""]
        if r.declared is not None:
            lines += ["Certificate of the declared class:", str(r.declared), ""]
    elif r.certificates:
        lines += [*_keys(r.certificates), ""]
    if r.groups is not None:
        lines += [*r.groups.lines(), ""]
    counts = [counted(r.rows, "row"), f"{r.answered:,} with an outcome", f"{r.pending:,} pending"]
    if r.answered > r.rows - r.skipped:  # outcomes of earlier calls have come
        counts[1] = f"{r.answered:,} outcomes, also of earlier calls"
    if r.skipped:
        counts.append(f"{r.skipped:,} without a forecast")
    lines.append(", ".join(counts) + ".")
    if r.notes:
        lines += ["", "Notes:", *(f"- {note}" for note in r.notes)]
    return "\n".join(lines)


def of_the_declared(certificate: Certificate | None) -> list[str]:
    """A note on the declared class, where there are three or more."""
    if certificate is None:
        return []
    return [f"Declared class, of which the log has a column: {str(certificate).splitlines()[0]}"]


def _keys(certificates: dict[Any, Certificate]) -> list[str]:
    """A table with a line for each key, those with the most events first."""
    ranked = sorted(certificates.items(), key=lambda item: -item[1].rounds)
    rows = [("key", "forecasts", "points off", "chance", "guaranteed", "")]
    for key, c in ranked[:MOST_KEYS]:
        most = "none" if c.points_guaranteed is None else rounded(c.points_guaranteed, up=True)
        off = "–" if c.points is None else rounded(c.points)
        noise = "–" if c.points_noise is None else rounded(c.points_noise)
        rows.append((str(key), f"{c.rounds:,}", off, noise, TOO_FEW if c.trivial else most, ""))
    hidden = len(ranked) - MOST_KEYS
    more = [f"and {hidden:,} keys more"] if hidden > 0 else []
    title = "Certificates, key by key (percentage points, root mean square):"
    return [title, *table_lines(rows), *more, CONDITIONS[Subject.ISSUED]]

"""A check in plain words: what is wrong, by how much, how sure, since when."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fullswap.base.amounts import odds, percent, points
from fullswap.checking.sizes import means_of, thirds_of
from fullswap.checking.verdict import (
    LITTLE,
    MISCALIBRATED,
    NO_EVIDENCE,
    UPSIDE_DOWN,
    directions,
)

if TYPE_CHECKING:
    from fullswap.checking.answer import Check

SHARED = "share an outcome: give"
"""How a note says that rows are not events of their own."""
RARE = 0.1
"""Where the mean outcome is below it, errors are told in relation to it as well."""
STILL = 0.5
"""Share of the largest evidence (its logarithm) that there must be now."""
MANIFOLD = 3.0
"""From this ratio on errors are told in times, not in percent."""
LATE = 0.1
"""What begins in this share of the log has been there from the beginning."""


def sentence_of(c: Check) -> str:
    """The paragraph that comes first."""
    if c.verdict in (MISCALIBRATED, LITTLE):
        parts = [_says(c), _how_far(c), _how_sure(c), _worst(c), _since(c)]
    else:
        parts = [_nothing(c), _how_far(c), _not_seen(c), _one_look(c), _worst(c)]
    return " ".join(part for part in [_careful(c), *parts] if part)


def _careful(c: Check) -> str:
    """What may spoil everything below it comes before it."""
    if any(SHARED in note for note in c.notes):
        return (
            "Careful: rows seem to share outcomes and are taken for separate events (see the "
            "notes), so all this may be far too sure."
        )
    return ""


def headline_of(c: Check) -> str:
    """A few words."""
    words = directions(c.cox) if c.verdict in (MISCALIBRATED, LITTLE) else []
    if not words:
        return capital(c.verdict)
    return capital(c.verdict) + ": " + " and ".join(words)


def _says(c: Check) -> str:
    if c.classes > 2 and c.evidence.label is not None:
        return _class_off(c, c.evidence.label)
    found = directions(c.cox)
    if not found and averages_out(c):
        return "Miscalibrated, first one way and then the other, so that it averages out."
    local = c.evidence.direction if not found and is_local(c) else ""
    words = " and ".join(found) or local
    head = capital(words) or "Miscalibrated"
    if c.verdict == LITTLE:
        head = "Miscalibrated, but little" + (f" ({words})" if words else "")
    text = head + _example(c, *example_of(c, found))
    return f"{text} Are yes and no exchanged?" if UPSIDE_DOWN in found else text


def _class_off(c: Check, label: int) -> str:
    """Which class is named too often or too rarely."""
    cells, name = c.by_class[label].cells, c.labels[label]
    says, happens = means_of(cells, 0.0, 1.0)
    head = f"{name} is said {'too often' if says > happens else 'too rarely'}"
    if c.verdict == LITTLE:
        head = f"Miscalibrated, but little ({head})"
    return head + _example(c, says, happens, "")


def _example(c: Check, says: float, happens: float, of: str | None = None) -> str:
    """: says 85 % where 74 % happen."""
    if percent(says) == percent(happens):
        return "."
    of = of if of is not None else "" if c.classes == 2 else " for the likeliest class"
    text = f": says {percent(says)}{of} where {percent(happens)} {_happen(c)}"
    if 0 < happens < RARE:
        text += f" ({_relative(says / happens)})"
    return text + "."


def _relative(ratio: float) -> str:
    if ratio > MANIFOLD or ratio < 1 / MANIFOLD:
        times = max(ratio, 1 / ratio)
        return f"{times:,.0f} times too {'high' if ratio > 1 else 'low'}"
    return f"{percent(abs(ratio - 1))} too {'high' if ratio > 1 else 'low'}"


def example_of(c: Check, found: list[str]) -> tuple[float, float]:
    """What is said and what happens, where the flaw shows: forecasts that nobody has picked.

    Too high or too low: all of them. Over- or under-confident: the upper or the lower third,
    whichever shows it more. Else where the evidence says.
    """
    cells = c.cells
    if not found:
        return means_of(cells, c.evidence.low, c.evidence.high)
    if found[0] in ("too high", "too low"):
        return means_of(cells, 0.0, 1.0)
    low, high = thirds_of(cells)
    (says, happens), upper = means_of(cells, 0.0, low), means_of(cells, high, 1.0)
    sign = -1 if found[0] == "under-confident" else 1
    shown = [(sign * (happens - says), says, happens), (sign * (upper[0] - upper[1]), *upper)]
    return max(shown)[1:]


def averages_out(c: Check) -> bool:
    """Whether the error is over time, and not in the pool."""
    pooled = math.sqrt(max(c.error**2 - c.chance.median**2, 0.0))
    return c.error_over_time > c.tolerance > pooled


def is_local(c: Check) -> bool:
    """Whether the evidence is about a part of the forecasts."""
    return c.evidence.high - c.evidence.low < 1.0


def _happen(c: Check) -> str:
    return "happen" if c.classes == 2 else "come true"


def _how_far(c: Check) -> str:
    what = "off" if c.classes == 2 else "of probability on the wrong class"
    chance = points(c.chance.median, unit=False)
    return f"On average {points(c.error)} {what}; chance alone would show {chance}."


def _how_sure(c: Check) -> str:
    impossible = len(c.evidence.impossible)
    if impossible:
        rows = "event" if impossible == 1 else "events"
        return (
            f"In {impossible:,} {rows} it was certain and wrong (said 0 % and it happened, or "
            "100 % and it did not): no calibrated forecaster has such a record."
        )
    once = f"Such a record would come up at most once in {odds(c.evidence.log10_most)} calibrated "
    if c.settings["delay"]:
        return once + "forecasters, counted as of now."
    text = once + "forecasters, however often you look."
    e = c.evidence
    if e.log10 < STILL * e.log10_most:
        since = "there is none since" if e.log10 < 1 else "has been falling since"
        joined = "; " if e.log10 < 1 else " and "
        text += f" The evidence was strongest {at(c, e.most_at)}{joined}{since}."
    return text


def _worst(c: Check) -> str:
    flagged = [s for s in c.segments if s.flagged and not s.little]
    if not flagged:
        return ""
    worst = max(flagged, key=lambda s: s.beyond)
    name = worst.name
    if c.verdict in (MISCALIBRATED, LITTLE):
        return f"Worst: {name} ({points(worst.error)} off)."
    count = f"{len(flagged)} of {len(c.segments)} segments"
    return f"But {count} are miscalibrated, {name} most ({points(worst.error)} off)."


def _since(c: Check) -> str:
    return f"Off since about {at(c, c.evidence.since, bare=True)}." if began_late(c) else ""


def began_late(c: Check) -> bool:
    """Whether the forecasts have been off from some moment on, not before, and are so still."""
    e = c.evidence
    strong = e.log10 >= max(math.log10(c.settings["threshold"]), STILL * e.log10_most)
    return strong and e.since >= LATE * c.rows and not averages_out(c)


def _nothing(c: Check) -> str:
    head = "No evidence of miscalibration" if c.verdict == NO_EVIDENCE else "Too little data to say"
    noun = c.settings["counted"][:-1] if c.events == 1 else c.settings["counted"]
    return (
        f"{head}: {c.events:,} {noun}."
        if c.verdict != NO_EVIDENCE
        else (f"{head} in {c.events:,} {noun}.")
    )


def _not_seen(c: Check) -> str:
    return f"An error below {points(c.smallest_seen)} might have gone unseen."


def _one_look(c: Check) -> str:
    if c.chance.level > 0.01:
        return ""
    return (
        f"Chance alone shows as large an error in {percent(c.chance.level)} of such records, which "
        "counts only if you look once: watch it."
    )


def at(c: Check, row: int, bare: bool = False) -> str:
    """A moment of the log: a time if there is one, else a number of rows."""
    label = c.time_of(row)
    if label is not None:
        return label if bare else f"at {label}"
    number = f"row {c.row_of(row):,}"
    return number if bare else f"at {number}"


def capital(text: str) -> str:
    """With a capital letter."""
    return text[:1].upper() + text[1:]

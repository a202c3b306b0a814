"""A check in plain words: what is wrong, by how much, how sure, since when."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fullswap.checking.verdict import (
    LITTLE,
    MISCALIBRATED,
    NO_EVIDENCE,
    clearest_bin,
    directions,
)

if TYPE_CHECKING:
    from fullswap.checking.answer import Check

RARE = 0.1
"""Where the mean outcome is below it, errors are told in relation to it as well."""
LATE = 0.1
"""What begins in this share of the log has been there from the beginning."""
MOST_WRITTEN = 12
"""Powers of ten up to which odds are written out."""


def sentence_of(c: Check) -> str:
    """The paragraph that comes first."""
    if c.verdict in (MISCALIBRATED, LITTLE):
        parts = [_says(c), _how_far(c), _how_sure(c), _worst(c), _since(c)]
    else:
        parts = [_nothing(c), _how_far(c), _not_seen(c), _one_look(c), _worst(c)]
    return " ".join(part for part in parts if part)


def headline_of(c: Check) -> str:
    """A few words."""
    words = directions(c.cox) if c.verdict in (MISCALIBRATED, LITTLE) else []
    if not words:
        return capital(c.verdict)
    return capital(c.verdict) + ": " + " and ".join(words)


def _says(c: Check) -> str:
    words = directions(c.cox)
    head = capital(" and ".join(words)) if words else capital(c.verdict)
    if c.verdict == LITTLE:
        head = "Miscalibrated, but little" + (f" ({' and '.join(words)})" if words else "")
    elif not words and c.error_over_time > c.tolerance > _pooled(c):
        return "Miscalibrated, first one way and then the other, so that it averages out."
    curve = c.curve.stretch
    if curve is not None:
        says, happens = curve.says, curve.happens
    else:
        k = clearest_bin(c.bins)
        says, happens = float(c.bins.forecast[k]), float(c.bins.frequency[k])
    if percent(says) == percent(happens):
        return head + "."
    of = "" if c.classes == 2 else " for the likeliest class"
    text = f"{head}: says {percent(says)}{of} where {percent(happens)} {_happen(c)}"
    if happens < RARE and happens > 0:
        off = abs(says / happens - 1)
        text += f" ({percent(off)} too {'high' if says > happens else 'low'})"
    return text + "."


def _happen(c: Check) -> str:
    return "happen" if c.classes == 2 else "come true"


def _pooled(c: Check) -> float:
    return math.sqrt(max(c.error**2 - c.chance.median**2, 0.0))


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
    text = (
        f"Such a record would come up at most once in {odds(c.evidence.log10_most)} calibrated "
        "forecasters, however often you look."
    )
    fallen = c.evidence.log10_most - max(c.evidence.log10, 0.0)
    if fallen > math.log10(c.settings["threshold"]) and c.evidence.log10 < 1:
        text += f" The evidence was strongest {at(c, c.evidence.most_at)}; there is none since."
    return text


def _worst(c: Check) -> str:
    flagged = [s for s in c.segments if s.flagged]
    if not flagged:
        return ""
    worst = max(flagged, key=lambda s: s.beyond)
    name = f"{worst.column} {worst.value}"
    if c.verdict in (MISCALIBRATED, LITTLE):
        return f"Worst: {name} ({points(worst.error)} off)."
    count = f"{len(flagged)} of {len(c.segments)} segments"
    return f"But {count} are miscalibrated, {name} most ({points(worst.error)} off)."


def _since(c: Check) -> str:
    return f"Off since about {at(c, c.evidence.since, bare=True)}." if began_late(c) else ""


def began_late(c: Check) -> bool:
    """Whether the forecasts were off not from the beginning, but from some moment on."""
    return c.evidence.since >= LATE * c.rows and c.evidence.log10_most > 0


def _nothing(c: Check) -> str:
    head = "No evidence of miscalibration" if c.verdict == NO_EVIDENCE else "Too little data to say"
    noun = "event" if c.events == 1 else "events"
    return (
        f"{head}: {c.events:,} {noun}."
        if c.verdict != NO_EVIDENCE
        else (f"{head} in {c.events:,} {noun}.")
    )


def _not_seen(c: Check) -> str:
    return f"An error below {points(c.smallest_seen)} could not have been seen."


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
    return f"row {row + 1:,}" if bare else f"at row {row + 1:,}"


def points(share: float, unit: bool = True) -> str:
    """A share in percentage points.

    Examples
    --------
    >>> points(0.0412), points(0.00031), points(0.01, unit=False)
    ('4.1 points', '0.03 points', '1.0')
    """
    value = 100 * share
    text = f"{value:.1f}" if value >= 0.95 or value < 0.005 else f"{value:.1g}"
    if not unit:
        return text
    return f"{text} point" if text == "1" else f"{text} points"


def percent(share: float) -> str:
    """A share in percent, with the digits that matter.

    Examples
    --------
    >>> percent(0.853), percent(0.0142), percent(0.9996), percent(2.4e-5), percent(0.001)
    ('85 %', '1.4 %', '99.96 %', '0.0024 %', '0.1 %')
    """
    value = 100 * share
    away = min(value, 100 - value) if value <= 100 else value
    if away >= 2.95 or value in (0, 100):
        return f"{value:.0f} %"
    digits = max(1, 1 - math.floor(math.log10(away))) if away > 0 else 0
    text = f"{value:.{digits}f}"
    return f"{text.rstrip('0').rstrip('.')} %"


def odds(log10: float) -> str:
    """10^log10, rounded down to two figures.

    Examples
    --------
    >>> odds(3.6128), odds(1.3011), odds(25.3)
    ('4,100', '20', '10^25')
    """
    if log10 >= MOST_WRITTEN:
        return f"10^{math.floor(log10)}"
    value = 10.0**log10 * (1 + 1e-12)
    unit = 10.0 ** max(math.floor(math.log10(value)) - 1, 0) if value >= 1 else 1.0
    return f"{math.floor(value / unit) * unit:,.0f}"


def capital(text: str) -> str:
    """With a capital letter."""
    return text[:1].upper() + text[1:]

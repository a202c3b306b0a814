"""Numbers as people say them: points, odds, intervals, places in a log."""

from __future__ import annotations

import math
from typing import Any

WIDE = 1.959963984540054
"""Standard errors on either side of a 95 % interval."""


def points(share: float | None, unit: bool = True) -> str:
    """A share as points of a hundred.

    Examples
    --------
    >>> points(0.0412), points(0.0004), points(0.01), points(0.12, unit=False)
    ('4.1 points', '0.04 points', '1.0 points', '12.0')
    """
    if share is None or not math.isfinite(share):
        return "not known"
    value = 100 * share
    said = f"{value:.2f}" if 0 < abs(value) < 0.095 else f"{value:.1f}"
    said = said.replace("-", "−")
    return f"{said} points" if unit else said


def percent(share: float) -> str:
    """A forecast or a frequency in percent, finer near the ends.

    Examples
    --------
    >>> percent(0.854), percent(0.0123), percent(0.9991), percent(0.0)
    ('85 %', '1.2 %', '99.9 %', '0 %')
    """
    value = 100 * share
    if value in (0.0, 100.0) or 5 <= value <= 95:
        return f"{value:.0f} %"
    return f"{value:.1f} %" if 0.1 <= value <= 99.9 else f"{value:.2g} %"


def share(value: float | None) -> str:
    """A part of a whole in percent.

    Examples
    --------
    >>> share(0.417), share(0.004), share(None)
    ('42 %', '0 %', '–')
    """
    return f"{100 * value:.0f} %" if value is not None and math.isfinite(value) else "–"


def score(value: float | None) -> str:
    """A score or a part of one, with three significant figures or so.

    Examples
    --------
    >>> score(0.18234), score(0.00061), score(float("inf")), score(-0.0012), score(None)
    ('0.182', '0.00061', 'infinite', '−0.0012', 'not known')
    """
    if value is None or math.isnan(value):
        return "not known"
    if math.isinf(value):
        return "infinite"
    digits = 3 if abs(value) >= 0.0995 else 4 if abs(value) >= 0.00095 else 5
    return f"{value:.{digits}f}".replace("-", "−") if value else "0"


def times(log10: float) -> str:
    """Ten to this power, in round words.

    Examples
    --------
    >>> times(0.2), times(3.6), times(6.5), times(14.2)
    ('1.6', '4,000', '3.2 million', '10¹⁴')
    """
    if log10 >= 12:
        raised = str(math.floor(log10)).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
        return f"10{raised}"
    value = 10.0**log10
    for size, word in ((1e9, " billion"), (1e6, " million")):
        if value >= size:
            return (
                f"{value / size:.2g}{word}" if value < 100 * size else f"{value / size:.0f}{word}"
            )
    if value < 10:
        return f"{value:.2g}"
    # Rounded down, because it is said with "at most".
    step = 10 ** max(math.floor(math.log10(value) + 1e-12) - 1, 0)
    return f"{math.floor(value / step + 1e-9) * step:,.0f}"


def odds(log10: float) -> str:
    """Evidence against calibration as odds.

    Examples
    --------
    >>> odds(3.61), odds(-2.0)
    ('4,000 : 1', '1 : 100')
    """
    return f"{times(log10)} : 1" if log10 >= 0 else f"1 : {times(-log10)}"


def interval(middle: float, error: float) -> tuple[float, float]:
    """Ends of the 95 % interval.

    Examples
    --------
    >>> interval(1.0, 0.1)
    (0.804, 1.196)
    """
    return middle - WIDE * error, middle + WIDE * error


def known(*values: float | None) -> bool:
    """Whether all of these are numbers."""
    return all(value is not None and math.isfinite(value) for value in values)


def counted(number: int, noun: str) -> str:
    """A number and its noun.

    Examples
    --------
    >>> counted(1, "event"), counted(20_000, "event")
    ('1 event', '20,000 events')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def place(row: int, check: Any) -> str:
    """Where a row stands in the log: its number, and its time where windows have labels."""
    said = f"event {row + 1:,}"
    labels = getattr(check, "time_labels", None)
    if not labels:
        return said
    window = int((check.windows.start <= row).sum()) - 1
    if not 0 <= window < len(labels):
        return said
    return f"{said} (from {labels[window]})"

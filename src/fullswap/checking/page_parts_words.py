"""Numbers as the page says them, beside those that all texts share."""

from __future__ import annotations

import math
import re

from fullswap.checking.words import odds as times_of
from fullswap.checking.words import points as points_of

WIDE = 1.959963984540054
"""Standard errors on either side of a 95 % interval."""
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def points(share: float | None, unit: bool = True) -> str:
    """A share in points, with its sign.

    Examples
    --------
    >>> points(0.0412), points(-0.015, unit=False), points(None)
    ('4.1 points', '−1.5', 'not known')
    """
    if not known(share):
        return "not known"
    assert share is not None
    said = points_of(abs(share), unit)
    return f"−{said}" if share < 0 else said


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
    """Ten to this power in round words, rounded down to two figures.

    Examples
    --------
    >>> times(3.61), times(6.51), times(10.95), times(14.2), times(0.2)
    ('4,000', '3.2 million', '89 billion', '10¹⁴', '1.5')
    """
    for size, word in ((9, " billion"), (6, " million")):
        if size <= log10 < 12:
            return times(log10 - size) + word
    if log10 < 1:
        return f"{math.floor(10 ** (1 + log10) + 1e-9) / 10:g}"
    return raised(times_of(log10))


def odds(log10: float) -> str:
    """Evidence against calibration as odds.

    Examples
    --------
    >>> odds(3.61), odds(-2.0), odds(0.2), odds(0.0)
    ('4,000 : 1', '1 : 100', '1.5 : 1', '1 : 1')
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
    """Whether all of these are numbers.

    Examples
    --------
    >>> known(1.0, 2.0), known(1.0, None), known(float("nan"))
    (True, False, False)
    """
    return all(value is not None and math.isfinite(value) for value in values)


def counted(number: int, noun: str, nouns: str | None = None) -> str:
    """A number and its noun.

    Examples
    --------
    >>> counted(1, "event"), counted(20_000, "event"), counted(3, "class", "classes")
    ('1 event', '20,000 events', '3 classes')
    """
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def raised(text: str) -> str:
    """The text with powers of ten as they are written by hand.

    Examples
    --------
    >>> raised("once in 10^43")
    'once in 10⁴³'
    """
    return re.sub(r"(?<=\b10)\^(\d+)", lambda power: power[1].translate(RAISED), text)


def typeset(text: str) -> str:
    r"""The text with powers raised, of which no line ends between a number and its sign.

    Examples
    --------
    >>> typeset("says 85 %, at 20 : 1")
    'says 85\xa0%, at 20\xa0:\xa01'
    """
    return re.sub(r" (?=%)|(?<=\S) (?=: \d)|(?<=\S :) (?=\d)", "\xa0", raised(text))

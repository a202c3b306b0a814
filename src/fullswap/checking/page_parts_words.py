"""Numbers as the page says them, beside those that all texts share."""

from __future__ import annotations

import math
import re

from fullswap.base.amounts import evidence_text
from fullswap.base.amounts import points as points_of

WIDE = 2.0
"""Standard errors on either side of an interval, here as in the text."""
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


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
    """A score or a part of one, with four decimals, or five where it is small.

    Examples
    --------
    >>> score(0.18234), score(0.00061), score(float("inf")), score(-0.0012), score(None)
    ('0.1823', '0.00061', 'infinite', '−0.0012', 'not known')
    """
    if value is None or math.isnan(value):
        return "not known"
    if math.isinf(value):
        return "infinite"
    digits = 4 if abs(value) >= 0.00095 else 5
    return f"{value:.{digits}f}".replace("-", "−") if value else "0"


def times(log10: float) -> str:
    """Ten to this power, rounded down to two figures, as all texts say it.

    Examples
    --------
    >>> times(3.61), times(6.51), times(14.2), times(0.2)
    ('4,000', '3,200,000', '10¹⁴', '1.5')
    """
    return odds(log10).removesuffix(" : 1")


def odds(log10: float) -> str:
    """Evidence against calibration as odds, as all texts say it.

    Examples
    --------
    >>> odds(3.61), odds(-2.0), odds(0.2), odds(0.0), odds(-5.5), odds(20.3)
    ('4,000 : 1', '0.01 : 1', '1.5 : 1', '1 : 1', '10⁻⁶ : 1', '10²⁰ : 1')
    """
    return raised(evidence_text(log10))


def interval(middle: float, error: float) -> tuple[float, float]:
    """Two standard errors to either side.

    Examples
    --------
    >>> interval(1.0, 0.1)
    (0.8, 1.2)
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


def raised(text: str) -> str:
    """The text with powers of ten as they are written by hand.

    Examples
    --------
    >>> raised("once in 10^43"), raised("1.2e-05 : 1")
    ('once in 10⁴³', '1.2 · 10⁻⁵ : 1')
    """
    text = re.sub(r"(?<=\d)e([+-]\d+)\b", lambda power: f" · 10^{int(power[1])}", text)
    return re.sub(r"(?<=\b10)\^(-?\d+)", lambda power: power[1].translate(RAISED), text)


def typeset(text: str) -> str:
    r"""The text with powers raised, of which no line ends between a number and its sign.

    Examples
    --------
    >>> typeset("says 85 %, at 20 : 1")
    'says 85\xa0%, at 20\xa0:\xa01'
    """
    return re.sub(r" (?=%)|(?<=\S) (?=: \d)|(?<=\S :) (?=\d)", "\xa0", raised(text))

"""Counts, shares, percentages and odds as people write them."""

from __future__ import annotations

import math

MOST_WRITTEN = 12
"""Powers of ten up to which odds are written out."""
SMALLEST = -4
"""Powers of ten below which they are not."""


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


def evidence_text(log10: float) -> str:
    """Odds against calibration, rounded down.

    Examples
    --------
    >>> evidence_text(3.7), evidence_text(-0.3), evidence_text(1.292), evidence_text(-320.2)
    ('5,000 : 1', '0.5 : 1', '19 : 1', '10^-321 : 1')
    """
    if log10 >= 1:
        return f"{odds(log10)} : 1"
    if log10 < SMALLEST:
        return f"10^{math.floor(log10)} : 1"
    digits = max(-math.floor(log10) + 1, 1)
    return f"{math.floor(10.0 ** (log10 + digits) * (1 + 1e-12)) / 10**digits:g} : 1"


def counted(number: int, noun: str, nouns: str | None = None) -> str:
    """A number and its noun.

    Examples
    --------
    >>> counted(1, "event"), counted(20_000, "event"), counted(3, "class", "classes")
    ('1 event', '20,000 events', '3 classes')
    """
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"

"""Small phrases that sections share."""

from __future__ import annotations

from collections.abc import Sequence


def signed(value: float) -> str:
    """Two decimals, with a minus sign rather than a hyphen.

    Examples
    --------
    >>> signed(-0.256), signed(-0.001)
    ('−0.26', '0.00')
    """
    rounded = round(value, 2) + 0.0
    return f"{rounded:.2f}".replace("-", "−")


def listed(words: Sequence[str]) -> str:
    """Words with commas and a last "and".

    Examples
    --------
    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def interval(slope: float, low: float, high: float) -> str:
    """An exponent with its interval.

    Examples
    --------
    >>> interval(0.5, -0.01, 1.0)
    '0.50 (−0.01 to 1.00)'
    """
    return f"{signed(slope)} ({signed(low)} to {signed(high)})"

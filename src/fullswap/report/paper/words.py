"""Small phrases that sections share."""

from __future__ import annotations

import re
from collections.abc import Sequence

FAR = 0.1
"""An exponent this much below another is far below it."""


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


def interval(slope: float, low: float, high: float | None) -> str:
    """An exponent with its interval; None if that has no upper end worth telling.

    Examples
    --------
    >>> interval(0.5, -0.01, 1.0), interval(8.0, 4.0, None)
    ('0.50 (−0.01 to 1.00)', '8.00 (4.00 or more)')
    """
    end = "or more" if high is None else f"to {signed(high)}"
    return f"{signed(slope)} ({signed(low)} {end})"


def spaced(name: str) -> str:
    """The name of an adversary, or of its class, as words.

    Examples
    --------
    >>> spaced("SignPreservation"), spaced("mean_aware")
    ('sign preservation', 'mean aware')
    """
    return re.sub("(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").lower()

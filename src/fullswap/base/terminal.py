"""Text from data that a terminal shows and does not obey."""

from __future__ import annotations

import re

CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""What moves a cursor, names a window or turns the direction of a line; not tab and line end."""


def visible(text: str) -> str:
    r"""Control characters as their escapes.

    Examples
    --------
    >>> print(visible("north\x1b[2J"))
    north\x1b[2J
    """
    return CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)

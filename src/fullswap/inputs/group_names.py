"""What a group is called that a value of a column makes: the same wherever the value comes from."""

from __future__ import annotations

import datetime
import re
from typing import Any

import numpy as np

from fullswap.inputs.columns import is_missing

WHOLE = re.compile(r"-?(0|[1-9]\d*)\.0+")
"""Whole numbers as a column of floats is written, in a file of text as well."""
MIDNIGHT = datetime.time()


def group_name(column: Any, value: Any) -> str | None:
    """``"column=value"``; None for a missing value or a blank text, which make no group.

    A value alone says what it is called, not the rest of its column: parts of a log, of which one
    has a missing number or a time of day and another has not, have the same groups.

    Examples
    --------
    >>> [group_name("hour", value) for value in (3, 3.0, "3.0", " 3 ", np.float32(0.1), " ", None)]
    ['hour=3', 'hour=3', 'hour=3', 'hour=3', 'hour=0.1', None, None]
    >>> [group_name("day", day) for day in np.array(["2020-01-01", "2020-01-01T06:00"], "M8[s]")]
    ['day=2020-01-01', 'day=2020-01-01 06:00:00']
    """
    if is_missing(value):
        return None
    if isinstance(value, np.datetime64):
        value = value.astype("M8[us]").item()
    if isinstance(value, float) and value.is_integer():  # 1e+16 too
        value = int(value)
    if _is_day(value):
        value = value.date()
    text = str(value).strip()
    if WHOLE.fullmatch(text):
        text = str(int(text.partition(".")[0]))
    return f"{column}={text}" if text else None


def _is_day(value: Any) -> bool:
    """Whether it is a moment without a time of day, as dates are in many tables."""
    if not isinstance(value, datetime.datetime) or value.tzinfo is not None:
        return False
    return value.time() == MIDNIGHT and not getattr(value, "nanosecond", 0)

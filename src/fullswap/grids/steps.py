"""Steps that divide 1, however they are written."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

MAX_STEPS = 10**6


def steps_of(step: Any) -> int:
    """How many steps make 1; steps may be written 0.05, 1/20 or "5%".

    Examples
    --------
    >>> steps_of(0.05), steps_of("5%"), steps_of("1/20")
    (20, 20, 20)
    """
    try:
        if isinstance(step, str):
            text = step.strip()
            size = Fraction(text[:-1]) / 100 if text.endswith("%") else Fraction(text)
            count = 1 / size
            near = round(count)
            whole = count == near or abs(float(count) - near) <= 1e-9 * near
        else:
            array = np.asarray(step)
            number = float(array) if array.ndim == 0 and array.dtype.kind in "iuf" else math.nan
            near = round(1 / number)
            whole = abs(number * near - 1) <= 1e-9
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        near, whole = 0, False
    if not whole or not 1 <= near <= MAX_STEPS:
        raise ValueError(
            f"step must divide 1 into at most {MAX_STEPS} equal steps, such as 0.05, 1/20 or "
            f"'5%', got {step!r}"
        )
    return near

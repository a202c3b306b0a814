"""Checks of the numbers that games are made from."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fullswap.base.protocols import Vector


def as_count(name: str, value: Any, least: int) -> int:
    """A whole number, at least ``least``."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least:
        raise ValueError(f"{name} must be a whole number >= {least}, got {value!r}")
    return int(value)


def as_number(name: str, value: Any, above: float = -math.inf) -> float:
    """A finite number, larger than ``above``."""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not (number and math.isfinite(value) and value > above):
        wanted = "a finite number" if above == -math.inf else f"a finite number > {above:g}"
        raise ValueError(f"{name} must be {wanted}, got {value!r}")
    return float(value)


def as_list(name: str, values: Any, length: int | None = None) -> Vector:
    """Finite numbers, one for all or ``length`` of them."""
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, got {values!r}") from None
    if array.ndim == 0 and length is not None:
        array = np.full(length, float(array))
    if array.ndim != 1 or not array.size or not np.isfinite(array).all():
        raise ValueError(f"{name} must be a list of finite numbers, got {values!r}")
    if length is not None and len(array) != length:
        raise ValueError(f"{name} must be {length} numbers, got {len(array)}")
    return array


def as_chances(name: str, values: Any, length: int) -> Vector:
    """Probabilities > 0 that add up to 1; None for equal ones."""
    if values is None:
        return np.full(length, 1 / length)
    array = as_list(name, values)
    if len(array) != length or array.min() <= 0 or abs(array.sum() - 1) > 1e-9:
        raise ValueError(f"{name} must be {length} numbers > 0 with sum 1, got {values!r}")
    return array / array.sum()

"""Checks of plays that come from outside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fullswap.base.protocols import Vector

SHARES_TOLERANCE = 1e-9
"""How far shares may be from summing to 1."""


def check_indices(numbers: Sequence[float] | Vector, size: int) -> list[int]:
    """Whole numbers from 0 to size − 1."""
    indices = [int(value) if float(value).is_integer() else -1 for value in numbers]
    if not all(0 <= index < size for index in indices):
        raise ValueError(f"play must be on points 0 to {size - 1}, got {list(numbers)}")
    return indices


def check_shares(numbers: Sequence[float] | Vector) -> Vector:
    """Numbers >= 0 that sum to 1."""
    shares = np.array(numbers, dtype=float)
    if not ((shares >= 0).all() and abs(shares.sum() - 1) <= SHARES_TOLERANCE):
        raise ValueError(f"play must have shares that sum to 1, got {list(numbers)}")
    return shares


def check_unit(values: Vector, absent: bool = False) -> Vector:
    """Numbers in [0, 1], or NaN where they may be absent."""
    inside = (values >= 0) & (values <= 1)
    if absent:
        inside |= np.isnan(values)
    if not inside.all():
        raise ValueError("play must hold probabilities, got others")
    return values

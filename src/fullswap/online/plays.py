"""Ids of plays, and checks of those that come from outside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fullswap.base.draws import Words
from fullswap.base.protocols import Indices, Vector
from fullswap.kernels.columns import NEXT_ID
from fullswap.kernels.events import draw_place
from fullswap.kernels.philox import uniform

SHARES_TOLERANCE = 1e-9
"""How far shares may be from summing to 1."""


def check_indices(numbers: Sequence[float] | Vector, size: int) -> list[int]:
    """Whole numbers from 0 to size − 1."""
    indices = [int(value) if float(value).is_integer() else -1 for value in numbers]
    if not all(0 <= index < size for index in indices):
        raise ValueError(f"play must be on points 0 to {size - 1}, got {list(numbers)}")
    return indices


def check_members(numbers: Sequence[float] | Vector, size: int) -> Indices:
    """The same, in rising order: a support has no point twice."""
    members = np.array(check_indices(numbers, size))
    if not (np.diff(members) > 0).all():
        raise ValueError(f"play must have its points in rising order, got {list(numbers)}")
    return members


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


def give_id(row: Vector, count: int, source: Words, shares: Vector) -> tuple[int, int]:
    """The id of the next forecast, of which ``count`` are given out, and the place it draws."""
    number = int(row.item(NEXT_ID))
    if count:
        row[NEXT_ID] = number + count
    return number, int(draw_place(shares, len(shares), uniform(source, number)))

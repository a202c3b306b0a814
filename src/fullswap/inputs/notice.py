"""What a reader of the table would notice: rows that run backwards, rows that share an outcome."""

from __future__ import annotations

import numpy as np

from fullswap.base.protocols import Vector
from fullswap.inputs.columns import Column


def notice_dates(columns: dict[str, Column]) -> list[str]:
    return []


def notice_repeats(columns: dict[str, Column], y: Vector) -> list[str]:
    return []

"""Rows for stores and for people: bytes that keep every bit, and columns by name.

Both carry the version of the layout, and what is read back is checked against its kind.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Vector
from fullswap.kernels.columns import HEAD, LEVEL
from fullswap.online.kind import Kind

VERSION = 3
"""Of the columns; raised when a reader of the old ones would misread the new ones."""
MARK = b"fsrow" + VERSION.to_bytes(3, "little")
"""Eight bytes before the numbers, so that these stay aligned."""
HEAD_NAMES = (
    "level", "rounds", "next_id", "learnt", "mass", "delay", "overlap", "rounding_most", "rounding",
    "lost", "squares", "hint", "crowd", "partial", "repeats",
    "cells",
)  # fmt: skip
"""The columns that all kinds share, as ``fullswap.kernels.columns`` numbers them."""


def to_bytes(row: Vector) -> bytes:
    """A row for a store: the mark, then little-endian floats."""
    return MARK + np.ascontiguousarray(row, dtype="<f8").tobytes()


def from_bytes(kind: Kind, content: Any) -> Vector:
    """What ``to_bytes`` gave, checked."""
    if not isinstance(content, bytes) or len(content) < len(MARK) or len(content) % 8:
        checks.refuse("row", "be bytes of whole floats behind a mark", content)
    if content[: len(MARK)] != MARK:
        checks.refuse("row", f"have version {VERSION}", content[: len(MARK)])
    return _checked(kind, np.frombuffer(content[len(MARK) :], dtype="<f8").astype(np.float64))


def to_dict(kind: Kind, row: Vector) -> dict[str, Any]:
    """A row for people: every column by its name, the points beside their values."""
    level = int(row[LEVEL])
    head = dict(zip(HEAD_NAMES, row[:HEAD].tolist(), strict=True))
    places = np.cumsum([HEAD, *kind.shared_columns.values()])
    shared = {
        name: row[begin:end].tolist()
        for name, begin, end in zip(kind.shared_columns, places, places[1:], strict=False)
    }
    points = {
        name: column.tolist()
        for name, column in zip(kind.point_names, kind.point_columns(row).T, strict=True)
    }
    values = {"value": kind.points(level).tolist()}
    return {"version": VERSION, **head, "shared": shared, "points": {**values, **points}}


def from_dict(kind: Kind, stored: Any) -> Vector:
    """What ``to_dict`` gave, checked."""
    try:
        if stored["version"] != VERSION:
            checks.refuse("row", f"have version {VERSION}", stored["version"])
        head = [stored[name] for name in HEAD_NAMES]
        shared = [stored["shared"][name] for name in kind.shared_columns]
        points = np.array([stored["points"][name] for name in kind.point_names], dtype=float).T
        parts = [np.array(part, dtype=float).ravel() for part in (head, *shared)]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"row must have its columns by name, got another: {error}") from None
    return _checked(kind, np.concatenate((*parts, points.ravel())))


def _checked(kind: Kind, row: Vector) -> Vector:
    if len(row) < len(kind.blank):
        checks.refuse("row", f"have at least {len(kind.blank)} columns", len(row))
    kind.check(row)
    return row

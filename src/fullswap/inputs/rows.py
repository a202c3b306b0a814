"""Rows that count and what they bring along: due, known, weighted, cut into segments."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base import checks
from fullswap.base.amounts import counted
from fullswap.base.protocols import Indices, Vector
from fullswap.inputs.columns import Column, column_of
from fullswap.inputs.moments import limit_of
from fullswap.inputs.outcomes import distinct

FEWEST = 2
"""Known outcomes that a log must hold."""
MOST_OTHERS = 24
"""Columns without a role that are looked at."""
MUCH_PENDING = 0.05
"""From this share of pending rows on the note says what may be wrong with them."""


def readable(others: dict[str, Any]) -> dict[str, Column]:
    """The first columns without a role, for what there is to notice in them."""
    result = {}
    for key, value in list(others.items())[:MOST_OTHERS]:
        with suppress(ValueError):  # lists or structures
            result[key] = column_of(key, value)
    return result


def taken(column: Column, order: Indices) -> Column:
    """The same column, these rows in this order."""
    return Column(column.kind, column.values[order])


WEIGHTS = 1e-100, 1e100
"""Weights whose squares and sums of squares are neither 0 nor infinite."""


def cut(column: Column) -> NDArray[Any]:
    """A column to cut by: numbers stay numbers, all else becomes text."""
    if column.kind == "number":
        return column.values.astype(np.float64)
    if column.kind == "bool":
        texts = np.where(column.values > 0, "True", "False").astype(object)
    else:
        codes, words = distinct(column)
        return np.array([*words, "(missing)"], dtype=object)[codes]
    texts[column.missing] = "(missing)"
    return texts


def weights(name: str, values: Any) -> Vector:
    """Weights >= 0, not all 0."""
    result = column_of(name, values).floats()
    if result is None:
        checks.refuse(name, "be numbers >= 0", values)
    least, most = WEIGHTS
    bad = ~((result == 0) | ((result >= least) & (result <= most)))
    rule = "be at least 0" if (result < 0).any() else f"be 0 or lie in [{least:g}, {most:g}]"
    checks.refuse_at(name, rule, result, bad)
    if not result.any():
        raise ValueError(f"{name} must have at least one positive entry, got {len(result)} zeros")
    return result


def is_due(
    due: NDArray[Any], times: NDArray[Any] | None, as_of: Any, y: Vector, notes: list[str]
) -> NDArray[np.bool_]:
    """Rows whose outcome was due by then; where nothing is said, it was."""
    limit = limit_of("as_of", as_of, due)
    if limit is None:
        seen = due if times is None or times.dtype.kind == "M" else times
        limit = float(np.max(seen[~np.isnan(seen)].astype(np.float64), initial=-np.inf))
    early: NDArray[np.bool_] = due > limit  # NaN and NaT: False
    known = int(np.count_nonzero(early & ~np.isnan(y)))
    if early.any():
        shown = np.datetime_as_string(limit, unit="D") if due.dtype.kind == "M" else f"{limit:g}"
        notes.append(
            f"{counted(int(early.sum()), 'row')} due after {shown} left out "
            f"({known:,} with an outcome already: early outcomes are mostly yes)"
        )
    return ~early


def refuse_unknown(name: str, y: Vector, rows: int) -> None:
    """Refuse a log without outcomes to judge by."""
    known = int(np.count_nonzero(~np.isnan(y)))
    if rows == 0:
        raise ValueError(f"{name} must hold outcomes, got no rows")
    if len(y) and not known:
        raise ValueError(
            f"{name} must hold known outcomes, got {counted(len(y), 'row')}, all pending"
        )
    if known < FEWEST:
        raise ValueError(
            f"{name} must hold at least {FEWEST} known outcomes that have a forecast, got {known} "
            f"in {counted(rows, 'row')}"
        )


def note_pending(y: Vector, with_due: bool, notes: list[str]) -> None:
    """The same column, these rows in this order."""
    pending = int(np.isnan(y).sum())
    if not pending:
        return
    share = pending / len(y)
    note = f"{pending:,} of {counted(len(y), 'row')} pending ({100 * share:.1f} %)"
    if share >= MUCH_PENDING and not with_due:
        note += ": if yes comes to be known earlier than no, give due, when each outcome is due"
    notes.append(note)

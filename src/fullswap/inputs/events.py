"""Events that several rows are about: their codes, and contradictions between their rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base.amounts import counted
from fullswap.base.protocols import Indices, Vector
from fullswap.inputs.columns import Column
from fullswap.inputs.outcomes import distinct


def joined_codes(columns: list[Indices]) -> Indices:
    """One code for each combination of codes, in order of first appearance; −1 if one is −1."""
    joint, size = columns[0], int(columns[0].max(initial=0)) + 1
    for codes in columns[1:]:
        more = int(codes.max(initial=0)) + 1
        if size * more > 2**62:
            joint = first_come(joint)
            size = int(joint.max(initial=0)) + 1
        missing = (joint < 0) | (codes < 0)
        joint, size = np.where(missing, -1, joint * more + codes), size * more
    return first_come(joint)


def first_come(codes: Indices) -> Indices:
    """The same groups numbered in order of first appearance; negative codes stay −1."""
    values, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    first = np.where(values < 0, len(codes), first)
    rank = np.empty(len(values), dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(values))
    rank[values < 0] = -1
    return rank[inverse]


def events_of(columns: dict[str, Column]) -> tuple[Indices, list[str], list[str]]:
    """Codes of events in order of first appearance, their names, and notes.

    A row without a name is an event of its own.
    """
    parts = [distinct(column) for column in columns.values()]
    codes = joined_codes([part[0] for part in parts])
    notes = []
    alone = np.flatnonzero(codes < 0)
    if len(alone):
        notes.append(f"{counted(len(alone), 'row')} without an event: each taken as its own")
        codes[alone] = codes.max(initial=-1) + 1 + np.arange(len(alone))
        codes = first_come(codes)
    first = np.unique(codes, return_index=True)[1]
    names = [" / ".join("(missing)" if part[row] < 0 else str(values[part[row]])
                        for part, values in parts) for row in first.tolist()]  # fmt: skip
    return codes, names, notes


def refuse_contradictions(
    codes: Indices, names: list[str], y: Vector, labels: list[Any], rows: Indices
) -> None:
    """Refuse an event whose rows have different outcomes; pending rows contradict nothing."""
    known = ~np.isnan(y)
    least, most = extremes(codes[known], y[known], len(names))
    bad = np.flatnonzero(least < most)
    if not len(bad):
        return
    event = int(bad[0])
    mine = known & (codes == event)
    low, high = (int(rows[mine & (y == v)][0]) for v in (least[event], most[event]))
    raise ValueError(
        f"event must have one outcome each, got {labels[int(least[event])]} and "
        f"{labels[int(most[event])]} for {names[event]} (positions {low} and {high}); "
        f"{len(bad):,} of {counted(len(names), 'event')} are like that. Rows that hang together "
        "without sharing an outcome (one day, one storm) are given as together"
    )


def extremes(codes: Indices, y: Vector, count: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Smallest and largest outcome of every event; (inf, −inf) if all its rows are pending."""
    least, most = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(least, codes, y)
    np.maximum.at(most, codes, y)
    return least, most


def spans_of(codes: Indices, count: int) -> tuple[Vector, Vector]:
    """First and last row of each event, shape (count,)."""
    rows = np.arange(len(codes), dtype=np.float64)
    last = np.zeros(count)
    last[codes] = rows
    first = np.zeros(count)
    first[codes[::-1]] = rows[::-1]
    return first, last

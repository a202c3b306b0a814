"""Outcomes of three or more classes, by name, by code, or as one column of 0 and 1 a class."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base import checks
from fullswap.base.amounts import counted
from fullswap.inputs.columns import column_of, plain
from fullswap.inputs.frames import columns_of, listed
from fullswap.inputs.outcomes import Outcomes, distinct, place_of
from fullswap.inputs.probabilities import table_of


def is_table(values: Any) -> bool:
    """Whether these are several columns: a frame, or numbers of shape (n, K) with K >= 2."""
    if columns_of(values) is not None:
        return True
    shape = getattr(values, "shape", None)
    if shape is None and isinstance(values, list | tuple) and len(values):
        first = values[0]
        return isinstance(first, list | tuple | np.ndarray) and len(first) >= 2
    return isinstance(shape, tuple) and len(shape) == 2 and shape[1] >= 2


ENOUGH = 20
"""Rows in which three classes or more do not show as two by chance."""


def class_codes(
    name: str, values: Any, count: int, labels: Sequence[Any] | None, classes: Any = None
) -> Outcomes:
    """Numbers of classes 0, …, K − 1 in the order of the probability columns.

    Whole numbers from 0 to K − 1 are numbers of classes also where ``labels`` names them in words.
    Without ``labels`` the classes are the names of the probability columns (``classes``), or
    whole numbers from 0 to K − 1, or else the K values that occur, sorted.
    """
    names = None if classes is None or isinstance(classes, int) else [str(c) for c in classes]
    order = None if labels is None else list(labels)
    if order is not None and (len(order) != count or len({plain(v) for v in order}) != count):
        checks.refuse("labels", f"be {count} different names, one a probability column", order)
    if is_table(values):
        return _of_columns(name, values, count, order if order is not None else names)
    column = column_of(name, values)
    if column.kind == "time":
        checks.refuse(name, "be outcomes, not times", str(column.values[0]))
    candidates = _candidates(order, names)
    codes, found = distinct(column, [label for labels in candidates for label in labels])
    notes: list[str] = []
    places: list[int | None] = []
    for candidate in candidates:
        places = [place_of(value, candidate) for value in found]
        if None not in places:
            order = candidate
            break
    else:
        named = order is None or all(isinstance(label, str) for label in order)
        if named and all(_is_code(v, count) for v in found):  # numbers, and names to show
            if order is None and len(column) >= ENOUGH and set(found) <= {0, 1}:
                raise ValueError(
                    f"{name} must tell {count} classes apart, got only 0 and 1: give one outcome "
                    "column a class, or labels=[0, 1, …] if these are numbers of classes"
                )
            places = [int(v) for v in found]
            order = order or names or list(range(count))
        elif order is None and names is None and len(found) == count:
            order = sorted(found, key=lambda v: (isinstance(v, str), v))
            places = [order.index(v) for v in found]
            notes.append(
                f"{name}: classes taken in sorted order ({listed(order)}); else give labels"
            )
        else:
            _refuse_labels(name, codes, found, order or names, count)
    absent = sorted(set(range(count)) - {k for k in places if k is not None})
    if absent and count > 2:
        never = listed([str(order[k]) for k in absent], 5) if order else str(absent)
        notes.append(f"{name}: never happened: {never}")
    values_of = np.array([*(np.nan if k is None else float(k) for k in places), np.nan])
    assert order is not None
    return Outcomes(values_of[codes], order, notes, np.zeros(len(column), dtype=bool))


def _candidates(order: list[Any] | None, names: list[str] | None) -> list[list[Any]]:
    if order is not None:
        return [order]
    if names is None:
        return []
    bare = without_common(names)
    return [names] if bare == names else [names, bare]


def without_common(names: Sequence[str]) -> list[str]:
    """Names without what they all begin and end with: p_home, p_tie, p_away -> home, tie, away.

    Examples
    --------
    >>> without_common(["p_home", "p_tie", "p_away"])
    ['home', 'tie', 'away']
    """
    front = os.path.commonprefix(list(names))
    rest = [name[len(front) :] for name in names]
    back = len(os.path.commonprefix([name[::-1] for name in rest]))
    bare = [name[: len(name) - back].strip(" _-.") for name in rest]
    return bare if all(bare) else list(names)


def _is_code(value: Any, count: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < count


def _refuse_labels(
    name: str, codes: NDArray[np.int64], found: list[Any], order: list[Any] | None, count: int
) -> None:
    if order is None:
        raise ValueError(
            f"{name} must be whole numbers from 0 to {count - 1} or {count} names, got "
            f"{len(found)} ({listed([repr(v) for v in found], 5)}): give labels in the order "
            "of the probability columns"
        )
    k = next(k for k, value in enumerate(found) if place_of(value, order) is None)
    at = int(np.flatnonzero(codes == k)[0])
    raise ValueError(
        f"{name} must be one of the labels ({listed(order)}), got {found[k]!r} at position {at}: "
        "give labels in the order of the probability columns"
    )


def _of_columns(name: str, values: Any, count: int, order: list[Any] | None) -> Outcomes:
    """Outcomes of one column a class that holds 1 where it happened."""
    columns = columns_of(values)
    table = table_of(name, values)
    if table.shape[1] != count:
        checks.refuse_shape(name, f"(n,) or (n, {count})", table)
    if table.dtype.kind == "O":
        checks.refuse(name, "be 0 and 1, one column a class", table[0].tolist())
    gone = np.isnan(table).any(axis=1)
    odd = ~gone & ~(((table == 0) | (table == 1)).all(axis=1) & (table.sum(axis=1) == 1))
    notes = []
    if 2 * odd.sum() > (~gone).sum() or (table[odd] < 0).any() or (table[odd] > 1).any():
        checks.refuse_at(name, "have one 1 a row, the rest 0", table, odd)
    if odd.any():
        many = int(odd.sum())
        notes.append(f"{name}: {counted(many, 'row')} without exactly one class left out")
    codes = np.where(gone | odd, np.nan, table.argmax(axis=1).astype(np.float64))
    names = order or (list(columns) if columns is not None else list(range(count)))
    return Outcomes(codes, names, notes, odd)

"""Frames through a bank: which column says what, rows in order of time, forecasts as columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.amounts import counted
from fullswap.base.protocols import Indices, Vector
from fullswap.base.records import Record
from fullswap.forecasting.bank_rows import RowKeys
from fullswap.forecasting.contexts import Labels
from fullswap.inputs.codes import codes_of, joined_codes, reordered_codes
from fullswap.inputs.columns import Column, column_of
from fullswap.inputs.frames import Columns, columns_of, narwhals_of, pick
from fullswap.inputs.moments import moments
from fullswap.inputs.probabilities import probabilities
from fullswap.online.spec import Spec

ADDED = ("issued", "mean")
"""Columns of the answer, beside those that were given."""


@dataclass(frozen=True)
class Roles:
    """Names of columns by what they say; None where there is none."""

    key: Any = None
    time: Any = None
    probability: Any = None
    outcome: Any = None
    weight: Any = None
    event: Any = None
    known: Any = None
    groups: Any = None


@dataclass(frozen=True)
class FrameRows:
    """The rows of a frame, oldest first, as ``Bank.run`` reads arrays."""

    frame: Any
    """As it was given; a lazy one collected."""
    order: Indices | None
    """Its rows in order of time; None where they are."""
    keys: RowKeys
    columns: tuple[Any, ...]
    """Probabilities, if models have any, and outcomes."""
    weight: Vector | None
    event: list[Any] | None
    known: Any
    groups: Any

    def answer(self, record: Record, labels: Labels | None) -> Any:
        """The frame with what was issued and its mean, each row where it was."""
        added: dict[str, Any] = {}
        for name, values in zip(ADDED, (record.issued, record.mean), strict=True):
            back = values
            if self.order is not None:
                back = np.empty_like(values)
                back[self.order] = values
            added |= {name: back} if back.ndim == 1 else _by_class(name, back, labels)
        if isinstance(self.frame, Mapping):
            return {**self.frame, **added}
        nw = narwhals_of()
        frame = nw.from_native(self.frame, eager_only=True)
        backend = nw.get_native_namespace(frame)
        more = [nw.new_series(name, values, backend=backend) for name, values in added.items()]
        return frame.with_columns(*more).to_native()


def _by_class(name: str, values: Any, labels: Labels | None) -> dict[str, Any]:
    names = range(values.shape[1]) if labels is None else labels
    return {f"{name}_{label}": np.ascontiguousarray(values[:, k]) for k, label in enumerate(names)}


def frame_of(value: Any) -> tuple[Any, Columns] | None:
    """A frame, collected if it was lazy, and its columns; None if this is none."""
    if isinstance(value, Mapping):
        return value, {str(name): column for name, column in value.items()}
    if isinstance(value, np.ndarray) and value.dtype.names:
        own = {name: value[name] for name in value.dtype.names}
        return own, own
    home = type(value).__module__.split(".")[0]
    if home == "pyarrow" and hasattr(value, "schema"):
        import pyarrow as pa

        value = pa.Table.from_batches([value]) if isinstance(value, pa.RecordBatch) else value
    elif hasattr(type(value), "columns") and hasattr(value, "collect"):
        value = value.collect()
    columns = columns_of(value)
    return None if columns is None else (value, columns)


def read_frame(
    frame: Any, columns: Columns, roles: Roles, spec: Spec, labels: Labels | None, record: bool
) -> FrameRows:
    """The columns by their roles, checked as far as names and missing values go."""
    for role in ("key", "outcome", *(("probability",) if spec.models else ())):
        if getattr(roles, role) is None:
            rule = "be named where a frame is given"
            checks.refuse(role, f"{rule}: its columns are {', '.join(columns)}", None)
    if not spec.models and roles.probability is not None:
        rule = "be left out: this forecaster takes outcomes alone"
        checks.refuse("probability", rule, roles.probability)
    wide = {f"{name}_" for name in ADDED} if spec.classes > 2 else set()
    for name in columns:
        taken = name in ADDED or any(name.startswith(start) for start in wide)
        if record and taken:
            raise ValueError(
                f"frame must have no column named {name!r}, which the answer has: rename it"
            )
    keys = _keys(columns, roles.key)
    total = len(keys)
    clock, order = _clock(columns, roles.time)

    def in_order(values: Any) -> Any:
        return values if order is None else values[order]

    def read(role: str, name: Any) -> Column:
        column = column_of(role, pick(columns, role, name))
        checks.same_length(f"{role} (column {name!r})", column, "key", total)
        return Column(column.kind, in_order(column.values))

    if order is not None:
        checks.same_length(f"time (column {roles.time!r})", order, "key", len(keys))
        keys = RowKeys(*reordered_codes(keys.codes, keys.distinct, order))
    outcomes, absent = _outcomes(read, roles.outcome)
    given: tuple[Any, ...] = (outcomes,)
    if spec.models:
        given = _probabilities(read, roles.probability, spec), outcomes
    return FrameRows(
        frame, order, keys, given,
        None if roles.weight is None else _numbers("weight", read("weight", roles.weight)),
        None if roles.event is None else _names(read("event", roles.event)),
        _known(columns, roles.known, clock, order, absent, total),
        _groups(columns, roles.groups, order),
    )  # fmt: skip


def _keys(columns: Columns, names: Any) -> RowKeys:
    """One column, or tuples of several."""
    several = isinstance(names, list | tuple)
    if several and not names:
        checks.refuse("key", "be the name of a column, or several", names)
    parts = [codes_of(f"key (column {name!r})", pick(columns, "key", name))
             for name in (names if several else [names])]  # fmt: skip
    lengths = {len(codes) for codes, _ in parts}
    if len(lengths) > 1:
        raise ValueError(f"key must have columns of one length, got {sorted(lengths)}")
    return RowKeys(*(joined_codes(parts) if several else parts[0]))


def _groups(columns: Columns, names: Any, order: Indices | None) -> Columns | None:
    """The columns whose values are groups, in order of time."""
    if names is None:
        return None
    own = names if isinstance(names, list | tuple) else [names]
    if not own:
        checks.refuse("groups", "be the name of a column, or several", names)
    picked = {str(name): pick(columns, "groups", name) for name in own}
    if order is None:
        return picked
    return {name: _taken(values, order) for name, values in picked.items()}


def _taken(values: Any, order: Indices) -> list[Any]:
    """The values of a column in another order, as plain ones."""
    listing = (getattr(values, way, None) for way in ("to_list", "tolist", "to_pylist"))
    own = next((way() for way in listing if way is not None), values)
    return [own[k] for k in order.tolist()]


def _clock(columns: Columns, name: Any) -> tuple[Any, Indices | None]:
    """Moments in their order, and the rows in that order; None where they are in it."""
    if name is None:
        return None, None
    times = moments(f"time (column {name!r})", pick(columns, "time", name))
    if bool((times[1:] >= times[:-1]).all()):
        return times, None
    order = np.argsort(times, kind="stable")
    return times[order], order


def _outcomes(read: Any, names: Any) -> tuple[Any, Any]:
    """Values as the pattern reads them, and which of them are missing."""
    if isinstance(names, list | tuple):
        table = np.column_stack([_numbers("outcome", read("outcome", name)) for name in names])
        return table, np.isnan(table).any(axis=1)
    column = read("outcome", names)
    missing = column.missing
    values = column.values
    if column.kind == "text" and missing.any():
        values = np.where(missing, None, values)
    return values, missing


def _probabilities(read: Any, names: Any, spec: Spec) -> Any:
    """Shape (T,), (T, models), (T, K) or (T, models, K)."""

    def table(own: Any) -> Any:
        if isinstance(own, list | tuple):
            return np.stack([table(name) for name in own], axis=1)
        column = read("probability", own)
        numbers = _numbers("probability", column)
        gone = np.isnan(numbers)
        if spec.models == 1 and gone.any():
            raise ValueError(
                f"probability must be given for every row, got {counted(int(gone.sum()), 'row')} "
                f"without in column {own!r}"
            )
        return numbers

    shape = (spec.models, spec.classes) if spec.classes > 2 else (spec.models,)
    wanted = [size for size in shape if size > 1]
    own = names
    if not wanted and isinstance(names, list | tuple) and len(names) == 1:
        own = names[0]
    held = np.shape(own) if isinstance(own, list | tuple) else ()
    if list(held) != wanted:
        words = " lists of ".join(str(size) for size in wanted)
        rule = f"be {words} names of columns" if wanted else "be the name of one column"
        checks.refuse("probability", rule, names)
    return table(own)


def _numbers(role: str, column: Column) -> Vector:
    if column.kind == "time":
        checks.refuse(role, "be numbers, not times", str(column.values[:1]))
    numbers = column.floats()
    return probabilities(role, column.values, percent=False)[0] if numbers is None else numbers


def _names(column: Column) -> list[Any]:
    if column.kind == "time":
        return [None if word == "NaT" else word for word in np.datetime_as_string(column.values)]
    return list(column.values.tolist())


def _known(
    columns: Columns, name: Any, clock: Any, order: Indices | None, absent: Any, total: int
) -> Any:
    """How many rows have been forecast when outcomes are known; None: each before the next row."""
    at_once = np.arange(1, total + 1)
    if name is None:
        return at_once if absent.any() else None
    given = pick(columns, "known", name)
    if clock is None:
        rows = _numbers("known", column_of("known", given))
        return np.where(np.isnan(rows), total + 1, rows)
    due = moments(f"known (column {name!r})", given, missing=True)
    due = due if order is None else due[order]
    if (due.dtype.kind == "M") != (clock.dtype.kind == "M"):
        checks.refuse("known", "be moments of the same sort as time", name)
    never = np.isnat(due) if due.dtype.kind == "M" else np.isnan(due)
    rows = np.maximum(np.searchsorted(clock, due, side="right"), at_once)
    return np.where(never, total + 1, rows)

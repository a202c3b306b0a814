"""Columns of a log read the same way from its first row to its last, in whatever parts it comes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base import checks
from fullswap.base.protocols import Vector
from fullswap.inputs import given as roles
from fullswap.inputs.columns import column_of
from fullswap.inputs.frames import columns_of, pick
from fullswap.inputs.memberships import groups_of_column
from fullswap.inputs.moments import moments
from fullswap.inputs.outcomes import distinct, outcomes, same_label
from fullswap.inputs.pairs import read_pair
from fullswap.inputs.probabilities import probabilities
from fullswap.inputs.rows import weights
from fullswap.inputs.sources import arrow
from fullswap.inputs.typed import typed
from fullswap.online.spec import MOST_GROUPS

DAY = 86_400_000_000.0
"""Microseconds of a day."""
MISSING = "(missing)"
"""The key of rows without one."""


@dataclass
class Rows:
    """Rows of a log, in the order in which they are replayed."""

    y: Vector
    """1 yes, 0 no, or the number of the class; NaN where pending, shape (n,)."""
    p: NDArray[np.float64] | None
    """Shape (n,), (n, models) or (n, K); NaN where absent."""
    has: NDArray[np.bool_]
    """Whether there is something to forecast, shape (n,)."""
    time: Vector | None = None
    resolved: Vector | None = None
    """Moments as numbers; NaN where none is given."""
    keys: list[str] | None = None
    events: list[Any] | None = None
    """Names of events; None where a row is an event of its own."""
    weight: Vector | None = None
    groups: list[tuple[str, ...]] | None = None
    """Names of the groups of each row; None where there are none at all."""

    def __len__(self) -> int:
        return len(self.y)

    def taken(self, order: Any) -> Rows:
        """The same rows in this order."""

        def own(values: Any) -> Any:
            if isinstance(values, list):
                return [values[k] for k in order]
            return None if values is None else values[order]

        return Rows(*(own(getattr(self, name)) for name in self.__dataclass_fields__))


@dataclass(frozen=True)
class Reading:
    """Which column is what, and how its values are read."""

    y: Any
    """The column of outcomes, or one a class."""
    p: list[str]
    """Columns of the models' probabilities, or of the classes; empty: no model."""
    labels: list[Any]
    pos_label: Any = None
    is_classes: bool = False
    """Whether ``p`` has one column a class, not one a model."""
    percent: list[bool] = field(default_factory=list)
    """Of each column of ``p``."""
    time: str | None = None
    resolved: str | None = None
    event: list[str] = field(default_factory=list)
    key: str | None = None
    weight: str | None = None
    dates: bool = False
    """Whether moments are dates, not numbers."""
    groups: list[str] = field(default_factory=list)
    """Columns of groups: a row belongs to "column=value" for each of them."""

    @property
    def classes(self) -> int:
        """2 for yes or no."""
        return max(len(self.labels), 2)

    @property
    def models(self) -> int:
        """How many models there are; 0 without any."""
        return len(self.p) if not self.is_classes else 1

    @property
    def later(self) -> set[str]:
        """Columns that are filled in after the forecast was made."""
        own = set(self.y) if isinstance(self.y, list) else {self.y}
        return own | ({self.resolved} if self.resolved else set())

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        plain["labels"] = [v if isinstance(v, str | int) else str(v) for v in self.labels]
        return plain

    # --- rows -----------------------------------------------------------------------------------

    def rows(self, table: Any, comma: bool = False) -> Rows:
        """Rows of an Arrow table whose columns are as they were written."""
        columns = plain_columns(table, self._numeric(), comma)
        y, absent = self._outcomes(columns)
        p = self._probabilities(columns)
        has = ~absent
        if p is not None:
            gone = np.isnan(p)
            has &= ~(gone if p.ndim == 1 else gone.any(1) if self.is_classes else gone.all(1))
        time = self._moments(columns, self.time, missing=False)
        resolved = self._moments(columns, self.resolved, missing=True)
        keys = None if self.key is None else _texts(columns, "key", self.key)
        weight = None
        if self.weight is not None:
            name = self.weight
            weight = weights(f"column {name}", pick(columns, "sample_weight", name))
        events, groups = self._events(columns), self._groups(columns)
        return Rows(y, p, has, time, resolved, keys, events, weight, groups)

    def _numeric(self) -> list[str]:
        """Columns that may hold numbers."""
        y = self.y if isinstance(self.y, list) else [self.y]
        return [name for name in (*y, *self.p, self.time, self.resolved, self.weight) if name]

    def _outcomes(self, columns: dict[str, Any]) -> tuple[Vector, NDArray[np.bool_]]:
        name = f"column {self.y}"
        if isinstance(self.y, list):
            name = f"columns {', '.join(self.y)}"
            values: Any = {own: pick(columns, "y", own) for own in self.y}
        else:
            values = pick(columns, "y", self.y)
        if self.pos_label is not None:
            codes, found = distinct(column_of(name, values), [self.pos_label])
            meant = [float(same_label(value, self.pos_label)) for value in found]
            return np.array([*meant, np.nan])[codes], np.zeros(len(codes), dtype=bool)
        if self.labels == [0, 1]:  # also reads outcomes that are neither
            read = outcomes(name, values)
        else:
            many: Any = self.p if self.is_classes else self.classes
            many = many if self.classes > 2 else None
            read = outcomes(name, values, labels=self.labels, classes=many)
        return read.codes, read.absent

    def _probabilities(self, columns: dict[str, Any]) -> NDArray[np.float64] | None:
        if not self.p:
            return None
        given = {name: pick(columns, "p", name) for name in self.p}
        if self.is_classes:
            read, _ = probabilities(f"columns {', '.join(self.p)}", given, percent=self.percent[0])
            return read
        parts = [
            probabilities(f"column {name}", values, percent=percent)[0]
            for (name, values), percent in zip(given.items(), self.percent, strict=True)
        ]
        return parts[0] if len(parts) == 1 else np.column_stack(parts)

    def _moments(self, columns: dict[str, Any], name: str | None, missing: bool) -> Vector | None:
        if name is None:
            return None
        role = "resolved" if missing else "time"
        found = moments(f"column {name}", pick(columns, role, name), missing=missing)
        known = ~(np.isnat(found) if found.dtype.kind == "M" else np.isnan(found))
        if known.any() and (found.dtype.kind == "M") != self.dates:
            what = "dates" if self.dates else "numbers"
            checks.refuse(role, f"hold {what} as the other moments do", f"column {name}")
        if found.dtype.kind != "M":
            return found.astype(np.float64)
        micros = found.astype("datetime64[us]").astype(np.int64).astype(np.float64)
        if missing:  # a day without a time of day is over at its end
            micros = np.where(micros % DAY == 0, micros + (DAY - 1), micros)
        return np.where(known, micros, np.nan)

    def _events(self, columns: dict[str, Any]) -> list[Any] | None:
        if not self.event:
            return None
        parts = [_texts(columns, "event", name) for name in self.event]
        return [None if MISSING in name else name for name in zip(*parts, strict=True)]

    def _groups(self, columns: dict[str, Any]) -> list[tuple[str, ...]] | None:
        if not self.groups:
            return None
        parts = [_group_names(columns, name) for name in self.groups]
        return [tuple(name for name in row if name) for row in zip(*parts, strict=True)]


def plain_columns(table: Any, numeric: list[str], comma: bool) -> dict[str, Any]:
    """Columns by name; those of numbers, written as texts, made numbers."""
    columns = columns_of(table)
    assert columns is not None
    return {
        name: typed(column, comma) if name in numeric else column
        for name, column in columns.items()
    }


def _texts(columns: dict[str, Any], role: str, name: str) -> list[str]:
    """Names as texts, so that they are the same whatever the rest of a column holds."""
    column = pick(columns, role, name).cast(arrow().string()).to_pylist()
    return [MISSING if value is None or not str(value).strip() else str(value) for value in column]


def _group_names(columns: dict[str, Any], name: str) -> list[str]:
    """The group of each row in one column; "" where a value is missing."""
    codes, called = groups_of_column(name, pick(columns, "groups", name))
    if len(called) > MOST_GROUPS:
        rule = f"name columns of at most {MOST_GROUPS:,} different values (cut numbers into bands)"
        checks.refuse("groups", rule, f"{len(called):,} in {name}")
    called.append("")  # for code −1
    return [called[code] for code in codes.tolist()]


def reading_of(
    columns: dict[str, Any], named: dict[str, Any], pos_label: Any
) -> tuple[Reading, list[str]]:
    """How the columns that have a role are read, told from the first rows; and notes."""
    y, p, classes = named["y"], named.get("p"), named.get("classes")
    event = named.get("event") or []
    others: dict[str, Any] = {
        "time": named.get("time"), "resolved": named.get("resolved"), "key": named.get("key"),
        "event": [event] if isinstance(event, str) else list(event),
        "weight": named.get("sample_weight"), "pos_label": pos_label,
        "groups": list(named.get("groups") or []),
    }  # fmt: skip
    for role in ("time", "resolved", "key"):
        if others[role] is not None:
            pick(columns, role, others[role])
    for name in others["groups"]:
        pick(columns, "groups", name)
    if others["time"] is not None:
        sample = moments(f"column {others['time']}", pick(columns, "time", others["time"]))
        others["dates"] = sample.dtype.kind == "M"
    if p is None and classes is None:
        return _alone(columns, y, others, pos_label)
    given = roles.from_frame(columns, y, p, classes, None, None, None, None, None)
    pair = read_pair(given, pos_label, None)
    if pair.models:
        names, read = list(given.models), pair.models
        shares = [_is_percent(given.models[name], read.get(name)) for name in names]
        return Reading(y, names, pair.labels, percent=shares, **others), pair.notes
    many = isinstance(given.probability, dict)
    names = list(given.probability) if many else [str(given.names["p"])]
    raw = next(iter(given.probability.values())) if many else given.probability
    assert pair.p is not None
    first = pair.p if pair.p.ndim == 1 else pair.p[:, 0]
    share = _is_percent(raw, first if not many or pair.p.ndim == 2 else 1 - first)
    return Reading(y, names, pair.labels, is_classes=many, percent=[share] * len(names),
                   **others), pair.notes  # fmt: skip


def _alone(
    columns: dict[str, Any], y: Any, others: dict[str, Any], pos_label: Any
) -> tuple[Reading, list[str]]:
    """Outcomes without a model."""
    note = "no column of probabilities: forecast from the outcomes alone"
    if isinstance(y, list):
        return Reading(y, [], list(y), **others), [note]
    column = column_of(f"column {y}", pick(columns, "y", y))
    try:
        read = outcomes(f"column {y}", column, pos_label)
        return Reading(y, [], read.labels, **others), [*read.notes, note]
    except ValueError:
        labels = distinct(column)[1]
        if len(labels) <= 2:
            raise
        labels = sorted(labels, key=lambda v: (isinstance(v, str), v))
        return Reading(y, [], labels, **others), [note, f"classes: {', '.join(map(str, labels))}"]


def _is_percent(raw: Any, read: Any) -> bool:
    """Whether a column was read as percent."""
    numbers = column_of("p", raw).floats()
    if numbers is None or read is None:  # texts such as 45 %; or none at all
        return numbers is None
    both = ~np.isnan(numbers) & ~np.isnan(read) & (read > 0)
    return bool(both.any()) and bool(numbers[both].max() > 10 * read[both].max())

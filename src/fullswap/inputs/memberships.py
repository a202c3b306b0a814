"""Which groups each event belongs to, from every form in which people have it.

A form is read as pairs (event, group), and pairs become one canonical table: the groups of event
t are ``members[starts[t] : starts[t + 1]]``, each once and in rising order.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base import checks
from fullswap.base.keys import event_name
from fullswap.base.protocols import Indices
from fullswap.inputs.codes import codes_of
from fullswap.inputs.columns import SERIES_HOMES, factorise, is_missing
from fullswap.inputs.frames import columns_of, listed
from fullswap.inputs.group_names import group_name

MOST_IN_EVENT = 128
"""So many groups one event may belong to."""
_FORMS = "be names or lists of names, one for each event, a table of 0 and 1, or a frame of columns"


@dataclass(frozen=True, eq=False)
class Memberships:
    """Events and their groups.

    Attributes
    ----------
    names
        The groups, in the order in which they were first met or as they were given.
    starts
        Where the groups of each event begin, shape (T + 1,).
    members
        Numbers of groups, event after event; within an event they rise.
    """

    names: tuple[Any, ...]
    starts: Indices
    members: Indices

    def __len__(self) -> int:
        """How many events there are."""
        return len(self.starts) - 1

    @property
    def events(self) -> Indices:
        """The event of each entry of ``members``."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def taken(self, events: Indices) -> Memberships:
        """The same of these events, in this order."""
        sizes = np.diff(self.starts)[events]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        shift = np.repeat(self.starts[:-1][events] - starts[:-1], sizes)
        return Memberships(self.names, starts, self.members[np.arange(starts[-1]) + shift])

    def rows(self) -> list[Indices]:
        """The events of each group, in order."""
        order = np.argsort(self.members, kind="stable")
        ends = np.searchsorted(self.members[order], np.arange(1, len(self.names)))
        return np.split(self.events[order], ends) if self.names else []


@dataclass(frozen=True, eq=False)
class _Pairs:
    """An event and a number of a name each; −1 for none. Names come in order of appearance."""

    events: Indices
    codes: Indices
    names: list[Any]


def memberships_of(groups: Any, events: int, known: Sequence[Any] | None = None) -> Memberships:
    """The groups of every event.

    Parameters
    ----------
    groups
        One of: a sequence of names for each event (or None, or one name: outside lists a tuple is
        a sequence of names, within them it is a name); a frame or dict of columns, where each row
        belongs to ``"column=value"`` for every column, as `group_name` writes it (3.0 is 3); an
        array or sparse matrix of 0 and 1, shape (T, G). None, NaN and the empty text stand for no
        group, in columns blank texts too.
    events
        How many events there are (T).
    known
        All names that there may be, which are the columns of a table too. Without them a name is a
        group when it is first met, and the columns of a table are called 0, 1, 2, ….

    Examples
    --------
    >>> found = memberships_of([["north", "night"], [], ["night"]], 3)
    >>> found.names, found.starts.tolist(), found.members.tolist()
    (('north', 'night'), [0, 2, 2, 3], [0, 1, 1])
    >>> memberships_of({"region": ["n", None, "s"]}, 3).names
    ('region=n', 'region=s')
    """
    own = None if known is None else tuple(known)
    if own is not None and len(set(own)) < len(own):
        checks.refuse("known", "have every name once", known)
    if groups is None:
        nothing = np.zeros(0, dtype=np.int64)
        return _table(_Pairs(nothing, nothing, []), events, own)
    if hasattr(groups, "tocsr"):
        return _of_sparse(groups, events, own)
    columns = columns_of(groups)
    if columns is not None:
        return _table(_of_columns(columns, events), events, own)
    if isinstance(groups, np.ndarray) and groups.ndim == 2:
        switches = _switches(groups)
        if switches is not None:
            return _of_switches(switches, events, own)
        groups = groups.tolist()
    return _table(_of_names(groups, events), events, own)


# --- forms --------------------------------------------------------------------------------------


def _of_names(groups: Any, events: int) -> _Pairs:
    """One name, or a sequence of them, for each event."""
    if isinstance(groups, str | bytes | Set) or not hasattr(groups, "__len__"):
        checks.refuse("groups", _FORMS, groups)
    if isinstance(groups, np.ndarray) and groups.ndim != 1:
        checks.refuse_shape("groups", f"({events},) or ({events}, G)", groups)
    checks.same_length("groups", groups, "the events", events)
    if _is_plain_column(groups):
        codes, names = _coded("groups", groups)
        return _Pairs(np.arange(events), codes, _checked(names, codes))
    items = _as_list(groups)
    kinds = set(map(type, items))
    if not any(_is_sequence(kind) for kind in kinds):
        codes, names = _factorised(items)
        return _Pairs(np.arange(events), codes, _checked(names, codes))
    rows = items if kinds <= {list, tuple} else [_row(item) for item in items]
    sizes = np.fromiter(map(len, rows), np.int64, len(rows))
    codes, names = _factorised(list(itertools.chain.from_iterable(rows)))
    owners = np.repeat(np.arange(events), sizes)
    return _Pairs(owners, codes, _checked(names, codes, owners))


def _of_columns(columns: dict[str, Any], events: int) -> _Pairs:
    """Every row belongs to "column=value" for each of these columns."""
    if not columns:
        checks.refuse("groups", "have at least one column", columns)
    names: list[Any] = []
    codes = np.full((events, len(columns)), -1, dtype=np.int64)
    for k, (column, values) in enumerate(columns.items()):
        role = _role(column)
        if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
            checks.refuse(role, "be a column of values", values)
        checks.same_length(role, values, "the events", events)
        own, called = groups_of_column(column, values)
        codes[:, k] = np.where(own < 0, -1, own + len(names))
        names += called
    flat = codes.ravel()
    # numbered as they come, row by row, as if they had been given as lists of names
    first = np.full(len(names) + 1, flat.size, dtype=np.int64)
    for k in range(len(columns)):
        np.minimum.at(first, codes[:, k], np.arange(events) * len(columns) + k)
    order = np.argsort(first[:-1], kind="stable")
    order = order[first[order] < flat.size]
    place = np.full(len(names) + 1, -1, dtype=np.int64)
    place[order] = np.arange(len(order))
    rows = np.repeat(np.arange(events), len(columns))
    return _Pairs(rows, place[flat], [names[k] for k in order.tolist()])


def groups_of_column(column: Any, values: Any) -> tuple[Indices, list[str]]:
    """The group of each row in one column, −1 for none; and the names of these groups.

    Names are those of `group_name`, in order of appearance and each once.

    Examples
    --------
    >>> codes, names = groups_of_column("hour", [2.0, None, "2 ", 7])
    >>> codes.tolist(), names
    ([0, -1, 0, 1], ['hour=2', 'hour=7'])
    """
    own, distinct = _coded(_role(column), values)
    narrow = _narrow_type(values)
    if narrow is not None:  # the shortest text of their own type, not of the wider one
        distinct = [narrow(value) for value in distinct]
    called = [group_name(column, value) for value in distinct]
    numbers = {name: k for k, name in enumerate(n for n in dict.fromkeys(called) if n is not None)}
    places = np.array([-1 if name is None else numbers[name] for name in called] + [-1], np.int64)
    return places[own], list(numbers)


def _role(column: Any) -> str:
    return f"column {column!r} of groups"


def _narrow_type(values: Any) -> Any:
    """The type of numbers that are shorter than Python's, None for others."""
    kind = str(getattr(values, "dtype", getattr(values, "type", ""))).lower()
    if kind in ("float32", "float"):  # as numpy, pandas and polars say; Arrow
        return np.float32
    return np.float16 if kind in ("float16", "halffloat") else None


def _switches(table: NDArray[Any]) -> NDArray[np.float64] | None:
    """A table of numbers, None if these are names."""
    if table.dtype.kind in "biuf":
        return table.astype(np.float64, copy=False)
    plain = table.dtype.kind == "O" and table.size > 0
    if plain and set(map(type, table.ravel().tolist())) <= {bool, int, float}:
        return table.astype(np.float64)
    return None


def _of_switches(table: NDArray[np.float64], events: int, known: Any) -> Memberships:
    names = _column_names(table.shape, events, known)
    bad = (table != 0) & (table != 1)
    checks.refuse_at("groups", "hold 0 and 1 where it is a table", table, bad)
    rows, columns = np.nonzero(table)
    return _canonical(rows.astype(np.int64), columns.astype(np.int64), events, names)


def _of_sparse(table: Any, events: int, known: Any) -> Memberships:
    names = _column_names(table.shape, events, known)
    rows = table.tocsr()
    values = np.asarray(rows.data, dtype=np.float64)
    checks.refuse_at(
        "groups", "hold 0 and 1 where it is a table", values, (values != 0) & (values != 1)
    )
    owners = np.repeat(np.arange(events), np.diff(rows.indptr))
    keep = values != 0
    return _canonical(owners[keep], rows.indices[keep].astype(np.int64), events, names)


def _column_names(shape: tuple[int, ...], events: int, known: Any) -> tuple[Any, ...]:
    wanted = "G" if known is None else len(known)
    if len(shape) != 2 or shape[0] != events or (known is not None and shape[1] != len(known)):
        raise ValueError(f"groups must have shape ({events}, {wanted}), got {tuple(shape)}")
    return tuple(range(shape[1])) if known is None else known


# --- names --------------------------------------------------------------------------------------


def _is_sequence(kind: type) -> bool:
    return issubclass(kind, Sequence | Set | np.ndarray) and not issubclass(kind, str | bytes)


def _row(item: Any) -> Sequence[Any]:
    """The names of one event."""
    if isinstance(item, np.ndarray):
        return list(np.atleast_1d(item).tolist())
    if isinstance(item, Set):
        return sorted(item, key=repr)  # sets have no order, and numbers of groups need one
    return item if _is_sequence(type(item)) else (item,)


def _as_list(values: Any) -> list[Any]:
    if isinstance(values, np.ma.MaskedArray | np.ndarray):
        return values.tolist()  # type: ignore[no-any-return]
    for method in ("to_list", "tolist", "to_pylist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)


def _is_plain_column(values: Any) -> bool:
    """Whether its kind says that it holds one value for each event."""
    home = type(values).__module__.split(".")[0]
    if isinstance(values, np.ndarray):
        return values.dtype.kind != "O" and not isinstance(values, np.ma.MaskedArray)
    kind = str(getattr(values, "dtype", getattr(values, "type", ""))).lower()
    nested = ("object", "list", "array", "struct")
    return home in SERIES_HOMES and not kind.startswith(nested) and "list<" not in kind


def _coded(role: str, values: Any) -> tuple[Indices, list[Any]]:
    """Codes in order of appearance, −1 where a value is missing; and the distinct values."""
    home = type(values).__module__.split(".")[0]
    if isinstance(values, np.ndarray) and values.ndim != 1:
        checks.refuse_shape(role, "(n,)", values)
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        codes, moments = codes_of(role, values.astype(np.int64))
        return codes, np.array(moments, "int64").view(values.dtype).astype("M8[us]").tolist()
    if not _is_plain_column(values):
        return _factorised(_as_list(values), role)
    if home == "narwhals":
        return _coded(role, values.to_native())
    if home == "pandas":
        numbers, distinct = values.factorize()
        return numbers.astype(np.int64), distinct.tolist()
    if home not in ("polars", "pyarrow"):
        return codes_of(role, values)
    gone = values.is_null()
    gone = gone.to_numpy() if home == "polars" else np.array(gone.to_pylist(), dtype=bool)
    result = np.full(len(values), -1, dtype=np.int64)
    present = values.drop_nulls() if home == "polars" else values.drop_null()
    result[~gone], distinct = codes_of(role, present)
    return result, distinct


def _factorised(items: list[Any], role: str = "groups") -> tuple[Indices, list[Any]]:
    try:
        return factorise(items)
    except TypeError:  # a list or a dict where one name should be
        for t, item in enumerate(items):
            try:
                hash(item)
            except TypeError:
                rule = "be texts, numbers or tuples of such as names"
                raise ValueError(f"{role} must {rule}, got {item!r} at place {t}") from None
        raise


def _is_none(name: Any) -> bool:
    return is_missing(name) or (isinstance(name, str | bytes) and not name)


def _checked(names: list[Any], codes: Indices, events: Indices | None = None) -> list[Any]:
    """The names as plain Python values; None for those that stand for no group."""
    result: list[Any] = []
    for code, name in enumerate(names):
        try:
            result.append(None if _is_none(name) else event_name(name))
        except ValueError:
            place = int(np.argmax(codes == code))
            at = place if events is None else int(events[place])
            rule = "be texts, numbers or tuples of such as names"
            raise ValueError(f"groups must {rule}, got {name!r} in event {at}") from None
    return result


# --- the table ----------------------------------------------------------------------------------


def _table(pairs: _Pairs, events: int, known: tuple[Any, ...] | None) -> Memberships:
    numbers: dict[Any, int] = {name: k for k, name in enumerate(known or ())}
    place = np.full(len(pairs.names) + 1, -1, dtype=np.int64)  # the last is for code −1
    for code, name in enumerate(pairs.names):
        if name is None:
            continue
        if known is not None and name not in numbers:
            at = int(pairs.events[np.argmax(pairs.codes == code)])
            _refuse_unknown(name, at, known)
        place[code] = numbers.setdefault(name, len(numbers))
    members = place[pairs.codes]
    keep = members >= 0
    return _canonical(pairs.events[keep], members[keep], events, tuple(numbers))


def _refuse_unknown(name: Any, event: int, known: tuple[Any, ...]) -> None:
    hint = ""
    if isinstance(name, bool | int | float) and name in (0, 1):
        hint = ": give a table of 0 and 1 as an array"
    raise ValueError(
        f"groups must be among the known names ({listed(known)}), "
        f"got {name!r} in event {event}{hint}"
    )


def _canonical(rows: Indices, members: Indices, events: int, names: tuple[Any, ...]) -> Memberships:
    """Sorted by event and group, without repetition."""
    keys = rows * max(len(names), 1) + members
    if np.any(keys[1:] <= keys[:-1]):
        keys = np.sort(keys)
        keys = keys[np.concatenate([[True], keys[1:] > keys[:-1]])]
        rows, members = np.divmod(keys, max(len(names), 1))
    sizes = np.bincount(rows, minlength=events)
    if sizes.size and sizes.max() > MOST_IN_EVENT:
        raise ValueError(
            f"groups must name at most {MOST_IN_EVENT} groups in one event, "
            f"got {sizes.max()} in event {sizes.argmax()}"
        )
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Memberships(names, starts, np.ascontiguousarray(members, dtype=np.int64))

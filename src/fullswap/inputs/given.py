"""What the caller gave, sorted into roles: columns of a frame by name, or arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from fullswap.base import checks
from fullswap.inputs.frames import Columns, columns_of, listed, pick


@dataclass
class Given:
    """Raw columns by role, and what to call them."""

    outcome: Any
    """One column, or a dict of columns of 0 and 1."""
    probability: Any = None
    """One column, or a table of one column a class."""
    models: Columns = field(default_factory=dict)
    """Probability columns of forecasters that compete."""
    by: Columns = field(default_factory=dict)
    event: Columns = field(default_factory=dict)
    time: Any = None
    due: Any = None
    weight: Any = None
    others: Columns = field(default_factory=dict)
    """Columns of the frame that have no role."""
    names: dict[str, Any] = field(default_factory=dict)
    """Role -> name of the column or of the argument."""
    called: dict[str, str] = field(default_factory=dict)
    """Role -> what messages call it."""
    framed: bool = False


def from_arrays(
    y_true: Any, y_proba: Any, by: Any, time: Any, event: Any, sample_weight: Any, due: Any
) -> Given:
    """Roles of arrays, lists and Series."""
    given = Given(y_true, y_proba, by=_named("by", by), event=_named("event", event),
                  time=time, due=due, weight=sample_weight)  # fmt: skip
    arguments = {
        "y": (y_true, "y_true"), "p": (y_proba, "y_proba"), "time": (time, "time"),
        "due": (due, "due"), "sample_weight": (sample_weight, "sample_weight"),
    }  # fmt: skip
    for role, (value, argument) in arguments.items():
        if value is None:
            if role == "y":
                checks.refuse(argument, "be outcomes", value)
            continue
        if isinstance(value, str):
            raise ValueError(
                f"{argument} must be a column of values, got {value!r}: names of columns need the "
                "frame as first argument, check(frame, y=…, p=…)"
            )
        own = getattr(value, "name", None)
        given.names[role] = own if isinstance(own, str) and own else argument
        given.called[role] = argument
    columns = columns_of(y_proba)
    if columns is not None:
        given.names["p"] = list(columns)
    for role, many in (("by", given.by), ("event", given.event)):
        if many:
            given.names[role] = list(many)
    return given


def _named(role: str, value: Any) -> Columns:
    """Columns by name of a frame, of one Series, or of one array that is called by its role."""
    if value is None:
        return {}
    columns = columns_of(value)
    if columns is not None:
        return columns
    if isinstance(value, str) or (isinstance(value, list | tuple) and value
                                  and all(isinstance(v, str) for v in value)
                                  and role == "by" and len(set(value)) == len(value)):  # fmt: skip
        raise ValueError(
            f"{role} must be a column or a dict of columns, got {value!r}: names of columns need "
            "the frame as first argument, check(frame, y=…, p=…)"
        )
    own = getattr(value, "name", None)
    return {own if isinstance(own, str) and own else role: value}


def from_frame(
    columns: Columns,
    y: Any, p: Any, classes: Any, by: Any, time: Any, event: Any, sample_weight: Any, due: Any,
) -> Given:  # fmt: skip
    """Roles of the columns of a frame; a role may also be given as an array."""
    if not columns:
        raise ValueError("the frame must have columns, got none")
    if y is None or (p is None and (classes is None or classes is True)):
        missing = "y" if y is None else "p"
        what = "outcome" if y is None else "probability"
        raise ValueError(
            f"{missing} must name the {what} column, got None: columns are {listed(columns)}"
        )
    y, p, classes, by, event = (_listed_names(v, columns) for v in (y, p, classes, by, event))
    given = Given(None, framed=True)
    given.outcome = _role(given, columns, "y", y)
    if classes is True and not isinstance(p, str) and isinstance(p, Sequence):
        classes, p = p, None
    if classes is not None and classes is not False:
        if p is not None or not is_names(classes) or len(classes) < 2:
            checks.refuse("classes", "be names of two or more probability columns", classes)
        given.probability = {str(c): pick(columns, "classes", c) for c in classes}
        given.names["p"] = [str(c) for c in classes]
        given.called["p"] = f"columns {listed(classes, 4)}"
    else:
        value = _role(given, columns, "p", p)
        if is_names(p) and len(p) > 1:
            given.models = value
        else:
            given.probability = next(iter(value.values())) if is_names(p) else value
    given.time = _role(given, columns, "time", time)
    given.due = _role(given, columns, "due", due)
    given.weight = _role(given, columns, "sample_weight", sample_weight)
    for role, value in (("by", by), ("event", event)):
        if value is not None:
            names = [value] if isinstance(value, str) else value
            found = _role(given, columns, role, names)
            setattr(given, role, found if is_names(names) else _named(role, value))
            given.names[role] = list(getattr(given, role))
    used = {str(v) for held in given.names.values() for v in (held if isinstance(held, list)
                                                              else [held])}  # fmt: skip
    given.others = {key: value for key, value in columns.items() if key not in used}
    return given


def _listed_names(value: Any, columns: Columns) -> Any:
    """An array or index of names of columns, such as ``frame.columns[1:]``, as a list."""
    if isinstance(value, list | str) or not hasattr(value, "tolist"):
        return value
    items = value.tolist()
    return items if is_names(items) and all(name in columns for name in items) else value


def is_names(value: Any) -> bool:
    """Whether these are names of columns, one or more."""
    return (
        isinstance(value, Sequence) and not isinstance(value, str)
        and len(value) > 0 and all(isinstance(v, str) for v in value)
    )  # fmt: skip


def _role(given: Given, columns: Columns, role: str, value: Any) -> Any:
    """The column, or dict of columns, of this name or these; anything else is a column itself."""
    if value is None:
        return None
    if isinstance(value, str) or (isinstance(value, int) and str(value) in columns):
        given.names[role], given.called[role] = str(value), f"column {value}"
        return pick(columns, role, value)
    if is_names(value):
        given.names[role] = list(value) if len(value) > 1 else value[0]
        given.called[role] = (
            f"columns {listed(value, 4)}" if len(value) > 1 else f"column {value[0]}"
        )
        if len(value) == 1 and role not in ("p", "by", "event"):
            return pick(columns, role, value[0])
        return {name: pick(columns, role, name) for name in value}
    given.names[role] = given.called[role] = role
    return value

"""Tables of any kind as named columns, and the questions people get wrong about names."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

Columns = dict[str, Any]


def narwhals_of() -> Any:
    """The library that reads frames of every kind."""
    try:
        import narwhals.stable.v2 as nw
    except ImportError:
        raise ImportError("frames need narwhals: pip install 'fullswap[frames]'") from None
    return nw


def columns_of(value: Any) -> Columns | None:
    """The columns of a frame by name; None if this is no frame.

    A frame is one of pandas, polars (also a lazy one) or Arrow, a dict of columns, or an array
    with named fields.

    Examples
    --------
    >>> list(columns_of({"won": [1, 0], "prob": [0.7, 0.2]}))
    ['won', 'prob']
    >>> columns_of([0.7, 0.2]) is None
    True
    """
    if isinstance(value, Mapping):
        return {str(key): column for key, column in value.items()}
    if isinstance(value, np.ndarray) and value.dtype.names:
        return {key: value[key] for key in value.dtype.names}
    home = type(value).__module__.split(".")[0]
    if home == "pyarrow" and hasattr(value, "schema"):
        _refuse_twice(value.schema.names)
        return {key: value.column(key) for key in value.schema.names}
    if not hasattr(type(value), "columns") or home in ("numpy", "builtins"):
        return None
    nw = narwhals_of()
    try:
        frame = nw.from_native(value)
    except TypeError:
        return None
    except nw.exceptions.DuplicateError:
        _refuse_twice([str(key) for key in value.columns])
        raise
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    _refuse_twice([str(key) for key in frame.columns])
    return {str(key): frame.get_column(key).to_native() for key in frame.columns}


def _refuse_twice(names: list[str]) -> None:
    twice = [key for key, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(
            f"column names must differ, got {twice[0]!r} {names.count(twice[0])} times: "
            "rename or drop one of them"
        )


def pick(columns: Mapping[str, Any], role: str, name: Any) -> Any:
    """The column of this name, or an error that names those that exist.

    Examples
    --------
    >>> pick({"won": [1], "prob": [0.5]}, "p", "probs")
    Traceback (most recent call last):
    ValueError: p must name a column (won, prob), got 'probs': did you mean 'prob'?
    """
    key = name if isinstance(name, str) else str(name)
    if key in columns:
        return columns[key]
    near = nearest(key, columns)
    hint = f": did you mean {near!r}?" if near else ""
    raise ValueError(f"{role} must name a column ({listed(columns)}), got {name!r}{hint}")


def nearest(name: str, names: Collection[str]) -> str | None:
    """The name that looks most like this one, if any does."""
    small = {key.casefold().strip(): key for key in names}
    found = difflib.get_close_matches(name.casefold().strip(), list(small), n=1, cutoff=0.5)
    return small[found[0]] if found else None


def listed(names: Collection[Any], most: int = 12) -> str:
    """Names in one line, the first few of many."""
    shown = [str(name) for name in list(names)[:most]]
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")

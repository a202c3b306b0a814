"""What models say, as people give it -> checked arrays.

Texts, Series and frames are read by ``fullswap.inputs``, as ``check`` reads them; numbers above 1
are no percents here, because a stream has no later rows to judge them by.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base import checks
from fullswap.inputs.classes import without_common
from fullswap.inputs.columns import SERIES_HOMES
from fullswap.inputs.frames import columns_of
from fullswap.inputs.outcomes import place_of
from fullswap.inputs.probabilities import probabilities, table_of

Labels = tuple[Any, ...]
"""What the classes are called, in their order; for yes-or-no events (no, yes)."""


def is_series(values: Any) -> bool:
    """Whether this is a column or a frame of pandas, polars, Arrow and the like."""
    return type(values).__module__.split(".")[0] in SERIES_HOMES


def _numbers(name: str, values: Any, labels: Labels | None = None) -> NDArray[Any]:
    """Probabilities as an array: from Series and frames too, and texts such as "45%"."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return checks.numbers(name, values)
    if isinstance(values, str):
        return np.asarray(_numbers(name, [values])[0])
    if columns_of(values) is not None:
        return in_order(name, values, labels)
    if is_series(values):
        return _shares(name, table_of(name, values))
    array = np.asarray(values) if np.ndim(values) in (1, 2) else np.zeros(0)
    if array.dtype.kind == "U":
        return _shares(name, table_of(name, values))
    return checks.numbers(name, values)


def _shares(name: str, table: NDArray[Any]) -> NDArray[Any]:
    """Columns of texts as numbers, those with the sign % divided by 100."""
    if table.dtype.kind != "O":
        return table
    if table.ndim == 1:
        return probabilities(name, table, percent=False)[0]
    return np.column_stack([_shares(name, column) for column in table.T])


def in_order(name: str, frame: Any, labels: Labels | None) -> NDArray[Any]:
    """The numbers of a table; columns that have the names of the classes in the order of these."""
    columns = columns_of(frame)
    if columns is None:
        return checks.numbers(name, frame)
    for names in (list(columns), without_common(list(columns))):
        places = [place_of(column, labels or ()) for column in names]
        if None not in places and len(set(places)) == len(labels or ()) == len(places):
            order = np.argsort([place or 0 for place in places])
            return _shares(name, table_of(name, columns))[:, order]
    return _shares(name, table_of(name, columns))


def are_many(p: Any, models: int, vectors: bool) -> bool:
    """Whether these are the probabilities of many events, and not of one."""
    if isinstance(p, float | int | str):
        return False
    single = int(models > 1) + int(vectors)
    return columns_of(p) is not None or np.ndim(p) > single


def context_of(p: Any, models: int, classes: int) -> Any:
    """One event's probabilities: a number, or (models,) or (models, K); NaN where absent."""
    if isinstance(p, float) and models == 1 and classes == 2:  # the usual case, and quick
        if not 0.0 <= p <= 1.0:
            checks.refuse("p", "lie in [0, 1]", p)
        return p
    shape = (models,) if classes == 2 else (models, classes)
    array = _numbers("p", p).astype(float)
    if classes == 2 and array.ndim <= 1 and array.size == models:
        array = array.reshape(shape)
    elif models == 1 and array.shape == shape[1:]:
        array = array[None]
    if array.shape != shape:
        checks.refuse_shape("p", _shown(shape, models), array)
    return event_of(_checked(array[None], models, classes > 2), 0)


def event_of(contexts: Any, event: int) -> Any:
    """What comes with one of many events: a number if it is one."""
    if contexts is None:
        return None
    return float(contexts[event, 0]) if contexts.shape[1:] == (1,) else contexts[event]


def contexts_of(p: Any, models: int, classes: int, labels: Labels | None = None) -> Any:
    """Probabilities of many events, shape (T, models); of more than two classes (T, models, K)."""
    vectors = classes > 2
    shape = (models, classes) if vectors else (models,)
    array = _numbers("p", p, labels)
    if models == 1 and array.ndim and array.shape[1:] == shape[1:]:
        array = array[:, None]
    if array.ndim != 1 + len(shape) or array.shape[1:] != shape:
        checks.refuse_shape("p", _shown((-1, *shape), models).replace("-1", "T"), p)
    return _checked(np.ascontiguousarray(array, dtype=float), models, vectors)


def _shown(shape: tuple[int, ...], models: int) -> str:
    """The shape without the axis of a single model."""
    return str(shape if models > 1 else tuple(k for k in shape if k != 1))


def _checked(array: Any, models: int, vectors: bool) -> Any:
    given = array[:, 0] if models == 1 else array  # as the caller wrote it, for the message
    checks.unit("p", np.asarray(given[0] if len(given) == 1 else given), absent=models > 1)
    if models > 1:
        absent = np.isnan(array)
        if vectors:  # a model is absent if any of its entries is
            absent = absent.any(axis=2)
        alone = absent.all(axis=1)
        if alone.any():
            raise ValueError(
                f"p must have a model present, got only NaN in event {int(alone.argmax())}"
            )
    if not vectors:
        return array
    totals = array.sum(axis=2)
    wrong = np.abs(totals - 1) > checks.ROW_TOLERANCE  # not for NaN: absent
    checks.refuse_at("p", "sum to 1 over the classes", totals, wrong)
    return np.ascontiguousarray(array / totals[:, :, None])

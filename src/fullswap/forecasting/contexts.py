"""Checks of what models say: one probability an event, or one of each model, or one of each class.

A single model's axis may be left out. Of several models some may be absent, marked by NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.base.protocols import Points
from fullswap.forecasting.checks import as_numbers, check_unit


def as_context(p: Any, models: int, classes: int) -> Any:
    """One event's probabilities: a float, or shape (models,) or (models, K)."""
    if isinstance(p, float) and models == 1 and classes == 2:  # one number: no array needed
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"p must lie in [0, 1], got {p!r}")
        return p
    shape = _shape(models, classes)
    array = as_numbers("p", p).astype(float)
    if classes == 2 and array.ndim <= 1 and array.size == models:
        array = array.reshape(shape)
    elif models == 1 and array.shape == shape[1:]:
        array = array[None]
    if array.shape != shape:
        raise ValueError(f"p must have shape {_shown(shape, models)}, got {array.shape}")
    return _checked(array[None], models, classes)[0]


def as_contexts(p: Any, models: int, classes: int) -> Points:
    """Probabilities of many events, shape (T, models) or (T, models, K)."""
    shape = _shape(models, classes)
    array = as_numbers("p", p)
    if models == 1 and array.ndim and array.shape[1:] == shape[1:]:
        array = array[:, None]
    if array.ndim != 1 + len(shape) or array.shape[1:] != shape:
        wanted = _shown((-1, *shape), models).replace("-1", "T")
        raise ValueError(f"p must have shape {wanted}, got {np.shape(p)}")
    return _checked(np.ascontiguousarray(array, dtype=float), models, classes)


def _shape(models: int, classes: int) -> tuple[int, ...]:
    return (models,) if classes == 2 else (models, classes)


def _shown(shape: tuple[int, ...], models: int) -> str:
    """The shape without the axis of a single model."""
    if models > 1:
        return str(shape)
    return str(tuple(k for k in shape if k != 1))


def _checked(array: Points, models: int, classes: int) -> Points:
    check_unit("p", array, models > 1)
    absent: Any = np.isnan(array)
    if classes > 2:  # a model is absent if any of its entries is
        absent = absent.any(axis=2)
    alone = absent.all(axis=1)
    if alone.any():
        raise ValueError(
            f"p must have a model present, got only NaN in event {int(alone.argmax())}"
        )
    if classes == 2:
        return array
    totals = array.sum(axis=2)
    wrong = np.abs(totals - 1) > 1e-6  # not for NaN: absent
    if wrong.any():
        at = tuple(int(k) for k in np.unravel_index(int(wrong.argmax()), wrong.shape))
        raise ValueError(f"p must sum to 1 over the classes, got {totals[at]} at position {at}")
    return np.ascontiguousarray(array / totals[:, :, None])

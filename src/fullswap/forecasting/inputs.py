"""Outcomes and models' probabilities as people give them -> checked arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Vector
from fullswap.inputs.outcomes import outcome_numbers

_PLAIN = frozenset({bool, int, float})
_CERTAIN = {0: 0.0, 1: 1.0}
"""The usual outcomes, True and False among them."""


def binary_outcome(outcome: Any) -> float:
    """One number in [0, 1]."""
    value = outcome
    if type(outcome) in _PLAIN:
        certain = _CERTAIN.get(outcome)
        if certain is not None:
            return certain
    else:
        try:
            in_words = isinstance(outcome, str)
            own = outcome_numbers("outcome", [outcome])[0] if in_words else outcome
            array = checks.numbers("outcome", own)
        except ValueError:
            array = np.zeros(1)
        if array.ndim:
            checks.refuse("outcome", "be one number in [0, 1]", outcome)
        value = array[()]  # NaN where it was None
    if not 0 <= value <= 1:
        checks.refuse("outcome", "lie in [0, 1]", outcome)
    return float(value)


def binary_outcomes(outcomes: Any, absent: bool = False) -> Any:
    """Numbers in [0, 1], shape (T,); NaN only where outcomes may be absent."""
    array = outcome_numbers("outcomes", outcomes)
    if array.ndim != 1:
        checks.refuse_shape("outcomes", "(T,)", array)
    checks.unit("outcomes", array, absent)
    return array


def class_row(outcome: Any, classes: int) -> Vector:
    """One outcome, a class 0 … K − 1 or K probabilities, as probabilities (K,).

    Examples
    --------
    >>> class_row(1, 3), class_row([0.5, 0.5, 0.0], 3)
    (array([0., 1., 0.]), array([0.5, 0.5, 0. ]))
    """
    array = checks.numbers("outcome", outcome)
    if array.ndim == 0 and not array.dtype.kind == "b":
        one_hot: Vector = np.eye(classes)[int(checks.indices("outcome", array, classes))]
        return one_hot
    if array.shape != (classes,):
        rule = f"be a class from 0 to {classes - 1} or {classes} probabilities"
        checks.refuse("outcome", rule, outcome)
    row: Vector = checks.probabilities("outcome", array[None])[0]
    return row


def class_rows(outcomes: Any, classes: int, absent: bool = False) -> Any:
    """Outcomes of many events: classes (T,), or probabilities (T, K), as probabilities (T, K).

    Where outcomes may be absent, NaN and the class -1 are: rows of NaN.
    """
    array = checks.numbers("outcomes", outcomes)
    if absent and array.ndim in (1, 2) and len(array):
        gone = np.isnan(array) | (array == -1) if array.ndim == 1 else np.isnan(array).any(axis=1)
        table = np.full((len(array), classes), np.nan)
        table[~gone] = class_rows(array[~gone], classes)
        return table
    if array.ndim == 1 and not array.dtype.kind == "b":
        return np.eye(classes)[checks.indices("outcomes", array, classes)]
    if array.ndim != 2 or array.shape[1] != classes:
        raise ValueError(
            f"outcomes must be classes of shape (T,), or probabilities of shape (T, {classes}), "
            f"got {array.dtype} of shape {array.shape}"
        )
    return checks.probabilities("outcomes", array)


def scale_of(weight: Any, max_weight: float, name: str = "weight") -> float:
    """A weight as a share of the largest."""
    try:
        number = checks.number(name, weight)
    except ValueError:
        number = np.nan
    scale = number / max_weight
    if not 0 <= scale <= 1:
        checks.refuse(name, f"lie in [0, max_weight = {max_weight}]", weight)
    return float(scale)


def scales_of(sample_weight: Any, events: int, max_weight: float) -> Vector:
    """Weights of many events as shares of the largest; no entries if all are 1."""
    if sample_weight is None:
        return np.zeros(0) if max_weight == 1.0 else np.full(events, scale_of(1.0, max_weight))
    weights = checks.numbers("sample_weight", sample_weight)
    if weights.shape != (events,):
        checks.refuse_shape("sample_weight", f"({events},)", weights)
    scales = weights.astype(float) / max_weight
    rule = f"lie in [0, max_weight = {max_weight}]"
    checks.refuse_at("sample_weight", rule, weights, ~((scales >= 0) & (scales <= 1)))
    return scales


def context_of(p: Any, models: int, classes: int) -> Any:
    """One event's probabilities: a number, or (models,) or (models, K); NaN where absent."""
    if isinstance(p, float) and models == 1 and classes == 2:  # the usual case, and quick
        if not 0.0 <= p <= 1.0:
            checks.refuse("p", "lie in [0, 1]", p)
        return p
    shape = (models,) if classes == 2 else (models, classes)
    array = checks.numbers("p", p).astype(float)
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


def contexts_of(p: Any, models: int, classes: int, vectors: bool | None = None) -> Any:
    """Probabilities of many events, shape (T, models), or as vectors (T, models, K).

    ``vectors=None``: for more than two classes.
    """
    vectors = classes > 2 if vectors is None else vectors
    shape = (models, classes) if vectors else (models,)
    array = checks.numbers("p", p)
    if models == 1 and array.ndim and array.shape[1:] == shape[1:]:
        array = array[:, None]
    if array.ndim != 1 + len(shape) or array.shape[1:] != shape:
        checks.refuse_shape("p", _shown((-1, *shape), models).replace("-1", "T"), p)
    return _checked(np.ascontiguousarray(array, dtype=float), models, vectors)


def _shown(shape: tuple[int, ...], models: int) -> str:
    """The shape without the axis of a single model."""
    return str(shape if models > 1 else tuple(k for k in shape if k != 1))


def _checked(array: Any, models: int, vectors: bool) -> Any:
    checks.unit("p", array, absent=models > 1)
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

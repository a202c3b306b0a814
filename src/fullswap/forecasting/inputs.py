"""Outcomes and weights as people give them -> checked arrays.

Words, Series and frames are read by ``fullswap.inputs``, as ``check`` reads them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base import checks
from fullswap.base.protocols import Vector
from fullswap.forecasting.contexts import Labels, in_order, is_series
from fullswap.inputs.classes import class_codes, is_table
from fullswap.inputs.columns import Column, column_of, is_missing, plain
from fullswap.inputs.outcomes import label_list, outcome_numbers
from fullswap.inputs.outcomes import outcomes as read_outcomes

_PLAIN = frozenset({bool, int, float})
_CERTAIN = {0: 0.0, 1: 1.0}
"""The usual outcomes, True and False among them."""

NAME_BOTH = "write 1 for yes and 0 for no, or make Recalibrator with both words: classes=[no, yes]"


def labels_of(classes: Any, least: int, most: int, advice: str = "") -> tuple[int, Labels | None]:
    """How many classes there are, and what they are called, from their number or their names.

    Examples
    --------
    >>> labels_of(3, 2, 1000), labels_of(["home", "tie", "away"], 2, 1000)
    ((3, None), (3, ('home', 'tie', 'away')))
    """
    rule = f"be a whole number from {least} to {most}, or the names of so many classes{advice}"
    if checks.is_whole(classes):
        if not least <= classes <= most:
            checks.refuse("classes", rule, classes)
        return int(classes), None
    try:
        labels = tuple(label_list(classes))
    except ValueError:
        checks.refuse("classes", rule, classes)
    if not least <= len(labels) <= most:
        checks.refuse("classes", rule, classes)
    sound = all(isinstance(label, str | int | float) and not is_missing(label) for label in labels)
    if not sound or len({plain(label) for label in labels}) < len(labels):
        checks.refuse("classes", "be different texts or numbers", classes)
    return len(labels), labels


# --- outcomes -----------------------------------------------------------------------------------


def binary_outcome(outcome: Any, labels: Labels | None = None) -> float:
    """One number in [0, 1], or a word for yes or no."""
    if type(outcome) in _PLAIN and labels is None:
        certain = _CERTAIN.get(outcome)
        if certain is not None:
            return certain
        value = outcome
    else:
        if isinstance(outcome, list | tuple) or np.ndim(outcome):
            checks.refuse("outcome", "be one number in [0, 1]", outcome)
        try:
            value = _binary_numbers("outcome", [outcome], labels)[0]
        except ValueError as error:
            if labels is not None:
                raise ValueError(str(error).removesuffix(" at position 0")) from None
            checks.refuse("outcome", "be one number in [0, 1]", outcome)
    if not 0 <= value <= 1:
        checks.refuse("outcome", "lie in [0, 1]", outcome)
    return float(value)


def binary_outcomes(outcomes: Any, absent: bool = False, labels: Labels | None = None) -> Any:
    """Numbers in [0, 1], shape (T,); NaN only where outcomes may be absent."""
    array = _binary_numbers("outcomes", outcomes, labels)
    if array.ndim != 1:
        checks.refuse_shape("outcomes", "(T,)", array)
    _refuse_absent("lie in [0, 1]", array, absent)
    checks.unit("outcomes", array, absent)
    return array


def _refuse_absent(rule: str, array: NDArray[Any], absent: bool) -> None:
    """Refuse NaN, with the way to run a log in which some outcomes are not known."""
    gone = np.isnan(array)
    if not absent and gone.any():
        raise ValueError(
            f"outcomes must {rule}, got nan at position {int(gone.argmax())}: leave such rows "
            "out, or tell run by known=… when each outcome came; nan then waits"
        )


def _binary_numbers(name: str, outcomes: Any, labels: Labels | None) -> NDArray[Any]:
    if labels is None and not is_series(outcomes):
        return outcome_numbers(name, outcomes, NAME_BOTH)
    column = column_of(name, outcomes)
    numbers = None if column.kind == "text" else column.floats()
    if numbers is not None and (labels is None or all(isinstance(v, str) for v in labels)):
        return numbers
    return read_outcomes(name, column, labels=labels).codes


def class_row(outcome: Any, classes: int, labels: Labels | None = None) -> Vector:
    """One outcome, a class (its name, or 0 … K − 1) or K probabilities, as probabilities (K,).

    Examples
    --------
    >>> class_row(1, 3), class_row([0.5, 0.5, 0.0], 3), class_row("tie", 2, ("win", "tie"))
    (array([0., 1., 0.]), array([0.5, 0.5, 0. ]), array([0., 1.]))
    """
    if not checks.is_whole(outcome) and (isinstance(outcome, str | bool) or labels is not None):
        if np.ndim(outcome) == 0:
            table = class_rows([outcome], classes, labels=labels, name="outcome")
            named: Vector = table[0]
            return named
    array = checks.numbers("outcome", outcome)
    if array.ndim == 0 and not array.dtype.kind == "b":
        one_hot: Vector = np.eye(classes)[int(checks.indices("outcome", array, classes))]
        return one_hot
    if array.shape != (classes,):
        rule = f"be a class from 0 to {classes - 1} or {classes} probabilities"
        checks.refuse("outcome", rule, outcome)
    row: Vector = checks.probabilities("outcome", array[None])[0]
    return row


def class_rows(
    outcomes: Any, classes: int, absent: bool = False, labels: Labels | None = None,
    name: str = "outcomes",
) -> Any:  # fmt: skip
    """Outcomes of many events: classes (T,), or probabilities (T, K), as probabilities (T, K).

    Classes are whole numbers from 0, or their names where they have some. Where outcomes may be
    absent, those that are missing, NaN or the class -1 are: rows of NaN.
    """
    if labels is None and not is_series(outcomes):
        array = in_order(name, outcomes, None)
    elif is_table(outcomes):
        array = in_order(name, outcomes, labels)
    else:
        array = _codes(name, column_of(name, outcomes), classes, labels)
    if array.ndim == 1:
        _refuse_absent(f"be whole numbers from 0 to {classes - 1}", array, absent)
    if not absent or array.ndim not in (1, 2):
        return _one_hot(name, array, classes)
    gone = np.isnan(array).any(axis=1) if array.ndim == 2 else np.isnan(array) | (array == -1)
    table = np.full((len(array), classes), np.nan)
    table[~gone] = _one_hot(name, array[~gone], classes)
    return table


def _codes(name: str, column: Column, classes: int, labels: Labels | None) -> NDArray[Any]:
    """Numbers of classes, NaN where missing."""
    numbers = None if column.kind in ("bool", "text") else column.floats()
    worded = labels is None or all(isinstance(label, str) for label in labels)
    if numbers is not None and worded:
        return column.values
    if labels is None:
        hint = f"be classes from 0 to {classes - 1}; for names give classes=[…], a list of them"
        checks.refuse(name, hint, column.values[:3].tolist())
    return class_codes(name, column, classes, labels).codes


def _one_hot(name: str, array: NDArray[Any], classes: int) -> Any:
    if array.ndim == 1 and not array.dtype.kind == "b":
        return np.eye(classes)[checks.indices(name, array, classes)]
    if array.ndim != 2 or array.shape[1] != classes:
        raise ValueError(
            f"{name} must be classes of shape (T,), or probabilities of shape (T, {classes}), "
            f"got {array.dtype} of shape {array.shape}"
        )
    return checks.probabilities(name, array)


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

"""Checked events: what happened, what was forecast, and how much each event weighs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from fullswap.base.protocols import Indices, Vector


@dataclass(frozen=True)
class Events:
    """T events in their order: outcomes, forecasts in [0, 1] and positive weights, shape (T,)."""

    outcomes: Vector
    forecasts: Vector
    weights: Vector
    weighted: bool
    """Whether the caller gave weights."""

    def __len__(self) -> int:
        return len(self.outcomes)

    @cached_property
    def distinct(self) -> tuple[Vector, Indices]:
        """The D distinct forecasts, ascending, and the place of each event's forecast in them."""
        values, labels = np.unique(self.forecasts, return_inverse=True)
        return values, labels.astype(np.int64, copy=False)

    @property
    def brier(self) -> float:
        """Weighted mean of (forecast − outcome)²."""
        return float(np.average(np.square(self.forecasts - self.outcomes), weights=self.weights))


def as_events(
    y_true: ArrayLike, y_proba: ArrayLike, sample_weight: ArrayLike | None = None
) -> Events:
    """Check the arrays and leave out events of weight 0, which no average can see.

    Examples
    --------
    >>> len(as_events([0, 1, 1], [0.2, 0.9, 0.9], sample_weight=[1, 0, 2]))
    2
    """
    outcomes = as_numbers("y_true", y_true, 1.0)
    forecasts = as_numbers("y_proba", y_proba, 1.0)
    _check_length("y_proba", forecasts, outcomes)
    if sample_weight is None:
        return Events(outcomes, forecasts, np.ones(len(outcomes)), weighted=False)
    # Far below the largest float, so that squares and sums of weights stay finite.
    weights = as_numbers("sample_weight", sample_weight, 1e100)
    _check_length("sample_weight", weights, outcomes)
    kept = weights > 0
    if not kept.any():
        raise ValueError("sample_weight is 0 everywhere; allowed: at least one weight > 0")
    # Units of weight cancel everywhere but in sums; squares of tiny weights must not vanish.
    if weights[kept].min() < 1e-100:
        raise ValueError(
            f"sample_weight holds {weights[kept].min()}; allowed: 0 or numbers in [1e-100, 1e+100]"
        )
    return Events(outcomes[kept], forecasts[kept], weights[kept], weighted=True)


def as_numbers(name: str, values: ArrayLike, largest: float) -> Vector:
    """Return `values` as a vector of at least one number in [0, largest]."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "fiubO" or np.ma.is_masked(values):
            raise TypeError
        if array.dtype.kind == "O" and any(isinstance(v, str | bytes) for v in array.flat):
            raise TypeError  # numpy would read them as numbers
        array = array.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} is {values!r}; allowed: arrays of numbers in [0, {largest:g}]"
        ) from None
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} has shape {array.shape}; allowed: (T,) with T >= 1")
    inside = (array >= 0) & (array <= largest)  # False for NaN
    if not inside.all():
        place = int(np.argmin(inside))
        raise ValueError(f"{name}[{place}] is {array[place]}; allowed: numbers in [0, {largest:g}]")
    return array


def _check_length(name: str, array: Vector, outcomes: Vector) -> None:
    if len(array) != len(outcomes):
        raise ValueError(
            f"{name} has length {len(array)}; allowed: {len(outcomes)}, the length of y_true"
        )

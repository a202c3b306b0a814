"""Checks of arguments, and the bounds of the numbers that sets work with."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

# Within these bounds squares of coordinates, also in units of the diameter, cannot overflow.
LARGEST = 1e75
SMALLEST = 1e-75
EPS = float(np.finfo(np.float64).eps)


def as_finite(name: str, values: npt.ArrayLike) -> Array:
    """Return ``values`` as a float array, or raise ValueError if some are not finite numbers."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "fiubO":
            raise TypeError
        array = array.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {values!r}; allowed: arrays of real numbers") from None
    allowed = np.abs(array) <= LARGEST  # False for NaN
    if not allowed.all():
        raise ValueError(
            f"{name} holds {array[~allowed].flat[0]}; "
            f"allowed: finite numbers of magnitude at most {LARGEST:g}"
        )
    return array


def as_rows(name: str, values: npt.ArrayLike, width: int) -> tuple[Array, bool]:
    """Return ``values`` with shape (m, width), and whether a single row of shape (width,) came."""
    array = as_finite(name, values)
    if array.ndim not in (1, 2) or array.shape[-1] != width or array.size == 0:
        raise ValueError(
            f"{name} has shape {array.shape}; allowed: ({width},) or (m, {width}) with m >= 1"
        )
    return (array[np.newaxis] if array.ndim == 1 else array), array.ndim == 1


def as_vector(name: str, values: npt.ArrayLike) -> Array:
    """Return a copy of ``values``, of shape (A,) with A >= 1."""
    array = as_finite(name, values)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} has shape {array.shape}; allowed: (A,) with A >= 1")
    return array.copy()


def as_number(name: str, value: Any) -> float:
    """Return ``value``, a single finite number."""
    array = as_finite(name, value)
    if array.ndim != 0:
        raise ValueError(f"{name} has shape {array.shape}; allowed: a single number")
    return float(array)


def as_positive(name: str, value: Any) -> float:
    """Return ``value``, a single finite number > 0."""
    number = as_number(name, value)
    if number <= 0.0:
        raise ValueError(f"{name} is {number}; allowed: numbers > 0")
    return number


def as_dimension(value: Any) -> int:
    """Return ``value``, an integer >= 1; floats and booleans are none."""
    try:
        dim = operator.index(value)
    except TypeError:
        raise ValueError(f"dim is {value!r}; allowed: integers >= 1") from None
    if dim < 1 or isinstance(value, bool):
        raise ValueError(f"dim is {value!r}; allowed: integers >= 1")
    return dim

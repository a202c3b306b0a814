"""Intervals and boxes: everything goes coordinate by coordinate."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, final

import numpy as np
import numpy.typing as npt

from fullswap.base import checks
from fullswap.grids.base import GridMaker
from fullswap.grids.kuhn import BoxGrids
from fullswap.sets.base import LARGEST, Array, Booleans, Cospherical, corner

_MOST_BOX_VERTICES = 16  # dimension up to which a box lists its 2^dim vertices


class _Orthotope(Cospherical):
    """Operations shared by ``Interval`` and ``Box``."""

    low: Any
    high: Any
    _low: Array
    _high: Array

    def _parameters(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high}

    @cached_property
    def vertices(self) -> Array | None:
        """Corners, shape (2^dim, dim), the first coordinate changing fastest; None for dim > 16."""
        if self.dim > _MOST_BOX_VERTICES:
            return None
        at_high = np.arange(2**self.dim)[:, np.newaxis] >> np.arange(self.dim) & 1
        corners = np.where(at_high == 1, self._high, self._low)
        corners.setflags(write=False)
        return corners

    def _project(self, points: Array) -> Array:
        return np.minimum(np.maximum(points, self._low), self._high)

    def _contains(self, points: Array, slack: Array) -> Booleans:
        inside: Booleans = np.maximum(self._low - points, points - self._high).max(axis=1) <= slack
        return inside

    def _minimize_linear(self, directions: Array) -> Array:
        return np.where(directions >= 0.0, self._low, self._high)


def _fields(low: Array, high: Array) -> dict[str, Any]:
    size = {"dim": len(low), "ambient_dim": len(low), "diameter": math.hypot(*(high - low))}
    return {**size, "_low": low, "_high": high, "center": 0.5 * low + 0.5 * high}


@final
class Interval(_Orthotope):
    """The interval [low, high], a set of dimension 1 whose points have shape (m, 1).

    Examples
    --------
    >>> Interval(0.0, 2.0).project([[3.0], [1.0]])
    array([[2.],
           [1.]])
    """

    low: float
    high: float

    def __init__(self, low: float, high: float) -> None:
        low = checks.number("low", low, least=-LARGEST, most=LARGEST)
        high = checks.number("high", high, above=low, most=LARGEST)
        self._store(low=low, high=high, **_fields(np.array([low]), np.array([high])))

    def moved(self, scale: float = 1.0, shift: npt.ArrayLike = 0.0) -> Interval:
        """Return the interval {scale·x + shift}."""
        factor, offset = self._moving(scale, shift)
        return Interval(factor * self.low + offset[0], factor * self.high + offset[0])


@final
class Box(_Orthotope):
    """The box of all x with low_i <= x_i <= high_i, low and high of shape (A,).

    Examples
    --------
    >>> Box([0.0, -1.0], [1.0, 1.0]).vertices.tolist()
    [[0.0, -1.0], [1.0, -1.0], [0.0, 1.0], [1.0, 1.0]]
    """

    low: Array
    high: Array

    def __init__(self, low: npt.ArrayLike, high: npt.ArrayLike) -> None:
        low = corner("low", low)
        high = checks.vector("high", high, len(low), LARGEST).copy()
        checks.refuse_at("high", "be larger than low everywhere", high, ~(low < high))
        self._store(low=low, high=high, **_fields(low, high))

    def _grids(self) -> GridMaker:
        return BoxGrids(self.low, self.high)

    @property
    def kernel_shape(self) -> Any:
        """Low and high."""
        from fullswap.kernels.shapes import BoxShape

        return BoxShape(np.array(self.low), np.array(self.high))

    def moved(self, scale: float = 1.0, shift: npt.ArrayLike = 0.0) -> Box:
        """Return the box {scale·x + shift}."""
        factor, offset = self._moving(scale, shift)
        return Box(factor * self.low + offset, factor * self.high + offset)

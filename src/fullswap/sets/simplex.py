"""Simplices of probability vectors, scaled and shifted."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, final

import numpy as np
import numpy.typing as npt

from fullswap.sets.base import ConvexSetBase
from fullswap.sets.validation import Array, as_dimension, as_finite, as_positive


@final
class Simplex(ConvexSetBase):
    """The simplex {shift + scale·p : p >= 0, Σ p_i = 1}, A = dim + 1 coordinates.

    Parameters
    ----------
    dim : int
        Affine dimension: one less than the number of classes.
    scale : float
    shift : float or array (dim + 1,)

    Examples
    --------
    >>> Simplex(2).project([0.9, 0.5, -1.0])
    array([0.7, 0.3, 0. ])
    """

    scale: float
    shift: Array
    _counts: Array

    def __init__(self, dim: int, scale: float = 1.0, shift: npt.ArrayLike = 0.0) -> None:
        dim = as_dimension(dim)
        scale = as_positive("scale", scale)
        array = as_finite("shift", shift)
        if array.shape not in ((), (dim + 1,)):
            raise ValueError(f"shift has shape {array.shape}; allowed: () or ({dim + 1},)")
        offset = np.broadcast_to(array, dim + 1).copy()
        self._store(
            scale=scale,
            shift=offset,
            _counts=np.arange(1.0, dim + 2.0),
            dim=dim,
            ambient_dim=dim + 1,
            diameter=scale * math.sqrt(2.0),
            center=offset + scale / (dim + 1),
        )

    def _parameters(self) -> dict[str, Any]:
        parameters: dict[str, Any] = {"dim": self.dim}
        if self.scale != 1.0:
            parameters["scale"] = self.scale
        if self.shift.any():
            same = bool((self.shift == self.shift[0]).all())
            parameters["shift"] = float(self.shift[0]) if same else self.shift
        return parameters

    @cached_property
    def vertices(self) -> Array:
        """Corners shift + scale·e_i, shape (dim + 1, dim + 1)."""
        corners = self.shift + self.scale * np.eye(self.ambient_dim)
        corners.setflags(write=False)
        return corners

    def moved(self, scale: float = 1.0, shift: npt.ArrayLike = 0.0) -> Simplex:
        """Return the simplex {scale·x + shift}."""
        factor, offset = self._moving(scale, shift)
        return Simplex(self.dim, factor * self.scale, factor * self.shift + offset)

    def _project(self, points: Array) -> Array:
        heights = (points - self.shift) / self.scale
        # Moving along (1, …, 1) changes nothing, and with the largest height at 0 those that stay
        # positive lie in [-1, 0]: no cancellation however far away the point is.
        heights -= heights.max(axis=1, keepdims=True)
        sums = np.cumsum(-np.sort(-heights, axis=1), axis=1)
        # p_i = max(h_i − τ, 0) with Σ p_i = 1, and τ is the largest of the candidates "k stay".
        threshold = ((sums - 1.0) / self._counts).max(axis=1, keepdims=True)
        return self.shift + self.scale * np.maximum(heights - threshold, 0.0)

    def _contains(self, points: Array, slack: Array) -> npt.NDArray[np.bool_]:
        parts = points - self.shift
        excess = np.abs(parts.sum(axis=1) - self.scale) / math.sqrt(self.ambient_dim)
        return np.maximum(excess, -parts.min(axis=1)) <= slack

    def _minimize_linear(self, directions: Array) -> Array:
        return self.vertices[directions.argmin(axis=1)]

    def _minimize_concave(self, curvature: Array, slope: Array) -> Array:
        # All corners are equally far from the centre, so that only the linear part is left.
        return self._minimize_linear(self._slope_at_center(curvature, slope))

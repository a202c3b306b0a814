"""Simplices of probability vectors, scaled and shifted."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, final

import numpy as np
import numpy.typing as npt

from fullswap.base import checks
from fullswap.grids.base import GridMaker
from fullswap.grids.kuhn import SimplexGrids
from fullswap.sets.base import Array, Booleans, Cospherical, offset, positive


@final
class Simplex(Cospherical):
    """The simplex {shift + scale·p : p >= 0, Σ p_i = 1}, A = dim + 1 coordinates.

    ``dim`` is one less than the number of classes; ``shift`` is one number or has shape (dim + 1,).

    Examples
    --------
    >>> Simplex(2).project([0.9, 0.5, -1.0])
    array([0.7, 0.3, 0. ])
    """

    scale: float
    shift: Array

    def __init__(self, dim: int, scale: float = 1.0, shift: npt.ArrayLike = 0.0) -> None:
        dim = checks.whole("dim", dim, 1)
        scale = positive("scale", scale)
        moved_by = offset("shift", shift, dim + 1).copy()
        size = {"dim": dim, "ambient_dim": dim + 1, "diameter": scale * math.sqrt(2.0)}
        self._store(scale=scale, shift=moved_by, center=moved_by + scale / (dim + 1), **size)

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

    def _grids(self) -> GridMaker:
        return SimplexGrids(self)

    @property
    def kernel_shape(self) -> Any:
        """Shift and scale."""
        from fullswap.kernels.shapes import SimplexShape

        return SimplexShape(np.array(self.shift), self.scale)

    def moved(self, scale: float = 1.0, shift: npt.ArrayLike = 0.0) -> Simplex:
        """Return the simplex {scale·x + shift}."""
        factor, offset = self._moving(scale, shift)
        return Simplex(self.dim, factor * self.scale, factor * self.shift + offset)

    def _project(self, points: Array) -> Array:
        from fullswap.kernels.projection import project_simplex_rows

        shares = (points - self.shift) / self.scale
        project_simplex_rows(shares)
        return self.shift + self.scale * shares

    def _contains(self, points: Array, slack: Array) -> Booleans:
        parts = points - self.shift
        excess = np.abs(parts.sum(axis=1) - self.scale) / math.sqrt(self.ambient_dim)
        inside: Booleans = np.maximum(excess, -parts.min(axis=1)) <= slack
        return inside

    def _minimize_linear(self, directions: Array) -> Array:
        corners: Array = self.vertices[directions.argmin(axis=1)]
        return corners

"""What a forecaster gives back: one forecast."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.base.protocols import Vector


class Forecast:
    """One forecast: a distribution over grid points, its mean, and the draw that was issued.

    The three differ, and each has its use: ``issued`` is what to publish where the guarantee is
    for issued forecasts; ``mean`` is deterministic; ``points`` and ``weights`` (shape (m,), or
    (m, K) for K classes) are the whole distribution. ``id`` names the forecast when its outcome
    arrives late.
    """

    __slots__ = ("_indices", "_issued", "_memo", "_source", "_weights", "id")

    def __init__(
        self, source: Any, number: int, indices: Any, weights: Any, issued: int, memo: Any
    ) -> None:
        self.id = number
        self._source = source
        self._indices, self._weights = indices, weights
        self._issued, self._memo = issued, memo

    @property
    def points(self) -> Any:
        """Support of the distribution, shape (m,) or (m, K)."""
        return self._source[np.array(self._indices)]

    @property
    def weights(self) -> Vector:
        """Probabilities of the support points, shape (m,)."""
        return np.array(self._weights)

    @property
    def mean(self) -> Any:
        """Mean of the distribution: a number, or K numbers."""
        mean = sum(w * self._source[i] for i, w in zip(self._indices, self._weights, strict=True))
        return float(mean) if self._source.ndim == 1 else mean

    @property
    def issued(self) -> Any:
        """The point drawn from the distribution: a number, or K numbers."""
        point = self._source[self._indices[self._issued]]
        return float(point) if self._source.ndim == 1 else point.copy()

    def _same_as(self, other: Forecast) -> bool:
        """Whether distribution and draw are the same."""
        return self is other or (
            self._issued == other._issued
            and np.array_equal(self.weights, other.weights)
            and np.array_equal(self.points, other.points)
        )

    def __repr__(self) -> str:
        parts = ", ".join(
            f"{np.array2string(self._source[i], precision=4)}: {w:.4g}"
            for i, w in zip(self._indices, self._weights, strict=True)
        )
        return f"Forecast(id={self.id}, issued={self.issued!r}, distribution={{{parts}}})"

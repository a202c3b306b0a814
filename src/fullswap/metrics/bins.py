"""Bins of near forecasts: the dots of a diagram and the groups of an average error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fullswap.base.protocols import Indices, Vector


@dataclass(frozen=True, eq=False)
class Bins:
    """Bins in ascending order of forecast, none of them empty."""

    forecast: Vector
    """Weighted mean forecast, shape (G,)."""
    frequency: Vector
    """Weighted mean outcome, shape (G,)."""
    weight: Vector
    """Total weight, shape (G,)."""
    trials: Vector
    """Effective numbers of events, shape (G,)."""
    count: Vector
    """Numbers of rows, shape (G,)."""
    place: Indices
    """Bin of every cell, shape (m,)."""

    @property
    def error(self) -> float:
        """Average distance between forecast and frequency, a share."""
        gaps = np.abs(self.forecast - self.frequency)
        return float(self.weight @ gaps / self.weight.sum())

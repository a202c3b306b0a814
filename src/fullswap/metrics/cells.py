"""Yes/no events summed by forecast: all that questions about calibration depend on."""

from __future__ import annotations

from dataclasses import dataclass

from fullswap.base.protocols import Indices, Vector


@dataclass(frozen=True, eq=False)
class Clusters:
    """Rows whose outcomes are one and the same: a game forecast minute by minute."""

    codes: Indices
    """Event of every row, shape (n,)."""
    cell: Indices
    """Cell of every row, shape (n,)."""
    residual: Vector
    """w·(y − p) of every row, shape (n,)."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Sums over the events of each cell, in ascending order of forecast.

    A cell is one forecast, or many that are very near one another.
    """

    forecast: Vector
    """Weighted mean forecast, shape (m,)."""
    weight: Vector
    """Σ w, shape (m,)."""
    yes: Vector
    """Σ w·y, shape (m,)."""
    count: Vector
    """Number of rows, shape (m,)."""
    squares: Vector
    """Σ w², shape (m,): the count, where there are no weights."""
    shared: Clusters | None = None
    """Which rows share an outcome; None if none do."""

    @property
    def total(self) -> float:
        """Weight of all events."""
        return float(self.weight.sum())

    @property
    def frequency(self) -> Vector:
        """Mean outcome of each cell, shape (m,)."""
        return self.yes / self.weight

    @property
    def trials(self) -> Vector:
        """Effective numbers of events (Σw)²/Σw², shape (m,)."""
        return self.weight * self.weight / self.squares

"""Vectors made of one binary forecast for each class, divided by their sum."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Points, Vector
from fullswap.base.records import Record
from fullswap.online.tickets import Forecast


class OneVsRestForecast:
    """One forecast: K binary forecasts, and the vectors that they make when normalised.

    Attributes
    ----------
    parts : tuple of Forecast
        The binary forecast of each class; these are what is calibrated.
    """

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[Forecast, ...]) -> None:
        self.parts = parts

    @property
    def id(self) -> int:
        """Names the forecast when its outcome arrives late."""
        return self.parts[0].id

    @property
    def event(self) -> Any:
        """What it is about, if several forecasts wait for one outcome."""
        return self.parts[0].event

    @property
    def unnormalised(self) -> Vector:
        """What each class issued, shape (K,)."""
        return np.array([part.issued for part in self.parts])

    @property
    def issued(self) -> Vector:
        """The issued vector, shape (K,): sums to 1."""
        return normalised(self.unnormalised)

    @property
    def mean(self) -> Vector:
        """The means of the classes, normalised, shape (K,)."""
        return normalised(np.array([part.mean for part in self.parts]))

    def __repr__(self) -> str:
        return f"OneVsRestForecast(id={self.id}, issued={self.issued!r})"


class OneVsRestRun:
    """Forecasts of a run of T events; ``record`` has those of all classes, event by event."""

    def __init__(self, record: Record, classes: int) -> None:
        self.record, self.classes = record, classes

    def __len__(self) -> int:
        return len(self.record) // self.classes

    def part(self, k: int) -> Record:
        """The forecasts of class k."""
        whole, own = self.record, slice(k, None, self.classes)
        drawn = whole.issued_indices
        return Record.of_forecasts(
            whole.points, whole.indices[own], whole.weights[own],
            None if drawn is None else drawn[own],
        )  # fmt: skip

    @property
    def unnormalised(self) -> Points:
        """What each class issued, shape (T, K)."""
        return self.record.issued.reshape(-1, self.classes)

    @property
    def issued(self) -> Points:
        """The issued vectors, shape (T, K)."""
        return normalised(self.unnormalised)

    @property
    def mean(self) -> Points:
        """The means of the classes, normalised, shape (T, K)."""
        return normalised(self.record.mean.reshape(-1, self.classes))

    def draw(self, rng: np.random.Generator) -> Points:
        """A point from each class's forecasts, whatever was issued, normalised, shape (T, K)."""
        return normalised(self.record.draw(rng).reshape(-1, self.classes))


def normalised(rows: Points) -> Points:
    """Rows (…, K) of numbers >= 0 divided by their sums; uniform where all are 0.

    Examples
    --------
    >>> normalised(np.array([[0.5, 0.5, 1.0], [0.0, 0.0, 0.0]])).round(2)
    array([[0.25, 0.25, 0.5 ],
           [0.33, 0.33, 0.33]])
    """
    sums = checks.row_sums(rows)
    if sums.all():
        divided: Points = rows / sums[..., None]
        return divided
    safe = np.where(sums > 0, sums, 1.0)[..., None]
    return np.where(sums[..., None] > 0, rows / safe, 1.0 / rows.shape[-1])

"""Segments of a log: its events by league, by region, by the hour of the day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullswap.base.protocols import Indices, Vector
from fullswap.checking.evidence import Evidence
from fullswap.inputs.columns import factorise
from fullswap.metrics.chance import Chance

QUANTILES = 5
"""Segments into which a column of numbers is cut."""
MOST_PLAIN = 12
"""Distinct numbers up to which each is a segment of its own: months, weekdays, ratings."""
MOST_SEGMENTS = 1_000
"""Values of a column that are told apart; further ones are one segment together."""
OTHERS = "(others)"
GROUP = "group"
"""What stands for the column where groups are given, to which an event may belong by the dozen."""


@dataclass(frozen=True, eq=False)
class Segment:
    """One value of one column, and how the forecasts do there."""

    column: str
    value: str
    events: int
    error: float
    """Average error, a share."""
    chance: Chance
    """What chance alone would show."""
    evidence: Evidence
    flagged: bool
    """Miscalibrated, at one false discovery in 20 among all segments, whatever their dependence."""
    little: bool
    """Whether the error beyond chance is within the tolerance."""
    smallest_seen: float
    """An error below this share might have gone unseen."""
    share_of_miscalibration: float | None
    """Of what miscalibration costs in squared error, over the segments of this column; None where
    they overlap."""

    @property
    def name(self) -> str:
        """Column and value; a group of a column, "column=value", says so itself."""
        plain = self.column == GROUP and "=" in self.value
        return self.value if plain else f"{self.column} {self.value}"

    @property
    def beyond(self) -> float:
        """How far the error lies beyond what chance would show once in twenty; below 0: not."""
        return self.error - self.chance.high


class SegmentColumn:
    """A column by which events are told apart; learns its values as they come."""

    def __init__(self, name: str, labels: Sequence[str] = (), overlapping: bool = False) -> None:
        self.name, self.overlapping = name, overlapping
        self.labels: list[str] = list(labels)
        self._codes: dict[str, int] = {}
        self._edges: Vector | None = None
        self._numeric: bool | None = None

    def codes(self, values: Any) -> Indices:
        """The segment of every row; numbers are cut at quantiles of the first rows."""
        array = np.asarray(values)
        if self._numeric is None:
            self._start(array)
        if self._edges is not None:
            numbers = array.astype(float) if array.dtype.kind in "iuf" else _floats(array)
            places = np.searchsorted(self._edges, numbers, side="right")
            return np.where(np.isnan(numbers), len(self._edges) + 1, places).astype(np.int64)
        kept: Any
        if array.dtype.kind in "iuf":  # missing numbers are one value
            kept, places = np.unique(array, return_inverse=True)
        else:
            places, kept = factorise(array)
        return np.array([self._code(_text(value)) for value in kept], np.int64)[places]

    def _start(self, array: Any) -> None:
        self._numeric = array.dtype.kind in "iuf"
        if not self._numeric:
            return
        numbers = array.astype(float)
        numbers = numbers[~np.isnan(numbers)]
        if len(np.unique(numbers)) <= MOST_PLAIN:
            self._numeric = False
            return
        edges = np.unique(np.quantile(numbers, np.arange(1, QUANTILES) / QUANTILES))
        self._edges = edges
        inner = [f"{_short(a)} to {_short(b)}" for a, b in zip(edges, edges[1:], strict=False)]
        self.labels = [f"below {_short(edges[0])}", *inner, f"{_short(edges[-1])} and more"]
        self.labels.append("(missing)")

    def _code(self, value: str) -> int:
        known = self._codes.get(value)
        if known is not None:
            return known
        if len(self._codes) >= MOST_SEGMENTS:
            if self.labels[-1] != OTHERS:
                self.labels.append(OTHERS)
            return len(self.labels) - 1
        self._codes[value] = len(self.labels)
        self.labels.append(value)
        return len(self.labels) - 1


def _floats(texts: Any) -> Vector:
    """Numbers among texts; others are missing."""

    def one(text: Any) -> float:
        try:
            return float(text)
        except (TypeError, ValueError):
            return np.nan

    return np.array([one(text) for text in texts], dtype=float)


def _short(number: float) -> str:
    return f"{number:.4g}"


def _text(value: Any) -> str:
    if isinstance(value, float):
        return "(missing)" if value != value else f"{value:g}"
    return str(value)

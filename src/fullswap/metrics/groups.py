"""Sums over groups of events: all that metrics of forecasts depend on.

Every such metric is a function of `Groups`. An event is a group of its own until groups are
merged: equal forecasts into one (`distinct`), or forecasts of one bin (`binned`). A stream keeps
merged groups only, so batch and stream share one definition of each metric.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from fullswap.base.protocols import Indices, Points, Vector

CODES = 1 << 62
"""Numbers that tell rows apart stay below this, so that 64 bits hold their products."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Sums over the events of each of G groups; every group has positive weight."""

    forecasts: Points
    """Forecast p_g of the group (of a bin: the weighted mean), (G, C); C = 1 for yes/no events."""
    weights: Vector
    """W_g = Σ w, shape (G,)."""
    counts: Points
    """Σ w·y of every class, (G, max(C, 2)); yes/no events have the classes (no, yes). Stored apart
    from W_g, so that "never happened" is an exact 0."""
    squares: Points
    """Σ w·y², (G, C), which differs from Σ w·y for soft outcomes."""

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def classes(self) -> int:
        """Coordinates of a forecast: 1 for yes/no events, else the number of classes."""
        return int(self.forecasts.shape[1])

    @property
    def total(self) -> float:
        """Weight of all events."""
        return float(self.weights.sum())

    @property
    def sums(self) -> Points:
        """Σ w·y in the coordinates of the forecasts, shape (G, C)."""
        return self.counts[:, -self.classes :]

    @property
    def means(self) -> Points:
        """Mean outcomes ȳ_g, shape (G, C)."""
        return self.sums / self.weights[:, None]

    @property
    def gaps(self) -> Points:
        """p_g − ȳ_g, shape (G, C)."""
        return self.forecasts - self.means

    def by_class(self) -> list[Groups]:
        """Each class against the rest, as yes/no events; yes/no events stay what they are."""
        if self.classes == 1:
            return [self]
        return [self._against_rest(np.full(len(self), k)) for k in range(self.classes)]

    def top(self) -> Groups:
        """The likeliest class (the first of several) against the rest, as yes/no events."""
        return self._against_rest(self.forecasts.argmax(axis=1))

    def _against_rest(self, classes: Indices) -> Groups:
        at = np.arange(len(self)), classes
        return Groups.of_sums(self.forecasts[at], self.weights, self.counts[at], self.squares[at])

    def distinct(self) -> Groups:
        """One group per distinct forecast, in increasing order if C = 1."""
        forecasts, kinds = distinct_rows(self.forecasts)
        return self.merged(kinds, len(forecasts), forecasts)

    def binned(self, edges: Vector) -> Groups:
        """One group per bin that is not empty; C = 1."""
        return self.merged(self.bins(edges), len(edges) - 1)

    def bins(self, edges: Vector) -> Indices:
        """Bin of every group: [e_i, e_{i+1}), the last one closed; C = 1."""
        bins = np.searchsorted(edges, self.forecasts[:, 0], side="right") - 1
        return np.minimum(bins, len(edges) - 2)

    def merged(self, kinds: Indices, size: int, forecasts: Points | None = None) -> Groups:
        """Groups of the same kind, a number below ``size``, become one; empty kinds vanish."""

        def add(columns: Points) -> Points:
            return np.column_stack([sums_by(kinds, column, size) for column in columns.T])

        weights = sums_by(kinds, self.weights, size)
        if forecasts is None:
            forecasts = np.zeros((size, self.classes))
            weighted = add(self.forecasts * self.weights[:, None])
            np.divide(weighted, weights[:, None], out=forecasts, where=weights[:, None] > 0)
        return Groups(forecasts, weights, add(self.counts), add(self.squares)).weighted()

    def weighted(self) -> Groups:
        """Without groups of weight 0."""
        some = self.weights > 0
        if some.all():
            return self
        sums = self.counts[some], self.squares[some]
        return Groups(self.forecasts[some], self.weights[some], *sums)

    @classmethod
    def of_events(cls, forecasts: Points, outcomes: Points, weights: Vector) -> Groups:
        """Every event as a group of its own, also those of weight 0."""
        scale = weights[:, None]
        single = outcomes.shape[1] == 1
        classes = np.column_stack((1.0 - outcomes, outcomes)) if single else outcomes
        return cls(forecasts, weights, classes * scale, np.square(outcomes) * scale)

    @classmethod
    def of_sums(
        cls, points: Points, weights: Vector, sums: Points, squares: Points | None = None
    ) -> Groups:
        """Groups from Σ w, Σ w·y and Σ w·y² at each point; points of weight 0 vanish.

        ``points``, ``sums`` and ``squares`` have shape (n,) for yes/no events, else (n, K);
        without ``squares`` outcomes are 0 or 1.
        """
        shape = (len(points), 1 if points.ndim == 1 else points.shape[1])
        own, forecasts = sums.reshape(shape), points.reshape(shape)
        counts = own if shape[1] > 1 else np.column_stack((np.maximum(weights - sums, 0.0), sums))
        squared = own if squares is None else squares.reshape(shape)
        return cls(forecasts, weights, counts, squared).weighted()

    @classmethod
    def joined(cls, parts: list[Groups]) -> Groups:
        """All groups of the parts, not merged."""
        names = (field.name for field in fields(cls))
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    @classmethod
    def empty(cls, classes: int) -> Groups:
        """No events; ``classes`` as in the property."""
        counts = np.zeros((0, max(classes, 2)))
        return cls(np.zeros((0, classes)), np.zeros(0), counts, np.zeros((0, classes)))


def l2_of(groups: Groups) -> float:
    """Σ_g W_g·‖p_g − ȳ_g‖²: the one definition of l2 calibration error, a sum over events."""
    return float(groups.weights @ np.square(groups.gaps).sum(axis=1))


def sums_by(kinds: Indices, values: Vector, size: int) -> Vector:
    """Sum of the values of every kind from 0 to size − 1."""
    return np.bincount(kinds, values, minlength=size).astype(np.float64, copy=False)


def distinct_rows(rows: Points) -> tuple[Points, Indices]:
    """One row of every kind, and for every row the number of its kind.

    Columns are numbered one after another, which sorts numbers instead of rows.
    """
    if rows.shape[1] == 1:
        values, kinds = np.unique(rows[:, 0], return_inverse=True)
        return values[:, None], kinds
    codes, most = np.zeros(len(rows), dtype=np.int64), 1
    for column in rows.T:
        values, kinds = np.unique(column, return_inverse=True)
        if len(values) == len(rows):  # one column tells all rows apart
            return rows, np.arange(len(rows))
        if most * len(values) >= CODES:
            packed, codes = np.unique(codes, return_inverse=True)
            most = len(packed)
        codes = codes * len(values) + kinds
        most *= len(values)
    _, first, kinds = np.unique(codes, return_index=True, return_inverse=True)
    return rows[first], kinds

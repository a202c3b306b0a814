"""Yes/no events summed by forecast: all that questions about calibration depend on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fullswap.base.protocols import Indices, Vector
from fullswap.metrics.neighbours import dot, sorted_pairs, spread, starts_by_mass


@dataclass(frozen=True, eq=False)
class Clusters:
    """Rows whose outcomes are one and the same: a game forecast minute by minute."""

    codes: Indices
    """Event of every row, from 0, shape (n,)."""
    cell: Indices
    """Cell of every row, shape (n,)."""
    residual: Vector
    """w·(y − p) of every row, shape (n,)."""
    weight: Vector | None = None
    """w of every row, shape (n,); None: all 1."""

    @cached_property
    def events(self) -> int:
        """Number of events."""
        return int(np.count_nonzero(np.bincount(self.codes)))

    @cached_property
    def sums(self) -> Vector:
        """Σ w·(y − p) over the rows of each event, by code."""
        return np.bincount(self.codes, self.residual).astype(np.float64, copy=False)


@dataclass(frozen=True, eq=False)
class Fit:
    """Isotonic regression of the outcomes on the forecasts: blocks of cells in ascending order."""

    starts: Indices
    """First cell of each block, shape (k,)."""
    weight: Vector
    """Σ w of each block, shape (k,)."""
    value: Vector
    """Mean outcome of each block, strictly increasing, shape (k,)."""
    values: Vector
    """The same for every cell, shape (m,)."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Sums over the events of each cell, in ascending order of forecast.

    A cell is one forecast, or many that are very near one another. Outcomes between 0 and 1 count
    as that share of a yes.
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

    def __len__(self) -> int:
        return len(self.forecast)

    @cached_property
    def total(self) -> float:
        """Weight of all events."""
        return float(self.weight.sum())

    @cached_property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.count.sum())

    @property
    def events(self) -> int:
        """Number of events: rows that share an outcome are one."""
        return self.rows if self.shared is None else self.shared.events

    @property
    def frequency(self) -> Vector:
        """Mean outcome of each cell, shape (m,)."""
        return self.yes / self.weight

    @property
    def trials(self) -> Vector:
        """Effective numbers of events (Σw)²/Σw², shape (m,)."""
        return self.weight * self.weight / self.squares

    @cached_property
    def variance(self) -> float:
        """Variance of Σ w·y for a calibrated forecaster, as if every row had its own outcome."""
        return dot(self.squares, self.forecast * (1 - self.forecast))

    @property
    def shared_variance(self) -> float:
        """The same where outcomes are shared: Σ of squared sums of residuals over events."""
        if self.shared is None:
            return self.variance
        return float(np.square(self.shared.sums).sum())

    @property
    def inflation(self) -> float:
        """How much more Σ w·y varies because outcomes are shared; 1 if none are."""
        if self.shared is None or self.variance == 0:
            return 1.0
        return self.shared_variance / self.variance

    @property
    def plain(self) -> bool:
        """Whether every cell is one row of weight 1."""
        return self.count is self.weight and len(self) == self.rows

    @cached_property
    def isotonic(self) -> Fit:
        """The best increasing re-reading of the forecasts; fitted once."""
        return self.isotonic_of(self.yes)

    def isotonic_of(self, yes: Vector) -> Fit:
        """The same for other outcomes, given as Σ w·y of every cell."""
        from scipy.optimize import isotonic_regression

        plain = self.plain
        fit = isotonic_regression(
            yes if plain else yes / self.weight, weights=None if plain else self.weight
        )
        starts = np.asarray(fit.blocks[:-1], dtype=np.int64)
        return Fit(starts, np.asarray(fit.weights, dtype=np.float64), fit.x[starts], fit.x)

    @classmethod
    def of_events(
        cls, y: Vector, p: Vector, weight: Vector | None = None, event: Indices | None = None
    ) -> Cells:
        """Cells of equal forecasts; one sort.

        Parameters
        ----------
        y, p, weight
            Outcomes and forecasts in [0, 1] and weights >= 0, shape (n,), checked by the caller.
        event
            Whole numbers: rows with the same one share their outcome.
        """
        p = p + 0.0  # no −0.0
        if weight is None and event is None and len(p) and ((y == 0) | (y == 1)).all():
            p, ones = sorted_pairs(p, y)
            return cls._of_sorted(p, ones, None)
        if weight is not None and not weight.all():
            some = weight > 0
            y, p, weight = y[some], p[some], weight[some]
            event = None if event is None else event[some]
        if not len(p):
            raise ValueError("events must have at least one row of positive weight, got none")
        order = np.argsort(p)
        ys, ps, ws = y[order], p[order], None if weight is None else weight[order]
        cells = cls._of_sorted(ps, ys, ws)
        if event is None:
            return cells
        codes = _compact(event)[order]
        if np.bincount(codes).max() == 1:
            return cells
        cell = np.cumsum(np.diff(ps, prepend=ps[0]) > 0, dtype=np.int64)
        residual = ys - ps if ws is None else ws * (ys - ps)
        return replace(cells, shared=Clusters(codes, cell, residual, ws))

    @classmethod
    def _of_sorted(cls, p: Vector, y: Vector, weight: Vector | None) -> Cells:
        n = len(p)
        starts = np.concatenate(([0], np.flatnonzero(p[1:] != p[:-1]) + 1))
        yes = y if weight is None else weight * y
        if len(starts) == n:
            count = np.ones(n)
            own = count if weight is None else weight
            return cls(p, own, yes, count, count if weight is None else weight * weight)
        count = np.diff(starts, append=n).astype(np.float64)
        yes = np.add.reduceat(yes, starts)
        if weight is None:
            return cls(p[starts], count, yes, count, count)
        sums = np.add.reduceat(weight, starts)
        # rounding must not make more of a cell's weight a yes than there is
        yes = np.minimum(yes, sums)
        return cls(p[starts], sums, yes, count, np.add.reduceat(weight * weight, starts))

    def merged(self, starts: Indices) -> Cells:
        """Neighbours made one: a cell begins at each of the starts, the first of which is 0."""
        if len(starts) == len(self):
            return self
        stops = np.append(starts[1:], len(self))
        weight = np.add.reduceat(self.weight, starts)
        sums = np.add.reduceat(self.weight * self.forecast, starts)
        # rounding must not move a mean of equal forecasts off their value
        mean = np.clip(sums / weight, self.forecast[starts], self.forecast[stops - 1])
        plain = self.count is self.weight
        count = weight if plain else np.add.reduceat(self.count, starts)
        squares = weight if plain else np.add.reduceat(self.squares, starts)
        shared = self.shared
        if shared is not None:
            shared = replace(shared, cell=spread(starts, len(self))[shared.cell])
        yes = np.minimum(np.add.reduceat(self.yes, starts), weight)
        return Cells(mean, weight, yes, count, squares, shared)

    def folded(self, most: int = 10_000, fine_ends: bool = False) -> Cells:
        """At most so many cells, neighbours merged, so that simulations stay cheap.

        Of about equal weight; with ``fine_ends`` ever lighter ones towards both ends, where an
        isotonic fit follows single events.
        """
        if len(self) <= most:
            return self
        cuts = np.arange(1, most) / most
        if fine_ends:
            cuts = np.square(np.sin(np.pi / 2 * cuts))
        return self.merged(starts_by_mass(self.weight, cuts))


def _compact(event: Indices) -> Indices:
    """Codes of events as numbers from 0, below a small multiple of the number of rows."""
    if event.min() >= 0 and event.max() < 4 * len(event) + 1000:
        return event.astype(np.int64, copy=False)
    return np.unique(event, return_inverse=True)[1]

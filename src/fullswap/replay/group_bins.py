"""Errors of forecasts in bins, for everybody and in every group, as rows of a log come in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullswap.base.protocols import Indices, Vector
from fullswap.certificates import EVERYBODY
from fullswap.inputs.memberships import Memberships, memberships_of
from fullswap.metrics.chance import high_squares

BINS = 65
"""Multiples of 1/64, at which forecasts are compared, whoever made them."""
SURE = 100.0
"""All groups together: right forecasts are called clearly off about once in so many logs."""


class Numbered:
    """Groups in the order in which they were met; everybody is the first."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    @property
    def names(self) -> list[Any]:
        """Everybody, and the groups by their numbers."""
        return [EVERYBODY, *self._numbers]

    def joined(self, groups: Sequence[Sequence[str]]) -> Memberships:
        """Rows and their groups, everybody included."""
        found = memberships_of(groups, len(groups))
        for name in found.names:
            self._numbers.setdefault(name, 1 + len(self._numbers))
        places = np.array([self._numbers[name] for name in found.names], np.int64)
        rows = len(found)
        members = np.zeros(rows + len(found.members), np.int64)
        starts = found.starts + np.arange(rows + 1)
        members[found.events + np.arange(len(found.members)) + 1] = places[found.members]
        return Memberships(tuple(self.names), starts, members)


class GroupErrors(NamedTuple):
    """Of every group, each of shape (groups,)."""

    rounds: Vector
    """Forecasts with an outcome."""
    events: Vector
    """Their events."""
    mass: Vector
    """Their total weight; where events have names, an event has its weight once."""
    squares: Vector
    """Squared error, as a sum over events."""
    noise: Vector
    """What chance alone would show of it, on average."""
    high: Vector
    """What 19 of 20 right forecasters would show at most."""


@dataclass(frozen=True)
class _Cells:
    """What named events said, group by group and bin by bin: an event has a few cells."""

    event: Indices
    place: Indices
    """Number of the group times ``BINS``, plus the bin; in rising order."""
    rounds: Vector
    """Forecasts of the event in the cell."""
    share: Vector
    """Their part of the event's weight."""
    said: Vector
    """Σ of these parts times forecasts."""
    happened: Vector
    """Σ of these parts times outcomes."""

    @property
    def spread(self) -> Vector:
        """Variance of ``happened``: all these forecasts come true, or none."""
        own: Vector = self.said * (self.share - self.said)
        return own

    def sums(self, groups: int) -> NDArray[np.float64]:
        """As ``GroupBins`` keeps them."""
        ones = np.ones(len(self.event))
        columns = self.rounds, ones, self.share, self.said, self.happened, self.spread
        return _summed(self.place, columns, groups)

    def events(self, groups: int) -> Vector:
        """Events of every group."""
        many = int(self.event.max(initial=0)) + 1
        pairs = np.unique(self.place // BINS * many + self.event)
        return np.bincount(pairs // many, minlength=groups).astype(np.float64)

    def shared(self, group: int, held: Vector) -> NDArray[np.float64] | None:
        """What chance shows of a group in every two bins, at most; None if events have one bin.

        ``held``: the weight in each of its bins.
        """
        from scipy.sparse import csr_array

        begin, end = np.searchsorted(self.place, [group * BINS, (group + 1) * BINS])
        bins = self.place[begin:end] - group * BINS
        events, rows = np.unique(self.event[begin:end], return_inverse=True)
        if len(events) == len(bins):
            return None
        gaps = np.sqrt(np.maximum(self.spread[begin:end], 0.0) / held[bins])
        table = csr_array((gaps, (rows, bins)), shape=(len(events), BINS))
        found: NDArray[np.float64] = (table.T @ table).toarray()
        return found


class GroupBins:
    """The error of forecasts for everybody and in every group, in bins of 1/64.

    Forecasts of one event share its weight, as they do in certificates: every event counts once.
    They come true together or not at all, so chance shows more of them than of as many events. How
    many an event has is known at the end only: rows of named events are kept.

    An event counts once in every call in which it has outcomes. Where a state goes on, forecasts
    that waited are counted when their outcome comes, those of earlier calls too; what was counted
    by an earlier call is not known any more, so later forecasts of such an event are one of their
    own.
    """

    def __init__(self) -> None:
        # forecasts, events, weight, Σ w·p, Σ w·y and the variance of that; by group and bin
        self._sums = np.zeros((6, 1, BINS))
        self._named: list[tuple[Any, ...]] = []
        self._cells: _Cells | None = None

    def add(
        self, y: Vector, p: Vector, weight: Vector | None, joined: Memberships | None = None,
        events: Indices | None = None,
    ) -> None:  # fmt: skip
        """Rows with outcomes; those without a forecast are left out.

        Parameters
        ----------
        y, p, weight
            Outcomes, forecasts and weights; None: all weigh 1.
        joined
            Groups of the rows, everybody included; None: everybody alone.
        events
            Numbers of the events of the rows, for all rows or for none; None: a row is an event.
        """
        w = np.ones(len(y)) if weight is None else weight
        rows, members = np.arange(len(y)), np.zeros(len(y), np.int64)
        if joined is not None:
            rows, members = joined.events, joined.members
            self._widen(len(joined.names))
        keep = ~np.isnan(p[rows])
        rows, members = rows[keep], members[keep]
        y, p, w = y[rows], p[rows], w[rows]
        place = members * BINS + np.rint(p * (BINS - 1)).astype(np.int64)
        if events is None:
            ones = np.ones(len(rows))
            columns = ones, ones, w, w * p, w * y, w * w * p * (1.0 - p)
            self._sums += _summed(place, columns, self._sums.shape[1])
        else:
            self._named.append((events[rows], place, y, p, w))
            self._cells = None

    def _widen(self, groups: int) -> None:
        more = groups - self._sums.shape[1]
        if more > 0:
            self._sums = np.pad(self._sums, ((0, 0), (0, more), (0, 0)))

    def _counted(self) -> tuple[NDArray[np.float64], _Cells | None]:
        """All sums; and the cells of named events."""
        if not self._named:
            return self._sums, None
        if self._cells is None:
            columns: Any = zip(*self._named, strict=True)
            self._cells = _cells_of(*map(np.concatenate, columns))
        return self._cells.sums(self._sums.shape[1]), self._cells

    # --- answers --------------------------------------------------------------------------------

    def errors(self, groups: int) -> GroupErrors:
        """Of the first so many groups."""
        sums, cells = self._counted()
        rounds, trials, mass, said, happened, spread = sums
        held = np.where(mass > 0, mass, 1.0)
        noise = spread / held
        events = trials.sum(axis=1) if cells is None else cells.events(len(mass))
        high = np.zeros(len(mass))
        for k, own in enumerate(zip(said / held, trials, noise, strict=True)):
            table = None if cells is None else cells.shared(k, held[k])
            more = 0.0 if table is None else _squares(table) - _squares(np.diagonal(table))
            high[k] = high_squares(*own, more=2 * max(more, 0.0))
        squares = (np.square(said - happened) / held).sum(axis=1)
        found = rounds.sum(axis=1), events, mass.sum(axis=1), squares, noise.sum(axis=1), high
        return GroupErrors(*(_padded(column, groups, 0.0) for column in found))

    def everybody(self) -> tuple[float, float]:
        """How far off forecasts are, in root mean square, and by chance alone; NaN without any."""
        _, _, mass, said, happened, spread = self._counted()[0][:, 0]
        if not mass.any():
            return math.nan, math.nan
        some = mass > 0
        error, noise = (
            float((own[some] / mass[some]).sum() / mass.sum())
            for own in (np.square(said - happened), spread)
        )
        return math.sqrt(error), math.sqrt(noise)

    def excess(self, groups: int) -> Vector:
        """The squared error beyond chance, over what is clearly too much; above 1: clearly off.

        In a bin of calibrated forecasts the squared gap over the mass is about s times the square
        of a normal number, where s is what chance shows. A sum of such squares exceeds its mean by
        2·sqrt(x·Σs²) + 2·x·max s with chance at most exp(-x) [Laurent and Massart 2000]. One event
        more is added to s, so that a rare one that happens is no proof. Where an event has
        forecasts in several bins their gaps hang together: then the s are the eigenvalues of a
        table, which are largest if gaps of an event are as alike as can be.
        """
        sums, cells = self._counted()
        _, trials, mass, said, happened, spread = sums
        held = np.where(mass > 0, mass, 1.0)
        one = np.where(mass > 0, held / np.square(np.maximum(trials, 1.0)), 0.0)
        chance = spread / held + one
        total, largest = np.square(chance).sum(axis=1), chance.max(axis=1)
        for k in range(len(mass)):
            table = None if cells is None else cells.shared(k, held[k])
            if table is not None:
                table += np.diag(one[k])
                total[k], largest[k] = _squares(table), np.linalg.eigvalsh(table)[-1]
        beyond = (np.square(said - happened) - spread) / held
        x = math.log(SURE * max(groups - 1, 1))
        most = 2 * np.sqrt(x * total) + 2 * x * largest
        found = np.where(most > 0, beyond.sum(axis=1) / np.where(most > 0, most, 1), 0)
        return _padded(found, groups, -math.inf)

    def outcomes(self) -> tuple[Vector, Vector]:
        """Of every group: events, and the share of outcomes that are 1."""
        sums, cells = self._counted()
        _, events, mass, _, happened, _ = (row.sum(axis=1) for row in sums)
        if cells is not None:
            events = cells.events(len(mass))
        return events, happened / np.where(mass > 0, mass, 1.0)


def _summed(place: Indices, columns: Sequence[Vector], groups: int) -> NDArray[np.float64]:
    """Sums by group and bin, shape (columns, groups, bins)."""
    found = [np.bincount(place, values, groups * BINS) for values in columns]
    return np.stack(found).reshape(len(columns), groups, BINS)


def _cells_of(events: Indices, place: Indices, y: Vector, p: Vector, w: Vector) -> _Cells:
    """Of rows of named events, each of which comes once for every group, and for everybody."""
    forecasts = np.bincount(events[place < BINS])
    share = w / forecasts[events]
    many = len(forecasts)
    cells, row_cells = np.unique(place * many + events, return_inverse=True)
    columns = np.ones(len(y)), share, share * p, share * y
    sums = (np.bincount(row_cells, values, len(cells)) for values in columns)
    return _Cells(cells % many, cells // many, *sums)


def _squares(values: NDArray[np.float64]) -> float:
    return float(np.square(values).sum())


def _padded(values: Vector, length: int, blank: float) -> Vector:
    return np.concatenate([values, np.full(length - len(values), blank)])

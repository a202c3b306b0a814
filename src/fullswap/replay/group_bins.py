"""Errors of forecasts in bins, for everybody and in every group, as rows of a log come in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base.protocols import Indices, Points, Vector
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


@dataclass(frozen=True)
class GroupError:
    """How far off forecasts are in one group; nothing was counted where ``mass`` is 0."""

    rounds: int = 0
    """Forecasts with an outcome."""
    events: int = 0
    """Their events."""
    mass: float = 0.0
    """Their total weight; where events have names, an event has its weight once."""
    squares: float = 0.0
    """Squared error, as a sum over events."""
    noise: float = 0.0
    """What chance alone would show of it, on average."""
    high: float = 0.0
    """What 19 of 20 right forecasters would show at most."""
    excess: float = -math.inf
    """The squared error beyond chance, over what is clearly too much; above 1: clearly off."""


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

    @cached_property
    def spread(self) -> Vector:
        """Variance of ``happened``: all these forecasts come true, or none."""
        own: Vector = self.said * (self.share - self.said)
        return own

    def sums(self, groups: int) -> NDArray[np.float64]:
        """As ``GroupBins`` keeps them."""
        ones = np.ones(len(self.event))
        columns = self.rounds, ones, self.share, self.said, self.happened, self.spread
        return _summed(self.place, columns, groups)

    def within(self, group: int) -> slice:
        """The cells of one group."""
        begin, end = np.searchsorted(self.place, [group * BINS, (group + 1) * BINS]).tolist()
        return slice(begin, end)

    def events(self, group: int) -> int:
        """How many events have forecasts in a group."""
        return len(np.unique(self.event[self.within(group)]))

    def shared(self, group: int, mass: Vector) -> Points:
        """What chance shows in every two bins of a group, at most; ``mass`` is that of the bins."""
        from scipy.sparse import csr_array

        own = self.within(group)
        bins = self.place[own] - group * BINS
        events, rows = np.unique(self.event[own], return_inverse=True)
        gaps = np.sqrt(np.maximum(self.spread[own], 0.0) / np.where(mass > 0, mass, 1.0)[bins])
        table = csr_array((gaps, (rows, bins)), shape=(len(events), BINS))
        found: Points = (table.T @ table).toarray()
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

    def errors(self, groups: int) -> list[GroupError]:
        """Of so many groups, of which the last may have no row yet."""
        sums, cells = self._counted()
        sure = math.log(SURE * max(groups - 1, 1))
        found = [_error(sums[:, k], cells, k, sure) for k in range(sums.shape[1])]
        return found + [GroupError()] * (groups - len(found))

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

    def outcomes(self) -> tuple[Vector, Vector]:
        """Of every group: events, and the share of outcomes that are 1."""
        sums, cells = self._counted()
        _, events, mass, _, happened, _ = (row.sum(axis=1) for row in sums)
        if cells is not None:
            events = np.array([float(cells.events(k)) for k in range(len(mass))])
        return events, happened / np.where(mass > 0, mass, 1.0)


def _summed(place: Indices, columns: Sequence[Vector], groups: int) -> NDArray[np.float64]:
    """Sums by group and bin, shape (columns, groups, bins)."""
    found = np.zeros((len(columns), groups * BINS))
    for row, values in zip(found, columns, strict=True):
        row += np.bincount(place, values, groups * BINS)
    return found.reshape(len(columns), groups, BINS)


def _cells_of(events: Indices, place: Indices, y: Vector, p: Vector, w: Vector) -> _Cells:
    """Of rows of named events, each of which comes once for every group, and for everybody."""
    forecasts = np.bincount(events[place < BINS])
    share = w / forecasts[events]
    many = len(forecasts)
    cells, row_cells = np.unique(place * many + events, return_inverse=True)
    columns = np.ones(len(y)), share, share * p, share * y
    sums: Any = (np.bincount(row_cells, values, len(cells)) for values in columns)
    return _Cells(cells % many, cells // many, *sums)


def _error(sums: Points, cells: _Cells | None, group: int, sure: float) -> GroupError:
    """Of one group; right forecasts are called clearly off with chance exp(-sure) at most.

    In a bin of calibrated forecasts the squared gap over the mass is about s times the square of a
    normal number, where s is what chance shows. A sum of such squares exceeds its mean by
    2·sqrt(x·Σs²) + 2·x·max s with chance at most exp(-x) [Laurent and Massart 2000]. One event more
    is added to s, so that a rare one that happens is no proof. Where an event has forecasts in
    several bins, their gaps hang together: then s are the eigenvalues of a table, and they are
    largest if the gaps of each event are as alike as can be.
    """
    rounds = int(sums[0].sum())
    events = rounds if cells is None else cells.events(group)
    some = sums[2] > 0
    if not some.any():
        return GroupError(rounds, events)
    _, trials, mass, said, happened, spread = sums[:, some]
    noise, one = spread / mass, mass / np.square(trials)
    table = np.diag(noise) if cells is None else cells.shared(group, sums[2])[np.ix_(some, some)]
    clear = table + np.diag(one)
    shared = 2 * float(np.square(table - np.diag(np.diagonal(table))).sum())
    squares = np.square(said - happened) / mass
    largest = clear.max() if cells is None else np.linalg.eigvalsh(clear)[-1]
    most = 2 * math.sqrt(sure * float(np.square(clear).sum())) + 2 * sure * float(largest)
    return GroupError(
        rounds=rounds,
        events=events,
        mass=float(mass.sum()),
        squares=float(squares.sum()),
        noise=float(noise.sum()),
        high=high_squares(said / mass, trials, noise, more=shared),
        excess=float((squares - noise).sum()) / most,
    )

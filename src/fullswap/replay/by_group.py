"""Groups of a replayed log: how far off before and after, and what is guaranteed of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.certificates import EVERYBODY, GroupRow, GroupTable
from fullswap.certificates.by_group import high_together
from fullswap.certificates.words import points
from fullswap.checking.export import table_lines
from fullswap.inputs.memberships import Memberships, memberships_of
from fullswap.metrics.chance import high_squares

WIDTH = 64
"""Bins of the interval from 0 to 1 in which forecasts are compared, whoever made them."""
MOST_GROUPS = 10
"""Groups that are listed; the rest are counted, and everybody is always there."""
VAIN = 1.0
"""Nobody can be further off: a guarantee of as much says nothing."""
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


class GroupBins:
    """The error of forecasts in every group, in bins of 1/64."""

    def __init__(self) -> None:
        self._sums = np.zeros((5, 1, WIDTH + 1))

    def add(self, y: Vector, p: Vector, weight: Vector | None, joined: Memberships) -> None:
        """Rows with outcomes; those without a forecast are left out."""
        many = max(len(joined.names), self._sums.shape[1])
        if many > self._sums.shape[1]:
            wider = np.zeros((5, many, WIDTH + 1))
            wider[:, : self._sums.shape[1]] = self._sums
            self._sums = wider
        w = np.ones(len(y)) if weight is None else weight
        rows = joined.events
        keep = ~np.isnan(p[rows])
        rows, members = rows[keep], joined.members[keep]
        bins = np.rint(p[rows] * WIDTH).astype(np.int64) + members * (WIDTH + 1)
        columns = np.ones(len(y)), w, w * p, w * y, w * w * p * (1.0 - p)
        for total, values in zip(self._sums, columns, strict=True):
            found = np.bincount(bins, values[rows], many * (WIDTH + 1))
            total += found.reshape(many, WIDTH + 1)

    def table(self, groups: int) -> Points:
        """Rounds, mass, squared error, what chance would show of it, and in 19 of 20 cases at most.

        Shape (5, groups).
        """
        rounds, mass, said, happened, spread = self._sums
        held = np.where(mass > 0, mass, 1.0)
        squares = np.square(said - happened) / held
        found = np.zeros((5, groups))
        for own, values in zip(found[:4], (rounds, mass, squares, spread / held), strict=True):
            own[: len(values)] = values.sum(axis=1)
        cells = said / held, rounds, spread / held
        found[4, : len(mass)] = [high_squares(*own) for own in zip(*cells, strict=True)]
        return found

    def excess(self, groups: int) -> Vector:
        """The squared error beyond chance, over what is clearly too much; above 1: clearly off.

        In a bin of calibrated forecasts the squared gap over the mass is about s times the square
        of a normal number, where s is what chance shows. A sum of such squares exceeds its mean by
        2·sqrt(x·Σs²) + 2·x·max s with chance at most exp(-x) [Laurent and Massart 2000]. One event
        more is added to s, so that a rare one that happens is no proof.
        """
        rounds, mass, said, happened, spread = self._sums
        held = np.where(mass > 0, mass, 1.0)
        one = np.square(held / np.maximum(rounds, 1.0))
        chance = np.where(mass > 0, (spread + one) / held, 0.0)
        beyond = (np.square(said - happened) - spread) / held
        x = math.log(SURE * max(groups - 1, 1))
        most = 2 * np.sqrt(x * np.square(chance).sum(axis=1)) + 2 * x * chance.max(axis=1)
        found = np.full(groups, -np.inf)
        found[: len(most)] = np.where(most > 0, beyond.sum(axis=1) / np.where(most > 0, most, 1), 0)
        return found

    def outcomes(self) -> tuple[Vector, Vector]:
        """Of every group: rounds, and the share of outcomes that are 1."""
        rounds, mass, _, happened, _ = (row.sum(axis=1) for row in self._sums)
        return rounds, happened / np.where(mass > 0, mass, 1.0)


@dataclass(frozen=True)
class GroupChange:
    """One group; shares, not percents, in root mean square."""

    name: Any
    rounds: int
    """Forecasts with an outcome, in this call."""
    mass: float
    """Their total weight."""
    before: float | None
    """How far the model's own probabilities are off; None without any."""
    before_noise: float | None
    """What chance alone would show of it, were they right."""
    points: float | None
    """How far the issued forecasts are off; None without an outcome."""
    points_noise: float | None
    """What chance alone would show of that."""
    points_after_the_fact: float | None
    """At most so far off, known from the run; over all calls."""
    points_guaranteed: float | None
    """At most so far off, known before the first forecast; None where nothing is guaranteed."""
    beyond_chance: float
    """By which groups are sorted: the squared error over what chance would show."""
    points_high: float | None = None
    """So far off, or less, would 19 of 20 right forecasters seem by chance; None if unknown."""
    all_rounds: int = 0
    """Forecasts with an outcome in all calls, over which the guarantees hold."""
    excess_before: float | None = None
    """How much less chance explains of the model's error than it would have to; above 1: the model
    is clearly off in this group."""
    excess: float | None = None
    """The same of the issued forecasts."""

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True)
class GroupChanges:
    """Everybody and all groups, those least explained by chance first."""

    rows: tuple[GroupChange, ...]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def in_advance(self) -> bool:
        """Whether anything was guaranteed before the first forecast."""
        return any(row.points_guaranteed is not None for row in self.rows)

    @property
    def promised(self) -> str:
        """What the last column of a table is about."""
        return "guaranteed" if self.in_advance else "after the fact"

    def shown(self, most: int = MOST_GROUPS) -> tuple[list[GroupChange], int]:
        """The worst groups, everybody among them, and how many more there are."""
        groups = [row for row in self.rows if row.name != EVERYBODY]
        kept = {id(row) for row in groups[:most]}
        own = [row for row in self.rows if row.name == EVERYBODY or id(row) in kept]
        return own, max(len(groups) - most, 0)

    def heads(self) -> list[str]:
        """Names of the columns of a table."""
        before = ["before", "chance"] if self._with_model else []
        after = "after" if self._with_model else "off"
        so_far = ["of all"] if self.goes_on else []
        return ["group", "forecasts", *before, after, "chance", self.promised, *so_far]

    @property
    def goes_on(self) -> bool:
        """Whether guarantees are of more forecasts than this call's."""
        return any(row.all_rounds != row.rounds for row in self.rows)

    @property
    def _with_model(self) -> bool:
        return any(row.before is not None for row in self.rows)

    def cells(self, row: GroupChange) -> list[str]:
        """A row of the table, in percentage points."""
        before = [_shown(row.before), _shown(row.before_noise)] if self._with_model else []
        after = _shown(row.points), _shown(row.points_noise)
        most = row.points_guaranteed if self.in_advance else row.points_after_the_fact
        limit = "too few" if most is not None and most >= VAIN else _shown(most, up=True)
        so_far = [f"{row.all_rounds:,}"] if self.goes_on else []
        return [str(row.name), f"{row.rounds:,}", *before, *after, limit, *so_far]

    def lines(self) -> list[str]:
        """A table as text."""
        own, more = self.shown()
        rows = [tuple([*cells, ""]) for cells in (self.heads(), *map(self.cells, own))]
        rest = [f"and {more:,} more"] if more else []
        title = "Groups, those least explained by chance first (percentage points, root mean "
        whole = [f"{self.so_far}."] if self.goes_on else []
        return [f"{title}square):", *table_lines(rows), *rest, *whole]

    @property
    def so_far(self) -> str:
        """What the last columns are about, after a call before."""
        return (
            f'Off and chance are of this call; "{self.promised}" is of all forecasts so far, '
            'which "of all" counts'
        )

    def to_dict(self) -> list[dict[str, Any]]:
        """All rows as plain data."""
        return [row.to_dict() for row in self.rows]


def _shown(share: float | None, up: bool = False) -> str:
    return "–" if share is None else points(share, up=up)


def changes_of(
    names: list[Any], before: GroupBins | None, after: GroupBins, tables: list[GroupTable]
) -> GroupChanges:
    """What was counted in this call, with what is guaranteed of all streams together.

    Groups of earlier calls alone are there as well, without a row of this one.
    """
    held: dict[Any, list[GroupRow]] = {name: [] for name in names}
    for table in tables:
        for row in table:
            if row.mass:
                held.setdefault(row.name, []).append(row)
    names = list(held)
    earlier = None if before is None else before.table(len(names))
    clear = None if before is None else before.excess(len(names))
    excess = after.excess(len(names))
    rows = []
    for k, (name, (rounds, mass, squares, spread, high)) in enumerate(
        zip(names, after.table(len(names)).T.tolist(), strict=True)
    ):
        _, mass_before, off, chance = (0.0,) * 4 if earlier is None else earlier[:4, k].tolist()
        own = held[name]
        rows.append(GroupChange(
            name, int(rounds), mass, _root(off, mass_before), _root(chance, mass_before),
            _root(squares, mass), _root(spread, mass),
            _together(own, "after_the_fact"), _together(own, "guaranteed"),
            (squares - spread) / math.sqrt(max(spread, 1.0)) if mass else -math.inf,
            _root(high, mass),
            sum(row.rounds for row in own) if own else int(rounds),
            None if clear is None or not mass_before else float(clear[k]),
            float(excess[k]) if mass else None,
        ))  # fmt: skip
    return GroupChanges(tuple(sorted(rows, key=lambda row: -row.beyond_chance)))


def totals_of(tables: list[GroupTable]) -> GroupChanges | None:
    """The same of all calls, as certificates have it, without the model; None without groups."""
    held: dict[Any, list[GroupRow]] = {}
    for table in tables:
        for row in table:
            if row.mass:
                held.setdefault(row.name, []).append(row)
    rows = []
    for name, own in held.items():
        squares, spread = (
            sum(getattr(row.certificate, what) or 0.0 for row in own)
            for what in ("measured", "noise")
        )
        rows.append(GroupChange(
            name, sum(row.rounds for row in own), sum(row.mass for row in own), None, None,
            _together(own, "measured"), _together(own, "noise"),
            _together(own, "after_the_fact"), _together(own, "guaranteed"),
            (squares - spread) / math.sqrt(max(spread, 1.0)),
            high_together(row.certificate for row in own), sum(row.rounds for row in own),
        ))  # fmt: skip
    rows.sort(key=lambda row: -row.beyond_chance)
    return GroupChanges(tuple(rows)) if rows else None


def _root(total: float, mass: float) -> float | None:
    return math.sqrt(max(total, 0.0) / mass) if mass else None


def _together(rows: list[GroupRow], what: str) -> float | None:
    """At most so far off in all streams together: errors of streams add up at most."""
    bounds = [getattr(row.certificate, what) for row in rows]
    if not bounds or any(bound is None for bound in bounds):
        return None
    return math.sqrt(max(sum(bounds), 0.0) / sum(row.mass for row in rows))

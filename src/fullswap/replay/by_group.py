"""Groups of a replayed log: how far off before and after, and what is guaranteed of each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fullswap.certificates import EVERYBODY, GroupRow, GroupTable
from fullswap.certificates.by_group import (
    beyond_chance,
    rows_by_name,
    shown_limit,
    shown_points,
)
from fullswap.checking.export import table_lines
from fullswap.replay.group_bins import GroupBins, GroupError

MOST_LISTED = 10
"""Groups that are listed; the rest are counted, and everybody is always there."""
AVERAGE = (
    "Root mean square weighs large errors more than the average error at the top, and is usually "
    "larger."
)
"""Why everybody's number is another one than in the first sentence of a replay."""
SORTED = "Sorted by after beside its chance; the group that was worst before is named at the top."


@dataclass(frozen=True)
class GroupChange:
    """One group; shares, not percents, in root mean square."""

    name: Any
    rounds: int
    """Forecasts with an outcome, in this call."""
    events: int
    """Their events, each of which counts once."""
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
    def measured(self) -> list[GroupChange]:
        """Groups with outcomes in this call, without everybody."""
        return [row for row in self.rows if row.name != EVERYBODY and row.points is not None]

    @property
    def in_advance(self) -> bool:
        """Whether anything was guaranteed before the first forecast."""
        return any(row.points_guaranteed is not None for row in self.rows)

    @property
    def promised(self) -> str:
        """What the last column of a table is about."""
        return "guaranteed" if self.in_advance else "after the fact"

    def shown(self, most: int = MOST_LISTED) -> tuple[list[GroupChange], int]:
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
        events = ["events"] if self._with_events else []
        return ["group", "forecasts", *events, *before, after, "chance", self.promised, *so_far]

    @property
    def goes_on(self) -> bool:
        """Whether guarantees are of more forecasts than this call's."""
        return any(row.all_rounds != row.rounds for row in self.rows)

    @property
    def _with_events(self) -> bool:
        """Whether some events have several forecasts."""
        return any(row.events != row.rounds for row in self.rows)

    @property
    def _with_model(self) -> bool:
        return any(row.before is not None for row in self.rows)

    def cells(self, row: GroupChange) -> list[str]:
        """A row of the table, in percentage points."""
        pairs = [(row.before, row.before_noise)] if self._with_model else []
        pairs.append((row.points, row.points_noise))
        errors = [shown_points(share) for pair in pairs for share in pair]
        most = row.points_guaranteed if self.in_advance else row.points_after_the_fact
        so_far = [f"{row.all_rounds:,}"] if self.goes_on else []
        events = [f"{row.events:,}"] if self._with_events else []
        return [str(row.name), f"{row.rounds:,}", *events, *errors, shown_limit(most), *so_far]

    def lines(self) -> list[str]:
        """A table as text."""
        own, more = self.shown()
        rows = [tuple([*cells, ""]) for cells in (self.heads(), *map(self.cells, own))]
        rest = [f"and {more:,} more"] if more else []
        title = "Groups, those least explained by chance first (percentage points, root mean "
        notes = [AVERAGE] if self.rows else []
        notes += [SORTED] if self._with_model else []
        whole = [f"{self.so_far}."] if self.goes_on else []
        return [f"{title}square):", *table_lines(rows), *rest, *notes, *whole]

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


def changes_of(
    names: list[Any], before: GroupBins | None, after: GroupBins, tables: list[GroupTable]
) -> GroupChanges:
    """What was counted in this call, with what is guaranteed of all streams together.

    Groups of earlier calls alone are there as well, without a row of this one.
    """
    held = {name: list[GroupRow]() for name in names} | rows_by_name(tables)
    nothing = [GroupError()] * len(held)
    earlier = nothing if before is None else before.errors(len(held))
    rows = []
    for (name, own), was, now in zip(held.items(), earlier, after.errors(len(held)), strict=True):
        rows.append(GroupChange(
            name=name,
            rounds=now.rounds,
            events=now.events,
            mass=now.mass,
            before=_root(was.squares, was.mass),
            before_noise=_root(was.noise, was.mass),
            points=_root(now.squares, now.mass),
            points_noise=_root(now.noise, now.mass),
            points_after_the_fact=_together(own, "after_the_fact"),
            points_guaranteed=_together(own, "guaranteed"),
            beyond_chance=beyond_chance(now.squares, now.noise, now.mass),
            points_high=_root(now.high, now.mass),
            all_rounds=sum(row.rounds for row in own) if own else now.rounds,
            excess_before=was.excess if was.mass else None,
            excess=now.excess if now.mass else None,
        ))  # fmt: skip
    return GroupChanges(tuple(sorted(rows, key=lambda row: -row.beyond_chance)))


def _root(total: float, mass: float) -> float | None:
    return math.sqrt(max(total, 0.0) / mass) if mass else None


def _together(rows: list[GroupRow], what: str) -> float | None:
    """At most so far off in all streams together: errors of streams add up at most."""
    bounds = [getattr(row.certificate, what) for row in rows]
    if not bounds or any(bound is None for bound in bounds):
        return None
    return math.sqrt(max(sum(bounds), 0.0) / sum(row.mass for row in rows))

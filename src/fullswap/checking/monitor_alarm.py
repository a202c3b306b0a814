"""What an alarm says."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from fullswap.base import checks
from fullswap.base.amounts import counted
from fullswap.base.protocols import Vector
from fullswap.checking.bets import flaw_of
from fullswap.kernels.evidence import BEST, RANG_AT, SINCE

MOST_ALARMS = 1000
"""So many are kept, the latest ones; the others are counted."""


@dataclass(frozen=True)
class Alarm:
    """Forecasts went wrong: rows ``since`` to ``at`` − 1 of the stream, counted from 0.

    Attributes
    ----------
    at : int
        Events seen when it rang.
    since : int
        Events seen when the forecasts began to go wrong, as far as one can tell.
    direction : str
        "too high", "too low", "over-confident", "under-confident", or where between.
    shift, slope : float
        Since then events have happened about as σ(shift + slope·logit p) says.
    low, high : float
        The forecasts that this is about.
    label : int or None
        The class that this is about, where there are more than two.
    run_length : float
        Calibrated forecasts ring at most once in so many events, on average.
    last : int
        Events seen when it rang last for the same flaw.
    rings : int
        How often it rang for it.
    """

    at: int
    since: int
    direction: str
    shift: float
    slope: float
    low: float
    high: float
    label: int | None
    run_length: float
    last: int
    rings: int = 1

    def __str__(self) -> str:
        again = ""
        if self.rings > 1:
            again = f" It has rung {self.rings:,} times, last after {counted(self.last, 'event')}."
        return (
            f"Alarm after {counted(self.at, 'event')}: forecasts have been {self.direction} since "
            f"about event {self.since + 1:,}.{again} Right ones ring at most once in "
            f"{self.run_length:,.0f} events on average."
        )

    @classmethod
    def of_row(cls, row: Vector, classes: int, run_length: float) -> Alarm:
        """The last one of a row."""
        flaw = flaw_of(int(row[BEST]), row, classes)
        at = int(row[RANG_AT]) + 1
        return cls(
            at, int(row[SINCE]), flaw.direction, flaw.shift, flaw.slope, flaw.low, flaw.high,
            flaw.label, run_length, at,
        )  # fmt: skip

    def to_list(self) -> list[Any]:
        """Plain data, in the order of the fields."""
        return list(asdict(self).values())

    @classmethod
    def from_list(cls, stored: Any) -> Alarm:
        """What ``to_list`` gave, checked."""
        if not isinstance(stored, list) or len(stored) != len(fields(cls)):
            checks.refuse("alarms", f"have {len(fields(cls))} entries each", stored)
        at, since, direction, shift, slope, low, high, label, run_length, last, rings = stored
        whole = all(checks.is_whole(n) for n in (at, since, last, rings))
        whole = whole and 0 <= since < at <= last and rings >= 1
        sound = whole and isinstance(direction, str) and (label is None or checks.is_whole(label))
        numbers = (shift, slope, low, high, run_length)
        if not sound or not all(type(x) is float and math.isfinite(x) for x in numbers):
            checks.refuse("alarms", "be alarms as to_json() writes them", stored)
        return cls(*stored)


def note(alarms: list[Alarm], alarm: Alarm) -> None:
    """Add the latest alarm; one that rings again for the same flaw is counted with the first."""
    while alarms and alarm.since < alarms[-1].last:
        first = alarms.pop()
        since = min(first.since, alarm.since)
        alarm = replace(alarm, at=first.at, since=since, rings=first.rings + alarm.rings)
    alarms.append(alarm)
    del alarms[:-MOST_ALARMS]

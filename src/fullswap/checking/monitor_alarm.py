"""What an alarm says."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any

from fullswap.base import checks
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

    def __str__(self) -> str:
        return (
            f"Alarm after {self.at:,} events: forecasts have been {self.direction} since about "
            f"event {self.since + 1:,}. Right ones ring at most once in {self.run_length:,.0f} "
            "events on average."
        )

    @classmethod
    def of_row(cls, row: Vector, classes: int, run_length: float) -> Alarm:
        """The last one of a row."""
        flaw = flaw_of(int(row[BEST]), row, classes)
        return cls(
            int(row[RANG_AT]) + 1, int(row[SINCE]), flaw.direction, flaw.shift, flaw.slope,
            flaw.low, flaw.high, flaw.label, run_length,
        )  # fmt: skip

    def to_list(self) -> list[Any]:
        """Plain data, in the order of the fields."""
        return list(asdict(self).values())

    @classmethod
    def from_list(cls, stored: Any) -> Alarm:
        """What ``to_list`` gave, checked."""
        if not isinstance(stored, list) or len(stored) != len(fields(cls)):
            checks.refuse("alarms", f"have {len(fields(cls))} entries each", stored)
        at, since, direction, shift, slope, low, high, label, run_length = stored
        whole = all(checks.is_whole(n) for n in (at, since)) and 0 <= since < at
        sound = whole and isinstance(direction, str) and (label is None or checks.is_whole(label))
        numbers = (shift, slope, low, high, run_length)
        if not sound or not all(type(x) is float and math.isfinite(x) for x in numbers):
            checks.refuse("alarms", "be alarms as to_json() writes them", stored)
        return cls(*stored)

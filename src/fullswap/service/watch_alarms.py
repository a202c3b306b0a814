"""The life of an alarm: it begins, is acknowledged, and is over when the monitor is quiet again.

While an alarm is active further rings are counted, not reported. It is over ("recovered") when the
monitor has not rung for four times as many events as it took to ring last, and 200 at least: all of
the monitor begins anew with each ring, so what goes on being wrong would have rung several times in
that span. After an acknowledgement a ring whose flaw began later is a new alarm, and the one before
is over: what it was about has given way to something else.

Events are those that the monitor saw. Clocks may jump: what comes after an alarm is never given a
time before it.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from fullswap.base.protocols import Vector
from fullswap.checking.monitor_alarm import Alarm

MOST_KEPT = 50
"""Alarms of a stream that are kept, the latest ones."""
QUIET_LEAST = 200
QUIET_TIMES = 4


class Episode(Struct, forbid_unknown_fields=True):
    """One alarm of a stream, from its first ring on."""

    number: int
    """Counted from 1 in its stream."""
    time: float
    at: int
    since: int
    since_time: float | None
    direction: str
    last: int
    """Events when it rang last."""
    quiet: int
    """So many events without a ring, and it is over."""
    rings: int = 1
    acknowledged_at: int | None = None
    """Events then."""
    acknowledged_time: float | None = None
    recovered_time: float | None = None

    @property
    def active(self) -> bool:
        """Whether it is not over."""
        return self.recovered_time is None

    @property
    def recovers(self) -> int:
        """Events at which it is over, if it does not ring again."""
        return self.last + self.quiet

    def ring(self, at: int, since: int, since_time: float | None) -> None:
        """It rang again; what began before the last ring is the same flaw, and older than thought.

        So does ``checking.monitor_alarm.note`` have it.
        """
        self.quiet = _quiet(at - max(since, self.last))
        if since < self.since:
            self.since = since
            self.since_time = None if since_time is None else min(since_time, self.time)
        self.last = at
        self.rings += 1

    def is_other(self, since: int) -> bool:
        """Whether a ring is about something that began after the acknowledgement."""
        return self.acknowledged_at is not None and since >= self.acknowledged_at

    def acknowledge(self, at: int, time: float) -> None:
        """Somebody knows; only the first time counts."""
        if self.acknowledged_at is None:
            self.acknowledged_at, self.acknowledged_time = at, max(time, self.time)

    def recover(self, time: float) -> None:
        """It is over."""
        self.recovered_time = max(time, self.time)

    def to_dict(self, run_length: float) -> dict[str, Any]:
        """Plain data, with a sentence."""
        return {
            "number": self.number,
            "time": self.time,
            "at": self.at,
            "since": self.since,
            "since_time": self.since_time,
            "direction": self.direction,
            "rings": self.rings,
            "acknowledged": self.acknowledged_time is not None,
            "acknowledged_time": self.acknowledged_time,
            "recovered": self.recovered_time is not None,
            "recovered_time": self.recovered_time,
            "text": str(
                Alarm(
                    self.at, self.since, self.direction, 0.0, 1.0, 0.0, 1.0, None, run_length,
                    self.last, self.rings,
                )
            ),
        }  # fmt: skip


def _quiet(took: int) -> int:
    return max(QUIET_LEAST, QUIET_TIMES * took)


def first_ring(number: int, alarm: Alarm, time: float, since_time: float | None) -> Episode:
    """The alarm that begins with this ring."""
    if since_time is not None:
        since_time = min(since_time, time)
    return Episode(
        number, time, alarm.at, alarm.since, since_time, alarm.direction, alarm.at,
        _quiet(alarm.at - alarm.since),
    )  # fmt: skip


def named_direction(direction: str, label: int | None, labels: tuple[Any, ...] | None) -> str:
    """With the name of the class in place of its number."""
    if label is None or labels is None:
        return direction
    return direction.replace(f"class {label}", str(labels[label]))


def time_of(event: int, counts: Vector, times: Vector, began: float) -> float | None:
    """About when the monitor had seen so many events, from the ends of the windows.

    Between two ends it goes evenly.
    """
    if not len(counts):
        return None
    at = int((counts <= event).sum())
    if at >= len(counts):
        return float(times[-1])
    before = (float(counts[at - 1]), float(times[at - 1])) if at else (0.0, began)
    share = (event - before[0]) / (float(counts[at]) - before[0])
    return before[1] + share * (float(times[at]) - before[1])

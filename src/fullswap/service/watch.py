"""Reliability, windows over time, evidence and alarms of all streams of one kind."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base import checks
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.checking.evidence_rows import best_flaw, log10_most, log10_now
from fullswap.checking.monitor_alarm import Alarm
from fullswap.checking.monitor_settings import Settings
from fullswap.kernels.watch import (
    ACKNOWLEDGED,
    ALARM_TIME,
    ALARMS_BEGUN,
    CHANCE,
    DONE,
    ERROR,
    MODEL,
    OUR_CHANCE,
    OUR_ERROR,
    RANG,
    RECOVERS,
    SHOWN_,
)
from fullswap.kernels.watch_sums import BEGAN, SHOWN, TIME
from fullswap.service.watch_alarms import MOST_KEPT, Episode, first_ring, named_direction, time_of
from fullswap.service.watch_detail import reliability_of, spark_of, window_rows, windows_of
from fullswap.service.watch_entries import Entries
from fullswap.service.watch_figures import (
    WORDS,
    certain_of,
    evidence_of,
    strong_of,
    verdicts_of,
)
from fullswap.service.watch_input import read_events
from fullswap.service.watch_state import read_stream, write_stream


class Watch:
    """What is known of many streams of one kind, each an entry by its place.

    What is watched is the model's own probability where it is given, else ours. Verdict, error and
    certain error are about the model if it speaks at least half of the time.

    Forecasts are tallied in 15 bins, narrower towards 0 and 1; of more than two classes it is the
    probability of the likeliest one, against whether it came. The error is the mean of |said −
    happened| over the bins. What chance alone would show is Σ √(2/π)·sd over them, sd² = Σ p·(1 −
    p) as of calibrated forecasts; of one event, and at most, it is Σ 2·p·(1 − p). The certain
    error is what is beyond chance where the evidence has been 20 : 1 or more, else 0.

    Evidence and alarms are those of a ``Monitor`` with the events of this stream alone.

    Parameters
    ----------
    classes : int
        2 for yes or no; K for rows of K probabilities.
    run_length : float or None
        Calibrated streams ring at most once in so many events, on average; None: not watched.
    tolerance : float
        Errors up to this are small, a share.
    labels : tuple, optional
        Names of the classes.
    """

    def __init__(
        self, classes: int, run_length: float | None, tolerance: float,
        labels: tuple[Any, ...] | None = None,
    ) -> None:  # fmt: skip
        settings = Settings(2.0 if run_length is None else run_length, classes, None)
        self.classes = settings.classes
        self.run_length = 0.0 if run_length is None else settings.run_length
        self.tolerance = checks.setting("tolerance", tolerance, least=0.0, most=1.0)
        if labels is not None:
            checks.same_length("labels", labels, "classes", self.classes)
        self.labels = labels
        self._entries = Entries(self.classes, self.run_length)
        self._alarms: dict[int, list[Episode]] = {}

    # --- entries ----------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._entries.count

    def add(self, count: int) -> None:
        """Blank entries behind the others."""
        self._entries.add(checks.whole("count", count, 0))

    def remove(self, place: int) -> None:
        """Make an entry blank again."""
        place = self._place(place)
        self._entries.clear(place)
        self._alarms.pop(place, None)

    def _place(self, place: Any) -> int:
        return checks.whole("place", place, 0, len(self) - 1)

    @property
    def nbytes(self) -> int:
        """Memory of what streams have, alarms not counted."""
        return self._entries.nbytes

    # --- events -----------------------------------------------------------------------------------

    def take(
        self, places: Any, said: Any, ours: Any, outcomes: Any, weights: Any, times: Any,
        bounds: Any = None,
    ) -> list[tuple[int, dict[str, Any]]]:  # fmt: skip
        """Events in order; the alarms that began with them, as (place, alarm).

        Parameters
        ----------
        places : array, shape (m,)
            The stream of each event.
        said, ours : array, shape (n,) or (n, K)
            What the model and what we said; NaN where the model said nothing.
        outcomes : array, shape (m,) in [0, 1], or (m, K)
            Shares of outcomes are tallied, and not shown to the monitor.
        weights, times : array, shape (m,)
            Weights in [0, 1]; when the outcome came.
        bounds : array, shape (m + 1,), optional
            Event k has the forecasts bounds[k] to bounds[k + 1] − 1, which count as one; None: one
            each.
        """
        events = read_events(
            self.classes, len(self), places, said, ours, outcomes, weights, times, bounds
        )
        target = self._entries.make_room(events)
        cursor: Indices = np.zeros(2, np.int64)
        begun = []
        while (what := self._entries.run(events, target, cursor)) != DONE:
            place, event = int(events.touched[cursor[0]]), int(events.order[cursor[1] - 1])
            time = float(events.times[event])
            if what != RANG:
                self._alarms[place][-1].recover(time)
                self._note(place)
            elif self._rang(place, time, self._entries.current(events, target, cursor)):
                begun.append((event, place, self._alarms[place][-1].to_dict(self.run_length)))
        self._entries.finish(events, target)
        begun.sort(key=lambda entry: entry[0])
        return [(place, alarm) for _, place, alarm in begun]

    @property
    def _heads(self) -> Points:
        return self._entries.heads

    # --- alarms -----------------------------------------------------------------------------------

    def _rang(self, place: int, time: float, row: Vector) -> bool:
        """The monitor of a stream rang, as its row says; whether an alarm begins."""
        monitor, rest = row[: self._entries.columns], row[self._entries.columns :]
        alarm = Alarm.of_row(monitor, self.classes, self.run_length)
        windows = windows_of(rest)
        since = time_of(alarm.since, windows[:, SHOWN], windows[:, TIME], float(rest[BEGAN]))
        kept = self._alarms.setdefault(place, [])
        active = kept[-1] if kept and kept[-1].active else None
        if active is not None and not active.is_other(alarm.since):
            active.ring(alarm.at, alarm.since, since)
            self._note(place)
            return False
        if active is not None:
            active.recover(time)
        self._heads[place, ALARMS_BEGUN] += 1
        number = int(self._heads[place, ALARMS_BEGUN])
        begun = first_ring(number, alarm, time, since)
        begun.direction = named_direction(alarm.direction, alarm.label, self.labels)
        kept.append(begun)
        del kept[:-MOST_KEPT]
        self._note(place)
        return True

    def _note(self, place: int) -> None:
        """What heads say of the last alarm."""
        kept, head = self._alarms.get(place, []), self._heads[place]
        active = kept[-1] if kept and kept[-1].active else None
        head[RECOVERS] = math.inf if active is None else active.recovers
        head[ALARM_TIME] = math.nan if active is None else active.time
        head[ACKNOWLEDGED] = active is not None and active.acknowledged_at is not None

    def acknowledge(self, place: int, time: float) -> bool:
        """Somebody knows of the active alarm; False if there is none."""
        place, time = self._place(place), checks.number("time", time)
        kept = self._alarms.get(place, [])
        if not kept or not kept[-1].active:
            return False
        kept[-1].acknowledge(int(self._heads[place, SHOWN_]), time)
        self._note(place)
        return True

    # --- what they say ----------------------------------------------------------------------------

    def columns(self) -> dict[str, NDArray[Any]]:
        """Numbers of all streams: to sort, to filter, to count.

        NaN where there is none yet. ``evidence`` and ``evidence_most`` are log10; ``verdict`` is a
        code, see ``WORDS``; ``alarm`` is 1 where one is active, ``alarm_time`` when it began;
        ``alarms`` counts all that began, ``watched_events`` the events that monitors saw.
        """
        heads = self._heads[: len(self)]
        now, most = evidence_of(heads)
        if not self.run_length:
            now, most = np.full(len(heads), np.nan), np.full(len(heads), np.nan)
        return {
            "certain": certain_of(heads, self.run_length > 0),
            "error": heads[:, ERROR].copy(),
            "evidence": now,
            "evidence_most": most,
            "verdict": verdicts_of(heads, self.classes, self.tolerance, self.run_length > 0),
            "alarm": np.isfinite(heads[:, ALARM_TIME]).astype(np.int8),
            "alarm_time": heads[:, ALARM_TIME].copy(),
            "acknowledged": heads[:, ACKNOWLEDGED].astype(np.int8),
            "alarms": heads[:, ALARMS_BEGUN].astype(np.int64),
            "watched_events": heads[:, SHOWN_].astype(np.int64),
        }

    def rows(self, places: Any) -> list[dict[str, Any]]:
        """What one line says of a stream, for each of these."""
        own = checks.indices("places", places, len(self))
        heads = self._heads[own]
        certain, strong = certain_of(heads, self.run_length > 0), strong_of(heads)
        codes = verdicts_of(heads, self.classes, self.tolerance, self.run_length > 0)
        return [
            self._line(int(place), WORDS[codes[k]], float(certain[k]), bool(strong[k]))
            for k, place in enumerate(own)
        ]

    def _line(self, place: int, verdict: str, certain: float, strong: bool) -> dict[str, Any]:
        row, head = self._entries.row(place), self._heads[place]
        monitor, rest = row[: self._entries.columns], row[self._entries.columns :]
        now = most = direction = None
        if self.run_length:
            now, most = log10_now(monitor), log10_most(monitor)
        if self.run_length and strong:
            flaw = best_flaw(monitor, self.classes)[0]
            direction = named_direction(flaw.direction, flaw.label, self.labels) or None
        kept = self._alarms.get(place, [])
        active = kept[-1].to_dict(self.run_length) if kept and kept[-1].active else None
        model = bool(head[MODEL])
        return {
            "verdict": verdict,
            "watched": "model" if model else "ours",
            "error": _known(head[ERROR]),
            "noise": _known(head[CHANCE]),
            "tolerance": self.tolerance,
            "certain": _known(certain),
            "ours_error": _known(head[OUR_ERROR]),
            "ours_noise": _known(head[OUR_CHANCE]),
            "evidence_log10": now,
            "evidence_log10_most": most,
            "direction": direction,
            "spark": spark_of(rest, model),
            "alarm": active,
        }

    def detail(self, place: int) -> dict[str, Any]:
        """Reliability, windows and alarms of one stream, the newest alarm first."""
        place = self._place(place)
        rest = self._entries.row(place)[self._entries.columns :]
        return {
            "reliability": reliability_of(rest),
            "windows": window_rows(rest, self.run_length > 0),
            "alarms": [
                alarm.to_dict(self.run_length) for alarm in reversed(self._alarms.get(place, []))
            ],
        }

    # --- saved state ------------------------------------------------------------------------------

    def dump(self, place: int) -> bytes:
        """All of a stream."""
        place = self._place(place)
        whole, numbers = self._entries.numbers(place)
        ever, alarms = int(self._heads[place, ALARMS_BEGUN]), self._alarms.get(place, [])
        return write_stream(self.classes, self.run_length, whole, numbers, ever, alarms)

    def load(self, place: int, content: bytes) -> None:
        """Make a stream what ``dump`` wrote."""
        place = self._place(place)
        whole, numbers, ever, alarms = read_stream(content, self.classes, self.run_length)
        self._entries.restore(place, whole, numbers)
        self._heads[place, ALARMS_BEGUN] = ever
        self._alarms.pop(place, None)
        if alarms:
            self._alarms[place] = alarms
            self._note(place)


def _known(value: Any) -> float | None:
    return None if math.isnan(value) else float(value)

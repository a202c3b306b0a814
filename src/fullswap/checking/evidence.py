"""Evidence that forecasts are wrong, valid however often one looks.

An e-value of E says: had all these chances been right, a record like this would have come up with
chance 1/E at most, at any moment of the stream. ``fullswap.kernels.evidence`` has the proof.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from fullswap.base import checks
from fullswap.base.protocols import Indices, Vector
from fullswap.checking.bets import prior_of
from fullswap.checking.evidence_inputs import (
    MOST_CLASSES,
    NO_ROWS,
    codes_of,
    events_of,
    half_of,
    impossible_in,
    outcomes_of,
    probabilities_of,
    weights_of,
)
from fullswap.checking.evidence_rows import best_flaw, blank_rows, log10_most, log10_now
from fullswap.kernels.evidence import EVENTS, MOST_AT, NUMBER, run


@dataclass(frozen=True, eq=False)
class Evidence:
    """Evidence against the forecasts of one stream.

    Attributes
    ----------
    log10 : float
        log10 of the e-value now. 20, that is 1.3, is the usual line: once in 20 at most.
    log10_most : float
        The largest so far, at least 0.
    most_at : int
        Row number of that maximum; −1 before there is any evidence.
    events : int
        How many outcomes entered; rows that share one are one event.
    positions, history : arrays
        Row numbers, and log10 of the e-value there; the last entry is now.
    impossible : array
        Rows whose forecast was 0 and that happened, or 1 and that did not. They enter as if the
        forecast had been 1e-4 away from it.
    since : int
        Row number where the best bet began to win; −1 without events.
    shift, slope : float
        The best bet: events happen as σ(shift + slope·logit p) says.
    low, high : float
        Forecasts that it is about.
    direction : str
        The same in words: "too high", "over-confident", "too low between 25 % and 40 %".
    label : int or None
        The class that it is about, where there are more than two.
    """

    log10: float
    log10_most: float
    most_at: int
    events: int
    positions: Indices
    history: Vector
    impossible: Indices
    since: int
    shift: float
    slope: float
    low: float
    high: float
    direction: str
    label: int | None = None


class EvidenceRun:
    """Evidence of streams fed batch by batch, in memory that does not grow with the rows.

    Parameters
    ----------
    streams : int
        How many; more are added when their numbers come.
    classes : int
        2 for yes/no forecasts, of shape (n,); otherwise rows of K probabilities.
    step : float or None
        Forecasts are rounded to multiples of it: the null is "right up to rounding".
    checkpoints : int
        At most how many points of the history are kept.

    Examples
    --------
    >>> run = EvidenceRun()
    >>> run.add([1.0, 0.0, 1.0], [0.9, 0.2, 0.7])
    >>> run.result()[0].events
    3
    """

    def __init__(
        self, streams: int = 1, *, classes: int = 2, step: float | None = None,
        checkpoints: int = 300,
    ) -> None:  # fmt: skip
        self._classes = checks.whole("classes", classes, 2, MOST_CLASSES)
        self._half = half_of(step)
        self._prior = prior_of(self._classes)
        self._places = 2 * max(checks.whole("checkpoints", checkpoints, 2) // 2, 1)
        self._work = np.zeros((3, len(self._prior)))
        self._state = blank_rows(0, self._classes)
        self._history = np.zeros((0, 2, self._places))
        self._every: Indices = np.zeros(0, np.int64)
        self._impossible: list[list[int]] = []
        self._rows = 0
        self._grow(checks.whole("streams", streams, 1))

    def _grow(self, streams: int) -> None:
        more = streams - len(self._state)
        if more <= 0:
            return
        self._state = np.concatenate((self._state, blank_rows(more, self._classes)))
        self._history = np.concatenate((self._history, np.zeros((more, 2, self._places))))
        self._every = np.concatenate((self._every, np.ones(more, np.int64)))
        self._impossible.extend([] for _ in range(more))

    def add(
        self, y: Any, p: Any, weight: Any = None, stream: Any = None, event: Any = None
    ) -> None:
        """Take rows in order. y holds 0/1, or class numbers; p shape (n,), or (n, K).

        ``weight`` in [0, 1], fixed in advance; ``stream`` and ``event`` are whole numbers: rows of
        one stream and event share an outcome, and enter at the last of them in this batch.
        """
        table = probabilities_of(p, self._classes)
        own = outcomes_of(y, len(table), self._classes)
        weights = weights_of(weight, len(table))
        streams = NO_ROWS if stream is None else codes_of("stream", stream, len(table))
        rows, bounds = NO_ROWS, NO_ROWS
        if event is not None:
            rows, bounds = events_of(codes_of("event", event, len(table)), streams)
        if not len(table):
            return
        if len(streams):
            self._grow(int(streams.max()) + 1)
        run(
            self._prior, self._state, self._work, 0.0, self._half, streams, own, table, weights,
            rows, bounds, 0, self._rows, self._history, self._every,
        )  # fmt: skip
        if self._half == 0:
            for r in np.flatnonzero(impossible_in(own, table)).tolist():
                self._impossible[int(streams[r]) if len(streams) else 0].append(self._rows + r)
        self._rows += len(table)

    def result(self) -> list[Evidence]:
        """Evidence of every stream, as of now."""
        return [self._result(s) for s in range(len(self._state))]

    def _result(self, s: int) -> Evidence:
        row, every = self._state[s], int(self._every[s])
        events, now = int(row[EVENTS]), log10_now(row)
        flaw, since = best_flaw(row, self._classes)
        positions = self._history[s, 0, : events // every].astype(np.int64)
        history = self._history[s, 1, : events // every].copy()
        if events % every:
            positions = np.append(positions, np.int64(row[NUMBER]))
            history = np.append(history, now)
        most, most_at = log10_most(row), int(row[MOST_AT])
        place = int(np.searchsorted(positions, most_at))
        if most_at >= 0 and positions[place] != most_at:  # the highest point is always shown
            positions = np.insert(positions, place, most_at)
            history = np.insert(history, place, most)
        return Evidence(
            now, most, most_at, events, positions, history,
            np.array(self._impossible[s], np.int64), since, flaw.shift, flaw.slope, flaw.low,
            flaw.high, flaw.direction if events else "", flaw.label,
        )  # fmt: skip


@overload
def evidence_of(
    y: Any, p: Any, *, weight: Any = None, event: Any = None, step: float | None = None,
    stream: None = None, streams: int = 1, checkpoints: int = 300,
) -> Evidence: ...  # fmt: skip
@overload
def evidence_of(
    y: Any, p: Any, *, stream: Any, weight: Any = None, event: Any = None,
    step: float | None = None, streams: int = 1, checkpoints: int = 300,
) -> list[Evidence]: ...  # fmt: skip
def evidence_of(
    y: Any, p: Any, *, weight: Any = None, event: Any = None, step: float | None = None,
    stream: Any = None, streams: int = 1, checkpoints: int = 300,
) -> Evidence | list[Evidence]:  # fmt: skip
    """Evidence against the forecasts of a whole log, in the order of its rows.

    Parameters
    ----------
    y : (n,) array
        0/1; numbers of classes for p of shape (n, K).
    p : (n,) or (n, K) array
    weight : (n,) array, optional
        In [0, 1], fixed in advance: a bet pays L^weight.
    event : (n,) array of whole numbers, optional
        Rows of one event share an outcome: a bet pays its mean over them, at the last one.
    step : float, optional
        Forecasts are rounded to multiples of it.
    stream : (n,) array of whole numbers, optional
        Segments: one evidence for each, a list of at least ``streams`` of them.
    checkpoints : int
        At most how many points of the history are kept.

    Returns
    -------
    Evidence
        A list of them if ``stream`` is given.

    Examples
    --------
    >>> p = np.full(400, 0.3)
    >>> y = np.tile([1.0, 0.0], 200)
    >>> found = evidence_of(y, p)
    >>> found.log10 > 10, found.direction
    (True, 'too low')
    """
    array = np.asarray(p)
    classes = array.shape[1] if array.ndim == 2 else 2
    run = EvidenceRun(streams, classes=max(classes, 2), step=step, checkpoints=checkpoints)
    run.add(y, p, weight, stream, event)
    return run.result() if stream is not None else run.result()[0]


def renumbered(evidence: Evidence, numbers: Indices) -> Evidence:
    """The same with these numbers for the rows that were added."""

    def number(row: int) -> int:
        return int(numbers[row]) if row >= 0 else row

    return replace(
        evidence, positions=numbers[evidence.positions], impossible=numbers[evidence.impossible],
        most_at=number(evidence.most_at), since=number(evidence.since),
    )  # fmt: skip


def averaged(lanes: list[Evidence]) -> Evidence:
    """The mean of e-values of streams, which is one however they depend on one another.

    Only as it is now: at an earlier moment somebody may know more of one stream from another, so
    the largest value so far says nothing. Without streams that saw events, the first.
    """
    lanes = [lane for lane in lanes if lane.events] or lanes[:1]
    best = max(lanes, key=lambda lane: lane.log10)
    positions = np.unique(np.concatenate([lane.positions for lane in lanes]))
    logs = np.zeros((len(lanes), len(positions)))
    for row, lane in zip(logs, lanes, strict=True):
        places = np.searchsorted(lane.positions, positions, side="right") - 1
        row[places >= 0] = lane.history[places[places >= 0]]
    top = logs.max(axis=0, initial=0.0)
    history = top + np.log10(np.mean(10.0 ** (logs - top), axis=0))
    now = float(history[-1]) if len(history) else 0.0
    wrong = np.sort(np.concatenate([lane.impossible for lane in lanes]))
    last = int(positions[-1]) if len(positions) else -1
    return replace(
        best, log10=now, log10_most=max(now, 0.0), most_at=last, positions=positions,
        events=sum(lane.events for lane in lanes), history=history, impossible=wrong,
    )  # fmt: skip


def e_bh(log10_values: Any, level: float = 0.05) -> NDArray[np.bool_]:
    """Which of many e-values are flagged so that at most this share of flags is false on average.

    The e-BH rule: with m values in decreasing order flag the first k, for the largest k whose k-th
    value is at least m/(level·k). Holds however the streams depend on one another. The values
    must be e-values at one moment (now), not their maxima. [WR22]

    Examples
    --------
    >>> e_bh([3.0, 0.2, 1.9]).tolist()
    [True, False, True]
    """
    values = checks.floats("log10_values", log10_values)
    level = checks.setting("level", level, above=0.0, most=1.0)
    if values.ndim != 1:
        checks.refuse_shape("log10_values", "(m,)", values)
    order = np.argsort(-values, kind="stable")
    ranks = np.arange(1, len(values) + 1)
    enough = values[order] >= np.log10(len(values) / (level * ranks))
    flagged = np.zeros(len(values), np.bool_)
    if enough.any():
        flagged[order[: int(ranks[enough].max())]] = True
    return flagged

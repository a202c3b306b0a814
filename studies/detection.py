"""``python -m studies detection``: tests, evidence and detectors of change on the same streams.

Five questions, a function each that gives rows: what looking often does to a test, what is found at
one look, how many events it takes to be sure, what detectors of change do, and what repeated
forecasts of one event do. ``studies.report.detection`` makes the page.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullswap.checking.evidence import Evidence, evidence_of
from studies import bets
from studies.classical_tests import SIZES, TESTS, critical_value
from studies.detectors import detectors, inputs_shift, overconfident, shifted, slow
from studies.miscalibrated import TABLE, forecasts, stream
from studies.runs import Row

Vector = NDArray[np.float64]
LEVEL = 0.05
LINE = 1 / LEVEL
"""Evidence that a calibrated forecaster reaches with chance ``LEVEL`` at most, ever."""
EVIDENCE = "evidence"
NAIVE, BY_EVENT = "evidence, events not told", "evidence with event="
CALIBRATED = "right", "rare, right"
"""Streams without a flaw: the share that is rejected should be ``LEVEL``."""
SITUATIONS = {"inputs": inputs_shift, "shift": shifted, "slope": overconfident}
SOON = 2_000
"""Events within which a change should be found."""


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    seed: int = 0
    looks: int = 50
    look_runs: int = 2_000
    look_events: int = 5_000
    power_runs: int = 1_000
    null_runs: int = 4_000
    speed_runs: int = 500
    speed_events: int = 4_000
    detector_runs: int = 200
    slow_runs: int = 6
    """Of detectors that take half a millisecond an event."""
    inputs_events: int = 10_000
    change: int = 3_000
    after: int = 4_000
    log_runs: int = 2_000
    log_events: int = 200
    log_forecasts: int = 10

    def rng(self, *place: int) -> np.random.Generator:
        """Numbers of their own for each place."""
        return np.random.default_rng([self.seed, *place])


QUICK = Plan(
    looks=10, look_runs=40, look_events=600, power_runs=20, null_runs=100, speed_runs=10,
    speed_events=1_000, detector_runs=4, slow_runs=1, inputs_events=600, change=300, after=400,
    log_runs=20, log_events=60,
)  # fmt: skip


def measure(plan: Plan) -> Iterator[Row]:
    """All rows, each with the name of its part."""
    for part in (looking_often, power, speed, watching, repeated):
        for row in part(plan):
            yield {"part": part.__name__, **row}


def found(evidence: Evidence) -> bool:
    """Whether it ever reached the line."""
    return evidence.log10_most >= math.log10(LINE)


def looking_often(plan: Plan) -> Iterator[Row]:
    """Calibrated streams: shares that reject at the last look, and ever."""
    last = dict.fromkeys((*TESTS, EVIDENCE), 0)
    ever = dict.fromkeys((*TESTS, EVIDENCE), 0)
    at = np.linspace(0, plan.look_events, plan.looks + 1).astype(int)[1:].tolist()
    for run in range(plan.look_runs):
        y, p = stream("right", plan.look_events, plan.rng(1, run))
        for name, test in TESTS.items():
            rejected = [test(y[:n], p[:n]) < LEVEL for n in at]
            last[name] += rejected[-1]
            ever[name] += any(rejected)
        evidence = evidence_of(y, p)
        last[EVIDENCE] += evidence.log10 >= math.log10(LINE)
        ever[EVIDENCE] += found(evidence)
    for name in last:
        yield {"test": name, "last": last[name], "ever": ever[name], "runs": plan.look_runs}


def power(plan: Plan) -> Iterator[Row]:
    """Streams that are wrong in known ways: shares that are found."""
    few = 1_000
    cases = [*((name, few) for name in (*CALIBRATED, *TABLE)), ("flip", 4 * few)]
    limits: dict[tuple[bool, int], dict[str, float]] = {}
    for case, (name, events) in enumerate(cases):
        law = name.startswith("rare"), events
        if law not in limits:
            right = [
                right_stream(law[0], events, plan.rng(2, case, 1, run))
                for run in range(plan.null_runs)
            ]
            limits[law] = {key: critical_value(size, right, LEVEL) for key, size in SIZES.items()}
        hits = dict.fromkeys((*SIZES, *TESTS, EVIDENCE), 0)
        for run in range(plan.power_runs):
            rng = plan.rng(2, case, 0, run)
            if name in CALIBRATED:
                y, p = right_stream(law[0], events, rng)
            else:
                y, p = stream(name, events, rng)
            for key, size in SIZES.items():
                hits[key] += size(y, p) > limits[law][key]
            for key, test in TESTS.items():
                hits[key] += test(y, p) < LEVEL
            hits[EVIDENCE] += found(evidence_of(y, p))
        for key, count in hits.items():
            yield {
                "stream": name, "events": events, "test": key, "found": count,
                "runs": plan.power_runs,
            }  # fmt: skip


def right_stream(rare: bool, events: int, rng: np.random.Generator) -> tuple[Vector, Vector]:
    """Outcomes drawn from the forecasts."""
    p = forecasts("rare" if rare else "right", events, rng)
    return (rng.random(events) < p).astype(np.float64), p


def chosen(y: Vector, p: Vector, line: float) -> int:
    """Events until the evidence of the library reaches the line; −1: never."""
    evidence = evidence_of(y, p, checkpoints=len(y) + 2)
    return bets.first(evidence.history >= math.log10(line))


OURS = "evidence, as it is"
FAMILIES = {
    OURS: chosen,
    "lines in logits alone": bets.lines,
    "bins alone": bets.bins,
    "Recalibrator as the bet": bets.recalibrator,
}
"""Who bets; the first is the library's choice."""


def speed(plan: Plan) -> Iterator[Row]:
    """Median number of events until evidence reaches the line; None: more than there were."""
    for place, name in enumerate(TABLE):
        streams = [
            stream(name, plan.speed_events, plan.rng(3, place, run))
            for run in range(plan.speed_runs)
        ]
        for family, until in FAMILIES.items():
            took = [until(y, p, LINE) for y, p in streams]
            yield {
                "stream": name, "family": family, "median": median_of(took),
                "median_error": median_error(took), "runs": plan.speed_runs,
                "events": plan.speed_events,
            }  # fmt: skip


def median_of(took: list[int]) -> float | None:
    """The middle one of numbers of which −1 is beyond all others; None if that is the middle.

    Examples
    --------
    >>> median_of([5, 3, -1]), median_of([5, -1, -1])
    (5.0, None)
    """
    middle = float(np.median([math.inf if one < 0 else one for one in took]))
    return None if math.isinf(middle) else middle


def median_error(took: list[int]) -> float | None:
    """Standard error of that median: half the distance of the values √n/2 ranks to both sides."""
    if len(took) < 4:
        return None
    ordered = np.sort([math.inf if one < 0 else one for one in took])
    middle, aside = (len(took) - 1) / 2, math.sqrt(len(took)) / 2
    low, high = ordered[round(middle - aside)], ordered[round(middle + aside)]
    return None if math.isinf(high) else float(high - low) / 2


def watching(plan: Plan) -> Iterator[Row]:
    """Detectors of change: false alarms, and delays."""
    for place, (situation, make) in enumerate(SITUATIONS.items()):
        only_inputs = situation == "inputs"
        events = plan.inputs_events if only_inputs else plan.change + plan.after
        change = plan.inputs_events // 2 if only_inputs else plan.change
        for name, detector in detectors().items():
            runs = plan.slow_runs if slow(name) else plan.detector_runs
            false, runs_with_false, delays = 0, 0, []
            for run in range(runs):
                y, p = make(events, change, plan.rng(4, place, run))
                rang = np.array(detector.alarms(y, p, run), dtype=np.int64)
                wrong = rang if only_inputs else rang[rang < change]
                false += len(wrong)
                runs_with_false += len(wrong) > 0
                late = rang[rang >= change]
                delays.append(int(late[0]) - change + 1 if len(late) else -1)
            row: Row = {
                "situation": situation, "detector": name, "runs": runs, "false": false,
                "runs_with_false": runs_with_false,
                "watched": runs * (events if only_inputs else change),
            }  # fmt: skip
            if not only_inputs:
                soon = sum(0 < delay <= SOON for delay in delays)
                row |= {"soon": soon, "delay": median_of(delays), "after": plan.after}
                row["delay_error"] = median_error(delays)
            yield row


def repeated(plan: Plan) -> Iterator[Row]:
    """Calibrated logs with many forecasts an event: shares that are rejected."""
    hits = dict.fromkeys((*TESTS, NAIVE, BY_EVENT), 0)
    for run in range(plan.log_runs):
        y, p, event = game_log(plan.log_events, plan.log_forecasts, plan.rng(5, run))
        for name, test in TESTS.items():
            hits[name] += test(y, p) < LEVEL
        hits[NAIVE] += found(evidence_of(y, p))
        hits[BY_EVENT] += found(evidence_of(y, p, event=event))
    for name, count in hits.items():
        yield {"test": name, "rejected": count, "runs": plan.log_runs}


def game_log(
    events: int, each: int, rng: np.random.Generator
) -> tuple[Vector, Vector, NDArray[np.int64]]:
    """Games decided by the sign of a random walk; forecasts on the way, given where it stands.

    Each is right: at time t the chance of ending above 0 is Φ(W_t/√(1 − t)). Games come one after
    another, at different strengths at the start.
    """
    from scipy.special import ndtr

    times = np.arange(each) / each
    steps = rng.standard_normal((events, each)) / math.sqrt(each)
    start = 0.5 * rng.standard_normal(events)
    walk = start[:, None] + np.cumsum(steps, axis=1)
    before = np.column_stack((start, walk[:, :-1]))
    p = ndtr(before / np.sqrt(1 - times))
    y = np.repeat((walk[:, -1] > 0).astype(np.float64), each)
    return y, p.ravel(), np.repeat(np.arange(events), each)

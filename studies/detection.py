"""``python -m studies detection``: tests, evidence and detectors of change on the same streams.

Three questions, a function each that gives rows: what looking often does to a test, what is found
at one look, and what detectors of change do. Tests take outcomes y (0 or 1) and forecasts p, shape
(n,) each, and give the chance of at least as much deviation if every forecast were right. Detectors
are as river makes them, and watch a number an event: the residual y − p, the Brier score, or
whether the more probable outcome failed to happen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fullswap as fs
from fullswap.checking.evidence import Evidence, evidence_of
from studies.miscalibrated import SPREAD, TABLE, forecasts, logit, sigmoid, stream
from studies.report.compared import Comparison, command
from studies.report.text import bold, table
from studies.runs import Row, number, rows_where

Vector = NDArray[np.float64]
NAME = "detection"
LEVEL = 0.05
LINE = 1 / LEVEL
"""Evidence that a calibrated forecaster reaches with chance ``LEVEL`` at most, ever."""
EVIDENCE = "evidence"
CALIBRATED = "right", "rare, right"
"""Streams without a flaw: the share that is rejected should be ``LEVEL``."""
SOON = 2_000
"""Events within which a change should be found."""
RUN_LENGTH = 100_000
"""Events between false alarms of ours, on average, at least."""
DUMMY_EVERY = 1_000
GROUPS = 10
HARDER = 0.6
"""Standard deviation of the logits of the forecasts after the inputs have shifted."""
WORDS = {
    "right": "nothing",
    "rare, right": "nothing; rare events",
    "slope .75": "a little over-confident (slope 0.75)",
    "slope .6": "over-confident (slope 0.6)",
    "shift .25": "too low by 0.25 logits",
    "top": "too high by 10 points above 75 %",
    "wiggle": "too low, too high in turn by 8 points",
    "flip": "too low, in the second half too high",
    "rare": "rare events, 1.4 times as many as said",
}
"""What is wrong with the forecasts."""


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    seed: int = 0
    looks: int = 50
    look_runs: int = 2_000
    look_events: int = 5_000
    power_runs: int = 1_000
    detector_runs: int = 200
    inputs_events: int = 10_000
    change: int = 3_000
    after: int = 4_000

    def rng(self, *place: int) -> np.random.Generator:
        """Numbers of their own for each place."""
        return np.random.default_rng([self.seed, *place])


QUICK = Plan(
    looks=10, look_runs=5, look_events=600, power_runs=4, detector_runs=2, inputs_events=600,
    change=300, after=400,
)  # fmt: skip


def hosmer_lemeshow(y: Vector, p: Vector) -> float:
    """Groups of equal size by forecast: yes counted beside yes expected (Hosmer, Lemeshow 1980)."""
    from scipy.special import chdtrc

    order = np.argsort(p, kind="stable")
    starts = np.arange(GROUPS) * len(p) // GROUPS
    excess = np.add.reduceat((y - p)[order], starts)
    variance = np.add.reduceat((p * (1 - p))[order], starts)
    return float(chdtrc(GROUPS, np.sum(excess**2 / variance)))


def cox(y: Vector, p: Vector) -> float:
    """Likelihood ratio of σ(a + b·logit p) against a = 0, b = 1 (Cox 1958)."""
    from scipy.optimize import minimize
    from scipy.special import chdtrc, expit

    logits = logit(np.clip(p, 1e-6, 1 - 1e-6))
    features = np.stack((np.ones(len(p)), logits))

    def loss(weights: Vector) -> tuple[float, Vector]:
        line = weights @ features
        value = np.logaddexp(0.0, line).sum() - y @ line
        return float(value), features @ (expit(line) - y)

    right = np.array([0.0, 1.0])
    fitted = minimize(loss, right, jac=True, method="BFGS")
    return float(chdtrc(2, max(2 * (loss(right)[0] - float(fitted.fun)), 0.0)))


def spiegelhalter(y: Vector, p: Vector) -> float:
    """Brier score beside its mean if all forecasts are right, two-sided (Spiegelhalter 1986)."""
    from scipy.special import ndtr

    tilt = 1 - 2 * p
    z = np.sum((y - p) * tilt) / np.sqrt(np.sum(tilt**2 * p * (1 - p)))
    return float(2 * ndtr(-abs(z)))


Test = Callable[[Vector, Vector], float]
TESTS: dict[str, Test] = {
    "Hosmer–Lemeshow": hosmer_lemeshow, "Cox": cox, "Spiegelhalter": spiegelhalter,
}  # fmt: skip


def found(evidence: Evidence) -> bool:
    """Whether it ever reached the line."""
    return evidence.log10_most >= math.log10(LINE)


def measure(plan: Plan) -> Iterator[Row]:
    """All rows, each with the name of its part."""
    for part in (looking_often, power, watching):
        for row in part(plan):
            yield {"part": part.__name__, **row}


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
    for case, (name, events) in enumerate(cases):
        hits = dict.fromkeys((EVIDENCE, *TESTS), 0)
        for run in range(plan.power_runs):
            rng = plan.rng(2, case, 0, run)
            if name in CALIBRATED:
                y, p = right_stream(name.startswith("rare"), events, rng)
            else:
                y, p = stream(name, events, rng)
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


def watching(plan: Plan) -> Iterator[Row]:
    """Detectors of change: false alarms, and delays."""
    for place, (situation, make) in enumerate(SITUATIONS.items()):
        only_inputs = situation == "inputs"
        events = plan.inputs_events if only_inputs else plan.change + plan.after
        change = plan.inputs_events // 2 if only_inputs else plan.change
        for name, alarms in detectors().items():
            false, delays = 0, []
            for run in range(plan.detector_runs):
                at = np.array(
                    alarms(*make(events, change, plan.rng(4, place, run)), run), dtype=int
                )
                false += len(at) > 0 if only_inputs else bool((at < change).any())
                late = at[at >= change]
                delays.append(float(late[0]) - change + 1 if len(late) else math.inf)
            yield {
                "situation": situation, "detector": name, "runs": plan.detector_runs,
                "false": false, "soon": sum(delay <= SOON for delay in delays),
                "delay": float(np.median(delays)),
            }  # fmt: skip


def detectors() -> dict[str, Callable[[Vector, Vector, int], list[int]]]:
    """Name ↦ events at which it gives an alarm, from outcomes, forecasts and a seed."""
    from river import drift
    from river.drift import binary

    def monitor(y: Vector, p: Vector, seed: int) -> list[int]:
        return monitor_alarms(fs.Monitor(run_length=RUN_LENGTH), y, p)

    def dummy(y: Vector, p: Vector, seed: int) -> list[int]:
        first = int(np.random.default_rng([seed, 77]).integers(DUMMY_EVERY))
        return list(range(first, len(y), DUMMY_EVERY))

    def of(make: Callable[[], Any], watched: Callable[[Vector, Vector], Vector]) -> Any:
        return lambda y, p, seed: _river_alarms(make(), watched(y, p))

    return {
        f"Monitor({RUN_LENGTH:,})": monitor,
        "ADWIN on residuals": of(drift.ADWIN, residual),
        "ADWIN on Brier scores": of(drift.ADWIN, brier),
        "Page–Hinkley on residuals": of(drift.PageHinkley, residual),
        "Page–Hinkley on Brier scores": of(drift.PageHinkley, brier),
        "DDM on errors": of(binary.DDM, failed),
        f"dummy: each {DUMMY_EVERY:,} events": dummy,
    }


def _river_alarms(detector: Any, values: Vector) -> list[int]:
    """One of river's starts anew by itself after each alarm."""
    at = []
    for t, value in enumerate(values.tolist()):
        detector.update(value)
        if detector.drift_detected:
            at.append(t)
    return at


def monitor_alarms(monitor: Any, y: Vector, p: Vector) -> list[int]:
    """Events at which a monitor gives an alarm; it, too, starts anew."""
    at = []
    for t, (happened, forecast) in enumerate(zip(y.tolist(), p.tolist(), strict=True)):
        monitor.update(happened, forecast)
        if monitor.drift_detected:
            at.append(t)
    return at


def residual(y: Vector, p: Vector) -> Vector:
    """Of mean 0 if the forecasts are right."""
    return y - p


def brier(y: Vector, p: Vector) -> Vector:
    """Its mean depends on the inputs, even if the forecasts are right."""
    return np.asarray((y - p) ** 2)


def failed(y: Vector, p: Vector) -> Vector:
    """Whether the more probable outcome did not happen: 0 or 1."""
    return np.asarray((p > 0.5) != (y > 0.5), dtype=np.float64)


def inputs_shift(events: int, change: int, rng: np.random.Generator) -> tuple[Vector, Vector]:
    """Harder cases from the change on; every forecast is right, before and after."""
    spread = np.where(np.arange(events) < change, SPREAD, HARDER)
    p = sigmoid(spread * rng.standard_normal(events))
    return (rng.random(events) < p).astype(np.float64), p


def shifted(
    shift: float, slope: float, events: int, change: int, rng: np.random.Generator
) -> tuple[Vector, Vector]:
    """From the change on logits of the chances are a shift and a slope beside what is said."""
    p = sigmoid(SPREAD * rng.standard_normal(events))
    late = np.arange(events) >= change
    chance = sigmoid(np.where(late, slope, 1.0) * logit(p) + shift * late)
    return (rng.random(events) < chance).astype(np.float64), p


SITUATIONS: dict[str, Callable[[int, int, np.random.Generator], tuple[Vector, Vector]]] = {
    "inputs": inputs_shift,
    "shift": partial(shifted, 0.5, 1.0),
    "slope": partial(shifted, 0.0, 0.6),
}


def texts(rows: list[Row], said: str, plan: Plan) -> Mapping[str, str]:
    """A table for each part, with how it was measured."""
    looks, one_look, seen = (
        rows_where(rows, part=part.__name__) for part in (looking_often, power, watching)
    )
    often = table(
        ("test at 5 %", "rejects at the last look, %", f"rejects at one of {plan.looks}, %"),
        [(str(row["test"]), share(row, "last"), share(row, "ever")) for row in looks],
    )
    about_looks = f"\n\n{plan.look_runs:,} runs of {plan.look_events:,} events."
    return {
        f"{NAME}-about": f"{said} Detectors of river {version('river')}. ± is one standard error.",
        f"{NAME}-looking_often": often + about_looks,
        f"{NAME}-power": _power_table(one_look, plan),
        f"{NAME}-watching": _watching_table(seen, plan),
    }


def share(row: Row, key: str) -> str:
    """Per cent with a standard error, which counts two more of each kind so that it is never 0.

    Examples
    --------
    >>> share({"runs": 1000, "ever": 50}, "ever"), share({"runs": 100, "ever": 0}, "ever")
    ('5.0 ± 0.7', '0.0 ± 1.3')
    """
    count, runs = number(row, key), number(row, "runs")
    middle = (count + 2) / (runs + 4)
    error = (middle * (1 - middle) / (runs + 4)) ** 0.5
    return f"{100 * count / runs:.1f} ± {100 * error:.1f}"


def _power_table(rows: Sequence[Row], plan: Plan) -> str:
    lines = []
    for name, events in dict.fromkeys((str(row["stream"]), row["events"]) for row in rows):
        own = rows_where(rows, stream=name, events=events)
        shown = [round(100 * number(row, "found") / plan.power_runs) for row in own]
        marked = name not in CALIBRATED
        longer = "" if events == rows[0]["events"] else f"; {events:,} events"
        cells = [bold(str(value), marked and value == max(shown)) for value in shown]
        lines.append((WORDS[name] + longer, *cells))
    heads = (f"what is wrong ({rows[0]['events']:,} events)", f"{EVIDENCE}, %")
    return (
        table((*heads, *(f"{test}, %" for test in TESTS)), lines)
        + f"\n\n{plan.power_runs:,} runs a row, so ± {50 / plan.power_runs**0.5:.1f} at most. "
        "Bold: most in a row."
    )


def _watching_table(rows: Sequence[Row], plan: Plan) -> str:
    lines = []
    for name in dict.fromkeys(str(row["detector"]) for row in rows):
        quiet, shift, slope = rows_where(rows, detector=name)
        cells = [share(quiet, "false")]
        for row in (shift, slope):
            delay = number(row, "delay")
            cells += [
                share(row, "soon"),
                f"{delay:,.0f}" if delay < plan.after else f"> {plan.after:,}",
            ]
        lines.append((name, *cells))
    soon = f"found in {SOON:,}, %"
    heads = ("detector", "inputs shift: false alarm, %", f"shift 0.5: {soon}", "median delay")
    return (
        table((*heads, f"slope 0.6: {soon}", "median delay"), lines)
        + f"\n\n{plan.detector_runs} runs. Inputs shift half way through {plan.inputs_events:,} "
        f"events; the other changes come after {plan.change:,}, and {plan.after:,} follow."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    return command(Comparison(NAME, Plan(), QUICK, measure, texts), arguments, __doc__)

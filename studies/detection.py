"""``python -m studies detection``: detectors of change on the same streams.

Outcomes y (0 or 1) and forecasts p have shape (n,) each. Detectors are as river makes them, and
watch a number an event: the residual y − p, the Brier score, or whether the more probable outcome
failed to happen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fullswap as fs
from studies.report.compared import Comparison, command
from studies.report.text import table
from studies.runs import Row, number, rows_where

Vector = NDArray[np.float64]
NAME = "detection"
SOON = 2_000
"""Events within which a change should be found."""
RUN_LENGTH = 100_000
"""Events between false alarms of ours, on average, at least."""
SPREAD, HARDER = 1.5, 0.6
"""Standard deviations of the logits of the forecasts, and of those after inputs have shifted."""


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    seed: int = 0
    runs: int = 200
    inputs_events: int = 10_000
    change: int = 3_000
    after: int = 4_000


QUICK = Plan(runs=2, inputs_events=600, change=300, after=400)


def measure(plan: Plan) -> Iterator[Row]:
    """False alarms and delays: a row for each situation and detector."""
    for place, (situation, make) in enumerate(SITUATIONS.items()):
        only_inputs = situation == "inputs"
        events = plan.inputs_events if only_inputs else plan.change + plan.after
        change = plan.inputs_events // 2 if only_inputs else plan.change
        for name, alarms in detectors().items():
            false, delays = 0, []
            for run in range(plan.runs):
                rng = np.random.default_rng([plan.seed, 4, place, run])
                at = np.array(alarms(*make(events, change, rng)), dtype=int)
                false += len(at) > 0 if only_inputs else bool((at < change).any())
                late = at[at >= change]
                delays.append(float(late[0]) - change + 1 if len(late) else math.inf)
            yield {
                "situation": situation, "detector": name, "runs": plan.runs,
                "false": false, "soon": sum(delay <= SOON for delay in delays),
                "delay": float(np.median(delays)),
            }  # fmt: skip


def detectors() -> dict[str, Callable[[Vector, Vector], list[int]]]:
    """Name ↦ events at which it gives an alarm, from outcomes and forecasts."""
    from river import drift
    from river.drift import binary

    def monitor(y: Vector, p: Vector) -> list[int]:
        return monitor_alarms(fs.Monitor(run_length=RUN_LENGTH), y, p)

    def of(make: Callable[[], Any], watched: Callable[[Vector, Vector], Vector]) -> Any:
        return lambda y, p: _river_alarms(make(), watched(y, p))

    return {
        f"Monitor({RUN_LENGTH:,})": monitor,
        "ADWIN on residuals": of(drift.ADWIN, residual),
        "ADWIN on Brier scores": of(drift.ADWIN, brier),
        "Page–Hinkley on residuals": of(drift.PageHinkley, residual),
        "Page–Hinkley on Brier scores": of(drift.PageHinkley, brier),
        "DDM on errors": of(binary.DDM, failed),
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


def sigmoid(x: Vector) -> Vector:
    """1/(1 + e^-x)."""
    return np.asarray(1 / (1 + np.exp(-x)))


def inputs_shift(events: int, change: int, rng: np.random.Generator) -> tuple[Vector, Vector]:
    """Harder cases from the change on; every forecast is right, before and after."""
    spread = np.where(np.arange(events) < change, SPREAD, HARDER)
    p = sigmoid(spread * rng.standard_normal(events))
    return (rng.random(events) < p).astype(np.float64), p


def shifted(
    shift: float, slope: float, events: int, change: int, rng: np.random.Generator
) -> tuple[Vector, Vector]:
    """From the change on logits of the chances are a shift and a slope beside what is said."""
    logits = SPREAD * rng.standard_normal(events)
    late = np.arange(events) >= change
    p, chance = sigmoid(logits), sigmoid(np.where(late, slope, 1.0) * logits + shift * late)
    return (rng.random(events) < chance).astype(np.float64), p


SITUATIONS: dict[str, Callable[[int, int, np.random.Generator], tuple[Vector, Vector]]] = {
    "inputs": inputs_shift,
    "shift": partial(shifted, 0.5, 1.0),
    "slope": partial(shifted, 0.0, 0.6),
}


def text(rows: list[Row], said: str, plan: Plan) -> str:
    """The table, with how it was measured."""
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
    shown = table((*heads, f"slope 0.6: {soon}", "median delay"), lines)
    about = (
        f"{plan.runs} runs; detectors of river {version('river')}; ± is one standard error. Inputs "
        f"shift half way through {plan.inputs_events:,} events; the other changes come after "
        f"{plan.change:,}, and {plan.after:,} follow."
    )
    return f"{said}\n\n{shown}\n\n{about}"


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


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    return command(Comparison(NAME, Plan(), QUICK, measure, text), arguments, __doc__)

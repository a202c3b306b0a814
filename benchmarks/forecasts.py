"""Binary forecasts: whole runs, and one event at a time from Python.

A run draws its forecast and learns from the outcome, event by event. The yardstick is the least
that any randomised forecaster does: draw one number, update one running mean. From Python, one
forecast and one update stand against river's logistic regression on one feature.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from benchmarks import Prepare, Result, best_times
from fullswap import Forecaster, Recalibrator

COST_LIMIT, RECORDED_LIMIT = 4.0, 6.0
PYTHON_LIMIT, RECALIBRATOR_LIMIT = 0.7, 1.2
FLATNESS_LIMIT, FILL_LIMIT = 1.5, 1.5
EVENTS_FROM_PYTHON = 20_000
MODES = ("realised", "realised, recorded", "distribution")


@njit(cache=True)
def draw_and_mean(outcomes, generator) -> float:
    """One random number and one step of a running mean an event; the sum keeps the draws alive."""
    mean, drawn = 0.0, 0.0
    for k in range(outcomes.shape[0]):
        drawn += generator.random()
        mean += (outcomes[k] - mean) / (k + 1)
    return mean + drawn


def benchmark(quick: bool) -> list[Result]:
    """Cost of `Forecaster.run` at several T and how flat it is; cost of one event from Python."""
    sizes = [10**4, 10**5, 10**6] if quick else [10**5, 10**6, 10**7, 10**8]
    per_event: dict[tuple[str, int], float] = {}
    for events in sizes:
        passes = 3 if events >= 10**8 else 15 if events <= 10**6 else 5
        for key, seconds in best_times(_contenders(events), passes).items():
            per_event[key] = seconds / events
    results = []
    for mode in MODES:
        costs = [per_event[mode, events] for events in sizes]
        for events, cost in zip(sizes, costs, strict=True):
            name = f"forecasts: run ({mode}), T = {events:.0e}, against one draw and one mean"
            limit = RECORDED_LIMIT if "recorded" in mode else COST_LIMIT
            results.append(Result(name, cost, per_event["mean", events], limit))
        name = f"forecasts: run ({mode}), slowest T against fastest T (an event)"
        results.append(Result(name, max(costs), min(costs), FLATNESS_LIMIT))
    # past the caches a record costs what the system takes to hand out fresh memory
    most = sizes[-1]
    least = per_event["realised", most] + per_event["fill", most]
    name = f"forecasts: run (realised, recorded), T = {most:.0e}, against unrecorded + filling it"
    results.append(Result(name, per_event["realised, recorded", most], least, FILL_LIMIT))
    return results + _from_python()


def _contenders(events: int) -> list[tuple[tuple[str, int], Prepare]]:
    outcomes = np.random.default_rng(0).random(events) < 0.3

    def mean() -> Callable[[], object]:
        generator = np.random.default_rng(0)
        return lambda: draw_and_mean(outcomes, generator)

    def run(mode: str) -> Prepare:
        def prepare() -> Callable[[], object]:
            forecaster = Forecaster(horizon=events, feedback=mode.split(",")[0], seed=1)
            return lambda: forecaster.run(outcomes, record="recorded" in mode)

        return prepare

    def fill() -> Callable[[], object]:
        return lambda: (np.full((events, 3), 1, np.int16), np.full(events, 0.5))

    others = [(("mean", events), mean), (("fill", events), fill)]
    return [*others, *(((mode, events), run(mode)) for mode in MODES)]


def _from_python() -> list[Result]:
    try:
        from river.linear_model import LogisticRegression
    except ImportError:
        print("river is not installed: no comparison of single events")
        return []

    outcomes = (np.random.default_rng(0).random(EVENTS_FROM_PYTHON) < 0.3).tolist()

    claimed = np.random.default_rng(1).random(EVENTS_FROM_PYTHON).tolist()

    def ours() -> Callable[[], object]:
        forecaster = Forecaster(horizon=EVENTS_FROM_PYTHON, seed=1)

        def loop() -> None:
            for outcome in outcomes:
                forecaster.predict()
                forecaster.update(outcome)

        return loop

    def recalibrated() -> Callable[[], object]:
        recalibrator = Recalibrator(seed=1)

        def loop() -> None:
            for p, outcome in zip(claimed, outcomes, strict=True):
                recalibrator.predict(p)
                recalibrator.update(outcome)

        return loop

    def rivers() -> Callable[[], object]:
        model = LogisticRegression()

        def loop() -> None:
            for outcome in outcomes:
                features = {"x": 0.5}
                model.predict_proba_one(features)
                model.learn_one(features, outcome)

        return loop

    turns = [("ours", ours), ("recalibrated", recalibrated), ("river", rivers)]
    best = {k: seconds / EVENTS_FROM_PYTHON for k, seconds in best_times(turns, 10).items()}
    name = "forecasts: predict + update from Python against river's LogisticRegression"
    return [
        Result(f"{name}, Forecaster", best["ours"], best["river"], PYTHON_LIMIT),
        Result(f"{name}, Recalibrator", best["recalibrated"], best["river"], RECALIBRATOR_LIMIT),
    ]

"""Forecasters of every kind in the middle of their work, whose states are then tampered with."""

from __future__ import annotations

import numpy as np

from fullswap.forecasting import Forecaster, MulticlassForecaster, Recalibrator
from fullswap.forecasting.base import OnlineForecaster

BEFORE_REFINEMENT = 20
"""Events left to the next grid: whoever goes on with such a state crosses a refinement."""

MAKERS = {
    "line": lambda: Forecaster(400, seed=1),
    "line, all distributions": lambda: Forecaster(400, seed=1, feedback="distribution"),
    "line, anytime": lambda: Forecaster(seed=2, feedback="distribution", max_weight=2.0),
    "line, steps": lambda: Forecaster(10_000, "10%", seed=3, feedback="distribution"),
    "line, fine steps": lambda: Forecaster(step="1%", seed=4),
    "experts": lambda: Recalibrator("10%", seed=14),
    "experts, 3 models": lambda: Recalibrator("5%", models=3, seed=15, max_weight=2.0),
    "experts, growing": lambda: Recalibrator(None, seed=16),
    "groups": lambda: Recalibrator("10%", groups=["a", 7, ("c", 1)], seed=19),
    "groups, all distributions": lambda: Forecaster(
        step="10%", groups=["a", 7, ("c", 1)], seed=22, feedback="distribution"
    ),
    "groups, open": lambda: Forecaster(groups="open", seed=20, max_weight=2.0),
    "classwise, 3 classes": lambda: Recalibrator(classes=3, seed=17),
    "classwise": lambda: MulticlassForecaster(9, seed=19, max_weight=2.0),
    "classwise, 2 models": lambda: Recalibrator(classes=9, models=2, seed=21),
}  # fmt: skip


def context(forecaster: OnlineForecaster, rng: np.random.Generator) -> tuple:
    """Arguments of ``predict``: what models say, some of them absent."""
    spec = forecaster.spec
    if not spec.models:
        return ()
    p = rng.random((spec.models, spec.classes)) + 1e-3
    p /= p.sum(axis=1, keepdims=True)
    if rng.random() < 0.1:  # a model that is sure
        p[0] = np.eye(spec.classes)[rng.integers(spec.classes)]
    if spec.models > 1 and rng.random() < 0.5:
        p[rng.integers(spec.models)] = np.nan
    own = p[:, 1] if spec.classes == 2 else p
    return (own[0] if spec.models == 1 else own,)  # with one axis more it would be many events


def groups(forecaster: OnlineForecaster, rng: np.random.Generator) -> dict:
    """The groups of an event, for forecasters with groups: of open ones more than fit at first."""
    if not forecaster.spec.groups:
        return {}
    names = list(forecaster.groups)
    if forecaster.spec.open_groups:
        names = [f"group {k}" for k in range(18)]
    return {"groups": [name for name in names if rng.random() < 0.2]}


def outcome(forecaster: OnlineForecaster, rng: np.random.Generator) -> float | int:
    """Anything that may happen; between yes and no, too."""
    if forecaster.spec.classes > 2:
        return int(rng.integers(forecaster.spec.classes))
    return float(rng.choice([0.0, 1.0, 1.0, rng.random()]))


def run(forecaster: OnlineForecaster, events: int, rng: np.random.Generator, **options) -> None:
    """Whole arrays of events, each of the largest weight but for a few."""
    contexts = [context(forecaster, rng) for _ in range(events)]
    outcomes = np.array([outcome(forecaster, rng) for _ in range(events)])
    weights = forecaster.max_weight * np.where(rng.random(events) < 0.9, 1.0, 0.25)
    own = () if not forecaster.spec.models else (np.array([each[0] for each in contexts]),)
    members = [groups(forecaster, rng) for _ in range(events)]
    more = {"groups": [each["groups"] for each in members]} if forecaster.spec.groups else {}
    forecaster.run(*own, outcomes, weights, **more, **options)


def in_the_middle(name: str, pending: bool) -> OnlineForecaster:
    """A forecaster that has learnt for a while, shortly before its next grid if there is one."""
    forecaster, rng = MAKERS[name](), np.random.default_rng(7)
    starts = [start for start in forecaster.spec.starts if start > 4 * BEFORE_REFINEMENT]
    events = int(starts[0]) - BEFORE_REFINEMENT if starts and starts[0] < 2000 else 150
    if pending:
        for _ in range(3):  # made on a coarser grid, where there is one
            forecaster.predict(*context(forecaster, rng), **groups(forecaster, rng))
    run(forecaster, events, rng, record=False)
    if pending:
        made = [forecaster.predict(*context(forecaster, rng), **groups(forecaster, rng))
                for _ in range(3)]  # fmt: skip
        ids = [forecast.id for forecast in made]
        forecaster.update(outcome(forecaster, rng), ids[1], forecaster.max_weight)
    return forecaster

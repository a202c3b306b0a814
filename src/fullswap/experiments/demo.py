"""The demonstration: forecasters and learners against adversaries, measured beside guaranteed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fullswap.adversaries import ADVERSARIES
from fullswap.certificates import Certificate
from fullswap.experiments.logs import made_streams
from fullswap.experiments.problems import problem
from fullswap.forecasting import Forecaster, Recalibrator
from fullswap.play import simulate

LEARNERS = (
    ("strongly convex and smooth", 1, "mean_aware"),
    ("concave", 2, "sweep"),
)

Shown = tuple[str, str, Certificate]
"""What was run, against what, and how it went."""


def run_demo(horizons: tuple[int, ...], seed: int) -> Iterator[Shown]:
    """Forecasts first, then learners over convex sets."""
    for horizon in horizons:
        yield from _forecasts(horizon, seed)
    for row, dim, name in LEARNERS:
        posed = problem(row, dim)
        for horizon in horizons:
            learner = posed.learner(horizon)
            adversary = ADVERSARIES[name](posed.action_set, posed.loss_class, seed=seed)
            simulate(learner, adversary, horizon)
            yield f"learner, {row} losses, d = {dim}", name, learner.certificate()


def _forecasts(horizon: int, seed: int) -> Iterator[Shown]:
    rng = np.random.default_rng(seed)
    chance = 0.5 + 0.45 * np.sin(2 * np.pi * np.arange(horizon) / horizon)
    drifting = rng.random(horizon) < chance
    for name, step in (("forecaster", None), ("forecaster in steps of 5 %", 0.05)):
        forecaster = Forecaster(horizon, step, seed=seed)
        forecaster.run(drifting, record=False)
        yield name, "drift", forecaster.certificate()
    contrary = Forecaster(horizon, feedback="distribution", seed=seed)
    for _ in range(horizon):
        contrary.update(float(contrary.predict().mean < 0.5))
    yield "forecaster", "an adversary who sees the distribution", contrary.certificate()
    streams = {stream.name: stream for stream in made_streams(horizon, seed)}
    flipped = streams["flipped half-way"]
    recalibrator = Recalibrator(horizon=horizon, seed=seed)
    recalibrator.run(flipped.claimed, flipped.outcomes, record=False)
    yield "recalibrator", "a model that turns wrong half-way", recalibrator.certificate()

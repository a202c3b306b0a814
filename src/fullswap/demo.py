"""The demonstration: forecasters and learners against adversaries, measured beside guaranteed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from fullswap.adversaries import ADVERSARIES
from fullswap.certificates import Certificate
from fullswap.certificates.words import points, sums
from fullswap.forecasting import Forecaster, Recalibrator
from fullswap.losses import LossClass
from fullswap.play import simulate
from fullswap.sets import Ball, ConvexSetBase, Interval
from fullswap.template import FullSwapLearner

LEARNERS: tuple[tuple[str, ConvexSetBase, LossClass, str], ...] = (
    ("strongly convex and smooth", Interval(0.0, 1.0), LossClass.squared(1.0), "mean_aware"),
    ("concave", Ball(np.zeros(2), 0.5), LossClass(lipschitz=1.0, concave=True), "sweep"),
)
"""Row of the paper's table, set, losses and adversary."""

Shown = tuple[str, str, Certificate]
"""What was run, against what, and how it went."""


def run_demo(horizons: tuple[int, ...], seed: int) -> Iterator[Shown]:
    """Forecasts first, then learners over convex sets."""
    for horizon in horizons:
        yield from _forecasts(horizon, seed)
    for row, action_set, losses, name in LEARNERS:
        for horizon in horizons:
            learner = FullSwapLearner(action_set, losses, horizon, row=row)
            simulate(learner, ADVERSARIES[name](action_set, losses, seed=seed), horizon)
            yield f"learner, {row} losses, d = {action_set.dim}", name, learner.certificate()


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
    claimed = rng.random(horizon)
    flipped = np.where(np.arange(horizon) < horizon / 2, claimed, 1 - claimed)
    recalibrator = Recalibrator(horizon=horizon, seed=seed)
    recalibrator.run(claimed, rng.random(horizon) < flipped, record=False)
    yield "recalibrator", "a model that turns wrong half-way", recalibrator.certificate()


def in_points(results: Iterable[Shown]) -> list[tuple[str, ...]]:
    """Rows of a table of the forecasters."""
    return [
        (
            what, against, f"{c.rounds:,}", points(c.points), _or_dash(c.points_noise),
            _or_dash(c.points_guaranteed, up=True), _yes(c),
        )
        for what, against, c in results
        if c.points is not None
    ]  # fmt: skip


def in_sums(results: Iterable[Shown]) -> list[tuple[str, ...]]:
    """Rows of a table of the learners."""
    return [
        (
            what, against, f"{c.rounds:,}", sums(c.measured),
            "–" if c.guaranteed is None else sums(c.guaranteed), _yes(c),
        )
        for what, against, c in results
        if c.points is None
    ]  # fmt: skip


def _or_dash(share: float | None, up: bool = False) -> str:
    return "–" if share is None else points(share, up)


def _yes(c: Certificate) -> str:
    return "yes" if c.holds else "NO"

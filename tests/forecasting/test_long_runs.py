"""A million events of several classes and of recalibration, measured against their guarantees."""

from __future__ import annotations

import numpy as np
import pytest

from fullswap import MulticlassForecaster, Recalibrator

LONG = 1_000_000
FIXED = {
    "fair": lambda t, k: np.full((len(t), k), 1.0),
    "drifting": lambda t, k: 1.1 + np.cos(2 * np.pi * (5 * t[:, None] + np.arange(k) / k)),
    "switching": lambda t, k: np.eye(k)[(1000 * t).astype(int) % k] + 0.1,
    "rare": lambda t, k: np.eye(k)[np.zeros(len(t), int)] + 0.01,
}


def error(points, indices, weights, outcomes):
    """Σ_p G_p·‖p − ȳ_p‖², added up point by point."""
    mass, sums = np.zeros(len(points)), np.zeros((len(points), outcomes.shape[1]))
    for column in range(indices.shape[1]):
        np.add.at(mass, indices[:, column], weights[:, column])
        np.add.at(sums, indices[:, column], weights[:, column, None] * outcomes)
    played = mass > 0
    gaps = points[played].reshape(played.sum(), -1) - sums[played] / mass[played, None]
    return float(mass[played] @ np.square(gaps).sum(axis=1))


@pytest.mark.slow
@pytest.mark.parametrize("horizon", [LONG, None])
@pytest.mark.parametrize("name", FIXED)
@pytest.mark.parametrize("classes", [3, 4])
def test_several_classes(classes, name, horizon, record_property):
    rng = np.random.default_rng(1)
    chances = FIXED[name](np.arange(LONG) / LONG, classes)
    ranks = np.cumsum(chances / chances.sum(axis=1, keepdims=True), axis=1)
    outcomes = np.minimum((rng.random((LONG, 1)) >= ranks).sum(axis=1), classes - 1)
    forecaster = MulticlassForecaster(classes, horizon, seed=1)
    run = forecaster.run(outcomes)
    indices, weights = run.issued_indices[:, None], np.ones((LONG, 1))
    measured = error(run.points, indices, weights, np.eye(classes)[outcomes])
    record_property("ratio", measured / forecaster.guarantee)
    assert measured <= forecaster.guarantee
    assert measured == pytest.approx(forecaster.certificate().measured, rel=1e-6)


MODELS = ("right", "overconfident", "contrary", "flipping", "drift", "liar")


def models(name, rng):
    """Claimed probabilities and outcomes."""
    logits = rng.normal(0, 1.2, LONG)
    claimed = 1 / (1 + np.exp(-logits))
    position = np.arange(LONG) / LONG
    slope = {"right": 1.0, "overconfident": 0.3, "contrary": -1.0}.get(name, 0.0)
    if name == "flipping":
        slope = np.where((1000 * position).astype(int) % 2 == 0, 1.0, -1.0)
    chance = 1 / (1 + np.exp(-(slope * logits + (np.sin(20 * position) if name == "drift" else 0))))
    outcomes = (rng.random(LONG) < chance).astype(float)
    return (1 - outcomes if name == "liar" else claimed), outcomes


@pytest.mark.slow
@pytest.mark.parametrize("step", [0.05, None])
@pytest.mark.parametrize("name", MODELS)
def test_recalibration(name, step, record_property):
    claimed, outcomes = models(name, np.random.default_rng(2))
    recalibrator = Recalibrator(step, horizon=LONG, seed=1)
    run = recalibrator.run(claimed, outcomes)
    indices, weights = run.issued_indices[:, None], np.ones((LONG, 1))
    measured = error(run.points, indices, weights, outcomes[:, None])
    record_property("ratio", measured / recalibrator.guarantee)
    assert measured <= recalibrator.guarantee
    ours = float((weights * (run.points[indices] - outcomes[:, None]) ** 2).sum())
    excess = ours - float(np.square(claimed - outcomes).sum())
    against_model = recalibrator.certificates()[1]
    assert against_model.guaranteed is not None
    assert excess == pytest.approx(against_model.measured, abs=1e-3)
    assert excess <= against_model.guaranteed

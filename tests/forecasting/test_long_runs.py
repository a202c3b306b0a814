"""A million events of recalibration, measured against their guarantees."""

from __future__ import annotations

import numpy as np
import pytest

from fullswap import Recalibrator

LONG = 1_000_000


def error(points, indices, weights, outcomes):
    """Σ_p G_p·‖p − ȳ_p‖², added up point by point."""
    mass, sums = np.zeros(len(points)), np.zeros((len(points), outcomes.shape[1]))
    for column in range(indices.shape[1]):
        np.add.at(mass, indices[:, column], weights[:, column])
        np.add.at(sums, indices[:, column], weights[:, column, None] * outcomes)
    played = mass > 0
    gaps = points[played].reshape(played.sum(), -1) - sums[played] / mass[played, None]
    return float(mass[played] @ np.square(gaps).sum(axis=1))


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

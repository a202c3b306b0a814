"""Recalibration of several classes: what it does to forecasts, what it takes and refuses."""

import math

import numpy as np
import pytest

from contract.makers import state_of
from fullswap.forecasting import Recalibrator
from fullswap.metrics import classwise_calibration_error


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def overconfident(events, classes, seed=0):
    """Probabilities twice too sure of themselves and biased, and the classes that came."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 1.2, (events, classes))
    labels = (softmax(logits).cumsum(axis=1) < rng.random((events, 1))).sum(axis=1)
    return softmax(2 * logits + np.linspace(0, 0.7, classes)), np.minimum(labels, classes - 1)


@pytest.mark.parametrize("classes", [3, 4])
def test_overconfidence_is_mended(classes):
    p, labels = overconfident(4000, classes)
    recalibrator = Recalibrator(classes=classes, seed=1)
    run = recalibrator.run(p, labels)
    y = np.eye(classes)[labels]
    raw, own = (classwise_calibration_error(labels, said).error for said in (p, run.mean))
    assert own < 0.5 * raw
    lost = [float(((forecast - y) ** 2).sum(axis=1).mean()) for forecast in (run.mean, p)]
    assert lost[0] < lost[1] - 0.03


def test_soft_outcomes_and_runs_of_rows():
    rng = np.random.default_rng(0)
    p, y = rng.dirichlet(np.ones(3), 100), rng.dirichlet(np.ones(3), 100)
    whole, single = (Recalibrator(classes=3, seed=1) for _ in range(2))
    whole.run(p, y)
    for row, outcome in zip(p, y, strict=True):
        single.predict(row)
        single.update(outcome)
    assert state_of(whole) == state_of(single)


def test_late_outcomes_break_the_guarantee_but_teach():
    rng = np.random.default_rng(0)
    recalibrator = Recalibrator(classes=3, seed=1)
    waiting = []
    for _ in range(1500):
        waiting.append(recalibrator.predict([0.8, 0.1, 0.1]))
        if len(waiting) > 5:
            recalibrator.update(int(rng.choice(3, p=[0.2, 0.2, 0.6])), waiting.pop(0))
    assert recalibrator.certificate().guaranteed is None
    mixture = recalibrator.peek([0.8, 0.1, 0.1])
    assert mixture.weights @ mixture.points == pytest.approx([0.2, 0.2, 0.6], abs=0.1)


@pytest.mark.parametrize(
    "p",
    [
        0.5, [0.5, 0.5], [0.5, 0.5, 0.5], [0.5, 0.6, -0.1], [0.5, 0.5, math.nan], "abc",
        [[0.2, 0.3, 0.5], [0.2, 0.3, 0.6]], [math.inf, 0, 0],
    ],
)  # fmt: skip
def test_predict_refuses_and_changes_nothing(p):
    recalibrator = Recalibrator(classes=3, seed=1)
    before = recalibrator.to_json()
    with pytest.raises(ValueError, match=r"\bp\b"):
        recalibrator.predict(p)
    assert recalibrator.to_json() == before


@pytest.mark.parametrize("outcome", [3, -1, 0.5, [0.5, 0.6, 0.1], [1, 0], "x", math.nan])
def test_update_refuses_and_changes_nothing(outcome):
    recalibrator = Recalibrator(classes=3, seed=1)
    recalibrator.predict([0.2, 0.3, 0.5])
    before = recalibrator.to_json()
    with pytest.raises(ValueError, match="outcome"):
        recalibrator.update(outcome)
    assert recalibrator.to_json() == before


def test_run_refuses_what_does_not_fit():
    recalibrator = Recalibrator(classes=3, models=2, seed=1)
    with pytest.raises(ValueError, match="shape"):
        recalibrator.run(np.full((4, 3), 1 / 3), [0, 1, 2, 0])
    with pytest.raises(ValueError, match="only NaN in event 1"):
        p = np.full((2, 2, 3), 1 / 3)
        p[1] = math.nan
        recalibrator.run(p, [0, 1])
    with pytest.raises(ValueError, match="step must be None for more than two classes"):
        Recalibrator(1 / 20, classes=5)
    assert recalibrator.rounds == 0

"""Forecasts of several classes without a model: what they take, and what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest

from contract.makers import state_of
from fullswap.forecasting.binary import Forecaster
from fullswap.forecasting.multiclass import MulticlassForecaster


def stream(classes, rounds, seed):
    """Classes that are stable, then shift, then repeat, with one class never seen at first."""
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, size=rounds, p=rng.dirichlet(np.ones(classes)))
    third = rounds // 3
    y[:third] = y[:third] % (classes - 1)
    y[third : 2 * third] = rng.integers(classes, size=third)
    return y


def soft(y, classes, seed):
    """Some of the classes blurred."""
    rng = np.random.default_rng(seed)
    rows = np.eye(classes)[y]
    blurred = rng.random(len(y)) < 0.3
    rows[blurred] = rng.dirichlet(np.ones(classes), size=blurred.sum())
    return rows


def looped(forecaster, outcomes, weights=None):
    """The loop of predict and update."""
    made = []
    for t, y in enumerate(outcomes):
        made.append(forecaster.predict())
        forecaster.update(y, weight=1.0 if weights is None else weights[t])
    return made


def test_weights_and_soft_outcomes_too():
    rows = soft(stream(3, 300, seed=2), 3, seed=2)
    weights = np.random.default_rng(2).choice([0.0, 1e-300, 0.4, 1.0, 2.5], size=300)
    fast = MulticlassForecaster(3, 300, seed=1, max_weight=2.5)
    slow = MulticlassForecaster(3, 300, seed=1, max_weight=2.5)
    run = fast.run(rows, weights)
    made = looped(slow, rows, weights)
    np.testing.assert_array_equal(run.issued, [forecast.issued for forecast in made])
    assert state_of(fast) == state_of(slow)
    assert fast.certificate().holds


def test_one_hot_rows_equal_classes():
    y = stream(4, 300, seed=3)
    for outcomes in (y.astype(float), np.eye(4)[y], np.eye(4, dtype=bool)[y], y.astype(np.int8)):
        one, two = (MulticlassForecaster(4, 300, seed=1) for _ in range(2))
        np.testing.assert_array_equal(one.run(y).issued, two.run(outcomes).issued)
        assert state_of(one) == state_of(two)


@pytest.mark.parametrize("classes", [3, 6, 8])
def test_vectors_of_few_classes_sum_to_1_and_are_certified(classes):
    forecaster = MulticlassForecaster(classes, 2000, seed=1)
    run = forecaster.run(stream(classes, 2000, seed=1))
    assert run.issued.shape == (2000, classes)
    assert (np.abs(run.mean.sum(axis=1) - 1) <= 1e-9).all()
    assert forecaster.certificate().holds


def test_names_of_classes_do_not_matter_to_the_guarantee():
    y = stream(4, 1500, seed=6)
    for order in ([0, 1, 2, 3], [3, 0, 2, 1], [1, 2, 3, 0]):
        forecaster = MulticlassForecaster(4, 1500, seed=1)
        forecaster.run(np.array(order)[y])
        certificate = forecaster.certificate()
        expected = MulticlassForecaster(4, 1500).guarantee
        assert certificate.guaranteed == pytest.approx(expected, abs=1e-6)
        assert certificate.holds


def test_a_stable_stream_is_learnt():
    rng = np.random.default_rng(0)
    chances = np.array([0.6, 0.3, 0.1])
    run = MulticlassForecaster(3, 20_000, seed=1).run(rng.choice(3, size=20_000, p=chances))
    np.testing.assert_allclose(run.mean[-1000:].mean(axis=0), chances, atol=0.03)


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [1, 0, -3, 2.0, True, "3", None, math.nan])
def test_classes_must_be_a_whole_number(classes):
    with pytest.raises(ValueError, match="classes must be a whole number"):
        MulticlassForecaster(classes)


@pytest.mark.parametrize("classes", [2, ["lost", "won"]])
def test_two_classes_are_for_another_forecaster(classes):
    with pytest.raises(ValueError, match="classes must .*; for two use Forecaster, got"):
        MulticlassForecaster(classes)


def test_there_are_at_most_a_thousand_classes():
    assert MulticlassForecaster(1000).classes == 1000
    with pytest.raises(ValueError, match="from 3 to 1000.*got 1001"):
        MulticlassForecaster(1001)


BAD_OUTCOMES = [
    3, -1, 1.5, True, math.nan, math.inf, "0", None, [0.5, 0.5], [0.5, 0.6, 0.1], [1.5, -0.5, 0.0],
    [math.nan, 0.5, 0.5], [[1, 0, 0]], [], [0.0, 0.0, 0.0], ["a", "b", "c"],
]  # fmt: skip


@pytest.mark.parametrize("outcome", BAD_OUTCOMES, ids=str)
def test_bad_outcomes_change_nothing(outcome):
    forecaster = MulticlassForecaster(3, 100, seed=1)
    looped(forecaster, [0, 1, 2])
    forecaster.predict()
    before = forecaster.to_json()
    with pytest.raises(ValueError, match="outcome"):
        forecaster.update(outcome)
    if isinstance(outcome, list) and np.ndim(outcome) == 1 and len(outcome) == 3:
        with pytest.raises(ValueError, match="outcomes"):
            forecaster.run([[1.0, 0.0, 0.0], outcome])
    elif not isinstance(outcome, list):
        with pytest.raises(ValueError, match="outcomes"):
            forecaster.run([outcome, outcome])
    assert forecaster.to_json() == before


def test_bad_updates_and_runs_change_nothing():
    forecaster = MulticlassForecaster(3, 100, seed=1)
    with pytest.raises(ValueError, match="no forecast is pending"):
        forecaster.update(1)
    mine = forecaster.predict()
    forecaster.predict()
    foreign = MulticlassForecaster(3, 100, seed=8)
    foreign.run([0, 0, 1] * 5)
    before = forecaster.to_json()
    for arguments in (
        {},
        {"forecast": 7},
        {"forecast": "first"},
        {"forecast": foreign.predict()},
        {"forecast": mine, "weight": 1.5},
        {"forecast": mine, "weight": -1.0},
        {"forecast": mine, "weight": math.nan},
    ):
        with pytest.raises(ValueError):
            forecaster.update(1, **arguments)
    for weights in ([1.0], [1.0, 2.0], [1.0, math.nan], ["a", "b"]):
        with pytest.raises(ValueError, match="sample_weight"):
            forecaster.run([0, 1], weights)
    for outcomes in ([[0, 1, 0], [1, 0]], np.zeros((2, 3, 3)), np.zeros((2, 2)), 1, [True, False]):
        with pytest.raises(ValueError):
            forecaster.run(outcomes)
    assert forecaster.to_json() == before


def test_damaged_state_is_refused():
    text = MulticlassForecaster(3, 100, seed=1).to_json()
    for damaged in ("", "{}", text[:-9] + text[-8:], text.replace('"classes": 3', '"classes": 4')):
        assert damaged != text
        with pytest.raises(ValueError, match="text must"):
            MulticlassForecaster.from_json(damaged)
    with pytest.raises(ValueError, match="read it with Forecaster.from_json"):
        MulticlassForecaster.from_json(Forecaster(10).to_json())

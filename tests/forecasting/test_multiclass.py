"""Forecasts of several classes: calibrated against everything, within what is guaranteed."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest

from contract.makers import state_of
from fullswap.adversaries import all_adversaries
from fullswap.base.protocols import Mixture
from fullswap.forecasting.binary import Forecaster
from fullswap.forecasting.multiclass import MulticlassForecaster
from fullswap.grids.kuhn import kuhn_simplex
from fullswap.losses import LossClass
from fullswap.online.simplex import SimplexMeans
from fullswap.sets import Simplex


def error(events):
    """Σ_p n_p·‖p − ȳ_p‖² of events (p, share, y), by a plain loop."""
    held = defaultdict(lambda: [0.0, None])
    for p, share, y in events:
        sums = held[tuple(p)]
        sums[0] += share
        sums[1] = [share * v + (sums[1][k] if sums[1] else 0.0) for k, v in enumerate(y)]
    return math.fsum(
        n * sum((a - b / n) ** 2 for a, b in zip(p, total, strict=True))
        for p, (n, total) in held.items()
        if n > 0
    )


def events_of(run, rows, weights=None):
    """What calibration looks at, from a recorded run."""
    for t, y in enumerate(rows.tolist()):
        weight = 1.0 if weights is None else weights[t]
        yield run.issued[t].tolist(), weight, y


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


# --- what a run measures ---------------------------------------------------------------------


def test_weights_and_soft_outcomes_too():
    rows = soft(stream(3, 300, seed=2), 3, seed=2)
    weights = np.random.default_rng(2).choice([0.0, 1e-300, 0.4, 1.0, 2.5], size=300)
    fast = MulticlassForecaster(3, 300, seed=1, max_weight=2.5)
    slow = MulticlassForecaster(3, 300, seed=1, max_weight=2.5)
    run = fast.run(rows, weights)
    made = looped(slow, rows, weights)
    np.testing.assert_array_equal(run.issued, [forecast.issued for forecast in made])
    assert state_of(fast) == state_of(slow)
    certificate = fast.certificate()
    expected = error(events_of(run, rows, weights))
    assert certificate.measured == pytest.approx(expected, rel=1e-9)
    assert certificate.holds


def test_weights_stand_for_repetition_in_the_measured_error():
    light = MulticlassForecaster(3, 200, seed=1, max_weight=4.0)
    run = light.run(np.arange(200) % 3, np.full(200, 3.0))
    events = list(events_of(run, np.eye(3)[np.arange(200) % 3]))
    assert light.certificate().measured == pytest.approx(error(events * 3), rel=1e-9)


def test_one_hot_rows_equal_classes():
    y = stream(4, 300, seed=3)
    for outcomes in (y.astype(float), np.eye(4)[y], np.eye(4, dtype=bool)[y], y.astype(np.int8)):
        one, two = (MulticlassForecaster(4, 300, seed=1) for _ in range(2))
        np.testing.assert_array_equal(one.run(y).issued, two.run(outcomes).issued)
        assert state_of(one) == state_of(two)


# --- the guarantee ----------------------------------------------------------------------------


def guarantee_by_hand(classes, cells, variance, rounds):
    """T·V/N² + (1 − 1/K)·n·Rt(T/n)."""
    n = math.comb(cells + classes - 1, classes - 1)
    x = rounds / n
    learning = (1 - 1 / classes) * n * (min(x, 1) + math.log(max(x, 1)))
    return min(2 * rounds, rounds * variance / cells**2 + learning)


@pytest.mark.parametrize(("classes", "variance"), [(2, 1 / 2), (3, 2 / 3), (4, 1.0)])
@pytest.mark.parametrize("rounds", [10, 1000, 30_000])
def test_the_guarantee_is_the_theorem_at_the_best_grid(classes, variance, rounds):
    forecaster = MulticlassForecaster(classes, rounds, seed=1)
    bounds = {
        cells: guarantee_by_hand(classes, cells, variance, rounds)
        for cells in range(1, 40)
        if math.comb(cells + classes - 1, classes - 1) <= max(rounds, 2 ** (classes + 1))
    }
    assert forecaster.guarantee == pytest.approx(min(bounds.values()), rel=1e-9)
    # the paper's variance K/(4N²) is never smaller
    assert variance <= classes / 4


def test_two_classes_are_charged_twice_what_whole_outcomes_of_one_are():
    """Vectors of two classes have twice the error; means start at ½, which costs ¼·Rt(T/n)."""
    for horizon in (100, 10_000):
        double = MulticlassForecaster(2, horizon, seed=1)
        n = double.spec.levels[0].size(2)
        each = horizon / n
        one = horizon / (4 * (n - 1) ** 2) + n / 4 * (min(each, 1) + math.log(max(each, 1)))
        assert double.guarantee == pytest.approx(2 * one, rel=1e-9)
    assert double.guarantee == pytest.approx(2 * 40.9, abs=0.1)


@pytest.mark.parametrize("classes", [6, 8])
def test_up_to_eight_classes(classes):
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
        assert certificate.guaranteed == pytest.approx(expected, rel=1e-12)
        assert certificate.holds


def replayed(run, rows):
    """Each round's distribution and what its sub-learners recommended, by slow running means."""
    classes = rows.shape[1]
    learnt, centre = {}, (1.0, np.full(classes, 1 / classes))
    for t, y in enumerate(rows):
        used = run.weights[t] > 0
        labels, weights = run.indices[t][used], run.weights[t][used]
        targets = np.array([learnt.get(i, centre)[1] for i in labels])
        yield run.points[labels], weights, targets
        for i in labels:
            g = float(i == run.issued_indices[t])
            if g > 0:
                total, target = learnt.get(i, centre)
                learnt[i] = (total + g, (total * target + g * y) / (total + g))


@pytest.mark.parametrize("horizon", [400, None])
@pytest.mark.parametrize("classes", [2, 3, 4])
def test_every_forecast_is_a_fixed_point_on_one_simplex_of_the_grid(classes, horizon):
    rows = soft(stream(classes, 400, seed=7), classes, seed=7)
    forecaster = MulticlassForecaster(classes, horizon, seed=1)
    run = forecaster.run(rows)
    variance = kuhn_simplex(Simplex(classes - 1), 1 / forecaster.spec.levels[0].cells).variance
    for t, (points, weights, targets) in enumerate(replayed(run, rows)):
        assert weights.sum() == pytest.approx(1, abs=1e-12) and len(points) <= classes
        np.testing.assert_allclose(weights @ points, weights @ targets, atol=1e-10)
        # so, for every outcome, the forecast loses at most V more than the recommendations
        forecast = weights @ np.square(points - rows[t]).sum(axis=1)
        recommended = weights @ np.square(targets - rows[t]).sum(axis=1)
        assert forecast <= recommended + variance + 1e-9


def centre_of(loss):
    """The outcome of a squared loss."""
    y = np.maximum(-loss.coefficients[1:-1] / (2 * loss.coefficients[0]), 0.0)
    return y / y.sum()


def against(forecaster, adversary, rounds):
    """Outcomes chosen after the distribution is seen; events as calibration looks at them."""
    events = []
    for t in range(rounds):
        forecast = forecaster.predict()
        y = centre_of(adversary.choose(Mixture(forecast.points, forecast.weights), t))
        forecaster.update(y)
        events.append((forecast.issued.tolist(), 1.0, y.tolist()))
    return events


def simplex_adversaries(classes, seed, rounds):
    simplex = Simplex(classes - 1)
    return all_adversaries(simplex, LossClass.squared(simplex.diameter), seed, rounds=rounds)


@pytest.mark.theorem("calibration of classes")
@pytest.mark.parametrize("horizon", [300, None])
@pytest.mark.parametrize("classes", [3, 4])
def test_issued_forecasts_stay_within_the_guarantee_on_average(classes, horizon):
    by_seed = [list(simplex_adversaries(classes, seed, 300)) for seed in range(4)]
    for same_kind in zip(*by_seed, strict=True):
        measured, after = [], []
        for seed, adversary in enumerate(same_kind):
            forecaster = MulticlassForecaster(classes, horizon, seed=seed)
            events = against(forecaster, adversary, 300)
            measured.append(error(events))
            certificate = forecaster.certificate()
            assert certificate.measured == pytest.approx(measured[-1], rel=1e-9, abs=1e-9)
            assert certificate.on_average
            after.append(certificate.after_the_fact)
        assert np.mean(measured) <= min(np.mean(after), certificate.guaranteed), adversary


def test_long_runs_against_drift():
    rounds = 60_000
    phase = np.arange(rounds)[:, None] / rounds * 40 + np.arange(3) * 2 * np.pi / 3
    chances = np.exp(2 * np.sin(phase))
    chances /= chances.sum(axis=1, keepdims=True)
    u = np.random.default_rng(0).random((rounds, 1))
    y = (u > chances.cumsum(axis=1)).sum(axis=1)
    forecaster = MulticlassForecaster(3, rounds, seed=1)
    forecaster.run(y, record=False)
    certificate = forecaster.certificate()
    assert certificate.holds
    assert certificate.measured > certificate.guaranteed / 50  # the bound is not idle


def test_late_outcomes_stay_within_their_larger_guarantee():
    y = stream(3, 1200, seed=8).tolist()
    forecaster = MulticlassForecaster(3, 1200, seed=1)
    prompt = forecaster.guarantee
    for t, outcome in enumerate(y):
        forecaster.predict()
        if t >= 20:
            forecaster.update(outcome, forecast=forecaster.pending[0])
    certificate = forecaster.certificate()
    assert forecaster.guarantee > prompt
    assert certificate.after_the_fact < certificate.guaranteed and certificate.holds


def test_a_stable_stream_is_learnt():
    rng = np.random.default_rng(0)
    chances = np.array([0.6, 0.3, 0.1])
    run = MulticlassForecaster(3, 20_000, seed=1).run(rng.choice(3, size=20_000, p=chances))
    np.testing.assert_allclose(run.mean[-1000:].mean(axis=0), chances, atol=0.03)


def test_rounds_without_a_fixed_point_fall_back_on_a_stationary_distribution(monkeypatch):
    rows = soft(stream(3, 300, seed=9), 3, seed=9)
    kind = SimplexMeans(MulticlassForecaster(3, 300).spec)
    place = kind.kernel._fields.index("limit")
    kind._arguments = (*kind._arguments[:place], 0, *kind._arguments[place + 1 :])
    kind.widen(3)  # no search at all
    monkeypatch.setattr("fullswap.forecasting.base.kind_of", lambda spec: kind)
    fast, slow = (MulticlassForecaster(3, 300, seed=2) for _ in range(2))
    run = fast.run(rows)
    made = looped(slow, rows)
    np.testing.assert_array_equal(run.issued, [forecast.issued for forecast in made])
    assert state_of(fast) == state_of(slow)
    assert (run.weights > 0).sum(axis=1).max() > 3
    np.testing.assert_allclose(run.weights.sum(axis=1), 1)
    for points, weights, targets in replayed(run, rows):
        np.testing.assert_allclose(weights @ points, weights @ targets, atol=1e-10)
    certificate = fast.certificate()
    assert certificate.measured == pytest.approx(error(events_of(run, rows)), rel=1e-9)
    assert certificate.holds


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [1, 0, -3, 2.0, True, "3", None, math.nan])
def test_classes_must_be_a_whole_number(classes):
    with pytest.raises(ValueError, match="classes must be a whole number"):
        MulticlassForecaster(classes)


def test_more_classes_than_a_grid_has_are_calibrated_one_by_one():
    assert MulticlassForecaster(8).calibration == "full"
    assert MulticlassForecaster(9).calibration == "classwise"
    with pytest.raises(ValueError, match="from 2 to 1000.*got 1001"):
        MulticlassForecaster(1001)
    with pytest.raises(ValueError, match="calibration must be 'classwise' or None for more than 8"):
        MulticlassForecaster(9, calibration="full")
    with pytest.raises(ValueError, match="drawn must be False but for calibration='classwise'"):
        MulticlassForecaster(5, drawn=True)


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

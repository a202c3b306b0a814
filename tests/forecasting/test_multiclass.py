"""Forecasts of several classes: calibrated against everything, and the same however run."""

from __future__ import annotations

import copy
import csv
import math
import pickle
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullswap.adversaries import all_adversaries
from fullswap.base.protocols import Mixture
from fullswap.forecasting.binary import Forecaster
from fullswap.forecasting.multiclass import MulticlassForecaster
from fullswap.forecasting.one_vs_rest import OneVsRest, normalised
from fullswap.losses import LossClass
from fullswap.sets import Simplex

SOCCER = Path(__file__).resolve().parents[2] / "shared" / "data" / "club_soccer_matches.csv"
FEEDBACK = ("realised", "distribution")


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


def events_of(run, rows, feedback, weights=None):
    """What calibration looks at, from a recorded run."""
    for t, y in enumerate(rows.tolist()):
        weight = 1.0 if weights is None else weights[t]
        if feedback == "realised":
            yield run.issued[t].tolist(), weight, y
        else:
            for i, w in zip(run.indices[t], run.weights[t], strict=True):
                if w > 0:
                    yield run.points[i].tolist(), weight * w, y


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


# --- a run is the loop ----------------------------------------------------------------------


@pytest.mark.parametrize("feedback", FEEDBACK)
@pytest.mark.parametrize("horizon", [400, None])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_a_run_equals_the_loop_to_the_bit(classes, horizon, feedback):
    y = stream(classes, 600, seed=1)
    fast = MulticlassForecaster(classes, horizon, feedback, seed=4)
    slow = MulticlassForecaster(classes, horizon, feedback, seed=4)
    first, rest = fast.run(y[:250]), fast.run(y[250:])
    made = looped(slow, y.tolist())
    np.testing.assert_array_equal(
        np.vstack((first.issued, rest.issued)), [forecast.issued for forecast in made]
    )
    np.testing.assert_array_equal(rest.mean, [forecast.mean for forecast in made[250:]])
    for t, forecast in enumerate(made[250:]):
        used = rest.weights[t] > 0
        np.testing.assert_array_equal(rest.points[rest.indices[t][used]], forecast.points)
        np.testing.assert_array_equal(rest.weights[t][used], forecast.weights)
    assert fast.to_json() == slow.to_json()


@pytest.mark.parametrize("feedback", FEEDBACK)
def test_weights_and_soft_outcomes_too(feedback):
    rows = soft(stream(3, 300, seed=2), 3, seed=2)
    weights = np.random.default_rng(2).choice([0.0, 1e-300, 0.4, 1.0, 2.5], size=300)
    fast = MulticlassForecaster(3, 300, feedback, seed=1, max_weight=2.5)
    slow = MulticlassForecaster(3, 300, feedback, seed=1, max_weight=2.5)
    run = fast.run(rows, weights)
    made = looped(slow, rows, weights)
    np.testing.assert_array_equal(run.issued, [forecast.issued for forecast in made])
    assert fast.to_json() == slow.to_json()
    certificate = fast.certificate()
    expected = error(events_of(run, rows, feedback, weights))
    assert certificate.measured == pytest.approx(expected, rel=1e-9)
    assert certificate.holds


def test_weights_stand_for_repetition_in_the_measured_error():
    light = MulticlassForecaster(3, 200, "distribution", max_weight=4.0)
    run = light.run(np.arange(200) % 3, np.full(200, 3.0))
    events = list(events_of(run, np.eye(3)[np.arange(200) % 3], "distribution"))
    assert light.certificate().measured == pytest.approx(error(events * 3), rel=1e-9)


def test_one_hot_rows_equal_classes():
    y = stream(4, 300, seed=3)
    for outcomes in (y.astype(float), np.eye(4)[y], np.eye(4, dtype=bool)[y], y.astype(np.int8)):
        one, two = MulticlassForecaster(4, 300), MulticlassForecaster(4, 300)
        np.testing.assert_array_equal(one.run(y).issued, two.run(outcomes).issued)
        assert one.to_json() == two.to_json()


def test_looking_changes_nothing():
    forecaster = MulticlassForecaster(3, 500)
    forecaster.run(stream(3, 100, seed=0))
    before = forecaster.to_json()
    mixture = forecaster.peek()
    assert forecaster.to_json() == before
    forecast = forecaster.predict()
    np.testing.assert_array_equal(mixture.points, forecast.points)
    np.testing.assert_array_equal(mixture.weights, forecast.weights)
    np.testing.assert_allclose(forecast.mean, mixture.weights @ mixture.points, atol=1e-15)
    assert any((forecast.issued == point).all() for point in forecast.points)


def test_without_a_record_the_state_is_the_same():
    y = stream(3, 300, seed=5)
    one, two = MulticlassForecaster(3), MulticlassForecaster(3)
    assert one.run(y, record=False) is None
    assert len(two.run(y)) == 300
    assert one.to_json() == two.to_json()
    assert len(one.run([])) == 0


# --- saved state ------------------------------------------------------------------------------


@given(
    st.integers(2, 4),
    st.sampled_from([120, None]),
    st.sampled_from(FEEDBACK),
    st.integers(0, 90),
    st.integers(0, 3),
    st.integers(0, 10**6),
)
def test_a_restart_changes_nothing_even_with_outcomes_outstanding(
    classes, horizon, feedback, when, waiting, seed
):
    y = stream(classes, 120, seed).tolist()
    kept = MulticlassForecaster(classes, horizon, feedback, seed)
    looped(kept, y[:when])
    late = [kept.predict() for _ in range(waiting)]
    again = MulticlassForecaster.from_json(kept.to_json())
    assert again.to_json() == kept.to_json()
    for one in (kept, again):
        for k, forecast in reversed(list(enumerate(one.pending))):
            if k == 1:
                one.drop(forecast)
            else:
                one.update(y[k], forecast=forecast)
        one.run(y[when:])
    assert [forecast.id for forecast in late] == list(range(when, when + waiting))
    assert again.to_json() == kept.to_json()


def test_copies_go_their_own_way():
    forecaster = MulticlassForecaster(3, 200, seed=9)
    forecaster.run([0, 1, 2] * 20)
    before = forecaster.to_json()
    for other in (pickle.loads(pickle.dumps(forecaster)), copy.deepcopy(forecaster)):
        assert other.to_json() == before
        other.run([1] * 50)
    assert forecaster.to_json() == before


def test_memory_and_state_are_those_of_the_grid_not_of_the_run():
    forecaster = MulticlassForecaster(3, 100_000)
    forecaster.run(np.zeros(50_000, int), record=False)
    assert len(forecaster.to_json()) < 2_000  # one class only: few points were ever forecast
    forecaster.run(stream(3, 50_000, 0), record=False)
    touched = forecaster._bank.dump()["touched"]
    assert len(touched) <= len(forecaster._points)


# --- the guarantee ----------------------------------------------------------------------------


def guarantee_by_hand(classes, cells, variance, rounds):
    """T·V/N² + 2·n·Rt(T/n)."""
    n = math.comb(cells + classes - 1, classes - 1)
    x = rounds / n
    learning = 2 * n * (min(x, 1) + math.log(max(x, 1)))
    return min(2 * rounds, rounds * variance / cells**2 + learning)


@pytest.mark.parametrize(("classes", "variance"), [(2, 1 / 2), (3, 2 / 3), (4, 1.0)])
@pytest.mark.parametrize("rounds", [10, 1000, 30_000])
def test_the_guarantee_is_the_theorem_at_the_best_grid(classes, variance, rounds):
    forecaster = MulticlassForecaster(classes, rounds)
    bounds = {
        cells: guarantee_by_hand(classes, cells, variance, rounds)
        for cells in range(1, 40)
        if math.comb(cells + classes - 1, classes - 1) <= max(rounds, 2 ** (classes + 1))
    }
    assert forecaster.guarantee == pytest.approx(min(bounds.values()), rel=1e-9)
    # the paper's variance K/(4N²) is never smaller
    assert variance <= classes / 4


def test_two_classes_have_twice_the_binary_guarantee():
    for horizon in (100, 10_000):
        binary, double = Forecaster(horizon), MulticlassForecaster(2, horizon)
        assert double.guarantee == pytest.approx(2 * binary.guarantee, rel=1e-9)
        assert len(double._points) == len(binary._points)
        one, two = binary.certificate(), double.certificate()
        assert (one.quantity, one.theorem, one.on_average) == (
            two.quantity,
            two.theorem,
            two.on_average,
        )


@pytest.mark.parametrize("feedback", FEEDBACK)
def test_names_of_classes_do_not_matter_to_the_guarantee(feedback):
    y = stream(4, 1500, seed=6)
    for order in ([0, 1, 2, 3], [3, 0, 2, 1], [1, 2, 3, 0]):
        forecaster = MulticlassForecaster(4, 1500, feedback)
        forecaster.run(np.array(order)[y])
        certificate = forecaster.certificate()
        assert certificate.guaranteed == MulticlassForecaster(4, 1500).guarantee
        assert certificate.holds


def replayed(run, rows, feedback, prior_mass=1.0):
    """Each round's distribution and what its sub-learners recommended, by slow running means."""
    classes = rows.shape[1]
    learnt, mean, mass = {}, np.full(classes, 1 / classes), prior_mass
    for t, y in enumerate(rows):
        used = run.weights[t] > 0
        labels, weights = run.indices[t][used], run.weights[t][used]
        targets = np.array([learnt.get(i, (0.0, mean))[1] for i in labels])
        yield run.points[labels], weights, targets
        for i, w in zip(labels, weights, strict=True):
            g = float(i == run.issued_indices[t]) if feedback == "realised" else w
            if g > 0:
                total, target = learnt.get(i, (0.0, mean))
                learnt[i] = (total + g, (total * target + g * y) / (total + g))
        mean, mass = (mass * mean + y) / (mass + 1), mass + 1


@pytest.mark.parametrize("feedback", FEEDBACK)
@pytest.mark.parametrize("horizon", [400, None])
@pytest.mark.parametrize("classes", [2, 3, 4])
def test_every_forecast_is_a_fixed_point_on_one_simplex_of_the_grid(classes, horizon, feedback):
    rows = soft(stream(classes, 400, seed=7), classes, seed=7)
    forecaster = MulticlassForecaster(classes, horizon, feedback)
    run = forecaster.run(rows)
    variance = forecaster.plan.grid_at(0).variance
    for t, (points, weights, targets) in enumerate(replayed(run, rows, feedback)):
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
        labels = np.array(forecast._indices)
        y = centre_of(adversary.choose(Mixture(forecast.points, forecast.weights, labels), t))
        forecaster.update(y)
        if forecaster.feedback == "realised":
            events.append((forecast.issued.tolist(), 1.0, y.tolist()))
        else:
            shares = zip(forecast.points.tolist(), forecast.weights.tolist(), strict=True)
            events += [(p, w, y.tolist()) for p, w in shares]
    return events


def simplex_adversaries(classes, seed, rounds):
    simplex = Simplex(classes - 1)
    return all_adversaries(simplex, LossClass.squared(simplex.diameter), seed, rounds=rounds)


@pytest.mark.parametrize("horizon", [500, None])
@pytest.mark.parametrize("classes", [3, 4])
def test_distributions_stay_within_the_guarantee_against_every_adversary(classes, horizon):
    for adversary in simplex_adversaries(classes, 1, 500):
        forecaster = MulticlassForecaster(classes, horizon, "distribution")
        events, seen = [], 0
        for rounds in (60, 140, 300):
            events += against(forecaster, adversary, rounds)
            seen += rounds
            certificate = forecaster.certificate()
            measured = error(events)
            assert certificate.rounds == seen
            assert certificate.measured == pytest.approx(measured, rel=1e-9, abs=1e-9)
            assert measured <= certificate.after_the_fact + 1e-9, adversary
            assert certificate.after_the_fact <= certificate.guaranteed
            assert certificate.guaranteed <= forecaster.guarantee


@pytest.mark.parametrize("horizon", [300, None])
@pytest.mark.parametrize("classes", [3, 4])
def test_issued_forecasts_stay_within_the_guarantee_on_average(classes, horizon):
    by_seed = [list(simplex_adversaries(classes, seed, 300)) for seed in range(4)]
    for same_kind in zip(*by_seed, strict=True):
        measured = []
        for seed, adversary in enumerate(same_kind):
            forecaster = MulticlassForecaster(classes, horizon, seed=seed)
            events = against(forecaster, adversary, 300)
            measured.append(error(events))
            certificate = forecaster.certificate()
            assert certificate.measured == pytest.approx(measured[-1], rel=1e-9, abs=1e-9)
            assert certificate.on_average and certificate.after_the_fact is None
        assert np.mean(measured) <= certificate.guaranteed, adversary


@pytest.mark.parametrize("feedback", FEEDBACK)
def test_long_runs_against_drift(feedback):
    rounds = 60_000
    phase = np.arange(rounds)[:, None] / rounds * 40 + np.arange(3) * 2 * np.pi / 3
    chances = np.exp(2 * np.sin(phase))
    chances /= chances.sum(axis=1, keepdims=True)
    u = np.random.default_rng(0).random((rounds, 1))
    y = (u > chances.cumsum(axis=1)).sum(axis=1)
    forecaster = MulticlassForecaster(3, rounds, feedback)
    forecaster.run(y, record=False)
    certificate = forecaster.certificate()
    assert certificate.holds
    assert certificate.measured > certificate.guaranteed / 50  # the bound is not idle


@pytest.mark.parametrize("feedback", FEEDBACK)
def test_late_outcomes_stay_within_their_larger_guarantee(feedback):
    y = stream(3, 1200, seed=8).tolist()
    forecaster = MulticlassForecaster(3, 1200, feedback)
    prompt = forecaster.guarantee
    for t, outcome in enumerate(y):
        forecaster.predict()
        if t >= 20:
            forecaster.update(outcome, forecast=forecaster.pending[0])
    certificate = forecaster.certificate()
    assert forecaster.guarantee > prompt
    assert certificate.after_the_fact is None and certificate.holds


def test_a_stable_stream_is_learnt():
    rng = np.random.default_rng(0)
    chances = np.array([0.6, 0.3, 0.1])
    run = MulticlassForecaster(3, 20_000).run(rng.choice(3, size=20_000, p=chances))
    np.testing.assert_allclose(run.mean[-1000:].mean(axis=0), chances, atol=0.03)


def test_rounds_without_a_fixed_point_fall_back_on_a_stationary_distribution():
    rows = soft(stream(3, 300, seed=9), 3, seed=9)
    for feedback in FEEDBACK:
        fast, slow = (MulticlassForecaster(3, 300, feedback, seed=2) for _ in range(2))
        for forecaster in (fast, slow):
            forecaster._bank._limit = 0  # no search at all
        run = fast.run(rows)
        made = looped(slow, rows)
        np.testing.assert_array_equal(run.issued, [forecast.issued for forecast in made])
        assert fast.to_json() == slow.to_json()
        assert (run.weights > 0).sum(axis=1).max() > 3
        np.testing.assert_allclose(run.weights.sum(axis=1), 1)
        for points, weights, targets in replayed(run, rows, feedback):
            np.testing.assert_allclose(weights @ points, weights @ targets, atol=1e-10)
        certificate = fast.certificate()
        expected = error(events_of(run, rows, feedback))
        assert certificate.measured == pytest.approx(expected, rel=1e-9)
        assert certificate.holds
        if feedback == "distribution":
            assert certificate.measured <= certificate.after_the_fact


@pytest.mark.skipif(not SOCCER.exists(), reason="the log of matches is not at hand")
@pytest.mark.parametrize("feedback", FEEDBACK)
def test_football_matches(feedback):
    with SOCCER.open(encoding="utf-8") as file:
        names = ("prob1_outcome", "probtie_outcome", "prob2_outcome")
        y = np.array([[float(row[name]) for name in names] for row in csv.DictReader(file)])
    forecaster = MulticlassForecaster(3, len(y), feedback)
    run = forecaster.run(y)
    certificate = forecaster.certificate()
    assert certificate.measured == pytest.approx(error(events_of(run, y, feedback)), rel=1e-9)
    assert certificate.holds and certificate.measured < certificate.guaranteed / 2
    uniform = np.square(y - 1 / 3).sum(axis=1).mean()
    assert np.square(run.mean - y).sum(axis=1).mean() < uniform


# --- one against the rest ---------------------------------------------------------------------


@pytest.mark.parametrize("feedback", FEEDBACK)
def test_one_vs_rest_is_a_binary_forecaster_for_each_class(feedback):
    y = stream(7, 400, seed=1)
    rows = soft(y, 7, seed=1)
    fast, slow, hard = (
        MulticlassForecaster(7, 400, feedback, 3, method="one_vs_rest") for _ in range(3)
    )
    assert isinstance(fast, OneVsRest)
    run = fast.run(rows)
    made = looped(slow, rows)
    np.testing.assert_array_equal(run.issued, [forecast.issued for forecast in made])
    np.testing.assert_array_equal(run.mean, [forecast.mean for forecast in made])
    np.testing.assert_array_equal(run.unnormalised, [forecast.unnormalised for forecast in made])
    np.testing.assert_allclose(run.issued.sum(axis=1), 1)
    np.testing.assert_allclose(run.mean.sum(axis=1), 1)
    assert fast.to_json() == slow.to_json() and fast.rounds == 400
    for k, certificate in enumerate(fast.certificates()):
        binary = [
            ([p], w, [v])
            for i in range(400)
            for p, w, v in (
                [(run.unnormalised[i, k], 1.0, rows[i, k])]
                if feedback == "realised"
                else zip(made[i].parts[k].points, made[i].parts[k].weights, [rows[i, k]] * 2)  # noqa: B905
            )
        ]
        assert certificate.measured == pytest.approx(error(binary), rel=1e-9)
        assert certificate.guaranteed == Forecaster(400).guarantee and certificate.holds
    hard.run(y)
    looped(other := MulticlassForecaster(7, 400, feedback, 3, method="one_vs_rest"), y.tolist())
    assert hard.to_json() == other.to_json()
    streams = {tuple(part._draws.some(5)) for part in fast._parts}
    assert len(streams) == 7  # every class draws for itself


def test_one_vs_rest_promises_nothing_for_the_vectors():
    forecaster = MulticlassForecaster(3, method="one_vs_rest")
    run = forecaster.run(stream(3, 200, seed=0))
    certificate = forecaster.certificate()
    parts = forecaster.certificates()
    assert math.isnan(forecaster.guarantee)
    assert certificate.guaranteed is None and not certificate.holds
    assert "normalised" in certificate.broken[0] and "normalised" in forecaster.explain()
    assert certificate.measured == pytest.approx(sum(part.measured for part in parts))
    assert len(run) == 200


def test_vectors_of_zeros_become_uniform():
    np.testing.assert_array_equal(normalised(np.zeros(4)), np.full(4, 0.25))
    forecaster = MulticlassForecaster(3, 100, method="one_vs_rest")
    forecasts = looped(forecaster, [0] * 100)
    assert all(forecast.issued.sum() == pytest.approx(1) for forecast in forecasts)


@pytest.mark.parametrize("horizon", [50, None])
def test_one_vs_rest_restarts_with_outcomes_outstanding(horizon):
    kept = MulticlassForecaster(6, horizon, seed=5, method="one_vs_rest", max_weight=2.0)
    looped(kept, [0, 3, 5, 1])
    first, second, third = (kept.predict() for _ in range(3))
    again = MulticlassForecaster.from_json(kept.to_json())
    assert isinstance(again, OneVsRest) and again.max_weight == 2.0
    assert [forecast.id for forecast in again.pending] == [4, 5, 6]
    for one in (kept, again, pickle.loads(pickle.dumps(kept))):
        one.update(2, forecast=second.id, weight=2.0)
        one.drop(first)
        one.update(1)
        one.run([4, 4, 0])
        assert one.pending == () and one.rounds == 9
    assert again.to_json() == kept.to_json()
    with pytest.raises(ValueError, match="not pending"):
        kept.update(0, forecast=third)
    with pytest.raises(ValueError, match="read it with MulticlassForecaster"):
        OneVsRest.from_json(MulticlassForecaster(3).to_json())


def test_hundreds_of_classes():
    forecaster = MulticlassForecaster(300, 1000, method="one_vs_rest")
    forecast = forecaster.predict()
    forecaster.update(299)
    assert forecast.issued.shape == forecast.mean.shape == (300,)
    assert forecast.issued.sum() == pytest.approx(1)


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [1, 0, -3, 2.0, True, "3", None, math.nan])
@pytest.mark.parametrize("method", ["grid", "one_vs_rest"])
def test_classes_must_be_a_whole_number(classes, method):
    with pytest.raises(ValueError, match="classes must be a whole number"):
        MulticlassForecaster(classes, method=method)


def test_too_many_classes_are_told_where_to_go():
    with pytest.raises(ValueError, match="got 6: use method='one_vs_rest'"):
        MulticlassForecaster(6)
    with pytest.raises(ValueError, match="from 2 to 1000, got 1001"):
        MulticlassForecaster(1001, method="one_vs_rest")


@pytest.mark.parametrize("method", ["grid", "one_vs_rest"])
@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"horizon": 0}, "horizon"),
        ({"horizon": 2.5}, "horizon"),
        ({"feedback": "both"}, "feedback"),
        ({"seed": -1}, "seed"),
        ({"max_weight": 0.0}, "max_weight"),
        ({"max_weight": math.inf}, "max_weight"),
    ],
)
def test_bad_settings_are_refused(method, options, match):
    with pytest.raises(ValueError, match=match):
        MulticlassForecaster(3, method=method, **options)


def test_unknown_methods_are_refused():
    with pytest.raises(ValueError, match="method must be 'grid' or 'one_vs_rest'"):
        MulticlassForecaster(3, method="softmax")


BAD_OUTCOMES = [
    3, -1, 1.5, True, math.nan, math.inf, "0", None, [0.5, 0.5], [0.5, 0.6, 0.1], [1.5, -0.5, 0.0],
    [math.nan, 0.5, 0.5], [[1, 0, 0]], [], [0.0, 0.0, 0.0], ["a", "b", "c"],
]  # fmt: skip


@pytest.mark.parametrize("method", ["grid", "one_vs_rest"])
@pytest.mark.parametrize("outcome", BAD_OUTCOMES, ids=str)
def test_bad_outcomes_change_nothing(method, outcome):
    forecaster = MulticlassForecaster(3, 100, method=method)
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


@pytest.mark.parametrize("method", ["grid", "one_vs_rest"])
def test_bad_updates_and_runs_change_nothing(method):
    forecaster = MulticlassForecaster(3, 100, method=method)
    with pytest.raises(ValueError, match="no forecast is pending"):
        forecaster.update(1)
    mine = forecaster.predict()
    forecaster.predict()
    foreign = MulticlassForecaster(3, 100, seed=8, method=method)
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
    text = MulticlassForecaster(3, 100).to_json()
    for damaged in ("", "{}", text[:-9] + text[-8:], text.replace('"rounds": 0', '"rounds": 1')):
        with pytest.raises(ValueError):
            MulticlassForecaster.from_json(damaged)
    with pytest.raises(ValueError, match="read it with Forecaster.from_json"):
        MulticlassForecaster.from_json(Forecaster(10).to_json())

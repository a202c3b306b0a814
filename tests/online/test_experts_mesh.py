"""Experts for K classes against slow definitions: aggregating rule, rounding, recalibration."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from fullswap.forecasting.expert_specs import experts_spec
from fullswap.kernels import experts_mesh as mesh
from fullswap.kernels import logistic
from fullswap.kernels.columns import (
    CROWD,
    LOST,
    MASS,
    NEXT_ID,
    OVERLAP,
    ROUNDING,
    ROUNDING_MOST,
    ROUNDS,
    SQUARES,
)
from fullswap.kernels.experts import ADVICE_LOSS, PLAYED_LOSS, SHARE
from fullswap.kernels.projection import project_simplex
from fullswap.online.kinds import kind_of
from fullswap.theorems.recalibration import IMAGINED
from naive.experts import SlowMeshExperts, slow_mesh_rule
from online.verbs import forecast, learn, place_of

scales = st.floats(0.001, 1)


def blank_row(cells, models, classes):
    """A row that has learnt nothing, its kind, and views: totals, mix, scaling, likely."""
    kind = kind_of(experts_spec(cells, classes, models, None, 1.0))
    row = kind.blank.copy()
    return kind, row, mesh.mesh_parts(row, kind.inputs, classes)


def simplex_point(rng, classes):
    x = rng.exponential(size=classes) * (rng.random(classes) < 0.8)
    return x / x.sum() if x.sum() > 0 else np.eye(classes)[0]


@given(st.integers(0, 2**32), st.integers(3, 5))
def test_nearest_point_of_the_simplex(seed, classes):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 2, classes)
    near = x.copy()
    project_simplex(near)
    assert near.min() >= 0 and near.sum() == pytest.approx(1)
    for corner in np.eye(classes):  # no corner lies in the direction of what was cut off
        assert (x - near) @ (corner - near) <= 1e-9


@given(st.integers(0, 2**32), st.integers(3, 5), scales)
def test_the_mesh_rule_loses_no_more_than_its_mix_loss(seed, classes, scale):
    rng = np.random.default_rng(seed)
    opinions = np.array([simplex_point(rng, classes) for _ in range(4)])
    weights = rng.exponential(size=4)
    weights /= weights.sum()
    q, y = slow_mesh_rule(weights, opinions), simplex_point(rng, classes)
    mixed = weights @ np.exp(-scale * ((opinions - y) ** 2).sum(axis=1))
    assert scale * ((q - y) ** 2).sum() <= -math.log(mixed) + 1e-9


@given(st.integers(0, 2**32), st.integers(3, 5), st.integers(1, 3))
def test_mesh_advice_and_recommendation_are_the_rule(seed, classes, models):
    rng = np.random.default_rng(seed)
    kind, row, (_, mix, scaling, likely) = blank_row(4, models, classes)
    inputs = np.array([simplex_point(rng, classes) for _ in range(models)])
    if models > 1:
        inputs[rng.integers(models)] = math.nan
    experts = kind.experts
    mix[SHARE] = rng.dirichlet(np.ones(experts))
    memo = np.zeros((1 + 2 * kind.inputs + experts, classes))
    mesh._advise(mix, scaling, likely, inputs, memo)
    opinions = memo[-experts:]
    awake = ~np.isnan(opinions).any(axis=1)
    assert awake.sum() == (5 if models == 1 else experts - 5)
    advice = slow_mesh_rule(mix[SHARE, awake], opinions[awake])
    assert memo[0] == pytest.approx(advice, abs=1e-7)

    points, columns = kind.points(0), kind.point_columns(row)
    i = int(rng.integers(len(points)))
    weight, seen, odds = rng.exponential(20), simplex_point(rng, classes), rng.normal(0, 3)
    columns[i, mesh.WEIGHT], columns[i, mesh.ODDS] = weight, odds
    columns[i, mesh.ONES :] = weight * seen
    target, mean = np.zeros(classes), np.zeros(classes)
    mesh._recommend(points, row, kind.base, IMAGINED, i, memo[0], target, mean)
    assert mean == pytest.approx((weight * seen + points[i]) / (weight + 1))
    shares = np.array([1 / (1 + math.exp(odds)), 1 / (1 + math.exp(-odds))])
    assert target == pytest.approx(slow_mesh_rule(shares, np.array([memo[0], mean])), abs=1e-7)


@given(st.integers(0, 2**32), st.integers(3, 5), st.booleans())
@settings(max_examples=40)
def test_mesh_forecast_is_a_fixed_point(seed, classes, steps):
    """On one simplex; without steps to search, on a closed class, where it holds as well."""
    rng = np.random.default_rng(seed)
    kind, row, _ = blank_row(6, 1, classes)
    points, columns = kind.points(0), kind.point_columns(row)
    n = len(points)
    columns[:, mesh.WEIGHT] = weight = rng.choice([0.0, 1.0, 50.0], n)
    seen = np.array([simplex_point(rng, classes) for _ in range(n)])
    columns[:, mesh.ONES :] = weight[:, None] * seen
    columns[:, mesh.ODDS] = rng.normal(0, 5, n)
    before = row.copy()
    limit = kind._limit
    kind._limit = limit if steps else 0
    try:
        play = forecast(kind, row, simplex_point(rng, classes)[None])
    finally:
        kind._limit = limit
    indices, weights, targets, means, memo = play
    assert np.array_equal(row, before), "looking changes nothing"
    assert sum(weights) == pytest.approx(1)
    target, mean = np.zeros(classes), np.zeros(classes)
    for c, i in enumerate(indices):
        mesh._recommend(points, row, kind.base, IMAGINED, i, memo[0], target, mean)
        assert np.array_equal(target, targets[c]) and np.array_equal(mean, means[c])
    assert weights @ targets == pytest.approx(weights @ points[indices], abs=1e-9)
    if steps:
        corners = np.rint(6 * np.cumsum(points[indices], axis=1))
        assert len(indices) <= classes and (np.abs(corners[:, None] - corners) <= 1).all()


def test_mesh_recalibration_approaches_the_batch_solution():
    rng = np.random.default_rng(4)
    logs = rng.normal(0, 1.5, (3000, 3))
    logs -= logs.mean(axis=1, keepdims=True)
    heights = 0.5 * logs + np.array([0.6, 0.0, -0.6])
    chances = np.exp(heights) / np.exp(heights).sum(axis=1, keepdims=True)
    labels = (chances.cumsum(axis=1) < rng.random((3000, 1))).sum(axis=1)
    state, work = blank_row(2, 1, 3)[2][2][0, 1], np.zeros((7, 4))
    for row, label in zip(logs, labels, strict=True):
        logistic.learn_scaling(state, 1.0, 1.0, row, 1.0, np.eye(3)[label], work)

    def posterior(theta):
        e = theta[0] * logs + theta[1:]
        fit = e[np.arange(3000), labels] - np.logaddexp.reduce(e, axis=1)
        penalty = (theta[0] - 1) ** 2 + (theta[1:] ** 2).sum()
        return penalty / (2 * logistic.SCALING_WIDE) - fit.sum()

    best = minimize(posterior, np.array([1.0, 0, 0, 0])).x
    assert state[:, 0] == pytest.approx(best, abs=0.05)
    assert np.linalg.eigvalsh(state[:, 1:]).min() > 0


@given(st.integers(0, 2**32))
@settings(max_examples=25)
def test_mesh_recalibration_survives_certain_forecasts(seed):
    rng = np.random.default_rng(seed)
    state, work = blank_row(2, 1, 3)[2][2][0, 1], np.zeros((7, 4))
    logs = np.empty(3)
    for _ in range(50):
        logistic.take_logs(np.eye(3)[rng.integers(3)], mesh.EDGE, logs)
        logistic.learn_scaling(
            state, rng.choice([1.0, 0.9]), 1.0, logs, 1.0, simplex_point(rng, 3), work
        )
    assert np.isfinite(state).all() and abs(state[0, 0]) < 5


@pytest.mark.parametrize("models", [1, 2])
def test_the_method_for_several_classes_is_what_is_written_down(models):
    rng = np.random.default_rng(8)
    kind, row, (totals, mix, _, _) = blank_row(5, models, 3)
    slow = SlowMeshExperts(kind.points(0), kind.inputs)
    paid = 0.0
    mass = 0.0
    for t in range(120):
        inputs = np.array([simplex_point(rng, 3) for _ in range(models)])
        if models > 1 and rng.random() < 0.3:
            inputs[1] = math.nan
        play = forecast(kind, row, inputs)
        members, shares, targets, _, memo = play
        said, opinions = memo[1 : 1 + kind.inputs], memo[-kind.experts :]
        assert said[:models] == pytest.approx(inputs, nan_ok=True)
        for j, p in enumerate(said):
            if not np.isnan(p).any():
                assert opinions[5 * j] == pytest.approx(p)
                assert opinions[5 * j + 4] == pytest.approx(slow.shifted(j, p), abs=1e-9)
        advice = slow.advice(opinions)
        assert memo[0] == pytest.approx(advice, abs=1e-9)
        for i, target in zip(members, targets, strict=True):
            assert target == pytest.approx(slow.target(i, advice), abs=1e-7)
        assert shares @ targets == pytest.approx(shares @ kind.points(0)[members], abs=1e-9)
        y, g = simplex_point(rng, 3), float(rng.choice([0.0, 0.3, 1.0]))
        drawn = place_of(shares, rng.random())
        row[CROWD] = crowd = rng.choice([0, 0, 3])
        learn(kind, row, play, drawn, y, g, t)
        row[CROWD] = 0
        mass += g
        points = kind.points(0)[members]
        paid += g * shares @ (np.square(points - y) - np.square(targets - y)).sum(axis=1)
        support = [(int(members[drawn]), g, targets[drawn])]
        if g > 0:
            slow.learn(advice, opinions, said, support, y, crowd)
    assert mix[SHARE] == pytest.approx(slow.shares, abs=1e-9)
    assert totals[ADVICE_LOSS] == pytest.approx(slow.advice_loss)
    assert totals[PLAYED_LOSS] == pytest.approx(slow.played_loss)
    heads = (MASS, ROUNDS, SQUARES, LOST, ROUNDING, ROUNDING_MOST)
    expected = (mass, 120, slow.squares, slow.lost, paid, mass * kind.rounding_cost(0))
    assert [row[place] for place in heads] == pytest.approx(expected)
    columns = kind.point_columns(row)
    for i, seen in enumerate(slow.outcomes):
        assert columns[i, mesh.WEIGHT] == pytest.approx(sum(g for g, _ in seen))
        assert columns[i, mesh.ODDS] == pytest.approx(slow.odds[i], abs=1e-9)
        total = sum((g * y for g, y in seen), np.zeros(3))
        assert columns[i, mesh.ONES :] == pytest.approx(total)
    row[NEXT_ID], row[OVERLAP] = 300, 3
    kind.check(row)

"""Each rule against the readable step."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from fullswap import grids
from fullswap.base.protocols import SparseRows
from fullswap.kernels.stationary import gth_in_place
from fullswap.learners import (
    Discretised,
    GradientDescent,
    Hedge,
    LipschitzRate,
    NearlyStronglyConvexRate,
    RegretMatchingPlus,
    StronglyConvexRate,
)
from fullswap.losses import Custom, Quadratic, QuadraticFamily
from fullswap.rounding import Barycentric, Nearest
from fullswap.sets import Ball, Box, Interval, Simplex
from fullswap.template import reference_step
from fullswap.template.rules import Crossing, Dense, Stationary
from fullswap.template.step import crossing_mixture, stationary_mixture
from fullswap.theorems import Constants
from fullswap.theorems.learning import RESIDUAL_SHARE
from template_cases import dense_of, line_losses, seeds, unit

# Crossing against the reference ---------------------------------------------------------------


def all_crossings(points, targets):
    """Every mixture of neighbours that is its own target, as far as finitely many tell."""
    n, found = len(points), []
    eye = np.eye(n)
    if targets[0] < points[0] or n == 1:
        found.append(eye[0])
    if targets[-1] > points[-1]:
        found.append(eye[-1])
    for i in range(n - 1):
        up, down = targets[i] - points[i], points[i + 1] - targets[i + 1]
        if up >= 0 and down >= 0:
            if up + down == 0:
                found += [eye[i], eye[i + 1]]
            else:
                found.append((down * eye[i] + up * eye[i + 1]) / (up + down))
    distinct = []
    for mixture in found:
        if not any(np.abs(mixture - other).max() <= 1e-12 for other in distinct):
            distinct.append(mixture)
    return distinct


RATES = {
    "strongly convex": StronglyConvexRate(Constants(2.0, 1.0, 2.0)),
    "lipschitz": LipschitzRate(Constants(2.0, 1.0)),
    "nearly": NearlyStronglyConvexRate(Constants(2.0, 1.0, 2.0, gap=0.5), 1.8),
}


@settings(max_examples=100)
@given(
    st.data(),
    st.sampled_from(list(RATES.values())),
    st.sets(st.integers(0, 8), min_size=1, max_size=7),
    line_losses(),
    st.sampled_from(["scattered", "together", "at home"]),
    st.booleans(),
    st.booleans(),
)
def test_crossing_is_the_reference_step(data, rate, places, losses, start, opaque, linearised):
    points = np.array(sorted(places)) / 8
    n = len(points)
    if linearised and (n == 1 or not opaque):
        linearised = False  # interpolation needs two points, and its kinks one convention
    low, high = (points[0], points[-1]) if linearised else (0.0, 1.0)
    first = {"together": lambda: [data.draw(unit)] * n, "at home": lambda: points}
    targets = first.get(start, lambda: [data.draw(unit) for _ in points])()
    targets = np.clip(np.array(targets, dtype=float), low, high)
    rule = Crossing(points[:, None], low, high, rate.parameters(), linearised)
    rule.state[1] = targets
    bank = GradientDescent(Interval(low, high), rate, targets[:, None])
    bank = Discretised(bank, points[:, None]) if linearised else bank
    state = bank.init(n)
    unique = 0
    for loss in losses:
        loss = Custom(loss.value, loss.gradient) if opaque else loss
        before = bank.propose(state).copy()
        indices, weights = rule.mix()
        again = rule.mix()
        assert np.array_equal(indices, again[0]) and np.array_equal(weights, again[1])
        fast = dense_of(n, indices, weights)
        valid = all_crossings(points, before[:, 0])
        for mixture in (fast, crossing_mixture(points, before[:, 0])):
            assert any(np.abs(mixture - other).max() <= 1e-12 for other in valid)
        if len(valid) == 1:
            unique += 1
            state, slow, _ = reference_step(
                points[:, None], bank, state, None, lambda x, loss=loss: loss, "crossing"
            )
            assert np.abs(slow - fast).max() <= 1e-12
        else:
            state = bank.update(state, loss, fast)
        lost = rule.learn(loss, indices, weights)
        seen = bank.seen(loss) if linearised else loss
        assert lost == pytest.approx(seen.value(before[indices]), abs=1e-9)
        assert np.array_equal(rule.state[1], bank.propose(state)[:, 0])
    if start == "together":
        assert unique >= 1


def test_looking_twice_from_the_last_point_finds_the_same_crossing():
    # the search leaps over the dip at the last but one point; from the end it would fall into it
    points = (np.arange(7) + 0.5)[:, None] / 7
    rule = Crossing(points, 0.0, 1.0, np.array([2.0, 0.0, np.inf]), False)
    rule.state[1] = points[:, 0] + 0.01
    rule.state[1, 5] -= 0.02
    rule.hint = 0
    looks = [rule.mix()[0].tolist() for _ in range(3)]
    assert looks == [[6]] * 3
    assert len(all_crossings(points[:, 0], rule.state[1])) == 2


# Stationary against the reference ---------------------------------------------------------------

SPARSE = {
    "neighbours": (Interval(-1.0, 2.0), grids.triangulation, Barycentric, 0.5),
    "nearest on a line": (Interval(-1.0, 2.0), grids.net, Nearest, 0.5),
    "box": (Box([0.0, 1.0], [1.0, 3.0]), grids.triangulation, Barycentric, 0.5),
    "box, nearest": (Box([0.0, 1.0], [1.0, 3.0]), grids.net, Nearest, 0.6),
    "simplex": (Simplex(2), grids.triangulation, Barycentric, 0.25),
    "ball": (Ball([1.0, -1.0], 2.0), grids.triangulation, Barycentric, 1.0),
    "cube": (Box([0.0] * 3, [1.0] * 3), grids.triangulation, Barycentric, 0.5),
}


def closed_classes(matrix):
    """Closed communicating classes, each as a sorted tuple of states."""
    count, label = connected_components(matrix > 0, directed=True, connection="strong")
    members = [np.flatnonzero(label == c) for c in range(count)]
    return [tuple(m) for m in members if not np.delete(matrix[m], m, axis=1).any()]


@pytest.mark.parametrize("case", SPARSE.values(), ids=SPARSE.keys())
@settings(max_examples=12)
@given(seeds, st.booleans(), st.integers(1, 15))
def test_stationary_plays_one_closed_class_and_its_distribution(case, seed, scattered, rounds):
    action_set, make, rounding_of, mesh = case
    grid, rng = make(action_set, mesh), np.random.default_rng(seed)
    rounding, n = rounding_of(grid), len(grid)
    diameter = action_set.diameter
    bank = GradientDescent(action_set, StronglyConvexRate(Constants(2 * diameter, diameter, 2.0)))
    rule = Stationary(grid.points, bank, rounding, int(rng.integers(n)))
    if scattered:
        spread = rng.normal(size=grid.points.shape) * diameter / 2
        rule.bank.targets[:] = action_set.project(action_set.center + spread)
        rows = rounding(rule.bank.targets)
        rule.row_indices[:], rule.row_weights[:] = rows.indices, rows.weights
    reference = bank.init(n)
    reference.targets[:] = rule.bank.targets
    compared = 0
    for _ in range(rounds):
        center = action_set.project(action_set.center + rng.normal(size=(1, len(grid.points[0]))))
        kind = rng.integers(4)
        # into the set, onto a grid point, or no opinion at all
        loss = Quadratic(grid.points[rng.integers(n)] if kind == 0 else center[0])
        loss = QuadraticFamily(np.zeros(action_set.ambient_dim + 2)) if kind == 1 else loss
        transition = SparseRows(rule.row_indices, rule.row_weights).toarray(n)
        assert np.abs(transition - rounding(reference.targets).toarray(n)).max() <= 1e-9
        indices, weights = rule.mix()
        mixture = dense_of(n, indices, weights)
        assert np.abs(mixture @ transition - mixture).max() <= 1e-12
        classes = closed_classes(transition)
        assert tuple(np.sort(indices)) in classes and weights.min() > 0
        gaps = np.linalg.svd(np.vstack((transition.T - np.eye(n), np.ones(n))))[1]
        if len(classes) == 1 and gaps[-1] > 1e-6:
            compared += 1
            reference, slow, _ = reference_step(
                grid.points, bank, reference, rounding, lambda x, loss=loss: loss
            )
            assert np.abs(slow - mixture).max() <= 1e-7
            lost = rule.learn(loss, indices, weights)
            # tiny differences of the two solvers are not to add up
            reference.targets[:] = rule.bank.targets
            reference.weight_sums[:] = rule.bank.weight_sums
        else:
            expected = loss.value(reference.targets[indices])
            reference = bank.update(reference, loss, mixture)
            lost = rule.learn(loss, indices, weights)
            assert lost == pytest.approx(expected, abs=1e-12)
            assert np.abs(reference.targets - rule.bank.targets).max() <= 1e-12
    if scattered and rounds == 15:
        assert compared or len(classes) > 1


def test_stationary_grows_its_work_for_large_classes():
    # a ring in which every state leads to the next: one class of all 90 states
    points = np.linspace(0.0, 1.0, 90)[:, None]
    bank = GradientDescent(Interval(0.0, 1.0), RATES["lipschitz"])
    rule = Stationary(points, bank, Nearest(grids.line(Interval(0.0, 1.0), points[:, 0])), 3)
    rule.row_indices[:, 0] = (np.arange(90) + 1) % 90
    indices, weights = rule.mix()
    assert sorted(indices) == list(range(90)) and weights == pytest.approx(np.full(90, 1 / 90))


# Dense against the reference ---------------------------------------------------------------------


@settings(max_examples=30)
@given(st.integers(1, 7), line_losses(most=25), st.sampled_from(["known", "anytime", "matching"]))
def test_dense_is_stationary_within_its_tolerance(n, losses, kind):
    points = (np.linspace(0.0, 1.0, n) if n > 1 else np.array([0.5]))[:, None]
    if kind == "matching":
        bank = RegretMatchingPlus(points)
    else:
        bank = Hedge(points, 1.0, len(losses) if kind == "known" else None)
    rule, owed = Dense(points, bank), 0.0
    reference = bank.init(n)
    for t, loss in enumerate(losses, start=1):
        transition = bank.propose(rule.bank).copy()
        indices, weights = rule.mix()
        mixture = dense_of(n, indices, weights)
        left = np.abs(mixture @ transition - mixture).sum()
        tolerance = RESIDUAL_SHARE * math.sqrt(n * math.log(max(n, 2)) / t)
        assert left <= tolerance + 1e-13
        owed += left
        # one step of the chain contracts by 1 − Σ_j min_s Q[s, j], which bounds the distance
        overlap = transition.min(axis=0).sum()
        if overlap > 0:
            exact = np.empty(n)
            gth_in_place(transition.copy(), n, exact)
            assert np.abs(exact - stationary_mixture(transition)).sum() <= 1e-9
            assert np.abs(mixture - exact).sum() <= left / overlap + 1e-12
            _, slow, _ = reference_step(
                points, bank, clone(bank, rule.bank), None, lambda x, loss=loss: loss
            )
            assert np.abs(slow - mixture).sum() <= tolerance / overlap + 1e-9
        lost = rule.learn(loss, indices, weights)
        assert lost == pytest.approx(transition @ loss.value(points), abs=1e-12)
        reference = bank.update(reference, loss, mixture)
        assert np.array_equal(bank.propose(reference), bank.propose(rule.bank))
        assert rule.residual == pytest.approx(owed, abs=1e-12)


def clone(bank, state):
    copy = bank.init(len(state.rows))
    for name, value in vars(state).items():
        setattr(copy, name, value.copy() if isinstance(value, np.ndarray) else value)
    return copy


# The learner: certificates on adversarial runs ---------------------------------------------------

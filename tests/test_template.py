"""The template: rules against the readable step, and the learner that users meet."""

import copy
import json
import math
import pickle

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
from fullswap.losses import Custom, Linear, LossClass, Quadratic, QuadraticFamily, quadratic_rows
from fullswap.metrics import discretised_swap_regret, full_swap_regret
from fullswap.rounding import Barycentric, Nearest
from fullswap.sets import Ball, Box, Interval, Polytope, Simplex
from fullswap.template import FullSwapLearner, reference_step
from fullswap.template.rules import Crossing, Dense, Stationary
from fullswap.template.step import crossing_mixture, stationary_mixture
from fullswap.theorems import RESIDUAL_SHARE, THEOREMS, Constants

seeds = st.integers(0, 2**32 - 1)
unit = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0.0, 1.0))


@st.composite
def line_losses(draw, most=15):
    """Losses on [0, 1]: bowls with centres on grid points or at the ends, lines, constants."""
    made = []
    for kind, z in draw(st.lists(st.tuples(st.integers(0, 3), unit), min_size=1, max_size=most)):
        row = [(1.0, -2 * z, z * z), (0.0, 2 * z - 1, 0.0), (0.0, 0.0, z), (1.0, -2.0, 1.0)][kind]
        made.append(QuadraticFamily(row))
    return made


def dense_of(n, indices, weights):
    mixture = np.zeros(n)
    mixture[indices] = weights
    assert len(set(np.asarray(indices).tolist())) == len(indices)
    assert mixture.min() >= 0 and abs(mixture.sum() - 1) <= 1e-12
    return mixture


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


def far_bowl(action_set, mixture, t, rng):
    """Squared distance to the point farthest from what is played on average."""
    away = mixture.mean - action_set.center + 1e-3 * rng.normal(size=len(mixture.mean))
    return Quadratic(action_set.minimize_linear(away[None, :])[0])


def any_bowl(action_set, mixture, t, rng):
    """Squared distance to points that drift through the set."""
    phase = np.cos(t / 40 + np.arange(action_set.ambient_dim))
    center = action_set.center + action_set.diameter * (0.4 * phase + 0.1 * rng.normal())
    return Quadratic(action_set.project(center[None, :])[0])


def uphill(action_set, mixture, t, rng):
    """A line of slope 1 that falls away from the mean of what is played."""
    basis = action_set.frame[1]
    y = (mixture.mean - action_set.center) @ basis + 1e-3 * rng.normal(size=basis.shape[1])
    return Linear(basis @ (y / np.linalg.norm(y)))


def dome(action_set, mixture, t, rng):
    """Concave, with its top at the heaviest point played, or a line."""
    if t % 3 == 0:
        return uphill(action_set, mixture, t, rng)
    top = mixture.points[mixture.weights.argmax()]
    return Quadratic(top, -0.5 / action_set.diameter)


TENTS = [
    Custom(lambda x, z=z: np.abs(x[:, 0] - z), lambda x, z=z: np.sign(x - z) * (x != z))
    for z in (-0.8, 0.1, 0.35, 1.2, 1.9)
]
BLIND = [Custom(lambda x, w=w: np.sin(w * x[:, 0]) / w) for w in (3.0, 5.0, 7.0)]


def tent(action_set, mixture, t, rng):
    return TENTS[int(rng.integers(len(TENTS)))]


def wave(action_set, mixture, t, rng):
    return BLIND[t % len(BLIND)]


LINE, BOX, BALL = Interval(-1.0, 2.0), Box([0.0, -1.0], [1.0, 1.0]), Ball([1.0, 2.0], 1.5)
STEEP = LossClass(1.0)
CONVEX = LossClass(1.0, convex=True)
SMOOTH = LossClass(1.0, smoothness=5.0)
CONCAVE = LossClass(1.0, concave=True)
ACTIONS = [-1.0, -0.5, 0.25, 0.5, 1.0, 1.5, 2.0]


def squared(action_set):
    return LossClass.squared(action_set.diameter)


CASES = {
    "1 hedge": (LINE, STEEP, {"row": "lipschitz", "learner": "hedge"}, uphill),
    "1 hedge, no gradient": (LINE, STEEP, {"row": "lipschitz"}, wave),
    "1 matching": (LINE, STEEP, {"row": "lipschitz", "learner": "matching"}, uphill),
    "1 gradient": (LINE, CONVEX, {"row": "lipschitz", "learner": "gradient"}, tent),
    "1 gradient, stationary": (
        LINE,
        CONVEX,
        {"row": "lipschitz", "learner": "gradient", "rule": "stationary"},
        uphill,
    ),
    "1 box": (BOX, STEEP, {"row": "lipschitz", "learner": "hedge"}, uphill),
    "2 hedge": (LINE, SMOOTH, {"row": "smooth", "learner": "hedge"}, uphill),
    "2 ball": (BALL, LossClass(1.0, smoothness=9.0), {"row": "smooth", "learner": "hedge"}, dome),
    "2 gradient": (
        BOX,
        LossClass(1.0, smoothness=5.0, convex=True),
        {"row": "smooth", "learner": "gradient"},
        uphill,
    ),
    "3 line": (LINE, CONCAVE, {"row": "concave"}, dome),
    "3 ball": (BALL, CONCAVE, {"row": "concave"}, dome),
    "3 simplex": (Simplex(2), CONCAVE, {"row": "concave", "learner": "matching"}, uphill),
    "4 line": (LINE, squared(LINE), {"row": "strongly convex"}, far_bowl),
    "4 stationary": (
        LINE,
        squared(LINE),
        {"row": "strongly convex", "rule": "stationary"},
        any_bowl,
    ),
    "4 box": (BOX, squared(BOX), {"row": "strongly convex"}, far_bowl),
    "5 line": (LINE, squared(LINE), {"row": "strongly convex and smooth"}, far_bowl),
    "5 stationary": (
        LINE,
        squared(LINE),
        {"row": "strongly convex and smooth", "rule": "stationary"},
        any_bowl,
    ),
    "5 simplex": (Simplex(2), squared(Simplex(2)), {}, any_bowl),
    "5 ball": (BALL, squared(BALL), {}, far_bowl),
    "5 cube": (Box([0.0] * 3, [1.0] * 3), squared(Box([0.0] * 3, [1.0] * 3)), {}, far_bowl),
    "6 crossing": (LINE, squared(LINE), {"row": "discretised", "actions": ACTIONS}, any_bowl),
    "6 stationary": (
        LINE,
        squared(LINE),
        {"row": "discretised", "actions": ACTIONS, "rule": "stationary"},
        any_bowl,
    ),
    "6 by row 5": (LINE, squared(LINE), {"actions": np.linspace(-1.0, 2.0, 31)}, any_bowl),
}
cases = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def rounds_against(learner, adversary, rounds, seed=0):
    """Play; labels, points and weights must fit together in every round."""
    rng = np.random.default_rng(seed)
    played = []
    for t in range(rounds):
        mixture = learner.play()
        assert np.array_equal(learner.points[mixture.indices], mixture.points)
        assert abs(mixture.weights.sum() - 1) <= 1e-12 and mixture.weights.min() >= 0
        assert learner.action_set.contains(mixture.points, 1e-9).all()
        loss = adversary(learner.action_set, mixture, t, rng)
        learner.observe(loss)
        played.append((mixture, loss))
    return played


@cases
@pytest.mark.parametrize("horizon", [150, None])
def test_measured_is_below_after_the_fact_is_below_guaranteed(case, horizon):
    action_set, loss_class, options, adversary = case
    learner = FullSwapLearner(action_set, loss_class, horizon, **options)
    rounds_against(learner, adversary, 150)
    certificate = learner.certificate()
    assert certificate.rounds == 150 and certificate.broken == () and certificate.holds
    slack = 1e-9 * (1 + certificate.guaranteed)
    assert 0 <= certificate.measured <= certificate.after_the_fact + slack
    assert certificate.after_the_fact <= certificate.guaranteed == learner.plan.bound(150)
    assert certificate.measured > 0, "an adversary that does no harm tests nothing"
    # the same two inequalities with the regrets of this very run, before the smaller is taken
    exactly = learner._after_the_fact()
    assert certificate.measured <= exactly + slack
    if not learner.plan.theorem.restarts or learner.plan.schedule is None:
        assert exactly <= learner.plan.rounding_cost(150) + learning_bound(learner, 150) + slack
    assert json.loads(json.dumps(certificate.to_dict()))["measured"] == certificate.measured
    assert learner.plan.theorem.citation in str(certificate)


def learning_bound(learner, rounds):
    """Σ Reg_s ≤ what the theorem says of the final grid, and the allowance for residuals."""
    plan = learner.plan
    geometry = learner.grid.geometry
    if plan.schedule is not None:
        geometry = plan.schedule.geometry(rounds - 1)
    cost = plan.theorem.learning_cost(plan.constants, geometry.size, rounds)
    return cost + plan.constants.loss_range / 2 * learner._rule.residual


@cases
def test_rounds_beyond_the_horizon_stay_covered(case):
    action_set, loss_class, options, adversary = case
    learner = FullSwapLearner(action_set, loss_class, 20, **options)
    first = learner.guarantee
    assert first == learner.plan.bound(20)
    rounds_against(learner, adversary, 120)
    certificate = learner.certificate()
    assert certificate.holds and certificate.guaranteed == learner.guarantee
    assert learner.guarantee == learner.plan.bound(120) >= first


def test_hedge_beyond_its_horizon_is_charged_for_its_rate():
    # n·ln n/η + η·B²·t/8 at t rounds, with the η of the horizon T = 50
    learner = FullSwapLearner(LINE, STEEP, 50, learner="hedge", mesh=1.0)
    n, loss_range, horizon = 3, 3.0, 50
    assert len(learner.grid) == n
    rate = math.sqrt(8 * n * math.log(n) / horizon) / loss_range
    assert learner._rule.learner.rates(learner._rule.bank) == pytest.approx(np.full(n, rate))
    for rounds in (40, 50, 200, 1000):
        learning = n * math.log(n) / rate + rate * loss_range**2 * rounds / 8
        residual = RESIDUAL_SHARE * loss_range * math.sqrt(rounds * n * math.log(n))
        bound = min(loss_range * rounds, 0.5 * rounds + learning + residual)
        assert learner.plan.bound(rounds) == pytest.approx(bound)


@cases
def test_certificates_measure_what_a_transcript_shows(case):
    from fullswap.base.records import Record

    action_set, loss_class, options, adversary = case
    learner = FullSwapLearner(action_set, loss_class, 60, **options)
    played = rounds_against(learner, adversary, 60)
    transcript = Record.of_rounds(action_set, played, **learner.context)
    metric = full_swap_regret if learner._actions is None else discretised_swap_regret
    assert learner.certificate().measured_at_most == pytest.approx(metric(transcript), abs=1e-9)


REFINED = {
    name: CASES[name]
    for name in ("1 hedge", "1 matching", "1 gradient", "1 gradient, stationary", "1 box")
    + ("2 hedge", "2 gradient", "3 ball", "4 line", "4 stationary", "4 box", "5 line", "5 ball")
}


@pytest.mark.parametrize("case", REFINED.values(), ids=REFINED.keys())
def test_unknown_horizons_refine_and_keep_what_was_learnt(case):
    action_set, loss_class, options, adversary = case
    learner = FullSwapLearner(action_set, loss_class, None, **options)
    schedule = learner.plan.schedule
    schedule.level(0)
    starts = []
    while len(starts) < 2:
        starts.append(schedule.level_ends(starts[-1] if starts else 0))
    rounds = starts[1] + 3
    assert rounds <= 2500, "choose constants that refine sooner"
    rng, guarantees, changes = np.random.default_rng(3), [], 0
    for t in range(rounds):
        mixture = learner.play()
        loss = adversary(action_set, mixture, t, rng)
        grid, known, old = learner.grid, learner.points.copy(), learner._rule
        learner.observe(loss)
        guarantees.append(learner.guarantee)
        assert np.array_equal(learner.points[: len(known)], known), "labels must not move"
        if learner.grid is grid:
            continue
        changes += 1
        assert t + 1 in starts
        if isinstance(old, Dense):
            assert learner._rule.residual == old.residual
            continue
        place = {tuple(p): i for i, p in enumerate(learner.grid.points.tolist())}
        where = [place[tuple(p)] for p in grid.points.tolist()]
        for before, after in zip(bank_arrays(old), bank_arrays(learner._rule), strict=True):
            assert np.array_equal(after[where], before)
            fresh = np.delete(np.arange(len(after)), where)
            expected = learner.grid.points[fresh] if after.ndim == 2 else 0.0
            assert np.array_equal(after[fresh], np.broadcast_to(expected, after[fresh].shape))
    assert changes == 2
    assert all(a <= b * (1 + 1e-12) for a, b in zip(guarantees, guarantees[1:], strict=False))
    certificate = learner.certificate()
    assert certificate.holds and certificate.measured <= certificate.after_the_fact + 1e-9


def bank_arrays(rule):
    """Targets (n, A) and sums of weights (n,) of a rule over gradient learners."""
    if isinstance(rule, Crossing):
        return rule.state[1][:, None], rule.state[2]
    return rule.bank.targets, rule.bank.weight_sums


# The learner: what is chosen ---------------------------------------------------------------------


def test_the_plan_explains_itself():
    learner = FullSwapLearner(Interval(0, 1), LossClass.squared(1.0), horizon=1000)
    assert learner.row == "strongly convex and smooth" and learner.mesh == pytest.approx(0.2)
    assert learner.guarantee == pytest.approx(46.7, abs=0.01)
    assert learner.points.shape == (6, 1) and len(learner.grid) == 6
    text = learner.explain()
    for part in ("row: strongly convex and smooth", "FKO25, Table 1 row 5", "crossing", "46.69"):
        assert part in text
    bounds = {(row, name): bound for row, name, bound in learner.plan.considered}
    assert min(bounds.values()) == bounds[learner.row, "gradient"] == learner.guarantee
    assert "also considered: lipschitz with hedge" in text
    assert "no horizon" in FullSwapLearner(Interval(0, 1), LossClass.squared(1.0)).explain()


@pytest.mark.parametrize(
    "options",
    [
        {"row": "lipschitz"},
        {"row": "smooth", "learner": "gradient"},
        {"row": "strongly convex", "mesh": 0.25},
        {"mesh": 0.5, "rule": "stationary"},
        {"learner": "hedge", "mesh": 0.1},
        {"learner": "matching"},
    ],
    ids=str,
)
@pytest.mark.parametrize("horizon", [80, None])
def test_every_choice_can_be_overridden(options, horizon):
    learner = FullSwapLearner(LINE, squared(LINE), horizon, **options)
    if "row" in options:
        assert learner.row == options["row"]
    if "mesh" in options:
        assert learner.mesh == pytest.approx(options["mesh"])
    if "learner" in options:
        assert learner.plan.learner == options["learner"]
    if "rule" in options:
        assert learner.plan.rule == options["rule"] and isinstance(learner._rule, Stationary)
    rounds_against(learner, far_bowl, 80)
    assert learner.certificate().holds
    cited = {"gradient": "FKO25, Thm BMCS; Z03", "matching": "FKO25, Thm BMCS; TBJB15"}
    own = learner.plan.learner == "hedge" or THEOREMS[learner.row].needs_convexity
    expected = THEOREMS[learner.row].citation if own else cited[learner.plan.learner]
    assert learner.certificate().theorem == expected


def test_actions_are_the_only_points_played():
    for horizon in (50, None):
        learner = FullSwapLearner(LINE, squared(LINE), horizon, actions=ACTIONS)
        rounds_against(learner, far_bowl, 50)
        assert set(learner.points.ravel()) <= set(ACTIONS)
        assert learner.certificate().quantity == "discretised swap regret"
    many = CASES["6 by row 5"][2]["actions"]
    learner = FullSwapLearner(LINE, squared(LINE), 60, actions=many)
    assert set(learner.points.ravel()) < set(many), "few rounds call for few of the actions"
    pair = [[0.1, 0.9], [0.9, 0.1]]
    ends = FullSwapLearner(Simplex(1), squared(Simplex(1)), 50, actions=pair)
    rounds_against(ends, far_bowl, 50)
    assert sorted(ends.points.round(12).tolist()) == pair
    assert ends.certificate().holds


@cases
def test_play_stays_the_same_until_a_loss_comes(case):
    action_set, loss_class, options, adversary = case
    looked, blind = (FullSwapLearner(action_set, loss_class, 30, **options) for _ in range(2))
    rng = np.random.default_rng(1)
    for t in range(30):
        mixture, again = looked.play(), looked.play()
        assert np.array_equal(mixture.weights, again.weights)
        assert np.array_equal(mixture.points, again.points)
        loss = adversary(action_set, mixture, t, rng)
        looked.observe(loss)
        blind.observe(loss)
    assert np.array_equal(looked.play().weights, blind.play().weights)
    assert looked.certificate().measured == blind.certificate().measured


@cases
def test_run_is_the_loop(case):
    action_set, loss_class, options, adversary = case
    slow, fast = (FullSwapLearner(action_set, loss_class, 40, **options) for _ in range(2))
    played = rounds_against(slow, adversary, 40)
    transcript = fast.run([loss for _, loss in played], record=True)
    assert np.array_equal(transcript.points, slow.points)
    for t, (mixture, _) in enumerate(played):
        row = np.zeros(len(transcript.points))
        np.add.at(row, transcript.indices[t], transcript.weights[t])
        expected = np.zeros_like(row)
        expected[mixture.indices] = mixture.weights
        assert np.array_equal(row, expected)
    assert fast.certificate().measured == pytest.approx(slow.certificate().measured, abs=1e-9)


@cases
def test_a_fresh_learner_has_an_empty_certificate(case):
    action_set, loss_class, options, _ = case
    for horizon in (30, None):
        learner = FullSwapLearner(action_set, loss_class, horizon, **options)
        certificate = learner.certificate()
        assert certificate.rounds == 0 and certificate.holds
        assert certificate.measured == certificate.guaranteed == 0.0
        assert learner.guarantee == (0.0 if horizon is None else learner.plan.bound(30))


def test_without_tracking_there_is_play_but_no_certificate():
    learner = FullSwapLearner(LINE, squared(LINE), 30, track=False)
    tracked = FullSwapLearner(LINE, squared(LINE), 30)
    rows = quadratic_rows(np.linspace(-1, 2, 30))
    for one in (learner, tracked):
        one.run(rows[:20])
        for row in rows[20:]:
            one.observe(QuadraticFamily(row))
    assert np.array_equal(learner.play().weights, tracked.play().weights)
    with pytest.raises(ValueError, match="track"):
        learner.certificate()


# The learner: bad input --------------------------------------------------------------------------

WRONG = [
    ({"horizon": 0}, "horizon"),
    ({"horizon": -1}, "horizon"),
    ({"horizon": 2.5}, "horizon"),
    ({"horizon": True}, "horizon"),
    ({"horizon": math.nan}, "horizon"),
    ({"horizon": "ten"}, "horizon"),
    ({"mesh": 3.1}, "mesh"),
    ({"mesh": 0.0}, "mesh"),
    ({"mesh": -0.5}, "mesh"),
    ({"mesh": math.nan}, "mesh"),
    ({"mesh": math.inf}, "mesh"),
    ({"mesh": "fine"}, "mesh"),
    ({"mesh": True}, "mesh"),
    ({"mesh": 1e-9}, "mesh"),
    ({"mesh": 1e-3, "learner": "hedge"}, "mesh"),
    ({"mesh": 0.5, "actions": ACTIONS}, "mesh"),
    ({"row": "fastest"}, "row"),
    ({"row": "concave"}, "row"),
    ({"row": "discretised"}, "actions"),
    ({"learner": "adam"}, "learner"),
    ({"learner": "gradient", "loss_class": STEEP}, "learner"),
    ({"row": "strongly convex", "learner": "hedge"}, "learner"),
    ({"rule": "dense"}, "rule"),
    ({"rule": "crossing", "learner": "hedge"}, "rule"),
    ({"rule": "crossing", "action_set": BOX, "loss_class": squared(BOX)}, "rule"),
    ({"actions": [0.0, 1.0, 0.5]}, "actions"),
    ({"actions": [0.0, 1.0, 1.0]}, "actions"),
    ({"actions": [0.0, 2.5]}, "actions"),
    ({"actions": [0.5]}, "actions"),
    ({"actions": []}, "actions"),
    ({"actions": 0.5}, "actions"),
    ({"actions": [0.0, math.nan]}, "actions"),
    ({"actions": [0.0, math.inf]}, "actions"),
    ({"actions": ["low", "high"]}, "actions"),
    ({"actions": {}}, "actions"),
    ({"actions": [[0.0, 1.0], [1.0, 1.0]]}, "actions"),
    ({"actions": [0.0, 0.5], "action_set": BOX, "loss_class": squared(BOX)}, "actions"),
    ({"actions": [[0, 0], [1, 1]], "action_set": BOX, "loss_class": squared(BOX)}, "actions"),
    ({"actions": ACTIONS, "loss_class": CONVEX}, "actions"),
    ({"loss_class": LossClass(1.0, strong_convexity=0.7)}, "strong_convexity"),
    ({"loss_class": "squared"}, "loss_class"),
    ({"action_set": [0, 1]}, "action_set"),
]


@pytest.mark.parametrize("options, name", WRONG, ids=[str(w[0]) for w in WRONG])
def test_wrong_arguments_are_named(options, name):
    options = {"action_set": LINE, "loss_class": squared(LINE), "horizon": 100, **options}
    with pytest.raises(ValueError, match=name):
        FullSwapLearner(**options)


class Duck:
    """A loss of the user's own making."""

    def __init__(self, value, gradient):
        self.value, self.gradient = value, gradient


def value(x):
    return np.square(x).sum(axis=1)


def slope(x):
    return 2 * x


BAD_FUNCTIONS = {
    "gradient of wrong shape": (value, lambda x: slope(x)[:, :0]),
    "flat gradient": (value, lambda x: slope(x).ravel()[:-1]),
    "value of wrong shape": (lambda x: value(x)[:, None], slope),
    "single value": (lambda x: 1.0, slope),
    "NaN value": (lambda x: value(x) * math.nan, slope),
    "infinite value": (lambda x: value(x) + math.inf, slope),
    "NaN gradient": (value, lambda x: slope(x) * math.nan),
    "infinite gradient": (value, lambda x: slope(x) - math.inf),
    "words": (lambda x: ["much"] * len(x), slope),
}
BAD_SETTINGS = {
    "crossing": (LINE, {}),
    "simplex line": (Simplex(1), {}),
    "stationary": (BOX, {}),
    "hedge": (LINE, {"learner": "hedge"}),
    "discretised": (LINE, {"actions": ACTIONS, "row": "discretised"}),
    "discretised, stationary": (
        LINE,
        {"actions": ACTIONS, "row": "discretised", "rule": "stationary"},
    ),
}


def assert_refused(learner, loss, match):
    """The loss is refused, and nothing that can be seen has changed."""
    before, certificate, rounds = learner.play(), learner.certificate(), learner.rounds
    with pytest.raises(ValueError, match=match):
        learner.observe(loss)
    after = learner.play()
    assert np.array_equal(after.weights, before.weights)
    assert np.array_equal(after.points, before.points)
    assert learner.certificate() == certificate and learner.rounds == rounds


@pytest.mark.parametrize("functions", BAD_FUNCTIONS.values(), ids=BAD_FUNCTIONS.keys())
@pytest.mark.parametrize("setting", BAD_SETTINGS.values(), ids=BAD_SETTINGS.keys())
def test_bad_losses_are_refused_and_leave_no_trace(setting, functions):
    action_set, options = setting
    learners = [FullSwapLearner(action_set, squared(action_set), 50, **options) for _ in range(2)]
    for t, learner in enumerate(learners * 5):
        if learner is learners[0]:
            assert_refused(learner, Custom(*functions), "value|gradient|convert")
            assert_refused(learner, Duck(*functions), "value|gradient|convert")
        learner.observe(Quadratic(action_set.vertices[t // 2 % 2]))
    one, other = (learner.play() for learner in learners)
    assert np.array_equal(one.weights, other.weights)
    assert learners[0].certificate() == learners[1].certificate()


@pytest.mark.parametrize("setting", BAD_SETTINGS.values(), ids=BAD_SETTINGS.keys())
def test_what_is_no_loss_on_the_set_is_refused(setting):
    action_set, options = setting
    learner = FullSwapLearner(action_set, squared(action_set), 50, **options)
    learner.observe(Quadratic(action_set.vertices[0]))
    width = action_set.ambient_dim
    assert_refused(learner, Quadratic(np.zeros(width + 1)), f"on {width} coordinates")
    if width > 1:
        assert_refused(learner, Linear(np.zeros(width - 1)), f"on {width} coordinates")
    for nothing in (None, 3.0, "loss", np.zeros(width + 2), Duck(1.0, 2.0), object()):
        assert_refused(learner, nothing, "loss must have")


@pytest.mark.parametrize("setting", BAD_SETTINGS.values(), ids=BAD_SETTINGS.keys())
def test_bad_rows_are_refused_before_anything_is_played(setting):
    action_set, options = setting
    learner = FullSwapLearner(action_set, squared(action_set), 50, **options)
    rows = quadratic_rows(action_set.vertices[[0, 1, 0, 1]])
    learner.run(rows)
    before, certificate = learner.play(), learner.certificate()
    broken = rows.copy()
    broken[2, 1] = math.nan
    wrong = [broken, rows[:, :-1], rows[0], np.array(["a"]), 7, None]
    for losses in wrong + [[Quadratic(np.zeros(9))]]:
        with pytest.raises(ValueError, match="losses|convert"):
            learner.run(losses)
        assert learner.certificate() == certificate and learner.rounds == 4
        assert np.array_equal(learner.play().weights, before.weights)


def test_losses_of_the_users_own_making_are_played_like_any_other():
    for action_set, options in BAD_SETTINGS.values():
        center = np.array(action_set.vertices[0], dtype=float)
        plain = Custom(
            lambda x, z=center: np.square(x - z).sum(axis=1), lambda x, z=center: 2 * (x - z)
        )
        duck = Duck(plain.value, plain.gradient)
        learners = [FullSwapLearner(action_set, squared(action_set), 9, **options) for _ in "ab"]
        for _ in range(9):
            learners[0].observe(plain)
            learners[1].observe(duck)
        assert np.array_equal(learners[0].play().weights, learners[1].play().weights)
        for learner in learners:
            assert len(learner._tally.others) == 1, "one loss, however often it came"
        measured = [learner.certificate().measured for learner in learners]
        assert measured[0] == pytest.approx(measured[1], abs=1e-9)


@pytest.mark.parametrize("setting", BAD_SETTINGS.values(), ids=BAD_SETTINGS.keys())
@pytest.mark.parametrize("at_once", [False, True])
def test_a_loss_too_steep_warns_once_and_ends_the_guarantee(setting, at_once):
    action_set, options = setting
    learner = FullSwapLearner(action_set, squared(action_set), 50, **options)
    good, steep = (Quadratic(action_set.vertices[0], scale) for scale in (1.0, 1.1))
    losses = [good] * 3 + [steep] * 4
    with pytest.warns(UserWarning, match="breaks what its class promises") as caught:
        if at_once:
            learner.run(losses)
        else:
            for loss in losses:
                learner.observe(loss)
    assert len(caught) == 1
    certificate = learner.certificate()
    assert certificate.rounds == 7 and not certificate.holds
    assert certificate.guaranteed is None and certificate.after_the_fact is None
    (told,) = certificate.broken
    assert told.startswith("round 4: ") and "lipschitz" in told
    assert "no guarantee" in str(certificate)
    assert json.loads(json.dumps(certificate.to_dict()))["holds"] is False


def test_a_warning_made_an_error_leaves_no_trace():
    steep, fair = Quadratic([0.0], 5.0), Quadratic([0.0])
    learner = FullSwapLearner(LINE, squared(LINE), 50)
    learner.observe(fair)
    before = learner.certificate(), learner.play().weights.tolist()
    for act in (learner.observe, lambda loss: learner.run([loss])):
        with pytest.raises(UserWarning, match="promises"):
            act(steep)
        assert (learner.certificate(), learner.play().weights.tolist()) == before


def test_a_steep_loss_that_is_also_bad_is_refused_without_a_mark():
    learner = FullSwapLearner(LINE, squared(LINE), 50)
    for _ in range(20):
        learner.observe(Quadratic([0.3]))
    home = learner.points[:, 0]
    # fine wherever it is looked at, and no number at the targets
    bad = Custom(
        lambda x: np.where(np.isin(x[:, 0], home), 0.0, math.nan), lambda x: np.full_like(x, 1e6)
    )
    with pytest.warns(UserWarning, match="promises"):
        assert_refused(learner, bad, "value")
    assert learner.certificate().broken == ()


@pytest.mark.parametrize("setting", BAD_SETTINGS.values(), ids=BAD_SETTINGS.keys())
def test_values_that_only_the_certificate_would_ask_for_are_checked(setting):
    action_set, options = setting
    learner = FullSwapLearner(action_set, squared(action_set), 50, **options)
    z = action_set.center + 0.03 * action_set.frame[1][:, 0]
    for _ in range(20):
        learner.observe(Quadratic(z))
    played = learner.play().points

    def hollow(x):
        at_play = (np.abs(x[:, None, :] - played).max(axis=2) < 1e-9).any(axis=1)
        return np.where(at_play, math.nan, np.square(x - z).sum(axis=1))

    assert_refused(learner, Custom(hollow, lambda x: 2 * (x - z)), "value")


def test_a_loss_without_gradient_needs_experts():
    blind = Custom(lambda x: np.square(x[:, 0]) / 4)
    hedge = FullSwapLearner(LINE, CONVEX, 20, learner="hedge")
    for _ in range(20):
        hedge.observe(blind)
    assert hedge.certificate().holds
    assert_refused(FullSwapLearner(LINE, CONVEX, 20, learner="gradient"), blind, "no gradient")
    rise = Custom(lambda x: 1.5 * x[:, 0])
    with pytest.warns(UserWarning, match="range"):
        hedge.observe(rise)


# Laws: permutations and moves --------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"row": "lipschitz"}, {"row": "smooth"}], ids=str)
def test_permuted_coordinates_permute_the_play(options):
    loss_class = LossClass(1.0, smoothness=3.0)
    plain = FullSwapLearner(Box([0.0, -1.0], [1.0, 1.0]), loss_class, 60, **options)
    turned = FullSwapLearner(Box([-1.0, 0.0], [1.0, 1.0]), loss_class, 60, **options)
    assert turned.guarantee == pytest.approx(plain.guarantee, rel=1e-12)
    rng = np.random.default_rng(5)
    for _ in range(60):
        one, other = plain.play(), turned.play()
        weights = {tuple(p): w for p, w in zip(one.points.round(9).tolist(), one.weights)}  # noqa: B905
        for point, weight in zip(other.points.round(9), other.weights, strict=True):
            assert weight == pytest.approx(weights[tuple(point[::-1].tolist())], abs=1e-9)
        direction = rng.normal(size=2)
        direction /= np.linalg.norm(direction)
        plain.observe(Linear(direction))
        turned.observe(Linear(direction[::-1]))
    assert turned.certificate().measured == pytest.approx(plain.certificate().measured, abs=1e-9)


MOVED = {
    "line 5": (LINE, {}, False),
    "line 4": (LINE, {"row": "strongly convex"}, False),
    "line, stationary": (LINE, {"rule": "stationary"}, False),
    "line, hedge": (LINE, {"learner": "hedge", "row": "smooth"}, False),
    "box": (BOX, {}, False),
    "simplex line": (Simplex(1), {}, False),
    "ball": (BALL, {"row": "strongly convex"}, False),
    # ties between recurrent classes: only moves without rounding keep them
    "simplex": (Simplex(2), {}, True),
    "polytope": (Polytope([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0], [1.5, 1.5]]), {}, True),
}


@pytest.mark.parametrize("case", MOVED.values(), ids=MOVED.keys())
@pytest.mark.parametrize("horizon", [50, None])
@pytest.mark.parametrize("stretch, height", [(0.25, 8.0), (1.7, 0.3)])
def test_moved_problems_have_moved_play_and_the_scaled_guarantee(case, horizon, stretch, height):
    # ℓ'(x') = height·ℓ((x' − shift)/stretch): slopes scale by height/stretch, curvatures by
    # height/stretch², and every term of a bound, hence regret and guarantee, by height
    action_set, options, exactly = case
    shift = np.array([3.0, -1.0, 0.5])[: action_set.ambient_dim]
    if exactly:
        shift, stretch, height = np.zeros(len(shift)), 2.0 ** round(math.log2(stretch)), 1.0
    diameter, bend = action_set.diameter, height / stretch**2
    plain = FullSwapLearner(action_set, LossClass.squared(diameter), horizon, **options)
    moved = FullSwapLearner(
        action_set.moved(stretch, shift),
        LossClass.squared(stretch * diameter, bend),
        horizon,
        **options,
    )
    rng = np.random.default_rng(11)
    for t in range(50):
        one, other = plain.play(), moved.play()
        assert other.points == pytest.approx(stretch * one.points + shift, abs=1e-7)
        assert other.weights == pytest.approx(one.weights, abs=1e-7)
        center = any_bowl(action_set, one, t, rng).coefficients[1:-1] / -2
        plain.observe(Quadratic(center))
        moved.observe(Quadratic(stretch * center + shift, bend))
    assert moved.guarantee == pytest.approx(height * plain.guarantee, rel=1e-9)
    one, other = plain.certificate(), moved.certificate()
    assert other.measured == pytest.approx(height * one.measured, rel=1e-6, abs=1e-8)
    assert other.after_the_fact == pytest.approx(height * one.after_the_fact, rel=1e-6)


# --- far from the origin, many dimensions, copies -------------------------------------------


@pytest.mark.parametrize("far", [1e6, -1e8])
@pytest.mark.parametrize("dim", [1, 2])
def test_far_from_the_origin_certificates_keep_their_digits(far, dim):
    def certificate(shift):
        unit = Interval(shift, shift + 1) if dim == 1 else Box([shift] * 2, [shift + 1] * 2)
        learner = FullSwapLearner(unit, LossClass.squared(unit.diameter), 200)
        transcript = learner.run(quadratic_rows(outcomes + shift), record=True)
        assert unit.contains(transcript.points).all()
        return learner.certificate(), full_swap_regret(transcript)

    outcomes = np.random.default_rng(5).integers(0, 2, (200, dim)).astype(float)
    near, _ = certificate(0.0)
    away, shown = certificate(far)
    assert away.measured == pytest.approx(near.measured, rel=1e-9)
    assert shown == pytest.approx(near.measured, rel=1e-6)  # points are rounded there
    assert away.after_the_fact == pytest.approx(near.after_the_fact, rel=1e-9)


def test_far_actions_are_played_exactly():
    actions = 1e6 + np.linspace(0, 1, 5)
    learner = FullSwapLearner(
        Interval(1e6, 1e6 + 1), LossClass.squared(1.0), 100, actions=actions, row="discretised"
    )
    transcript = learner.run(quadratic_rows(1e6 + np.arange(100.0) % 2), record=True)
    assert np.isin(transcript.points, actions).all()
    assert np.array_equal(transcript.actions[:, 0], actions)


STEEPEST = {
    # steepest between the axes of the ball, and at a corner beyond the listed ones of the box
    "ball": (Ball([0.0, 0.0], 0.5), LossClass.squared(0.92), Quadratic([0.35, 0.35])),
    "box": (Box([0.0] * 9, [1.0] * 9), LossClass(5.9, smoothness=2.0), Quadratic([0.0] * 9)),
    "falling": (Ball([0.0, 0.0], 1.0), LossClass(2.7, concave=True), Quadratic([0.3, 0.3], -1.0)),
}


@pytest.mark.parametrize("name", STEEPEST)
def test_slopes_of_quadratics_are_checked_where_they_are_steepest(name):
    action_set, promise, loss = STEEPEST[name]
    learner = FullSwapLearner(action_set, promise, 50)
    with pytest.warns(UserWarning, match="exceeds lipschitz"):
        learner.observe(loss)
    assert learner.certificate().guaranteed is None


@pytest.mark.parametrize("horizon", [1000, None])
@pytest.mark.parametrize("kind", ["box", "simplex", "ball"])
@pytest.mark.parametrize("promise", ["concave", "squared"])
def test_many_dimensions_are_planned_at_once(promise, kind, horizon):
    d = 8
    action_set = {"box": Box([0] * d, [1] * d), "simplex": Simplex(d), "ball": Ball([0] * d, 0.5)}[
        kind
    ]
    loss_class = LossClass(1.0, concave=True)
    loss = Linear(np.eye(1, action_set.ambient_dim)[0])
    if promise == "squared":
        loss_class = LossClass.squared(action_set.diameter)
        loss = Quadratic(action_set.minimize_linear(np.ones(action_set.ambient_dim)))
    learner = FullSwapLearner(action_set, loss_class, horizon)
    for _ in range(3):
        learner.observe(loss)
    assert learner.certificate().holds


def _ramp(points):
    return np.abs(points[:, 0] - 0.3)


def _ramp_slope(points):
    return (
        np.where(points == points[:, :1], np.sign(points - 0.3), 0.0) * np.eye(points.shape[1])[0]
    )


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
@pytest.mark.parametrize("learner_name", ["hedge", "gradient"])
@pytest.mark.parametrize("horizon", [60, None])
@pytest.mark.parametrize(
    "action_set", [Interval(0, 1), Ball([0.0, 0.0], 0.5)], ids=["line", "disc"]
)
def test_copies_go_on_as_the_original_would(action_set, horizon, learner_name, copied):
    promise = LossClass(1.0, convex=True)
    ramp = Custom(_ramp, _ramp_slope)
    away = Linear(-np.eye(1, action_set.ambient_dim)[0])
    original = FullSwapLearner(action_set, promise, horizon, learner=learner_name)
    for t in range(60):
        if t == 25:
            other = copied(original)
        for learner in [original] if t < 25 else [original, other]:
            learner.observe(ramp if t % 3 else away)
    mine, theirs = original.certificate(), other.certificate()
    assert theirs.measured == pytest.approx(mine.measured, abs=1e-3)
    assert theirs.guaranteed == mine.guaranteed
    assert np.array_equal(original.play().weights, other.play().weights)


def test_nothing_is_guaranteed_after_a_broken_promise():
    learner = FullSwapLearner(LINE, squared(LINE), 50)
    assert learner.guarantee > 0
    with pytest.warns(UserWarning, match="no guarantee"):
        learner.observe(Quadratic([100.0]))
    assert math.isnan(learner.guarantee)
    assert learner.certificate().guaranteed is None

"""The tree as it is played: against its definition, in one loop or many, chosen or not."""

import copy
import json
import pickle

import numpy as np
import pytest

from fullswap.losses import Custom, Linear, LossClass, QuadraticFamily, quadratic_rows
from fullswap.metrics import swap_regret_report
from fullswap.metrics.tally import Tally
from fullswap.sets import Ball, Box, Interval, Simplex
from fullswap.template import FullSwapLearner
from fullswap.template.hub import hub_of
from naive.tree import points_of
from tree_cases import CLASSES, KINDS, grow, make

LINEAR = LossClass(1.0, concave=True, convex=True)


def rows_for(action_set, promised, rounds, seed=0):
    """Coefficient rows of the class: slopes in few directions, so that points come again."""
    rng = np.random.default_rng(seed)
    if promised.strong_convexity:
        ends = action_set.minimize_linear(rng.normal(size=(rounds, action_set.ambient_dim)))
        return quadratic_rows(ends, promised.strong_convexity / 2)
    slopes = rng.integers(-1, 2, size=(rounds, action_set.ambient_dim)).astype(float)
    slopes *= promised.lipschitz / np.maximum(np.linalg.norm(slopes, axis=1), 1.0)[:, None]
    slopes[rounds // 3 : rounds // 2] = slopes[0]
    return np.column_stack((np.zeros(rounds), slopes, rng.normal(size=rounds)))


@pytest.mark.parametrize("losses", ["linear", "squared"])
@pytest.mark.parametrize("kind", KINDS)
def test_play_is_what_the_definition_says(kind, losses, monkeypatch):
    best_tree = grow(monkeypatch, 3)
    action_set, rounds = make(kind, 3), 70
    promised = CLASSES[losses](action_set)
    learner = FullSwapLearner(action_set, promised, rounds, row="tree")
    start, hub = hub_of(action_set)
    tree = best_tree(learner.plan.constants, hub, rounds)
    rates, met = tree.rates(learner.plan.constants, hub), []
    for t, row in enumerate(rows_for(action_set, promised, rounds)):
        mixture = learner.play()
        expected = points_of(met, t, tree, rates, start, action_set.project)
        shares = {}
        for point, weight in zip(mixture.points, mixture.weights, strict=True):
            shares[tuple(point)] = weight
        assert len(shares) == len(mixture.weights), "equal points are one"
        for point in expected:
            near = [k for k in shares if np.allclose(k, point, rtol=0, atol=1e-9)]
            # several may be as near, but for rounding
            shares[max(near, key=shares.get)] -= 1 / tree.levels
        assert np.allclose(list(shares.values()), 0.0)
        loss = Linear(row[1:-1]) if row[0] == 0 else Custom(
            lambda x, row=row: row[0] * (x**2).sum(axis=1) + x @ row[1:-1] + row[-1],
            lambda x, row=row: 2 * row[0] * x + row[1:-1],
        )  # fmt: skip
        met.append(loss)
        learner.observe(loss)


RUNS = {
    "box": make("box", 5), "ball": make("ball", 5), "simplex": make("simplex", 20),
    "far ball": Ball([1e5, -1e5, 0.0], 0.3), "line": Interval(-1.0, 2.0),
    "polytope": make("polytope", 3),
}  # fmt: skip


@pytest.mark.parametrize("horizon", [300, None])
@pytest.mark.parametrize("losses", ["linear", "squared"])
@pytest.mark.parametrize("name", RUNS)
def test_run_is_the_loop_to_the_bit(name, losses, horizon, monkeypatch):
    monkeypatch.setattr("fullswap.template.tree.STRETCH", 128)
    grow(monkeypatch, 3)
    action_set = RUNS[name]
    promised = CLASSES[losses](action_set)
    rows = rows_for(action_set, promised, 400)
    slow, fast, pieces, blind = (
        FullSwapLearner(action_set, promised, horizon, row="tree", track=track)
        for track in (True, True, True, False)
    )
    plays = []
    for row in rows:
        plays.append(slow.play())
        slow.observe(QuadraticFamily(row))
    record = fast.run(rows, record=True)
    for cut in (rows[:1], rows[1:130], rows[130:]):
        pieces.run(cut)
    unkept = blind.run(rows, record=True)
    assert len(blind._tally.points) == 0, "untracked runs do not grow"
    for t, mixture in enumerate(plays):
        size = len(mixture.weights)
        for kept in (record, unkept):
            assert np.array_equal(kept.points[kept.indices[t, :size]], mixture.points)
            assert np.array_equal(kept.weights[t, :size], mixture.weights)
            assert not kept.weights[t, size:].any()
    for other in (fast, pieces):
        for field in ("points", "weights", "sums", "recommended"):
            assert np.array_equal(getattr(other._tally, field), getattr(slow._tally, field))
        assert other.certificate() == slow.certificate()
    measured, found = slow.certificate().measured, swap_regret_report(record)
    assert len(found.points) == len(found.weights) == len(found.deviations)
    if name == "far ball":  # so far from 0 near points become one, which only lowers regret
        assert 0.9 * measured <= found.value <= measured * (1 + 1e-6)
    else:
        assert found.value == pytest.approx(measured, rel=1e-6, abs=1e-7)
    for other in (fast, pieces, blind):
        assert np.array_equal(other.play().points, slow.play().points)


@pytest.mark.parametrize("kind", ["box", "polytope"])
@pytest.mark.parametrize("way", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_go_on_alike(kind, way):
    action_set = make(kind, 4)
    promised = CLASSES["linear"](action_set)
    rows = rows_for(action_set, promised, 90)
    learner = FullSwapLearner(action_set, promised, row="tree")
    learner.run(rows[:50])
    learner.play()
    other = way(learner)
    for one in (learner, other):
        one.run(rows[50:])
    assert np.array_equal(learner.play().points, other.play().points)
    assert learner.certificate() == other.certificate()
    assert np.array_equal(learner.points, other.points)


def test_a_bad_loss_changes_nothing_and_what_was_played_stays():
    action_set = make("polytope", 3)
    learner = FullSwapLearner(action_set, LossClass(1.0, convex=True), 30, row="tree")
    plain = FullSwapLearner(action_set, LossClass(1.0, convex=True), 30, row="tree")
    rng = np.random.default_rng(1)
    for _ in range(30):
        mixture = learner.play()
        points = mixture.points.copy()
        with pytest.raises(ValueError, match="finite"):
            learner.observe(Custom(lambda x: x[:, 0], lambda x: np.full(x.shape, np.nan)))
        with pytest.raises(ValueError, match="gradient must be given"):
            learner.observe(Custom(lambda x: 0.1 * x[:, 0]))
        direction = rng.normal(size=3)
        for one in (learner, plain):
            one.observe(Linear(direction / np.linalg.norm(direction)))
        assert np.array_equal(mixture.points, points)
        assert np.array_equal(learner.play().points, plain.play().points)
    assert learner.certificate() == plain.certificate()


# The tally ---------------------------------------------------------------------------------------


def squares(x):
    return (x**2).sum(axis=1)


def test_a_tally_grows_without_copying_itself_every_time():
    tally, whole = Tally(2), Tally(2)
    rng = np.random.default_rng(0)
    points, bowl = rng.normal(size=(500, 2)), Custom(squares)
    homes = set()
    for k, point in enumerate(points):
        (label,) = tally.indices_of(point[None, :])
        assert label == k
        homes.add(id(tally.points.base))
        tally.add(np.array([k]), np.array([0.5]), Linear(point))
        if k % 100 == 0:
            tally.add(np.array([k]), np.array([0.5]), bowl)
    assert len(homes) <= 12
    whole.indices_of(points)
    for k, point in enumerate(points):
        whole.add(np.array([k]), np.array([0.5]), Linear(point))
        if k % 100 == 0:
            whole.add(np.array([k]), np.array([0.5]), bowl)
    again = pickle.loads(pickle.dumps(tally))
    for other in (tally, again):
        assert np.array_equal(other.points, whole.points) and np.array_equal(other.sums, whole.sums)
        assert np.array_equal(other.incurred(), whole.incurred())
        assert np.array_equal(other.at_all(points[:3]), whole.at_all(points[:3]))
        assert np.array_equal(other.at(499, points[:3]), whole.at(499, points[:3]))
    again.indices_of(points + 9.0)
    assert len(again.points) == 1000 and len(tally.points) == 500
    assert np.array_equal(again.points[:500], tally.points)


# Chosen, and what is said of it ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action_set", "promised"),
    [
        (Box([0.0] * 8, [1.0] * 8), LossClass(1.0, convex=True)),
        (Ball([0.5] * 8, 2.0), LINEAR),
        (Box([0.0] * 12, [1.0] * 12), LINEAR),
        (Simplex(30), LossClass(1.0, convex=True)),
    ],
)
def test_the_tree_is_taken_where_its_number_is_the_smallest(action_set, promised):
    learner = FullSwapLearner(action_set, promised, 100_000)
    assert learner.row == "tree" and learner.plan.share < 0.5
    assert learner.guarantee == min(bound for _, _, bound in learner.plan.considered)
    assert "Little is promised" not in learner.explain()
    assert "moving points" in repr(learner) and "moving points" in repr(learner.plan)
    assert "levels of at most" in learner.explain() and "Grid" not in learner.explain()
    plain = json.loads(json.dumps(learner.plan.to_dict()))
    assert plain["row"] == "tree" and plain["share"] == pytest.approx(learner.plan.share)
    assert plain["grids"]["family"] == "tree"


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("losses", CLASSES)
def test_the_tree_is_not_taken_on_lines_and_in_the_plane(d, losses):
    for action_set in (Box([0.0] * d, [1.0] * d), Ball([1.0] * d, 2.0)):
        learner = FullSwapLearner(action_set, CLASSES[losses](action_set), 100_000)
        assert learner.row != "tree"
        assert "tree" in [row for row, _, _ in learner.plan.considered]


def test_the_vertices_of_a_small_box_are_better_than_a_tree():
    """Linear losses are least at one of 2^8 vertices, and 256 experts cost less."""
    learner = FullSwapLearner(Box([0.0] * 8, [1.0] * 8), LINEAR, 100_000)
    bounds = {row: bound for row, _, bound in learner.plan.considered}
    assert learner.row == "concave" and bounds["concave"] < bounds["tree"] / 2


def test_affine_losses_are_convex_even_where_nobody_said_so():
    flat = LossClass(1.0, smoothness=0.0)
    assert FullSwapLearner(Ball([0.0] * 9, 1.0), flat, 1000).row == "tree"
    assert FullSwapLearner(Ball([0.0] * 3, 1.0), LossClass(1.0), 1000).row == "lipschitz"


def test_little_is_called_little_before_the_first_round():
    learner = FullSwapLearner(Ball([0.0] * 9, 1.0), LossClass(1.0), 1000)
    share = learner.plan.share
    assert share == learner.guarantee / 2000 >= 0.5
    said = f"Little is promised here: {100 * share:.0f} % of the most that can be lost"
    assert said in learner.explain() and said in learner.certificate().about
    assert learner.plan.caution.endswith(
        "; the row is lipschitz; more rounds or fewer dimensions help."
    )
    assert "little is promised" in repr(learner) and "% of the most possible" in repr(learner.plan)
    learner.observe(Linear(np.eye(9)[0]))
    assert said not in str(learner.certificate())
    few = FullSwapLearner(Interval(0, 1), LossClass(1.0), 2)
    assert few.plan.caution.endswith("; more rounds help.")
    many = FullSwapLearner(Interval(0, 1), LossClass(1.0), 10_000)
    assert many.plan.share < 0.5
    for shown in (many.explain(), many.certificate().about, repr(many), repr(many.plan)):
        assert "ittle" not in shown and "most possible" not in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mesh": 0.1}, "mesh must be None with row='tree'"),
        ({"learner": "hedge"}, "learner must be None with row='tree'"),
        ({"rule": "crossing"}, "rule must be 'path'"),
    ],
)
def test_what_a_tree_has_not(options, message):
    with pytest.raises(ValueError, match=message):
        FullSwapLearner(Box([0.0] * 3, [1.0] * 3), LINEAR, 100, row="tree", **options)


def test_a_tree_needs_convex_losses_and_yields_to_what_is_asked_for():
    with pytest.raises(ValueError, match="loss_class must be convex with row='tree'"):
        FullSwapLearner(Ball([0.0] * 3, 1.0), LossClass(1.0), 100, row="tree")
    squared = LossClass.squared(1.0)
    with pytest.raises(ValueError, match="actions must be None with row='tree'"):
        FullSwapLearner(Interval(0, 1), squared, 100, row="tree", actions=[0.0, 1.0])
    for options in ({"learner": "gradient"}, {"rule": "stationary"}, {"mesh": 1.0}):
        learner = FullSwapLearner(Box([0.0] * 7, [1.0] * 7), LINEAR, 100, **options)
        assert learner.row != "tree"
        assert "tree" not in [row for row, _, _ in learner.plan.considered]

"""Laws: permutations, moves, copies, many dimensions."""

import copy
import math
import pickle

import numpy as np
import pytest

from fullswap.losses import Custom, Linear, LossClass, Quadratic, quadratic_rows
from fullswap.metrics import full_swap_regret
from fullswap.sets import Ball, Box, Interval, Polytope, Simplex
from fullswap.template import FullSwapLearner
from template_cases import BALL, BOX, LINE, any_bowl, squared

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

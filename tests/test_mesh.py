"""Compiled rounds on all grids and sets equal the plain parts, step by step."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from fullswap import losses, sets
from fullswap.rounding import Barycentric
from fullswap.template import FullSwapLearner

SMOOTH, NET = "strongly convex and smooth", "strongly convex"
BLOB = sets.Polytope([[0.0, 0.0], [3.0, 0.5], [2.5, 2.0], [1.0, 2.5], [-0.5, 1.0]])
ROOF = sets.Polytope(
    [
        [1.0, 1.0, 1.0],
        [3.0, 1.0, 1.0],
        [1.0, 2.0, 1.0],
        [3.0, 2.0, 1.0],
        [1.5, 1.5, 2.0],
        [2, 1.5, 2],
    ]
)
MESHES = {
    "box": (sets.Box([0.5, 1.0], [1.2, 3.0]), SMOOTH),
    "flat box": (sets.Box([0.0, 0.0, -1.0], [1.0, 2.0, -0.9]), SMOOTH),
    "simplex": (sets.Simplex(2), SMOOTH),
    "moved simplex": (sets.Simplex(3, scale=1.5, shift=0.2), SMOOTH),
    "net of a box": (sets.Box([0.5, 1.0], [1.2, 3.0]), NET),
    "net of a simplex": (sets.Simplex(3, scale=1.5, shift=0.2), NET),
    "disc": (sets.Ball([1.0, -2.0], 1.7), SMOOTH),
    "ball": (sets.Ball([0.5, 0.0, 1.0], 0.4), SMOOTH),
    "net of a ball": (sets.Ball([0.5, 0.0, 1.0], 0.4), NET),
    "polygon": (BLOB, SMOOTH),
    "net of a polygon": (BLOB, NET),
    "roof": (ROOF, SMOOTH),
}


def learner_on(name, horizon):
    """A learner of the case, by gradient descent in compiled rounds."""
    action_set, row = MESHES[name]
    promised = losses.LossClass.squared(action_set.diameter)
    learner = FullSwapLearner(action_set, promised, horizon, row=row, learner="gradient")
    assert learner._rule.mesh is not None
    return learner


def mesh_losses(action_set, seed, rounds):
    """Corners, members, ties and constant stretches."""
    rng = np.random.default_rng(seed)
    corners = action_set.vertices
    if corners is None:
        corners = action_set.minimize_linear(rng.normal(size=(40, action_set.ambient_dim)))
    centers = corners[rng.integers(len(corners), size=rounds)]
    inside = action_set.project(
        action_set.center + action_set.diameter * rng.standard_normal(centers.shape) / 4
    )
    centers = np.where(rng.random((rounds, 1)) < 0.3, inside, centers)
    centers[: rounds // 4] = corners[0]
    return losses.quadratic_rows(centers)


@pytest.mark.parametrize("horizon", [400, None])
@pytest.mark.parametrize("name", MESHES)
def test_compiled_rounds_on_a_mesh_equal_play_and_observe_to_the_bit(name, horizon):
    for seed in range(3 if "box" in name else 1):
        rows = mesh_losses(MESHES[name][0], seed, 400)
        fast, slow = learner_on(name, horizon), learner_on(name, horizon)
        transcript = fast.run(rows[:150], record=True)
        fast.play()  # looking must not change what comes
        fast = pickle.loads(pickle.dumps(fast))  # nor must a restart
        later = fast.run(rows[150:], record=True)
        for t, row in enumerate(rows):
            part, k = (transcript, t) if t < 150 else (later, t - 150)
            mixture = slow.play()
            slow.observe(losses.QuadraticFamily(row))
            played = part.weights[k] > 0
            np.testing.assert_array_equal(part.indices[k][played], mixture.indices)
            np.testing.assert_array_equal(part.weights[k][played], mixture.weights)
        assert fast.rounds == slow.rounds == 400
        first, second = fast.certificate(), slow.certificate()
        assert first.measured == pytest.approx(second.measured, rel=1e-9, abs=1e-9)
        assert first.after_the_fact == pytest.approx(second.after_the_fact, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", MESHES)
def test_the_mesh_kernel_equals_the_plain_bank_and_rounding(name):
    """One step in compiled code against gradient descent and rounding called one by one."""
    action_set, rule = MESHES[name][0], learner_on(name, 300)._rule
    plain = rule.learner.init(len(rule.points))
    plain.targets[:] = rule.points
    for row in mesh_losses(action_set, 5, 300):
        loss = losses.QuadraticFamily(row)
        indices, weights = rule.mix()
        before = plain.targets[indices].copy()
        lost = rule.learn(loss, indices, weights)
        np.testing.assert_allclose(lost, loss.value(before), rtol=1e-9, atol=1e-12)
        plain = rule.learner.update(plain, loss, weights, indices)
        np.testing.assert_allclose(rule.bank.targets, plain.targets, rtol=0, atol=1e-12)
        expected = rule.rounding(plain.targets[indices]).toarray(len(rule.points))
        got = np.zeros_like(expected)
        for k, i in enumerate(indices):
            np.add.at(got[k], rule.row_indices[i], rule.row_weights[i])
        if isinstance(rule.rounding, Barycentric):
            np.testing.assert_allclose(got, expected, atol=1e-9)
        else:  # of two points equally near, the last bit decides
            far = np.linalg.norm(plain.targets[indices] - rule.points[got.argmax(axis=1)], axis=1)
            near = np.linalg.norm(
                plain.targets[indices] - rule.points[expected.argmax(axis=1)], axis=1
            )
            np.testing.assert_allclose(far, near, atol=1e-12)
        plain.targets[:] = rule.bank.targets  # rounding of the last bit must not add up


def test_a_class_that_outgrows_the_work_matrix_is_still_solved():
    box = sets.Box([0.0, 0.0], [1.0, 1.0])
    promised = losses.LossClass.squared(box.diameter)
    rows = mesh_losses(box, 1, 2000)
    small = FullSwapLearner(box, promised, 2000, row="strongly convex and smooth", mesh=0.02)
    small._rule._work = np.zeros((3, 3))
    large = FullSwapLearner(box, promised, 2000, row="strongly convex and smooth", mesh=0.02)
    large._rule.enlarge(1500)
    one, two = small.run(rows, record=True), large.run(rows, record=True)
    assert (one.weights > 0).sum(axis=1).max() > 4
    first, second = small.certificate(), large.certificate()
    assert first.measured == pytest.approx(second.measured, rel=1e-12)
    assert (one.weights > 0).sum() == (two.weights > 0).sum()


def test_broken_promises_are_found_in_a_batch_on_a_mesh():
    box = sets.Box([0.0, 0.0], [1.0, 1.0])
    learner = FullSwapLearner(
        box, losses.LossClass.squared(box.diameter), 50, row="strongly convex and smooth"
    )
    rows = losses.quadratic_rows(np.full((50, 2), 0.5))
    rows[20] = losses.Quadratic([9.0, 9.0]).coefficients
    with pytest.warns(UserWarning, match="slope"):
        learner.run(rows)
    assert learner.certificate().broken[0].startswith("round 21")


@pytest.mark.parametrize("where", [0, 33, 399])
@pytest.mark.parametrize("action_set", [sets.Ball([0.0, 1.0], 0.5), BLOB], ids=["ball", "polytope"])
def test_one_bad_loss_among_many_is_found_where_it_is(action_set, where):
    learner = FullSwapLearner(action_set, losses.LossClass(1.0, smoothness=9.0), 400, row="smooth")
    rng = np.random.default_rng(where)
    slopes = rng.normal(size=(400, 2))
    slopes /= 2 * np.linalg.norm(slopes, axis=1, keepdims=True)
    rows = np.column_stack((np.zeros(400), slopes, np.zeros(400)))
    rows[:200, 0] = rng.uniform(-0.1, 0.1, 200)  # the steepest point is elsewhere for each
    rows[:, 1:3] -= 2 * rows[:, :1] * action_set.center
    assert learner._first_violation(rows) is None
    rows[where, 1] += 1.3
    assert learner._first_violation(rows)[0] == where


@pytest.mark.parametrize("name", ["disc", "polygon", "net of a ball"])
def test_plain_code_plays_the_same(name):
    fast, slow = learner_on(name, 120), learner_on(name, 120)
    slow._rule.mesh = None
    rows = mesh_losses(MESHES[name][0], 1, 120)
    fast.run(rows)
    slow.run(rows)
    np.testing.assert_allclose(fast._rule.bank.targets, slow._rule.bank.targets, atol=1e-9)
    assert fast.certificate().measured == pytest.approx(slow.certificate().measured, abs=1e-9)


def test_sets_without_kernels_are_played_in_plain_code():
    ball = sets.Ball([0.0, 0.0], 1.0)
    same = sets.Custom(2, ball.project, ball.minimize_linear, diameter=2.0)
    learner = FullSwapLearner(same, losses.LossClass.squared(2.0), 60, row=SMOOTH, mesh=0.8)
    assert learner._rule.mesh is None
    learner.run(mesh_losses(ball, 1, 60))
    assert learner.rounds == 60 and learner.certificate().holds

"""Compiled rounds on Kuhn grids of boxes and simplices equal the plain parts, step by step."""

from __future__ import annotations

import numpy as np
import pytest

from fullswap import losses, sets
from fullswap.template import FullSwapLearner

MESHES = {
    "box": sets.Box([0.5, 1.0], [1.2, 3.0]),
    "flat box": sets.Box([0.0, 0.0, -1.0], [1.0, 2.0, -0.9]),
    "simplex": sets.Simplex(2),
    "moved simplex": sets.Simplex(3, scale=1.5, shift=0.2),
}


def mesh_losses(action_set, seed, rounds):
    """Corners, members, ties and constant stretches."""
    rng = np.random.default_rng(seed)
    corners = np.asarray(action_set.vertices)
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
    action_set = MESHES[name]
    promised = losses.LossClass.squared(action_set.diameter)
    for seed in range(3):
        rows = mesh_losses(action_set, seed, 400)
        fast = FullSwapLearner(action_set, promised, horizon, row="strongly convex and smooth")
        slow = FullSwapLearner(action_set, promised, horizon, row="strongly convex and smooth")
        assert fast._rule.mesh is not None
        transcript = fast.run(rows[:150], record=True)
        fast.play()  # looking must not change what comes
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
    action_set = MESHES[name]
    promised = losses.LossClass.squared(action_set.diameter)
    learner = FullSwapLearner(action_set, promised, 300, row="strongly convex and smooth")
    rule = learner._rule
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
        np.testing.assert_allclose(got, expected, atol=1e-9)
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

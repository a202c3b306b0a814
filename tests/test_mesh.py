"""Compiled rounds on Kuhn grids of boxes and simplices equal the plain parts, step by step.

And fixed points on one simplex of the grid, which forecasts of several classes are made of.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullswap import losses, sets
from fullswap.grids.kuhn import kuhn_simplex
from fullswap.kernels.simplex import simplex_learn, simplex_mix, simplex_work
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


# --- fixed points on one simplex ----------------------------------------------------------------

TARGETS = ("anywhere", "corners", "grid points", "themselves", "one face", "few", "one", "permuted")
CELLS = {2: 60, 3: 20, 4: 9, 5: 6}


def targets_of(kind, points, rng):
    """Targets of all grid points: generic ones, and degenerate ones."""
    n, classes = points.shape
    anywhere = rng.dirichlet(np.full(classes, 0.5), size=n)
    if kind == "one face":
        anywhere[:, 0] = 0.0
        return (anywhere + 1e-9 * (np.arange(classes) > 0)) / (anywhere.sum(axis=1) + 1e-9 * (
            classes - 1))[:, None]  # fmt: skip
    return {
        "anywhere": anywhere,
        "corners": np.eye(classes)[rng.integers(classes, size=n)],
        "grid points": points[rng.integers(n, size=n)],
        "themselves": points,
        "few": points[rng.integers(min(n, 3), size=n)],
        "one": np.repeat(anywhere[:1], n, axis=0),
        "permuted": points[rng.permutation(n)],
    }[kind]


def place_of(position, cells):
    """Base and order of the simplex that holds cumulative sums (d,), in cell units."""
    base = np.minimum(np.floor(position), cells - 1)
    order = sorted(range(len(position)), key=lambda k: (base[k] - position[k], -k))
    return np.concatenate((base, order)).astype(np.int64)


def mixed(grid, state, prior, place, limit):
    classes = grid.points.shape[1]
    members, weights = np.zeros(classes, np.int64), np.zeros(classes)
    lattice = (int(grid.locate.cells[0]), grid.locate.lookup)
    size = simplex_mix(state, prior, lattice, place, simplex_work(classes), limit, members, weights)
    return members[:size], weights[:size]


@given(
    st.integers(2, 5),
    st.floats(0, 1),
    st.sampled_from(TARGETS),
    st.sampled_from([0.0, 0.3, 0.9, 1.0]),
    st.integers(0, 10**6),
)
def test_fixed_points_are_found_from_everywhere(classes, fineness, kind, fresh_share, seed):
    rng = np.random.default_rng(seed)
    cells = 1 + int(fineness * (CELLS[classes] - 1))
    grid = kuhn_simplex(sets.Simplex(classes - 1), 1 / cells)
    targets = targets_of(kind, grid.points, rng)
    state = np.column_stack((np.ones(len(grid)), np.zeros(len(grid)), targets))
    fresh = rng.random(len(grid)) < fresh_share
    state[fresh] = 0.0
    prior = np.append(1.0, rng.dirichlet(np.ones(classes)))
    targets = np.where(fresh[:, None], prior[1:], targets)
    start = cells * np.cumsum(rng.dirichlet(np.ones(classes)))[:-1]
    place = place_of(start, cells)
    members, weights = mixed(grid, state, prior, place, 100 * classes * (cells + 1))
    assert len(members) > 0
    assert (np.diff(members) > 0).all() and (weights >= 0).all()
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(
        weights @ targets[members], weights @ grid.points[members], atol=1e-11
    )
    # one simplex: corners that rise along a path, each coordinate at most once
    corners = np.rint(cells * np.cumsum(grid.points[members], axis=1)[:, :-1])
    steps = corners[:, None] - corners[None]
    assert (np.abs(steps) <= 1).all()
    assert ((steps >= 0).all(axis=2) | (steps <= 0).all(axis=2)).all()
    # the place is where it was found: searching from there finds it again, in no steps
    again, shares = mixed(grid, state, prior, place.copy(), 0)
    if len(again):  # degenerate simplices cannot be solved on the spot
        np.testing.assert_allclose(shares @ grid.points[again], weights @ grid.points[members],
                                   atol=1e-6)  # fmt: skip


def test_a_search_without_steps_gives_up_and_stays():
    grid = kuhn_simplex(sets.Simplex(2), 0.1)
    state = np.column_stack(
        (np.ones(len(grid)), np.zeros(len(grid)), np.full((len(grid), 3), 1 / 3))
    )
    prior = np.full(4, 1 / 3)
    place = place_of(np.array([0.5, 0.7]), 10)
    before = place.copy()
    assert len(mixed(grid, state, prior, place, 0)[0]) == 0
    np.testing.assert_array_equal(place, before)
    members, weights = mixed(grid, state, prior, place, 1000)
    np.testing.assert_allclose(weights @ grid.points[members], np.full(3, 1 / 3), atol=1e-12)
    assert (place != before).any()


def test_learners_keep_running_means_and_their_regret():
    rng = np.random.default_rng(0)
    state, prior = np.zeros((2, 5)), np.array([1.0, 1 / 3, 1 / 3, 1 / 3])
    seen, mean = {0: [], 1: []}, [(1.0, np.full(3, 1 / 3))]
    for t in range(60):
        scales = np.array([0.0, 0.3]) if t % 7 == 0 else rng.random(2)
        y = rng.dirichlet(np.ones(3))
        simplex_learn(state, prior, np.array([0, 1]), scales, y)
        for i in (0, 1):
            if scales[i] > 0:
                before = np.average([v for _, v, _ in seen[i]], axis=0,
                                    weights=[g for g, _, _ in seen[i]]) if seen[i] else (
                    np.average([v for _, v in mean], axis=0, weights=[g for g, _ in mean])
                )  # fmt: skip
                seen[i].append((scales[i], y, np.square(before - y).sum()))
        mean.append((scales.sum(), y))
    for i in (0, 1):
        g, y, lost = (np.array(part) for part in zip(*seen[i], strict=True))
        best = np.average(y, axis=0, weights=g)
        regret = g @ lost - g @ np.square(y - best).sum(axis=1)
        np.testing.assert_allclose(state[i], [g.sum(), regret, *best], rtol=1e-10)
    np.testing.assert_allclose(
        prior[1:], np.average([v for _, v in mean], axis=0, weights=[g for g, _ in mean])
    )

"""The learner of a game as users handle it: run and loop, bounds of many kinds, bad input."""

import copy
import math
import pickle

import numpy as np
import pytest

from fullswap.games import StructuredLearner, Vectors, zoo
from opponents import normal_form_regret, played_out


def test_run_is_the_loop_of_play_and_observe():
    actions = zoo.ring(50).actions[0]
    vectors = np.random.default_rng(0).uniform(-0.7, 0.7, size=(80, 2))
    one, other = (StructuredLearner(actions, 1.0, 200) for _ in range(2))
    one.run(vectors)
    for w in vectors:
        other.play()
        other.observe(w)
    assert one.rounds == other.rounds == 80
    for mine, theirs in zip(one.play(), other.play(), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert one.certificate() == other.certificate()


def test_looking_twice_changes_nothing_and_copies_go_on_alike():
    actions = zoo.ring(50).actions[0]
    player = StructuredLearner(actions, 1.0, 100)
    player.run(np.random.default_rng(0).uniform(-0.7, 0.7, size=(30, 2)))
    first = player.play()
    for again in (player, copy.deepcopy(player), pickle.loads(pickle.dumps(player))):
        for mine, theirs in zip(first, again.play(), strict=True):
            np.testing.assert_array_equal(mine, theirs)
        again.observe([0.1, 0.2])
    draws = [first.draw(np.random.default_rng(seed)) for seed in range(300)]
    shares = [draws.count(a) / 300 for a in first.actions]
    np.testing.assert_allclose(shares, first.weights, atol=0.1)


def test_a_bound_given_by_the_opponents_vectors():
    rows = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]])
    player = StructuredLearner(Vectors(rows), [[0.5, 9.0], [-0.25, 3.0]], 100)
    assert player.payoff_range == pytest.approx(1.0)  # the second coordinate tells nothing apart
    player.observe([0.5, 9.0])
    assert math.isfinite(player.guarantee)
    with pytest.warns(UserWarning, match="no guarantee"):
        player.observe([0.6, 0.0])
    with pytest.raises(ValueError, match="bound must have a vector"):
        StructuredLearner(Vectors(rows), [[0.0, 1.0]], 100)


@pytest.mark.parametrize("shape", [(7, 3), (4, 9), (12, 12)])
def test_vectors_that_are_given_are_made_round(shape):
    """The range is at most √r times the true one, for vectors of very different lengths too."""
    n, m = shape
    rng = np.random.default_rng(shape)
    actions = Vectors(rng.normal(size=(n, 3)) * [0.1, 1.0, 10.0] + 2.0)
    vectors = rng.normal(size=(m, 3)) * [10.0, 1.0, 0.1]
    player = StructuredLearner(actions, vectors, 300)
    true = float(np.ptp(actions.embeddings @ vectors.T, axis=0).max())
    assert true * (1 - 1e-9) <= player.payoff_range <= true * math.sqrt(3 * 1.02)
    chosen = rng.integers(0, m, size=300)
    plays, seen = played_out(player, actions, lambda mean, t: vectors[chosen[t]], 300)
    regret = normal_form_regret(actions.embeddings @ seen.T, plays)
    assert regret == pytest.approx(player.certificate().measured, abs=1e-6)
    assert regret <= player.guarantee < true * math.sqrt(3 * 1.02) * 300
    plain = StructuredLearner(actions, float(np.linalg.norm(vectors, axis=1).max()), 300)
    assert player.guarantee < 0.2 * plain.guarantee


def test_a_crowd_of_equal_vectors_does_not_hide_a_single_one():
    rng = np.random.default_rng(0)
    vectors = np.vstack((np.tile([1.0, 0.0], (500, 1)), rng.normal(scale=0.01, size=(20, 2))))
    vectors[-1] = [0.3, 1.0]
    actions = Vectors(rng.normal(size=(30, 2)))
    true = float(np.ptp(actions.embeddings @ vectors.T, axis=0).max())
    player = StructuredLearner(actions, vectors, 100)
    assert true * (1 - 1e-9) <= player.payoff_range <= true * math.sqrt(2 * 1.02)


def test_vectors_that_span_less_leave_dimensions_out():
    rng = np.random.default_rng(0)
    actions = Vectors(rng.normal(size=(40, 5)))
    vectors = np.outer([1.0, -2.0, 0.5], rng.normal(size=5))
    player = StructuredLearner(actions, vectors, 200)
    assert player.hull.dim == 1 and len(player.support) == 2
    plays, seen = played_out(player, actions, lambda mean, t: vectors[t % 3], 200)
    regret = normal_form_regret(actions.embeddings @ seen.T, plays)
    assert regret == pytest.approx(player.certificate().measured, abs=1e-7)
    assert regret <= player.guarantee
    with pytest.raises(ValueError, match="inside of their span, got"):
        player.observe(np.eye(5)[0])
    with pytest.raises(ValueError, match="inside of their span, got"):
        player.run(np.vstack((vectors, np.eye(5))))
    assert player.rounds == 200


def test_a_vector_beyond_the_bound_ends_the_guarantee():
    player = StructuredLearner(Vectors(np.eye(2)), 1.0, 100)
    with pytest.warns(UserWarning, match="no guarantee"):
        player.observe([3.0, -3.0])
    assert math.isnan(player.guarantee) and not player.certificate().holds


def test_two_players_with_the_same_actions_do_not_meet():
    actions = zoo.ring(1000).actions[0]
    one, other = (StructuredLearner(actions, 1.0, 500) for _ in range(2))
    assert one.hull != other.hull and len({one.hull, other.hull}) == 2
    np.testing.assert_array_equal(one.play().actions, other.play().actions)


def test_a_finer_mesh_plays_more_actions():
    actions = zoo.ring(1000).actions[0]
    coarse, fine = (StructuredLearner(actions, 1.0, 1000, mesh=m) for m in (0.8, 0.2))
    assert len(coarse.support) < len(fine.support)
    with pytest.raises(ValueError, match="mesh"):
        StructuredLearner(actions, 1.0, 1000, mesh=-1.0)


@pytest.mark.parametrize(
    "bound", [0.0, -1.0, math.nan, math.inf, "1", None, True, [1.0, 2.0], [[1.0, 2.0, 3.0]], [[]]]
)
def test_bad_bounds(bound):
    with pytest.raises(ValueError, match="^bound must"):
        StructuredLearner(Vectors(np.eye(2)), bound, 10)


def test_bad_sets_and_horizons():
    with pytest.raises(ValueError, match="actions"):
        StructuredLearner(np.eye(2), 1.0, 10)
    for horizon in (0, -1, 2.5, "x"):
        with pytest.raises(ValueError, match="horizon"):
            StructuredLearner(Vectors(np.eye(2)), 1.0, horizon)
    with pytest.raises(ValueError, match="learner"):
        StructuredLearner(Vectors(np.eye(2)), 1.0, 10, learner="no")


@pytest.mark.parametrize(
    "vector", [[1.0], 1.0, [[1.0, 0.0]], [1.0, math.nan], [math.inf, 0.0], "ab", None]
)
def test_bad_vectors_change_nothing(vector):
    player = StructuredLearner(Vectors(np.eye(2)), 1.0, 10)
    player.observe([0.3, 0.1])
    before = player.play()
    with pytest.raises(ValueError, match="^vector must"):
        player.observe(vector)
    assert player.rounds == 1
    np.testing.assert_array_equal(before.weights, player.play().weights)
    with pytest.raises(ValueError, match="^vectors must"):
        player.run(vector if np.ndim(vector) != 2 else [[[1.0]]])
    assert player.rounds == 1


def test_no_certificate_without_sums():
    player = StructuredLearner(Vectors(np.eye(2)), 1.0, 10, track=False)
    player.observe([0.3, 0.1])
    with pytest.raises(ValueError, match="track"):
        player.certificate()

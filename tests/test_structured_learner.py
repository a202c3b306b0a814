"""A player with small swap regret in terms of real actions, whatever the others do."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullswap.games import Curve, Product, Vectors, from_matrices, verify, zoo
from fullswap.games.decompose import decompose
from fullswap.games.hull import Hull, affine_frame
from fullswap.games.learner import StructuredLearner
from fullswap.games.regions import Region, Sum
from fullswap.sets import Ball, Box

# --- opponents: payoff vectors of length at most 1 that answer what is played ------------------


def fixed(dim, seed):
    """The same vector every round."""
    w = np.random.default_rng(seed).normal(size=dim)
    w /= np.linalg.norm(w)
    return lambda mean, t: w


def hostile(dim, seed):
    """Against where the player is on average, a little off."""
    rng = np.random.default_rng(seed)

    def answer(mean, t):
        w = -mean + 0.1 * rng.normal(size=dim)
        return w / max(np.linalg.norm(w), 1e-12)

    return answer


def sweeping(dim, seed, rounds=400, noise=0.5):
    """−u_θ ± σ·tangent on a circle of the first two coordinates, θ going round once."""
    rng = np.random.default_rng(seed)

    def answer(mean, t):
        theta = 2 * np.pi * t / rounds
        w = np.zeros(dim)
        side = noise * rng.choice([-1.0, 1.0])
        w[:2] = np.array(
            [-np.cos(theta) - side * np.sin(theta), -np.sin(theta) + side * np.cos(theta)]
        )[:dim]
        return w / max(np.linalg.norm(w), 1.0)

    return answer


OPPONENTS = {"fixed": fixed, "hostile": hostile, "sweeping": sweeping}


def normal_form_regret(payoffs, plays):
    """Σ_a max_b Σ_t p_t[a]·(U[b, t] − U[a, t]), by loops over all pairs of actions."""
    total = 0.0
    for a in range(len(payoffs)):
        gains = [
            float((plays[:, a] * (payoffs[b] - payoffs[a])).sum()) for b in range(len(payoffs))
        ]
        total += max(gains)
    return total


def played_out(player, actions, answer, rounds):
    """Play and log: mixed actions over all actions (T, n), payoff vectors (T, dim)."""
    plays, vectors = np.zeros((rounds, actions.size)), np.zeros((rounds, actions.dim))
    for t in range(rounds):
        chosen, weights = player.play()
        assert weights.min() > 0 and weights.sum() == pytest.approx(1.0)
        assert len(set(chosen.tolist())) == len(chosen)
        plays[t, chosen] = weights
        vectors[t] = answer(weights @ actions.embed(chosen), t)
        player.observe(vectors[t])
    return plays, vectors


@pytest.mark.parametrize("name", OPPONENTS)
@pytest.mark.parametrize("dim, n", [(1, 7), (2, 3), (2, 25), (3, 30)])
@pytest.mark.parametrize("horizon", [400, None])
def test_swap_regret_in_the_full_normal_form(name, dim, n, horizon):
    rng = np.random.default_rng([dim, n])
    actions = Vectors(rng.normal(size=(n, dim)) + 0.5)
    player = StructuredLearner(actions, 1.0, horizon)
    plays, vectors = played_out(player, actions, OPPONENTS[name](dim, 0), 400)
    regret = normal_form_regret(actions.embeddings @ vectors.T, plays)
    certificate = player.certificate()
    assert certificate.holds and certificate.rounds == 400
    assert certificate.measured == pytest.approx(regret, abs=1e-8)
    assert regret <= certificate.after_the_fact + 1e-8 <= certificate.guaranteed + 2e-8
    assert certificate.guaranteed <= player.guarantee * (1 + 1e-12)
    if horizon is not None:
        assert player.guarantee < 0.75 * player.hull.diameter * 400


def test_a_player_who_does_not_listen_breaks_the_guarantee():
    actions = zoo.ring(40).actions[0]
    learner = StructuredLearner(actions, 1.0, 4000)
    answer = sweeping(2, 0, rounds=4000)
    vectors = np.array([answer(None, t) for t in range(4000)])
    stubborn = np.zeros((4000, 40))
    halves = np.where(np.arange(4000) < 2000, 0, 10)
    stubborn[np.arange(4000), halves] = 1.0
    assert normal_form_regret(actions.embeddings @ vectors.T, stubborn) > learner.guarantee
    learner.run(vectors)
    assert learner.certificate().holds


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_a_hundred_thousand_actions(dim):
    rng = np.random.default_rng(dim)
    rows = rng.normal(size=(100_000, dim))
    rows /= np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True))
    actions = Vectors(rows)
    player = StructuredLearner(actions, 1.0, 200)
    sums: dict[int, np.ndarray] = {}
    answer = hostile(dim, 1)
    for t in range(200):
        chosen, weights = player.play()
        w = answer(weights @ actions.embed(chosen), t)
        for a, p in zip(chosen.tolist(), weights, strict=True):
            sums[a] = sums.get(a, 0.0) + p * w
        player.observe(w)
    regret = sum(float((rows @ s).max() - rows[a] @ s) for a, s in sums.items())
    assert player.certificate().measured == pytest.approx(regret, abs=1e-8)
    assert regret <= player.guarantee < player.hull.diameter * 200
    assert len(player.support) <= 64


class Counted(Vectors):
    """Counts the directions that its oracle is asked for."""

    asked = 0

    def best(self, directions):
        self.asked += len(directions)
        return super().best(directions)


def test_the_work_does_not_grow_with_the_number_of_actions():
    asked = []
    for n in (1_000, 100_000):
        actions = Counted(zoo.ring(n).actions[0].embeddings)
        StructuredLearner(actions, 1.0, 1000).run(np.tile([[1.0, 0.0], [0.0, -1.0]], (20, 1)))
        asked.append(actions.asked)
    assert asked[1] <= 3 * asked[0]


def test_one_dimension_plays_the_two_ends():
    actions = Vectors([[0.3], [2.0], [-1.0], [0.0]])
    player = StructuredLearner(actions, 1.0, 100)
    assert sorted(player.support.tolist()) == [1, 2]
    assert player.guarantee <= 3.0 * math.sqrt(100 * math.log(2)) * 1.01
    assert sorted(player.play().actions.tolist()) == [1, 2]


def test_points_played_are_real_actions_among_collinear_and_double_ones():
    """A flat hull in the plane: dimension 1, two actions, and a bound along the line only."""
    rows = np.outer([0.0, 0.25, 1.0, 1.0, 0.5], [3.0, 4.0]) + 7.0
    actions = Vectors(rows)
    player = StructuredLearner(actions, 1.0, 300)
    assert player.hull.dim == 1 and player.hull.diameter == pytest.approx(5.0)
    plays, vectors = played_out(player, actions, hostile(2, 3), 300)
    assert len(player.support) == 2
    regret = normal_form_regret(rows @ vectors.T, plays)
    assert regret == pytest.approx(player.certificate().measured, abs=1e-8)
    assert regret <= player.guarantee
    # across the line a vector may be as long as it likes: it moves all payoffs alike
    player.observe([-400.0, 300.0])
    assert math.isfinite(player.guarantee)


@pytest.mark.parametrize("rows", [[[1.0, 2.0]], [[0.5, 0.5]] * 4, [[0.0]] * 3])
def test_nothing_to_choose(rows):
    actions = Vectors(rows)
    player = StructuredLearner(actions, 1.0, 10)
    for _ in range(3):
        mixed = player.play()
        assert len(mixed.actions) == 1 and mixed.weights.tolist() == [1.0]
        player.observe(np.ones(actions.dim))
    player.run(np.ones((2, actions.dim)))
    assert player.guarantee == 0.0 and player.rounds == 5 and player.support.shape == (1,)
    certificate = player.certificate()
    assert certificate.holds and certificate.measured == 0.0 and certificate.rounds == 5
    assert "nothing to learn" in player.explain()


@settings(max_examples=20)
@given(st.integers(1, 3), st.integers(2, 12), st.integers(0, 10_000))
def test_few_actions_of_any_shape(dim, n, seed):
    rng = np.random.default_rng([seed, n, dim])
    rows = rng.integers(-2, 3, size=(n, dim)).astype(float)
    actions = Vectors(rows)
    player = StructuredLearner(actions, 1.0, 60)
    plays, vectors = played_out(player, actions, hostile(dim, seed), 60)
    regret = normal_form_regret(rows @ vectors.T, plays)
    assert player.certificate().measured == pytest.approx(regret, abs=1e-8)
    assert regret <= player.guarantee + 1e-9


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
    with pytest.raises(ValueError, match="outside of their span"):
        player.observe(np.eye(5)[0])
    with pytest.raises(ValueError, match="outside of their span"):
        player.run(np.vstack((vectors, np.eye(5))))
    assert player.rounds == 200


def test_calibration_as_a_game():
    """Forecasts of any number in [0, 1]: swap regret is the calibration error."""
    game = zoo.calibration_game()
    events = np.array([[0.0, 1.0], [1.0, 1.0]])
    player = StructuredLearner(game.actions[0], events, 500)
    assert player.payoff_range <= math.sqrt(2) * 1.02
    rng = np.random.default_rng(0)
    sums: dict[float, np.ndarray] = {}
    for t in range(500):
        forecasts, weights = player.play()
        event = int(rng.random() < 0.3 + 0.4 * (t > 250))
        for x, p in zip(forecasts.tolist(), weights, strict=True):
            sums[x] = sums.get(x, 0.0) + p * np.array([event, 1.0])
        player.observe(events[event])
    error = sum(n * (x - b / n) ** 2 for x, (b, n) in sums.items())
    assert error == pytest.approx(player.certificate().measured, rel=1e-9)
    assert error <= player.guarantee < 500


@pytest.mark.parametrize("shape", [(2, 2), (3, 5), (6, 2)])
def test_learners_that_meet_approach_a_correlated_equilibrium(shape):
    """The gap of what two learners played together is their swap regret a round."""
    rng = np.random.default_rng(shape)
    game = from_matrices(rng.normal(size=shape), rng.normal(size=shape))
    everything = [np.arange(n) for n in shape]
    players = []
    for i, own in enumerate(game.actions):
        all_vectors = game.vectors(i, [everything[1 - i]] * 2)
        players.append((StructuredLearner(own, all_vectors, 400), all_vectors))
    joint = np.zeros(shape)
    for _ in range(400):
        mixed = []
        for (player, _), n in zip(players, shape, strict=True):
            chosen, weights = player.play()
            mixed.append(np.bincount(chosen, weights, n))
        joint += np.outer(*mixed) / 400
        for i, (player, all_vectors) in enumerate(players):
            player.observe(mixed[1 - i] @ all_vectors)
    found = verify(game, joint)
    for (player, _), gap in zip(players, found.gaps, strict=True):
        assert gap.swap == pytest.approx(player.certificate().measured / 400, abs=1e-9)
        assert gap.swap <= player.guarantee / 400


def test_a_vector_beyond_the_bound_ends_the_guarantee():
    player = StructuredLearner(Vectors(np.eye(2)), 1.0, 100)
    with pytest.warns(UserWarning, match="no guarantee"):
        player.observe([3.0, -3.0])
    assert math.isnan(player.guarantee) and not player.certificate().holds


@pytest.mark.parametrize("learner", ["hedge", "matching"])
def test_sub_learners(learner):
    actions = zoo.ring(60).actions[0]
    player = StructuredLearner(actions, 1.0, 400, learner=learner)
    played_out(player, actions, hostile(2, 0), 400)
    certificate = player.certificate()
    assert certificate.holds and certificate.quantity == "swap regret"
    assert learner in player.explain()


def test_pairs_of_coins():
    """Block i of the rounds loses 1 off pair i and pays fair coins on it."""
    rng = np.random.default_rng(0)
    pairs, length = 4, 100
    vectors = -np.ones((pairs * length, 2 * pairs))
    for i in range(pairs):
        coins = rng.choice([-1.0, 1.0], size=(length, 2))
        vectors[i * length : (i + 1) * length, 2 * i : 2 * i + 2] = coins
    actions = Vectors(np.eye(2 * pairs))
    player = StructuredLearner(actions, math.sqrt(2 * pairs), pairs * length)
    plays, seen = played_out(player, actions, lambda mean, t: vectors[t], pairs * length)
    regret = normal_form_regret(seen.T, plays)
    assert 0 < regret == pytest.approx(player.certificate().measured, abs=1e-8)
    assert regret <= player.guarantee


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


def test_strategies_of_a_tree():
    """Kuhn poker against someone who always bets, then one who never does: both in hindsight."""
    game = zoo.kuhn_poker()
    actions, other = game.actions
    vectors = game.vectors(0, [np.arange(other.size), np.arange(other.size)])
    player = StructuredLearner(actions, vectors, 200)
    told = np.where(np.arange(200) < 100, 0, other.size - 1)
    plays, seen = played_out(player, actions, lambda mean, t: vectors[told[t]], 200)
    regret = normal_form_regret(actions.embed(np.arange(actions.size)) @ seen.T, plays)
    assert regret == pytest.approx(player.certificate().measured, abs=1e-8)
    assert regret <= player.guarantee < player.payoff_range * 200
    mean = plays[-1] @ actions.embed(np.arange(actions.size))
    found, weights = decompose(actions, mean)
    np.testing.assert_allclose(weights @ actions.embed(found), mean, atol=1e-8)


def test_without_a_horizon_new_actions_join():
    actions = zoo.ring(1000).actions[0]
    player = StructuredLearner(actions, 1.0)
    before = len(player.support)
    plays, vectors = played_out(player, actions, sweeping(2, 0, rounds=3000), 3000)
    assert len(player.support) > before
    sums = plays.T @ vectors
    regret = float(
        ((sums @ actions.embeddings.T).max(axis=1) - (sums * actions.embeddings).sum(axis=1)).sum()
    )
    assert regret == pytest.approx(player.certificate().measured, abs=1e-7)
    assert regret <= player.guarantee


# --- sets that are no lists -------------------------------------------------------------------


def gain(actions, sums):
    """Σ_a max_b ⟨v_b − v_a, sums[a]⟩ for a dictionary of actions."""
    total = 0.0
    for a, s in sums.items():
        column = actions.check([a], "a")
        total += float(actions.best(s[None])[1][0] - actions.embed(column)[0] @ s)
    return total


SETS = {
    "parabola": Curve.parabola(-1.0, 1.0),
    "disc": Region(Ball([1.0, 0.0], 1.0)),
    "box": Region(Box([0.0, 0.0, 0.0], [1.0, 2.0, 0.5])),
    "plans": Product([Vectors([[0.0], [1.0], [3.0]]), Vectors([[0.0, 1.0], [1.0, 0.0]])]),
    "sum": Sum([Vectors(np.random.default_rng(k).normal(size=(9, 2))) for k in range(4)]),
    "many dimensions": Vectors(np.eye(12)),
}


@pytest.mark.parametrize("name", SETS)
def test_any_set_of_actions(name):
    actions = SETS[name]
    player = StructuredLearner(actions, 1.0, 300)
    answer, sums = hostile(actions.dim, 0), {}
    for t in range(300):
        chosen, weights = player.play()
        chosen = actions.check(chosen, "chosen")
        w = answer(weights @ actions.embed(chosen), t)
        for a, p in zip(chosen.tolist(), weights, strict=True):
            sums[a] = sums.get(a, 0.0) + p * w
        player.observe(w)
    regret = gain(actions, sums)
    assert regret == pytest.approx(player.certificate().measured, abs=1e-7)
    assert regret <= player.guarantee < player.hull.diameter * 300


# --- the hull ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dim, rank", [(1, 1), (3, 1), (3, 2), (5, 3), (5, 5)])
def test_frames_of_flat_sets(dim, rank):
    rng = np.random.default_rng([dim, rank])
    rows = rng.normal(size=(200, rank)) @ rng.normal(size=(rank, dim)) + 100.0
    origin, axes = affine_frame(Vectors(rows))
    assert axes.shape == (dim, rank)
    np.testing.assert_allclose(axes.T @ axes, np.eye(rank), atol=1e-12)
    inside = (rows - origin) @ axes @ axes.T + origin
    np.testing.assert_allclose(inside, rows, atol=1e-9)


@pytest.mark.parametrize("dim", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [5, 600, 5000])
def test_diameters_are_never_too_small(dim, n):
    rng = np.random.default_rng([dim, n])
    rows = rng.normal(size=(n, dim)) * np.arange(1, dim + 1)
    hull = Hull(Vectors(rows))
    some = rows[np.argsort(-np.linalg.norm(rows, axis=1))[:400]]
    exact = max(float(np.linalg.norm(some - row, axis=1).max()) for row in some)
    slack = {1: 1e-9, 2: 1e-3, 3: 0.05, 4: 1.0}[dim] if n > 512 else 1e-9
    assert exact * (1 - 1e-12) <= hull.diameter <= exact * (1 + slack)


def test_diameters_in_closed_form():
    assert Hull(SETS["box"]).diameter == pytest.approx(math.sqrt(1 + 4 + 0.25))
    assert Hull(SETS["plans"]).diameter == pytest.approx(math.sqrt(9 + 2))
    many = Vectors(np.linspace(0, 1, 1001)[:, None])
    assert Hull(Product([many, Vectors([[2.0], [2.0]])])).diameter == pytest.approx(1.0)
    assert Hull(Curve.parabola(0.0, 1.0)).diameter == pytest.approx(math.sqrt(2), rel=1e-3)


def test_the_hull_is_a_convex_set():
    square = Vectors([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [1.0, 1.0]])
    hull = Hull(square)

    def inner(x):
        return (np.array(x, dtype=float) - hull.origin) @ hull.axes

    np.testing.assert_allclose(hull.project(inner([3.0, 1.0])), inner([2.0, 1.0]), atol=1e-9)
    np.testing.assert_allclose(hull.project(inner([1.0, 0.5])), inner([1.0, 0.5]), atol=1e-9)
    assert hull.contains(inner([[1.0, 2.0], [1.0, 2.1]])).tolist() == [True, False]
    slope, corners = np.array([0.1, -0.3]), inner(square.embeddings)
    found = hull.minimize_quadratic([-1.0], slope[None])[0]
    values = corners @ slope - np.square(corners).sum(axis=1)
    assert found @ slope - found @ found == pytest.approx(values.min())
    moved = hull.moved(2.0, [1.0, 0.0])
    np.testing.assert_allclose(
        moved.minimize_linear([1.0, 0.3]), 2 * hull.minimize_linear([1.0, 0.3]) + [1.0, 0.0]
    )
    with pytest.raises(NotImplementedError, match="concave"):
        Hull(Curve.parabola(0.0, 1.0)).minimize_quadratic(-1.0, [0.0, 0.0])
    with pytest.raises(ValueError, match="different"):
        Hull(Vectors([[1.0], [1.0]]))
    with pytest.raises(ValueError, match="actions"):
        Hull(np.eye(2))


# --- bad input --------------------------------------------------------------------------------


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
    with pytest.raises(ValueError, match="^payoff vectors must"):
        player.observe(vector)
    assert player.rounds == 1
    np.testing.assert_array_equal(before.weights, player.play().weights)
    with pytest.raises(ValueError, match="^payoff vectors must"):
        player.run(vector if np.ndim(vector) != 2 else [[[1.0]]])
    assert player.rounds == 1


def test_no_certificate_without_sums():
    player = StructuredLearner(Vectors(np.eye(2)), 1.0, 10, track=False)
    player.observe([0.3, 0.1])
    with pytest.raises(ValueError, match="track"):
        player.certificate()

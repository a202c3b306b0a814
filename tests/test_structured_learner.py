"""A player with small swap regret in terms of real actions, whatever the others do."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullswap.games import (
    Curve,
    Product,
    Region,
    StructuredLearner,
    Sum,
    Vectors,
    decompose,
    from_matrices,
    verify,
    zoo,
)
from fullswap.sets import Ball, Box
from opponents import OPPONENTS, hostile, normal_form_regret, played_out, sweeping


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
    checked = verify(game, joint)
    for (player, _), gap in zip(players, checked.gaps, strict=True):
        assert gap.swap == pytest.approx(player.certificate().measured / 400, abs=1e-9)
        assert gap.swap <= player.guarantee / 400


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


def test_strategies_of_a_tree():
    """Kuhn poker against someone who always bets, then one who never does: both in hindsight."""
    game = zoo.kuhn_poker()
    actions, other = game.actions
    vectors = game.vectors(0, [np.arange(other.size), np.arange(other.size)])
    player = StructuredLearner(actions, vectors, 200)
    answers = np.where(np.arange(200) < 100, 0, other.size - 1)
    plays, seen = played_out(player, actions, lambda mean, t: vectors[answers[t]], 200)
    regret = normal_form_regret(actions.embed(np.arange(actions.size)) @ seen.T, plays)
    assert regret == pytest.approx(player.certificate().measured, abs=1e-8)
    assert regret <= player.guarantee < player.payoff_range * 200
    mean = plays[-1] @ actions.embed(np.arange(actions.size))
    chosen, weights = decompose(actions, mean)
    np.testing.assert_allclose(weights @ actions.embed(chosen), mean, atol=1e-8)


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

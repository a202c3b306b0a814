"""The reduction: swap regret in the game is at most full swap regret on the hull."""

import copy
import math
import pickle
from functools import partial

import numpy as np
import pytest
from scipy.optimize import linprog

from fullswap import FullSwapLearner
from fullswap.base.protocols import Mixture
from fullswap.games import (
    Curve,
    Product,
    StructuredLearner,
    Vectors,
    as_player,
    decompose,
    from_matrices,
    play_out,
    zoo,
)
from fullswap.games.hull import Hull
from fullswap.losses import LossClass
from fullswap.sets import Ball, Box, Interval, Polytope, Simplex
from opponents import OPPONENTS, hostile, normal_form_regret, played_out

LINEAR = LossClass(1.0, smoothness=0.0, concave=True)


def slow_full_swap_regret(record, corners):
    """Σ_s max_b Σ_t x_t[s]·⟨b − s, w_t⟩ from points and weights of every round."""
    sums: dict[bytes, np.ndarray] = {}
    for mixture, w in record:
        for s, x in zip(mixture.points, mixture.weights, strict=True):
            key = (s + 0.0).tobytes()
            sums[key] = sums.get(key, 0.0) + x * w
    total = 0.0
    for key, w in sums.items():
        total += max(float((b - np.frombuffer(key)) @ w) for b in corners)
    return total


class Recorded:
    """A learner whose points, in the game's coordinates, are written down."""

    def __init__(self, learner):
        self.learner, self.action_set, self.record = learner, learner.action_set, []

    def __getattr__(self, name):
        return getattr(self.learner, name)

    def play(self):
        return self.learner.play()

    def observe(self, loss):
        mixture = self.play()
        self.learner.observe(loss)
        self.record.append((mixture, -loss.coefficients[1:-1]))


HULLS = {
    "square": (Box([-1.0, 2.0], [1.0, 5.0]), [[-1, 2], [-1, 5], [1, 2], [1, 5], [0, 3], [1, 5]]),
    "simplex": (Simplex(4), np.eye(5)),
    "polytope": (None, np.random.default_rng(3).normal(size=(9, 3)) * [1, 2, 0.3] + 4),
}


@pytest.mark.parametrize("name", OPPONENTS)
@pytest.mark.parametrize("row", ["concave", "tree", "lipschitz"])
@pytest.mark.parametrize("hull", HULLS)
def test_swap_regret_is_at_most_full_swap_regret(hull, row, name):
    field, rows = HULLS[hull]
    actions = Vectors(rows)
    field = Polytope(vertices=rows) if field is None else field
    inner = Recorded(FullSwapLearner(field, LINEAR, 150, row=row))
    player = as_player(inner, actions)
    plays, vectors = played_out(player, actions, OPPONENTS[name](actions.dim, 1), 150)
    regret = normal_form_regret(actions.embeddings @ vectors.T, plays)
    full = slow_full_swap_regret(inner.record, actions.embeddings)
    certificate = player.certificate()
    assert certificate.measured == pytest.approx(regret, abs=1e-8)
    assert regret <= full + 1e-6
    assert full == pytest.approx(inner.certificate().measured, abs=1e-6)
    assert full <= player.guarantee + 1e-9 and certificate.holds
    # the mixed action of every point is one and the same, with the right mean
    for (mixture, _), play in zip(inner.record, plays, strict=True):
        mean = mixture.weights @ mixture.points
        np.testing.assert_allclose(play @ actions.embeddings, mean, atol=1e-7)


def test_every_distinct_point_is_decomposed_once():
    actions = Vectors(np.random.default_rng(0).normal(size=(12, 3)))
    asked = []

    def oracle(point):
        asked.append(point.tobytes())
        return decompose(actions, point)

    inner = FullSwapLearner(Polytope(vertices=actions.embeddings), LINEAR, 300, row="concave")
    player = as_player(inner, actions, oracle)
    player.run(np.random.default_rng(1).uniform(-0.5, 0.5, size=(60, 3)))
    assert len(asked) == len(set(asked)) == len(inner.grid)


class Wandering:
    """A learner of one's own, with numbers of points that do not keep their meaning."""

    def __init__(self, corners):
        self.corners, self.rounds = corners, 0

    def play(self):
        weights = np.random.default_rng(self.rounds).dirichlet(np.ones(len(self.corners)), size=2)
        return Mixture(weights @ self.corners, np.array([0.3, 0.7]), np.array([0, 1]))

    def observe(self, loss):
        self.rounds += 1


def test_a_learner_of_ones_own():
    actions = Vectors(np.random.default_rng(5).normal(size=(7, 2)))
    player = as_player(Wandering(actions.embeddings), actions)
    plays, vectors = played_out(player, actions, hostile(2, 0), 50)
    certificate = player.certificate()
    regret = normal_form_regret(actions.embeddings @ vectors.T, plays)
    assert certificate.measured == pytest.approx(regret, abs=1e-9)
    assert certificate.guaranteed is None and math.isnan(player.guarantee)
    assert player.rounds == 50 and "Wandering" in player.explain()
    for t, play in enumerate(plays):
        weights = np.random.default_rng(t).dirichlet(np.ones(7), size=2)
        mean = np.array([0.3, 0.7]) @ weights @ actions.embeddings
        np.testing.assert_allclose(play @ actions.embeddings, mean, atol=1e-8)


def by_programme(rows, point):
    """A mixed action with this mean that weighs the last actions least."""
    system = np.vstack((rows.T, np.ones(len(rows))))
    found = linprog(np.arange(len(rows)), A_eq=system, b_eq=np.append(point, 1.0))
    return np.arange(len(rows)), np.maximum(found.x, 0.0)


@pytest.mark.parametrize("oracle", [None, by_programme])
def test_oracles_agree_about_the_regret_of_the_hull(oracle):
    rows = np.random.default_rng(2).normal(size=(10, 3))
    actions, hull = Vectors(rows), Polytope(vertices=rows)
    own = None if oracle is None else partial(oracle, rows)
    player = as_player(FullSwapLearner(hull, LINEAR, 80, row="tree"), actions, own)
    plays, vectors = played_out(player, actions, hostile(3, 4), 80)
    regret = normal_form_regret(rows @ vectors.T, plays)
    assert regret <= player.learner.certificate().measured + 1e-6 <= player.guarantee + 2e-6


@pytest.mark.parametrize("actions", [Curve.parabola(-1.0, 1.0), zoo.auction(3, 2).actions[0]])
def test_learners_on_a_hull_in_its_own_coordinates(actions):
    hull = Hull(actions)
    player = as_player(FullSwapLearner(hull, LINEAR, 100), actions)
    rng = np.random.default_rng(0)
    for _ in range(100):
        chosen, weights = player.play()
        mean = weights @ actions.embed(actions.check(chosen, "chosen"))
        mixture = player.learner.play()
        inside = mixture.weights @ mixture.points @ hull.axes.T + hull.origin
        np.testing.assert_allclose(mean, inside, atol=1e-8)
        w = rng.normal(size=actions.dim)
        player.observe(w / np.linalg.norm(w))
    certificate = player.certificate()
    assert certificate.holds
    assert certificate.measured <= player.learner.certificate().measured + 1e-8
    assert len(player.support) > 1


def test_run_is_the_loop_and_copies_go_on_alike():
    rows = np.random.default_rng(2).normal(size=(30, 4))
    field = Polytope(vertices=rows)
    one, other = (
        as_player(FullSwapLearner(field, LINEAR, 50, row="tree"), Vectors(rows)) for _ in range(2)
    )
    vectors = np.random.default_rng(1).uniform(-0.4, 0.4, size=(40, 4))
    one.run(vectors)
    for w in vectors:
        other.play()
        other.observe(w)
    assert one.certificate() == other.certificate() and one.rounds == 40
    for again in (other, copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        for mine, theirs in zip(one.play(), again.play(), strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_bad_input():
    square = Vectors([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])

    def inner(field):
        return FullSwapLearner(field, LINEAR, 50, row="concave")

    box = Box([0.0, 0.0], [1.0, 1.0])
    with pytest.raises(ValueError, match="^learner must have play"):
        as_player(object(), square)
    with pytest.raises(ValueError, match="^actions must"):
        as_player(inner(box), [[0.0, 1.0]])
    with pytest.raises(ValueError, match="^oracle must be a function"):
        as_player(inner(box), square, 3)
    with pytest.raises(ValueError, match="3 coordinates"):
        as_player(inner(box), Vectors(np.eye(3)))
    with pytest.raises(ValueError, match=r"^actions must have embeddings in the learner's set"):
        as_player(inner(Box([0.0, 0.0], [1.0, 0.5])), square)
    with pytest.raises(ValueError, match=r"^actions must have embeddings in the learner's set"):
        many = Product([Vectors(np.linspace(0, 1, 200)[:, None])] * 2)
        as_player(inner(Ball([0.5, 0.5], 0.5)), many)
    with pytest.raises(ValueError, match="learner's hull"):
        as_player(inner(Hull(square)), Vectors(square.embeddings))
    # a set that is larger than the hull is found out when a point outside is played
    player = as_player(inner(Ball([0.5, 0.5], 1.0)), square)
    with pytest.raises(ValueError, match="point must lie in the hull"):
        player.play()
    player = as_player(inner(box), square)
    for vector in ([1.0], [1.0, math.nan], "ab"):
        with pytest.raises(ValueError, match="^vector must"):
            player.observe(vector)
    assert player.rounds == 0


@pytest.mark.parametrize(
    "answer, why",
    [
        (([0], [1.0]), "with mean"),
        (([0, 1], [0.5, 0.6]), "sum to 1"),
        (([0, 1], [1.5, -0.5]), "at least 0"),
        (([9], [1.0]), "the actions of oracle"),
        (([0, 1], [1.0]), "the weights of oracle"),
    ],
)
def test_answers_of_an_oracle_are_checked(answer, why):
    square = Vectors([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    inner = FullSwapLearner(Box([0.0, 0.0], [1.0, 1.0]), LINEAR, 50, row="concave")
    player = as_player(inner, square, lambda point: answer)
    with pytest.raises(ValueError, match=why):
        player.play()


# --- the preset in many dimensions ----------------------------------------------------------------


def sets_of_many_dimensions():
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(300, 8)) @ rng.normal(size=(8, 16)) + 1.0
    return {
        "5, all actions": (Vectors(rng.normal(size=(400, 5)) * [1, 2, 3, 4, 5] - 7.0), 20_000),
        "5, rim of the hull": (Vectors(rng.normal(size=(9_000, 5))), 10**7),
        "8, unknown horizon": (Vectors(rng.normal(size=(2_200, 8))), None),
        "8, all actions": (Vectors(rng.normal(size=(100, 8))), 6_000),
        "8, too many actions": (Vectors(rng.normal(size=(2_500, 8)) + 0.3), 300),
        "16, flat and doubled": (Vectors(np.vstack((flat, flat[:50]))), 6_000),
        "16, plans": (zoo.auction(5, 4).actions[0], 300),
    }


MANY = sets_of_many_dimensions()


@pytest.mark.parametrize("name", OPPONENTS)
@pytest.mark.parametrize("kind", MANY)
def test_swap_regret_in_many_dimensions(kind, name):
    """From the record of mixed actions, by code that knows nothing of learners."""
    actions, horizon = MANY[kind]
    player = StructuredLearner(actions, 1.0, horizon)
    answer, sums = OPPONENTS[name](actions.dim, 2), {}
    for t in range(120):
        chosen, weights = player.play()
        assert weights.min() > 0 and weights.sum() == pytest.approx(1.0)
        w = answer(weights @ actions.embed(chosen), t)
        for a, p in zip(chosen.tolist(), weights, strict=True):
            sums[a] = sums.get(a, 0.0) + p * w
        player.observe(w)
    every = actions.embed(np.arange(actions.size))
    regret = sum(float((every @ s).max() - every[a] @ s) for a, s in sums.items())
    certificate = player.certificate()
    assert certificate.measured == pytest.approx(regret, abs=1e-8)
    assert regret <= player.learner.certificate().measured + 1e-6
    assert player.learner.certificate().measured <= certificate.guaranteed + 1e-6
    assert certificate.guaranteed <= player.guarantee + 1e-9
    if horizon is not None:
        assert player.guarantee < player.payoff_range * horizon


def test_the_row_with_the_smallest_guarantee_is_taken():
    actions = Vectors(np.random.default_rng(0).normal(size=(2_500, 8)))
    chosen = StructuredLearner(actions, 1.0, 5_000)
    rows = {row: StructuredLearner(actions, 1.0, 5_000, row=row) for row in ("concave", "tree")}
    assert chosen.guarantee == min(one.guarantee for one in rows.values())
    assert chosen.learner.row == "tree" and "concave with hedge" in chosen.explain()
    few = Vectors(actions.embeddings[:60])
    assert StructuredLearner(few, 1.0, 5_000).learner.row == "concave"
    with pytest.raises(ValueError, match="^row must"):
        StructuredLearner(few, 1.0, 100, row="lipschitz")
    with pytest.raises(ValueError, match="learner must be None"):
        StructuredLearner(few, 1.0, 100, row="tree", learner="hedge")


def test_little_is_promised_where_it_is():
    actions = Vectors(np.random.default_rng(0).normal(size=(2_500, 12)))
    assert "ittle is promised" in StructuredLearner(actions, 1.0, 4).explain()
    assert "ittle is promised" not in StructuredLearner(actions, 1.0, 10_000).explain()
    # coordinates in which given vectors are round cost up to √d: the true range tells
    game = zoo.auction()
    vectors = game.vectors(0, [np.arange(4_096) * 16] * 2)
    player = StructuredLearner(game.actions[0], vectors, 10_000)
    payoffs = vectors[:64] @ game.actions[0].embed(np.arange(65_536)).T
    assert np.ptp(payoffs, axis=1).max() <= player.payoff_range
    assert player.payoff_range < 0.5 * player.learner.loss_class.lipschitz * player.hull.diameter
    assert "ittle is promised" in player.explain()
    assert player.guarantee <= player.payoff_range * 10_000
    few = StructuredLearner(Vectors(np.eye(3)), np.eye(3), 10_000)
    assert "ittle is promised" not in few.explain()


# --- hulls that are next to flat, and far from 0 ------------------------------------------------


@pytest.mark.parametrize("base", [0.0, 1e3, 1e4, 1e5])
def test_directions_that_coordinates_leave_out_are_charged(base):
    # t ↦ (t, t²) is a line up to 1e-9 of its length when t is large, and payoffs live beside it
    curve = Curve.parabola(base, base + 1)
    vectors = np.array([[2 * base, -1.0], [2 * base + 2, -1.0]])
    player = StructuredLearner(curve, vectors, 200)
    for t in range(200):
        player.play()
        player.observe(vectors[t % 2])
    certificate = player.certificate()
    assert certificate.holds and certificate.measured <= player.guarantee


def test_actions_that_look_alike_are_charged():
    player = StructuredLearner(Vectors([[1e13], [1e13 + 1]]), 1.0, 100)
    for _ in range(100):
        player.play()
        player.observe([1.0])
    assert player.certificate().measured <= player.guarantee == pytest.approx(100.0)
    same = StructuredLearner(Vectors([[2.0], [2.0]]), 1.0, 100)
    assert same.guarantee == 0.0


def test_payoffs_and_not_coordinates_tell_what_is_outside_of_a_span():
    wide = Vectors([[0.0, 0.0], [1.0, 0.0], [0.0, 1e6], [1.0, 1e6]])
    player = StructuredLearner(wide, [[1.0, 0.0], [-1.0, 0.0]], 100)
    with pytest.raises(ValueError, match="mixtures of those given"):
        player.observe([1.0, 9e-7])  # worth 0.9 along the second coordinate
    steep = from_matrices(np.diag([1e11, 1.0, 1.0]), -np.eye(3))
    assert play_out(steep, 50).gap <= play_out(steep, 50).guaranteed


def test_means_are_met_far_from_the_origin():
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]) + [1e9, 0.0]
    actions, weights = decompose(Vectors(corners), [1e9 + 0.25, 0.5])
    assert weights @ corners[actions] == pytest.approx([1e9 + 0.25, 0.5], abs=1e-5)
    small = Vectors([[0.0], [1e-7]])
    inner = FullSwapLearner(Interval(0.0, 1e-7), LossClass.linear(1.0), 20)
    player = as_player(inner, small, lambda point: (np.array([0]), np.ones(1)))
    with pytest.raises(ValueError, match="mixed action with mean"):
        player.play()
    learner = FullSwapLearner(Interval(1e6, 1e6 + 1), LossClass.linear(1.0), 20)
    with pytest.raises(ValueError, match="embeddings in the learner's set"):
        as_player(learner, Vectors([[1e6], [1e6 + 1.09]]))

"""Games played out by learners: verified gaps, measured regrets, and what was guaranteed."""

import math
from functools import partial

import numpy as np
import pytest

from fullswap import FullSwapLearner
from fullswap.games import (
    PlayedOut,
    StructuredGame,
    StructuredLearner,
    Vectors,
    as_player,
    from_matrices,
    from_tensor,
    play_out,
    verify,
    zoo,
)
from fullswap.games import averages as averages_module
from fullswap.losses import LossClass
from fullswap.sets import Simplex
from small_games import SMALL, as_table, random_game, slow_gap, whole

GAMES = {
    "ring": zoo.ring(60),
    "Cournot": zoo.cournot(),
    "three firms": zoo.cournot(3, cost=[0.0, 0.1, 0.2]),
    "traffic": zoo.routing(),
    "points of a disc": zoo.quadratic_2d(),
    "auction": zoo.auction(4, 3),
    "auction of d = 16": zoo.auction(),
    "three players": random_game((2, 3, 4)),
    "asymmetric": random_game((3, 7), 1),
    "low rank": from_matrices(*np.random.default_rng(0).normal(size=(2, 9, 6)), rank=4),
    "poker": zoo.kuhn_poker(),
    "signals": zoo.von_stengel_forges(),
    "nothing to gain": SMALL["constant"],
    "one action": SMALL["1x4"],
}


@pytest.mark.parametrize("name", GAMES)
def test_the_gap_is_the_largest_regret_a_round(name):
    game = GAMES[name]
    average = play_out(game, 120)
    assert isinstance(average, PlayedOut) and average.method == "play_out"
    assert average.rounds == 120 and average.reached is None
    assert average.weights.sum() == pytest.approx(1.0) and average.weights.min() > 0
    again = verify(game, (average.support, average.weights))
    for i, (gap, regret) in enumerate(zip(again.gaps, average.regrets, strict=True)):
        assert gap.swap == pytest.approx(regret, abs=1e-9)
        certificate = average.certificates[i]
        assert certificate.holds and certificate.measured == pytest.approx(120 * regret)
        assert regret <= certificate.guaranteed / 120 + 1e-9
    assert average.gap <= average.guaranteed + 1e-9
    assert average.rate <= 0 or math.isnan(average.rate)


@pytest.mark.parametrize("name", ["2x3", "2x3x4", "ring 9x7"])
def test_the_average_is_that_of_slow_self_play(name):
    """By loops over players, with tables of payoffs and no labels."""
    game = SMALL[name]
    tables, shape = whole(game), [s.size for s in game.actions]
    players = []
    for i, own in enumerate(game.actions):
        chosen = [np.arange(k) for k in shape]
        players.append(StructuredLearner(own, game.vectors_against_all(i, chosen), 60))
    joint = np.zeros(shape)
    for _ in range(60):
        plays = [player.play() for player in players]
        mixed = [np.bincount(*play, k) for play, k in zip(plays, shape, strict=True)]
        round_play = mixed[0]
        for own in mixed[1:]:
            round_play = np.multiply.outer(round_play, own)
        joint += round_play / 60
        for i, player in enumerate(players):
            # the payoff of each own action, as a vector w with ⟨v, w⟩ equal to it
            vectors = game.vectors_against_all(i, [np.arange(k) for k in shape])
            weights = np.ones(1)
            for k, own in enumerate(mixed):
                weights = weights if k == i else np.multiply.outer(weights, own).ravel()
            player.observe(weights @ vectors)
    average = play_out(game, 60)
    np.testing.assert_allclose(as_table(game, average), joint, atol=1e-12)
    assert average.gap == pytest.approx(slow_gap(tables, joint), abs=1e-9)


def test_tables_and_lists_of_what_occurs_agree(monkeypatch):
    game = zoo.auction(3, 2)
    usual = play_out(game, 300)
    monkeypatch.setattr(averages_module, "_DENSE", 8)
    monkeypatch.setattr(averages_module, "_TABLE", 0)
    other = play_out(game, 300)
    np.testing.assert_allclose(as_table(game, other), as_table(game, usual), atol=1e-12)
    monkeypatch.setattr(averages_module, "_MOST", 2)
    with pytest.raises(ValueError, match="^rounds must be fewer"):
        play_out(game, 300)


def test_nothing_is_drawn():
    one, other = (play_out(zoo.ring(30), 100) for _ in range(2))
    np.testing.assert_array_equal(one.weights, other.weights)
    np.testing.assert_array_equal(one.support, other.support)
    assert one.to_dict() == other.to_dict()


def test_rounds_that_guarantee_a_gap():
    game = from_matrices([[1, -1], [-1, 1]], [[-1, 1], [1, -1]])
    average = play_out(game, gap=0.1)
    assert average.reached and average.gap <= average.guaranteed <= 0.1
    assert play_out(game, average.rounds * 9 // 10).guaranteed > 0.1
    assert average.rate == pytest.approx(-0.5, abs=0.01)
    assert play_out(game, 50, 0.9).reached
    assert play_out(random_game((3, 7), 1), 5, 1e-6).reached is False
    with pytest.raises(ValueError, match=r"^gap must be larger, or rounds be given: [\d,]+ rounds"):
        play_out(game, gap=1e-4)
    with pytest.raises(ValueError, match="^gap must be larger: not even"):
        play_out(game, gap=1e-12)


def test_the_rate_is_that_of_the_paper():
    """rounds^(−2/(d + 3)) on a curved hull of d = 2; −1/2 would be that of few actions."""
    assert play_out(zoo.ring(1_000), 100).rate == pytest.approx(-2 / 5, abs=0.05)


def test_learners_of_ones_own():
    game = random_game((3, 4), 5)

    def maker(actions, bound, horizon):
        inner = FullSwapLearner(
            Simplex(actions.size - 1), LossClass(2.0, smoothness=0.0, concave=True), horizon
        )
        return as_player(inner, Vectors(np.eye(actions.size)))

    average = play_out(game, 100, learner=maker)
    assert average.gap <= average.guaranteed and math.isnan(average.rate)
    tree = play_out(game, 100, learner=partial(StructuredLearner, row="tree"))
    assert tree.gap <= tree.guaranteed and tree.gap == pytest.approx(max(tree.regrets), abs=1e-9)
    matching = play_out(game, 400, learner="matching")
    assert matching.gap < play_out(game, 400).gap
    with pytest.raises(ValueError, match="^rounds must be given with learners"):
        play_out(game, gap=0.1, learner=maker)
    with pytest.raises(ValueError, match="makes players"):
        play_out(game, 10, learner=lambda *given: None)


def test_a_bound_that_breaks_leaves_a_verified_gap():
    game = random_game((3, 4), 5)
    with pytest.warns(UserWarning, match="no guarantee"):
        average = play_out(game, 30, bounds=[1e-3, 1e-3])
    assert math.isnan(average.guaranteed) and average.to_dict()["guaranteed"] is None
    assert average.gap == pytest.approx(max(average.regrets), abs=1e-9)
    assert "guaranteed" not in str(average)
    wide = play_out(game, 30, bounds=[3.0, np.eye(4) * 2])
    assert wide.gap <= wide.guaranteed and "was guaranteed" in str(wide)


def test_payoff_vectors_that_cannot_be_listed_are_sampled():
    rows = np.random.default_rng(0).normal(size=(250_000, 3))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    sets = [Vectors(rows[:, :2]), Vectors(rows)]
    turn = np.array([[0.0, 1.0, 0.3], [-1.0, 0.2, 0.0]])
    game = StructuredGame(sets, [lambda o: rows[o[0]] @ turn.T, lambda o: rows[o[0], :2] @ -turn])
    average = play_out(game, 40)
    assert average.gap <= average.guaranteed


@pytest.mark.parametrize(
    "arguments, why",
    [
        ({}, "^rounds must be given, or gap"),
        ({"rounds": 0}, "^rounds must"),
        ({"rounds": 2.5}, "^rounds must"),
        ({"gap": 0.0}, "^gap must"),
        ({"gap": math.nan}, "^gap must"),
        ({"rounds": 5, "learner": 3}, "^learner must"),
        ({"rounds": 5, "learner": "no"}, "^learner must"),
        ({"rounds": 5, "bounds": [1.0]}, "^bounds must"),
        ({"rounds": 5, "bounds": 1.0}, "^bounds must"),
        ({"rounds": 5, "bounds": [1.0, -1.0]}, "^bound must"),
    ],
)
def test_bad_input(arguments, why):
    with pytest.raises(ValueError, match=why):
        play_out(zoo.chicken(), **arguments)


def test_bad_games():
    with pytest.raises(ValueError, match="^game must"):
        play_out(np.eye(2), 5)
    assert play_out(from_tensor(np.zeros((2, 1, 1))), 5).gap == 0.0

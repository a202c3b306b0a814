"""Self-play on active actions: the kernel by tensors, tables that grow, profiles on them."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullswap.games import zoo
from fullswap.games.actions import stack
from fullswap.games.restricted import Restricted, initial_actions
from fullswap.games.selfplay import SelfPlay, joint_play
from small_games import SMALL, auction, random_game, ring


def test_active_actions_are_merged_and_keep_their_places():
    game = zoo.cournot(2)
    active = Restricted(game, [np.array([0.25, 0.25 + 1e-12, 0.5]), np.array([0.1])])
    assert active.shape == (2, 1)
    assert not active.add([np.array([0.5]), np.array([0.1])])
    assert active.add([np.array([0.75, 0.5, 0.75]), np.array([0.3])]) and active.shape == (3, 2)
    assert active.places(0, np.array([0.75, 0.25, 0.9])).tolist() == [2, 0, -1]
    for mine, table in zip(active.tables, game.table(active.columns), strict=True):
        assert mine == pytest.approx(table)


def test_answers_agree_with_the_check():
    for game in (ring(50, 40), random_game((4, 3, 5)), auction(4, 3)):
        rng = np.random.default_rng(1)
        active = Restricted(game, initial_actions(game, 3, rng))
        joint = rng.dirichlet(np.ones(np.prod(active.shape))).reshape(active.shape)
        profile = active.profile(joint, 0.0)
        for answer, gap in zip(active.answers(joint), profile.gaps, strict=True):
            assert answer.gains.sum() == pytest.approx(gap.swap, abs=1e-12)
            assert (answer.outside >= -1e-12).all()
            assert (answer.outside <= answer.gains + 1e-12).all()


def test_light_joint_actions_are_left_out():
    game = SMALL["2x3"]
    active = Restricted(game, [np.arange(2), np.arange(3)])
    joint = np.array([[0.5, 0.02, 0.0], [0.3, 0.03, 0.15]])
    assert len(active.profile(joint, 0.0).weights) == 5
    heavy = active.profile(joint, 0.06)
    assert heavy.support.tolist() == [[0, 0], [1, 0], [1, 2]]
    assert heavy.weights == pytest.approx(np.array([0.5, 0.3, 0.15]) / 0.95)


def test_long_numbers_beside_parameters_stay_exact():
    rows = stack([np.array([2**60 + 1]), np.array([0.5])])
    assert rows[0, 0] == 2**60 + 1 and rows[0, 1] == 0.5
    assert stack([np.array([3]), np.array([0.5])]).dtype == float


@given(
    shape=st.lists(st.integers(1, 4), min_size=2, max_size=4).map(tuple),
    seed=st.integers(0, 1000),
)
def test_self_play_is_blum_mansour(shape, seed):
    """Rounds of the kernel are stationary, and payoffs are those of the tensors."""
    game = random_game(shape, seed)
    active = Restricted(game, [np.arange(k) for k in shape])
    play = SelfPlay(active)
    for _ in range(4):
        play.play(1)
        for p, k in enumerate(shape):
            x, rows = play._mixed[p, :k], play._rows[p, :k, :k]
            assert rows.sum(axis=1) == pytest.approx(1) and x.sum() == pytest.approx(1)
            assert x @ rows == pytest.approx(x, abs=1e-9)
            table = np.moveaxis(active.tables[p] - active.tables[p].min(), p, 0)
            for other, n in reversed([(q, n) for q, n in enumerate(shape) if q != p]):
                table = table @ play._mixed[other, :n]
            assert play._last[p, :k] == pytest.approx(table)
    assert play.average().sum() == pytest.approx(1) and play.average().shape == shape


def test_rounds_in_one_call_or_many_are_the_same():
    shape = (3, 4)
    game = random_game(shape, 9)
    plays = [SelfPlay(Restricted(game, [np.arange(k) for k in shape])) for _ in "ab"]
    plays[0].play(12)
    for _ in range(12):
        plays[1].play(1)
    assert plays[0].average() == pytest.approx(plays[1].average(), abs=1e-12)
    assert plays[0].rounds == plays[1].rounds == plays[0].averaged == 12


def test_joint_play_by_loops():
    rng = np.random.default_rng(0)
    shape, weights = (2, 3, 2), np.array([1.0, 3.0])
    history = rng.random((2, 3, 3))
    expected = np.zeros(shape)
    for t, cell in itertools.product(range(2), np.ndindex(shape)):
        expected[cell] += weights[t] * np.prod([history[t, p, a] for p, a in enumerate(cell)])
    assert joint_play(history, weights, shape) == pytest.approx(expected)

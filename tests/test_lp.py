"""Correlated equilibria by linear programming: known answers, asymmetric shapes, limits."""

import itertools

import numpy as np
import pytest

from fullswap.games.game import StructuredGame, from_matrices, from_tensor
from fullswap.games.lp import MOST_JOINT, best_equilibrium, check_size
from fullswap.games.values import as_objective
from small_games import slow_gap

CHICKEN = [np.array([[0.0, 7.0], [2.0, 6.0]]), np.array([[0.0, 2.0], [7.0, 6.0]])]


def test_chicken_has_its_known_best_equilibria():
    assert best_equilibrium(CHICKEN) == pytest.approx(np.array([[0, 0.25], [0.25, 0.5]]), abs=1e-9)
    fair = best_equilibrium(CHICKEN, "fair")
    assert [(fair * t).sum() for t in CHICKEN] == pytest.approx([5.25, 5.25])
    # only the first player counts: the pure equilibrium in which that player dares
    mine = best_equilibrium(CHICKEN, np.array([1.0, 0.0]))
    assert (mine * CHICKEN[0]).sum() == pytest.approx(7.0)


def test_fair_maximises_the_smallest_payoff():
    battle = [np.array([[3.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 0.0], [0.0, 2.0]])]
    payoffs = [(best_equilibrium(battle, "fair") * t).sum() for t in battle]
    # on the segment from (3, 1) to (1, 2) both get the same at 5/3
    assert payoffs == pytest.approx([5 / 3, 5 / 3])
    payoffs = [(best_equilibrium(battle) * t).sum() for t in battle]
    assert payoffs == pytest.approx([3.0, 1.0])


@pytest.mark.parametrize("shape", [(2, 3), (3, 5), (5, 1), (2, 3, 4), (2, 2, 2, 3)])
def test_it_is_an_equilibrium_and_no_worse_than_pure_ones(shape):
    rng = np.random.default_rng(3)
    for _ in range(3):
        tables = list(10 * rng.standard_normal((len(shape), *shape)))
        joint = best_equilibrium(tables)
        assert joint.shape == shape and joint.min() >= 0 and joint.sum() == pytest.approx(1)
        assert slow_gap(tables, joint) <= 1e-7
        welfare = sum((joint * t).sum() for t in tables)
        for cell in itertools.product(*(range(k) for k in shape)):
            pure = np.zeros(shape)
            pure[cell] = 1.0
            if slow_gap(tables, pure) <= 0:
                assert welfare >= sum(t[cell] for t in tables) - 1e-6


def test_constant_payoffs_allow_everything():
    constant = [np.full((2, 3), 4.0), np.full((2, 3), -1.0)]
    assert best_equilibrium(constant).sum() == pytest.approx(1)


def test_no_time_gives_none():
    rng = np.random.default_rng(0)
    assert best_equilibrium(list(rng.random((2, 60, 60))), seconds=1e-9) is None


def test_limits_name_what_to_use_instead():
    check_size((200, 100))
    with pytest.raises(ValueError, match=rf"at most {MOST_JOINT} .* got 160000 .*matching"):
        check_size((400, 400))
    with pytest.raises(ValueError, match="oracle"):
        check_size((4, None))


@pytest.mark.parametrize("wrong", ["best", [1.0], [1.0, np.nan], [[1.0, 2.0]], 3.0])
def test_bad_objectives(wrong):
    with pytest.raises(ValueError, match="^objective must "):
        as_objective(wrong, 2)


def test_tables_of_a_game_are_what_is_solved():
    rng = np.random.default_rng(5)
    A, B = rng.random((3, 5)), rng.random((3, 5))
    game = from_matrices(A, B)
    assert isinstance(game, StructuredGame)
    tables = game.table([np.arange(3), np.arange(5)])
    assert best_equilibrium(tables) == pytest.approx(best_equilibrium([A, B]), abs=1e-7)
    tensor = from_tensor([A, B])
    assert tensor.table([np.arange(3), np.arange(5)])[1] == pytest.approx(B)

"""What is said of the best equilibrium is true: levels, many players, small gaps, little time."""

import _thread
import sys
import threading
import time
import warnings

import numpy as np
import pytest

from fullswap.base.progress import Progress
from fullswap.games import (
    columns,
    congestion,
    entropy,
    from_matrices,
    lp,
    objectives,
    pure,
    solve,
    verify,
    zoo,
)
from fullswap.games.entropy import _Dual
from fullswap.games.highs import interruptible, no_time_for
from fullswap.games.lp import incentive_rows, optimise
from fullswap.games.profiles import Optimum
from fullswap.games.record import Record, product
from fullswap.games.values import ceiling_of, levels_of, scale_of
from small_games import SMALL, random_game, whole


@pytest.mark.parametrize("notion", ["correlated", "coarse"])
@pytest.mark.parametrize("objective", ["welfare", "fair", [1.0, -0.5]])
def test_a_level_of_payoffs_changes_nothing(objective, notion):
    tables = np.random.default_rng(5).normal(size=(2, 6, 6))
    plain = solve(from_matrices(*tables), 1e-6, objective=objective, notion=notion)
    for level in (1e4, 1e7, 1e9):
        high = solve(from_matrices(*(tables + level)), 1e-6, objective=objective, notion=notion)
        added = {"welfare": 2.0, "fair": 1.0}.get(str(objective), 0.5) * level
        assert high.reached and high.optimum.proved and plain.optimum.proved
        assert high.optimum.value - added == pytest.approx(plain.optimum.value, abs=1e-5)


@pytest.mark.parametrize("notion", ["correlated", "coarse"])
def test_rows_of_whole_payoffs_keep_all_digits(notion):
    tables = list(np.random.default_rng(0).integers(0, 4, (2, 5, 4)) * 1.0)
    plain, high = (incentive_rows([t + level for t in tables], notion) for level in (0, 1e9))
    assert high.toarray() == pytest.approx(plain.toarray(), abs=1e-12)


def test_a_proof_is_about_differences_of_values():
    assert not Optimum("welfare", 2e7, 2e7 + 1, scale=8.0).proved
    assert Optimum("fair", 0.0, 1.8e-15, scale=1.0).proved
    assert "20000000.5" in str(Optimum("welfare", 2e7 + 0.5, None, scale=8.0))


@pytest.mark.parametrize("objective", ["welfare", "fair"])
def test_an_optimum_of_nothing_is_proved(objective):
    drawn = np.random.default_rng(0).normal(size=(9, 9))
    even = drawn - drawn.T  # the same for both, so that nobody can be paid more than 0
    found = solve(from_matrices(even, -even), 1e-6, objective=objective)
    assert found.optimum.value == pytest.approx(0, abs=1e-9) and found.optimum.proved


def test_an_optimum_is_the_same_after_plain_data():
    optimum = solve(zoo.chicken(), objective="fair").optimum
    fields = optimum.to_dict()
    assert fields.pop("proved") and Optimum(**fields) == optimum


def test_values_of_tables():
    tables = [np.array([[0.0, 4.0]]), np.array([[3.0, 1.0]])]
    assert levels_of(tables, "welfare").tolist() == [2.0, 2.0]
    assert levels_of([tables[0], tables[1] + 6], "fair").tolist() == [4.5, 4.5]
    assert ceiling_of(tables, "welfare") == 5 and ceiling_of(tables, "fair") == 3
    assert ceiling_of(tables, "entropy") == pytest.approx(np.log(2))
    assert scale_of(tables, np.array([1.0, 0.0])) == 4


# --- many players and continua ------------------------------------------------------------------


def roads():
    return congestion([[[0], [1]]] * 30, np.tile(np.arange(1, 31.0), (2, 1)))


@pytest.mark.parametrize("make", [lambda: zoo.cournot(24), roads])
def test_an_objective_of_many_players_keeps_the_gap(make):
    found = solve(make(), 0.01, objective="welfare")
    assert found.reached and not found.optimum.searched and found.optimum.bound is None
    assert found.optimum.value == pytest.approx(found.payoffs.sum())
    assert "(not optimised)" in str(found)


def test_active_actions_are_optimised_where_they_are_few():
    game = zoo.ring(4_000)  # more joint actions than tables hold
    found, any_one = solve(game, 0.01, objective="welfare"), solve(game, 0.01)
    assert found.reached and found.optimum.searched
    assert found.optimum.value >= any_one.payoffs.sum() - 0.01


def test_nothing_is_claimed_of_a_profile_that_misses_the_gap():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = solve(zoo.cournot(3), 1e-9, "oracle", objective="fair", seconds=1e-6)
    assert not found.reached and not found.optimum.searched


# --- small gaps ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 3])
def test_small_gaps_do_not_cost_the_optimum(seed, monkeypatch):
    """Rows are kept to 1e-10, where 1e-7 left nothing to mend."""
    monkeypatch.setattr(objectives, "ONE_PROGRAMME", 0)
    monkeypatch.setattr(objectives, "_FAIR_PROGRAMME", 0)
    monkeypatch.setattr(objectives, "_one_programme", lambda *_: iter(()))
    game = from_matrices(*np.random.default_rng(seed).normal(size=(2, 25, 25)))
    found = solve(game, 1e-7, objective="fair")
    assert found.reached and found.optimum.proved


def test_broken_rows_become_dearer(monkeypatch):
    monkeypatch.setattr(objectives, "ONE_PROGRAMME", 0)
    monkeypatch.setattr(columns, "_PENALTY", 1e-3)
    game = from_matrices(*np.random.default_rng(1).normal(size=(2, 25, 25)))
    assert solve(game, 1e-7, objective="welfare").optimum.proved


# --- little time --------------------------------------------------------------------------------


def test_rows_are_not_begun_without_time_for_them(monkeypatch):
    assert no_time_for(10_000_000, 0.5) and not no_time_for(10_000_000, None)
    monkeypatch.setattr(lp, "incentive_rows", None)
    assert optimise(whole(random_game((30, 30))), "welfare", seconds=1e-4) is None


def test_entropy_without_time_keeps_an_easy_equilibrium(monkeypatch):
    monkeypatch.setattr(entropy, "no_time_for", lambda *_: True)
    found = solve(random_game((40, 40), 2), 1e-6, objective="entropy")
    assert found.reached and found.optimum.bound == pytest.approx(np.log(1600))
    assert not found.optimum.proved


def test_the_search_for_prices_looks_at_the_clock():
    tables = whole(SMALL["2x3"])
    record = Record(SMALL["2x3"], 0.01, 1e-9, Progress(100, False))
    dual = _Dual(incentive_rows(tables), record)
    assert not dual.improve() and dual.value == np.inf
    assert dual.joint().sum() == pytest.approx(1)


def test_uniform_play_of_large_tables_is_offered_only_if_it_will_do(monkeypatch):
    monkeypatch.setattr(pure, "_MOST_UNIFORM", 10)
    pennies = np.kron(np.eye(2), np.ones((2, 2)))
    for extra, expected in ((0.0, pure.UNIFORM), (0.01 * np.arange(4), pure.METHOD)):
        game = from_matrices(pennies + extra, -pennies + extra)  # extra: nearly, and not quite
        record = Record(game, 1e-9, None, Progress(100, False))
        list(pure.by_scan(game, record, whole(game)))
        assert record.best().method == expected


def test_what_is_rounding_is_no_part_of_a_product():
    mixed = [np.array([0.5, 0.5, 1e-14]), np.array([1 - 1e-9, 1e-9])]
    found = product(random_game((3, 2)), [np.arange(3), np.arange(2)], mixed)
    assert sorted(map(tuple, found.support.tolist())) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    tiny = [np.array([1 - 1e-7, 1e-7]), np.array([1 - 1e-7, 1e-7])]
    assert len(product(random_game((2, 2)), [np.arange(2)] * 2, tiny).weights) == 3


def test_ctrl_c_is_heard_while_a_programme_is_solved():
    began = time.monotonic()
    threading.Timer(0.2, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        interruptible(lambda: time.sleep(20))
    assert time.monotonic() - began < 15
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 / 0)
    assert interruptible(lambda: 3) == 3


def test_a_start_is_of_the_same_game_beyond_its_support(monkeypatch):
    pays = np.array([[0.0, 7.0], [2.0, 6.0]])
    chicken = from_matrices(pays, pays.T)
    pure_one = verify(chicken, [[0.0, 1.0], [0.0, 0.0]])
    other = from_matrices(pays + [[9.0, 0.0], [0.0, 0.0]], pays.T)
    with pytest.raises(ValueError, match="start must be a profile of the game to solve"):
        solve(other, start=pure_one)
    assert solve(from_matrices(pays, pays.T), start=pure_one).reached
    tables = np.random.default_rng(0).normal(size=(2, 300, 300))
    told = verify(from_matrices(*tables), ([[0, 0]], [1.0]))
    tables[0, 123, 45] += 1
    with pytest.raises(ValueError, match="start must be a profile"):
        solve(from_matrices(*tables), 5.0, start=told)
    monkeypatch.setattr(sys.modules["fullswap.games.game"], "_COMPARED", 0)  # as of a large game
    with pytest.raises(ValueError, match="start must be a profile"):
        solve(other, start=pure_one)
    assert solve(from_matrices(pays, pays.T), start=pure_one).reached

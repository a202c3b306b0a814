"""The race to an equilibrium: gaps are verified, failures shown, baselines correct."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullswap.games import StructuredGame, from_matrices, verify, zoo
from studies import baselines, equilibria, rounds

THREE_BY_TWO = from_matrices([[1, 0], [0, 2], [-1, 1]], np.zeros((3, 2)))
TINY = {
    "chicken": zoo.chicken(),
    "Shapley": zoo.shapley(),
    "3 × 2": THREE_BY_TWO,
    "3 × 5": from_matrices(*np.random.default_rng(3).random((2, 3, 5))),
    "ring 7 × 4": zoo.ring(7, 4),
    "auction": zoo.auction(3, 2),
}


@pytest.mark.parametrize("name", TINY)
def test_dense_blum_mansour_reaches_the_gap_on_tiny_games(name):
    game = TINY[name]
    found = baselines.dense_blum_mansour(game, 0.01, budget=20.0)
    assert found.note == "" and found.rounds >= 1
    assert found.joint.shape == tuple(s.size for s in game.actions)
    assert verify(game, found.joint).gap <= 0.01


def test_dense_blum_mansour_says_when_it_was_stopped():
    game = equilibria.uneven_ring(20, 0)
    found = baselines.dense_blum_mansour(game, 1e-4, 20.0, rounds=50)
    assert found.rounds == 50 and found.note == "stopped after 50 rounds"
    assert verify(game, found.joint).gap > 1e-4
    assert found.joint.sum() == pytest.approx(1)
    spent = baselines.dense_blum_mansour(game, 1e-4, budget=1e-9)
    assert spent.rounds == 1 and spent.note == "stopped after 1e-09 s"


def test_one_round_from_uniform_is_uniform_play():
    found = baselines.dense_blum_mansour(TINY["3 × 5"], 1e-9, 20.0, rounds=1)
    np.testing.assert_allclose(found.joint, np.full((3, 5), 1 / 15))


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 10**6))
def test_the_gap_of_a_table_is_that_of_verify(n, m, seed):
    rng = np.random.default_rng(seed)
    game = from_matrices(*rng.normal(size=(2, n, m)))
    joint = rng.dirichlet(np.full(n * m, 0.3)).reshape(n, m)
    assert baselines.table_gap(game, joint) == pytest.approx(verify(game, joint).gap, abs=1e-12)


def test_the_gap_of_a_table_counts_errors_of_rank():
    rng = np.random.default_rng(0)
    game = from_matrices(*rng.random((2, 4, 6)), rank=2)
    joint = np.full((4, 6), 1 / 24)
    assert max(game.errors) > 0
    assert baselines.table_gap(game, joint) == pytest.approx(verify(game, joint).gap)


@pytest.mark.parametrize("entries", [0, 10**9])
def test_large_tables_are_checked_without_their_rows(monkeypatch, entries):
    monkeypatch.setattr(baselines, "_VERIFIED_ENTRIES", entries)
    assert baselines.checked_gap(THREE_BY_TWO, np.array([[0.5, 0], [0, 0.25], [0, 0.25]])) == 0.25


@given(st.integers(1, 6), st.integers(0, 10**6), st.floats(0.01, 3))
def test_stationary_distributions_are_stationary(n, seed, spread):
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(n, spread), size=n) * (1 - 1e-6) + 1e-6 / n
    found = baselines.stationary(rows, np.full(n, 1 / n))
    assert found.min() >= 0 and found.sum() == pytest.approx(1)
    assert np.abs(found @ rows - found).sum() < 1e-8


def test_slow_chains_are_solved_by_elimination():
    slow = np.array([[1 - 1e-7, 1e-7], [3e-7, 1 - 3e-7]])
    np.testing.assert_allclose(baselines.stationary(slow, np.array([0.0, 1.0])), [0.75, 0.25])
    # two classes: anything stationary will do
    assert baselines.stationary(np.eye(2), np.array([0.5, 0.5])).tolist() == [0.5, 0.5]


def test_the_programme_finds_the_best_equilibrium():
    found = baselines.linear_programme(zoo.chicken(), 5.0)
    np.testing.assert_allclose(found.joint, [[0, 0.25], [0.25, 0.5]], atol=1e-7)
    assert found.note == ""


def test_too_large_games_are_refused_with_the_reason():
    programme = baselines.linear_programme(zoo.ring(300), 5.0)
    assert programme.joint is None and programme.note == "too large: 5.4e+07 constraint entries"
    dense = baselines.dense_blum_mansour(zoo.cournot(grid=100_000), 0.01, 5.0)
    assert dense.joint is None and dense.note.startswith("too large: ") and "GB" in dense.note


@pytest.mark.parametrize("name", equilibria.GAMES)
def test_games_have_about_the_size_asked_for_and_are_fixed_by_the_seed(name):
    for n in (30, 100, 300):
        game, again = equilibria.GAMES[name](n, 5), equilibria.GAMES[name](n, 5)
        assert [s.size for s in game.actions] == [game.actions[0].size] * 2
        assert 0.8 * n <= game.actions[0].size <= 1.2 * n
        rows = np.array([[0, 1], [n // 2, 3], [7, 7]])
        np.testing.assert_array_equal(game.payoffs(rows), again.payoffs(rows))
    other = equilibria.GAMES[name](300, 6).payoffs(rows)
    drawn = name.startswith("random") or name == "ring, uneven"
    assert (other != game.payoffs(rows)).any() == drawn


@pytest.mark.parametrize("name", [g for g in equilibria.GAMES if g != "random, full rank"])
def test_large_games_have_no_matrices(name, monkeypatch):
    def refuse(*_):
        raise AssertionError("a table of the whole game")

    n = equilibria.SIZES[-1]
    game = equilibria.GAMES[name](n, 0)
    assert game.actions[0].size > 60_000 and game.actions[0].dim <= 16
    monkeypatch.setattr(baselines, "matrices", refuse)
    for method in equilibria.BASELINES:
        row = equilibria.timed(name, method, n, 1.0, 0)
        assert "too large" in row["note"]
    row = equilibria.timed(name, "fullswap, auto", n, 60.0, 0)
    assert "note" not in row and row["gap"] <= equilibria.GAP
    assert row["actions"] == game.actions[0].size and row["dim"] == game.actions[0].dim


def test_uniform_play_solves_the_even_ring_only():
    even, uneven = zoo.ring(30), equilibria.uneven_ring(30, 0)
    uniform = np.full((30, 30), 1 / 900)
    assert verify(even, uniform).gap < 1e-12 and verify(uneven, uniform).gap > 0.1


def test_self_play_reaches_the_gap():
    row = equilibria.timed("auction", "fullswap, matching", 100, 30.0, 0)
    assert row["gap"] <= equilibria.GAP and row["rounds"] > 0 and "note" not in row


def test_random_games_of_low_rank_pay_at_most_one():
    game = rounds.random_rank(50, 0)
    assert isinstance(game, StructuredGame) and game.actions[0].dim == 3
    first, second = baselines.matrices(game)
    assert np.linalg.matrix_rank(first) == np.linalg.matrix_rank(second) == 3
    assert np.abs(first).max() <= 1 + 1e-12 and np.abs(second).max() <= 1 + 1e-12

"""The solver: gaps checked by slow loops, known answers, budgets, going on, bad input."""

import contextlib
import sys

import numpy as np
import pytest

from fullswap.base.progress import Progress
from fullswap.games import (
    Curve,
    StructuredGame,
    Vectors,
    from_matrices,
    from_tensor,
    portfolio,
    run,
    verify,
    zoo,
)
from fullswap.games.lp import best_equilibrium
from fullswap.games.portfolio import Member
from fullswap.games.profiles import CorrelatedEquilibrium
from fullswap.games.record import Record
from fullswap.games.search import Search
from fullswap.games.solve import METHODS, solve
from small_games import SMALL, as_table, auction, random_game, ring, slow_gap, whole


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", SMALL)
def test_gap_by_slow_loops(name, method):
    game = SMALL[name]
    if method == "lemke-howson" and game.players > 2:
        pytest.skip("for two players only")
    equilibrium = solve(game, 0.02, method)
    assert equilibrium.reached and equilibrium.gap <= 0.02
    assert equilibrium.weights.sum() == pytest.approx(1) and equilibrium.weights.min() > 0
    assert len(np.unique(equilibrium.support, axis=0)) == len(equilibrium.support)
    assert slow_gap(whole(game), as_table(game, equilibrium)) == pytest.approx(
        equilibrium.gap, abs=1e-9
    )


def test_results_keep_the_gap_asked_for_in_any_unit():
    game = ring(11, 8)
    for unit in (1e-4, 1e5):
        scaled = from_tensor([unit * t + 3 * unit for t in whole(game)])
        for method in ("auto", "matching", "oracle"):
            equilibrium = solve(scaled, 0.01 * unit, method)
            assert equilibrium.reached and equilibrium.gap <= 0.01 * unit


def test_chicken_and_shapley():
    chicken = from_matrices([[0, 7], [2, 6]], [[0, 2], [7, 6]])
    equilibrium = solve(chicken)
    assert equilibrium.method == "lp" and as_table(chicken, equilibrium) == pytest.approx(
        np.array([[0, 0.25], [0.25, 0.5]]), abs=1e-8
    )
    one = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])
    shapley = from_matrices(one, one.T)
    best = solve(shapley)
    assert best.payoffs == pytest.approx([0.5, 0.5], abs=1e-8)
    assert np.diag(as_table(shapley, best)) == pytest.approx(0, abs=1e-8)
    fair = solve(chicken, objective=[0.0, 1.0])
    assert fair.payoffs == pytest.approx([2.0, 7.0])


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("grid", [None, 101])
@pytest.mark.parametrize("method", ["auto", "matching"])
def test_cournot_outputs_tend_to_the_equilibrium(players, grid, method):
    equilibrium = solve(zoo.cournot(players, grid=grid), 1e-5, method)
    assert equilibrium.reached
    outputs = equilibrium.weights @ equilibrium.support / (1 if grid is None else grid - 1)
    assert outputs == pytest.approx(
        1 / (players + 1), abs=0.0125
    )  # a step of the grid, and the gap


@pytest.mark.parametrize("method", ["auto", "matching", "oracle"])
def test_a_hundred_thousand_actions(method):
    equilibrium = solve(ring(100_000), method=method)
    assert equilibrium.reached and equilibrium.rounds < 20_000
    # few actions are ever looked at
    assert all(len(np.unique(equilibrium.support[:, p])) < 200 for p in range(2))


def test_plans_of_an_auction():
    game = auction(16, 4)
    assert game.actions[0].size == 65_536
    for method in ("auto", "matching"):
        equilibrium = solve(game, 0.005, method)
        assert equilibrium.reached and equilibrium.support.dtype.kind == "i"
    small = auction(3, 3)
    equilibrium = solve(small, 0.01, "matching")
    assert slow_gap(whole(small), as_table(small, equilibrium)) <= 0.01


def test_no_equilibrium_of_self_play_beats_the_programme():
    for seed in range(4):
        game = random_game((3, 5), seed)
        best = best_equilibrium(whole(game))
        welfare = sum((best * t).sum() for t in whole(game))
        equilibrium = solve(game, 1e-4, "matching")
        assert equilibrium.reached
        # a gap of g buys at most a little welfare: here far less than 100·g
        assert equilibrium.payoffs.sum() <= welfare + 1e-2
        assert verify(game, best).gap <= 1e-8


def test_same_seed_same_result():
    game = ring(500, 400)
    first, again, other = (solve(game, 0.01, "matching", seed) for seed in (5, 5, 6))
    assert (first.support == again.support).all() and (first.weights == again.weights).all()
    assert first.support.shape != other.support.shape or (first.support != other.support).any()
    generator = np.random.default_rng(5)
    assert (solve(game, 0.01, "matching", generator).support == first.support).all()


def test_budget_of_rounds_and_going_on():
    game = random_game((12, 9), 7)
    early = solve(game, 1e-3, "matching", rounds=40)
    assert early.rounds == 40 and not early.reached and early.gap > 1e-3
    assert verify(game, early).gap == early.gap
    late = solve(game, 1e-3, "matching", start=early)
    assert late.reached and late.gap <= 1e-3 and late.rounds > 40
    # enough already: nothing is played
    same = solve(game, 2 * late.gap, "matching", start=late)
    assert same.rounds == late.rounds and (same.weights == late.weights).all()


def test_going_on_is_never_worse():
    game = random_game((12, 9), 7)
    good = solve(game, 1e-3, "matching")
    worse = solve(game, 1e-12, "matching", start=good, rounds=5)
    assert not worse.reached and worse.gap <= good.gap and worse.rounds == good.rounds + 5
    known = set(map(tuple, good.support.tolist()))
    assert known & set(map(tuple, worse.support.tolist()))


def test_budget_of_time():
    equilibrium = solve(random_game((40, 41)), 1e-13, "matching", seconds=0.05)
    assert not equilibrium.reached and equilibrium.gap < 1
    equilibrium = solve(random_game((60, 61)), 1e-3, "lp", seconds=1e-6)
    assert not equilibrium.reached and equilibrium.weights.sum() == pytest.approx(1)


def test_progress_tells_the_gap(capsys):
    solve(ring(64), 1e-3, "matching", progress=True)
    shown = capsys.readouterr()
    assert shown.out == "" and "gap" in shown.err and "rounds" in shown.err and "100%" in shown.err
    solve(ring(64), 1e-3, "matching")
    assert capsys.readouterr().err == ""


def test_the_bar_fills_as_the_gap_falls(monkeypatch):
    done = []

    class Bar(contextlib.nullcontext):
        def __init__(self, total, wanted, what):
            super().__init__(self)

        def update(self, part, what):
            done.append(part)

    monkeypatch.setattr(sys.modules[solve.__module__], "Progress", Bar)
    solve(random_game((60, 50)), 1e-4, "matching")
    assert done == sorted(done) and done[0] == 0 and done[-1] == 100
    assert any(20 < part < 80 for part in done)


def test_error_of_a_lower_rank_counts():
    rng = np.random.default_rng(2)
    full = np.outer(rng.random(20), rng.random(15)) + 1e-3 * rng.random((20, 15))
    game = from_matrices(full, -full, rank=1)
    error = 2 * max(game.errors)
    assert 0 < error < 0.01
    equilibrium = solve(game, error + 0.01, "matching")
    assert equilibrium.reached and max(g.swap for g in equilibrium.gaps) <= 0.01
    with pytest.raises(ValueError, match="twice the error"):
        solve(game, error)


def test_many_actions_use_steps_of_the_chain():
    # more than 64 actions each: mixtures repaired from the last round
    game = random_game((80, 70), 1)
    equilibrium = solve(game, 0.02, "matching")
    assert equilibrium.reached
    for g in equilibrium.gaps:
        assert g.swap <= 0.02


def test_self_play_reaches_tiny_gaps_by_programmes_on_what_is_played():
    game = from_matrices(*np.random.default_rng(0).random((2, 40, 25)))
    record = Record(game, 1e-7, None, Progress(100, False))
    search = Search(game, record, [np.arange(40), np.arange(25)])
    portfolio.run([Member("play", search.by_self_play(20_000, polish=True))], record)
    assert record.done() and 0 < record.rounds < 10_000
    assert not solve(game, 1e-7, "matching", rounds=record.rounds).reached


@pytest.mark.parametrize("unit", [1e-9, 1e-3, 1e9])
def test_units_of_a_continuum_do_not_matter(unit):
    outputs = Curve.parabola(0.0, unit)

    def against(others):
        return np.column_stack((unit - others[0], np.full(len(others[0]), -1.0)))

    equilibrium = solve(StructuredGame((outputs, outputs), (against, against)), gap=1e-6 * unit**2)
    assert equilibrium.reached
    assert equilibrium.weights @ equilibrium.support[:, 0] == pytest.approx(unit / 3, rel=0.02)


def test_programmes_on_the_whole_game_are_exact_whatever_the_gap():
    rng = np.random.default_rng(3)
    game = from_tensor(rng.normal(size=(3, 5, 4, 3)))
    rough, fine = solve(game, gap=0.5, method="lp"), solve(game, gap=1e-9, method="lp")
    assert rough.gap < 1e-9
    np.testing.assert_allclose(rough.payoffs, fine.payoffs, atol=1e-9)


def test_objectives_hold_with_a_start_a_budget_and_a_continuum():
    chicken = from_matrices([[0, 7], [2, 6]], [[0, 2], [7, 6]])
    pure = verify(chicken, [[0, 1.0], [0, 0]])  # exact, but of less welfare
    assert solve(chicken, objective="welfare", start=pure).payoffs.sum() == pytest.approx(10.5)
    rng = np.random.default_rng(1)
    game = from_matrices(rng.normal(size=(22, 23)), rng.normal(size=(22, 23)))
    least = solve(game, method="lp", objective=[-1, -1]).payoffs.sum()
    equilibrium = solve(game, objective=[-1, -1], rounds=50)
    assert equilibrium.payoffs.sum() == pytest.approx(least, abs=1e-6)
    assert solve(zoo.cournot(2), objective="fair").optimum.searched


def test_a_large_auction_given_as_matrices():
    bids = np.linspace(0, 1, 1_000)
    wins = (bids[:, None] > bids) + 0.5 * (bids[:, None] == bids)
    auction = from_matrices(wins * (1 - bids[:, None]), (1 - wins) * (0.8 - bids))
    equilibrium = solve(auction, gap=0.01, method="matching")
    assert equilibrium.reached and equilibrium.gap <= 0.01


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"gap": 0}, r'gap must be positive \(method="lp" is exact.*got 0'),
        ({"gap": -0.1}, "gap must be"),
        ({"gap": float("nan")}, "gap must be"),
        ({"gap": float("inf")}, "gap must be"),
        ({"gap": "small"}, "gap must be"),
        ({"gap": True}, "gap must be"),
        ({"method": "magic"}, "method must be 'auto', 'matching'"),
        ({"seed": -1}, "seed must be"),
        ({"seed": 1.5}, "seed must be"),
        ({"rounds": 0}, "rounds must be"),
        ({"rounds": 2.0}, "rounds must be"),
        ({"seconds": 0}, "seconds must be"),
        ({"seconds": float("nan")}, "seconds must be"),
        ({"start": [[0.5, 0.5]]}, "start must be"),
        ({"objective": "best"}, "objective must be"),
        (
            {"objective": "fair", "method": "matching"},
            "objective must be None for method='matching'",
        ),
        ({"progress": "yes"}, "progress must be"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        solve(SMALL["2x3"], **arguments)


def test_bad_games():
    with pytest.raises(ValueError, match="from_matrices"):
        solve(np.eye(2))
    with pytest.raises(ValueError, match="matching"):
        solve(ring(1000), method="lp")
    with pytest.raises(ValueError, match="oracle"):
        solve(zoo.cournot(2), method="lp")
    crowd = StructuredGame(
        [Vectors(np.eye(2))] * 24, [lambda others: np.zeros((len(others[0]), 2))] * 24
    )
    with pytest.raises(ValueError, match="game must begin with at most"):
        solve(crowd, method="matching")
    assert solve(crowd).gap == 0
    with pytest.raises(ValueError):
        solve(SMALL["2x3"], start=solve(SMALL["3x5"]))


def test_no_room_for_more_actions_is_told(monkeypatch):
    monkeypatch.setattr("fullswap.games.restricted.MOST_JOINT", 30)
    monkeypatch.setitem(run._INITIAL, "matching", 4)
    with pytest.warns(RuntimeWarning, match="no room"):
        equilibrium = solve(ring(1000), 1e-4, "matching", rounds=2000)
    assert isinstance(equilibrium, CorrelatedEquilibrium) and not equilibrium.reached

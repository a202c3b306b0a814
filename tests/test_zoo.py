"""Named games have the answers that their docstrings state."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog

from fullswap.games import Curve, Vectors, verify, zoo
from fullswap.games.zoo import listing
from fullswap.metrics import calibration_error


def tables(game):
    """Payoff tensors of a finite game."""
    return game.table([np.arange(s.size) for s in game.actions])


def lp(game, weights):
    """Best and worst Σ_i weights[i]·u_i over all correlated equilibria, by the full programme."""
    payoffs = tables(game)
    shape = payoffs[0].shape
    rows = []
    for player, table in enumerate(payoffs):
        own_first = np.moveaxis(table, player, 0)
        for played, instead in itertools.permutations(range(shape[player]), 2):
            row = np.zeros_like(own_first)
            row[played] = own_first[instead] - own_first[played]
            rows.append(np.moveaxis(row, 0, player).ravel())
    total = sum(w * table for w, table in zip(weights, payoffs, strict=True)).ravel()
    extremes = []
    for sign in (-1, 1):
        solution = linprog(
            sign * total, A_ub=np.array(rows), b_ub=np.zeros(len(rows)),
            A_eq=np.ones((1, total.size)), b_eq=[1.0], method="highs",
        )  # fmt: skip
        extremes.append((float(total @ solution.x), solution.x.reshape(shape)))
    return extremes


@pytest.mark.parametrize("name", sorted(set(zoo.GAMES)))
def test_every_game_of_the_list_can_be_checked(name):
    game = zoo.GAMES[name]()
    assert game.players >= 2 and game.name and name in zoo.__all__
    rng = np.random.default_rng(0)
    columns = [s.best(rng.normal(size=(7, s.dim)))[0] for s in game.actions]
    support = np.column_stack(columns)
    checked = verify(game, (support, np.full(7, 1 / 7)))
    assert np.isfinite(checked.payoffs).all() and checked.gap >= 0
    assert all(s.describe(c[0]) for s, c in zip(game.actions, columns, strict=True))


def test_every_game_and_argument_is_described():
    assert list(listing.WORDS) == list(zoo.GAMES)
    for name, make in zoo.GAMES.items():
        found = listing.arguments(name, make)
        assert {argument.name for argument in found} == set(listing.WORDS[name][1])
        make(**{argument.name: argument.default for argument in found})


# --- tables -----------------------------------------------------------------------------------


def test_chicken():
    (best, where), _ = lp(zoo.chicken(), (1, 1))
    assert best == pytest.approx(10.5)
    np.testing.assert_allclose(where, [[0, 0.25], [0.25, 0.5]], atol=1e-9)
    third = np.outer([1 / 3, 2 / 3], [1 / 3, 2 / 3])
    alone = verify(zoo.chicken(), third)
    assert alone.gap == pytest.approx(0, abs=1e-12)
    assert alone.payoffs == pytest.approx([14 / 3, 14 / 3])


def test_shapley():
    game = zoo.shapley()
    (best, _), _ = lp(game, (1, 1))
    assert best == pytest.approx(1.0)
    off = verify(game, (1 - np.eye(3)) / 6)
    assert off.gap == pytest.approx(0, abs=1e-12) and off.payoffs == pytest.approx([0.5, 0.5])
    uniform = verify(game, np.full((3, 3), 1 / 9))
    assert uniform.gap == pytest.approx(0, abs=1e-12)
    assert uniform.payoffs == pytest.approx([1 / 3, 1 / 3])
    first, second = tables(game)
    assert all(first[i, (i + 1) % 3] == 1 == second[i, (i + 2) % 3] for i in range(3))
    assert first.sum() == second.sum() == 3


def test_von_stengel_forges_pays_zero_and_six():
    game = zoo.von_stengel_forges()
    for weights, value in (((1, 0), 0.0), ((0, 1), 6.0)):
        for total, _ in lp(game, weights):
            assert total == pytest.approx(value, abs=1e-7)
    # accept whoever sends X; only the good send X: good for both but a bad one would send X too
    telling = np.zeros((4, 4))
    telling[1, 1] = 1
    assert game.payoffs([[1, 1]]).tolist() == [[2.0, 8.0]]
    assert verify(game, telling).gap == pytest.approx(3.0)


def test_kuhn_poker_pays_minus_one_in_eighteen():
    game = zoo.kuhn_poker()
    first, second = tables(game)
    np.testing.assert_allclose(first, -second, atol=1e-12)
    # max v with xᵀU >= v, x a distribution
    n, m = first.shape
    solution = linprog(
        np.append(np.zeros(n), -1.0),
        A_ub=np.column_stack((-first.T, np.ones(m))), b_ub=np.zeros(m),
        A_eq=np.append(np.ones(n), 0.0)[None], b_eq=[1.0],
        bounds=[(0, None)] * n + [(None, None)],
    )  # fmt: skip
    assert -solution.fun == pytest.approx(-1 / 18)


# --- circles, parabolas, discs ----------------------------------------------------------------


@pytest.mark.parametrize("n, others, shift", [(2, None, 1.0), (5, 3, 0.3), (6, 11, 2.0)])
def test_ring(n, others, shift):
    game = zoo.ring(n, others, shift)
    m = others or n
    alpha, beta = 2 * np.pi * np.arange(n) / n, 2 * np.pi * np.arange(m) / m
    ahead = alpha[:, None] - beta
    first, second = tables(game)
    np.testing.assert_allclose(first, np.cos(ahead - shift), atol=1e-12)
    np.testing.assert_allclose(second, np.cos(-ahead - shift), atol=1e-12)
    uniform = verify(game, np.full((n, m), 1 / (n * m)))
    assert uniform.gap == pytest.approx(0, abs=1e-12)
    assert uniform.payoffs == pytest.approx([0, 0], abs=1e-12)


def test_ring_has_no_pure_equilibrium():
    game = zoo.ring(100, 90, shift=1.0)
    gaps = [verify(game, ([[i, j]], [1.0])).gap for i in range(0, 100, 23) for j in range(90)]
    assert min(gaps) == pytest.approx(1 - math.cos(1.0), abs=0.06)
    first, second = tables(zoo.ring(7, shift=np.pi / 2))
    np.testing.assert_allclose(first, -second, atol=1e-12)


@pytest.mark.parametrize("points", [None, 21])
def test_calibration_gap_is_the_calibration_error(points):
    rng = np.random.default_rng(0)
    game = zoo.calibration_game(points)
    grid = np.linspace(0, 1, 21)
    said = rng.integers(0, 21, size=400)
    happened = (rng.random(400) < grid[said] ** 2).astype(int)
    forecasts = grid[said] if points is None else said
    support = np.column_stack((forecasts, happened))
    checked = verify(game, (support, np.full(400, 1 / 400)))
    error = calibration_error(happened, grid[said], norm="l2") ** 2
    brier = np.mean((grid[said] - happened) ** 2)
    assert checked.payoffs[0] == pytest.approx(-brier) and checked.payoffs[1] == 0
    assert checked.gaps[1].swap == 0
    if points is None:
        assert checked.gaps[0].swap == pytest.approx(error) and error > 0.01
    else:  # only grid points to go to
        assert error - 0.025**2 <= checked.gaps[0].swap <= error


def test_the_best_forecast_is_found_in_every_direction():
    forecasts = zoo.calibration_game().actions[0]
    grid = zoo.calibration_game(2001).actions[0]
    directions = np.random.default_rng(1).normal(size=(500, 2))
    directions[:4] = [[0, 0], [1, 0], [-1, 0], [0, -1]]
    np.testing.assert_allclose(forecasts.best(directions)[1], grid.best(directions)[1], atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_quadratic_2d(seed):
    rng = np.random.default_rng(seed)
    target, coupling = rng.normal(size=(2, 2)), rng.uniform(-0.4, 0.4, size=(2, 2))
    game = zoo.quadratic_2d(target, coupling, radius=10.0)
    x = np.linalg.solve(np.eye(2) - coupling @ coupling.T, target[0] + coupling @ target[1])
    y = target[1] + coupling.T @ x
    disc = game.actions[0]
    pure = np.column_stack((disc.column([x]), disc.column([y])))
    checked = verify(game, (pure, [1.0]))
    assert checked.gap == pytest.approx(0, abs=1e-10)
    paid = [
        (target[0] + coupling @ y) @ x - x @ x / 2,
        (target[1] + coupling.T @ x) @ y - y @ y / 2,
    ]
    assert checked.payoffs == pytest.approx(paid)
    away = np.column_stack((disc.column([x + [1.0, 0.0]]), disc.column([y])))
    assert verify(game, (away, [1.0])).gaps[0].swap == pytest.approx(0.5)  # ‖x − x*‖²/2


# --- markets ----------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("a, b, c", [(1.0, 1.0, 0.0), (10.0, 2.0, 1.0)])
def test_cournot(players, a, b, c):
    game = zoo.cournot(players, a, b, c)
    q = (a - c) / (b * (players + 1))
    assert verify(game, ([[q] * players], [1.0])).gap == pytest.approx(0, abs=1e-12)
    paid = verify(game, ([[q] * players], [1.0])).payoffs
    assert paid == pytest.approx([b * q * q] * players)
    assert verify(game, ([[q + 0.1] * players], [1.0])).gap > 1e-3


def test_cournot_with_different_costs_and_payoffs_by_hand():
    costs = np.array([0.0, 0.2, 0.1])
    game = zoo.cournot(3, 2.0, 0.5, costs)
    answer = ((2.0 + costs.sum()) / 4 - costs) / 0.5
    assert verify(game, ([answer], [1.0])).gap == pytest.approx(0, abs=1e-12)
    outputs = np.array([0.1, 0.7, 1.3])
    assert game.payoffs([outputs])[0] == pytest.approx(outputs * (2.0 - 0.5 * 2.1 - costs))


def test_cournot_on_a_grid():
    game = zoo.cournot(2, grid=31)
    assert isinstance(game.actions[0], Vectors) and game.actions[0].size == 31
    assert verify(game, ([[10, 10]], [1.0])).gap == pytest.approx(0, abs=1e-15)
    assert game.actions[0].describe(15) == "0.5"
    assert isinstance(zoo.cournot(2).actions[0], Curve)
    fine = zoo.cournot(3, grid=100_001)
    assert verify(fine, ([[25_000] * 3], [1.0])).gap == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("delays", [(0.0, 1.0), (0.5, 0.0), (9.0, 0.0), (0.0, 9.0)])
def test_routing(players, delays):
    (a1, a2), (b1, b2), r = delays, (2.0, 1.0), 1.5
    game = zoo.routing(players, r, delays, (b1, b2))
    k = players
    x = np.clip((a2 - a1 + b2 * (k + 1) * r) / ((b1 + b2) * (k + 1)), 0, r)
    checked = verify(game, ([[x] * k], [1.0]))
    assert checked.gap == pytest.approx(0, abs=1e-12)
    split = np.linspace(0.2, 1.0, k)
    first, second = split.sum(), (r - split).sum()
    delay = split * (a1 + b1 * first) + (r - split) * (a2 + b2 * second)
    assert game.payoffs([split])[0] == pytest.approx(-delay)


def test_bayesian_cournot():
    game = zoo.bayesian_cournot()
    assert verify(game, ([[180, 180]], [1.0])).gap == 0.0
    assert game.actions[0].describe(180) == "(3.5, 2.5)"
    costs, chances = np.array([0.0, 3.0, 6.0]), np.array([0.5, 0.25, 0.25])
    game = zoo.bayesian_cournot(13, 12.0, 1.0, costs, chances)
    plans = game.actions[0]
    assert plans.size == 13**3 and plans.dim == 6
    levels = np.linspace(0, 12, 13)
    rng = np.random.default_rng(0)
    for i, j in rng.integers(0, plans.size, size=(5, 2)):
        mine, theirs = (levels[plans.choices(np.array([p]))[0]] for p in (i, j))
        paid = sum(
            p * s * q * (12 - c - q - other)
            for p, c, q in zip(chances, costs, mine, strict=True)
            for s, other in zip(chances, theirs, strict=True)
        )
        assert game.payoffs([[i, j]])[0, 0] == pytest.approx(paid)
    mean = (12 - costs @ chances) / 3
    outputs = (12 - costs - mean) / 2
    nearest = np.round(outputs).astype(int) @ [169, 13, 1]
    rounded = verify(game, ([[nearest, nearest]], [1.0])).gap
    assert rounded <= 1.0  # within half a step of the answer: (½)² and twice the mean shift


def by_hand(offers, worth, chances, mine, theirs):
    """Expected payoff of a bidder, by going through all pairs of values."""
    total = 0.0
    for k, p in enumerate(chances):
        for other, s in zip(theirs, chances, strict=True):
            win = 1.0 if mine[k] > other else 0.5 if mine[k] == other else 0.0
            total += p * s * win * (worth[k] - offers[mine[k]])
    return total


def test_auction_payoffs_by_hand():
    offers, worth, chances = [0.0, 0.1, 0.4, 0.5], [0.3, 0.6, 1.0], [0.2, 0.5, 0.3]
    game = zoo.auction(offers, worth, chances)
    plans = game.actions[0]
    assert (plans.size, plans.dim) == (64, 4)
    table = tables(game)[0]
    for i, j in itertools.product(range(0, 64, 5), range(0, 64, 7)):
        mine, theirs = plans.choices(np.array([i, j]))
        assert table[i, j] == pytest.approx(by_hand(offers, worth, chances, mine, theirs))
    np.testing.assert_allclose(tables(game)[1], table.T)


@pytest.mark.parametrize("bids, values", [(2, 2), (4, 4), (7, 3), (16, 4), (8, 8)])
def test_bidding_half_the_value_is_an_equilibrium(bids, values):
    game = zoo.auction(bids, values)
    half = sum(k * bids ** (values - 1 - k) for k in range(values))
    assert game.actions[0].size == bids**values and game.actions[0].dim == bids
    assert verify(game, ([[half, half]], [1.0])).gap == pytest.approx(0, abs=1e-15)
    top = bids**values - 1
    assert verify(game, ([[top, top]], [1.0])).gap > 0.01  # also what is worth nothing


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make, arguments",
    [
        (zoo.ring, {"n": 1}), (zoo.ring, {"n": 2.5}), (zoo.ring, {"others": 0}),
        (zoo.ring, {"shift": math.nan}), (zoo.calibration_game, {"points": 1}),
        (zoo.calibration_game, {"points": True}), (zoo.cournot, {"players": 1}),
        (zoo.cournot, {"demand": -1.0}), (zoo.cournot, {"slope": 0.0}),
        (zoo.cournot, {"cost": [1.0, 2.0, 3.0]}), (zoo.cournot, {"cost": "x"}),
        (zoo.cournot, {"cost": math.inf}), (zoo.cournot, {"grid": 1}),
        (zoo.routing, {"slopes": (1.0, 0.0)}),
        (zoo.routing, {"delays": (1.0, 2.0, 3.0)}), (zoo.routing, {"traffic": 0}),
        (zoo.bayesian_cournot, {"chances": [0.5, 0.6]}), (zoo.bayesian_cournot, {"costs": []}),
        (zoo.bayesian_cournot, {"chances": [1.0]}), (zoo.auction, {"bids": [0.2, 0.1]}),
        (zoo.auction, {"values": 1}), (zoo.auction, {"bids": 0}),
        (zoo.auction, {"chances": [1.0, 0.0, 0.0, 0.0]}),
        (zoo.quadratic_2d, {"coupling": np.eye(2)}), (zoo.quadratic_2d, {"target": [[1.0, 2.0]]}),
        (zoo.quadratic_2d, {"radius": -1.0}),
    ],
)  # fmt: skip
def test_bad_arguments(make, arguments):
    with pytest.raises(ValueError, match=next(iter(arguments))):
        make(**arguments)

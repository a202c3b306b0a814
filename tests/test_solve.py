"""The solver: gaps checked by slow loops, known answers, budgets, going on, bad input."""

import itertools
import json
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullswap.games.actions import ActionSet, Curve, Product, Vectors
from fullswap.games.game import StructuredGame, from_matrices, from_tensor
from fullswap.games.lp import best_equilibrium
from fullswap.games.profiles import CorrelatedEquilibrium
from fullswap.games.regions import Region
from fullswap.games.restricted import Restricted, initial_actions, stack
from fullswap.games.selfplay import SelfPlay, joint_play
from fullswap.games.solve import METHODS, solve
from fullswap.games.verify import verify
from fullswap.sets import Ball
from test_lp import slow_gap

SELF_PLAY = ("matching", "optimistic", "weights")


def ring(n, others=None, shifts=(0.7, -1.9)):
    """u_1 = cos(θ_i − θ_j + φ), u_2 = cos(θ_i − θ_j + ψ): no pure equilibrium, rank 2."""
    first = 2 * np.pi * np.arange(n) / n
    second = 2 * np.pi * np.arange(others or n) / (others or n)

    def circle(angle):
        return np.column_stack((np.cos(angle), np.sin(angle)))

    return StructuredGame.from_embeddings(
        circle(first), circle(second - shifts[0]), circle(first + shifts[1]), circle(second)
    )


def cournot(players, grid=None):
    """Outputs in [0, 1], price 1 − total: equilibrium q* = 1/(players + 1)."""
    outputs = None if grid is None else np.linspace(0, 1, grid)
    if outputs is None:
        sets = [Curve.parabola(0.0, 1.0)] * players
    else:
        sets = [Vectors(np.column_stack((outputs, outputs**2)))] * players

    def against(others):
        total = sum(column if outputs is None else outputs[column] for column in others)
        return np.column_stack((1 - total, -np.ones_like(total)))

    return StructuredGame(sets, [against] * players, "Cournot")


def auction(bids, values):
    """First-price auction: a plan bids for each of equally likely private values."""
    amounts, worth = np.arange(bids) / bids, (np.arange(values) + 1.0) / values
    plans = Product([Vectors(np.eye(bids)) for _ in range(values)])

    def against(others):
        choices = plans.choices(others[0])
        share = np.stack([(choices == b).mean(axis=1) for b in range(bids)], axis=1)
        wins = np.cumsum(share, axis=1) - share / 2
        surplus = worth[:, None] - amounts
        return (surplus * wins[:, None, :] / values).reshape(len(choices), -1)

    return StructuredGame([plans, plans], [against, against], "auction")


def whole(game):
    return game.table([np.arange(s.size) for s in game.actions])


def as_table(game, found):
    table = np.zeros([s.size for s in game.actions])
    np.add.at(table, tuple(found.support.astype(int).T), found.weights)
    return table


def random_game(shape, seed=0):
    return from_tensor(np.random.default_rng(seed).random((len(shape), *shape)))


SMALL = {
    "2x3": random_game((2, 3)),
    "3x5": random_game((3, 5), 1),
    "1x4": random_game((1, 4), 2),
    "2x3x4": random_game((2, 3, 4), 3),
    "2x2x2x3": random_game((2, 2, 2, 3), 4),
    "ring 9x7": ring(9, 7),
    "constant": from_matrices(np.full((2, 3), 5.0), np.zeros((2, 3))),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", SMALL)
def test_gap_by_slow_loops(name, method):
    game = SMALL[name]
    found = solve(game, 0.02, method)
    assert found.reached and found.gap <= 0.02
    assert found.weights.sum() == pytest.approx(1) and found.weights.min() > 0
    assert len(np.unique(found.support, axis=0)) == len(found.support)
    assert slow_gap(whole(game), as_table(game, found)) == pytest.approx(found.gap, abs=1e-9)


def test_results_keep_the_gap_asked_for_in_any_unit():
    game = ring(11, 8)
    for unit in (1e-4, 1e5):
        scaled = from_tensor([unit * t + 3 * unit for t in whole(game)])
        for method in ("auto", "matching", "optimistic", "oracle"):
            found = solve(scaled, 0.01 * unit, method)
            assert found.reached and found.gap <= 0.01 * unit


def test_chicken_and_shapley():
    chicken = from_matrices([[0, 7], [2, 6]], [[0, 2], [7, 6]])
    found = solve(chicken)
    assert found.method == "lp" and as_table(chicken, found) == pytest.approx(
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
    found = solve(cournot(players, grid), 1e-5, method)
    assert found.reached
    outputs = found.weights @ found.support / (1 if grid is None else grid - 1)
    assert outputs == pytest.approx(1 / (players + 1), abs=0.0101)  # one step of the grid


@pytest.mark.parametrize("method", ["auto", "matching", "optimistic", "oracle"])
def test_a_hundred_thousand_actions(method):
    found = solve(ring(100_000), method=method)
    assert found.reached and found.rounds < 20_000
    # few actions are ever looked at
    assert all(len(np.unique(found.support[:, p])) < 200 for p in range(2))


def test_the_paper_s_weights_solve_a_large_ring():
    assert solve(ring(3000, 2000), 0.05, "weights").reached


def test_plans_of_an_auction():
    game = auction(16, 4)
    assert game.actions[0].size == 65_536
    for method in ("auto", "matching"):
        found = solve(game, 0.005, method)
        assert found.reached and found.support.dtype.kind == "i"
    small = auction(3, 3)
    found = solve(small, 0.01, "matching")
    assert slow_gap(whole(small), as_table(small, found)) <= 0.01


def test_no_equilibrium_of_self_play_beats_the_programme():
    for seed in range(4):
        game = random_game((3, 5), seed)
        best = best_equilibrium(whole(game))
        welfare = sum((best * t).sum() for t in whole(game))
        for method in ("matching", "optimistic"):
            found = solve(game, 1e-4, method)
            assert found.reached
            # a gap of g buys at most a little welfare: here far less than 100·g
            assert found.payoffs.sum() <= welfare + 1e-2
        assert verify(game, best).gap <= 1e-8


def test_optimistic_play_needs_far_fewer_rounds():
    game = random_game((12, 9), 7)
    rounds = [solve(game, 0.01, method).rounds for method in SELF_PLAY]
    assert 5 * rounds[0] < rounds[2] and 5 * rounds[1] < rounds[2]


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
    worse = solve(game, 1e-12, "weights", start=good, rounds=5)
    assert not worse.reached and worse.gap <= good.gap and worse.rounds == good.rounds + 5
    known = set(map(tuple, good.support.tolist()))
    assert known & set(map(tuple, worse.support.tolist()))


def test_budget_of_time():
    found = solve(random_game((40, 41)), 1e-13, "weights", seconds=0.05)
    assert not found.reached and found.gap < 1
    found = solve(random_game((60, 61)), 1e-3, "lp", seconds=1e-6)
    assert not found.reached and found.weights.sum() == pytest.approx(1)


def test_progress_tells_the_gap(capsys):
    solve(ring(64), 1e-3, "matching", progress=True)
    told = capsys.readouterr()
    assert told.out == "" and "gap" in told.err and "rounds" in told.err
    solve(ring(64), 1e-3, "matching")
    assert capsys.readouterr().err == ""


def test_error_of_a_lower_rank_counts():
    rng = np.random.default_rng(2)
    full = np.outer(rng.random(20), rng.random(15)) + 1e-3 * rng.random((20, 15))
    game = from_matrices(full, -full, rank=1)
    error = 2 * max(game.errors)
    assert 0 < error < 0.01
    found = solve(game, error + 0.01, "matching")
    assert found.reached and max(g.swap for g in found.gaps) <= 0.01
    with pytest.raises(ValueError, match="twice the error"):
        solve(game, error)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"gap": 0}, 'gap must be a finite number > 0, got 0.*method="lp"'),
        ({"gap": -0.1}, "gap must be"),
        ({"gap": float("nan")}, "gap must be"),
        ({"gap": float("inf")}, "gap must be"),
        ({"gap": "small"}, "gap must be"),
        ({"gap": True}, "gap must be"),
        ({"method": "magic"}, "method must be one of auto, matching"),
        ({"seed": -1}, "seed must be"),
        ({"seed": 1.5}, "seed must be"),
        ({"rounds": 0}, "rounds must be"),
        ({"rounds": 2.0}, "rounds must be"),
        ({"seconds": 0}, "seconds must be"),
        ({"seconds": float("nan")}, "seconds must be"),
        ({"start": [[0.5, 0.5]]}, "start must be"),
        ({"objective": "best"}, "objective must be"),
        ({"objective": "fair", "method": "matching"}, "objective is for"),
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
        solve(cournot(2), method="lp")
    with pytest.raises(ValueError, match="too large"):
        solve(
            StructuredGame(
                [Vectors(np.eye(2))] * 24, [lambda others: np.zeros((len(others[0]), 2))] * 24
            )
        )
    with pytest.raises(ValueError):
        solve(SMALL["2x3"], start=solve(SMALL["3x5"]))


def test_no_room_for_more_actions_is_told(monkeypatch):
    monkeypatch.setattr("fullswap.games.restricted.MOST_JOINT", 30)
    # the package's name ``solve`` is the function, which hides the module
    monkeypatch.setitem(sys.modules[solve.__module__]._INITIAL, "matching", 4)
    with pytest.warns(RuntimeWarning, match="no room"):
        found = solve(ring(1000), 1e-4, "matching", rounds=2000)
    assert isinstance(found, CorrelatedEquilibrium) and not found.reached


def test_active_actions_are_merged_and_keep_their_places():
    game = cournot(2)
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
        assert active.joint(profile) == pytest.approx(joint)


def test_light_joint_actions_are_left_out():
    game = SMALL["2x3"]
    active = Restricted(game, [np.arange(2), np.arange(3)])
    joint = np.array([[0.5, 0.02, 0.0], [0.3, 0.03, 0.15]])
    assert len(active.profile(joint, 0.0).weights) == 5
    kept = active.profile(joint, 0.06)
    assert kept.support.tolist() == [[0, 0], [1, 0], [1, 2]]
    assert kept.weights == pytest.approx(np.array([0.5, 0.3, 0.15]) / 0.95)


def test_long_numbers_beside_parameters_stay_exact():
    rows = stack([np.array([2**60 + 1]), np.array([0.5])])
    assert rows[0, 0] == 2**60 + 1 and rows[0, 1] == 0.5
    assert stack([np.array([3]), np.array([0.5])]).dtype == float


@given(
    shape=st.lists(st.integers(1, 4), min_size=2, max_size=4).map(tuple),
    rule=st.sampled_from(SELF_PLAY),
    seed=st.integers(0, 1000),
)
def test_self_play_is_blum_mansour(shape, rule, seed):
    """Rounds of the kernel are stationary, and payoffs are those of the tensors."""
    game = random_game(shape, seed)
    active = Restricted(game, [np.arange(k) for k in shape])
    play = SelfPlay(active, rule)
    for _ in range(4):
        play.play(1)
        for p, k in enumerate(shape):
            x, rows = play._mixed[p, :k], play._rows[p, :k, :k]
            assert rows.sum(axis=1) == pytest.approx(1) and x.sum() == pytest.approx(1)
            assert x @ rows == pytest.approx(x, abs=1e-9)
            unit = 1.0 if rule == "matching" else active.ranges[p]
            table = np.moveaxis((active.tables[p] - active.tables[p].min()) / unit, p, 0)
            for other, n in reversed([(q, n) for q, n in enumerate(shape) if q != p]):
                table = table @ play._mixed[other, :n]
            assert play._last[p, :k] == pytest.approx(table)
    assert play.average().sum() == pytest.approx(1) and play.average().shape == shape


def test_rounds_in_one_call_or_many_are_the_same():
    shape = (3, 4)
    game = random_game(shape, 9)
    plays = [SelfPlay(Restricted(game, [np.arange(k) for k in shape]), "matching") for _ in "ab"]
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


def test_many_actions_use_steps_of_the_chain():
    # more than 64 actions each: mixtures repaired from the last round
    game = random_game((80, 70), 1)
    found = solve(game, 0.02, "matching")
    assert found.reached
    for g in found.gaps:
        assert g.swap <= 0.02


def test_auto_reaches_tiny_gaps_by_programmes_on_what_is_played():
    game = from_matrices(*np.random.default_rng(0).random((2, 40, 25)))
    found = solve(game, 1e-7, seed=0)
    assert found.reached and 0 < found.rounds < 10_000
    assert not solve(game, 1e-7, "matching", rounds=found.rounds).reached


class _Triangle(ActionSet):
    """A set of a user's own, which says only what it must."""

    dim, size = 2, 3
    corners = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])

    def embed(self, actions):
        return self.corners[actions]

    def best(self, directions):
        products = directions @ self.corners.T
        return products.argmax(axis=1), products.max(axis=1)


def test_own_action_sets_need_embed_and_best_only():
    own = _Triangle()
    game = StructuredGame((own, own), [lambda others: 1 - own.embed(others[0])] * 2)
    found = solve(game, gap=1e-6)
    table = game.table([np.arange(3)] * 2)
    joint = np.zeros((3, 3))
    np.add.at(joint, tuple(found.support.T), found.weights)
    assert abs(slow_gap(table, joint) - found.gap) < 1e-12 and found.gap <= 1e-6
    with pytest.raises(ValueError, match="must lie between 0 and 2"):
        verify(game, ([[0, 3]], [1.0]))


@pytest.mark.parametrize("shape", [(12, 9), (4, 5, 3)])
def test_verify_by_blocks_agrees_with_loops(shape, monkeypatch):
    rng = np.random.default_rng(8)
    payoffs = rng.normal(size=(len(shape), *shape))
    joint = rng.dirichlet(np.full(np.prod(shape), 0.2)).reshape(shape)
    game = from_tensor(payoffs)
    whole = verify(game, joint)
    for module in ("verify", "game"):  # functions of the same name hide the modules
        monkeypatch.setattr(sys.modules[f"fullswap.games.{module}"], "BLOCK", 50)
    checked = verify(game, joint)
    assert abs(checked.gap - slow_gap(list(payoffs), joint)) < 1e-12
    assert abs(checked.gap - whole.gap) < 1e-12
    expected = (payoffs * joint).sum(axis=tuple(range(1, len(shape) + 1)))
    np.testing.assert_allclose(checked.payoffs, expected, atol=1e-12)


def test_verify_forms_payoff_vectors_once_for_what_the_others_do():
    asked = []
    n = 60

    def against(others):
        asked.append(len(others[0]))
        return np.ones((len(others[0]), 2))

    game = StructuredGame([Vectors(np.eye(n)[:, :2])] * 2, [against] * 2)
    verify(game, np.full((n, n), 1 / n**2))
    assert sum(asked) == 2 * n


@pytest.mark.parametrize("answer", [0.0, 7.0, np.nan])
def test_verify_refuses_maximisers_that_are_none(answer):
    curve = Curve(
        0.0,
        1.0,
        lambda t: np.column_stack((t, t * t)),
        lambda directions: np.full(len(directions), answer),
    )
    game = StructuredGame((curve, curve), [lambda others: np.tile([1.0, -1.0], (1, 1))] * 2)
    with pytest.raises(ValueError, match=r"actions\[0\].best must give the largest payoff"):
        verify(game, ([[0.5, 0.5]], [1.0]))


def test_profiles_of_points_and_numbers_by_hand():
    disc, corners = Region(Ball([0.0, 0.0], 1.0)), Vectors([[1.0, 0.0], [0.0, 1.0]])
    game = StructuredGame(
        (disc, corners),
        (lambda others: corners.embed(others[0]), lambda others: -disc.points(others[0])),
    )
    # told (0, 0) against the first corner: (1, 0) gains 1; the second player is indifferent
    checked = verify(game, ([[(0.0, 0.0), 0]], [1.0]))
    assert checked.gap == 1.0 and checked.gaps[0].deviations[0] == (1.0, 0.0)
    both = StructuredGame((disc, disc), [lambda others: disc.points(others[0])] * 2)
    assert verify(both, (np.array([[[0.6, 0.8], [0.6, 0.8]]]), [1.0])).gap == pytest.approx(0.0)
    found = solve(game, gap=1e-3)
    told = json.loads(found.to_json())
    assert verify(game, (told["support"], told["weights"])).gap == found.gap
    with pytest.raises(ValueError, match="an action of each of 2 players"):
        verify(game, ([[(0.0, 0.0), 0, 1]], [1.0]))


def test_tables_may_be_tuples():
    chicken = from_matrices([[0, 7], [2, 6]], [[0, 2], [7, 6]])
    assert verify(chicken, ((0, 0.25), (0.25, 0.5))).gap == 0.0
    with pytest.raises(ValueError, match="profile must be a tuple"):
        verify(chicken, [[[0, 1], [1, 0]], [0.5, 0.5]])


@pytest.mark.parametrize("unit", [1e-9, 1e-3, 1e9])
def test_units_of_a_continuum_do_not_matter(unit):
    outputs = Curve.parabola(0.0, unit)

    def against(others):
        return np.column_stack((unit - others[0], np.full(len(others[0]), -1.0)))

    found = solve(StructuredGame((outputs, outputs), (against, against)), gap=1e-6 * unit**2)
    assert found.reached
    assert found.weights @ found.support[:, 0] == pytest.approx(unit / 3, rel=0.02)


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
    found = solve(game, objective=[-1, -1], rounds=50)
    assert found.payoffs.sum() == pytest.approx(least, abs=1e-6)
    assert solve(cournot(2), objective="fair").method == "oracle"


@pytest.mark.parametrize("errors", [[-1.0, 0.0], [np.nan, 0.0], [0.1], []])
def test_bad_errors(errors):
    sets = [Vectors(np.eye(2))] * 2
    with pytest.raises(ValueError, match="errors must be 2 finite numbers >= 0"):
        StructuredGame(sets, [lambda others: np.eye(2)[others[0]]] * 2, errors=errors)


def test_bad_payoffs_and_samples():
    with pytest.raises(ValueError, match="payoffs must be numbers"):
        from_tensor([[[1, 2], [3]], [[1, 2], [3, 4]]])
    with pytest.raises(ValueError, match="payoffs must be numbers"):
        from_tensor(np.full((2, 2, 2), 1j))
    with pytest.raises(ValueError, match="A must be numbers"):
        from_matrices(np.full((2, 2), 1j), np.eye(2))
    assert from_matrices(np.eye(3), np.eye(3), rank=np.int64(2)).actions[0].dim == 2
    with pytest.raises(ValueError, match="size must be a whole number >= 0"):
        solve(from_matrices(np.eye(2), np.eye(2))).sample(-1)


def test_a_large_auction_given_as_matrices():
    bids = np.linspace(0, 1, 3_000)
    wins = (bids[:, None] > bids) + 0.5 * (bids[:, None] == bids)
    auction = from_matrices(wins * (1 - bids[:, None]), (1 - wins) * (0.8 - bids))
    found = solve(auction, gap=0.01, method="matching")
    assert found.reached and found.gap <= 0.01


def test_nothing_was_asked_of_a_profile_made_by_hand():
    chicken = from_matrices([[0, 7], [2, 6]], [[0, 2], [7, 6]])
    assert verify(chicken, [[1.0, 0.0], [0.0, 0.0]]).reached is None
    assert verify(chicken, solve(chicken)).reached is True

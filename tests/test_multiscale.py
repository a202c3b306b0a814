"""Multi-scale binning: games of value at most 0, exact weights, laws, and its guarantee."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from fullswap import FullSwapLearner, losses, sets, simulate
from fullswap.adversaries import ADVERSARIES, all_adversaries
from fullswap.learners.multiscale import MOST_CELLS, MultiScale, default_cells, solve_by_highs
from fullswap.losses import LossClass
from fullswap.template.convex import MultiScaleRule, law_of, one_sided_slopes
from fullswap.theorems import (
    CITATIONS,
    CONVEX,
    LEDGER,
    THEOREMS,
    Binned,
    Constants,
    multiscale_cost,
    multiscale_rates,
)

UNIT, CONVEX_LOSSES = sets.Interval(0.0, 1.0), LossClass(lipschitz=1.0, convex=True)


def convex_learner(action_set=UNIT, promised=CONVEX_LOSSES, horizon=100, **options):
    return FullSwapLearner(action_set, promised, horizon, row="convex", **options)


def absolute(center, scale=1.0, gradient=True):
    return losses.Custom(
        lambda x: scale * np.abs(x[:, 0] - center),
        (lambda x: scale * np.sign(x - center)) if gradient else None,
    )


def random_law(rng, cells):
    """P(v < x), P(v ≤ x) of a few atoms, many of them on the grid and at the ends."""
    atoms = rng.choice([0.0, 1.0, 0.5, rng.random(), rng.integers(cells + 1) / cells], 3)
    chances = rng.dirichlet(np.full(3, 0.5))
    grid = np.arange(cells + 1) / cells
    below = (chances * (atoms < grid[:, None])).sum(axis=1)
    up_to = (chances * (atoms <= grid[:, None])).sum(axis=1)
    return np.clip(below, 0, 1), np.clip(up_to, 0, 1), atoms, chances


def promises(scale, place, gamma, v):
    """h_ξ(v) of one bin, written out."""
    b, r = place * gamma, scale * gamma
    far, near = 0.5 - gamma / (4 * r), 0.5 - gamma / (2 * r)
    return np.array(
        [(v > b + 2 * r) - far, (v < b - 2 * r) - far, near - (v >= b), near - (v <= b)]
    )


def mean_of(scale, place, cells):
    return lambda v, chance: chance * promises(scale, place, 1 / cells, v)


# --- the game -------------------------------------------------------------------------------


@settings(max_examples=25)
@given(st.sampled_from([2, 4, 8, 16]), st.integers(0, 10_000), st.floats(0.0, 12.0))
def test_value_is_at_most_zero_for_any_weights(cells, seed, spread):
    rng = np.random.default_rng(seed)
    for coarsest_first in (True, False):
        binning = MultiScale(cells, 100, coarsest_first)
        binning.logs[:] = rng.uniform(-spread, 0.0, binning.logs.shape)
        binning.logs[rng.random(binning.logs.shape) < 0.3] = -60.0
        binning.mix()
        assert binning.value <= 1e-9
        # the same mixture against every outcome, on the grid and between its points
        gamma, weights = 1 / cells, np.exp(binning.logs)
        weights /= weights.max()
        for v in np.arange(2 * cells + 1) * gamma / 2:
            total = sum(
                share * weights[i] @ promises(binning.scales[i], binning.places[i], gamma, v)
                for i, share in enumerate(binning.shares)
                if share
            )
            assert total <= 1e-8


@settings(max_examples=25)
@given(st.sampled_from([4, 8, 16]), st.integers(0, 10_000))
def test_game_over_all_bins_is_solved_to_the_optimum(cells, seed):
    rng = np.random.default_rng(seed)
    binning = MultiScale(cells, 100, coarsest_first=False)
    binning.logs[:] = rng.uniform(-4.0, 0.0, binning.logs.shape)
    binning.mix()
    _, best = solve_by_highs(binning.game())
    assert binning.value == pytest.approx(best, abs=1e-7)
    assert binning.value == pytest.approx((binning.game() @ binning.shares).max(), abs=1e-12)


def test_coarsest_first_stays_coarse_while_it_can_and_refines_when_it_must():
    cells = 32
    grid = np.arange(cells + 1) / cells
    binning = MultiScale(cells, 1000)
    binning.mix()
    assert binning.finest == 1.0
    for _ in range(1000):
        binning.learn((grid > 0.40625) * 1.0, (grid >= 0.40625) * 1.0)
    indices, _ = binning.mix()
    assert binning.finest <= 1 / 8
    assert np.abs(indices / cells - 0.40625).max() <= 1 / 8


def test_failure_of_the_simplex_method_is_mended_by_the_second_solver(monkeypatch):
    binning = MultiScale(8, 100)
    monkeypatch.setattr(
        "fullswap.kernels.multiscale.choose", lambda *args: (float("nan"), len(args[2]) - 1)
    )
    _, weights = binning.mix()
    assert binning.value <= 1e-9 and weights.sum() == pytest.approx(1.0)


# --- weights and rewards --------------------------------------------------------------------


@settings(max_examples=25)
@given(st.sampled_from([2, 4, 8]), st.integers(0, 10_000))
def test_weights_and_rewards_equal_the_slow_computation(cells, seed):
    rng = np.random.default_rng(seed)
    rounds = 30
    binning = MultiScale(cells, rounds)
    history = []
    for _ in range(rounds):
        below, up_to, atoms, chances = random_law(rng, cells)
        binning.mix()
        shares = binning.shares.copy()
        binning.learn(below, up_to)
        bins = zip(binning.scales, binning.places, shares, strict=True)
        history.append(
            [share * sum(map(mean_of(r, b, cells), atoms, chances)) for r, b, share in bins]
        )
    rewards = np.array(history)
    total, squares = rewards.sum(axis=0), np.square(rewards).sum(axis=0)
    np.testing.assert_allclose(binning.state, np.stack((total, squares), axis=2), atol=1e-9)
    slow = sum(e * np.exp(e * total - e * e * squares) for e in binning.rates)
    np.testing.assert_allclose(binning.weights(), slow / slow.max(), rtol=1e-7)


@pytest.mark.parametrize("name", ["one_bin", "greedy", "convex_lipschitz", "boundary"])
def test_no_promise_fails_by_more_than_the_potential_allows(name):
    rounds = 400
    learner = convex_learner(horizon=rounds)
    simulate(learner, ADVERSARIES[name](UNIT, CONVEX_LOSSES), rounds, progress=False)
    binning = learner._rule.binning
    total, squares = binning.state[..., 0, None], binning.state[..., 1, None]
    cost = np.log(total.size * binning.rates.size) / binning.rates + binning.rates * squares
    assert (total <= cost).all()
    # the potential itself never grows (up to the tolerance of the solver)
    potential = np.exp(binning.rates * total - binning.rates**2 * squares).sum()
    assert potential <= total.size * binning.rates.size * (1 + 1e-6)


# --- mixtures -------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.sampled_from([1 / 4, 1 / 16, 1 / 64]))
def test_mixture_is_a_distribution_on_the_grid(seed, gamma):
    rng = np.random.default_rng(seed)
    low, side = rng.normal(), 10 ** rng.uniform(-2, 2)
    interval = sets.Interval(low, low + side)
    learner = convex_learner(interval, mesh=gamma * side)
    for _ in range(15):
        mixture = learner.play()
        assert mixture.weights.sum() == pytest.approx(1.0, abs=1e-12)
        assert (mixture.weights > 0).all()
        np.testing.assert_array_equal(mixture.points, learner.points[mixture.indices])
        steps = (mixture.points[:, 0] - low) / (gamma * side)
        np.testing.assert_allclose(steps, np.round(steps), atol=1e-6)
        assert learner._rule.binning.value <= 1e-9
        learner.observe(absolute(low + side * rng.random()))
    assert learner.rounds == 15 and learner.mesh == pytest.approx(gamma * side)


@pytest.mark.parametrize("low, side, slope", [(-3.0, 8.0, 0.25), (5e4, 0.5, 64.0)])
def test_scaling_and_translation_change_nothing_but_the_units(low, side, slope):
    rng = np.random.default_rng(3)
    plain = convex_learner(horizon=200)
    moved = convex_learner(
        sets.Interval(low, low + side), LossClass(lipschitz=slope, convex=True), 200
    )
    for t in range(200):
        first, second = plain.play(), moved.play()
        np.testing.assert_array_equal(first.indices, second.indices)
        np.testing.assert_allclose(first.weights, second.weights, atol=1e-6)
        np.testing.assert_allclose(low + side * first.points, second.points, rtol=1e-12)
        center = rng.integers(256) / 256
        if t % 3:
            plain.observe(absolute(center))
            moved.observe(absolute(low + side * center, slope))
        else:
            plain.observe(losses.Quadratic([center], 0.5))
            moved.observe(losses.Quadratic([low + side * center], 0.5 * slope / side))
    first, second = plain.certificate(), moved.certificate()
    assert first.broken == second.broken == ()
    assert second.measured == pytest.approx(slope * side * first.measured, rel=1e-5)
    assert second.guaranteed == pytest.approx(slope * side * first.guaranteed)


def test_segments_of_higher_ambient_dimension_are_lines_too():
    segment = sets.Simplex(1)
    learner = convex_learner(segment, horizon=50)
    for _ in range(50):
        mixture = learner.play()
        assert mixture.points.shape[1] == 2 and segment.contains(mixture.points).all()
        learner.observe(losses.Linear([0.5, -0.5]))
    assert learner.play().mean[1] > 0.9


def test_play_is_deterministic_repeatable_and_survives_copying():
    rng = np.random.default_rng(0)
    learner, twin = (convex_learner() for _ in range(2))
    for _ in range(30):
        loss = losses.Quadratic([rng.random()], 0.5)
        learner.play()
        learner.play()
        learner.observe(loss)
        twin.observe(loss)  # without looking first
    for other in (twin, copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))):
        np.testing.assert_array_equal(other.play().weights, learner.play().weights)
        np.testing.assert_array_equal(other.play().points, learner.play().points)


# --- laws -----------------------------------------------------------------------------------


@pytest.mark.parametrize("gradient", [True, False])
def test_law_of_a_kink_is_an_atom(gradient):
    points = np.linspace(0, 1, 9)[:, None]
    for center in (0.0, 0.3, 0.5, 1.0):
        below, up_to = law_of(absolute(center, gradient=gradient), points, 1.0)
        np.testing.assert_allclose(below, points[:, 0] > center, atol=1e-6)
        np.testing.assert_allclose(up_to, points[:, 0] >= center, atol=1e-6)


def test_slopes_of_quadratics_are_exact_and_the_ends_carry_the_rest():
    points = np.linspace(-1, 1, 5)[:, None]
    after, before = one_sided_slopes(losses.Quadratic([0.5], 0.25), points)
    np.testing.assert_array_equal(after, 0.5 * (points[:-1, 0] - 0.5))
    np.testing.assert_array_equal(before, 0.5 * (points[1:, 0] - 0.5))
    below, up_to = law_of(losses.Linear([0.5]), points, 1.0)
    np.testing.assert_array_equal(below, [0, 0.75, 0.75, 0.75, 0.75])
    np.testing.assert_array_equal(up_to, [0.75, 0.75, 0.75, 0.75, 1])


@pytest.mark.parametrize("loss", [losses.Linear([3.0]), losses.Quadratic([0.5], -0.5)])
def test_losses_outside_the_class_get_one_warning_and_are_cut_to_size(loss):
    learner = convex_learner()
    with pytest.warns(UserWarning, match="slope 3 exceeds lipschitz|promised to be convex"):
        learner.observe(loss)
    learner.observe(loss)  # no second warning
    assert learner.play().weights.sum() == pytest.approx(1.0)
    assert np.isnan(learner.guarantee) and not learner.certificate().holds
    below, up_to = law_of(loss, np.linspace(0, 1, 9)[:, None], 1.0)
    assert (np.diff(below) >= 0).all() and (below <= up_to).all() and up_to.max() <= 1


# --- regret ---------------------------------------------------------------------------------


def test_regret_is_below_that_of_the_general_row_where_that_row_is_weak():
    rounds = 1000
    for name in ("boundary", "early_stop"):
        found = []
        for row in ("convex", "lipschitz"):
            learner = FullSwapLearner(UNIT, CONVEX_LOSSES, rounds, row=row)
            simulate(learner, ADVERSARIES[name](UNIT, CONVEX_LOSSES), rounds, progress=False)
            found.append(learner.certificate().measured)
        assert found[0] < 0.6 * found[1]


def bin_regrets(rounds, name, **options):
    """The learner, and of each bin: mass, and regret of its share of the play, by a fine grid."""
    learner = convex_learner(horizon=rounds, **options)
    adversary = ADVERSARIES[name](UNIT, CONVEX_LOSSES, seed=3)
    binning = learner._rule.binning
    grid = np.linspace(0, 1, 8 * binning.cells + 1)[:, None]
    lost, mass = np.zeros((len(binning.scales), len(grid))), np.zeros(len(binning.scales))
    for t in range(rounds):
        loss = adversary.choose(learner.play(), t)
        lost += binning.shares[:, None] * loss.value(grid)
        mass += binning.shares
        learner.observe(loss)
    own = lost[np.arange(len(lost)), 8 * binning.places]
    return learner, mass, own - lost.min(axis=1)


@pytest.mark.parametrize("name", ["midpoint", "greedy", "convex_lipschitz", "one_bin"])
@pytest.mark.parametrize("options", [{}, {"mesh": 1 / 8}, {"rule": "all scales", "mesh": 1 / 16}])
def test_every_step_of_the_proof_holds_in_every_bin(name, options):
    learner, mass, regret = bin_regrets(300, name, **options)
    binning = learner._rule.binning
    gamma, r, b = 1 / binning.cells, binning.scales / binning.cells, binning.places / binning.cells
    total, squares = np.moveaxis(binning.state, 2, 0)
    # rewards are bounded, and no promise fails by more than the potential allows
    assert (squares[:, :2] <= ((0.5 + gamma / (4 * r)) ** 2 * mass)[:, None] + 1e-9).all()
    assert (squares[:, 2:] <= ((0.5 + gamma / (2 * r)) ** 2 * mass)[:, None] + 1e-9).all()
    logarithm = np.log(4 * len(r) * len(binning.rates)) + 1e-6
    for rate in binning.rates:
        assert (total <= logarithm / rate + rate * squares + 1e-9).all()
    # what a bin loses to a point on its right, or on its left
    sides = [
        4 * r * np.maximum(total[:, near], 0)
        + np.maximum(room - 2 * r, 0) * np.maximum(2 * total[:, far] - mass * gamma / (2 * r), 0)
        for near, far, room in ((3, 0, 1 - b), (2, 1, b))
    ]
    assert (regret <= 2 * gamma * mass + np.maximum(*sides) + 1e-6).all()
    assert regret.sum() <= multiscale_cost(
        Constants(1.0, 1.0), binning.cells + 1, 300, len(binning.rates)
    )
    # points gather the bins at one place, so the full swap regret is at most their sum
    assert learner.certificate().measured <= regret.sum() + 300 * gamma / 8


@pytest.mark.theorem("convex")
@pytest.mark.parametrize("low, side, slope", [(0.0, 1.0, 1.0), (-1.0, 1.7, 1.3)])
def test_guarantees_hold_against_every_adversary(low, side, slope):
    line, promised = sets.Interval(low, low + side), LossClass(slope, convex=True)
    for adversary in all_adversaries(line, promised, 5, rounds=400):
        learner = convex_learner(line, promised, 400, mesh=side / 8)
        transcript = simulate(learner, adversary, 400, progress=False)
        certificate = learner.certificate()
        measured = naive.full_swap_regret(transcript)
        assert certificate.holds and certificate.theorem == "HSW26"
        assert measured <= learner.guarantee <= slope * side * 400
        premises = Binned(learner.plan.constants, learner.grid.geometry, 400, multiscale_rates(400))
        assert learner.guarantee == LEDGER["convex"].bound(premises)
        assert certificate.measured <= certificate.after_the_fact <= certificate.guaranteed
        assert certificate.after_the_fact < 400 * slope * side / 2


def test_guarantee_grows_like_the_root_of_the_horizon_up_to_logarithms():
    unit = Constants(1.0, 1.0)

    def best(rounds):
        rates = multiscale_rates(rounds)
        return min(multiscale_cost(unit, 2**k + 1, rounds, rates) for k in range(1, 10))

    assert best(10_000) < 5_000 and best(100_000) < 20_000
    assert best(1_000_000) / best(10_000) < 20
    assert CONVEX.exponent(1) == 0.5 and CONVEX.citation in CITATIONS and "convex" not in THEOREMS


def test_row_is_never_chosen_by_default():
    learner = FullSwapLearner(UNIT, CONVEX_LOSSES, 1000)
    assert learner.row == "lipschitz" and "convex" not in dict(
        (row, bound) for row, _, bound in learner.plan.considered
    )
    text = convex_learner(horizon=1000).explain()
    assert "row: convex" in text and "[HSW26]" in text and "not for the bound" in text


@pytest.mark.parametrize("name", ["midpoint", "convex_lipschitz"])
def test_published_algorithm_by_highs_finds_games_of_the_same_value_in_every_round(name):
    learner = convex_learner(horizon=60, rule="highs")
    adversary = ADVERSARIES[name](UNIT, CONVEX_LOSSES, seed=2)
    fast = MultiScale(learner._rule.binning.cells, 60, coarsest_first=False)
    for t in range(60):
        loss = adversary.choose(learner.play(), t)
        binning = learner._rule.binning
        fast.logs[:], fast._solved = binning.logs, False
        fast.mix()
        assert fast.value == pytest.approx(binning.value, abs=1e-7)
        assert binning.value <= 1e-7 and binning.finest == 1 / binning.cells
        learner.observe(loss)
    assert learner.certificate().holds


def test_rule_serves_the_template():
    rule = MultiScaleRule(np.linspace(0, 2, 9)[:, None], 1.0, 100, "coarsest")
    indices, weights = rule.mix()
    lost = rule.learn(losses.Linear([1.0]), indices, weights)
    np.testing.assert_allclose(lost, rule.points[indices, 0])
    assert rule.residual == 0.0 and rule.points.shape == (9, 1)
    with pytest.raises(NotImplementedError, match="horizon"):
        rule.extended(rule.points)


# --- bad input ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, named",
    [
        ({"action_set": sets.Box([0, 0], [1, 1])}, "action_set"),
        ({"promised": LossClass(1.0)}, "loss_class"),
        ({"horizon": None}, "horizon"),
        ({"horizon": 0}, "horizon"),
        ({"horizon": 2.5}, "horizon"),
        ({"mesh": 0.0}, "mesh"),
        ({"mesh": 1 / 1024}, "mesh"),
        ({"mesh": 1.5}, "mesh"),
        ({"mesh": float("nan")}, "mesh"),
        ({"mesh": "small"}, "mesh"),
        ({"rule": "crossing"}, "rule"),
        ({"learner": "hedge"}, "learner"),
        ({"actions": [0.0, 0.5, 1.0]}, "actions"),
    ],
)
def test_bad_arguments_are_named(arguments, named):
    with pytest.raises(ValueError, match=named):
        convex_learner(**arguments)


def test_rules_of_this_row_are_refused_by_others():
    with pytest.raises(ValueError, match="rule"):
        FullSwapLearner(UNIT, CONVEX_LOSSES, 100, rule="coarsest")


def test_solver_must_be_known_and_fit():
    for solver, coarsest_first in (("glpk", False), ("highs", True)):
        with pytest.raises(ValueError, match="solver"):
            MultiScale(8, 100, coarsest_first, solver)


def test_a_game_that_cannot_be_won_is_an_error(monkeypatch):
    binning = MultiScale(8, 100, coarsest_first=False, solver="highs")
    monkeypatch.setattr(
        "fullswap.learners.multiscale.solve_by_highs", lambda game: (binning.shares, 0.1)
    )
    with pytest.raises(RuntimeError, match="value 0.1"):
        binning.mix()


@pytest.mark.parametrize("cells", [1, 3, 2 * MOST_CELLS, 8.0, True])
def test_cells_must_be_a_power_of_two(cells):
    with pytest.raises(ValueError, match="cells"):
        MultiScale(cells, 10)


@pytest.mark.parametrize(
    "loss",
    [
        "loss",
        losses.Linear([1.0, 0.0]),
        losses.Custom(lambda x: np.full(len(x), np.nan)),
        losses.Custom(lambda x: x[:, 0], lambda x: np.full_like(x, np.inf)),
    ],
)
def test_bad_losses_change_nothing(loss):
    learner = convex_learner(horizon=10)
    before = learner.play()
    with pytest.raises(ValueError, match="loss"):
        learner.observe(loss)
    assert learner.rounds == 0 and not learner._rule.binning.state.any()
    np.testing.assert_array_equal(learner.play().weights, before.weights)


@pytest.mark.parametrize("law", [[0, 0.5], [0, 0.6, 0.5], [0, np.nan, 1], [0, 0.5, 1.5]])
def test_bad_laws_change_nothing(law):
    binning = MultiScale(2, 10)
    for arguments in ((law, [0, 0.5, 1]), ([0, 0.5, 1], law)):
        with pytest.raises(ValueError, match="below|up_to"):
            binning.learn(*arguments)
    assert not binning.state.any()


def test_default_mesh_falls_like_one_over_the_root_of_the_horizon():
    assert convex_learner(horizon=1000).mesh == 1 / 64
    assert convex_learner(horizon=1000, mesh=0.1).mesh == 1 / 16  # at most what was asked for
    assert convex_learner(sets.Interval(-1, 3), horizon=1000, mesh=4.0).mesh == 2.0
    assert default_cells(10**9) == MOST_CELLS
    assert [default_cells(4**k // 2) for k in range(3, 9)] == [2**k for k in range(4, 10)]

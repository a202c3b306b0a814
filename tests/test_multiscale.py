"""Multi-scale binning: the game has value at most 0, weights are exact, laws are laws."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullswap import FullSwapLearner, losses, metrics, sets, simulate
from fullswap.adversaries import ADVERSARIES
from fullswap.learners.multiscale import MOST_CELLS, MultiScale, default_cells, solve_by_highs
from fullswap.losses import LossClass
from fullswap.template.convex import ConvexLearner, MultiScaleRule, law_of, one_sided_slopes

UNIT, CONVEX = sets.Interval(0.0, 1.0), LossClass(lipschitz=1.0, convex=True)


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
    learner = ConvexLearner(UNIT, CONVEX, rounds)
    simulate(learner, ADVERSARIES[name](UNIT, CONVEX), rounds, progress=False)
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
    learner = ConvexLearner(interval, CONVEX, 100, gamma=gamma)
    for _ in range(15):
        mixture = learner.play()
        assert mixture.weights.sum() == pytest.approx(1.0, abs=1e-12)
        assert (mixture.weights > 0).all()
        np.testing.assert_array_equal(mixture.points, learner.points[mixture.labels])
        steps = (mixture.points[:, 0] - low) / (gamma * side)
        np.testing.assert_allclose(steps, np.round(steps), atol=1e-6)
        assert learner.value <= 1e-9
        learner.observe(absolute(low + side * rng.random()))
    assert learner.rounds == 15


@pytest.mark.parametrize("low, side, slope", [(-3.0, 8.0, 0.25), (5e4, 0.5, 64.0)])
def test_scaling_and_translation_change_nothing_but_the_units(low, side, slope):
    rng = np.random.default_rng(3)
    plain = ConvexLearner(UNIT, CONVEX, 200)
    moved = ConvexLearner(
        sets.Interval(low, low + side), LossClass(lipschitz=slope, convex=True), 200
    )
    for t in range(200):
        first, second = plain.play(), moved.play()
        np.testing.assert_array_equal(first.labels, second.labels)
        np.testing.assert_allclose(first.weights, second.weights, atol=1e-6)
        np.testing.assert_allclose(low + side * first.points, second.points, rtol=1e-12)
        center = rng.integers(256) / 256
        if t % 3:
            plain.observe(absolute(center))
            moved.observe(absolute(low + side * center, slope))
        else:
            plain.observe(losses.Quadratic([center], 0.5))
            moved.observe(losses.Quadratic([low + side * center], 0.5 * slope / side))
    assert plain.broken == moved.broken == ()


def test_segments_of_higher_ambient_dimension_are_lines_too():
    segment = sets.Simplex(1)
    learner = ConvexLearner(segment, CONVEX, 50)
    for _ in range(50):
        mixture = learner.play()
        assert mixture.points.shape[1] == 2 and segment.contains(mixture.points).all()
        learner.observe(losses.Linear([0.5, -0.5]))
    assert learner.play().mean[1] > 0.9


def test_play_is_deterministic_repeatable_and_survives_copying():
    rng = np.random.default_rng(0)
    learner, twin = (ConvexLearner(UNIT, CONVEX, 100) for _ in range(2))
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
        below, up_to, broken = law_of(absolute(center, gradient=gradient), points, 1.0)
        np.testing.assert_allclose(below, points[:, 0] > center, atol=1e-6)
        np.testing.assert_allclose(up_to, points[:, 0] >= center, atol=1e-6)
        assert broken is None


def test_slopes_of_quadratics_are_exact_and_the_ends_carry_the_rest():
    points = np.linspace(-1, 1, 5)[:, None]
    after, before = one_sided_slopes(losses.Quadratic([0.5], 0.25), points)
    np.testing.assert_array_equal(after, 0.5 * (points[:-1, 0] - 0.5))
    np.testing.assert_array_equal(before, 0.5 * (points[1:, 0] - 0.5))
    below, up_to, _ = law_of(losses.Linear([0.5]), points, 1.0)
    np.testing.assert_array_equal(below, [0, 0.75, 0.75, 0.75, 0.75])
    np.testing.assert_array_equal(up_to, [0.75, 0.75, 0.75, 0.75, 1])


def test_losses_outside_the_class_get_one_warning_and_are_cut_to_size():
    learner = ConvexLearner(UNIT, CONVEX, 100)
    with pytest.warns(UserWarning, match="slope 3 exceeds lipschitz"):
        learner.observe(losses.Linear([3.0]))
    learner.observe(losses.Quadratic([0.5], -0.5))  # no second warning
    assert learner.broken == ("round 1: slope 3 exceeds lipschitz = 1",)
    bent = ConvexLearner(UNIT, CONVEX, 100)
    with pytest.warns(UserWarning, match="promised to be convex"):
        bent.observe(losses.Quadratic([0.5], -0.5))
    assert bent.play().weights.sum() == pytest.approx(1.0)


# --- regret ---------------------------------------------------------------------------------


def test_regret_is_below_that_of_the_general_row_where_that_row_is_weak():
    rounds = 1000
    for name in ("boundary", "early_stop"):
        adversary = ADVERSARIES[name]
        found = []
        for learner in (
            ConvexLearner(UNIT, CONVEX, rounds),
            FullSwapLearner(UNIT, CONVEX, rounds, row="lipschitz"),
        ):
            transcript = simulate(learner, adversary(UNIT, CONVEX), rounds, progress=False)
            found.append(metrics.full_swap_regret(transcript))
        assert found[0] < 0.6 * found[1]


def test_rule_serves_the_template():
    rule = MultiScaleRule(0.0, 2.0, 1.0, 8, 100)
    indices, weights = rule.mix()
    lost = rule.learn(losses.Linear([1.0]), indices, weights)
    np.testing.assert_allclose(lost, rule.points[indices, 0])
    assert rule.residual == 0.0 and rule.points.shape == (9, 1)


# --- bad input ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, options, named",
    [
        (("line", CONVEX, 10), {}, "action_set"),
        ((sets.Box([0, 0], [1, 1]), CONVEX, 10), {}, "action_set"),
        ((UNIT, "convex", 10), {}, "loss_class"),
        ((UNIT, LossClass(1.0), 10), {}, "loss_class"),
        ((UNIT, CONVEX, 0), {}, "horizon"),
        ((UNIT, CONVEX, 2.5), {}, "horizon"),
        ((UNIT, CONVEX, True), {}, "horizon"),
        ((UNIT, CONVEX, 10), {"gamma": 0.0}, "gamma"),
        ((UNIT, CONVEX, 10), {"gamma": 0.9}, "gamma"),
        ((UNIT, CONVEX, 10), {"gamma": float("nan")}, "gamma"),
        ((UNIT, CONVEX, 10), {"gamma": "small"}, "gamma"),
        ((UNIT, CONVEX, 10), {"coarsest_first": 1}, "coarsest_first"),
    ],
)
def test_bad_arguments_are_named(arguments, options, named):
    with pytest.raises(ValueError, match=named):
        ConvexLearner(*arguments, **options)


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
    learner = ConvexLearner(UNIT, CONVEX, 10)
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


def test_default_gamma_falls_like_one_over_the_root_of_the_horizon():
    assert ConvexLearner(UNIT, CONVEX, 1000).gamma == 1 / 64
    assert ConvexLearner(UNIT, CONVEX, 1000, gamma=0.1).gamma == 1 / 8
    assert default_cells(10**9) == MOST_CELLS

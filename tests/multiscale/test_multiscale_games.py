"""Multi-scale binning: games, weights, mixtures and laws."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullswap import losses, sets, simulate
from fullswap.adversaries import ADVERSARIES
from fullswap.learners.multiscale import MultiScale, solve_by_highs
from fullswap.losses import LossClass
from fullswap.template.convex import law_of, one_sided_slopes
from multiscale_cases import (
    CONVEX_LOSSES,
    UNIT,
    absolute,
    convex_learner,
    mean_of,
    promises,
    random_law,
)

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

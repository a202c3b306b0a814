"""Multi-scale binning: games, weights, laws, and a guarantee that is not exceeded."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from fullswap import FullSwapLearner, losses, sets, simulate
from fullswap.losses import LossClass
from studies import binning as compiled
from studies.adversaries import ADVERSARIES, all_adversaries
from studies.binning import MultiScale
from studies.multiscale import MOST_CELLS, MultiScaleRow, default_cells, law_of

UNIT, CONVEX = sets.Interval(0.0, 1.0), LossClass(lipschitz=1.0, convex=True)


def promises(scale, place, gamma, v):
    """h_ξ(v) of one bin, written out."""
    b, r = place * gamma, scale * gamma
    far, near = 0.5 - gamma / (4 * r), 0.5 - gamma / (2 * r)
    return np.array(
        [(v > b + 2 * r) - far, (v < b - 2 * r) - far, near - (v >= b), near - (v <= b)]
    )


@settings(max_examples=25)
@given(st.sampled_from([2, 4, 8, 16]), st.integers(0, 10_000), st.floats(0.0, 12.0))
def test_value_is_at_most_zero_for_any_weights(cells, seed, spread):
    rng = np.random.default_rng(seed)
    binning = MultiScale(cells, 4)
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


def test_coarsest_first_stays_coarse_while_it_can_and_refines_when_it_must():
    grid = np.arange(33) / 32
    binning = MultiScale(32, 5)
    binning.mix()
    assert binning.finest == 1.0
    for _ in range(1000):
        binning.learn((grid > 0.40625) * 1.0, (grid >= 0.40625) * 1.0)
    indices, _ = binning.mix()
    assert binning.finest <= 1 / 8 and np.abs(indices / 32 - 0.40625).max() <= 1 / 8


def test_failure_of_the_simplex_method_is_an_error(monkeypatch):
    monkeypatch.setattr(compiled, "choose", lambda *args: (float("nan"), len(args[2]) - 1))
    with pytest.raises(RuntimeError, match="value nan"):
        MultiScale(8, 4).mix()


@settings(max_examples=25)
@given(st.sampled_from([2, 4, 8]), st.integers(0, 10_000))
def test_weights_and_rewards_equal_the_slow_computation(cells, seed):
    rng = np.random.default_rng(seed)
    binning, history, grid = MultiScale(cells, 3), [], np.arange(cells + 1) / cells
    for _ in range(30):
        atoms = rng.choice([0.0, 1.0, 0.5, rng.random(), rng.integers(cells + 1) / cells], 3)
        chances = rng.dirichlet(np.full(3, 0.5))
        binning.mix()
        shares = binning.shares.copy()
        below, up_to = (atoms < grid[:, None]) @ chances, (atoms <= grid[:, None]) @ chances
        binning.learn(below, up_to)
        laws = [
            sum(c * promises(r, b, 1 / cells, v) for v, c in zip(atoms, chances, strict=True))
            for r, b in zip(binning.scales, binning.places, strict=True)
        ]
        history.append(shares[:, None] * np.array(laws))
    rewards = np.array(history)
    total, squares = rewards.sum(axis=0), np.square(rewards).sum(axis=0)
    np.testing.assert_allclose(binning.state, np.stack((total, squares), axis=2), atol=1e-9)
    slow = sum(e * np.exp(e * total - e * e * squares) for e in binning.rates)
    np.testing.assert_allclose(
        np.exp(binning.logs - binning.logs.max()), slow / slow.max(), rtol=1e-7
    )


def convex_learner(action_set=UNIT, promised=CONVEX, horizon=400, **options):
    return FullSwapLearner(action_set, promised, horizon, row=MultiScaleRow(), **options)


@pytest.mark.parametrize("name", ["one_bin", "greedy", "convex_lipschitz", "boundary"])
def test_no_promise_fails_by_more_than_the_potential_allows(name):
    learner = convex_learner()
    simulate(learner, ADVERSARIES[name](UNIT, CONVEX), 400, progress=False)
    binning = learner._rule.binning
    total, squares = binning.state[..., 0, None], binning.state[..., 1, None]
    cost = np.log(total.size * binning.rates.size) / binning.rates + binning.rates * squares
    assert (total <= cost).all()
    # the potential itself never grows (up to the tolerance of the solver)
    potential = np.exp(binning.rates * total - binning.rates**2 * squares).sum()
    assert potential <= total.size * binning.rates.size * (1 + 1e-6)


@pytest.mark.parametrize("low, side, slope", [(0.0, 1.0, 1.0), (-1.0, 1.7, 1.3)])
def test_regret_is_far_below_the_trivial_one_against_every_adversary(low, side, slope):
    line, promised = sets.Interval(low, low + side), LossClass(slope, convex=True)
    for adversary in all_adversaries(line, promised, 5, rounds=400):
        learner = convex_learner(line, promised, mesh=side / 8)
        measured = naive.full_swap_regret(simulate(learner, adversary, 400, progress=False))
        told = learner.certificate()
        assert told.holds and measured <= learner.guarantee == pytest.approx(slope * side * 400)
        assert told.measured <= told.after_the_fact < 400 * slope * side / 2


def test_law_of_a_kink_is_an_atom():
    points = np.linspace(0, 1, 9)[:, None]
    for center in (0.0, 0.3, 0.5, 1.0):
        loss = losses.Custom(
            lambda x, c=center: np.abs(x[:, 0] - c), lambda x, c=center: np.sign(x - c)
        )
        below, up_to = law_of(loss, points, 1.0)
        np.testing.assert_allclose(below, points[:, 0] > center, atol=1e-6)
        np.testing.assert_allclose(up_to, points[:, 0] >= center, atol=1e-6)


def test_default_mesh_falls_like_one_over_the_root_of_the_horizon():
    assert convex_learner(horizon=1000).mesh == 1 / 64
    assert convex_learner(horizon=1000, mesh=0.1).mesh == 1 / 16  # at most what was asked for
    assert convex_learner(sets.Interval(-1, 3), horizon=1000, mesh=4.0).mesh == 2.0
    assert default_cells(10**9) == MOST_CELLS
    assert [default_cells(4**k // 2) for k in range(3, 9)] == [2**k for k in range(4, 10)]

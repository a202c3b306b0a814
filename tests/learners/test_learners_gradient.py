"""Regret of gradient descent, and its rates."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullswap.learners import (
    Discretised,
    GradientDescent,
    LipschitzRate,
    NearlyStronglyConvexRate,
    StronglyConvexRate,
)
from fullswap.losses import Linear, Quadratic
from fullswap.sets import Interval
from fullswap.theorems import Constants
from learner_cases import SETS, gradient_regrets, scales_of, seeds

# Regret of gradient descent -----------------------------------------------------------------------


def lipschitz_losses(action_set, lipschitz, rounds, rng, adversarial):
    """Linear losses of slope L: random, or pulling the first learner away from where it is."""
    basis = action_set.frame[1]

    def answer(proposals):
        y = rng.normal(size=basis.shape[1])
        if adversarial:
            y = (proposals[0] - action_set.center) @ basis + 1e-3 * y
        return Linear(basis @ (lipschitz * y / np.linalg.norm(y)), offset=rng.normal())

    return [answer] * rounds


def bowls(action_set, modulus, rounds, rng, adversarial):
    """(α/2)·‖x − z‖² with z in the set: random, or always as far from the learner as it gets."""

    def answer(proposals):
        center = action_set.project(action_set.center + rng.normal(size=(1, len(basis))))[0]
        if adversarial:
            center = action_set.minimize_linear(proposals[:1] - action_set.center + 1e-6)[0]
        return Quadratic(center, modulus / 2)

    basis = action_set.frame[1]
    return [answer] * rounds


@pytest.mark.parametrize("action_set", SETS, ids=repr)
@settings(max_examples=12)
@given(st.data(), seeds, st.floats(0.1, 10.0), st.booleans())
def test_gradient_descent_on_lipschitz_losses(action_set, data, seed, lipschitz, adversarial):
    scales = data.draw(scales_of(20, 2))
    rate = LipschitzRate(Constants(lipschitz, action_set.diameter))
    losses = lipschitz_losses(action_set, lipschitz, 20, np.random.default_rng(seed), adversarial)
    regrets = gradient_regrets(GradientDescent(action_set, rate), 2, losses, scales)
    for regret, weight in zip(regrets, scales.sum(axis=0), strict=True):
        bound = math.sqrt(2 * weight) * lipschitz * action_set.diameter
        assert rate.regret(weight) == pytest.approx(bound)
        assert regret <= bound + 1e-9 * lipschitz * (1 + action_set.diameter)


@pytest.mark.parametrize("action_set", SETS, ids=repr)
@settings(max_examples=12)
@given(st.data(), seeds, st.floats(0.1, 10.0), st.booleans())
def test_gradient_descent_on_strongly_convex_losses(action_set, data, seed, modulus, adversarial):
    scales = data.draw(scales_of(20, 2))
    lipschitz = modulus * action_set.diameter
    rate = StronglyConvexRate(Constants(lipschitz, action_set.diameter, modulus))
    losses = bowls(action_set, modulus, 20, np.random.default_rng(seed), adversarial)
    regrets = gradient_regrets(GradientDescent(action_set, rate), 2, losses, scales)
    for regret, weight in zip(regrets, scales.sum(axis=0), strict=True):
        growth = min(weight, 1.0) + math.log(max(weight, 1.0))
        bound = lipschitz**2 / (2 * modulus) * growth
        assert rate.regret(weight) == pytest.approx(bound)
        size = 1 + np.abs(action_set.center).max() + action_set.diameter
        assert regret <= bound + 1e-11 * modulus * size**2


@pytest.mark.parametrize("action_set", SETS[:3], ids=repr)
def test_gradient_descent_comes_near_its_bounds(action_set):
    rng, ones = np.random.default_rng(1), np.ones((600, 1))
    lipschitz = LipschitzRate(Constants(1.0, action_set.diameter))
    losses = lipschitz_losses(action_set, 1.0, 600, rng, adversarial=True)
    regret = gradient_regrets(GradientDescent(action_set, lipschitz), 1, losses, ones)[0]
    assert 0.1 * lipschitz.regret(600) <= regret <= lipschitz.regret(600)
    convex = StronglyConvexRate(Constants(2 * action_set.diameter, action_set.diameter, 2.0))
    losses = bowls(action_set, 2.0, 600, rng, adversarial=True)
    regret = gradient_regrets(GradientDescent(action_set, convex), 1, losses, ones)[0]
    assert 0.1 * convex.regret(600) <= regret <= convex.regret(600)


@pytest.mark.parametrize("action_set", SETS, ids=repr)
@settings(max_examples=15)
@given(st.data(), seeds, st.floats(0.01, 100.0))
def test_on_the_squared_loss_targets_are_weighted_means(action_set, data, seed, factor):
    scales = data.draw(scales_of(12, 3))
    diameter = action_set.diameter
    rate = StronglyConvexRate(Constants(2 * factor * diameter, diameter, 2 * factor))
    learner = GradientDescent(action_set, rate)
    state = learner.init(3)
    assert np.array_equal(learner.propose(state), np.tile(action_set.center, (3, 1)))
    rng = np.random.default_rng(seed)
    spread = rng.normal(size=(12, action_set.ambient_dim)) * diameter
    outcomes = action_set.project(action_set.center + spread)
    unit = 1e-12 * (np.abs(outcomes).max() + diameter)
    for t, (outcome, g) in enumerate(zip(outcomes, scales, strict=True), start=1):
        state = learner.update(state, Quadratic(outcome, factor), g)
        for s in range(3):
            # below the normal range a ratio of weights is not exact to any number of digits
            if scales[:t, s].sum() > 1e-299:
                mean = scales[:t, s] / scales[:t, s].sum() @ outcomes[:t]
                assert np.abs(learner.propose(state)[s] - mean).max() <= unit
    assert np.isfinite(learner.propose(state)).all()


def interpolated(grid, values, x):
    """Linear interpolation by search, the top cell closed."""
    i = max(j for j in range(len(grid) - 1) if grid[j] <= x or j == 0)
    share = (x - grid[i]) / (grid[i + 1] - grid[i])
    return (1 - share) * values[i] + share * values[i + 1]


@settings(max_examples=60)
@given(st.data(), seeds, st.integers(2, 9), st.floats(1.05, 3.0), st.booleans())
def test_nearly_strongly_convex_descent_on_given_actions(data, seed, n, ratio, adversarial):
    rng = np.random.default_rng(seed)
    actions = np.sort(rng.choice(np.arange(-20, 21), n, replace=False)) / 4.0
    line = Interval(actions[0], actions[-1])
    scales = data.draw(scales_of(25, 2))
    modulus = 2.0
    gap = float(np.diff(actions).max())
    constants = Constants(modulus * line.diameter, line.diameter, modulus, gap=gap)
    rate = NearlyStronglyConvexRate(constants, ratio)
    learner = Discretised(GradientDescent(line, rate), actions[:, None])
    state = learner.init(2)
    lost, cumulative = [0.0, 0.0], [[0.0] * n, [0.0] * n]
    for g in scales:
        proposals = learner.propose(state).copy()
        outcome = rng.uniform(actions[0], actions[-1])
        if adversarial:
            outcome = actions[0] if proposals[0, 0] > line.center[0] else actions[-1]
        values = [(a - outcome) ** 2 for a in actions]
        for s in range(2):
            lost[s] += g[s] * interpolated(actions, values, proposals[s, 0])
            for j in range(n):
                cumulative[s][j] += g[s] * values[j]
        state = learner.update(state, Quadratic([outcome]), g)
    for s, weight in enumerate(scales.sum(axis=0)):
        rho = modulus * (1 - 1 / ratio) ** 2
        growth = min(weight, 1.0) + math.log(max(weight, 1.0))
        bound = math.sqrt(2 * weight) * ratio * gap * constants.lipschitz
        bound += constants.lipschitz**2 / (2 * rho) * growth
        assert rate.regret(weight) == pytest.approx(bound)
        assert lost[s] - min(cumulative[s]) <= bound + 1e-9


# Rates --------------------------------------------------------------------------------------------


@given(st.floats(0.1, 10.0), st.floats(0.1, 10.0), st.floats(1.05, 2.2), st.floats(0.01, 1.0))
def test_rates_and_their_kernel_parameters_agree(lipschitz, diameter, ratio, share):
    modulus = 2 * lipschitz / diameter * share
    constants = Constants(lipschitz, diameter, modulus, gap=diameter * share)
    rates = [LipschitzRate(constants), StronglyConvexRate(constants)]
    rates.append(NearlyStronglyConvexRate(constants, ratio))
    for rate in rates:
        rho, root, switch = rate.parameters()
        for weight in (1e-3, 0.5, 1.0, 7.0, 1e4):
            expected = 1 / (rho * weight) if weight <= switch else root / math.sqrt(weight)
            assert rate(np.array([weight]))[0] == pytest.approx(expected, rel=1e-12)
    assert LipschitzRate(constants)(np.array([2.0]))[0] == pytest.approx(diameter / lipschitz / 2)
    assert StronglyConvexRate(constants)(np.array([2.0]))[0] == pytest.approx(0.5 / modulus)
    rho, root, switch = rates[2].parameters()
    assert rho == pytest.approx(modulus * (1 - 1 / ratio) ** 2)
    assert root == pytest.approx(ratio * constants.gap / (math.sqrt(2) * lipschitz))
    assert switch >= 1 - 1e-9  # the two pieces meet there, and not before one full round
    assert 1 / (rho * switch) == pytest.approx(root / math.sqrt(switch))


@pytest.mark.parametrize("ratio", [1.0, 0.5, -2.0, math.nan, 40.0])
def test_ratios_without_a_schedule_are_refused(ratio):
    constants = Constants(1.0, 1.0, 2.0, gap=0.5)
    with pytest.raises(ValueError, match="ratio"):
        NearlyStronglyConvexRate(constants, ratio)

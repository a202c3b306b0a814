"""Regret over experts: multiplicative weights and regret matching."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fullswap.learners import (
    Hedge,
    RegretMatchingPlus,
)
from learner_cases import against_the_heaviest, expert_regrets, scale, scales_of, table_loss

# Regret over experts ------------------------------------------------------------------------------


@given(st.data(), st.integers(1, 4), st.integers(1, 5), st.floats(0.1, 10.0), st.booleans())
def test_hedge_with_known_horizon_has_small_summed_regret(data, n, k, loss_range, adversarial):
    tables = loss_range * data.draw(arrays(float, (25, k), elements=scale))
    scales = data.draw(scales_of(25, n))
    horizon = max(1, math.ceil(scales.sum()))
    learner = Hedge(np.arange(k, dtype=float)[:, None], loss_range, horizon)
    answer = against_the_heaviest if adversarial else None
    regret = sum(expert_regrets(learner, n, tables, scales, answer))
    bound = loss_range * math.sqrt(horizon * n * math.log(k) / 2)
    assert regret <= bound + 1e-9 * loss_range


@given(st.data(), st.integers(1, 4), st.integers(1, 5), st.floats(0.1, 10.0), st.booleans())
def test_anytime_experts_have_small_regret_each(data, n, k, loss_range, adversarial):
    tables = loss_range * data.draw(arrays(float, (25, k), elements=scale))
    scales = data.draw(scales_of(25, n))
    experts = np.arange(k, dtype=float)[:, None]
    answer = against_the_heaviest if adversarial else None
    hedge = expert_regrets(Hedge(experts, loss_range, None), n, tables, scales, answer)
    matching = expert_regrets(RegretMatchingPlus(experts), n, tables, scales, answer)
    for s, weight in enumerate(scales.sum(axis=0)):
        assert hedge[s] <= loss_range * (math.sqrt((1 + weight) * math.log(k)) + 1e-9)
        assert matching[s] <= loss_range * (math.sqrt(k * weight) + 1e-9)


@pytest.mark.parametrize("k", [2, 7])
@pytest.mark.parametrize("kind", ["known", "anytime", "matching"])
def test_experts_over_many_rounds_stay_within_their_bounds_and_near_them(kind, k):
    rounds, rng = 1500, np.random.default_rng(k)
    experts, scales = np.arange(k, dtype=float)[:, None], np.ones((rounds, 1))
    learner, bound = {
        "known": (Hedge(experts, 1.0, rounds), math.sqrt(rounds * math.log(k) / 2)),
        "anytime": (Hedge(experts, 1.0, None), math.sqrt((1 + rounds) * math.log(k))),
        "matching": (RegretMatchingPlus(experts), math.sqrt(k * rounds)),
    }[kind]
    coins = rng.integers(0, 2, (rounds, k)).astype(float)
    worst = max(
        expert_regrets(learner, 1, coins, scales)[0],
        expert_regrets(learner, 1, np.ones((rounds, k)), scales, against_the_heaviest)[0],
    )
    assert 0.05 * bound <= worst <= bound


@given(st.data(), st.integers(1, 3), st.integers(2, 5), st.sampled_from([None, 7]))
def test_hedge_is_exponential_weights(data, n, k, horizon):
    tables, scales = data.draw(arrays(float, (6, k), elements=scale)), data.draw(scales_of(6, n))
    learner = Hedge(np.arange(k, dtype=float)[:, None], 1.0, horizon)
    state = learner.init(n)
    for values, g in zip(tables, scales, strict=True):
        state = learner.update(state, table_loss(values), g)
    rows = learner.propose(state)
    for s in range(n):
        rate = 2 * math.sqrt(math.log(k) / (1 + scales[:, s].sum()))
        if horizon is not None:
            rate = math.sqrt(8 * n * math.log(k) / horizon)
        total = [sum(g * v for g, v in zip(scales[:, s], tables[:, j])) for j in range(k)]  # noqa: B905
        raw = [math.exp(-rate * (c - min(total))) for c in total]
        assert rows[s] == pytest.approx([r / sum(raw) for r in raw], abs=1e-12)


@given(st.data(), st.integers(1, 3), st.integers(1, 4))
def test_matching_plays_in_proportion_to_positive_regrets(data, n, k):
    tables, scales = data.draw(arrays(float, (6, k), elements=scale)), data.draw(scales_of(6, n))
    learner = RegretMatchingPlus(np.arange(k, dtype=float)[:, None])
    state = learner.init(n)
    assert not state.regrets.any()
    for values, g in zip(tables, scales, strict=True):
        # step by step from the bank's own regrets: rounding decides which tiny ones are positive
        regrets, rows = state.regrets.tolist(), learner.propose(state).copy()
        for s in range(n):
            total = sum(regrets[s])
            expected = [r / total if total > 0 else 1 / k for r in regrets[s]]
            # ratios of numbers below the normal range have few digits
            assert rows[s] == pytest.approx(expected, abs=1e-12 if total > 1e-290 else 0.5)
        state = learner.update(state, table_loss(values), g)
        for s in range(n):
            mean = sum(p * v for p, v in zip(rows[s], values, strict=True))
            moved = [r + g[s] * (mean - v) for r, v in zip(regrets[s], values, strict=True)]
            assert state.regrets[s] == pytest.approx([max(r, 0.0) for r in moved], abs=1e-14)


@pytest.mark.parametrize("horizon", [10, None])
def test_hedge_neither_underflows_nor_forgets(horizon):
    learner = Hedge(np.arange(3.0)[:, None], 1.0, horizon)
    state = learner.init(2)
    for _ in range(4000):
        state = learner.update(state, table_loss([1.0, 0.0, 1.0]), np.ones(2))
    rows = learner.propose(state).copy()
    assert np.isfinite(rows).all() and rows[:, 1].min() > 0.999
    for _ in range(4100):
        state = learner.update(state, table_loss([0.0, 1.0, 1.0]), np.array([1.0, 0.0]))
    after = learner.propose(state)
    assert after[0, 0] > 0.5 and np.isfinite(after).all()
    assert np.array_equal(after[1], rows[1])


def test_hedge_survives_losses_far_beyond_its_range():
    learner = Hedge(np.arange(2.0)[:, None], 1.0, 5)
    state = learner.init(1)
    for values in ([1e300, 0.0], [-1e300, 1e300], [-1e250, 1e250]):
        state = learner.update(state, table_loss(values), np.ones(1))
        assert np.isfinite(learner.propose(state)).all()
    assert learner.propose(state)[0, 0] == 1.0


def test_a_single_expert_is_played_alone():
    for learner in (Hedge(np.zeros((1, 1)), 1.0, 3), RegretMatchingPlus(np.zeros((1, 1)))):
        state = learner.update(learner.init(2), table_loss([0.7]), np.ones(2))
        assert learner.propose(state).tolist() == [[1.0], [1.0]]

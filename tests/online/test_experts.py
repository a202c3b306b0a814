"""Experts for two classes against slow definitions: aggregating rule, crossing, recalibration."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy.optimize import minimize

from contract.makers import kind_behind, row_of
from fullswap.forecasting import Recalibrator
from fullswap.forecasting.specs import experts_spec
from fullswap.kernels import experts as kernel
from fullswap.kernels import logistic
from fullswap.kernels.columns import LOST, MASS, ROUNDING, ROUNDING_MOST, ROUNDS, SQUARES
from fullswap.online.kinds import kind_of
from fullswap.theorems.recalibration import IMAGINED
from naive.experts import SlowExperts, slow_rule
from online.verbs import forecast, learn, place_of

units = st.floats(0, 1)
scales = st.floats(0.001, 1)


@given(st.lists(st.tuples(st.floats(0.001, 1), units), min_size=1, max_size=6), units, scales)
def test_the_rule_loses_no_more_than_its_mix_loss(experts, outcome, scale):
    """The inequality behind both guarantees, for soft outcomes and scaled losses."""
    total = sum(w for w, _ in experts)
    weights, opinions = [w / total for w, _ in experts], [m for _, m in experts]
    loss = scale * (slow_rule(weights, opinions) - outcome) ** 2
    mixed = sum(
        w * math.exp(-2 * scale * (m - outcome) ** 2)
        for w, m in zip(weights, opinions, strict=True)
    )
    assert loss <= -0.5 * math.log(mixed) + 1e-12


def kind_for(cells, models=1, feedback="realised", max_weight=1.0):
    return kind_of(experts_spec(cells, 2, models, None, feedback, max_weight))


def blank_row(cells, models=1):
    """A row that has learnt nothing, its kind, and views: totals, mix, platt, bins."""
    kind = kind_for(cells, models)
    row = kind.blank.copy()
    return kind, row, kernel.experts_parts(row, kind.inputs)


def row_with(cells, weights, means, odds):
    kind, row, _ = blank_row(cells)
    columns = kind.point_columns(row)
    columns[:, kernel.WEIGHT] = weights
    columns[:, kernel.ONES] = np.asarray(weights) * means
    columns[:, kernel.ODDS] = odds
    return kind, row


def recommend(kind, row, i, advice):
    return kernel.recommend(kind.points(0), row, kind.base, IMAGINED, i, advice)


@given(units, units, st.floats(0, 1e6), st.floats(-30, 30), st.integers(0, 4))
def test_recommendation_is_the_rule_for_advice_and_own_mean(advice, mean, weight, odds, i):
    target, own = recommend(*row_with(4, np.full(5, weight), mean, odds), i, advice)
    assert own == pytest.approx((weight * mean + 2 * i / 4) / (weight + 2), abs=1e-12)
    expected = slow_rule([1 / (1 + math.exp(odds)), 1 / (1 + math.exp(-odds))], [advice, own])
    assert target == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("odds", [-2e7, -800.0, 800.0, 2e7])
def test_one_sided_odds_do_not_overflow(odds):
    target, own = recommend(*row_with(4, np.full(5, 1e7), 0.9, odds), 1, 0.2)
    assert target == pytest.approx(own if odds > 0 else 0.2, abs=1e-12)


@given(st.data())
def test_the_crossing_is_a_fixed_point_between_neighbours(data):
    cells = data.draw(st.integers(1, 30))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    weights = rng.choice([0.0, 0.5, 3.0, 400.0], cells + 1)
    kind, row = row_with(cells, weights, rng.random(cells + 1), rng.normal(0, 5, cells + 1))
    points, memo = kind.points(0), np.zeros(100)
    memo[kernel.ADVICE] = advice = data.draw(units)
    before = row.copy()
    left, right, share = kernel._crossing(points, row, kind.base, IMAGINED, memo)
    assert np.array_equal(row, before), "looking changes nothing"
    assert 0 <= left <= cells and 0 <= right - left <= 1 and 0 <= share <= 1
    targets = [recommend(kind, row, i, advice)[0] for i in (left, right)]
    assert targets[0] >= points[left] and targets[1] <= points[right]
    assert memo[kernel.LEFT_TARGET] == targets[0] and memo[kernel.RIGHT_TARGET] == targets[1]
    mixed = share * targets[0] + (1 - share) * targets[1]
    assert mixed == pytest.approx(share * points[left] + (1 - share) * points[right], abs=1e-12)


@given(
    st.lists(st.one_of(st.just(math.nan), units), min_size=2, max_size=4),
    st.lists(st.floats(0.01, 1), min_size=20, max_size=20),
)
def test_advice_is_the_rule_over_the_experts_awake(inputs, shares):
    assume(not all(math.isnan(p) for p in inputs))
    kind, row, (_, mix, platt, bins) = blank_row(10, len(inputs))
    experts = kind.experts
    mix[kernel.SHARE] = np.array(shares)[:experts] / sum(shares[:experts])
    memo = np.empty(kind._memo_size)
    memo[kernel.MEMO_HEAD : kernel.MEMO_HEAD + len(inputs)] = inputs
    kernel._advise(mix, platt, bins, memo)
    opinions = memo[-experts:]
    awake = ~np.isnan(opinions)
    assert awake.tolist() == [not math.isnan(p) for p in inputs for _ in range(4)] + [True] * 4
    expected = slow_rule(mix[kernel.SHARE, awake], opinions[awake])
    assert memo[kernel.ADVICE] == pytest.approx(expected, abs=1e-10)
    # nothing learnt yet: all of a model's experts say what it says, but for the logit's edge
    for j, p in enumerate(inputs):
        if not math.isnan(p):
            assert opinions[4 * j : 4 * j + 4] == pytest.approx(np.full(4, p), abs=2e-4)
    present = [min(max(p, 1e-4), 1 - 1e-4) for p in inputs if not math.isnan(p)]
    pool = np.mean([math.log(p / (1 - p)) for p in present])
    assert opinions[-4] == pytest.approx(1 / (1 + math.exp(-pool)), abs=1e-9)


def log_likelihood(theta, logits, outcomes):
    e = theta[0] + theta[1] * logits
    return float((outcomes * e - np.logaddexp(0, e)).sum())


def test_online_recalibration_approaches_the_batch_solution():
    rng = np.random.default_rng(3)
    logits = rng.normal(0, 2, 3000)
    outcomes = (rng.random(3000) < 1 / (1 + np.exp(-(0.7 + 0.5 * logits)))).astype(float)
    state = blank_row(4)[2][2][0]
    for z, y in zip(logits, outcomes, strict=True):
        logistic.learn_platt(state, 0, 1.0, z, 1.0, y)
    prior = logistic.PLATT_VARIANCE

    def posterior(theta):
        penalty = (theta[0] ** 2 + (theta[1] - 1) ** 2) / (2 * prior)
        return penalty - log_likelihood(theta, logits, outcomes)

    best = minimize(posterior, np.array([0.0, 1.0])).x
    assert state[:2] == pytest.approx(best, abs=0.03)


@given(st.floats(-9, 9), st.sampled_from([0.0, 1.0, 0.3]), scales)
@example(3.0, 0.0, 1.0)
@example(-9.0, 1.0, 1.0)
def test_one_step_of_recalibration_is_the_posterior_mode(logit, outcome, scale):
    state = blank_row(4)[2][2][0]
    logistic.learn_platt(state, 0, 1.0, logit, scale, outcome)
    intercept, slope = state[:2]
    e = intercept + slope * logit
    residual = scale * (outcome - 1 / (1 + math.exp(-e)))
    assert intercept / logistic.PLATT_VARIANCE == pytest.approx(residual, abs=0.01)
    assert (slope - 1) / logistic.PLATT_VARIANCE == pytest.approx(residual * logit, abs=0.05)


def test_forgetting_follows_a_change_and_keeps_its_memory_finite():
    state = blank_row(4)[2][2][0]
    rng = np.random.default_rng(0)
    for t in range(20_000):
        z = rng.normal(0, 1.5)
        sign = 1 if t < 15_000 else -1
        y = float(rng.random() < 1 / (1 + math.exp(-sign * z)))
        logistic.learn_platt(state, 0, 1.0, z, 1.0, y)
        logistic.learn_platt(state, 5, logistic.KEPT, z, 1.0, y)
    assert state[1] > 0.1 and -1.4 < state[6] < -0.6
    assert state[7] < 0.25 / (1 - logistic.KEPT)  # at most 500 events' information


def test_weights_stay_usable_over_a_long_run():
    rounds = 300_000
    recalibrator = Recalibrator(seed=1)
    outcomes = np.zeros(rounds)
    outcomes[-1000:] = 1.0
    recalibrator.run(np.full(rounds, 0.9), outcomes, record=False, progress=False)
    row = row_of(recalibrator)
    _, mix, platt, bins = kernel.experts_parts(row, 1)
    shares = mix[kernel.SHARE]
    assert np.isfinite(row).all()
    assert (shares > 0).all() and shares.sum() == pytest.approx(1, abs=1e-12)
    # the model was wrong for long and is right now: the advice has turned
    memo = np.empty(kind_behind(recalibrator)._memo_size)
    memo[kernel.MEMO_HEAD] = 0.9
    kernel._advise(mix, platt, bins, memo)
    assert memo[kernel.ADVICE] > 0.8


# --- whole runs against a slow reference ----------------------------------------------------------


@pytest.mark.parametrize("models", [1, 2])
@pytest.mark.parametrize("feedback", ["realised", "distribution"])
def test_the_method_is_what_is_written_down(models, feedback):
    rng = np.random.default_rng(2)
    kind = kind_for(8, models, feedback)
    row = kind.blank.copy()
    inputs_count = models + (models > 1)
    slow = SlowExperts(8, 4 * inputs_count)
    sums = dict.fromkeys((LOST, MASS, ROUNDING, ROUNDING_MOST, SQUARES), 0.0)
    for t in range(300):
        p = rng.random(models)
        if models > 1 and rng.random() < 0.3:
            p[rng.integers(models)] = math.nan
        play = forecast(kind, row, p)
        left, right, share, memo = play
        inputs = memo[kernel.MEMO_HEAD : kernel.MEMO_HEAD + inputs_count]
        opinions = memo[-4 * inputs_count :].tolist()
        assert inputs[:models] == pytest.approx(p, nan_ok=True)
        for j, q in enumerate(inputs):
            if not math.isnan(q):
                assert opinions[4 * j] == q
                assert opinions[4 * j + 3] == pytest.approx(slow.shifted(j, q), abs=1e-9)
        advice = slow.advice(opinions)
        assert memo[kernel.ADVICE] == pytest.approx(advice, abs=1e-9)
        support = [(left, share), (right, 1 - share)]
        targets = {i: slow.target(i, advice) for i, _ in support}
        assert right - left <= 1
        balance = sum(w * (targets[i] - slow.points[i]) for i, w in support)
        assert balance == pytest.approx(0, abs=1e-9)
        g, y = rng.choice([0.0, 1.0, 0.5, 0.25]), rng.choice([0.0, 1.0, 0.5], p=[0.6, 0.3, 0.1])
        drawn = place_of((share, 1 - share), rng.random())
        learn(kind, row, play, drawn, y, g, t)
        sums[MASS] += g
        sums[SQUARES] += g * y * y
        sums[ROUNDING_MOST] += g / 256
        x = share * slow.points[left] + (1 - share) * slow.points[right]
        sums[ROUNDING] += g * sum(w * (slow.points[i] - x) ** 2 for i, w in support)
        if feedback == "realised":
            support = [((left, right)[drawn], 1.0)]
        support = [(i, w * g) for i, w in support if w * g > 0]
        sums[LOST] += sum(w * (targets[i] - y) ** 2 for i, w in support)
        if support:
            slow.learn(advice, opinions, inputs.tolist(), support, y)
    _, mix, _, _ = kernel.experts_parts(row, inputs_count)
    assert mix[kernel.SHARE] == pytest.approx(slow.shares, abs=1e-9)
    assert row[ROUNDS] == 300
    for place, total in sums.items():
        assert row[place] == pytest.approx(total, abs=1e-9)
    columns = kind.point_columns(row)
    for i, seen in enumerate(slow.outcomes):
        assert columns[i, kernel.WEIGHT] == pytest.approx(sum(g for g, _ in seen))
        assert columns[i, kernel.ONES] == pytest.approx(sum(g * y for g, y in seen))
        advice_log, own_log = slow.log_weights[i]
        assert columns[i, kernel.ODDS] == pytest.approx(own_log - advice_log, abs=1e-9)

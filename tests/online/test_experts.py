"""Experts for two classes against slow definitions: aggregating rule, crossing, recalibration."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from contract.makers import kind_behind, row_of
from fullswap.forecasting import Recalibrator
from fullswap.forecasting.expert_specs import experts_spec
from fullswap.kernels import experts as kernel
from fullswap.kernels import logistic
from fullswap.kernels.columns import (
    CROWD,
    LOST,
    MASS,
    NEXT_ID,
    OVERLAP,
    ROUNDING,
    ROUNDING_MOST,
    ROUNDS,
    SQUARES,
)
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


def kind_for(cells, models=1, max_weight=1.0):
    return kind_of(experts_spec(cells, models, None, max_weight))


def blank_row(cells, models=1):
    """A row that has learnt nothing, its kind, and views: totals, mix, beliefs, bins."""
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
    assert own == pytest.approx((weight * mean + i / 4) / (weight + 1), abs=1e-12)
    expected = slow_rule([1 / (1 + math.exp(odds)), 1 / (1 + math.exp(-odds))], [advice, own])
    assert target == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("odds", [-2e7, -800.0, 800.0, 2e7])
def test_one_sided_odds_do_not_overflow(odds):
    target, own = recommend(*row_with(4, np.full(5, 1e7), 0.9, odds), 1, 0.2)
    assert target == pytest.approx(own if odds > 0 else 0.2, abs=1e-12)


@given(st.data())
def test_the_crossing_is_a_fixed_point_between_neighbours(data):
    """Or an end alone, where the grid leaves out 0 and 1 and the recommendation lies there."""
    cells = data.draw(st.one_of(st.integers(1, 30), st.none()))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    n = 65 if cells is None else cells + 1
    weights = rng.choice([0.0, 0.5, 3.0, 400.0], n)
    kind, row = row_with(cells, weights, rng.random(n), rng.normal(0, 5, n))
    points, memo = kind.points(0), np.zeros(100)
    memo[kernel.ADVICE] = advice = data.draw(units)
    before = row.copy()
    left, right, share = kernel.crossing(kernel.Own(IMAGINED), points, row, kind.base, memo)
    assert np.array_equal(row, before), "looking changes nothing"
    assert 0 <= left <= right < n and right - left <= 1 and 0 <= share <= 1
    targets = [recommend(kind, row, i, advice)[0] for i in (left, right)]
    assert memo[kernel.LEFT_TARGET] == targets[0] and memo[kernel.RIGHT_TARGET] == targets[1]
    if left < right:
        assert targets[0] >= points[left] and targets[1] <= points[right]
        mixed = share * targets[0] + (1 - share) * targets[1]
        assert mixed == pytest.approx(share * points[left] + (1 - share) * points[right], abs=1e-12)
    else:
        assert share == 1
        assert targets[0] <= points[0] if left == 0 else targets[0] >= points[-1]
    # what is charged for rounding is what the worst outcome costs
    paid = kernel.rounded(points, left, right, share, memo)
    worse = [
        sum(
            w * ((points[i] - y) ** 2 - (q - y) ** 2)
            for i, w, q in zip((left, right), (share, 1 - share), targets, strict=True)
        )
        for y in (0, 0.3, 1)
    ]
    assert paid == pytest.approx(max(worse), abs=1e-12)
    assert paid <= kind.rounding_cost(0) + 1e-15


@given(
    st.lists(st.one_of(st.just(math.nan), units), min_size=2, max_size=4),
    st.lists(st.floats(0.01, 1), min_size=35, max_size=35),
)
def test_advice_is_the_rule_over_the_experts_awake(inputs, shares):
    assume(not all(math.isnan(p) for p in inputs))
    kind, row, (_, mix, beliefs, bins) = blank_row(10, len(inputs))
    experts = kind.experts
    mix[kernel.SHARE] = np.array(shares)[:experts] / sum(shares[:experts])
    memo = np.empty(kind._memo_size)
    memo[kernel.MEMO_HEAD : kernel.MEMO_HEAD + len(inputs)] = inputs
    kernel._advise(mix, beliefs, bins, memo)
    opinions = memo[-experts:]
    awake = ~np.isnan(opinions)
    assert awake.tolist() == [not math.isnan(p) for p in inputs for _ in range(7)] + [True] * 7
    expected = slow_rule(mix[kernel.SHARE, awake], opinions[awake])
    assert memo[kernel.ADVICE] == pytest.approx(expected, abs=1e-10)
    # nothing learnt yet: all of a model's experts say what it says, but for the logit's edge
    for j, p in enumerate(inputs):
        if not math.isnan(p):
            assert opinions[7 * j : 7 * j + 7] == pytest.approx(np.full(7, p), abs=2e-4)
    present = [min(max(p, 1e-4), 1 - 1e-4) for p in inputs if not math.isnan(p)]
    pool = np.mean([math.log(p / (1 - p)) for p in present])
    assert opinions[-7] == pytest.approx(1 / (1 + math.exp(-pool)), abs=1e-9)


def log_likelihood(theta, logits, outcomes):
    e = theta[0] + theta[1] * logits
    return float((outcomes * e - np.logaddexp(0, e)).sum())


def platt_state(variance):
    return np.array([0.0, 1.0, 1 / variance, 0.0, 1 / variance])


@pytest.mark.parametrize("variance", [logistic.TIGHT, logistic.WIDE])
def test_online_recalibration_approaches_the_batch_solution(variance):
    rng = np.random.default_rng(3)
    logits = rng.normal(0, 2, 3000)
    outcomes = (rng.random(3000) < 1 / (1 + np.exp(-(0.7 + 0.5 * logits)))).astype(float)
    state = platt_state(variance)
    shift = np.array([0.0, 1 / variance])
    for z, y in zip(logits, outcomes, strict=True):
        logistic.learn_platt(state, 0, 1.0, 1 / variance, z, 1.0, y)
        logistic.learn_shift(shift, 0, 1.0, 1 / variance, z, 1.0, y)

    def posterior(theta):
        penalty = (theta[0] ** 2 + (theta[1] - 1) ** 2) / (2 * variance)
        return penalty - log_likelihood(theta, logits, outcomes)

    best = minimize(posterior, np.array([0.0, 1.0])).x
    assert state[:2] == pytest.approx(best, abs=0.03)
    alone = minimize(lambda theta: posterior(np.array([theta[0], 1.0])), np.zeros(1)).x
    assert shift[0] == pytest.approx(alone[0], abs=0.03)


def slow_modes(before, variance, y):
    """The roots of e = before + variance·(y − σ(e)), by halving."""
    low, high = before - variance, before + variance
    for _ in range(200):
        middle = (low + high) / 2
        above = middle - before - variance * (y - expit(middle)) > 0
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return (low + high) / 2


def test_steps_of_recalibration_arrive_at_the_mode():
    """From anywhere: beliefs of all precisions, certain models, soft outcomes, small scales."""
    rng = np.random.default_rng(5)
    count = 20_000
    logits = rng.uniform(-9.3, 9.3, count)
    scales = rng.choice([1.0, 0.5, 0.01], count)
    outcomes = rng.choice([0.0, 1.0, 0.3], count)
    known = 10 ** rng.uniform(-1, 3, (count, 2))
    cross = rng.uniform(-0.9, 0.9, count) * np.sqrt(known[:, 0] * known[:, 1])
    states = np.column_stack((rng.normal(0, 2, count), rng.normal(1, 1.5, count), known[:, 0],
                              cross, known[:, 1]))  # fmt: skip
    determinant = known[:, 0] * known[:, 1] - cross**2
    along = np.column_stack((known[:, 1] - cross * logits, known[:, 0] * logits - cross))
    along /= determinant[:, None]
    before = states[:, 0] + states[:, 1] * logits
    modes = slow_modes(before, scales * (along[:, 0] + along[:, 1] * logits), outcomes)
    moved = (scales * (outcomes - expit(modes)))[:, None] * along
    expected = states[:, :2] + moved
    for state, z, g, y in zip(states, logits, scales, outcomes, strict=True):
        logistic.learn_platt(state, 0, 1.0, 1.0, z, g, y)
    # steps end below 0.01 in logits: the mean is known to a second-order term of that
    tolerance = 1e-5 * scales * np.abs(along).max(axis=1) + 1e-9
    assert (np.abs(states[:, :2] - expected).max(axis=1) <= tolerance).all()


def test_a_surprise_moves_a_wide_belief_to_its_mode():
    state = platt_state(logistic.WIDE)
    logistic.learn_platt(state, 0, 1.0, 1 / logistic.WIDE, math.log(0.95 / 0.05), 1.0, 0.0)
    assert state[:2] == pytest.approx([-0.48, -0.40], abs=0.01)


@given(st.floats(-9, 9), st.sampled_from([0.0, 1.0, 0.3]), scales)
@example(3.0, 0.0, 1.0)
@example(-9.0, 1.0, 1.0)
def test_one_step_of_recalibration_is_the_posterior_mode(logit, outcome, scale):
    variance = logistic.WIDE
    state = platt_state(variance)
    logistic.learn_platt(state, 0, 1.0, 1 / variance, logit, scale, outcome)
    intercept, slope = state[:2]
    e = intercept + slope * logit
    residual = scale * (outcome - 1 / (1 + math.exp(-e)))
    assert intercept / variance == pytest.approx(residual, abs=0.01)
    assert (slope - 1) / variance == pytest.approx(residual * logit, abs=0.05)
    shift = np.array([0.0, 1 / variance])
    logistic.learn_shift(shift, 0, 1.0, 1 / variance, logit, scale, outcome)
    residual = scale * (outcome - 1 / (1 + math.exp(-shift[0] - logit)))
    assert shift[0] / variance == pytest.approx(residual, abs=0.01)


def test_forgetting_follows_a_change_and_keeps_its_memory_finite():
    keeping, forgetting = platt_state(logistic.WIDE), platt_state(logistic.WIDE)
    shift = np.array([0.0, 1.0])
    rng = np.random.default_rng(0)
    for t in range(20_000):
        z = rng.normal(0, 1.5)
        sign = 1 if t < 15_000 else -1
        y = float(rng.random() < 1 / (1 + math.exp(-sign * z)))
        logistic.learn_platt(keeping, 0, 1.0, 1 / logistic.WIDE, z, 1.0, y)
        logistic.learn_platt(forgetting, 0, logistic.KEPT, 1 / logistic.WIDE, z, 1.0, y)
        logistic.learn_shift(shift, 0, logistic.SHIFT_KEPT, 1.0, z, 1.0, y)
    assert keeping[1] > 0.1 and -1.4 < forgetting[1] < -0.6
    assert forgetting[2] < 0.25 / (1 - logistic.KEPT)  # at most 500 events' information
    assert shift[1] < 0.25 / (1 - logistic.SHIFT_KEPT) + 1


def test_weights_stay_usable_over_a_long_run():
    rounds = 300_000
    recalibrator = Recalibrator(seed=1)
    outcomes = np.zeros(rounds)
    outcomes[-1000:] = 1.0
    recalibrator.run(np.full(rounds, 0.9), outcomes, record=False, progress=False)
    row = row_of(recalibrator)
    _, mix, beliefs, bins = kernel.experts_parts(row, 1)
    shares = mix[kernel.SHARE]
    assert np.isfinite(row).all()
    assert (shares > 0).all() and shares.sum() == pytest.approx(1, abs=1e-12)
    # the model was wrong for long and is right now: the advice has turned
    memo = np.empty(kind_behind(recalibrator)._memo_size)
    memo[kernel.MEMO_HEAD] = 0.9
    kernel._advise(mix, beliefs, bins, memo)
    assert memo[kernel.ADVICE] > 0.8


# --- whole runs against a slow reference ----------------------------------------------------------


@pytest.mark.parametrize("cells", [8, None])
@pytest.mark.parametrize("models", [1, 2])
def test_the_method_is_what_is_written_down(models, cells):
    rng = np.random.default_rng(2)
    kind = kind_for(cells, models)
    row = kind.blank.copy()
    inputs_count = models + (models > 1)
    slow = SlowExperts(kind.points(0), inputs_count)
    sums = dict.fromkeys((LOST, MASS, ROUNDING, ROUNDING_MOST, SQUARES), 0.0)
    for t in range(300):
        p = rng.random(models) ** 3
        if models > 1 and rng.random() < 0.3:
            p[rng.integers(models)] = math.nan
        play = forecast(kind, row, p)
        left, right, share, memo = play
        inputs = memo[kernel.MEMO_HEAD : kernel.MEMO_HEAD + inputs_count]
        opinions = memo[-7 * inputs_count :].tolist()
        assert inputs[:models] == pytest.approx(p, nan_ok=True)
        for j, q in enumerate(inputs):
            if not math.isnan(q):
                assert opinions[7 * j] == q
                assert opinions[7 * j + 6] == pytest.approx(slow.shifted(j, q), abs=1e-9)
        advice = slow.advice(opinions)
        assert memo[kernel.ADVICE] == pytest.approx(advice, abs=1e-9)
        support = [(left, share), (right, 1 - share)]
        targets = {i: slow.target(i, advice) for i, _ in support}
        assert right - left <= 1
        g, y = rng.choice([0.0, 1.0, 0.5, 0.25]), rng.choice([0.0, 1.0, 0.5], p=[0.6, 0.3, 0.1])
        drawn = place_of((share, 1 - share), rng.random())
        row[CROWD] = crowd = rng.choice([0, 0, 3])
        learn(kind, row, play, drawn, y, g, t)
        row[CROWD] = 0
        sums[MASS] += g
        sums[SQUARES] += g * y * y
        sums[ROUNDING_MOST] += g * kind.rounding_cost(0)
        sums[ROUNDING] += g * max(
            sum(w * ((slow.points[i] - b) ** 2 - (targets[i] - b) ** 2) for i, w in support)
            for b in (0, 1)
        )
        support = [((left, right)[drawn], g)] if g > 0 else []
        sums[LOST] += sum(w * (targets[i] - y) ** 2 for i, w in support)
        if support:
            slow.learn(advice, opinions, inputs.tolist(), support, y, crowd)
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
    row[NEXT_ID], row[OVERLAP] = 300, 3
    kind.check(row)

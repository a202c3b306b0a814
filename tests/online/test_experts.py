"""The experts' kernels against slow definitions: aggregating rule, crossing, recalibration."""

import math

import numpy as np
import pytest
from fullswap.forecasting.experts import ExpertBank
from fullswap.forecasting.recalibrator_multiclass import MeshExpertBank
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from fullswap.forecasting.recalibrator import Recalibrator
from fullswap.grids.kuhn import kuhn_simplex
from fullswap.kernels import experts as kernel
from fullswap.kernels import experts_mesh as mesh
from fullswap.kernels import logistic
from fullswap.sets import Simplex

units = st.floats(0, 1)
scales = st.floats(0.001, 1)


def slow_rule(weights, opinions):
    """The aggregating rule as it is written."""
    one, zero = (
        sum(w * math.exp(-2 * (m - y) ** 2) for w, m in zip(weights, opinions, strict=True))
        for y in (1, 0)
    )
    return min(max(0.5 + 0.25 * math.log(one / zero), 0.0), 1.0)


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


def bank_with(cells, weights, means, odds):
    bank = ExpertBank(cells, 1)._bank
    bank[kernel.WEIGHT] = weights
    bank[kernel.ONES] = np.asarray(weights) * means
    bank[kernel.ODDS] = odds
    return bank


@given(units, units, st.floats(0, 1e6), st.floats(-30, 30), st.integers(0, 4))
def test_recommendation_is_the_rule_for_advice_and_own_mean(advice, mean, weight, odds, i):
    bank = bank_with(4, np.full(5, weight), mean, odds)
    target, own = kernel.recommend(bank, i, advice)
    assert own == pytest.approx((weight * mean + 2 * i / 4) / (weight + 2), abs=1e-12)
    expected = slow_rule([1 / (1 + math.exp(odds)), 1 / (1 + math.exp(-odds))], [advice, own])
    assert target == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("odds", [-2e7, -800.0, 800.0, 2e7])
def test_one_sided_odds_do_not_overflow(odds):
    bank = bank_with(4, np.full(5, 1e7), 0.9, odds)
    target, own = kernel.recommend(bank, 1, 0.2)
    assert target == pytest.approx(own if odds > 0 else 0.2, abs=1e-12)


@given(st.data())
def test_the_crossing_is_a_fixed_point_between_neighbours(data):
    cells = data.draw(st.integers(1, 30))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    weights = rng.choice([0.0, 0.5, 3.0, 400.0], cells + 1)
    bank = bank_with(cells, weights, rng.random(cells + 1), rng.normal(0, 5, cells + 1))
    memo = np.zeros(100)
    memo[kernel.ADVICE] = advice = data.draw(units)
    left, share = kernel._crossing(bank, memo)
    assert 0 <= left < cells and 0 <= share <= 1
    points = bank[kernel.POINT]
    targets = [kernel.recommend(bank, i, advice)[0] for i in (left, left + 1)]
    assert targets[0] >= points[left] and targets[1] <= points[left + 1]
    assert memo[kernel.LEFT_TARGET] == targets[0] and memo[kernel.RIGHT_TARGET] == targets[1]
    mixed = share * targets[0] + (1 - share) * targets[1]
    assert mixed == pytest.approx(share * points[left] + (1 - share) * points[left + 1], abs=1e-12)


@given(
    st.lists(st.one_of(st.just(math.nan), units), min_size=2, max_size=4),
    st.lists(st.floats(0.01, 1), min_size=20, max_size=20),
)
def test_advice_is_the_rule_over_the_experts_awake(inputs, shares):
    assume(not all(math.isnan(p) for p in inputs))
    bank = ExpertBank(10, len(inputs))
    experts = bank._mix.shape[1]
    bank._mix[kernel.SHARE] = np.array(shares)[:experts] / sum(shares[:experts])
    memo = np.empty(bank._memo_size)
    kernel._advise(*bank._shared, np.array(inputs), memo)
    opinions = memo[-experts:]
    awake = ~np.isnan(opinions)
    assert awake.tolist() == [not math.isnan(p) for p in inputs for _ in range(4)] + [True] * 4
    expected = slow_rule(bank._mix[kernel.SHARE, awake], opinions[awake])
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
    state = ExpertBank(4, 1)._platt[0]
    for z, y in zip(logits, outcomes, strict=True):
        logistic.learn_platt(state, 0, 1.0, z, 1.0, y)
    prior = logistic.PLATT_VARIANCE

    def posterior(theta):
        penalty = (theta[0] ** 2 + (theta[1] - 1) ** 2) / (2 * prior)
        return penalty - log_likelihood(theta, logits, outcomes)

    best = minimize(posterior, np.array([0.0, 1.0])).x
    assert state[:2] == pytest.approx(best, abs=0.03)


@given(st.floats(-9, 9), st.sampled_from([0.0, 1.0, 0.3]), scales)
def test_one_step_of_recalibration_is_the_posterior_mode(logit, outcome, scale):
    state = ExpertBank(4, 1)._platt[0]
    logistic.learn_platt(state, 0, 1.0, logit, scale, outcome)
    intercept, slope = state[:2]
    e = intercept + slope * logit
    residual = scale * (outcome - 1 / (1 + math.exp(-e)))
    assert intercept / logistic.PLATT_VARIANCE == pytest.approx(residual, abs=0.01)
    assert (slope - 1) / logistic.PLATT_VARIANCE == pytest.approx(residual * logit, abs=0.05)


def test_forgetting_follows_a_change_and_keeps_its_memory_finite():
    state = ExpertBank(4, 1)._platt[0]
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
    rng = np.random.default_rng(1)
    rounds = 300_000
    bank = ExpertBank(20, 1)
    inputs = np.full((rounds, 1), 0.9)
    outcomes = np.zeros(rounds)
    outcomes[-1000:] = 1.0
    nothing = np.zeros(0)
    bank.run(inputs, outcomes, nothing, rng.random(rounds), False, False)
    shares = bank._mix[kernel.SHARE]
    assert np.isfinite(bank._bank).all() and np.isfinite(bank._platt).all()
    assert (shares > 0).all() and shares.sum() == pytest.approx(1, abs=1e-12)
    # the model was wrong for long and is right now: the advice has turned
    memo = np.empty(bank._memo_size)
    kernel._advise(*bank._shared, np.array([0.9]), memo)
    assert memo[kernel.ADVICE] > 0.8


# --- several classes -----------------------------------------------------------------------------


def simplex_point(rng, classes):
    x = rng.exponential(size=classes) * (rng.random(classes) < 0.8)
    return x / x.sum() if x.sum() > 0 else np.eye(classes)[0]


@given(st.integers(0, 2**32), st.integers(3, 5))
def test_nearest_point_of_the_simplex(seed, classes):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 2, classes)
    near = x.copy()
    mesh._nearest(near)
    assert near.min() >= 0 and near.sum() == pytest.approx(1)
    for corner in np.eye(classes):  # no corner lies in the direction of what was cut off
        assert (x - near) @ (corner - near) <= 1e-9


def slow_mesh_rule(weights, opinions):
    """The aggregating rule for K classes by bisection on the common height."""
    corners = np.eye(opinions.shape[1])
    heights = -np.log([weights @ np.exp(-((opinions - e) ** 2).sum(axis=1)) for e in corners])
    low, high = heights.min(), heights.max() + 2
    for _ in range(100):
        middle = (low + high) / 2
        if np.maximum(middle - heights, 0).sum() < 2:
            low = middle
        else:
            high = middle
    return np.maximum(low - heights, 0) / 2


@given(st.integers(0, 2**32), st.integers(3, 5), scales)
def test_the_mesh_rule_loses_no_more_than_its_mix_loss(seed, classes, scale):
    rng = np.random.default_rng(seed)
    opinions = np.array([simplex_point(rng, classes) for _ in range(4)])
    weights = rng.exponential(size=4)
    weights /= weights.sum()
    q, y = slow_mesh_rule(weights, opinions), simplex_point(rng, classes)
    mixed = weights @ np.exp(-scale * ((opinions - y) ** 2).sum(axis=1))
    assert scale * ((q - y) ** 2).sum() <= -math.log(mixed) + 1e-9


@given(st.integers(0, 2**32), st.integers(3, 5), st.integers(1, 3))
def test_mesh_advice_and_recommendation_are_the_rule(seed, classes, models):
    rng = np.random.default_rng(seed)
    bank = MeshExpertBank(4, models, classes)
    inputs = np.array([simplex_point(rng, classes) for _ in range(models)])
    if models > 1:
        inputs[rng.integers(models)] = math.nan
    experts = bank._mix.shape[1]
    bank._mix[mesh.SHARE] = rng.dirichlet(np.ones(experts))
    memo = np.zeros(bank._memo_shape)
    mesh._advise(*bank._shared, inputs, memo)
    opinions = memo[-experts:]
    awake = ~np.isnan(opinions).any(axis=1)
    assert awake.sum() == (4 if models == 1 else experts - 4)
    advice = slow_mesh_rule(bank._mix[mesh.SHARE, awake], opinions[awake])
    assert memo[0] == pytest.approx(advice, abs=1e-7)

    i = int(rng.integers(len(bank.points)))
    weight, seen, odds = rng.exponential(20), simplex_point(rng, classes), rng.normal(0, 3)
    bank._bank[i, mesh.WEIGHT], bank._bank[i, mesh.ODDS] = weight, odds
    bank._bank[i, mesh.ONES :] = weight * seen
    target, mean = np.zeros(classes), np.zeros(classes)
    mesh._recommend(bank.points, bank._bank, i, memo[0], target, mean)
    assert mean == pytest.approx((weight * seen + 2 * bank.points[i]) / (weight + 2))
    shares = np.array([1 / (1 + math.exp(odds)), 1 / (1 + math.exp(-odds))])
    assert target == pytest.approx(slow_mesh_rule(shares, np.array([memo[0], mean])), abs=1e-7)


@given(st.integers(0, 2**32), st.integers(3, 4))
@settings(max_examples=25)
def test_mesh_forecast_is_a_fixed_point_of_rounding(seed, classes):
    rng = np.random.default_rng(seed)
    bank = MeshExpertBank(6, 1, classes)
    n = len(bank.points)
    bank._bank[:, mesh.WEIGHT] = weight = rng.choice([0.0, 1.0, 50.0], n)
    seen = np.array([simplex_point(rng, classes) for _ in range(n)])
    bank._bank[:, mesh.ONES :] = weight[:, None] * seen
    bank._bank[:, mesh.ODDS] = rng.normal(0, 5, n)
    indices, weights, memo = bank.mix(simplex_point(rng, classes)[None])
    assert sum(weights) == pytest.approx(1)
    target, mean, played = np.zeros(classes), np.zeros(classes), np.zeros(n)
    for i, w in zip(indices, weights, strict=True):
        mesh._recommend(bank.points, bank._bank, i, memo[0], target, mean)
        rows = kuhn_simplex(Simplex(classes - 1), 1 / 6).locate(target[None])
        np.add.at(played, rows.indices[0], w * rows.weights[0])
    expected = np.zeros(n)
    expected[indices] = weights
    assert played == pytest.approx(expected, abs=1e-9)


def test_mesh_recalibration_approaches_the_batch_solution():
    rng = np.random.default_rng(4)
    logs = rng.normal(0, 1.5, (3000, 3))
    logs -= logs.mean(axis=1, keepdims=True)
    heights = 0.5 * logs + np.array([0.6, 0.0, -0.6])
    chances = np.exp(heights) / np.exp(heights).sum(axis=1, keepdims=True)
    labels = (chances.cumsum(axis=1) < rng.random((3000, 1))).sum(axis=1)
    state, work = MeshExpertBank(2, 1, 3)._scaling[0, 0], np.zeros((7, 4))
    for row, label in zip(logs, labels, strict=True):
        logistic.learn_scaling(state, 1.0, row, 1.0, np.eye(3)[label], work)

    def posterior(theta):
        e = theta[0] * logs + theta[1:]
        fit = e[np.arange(3000), labels] - np.logaddexp.reduce(e, axis=1)
        penalty = (theta[0] - 1) ** 2 + (theta[1:] ** 2).sum()
        return penalty / (2 * logistic.SCALING_VARIANCE) - fit.sum()

    best = minimize(posterior, np.array([1.0, 0, 0, 0])).x
    assert state[:, 0] == pytest.approx(best, abs=0.05)
    assert np.linalg.eigvalsh(state[:, 1:]).min() > 0


@given(st.integers(0, 2**32))
@settings(max_examples=25)
def test_mesh_recalibration_survives_certain_forecasts(seed):
    rng = np.random.default_rng(seed)
    state, work = MeshExpertBank(2, 1, 3)._scaling[0, 0], np.zeros((7, 4))
    logs = np.empty(3)
    for _ in range(50):
        mesh._take_logs(np.eye(3)[rng.integers(3)], logs)
        logistic.learn_scaling(
            state, rng.choice([1.0, 0.9]), logs, 1.0, simplex_point(rng, 3), work
        )
    assert np.isfinite(state).all() and abs(state[0, 0]) < 5


# --- whole runs against a slow reference ----------------------------------------------------------


class SlowExperts:
    """The method as it is written down: lists, logarithms, every grid point every time."""

    def __init__(self, cells, experts):
        self.points = [k / cells for k in range(cells + 1)]
        self.shares = [1 / experts] * experts
        self.outcomes = [[] for _ in self.points]
        self.log_weights = [[math.log(0.75), math.log(0.25)] for _ in self.points]
        self.errors = [[[] for _ in range(20)] for _ in range(experts // 4)]
        self.updates = 0

    def advice(self, opinions):
        awake = [m for m, opinion in enumerate(opinions) if not math.isnan(opinion)]
        return slow_rule([self.shares[m] for m in awake], [opinions[m] for m in awake])

    def shifted(self, j, p):
        errors = self.errors[j][min(int(20 * p), 19)]
        shift = sum(g * e for g, e in errors) / (sum(g for g, _ in errors) + 20)
        return min(max(p + shift, 0), 1)

    def mean(self, i):
        seen = [*self.outcomes[i], (2.0, self.points[i])]
        return sum(g * y for g, y in seen) / sum(g for g, _ in seen)

    def target(self, i, advice):
        top = max(self.log_weights[i])
        weights = [math.exp(x - top) for x in self.log_weights[i]]
        return slow_rule(weights, [advice, self.mean(i)])

    def learn(self, advice, opinions, inputs, support, y):
        for i, g in support:
            self.log_weights[i][0] -= 2 * g * (advice - y) ** 2
            self.log_weights[i][1] -= 2 * g * (self.mean(i) - y) ** 2
            self.outcomes[i].append((g, y))
        g = sum(part for _, part in support)
        said = [advice if math.isnan(m) else m for m in opinions]
        weights = [
            w * math.exp(-2 * g * (m - y) ** 2) for w, m in zip(self.shares, said, strict=True)
        ]
        self.updates += 1
        dealt = 1 / (self.updates + 1)
        self.shares = [(1 - dealt) * w / sum(weights) + dealt / len(weights) for w in weights]
        for j, p in enumerate(inputs):
            if not math.isnan(p):
                self.errors[j][min(int(20 * p), 19)].append((g, y - p))


@pytest.mark.parametrize("models", [1, 2])
@pytest.mark.parametrize("feedback", ["realised", "distribution"])
def test_the_method_is_what_is_written_down(models, feedback):
    rng = np.random.default_rng(2)
    recalibrator = Recalibrator(8, models=models, feedback=feedback, max_weight=2.0)
    inputs_count = models + (models > 1)
    slow = SlowExperts(8, 4 * inputs_count)
    for _ in range(300):
        p = rng.random(models)
        if models > 1 and rng.random() < 0.3:
            p[rng.integers(models)] = math.nan
        forecast = recalibrator.predict(p if models > 1 else float(p[0]))
        memo = forecast._memo
        inputs = memo[kernel.HEAD : kernel.HEAD + inputs_count]
        opinions = memo[-4 * inputs_count :].tolist()
        assert inputs[:models] == pytest.approx(p, nan_ok=True)
        for j, q in enumerate(inputs):
            if not math.isnan(q):
                assert opinions[4 * j] == q
                assert opinions[4 * j + 3] == pytest.approx(slow.shifted(j, q), abs=1e-9)
        advice = slow.advice(opinions)
        assert memo[kernel.ADVICE] == pytest.approx(advice, abs=1e-9)
        support = list(zip(forecast._indices, forecast._weights, strict=True))
        targets = {i: slow.target(i, advice) for i, _ in support}
        for i in targets:
            near = [abs(slow.points[i] - slow.points[k]) for k in targets]
            assert max(near) <= 0.125
        balance = sum(w * (targets[i] - slow.points[i]) for i, w in support)
        assert balance == pytest.approx(0, abs=1e-9)
        weight, y = rng.choice([1.0, 2.0, 0.5]), rng.choice([0.0, 1.0, 0.5], p=[0.6, 0.3, 0.1])
        recalibrator.update(y, weight=weight)
        scale = weight / 2
        if feedback == "realised":
            support = [(forecast._indices[forecast._issued], scale)]
        else:
            support = [(i, w * scale) for i, w in support]
        slow.learn(advice, opinions, inputs.tolist(), support, y)
    assert recalibrator._bank._mix[kernel.SHARE] == pytest.approx(slow.shares, abs=1e-9)


@pytest.mark.parametrize("scale", [1.0, 0.3])
def test_mesh_learning_is_what_is_written_down(scale):
    rng = np.random.default_rng(8)
    bank = MeshExpertBank(5, 2, 3)
    for _ in range(40):
        inputs = np.array([simplex_point(rng, 3), simplex_point(rng, 3)])
        if rng.random() < 0.3:
            inputs[1] = math.nan
        indices, weights, memo = bank.mix(inputs)
        y = simplex_point(rng, 3)
        before, shares = bank._bank.copy(), bank._mix[mesh.SHARE].copy()
        scales = [w * scale for w in weights]
        bank.learn(indices, scales, y, memo)
        advice, opinions = memo[0], memo[-12:]
        for i, g in zip(indices, scales, strict=True):
            sums, weight = before[i, mesh.ONES :], before[i, mesh.WEIGHT]
            mean = (sums + 2 * bank.points[i]) / (weight + 2)
            gain = g * (((advice - y) ** 2).sum() - ((mean - y) ** 2).sum())
            after = bank._bank[i]
            assert after[mesh.ODDS] - before[i, mesh.ODDS] == pytest.approx(gain, abs=1e-9)
            assert after[mesh.ONES :] == pytest.approx(sums + g * y)
            assert after[mesh.WEIGHT] == pytest.approx(weight + g)
        said = np.where(np.isnan(opinions), advice, opinions)
        shares *= np.exp(-sum(scales) * ((said - y) ** 2).sum(axis=1))
        dealt = 1 / (bank._totals[mesh.UPDATES] + 1)
        expected = (1 - dealt) * shares / shares.sum() + dealt / 12
        assert bank._mix[mesh.SHARE] == pytest.approx(expected, abs=1e-12)
    untouched = np.setdiff1d(np.arange(len(bank.points)), np.flatnonzero(bank._bank[:, 0]))
    assert (bank._bank[untouched, mesh.ONES :] == 0).all()

"""Banks of external-regret learners: proven regret against slow measurements, and laws of banks."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fullswap.learners import (
    Discretised,
    GradientDescent,
    Hedge,
    LipschitzRate,
    NearlyStronglyConvexRate,
    RegretMatchingPlus,
    StronglyConvexRate,
)
from fullswap.losses import Custom, Linear, Quadratic
from fullswap.sets import Ball, Box, Interval, Simplex
from fullswap.theorems import Constants

SETS = [
    Interval(-3.0, 1.5),
    Box([1.0, -2.0], [1.5, 3.0]),
    Ball([2.0, -1.0], 0.7),
    Simplex(2, 2.0, [1.0, 0.0, -3.0]),
    Box([0.0, 5.0, -1.0], [0.1, 7.0, 4.0]),
    Ball([0.0, 10.0, 3.0], 4.0),
    Simplex(3),
]
SPECIAL_SCALES = [0.0, 1.0, 1e-9, 1e-300, 5e-324]

scale = st.one_of(st.sampled_from(SPECIAL_SCALES), st.floats(0.0, 1.0))
seeds = st.integers(0, 2**32 - 1)


def scales_of(rounds, n):
    return arrays(float, (rounds, n), elements=scale)


# Slow references: plain loops over numbers --------------------------------------------------------


def table_loss(values):
    """A loss that is known at the experts 0, 1, …, k − 1 only."""
    return Custom(lambda points: np.array([values[int(x)] for x in points[:, 0]]))


def expert_regrets(learner, n, tables, scales, answer=None):
    """Scaled external regret of each of n learners over experts; ``answer`` may change tables."""
    state = learner.init(n)
    lost = [0.0] * n
    cumulative = [[0.0] * tables.shape[1] for _ in range(n)]
    for values, g in zip(tables, scales, strict=True):
        rows = learner.propose(state).copy()
        assert rows.min() >= 0 and np.abs(rows.sum(axis=1) - 1).max() <= 1e-12
        if answer is not None:
            values = answer(rows, values)
        for s in range(n):
            lost[s] += g[s] * sum(rows[s, j] * values[j] for j in range(len(values)))
            for j in range(len(values)):
                cumulative[s][j] += g[s] * values[j]
        state = learner.update(state, table_loss(values), g)
    return [lost[s] - min(cumulative[s]) for s in range(n)]


def against_the_heaviest(rows, values):
    """The expert that the learners like most loses most."""
    answer = np.zeros_like(values)
    answer[int(rows.sum(axis=0).argmax())] = values.max()
    return answer


def nearest(action_set, x):
    """Projection by closed forms, and by bisection for the simplex."""
    if isinstance(action_set, Ball):
        offset = [a - b for a, b in zip(x, action_set.center, strict=True)]
        length = math.sqrt(sum(a * a for a in offset))
        share = 1.0 if length <= action_set.radius else action_set.radius / length
        return [c + share * a for c, a in zip(action_set.center, offset, strict=True)]
    if isinstance(action_set, Simplex):
        shift = np.broadcast_to(action_set.shift, (len(x),))
        y = [a - b for a, b in zip(x, shift, strict=True)]
        low, high = min(y) - action_set.scale, max(y)
        for _ in range(200):
            level = (low + high) / 2
            if sum(max(a - level, 0.0) for a in y) > action_set.scale:
                low = level
            else:
                high = level
        return [max(a - high, 0.0) + b for a, b in zip(y, shift, strict=True)]
    low, high = np.atleast_1d(action_set.low), np.atleast_1d(action_set.high)
    return [min(max(a, b), c) for a, b, c in zip(x, low, high, strict=True)]


def least_value(action_set, row):
    """Minimum of a·‖x‖² + ⟨b, x⟩ + c over the set, a ≥ 0."""
    a, b, c = row[0], row[1:-1], row[-1]
    if a > 0:
        x = nearest(action_set, [-slope / (2 * a) for slope in b])
    elif isinstance(action_set, Ball):
        length = math.sqrt(sum(slope * slope for slope in b)) or 1.0
        x = [o - action_set.radius * s / length for o, s in zip(action_set.center, b, strict=True)]
    else:
        x = min(action_set.vertices.tolist(), key=lambda v: sum(map(lambda s, t: s * t, b, v)))
    return a * sum(t * t for t in x) + sum(s * t for s, t in zip(b, x, strict=True)) + c


def gradient_regrets(learner, n, losses, scales):
    """Scaled external regret of each of n learners; ``losses`` map proposals to losses."""
    state = learner.init(n)
    width = learner.action_set.ambient_dim
    lost, sums = [0.0] * n, np.zeros((n, width + 2))
    for answer, g in zip(losses, scales, strict=True):
        proposals = learner.propose(state).copy()
        assert learner.action_set.contains(proposals, 1e-9).all()
        loss = answer(proposals)
        row = loss.coefficients
        for s in range(n):
            square = sum(x * x for x in proposals[s])
            inner = sum(b * x for b, x in zip(row[1:-1], proposals[s], strict=True))
            lost[s] += g[s] * (row[0] * square + inner + row[-1])
            sums[s] += g[s] * row
        state = learner.update(state, loss, g)
    return [lost[s] - least_value(learner.action_set, sums[s]) for s in range(n)]


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


# Laws of banks ------------------------------------------------------------------------------------

LINE = Interval(-1.0, 3.0)
EXPERTS = np.linspace(-1.0, 3.0, 5)[:, None]
CONSTANTS = Constants(8.0, 4.0, 2.0, gap=1.0)
BANKS = {
    "hedge known": lambda n: Hedge(EXPERTS, 16.0, 20 * n),
    "hedge anytime": lambda n: Hedge(EXPERTS, 16.0, None),
    "matching": lambda n: RegretMatchingPlus(EXPERTS),
    "lipschitz": lambda n: GradientDescent(LINE, LipschitzRate(CONSTANTS)),
    "strongly convex": lambda n: GradientDescent(LINE, StronglyConvexRate(CONSTANTS)),
    "discretised": lambda n: Discretised(
        GradientDescent(LINE, NearlyStronglyConvexRate(CONSTANTS, 2.0)), EXPERTS
    ),
}
banks = pytest.mark.parametrize("bank", BANKS.values(), ids=BANKS.keys())
centers = st.lists(st.floats(-1.0, 3.0), min_size=1, max_size=6)


def fed(learner, n, outcomes, scales):
    state = learner.init(n)
    for outcome, g in zip(outcomes, scales, strict=True):
        state = learner.update(state, Quadratic([outcome]), g)
    return state


@banks
@settings(max_examples=25)
@given(st.data(), centers)
def test_rows_none_means_all_rows(bank, data, outcomes):
    scales = data.draw(scales_of(len(outcomes), 3))
    learner = bank(3)
    state = learner.init(3)
    for outcome, g in zip(outcomes, scales, strict=True):
        state = learner.update(state, Quadratic([outcome]), g, np.arange(3))
    expected = learner.propose(fed(learner, 3, outcomes, scales))
    assert np.array_equal(learner.propose(state), expected)


@banks
@settings(max_examples=25)
@given(st.data(), centers, st.sampled_from([[0], [2], [0, 2], [2, 1]]), st.floats(1e-3, 1.0))
def test_only_named_rows_learn(bank, data, outcomes, rows, weight):
    learner = bank(3)
    state = fed(learner, 3, outcomes, data.draw(scales_of(len(outcomes), 3)))
    before = learner.propose(state).copy()
    state = learner.update(state, Quadratic([-1.0]), np.full(len(rows), weight), np.array(rows))
    others = [s for s in range(3) if s not in rows]
    assert np.array_equal(learner.propose(state)[others], before[others])
    # and the named ones do learn, each with its own weight
    fresh = learner.init(3)
    told = np.array([1.0, 1e-3])[: len(rows)]
    fresh = learner.update(fresh, Quadratic([-1.0]), told, np.array(rows))
    dense = np.zeros(3)
    dense[rows] = told
    expected = learner.propose(learner.update(learner.init(3), Quadratic([-1.0]), dense))
    assert np.array_equal(learner.propose(fresh), expected)
    assert (learner.propose(fresh)[rows[0]] != learner.propose(learner.init(3))[rows[0]]).any()


@banks
@settings(max_examples=25)
@given(st.data(), centers, st.booleans())
def test_weight_zero_changes_nothing(bank, data, outcomes, named):
    learner = bank(3)
    state = fed(learner, 3, outcomes, data.draw(scales_of(len(outcomes), 3)))
    before = learner.propose(state).copy()
    rows = np.array([1, 2]) if named else None
    state = learner.update(state, Quadratic([2.5]), np.zeros(2 if named else 3), rows)
    assert np.array_equal(learner.propose(state), before)


@banks
@settings(max_examples=25)
@given(st.data(), centers)
def test_a_bank_is_as_many_banks_of_one(bank, data, outcomes):
    scales = data.draw(scales_of(len(outcomes), 3))
    together = bank(3).propose(fed(bank(3), 3, outcomes, scales))
    for s in range(3):
        alone = bank(1).propose(fed(bank(1), 1, outcomes, scales[:, [s]]))
        assert together[s] == pytest.approx(alone[0], abs=1e-12)


@banks
def test_the_smallest_weights_leave_finite_proposals(bank):
    learner = bank(2)
    state = learner.init(2)
    for weight in (5e-324, 1e-310, 0.0, 1e-200, 1.0):
        # the slope at the middle is 0 at first: 0 times an overflown rate would be no number
        state = learner.update(state, Quadratic([1.0]), np.array([weight, 1.0]))
        assert np.isfinite(learner.propose(state)).all()


def test_gradient_descent_starts_where_it_is_told():
    start = np.array([[0.0], [2.5]])
    learner = GradientDescent(LINE, StronglyConvexRate(CONSTANTS), start)
    state = learner.init(2)
    assert np.array_equal(learner.propose(state), start)
    learner.update(state, Quadratic([1.0]), np.array([1.0, 0.0]))
    assert learner.propose(state).tolist() == [[1.0], [2.5]]
    assert start.tolist() == [[0.0], [2.5]], "the caller's array was written to"

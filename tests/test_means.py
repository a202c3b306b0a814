"""Running means that start from one imagined outcome: worst cases found by slow exact search."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullswap.online.lattices import tapered
from fullswap.theorems import LEDGER
from fullswap.theorems.means import LineForecasts, late_cost, line_means_cost
from fullswap.theorems.premises import regret_sum

seeds = st.integers(0, 10_000)


def worst_of_point(s, left, right, most):
    """Largest n·(s − ȳ)² beyond rounding after n = 0, …, most whole outcomes, every sequence tried.

    V[S]: most that recommendations lose, less what they pay back beyond the cell, with S ones.
    """
    values, worst = {0: 0.0}, [0.0]
    for n in range(1, most + 1):
        after = {}
        for ones, value in values.items():
            q = (ones + s) / n
            paid = max(q - s - right, s - q - left, 0.0) ** 2
            for y in (0, 1):
                lost = value + (q - y) ** 2 - paid
                after[ones + y] = max(after.get(ones + y, -math.inf), lost)
        values = after
        worst.append(max(v - ones * (n - ones) / n for ones, v in values.items()))
    return worst


@pytest.mark.theorem("means on a line")
@pytest.mark.parametrize("points", [np.arange(6) / 5, tapered(6), np.array([0.0, 0.1, 0.7, 1.0])])
def test_no_way_to_share_whole_outcomes_costs_more(points, record_property):
    """Every sequence at every point, and every way to share the outcomes among the points."""
    mass = 80
    gaps = np.diff(points, prepend=-math.inf, append=math.inf)
    best = np.zeros(mass + 1)
    for i, s in enumerate(points.tolist()):
        own = worst_of_point(s, gaps[i], gaps[i + 1], mass)
        best = np.array([max(best[t - n] + own[n] for n in range(t + 1)) for t in range(mass + 1)])
    ratios = []
    for t in range(1, mass + 1):
        bound = LEDGER["means on a line"].bound(LineForecasts(points, t, whole=True))
        assert best[t] <= bound + 1e-9
        ratios.append(best[t] / bound)
    assert ratios[-1] > 0.7, "and not much less"
    record_property("ratio", float(max(ratios)))


@pytest.mark.parametrize("s", [0.0, 0.02, 0.3, 0.5, 0.9])
def test_long_runs_at_one_point_stay_below_the_bound(s):
    gap = 0.04
    points = np.clip(np.array([s - gap, s, s + gap]), 0.0, 1.0)
    points = np.unique(points)
    worst = worst_of_point(s, gap, gap, 1500)
    for n in (1, 2, 3, 10, 100, 1500):
        bound = LEDGER["means on a line"].bound(LineForecasts(points, n, whole=True))
        assert worst[n] <= bound


def play(s, scales, outcomes):
    """Regret of the mean that starts at s against the best constant, and the mass."""
    ones = mass = lost = 0.0
    for g, y in zip(scales, outcomes, strict=True):
        lost += g * ((ones + s) / (mass + 1) - y) ** 2
        ones, mass = ones + g * y, mass + g
    squares = float(np.square(outcomes) @ scales)
    return lost - (squares - ones**2 / mass), mass


@given(st.floats(0, 1), seeds, st.integers(1, 60), st.sampled_from([0.01, 0.3, 1.0]))
def test_any_scales_at_one_point(s, seed, size, largest):
    """¼·Rt(G) + (2 − 3μ)²/4 whatever scales and outcomes, climbed."""
    rng = np.random.default_rng(seed)
    scales, outcomes = largest * rng.random(size), rng.integers(0, 2, size).astype(float)
    best = -math.inf
    for _ in range(150):
        tried, shares, k = outcomes.copy(), scales.copy(), rng.integers(size)
        tried[k] = rng.choice([0.0, 1.0, rng.random()])
        shares[k] = rng.choice([1e-3, 0.2, 1.0])
        regret, mass = play(s, shares, tried)
        bound = regret_sum(mass) / 4 + (2 - 3 * min(s, 1 - s)) ** 2 / 4
        assert regret <= bound + 1e-9
        if regret >= best:
            best, outcomes, scales = regret, tried, shares


@given(st.floats(0.01, 0.99), seeds, st.integers(1, 200))
def test_the_variance_identity_of_whole_outcomes(s, seed, size):
    """Σ (q − y)²/(m + 1) = Σ_{j<n} h(q_j)/j + (1 + 1/n)·h(q_n) − h(s), to rounding."""
    outcomes = np.random.default_rng(seed).integers(0, 2, size)
    means = (np.concatenate(([0], np.cumsum(outcomes))) + s) / np.arange(1, size + 2)
    left = float((np.square(means[:-1] - outcomes) / np.arange(2, size + 2)).sum())
    h = means * (1 - means)
    right = float((h[1:-1] / np.arange(1, size)).sum()) + (1 + 1 / size) * h[-1] - h[0]
    assert left == pytest.approx(right, abs=1e-9)


def late_loss(s, outcomes, scales, delay, last_first):
    """What stale recommendations lose more than those at the time of learning, and the mass."""
    waiting, ones, mass, lost = [], 0.0, 0.0, 0.0
    size = len(outcomes)
    for t in range(size + delay):
        if t < size:
            waiting.append(((ones + s) / (mass + 1), outcomes[t], scales[t]))
        if t >= delay:
            q, y, g = waiting.pop(-1 if last_first else 0)
            lost += g * ((q - y) ** 2 - ((ones + s) / (mass + 1) - y) ** 2)
            ones, mass = ones + g * y, mass + g
    return lost, mass


@pytest.mark.theorem("means on a line")
@pytest.mark.parametrize("delay", [1, 3, 10])
@pytest.mark.parametrize("last_first", [False, True])
def test_what_late_outcomes_cost_one_mean(delay, last_first, record_property):
    """b·√((Rt(G) + 1)·ln(1 + G)), found by climbing over outcomes and scales."""
    rng = np.random.default_rng(delay)
    best = 0.0
    for size, scale, s in ((5, 1.0, 0.0), (40, 1.0, 0.5), (40, 0.1, 0.2), (150, 0.5, 0.5)):
        for outcomes in (rng.integers(0, 2, size), np.arange(size) // (delay + 1) % 2):
            scales, here = np.full(size, scale), 0.0
            for _ in range(150):
                tried, shares = outcomes.astype(float), scales.copy()
                k = rng.integers(size)
                tried[k : k + rng.integers(1, 2 * delay + 2)] = rng.choice([0.0, 1.0])
                shares[k] = rng.choice([scale, 1.0, 0.1])
                lost, mass = late_loss(s, tried, shares, delay, last_first)
                allowed = late_cost(mass, delay)
                assert lost <= allowed
                if lost / allowed >= here:
                    here, outcomes, scales = lost / allowed, tried, shares
            best = max(best, here)
    assert best > 0.1, "the search makes lateness cost something"
    record_property("ratio", float(best))


@pytest.mark.parametrize("points", [np.arange(21) / 20, tapered(6), tapered(64)])
@pytest.mark.parametrize("whole", [False, True])
def test_small_masses_are_never_promised_too_little(points, whole):
    """One outcome at the farthest point costs what it costs, and costs grow with the mass."""
    rounding = 0.01
    last = 0.0
    for mass in (1, 2, 3, 5, 8, 20, 60, 1000):
        cost = line_means_cost(LineForecasts(points, mass, rounding * mass, True, whole))
        assert cost >= max(0.25, last * 0.98)
        last = cost
    for mass in (1e-300, 1e-9, 1e-3, 0.1):
        assert 0 <= line_means_cost(LineForecasts(points, mass, 0.0)) <= 10 * len(points)


@pytest.mark.theorem("means on a line")
def test_coarser_grids_before_this_one_are_paid_for():
    """Every sequence at a point that lived first with a wide gap, then with a narrow one."""
    coarse, fine, switch = np.array([0.0, 0.2, 0.6, 1.0]), np.array([0.0, 0.1, 0.2, 0.6, 1.0]), 15
    coarse[2] = fine[3] = 0.5
    s, wide, narrow = 0.2, 0.3, 0.3
    fine = np.sort(np.append(fine, [0.3, 0.4]))
    narrow = 0.1
    values, worst = {0: 0.0}, 0.0
    for n in range(1, 200):
        gap = wide if n <= switch else narrow
        after = {}
        for ones, value in values.items():
            q = (ones + s) / n
            lost = value - max(abs(q - s) - gap, 0.0) ** 2
            for y in (0, 1):
                after[ones + y] = max(after.get(ones + y, -math.inf), lost + (q - y) ** 2)
        values = after
        worst = max(v - ones * (n - ones) / n for ones, v in values.items())
        premises = LineForecasts(fine, n, whole=True, coarser=((coarse, float(switch)),))
        assert worst <= line_means_cost(premises)
    plain = line_means_cost(LineForecasts(fine, 199, whole=True))
    assert line_means_cost(premises) > plain

"""The log loss: each step of the proof of its bound, checked by direct evaluation."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from contract.makers import column
from forecasting.rounds import Measured, events_of, rounds_of
from fullswap.forecasting import Forecaster
from fullswap.kernels.columns import HEAD, HINT, LOST
from fullswap.kernels.line import COLUMNS, line_forecast
from fullswap.online.lattices import logits, sines
from fullswap.theorems import LEDGER
from fullswap.theorems.calibration import LogForecasts, log_loss_rounding


def log_loss(p, y):
    return -(y * math.log(p) if y else 0.0) - ((1 - y) * math.log1p(-p) if y < 1 else 0.0)


def entropy(mean):
    return sum(-share * math.log(share) for share in (mean, 1 - mean) if share > 0)


# --- the grid --------------------------------------------------------------------------------


@pytest.mark.parametrize("cells", [2, 3, 4, 5, 8, 17, 64, 1000, 4096])
def test_the_grid_is_mirrored_and_nested(cells):
    points = sines(cells)
    assert len(points) == cells + 1
    assert (np.diff(points) > 0).all() and 0 < points[0] and points[-1] < 1
    assert np.array_equal(points[cells // 2 + 1 :], 1.0 - points[: (cells + 1) // 2][::-1])
    inner = [math.sin(math.pi * i / (2 * cells)) ** 2 for i in range(1, cells)]
    assert points[1:-1] == pytest.approx(inner, rel=1e-12)
    assert points[0] == pytest.approx(math.sin(math.pi / (4 * cells)) ** 2, rel=1e-12)
    finer = set(sines(2 * cells).tolist())
    assert finer.issuperset(points.tolist()), "to the last bit: learners are found by their point"


@given(st.floats(-30, 30), st.floats(0.01, 20))
@example(30.0, 20.0)
@example(-50.0, 10.0)
@example(45.0, 0.5)
def test_the_rounding_cost_is_the_largest_jensen_gap_or_what_the_ends_cost(left, width):
    right = left + width
    shares = np.linspace(0, 1, 20_001)
    at_ends = (1 - shares) * np.logaddexp(0, left) + shares * np.logaddexp(0, right)
    gaps = at_ends - np.logaddexp(0, (1 - shares) * left + shares * right)
    # beyond the grid its last points are played alone: the log loss there of the outcome missed
    slow = max(gaps.max(), math.log1p(math.exp(left)), math.log1p(math.exp(-right)))
    cost = log_loss_rounding(np.array([left, right]))
    scale = 1e-14 * max(1.0, abs(left), abs(right))
    assert slow <= cost + scale, "no cost is larger"
    assert cost <= slow + 1e-6 * width**2 + scale, "and one is as large"


@pytest.mark.parametrize("cells", [2, 3, 7, 16, 100, 1000])
def test_the_rounding_cost_falls_with_the_square_of_the_cells(cells):
    cost = log_loss_rounding(logits(sines(cells)))
    # half of the 2.47/K² of [LSS25], but for a percent; cells next to the ends cost most
    assert cost <= 1.25 / cells**2 * (1 + 0.5 / cells**2)
    assert cost == pytest.approx(math.pi**2 / 8 / cells**2, rel=0.1 + 1.2 / cells)


@given(st.integers(2, 60), st.integers(0, 10_000), st.sampled_from([0.3, 2.0, 8.0]))
def test_a_crossing_costs_no_more_for_either_outcome(cells, seed, spread):
    """Σ λ_j ℓ(s_j) − Σ λ_j ℓ(q_j) ≤ δ whatever the recommendations q; outcomes between are mixed.

    Both sides are linear in y, so y = 0 and y = 1 are enough.
    """
    rng = np.random.default_rng(seed)
    points = sines(cells)
    cost = log_loss_rounding(logits(points))
    theta = logits(points)
    row = np.zeros(HEAD + COLUMNS * (cells + 1))
    for shift in (0.0, -30.0, 30.0, rng.normal() * 5):
        targets = shift + spread * rng.standard_normal(cells + 1)
        if rng.random() < 0.5:  # recommendations in order, so that they cross inside
            targets = np.sort(targets)[::-1]
        row[HEAD::COLUMNS] = targets
        row[HINT] = rng.integers(cells + 1)
        left, right, share, *recommended = line_forecast(theta, row)
        assert recommended == [targets[left], targets[right]]
        for y in (0.0, 1.0):
            excess = 0.0
            for i, weight in ((left, share), (right, 1 - share)):
                if weight > 0:
                    lost = np.logaddexp(0, targets[i]) - y * targets[i]
                    excess += weight * (log_loss(points[i], y) - lost)
            assert excess <= cost * (1 + 1e-9) + 1e-12


# --- the sub-learners ------------------------------------------------------------------------


def kt_regret(scales, outcomes):
    """Loss of q = (Σ g·y + ½)/(Σ g + 1) minus that of the best constant, by plain summing."""
    ones = zeros = lost = 0.0
    for g, y in zip(scales, outcomes, strict=True):
        q = (ones + 0.5) / (ones + zeros + 1)
        lost -= g * (y * math.log(q) + (1 - y) * math.log(1 - q))
        ones += g * y
        zeros += g * (1 - y)
    total = ones + zeros
    return lost - total * entropy(ones / total), total


def kt_ratio(scales, outcomes):
    regret, total = kt_regret(scales, outcomes)
    return regret / (0.5 * math.log1p(math.pi * total))


@pytest.mark.parametrize("size", [1, 2, 3, 10, 100, 3000])
def test_kt_is_within_its_bound_on_extreme_sequences(size):
    whole = np.ones(size)
    for outcomes in (
        np.ones(size),
        np.zeros(size),
        np.arange(size) % 2,
        np.arange(size) < size / 2,
    ):
        assert kt_ratio(whole, outcomes) <= 1
    # one outcome throughout is the worst of them, and the bound is nearly attained there
    assert kt_ratio(whole, np.ones(size)) > 0.97
    for scale in (1e-6, 0.01, 0.3, 0.999):
        assert kt_ratio(scale * whole, np.ones(size)) <= 1


@given(st.lists(st.tuples(st.floats(1e-9, 1), st.floats(0, 1)), min_size=1, max_size=60))
def test_kt_is_within_its_bound_for_all_scales_and_outcomes(pairs):
    scales, outcomes = zip(*pairs, strict=True)
    assert kt_ratio(scales, outcomes) <= 1 + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_no_search_leads_beyond_the_bound_of_kt(seed):
    rng = np.random.default_rng(seed)
    size = (2, 5, 12, 30)[seed]
    scales, outcomes = rng.random(size), rng.random(size)
    best = first = kt_ratio(scales, outcomes)
    for step in range(2500):
        tried, seen = scales.copy(), outcomes.copy()
        k = rng.integers(size)
        if rng.random() < 0.5:
            tried[k] = rng.choice([rng.random(), 1.0, tried[k] * rng.random(), 1e-6])
        else:
            seen[k] = rng.choice([rng.random(), 0.0, 1.0, 1 - seen[k]])
        if step % 10 == 0:
            order = rng.permutation(size)
            tried, seen = tried[order], seen[order]
        ratio = kt_ratio(tried, seen)
        if ratio >= best:
            best, scales, outcomes = ratio, tried, seen
    assert first < best <= 1
    assert best > 0.9, "the search found the sequences that the bound is made for"


def test_recommendations_of_the_forecaster_are_kt():
    forecaster = Forecaster(300, loss="log", feedback="distribution", seed=1)
    rng = np.random.default_rng(0)
    sums, lost = {}, 0.0
    for y in rng.random(300):
        forecast = forecaster.predict()
        pairs = list(zip(forecast.points.tolist(), forecast.weights.tolist(), strict=True))
        theta = []
        for s, _ in pairs:
            n, ones = sums.get(s, (0.0, 0.0))
            theta.append(math.log((ones + 0.5) / (n - ones + 0.5)))
        shift = sum(w * (q - logits(s)) for q, (s, w) in zip(theta, pairs, strict=True))
        assert len(pairs) == 1 or shift == pytest.approx(0.0, abs=1e-9), "a crossing in logits"
        forecaster.update(y)
        for q, (s, w) in zip(theta, pairs, strict=True):
            lost += w * (math.log1p(math.exp(q)) - y * q)
            n, ones = sums.get(s, (0.0, 0.0))
            sums[s] = n + w, ones + w * y
    assert column(forecaster, LOST) == pytest.approx(lost, rel=1e-9)


# --- the bound -------------------------------------------------------------------------------


def independent_bound(points, rounds):
    """δ·T + (n/2)·ln(1 + π·T/n), the largest gap of every cell found on a dense grid."""
    theta = [math.log(p / (1 - p)) for p in points]
    gaps = []
    shares = np.linspace(0, 1, 4001)
    for left, right in zip(theta[:-1], theta[1:], strict=True):
        chord = (1 - shares) * np.logaddexp(0, left) + shares * np.logaddexp(0, right)
        gaps.append((chord - np.logaddexp(0, (1 - shares) * left + shares * right)).max())
    n = len(points)
    delta = max(*gaps, -math.log1p(-points[0]))
    return delta * rounds + n / 2 * math.log(1 + math.pi * rounds / n)


@pytest.mark.parametrize("horizon", [1, 10, 300, 20_000, 10**6])
def test_the_guarantee_is_the_smallest_of_the_explicit_bounds(horizon):
    forecaster = Forecaster(horizon, loss="log")
    points = forecaster.run([]).points
    assert forecaster.guarantee == pytest.approx(independent_bound(points, horizon), rel=1e-5)
    cells = len(points) - 1
    for other in (cells - 1, cells + 1, 2 * cells, cells // 2):
        if other >= 2:
            bound = independent_bound(sines(other), horizon)
            assert forecaster.guarantee <= bound * (1 + 1e-9)


def test_the_bound_is_cited_where_it_is_printed():
    assert LEDGER["calibration for the log loss"].citation == "LSS25; KT81"
    assert "LSS25" in Forecaster(1000, loss="log").explain()
    assert LEDGER["calibration for the log loss"].bound(LogForecasts(0.0, 4, 0.0)) == 0.0


@pytest.mark.parametrize("feedback", ["realised", "distribution"])
@pytest.mark.parametrize("horizon", [None, 4000])
@pytest.mark.parametrize("mean", [0.0, 0.001, 0.3, 1.0])
def test_certificates_measure_the_kl_calibration_error(feedback, horizon, mean):
    rng = np.random.default_rng(1)
    outcomes = (rng.random(4000) < mean).astype(float)
    if mean == 0.3:
        outcomes = np.clip(0.3 + 0.3 * rng.standard_normal(4000), 0, 1)
    forecaster = Forecaster(horizon, loss="log", feedback=feedback, seed=1)
    rounds = rounds_of(forecaster.run(outcomes), outcomes)
    slow = Measured(events_of(rounds, feedback)).kl()
    certificate = forecaster.certificate()
    assert certificate.measured == pytest.approx(slow, rel=1e-9, abs=1e-9)
    assert slow <= certificate.guaranteed and certificate.holds
    assert slow > 0


def test_no_guarantee_for_late_outcomes():
    forecaster = Forecaster(100, loss="log", feedback="distribution", seed=1)
    first, second = forecaster.predict(), forecaster.predict()
    assert math.isfinite(forecaster.guarantee), "nothing was learnt while another waited"
    forecaster.update(1, first)
    certificate = forecaster.certificate()
    assert forecaster.guarantee is None and certificate.guaranteed is None
    assert "came late" in certificate.broken[0] and not certificate.holds
    forecaster.update(1, second)
    certificate = forecaster.certificate()
    assert certificate.measured <= certificate.after_the_fact and "one a lead time" in str(
        certificate
    )


def test_before_the_first_outcome_nothing_is_owed():
    forecaster = Forecaster(loss="log")
    assert forecaster.guarantee == 0.0 == forecaster.certificate().measured
    assert forecaster.peek().mean == pytest.approx(0.5)

"""Groups of events for the diagram against slow sums, and bands against simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullswap.report.bands import consistency_band, group_events, yes_no_events
from pictures import GRID, calibrated, slow_groups


def test_choice_between_single_forecasts_and_bins():
    rng = np.random.default_rng(7)

    def kind(p, **options):
        return group_events(yes_no_events(np.zeros(len(p)), p), **options)

    percents = np.repeat(np.linspace(0, 1, 101), 5)
    assert not kind(percents).binned and len(kind(percents)) == 101
    assert kind(percents[:-5].repeat(2), bins=4).binned
    finer = np.repeat(np.linspace(0, 1, 102), 50)
    assert kind(finer).binned and len(kind(finer)) == math.ceil(5100 ** (1 / 3))
    assert not kind(finer, grid=np.linspace(0, 1, 102)).binned
    assert kind(finer, grid=GRID).binned
    assert kind(rng.random(50)).binned and len(kind(rng.random(50))) == 4
    assert len(kind(rng.random(8))) == 2
    assert not kind(np.array([0.1, 0.2])).binned


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 1), st.floats(0.01, 100)), min_size=1),
    st.integers(1, 12),
)
def test_bins_part_the_events(rows, bins):
    p, y, w = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    p /= 40
    dots = group_events(yes_no_events(y, p, w), bins)
    assert 1 <= len(dots) <= bins
    assert np.all(np.diff(dots.forecast) > 0)
    assert dots.weight.sum() == pytest.approx(w.sum())
    assert dots.weight @ dots.forecast == pytest.approx(w @ p)
    assert dots.weight @ dots.frequency == pytest.approx(w @ y)
    # Beyond its share, a bin holds at most halves of the two forecasts at its ends, or one alone.
    heaviest = max(total for _, total in slow_groups(y, p, w).values())
    assert dots.weight.max() <= w.sum() / bins + heaviest + 1e-9


def test_a_heavy_forecast_has_its_bin_alone():
    rng = np.random.default_rng(8)
    p = np.concatenate([np.full(600, 0.25), rng.random(400)])
    dots = group_events(yes_no_events(rng.random(1000) < p, p), bins=10)
    place = np.argmax(dots.weight)
    assert dots.forecast[place] == 0.25 and dots.weight[place] == 600


def test_bins_of_continuous_forecasts_have_equal_mass():
    p = np.random.default_rng(9).beta(0.3, 5, 2000)
    dots = group_events(yes_no_events(np.zeros(2000), p), bins=20)
    order = np.sort(p).reshape(20, 100)
    np.testing.assert_array_equal(dots.weight, 100)
    np.testing.assert_allclose(dots.forecast, order.mean(axis=1))


# --- Bands --------------------------------------------------------------------------------


def slow_quantile(n, p, level):
    """Smallest k with P(Binomial(n, p) ≤ k) ≥ level."""
    total = 0.0
    for k in range(n + 1):
        total += math.comb(n, k) * p**k * (1 - p) ** (n - k)
        if total >= level - 1e-12:
            return k
    return n


def band_of(dots, level):
    return consistency_band(dots.forecast, dots.trials, level)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_band_is_made_of_exact_quantiles(level):
    cases = [(n, p) for n in (1, 2, 7, 40, 200) for p in (0.0, 0.003, 0.3, 0.5, 0.91, 1.0)]
    trials, forecast = (np.array(column, dtype=float) for column in zip(*cases, strict=True))
    low, high = consistency_band(forecast, trials, level)
    for (n, p), bottom, top in zip(cases, low, high, strict=True):
        mean = n * p
        first = min(slow_quantile(n, p, (1 - level) / 2), math.floor(mean))
        last = max(slow_quantile(n, p, (1 + level) / 2), math.ceil(mean))
        assert (bottom, top) == pytest.approx((first / n, last / n))


def coverage(events_of, repetitions=400, level=0.9):
    """Share of repetitions in which each group of calibrated events lies in its interval."""
    inside = []
    for seed in range(repetitions):
        dots = group_events(*events_of(np.random.default_rng(seed)))
        low, high = band_of(dots, level)
        inside.append((dots.frequency >= low - 1e-9) & (dots.frequency <= high + 1e-9))
    return np.mean(inside, axis=0)


# Of 400 repetitions the share has standard deviation 0.015.


def test_calibrated_forecasts_lie_in_the_band():
    p = np.repeat([0.03, 0.3, 0.5, 0.85], [200, 400, 400, 300])
    shares = coverage(lambda rng: (yes_no_events(rng.random(len(p)) < p, p),))
    assert len(shares) == 4
    assert np.all(shares > 0.86) and np.all(shares < 0.975)


def test_calibrated_bins_lie_in_the_band():
    p = np.random.default_rng(10).beta(0.5, 1.5, 3000)
    shares = coverage(lambda rng: (yes_no_events(rng.random(len(p)) < p, p), 6))
    assert len(shares) == 6
    assert np.all(shares > 0.86) and np.all(shares < 0.985)


def test_weights_widen_the_band_as_much_as_they_must():
    rng = np.random.default_rng(11)
    p, w = np.repeat([0.2, 0.6], 400), rng.exponential(size=800)
    shares = coverage(lambda rng: (yes_no_events(rng.random(len(p)) < p, p, w),))
    assert np.all(shares > 0.85) and np.all(shares < 0.95)
    trials = group_events(yes_no_events(p > 0.5, p, w)).trials
    np.testing.assert_allclose(trials[0], w[:400].sum() ** 2 / (w[:400] ** 2).sum())


def test_equal_weights_change_nothing():
    y, p = calibrated(500, seed=12)
    plain = band_of(group_events(yes_no_events(y, p)), 0.9)
    scaled = band_of(group_events(yes_no_events(y, p, np.full(500, 0.1))), 0.9)
    np.testing.assert_array_equal(plain, scaled)


def test_unequal_forecasts_keep_the_promise_exactly():
    """Poisson-binomial probability of the interval, by convolution: at least the level."""
    rng = np.random.default_rng(13)
    for count in (1, 3, 10, 60):
        p = rng.random(count) ** 3
        law = np.ones(1)
        for q in p:
            law = np.convolve(law, [1 - q, q])
        for level in (0.05, 0.5, 0.9):
            low, high = consistency_band(p.mean(keepdims=True), np.array([float(count)]), level)
            first, last = round(low[0] * count), round(high[0] * count)
            assert law[first : last + 1].sum() >= level - 1e-12

"""Windows against sums over rows, and the same however rows come."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullswap.metrics import WindowTally
from fullswap.metrics.windows import EDGES, FEWEST, MOST, mean_gap
from metrics_check.cases import logistic, yes_no
from naive.statistics import mean_deviation, window_bounds

FIELDS = ("start", "stop", "bias", "noise", "error", "chance")


def fed(y, p, w=None, cuts=()):
    tally = WindowTally()
    for rows in np.split(np.arange(len(p)), cuts):
        tally.add(y[rows], p[rows], None if w is None else w[rows])
    return tally


@pytest.mark.parametrize("rows", [1, 16, 17, 100, 1000, 1024, 1025, 5000, 70_001])
def test_windows_are_sums_over_their_rows(rows):
    y, p = logistic(rows, rows)
    w = np.random.default_rng(rows).random(rows) + 0.1
    windows = fed(y, p, w).windows()
    bounds = window_bounds(rows, FEWEST, MOST, max(4, round(2 * rows ** (1 / 3))))
    assert list(zip(windows.start, windows.stop, strict=True)) == bounds
    assert windows.count.sum() == rows
    for k, (a, b) in enumerate(bounds):
        v, q, z = w[a:b], p[a:b], y[a:b]
        kind = np.searchsorted(EDGES, q, side="right")
        gaps = np.bincount(kind, v * (q - z))
        assert windows.bias[k] == pytest.approx(np.average(q - z, weights=v), abs=1e-12)
        assert windows.error[k] == pytest.approx(np.abs(gaps).sum() / v.sum(), abs=1e-12)
        noise = np.sqrt(np.sum(v * v * q * (1 - q))) / v.sum()
        assert windows.noise[k] == pytest.approx(noise)
    wide = fed(y, p, w).windows(inflation=4.0)
    np.testing.assert_allclose(wide.noise, 2 * windows.noise)
    np.testing.assert_allclose(wide.chance, 2 * windows.chance)
    assert len(fed(y, p, w).windows(most=1).bias) == 1


@given(st.integers(1, 4000), st.lists(st.integers(0, 4000), max_size=6), st.booleans())
def test_batches_do_not_matter_to_the_bit(rows, cuts, weighted):
    y, p = logistic(rows, 1)
    w = np.random.default_rng(2).random(rows) if weighted else None
    one, two = fed(y, p, w).windows(), fed(y, p, w, sorted(cuts)).windows()
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


@given(st.integers(1, 60), st.sampled_from([0.0, 0.01, 0.1, 0.5, 0.93, 1.0]))
def test_the_mean_gap_of_equal_forecasts_is_exact(n, p):
    sums = np.array([[[n, n * p, 0.0, n * p * (1 - p), n]]])
    assert mean_gap(sums)[0, 0] == pytest.approx(mean_deviation(n, p), abs=1e-12)
    scaled = sums * np.array([3.0, 3, 3, 9, 9])
    assert mean_gap(scaled)[0, 0] == pytest.approx(3 * mean_deviation(n, p), abs=1e-12)


def test_a_calibrated_record_has_the_error_that_chance_gives():
    errors, chances, bias = [], [], []
    for run in range(40):
        y, p = logistic(1500, run)
        windows = fed(y, p).windows()
        errors.append(windows.error.mean())
        chances.append(windows.chance.mean())
        bias += list(windows.bias / windows.noise)
    assert np.mean(errors) == pytest.approx(np.mean(chances), rel=0.03)
    assert np.std(bias) == pytest.approx(1, abs=0.08)


def test_errors_that_cancel_over_time_show_beyond_chance():
    y, p = logistic(8000, 1)
    late, _ = logistic(8000, 1, shift=0.5)
    early, _ = logistic(8000, 1, shift=-0.5)
    flips = np.where(np.arange(8000) < 4000, early, late)
    assert fed(y, p).windows().beyond_chance < 0.01
    assert fed(flips, p).windows().beyond_chance > 0.03
    assert fed(np.zeros(5), np.zeros(5)).windows().beyond_chance == 0


@given(yes_no())
def test_any_record_has_finite_windows(drawn):
    y, p, w = drawn
    windows = fed(y, p, w).windows()
    for name in FIELDS:
        assert np.isfinite(getattr(windows, name)).all()
    with pytest.raises(ValueError, match="at least one row"):
        WindowTally().windows()

"""Smooth calibration error: the linear programme, continuity, and the heap of its kernel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from events import events, slow_groups, triples_of
from fullswap import metrics
from fullswap.kernels.calibration import pop, push

# definitions hold for raw probabilities too
pytestmark = pytest.mark.filterwarnings("ignore::fullswap.metrics.DistinctForecastsWarning")


def slow_smooth(y, p, weights):
    """The linear programme itself."""
    groups = sorted(slow_groups(triples_of(y, p, weights), lambda q: q).items())
    at = np.array([q[0] for q, _ in groups])
    gains = np.array([w * (b[0] - q[0]) for _, (w, q, b) in groups]) / weights.sum()
    slopes = np.eye(len(at))[1:] - np.eye(len(at))[:-1]
    ways = np.diff(at)
    limits = {"A_ub": np.vstack((slopes, -slopes)), "b_ub": np.concatenate((ways, ways))}
    return -linprog(-gains, **(limits if len(at) > 1 else {}), bounds=(-1, 1)).fun


@given(events(classes=(1,)))
def test_smooth_error_solves_the_linear_programme(drawn):
    y, p, weights = drawn
    measured = metrics.smooth_calibration_error(y, p, weights)
    assert measured == pytest.approx(slow_smooth(y, p, weights), rel=1e-7, abs=1e-9)
    assert measured <= metrics.calibration_error(y, p, norm="l1", sample_weight=weights) + 1e-12


@given(events(classes=(1,)), st.integers(0, 99), st.sampled_from([1e-6, 0.01, 0.2]))
def test_smooth_error_is_continuous_in_the_forecasts(drawn, seed, reach):
    y, p, weights = drawn
    moved = (p + np.random.default_rng(seed).uniform(-reach, reach, len(p))).clip(0, 1)
    before = metrics.smooth_calibration_error(y, p, weights)
    after = metrics.smooth_calibration_error(y, moved, weights)
    assert abs(before - after) <= 2 * reach + 1e-12


def test_smooth_error_of_many_events():
    rng = np.random.default_rng(3)
    p = rng.random(3000)
    y = (rng.random(3000) < p).astype(float)
    weights = np.ones(3000)
    expected = slow_smooth(y[:300], p[:300], weights[:300])
    assert metrics.smooth_calibration_error(y[:300], p[:300]) == pytest.approx(expected)
    # distinct forecasts overfit the l1 error; the smooth one is of the order 1/√T
    assert metrics.smooth_calibration_error(y, p) < 0.02
    assert metrics.calibration_error(y, p, norm="l1") > 0.3
    # always 0 where p says so: f = −1 is the best test function, and gives the mean forecast
    assert metrics.smooth_calibration_error(np.zeros(3000), p) == pytest.approx(p.mean())


@given(st.lists(st.integers(-5, 5), max_size=30))
def test_heap_gives_back_in_order(items):
    heap, taken = np.zeros(len(items), dtype=np.int64), []
    for size, item in enumerate(items):
        push(heap, size, item)
    for size in range(len(items), 0, -1):
        taken.append(int(heap[0]))
        pop(heap, size)
    assert taken == sorted(items)

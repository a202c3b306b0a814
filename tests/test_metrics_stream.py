"""Metrics as a stream: the same numbers as in one batch, in any order and split."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from events import TIGHT, events
from fullswap import metrics
from fullswap.metrics import CalibrationTally

# definitions hold for raw probabilities too
pytestmark = pytest.mark.filterwarnings("ignore::fullswap.metrics.DistinctForecastsWarning")
TALLIED = {
    "calibration_error": [
        {"norm": norm, "bins": bins} for norm in ("l1", "l2", "max") for bins in (None, 4)
    ]
    + [{"squared": True}],
    "l2_calibration_error": [{}],
    "kl_calibration_error": [{}],
    "brier_score": [{}],
    "log_loss": [{}],
}


def assert_same_metrics(tally, y, p, weights):
    for name, choices in TALLIED.items():
        for choice in choices:
            batch = getattr(metrics, name)(y, p, sample_weight=weights, **choice)
            assert getattr(tally, name)(**choice) == pytest.approx(batch, **TIGHT), (name, choice)
    for bins in (None, 4):
        batch = metrics.brier_decomposition(y, p, weights, bins=bins)
        stream = tally.brier_decomposition(bins=bins)
        assert vars(stream) == pytest.approx(vars(batch), **TIGHT)
    if np.ndim(p) == 1:
        assert tally.smooth_calibration_error() == pytest.approx(
            metrics.smooth_calibration_error(y, p, weights), **TIGHT
        )
        assert tally.discretised_swap_regret(0.1) == pytest.approx(
            metrics.discretised_swap_regret(y, p, 0.1, sample_weight=weights), **TIGHT
        )
    else:
        for kind in ("top", "joint"):
            batch = metrics.calibration_error(y, p, sample_weight=weights, kind=kind)
            assert tally.calibration_error(kind=kind) == pytest.approx(batch, **TIGHT)


@given(events(), st.integers(0, 99))
def test_stream_equals_batch_in_any_order_and_split(drawn, seed):
    y, p, weights = drawn
    classes = 2 if np.ndim(p) == 1 else p.shape[1]
    rng = np.random.default_rng(seed)
    first, second = CalibrationTally(classes), CalibrationTally(classes)
    part = rng.integers(0, 3, len(p))
    for t in rng.permutation(np.flatnonzero(part == 0)):
        first.update(y[t], p[t], weights[t])
    for tally, number in ((first, 1), (second, 2)):
        if (part == number).any():
            tally.update_many(y[part == number], p[part == number], weights[part == number])
    before = copy.deepcopy(second)
    first.merge(second)
    assert_same_metrics(first, y, p, weights)
    assert second.weight == before.weight
    assert first.weight == pytest.approx(weights.sum())
    assert_same_metrics(pickle.loads(pickle.dumps(first)), y, p, weights)


def test_long_stream_keeps_distinct_forecasts_only():
    rng = np.random.default_rng(5)
    p = rng.integers(0, 21, 5000) / 20
    y = (rng.random(5000) < p).astype(int)
    tally, most = CalibrationTally(), 0
    for t in range(5000):
        tally.update(int(y[t]), float(p[t]))
        most = max(most, len(tally._singles))
    assert most <= 1024
    np.testing.assert_array_equal(tally.forecasts, np.arange(21) / 20)
    assert tally.weight == 5000
    assert_same_metrics(tally, y, p, None)
    tally.merge(tally)
    assert tally.weight == 10_000
    assert tally.calibration_error() == pytest.approx(metrics.calibration_error(y, p))


def test_unlikely_zero_is_not_lost_in_sums():
    tally = CalibrationTally()
    tally.update(1, 1.0, 1e10)
    assert tally.log_loss() == 0.0
    tally.update(0, 1.0, 1e-10)  # vanishes beside the other weight, but it did happen
    assert tally.log_loss() == np.inf
    assert tally.kl_calibration_error() == np.inf


def test_bad_events_leave_the_tally_as_it_was():
    tally = CalibrationTally()
    tally.update(1, 0.5)
    for arguments, name in [
        ((np.nan, 0.5), "y"),
        ((2, 0.5), "y"),
        (("1", 0.5), "y"),
        ((None, 0.5), "y"),
        ((1, -0.1), "p"),
        ((1, [0.5]), "p"),
        ((1, 0.5, -1), "weight"),
        ((1, 0.5, np.inf), "weight"),
    ]:
        with pytest.raises(ValueError, match=rf"^{name} must .*, got"):
            tally.update(*arguments)
    with pytest.raises(ValueError, match=r"y_proba must lie in \[0, 1\], got 2.0 at position 1"):
        tally.update_many([1, 0], [0.5, 2.0])
    with pytest.raises(ValueError, match="this tally has 2 classes"):
        tally.update_many([1], [[0.5, 0.25, 0.25]])
    with pytest.raises(ValueError, match="other must be a CalibrationTally of 2 classes, got"):
        tally.merge(CalibrationTally(3))
    with pytest.raises(ValueError, match="norm must be 'l1', 'l2' or 'max', got 'l3'"):
        tally.calibration_error(norm="l3")
    assert (tally.weight, tally.l2_calibration_error()) == (1.0, 0.25)
    three = CalibrationTally(3)
    with pytest.raises(ValueError, match=r"p must .* sum to 1, got \[0.5, 0.25, 0.0\]"):
        three.update(1, [0.5, 0.25, 0.0])
    with pytest.raises(ValueError, match="y must be whole numbers from 0 to 2, got 3.0"):
        three.update(3, [0.5, 0.25, 0.25])
    three.update(0, [0.5, 0.25, 0.25], weight=0.0)
    with pytest.raises(ValueError, match="must hold an event of positive weight"):
        three.brier_score()
    for classes in (1, 2.0, True, "3"):
        with pytest.raises(ValueError, match="classes must be a whole number >= 2, got"):
            CalibrationTally(classes)

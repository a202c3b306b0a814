"""Raw probabilities: a calibration error of forecasts that are hardly ever made twice warns."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import fullswap as fs
from fullswap import Record, metrics
from fullswap.metrics import DistinctForecastsWarning
from fullswap.report import calibration_history

rng = np.random.default_rng(3)
RAW = rng.random(200)
OUTCOMES = (rng.random(200) < RAW).astype(float)
ROUNDED = np.rint(20 * RAW) / 20


def tallied(name, **settings):
    def measure(y, p):
        tally = metrics.CalibrationTally()
        for outcome, forecast in zip(y, p, strict=True):
            tally.update(outcome, forecast)
        return getattr(tally, name)(**settings)

    return measure


WITHOUT_BINS = [
    metrics.l2_calibration_error,
    metrics.kl_calibration_error,
    metrics.calibration_error,
    metrics.brier_decomposition,
    lambda y, p: metrics.discretised_swap_regret(y, p, 0.05),
    lambda y, p: metrics.discretised_calibration_error(y, p, 0.05),
    calibration_history,
    tallied("l2_calibration_error"),
    tallied("kl_calibration_error"),
    tallied("calibration_error"),
    tallied("brier_decomposition"),
    tallied("discretised_swap_regret", step=0.05),
]


@pytest.mark.parametrize("measure", WITHOUT_BINS)
def test_raw_probabilities_warn_and_say_what_to_do(measure):
    with pytest.warns(DistinctForecastsWarning) as caught:
        measure(OUTCOMES, RAW)
    (warning,) = caught
    text = str(warning.message)
    assert "200 distinct forecasts in 200 events" in text
    assert "calibration_error(y, p, bins=20)" in text


@pytest.mark.parametrize("measure", WITHOUT_BINS)
def test_forecasts_of_a_grid_do_not(measure):
    measure(OUTCOMES, ROUNDED)
    measure(OUTCOMES[:20], RAW[:20])  # so few that a grid too would have them all different


def test_the_trap_is_the_brier_score():
    with pytest.warns(DistinctForecastsWarning):
        error = metrics.l2_calibration_error(OUTCOMES, RAW)
    assert error == pytest.approx(200 * metrics.brier_score(OUTCOMES, RAW))
    assert 200 * metrics.calibration_error(OUTCOMES, RAW, bins=20, squared=True) < error / 3


def test_bins_records_and_metrics_without_groups_do_not_warn():
    metrics.calibration_error(OUTCOMES, RAW, bins=20)
    metrics.brier_decomposition(OUTCOMES, RAW, bins=20)
    tallied("calibration_error", bins=20)(OUTCOMES, RAW)
    tallied("brier_decomposition", bins=20)(OUTCOMES, RAW)
    for measure in (metrics.brier_score, metrics.log_loss, metrics.smooth_calibration_error):
        measure(OUTCOMES, RAW)
    record = fs.Forecaster(10**6, seed=1).run(OUTCOMES[:30])
    assert isinstance(record, Record)
    tally = metrics.CalibrationTally()
    tally.update_many(OUTCOMES[:30], record, of="distributions")
    tally.l2_calibration_error()
    for of in ("issued", "distributions"):
        metrics.l2_calibration_error(OUTCOMES[:30], record, of=of)
        metrics.brier_decomposition(OUTCOMES[:30], record, of=of)


def test_classes_are_counted_by_vectors_or_one_by_one():
    wide = rng.dirichlet(np.ones(3), 100)
    classes = wide.argmax(axis=1)
    for measure in (metrics.l2_calibration_error, metrics.calibration_error):
        with pytest.warns(DistinctForecastsWarning, match="100 distinct forecasts in 100 events"):
            measure(classes, wide)
    # every vector is new, and yet each class has forecasts that come again
    few = np.rint(10 * wide) / 10
    few[:, 2] = 1 - few[:, :2].sum(axis=1)
    metrics.calibration_error(classes, np.clip(np.round(few, 9), 0, 1))


def test_the_warning_points_at_the_caller():
    with pytest.warns(DistinctForecastsWarning) as caught:
        line = inspect.currentframe().f_lineno + 1
        metrics.calibration_error(OUTCOMES, RAW)
    assert (caught[0].filename, caught[0].lineno) == (__file__, line)

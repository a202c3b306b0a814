"""Isotonic curves, their bands and the parts of scores, against slow fits and a library."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from model_diagnostics.scoring import LogLoss, SquaredError
from model_diagnostics.scoring import decompose as oracle

from fullswap.metrics import Cells, curve_of, decompose
from fullswap.metrics.refits import miscalibration_by_chance
from metrics_check.cases import logistic, yes_no
from naive.statistics import isotonic, walks

PARTS = ("miscalibration", "discrimination", "uncertainty", "score")


@given(yes_no(most=25))
def test_the_curve_is_the_isotonic_fit(drawn):
    y, p, w = drawn
    curve = curve_of(Cells.of_events(y, p, w), draws=5)
    slow = isotonic(y, p, w)
    assert list(curve.forecast) == list(slow)
    np.testing.assert_allclose(curve.frequency, list(slow.values()), atol=1e-12)
    assert curve.weight.sum() == pytest.approx(w.sum())
    assert np.all(curve.low <= curve.forecast) and np.all(curve.forecast <= curve.high)


def parts_of(y, p, w, function):
    found = oracle(y, p, weights=w, scoring_function=function)
    return [float(found[name][0]) for name in (*PARTS[:3], "score")]


@given(yes_no())
@pytest.mark.filterwarnings("ignore")  # the library's own
def test_decompositions_equal_the_library(drawn):
    y, p, w = (column[drawn[2] > 0] for column in drawn)
    assume(len(y) > 1)  # the library takes no single row, and weights of 0 ill
    ours = decompose(Cells.of_events(y, p, w))
    np.testing.assert_allclose(
        [getattr(ours, name) for name in PARTS], parts_of(y, p, w, SquaredError()), atol=1e-12
    )
    q = np.clip(p, 1e-3, 1 - 1e-3)
    ours = decompose(Cells.of_events(y, q, w), "log")
    np.testing.assert_allclose(
        [getattr(ours, name) for name in PARTS], parts_of(y, q, w, LogLoss()), atol=1e-12
    )


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_large_decompositions_equal_the_library(ties, weighted):
    y, p = logistic(30_000, 2, slope=0.7)
    p = np.round(p, 2) if ties else p
    w = np.random.default_rng(0).exponential(size=len(p)) if weighted else None
    cells = Cells.of_events(y, p, w)
    pairs = [("brier", SquaredError(), p), ("log", LogLoss(), p)]
    for score, function, q in pairs:
        if ties and score == "log":
            q = np.clip(p, 0.005, 0.995)
            cells = Cells.of_events(y, q, w)
        ours = decompose(cells, score)
        wanted = parts_of(y, q, w, function)
        np.testing.assert_allclose([getattr(ours, n) for n in PARTS], wanted, atol=1e-12)


@given(yes_no(), yes_no(most=3))
def test_parts_add_up_and_are_never_nan(drawn, few):
    for y, p, w in (drawn, few):
        for score in ("brier", "log"):
            parts = decompose(Cells.of_events(y, p, w), score)
            assert parts.miscalibration >= 0 and parts.discrimination >= 0
            assert math.isfinite(parts.discrimination) and math.isfinite(parts.uncertainty)
            total = parts.miscalibration - parts.discrimination + parts.uncertainty
            if score == "log" and np.any((w > 0) & (((p == 0) & (y == 1)) | ((p == 1) & (y == 0)))):
                assert parts.score == parts.miscalibration == math.inf
            else:
                assert parts.score == pytest.approx(total, abs=1e-12)


def test_forecasts_of_0_and_1_that_come_true_cost_nothing():
    cells = Cells.of_events(np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.5, 1.0]))
    assert decompose(cells, "log").score == pytest.approx(math.log(2) / 3)
    alone = decompose(Cells.of_events(np.ones(3), np.ones(3)), "log")
    assert (alone.score, alone.miscalibration, alone.uncertainty) == (0, 0, 0)
    with pytest.raises(ValueError, match="score must be 'brier' or 'log', got 'crps'"):
        decompose(cells, "crps")
    assert decompose(cells, chance=0.01).chance == 0.01


@pytest.mark.parametrize("n, runs", [(100, 60), (3000, 40)])
def test_a_pointwise_band_holds_a_calibrated_fit_nine_times_of_ten(n, runs):
    inside = []
    for run in range(runs):
        y, p = logistic(n, run)
        curve = curve_of(Cells.of_events(y, p), draws=100, seed=run)
        inside.append(1 - curve.outside / len(curve.forecast))
    error = np.std(inside) / np.sqrt(runs)
    assert abs(np.mean(inside) - 0.9) <= 4 * error + 0.03  # at the ends a little wider


@pytest.mark.parametrize("kind", ["even", "weighted", "log"])
def test_a_simultaneous_band_holds_all_of_it(kind):
    runs, held = 80, 0
    for run in range(runs):
        rng = np.random.default_rng(run)
        if kind == "log":
            y, p, event = walks(150, 6, rng)
            cells = Cells.of_events(y, p, event=event)
        else:
            y, p = logistic(400, run)
            cells = Cells.of_events(y, p, rng.random(400) + 0.1 if kind == "weighted" else None)
        curve = curve_of(cells, band="simultaneous", draws=100, seed=run)
        narrow = curve_of(cells, draws=100, seed=run)
        held += curve.outside == 0
        assert np.mean(curve.high - curve.low) > np.mean(narrow.high - narrow.low)
    assert 0.78 <= held / runs <= 0.99


def test_many_cells_are_thinned_but_the_curve_stays():
    y, p = logistic(30_000, 5, slope=0.6)
    cells = Cells.of_events(y, p)
    curve = curve_of(cells, draws=20)
    assert 200 < len(curve.forecast) <= 402
    assert curve.forecast[0] == cells.forecast[0] and curve.forecast[-1] == cells.forecast[-1]
    assert curve.weight.sum() == pytest.approx(30_000)
    between = np.interp(cells.forecast, curve.forecast, curve.frequency)
    exact = cells.isotonic.values
    assert np.all(np.diff(exact) >= 0)
    assert np.mean(np.abs(between - exact)) < 0.002
    assert np.quantile(np.abs(between - exact), 0.99) < 0.02
    np.testing.assert_array_equal(np.isin(curve.frequency, exact), True)


def test_the_stretch_is_where_forecasts_were_moved():
    rng = np.random.default_rng(3)
    p = rng.random(20_000)
    y = (rng.random(20_000) < np.where((p > 0.6) & (p < 0.8), p - 0.15, p)).astype(float)
    stretch = curve_of(Cells.of_events(y, p)).stretch
    assert stretch.low == pytest.approx(0.6, abs=0.06)
    assert stretch.high == pytest.approx(0.8, abs=0.06)
    rows = (p >= stretch.low - 1e-3) & (p <= stretch.high + 1e-3)
    assert stretch.says == pytest.approx(p[rows].mean(), abs=0.01)
    assert stretch.happens == pytest.approx(y[rows].mean(), abs=0.01)
    assert stretch.share == pytest.approx(rows.mean(), abs=0.01)
    assert stretch.happens < stretch.says
    calm = Cells.of_events(np.tile([0.0, 1.0], 50), np.full(100, 0.5))
    assert curve_of(calm).stretch is None and curve_of(calm).outside == 0


@pytest.mark.parametrize("n", [300, 5000, "log"])
def test_miscalibration_by_chance(n):
    rng = np.random.default_rng(2)
    found = []
    for _ in range(60):
        y, p, event = (*logistic(n, 1), None) if n != "log" else walks(200, 8, rng)
        if n != "log":
            y = (rng.random(n) < p).astype(float)
        cells = Cells.of_events(y, p, None, event)
        found.append(decompose(cells).miscalibration)
    chance = miscalibration_by_chance(cells)
    error = 1.25 * np.std(found) * math.sqrt(1 / 60 + 1 / 200)
    assert chance == pytest.approx(np.median(found), abs=4 * error)
    assert error < 0.1 * chance
    assert curve_of(cells).chance == chance


def test_what_is_refused():
    cells = Cells.of_events(np.array([0.0, 1.0]), np.array([0.2, 0.6]))
    with pytest.raises(ValueError, match="band must be 'pointwise' or 'simultaneous'"):
        curve_of(cells, band="both")
    with pytest.raises(ValueError, match="level must be positive"):
        curve_of(cells, level=0)
    with pytest.raises(ValueError, match="draws must be a whole number >= 1"):
        curve_of(cells, draws=0)

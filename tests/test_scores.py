"""Scores of forecasts: loops, the identity of the decomposition, infinite losses."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from events import TIGHT, events, rows_of, slow_groups, triples_of
from fullswap import metrics

# definitions hold for raw probabilities too
pytestmark = pytest.mark.filterwarnings("ignore::fullswap.metrics.DistinctForecastsWarning")


def slow_brier(y, p, weights):
    squares = [sum((q - b) ** 2 for b, q in zip(*row, strict=True)) for row in rows_of(y, p)]
    return sum(w * s for w, s in zip(weights, squares, strict=True)) / sum(weights)


def with_both_sides(row):
    """Yes/no events as two classes."""
    return row if len(row) > 1 else (1 - row[0], row[0])


def slow_log_loss(y, p, weights):
    loss = 0.0
    for (outcome, forecast), w in zip(rows_of(y, p), weights, strict=True):
        for b, q in zip(with_both_sides(outcome), with_both_sides(forecast), strict=True):
            if w > 0 and b > 0:
                loss += w * b * (-math.log(q) if q > 0 else math.inf)
    return loss / sum(weights)


def slow_kl(y, p, weights):
    total = 0.0
    for w, forecast, outcome in slow_groups(triples_of(y, p, weights), lambda q: q).values():
        for b, q in zip(with_both_sides(outcome), with_both_sides(forecast), strict=True):
            if b > 0:
                total += w * b * (math.log(b / q) if q > 0 else math.inf)
    return total


@given(events())
def test_scores_agree_with_loops(drawn):
    y, p, weights = drawn
    assert metrics.brier_score(y, p, weights) == pytest.approx(slow_brier(y, p, weights), **TIGHT)
    assert metrics.log_loss(y, p, weights) == pytest.approx(slow_log_loss(y, p, weights), **TIGHT)
    measured, slow = metrics.kl_calibration_error(y, p, weights), slow_kl(y, p, weights)
    assert measured == pytest.approx(slow, rel=1e-9, abs=1e-12)


@given(events(), st.integers(0, 99))
def test_scores_ignore_order_and_count_repeats(drawn, seed):
    y, p, _ = drawn
    rng = np.random.default_rng(seed)
    repeats = rng.integers(1, 4, len(p))
    order = rng.permutation(int(repeats.sum()))
    many_y, many_p = np.repeat(y, repeats, axis=0)[order], np.repeat(p, repeats, axis=0)[order]
    for score in (metrics.brier_score, metrics.log_loss):
        assert score(y, p, repeats) == pytest.approx(score(many_y, many_p), **TIGHT)


@pytest.mark.parametrize("bins", [None, 1, 7, [0.0, 0.3, 0.35, 1.0]])
@given(events())
def test_decomposition_adds_up_to_the_brier_score(bins, drawn):
    y, p, weights = drawn
    parts = metrics.brier_decomposition(y, p, weights, bins=bins)
    assert parts.brier == pytest.approx(metrics.brier_score(y, p, weights), **TIGHT)
    assert min(parts.reliability, parts.resolution, parts.within_variance) >= 0
    assert parts.resolution <= parts.uncertainty + 1e-12
    rows = np.array([b for b, _ in rows_of(y, p)])
    mean = weights @ rows / weights.sum()
    variance = weights @ ((rows - mean) ** 2).sum(axis=1) / weights.sum()
    assert parts.uncertainty == pytest.approx(variance, **TIGHT)
    settings = {"sample_weight": weights, "squared": True}
    if bins is None:
        reliability = metrics.calibration_error(y, p, kind="joint", **settings)
        assert parts.within_variance == parts.within_covariance == 0.0
    else:
        reliability = metrics.calibration_error(y, p, bins=bins, **settings)
        reliability *= 1 if np.ndim(p) == 1 else p.shape[1]  # a sum over classes, not a mean
    assert parts.reliability == pytest.approx(reliability, **TIGHT)


def test_decomposition_by_hand():
    # two groups: 0.25 issued 4 times (1 happened), 0.75 issued 4 times (2 happened)
    y, p = [1, 0, 0, 0, 1, 1, 0, 0], [0.25] * 4 + [0.75] * 4
    parts = metrics.brier_decomposition(y, p)
    assert parts.reliability == 0.5 * 0.25**2
    assert parts.resolution == pytest.approx(0.125**2)
    assert parts.uncertainty == pytest.approx(3 / 8 * 5 / 8)
    whole = metrics.brier_decomposition(y, p, bins=1)
    assert whole.resolution == pytest.approx(0.0, abs=1e-15)
    assert whole.within_variance == pytest.approx(0.25**2)
    assert whole.within_covariance == pytest.approx(0.25 * 0.125)
    # the best constant forecast has nothing but uncertainty; certainty that is right has no loss
    assert metrics.brier_decomposition(y, [3 / 8] * 8).brier == pytest.approx(15 / 64)
    assert metrics.brier_score([1, 0], [1.0, 0.0]) == 0.0
    assert metrics.brier_score([0, 2], np.eye(3)[[1, 1]]) == 2.0


@given(events(classes=(1,)))
def test_two_classes_as_rows_score_twice_the_brier_and_the_same_log_loss(drawn):
    y, p, weights = drawn
    rows = np.column_stack((1 - y, y)), np.column_stack((1 - p, p))
    brier, loss = metrics.brier_score(y, p, weights), metrics.log_loss(y, p, weights)
    assert metrics.brier_score(*rows, weights) == pytest.approx(2 * brier, **TIGHT)
    assert metrics.log_loss(*rows, weights) == pytest.approx(loss, rel=1e-9, abs=1e-12)


def test_impossible_events_cost_infinitely_much():
    for y, p in [([1], [0.0]), ([0], [1.0]), ([0.1], [0.0]), ([2], [[0.5, 0.5, 0.0]])]:
        assert metrics.log_loss(y, p) == math.inf
        assert metrics.kl_calibration_error(y, p) == math.inf
        assert metrics.log_loss([*y, y[0]], [*p, p[0]], [1, 0]) == math.inf
    sure = [0, 1, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]
    assert math.copysign(1, metrics.log_loss(*sure)) == 1.0
    assert metrics.log_loss(*sure) == metrics.kl_calibration_error(*sure) == 0.0
    assert metrics.log_loss([1, 0], [0.0, 0.5], [0, 1]) == pytest.approx(math.log(2))
    # 1 − p rounds to 1 here, its logarithm must not be lost
    assert metrics.log_loss([0], [1e-20]) == pytest.approx(1e-20, abs=0)


@given(events())
def test_kl_is_what_log_loss_gains_by_recalibration(drawn):
    y, p, weights = drawn
    groups = slow_groups(triples_of(y, p, weights), lambda q: q)
    kept = weights > 0
    y, p, weights = y[kept], p[kept], weights[kept]
    means = np.array([groups[q][2] for _, q in rows_of(y, p)]).clip(0, 1)
    mended = means if p.ndim > 1 else means[:, 0]
    kl = metrics.kl_calibration_error(y, p, weights)
    lost = weights.sum() * metrics.log_loss(y, p, weights)
    assert lost == pytest.approx(
        kl + weights.sum() * metrics.log_loss(y, mended, weights), rel=1e-7, abs=1e-9
    )
    # Pinsker: KL ≥ ½·‖p − ȳ‖₁², which is 2·(p − ȳ)² for two classes
    factor = 2 if p.ndim == 1 else 0.5
    assert kl >= factor * metrics.l2_calibration_error(y, p, weights) - 1e-9

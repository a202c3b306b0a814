"""Calibration errors of forecasts: agreement with dictionary loops, laws, distributions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from events import (
    TIGHT,
    as_events,
    bin_of,
    events,
    one_class,
    runs,
    slow_error,
    slow_groups,
    triples_of,
)
from fullswap import Record, metrics
from fullswap.losses import Quadratic
from fullswap.metrics.groups import Groups, distinct_rows, l2_of
from fullswap.metrics.reading import read, read_events
from fullswap.metrics.scores import brier_of
from fullswap.sets import Interval, Simplex

# definitions hold for raw probabilities too
pytestmark = pytest.mark.filterwarnings("ignore::fullswap.metrics.DistinctForecastsWarning")
BINS = {"none": None, "five": 5, "edges": [0.0, 0.15, 0.5, 1.0]}
EDGES = {"five": [k / 5 for k in range(6)], "edges": BINS["edges"]}


@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
@pytest.mark.parametrize("name", BINS)
@given(events())
def test_error_per_event_agrees_with_loops(norm, name, drawn):
    y, p, weights = drawn
    key = (lambda q: q) if name == "none" else bin_of(EDGES[name])
    triples = triples_of(y, p, weights)

    def measured(kind="classwise"):
        return metrics.calibration_error(
            y, p, norm=norm, sample_weight=weights, bins=BINS[name], kind=kind, squared=True
        )

    if np.ndim(p) == 1:
        assert measured() == pytest.approx(slow_error(triples, key, norm), **TIGHT)
        return
    classwise = [slow_error(one_class(triples, k), key, norm) for k in range(p.shape[1])]
    expected = max(classwise) if norm == "max" else sum(classwise) / len(classwise)
    assert measured() == pytest.approx(expected, **TIGHT)
    best = [(b[np.argmax(q)], max(q), w) for b, q, w in triples]
    top = slow_error([((b,), (q,), w) for b, q, w in best], key, norm)
    assert measured("top") == pytest.approx(top, **TIGHT)
    if name == "none":
        assert measured("joint") == pytest.approx(slow_error(triples, key, norm), **TIGHT)


@given(events())
def test_l2_sum_is_weight_times_error_per_event(drawn):
    y, p, weights = drawn
    total = metrics.l2_calibration_error(y, p, weights)
    joint = {"sample_weight": weights, "kind": "joint"}
    mean = metrics.calibration_error(y, p, squared=True, **joint)
    assert total == pytest.approx(weights.sum() * mean, **TIGHT)
    root = metrics.calibration_error(y, p, **joint)
    assert total == pytest.approx(weights.sum() * root**2, **TIGHT)
    slow = slow_groups(triples_of(y, p, weights), lambda q: q).values()
    expected = sum(weight * ((q - b) ** 2).sum() for weight, q, b in slow)
    assert total == pytest.approx(expected, **TIGHT)


def test_known_values():
    y, p = [1, 0, 0, 1, 1, 0], [0.5, 0.5, 0.5, 0.5, 1.0, 1.0]
    assert metrics.l2_calibration_error(y, p) == 0.5
    assert metrics.calibration_error(y, p) == pytest.approx((0.5 / 6) ** 0.5)
    assert metrics.calibration_error(y, p, norm="l1") == pytest.approx(1 / 6)
    assert metrics.calibration_error(y, p, norm="max") == 0.5
    assert metrics.calibration_error(y, p, bins=1) == pytest.approx(4 / 6 - 1 / 2)
    # exactly calibrated tenths are exactly 0, whatever 0.1 is in binary
    assert metrics.l2_calibration_error([1] + [0] * 9, [0.1] * 10) == 0.0
    assert metrics.l2_calibration_error([True, False], [0.0, -0.0]) == 0.5
    # three forecasts on edges of ten bins: each opens the bin to its right
    on_edges = [0.3, 0.6, 0.7]
    assert metrics.calibration_error([0, 0, 0], on_edges, norm="max", bins=10) == 0.7
    shifted = [q + 0.05 for q in on_edges]
    both = metrics.calibration_error([0] * 6, on_edges + shifted, norm="max", bins=10)
    assert both == pytest.approx(0.725)


@given(events(), st.integers(0, 99))
def test_order_repeats_and_empty_weights_do_not_matter(drawn, seed):
    y, p, _ = drawn
    rng = np.random.default_rng(seed)
    repeats = rng.integers(0, 4, len(p))
    repeats[0] = 1
    order = rng.permutation(int(repeats.sum()))
    many_y, many_p = np.repeat(y, repeats, axis=0)[order], np.repeat(p, repeats, axis=0)[order]
    for norm in ("l1", "l2", "max"):
        weighed = metrics.calibration_error(y, p, norm=norm, sample_weight=repeats)
        assert weighed == pytest.approx(
            metrics.calibration_error(many_y, many_p, norm=norm), **TIGHT
        )
    assert metrics.l2_calibration_error(y, p, repeats) == pytest.approx(
        metrics.l2_calibration_error(many_y, many_p), **TIGHT
    )


@given(events(classes=(3,), soft=False), st.integers(0, 99))
def test_classes_in_another_order_have_the_same_errors(drawn, seed):
    y, p, weights = drawn
    order = np.random.default_rng(seed).permutation(3)
    moved = np.argsort(order)[y]
    for kind in ("classwise", "joint"):
        same = metrics.calibration_error(moved, p[:, order], sample_weight=weights, kind=kind)
        assert same == pytest.approx(
            metrics.calibration_error(y, p, sample_weight=weights, kind=kind), **TIGHT
        )


@given(events(classes=(1,)))
def test_two_classes_as_rows(drawn):
    y, p, weights = drawn
    exact = np.round(p * 64) / 64  # so that 1 − p separates the same forecasts
    rows = np.column_stack((1 - exact, exact)), np.column_stack((1 - y, y))
    one = metrics.l2_calibration_error(y, exact, weights)
    assert metrics.l2_calibration_error(rows[1], rows[0], weights) == pytest.approx(2 * one)
    classwise = metrics.calibration_error(rows[1], rows[0], sample_weight=weights, squared=True)
    assert classwise == pytest.approx(one / weights.sum(), **TIGHT)


# --- distributions ----------------------------------------------------------------------------


METRICS = [
    metrics.l2_calibration_error,
    metrics.kl_calibration_error,
    metrics.brier_score,
    metrics.log_loss,
    metrics.calibration_error,
    lambda y, p, **about: metrics.calibration_error(y, p, kind="joint", norm="l1", **about),
    lambda y, p, **about: metrics.brier_decomposition(y, p, **about).resolution,
]
DISCRETISED = [metrics.discretised_swap_regret, metrics.discretised_calibration_error]


@given(runs())
def test_distributions_are_weighted_events(run):
    record, outcomes, weights = run
    y, p, mass = as_events(*run)
    for metric in METRICS:
        whole = metric(outcomes, record, sample_weight=weights, of="distributions")
        assert whole == pytest.approx(metric(y, p, sample_weight=mass), rel=1e-9, abs=1e-12)
        ones = metric(outcomes, record, sample_weight=np.ones(len(record)), of="distributions")
        assert metric(outcomes, record, of="distributions") == pytest.approx(ones, **TIGHT)
    choice = {"step": 0.25} if p.ndim == 1 else {"actions": np.eye(3)}
    for metric in DISCRETISED:
        whole = metric(outcomes, record, **choice, sample_weight=weights, of="distributions")
        assert whole == pytest.approx(metric(y, p, **choice, sample_weight=mass), **TIGHT)


@given(runs())
def test_a_record_stands_for_what_it_issued(run):
    record, y, weights = run
    for metric in METRICS:
        same = metric(y, record.issued, sample_weight=weights)
        assert metric(y, record, sample_weight=weights) == pytest.approx(same, rel=1e-9, abs=1e-12)
    choice = {"step": 0.25} if record.points.ndim == 1 else {"actions": np.eye(3)}
    for metric in DISCRETISED:
        same = metric(y, record.issued, **choice, sample_weight=weights)
        assert metric(y, record, **choice, sample_weight=weights) == pytest.approx(same, **TIGHT)
    if record.points.ndim == 1:
        for of, about in (
            ("issued", (y, record.issued, weights)),
            ("distributions", as_events(*run)),
        ):
            assert metrics.smooth_calibration_error(y, record, weights, of=of) == pytest.approx(
                metrics.smooth_calibration_error(*about), **TIGHT
            )


def as_learner(record, outcomes):
    """The record of a learner that played the same against the squared loss."""
    points, kinds = np.unique(record.points, axis=0, return_inverse=True)
    binary = points.ndim == 1
    centres = outcomes[:, None] if binary else np.eye(3)[outcomes]
    return Record.of_rows(
        points.reshape(len(points), -1), kinds[record.indices], record.weights,
        action_set=Interval(0, 1) if binary else Simplex(2),
        losses=[Quadratic(centre) for centre in centres],
    )  # fmt: skip


@given(runs())
def test_calibration_is_the_swap_regret_of_the_squared_loss(run):
    record, outcomes, _ = run
    learner = as_learner(record, outcomes)
    full = metrics.full_swap_regret(learner)
    error = metrics.l2_calibration_error(outcomes, record, of="distributions")
    assert error == pytest.approx(full, rel=1e-6, abs=1e-9)
    points = record.points
    actions = np.arange(5) / 4 if points.ndim == 1 else np.vstack([np.eye(3), points[:1]])
    regret = metrics.discretised_swap_regret(learner, actions=actions.reshape(len(actions), -1))
    assert metrics.discretised_swap_regret(
        outcomes, record, actions=actions, of="distributions"
    ) == pytest.approx(regret, rel=1e-6, abs=1e-9)


@given(events(classes=(1,)), st.sampled_from([1, 2, 4, 20]))
def test_discretised_quantities_agree_with_loops(drawn, parts):
    y, p, weights = drawn
    line = [k / parts for k in range(parts + 1)]
    for forecasts in (p, np.round(p * parts) / parts):
        regret = rounded = 0.0
        for weight, q, b in slow_groups(triples_of(y, forecasts, weights), lambda q: q).values():
            nearest = min(line, key=lambda a, b=b: (round(abs(a - b[0]), 12), a))
            regret += weight * max((q[0] - b[0]) ** 2 - (nearest - b[0]) ** 2, 0)
            rounded += weight * (q[0] - nearest) ** 2
        arguments = (y, forecasts, 1 / parts)
        measured = metrics.discretised_swap_regret(*arguments, sample_weight=weights)
        diagnostic = metrics.discretised_calibration_error(*arguments, sample_weight=weights)
        assert measured == pytest.approx(regret, **TIGHT)
        assert diagnostic == pytest.approx(rounded, **TIGHT)
        assert metrics.discretised_swap_regret(
            y, forecasts, actions=line[::-1], sample_weight=weights
        ) == pytest.approx(measured, **TIGHT)
    assert measured <= 2 * diagnostic + 1e-12, "forecasts on the grid"
    assert measured <= metrics.l2_calibration_error(y, forecasts, weights) + 1e-12


def test_rounded_means_punish_what_no_forecaster_can_avoid():
    # outcomes half-way between two multiples: 0.25 or 0.5, each about right, by a hair wrong
    y = [1] * 376 + [0] * 624
    regret = metrics.discretised_swap_regret(y, [0.25] * 1000, 0.25)
    diagnostic = metrics.discretised_calibration_error(y, [0.25] * 1000, 0.25)
    assert (regret, diagnostic) == (pytest.approx(0.5), pytest.approx(62.5))


# --- groups ---------------------------------------------------------------------------------


@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 30))
def test_equal_rows_are_found(seed, width, size):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (size, width)) / 2
    rows[rng.random(rows.shape) < 0.2] *= -1  # −0.0 is 0.0
    distinct, kinds = distinct_rows(rows)
    np.testing.assert_array_equal(distinct[kinds], rows)
    assert len(distinct) == len({tuple(row) for row in rows.tolist()})


def test_equal_rows_of_many_columns():
    # 40 columns of 4 values: 2⁸⁰ combinations do not fit 64 bits, and the first column differs
    rng = np.random.default_rng(1)
    rows = np.tile(rng.integers(0, 4, (20, 40)) / 4, (4, 1))
    rows[:, 0] = np.repeat(np.arange(4), 20) / 4
    rows = np.concatenate((rows, rows))[rng.permutation(160)]
    distinct, kinds = distinct_rows(rows)
    assert len(distinct) == 80
    np.testing.assert_array_equal(distinct[kinds], rows)


@given(runs())
def test_both_readings_give_the_same_groups(run):
    record, outcomes, weights = run
    for of, about in (
        ("distributions", as_events(*run)),
        ("issued", (outcomes, record.issued, weights)),
    ):
        by_point = read(outcomes, record, weights, of)
        merged = read_events(*about).distinct()
        rows = [np.lexsort(groups.forecasts.T) for groups in (by_point, merged)]
        for name in ("forecasts", "weights", "counts", "squares"):
            one, other = getattr(by_point, name)[rows[0]], getattr(merged, name)[rows[1]]
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


@given(events())
def test_groups_from_sums_have_the_same_error(drawn):
    y, p, weights = drawn
    groups = read_events(y, p, weights).distinct()
    points, sums = (x[:, 0] if p.ndim == 1 else x for x in (groups.forecasts, groups.sums))
    unseen = np.zeros((1, *points.shape[1:]))
    again = Groups.of_sums(
        np.concatenate((points, unseen)), np.append(groups.weights, 0.0),
        np.concatenate((sums, unseen)), np.concatenate((groups.squares, groups.squares[:1])),
    )  # fmt: skip
    assert len(again) == len(groups)
    assert l2_of(again) == metrics.l2_calibration_error(y, p, weights)
    assert brier_of(again) == pytest.approx(metrics.brier_score(y, p, weights), **TIGHT)
    np.testing.assert_allclose(again.counts, groups.counts, atol=1e-12)

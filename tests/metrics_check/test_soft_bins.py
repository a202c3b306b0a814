"""Class-wise and top-label errors in soft bins, against sums over single events."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullswap import Record, metrics
from fullswap.metrics.soft_bins import arcsine_knots, soft_sums
from naive import soft_bins as slow


def events(seed, rounds, classes, concentration=0.4):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(classes, concentration), rounds)
    if rounds > 2:
        p[0] = np.eye(classes)[-1]  # ends of the unit interval are knots
    y = np.array([rng.choice(classes, p=row) for row in p])
    return y, p / p.sum(axis=1, keepdims=True), rng.exponential(size=rounds) * (rng.random() < 0.5)


CASES = st.tuples(st.integers(0, 10**6), st.integers(1, 25), st.integers(2, 5), st.integers(1, 12))


@given(CASES)
def test_classwise_error_is_the_slow_one(case):
    seed, rounds, classes, bins = case
    y, p, w = events(seed, rounds, classes)
    w = w if w.any() else np.ones(rounds)
    found = metrics.classwise_calibration_error(y, p, bins=bins, sample_weight=w)
    s = slow.knots(bins)
    expected = np.array([slow.soft_square(y == k, p[:, k], w, s) for k in range(classes)])
    np.testing.assert_allclose(found.sums, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.by_class, np.sqrt(expected / w.sum()), atol=1e-9)
    assert found.total == pytest.approx(np.sqrt(expected.sum() / w.sum()))
    assert found.error == pytest.approx(found.total / np.sqrt(classes))
    assert found.by_class[found.worst] == found.by_class.max()


@given(CASES, st.sampled_from(["l1", "l2", "max"]))
def test_top_label_error_is_the_slow_one(case, norm):
    seed, rounds, classes, bins = case
    y, p, _ = events(seed, rounds, classes)
    declared = np.random.default_rng(seed).integers(0, classes, rounds)
    for labels, given_labels in ((p.argmax(axis=1), None), (declared, declared)):
        said = p[np.arange(rounds), labels]
        found = metrics.top_label_calibration_error(y, p, given_labels, bins=bins, norm=norm)
        cells = [
            (m, abs(r) / m)
            for m, r in slow.soft_bins(y == labels, said, np.ones(rounds), slow.knots(bins))
            if m > 1e-12
        ]
        expected = {
            "l1": sum(m * gap for m, gap in cells) / rounds,
            "l2": np.sqrt(sum(m * gap**2 for m, gap in cells) / rounds),
            "max": max(gap for _, gap in cells),
        }
        assert found == pytest.approx(expected[norm], abs=1e-7)


@given(st.integers(0, 10**6), st.sampled_from(["l1", "l2", "max"]))
def test_hard_bins_are_those_of_calibration_error(seed, norm):
    y, p, _ = events(seed, 40, 4)
    for bins in (1, 15, [0.0, 0.3, 1.0]):
        expected = metrics.calibration_error(y, p, kind="top", bins=bins, norm=norm)
        found = metrics.top_label_calibration_error(y, p, bins=bins, soft=False, norm=norm)
        assert found == pytest.approx(expected, abs=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 12))
def test_forecasts_on_the_knots_have_the_error_of_equal_forecasts(seed, bins):
    rng = np.random.default_rng(seed)
    p = rng.choice(arcsine_knots(bins), 60)
    y = rng.integers(0, 2, 60)
    soft = metrics.classwise_calibration_error(y, p, bins=bins)
    assert soft.sums.shape == (1,)
    assert soft.error == pytest.approx(metrics.calibration_error(y, p), abs=1e-7)


@given(st.integers(0, 10**6))
def test_a_soft_error_moves_little_where_a_hard_one_jumps(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 50)
    near = np.where(y == 1, 0.5 - 1e-9, 0.5 + 1e-9)  # told apart by hard bins alone
    soft = [metrics.classwise_calibration_error(y, p, bins=2).error for p in (near, near * 0 + 0.5)]
    assert soft[0] == pytest.approx(soft[1], abs=1e-4)
    assert metrics.calibration_error(y, near, bins=2) == pytest.approx(0.5, abs=1e-6)


def test_hats_sum_to_one_and_keep_the_mean():
    p = np.concatenate([np.linspace(0, 1, 101), arcsine_knots(7)])
    knots = arcsine_knots(7)
    held, gaps, noise = soft_sums(p, np.zeros(len(p)), np.ones(len(p)), knots)
    assert held.sum() == pytest.approx(len(p)) and held @ knots == pytest.approx(p.sum())
    assert -(held @ gaps) == pytest.approx(p.sum())
    assert (noise > 0).all()


def test_a_calibrated_forecaster_shows_its_noise():
    rng = np.random.default_rng(5)
    p = np.repeat(rng.dirichlet([0.5, 1.0, 3.0], 40), 3, axis=0)
    w = rng.exponential(size=len(p))
    found = []
    for _ in range(2000):
        y = (rng.random((len(p), 1)) > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
        found.append(metrics.classwise_calibration_error(y, p, sample_weight=w))
    sums = np.array([one.sums for one in found])
    error = sums.std(axis=0) / np.sqrt(len(sums))
    assert (np.abs(sums.mean(axis=0) - found[0].noise) < 4 * error).all()
    np.testing.assert_allclose(found[0].chance, np.sqrt(found[0].noise / w.sum()))


def test_yes_no_events_have_two_labels_and_one_class():
    y, p = np.array([1, 0, 0, 1]), np.array([0.9, 0.2, 0.7, 0.6])
    two = np.column_stack([1 - p, p])
    assert metrics.top_label_calibration_error(y, p) == metrics.top_label_calibration_error(y, two)
    words = ["yes", "no", "no", "yes"]
    one = metrics.classwise_calibration_error(words, p)
    assert one.by_class[0] == metrics.classwise_calibration_error(y, two).by_class[1]


def test_rows_and_indices_are_the_same_outcomes():
    y, p, _ = events(3, 30, 4)
    rows = np.eye(4)[y]
    for metric in (
        lambda y: metrics.classwise_calibration_error(y, p).total,
        lambda y: metrics.top_label_calibration_error(y, p),
    ):
        assert metric(rows) == metric(y) == metric(y.tolist())


def test_records_are_read_as_issued():
    grid = np.array([[0.2, 0.8], [0.6, 0.4]])
    drawn = np.array([0, 1, 1])
    record = Record(grid, drawn[:, None], np.ones((3, 1)), drawn)
    y = [0, 1, 0]
    found = metrics.classwise_calibration_error(y, record)
    assert found.total == metrics.classwise_calibration_error(y, grid[drawn]).total
    own = metrics.top_label_calibration_error(y, record)
    assert own == metrics.top_label_calibration_error(y, grid[drawn])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(bins=0), "bins must be a whole number"),
        (dict(bins=[0.0, 0.5, 1.5]), "knots from 0 to 1"),
        (dict(declared=[0, 1]), r"declared must have shape \(3,\)"),
        (dict(declared=[0, 1, 3]), "declared must be whole numbers from 0 to 2, got 3"),
        (dict(norm="l3"), "norm must be"),
        (dict(soft="no"), "soft must be True or False"),
        (dict(y_true=[0, 1, 3]), "y_true must be whole numbers from 0 to 2"),
        (dict(y_true=[0, 1]), "y_true must have shape"),
        (dict(sample_weight=[1, 1, -1]), "sample_weight must lie"),
    ],
)
def test_what_is_refused(change, message):
    own = dict(y_true=[0, 1, 2], y_proba=np.full((3, 3), 1 / 3)) | change
    with pytest.raises(ValueError, match=message):
        metrics.top_label_calibration_error(**own)

"""Calibration errors: agreement with dictionary loops, laws, streams, and bad input."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from fullswap import metrics
from fullswap.kernels.calibration import pop, push
from fullswap.losses import Quadratic
from fullswap.metrics import CalibrationTally
from fullswap.metrics.outcomes import distinct_rows, read_distributions, read_events
from fullswap.sets import Interval, Simplex
from fullswap.transcripts import Transcript

TIGHT = {"rel": 1e-10, "abs": 1e-13}


@st.composite
def events(draw, classes=(1, 3, 4), soft=True):
    """Draw (y_true, y_proba, weights) with repeated forecasts among the others."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    size, width = draw(st.integers(1, 40)), draw(st.sampled_from(classes))
    weights = rng.choice([0.0, 0.5, 1.0, 2.0, rng.random()], size)
    weights[rng.integers(size)] = 1.5
    hard = not soft or draw(st.booleans())
    if width == 1:
        p = np.where(rng.random(size) < 0.5, rng.integers(0, 6, size) / 5, rng.random(size))
        y = rng.integers(0, 2, size).astype(float) if hard else rng.random(size)
        return y, p, weights
    pool = np.vstack([rng.dirichlet(np.ones(width), 3), np.eye(width)])
    p = pool[rng.integers(len(pool), size=size)]
    if hard:
        return rng.integers(0, width, size), p, weights
    return rng.dirichlet(np.ones(width), size), p, weights


@st.composite
def runs(draw, classes=(1, 3)):
    """Draw (points, labels, weights, outcomes, sample_weight); some points coincide."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    width, rounds = draw(st.sampled_from(classes)), draw(st.integers(1, 25))
    if width == 1:
        points, outcomes = rng.integers(0, 5, 6) / 4, rng.random(rounds)
    else:
        points = rng.dirichlet(np.ones(width), 6)
        points[4] = points[1]
        outcomes = rng.integers(0, width, rounds)
    labels = rng.integers(0, 6, (rounds, 3))
    shares = rng.dirichlet(np.ones(3), rounds) * (rng.random((rounds, 3)) < 0.7)
    shares[:, 0] += 1 - shares.sum(axis=1)
    return points, labels, shares, outcomes, rng.random(rounds) + 0.1


def rows_of(y, p):
    """Outcomes and forecasts as tuples, one an event."""
    p = np.asarray(p, dtype=float)
    if p.ndim == 1:
        return [((float(b),), (float(q),)) for b, q in zip(y, p, strict=True)]
    y = np.asarray(y)
    y = np.eye(p.shape[1])[y.astype(int)] if y.ndim == 1 else y
    return [(tuple(map(float, b)), tuple(map(float, q))) for b, q in zip(y, p, strict=True)]


def slow_groups(triples, key):
    """{key: (weight, mean forecast, mean outcome)} of (outcome, forecast, weight) triples."""
    held: dict = {}
    for b, q, w in triples:
        if w > 0:
            held.setdefault(key(q), []).append((np.array(b), np.array(q), w))
    return {
        k: (
            sum(w for *_, w in group),
            sum(w * q for _, q, w in group) / sum(w for *_, w in group),
            sum(w * b for b, _, w in group) / sum(w for *_, w in group),
        )
        for k, group in held.items()
    }


def slow_error(triples, key, norm):
    groups = slow_groups(triples, key).values()
    total = sum(weight for weight, *_ in groups)
    gaps = [(weight, np.abs(p - y)) for weight, p, y in groups]
    if norm == "max":
        return max(gap.max() for _, gap in gaps)
    power = {"l1": 1, "l2": 2}[norm]
    return sum(weight * (gap**power).sum() for weight, gap in gaps) / total


def triples_of(y, p, weights):
    return [(b, q, w) for (b, q), w in zip(rows_of(y, p), weights, strict=True)]


def one_class(triples, k):
    return [((b[k],), (q[k],), w) for b, q, w in triples]


def bin_of(edges):
    """Number of the bin [e_i, e_{i+1}), the last one closed."""
    return lambda q: min(sum(edge <= q[0] for edge in edges[1:]), len(edges) - 2)


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


def as_issued(points, labels, shares, outcomes, weights):
    """Every entry of every distribution as an event of its own."""
    rounds, width = labels.shape
    return (
        np.repeat(outcomes, width, axis=0),
        points[labels.ravel()],
        (shares * weights[:, None]).ravel(),
    )


@given(runs())
def test_distributions_are_weighted_events(run):
    points, labels, shares, outcomes, weights = run
    y, p, mass = as_issued(*run)
    assert metrics.l2_calibration_error_of(*run) == pytest.approx(
        metrics.l2_calibration_error(y, p, mass), **TIGHT
    )
    assert metrics.l2_calibration_error_of(*run[:4]) == pytest.approx(
        metrics.l2_calibration_error_of(*run[:4], np.ones(len(labels))), **TIGHT
    )
    choice = {"step": 0.25} if points.ndim == 1 else {"actions": np.eye(3)}
    for name in ("discretised_swap_regret_of", "discretised_calibration_error_of"):
        issued = getattr(
            metrics, name.replace("regret_of", "regret_issued").replace("error_of", "error")
        )
        assert getattr(metrics, name)(*run[:4], **choice, sample_weight=weights) == pytest.approx(
            issued(y, p, **choice, sample_weight=mass), **TIGHT
        )


def squared_loss_transcript(points, labels, shares, outcomes):
    grid = points.reshape(len(points), -1)
    centres = np.eye(3)[outcomes] if points.ndim == 2 else outcomes[:, None]
    action_set = Simplex(2) if points.ndim == 2 else Interval(0, 1)
    losses = [Quadratic(centre) for centre in centres]
    return Transcript.from_rows(action_set, grid, labels, shares, losses)


@given(runs())
def test_calibration_is_the_swap_regret_of_the_squared_loss(run):
    points, labels, shares, outcomes, _ = run
    distinct, kinds = np.unique(points, axis=0, return_inverse=True)
    transcript = squared_loss_transcript(distinct, kinds[labels], shares, outcomes)
    full = metrics.full_swap_regret(transcript)
    assert metrics.l2_calibration_error_of(*run[:4]) == pytest.approx(full, rel=1e-6, abs=1e-9)
    actions = np.arange(5) / 4 if points.ndim == 1 else np.vstack([np.eye(3), points[:1]])
    regret = metrics.discretised_swap_regret(transcript, actions.reshape(len(actions), -1))
    assert metrics.discretised_swap_regret_of(*run[:4], actions=actions) == pytest.approx(
        regret, rel=1e-6, abs=1e-9
    )


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
        measured = metrics.discretised_swap_regret_issued(*arguments, sample_weight=weights)
        diagnostic = metrics.discretised_calibration_error(*arguments, sample_weight=weights)
        assert measured == pytest.approx(regret, **TIGHT)
        assert diagnostic == pytest.approx(rounded, **TIGHT)
        assert metrics.discretised_swap_regret_issued(
            y, forecasts, actions=line[::-1], sample_weight=weights
        ) == pytest.approx(measured, **TIGHT)
    assert measured <= 2 * diagnostic + 1e-12, "forecasts on the grid"
    assert measured <= metrics.l2_calibration_error(y, forecasts, weights) + 1e-12


def test_rounded_means_punish_what_no_forecaster_can_avoid():
    # outcomes half-way between two multiples: 0.25 or 0.5, each about right, by a hair wrong
    y = [1] * 376 + [0] * 624
    regret = metrics.discretised_swap_regret_issued(y, [0.25] * 1000, 0.25)
    diagnostic = metrics.discretised_calibration_error(y, [0.25] * 1000, 0.25)
    assert (regret, diagnostic) == (pytest.approx(0.5), pytest.approx(62.5))


# --- smooth calibration error -----------------------------------------------------------------


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


# --- streams ----------------------------------------------------------------------------------

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
            metrics.discretised_swap_regret_issued(y, p, 0.1, sample_weight=weights), **TIGHT
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
        with pytest.raises(ValueError, match=rf"^{name} is .*allowed"):
            tally.update(*arguments)
    with pytest.raises(ValueError, match=r"y_proba\[1\] is 2.0"):
        tally.update_many([1, 0], [0.5, 2.0])
    with pytest.raises(ValueError, match="this tally has 2 classes"):
        tally.update_many([1], [[0.5, 0.25, 0.25]])
    with pytest.raises(ValueError, match="other is"):
        tally.merge(CalibrationTally(3))
    with pytest.raises(ValueError, match=r"norm is 'l3'; allowed: 'l1'"):
        tally.calibration_error(norm="l3")
    assert (tally.weight, tally.l2_calibration_error()) == (1.0, 0.25)
    three = CalibrationTally(3)
    with pytest.raises(ValueError, match=r"p\[0\] sums to 0.75"):
        three.update(1, [0.5, 0.25, 0.0])
    with pytest.raises(ValueError, match=r"y\[0\] is 3.0; allowed: integers from 0 to 2"):
        three.update(3, [0.5, 0.25, 0.25])
    three.update(0, [0.5, 0.25, 0.25], weight=0.0)
    with pytest.raises(ValueError, match="no events of positive weight"):
        three.brier_score()
    for classes in (1, 2.0, True, "3"):
        with pytest.raises(ValueError, match="classes is"):
            CalibrationTally(classes)


# --- arguments --------------------------------------------------------------------------------

THIRDS = [[0.5, 0.5, 0.0], [0.2, 0.2, 0.6]]
BAD_EVENTS = [
    (([1, 0], [0.5, np.nan]), r"y_proba\[1\] is nan; allowed: numbers in \[0, 1\]"),
    (([1, 0], [0.5, np.inf]), r"y_proba\[1\] is inf"),
    (([1, 0], [-1e-9, 0.5]), r"y_proba\[0\] is -1e-09"),
    (([1, 2], [0.5, 0.5]), r"y_true\[1\] is 2.0"),
    (([np.nan, 1], [0.5, 0.5]), r"y_true\[0\] is nan"),
    (([1], [0.5, 0.5]), r"y_true has shape \(1,\); allowed: \(2,\)"),
    (([], []), r"y_proba has shape \(0,\)"),
    ((1, 0.5), r"y_proba has shape \(\)"),
    (([1, 0], [[0.5], [0.5]]), r"y_proba has shape \(2, 1\)"),
    ((["a", "b"], [0.5, 0.5]), "y_true is .*real numbers"),
    ((np.array(["1", "0"], dtype=object), [0.5, 0.5]), "y_true is .*real numbers"),
    ((np.ma.array([1, 0], mask=[0, 1]), [0.5, 0.5]), "(?s)y_true is .*real numbers"),
    (([1, 0], [0.5, 0.5j]), "y_proba is .*real numbers"),
    (([1, 0], [0.5, 0.5], [1, -1]), r"sample_weight\[1\] is -1.0"),
    (([1, 0], [0.5, 0.5], [1, np.inf]), r"sample_weight\[1\] is inf"),
    (([1, 0], [0.5, 0.5], [0, 0]), "sample_weight is 0 for every event"),
    (([1, 0], [0.5, 0.5], [1]), r"sample_weight has shape \(1,\)"),
    (([0, 2], [[0.5, 0.5, 0.1], [0.2, 0.2, 0.6]]), r"y_proba\[0\] sums to 1.1"),
    (([0, 3], THIRDS), r"y_true\[1\] is 3.0; allowed: integers from 0 to 2"),
    (([0, 0.5], THIRDS), r"y_true\[1\] is 0.5"),
    (([0, np.nan], THIRDS), r"y_true\[1\] is nan"),
    (([[1, 0, 0], [0.5, 0, 0]], THIRDS), r"y_true\[1\] sums to 0.5"),
    (([[1, 0, 0], [2, -1, 0]], THIRDS), r"y_true\[1, 0\] is 2.0"),
    (([[1, 0], [0, 1]], THIRDS), r"y_true has shape \(2, 2\); allowed: class indices"),
]
ISSUED = [
    lambda y, p, w=None: metrics.calibration_error(y, p, sample_weight=w),
    metrics.l2_calibration_error,
    metrics.kl_calibration_error,
    metrics.brier_score,
    metrics.brier_decomposition,
    metrics.log_loss,
    metrics.smooth_calibration_error,
    lambda y, p, w=None: metrics.discretised_swap_regret_issued(y, p, 0.5, sample_weight=w),
    lambda y, p, w=None: metrics.discretised_calibration_error(y, p, 0.5, sample_weight=w),
]


@pytest.mark.parametrize("arguments, message", BAD_EVENTS)
def test_bad_events_are_named(arguments, message):
    for metric in ISSUED:
        with pytest.raises(ValueError, match=message):
            metric(*arguments)


GOOD_RUN = ([0.0, 0.5], [[0, 1]], [[0.5, 0.5]], [1])


@pytest.mark.parametrize(
    "place, value, message",
    [
        (0, [0.0, 1.5], r"points\[1\] is 1.5"),
        (0, [], r"points has shape \(0,\); allowed: \(n,\)"),
        (1, [[0, 2]], r"labels\[0, 1\] is 2.0; allowed: integers from 0 to 1"),
        (1, [[0, -1]], r"labels\[0, 1\] is -1.0"),
        (1, [[0, 0.5]], r"labels\[0, 1\] is 0.5"),
        (1, [0, 1], r"labels has shape \(2,\); allowed: \(1, 2\)"),
        (2, [[0.5, 0.4]], r"weights\[0\] sums to 0.9"),
        (2, [[1.5, -0.5]], r"weights\[0, 0\] is 1.5"),
        (2, [[np.nan, 0.5]], r"weights\[0, 0\] is nan"),
        (2, [0.5, 0.5], r"weights has shape \(2,\)"),
        (3, [2], r"outcomes\[0\] is 2.0"),
        (3, [1, 0], r"outcomes has shape \(2,\)"),
    ],
)
def test_bad_distributions_are_named(place, value, message):
    arguments = [*GOOD_RUN[:place], value, *GOOD_RUN[place + 1 :]]
    for metric in (
        metrics.l2_calibration_error_of,
        metrics.kl_calibration_error_of,
        lambda *run: metrics.discretised_swap_regret_of(*run, 0.5),
        lambda *run: metrics.discretised_calibration_error_of(*run, step=0.5),
    ):
        metric(*GOOD_RUN)
        with pytest.raises(ValueError, match=message):
            metric(*arguments)


def test_bad_choices_are_named():
    y, p = [1, 0], [0.5, 0.5]
    for choice, message in [
        ({"norm": "L2"}, "norm is 'L2'; allowed: 'l1', 'l2', 'max'"),
        ({"kind": "all"}, "kind is 'all'; allowed: 'classwise'"),
        ({"bins": 0}, "bins is 0"),
        ({"bins": 2.5}, "bins is 2.5"),
        ({"bins": True}, "bins is True"),
        ({"bins": np.nan}, "bins is nan"),
        ({"bins": [0.1, 1]}, "bins is .*from 0"),
        ({"bins": [0, 0.5, 0.5, 1]}, "bins is .*increasing"),
        ({"bins": [0, np.nan, 1]}, "bins is .*increasing"),
    ]:
        with pytest.raises(ValueError, match=message):
            metrics.calibration_error(y, p, **choice)
    with pytest.raises(ValueError, match="bins is 3; allowed: None for kind='joint'"):
        metrics.calibration_error([0, 1], THIRDS, kind="joint", bins=3)
    for step in (0.3, 0, -0.5, 2, np.nan, "0.3", 1e-9, True):
        with pytest.raises(ValueError, match="step must divide 1"):
            metrics.discretised_swap_regret_issued(y, p, step)
    with pytest.raises(ValueError, match="step is None and actions is None"):
        metrics.discretised_swap_regret_issued(y, p)
    with pytest.raises(ValueError, match="one of them"):
        metrics.discretised_swap_regret_issued(y, p, 0.5, actions=[0, 1])
    with pytest.raises(ValueError, match=r"step is 0.5; allowed: None for classes"):
        metrics.discretised_swap_regret_issued([0, 1], THIRDS, 0.5)
    with pytest.raises(ValueError, match="actions have 3 coordinates"):
        metrics.discretised_swap_regret_issued(y, p, actions=np.eye(3))
    with pytest.raises(ValueError, match="y_proba has 3 classes"):
        metrics.smooth_calibration_error([0, 1], THIRDS)


@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 30))
def test_equal_rows_are_found(seed, width, size):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (size, width)) / 2
    rows[rng.random(rows.shape) < 0.2] *= -1  # −0.0 is 0.0
    distinct, labels = distinct_rows(rows)
    np.testing.assert_array_equal(distinct[labels], rows)
    assert len(distinct) == len({tuple(row) for row in rows.tolist()})


def test_equal_rows_of_many_columns():
    # 40 columns of 4 values: 2⁸⁰ combinations do not fit 64 bits, and the first column differs
    rng = np.random.default_rng(1)
    rows = np.tile(rng.integers(0, 4, (20, 40)) / 4, (4, 1))
    rows[:, 0] = np.repeat(np.arange(4), 20) / 4
    rows = np.concatenate((rows, rows))[rng.permutation(160)]
    distinct, labels = distinct_rows(rows)
    assert len(distinct) == 80
    np.testing.assert_array_equal(distinct[labels], rows)


@given(runs())
def test_both_readings_give_the_same_groups(run):
    read = read_distributions(*run)
    merged = read_events(*as_issued(*run)).distinct()
    rows = [np.lexsort(groups.forecasts.T) for groups in (read, merged)]
    for name in ("forecasts", "weights", "counts", "squares"):
        one, other = getattr(read, name)[rows[0]], getattr(merged, name)[rows[1]]
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)

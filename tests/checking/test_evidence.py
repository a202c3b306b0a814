"""Evidence of whole logs: validity at every moment, power, batches, streams, events, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checking.evidence_cases import logs, short_log
from fullswap.checking.evidence import EvidenceRun, e_bh, evidence_of
from fullswap.theorems import LEDGER
from fullswap.theorems.evidence import Flags, Threshold
from miscalibrated import TABLE, forecasts, logit, sigmoid, stream

LINE = math.log10(20)
BEST_KNOWN = {
    "slope .75": 506, "slope .6": 191, "shift .25": 856, "top": 776, "wiggle": 913, "flip": 312,
    "rare": 2646,
}  # fmt: skip
"""Median events to 20 : 1 of the best of several mixtures, each column by another one."""


def same(a, b):
    return (
        a.log10 == b.log10
        and a.log10_most == b.log10_most
        and (a.most_at, a.events, a.since, a.direction)
        == (b.most_at, b.events, b.since, b.direction)
        and a.positions.tolist() == b.positions.tolist()
        and a.history.tolist() == b.history.tolist()
        and a.impossible.tolist() == b.impossible.tolist()
    )


# --- what is promised -----------------------------------------------------------------------------


def ever_found(runs, n, draw):
    """How many of these calibrated streams ever reach 20 : 1."""
    return sum(evidence_of(*draw(np.random.default_rng([3, k]), n)).log10_most >= LINE
               for k in range(runs))  # fmt: skip


def right(rng, n):
    p = forecasts("right", n, rng)
    return (rng.random(n) < p).astype(float), p


def right_and_rare(rng, n):
    p = forecasts("rare", n, rng)
    return (rng.random(n) < p).astype(float), p


def right_and_changing(rng, n):
    """Inputs move from 5 % to 95 %, and p follows as it should."""
    p = sigmoid(np.linspace(-3, 3, n) + rng.standard_normal(n))
    return (rng.random(n) < p).astype(float), p


@pytest.mark.theorem("evidence at every moment")
@pytest.mark.parametrize("draw", [right, right_and_rare, right_and_changing])
def test_right_forecasts_are_seldom_found_wrong(draw):
    runs = 150
    allowed = LEDGER["evidence at every moment"].bound(Threshold(20))
    assert ever_found(runs, 1500, draw) <= runs * allowed + 3 * math.sqrt(runs * allowed)


@pytest.mark.slow
@pytest.mark.parametrize("draw", [right, right_and_rare, right_and_changing])
def test_a_thousand_right_streams_looked_at_after_every_event(draw):
    assert ever_found(1000, 10_000, draw) <= 50


@pytest.mark.parametrize("name", TABLE)
def test_found_nearly_as_fast_as_by_the_best_bet_known(name):
    firsts = []
    for k in range(60):
        n = 8000 if name == "rare" else 4000
        run = EvidenceRun(checkpoints=n)
        run.add(*stream(name, n, np.random.default_rng([7, k])))
        found = run.result()[0]
        beyond = found.positions[found.history >= LINE]
        firsts.append(beyond[0] + 1 if len(beyond) else math.inf)
    assert np.median(firsts) <= 1.25 * BEST_KNOWN[name]


def test_what_begins_late_is_found():
    rng = np.random.default_rng(1)
    y, p = right(rng, 20_000)
    worse = sigmoid(logit(p) + np.where(np.arange(len(p)) >= 15_000, 0.6, 0.0))
    y = (rng.random(len(p)) < worse).astype(float)
    found = evidence_of(y, p)
    assert found.log10 > 20 and found.direction == "too low"
    assert abs(found.since - 15_000) < 300
    assert found.history[np.searchsorted(found.positions, 14_900)] < LINE


@pytest.mark.theorem("flags of right streams")
def test_flags_are_seldom_false():
    """Twenty segments in one log, two of them wrong, at every length of the log."""
    level, shares, found = 0.05, [], 0
    for k in range(60):
        rng = np.random.default_rng([8, k])
        segment = rng.integers(20, size=6000)
        p = forecasts("right", 6000, rng)
        chance = np.where(segment < 2, sigmoid(0.5 * logit(p)), p)
        y = (rng.random(6000) < chance).astype(float)
        values = evidence_of(y, p, stream=segment, streams=20)
        flags = e_bh([found.log10 for found in values], level)
        shares.append(flags[2:].sum() / max(flags.sum(), 1))
        found += flags[:2].sum()
    assert np.mean(shares) <= LEDGER["flags of right streams"].bound(Flags(level))
    assert found > 60  # of 120 that are wrong


def test_e_bh_is_the_rule():
    def slow(values, level):
        m = len(values)
        order = sorted(range(m), key=lambda i: -values[i])
        best = max(
            [k for k in range(1, m + 1) if 10 ** values[order[k - 1]] * k * level >= m] or [0]
        )
        return [i in order[:best] for i in range(m)]

    rng = np.random.default_rng(0)
    for _ in range(200):
        values = rng.normal(1.5, 1.0, rng.integers(1, 12)).tolist()
        assert e_bh(values, 0.1).tolist() == slow(values, 0.1)
    assert e_bh([]).tolist() == []


# --- rounding, weights, events --------------------------------------------------------------------


def test_rounded_forecasts_are_right_up_to_rounding():
    rng = np.random.default_rng(4)
    true = rng.choice([0.02, 0.14, 0.33, 0.52], 60_000)  # all rounded the same way but one
    y = (rng.random(len(true)) < true).astype(float)
    said = np.round(true / 0.1) * 0.1
    assert evidence_of(y, said).log10 > 10
    assert evidence_of(y, said, step=0.1).log10_most < LINE
    worse = (rng.random(len(true)) < np.minimum(said + 0.12, 1)).astype(float)
    assert evidence_of(worse, said, step=0.1).log10 > 10


@pytest.mark.parametrize("end", [0.0, 1.0])
def test_rounded_to_an_end_and_wrong_is_found(end):
    y = (np.arange(400) % 4 == 0).astype(float)
    y = 1 - y if end else y
    found = evidence_of(y, np.full(400, end), step=0.1)
    assert found.log10 > 10 and not len(found.impossible)


def test_many_forecasts_of_one_event_count_once():
    """A calibrated in-game log: naive products find it wrong, events do not."""
    rng = np.random.default_rng(6)
    wrong, naive_wrong = 0, 0
    for _ in range(40):
        # a walk that ends above 0: the chance of that, at each of ten moments
        level = np.cumsum(rng.standard_normal((200, 11)), axis=1)
        scaled = level[:, :10] / np.sqrt(2 * np.arange(10, 0, -1))
        p = 0.5 * np.vectorize(math.erfc)(-scaled)
        y = np.repeat((level[:, 10] > 0).astype(float), 10)
        event = np.repeat(np.arange(200), 10)
        wrong += evidence_of(y, p.ravel(), event=event).log10_most >= LINE
        naive_wrong += evidence_of(y, p.ravel()).log10_most >= LINE
    assert wrong <= 3 and naive_wrong >= 20


def test_an_event_enters_with_its_last_row():
    y, p = np.array([1.0, 0, 1, 0]), np.array([0.4, 0.2, 0.7, 0.9])
    together = evidence_of(y, p, event=[5, 1, 5, 2], checkpoints=10)
    assert together.events == 3 and together.positions.tolist() == [1, 2, 3]
    alone = evidence_of(y[[1, 0, 2, 3]], p[[1, 0, 2, 3]], event=[1, 5, 5, 2], checkpoints=10)
    assert alone.history.tolist() == together.history.tolist()


def test_weights_of_one_change_nothing_and_of_zero_pay_nothing():
    y, p, _, _ = short_log(9, n=60)
    assert same(evidence_of(y, p), evidence_of(y, p, weight=np.ones(60)))
    nothing = evidence_of(y, p, weight=np.zeros(60))
    np.testing.assert_allclose(nothing.history, 0, atol=1e-11)


# --- batches and streams --------------------------------------------------------------------------


@given(log=logs, cuts=st.sets(st.integers(0, 40)), step=st.sampled_from([None, 0.1]))
def test_batches_change_nothing(log, cuts, step):
    y, p = (np.array(column, float) for column in zip(*log, strict=True))
    whole, parts = EvidenceRun(step=step, checkpoints=8), EvidenceRun(step=step, checkpoints=8)
    whole.add(y, p)
    for part in np.split(np.arange(len(y)), sorted(cuts)):
        parts.add(y[part], p[part])
    assert (whole._state == parts._state).all()
    assert same(whole.result()[0], parts.result()[0])


@given(seed=st.integers(0, 1000), classes=st.sampled_from([2, 3]))
def test_a_stream_among_others_is_as_if_alone(seed, classes):
    rng = np.random.default_rng(seed)
    y, p, weight, event = short_log(seed, n=40, classes=classes, events=True, weights=True)
    segment = rng.integers(3, size=40)
    # one outcome for each event, in all streams alike
    every = evidence_of(y, p, weight=weight, event=event, stream=segment, streams=4)
    renamed = evidence_of(y, p, weight=weight, event=event, stream=2 - segment, streams=4)
    for s in range(3):
        own = np.flatnonzero(segment == s)
        alone = evidence_of(y[own], p[own], weight=weight[own], event=event[own])
        assert every[s].history.tolist() == alone.history.tolist()
        assert every[s].positions.tolist() == own[alone.positions].tolist()
        assert same(every[s], renamed[2 - s])
    assert every[3].events == 0 and every[3].log10 == 0 and every[3].since == -1


def test_history_is_thinned_and_ends_now():
    y, p = right(np.random.default_rng(0), 5000)
    full, few = EvidenceRun(checkpoints=5000), EvidenceRun(checkpoints=20)
    full.add(y, p)
    few.add(y, p)
    long, short = full.result()[0], few.result()[0]
    assert 10 <= len(short.positions) <= 21
    assert short.positions[-1] == 4999
    assert (long.history[short.positions] == short.history).all()


def test_impossible_rows_are_named_and_enter_as_clipped():
    y, p = np.array([1.0, 0, 0, 1]), np.array([0.0, 1.0, 0.0, 1.0])
    found = evidence_of(y, p)
    assert found.impossible.tolist() == [0, 1]
    clipped = evidence_of(y[:2], np.array([1e-4, 1 - 1e-4]))
    assert found.history[1] == pytest.approx(clipped.history[1], abs=1e-9)
    assert math.isfinite(found.log10)
    table = np.array([[0.0, 0.5, 0.5], [0.2, 0.3, 0.5]])
    assert evidence_of([0, 1], table).impossible.tolist() == [0]


# --- words and classes ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shift", "slope", "words"),
    [
        (0.5, 1.0, "too low"), (-0.5, 1.0, "too high"), (0.0, 0.6, "over-confident"),
        (0.0, 1.7, "under-confident"), (0.8, 0.6, "too low and over-confident"),
    ],
)  # fmt: skip
def test_directions(shift, slope, words):
    rng = np.random.default_rng(2)
    p = forecasts("right", 5000, rng)
    y = (rng.random(5000) < sigmoid(shift + slope * logit(p))).astype(float)
    found = evidence_of(y, p)
    assert found.direction == words
    assert abs(found.shift - shift) <= 0.3 and abs(found.slope - slope) <= 0.2


def test_a_slope_is_a_shift_for_rare_events():
    y, p = stream("rare", 20_000, np.random.default_rng(2))
    assert evidence_of(y, p).direction == "too low"


def test_the_place_is_named_if_only_some_forecasts_are_wrong():
    y, p = stream("wiggle", 20_000, np.random.default_rng(2))
    found = evidence_of(y, p)
    middle = (found.low + found.high) / 2
    assert found.high - found.low < 0.2
    assert np.sign(found.shift) == np.sign(np.sin(6 * np.pi * middle))
    assert " between " in found.direction


def test_thousand_classes_run_and_wrong_temperatures_are_found():
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.full(1000, 0.05), 300)
    y = np.array([rng.choice(1000, p=row) for row in p])
    assert evidence_of(y, p).log10_most < LINE
    hot = p**2.5
    found = evidence_of(y, hot / hot.sum(axis=1, keepdims=True))
    assert found.log10 > 5 and found.direction == "over-confident"


def test_the_class_that_comes_too_often_is_named():
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.ones(4), 3000)
    true = p * np.array([1, 1, 1.8, 1])
    true /= true.sum(axis=1, keepdims=True)
    y = np.array([rng.choice(4, p=row) for row in true])
    found = evidence_of(y, p)
    assert found.log10 > 10 and found.direction == "too low for class 2" and found.label == 2


def test_two_columns_are_yes_and_no():
    y, p, _, _ = short_log(1)
    assert evidence_of(y, np.column_stack((1 - p, p))).log10 == pytest.approx(
        evidence_of(y, p).log10, abs=1e-9
    )


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [0, 2]}, "y must be whole numbers from 0 to 1, got 2 at position 1"),
        ({"y": [0, np.nan]}, "y must be whole numbers from 0 to 1"),
        ({"y": [0]}, "y must be as long as p"),
        ({"p": [0.5, 1.5]}, "p must lie in .0, 1., got 1.5 at position 1"),
        ({"p": [0.5, np.nan]}, "p must be finite"),
        ({"p": [[0.5, 0.4, 0.3], [0, 0, 1]]}, "p must be probabilities that sum to 1"),
        ({"weight": [1, 2]}, "weight must lie in .0, 1., got 2.0"),
        ({"weight": [1]}, "weight must be as long as p"),
        ({"event": [1]}, "event must be as long as p"),
        ({"stream": [0, -1]}, "stream must be whole numbers"),
        ({"step": 0.0}, "step must be positive, got 0.0"),
        ({"step": 0.7}, "step must be at most 0.5, got 0.7"),
        ({"checkpoints": 1}, "checkpoints must be a whole number"),
    ],
)
def test_refusals(change, message):
    given = {"y": [0, 1], "p": [0.4, 0.6], **change}
    with pytest.raises(ValueError, match=message):
        evidence_of(given.pop("y"), given.pop("p"), **given)


@pytest.mark.parametrize("level", [0, 1.5, "5%"])
def test_levels_that_are_none(level):
    with pytest.raises(ValueError, match="level must"):
        e_bh([1.0], level)


def test_a_refused_batch_changes_nothing():
    run = EvidenceRun()
    run.add([1.0, 0.0], [0.5, 0.2])
    before = run._state.copy()
    with pytest.raises(ValueError, match="p must"):
        run.add([1.0, 0.0], [0.5, 2.0])
    with pytest.raises(ValueError, match="event must"):
        run.add([1.0, 0.0], [0.5, 0.2], event=[1])
    assert (run._state == before).all()
    assert run.result()[0].positions[-1] == 1

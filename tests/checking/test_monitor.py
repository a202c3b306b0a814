"""Monitors: run lengths, alarms by their definition, one event after the other or many at once."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fullswap as fs
from checking.evidence_cases import KINDS, logs, naive_factors, short_log
from fullswap.checking.bets import prior_of
from fullswap.checking.evidence import evidence_of
from fullswap.kernels.evidence import ALARMS
from fullswap.theorems import LEDGER
from fullswap.theorems.evidence import Watch
from miscalibrated import forecasts, logit, sigmoid
from naive import evidence as naive


def state(monitor):
    """All that a monitor is."""
    return (
        monitor._row.tobytes(), monitor.alarms, monitor._waiting, monitor.drift_detected,
        repr(monitor),
    )  # fmt: skip


def right(rng, n, spread=1.5):
    p = sigmoid(spread * rng.standard_normal(n))
    return (rng.random(n) < p).astype(float), p


# --- what is promised -----------------------------------------------------------------------------


def rings(monitor):
    """How often it rang, for whatever flaw."""
    return sum(alarm.rings for alarm in monitor.alarms)


@pytest.mark.theorem("alarms of right forecasts")
@pytest.mark.parametrize("run_length", [20, 200])
def test_right_forecasts_ring_once_in_a_run_length_at_most(run_length):
    firsts, alarms, events = [], 0, 0
    for k in range(60):
        monitor = fs.Monitor(run_length)
        y, p = right(np.random.default_rng([1, k]), 30 * run_length)
        monitor.update(y, p)
        alarms, events = alarms + rings(monitor), events + monitor.events
        firsts.append(monitor.alarms[0].at if monitor.alarms else 30 * run_length)
    allowed = LEDGER["alarms of right forecasts"].bound(Watch(events, run_length))
    assert 0 < alarms <= allowed
    assert np.mean(firsts) >= run_length


@pytest.mark.parametrize("drift", ["inputs", "noise"])
def test_changing_inputs_ring_no_more_often(drift):
    """Losses change by a factor of three while every chance stays right."""
    run_length, alarms, events = 1000, 0, 0
    for k in range(25):
        rng = np.random.default_rng([2, k])
        n = 4000
        spread = np.where(np.arange(n) < n // 2, 3.0, 0.3)
        logits = spread * rng.standard_normal(n)
        if drift == "inputs":
            logits = np.linspace(-4, 2, n) + rng.standard_normal(n)
        p = sigmoid(logits)
        monitor = fs.Monitor(run_length)
        monitor.update((rng.random(n) < p).astype(float), p)
        alarms, events = alarms + rings(monitor), events + n
    assert alarms <= events / run_length


@pytest.mark.parametrize(("shift", "slope", "words"), [
    (0.5, 1.0, "too low"), (-0.5, 1.0, "too high"), (0.0, 0.6, "over-confident"),
])  # fmt: skip
def test_wrong_forecasts_ring_within_hundreds_of_events(shift, slope, words):
    delays, since, said = [], [], []
    for k in range(20):
        rng = np.random.default_rng([3, k])
        p = forecasts("right", 6000, rng)
        wrong = np.arange(6000) >= 3000
        chance = np.where(wrong, sigmoid(shift + slope * logit(p)), p)
        monitor = fs.Monitor()
        monitor.update((rng.random(6000) < chance).astype(float), p)
        late = [alarm for alarm in monitor.alarms if alarm.at > 3000]
        delays.append(late[0].at - 3000 if late else math.inf)
        since.append(late[0].since - 3000)
        said.append(late[0].direction)
    assert np.median(delays) < 550
    assert abs(np.median(since)) < 60
    assert sum(words in each for each in said) >= 15


def test_it_begins_anew_after_an_alarm_and_counts_what_goes_on_as_one():
    monitor, ends = fs.Monitor(1000), []
    for t in range(400):
        monitor.update(1, 0.5)
        if monitor.drift_detected:
            ends.append(t + 1)
    assert len(ends) > 5
    gaps = np.diff([0, *ends])
    assert gaps[1:].max() <= gaps[0] + 1  # as fast as at the start, for curves have learnt
    assert len(monitor.alarms) == 1
    alarm = monitor.alarm
    assert (alarm.at, alarm.since, alarm.last, alarm.rings) == (ends[0], 0, ends[-1], len(ends))
    assert f"It has rung {len(ends)} times, last after {ends[-1]} events." in str(alarm)


def test_what_goes_wrong_after_it_was_right_again_is_another_alarm():
    rng = np.random.default_rng(9)
    p = rng.uniform(0.1, 0.9, 6000)
    wrong = (np.arange(6000) // 1500) % 2 == 1  # right, wrong, right, wrong
    y = (rng.random(6000) < np.where(wrong, p**2, p)).astype(float)
    monitor = fs.Monitor(10_000)
    monitor.update(y, p)
    assert len(monitor.alarms) == 2
    for alarm, begin in zip(monitor.alarms, (1500, 4500), strict=True):
        assert abs(alarm.since - begin) < 150 and begin < alarm.at < begin + 600
        assert alarm.last <= begin + 1700 and alarm.rings > 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("run_length", [1.5, 6])
def test_alarms_are_those_of_the_definition(kind, run_length):
    options = KINDS[kind]
    y, p, weight, event = short_log(11, n=30, **options)
    classes, step = (p.shape[1] if p.ndim == 2 else 2), options.get("step")
    table, _ = naive_factors(y, p, weight, event, step)
    prior = prior_of(classes).tolist()
    monitor = fs.Monitor(run_length, classes=classes, step=step)
    monitor.update(y, p, event=event, weight=weight)
    wanted = naive.episodes(naive.alarms(prior, table, run_length))
    assert wanted or run_length > 2
    assert [(a.at, a.since, a.last, a.rings) for a in monitor.alarms] == wanted
    assert monitor.evidence == pytest.approx(naive.evidence(prior, table)[-1], rel=1e-9)


def test_evidence_is_that_of_the_log():
    y, p = right(np.random.default_rng(0), 700)
    monitor = fs.Monitor(50)
    monitor.update(y, p)
    found = evidence_of(y, p)
    assert monitor.log10_evidence == found.log10
    assert monitor.log10_evidence_most == found.log10_most
    assert monitor.most_at == found.most_at + 1
    assert monitor.evidence == pytest.approx(10**found.log10)


def test_evidence_beyond_all_floats():
    monitor = fs.Monitor()
    monitor.update(np.ones(5000), np.full(5000, 0.5))
    assert monitor.evidence == math.inf == monitor.evidence_most
    assert 1000 < monitor.log10_evidence == monitor.log10_evidence_most
    assert "10^" in str(monitor)


# --- one after the other, or many at once ---------------------------------------------------------


@given(log=logs, cuts=st.sets(st.integers(0, 40)), step=st.sampled_from([None, 0.1]))
def test_singles_batches_and_the_whole_are_one(log, cuts, step):
    y, p = (np.array(column, float) for column in zip(*log, strict=True))
    whole, parts, singles = (fs.Monitor(3, step=step) for _ in range(3))
    whole.update(y, p)
    for part in np.split(np.arange(len(y)), sorted(cuts)):
        parts.update(y[part], p[part])
    rang = []
    for outcome, said in zip(y, p, strict=True):
        singles.update(int(outcome), float(said))
        rang.append(singles.drift_detected)
    assert whole._row.tobytes() == parts._row.tobytes() == singles._row.tobytes()
    assert whole.alarms == parts.alarms == singles.alarms
    assert sum(rang) == rings(whole)
    assert {alarm.at - 1 for alarm in whole.alarms} <= set(np.flatnonzero(rang).tolist())
    assert whole.drift_detected == any(rang)


@pytest.mark.parametrize("classes", [2, 4])
def test_singles_of_every_kind_are_the_batch(classes):
    y, p, weight, _ = short_log(3, n=60, classes=classes, weights=True)
    whole, singles = fs.Monitor(5, classes=classes), fs.Monitor(5, classes=classes)
    whole.update(y, p, weight=weight)
    for t in range(len(y)):
        singles.update(y[t], p[t] if classes > 2 else float(p[t]), weight=weight[t])
    assert whole._row.tobytes() == singles._row.tobytes()
    assert whole.alarms == singles.alarms


def test_numbers_of_every_type():
    kinds = [
        (1, 0.25), (True, np.float64(0.25)), (1.0, np.float32(0.25)), (np.int64(1), 0.25),
        (np.bool_(True), np.array(0.25)), ([1], [0.25]), (np.array([True]), (0.25,)),
    ]  # fmt: skip
    rows = []
    for y, p in kinds:
        monitor = fs.Monitor()
        monitor.update(y, p)
        rows.append(monitor._row.tobytes())
    assert len(set(rows)) == 1


# --- outcomes that come late ----------------------------------------------------------------------


def test_expect_and_resolve_are_an_event():
    late, at_once = fs.Monitor(5), fs.Monitor(5)
    late.update(1, 0.3)
    late.expect(0.4, event="match")
    late.expect(0.8, event=("cup", 3))
    late.update(0, 0.6)
    late.expect(0.7, event="match", weight=0.5)
    assert late.pending == ("match", ("cup", 3)) and late.events == 2
    late.resolve("match", 1)
    late.drop(event=("cup", 3))
    assert late.pending == () and late.events == 3
    at_once.update([1, 0], [0.3, 0.6])
    at_once.update([1, 1], [0.4, 0.7], event=["match", "match"], weight=[1, 0.5])
    assert late._row.tobytes() == at_once._row.tobytes()


@pytest.mark.parametrize("unknown", [None, math.nan])
def test_outcomes_not_known_yet_wait(unknown):
    monitor, other = fs.Monitor(), fs.Monitor()
    monitor.update(unknown, 0.3, event="a")
    monitor.update([unknown, 1, unknown], [0.5, 0.6, 0.2], event=["a", None, "b"])
    assert monitor.pending == ("a", "b") and monitor.events == 1
    monitor.update(1, 0.9, event="a")
    other.update([1, 1, 1, 1], [0.6, 0.3, 0.5, 0.9], event=[None, "a", "a", "a"])
    assert monitor._row.tobytes() == other._row.tobytes()
    before = monitor.events
    monitor.update([unknown, unknown], [0.1, 0.2])  # nameless: nobody could ever resolve them
    assert (monitor.events, monitor.pending) == (before, ("b",))


@given(seed=st.integers(0, 500))
def test_events_of_a_batch_are_those_noted_before(seed):
    y, p, weight, event = short_log(seed, n=30, events=True, weights=True)
    batch, waits = fs.Monitor(4), fs.Monitor(4)
    batch.update(y, p, event=event, weight=weight)
    last = {code: t for t, code in enumerate(event.tolist())}
    for t, code in enumerate(event.tolist()):
        if t < last[code]:
            waits.expect(p[t], event=code, weight=weight[t])
        else:
            waits.update(y[t], float(p[t]), event=code, weight=weight[t])
    assert batch._row.tobytes() == waits._row.tobytes()
    assert batch.alarms == waits.alarms and waits.pending == ()


def test_classes_wait_too():
    monitor, other = fs.Monitor(classes=3), fs.Monitor(classes=3)
    monitor.expect([0.2, 0.3, 0.5], event=1)
    monitor.expect([0.1, 0.3, 0.6], event=1)
    monitor.resolve(1, 2)
    other.update([2, 2], [[0.2, 0.3, 0.5], [0.1, 0.3, 0.6]], event=[7, 7])
    assert monitor._row.tobytes() == other._row.tobytes()


# --- copies, words --------------------------------------------------------------------------------


@pytest.mark.parametrize("again", [
    copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)),
    lambda m: fs.Monitor.from_json(m.to_json()),
])  # fmt: skip
@pytest.mark.parametrize("classes", [2, 3])
def test_a_copy_goes_on_alone_and_alike(again, classes):
    y, p, _, _ = short_log(4, n=80, classes=classes)
    monitor = fs.Monitor(4, classes=classes, step=0.02)
    monitor.expect(p[0], event=b"late")
    monitor.update(y, p)
    before = state(monitor)
    other = again(monitor)
    assert state(other) == before
    other.update(y, p)
    other.resolve(b"late", 1)
    assert state(monitor) == before
    monitor.update(y, p)
    monitor.resolve(b"late", 1)
    assert state(other) == state(monitor)


def test_words():
    monitor = fs.Monitor(10_000, step=0.05)
    assert "0 events" in str(monitor) and "No alarm" in str(monitor)
    monitor.expect(0.2, event=1)
    monitor.update(np.tile([1, 1, 0], 200), np.full(600, 0.3))
    text = str(monitor)
    assert "600 events, 1 pending" in text
    assert "too low" in text and "at most once in 10,000 events on average" in text
    assert "given all that came before" in text and "multiples of 0.05" in text
    assert str(monitor.alarm) in text
    assert repr(monitor) == "Monitor(run_length=10000, step=0.05; 600 events)"


def test_so_many_alarms_are_kept_and_all_counted(monkeypatch):
    monkeypatch.setattr("fullswap.checking.monitor_alarm.MOST_ALARMS", 1)
    monitor = fs.Monitor(2.0)
    rng = np.random.default_rng(0)
    p = rng.random(3000)
    monitor.update((rng.random(3000) < p).astype(float), p)
    assert len(monitor.alarms) == 1 and monitor._row[ALARMS] > 10


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"run_length": 1}, "run_length must be larger than 1, got 1"),
        ({"run_length": math.inf}, "run_length must be a finite number"),
        ({"run_length": True}, "run_length must"),
        ({"classes": 1}, "classes must be a whole number from 2"),
        ({"step": 0}, "step must be positive, got 0"),
    ],
)
def test_settings_that_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        fs.Monitor(**options)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.update(2, 0.5), "y must be 0 or 1 .NaN: not known yet., got 2.0"),
        (lambda m: m.update(0.5, 0.5), "y must be 0 or 1"),
        (lambda m: m.update("perhaps", 0.5), "y must be 0 and 1, or words"),
        (lambda m: m.update(1, 1.5), "p must lie in"),
        (lambda m: m.update(1, math.nan), "p must be finite"),
        (lambda m: m.update([1, 0], [0.5, 2.0]), "p must lie in .0, 1., got 2.0 at position 1"),
        (lambda m: m.update([1, 0], [0.5]), "y must be as long as p"),
        (lambda m: m.update(1, 0.5, weight=2), "weight must lie in"),
        (lambda m: m.update([1, 0], [0.5, 0.5], event="ab"), "event must be one name for each"),
        (lambda m: m.update([1, 0], [0.5, 0.5], event=["a", "a"]), "same in all rows of event 'a'"),
        (lambda m: m.expect(1.5, event="a"), "p must lie in"),
        (lambda m: m.expect([0.5, 0.5], event="a"), "p must be one forecast"),
        (lambda m: m.expect(0.5, event=None), "event must be a text"),
        (lambda m: m.resolve("b", 1), "event must be one that waits .'w'., got 'b'"),
        (lambda m: m.resolve("w", None), "y must be"),
        (lambda m: m.resolve("w", 2), "y must lie in .0, 1., got 2"),
        (lambda m: m.resolve("w", 0.5), "y must be a whole number from 0 to 1, got 0.5"),
        (lambda m: m.drop(event="b"), "event must be one that waits"),
    ],
)
def test_bad_calls_change_nothing(call, message):
    monitor = fs.Monitor(3)
    monitor.update(1, 0.1)
    monitor.expect(0.4, event="w")
    before = state(monitor)
    with pytest.raises(ValueError, match=message):
        call(monitor)
    assert state(monitor) == before


def test_a_bank_of_forecasters_names_the_bank_of_monitors():
    with pytest.raises(ValueError, match="a Monitor goes into a MonitorBank"):
        fs.Bank(fs.Monitor())
    with pytest.raises(ValueError, match="pattern must be a forecaster, got 3"):
        fs.Bank(3)


def test_an_outcome_counts_once():
    monitor = fs.Monitor()
    monitor.update(1, 0.3, event="game")
    before = monitor.to_json()
    for again in (
        lambda: monitor.update(1, 0.4, event="game"),
        lambda: monitor.update([0, 1], [0.4, 0.2], event=["other", "game"]),
        lambda: monitor.update(None, 0.4, event="game"),
        lambda: monitor.expect(0.4, event="game"),
    ):
        with pytest.raises(ValueError, match="event must be one without an outcome yet"):
            again()
    assert monitor.to_json() == before and monitor.events == 1
    resumed = fs.Monitor.from_json(before)
    with pytest.raises(ValueError, match="without an outcome"):
        resumed.update(1, 0.4, event="game")
    bank = fs.MonitorBank(fs.Monitor())
    bank.update(["a", "b"], [1, 0], [0.5, 0.5], event=["g", "g"])
    with pytest.raises(ValueError, match="without an outcome"):
        fs.MonitorBank.from_json(bank.to_json()).update(["b"], [1], [0.5], event=["g"])
    with pytest.raises(ValueError, match="without an outcome"):
        bank["a"].update(1, 0.5, event="g")


def test_certain_and_wrong_is_counted_and_said():
    monitor = fs.Monitor()
    monitor.update([1, 0, 0], [0.0, 1.0, 0.0])
    assert monitor.impossible == 2 and "2 of them certain and wrong" in str(monitor)
    classes = fs.Monitor(classes=3)
    classes.update(1, [0.5, 0.0, 0.5])
    assert classes.impossible == 1
    rounded = fs.Monitor(step=0.1)
    rounded.update(1, 0.0)
    assert rounded.impossible == 0


def test_bets_that_lose_everything_leave_what_was_not_staked():
    monitor = fs.Monitor(classes=3)
    monitor.update(np.zeros(20_000), np.tile([0.6, 0.2, 0.2], (20_000, 1)))
    assert monitor.log10_evidence > 300
    monitor.update(1, [1.0 - 1e-200, 1e-200, 1e-250])
    assert math.isfinite(monitor.log10_evidence) and str(monitor)
    assert fs.Monitor.from_json(monitor.to_json()).log10_evidence == monitor.log10_evidence

"""The watch over many streams, against a monitor, slow references and simulations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullswap.checking.monitor import Monitor
from fullswap.checking.verdict import LITTLE, MISCALIBRATED, NO_EVIDENCE, TOO_LITTLE
from fullswap.kernels.watch import HIGH
from fullswap.kernels.watch_sums import FEWEST, MOST
from fullswap.metrics.cells import Cells
from fullswap.metrics.seen import smallest_seen
from fullswap.service.watch import Watch
from fullswap.service.watch_figures import NOT_WATCHED, WORDS, smallest_seen_of
from tests.service.watch_cases import (
    give,
    give_rain,
    happenings,
    made,
    rain,
    slow_bins,
    slow_error,
    state,
)

SPLITS = st.lists(st.integers(0, 45), max_size=4)


# --- laws -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
@settings(max_examples=25)
@given(data=st.data())
def test_evidence_and_rings_are_those_of_a_monitor(classes, data):
    events = data.draw(happenings(classes, most=70))
    watch, begun = made(classes), []
    for k, event in enumerate(events):
        begun += [(k, *alarm) for alarm in give(watch, [event])]
    for place in range(3):
        monitor, rang = Monitor(40.0, classes=classes), []
        for k, e in enumerate(events):
            soft = 0 < e["y"] < 1 if classes == 2 else e["y"].max() < 1
            if e["place"] != place or soft:
                continue
            given_ = np.isnan(e["said"]) if classes == 2 else np.isnan(e["said"]).any(1)[:, None]
            y = e["y"] if classes == 2 else int(np.argmax(e["y"]))
            n = len(e["ours"])
            monitor.update(
                [y] * n, np.where(given_, e["ours"], e["said"]), event=[k] * n,
                weight=[e["weight"]] * n,
            )  # fmt: skip
            if monitor.drift_detected:
                rang.append((k, monitor.alarms[-1].last))
        row = watch.rows([place])[0]
        assert row["evidence_log10"] == monitor.log10_evidence
        assert row["evidence_log10_most"] == monitor.log10_evidence_most
        own = watch._entries.row(place)[: watch._entries.columns]
        assert own.tobytes() == monitor._row.tobytes()
        first = [(k, alarm["at"]) for k, where, alarm in begun if where == place]
        assert first[:1] == rang[:1]


@pytest.mark.parametrize("classes", [2, 3])
@settings(max_examples=20)
@given(data=st.data(), cuts=SPLITS)
def test_any_split_into_batches_gives_the_same(classes, data, cuts):
    events = data.draw(happenings(classes))
    whole, parts = made(classes), made(classes)
    begun = give(whole, events)
    ends = [0, *sorted(min(cut, len(events)) for cut in cuts), len(events)]
    pieces = [give(parts, events[a:b]) for a, b in zip(ends, ends[1:], strict=False)]
    assert state(whole) == state(parts)
    assert [alarm for piece in pieces for alarm in piece] == begun
    assert repr(whole.rows([0, 1, 2])) == repr(parts.rows([0, 1, 2]))
    assert repr(whole.columns()) == repr(parts.columns())


@settings(max_examples=20)
@given(events=happenings(), seed=st.integers(0, 1000))
def test_the_order_between_streams_does_not_matter(events, seed):
    one, other = made(), made()
    give(one, events)
    queues = [[e for e in events if e["place"] == place] for place in range(3)]
    rng, mixed = np.random.default_rng(seed), []
    while any(queues):
        mixed.append(rng.choice([place for place in range(3) if queues[place]]))
        mixed[-1] = queues[mixed[-1]].pop(0)
    give(other, mixed)
    assert state(one) == state(other)


@pytest.mark.parametrize("classes, run_length", [(2, 40.0), (3, 40.0), (2, None)])
@settings(max_examples=15)
@given(data=st.data(), at=st.integers(0, 60))
def test_a_restart_at_any_moment_goes_unnoticed(classes, run_length, data, at):
    events = data.draw(happenings(classes, most=60))
    straight, before, after = (made(classes, run_length) for _ in range(3))
    give(after, events[::-1])  # what it was is forgotten
    give(straight, events[:at])
    give(before, events[:at])
    for place in range(3):
        before.acknowledge(place, 3.0)
        straight.acknowledge(place, 3.0)
        after.load(place, before.dump(place))
    assert state(after) == state(before)
    assert repr(after.columns()) == repr(before.columns())
    assert give(after, events[at:]) == give(straight, events[at:])
    assert state(after) == state(straight)
    for place in range(3):
        assert repr(after.rows([place])) == repr(straight.rows([place]))
        assert after.detail(place) == straight.detail(place)


@pytest.mark.parametrize("classes", [2, 3])
@settings(max_examples=25)
@given(data=st.data())
def test_tallies_are_those_of_a_slow_count(classes, data):
    events = data.draw(happenings(classes))
    watch = made(classes, None)
    give(watch, events)
    for place in range(3):
        own = [e for e in events if e["place"] == place]
        row, found = watch.rows([place])[0], watch.detail(place)["reliability"]
        ours, raw = slow_bins(own, "ours"), slow_bins(own, "said")
        for bins, shown in ((ours, found["ours"]), (raw, found["raw"])):
            wanted = [bins[b] for b in sorted(bins) if bins[b][0] > 0]
            assert [b["n"] for b in shown] == pytest.approx([b[0] for b in wanted])
            assert [b["p"] for b in shown] == pytest.approx([b[1] / b[0] for b in wanted])
            assert [b["happened"] for b in shown] == pytest.approx([b[2] / b[0] for b in wanted])
            assert all(0 <= b["low"] <= b["high"] <= 1 for b in shown)
        mass, given_ = (sum(b[0] for b in bins.values()) for bins in (ours, raw))
        if mass == 0:
            assert row["error"] is row["noise"] is row["ours_error"] is None
            continue
        assert (row["ours_error"], row["ours_noise"]) == pytest.approx(slow_error(ours))
        if abs(2 * given_ - mass) < 1e-9:  # either may be watched
            continue
        model = 2 * given_ > mass
        assert row["watched"] == ("model" if model else "ours")
        assert (row["error"], row["noise"]) == pytest.approx(slow_error(raw if model else ours))


@given(count=st.integers(1, 700))
@settings(max_examples=15)
def test_windows_have_equal_numbers_of_events(count):
    p, y = rain(count, count)
    watch = made(streams=1)
    give_rain(watch, p, y)
    windows, spark = watch.detail(0)["windows"], watch.rows([0])[0]["spark"]
    assert 1 <= len(windows) <= MOST and len(spark) == len(windows)
    width = windows[0]["to"] if len(windows) > 1 else FEWEST
    assert width in (FEWEST, 2 * FEWEST, 4 * FEWEST)
    assert count <= width * MOST and (width == FEWEST or count > width * MOST / 2)
    for k, window in enumerate(windows):
        a, b = k * width, min((k + 1) * width, count)
        assert (window["from"], window["to"], window["n"]) == (a, b, b - a)
        assert window["time"] == b - 1
        assert window["raw_error"] == pytest.approx(np.mean(p[a:b] - y[a:b]))
        assert spark[k] == window["raw_error"]
        assert window["ours_error"] == pytest.approx(np.mean(0.5 - y[a:b]))
        assert window["noise"] == pytest.approx(2 * np.sqrt(np.sum((p * (1 - p))[a:b])) / (b - a))
        monitor = Monitor(40.0)
        monitor.update(y[:b], p[:b])
        assert window["evidence_log10"] == pytest.approx(monitor.log10_evidence, rel=1e-12)


# --- how far off, and the verdict -----------------------------------------------------------------


@pytest.mark.parametrize(
    "n, low, high, near",
    [(1, 0.2, 0.8, 1e-9), (20, 0, 0.05, 0.25), (60, 0, 1, 0.1), (2000, 0.2, 0.6, 0.03)],
)
def test_noise_is_what_chance_shows(n, low, high, near):
    """Near: the normal approximation is too high where next to nothing happens."""
    rng, streams = np.random.default_rng(n), 400
    p = rng.uniform(low, high, n)
    watch = made(run_length=None, streams=streams)
    hits = (rng.random((n, streams)) < p[:, None]).astype(float)
    places, many = np.tile(np.arange(streams), n), n * streams
    watch.take(
        places, np.full(many, np.nan), np.repeat(p, streams), hits.ravel(), np.ones(many),
        np.zeros(many),
    )  # fmt: skip
    error, noise = watch.columns()["error"], watch.rows([0])[0]["noise"]
    luck = 3 * error.std() / np.sqrt(streams)
    assert error.mean() - luck <= noise <= error.mean() * (1 + near) + luck
    # at most one time in twenty an error is called clear, and no part of it chance
    assert np.mean(error > watch._heads[0, HIGH]) <= 0.06


def test_noise_of_repeated_forecasts_counts_events():
    """Ten equal forecasts of an event say as much as one."""
    p, y = rain(300, 1)
    once, often = made(streams=1), made(streams=1)
    give_rain(once, p, y)
    many = np.repeat(p, 10)
    often.take([0] * 300, many, np.full(3000, 0.5), y, np.ones(300), np.arange(300.0),
               np.arange(301) * 10)  # fmt: skip
    one, other = once.rows([0])[0], often.rows([0])[0]
    for name in ("error", "noise", "ours_noise", "evidence_log10"):
        # curves forget bit by bit, which is not quite the same as at once
        assert other[name] == pytest.approx(one[name], rel=1e-4)


@pytest.mark.parametrize(
    "count, off, tolerance, verdict",
    [
        (3000, 1.0, 0.02, MISCALIBRATED), (3000, 0.6, 0.3, LITTLE),
        (3000, 0.0, 0.1, NO_EVIDENCE), (300, 0.0, 0.02, TOO_LITTLE), (0, 0.0, 0.02, TOO_LITTLE),
    ],
)  # fmt: skip
def test_verdicts(count, off, tolerance, verdict):
    watch = Watch(2, 1e5, tolerance)
    watch.add(1)
    give_rain(watch, *rain(count, 5, off))
    row = watch.rows([0])[0]
    assert row["verdict"] == verdict == WORDS[watch.columns()["verdict"][0]]
    assert row["direction"] == ("too low" if off else None)
    assert row["tolerance"] == tolerance


def test_what_is_impossible_is_strong_evidence():
    watch = made(run_length=1e5, streams=1)
    give_rain(watch, np.array([0.0]), np.array([1.0]))
    assert watch.rows([0])[0]["verdict"] == MISCALIBRATED


def test_errors_that_average_out_are_seen():
    """Too high, then too low: nothing in the pool, all of it in the windows."""
    watch = made(run_length=1e5, streams=1)
    give_rain(watch, *rain(2000, 6, 0.8))
    give_rain(watch, *rain(2000, 7, -0.8))
    row = watch.rows([0])[0]
    assert row["error"] < 0.05 and row["certain"] > 0.08 and row["verdict"] == MISCALIBRATED


def test_small_streams_do_not_lead():
    """Sorted by the certain error: one bad stream is before a thousand that have seen little."""
    rng, streams = np.random.default_rng(8), 1001
    watch = made(run_length=1e5, streams=streams)
    give_rain(watch, *rain(1500, 8, 0.5))
    p = rng.beta(0.3, 0.6, 5 * (streams - 1))
    y, one = (rng.random(len(p)) < p).astype(float), np.ones(len(p))
    watch.take(1 + np.arange(len(p)) % (streams - 1), p, p, y, one, one)
    columns = watch.columns()
    assert np.argsort(-columns["certain"])[0] == 0 and columns["certain"][0] > 0.05
    assert np.argsort(-columns["error"]).tolist().index(0) > 100


def test_smallest_error_seen_is_that_of_a_check():
    p, y = rain(500, 2)
    watch = made(streams=1)
    give_rain(watch, p, y)
    seen = smallest_seen_of(watch._heads[:1], 2)[0]
    assert seen == pytest.approx(smallest_seen(Cells.of_events(y, p), largest=1.0))


def test_bands_hold_nine_of_ten():
    from scipy.stats import binom

    p, y = rain(400, 3)
    watch = made(streams=1)
    give_rain(watch, p, y)
    for found in watch.detail(0)["reliability"]["raw"]:
        n = round(found["n"])
        assert found["low"] == binom.ppf(0.05, n, found["p"]) / n
        assert found["high"] == binom.ppf(0.95, n, found["p"]) / n


def test_shares_of_outcomes_are_tallied_and_not_bet_on():
    watch = made(streams=1)
    give_rain(watch, np.full(50, 0.3), np.full(50, 0.6))
    row = watch.rows([0])[0]
    assert row["error"] == pytest.approx(0.3) and row["evidence_log10"] == 0
    assert row["verdict"] == TOO_LITTLE and watch.columns()["watched_events"][0] == 0


def test_without_a_monitor():
    watch = made(run_length=None, streams=1)
    give_rain(watch, *rain(100, 1))
    row = watch.rows([0])[0]
    assert (row["verdict"], row["evidence_log10"], row["alarm"]) == (NOT_WATCHED, None, None)
    assert row["error"] > 0 and math.isnan(watch.columns()["evidence"][0])
    assert watch.detail(0)["windows"][0]["evidence_log10"] is None

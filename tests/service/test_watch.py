"""The watch over many streams, against a monitor, slow references and simulations."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullswap.base.protocols import Vector
from fullswap.checking.monitor import Monitor
from fullswap.checking.verdict import LITTLE, MISCALIBRATED, NO_EVIDENCE, TOO_LITTLE
from fullswap.kernels.watch import HIGH
from fullswap.kernels.watch_sums import FEWEST, MOST
from fullswap.metrics.cells import Cells
from fullswap.metrics.seen import smallest_seen
from fullswap.service.watch import Watch
from fullswap.service.watch_figures import NOT_WATCHED, WORDS, smallest_seen_of
from tests.service.watch_cases import give, happenings, made, slow_bins, slow_error

SPLITS = st.lists(st.integers(0, 45), max_size=4)


def rain(n: int, seed: int, off: float = 0.0) -> tuple[Vector, Vector]:
    """Forecasts and outcomes; the chance is ``off`` higher in logits."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.05, 0.95, n)
    odds = p / (1 - p) * np.exp(off)
    return p, (rng.random(n) < odds / (1 + odds)).astype(float)


def give_rain(watch: Watch, p: Vector, y: Vector, place: int = 0, start: float = 0.0) -> list:
    times = start + np.arange(len(p))
    return watch.take([place] * len(p), p, np.full(len(p), 0.5), y, np.ones(len(p)), times)


def state(watch: Watch) -> list[bytes]:
    return [watch.dump(place) for place in range(len(watch))]


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


# --- alarms ---------------------------------------------------------------------------------------


def test_an_alarm_begins_is_acknowledged_and_recovers():
    watch = made(run_length=1e4, streams=2)
    assert give_rain(watch, *rain(500, 1)) == []
    bad = rain(600, 2, 1.5)
    begun = give_rain(watch, *bad, start=500.0)
    assert len(begun) == 1
    place, alarm = begun[0]
    monitor = Monitor(1e4)
    monitor.update(*rain(500, 1)[::-1])
    first = alarm["at"] - 500
    monitor.update(bad[1][:first], bad[0][:first])
    assert (place, alarm["at"], alarm["since"]) == (0, monitor.alarm.at, monitor.alarm.since)
    monitor.update(bad[1][first:], bad[0][first:])
    assert alarm["direction"] == "too low" and alarm["rings"] == 1 and alarm["number"] == 1
    assert alarm["time"] == alarm["at"] - 1 and alarm["text"].startswith("Alarm after ")
    assert alarm["since_time"] == pytest.approx(alarm["since"], abs=2)
    shown = watch.rows([0])[0]["alarm"]
    assert (shown["rings"], shown["since"]) == (monitor.alarm.rings, monitor.alarm.since)
    assert shown["rings"] > 1 and shown["since_time"] <= alarm["since_time"]
    assert not shown["acknowledged"]
    assert list(watch.columns()["alarm"]) == [1, 0]
    # known: quiet, for the same flaw, however long it lasts
    assert watch.acknowledge(0, 2000.0) and not watch.acknowledge(1, 2000.0)
    assert watch.columns()["acknowledged"][0] == 1
    assert watch.acknowledge(0, 3000.0)
    assert watch.rows([0])[0]["alarm"]["acknowledged_time"] == 2000.0
    assert give_rain(watch, *rain(600, 3, 1.5)) == []
    assert watch.rows([0])[0]["alarm"]["rings"] > shown["rings"]
    # right again: over, after at least 200 events; then the next one is new
    give_rain(watch, *rain(150, 4), start=5000.0)
    assert watch.rows([0])[0]["alarm"] is not None
    give_rain(watch, *rain(3000, 5), start=6000.0)
    assert watch.rows([0])[0]["alarm"] is None and not watch.columns()["alarm"][0]
    over = watch.detail(0)["alarms"][0]
    assert over["recovered"] and 6000 <= over["recovered_time"] < 8000
    assert not watch.acknowledge(0, 9000.0)
    again = give_rain(watch, *rain(600, 6, -1.5), start=10000.0)
    assert [alarm["direction"] for _, alarm in again] == ["too high"]
    assert [alarm["number"] for alarm in watch.detail(0)["alarms"]] == [2, 1]
    assert watch.columns()["alarms"][0] == 2


def test_another_flaw_after_the_acknowledgement_is_a_new_alarm():
    watch = made(run_length=1e4, streams=1)
    give_rain(watch, *rain(400, 1, 1.5))
    assert give_rain(watch, *rain(400, 2, -1.5)) == []  # nobody knows of the first yet
    watch = made(run_length=1e4, streams=1)
    give_rain(watch, *rain(400, 1, 1.5))
    watch.acknowledge(0, 500.0)
    assert give_rain(watch, *rain(100, 3, 1.5), start=600.0) == []
    begun = give_rain(watch, *rain(400, 2, -1.5), start=700.0)
    assert len(begun) == 1 and begun[0][1]["since"] == pytest.approx(500, abs=20)
    assert [alarm["recovered"] for alarm in watch.detail(0)["alarms"]] == [False, True]


def test_it_keeps_fifty_alarms_and_a_clock_that_jumps_does_no_harm():
    watch = made(run_length=1000.0, streams=1)
    p, y = np.full(40, 0.01), np.ones(40)
    right = np.full(250, 1.0)
    for k in range(60):
        start = -1e6 * k
        assert len(give_rain(watch, p, y, start=start)) == 1
        watch.acknowledge(0, -1e9)
        give_rain(watch, right, right, start=start - 1e7)
    alarms = watch.detail(0)["alarms"]
    assert len(alarms) == 50 and alarms[0]["number"] == 60 and alarms[-1]["number"] == 11
    for alarm in alarms:
        assert alarm["since_time"] <= alarm["time"] <= alarm["acknowledged_time"]
        assert alarm["time"] <= alarm["recovered_time"]
    assert json.loads(json.dumps(alarms)) == alarms


def test_names_of_classes_are_in_the_words():
    watch = Watch(3, 1e3, 0.02, labels=("sun", "rain", "snow"))
    watch.add(1)
    rng = np.random.default_rng(0)
    n = 600
    y = np.eye(3)[rng.choice(3, n, p=[0.2, 0.3, 0.5])]
    p = np.tile([0.4, 0.4, 0.2], (n, 1))
    begun = watch.take([0] * n, p, p, y, np.ones(n), np.arange(float(n)))
    words = begun[0][1]["direction"], watch.rows([0])[0]["direction"]
    assert all(any(name in word for name in ("sun", "rain", "snow")) for word in words)
    assert words[0] in begun[0][1]["text"]


# --- entries --------------------------------------------------------------------------------------


def test_a_stream_that_has_seen_little_costs_little():
    watch = made(run_length=1e5, streams=100)
    assert watch.nbytes < 200 * 100
    for count, most in ((3, 400), (10, 1200), (200, 10_000)):
        p, y = rain(count * 100, count)
        watch.take(np.arange(count * 100) % 100, p, p, y, np.ones(len(p)), np.zeros(len(p)))
        assert watch.nbytes <= most * 100
    assert len(made().dump(0)) < 60


def test_removed_streams_are_blank_and_leave_their_place_to_others():
    watch = made(run_length=40.0)
    blank = watch.dump(0)
    for _ in range(3):
        for place, count in enumerate((3, 10, 100)):
            give_rain(watch, *rain(count, count, 1.0), place=place)
        before = watch.nbytes
        kept = watch.dump(2)
        for place in range(3):
            watch.remove(place)
            assert watch.dump(place) == blank
        assert watch.nbytes == before
    assert np.isnan(watch.columns()["error"]).all() and not watch.columns()["alarms"].any()
    assert watch.detail(0) == {"reliability": {"raw": [], "ours": []}, "windows": [], "alarms": []}
    watch.load(0, kept)
    assert watch.dump(0) == kept
    watch.load(0, blank)
    assert watch.dump(0) == blank
    watch.add(1000)
    assert len(watch) == 1003 and watch.rows([1002])[0]["verdict"] == TOO_LITTLE


def test_what_is_damaged_or_of_another_kind_is_refused():
    watch = made(streams=1)
    for count in (5, 60):
        give_rain(watch, *rain(count, 1, 1.5))
        content = watch.dump(0)
        rng = np.random.default_rng(count)
        for at in [*range(40), *rng.integers(0, len(content), 60)]:
            damaged = bytearray(content)
            damaged[at] ^= 1 << int(rng.integers(8))
            with pytest.raises(ValueError, match="content must"):
                watch.load(0, bytes(damaged))
        for bad in (content[:-1], content + b"0", b"", "text", content[: len(content) // 2]):
            with pytest.raises(ValueError, match="content must"):
                watch.load(0, bad)
        for other in (made(3), made(run_length=50.0), made(run_length=None)):
            with pytest.raises(ValueError, match="classes and run length"):
                other.load(0, content)
        assert watch.dump(0) == content


GOOD = {
    "places": [0, 1], "said": [0.2, math.nan], "ours": [0.3, 0.4], "outcomes": [1, 0],
    "weights": [1, 0.5], "times": [1.0, 2.0],
}  # fmt: skip


@pytest.mark.parametrize(
    "bad",
    [
        {"places": [0, 3]}, {"places": [0, -1]}, {"places": [0]}, {"said": [0.2, 1.2]},
        {"ours": [0.3, math.nan]}, {"ours": [0.3]}, {"outcomes": [1, 2]}, {"outcomes": [1]},
        {"outcomes": [[1, 0], [0, 1]]}, {"weights": [1, 1.5]}, {"times": [1.0, math.nan]},
        {"bounds": [0, 1]}, {"bounds": [0, 0, 2]}, {"bounds": [0, 1, 3]}, {"said": ["a", "b"]},
        {"weights": [math.nan, 1]}, {"outcomes": [1, math.nan]}, {"times": [1.0, math.inf]},
    ],
)  # fmt: skip
def test_bad_input_is_refused_before_anything_changes(bad):
    watch = made()
    give_rain(watch, *rain(30, 1))
    before = state(watch)
    with pytest.raises(ValueError, match="must"):
        watch.take(**{**GOOD, **bad})
    assert state(watch) == before
    watch.take(**GOOD)
    assert state(watch) != before


def test_bad_vectors_are_refused():
    watch, good = made(3), np.eye(3)[:1]
    refused = (
        ([[0.5, 0.5, 0.5]], good), ([[math.nan, 0.5, 0.5]], good), ([[0.5, 0.5]], good),
        (good, [[1.0, 1.0, 0.0]]), (good, [1.0]),
    )  # fmt: skip
    for said, outcome in refused:
        with pytest.raises(ValueError, match="must"):
            watch.take([0], said, good, outcome, [1.0], [0.0])
    assert watch.take([0], [[math.nan] * 3], good, good, [1.0], [0.0]) == []


@pytest.mark.parametrize(
    "arguments", [(1, 1e5, 0.02), (2, 0.5, 0.02), (2, 1e5, -1), (3, 1e5, 0.02, ("a", "b"))]
)
def test_bad_settings_are_refused(arguments):
    with pytest.raises(ValueError, match="must"):
        Watch(*arguments)


def test_an_event_with_more_forecasts_than_a_list_holds():
    watch, other = made(streams=1), made(streams=1)
    p = np.linspace(0.1, 0.9, 40)
    for target in (watch, other):
        target.take([0], p, p, [1], [1.0], [0.0], [0, 40])
    other.load(0, watch.dump(0))
    assert watch.detail(0)["windows"][0]["n"] == 1
    assert sum(b["n"] for b in watch.detail(0)["reliability"]["raw"]) == pytest.approx(1)
    monitor = Monitor(40.0)
    monitor.update(np.ones(40), p, event=["x"] * 40)
    assert watch.rows([0])[0]["evidence_log10"] == monitor.log10_evidence


def test_no_events_and_no_streams():
    watch = Watch(2, 1e5, 0.02)
    assert watch.take([], [], [], [], [], []) == [] and watch.rows([]) == []
    assert all(len(column) == 0 for column in watch.columns().values())

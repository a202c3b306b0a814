"""Entries of a watch: what they cost, how they are saved, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fullswap.checking.monitor import Monitor
from fullswap.checking.verdict import TOO_LITTLE
from fullswap.service.watch import Watch
from tests.service.watch_cases import give_rain, made, rain, state


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

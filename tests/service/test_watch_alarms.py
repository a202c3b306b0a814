"""The life of alarms."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fullswap.checking.monitor import Monitor
from fullswap.service.watch import Watch
from tests.service.watch_cases import give_rain, made, rain


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

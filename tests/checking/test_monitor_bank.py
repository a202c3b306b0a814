"""Banks of monitors: every stream as if it were alone."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fullswap as fs
from checking.evidence_cases import short_log
from checking.test_monitor import state

KEYS = np.array(["north", "south", "east", "west"])


def fed(seed, n=60, classes=2, run_length=4, **options):
    """A bank, and what it was fed with."""
    y, p, weight, event = short_log(seed, n=n, classes=classes, **options)
    keys = KEYS[np.random.default_rng(seed + 1).integers(4, size=n)]
    bank = fs.MonitorBank(fs.Monitor(run_length, classes=classes))
    bank.update(keys, y, p, event=event, weight=weight)
    return bank, keys, y, p, weight, event


@given(seed=st.integers(0, 300), classes=st.sampled_from([2, 3]), events=st.booleans())
def test_every_stream_is_the_monitor_fed_alone(seed, classes, events):
    bank, keys, y, p, weight, event = fed(seed, classes=classes, events=events, weights=events)
    assert set(bank) == set(bank.keys()) == set(keys.tolist()) and len(bank) == len(set(keys))
    for key in bank:
        own = keys == key
        alone = fs.Monitor(4, classes=classes)
        w, e = (None if x is None else x[own] for x in (weight, event))
        alone.update(y[own], p[own], event=e, weight=w)
        assert state(bank[key]) == state(alone)


def test_batches_and_orders_of_streams_change_nothing():
    whole, keys, y, p, _, _ = fed(7, n=200)
    parts, sorted_by_key = (fs.MonitorBank(fs.Monitor(4)) for _ in range(2))
    for rows in np.array_split(np.arange(200), 9):
        parts.update(keys[rows], y[rows], p[rows])
    order = np.argsort(keys, kind="stable")
    sorted_by_key.update(keys[order].tolist(), y[order], p[order])
    for key in whole:
        assert whole[key]._row.tobytes() == parts[key]._row.tobytes()
        assert whole[key]._row.tobytes() == sorted_by_key[key]._row.tobytes()
        assert whole[key].alarms == parts[key].alarms == sorted_by_key[key].alarms


def test_drift_detected_is_that_of_the_last_update_of_the_stream():
    bank = fs.MonitorBank(fs.Monitor(2))
    bank.update(["a"] * 3 + ["b"], [1, 1, 1, 0], [0.01, 0.01, 0.01, 0.1])
    assert bank["a"].drift_detected and not bank["b"].drift_detected
    bank.update(["b"], [0], [0.1])
    assert bank["a"].drift_detected
    bank.update(["a"], [0], [0.01])
    assert not bank["a"].drift_detected


def test_what_it_says():
    bank, keys, _, _, _, _ = fed(7, n=400)
    assert bank.alarms() == [(key, alarm) for key in bank for alarm in bank[key].alarms]
    assert len(bank.alarms()) > 4
    assert bank.evidence() == {key: bank[key].evidence for key in bank}
    logs = bank.log10_evidence()
    assert all(logs[key] == pytest.approx(bank[key].log10_evidence, abs=1e-12) for key in bank)
    assert list(logs) == list(bank)
    assert "north" in bank and "up" not in bank
    assert bank.nbytes >= 4 * bank["north"]._row.nbytes
    assert repr(bank) == "MonitorBank(run_length=4; 4 streams)"
    with pytest.raises(KeyError, match="no stream has the key 'up'"):
        bank["up"]


def test_a_monitor_taken_out_is_its_own():
    bank, *_ = fed(3)
    key = next(iter(bank))
    before = state(bank[key])
    bank[key].update(1, 0.2)
    bank[key].expect(0.5, event="x")
    assert state(bank[key]) == before


def test_outcomes_that_come_late():
    bank, alone = fs.MonitorBank(fs.Monitor(5)), fs.Monitor(5)
    bank.expect(["a", "b", "a"], [0.2, 0.6, 0.3], event=["x", "x", "x"], weight=[1, 1, 0.5])
    bank.update(["b", "a", "b"], [math.nan, 1, 0], [0.7, 0.4, 0.1], event=["y", None, None])
    assert bank.pending == [("a", "x"), ("b", "x"), ("b", "y")]
    bank.resolve(["b", "a"], ["y", "x"], [1, 0])
    assert bank.pending == [("b", "x")] and bank["a"].events == 2 and bank["b"].events == 2
    alone.update([1, 0, 0], [0.4, 0.2, 0.3], event=[None, 1, 1], weight=[1, 1, 0.5])
    assert bank["a"]._row.tobytes() == alone._row.tobytes()
    bank.drop(key="b", event="x")
    assert bank.pending == []


# --- saved state ----------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
def test_saved_and_loaded_it_goes_on(tmp_path, classes):
    bank, keys, y, p, _, _ = fed(5, classes=classes)
    bank.expect(["west", "new"], p[:2], event=[("cup", 1), 2])
    path = tmp_path / "bank.json"
    path.write_text("older")
    bank.save(path)
    loaded, pickled = fs.MonitorBank.load(path), pickle.loads(pickle.dumps(bank))
    assert [file.name for file in tmp_path.iterdir()] == ["bank.json"]
    for other in (loaded, pickled):
        assert other.to_json() == bank.to_json()
    for each in (bank, loaded):
        each.update(keys, y, p)
        each.resolve(["west"], [("cup", 1)], [1])
        each.update(["late"], y[:1], p[:1])
    assert loaded.to_json() == bank.to_json()


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    bank, *_ = fed(5)
    path = tmp_path / "bank.json"
    bank.save(path)
    before = path.read_text()
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        bank.save(path)
    assert path.read_text() == before and len(list(tmp_path.iterdir())) == 1


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", [3, fs.Forecaster(seed=1)])
def test_patterns_that_are_none(pattern):
    with pytest.raises(ValueError, match="pattern must be a Monitor"):
        fs.MonitorBank(pattern)


def test_patterns_with_events():
    for use in (lambda m: m.update(1, 0.5), lambda m: m.expect(0.5, event=1)):
        monitor = fs.Monitor()
        use(monitor)
        with pytest.raises(ValueError, match="pattern must be a monitor without events"):
            fs.MonitorBank(monitor)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda b: b.update(["a"], [1, 0], [0.1, 0.2]), "keys must be as long as p"),
        (lambda b: b.update(["n", "a"], [1, 3], [0.1, 0.2]), "y must be 0 or 1"),
        (lambda b: b.update(["n", "a"], [1, 0], [0.1, 2]), "p must lie in"),
        (lambda b: b.update([["n"], "a"], [1, 0], [0.1, 0.2]), "keys must be texts"),
        (lambda b: b.update([None, "a"], [1, 0], [0.1, 0.2]), "key must be a text"),
        (lambda b: b.update(["n", "n"], [1, 0], [0.1, 0.2], event=[1, 1]), "same in all rows"),
        (lambda b: b.expect(["n"], [0.2], event=[None]), "event must name an event"),
        (lambda b: b.resolve(["a"], ["z"], [1]), "event must be one that waits"),
        (lambda b: b.resolve(["a", "a"], ["w", "w"], [1, 1]), "events must be distinct"),
        (lambda b: b.resolve(["a"], ["w"], [2]), "y must lie in"),
        (lambda b: b.resolve(["a"], ["w"], []), "y must be as long as keys"),
        (lambda b: b.drop(key="a", event="z"), "event must be one that waits"),
    ],
)
def test_bad_calls_change_nothing(call, message):
    bank = fs.MonitorBank(fs.Monitor(3))
    bank.update(["a", "b"], [1, 0], [0.4, 0.5])
    bank.expect(["a"], [0.4], event=["w"])
    before = bank.to_json()
    with pytest.raises(ValueError, match=message):
        call(bank)
    assert bank.to_json() == before

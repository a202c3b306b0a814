"""States from outside: what was written goes on, in another process too; the rest is refused."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fullswap as fs
from checking.evidence_cases import short_log
from checking.test_monitor import state
from fullswap.forecasting.state import pack_row, unpack_row
from fullswap.kernels import evidence as kernel


def busy(classes=2):
    """A monitor in the middle of its work."""
    monitor = fs.Monitor(6, classes=classes)
    y, p, _, _ = short_log(1, n=80, classes=classes)
    monitor.expect(p[3], event="late", weight=0.5)
    monitor.update(y, p)
    return monitor


def rewritten(text, change):
    """The same state with something changed, and a checksum that fits."""
    body = json.loads(text)
    body.pop("checksum")
    change(body)
    plain = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return json.dumps({**body, "checksum": hashlib.sha256(plain.encode()).hexdigest()})


def in_row(at, value):
    def change(body):
        row = unpack_row(body["row"]).copy()
        row[at] = value
        body["row"] = pack_row(row)

    return change


def put(**values):
    return lambda body: body.update(values)


@given(cut=st.integers(0, 80), classes=st.sampled_from([2, 3]))
def test_a_restart_at_any_moment_goes_unnoticed(cut, classes):
    y, p, weight, event = short_log(cut, n=80, classes=classes, weights=True)
    through, first = fs.Monitor(5, classes=classes), fs.Monitor(5, classes=classes)
    for monitor in (through, first):
        monitor.expect(p[0], event="late")
        monitor.update(y[:cut], p[:cut], weight=weight[:cut])
    second = fs.Monitor.from_json(first.to_json())
    for monitor in (through, second):
        monitor.update(y[cut:], p[cut:], weight=weight[cut:])
        monitor.resolve("late", 1)
    assert state(through) == state(second)


def test_another_process_goes_on_with_the_same_bits():
    monitor = busy()
    program = (
        "import sys, fullswap as fs\n"
        "monitor = fs.Monitor.from_json(sys.stdin.read())\n"
        "monitor.update([1, 0, 1], [0.2, 0.9, 0.4])\n"
        "monitor.resolve('late', 1)\n"
        "print(monitor.to_json())\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], input=monitor.to_json(), capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    monitor.update([1, 0, 1], [0.2, 0.9, 0.4])
    monitor.resolve("late", 1)
    assert run.stdout.strip() == monitor.to_json()


BETS = 138
WIDTH = kernel.HEAD + 4 * BETS + 70


@pytest.mark.parametrize(
    "change",
    [
        in_row(kernel.EVENTS, -1.0), in_row(kernel.EVENTS, 2.5), in_row(kernel.EVENTS, 1e300),
        in_row(kernel.SCALE, -1.0), in_row(kernel.LEFT, 0.9), in_row(kernel.NOW, 0.0),
        in_row(kernel.NOW, np.nan), in_row(kernel.MOST, -2.0), in_row(kernel.MOST_AT, 1e6),
        in_row(kernel.BEST, BETS), in_row(kernel.ALARMS, 0.0), in_row(kernel.ALARMS, 1e9),
        in_row(kernel.WEIGHTS, -1.0), in_row(kernel.HEAD, -1e-9), in_row(kernel.HEAD + 3, np.inf),
        in_row(kernel.HEAD + kernel.RUN * BETS, 1e260),
        in_row(kernel.HEAD + kernel.START * BETS, 0.5),
        in_row(kernel.HEAD + kernel.START * BETS, 1000.0),
        in_row(kernel.HEAD + kernel.ALARM * BETS, 7.0), in_row(WIDTH - 1, -1.0),
        put(row=pack_row(np.ones(WIDTH - 1))), put(row=3), put(row="%"),
        put(bets=2), put(settings={"run_length": 6}), put(rang=1), put(rang=None),
        put(settings={"run_length": -6, "classes": 2, "step": None}),
        put(settings={"run_length": 6.0, "classes": 3, "step": None}),
        put(settings={"run_length": 6.0, "classes": 10**9, "step": None}),
        put(pending=3), put(pending=[["late"]]), put(pending=[["late", []]]),
        put(pending=[["late", [[1.0, 2.0]]]]), put(pending=[["late", [[2.0, 0.5]]]]),
        put(pending=[["late", [[1.0, 0.2, 0.3]]]]), put(pending=[["late", [[1.0]]]]),
        put(pending=[["a", [[1.0, 0.2]]], ["a", [[1.0, 0.2]]]]),
        put(pending=[[None, [[1.0, 0.2]]]]),
        put(alarms=3), put(alarms=[[1]]), put(alarms=[[3, 5, "x", 0.0, 1.0, 0.0, 1.0, None, 6.0]]),
        put(alarms=[[5, 3, 7, 0.0, 1.0, 0.0, 1.0, None, 6.0]]),
        put(alarms=[[5, 3, "x", 0.0, "1", 0.0, 1.0, None, 6.0]]),
        put(alarms=[[5, 3, "x", 0.0, 1.0, 0.0, 1.0, None, 6.0]] * 500), put(extra=1),
    ],
)  # fmt: skip
def test_states_that_no_monitor_can_have_are_refused(change):
    with pytest.raises(ValueError, match=" must "):
        fs.Monitor.from_json(rewritten(busy().to_json(), change))


@pytest.mark.parametrize("classes", [2, 3])
def test_the_rewriting_of_these_tests_refuses_nothing_itself(classes):
    monitor = busy(classes)
    same = rewritten(monitor.to_json(), lambda body: None)
    assert state(fs.Monitor.from_json(same)) == state(monitor)


def test_blank_and_long_and_scaled_states_are_read():
    for n in (0, 1, 5000):
        monitor = fs.Monitor(1e4)
        monitor.update(np.ones(n), np.full(n, 0.5))
        assert state(fs.Monitor.from_json(monitor.to_json())) == state(monitor)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (3, "text must be JSON as written"), ("{", "text must be JSON"),
        ("{}", "text must be"), (fs.MonitorBank(fs.Monitor()).to_json(), "state of a Monitor"),
        (fs.Forecaster(seed=1).to_json(), "state of a Monitor, got that of a Forecaster"),
        (fs.Monitor().to_json().replace("100000.0", "100001.0"), "checksum"),
    ],
)  # fmt: skip
def test_other_texts(text, message):
    with pytest.raises(ValueError, match=message):
        fs.Monitor.from_json(text)


@pytest.mark.parametrize(
    "change",
    [
        lambda streams: streams.append(streams[0]), lambda streams: streams[0].pop(),
        lambda streams: streams[0].__setitem__(0, None),
        lambda streams: streams[0].__setitem__(1, ""),
        lambda streams: streams[0].__setitem__(4, 3),
    ],
)  # fmt: skip
def test_banks_that_cannot_be_are_refused(change):
    bank = fs.MonitorBank(fs.Monitor(3))
    bank.update(["a", "b"], [1, 0], [0.1, 0.5])
    with pytest.raises(ValueError, match=" must "):
        fs.MonitorBank.from_json(rewritten(bank.to_json(), lambda body: change(body["streams"])))

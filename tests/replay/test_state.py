"""A replay that is stopped, killed or given more goes on as if nothing had happened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from fullswap.replay import ReplaySettings, replay_file
from fullswap.replay import state as states
from tests.replay.killed import ROLES
from tests.replay.made import by_hand, made_log, read_csv, write_csv


def run(tmp_path, log, name="log.csv", **more):
    path = write_csv(tmp_path / name, log)
    options = {"out": tmp_path / "out.csv", "state": tmp_path / "state.json", "chunk": 50, **more}
    return replay_file(path, ROLES, ReplaySettings(), **options)


def shown(tmp_path):
    return [(r["issued"], r["mean"]) for r in read_csv(tmp_path / "out.csv")]


def numbers(answers):
    return [("", "") if a is None else a for a in answers]


def as_numbers(rows):
    return [("", "") if i == "" else (float(i), float(m)) for i, m in rows]


def test_log_that_grows(tmp_path):
    log = made_log(400, pending=0.0)
    for rows in (130, 131, 300, 400):
        answer = run(tmp_path, log[:rows])
    assert as_numbers(shown(tmp_path)) == numbers(by_hand(log))
    assert answer.rows == 100
    assert run(tmp_path, log).rows == 0
    assert len(shown(tmp_path)) == 400


def test_outcomes_filled_in_later_are_learnt(tmp_path):
    log = made_log(300, gaps=0.0)
    first = [dict(row, rained="", known_at="") if k % 3 == 0 else row
             for k, row in enumerate(log[:150])]  # fmt: skip
    waiting = run(tmp_path, first).pending
    assert waiting > 40
    answer = run(tmp_path, log)
    assert answer.pending == sum(row["rained"] == "" for row in log)
    assert sum(c.rounds for c in answer.certificates.values()) == 300 - answer.pending
    # forecasts after the outcomes came are those of one who had them only then
    assert as_numbers(shown(tmp_path)[:150]) == numbers(by_hand(first))


def test_consumed_rows_must_stay(tmp_path):
    log = made_log(120)
    run(tmp_path, log)
    other = [dict(row) for row in log]
    other[60]["p"] = "0.123"
    with pytest.raises(ValueError, match="must begin with the 120 rows"):
        run(tmp_path, other)
    with pytest.raises(ValueError, match="must hold the 120 rows"):
        run(tmp_path, log[:100])


def test_other_log_is_new(tmp_path):
    log = made_log(200, pending=0.0)
    run(tmp_path, log[:120])
    answer = run(tmp_path, log[120:], "second.csv")
    assert answer.rows == 80
    assert any("another log" in note for note in answer.notes)
    assert as_numbers(shown(tmp_path)) == numbers(by_hand(log))


def test_logs_of_one_row_each(tmp_path):
    log = made_log(40, pending=0.0)
    for k in range(len(log)):
        answer = run(tmp_path, log[k : k + 1], f"{k}.csv")
        assert answer.rows == 1
    assert as_numbers(shown(tmp_path)) == numbers(by_hand(log))


def test_other_log_answers_by_event(tmp_path):
    head = "match,p,won\n"
    (tmp_path / "a.csv").write_text(head + "m1,0.7,\nm2,0.4,\nm1,0.8,\n")
    (tmp_path / "b.csv").write_text(head + "m1,,1\nm3,0.6,\nm2,0.4,0\n")
    roles = {"y": ["won"], "p": ["p"], "event": ["match"]}
    kept = {"out": tmp_path / "out.csv", "state": tmp_path / "s.json"}
    assert replay_file(tmp_path / "a.csv", roles, ReplaySettings(), **kept).pending == 3
    answer = replay_file(tmp_path / "b.csv", roles, ReplaySettings(), **kept)
    assert (answer.rows, answer.pending, answer.answered, answer.skipped) == (3, 1, 3, 2)
    assert answer.certificate.rounds == 3
    assert answer.certificate.events == 2
    assert [bool(row["issued"]) for row in read_csv(tmp_path / "out.csv")] == [
        True, True, True, False, True, False,
    ]  # fmt: skip


def test_other_settings_are_refused(tmp_path):
    log = made_log(60)
    run(tmp_path, log)
    path = tmp_path / "log.csv"
    with pytest.raises(ValueError, match="step must be left out as when .* got '5%'"):
        replay_file(path, ROLES, ReplaySettings(step="5%"), state=tmp_path / "state.json")
    with pytest.raises(ValueError, match="key must be 'station'.* got 'remark'"):
        roles = {**ROLES, "key": "remark"}
        replay_file(path, roles, ReplaySettings(), state=tmp_path / "state.json")


def test_one_process_at_a_time(tmp_path):
    log = made_log(60)
    with states.StateFile(tmp_path / "state.json"):
        with pytest.raises(ValueError, match="one process at a time"):
            run(tmp_path, log)


def test_newest_first_and_unsorted_logs_grow(tmp_path):
    log = made_log(200, pending=0.0)
    whole = tmp_path / "whole"
    whole.mkdir()
    for part in (log[:90], log[:150], log):
        run(tmp_path, part[::-1], out=tmp_path / "new.csv", state=tmp_path / "new.json")
    run(whole, log[::-1])
    assert read_csv(tmp_path / "new.csv") == read_csv(whole / "out.csv")
    rng = np.random.default_rng(1)
    mixed = [log[:90][k] for k in rng.permutation(90)]
    mixed += [log[90:][k] for k in rng.permutation(110)]
    run(tmp_path, mixed[:90], out=tmp_path / "mix.csv", state=tmp_path / "mix.json")
    assert run(tmp_path, mixed, out=tmp_path / "mix.csv", state=tmp_path / "mix.json").rows == 110


def test_killed_at_any_moment(tmp_path):
    """Kill -9 at random moments and run again: byte for byte what one run would have written."""
    log = made_log(500, keys=3)
    path = write_csv(tmp_path / "log.csv", log)
    replay_file(path, ROLES, ReplaySettings(), out=tmp_path / "whole.csv", chunk=100)
    command = [sys.executable, "-m", "tests.replay.killed", str(path), str(tmp_path / "out.csv"),
               str(tmp_path / "state.json"), "40"]  # fmt: skip
    rng = np.random.default_rng(0)
    for kills in (True, True, True, False):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ)
        assert process.stdout.readline() == "ready\n"
        saved = _saved(tmp_path)
        while kills and process.poll() is None and _saved(tmp_path) == saved:
            time.sleep(0.005)  # a step each time
        if kills:
            time.sleep(float(rng.uniform(0, 0.03)))
            process.send_signal(signal.SIGKILL)
        process.communicate()
    assert process.returncode == 0
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def _saved(tmp_path):
    path = tmp_path / "state.json"
    return path.stat().st_mtime_ns if path.exists() else None

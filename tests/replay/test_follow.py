"""Lines answered as they come, with the numbers that a replay of all of them gives."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading

import pytest

from fullswap.replay import ReplaySettings, follow_file, replay_file
from tests.replay.made import by_hand, made_log, read_csv, write_csv

ROLES = {"y": ["rained"], "p": ["p"], "time": "at", "key": "station", "resolved": "known_at"}
EVENTS = {"y": ["won"], "p": ["p"], "event": ["match"]}


def fed(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def text_of(tmp_path, log):
    return write_csv(tmp_path / "part.csv", log).read_text()


def test_same_as_replayed(tmp_path, monkeypatch):
    log = made_log(200, gaps=0.1)
    fed(monkeypatch, text_of(tmp_path, log))
    said = []
    follow_file("-", ROLES, ReplaySettings(), out=tmp_path / "out.csv", say=said.append)
    replay_file(tmp_path / "part.csv", ROLES, ReplaySettings(), out=tmp_path / "whole.csv")
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_growing_file_goes_on_from_what_it_held(tmp_path):
    log = made_log(150, pending=0.0)
    path = write_csv(tmp_path / "log.csv", log[:100])
    kept = {"out": tmp_path / "out.csv", "state": tmp_path / "s.json", "say": lambda text: None}
    follow_file(path, ROLES, ReplaySettings(), forever=False, **kept)
    whole = write_csv(tmp_path / "whole.csv", log).read_text()
    path.write_text(whole)
    follow_file(path, ROLES, ReplaySettings(), forever=False, **kept)
    found = [(r["issued"], r["mean"]) for r in read_csv(tmp_path / "out.csv")]
    wanted = [("", "") if a is None else a for a in by_hand(log)]
    assert [("", "") if not i else (float(i), float(m)) for i, m in found] == wanted


def test_growing_json_lines(tmp_path):
    path, said = tmp_path / "log.jsonl", []
    path.write_text('{"match": "a", "p": 0.7, "won": 1}\n{"match": "b", "p": 0.2, "won": 0}\n')
    kept = {"out": tmp_path / "out.jsonl", "state": tmp_path / "s.json", "say": said.append}
    follow_file(path, EVENTS, ReplaySettings(), forever=False, **kept)
    with open(path, "a") as file:
        file.write('{"match": "c", "p": 0.4}\nbroken\n')
    follow_file(path, EVENTS, ReplaySettings(), forever=False, **kept)
    assert (tmp_path / "out.jsonl").read_text().count("\n") == 3


def test_line_with_an_outcome_answers_the_event(tmp_path, monkeypatch):
    fed(monkeypatch, "match,p,won\nm1,0.7,\nm2,0.4,\nm1,0.8,\nm1,,yes\nm3,0.5,\n")
    said = []
    (certificate,) = follow_file(
        "-", EVENTS, ReplaySettings(), out=tmp_path / "out.csv", say=said.append
    ).values()
    assert (certificate.rounds, certificate.events) == (2, 1)
    assert [bool(r["issued"]) for r in read_csv(tmp_path / "out.csv")] == [
        True, True, True, False, True,
    ]  # fmt: skip


def test_malformed_lines_are_said_with_their_number(tmp_path, monkeypatch):
    lines = "match,p,won\nm1,0.7,\nbroken\nm2,7.5,\nm3,0.2,\n"
    fed(monkeypatch, lines)
    said = []
    follow_file("-", EVENTS, ReplaySettings(), out=tmp_path / "out.csv", say=said.append)
    assert len(read_csv(tmp_path / "out.csv")) == 2
    assert any("line 3 must have 3 fields, got 1" in text for text in said)
    assert any("line 4 " in text and "7.5" in text for text in said)
    fed(monkeypatch, lines)
    with pytest.raises(ValueError, match="line 3"):
        follow_file("-", EVENTS, ReplaySettings(), out=tmp_path / "out.csv", strict=True,
                    say=said.append)  # fmt: skip


def test_json_lines(tmp_path, monkeypatch):
    fed(monkeypatch, '{"match": 1, "p": 0.7, "won": null}\n[1]\n{"match": 1, "won": true}\n')
    said = []
    follow_file("-", EVENTS, ReplaySettings(), out=tmp_path / "out.jsonl", say=said.append)
    assert (tmp_path / "out.jsonl").read_text().count("\n") == 2
    assert any("line 2 must be a JSON object" in text for text in said)


def test_killed_while_following(tmp_path):
    """Lines that were taken and not yet saved are in the journal."""
    log = made_log(60, pending=0.0, gaps=0.0)
    code = (
        "from tests.replay.test_follow import ROLES\n"
        "from fullswap.replay import ReplaySettings, follow_file\n"
        f"follow_file('-', ROLES, ReplaySettings(), out={str(tmp_path / 'out.csv')!r}, "
        f"state={str(tmp_path / 's.json')!r}, say=lambda text: None, snapshot=7)"
    )
    text = text_of(tmp_path, log).splitlines(keepends=True)
    done = 0
    for stop, sign in ((20, signal.SIGKILL), (43, signal.SIGKILL), (60, signal.SIGTERM)):
        process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, text=True)
        watchdog = threading.Timer(60, process.kill)
        watchdog.start()
        process.stdin.write(text[0] + "".join(text[1 + done : 1 + stop]))
        process.stdin.flush()
        while _lines(tmp_path / "out.csv") < 1 + stop and process.poll() is None:
            os.sched_yield()
        process.send_signal(sign)
        process.wait()
        process.stdin.close()
        watchdog.cancel()
        done = stop
    assert process.returncode == 0
    replay_file(write_csv(tmp_path / "log.csv", log), ROLES, ReplaySettings(),
                out=tmp_path / "whole.csv")  # fmt: skip
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert not (tmp_path / "s.json.journal").exists()


def _lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0

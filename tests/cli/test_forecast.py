"""The command `fullswap forecast`: what it prints, where, and with which exit code."""

from __future__ import annotations

import json

import pytest

from fullswap.cli import app
from tests.replay.made import made_log, write_csv

FLAGS = ["--outcome", "rained", "--probability", "p", "--time", "at", "--key", "station"]


@pytest.fixture
def log(tmp_path):
    return str(write_csv(tmp_path / "log.csv", made_log(200)))


@pytest.fixture
def run(capfd):
    def call(*arguments):
        with pytest.raises(SystemExit) as stopped:
            app.run(["forecast", *map(str, arguments)])
        return (stopped.value.code, *capfd.readouterr())

    return call


def test_summary(run, log, tmp_path):
    code, out, _ = run(log, *FLAGS, "--out", tmp_path / "out.csv")
    assert code == 0
    assert out.startswith("Before: ")
    for words in ("After: ", "Brier score", "Certificates, key by key", "once at has moved on"):
        assert words in out


def test_json_and_standard_output(run, log):
    found = json.loads(run(log, *FLAGS, "--json")[1])
    assert found["before"]["verdict"]
    assert len(found["certificates"]) == 5
    _, out, _ = run(log, *FLAGS, "--out", "-")
    assert out.count("\n") == 201


def test_report(run, log, tmp_path):
    page = tmp_path / "page.html"
    assert run(log, *FLAGS, "--report", page, "--alarm")[0] == 0
    assert page.read_text().lower().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--delay", "3", "--resolved", "known_at"], "--delay must be left out"),
        (["--out", "rows.txt"], "must end in .csv"),
        (["--key", "stations"], "did you mean 'station'"),
        (["--step", "7%"], "--step must divide 1"),
        (["--follow", "--json"], "--follow"),
    ],
    ids=["late", "kind", "name", "step", "follow"],
)
def test_trouble_is_one_line(run, log, more, words):
    code, _, error = run(log, *FLAGS, *more)
    assert code == 2
    assert words in error
    assert error.count("\n") == 1


def test_strict_stops_at_a_malformed_line(run, tmp_path):
    path = write_csv(tmp_path / "log.csv", made_log(100), malformed=0.2)
    code, _, error = run(path, *FLAGS, "--strict")
    assert code == 2
    assert "line " in error
    assert run(path, *FLAGS)[0] == 0

"""`fullswap check` as a user calls it, and logs that are longer than memory should be."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import fullswap as fs
from fullswap.checking import files
from fullswap.checking.files import check_file
from fullswap.checking.settings import Settings
from tests.checking.made import classes, games, stream

CALL = "from fullswap.cli import main; main()"


def fullswap(*arguments, given=None):
    call = [sys.executable, "-c", CALL, "check", *map(str, arguments)]
    return subprocess.run(call, capture_output=True, text=True, timeout=110, input=given)


def log_frame(n=1_500, **flaw):
    y, p = stream(n, **flaw)
    day = np.datetime64("2026-01-01") + np.arange(n) // 10
    where = np.where(np.arange(n) % 3 == 0, "north", "south")
    return pd.DataFrame({"day": day, "won": y.astype(int), "prob": p, "where": where})


@pytest.fixture(scope="module")
def bold(tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "bold.csv"
    log_frame(slope=0.5).to_csv(path, index=False)
    return path


def test_columns_are_guessed_and_the_paragraph_comes_first(bold):
    result = fullswap(bold)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].startswith("Over-confident")
    assert "- outcome: column won (holds only 0 and 1)" in lines
    assert any(line.startswith("- probability: column prob") for line in lines)
    assert any(line.startswith("- time: column day") for line in lines)


def test_the_library_the_file_and_standard_input_agree(bold, tmp_path):
    frame = log_frame(slope=0.5)
    whole = fs.check(frame, y="won", p="prob", time="day", by=["where"])
    expected = json.loads(whole.to_json())
    frame.to_parquet(tmp_path / "log.parquet")
    frame.to_json(tmp_path / "log.jsonl", orient="records", lines=True, date_format="iso")
    named = "--outcome won --probability prob --time day --by where --json".split()
    for log, given in (
        (bold, None), (tmp_path / "log.parquet", None), (tmp_path / "log.jsonl", None),
        ("-", bold.read_text()),
    ):  # fmt: skip
        result = fullswap(log, *named, given=given)
        assert result.returncode == 0, result.stderr
        found = json.loads(result.stdout)
        assert found["verdict"] == expected["verdict"]
        assert found["metrics"] == pytest.approx(expected["metrics"], rel=1e-9)
        values = [s["value"] for s in found["segments"]]
        assert values == [s["value"] for s in expected["segments"]]


def test_fail_on_sets_the_exit_code(bold, tmp_path):
    assert fullswap(bold, "--fail-on", "miscalibrated").returncode == 1
    assert fullswap(bold, "--fail-on", "miscalibrated", "--tolerance", "40").returncode == 0
    assert fullswap(bold, "--fail-on", "any", "--tolerance", "40").returncode == 1
    assert fullswap(bold, "--fail-on", "sometimes").returncode == 2


def test_the_report_is_written_whole(bold, tmp_path):
    page = tmp_path / "report.html"
    result = fullswap(bold, "--report", page)
    assert result.returncode == 0, result.stderr
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>") and "Over-confident" in text
    assert str(page) in result.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.csv"], ["missing.csv"]),
        (["{log}", "--outcome", "wonn"], ["wonn", "won"]),
        (["{log}", "--outcome", "prob", "--probability", "won"], ["swapped"]),
        (["{log}", "--step", "30%"], ["step"]),
        (["{log}", "--tolerance", "-1"], ["tolerance"]),
        (["{log}", "--report", "{folder}"], ["--report"]),
        (["{log}", "--report", "{folder}/none/x.html"], ["--report"]),
        (["{folder}"], ["{folder}"]),
    ],
)
def test_what_is_wrong_is_said_in_one_line(arguments, words, bold, tmp_path):
    places = {"log": str(bold), "folder": str(tmp_path)}
    result = fullswap(*(a.format(**places) for a in arguments))
    assert result.returncode == 2 and result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert all(word.format(**places) in result.stderr for word in words)


# --- long logs ------------------------------------------------------------------------------------


def long_log(tmp_path, monkeypatch, frame, **roles):
    path = tmp_path / "long.csv"
    frame.to_csv(path, index=False)
    whole = check_file(path, roles, Settings(recalibrate=False))
    monkeypatch.setattr(files, "WHOLE_ROWS", 1_000)
    monkeypatch.setattr("fullswap.inputs.csv_files.BLOCK", 20_000, raising=False)
    streamed = check_file(path, roles, Settings(recalibrate=False))
    return whole, streamed


def test_a_long_log_is_read_in_one_pass_with_the_same_answer(tmp_path, monkeypatch):
    frame = log_frame(30_000, seed=3, shift=0.2)
    frame["age"] = np.random.default_rng(0).normal(40, 10, len(frame))
    frame.loc[5::100, "won"] = None
    roles = {"y": ["won"], "p": ["prob"], "by": ["where", "age"]}
    whole, streamed = long_log(tmp_path, monkeypatch, frame, **roles)
    assert any("in one pass" in note for note in streamed.notes)
    assert streamed.metrics == pytest.approx(whole.metrics, rel=1e-6)
    assert streamed.evidence.log10 == pytest.approx(whole.evidence.log10)
    assert streamed.pending == whole.pending == 300
    named = {(s.column, s.value): s.events for s in whole.segments if s.column == "where"}
    assert named == {
        (s.column, s.value): s.events for s in streamed.segments if s.column == "where"
    }
    assert sum(s.events for s in streamed.segments if s.column == "age") == whole.events


def test_percent_stays_percent_in_every_batch(tmp_path, monkeypatch):
    y, p = stream(30_000, seed=4, center=-6.0, spread=0.3)
    p[:1_000], y[:1_000] = stream(1_000, seed=5)[1], stream(1_000, seed=5)[0]
    frame = pd.DataFrame({"won": y.astype(int), "prob": 100 * p})
    _, streamed = long_log(tmp_path, monkeypatch, frame, y=["won"], p=["prob"])
    assert streamed.metrics["mean_forecast"] == pytest.approx(p.mean())


def test_several_classes_in_one_pass(tmp_path, monkeypatch):
    y, p = classes(20_000, seed=6)
    frame = pd.DataFrame(p, columns=["home", "draw", "away"])
    frame["result"] = np.array(["home", "draw", "away"])[y]
    roles = {"y": ["result"], "classes": ["home", "draw", "away"]}
    whole, streamed = long_log(tmp_path, monkeypatch, frame, **roles)
    assert streamed.labels == whole.labels == ["home", "draw", "away"]
    assert streamed.metrics == pytest.approx(whole.metrics, rel=1e-6)


def test_a_long_log_that_must_be_sorted_or_grouped_is_read_whole(tmp_path, monkeypatch):
    frame = log_frame(30_000, shift=0.1).iloc[::-1]
    frame["game"] = np.arange(30_000)[::-1]
    roles = {"y": ["won"], "p": ["prob"]}
    for more in ({"time": "day"}, {"event": ["game"]}, {"together": ["day"]}, {}):
        whole, streamed = long_log(tmp_path, monkeypatch, frame, **roles, **more)
        # rows of one day come in the order of the file, and guessed times are as good as given ones
        assert streamed.metrics == pytest.approx(whole.metrics, rel=1e-6)
        assert not any("in one pass" in note for note in streamed.notes)


def test_events_are_found_also_where_outcome_and_probability_are_named(tmp_path):
    y, p, event = games(150, 8, seed=2)
    path = tmp_path / "games.csv"
    names = [f"g{e}" for e in event]
    pd.DataFrame({"game": names, "won": y.astype(int), "prob": p}).to_csv(path, index=False)
    c = check_file(path, {"y": ["won"], "p": ["prob"]}, Settings(recalibrate=False))
    assert c.events == 150
    assert [n for n in c.notes if n.startswith("event:")] and not c.sentence.startswith("Careful")


def test_commas_and_repeated_flags_are_the_same(bold):
    one = fullswap(bold, "--by", "where,won", "--json")
    two = fullswap(bold, "--by", "where", "--by", "won", "--json")
    assert one.returncode == 0 and one.stdout == two.stdout


def test_a_full_disk_is_an_error_and_any_encoding_prints(bold):
    command = [sys.executable, "-c", CALL, "check", str(bold)]
    with open("/dev/full", "w") as full:
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 2 and "could not write" in result.stderr
    assert "Traceback" not in result.stderr
    plain = subprocess.run(command, env={**os.environ, "PYTHONIOENCODING": "ascii"},
                           capture_output=True, text=True)  # fmt: skip
    assert plain.returncode == 0, plain.stderr
    assert plain.stdout.startswith("Over-confident")

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
        (["--groups", "stations"], "--groups must name a column"),
        (["--groups", ""], "--groups must name a column"),
        (["--groups", "rained"], "--groups must name columns that are known before the outcome"),
        (["--resolved", "known_at", "--groups", "remark,known_at"], "known before the outcome"),
    ],
    ids=["late", "kind", "name", "step", "no group", "empty", "outcome", "later"],
)
def test_trouble_is_one_line(run, log, more, words):
    code, _, error = run(log, *FLAGS, *more)
    assert code == 2
    assert words in error
    assert error.count("\n") == 1


ALONE = ["--outcome", "rained", "--probability", "p", "--time", "at"]


def test_groups_in_text_json_and_report(run, log, tmp_path):
    code, out, _ = run(
        log, *ALONE, "--groups", "station,remark", "--report", tmp_path / "page.html"
    )
    assert code == 0
    lines = out[out.index("Groups, those least explained by chance first") :].split("\n")
    assert lines[1].split()[:5] == ["group", "forecasts", "before", "chance", "after"]
    shown = [line.split()[0] for line in lines[2:9]]
    assert "everybody" in shown and "station=S3" in shown
    found = json.loads(run(log, *ALONE, "--groups", "station", "--json")[1])["groups"]
    assert [row["name"] for row in found if row["rounds"] > 100] == ["everybody"]
    beyond = [row["beyond_chance"] for row in found]
    assert beyond == sorted(beyond, reverse=True) and len(found) == 6
    page = (tmp_path / "page.html").read_text()
    assert '<h2 id="groups">' in page and page.count("station=S3") >= 2


def test_at_most_ten_groups_are_listed(run, tmp_path):
    log = str(write_csv(tmp_path / "log.csv", made_log(300, keys=25)))
    out = run(log, *ALONE, "--groups", "station")[1]
    assert "\nand 15 more\n" in out
    assert out.count("\nstation=") == 10


def test_groups_are_for_yes_or_no(run, tmp_path):
    path = tmp_path / "three.csv"
    path.write_text("who,a,b,c,won\n" + "x,0.2,0.3,0.5,a\ny,0.2,0.3,0.5,b\nx,0.1,0.3,0.6,c\n" * 9)
    code, _, error = run(path, "--classes", "a,b,c", "--y", "won", "--groups", "who")
    assert code == 2 and "--groups must be left out for several classes" in error


def test_a_column_of_too_many_values_is_refused_by_name(run, tmp_path):
    path = tmp_path / "many.csv"
    path.write_text("number,p,y\n" + "".join(f"{k},0.5,{k % 2}\n" for k in range(1001)))
    code, _, error = run(path, "--p", "p", "--y", "y", "--groups", "number")
    assert code == 2 and "1,001 in number" in error


def test_check_of_groups(capfd, log):
    def check(*arguments):
        with pytest.raises(SystemExit) as stopped:
            app.run(["check", log, *ALONE, *arguments])
        return (stopped.value.code, *capfd.readouterr())

    code, out, _ = check("--groups", "station")
    assert code == 0 and "\nstation=S3 " in out and "group station" not in out
    assert check("--groups", "rained")[0] == 2
    assert "did you mean 'station'" in check("--groups", "stations")[2]
    code, _, error = check("--groups", " ")
    assert code == 2 and "--groups must name a column" in error


def test_check_says_which_column_of_groups_has_too_many_values(capfd, tmp_path):
    path = tmp_path / "many.csv"
    rows = "".join(f"{k % 3},{k},0.5,{k % 2}\n" for k in range(1001))
    path.write_text("few,number,p,y\n" + rows)
    with pytest.raises(SystemExit):
        app.run(["check", str(path), "--p", "p", "--y", "y", "--groups", "few,number"])
    error = capfd.readouterr().err
    assert "got 1,001 in number: cut numbers into bands, or give --by number" in error


def test_strict_stops_at_a_malformed_line(run, tmp_path):
    path = write_csv(tmp_path / "log.csv", made_log(100), malformed=0.2)
    code, _, error = run(path, *FLAGS, "--strict")
    assert code == 2
    assert "line " in error
    assert run(path, *FLAGS)[0] == 0

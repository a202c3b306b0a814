"""The whole study, as a user runs it: from the shell, kept, restored, beside golden values."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from whole import GOLDEN, ROOT, summary_of

from studies import attempts
from studies.__main__ import main
from studies.report.page import publish
from studies.runs import Store, run
from studies.study import PARTS, Study, broken

# Adaptive adversaries answer to the last bit, and another processor may round that bit otherwise:
# values may move a little, and which adversary is worst may change. Times are the machine's own,
# and with them how far a solver comes within its budget.
MEASURED, EXPONENT, GUARANTEED = 0.15, 0.15, 1e-4
"""Relative tolerance of measured values, absolute one of exponents, relative one of guarantees."""
OWN_TO_THE_MACHINE = re.compile(
    r"seconds|versions|revisions|adversary|settings|found_by|_low|_high|exponent\[[12]\]|^\.runs"
    r"|equilibria\.(sizes|rounds\.curves)"
)


def studies(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "studies", *arguments],
        capture_output=True, text=True, timeout=1500, cwd=ROOT,
    )  # fmt: skip


def reproduce(folder, *arguments):
    return studies(*arguments, "--out", str(folder))


def content(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def differences(found, golden, path=""):
    """Where two summaries differ by more than the tolerances."""
    if OWN_TO_THE_MACHINE.search(path):
        return
    if isinstance(golden, dict):
        if found.keys() != golden.keys():
            yield f"{path}: {sorted(found)} instead of {sorted(golden)}"
            return
        for key in golden:
            yield from differences(found[key], golden[key], f"{path}.{key}")
    elif isinstance(golden, list):
        if len(found) != len(golden):
            yield f"{path}: {len(found)} instead of {len(golden)}"
            return
        for k, (one, other) in enumerate(zip(found, golden, strict=True)):
            yield from differences(one, other, f"{path}[{k}]")
    elif isinstance(golden, float):
        exact = {"rel_tol": GUARANTEED} if "guarante" in path else {"rel_tol": MEASURED}
        loose = {"abs_tol": EXPONENT} if "exponent" in path else {"abs_tol": 1e-3}
        if not math.isclose(found, golden, **exact | loose):
            yield f"{path}: {found} instead of {golden}"
    elif found != golden:
        yield f"{path}: {found!r} instead of {golden!r}"


@pytest.mark.slow
def test_the_quick_study_has_its_golden_values(tmp_path):
    # `make reproduce-quick` has run it already: then only what follows is checked
    folder = Path(os.environ.get("FULLSWAP_QUICK") or tmp_path / "quick").resolve()
    first = reproduce(folder, "all", "--quick")
    assert first.returncode == 0, first.stderr
    assert "page.md" in first.stdout
    made = content(folder)
    pictures = [name for name in made if name.startswith("figures/")]
    assert {f"{name}.csv" for name in PARTS} <= made.keys()
    assert len(pictures) >= 7 and all(name.endswith(".svg") for name in pictures)
    for name in PARTS:
        for row in (row for rows in Store(folder, name).load().values() for row in rows):
            assert row.keys() >= {"seed", "python", "numpy", "numba", "revision", "cpu_seconds"}

    summary = json.loads(made["summary.json"])
    assert list(summary["parts"]) == list(PARTS) and not broken(summary)
    if os.environ.get("FULLSWAP_GOLDEN"):  # after a change that is meant to move the numbers
        GOLDEN.write_bytes(made["summary.json"])
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert list(differences(summary, golden)) == []


@pytest.fixture
def short(monkeypatch):
    """A search that takes seconds, and its part alone."""
    monkeypatch.setattr(attempts, "QUICK", (20, 2))
    return ["search"]


def test_what_follows_comes_back_and_only_what_is_missing_is_run(tmp_path, short):
    study = Study(tmp_path)

    def again():
        study.claim()
        with ThreadPoolExecutor(2) as executor:
            run(PARTS["search"].jobs(True, 0), Store(tmp_path, "search"), executor)
        publish(study.summary(), tmp_path)
        return content(tmp_path)

    made = again()
    assert made.keys() == {
        "settings.json", "summary.json", "page.md", "search.csv", "runs/search.jsonl",
    }  # fmt: skip
    for name in made.keys() - {"runs/search.jsonl"}:
        (tmp_path / name).unlink()
        assert again() == made
    # and where jobs are missing, only these are run
    journal = tmp_path / "runs" / "search.jsonl"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:-1]))
    before = Store(tmp_path, "search").load()
    assert len(before) == len(PARTS["search"].jobs(True, 0)) - 1
    assert again().keys() == made.keys()
    after = Store(tmp_path, "search").load()
    assert len(after) == len(before) + 1
    assert {name: after[name] for name in before} == before  # their times among them


def test_a_part_from_the_shell_is_kept(tmp_path):
    first = reproduce(tmp_path, "search", "--quick")
    assert first.returncode == 0, first.stderr
    assert "page.md" in first.stdout and "to go" in first.stderr
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert list(summary["parts"]) == ["search"] and not broken(summary)
    again = reproduce(tmp_path, "search")
    assert again.returncode == 0 and "0%" not in again.stderr
    assert summary == json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))["parts"]["search"]
    assert list(differences(summary["parts"]["search"], golden)) == []


def test_what_was_finished_when_it_is_stopped_stays(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "studies", "search", "--workers", "2", "--out", str(tmp_path)],
        cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        end = time.monotonic() + 60
        while not Store(tmp_path, "search").load() and time.monotonic() < end:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        said = process.communicate(timeout=60)[1]
    finally:
        process.kill()
    assert process.returncode == 130 and "Stopped. The same command goes on" in said
    assert Store(tmp_path, "search").load()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["everything"], "everything"), (["--workers", "0"], "--workers"),
        (["--seed", "-1"], "--seed"), (["--quick", "--full"], "--full"),
    ],
)  # fmt: skip
def test_wrong_usage_exits_with_2_and_says_why(arguments, named, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2 and named in capsys.readouterr().err


def test_a_broken_guarantee_is_an_error(tmp_path, capsys, monkeypatch):
    summary = summary_of("quick")
    summary["parts"] = {"search": summary["parts"]["search"] | {"largest_ratio": 1.2}}
    monkeypatch.setattr(Study, "run", lambda *_: None)
    monkeypatch.setattr(Study, "summary", lambda *_: summary)
    assert main(["search", "--out", str(tmp_path)]) == 1
    assert "exceeded in: search" in capsys.readouterr().err


def test_a_folder_holds_the_results_of_one_setting(tmp_path, capsys):
    Study(tmp_path, quick=True, seed=0).claim()
    with pytest.raises(ValueError, match=r"--quick --seed 0, not of --full --seed 0"):
        Study(tmp_path, quick=False, seed=0).claim()
    assert main(["table", "--seed", "1", "--out", str(tmp_path)]) == 1
    assert "--quick --seed 0" in capsys.readouterr().err
    for name in ("table", "figure"):
        Store(tmp_path, name).append([{"job": "a"}])
    Study(tmp_path, quick=True, seed=0).claim(fresh=["table"])
    assert Store(tmp_path, "table").load() == {} != Store(tmp_path, "figure").load()
    Study(tmp_path, quick=False, seed=0).claim(fresh=["table"])
    assert Store(tmp_path, "figure").load() == {}


@pytest.mark.parametrize("text", ['{"scale":', "[]", '{"seed": 0}', ""])
def test_settings_that_cannot_be_read_are_named(tmp_path, text):
    (tmp_path / "settings.json").write_text(text)
    with pytest.raises(ValueError, match=r"settings\.json must hold the settings of a study"):
        Study(tmp_path).claim()


@pytest.mark.parametrize("quick", [True, False])
def test_jobs_have_names_of_their_own(quick):
    for part in PARTS.values():
        names = [job.name for job in part.jobs(quick, 0)]
        assert len(set(names)) == len(names) > 0

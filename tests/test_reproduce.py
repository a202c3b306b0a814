"""The whole study, as a user runs it: from the shell, kept, restored, beside golden values."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fullswap.experiments.reproduce import PARTS, Study, broken
from fullswap.experiments.study import Store, from_csv
from fullswap.report.paper.book import SECTIONS, sections
from fullswap.report.paper.markdown import markdown

HERE = Path(__file__).parent
GOLDEN = HERE / "golden" / "quick.json"
DOCS = HERE.parent / "docs"

# Adaptive adversaries answer to the last bit, and another processor may round that bit otherwise:
# values may move a little, and which adversary is worst may change. Times are the machine's own,
# and with them how far a solver comes within its budget.
MEASURED, EXPONENT, GUARANTEED = 0.15, 0.15, 1e-4
"""Relative tolerance of measured values, absolute one of exponents, relative one of guarantees."""
OWN_TO_THE_MACHINE = re.compile(
    r"seconds|versions|revisions|adversary|settings|found_by|_low|_high|exponent\[[12]\]|^\.runs"
    r"|equilibria\.(sizes|absent|rounds\.curves)"
)


def reproduce(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-c", "from fullswap.cli import main; main()", "reproduce", *arguments,
         "--out", str(folder)],
        capture_output=True, text=True, timeout=800,
    )  # fmt: skip


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


@pytest.mark.timeout(900)
def test_the_quick_study_from_the_shell(tmp_path):
    folder = tmp_path / "quick"
    first = reproduce(folder, "all", "--quick")
    assert first.returncode == 0, first.stderr
    assert "index.html" in first.stdout and "to go" in first.stderr
    made = content(folder)
    pictures = [name for name in made if name.startswith("figures/")]
    assert {f"{name}.csv" for name in PARTS} <= made.keys()
    assert len([name for name in pictures if name.endswith(".svg")]) * 2 == len(pictures) >= 10
    for name in PARTS:
        for row in from_csv(made[f"{name}.csv"].decode()):
            assert row.keys() >= {"seed", "python", "numpy", "numba", "revision", "cpu_seconds"}

    summary = json.loads(made["summary.json"])
    assert list(summary["parts"]) == list(PARTS) and not broken(summary)
    if os.environ.get("FULLSWAP_GOLDEN"):  # after a change that is meant to move the numbers
        GOLDEN.write_bytes(made["summary.json"])
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert list(differences(summary, golden)) == []

    # any one file, the precious times among them, comes back as it was
    lost = ["table.csv", "runs/table.jsonl", "equilibria.csv", "runs/forecasters.jsonl",
            "summary.json", "index.html", "page.md", "settings.json", *pictures[:2]]  # fmt: skip
    for names in (lost[::2], lost[1::2]):
        for name in names:
            (folder / name).unlink()
        again = reproduce(folder, "all", "--quick", "--json")
        assert again.returncode == 0, again.stderr
        assert json.loads(again.stdout) == summary
        assert content(folder) == made

    # and where jobs are missing, only these are run
    journal = folder / "runs" / "table.jsonl"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:-1]))
    (folder / "table.csv").unlink()
    again = reproduce(folder, "table", "--quick")
    assert again.returncode == 0, again.stderr
    rows = [from_csv(table.decode()) for table in (content(folder)["table.csv"], made["table.csv"])]
    for row in (*rows[0], *rows[1]):
        del row["cpu_seconds"]
    assert rows[0] == rows[1]


def test_a_folder_holds_the_results_of_one_setting(tmp_path):
    Study(tmp_path, quick=True, seed=0).claim()
    with pytest.raises(ValueError, match=r"--quick --seed 0, not of --full --seed 0"):
        Study(tmp_path, quick=False, seed=0).claim()
    refused = reproduce(tmp_path, "table", "--seed", "1")
    assert refused.returncode == 1 and "--quick --seed 0" in refused.stderr
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


def test_an_unknown_engine_is_named(tmp_path):
    Store(tmp_path, "search").append([{"job": "a"}])
    refused = reproduce(tmp_path, "search", "--engine", "steam", "--fresh")
    assert refused.returncode == 1 and "engine must be" in refused.stderr
    assert "steam" in refused.stderr
    assert Store(tmp_path, "search").load()


def test_every_part_has_a_section():
    assert SECTIONS.keys() == PARTS.keys()


@pytest.mark.parametrize("quick", [True, False])
def test_jobs_have_names_of_their_own(quick):
    for part in PARTS.values():
        names = [job.name for job in part.jobs(quick, 0)]
        assert len(set(names)) == len(names) > 0


def test_the_page_in_the_documentation_is_what_its_summary_says():
    summary = json.loads((DOCS / "figures" / "summary.json").read_text(encoding="utf-8"))
    assert summary["scale"] == "full" and list(summary["parts"]) == list(PARTS)
    assert not broken(summary)
    page = (DOCS / "measured.md").read_text(encoding="utf-8")
    assert page == markdown(sections(summary), summary, "figures")


def test_exponents_in_the_documentation_lie_at_or_below_the_papers():
    summary = json.loads((DOCS / "figures" / "summary.json").read_text(encoding="utf-8"))
    for case in summary["parts"]["table"]["cases"]:
        low = case["players"]["fullswap"]["exponent"][1]
        assert low <= case["paper_with_log"], case["row"]

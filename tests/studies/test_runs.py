"""Runs that are kept: nothing is lost, nothing is run twice."""

from __future__ import annotations

import csv
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from studies.fits import exponent
from studies.runs import (
    Job,
    Store,
    number,
    provenance,
    rows_where,
    run,
    write,
)

calls: list[int] = []


def square(side: int, seed: int) -> list[dict]:
    calls.append(side)
    if side < 0:
        raise RuntimeError("no such square")
    found = [{"area": np.float64(side**2), "nothing": None}]
    return [*found, {"note": "large"}] if side > 3 else found


def jobs_for(sides):
    return [Job(square, {"side": side, "seed": 0}, cost=side) for side in sides]


def study(folder, sides, workers=3):
    calls.clear()
    with ThreadPoolExecutor(workers) as executor:
        return run(jobs_for(sides), Store(folder, "squares"), executor)


def content(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def sides(folder):
    """A column of the table."""
    with (folder / "squares.csv").open(encoding="utf-8", newline="") as file:
        return [int(row["side"]) for row in csv.DictReader(file)]


def test_rows_come_in_the_order_of_the_jobs_with_what_made_them(tmp_path):
    rows = study(tmp_path, [2, 5, 3])
    assert [row.get("area") for row in rows] == [4, 25, None, 9]
    assert sorted(calls) == [2, 3, 5]
    assert all(row.items() >= provenance().items() for row in rows)
    assert all("nothing" not in row for row in rows)
    assert sides(tmp_path) == [2, 5, 5, 3]


def test_what_is_kept_is_not_run_again_and_its_table_is_written_anew(tmp_path):
    first = study(tmp_path, [2, 5, 3])
    before = content(tmp_path)
    assert set(before) == {"squares.csv", "squares.jsonl"}
    (tmp_path / "squares.csv").unlink()
    assert study(tmp_path, [2, 5, 3]) == first
    assert calls == [] and content(tmp_path) == before


def test_a_study_that_stopped_goes_on_where_it_was(tmp_path):
    with pytest.raises(RuntimeError, match="no such square"):
        study(tmp_path, [2, 5, -1], workers=1)
    assert not (tmp_path / "squares.csv").exists()
    rows = study(tmp_path, [2, 5, 3])
    assert calls == [3] and [row["side"] for row in rows] == [2, 5, 5, 3]


def test_a_failure_keeps_what_was_running_and_begins_nothing_new(tmp_path):
    started = threading.Event()

    def slow() -> list[dict]:
        started.set()
        time.sleep(0.3)
        return [{"done": True}]

    def fail(late: bool) -> list[dict]:
        started.wait()
        raise RuntimeError("first")

    jobs = [Job(slow, {}, cost=9), Job(fail, {"late": False}, cost=8), *jobs_for(range(1, 8))]
    calls.clear()
    with ThreadPoolExecutor(2) as executor, pytest.raises(RuntimeError, match="first"):
        run(jobs, Store(tmp_path, "mixed"), executor)
    known = Store(tmp_path, "mixed").load()
    assert "" in known and len(calls) < 7
    assert len(known) == 1 + len(calls)


def test_a_line_that_was_cut_off_costs_one_job(tmp_path):
    study(tmp_path, [2, 5, 3])
    journal = tmp_path / "runs" / "squares.jsonl"
    whole = journal.read_text()
    journal.write_text(whole[:-20])
    study(tmp_path, [2, 5, 3])
    assert calls == [3]
    assert [json.loads(line)[0]["side"] for line in journal.read_text().splitlines()] == [2, 5, 3]


def test_jobs_that_are_not_asked_for_this_time_are_kept(tmp_path):
    study(tmp_path, [2, 5, 3])
    assert [row["side"] for row in study(tmp_path, [3])] == [3]
    assert set(sides(tmp_path)) == {2, 3, 5}
    assert [row["side"] for row in study(tmp_path, [5, 2])] == [5, 5, 2]
    assert calls == []


def test_progress_tells_the_cost_that_is_done(tmp_path):
    seen = []
    with ThreadPoolExecutor(1) as executor:
        run(jobs_for([2, 5]), Store(tmp_path, "squares"), executor, lambda *at: seen.append(at))
    assert seen == [(0, 7), (5, 7), (7, 7)]


def nothing() -> list[dict]:
    return []


def test_a_job_must_say_something(tmp_path):
    with ThreadPoolExecutor(1) as executor, pytest.raises(ValueError, match="at least one row"):
        run([Job(nothing, {})], Store(tmp_path, "nothing"), executor)


def test_files_are_replaced_as_a_whole(tmp_path, monkeypatch):
    path = tmp_path / "deep" / "file.txt"
    write(path, "old")
    monkeypatch.setattr("os.replace", lambda *names: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write(path, "new")
    assert path.read_text() == "old"


def test_rows_are_picked_by_their_values():
    rows = [{"dim": 1, "gap": 0.5}, {"dim": 2}]
    assert rows_where(rows, dim=1) == rows[:1]
    assert number(rows[0], "gap") == 0.5
    with pytest.raises(ValueError, match="gap must be a number"):
        number({"gap": "wide"}, "gap")


def test_the_interval_of_an_exponent_covers_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(0)
    sizes = 2.0 ** np.arange(6, 13)
    fits = [
        exponent(sizes, 3 * sizes**0.4 * np.exp(0.1 * rng.standard_normal(len(sizes))))
        for _ in range(1_000)
    ]
    covered = np.mean([low <= 0.4 <= high for _, low, high in fits])
    assert covered == pytest.approx(0.95, abs=0.02)
    assert np.mean([slope for slope, _, _ in fits]) == pytest.approx(0.4, abs=0.01)


@pytest.mark.parametrize(
    ("sizes", "heights"),
    [([1, 2], [1, 2]), ([1, 2, 3], [1, 2]), ([2, 2, 2], [1, 2, 3]), ([0, 1, 2], [1, 2, 3]),
     ([1, 2, 3], [1, float("nan"), 2])],
)  # fmt: skip
def test_no_exponent_without_points(sizes, heights):
    with pytest.raises(ValueError, match="sizes"):
        exponent(sizes, heights)

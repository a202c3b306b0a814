"""Recalibrators as a part of the study: jobs, rows and summary."""

from __future__ import annotations

import json
import pickle
from statistics import fmean, median

import numpy as np
import pytest
from whole import measured

from studies import forecasters, logs

STREAMS = ("calibrated", "overconfident", "drifting", "flipped half-way", "adversarial")


def logs_in(folder):
    rng = np.random.default_rng(0)
    lines = ["date,prob1,prob1_outcome"]
    lines += [f"d,{p:.3f},{int(rng.random() < p)}" for p in rng.random(300)]
    (folder / "mlb_games.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    lines = ["date,actual,0_days_out"]
    lines += [f"d,{rng.random() < 0.3},{100 * p:.0f}" for p in rng.random(200)]
    path = folder / "seattle_nws_forecast_log.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    folder = logs_in(tmp_path_factory.mktemp("logs"))
    made = [
        {"stream": stream, "events": 2_000, "seed": seed} for stream in STREAMS for seed in (0, 1)
    ]
    jobs = [forecasters.Job(forecasters.on_made, arguments) for arguments in made]
    recorded = forecasters.part_with_logs(folder).jobs(True, 0)
    return measured(jobs + [job for job in recorded if "recorded" in job.arguments])


@pytest.fixture(scope="module")
def summary(rows):
    return json.loads(json.dumps(forecasters.summarise(rows), allow_nan=False))


@pytest.mark.parametrize("quick", [True, False])
def test_jobs_have_names_of_their_own(quick):
    jobs = forecasters.PART.jobs(quick, 3)
    assert len({job.name for job in jobs}) == len(jobs) and forecasters.PART.timed
    assert {job.arguments["stream"] for job in jobs} == set(STREAMS)
    assert min(job.arguments["seed"] for job in jobs) == 3
    assert {job.arguments["events"] for job in jobs} == {5_000 if quick else 20_000}


def test_logs_add_a_job_each(tmp_path, monkeypatch):
    read = []
    monkeypatch.setattr(
        forecasters, "read_logs", lambda folder: read.append(folder) or logs.read_logs(folder)
    )
    part = forecasters.part_with_logs(logs_in(tmp_path))
    made, jobs = forecasters.jobs(True, 0), part.jobs(True, 0)
    assert [job.name for job in jobs[: len(made)]] == [job.name for job in made]
    added = [job.arguments for job in jobs[len(made) :]]
    assert added == [
        {"stream": name, "recorded": True, "seed": 0} for name in ("baseball", "rain, nws")
    ]
    (row,) = measured(jobs[-1:])[:1]
    assert row["stream"] == "rain, nws" and row["recorded"] is True
    assert not any(str(tmp_path) in str(value) for value in (jobs[-1].name, *row.values()))
    assert pickle.loads(pickle.dumps(jobs[-1])).name == jobs[-1].name
    assert forecasters.part_with_logs(tmp_path) is part and read == [tmp_path]
    assert part.name == "forecasters" and part.timed and part.prepare is forecasters.warm_up


def test_a_folder_without_logs_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="folder must hold one of the public logs, got"):
        forecasters.part_with_logs(tmp_path)


def test_rows_are_the_same_again_but_for_times():
    job = forecasters.Job(forecasters.on_made, {"stream": "adversarial", "events": 500, "seed": 4})
    first, again = measured([job]), measured([job])
    for row in (*first, *again):
        assert row.pop("microseconds") > 0
    assert first == again
    assert {row["events"] for row in first} == {500}


def test_the_summary_is_means_over_draws(rows, summary):
    assert [stream["stream"] for stream in summary["streams"]] == [
        *STREAMS,
        "baseball",
        "rain, nws",
    ]
    assert [s["recorded"] for s in summary["streams"]] == [False] * 5 + [True] * 2
    drifting = summary["streams"][2]
    assert drifting["seeds"] == 2 and drifting["events"] == 2_000
    for score in drifting["contenders"]:
        mine = [
            row
            for row in rows
            if row["stream"] == "drifting" and row["contender"] == score["contender"]
        ]
        assert len(mine) == 2
        for key, middle in (("calibration", fmean), ("brier", fmean), ("microseconds", median)):
            assert score[key] == pytest.approx(middle(row[key] for row in mine), rel=1e-5)
        assert ("guaranteed" in score) == (score["contender"] == "fullswap, issued")

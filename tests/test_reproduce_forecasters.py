"""Recalibrators as a part of the study: jobs, rows, summary, and what the section says of them."""

from __future__ import annotations

import copy
import io
import json
import math
import pickle
import re
from statistics import fmean, median

import numpy as np
import pytest

from fullswap.experiments import forecasters, logs
from fullswap.forecasting.recalibration_bounds import experts_calibration
from fullswap.report.paper import forecasters as told
from fullswap.report.paper.section import Picture, Table
from sections import measured, text_of

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


def test_the_section_says_what_the_summary_holds(summary):
    section = told.section(summary, "fullswap reproduce forecasters")
    assert section.command == "fullswap reproduce forecasters"
    tables = [block for block in section.blocks if isinstance(block, Table)]
    for table in tables:
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert len(table.rows) == len(summary["streams"])
    column = tables[0].columns.index("model itself")
    raw = summary["streams"][1]["contenders"][0]
    assert raw["contender"] == "raw model" and raw["calibration"] > 0.01
    assert tables[0].rows[1][column] == f"{1e4 * raw['calibration']:,.0f}"
    text = text_of(section)
    assert "means over 2 draws" in text and "FiveThirtyEight" in text
    assert "Only forecasts that are drawn can resist it" in text
    made, short, shortest = (
        math.ceil(1e4 * experts_calibration(events, forecasters.GRID) / events)
        for events in (2_000, 300, 200)
    )
    assert f"stream: at most {made} × 10⁻⁴ per event on made streams; at most {short:,} × " in text
    assert f" to {shortest:,} × 10⁻⁴ per event on recorded streams, by their length." in text
    assert not re.search(r"\b(nan|None|inf)\b", text)


def scores_of(summary, stream):
    (found,) = [s for s in summary["streams"] if s["stream"] == stream]
    return {score["contender"]: score for score in found["contenders"]}


def test_words_follow_the_numbers(summary):
    changed = copy.deepcopy(summary)
    changed["streams"] = [s for s in changed["streams"] if not s["recorded"]]
    for name in STREAMS:
        for score in scores_of(changed, name).values():
            score.update(calibration=1e-4, noise=1e-4, brier=0.2)
    drifting, adversarial = (scores_of(changed, name) for name in ("drifting", "adversarial"))
    drifting["fullswap, issued"].update(calibration=4e-4, brier=0.25)
    adversarial["fullswap, issued"].update(calibration=2e-4)
    text = text_of(told.section(changed, ""))
    assert "**Calibrated** – all are within 2 times the noise." in text
    assert "**Drifting** – all are within 2 times the noise except ours, issued." in text
    assert "the calibration error of our draws is 4 times that of" in text
    assert "the Brier score of our draws is 25 % larger than" in text
    assert "the Brier score of our draws is within 2 % of that of" in text
    assert "has 0.5 times the error of our draws" in text and "resist" not in text
    assert "FiveThirtyEight" not in text and "on recorded streams" not in text
    for score in drifting.values():
        score.update(calibration=8e-4)
        score.pop("guaranteed", None)
    for name in STREAMS:
        scores_of(changed, name)["fullswap, issued"].pop("guaranteed", None)
    drifting["fullswap, issued"].update(calibration=1e-4, brier=0.1)
    text = text_of(told.section(changed, ""))
    assert "**Drifting** – within 2 times the noise: ours, issued." in text
    assert "88 % smaller than" in text and "50 % smaller than" in text
    assert "Guaranteed" not in text  # results that do not say it


def test_contenders_that_are_not_installed_are_left_out(summary):
    fewer = copy.deepcopy(summary)
    for stream in fewer["streams"]:
        stream["contenders"] = [
            s for s in stream["contenders"] if s["contender"] in ("raw model", "fullswap, issued")
        ]
    section = told.section(fewer, "")
    (table, _) = [block for block in section.blocks if isinstance(block, Table)]
    assert table.columns == ("stream", "events", "model itself", "ours, issued", "noise at most")
    for block in section.blocks:
        if isinstance(block, Picture):
            block.draw()


def pixels(picture):
    drawn = io.BytesIO()
    picture.draw().savefig(drawn, format="rgba", dpi=50)
    return drawn.getvalue()


def test_pictures_are_drawn_the_same_every_time(summary):
    pictures = [b for b in told.section(summary, "").blocks if isinstance(b, Picture)]
    names = [picture.name for picture in pictures]
    assert names == ["forecasters", "forecasters-recorded", "forecasters-time"]
    for picture in pictures:
        assert pixels(picture) == pixels(picture)


def test_an_error_of_nothing_can_be_drawn(summary):
    changed = copy.deepcopy(summary)
    for stream in changed["streams"]:
        for score in stream["contenders"]:
            score.update(calibration=0.0, noise=0.0, microseconds=0.0)
    for picture in (b for b in told.section(changed, "").blocks if isinstance(b, Picture)):
        pixels(picture)


def test_many_streams_make_several_pictures(summary):
    more = copy.deepcopy(summary)
    recorded = [stream for stream in more["streams"] if stream["recorded"]]
    more["streams"] += [{**recorded[0], "stream": f"log {k}"} for k in range(4)]
    pictures = [b for b in told.section(more, "").blocks if isinstance(b, Picture)]
    names = [picture.name for picture in pictures]
    assert names[1:3] == ["forecasters-recorded", "forecasters-recorded-2"]
    assert len(pictures[1].draw().axes) == 10 and len(pictures[2].draw().axes) == 2

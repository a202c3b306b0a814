"""The comparison as tables of a page, between markers."""

from __future__ import annotations

import pytest

from studies.report import recalibrators
from studies.report.markers import replace_between

PAGE = "before\n<!-- recalibrators: begin -->\nstale\n<!-- recalibrators: end -->\nafter\n"


def score(contender, factor=1.0, log_loss=0.5):
    return {
        "contender": contender, "calibration": 0.01 * factor, "noise": 0.009, "brier": 0.2 * factor,
        "log_loss": log_loss, "first_brier": 0.25 * factor, "first_log_loss": 0.6,
        "microseconds": 1.0,
    }  # fmt: skip


@pytest.fixture
def summary():
    prompt = [score("raw model", log_loss=None), score("fullswap, mean", 0.9)]
    late = [
        score("raw model"),
        score("fullswap, mean", 1.01),
        score("fullswap without events, mean"),
    ]
    about = {"recorded": True, "seeds": 1}
    return {
        "grid": 20,
        "warm_up": 0.2,
        "first": 250,
        "streams": [
            {"stream": "prompt", "events": 1_000, "delayed": False, "outcomes": None,
             "contenders": prompt, **about},
            {"stream": "late", "events": 5_000, "delayed": True, "outcomes": 50,
             "contenders": late, **about},
        ],
    }  # fmt: skip


def test_tables_are_of_at_most_eight_columns(summary):
    text = recalibrators.text_of(summary)
    heads = [line for line in text.splitlines() if line.startswith("| stream")]
    assert len(heads) == 8 and max(line.count("|") for line in heads) <= 9
    assert "| prompt | 1,000 | 0.2000 | – | – | – | 0.900 | – |" in text
    assert "| late | 5,000 (50) | 0.2000 | – | – | 1.000 | 1.010 | – |" in text
    assert "| prompt | 1,000 | ∞ |" in text  # an infinite log loss
    assert "| prompt | 1,000 | 10 | – | – | – | 0.0 | – |" in text  # net of noise
    assert text.endswith("Ours takes 1 µs per event from Python.")


def test_only_what_is_between_the_markers_changes(tmp_path, monkeypatch, summary):
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    monkeypatch.setattr(recalibrators, "measure", lambda folder, seed: summary)
    assert recalibrators.main(["--data", str(tmp_path), str(page)]) == 0
    once = page.read_text(encoding="utf-8")
    assert once.startswith("before\n<!--") and once.endswith("-->\nafter\n") and "stale" not in once
    assert recalibrators.main(["--data", str(tmp_path), str(page)]) == 0
    assert page.read_text(encoding="utf-8") == once


def test_a_page_without_markers_and_a_folder_without_logs_are_errors(tmp_path, capsys):
    with pytest.raises(ValueError, match="must have <!-- sums: begin -->"):
        replace_between(PAGE, "sums", "new")
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    assert recalibrators.main(["--data", str(tmp_path), str(page)]) == 1
    assert "folder must hold one of the public logs" in capsys.readouterr().err
    assert page.read_text(encoding="utf-8") == PAGE

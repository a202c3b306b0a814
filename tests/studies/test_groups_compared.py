"""Events in groups: streams, scores, and the page of the comparison."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from whole import DOCS

import fullswap as fs
from studies import groups
from studies.__main__ import main
from studies.groups import BINS, IGNORING, MODEL, OURS, OWN, TRUTH, GroupStream


def slow_error(said, happened):
    """Σ over bins of (Σ outcome − forecast)²/events."""
    error = 0.0
    for k in range(BINS):
        own = [
            (y, p) for y, p in zip(happened, said, strict=True) if min(int(p * BINS), BINS - 1) == k
        ]
        if own:
            error += sum(y - p for y, p in own) ** 2 / len(own)
    return error


def test_errors_are_those_of_the_events_of_a_group():
    rng = np.random.default_rng(0)
    events = 400
    members = [tuple(n for n in ("a", "b", "c") if rng.random() < 0.4) for _ in range(events)]
    said, happened = rng.random(events), (rng.random(events) < 0.5).astype(float)
    said[:3] = 0.0, 1.0, 0.1
    stream = GroupStream("x", members, said, happened, said)
    points, noise, beyond = groups.errors(stream, said, happened)
    for j, name in enumerate((None, "a", "b", "c")):
        own = np.array([name is None or name in names for names in members])
        error = slow_error(said[own].tolist(), happened[own].tolist()) / own.sum()
        assert points[j] == pytest.approx(100 * math.sqrt(error))
        assert (beyond[j] > 0) == (points[j] > noise[j])
    by_hand = fs.metrics.calibration_error(happened, said, bins=BINS)
    assert points[0] == pytest.approx(100 * by_hand)


def test_chance_shows_what_right_forecasts_show():
    rng = np.random.default_rng(1)
    chances = rng.random(500)
    stream = GroupStream("x", [("a",)] * 500, chances, chances, chances)
    runs = [
        groups.errors(stream, chances, (rng.random(500) < chances).astype(float))
        for _ in range(300)
    ]
    squares = np.array([points**2 for points, _, _ in runs])
    assert squares.mean(axis=0) == pytest.approx(runs[0][1] ** 2, rel=0.1)
    beyond = np.array([own for _, _, own in runs])
    assert abs(beyond.mean()) < 0.25 and beyond.std() == pytest.approx(1, abs=0.25)


def test_streams_are_as_they_are_described():
    for stream in groups.segments(4_000, seed=0):
        right = np.allclose(stream.chances, stream.claimed)
        assert right == ("none" in stream.name)
        assert abs((stream.outcomes - stream.chances).sum()) < 4 * math.sqrt(1_000)


def test_each_group_has_a_forecaster_of_its_own_and_ours_is_told_of_all():
    members = [("a",), ("b",), ("a",), ("b",), ("a",), ("b",)]
    rng = np.random.default_rng(5)
    claimed, outcomes = rng.random(6), np.array([0.0, 1, 1, 0, 1, 0])
    stream = GroupStream("small", members, claimed, outcomes, claimed)
    found = groups.said(stream, 3)
    assert [*found] == [TRUTH, MODEL, IGNORING, OWN, OURS]
    seeds = [int(np.random.SeedSequence([3, k]).generate_state(1)[0]) for k in range(3)]
    alone = {key: fs.Recalibrator(seed=s) for key, s in zip(("", "a", "b"), seeds, strict=True)}
    told = fs.Recalibrator(seed=seeds[0], groups=["a", "b"])
    for event, (name,) in enumerate(members):
        said = {key: alone[key].predict(float(claimed[event])) for key in ("", name)}
        ours = told.predict(float(claimed[event]), groups=(name,))
        assert found[IGNORING][event] == said[""].issued
        assert found[OWN][event] == said[name].issued
        assert found[OURS][event] == ours.issued
        for key, forecast in said.items():
            alone[key].update(float(outcomes[event]), forecast)
        told.update(float(outcomes[event]), ours)


def test_the_command_fills_the_page_of_the_documentation(tmp_path, monkeypatch):
    monkeypatch.setattr(groups, "QUICK", replace(groups.QUICK, events=60))
    own = tmp_path / "page.md"
    own.write_text((DOCS / "groups-compared.md").read_text(encoding="utf-8"), encoding="utf-8")
    asked = ["groups", "--quick", "--seed", "3", "--out", str(tmp_path), "--page", str(own)]
    assert main(asked) == 0
    once = own.read_text(encoding="utf-8")
    assert "with seed 3" in once and once.count(f"| **{OURS}** |") == 4 and "nan" not in once
    assert (tmp_path / "groups.csv").read_text(encoding="utf-8").startswith("stream,contender,")

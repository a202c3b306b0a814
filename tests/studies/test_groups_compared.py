"""Events in groups: the streams, their adversaries and scores, and the page of the comparison."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import fullswap as fs
from studies import groups
from studies.__main__ import main
from studies.group_contenders import (
    AVERAGED,
    IGNORING,
    MODEL,
    OURS,
    OWN,
    TRUTH,
    Given,
    One,
    PerGroup,
    contenders,
)
from studies.group_streams import (
    BINS,
    SOCCER,
    Greedy,
    GroupStream,
    Published,
    SignKeeping,
    overlapping,
    segments,
    soccer,
)
from studies.report import compared
from studies.report import groups as page

DOCS = Path(__file__).parents[2] / "docs"
MEMBERS = [(), ("a",), ("a", "b"), ("b",), ("a",), ("a", "b")]


def small(**more):
    rng = np.random.default_rng(5)
    claimed, outcomes = rng.random(6), np.array([0.0, 1, 1, 0, 1, 0])
    return GroupStream("small", MEMBERS, claimed, outcomes, **more)


def certain(value):
    return Published(np.array([value]), np.ones(1), value, value)


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
    stream = GroupStream("x", members, said, happened)
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
    stream = GroupStream("x", [("a",)] * 500, None, chances)
    runs = [
        groups.errors(stream, chances, (rng.random(500) < chances).astype(float))
        for _ in range(300)
    ]
    squares = np.array([points**2 for points, _, _ in runs])
    assert squares.mean(axis=0) == pytest.approx(runs[0][1] ** 2, rel=0.1)
    beyond = np.array([own for _, _, own in runs])
    assert abs(beyond.mean()) < 0.25 and beyond.std() == pytest.approx(1, abs=0.25)


def test_the_greedy_adversary_raises_the_errors_of_the_groups_as_much_as_it_can():
    rng = np.random.default_rng(2)
    members = [tuple(n for n in ("a", "b") if rng.random() < 0.5) for _ in range(60)]
    stream = GroupStream("x", members, None, np.zeros(60))
    adversary = Greedy(stream.places())
    said, happened = [], []

    def total(point, outcome, event):
        error = 0.0
        for name in (None, *members[event]):
            own = [t for t in range(event) if name is None or name in members[t]]
            error += slow_error(
                [*(said[t] for t in own), point], [*(happened[t] for t in own), outcome]
            )
        return error

    for event in range(60):
        low, high = sorted(rng.random(2))
        weight = float(rng.random())
        forecast = Published(np.array([low, high]), np.array([weight, 1 - weight]), 0.5, high)
        gains = [
            weight * total(low, y, event) + (1 - weight) * total(high, y, event) for y in (0, 1)
        ]
        chosen = adversary.choose(event, forecast)
        assert gains[int(chosen)] >= max(gains) - 1e-9
        adversary.learn(event, high, chosen)
        said.append(high)
        happened.append(chosen)


def test_signs_are_kept_once_a_small_group_is_off():
    stream = GroupStream("x", [("a",)] * 40, None, np.zeros(40))
    adversary = SignKeeping(stream.places(), seed=0)
    for event in range(20):
        adversary.learn(event, 0.31, 1.0)
    assert all(adversary.choose(event, certain(0.35)) == 1 for event in range(20, 40))
    coins = {adversary.choose(event, certain(0.95)) for event in range(20, 40)}
    assert coins == {0.0, 1.0}


def test_streams_are_as_they_are_described():
    for stream in overlapping(4_000, 6, seed=0):
        assert len(stream.groups) == 5 and len(stream.members) == 4_000
        sizes = {name: 0 for name in stream.groups}
        for names in stream.members:
            assert list(names) == sorted(names, reverse=True)  # the smallest last
            for name in names:
                sizes[name] += 1
        shares = [float(name.split(" ")[0]) / 100 for name in stream.groups]
        assert [sizes[name] / 4_000 for name in stream.groups] == pytest.approx(shares, abs=0.03)
    for stream in segments(4_000, seed=0):
        right = np.allclose(stream.chances, stream.claimed)
        assert right == ("none" in stream.name)
        assert abs((stream.outcomes - stream.chances).sum()) < 4 * math.sqrt(1_000)


def test_one_forecaster_a_group_learns_all_events_of_its_group():
    stream = small()
    for averaged in (False, True):
        alone = {key: fs.Recalibrator(seed=1) for key in ("", "a", "b")}
        per_group = PerGroup(lambda place: fs.Recalibrator(seed=1), stream, averaged)
        for event, names in enumerate(MEMBERS):
            said = {k: alone[k].predict(float(stream.claimed[event])) for k in ("", *names)}
            forecast = per_group.predict(event)
            last = list(said.values())[-1]
            expected = np.mean([own.mean for own in said.values()]) if averaged else last.mean
            assert forecast.mean == pytest.approx(expected)
            assert float(forecast.points @ forecast.weights) == pytest.approx(forecast.mean)
            per_group.resolve(float(stream.outcomes[event]))
            for key, own in said.items():
                alone[key].update(float(stream.outcomes[event]), own)


def test_adversaries_answer_what_is_said():
    class Against:
        def choose(self, event, forecast):
            return float(forecast.mean < 0.5)

        def learn(self, event, issued, outcome):
            assert outcome == (issued < 0.5)

    stream = small(adversary=Against)
    issued, outcomes = groups.play(stream, Given(stream.claimed))
    assert issued.tolist() == stream.claimed.tolist()
    assert outcomes.tolist() == (stream.claimed < 0.5).tolist()
    told = One(fs.Recalibrator(seed=1), stream, told=False)
    assert len(groups.play(stream, told)[0]) == 6


def test_who_plays_where():
    drawn, against, *_ = overlapping(50, 3, seed=0)
    assert [*contenders(drawn, 0)] == [TRUTH, IGNORING, OWN, AVERAGED, OURS]
    assert [*contenders(against, 0)] == [IGNORING, OWN, AVERAGED, OURS]
    assert [*contenders(small(), 0)] == [MODEL, IGNORING, OWN, AVERAGED, OURS]


# --- the page -------------------------------------------------------------------------------------


def log_of(folder):
    rows = [
        "season,league,date,team1,team2,prob1,prob1_outcome,probtie,probtie_outcome,prob2,prob2_outcome"
    ]
    for day in range(40):
        sides = ("1,.3,0,.2,0", "0,.3,1,.2,0", "0,.3,0,.2,1")[day % 3]
        rows.append(
            f"2020,{'Nord' if day % 4 else 'Süd'},2020-01-{day % 28 + 1:02d},x,y,.5,{sides}"
        )
    (folder / SOCCER).write_text("\n".join(rows) + "\n", encoding="utf-8")


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(page, "QUICK", replace(groups.QUICK, events=60, segment_events=60))


def test_the_command_fills_the_page_of_the_documentation(tmp_path, tiny, capsys):
    own = tmp_path / "page.md"
    own.write_text((DOCS / "groups-compared.md").read_text(encoding="utf-8"), encoding="utf-8")
    asked = ["groups", "--quick", "--seed", "3", "--out", str(tmp_path), "--page", str(own)]
    assert main(asked) == 0
    without = own.read_text(encoding="utf-8")
    assert "with seed 3" in without and f"Left out: `{SOCCER}`" in without
    assert without.count(f"| **{OURS}** |") == 8 and "nan" not in without
    log_of(tmp_path)
    assert main([*asked, "--data", str(tmp_path)]) == 0
    once = own.read_text(encoding="utf-8")
    assert "Left out" not in once and once.count("| soccer, tie |") == 1
    assert once.count(f"| **{OURS}** |") == 10
    assert (tmp_path / "groups.csv").read_text(encoding="utf-8").startswith("part,stream,")
    (tmp_path / "empty.md").write_text("nothing\n", encoding="utf-8")
    assert main(["groups", "--quick", "--out", str(tmp_path), "--page", str(tmp_path / "empty.md")])
    assert "groups: the page must have" in capsys.readouterr().err


def test_a_folder_without_the_log_has_no_matches(tmp_path):
    assert [*soccer(tmp_path)] == []
    log_of(tmp_path)
    win, tie = soccer(tmp_path)
    assert win.groups == ["Nord", "Süd"] and win.claimed[0] == pytest.approx(0.5)
    assert win.outcomes.sum() == 14 and tie.outcomes.sum() == 13
    assert len(groups.first(win, 7).members) == 7 and groups.first(win, None) is win


def row(contender, **scores):
    usual = {"everybody": 1.0, "everybody_noise": 1.0, "worst": 3.0, "worst_noise": 2.0}
    usual |= {"everybody_beyond": 0.0, "worst_beyond": 2.0, "adaptive": False}
    return {"part": "segments", "stream": "s", "contender": contender} | usual | scores


def test_what_is_lost_is_said():
    rows = [row(TRUTH, brier=0.1), row(IGNORING, brier=0.2), row(OWN, brier=0.19)]
    rows += [row(OURS, brier=0.1905)]
    found = compared.means(rows, page.COLUMNS)
    assert "nowhere behind" in compared.losses(found, OURS, page.KINDS, aside=(TRUTH,))
    assert "+0.26 % (s)" in page.pooling(found)
    rows[-1] = row(OURS, brier=0.22, worst=5.0, worst_beyond=9.0)
    found = compared.means(rows, page.COLUMNS)
    text = compared.losses(found, OURS, page.KINDS, aside=(TRUTH,))
    assert "behind (in 2 of 3 comparisons)" in text
    assert "- s, worst group: 5.0 (2.0) against 3.0 (2.0)" in text
    assert f"- s, Brier score: 0.2200 against 0.1900 of “{OWN}”" in text
    adaptive = [each | {"adaptive": True} for each in rows]
    text = compared.losses(compared.means(adaptive, page.COLUMNS), OURS, page.KINDS, (TRUTH,))
    assert "behind (in 1 of 2 comparisons)" in text and "Brier" not in text
    adaptive[-1]["worst_beyond"] = 3.0  # it may be chance
    found = compared.means(adaptive, page.COLUMNS)
    assert "nowhere" in compared.losses(found, OURS, page.KINDS, (TRUTH,))

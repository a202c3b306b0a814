"""Equilibria as a part of the study: jobs, rows and summary."""

from __future__ import annotations

import json
import os
from time import sleep

import numpy as np
import pytest
from whole import measured

from fullswap.games import verify, zoo
from studies import baselines, equilibria, rounds, threads
from studies.runs import Job


def climb(game, method, quick=True, seed=0):
    arguments = {"study": "size", "game": game, "method": method, "quick": quick, "budget": 30.0}
    return Job(equilibria.climb, {**arguments, "seed": seed})


def descent(method, dim=2, seed=0, targets=5, most_rounds=2_000):
    arguments = {"study": "rounds", "dim": dim, "actions": 60, "method": method, "seed": seed}
    ends = {"targets": targets, "most_rounds": most_rounds, "budget": 30.0}
    return Job(rounds.descend, {**arguments, **ends})


def self_play(dim, seed=0, last=512):
    arguments = {"study": "rounds", "dim": dim, "actions": 60, "method": "paper", "seed": seed}
    return Job(rounds.horizons, {**arguments, "last": last})


@pytest.fixture(scope="module")
def rows():
    jobs = [climb("auction", method) for method in ("LP", "fullswap, auto", "fullswap, matching")]
    jobs += [climb("random, full rank", "fullswap, auto")]
    for dim in (2, 3):
        jobs += [self_play(dim), descent("matching", dim, most_rounds=200)]
    return measured([*jobs, descent("auto", 2)])


@pytest.fixture(scope="module")
def summary(rows):
    return json.loads(json.dumps(equilibria.summarise(rows), allow_nan=False))


@pytest.mark.parametrize("quick", [True, False])
def test_jobs_have_names_of_their_own_and_plain_arguments(quick):
    jobs = equilibria.PART.jobs(quick, 3)
    assert len({job.name for job in jobs}) == len(jobs)
    for job in jobs:
        assert job.cost > 0
        assert all(isinstance(value, str | int | float) for value in job.arguments.values())
    games = {job.arguments["game"] for job in jobs if job.arguments["study"] == "size"}
    assert games == set(equilibria.GAMES) - ({"ring"} if quick else set())
    played = {job.arguments["method"] for job in jobs if job.arguments["study"] == "rounds"}
    assert played == {"paper", *rounds.SOLVERS}
    seeds = {job.arguments["seed"] for job in jobs}
    assert seeds == ({3} if quick else {3, 4, 5})
    assert equilibria.PART.timed and equilibria.PART.prepare is equilibria.warm_up


def test_sizes():
    assert equilibria.sizes("ring", "LP", quick=False) == equilibria.SIZES
    assert equilibria.sizes("random, full rank", "fullswap, auto", True) == (30, 100)
    assert equilibria.sizes("random, full rank", "LP", quick=False) == (30, 100, 300, 1000)


def test_a_contender_stops_at_its_first_failure(rows):
    found = [row for row in rows if row.get("game") == "auction" and row["method"] == "LP"]
    assert [row["actions"] for row in found] == [27, 100, 256]
    assert all(row["gap"] <= equilibria.GAP and "note" not in row for row in found[:2])
    assert found[2]["note"].startswith("too large") and "gap" not in found[2]
    ours = [row for row in rows if row.get("game") == "auction" and "auto" in row["method"]]
    assert [row["actions"] for row in ours] == [27, 100, 256, 65_536]


def test_a_gap_that_was_missed_is_a_failure(monkeypatch):
    stopped = equilibria.timed("random, full rank", "fullswap, matching", 300, 0.05, 0)
    assert stopped["note"] == "no result in 0.05 s" and stopped["gap"] > equilibria.GAP
    wrong = baselines.Found(np.full((30, 30), 1 / 900))
    monkeypatch.setattr(equilibria, "linear_programme", lambda game, budget: wrong)
    claimed = equilibria.timed("Cournot", "LP", 30, 1.0, 0)
    assert claimed["note"] == "ended with a gap above 0.01"
    assert claimed["gap"] == verify(zoo.cournot(grid=30), wrong.joint).gap


def test_rows_are_the_same_again_but_for_times():
    jobs = [climb("auction", "fullswap, matching"), descent("matching"), self_play(2, last=64)]
    first, again = measured(jobs), measured(jobs)
    for row in (*first, *again):
        assert row.pop("seconds") >= 0
    assert first == again


def test_a_run_that_minds_the_clock_gets_its_budget_of_cpu_time():
    given = []

    def idle(seconds):
        given.append(seconds * 100)
        sleep(seconds)
        return "stopped"

    assert threads.within_budget(idle, lambda found: found == "stopped", 0.01)[0] == "stopped"
    assert given == [1, 2, 4, 8, 16]  # and not for ever
    assert threads.within_budget(idle, lambda found: False, 0.01)[0] == "stopped"
    assert given[5:] == [1]
    given.clear()

    def gives_up(seconds):
        given.append(seconds)
        return "stopped"

    assert threads.within_budget(gives_up, lambda found: True, 1.0)[0] == "stopped"
    assert given == [1]  # it would only give up again
    given.clear()

    def busy(seconds):
        given.append(seconds)
        return sum(range(200_000))

    threads.within_budget(busy, lambda found: True, 1e-9)
    assert given == [1e-9]  # it had its time


def test_one_thread(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    with pytest.raises(KeyError), threads.one_thread():
        assert os.environ["OMP_NUM_THREADS"] == os.environ["OPENBLAS_NUM_THREADS"] == "1"
        raise KeyError
    assert os.environ["OMP_NUM_THREADS"] == "7" and "OPENBLAS_NUM_THREADS" not in os.environ


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_self_play_of_the_papers_learner_keeps_its_guarantee(dim):
    game = rounds.random_rank(40, 1, dim)
    joint, supports, guaranteed = rounds.self_play(game, 300)
    assert joint.min() >= 0 and joint.sum() == pytest.approx(1)
    table = np.zeros((40, 40))
    table[np.ix_(*supports)] = joint
    gap = verify(game, table).gap
    assert gap <= guaranteed
    assert rounds._gap(game, joint, supports) == pytest.approx(gap, abs=1e-12)
    # longer play is closer to an equilibrium than uniform play on the same actions
    uniform = np.zeros((40, 40))
    uniform[np.ix_(*supports)] = 1 / joint.size
    assert gap < verify(game, uniform).gap


def test_self_play_with_different_numbers_of_actions():
    game = zoo.ring(17, 9)
    joint, supports, guaranteed = rounds.self_play(game, 200)
    assert max(supports[0]) > 8 >= max(supports[1])
    assert rounds._gap(game, joint, supports) <= guaranteed


def test_descents_end_at_the_first_gap_missed(rows):
    found = [row for row in rows if row["method"] == "matching" and row["dim"] == 3]
    assert [row["target"] for row in found] == list(rounds.FULL_TARGETS[: len(found)])
    assert all(row["gap"] <= row["target"] and "note" not in row for row in found[:-1])
    assert found[-1]["gap"] > found[-1]["target"]
    assert found[-1]["note"] == "stopped after 200 rounds"


def test_a_gap_counts_only_if_longer_runs_reach_it_too():
    gaps = {64: 0.04, 128: 0.3, 256: 0.15, 512: 0.12, 1024: 0.06}
    made = [{"rounds": length, "gap": gap, "seconds": 1.0} for length, gap in gaps.items()]
    found = rounds._reached_by_horizon(made)
    assert found == {0.2: (256, 1.0), 0.1: (1024, 1.0)}


def test_exponents_are_found_again():
    made = []
    for dim in rounds.DIMS:
        common = {"study": "rounds", "dim": dim, "actions": 60, "seconds": 1.0}
        for seed in (0, 1):
            for length in (64, 128, 256, 512, 1024):
                gap = length ** (-2 / (dim + 3))
                runs = {"rounds": length, "gap": gap, "guaranteed": 2 * gap, "played": 5}
                made.append({**common, "method": "paper", "seed": seed, **runs})
            for target in rounds.FULL_TARGETS:
                length = 0 if target == 0.2 else round(10 / target)
                solver = {"target": target, "rounds": length, "gap": target}
                made.append({**common, "method": "matching", "seed": seed, **solver})
    found = rounds.summarise(made)
    for curve in found["curves"]:
        # the solver's run without rounds says nothing of their growth
        wanted = rounds.paper_exponent(curve["dim"]) if curve["method"] == "paper" else 1.0
        np.testing.assert_allclose(curve["exponent"], wanted, rtol=1e-3)
    for run in found["runs"]:
        wanted = found["paper"][str(run["dim"])]
        np.testing.assert_allclose(run["guaranteed_exponent"], wanted, rtol=1e-3)
        assert run["largest_share"] == 0.5


def test_exponents_without_an_end_or_at_all():
    def made(gaps):
        return [{"rounds": 2**k, "gap": gap} for k, gap in enumerate(gaps)]

    slope, low, high = rounds._growth(made([0.3, 0.1, 0.25, 0.2]), "gap")
    assert 0 < low < slope and high is None
    assert rounds._growth(made([0.1, 0.2, 0.3, 0.4]), "gap") is None
    assert rounds._growth(made([0.4, 0.2, 0.1]), "gap") is None
    # gaps that waver more and more around the same line: at last the end is finite, but far off
    near, far = (
        rounds._growth(made([2 ** (-k / 5) * wavers ** (-1) ** k for k in range(6)]), "gap")
        for wavers in (1.12, 1.16)
    )
    assert 2 * near[0] < near[2] < 3 * near[0]
    assert far[2] is None and 0 < far[1] < near[1]


def test_solvers_that_end_at_their_first_look_have_no_exponent():
    def curve(lengths):
        made = [
            {"study": "rounds", "dim": 2, "actions": 60, "method": "matching", "seed": 0,
             "target": target, "rounds": length, "gap": target, "seconds": 1.0}
            for target, length in zip(rounds.FULL_TARGETS, lengths, strict=False)
        ]  # fmt: skip
        return rounds.summarise(made)["curves"][0]

    assert rounds.FIRST_LOOK == 32
    assert curve([32, 64, 128, 320])["exponent"] is None
    late = curve([32, 64, 128, 320, 640])
    np.testing.assert_allclose(late["exponent"], 1.0, rtol=1e-5)
    assert late["points"][0]["rounds"] == 32
    assert curve([33, 64, 128, 320])["exponent"] is not None


def test_a_gap_counts_as_reached_if_it_was_in_every_game():
    made = []
    for seed, lengths in enumerate([(10, 30, 500), (20, 50, 100), (90, 40, 7_000)]):
        for target, length in zip((0.2, 0.1, 0.05), lengths, strict=True):
            row = {"target": target, "rounds": length, "gap": target, "seconds": length / 100}
            made.append({"study": "rounds", "dim": 2, "actions": 60, "method": "matching",
                         "seed": seed, **row})  # fmt: skip
    made[-1]["note"] = "stopped after 7,000 rounds"
    (curve,) = rounds.summarise(made)["curves"]
    assert curve["points"] == [
        {"target": 0.2, "rounds": 20.0, "seconds": 0.2},
        {"target": 0.1, "rounds": 40.0, "seconds": 0.4},
    ]
    assert curve["notes"] == ["stopped after 7,000 rounds"] and curve["exponent"] is None


def test_the_summary_holds_what_was_measured(rows, summary):
    (auto,) = [
        c for c in summary["sizes"] if c["game"] == "auction" and c["method"] == "fullswap, auto"
    ]
    assert [p["actions"] for p in auto["points"]] == [27, 100, 256, 65_536]
    assert auto["failed"] is None and all(p["gap"] <= summary["gap"] for p in auto["points"])
    (programme,) = [c for c in summary["sizes"] if c["method"] == "LP"]
    assert programme["failed"]["actions"] == 256
    assert summary["rounds"]["actions"] == 60 and summary["rounds"]["games"] == 1
    for run in summary["rounds"]["runs"]:
        assert all(p["gap"] <= p["guaranteed"] for p in run["points"])
        assert run["largest_share"] <= 1
    shares = [row["gap"] / row["guaranteed"] for row in rows if "guaranteed" in row]
    assert summary["largest_ratio"] == pytest.approx(max(shares), rel=1e-5)
    assert equilibria.summarise([])["largest_ratio"] == 0.0

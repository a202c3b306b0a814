"""The open question's part of the study: what is run, what is kept, and how it is summarised."""

import json
import pickle

import pytest
from whole import kept

from studies import convex
from studies.fits import exponent
from studies.runs import Job

HORIZONS = (16, 32, 64, 128)


@pytest.fixture(scope="module")
def rows():
    """A tiny study, read back from a table as a study would be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(convex, "QUICK_HORIZONS", HORIZONS)
        patch.setattr(convex, "MESH_HORIZON", {True: 64})
        patch.setattr(convex, "SEARCH", {True: (32, 16)})
        found = [
            {**job.arguments, **row}
            for job in convex.jobs(True, 0)
            for row in job.measure(**job.arguments)
        ]
    return kept(found)


@pytest.fixture(scope="module")
def summary(rows):
    return convex.summarise(rows)


# --- jobs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("quick", [True, False])
def test_jobs_have_names_of_their_own_and_travel(quick):
    jobs = convex.jobs(quick, 5)
    assert len({job.name for job in jobs}) == len(jobs)
    assert all(job.cost > 0 for job in pickle.loads(pickle.dumps(jobs)))
    # defaults were chosen on the first seeds
    assert min(job.arguments["seed"] for job in jobs) == 2005


def test_quick_is_cheap_and_full_goes_further():
    quick, full = (sum(job.cost for job in convex.jobs(which, 0)) for which in (True, False))
    assert quick < 40 and 10 * quick < full < 1_000
    assert max(convex.FULL_HORIZONS) > max(convex.QUICK_HORIZONS)


def test_mesh_and_search_are_at_horizons_of_the_growth():
    for quick, horizons in ((True, convex.QUICK_HORIZONS), (False, convex.FULL_HORIZONS)):
        assert convex.MESH_HORIZON[quick] in horizons and convex.SEARCH[quick][0] in horizons


@pytest.mark.parametrize("factor", convex.FACTORS)
def test_gamma_is_a_multiple_of_its_default(factor):
    default = convex.make_learner(convex.BINS, 256)
    assert convex.make_learner(convex.BINS, 256, factor).mesh == factor * default.mesh
    assert convex.make_learner(convex.BINS, 16, 64.0).mesh == 0.5  # cut off, not refused
    assert convex.make_learner(convex.NET, 256).plan.learner == "hedge"


def test_runs_are_the_same_every_time():
    job = Job(convex.grow, {"study": "growth", "learner": "convex", "horizon": 20, "seed": 2003})
    assert job.measure(**job.arguments) == job.measure(**job.arguments)


def test_search_is_met_again_with_the_same_settings(rows):
    for learner in convex.PLAYERS:
        found = [row for row in rows if row["study"] == "search" and row["learner"] == learner]
        assert [row["horizon"] for row in found] == list(HORIZONS)
        assert len({(row["adversary"], row["settings"]) for row in found}) == 1
        at = found[HORIZONS.index(32)]
        # the search meets every adversary with its defaults at least as far as its budget goes
        assert at["measured"] > 0 and at["measured"] <= at["guaranteed"]


# --- summary --------------------------------------------------------------------------------


def test_every_run_is_within_its_guarantee(rows):
    for row in rows:
        assert row["measured"] <= row["guaranteed"] * (1 + 1e-9)
        assert row["measured"] <= row["after_the_fact"] * (1 + 1e-9) <= row["guaranteed"] * 1.001


def test_summary_holds_the_worst_run_of_each_horizon(rows, summary):
    assert summary["horizons"] == list(HORIZONS) and summary["seeds"] == [2000]
    assert summary["adversaries"] == 13
    for learner in convex.PLAYERS:
        for horizon, worst in zip(HORIZONS, summary["learners"][learner]["worst"], strict=True):
            regrets = [
                row["measured"]
                for row in rows
                if (row["study"], row["learner"], row["horizon"]) == ("growth", learner, horizon)
            ]
            assert len(regrets) == 13 and worst == pytest.approx(max(regrets), rel=1e-5)
    mesh = summary["mesh"]
    assert mesh["factors"] == list(convex.FACTORS)
    assert mesh["points"] == [1 + 16 * 4, 1 + 16 * 2, 1 + 16, 1 + 8, 1 + 4]
    default = summary["learners"][convex.BINS]["worst"][HORIZONS.index(64)]
    assert mesh["worst"][2] == default


def test_summary_is_plain_json_and_exponents_are_within_their_intervals(summary):
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    for name, found in summary["learners"].items():
        assert found["largest"] == [*map(max, found["worst"], summary["search"][name]["worst"])]
        late = HORIZONS.index(found["late_from"])
        for kind, first in (("exponent", 0), ("late_exponent", late)):
            slope, low, high = found[kind]
            assert low <= slope <= high
            assert found[kind] == exponent(HORIZONS[first:], found["largest"][first:])

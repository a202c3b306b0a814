"""Experiments on small horizons: complete, reproducible, within the guarantees."""

from __future__ import annotations

import json

import pytest

from fullswap import losses
from fullswap.adversaries import ADVERSARIES
from fullswap.play import simulate
from fullswap.theorems import THEOREMS
from studies import attempts, table
from studies.descent import Descent
from studies.problems import cases, problem


def test_every_row_has_a_problem_in_every_dimension():
    assert {row for row, _ in cases()} == set(THEOREMS)
    for row, dim in cases():
        learner = problem(row, dim).learner(100)
        assert learner.row == row and learner.action_set.dim == dim


@pytest.mark.parametrize(("row", "dim"), cases())
def test_runs_stay_within_their_guarantees(row, dim):
    runs = table.measure(row, dim, table.OURS, 60, seed=2)
    assert len({run["adversary"] for run in runs}) == len(runs) >= 12
    assert all(0 <= run["measured"] <= run["guaranteed"] for run in runs)
    assert runs == table.measure(row, dim, table.OURS, 60, seed=2)


def test_the_plain_net_stays_within_its_own_guarantee():
    runs = table.measure("smooth", 2, table.NET, 60, seed=0)
    assert all(0 <= run["measured"] <= run["guaranteed"] for run in runs)
    assert runs != table.measure("smooth", 2, table.OURS, 60, seed=0)


def small_study():
    """Rows of the table on short horizons, as a study would have them."""
    wanted = [job for job in table.jobs(True, 0) if job.arguments["horizon"] <= 256]
    kept = [job for job in wanted if job.arguments["row"] in ("concave", "discretised")]
    return [{**job.arguments, **row} for job in kept for row in job.measure(**job.arguments)]


def test_the_summary_tells_the_worst_adversary_of_every_horizon(monkeypatch):
    rows = small_study()
    monkeypatch.setattr(table, "cases", lambda: [("concave", 1), ("concave", 2)])
    summary = table.summarise(rows)
    assert summary["horizons"] == [64, 128, 256]
    plane = summary["cases"][1]
    ours = plane["players"][table.OURS]
    worst = max(
        row["measured"]
        for row in rows
        if (row["row"], row["dim"], row["player"], row["horizon"])
        == ("concave", 2, table.OURS, 256)
    )
    assert ours["worst"][-1] == pytest.approx(worst, rel=1e-5)
    assert plane["paper"] == pytest.approx(3 / 5)
    assert 0 < ours["largest_ratio"] <= summary["largest_ratio"] <= 1
    assert ours["exponent"][1] <= ours["exponent"][0] <= ours["exponent"][2]
    assert set(plane["players"]) == {table.OURS}
    assert set(summary["cases"][0]["players"]) == {table.OURS, table.NET, table.DESCENT}


def test_jobs_are_many_and_their_names_differ():
    for quick in (True, False):
        names = [job.name for job in (*table.jobs(quick, 3), *attempts.jobs(quick, 3))]
        assert len(set(names)) == len(names)
    assert {job.arguments["seed"] for job in table.jobs(True, 3)} == {3}


@pytest.mark.parametrize(("row", "dim"), [("concave", 2), ("strongly convex", 2), ("smooth", 2)])
def test_gradient_descent_has_linear_swap_regret_against_somebody(row, dim):
    def worst(horizon):
        runs = table.measure(row, dim, table.DESCENT, horizon, seed=0)
        return max(run["measured"] for run in runs) / horizon

    assert worst(400) > 0.8 * worst(100) > 0.1


def test_gradient_descent_is_split_over_the_grid_without_moving_its_mean():
    learner = problem("strongly convex and smooth", 2).learner(100)
    descent = Descent(learner)
    for t in range(20):
        mixture = descent.play()
        assert mixture.mean == pytest.approx(descent._bank.propose(descent._state)[0])
        descent.observe(losses.Quadratic([t % 2, 0.3]))
    slow = max(0.0, descent.full_swap_regret())
    assert 0 < slow <= 20 * learner.loss_class.lipschitz * learner.action_set.diameter


def test_the_search_reports_its_worst_run():
    (found,) = attempts.attempt("concave", 2, rounds=60, budget=6, seed=0)
    assert 0 < found["ratio"] == found["measured"] / found["guaranteed"] <= 1
    again = ADVERSARIES[found["adversary"]]
    posed, settings = problem("concave", 2), json.loads(found["settings"])
    learner = posed.learner(60)
    adversary = again(posed.action_set, posed.loss_class, **settings)
    simulate(learner, adversary, 60, progress=False)
    assert learner.certificate().measured == pytest.approx(found["measured"], rel=1e-9)

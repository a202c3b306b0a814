"""Experiments on small horizons: complete, reproducible, within the guarantees."""

from __future__ import annotations

import numpy as np
import pytest

from fullswap.experiments import breaking, growth
from fullswap.experiments.problems import cases, problem
from fullswap.theorems import THEOREMS


def test_every_row_has_a_problem_in_every_dimension():
    assert {row for row, _ in cases()} == set(THEOREMS)
    for row, dim in cases():
        learner = problem(row, dim).learner(100)
        assert learner.row == row and learner.action_set.dim == dim


def test_the_fit_finds_a_power_law_through_noise():
    rng = np.random.default_rng(0)
    horizons = [100, 300, 1000, 3000, 10_000]
    regrets = [3 * t**0.4 * np.exp(0.02 * rng.standard_normal()) for t in horizons]
    assert growth.fit_exponent(horizons, regrets) == pytest.approx(0.4, abs=0.02)
    with pytest.raises(ValueError, match="horizons"):
        growth.fit_exponent([10], [1.0])


@pytest.mark.parametrize(("row", "dim"), cases())
def test_runs_stay_within_their_guarantees(row, dim):
    runs = growth.run_all(row, dim, 60, seed=2)
    assert len({run.adversary for run in runs}) == len(runs) >= 12
    assert all(0 <= run.measured <= run.guaranteed for run in runs)
    assert runs == growth.run_all(row, dim, 60, seed=2)


def test_growth_is_summarised_by_the_worst_adversary():
    seen = []
    found = growth.measure((20, 60), (0,), workers=2, on_done=lambda *at: seen.append(at))
    assert [(g.row, g.dim) for g in found] == cases()
    assert seen[-1] == (2 * len(cases()), 2 * len(cases()))
    one = next(g for g in found if (g.row, g.dim) == ("concave", 2))
    runs = growth.run_all("concave", 2, 60, 0)
    assert one.worst[-1] == max(run.measured for run in runs)
    assert one.paper == pytest.approx(3 / 5)
    assert 0 < one.largest_ratio <= 1


def test_the_search_reports_its_worst_run():
    found = breaking.attempt(("concave", 2), rounds=60, budget=6, seed=0)
    assert 0 < found.ratio <= 1 and found.tried <= 6 and found.row == "concave"

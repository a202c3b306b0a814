"""The levels of grids that bounds choose, with and without a horizon."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fullswap import grids
from fullswap.sets import Box, Interval
from fullswap.theorems import THEOREMS, Constants, Geometry
from fullswap.theorems.anytime import Schedule
from fullswap.theorems.learning import anytime_hedge_cost, best_ratio, nearly_strongly_convex_cost
from strategies import make_set

# Tuning: the level that a bound chooses -----------------------------------------------------------

GRID_OF_ROW = {
    "lipschitz": "net",
    "smooth": "triangulation",
    "concave": "boundary",
    "strongly convex": "net",
    "strongly convex and smooth": "triangulation",
    "discretised": "triangulation",
}
SQUARED = Constants(2.0, 1.0, strong_convexity=2.0, smoothness=2.0)


@pytest.mark.parametrize("name", THEOREMS)
@pytest.mark.parametrize(
    "action_set", [Interval(-1, 2.5), Box([0, 1], [1, 1.3]), Box([0] * 3, [1, 0.7, 0.21])], ids=repr
)
@pytest.mark.parametrize("relative_convexity", [0.1, 2.0])
def test_tune_finds_the_best_of_all_levels(name, action_set, relative_convexity):
    theorem, size = THEOREMS[name], action_set.diameter
    alpha = relative_convexity * 1.5 / size  # 2·lipschitz/diameter is the largest possible
    constants = Constants(1.5, size, alpha, 2 * alpha, gap=0.1 * size)
    limit = 100 if name == "discretised" else 800  # there every level tunes a ratio of its own
    geometry_at = grids.Levels(GRID_OF_ROW[name], action_set, limit).geometry
    levels = range(1, 16 if name == "concave" else limit + 1)  # boxes have at most 8 vertices
    geometries = [g for g in map(geometry_at, levels) if g is not None]
    for rounds in 10.0 ** np.arange(1, 8):
        level, bound = theorem.tune(constants, rounds, geometry_at)
        best = min(theorem.bound(constants, geometry, rounds) for geometry in geometries)
        assert bound <= best * (1 + 1e-9)
        assert bound == pytest.approx(theorem.bound(constants, geometry_at(level), rounds))


def test_tune_ends_when_finer_grids_never_cost_more():
    # With a single round learning costs the same on every grid, so the finest is the best.
    level, bound = THEOREMS["strongly convex"].tune(SQUARED, 1, lambda k: Geometry(k, 0.5 / k))
    assert bound == pytest.approx(1.0)
    assert level > 10**6


def test_tune_without_any_finite_bound_gives_the_trivial_one():
    rough = Constants(2.0, 1.0)
    line = grids.Levels("triangulation", Interval(0, 1), 1000).geometry
    assert THEOREMS["smooth"].tune(rough, 100, line) == (1, 200.0)
    assert THEOREMS["strongly convex"].tune(rough, 100, line) == (1, 200.0)


@pytest.mark.parametrize(
    ("rounds", "cells", "guaranteed"),
    [(1e3, 5, 46.7), (1e4, 9, 109.9), (1e5, 18, 259.0), (1e6, 37, 607.4), (1e7, 75, 1416.3)],
)
def test_guarantee_of_the_binary_forecaster(rounds, cells, guaranteed):
    line = grids.Levels("triangulation", Interval(0, 1), 10**6).geometry
    level, bound = THEOREMS["strongly convex and smooth"].tune(SQUARED, rounds, line)
    assert (level, round(bound, 1)) == (cells, guaranteed)
    n = cells + 1
    assert bound == pytest.approx(rounds / (4 * cells**2) + n * (1 + math.log(rounds / n)))


@example(1.0, 200.0, 1.0)  # the largest ratio for which the schedule is defined is the best
@given(st.floats(0.001, 1.0), st.floats(0.05, 200.0), st.sampled_from([1.0, 50.0, 1e4, 1e7]))
def test_best_ratio_is_as_good_as_a_dense_scan(gap, relative_convexity, rounds):
    constants = Constants(1.5, 1.0, relative_convexity * 1.5, gap=gap)
    n = 1 + math.ceil(1 / gap)
    ratio = best_ratio(constants, n, rounds)
    found = nearly_strongly_convex_cost(constants, n, rounds, ratio)
    scanned = [
        nearly_strongly_convex_cost(constants, n, rounds, 1 + math.exp(x))
        for x in np.linspace(-5, 10, 1500)
    ]
    assert ratio > 1 and found <= min(scanned) * (1 + 1e-9)


# Unknown horizons ---------------------------------------------------------------------------------


def schedule_and_tuned(name, action_set, constants):
    theorem, kind = THEOREMS[name], GRID_OF_ROW[name]
    limit = 2000 if theorem.restarts else 10**6
    by_level = grids.Levels(kind, action_set, limit).geometry
    if theorem.restarts:
        restarting = theorem.with_cost(anytime_hedge_cost, restarts=True)
        schedule = Schedule(restarting, constants, lambda j: by_level(2**j))
    else:
        schedule = Schedule(theorem, constants, grids.Nested(kind, action_set, limit).geometry)
    return schedule, lambda rounds: theorem.tune(constants, rounds, by_level)[1]


@pytest.mark.parametrize("name", sorted(set(THEOREMS) - {"concave", "discretised"}))
@pytest.mark.parametrize("alpha", [0.02, 0.8])
def test_schedule_grows_steadily_and_costs_little(name, alpha):
    line = Interval(-1.0, 2.5)
    schedule, tuned = schedule_and_tuned(name, line, Constants(1.5, 3.5, alpha, 2 * alpha))
    horizons = sorted({int(10**x) for x in np.linspace(1, 7, 61)})
    bounds = np.array([schedule.bound(rounds) for rounds in horizons])
    assert (np.diff(bounds) >= 0).all() and schedule.bound(0) == 0.0
    assert (np.diff([schedule.level(rounds) for rounds in horizons]) >= 0).all()
    assert schedule.level(10**7) > schedule.level(10) + 2
    assert max(b / tuned(t) for b, t in zip(bounds, horizons, strict=True)) <= 2.5


@pytest.mark.parametrize("name", ["lipschitz", "strongly convex and smooth", "concave"])
@pytest.mark.parametrize("action_set", [Interval(0, 1), make_set("ball", 2, 0)], ids=repr)
def test_level_ends_where_the_level_changes(name, action_set):
    constants = Constants(2.0, action_set.diameter, 1.0, 2.0)
    schedule, _ = schedule_and_tuned(name, action_set, constants)
    start, sums = 0, 0.0
    for _ in range(6):
        level, end = schedule.level(start), schedule.level_ends(start)
        if end > 10**9:
            break
        assert schedule.level(end - 1) == level < schedule.level(end)
        assert schedule.level_ends(end - 1) == end
        cost = schedule.theorem.rounding_cost(constants, schedule.geometry(start))
        sums += cost * (end - start)
        assert schedule.rounding(end) == pytest.approx(sums)
        assert schedule.geometry(end).size <= end
        start = end
    around = [schedule.bound(t) for t in range(max(start - 3, 0), start + 3)]
    assert around == sorted(around)


def test_a_level_overtaken_at_its_first_round_costs_nothing():
    # Level 1 is never the best for long: level 2 is better from the round at which 1 would start.
    sizes, radii = (2, 20, 21), (1.0, 0.5, 0.001)
    levels = [Geometry(n, r) for n, r in zip(sizes, radii, strict=True)]
    theorem = THEOREMS["lipschitz"].with_cost(anytime_hedge_cost, restarts=True)
    constants = Constants(1.0, 50.0)
    schedule = Schedule(theorem, constants, lambda j: levels[j] if j < 3 else None)
    change = schedule.level_ends(0)
    assert schedule.level(change) == 2
    total = sum(theorem.total(constants, levels[j], t) for j, t in ((0, change), (2, 10**6)))
    assert schedule.bound(change + 10**6) == pytest.approx(total)


def test_schedule_needs_a_first_level():
    with pytest.raises(ValueError, match="level 0"):
        Schedule(THEOREMS["lipschitz"], SQUARED, lambda level: None)

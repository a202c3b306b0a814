"""Binary forecasts: the measured error against the guarantee, by slow code, for every mode.

Adversaries see the distribution of each forecast, never the draw.
"""

import math

import numpy as np
import pytest

from contract.makers import column
from forecasting.playing import check, mean_and_check, play_and_check
from forecasting.rounds import (
    NAMES,
    Measured,
    against,
    events_of,
    make_adversary,
    measure,
)
from fullswap.forecasting import Forecaster
from fullswap.kernels.columns import DELAY, LEVEL
from fullswap.online.lattices import points_of
from fullswap.online.line import line_rounding
from fullswap.theorems import LEDGER
from fullswap.theorems.means import LineForecasts

STEPS = (0.25, 0.1, 0.05, 0.02)

every_adversary = pytest.mark.parametrize("name", NAMES)


# --- the numbers themselves ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("horizon", "feedback", "cells", "bound"),
    [
        (10**3, "realised", 8, 17.4),
        (10**4, "realised", 16, 38.9),
        (10**5, "realised", 34, 88.0),
        (10**6, "realised", 72, 201.3),
        (10**4, "distribution", 16, 48.9),
        (10**6, "distribution", 66, 237.2),
    ],
)
def test_the_guarantee_is_that_of_the_best_grid(horizon, feedback, cells, bound):
    forecaster = Forecaster(horizon, feedback=feedback, seed=1)
    points = forecaster.run([]).points
    assert len(points) == cells + 1 and 0 < points[0] < 0.25
    assert forecaster.guarantee == pytest.approx(bound, abs=0.06)
    rounding = max(np.diff(points).max() / 2, points[0]) ** 2

    def slow(events):
        return rounding * events + slow_means_cost(points, events, feedback == "realised")

    # what is saved at points of large mass is not in the slow costs
    saved = 2e-3 if feedback == "realised" else 0.06
    assert slow(horizon) * (1 - saved) <= forecaster.guarantee <= slow(horizon) * 1.002
    forecaster.run(np.zeros(horizon + 50), record=False)
    longer = slow(horizon + 50)
    assert longer * (1 - saved) <= forecaster.guarantee <= longer * 1.002, "for these events"


def slow_means_cost(points, mass, whole):
    """Largest sum over all ways to share the mass, by greedy units; costs as in the proof."""
    n, sizes = len(points), [1, *range(2, 12)]
    while sizes[-1] < mass:
        sizes.append(math.ceil(sizes[-1] * 1.05))
    tables = []
    for i, s in enumerate(points.tolist()):
        mu = min(s, 1 - s)
        gap = 0.0
        if s <= 0.5 and i + 1 < n:
            gap = points[i + 1] - s
        elif s > 0.5:
            gap = s - points[i - 1]
        a, h = 1 - 2 * mu, s * (1 - s)
        costs = []
        for g in sizes:
            if whole:
                b = max(a - 2 * gap, 0.0)
                most = h + a * gap - gap**2 if b > 0 else 0.25
                k = g - 1
                value = (1 - mu) ** 2
                if g > 1:
                    value = most * (math.log(g) + 0.57722 - 1 / (2 * g))
                    value += (b * b + a * a) / 4 + a * gap + a * a / (4 * k)
                    value += (h + a * (1 - mu)) / g
            else:
                two = math.log(2)
                last = (2 - 3 * mu) ** 2 / 4
                fixed = a * a / 4 + last + two * (1 - mu * (1 - mu) / 2)
                fixed += -2 * mu * (1 - two) + mu * mu * (two - 0.5)
                value = min(
                    (min(g, 1) + math.log(max(g, 1))) / 4 + last,
                    (h + a * gap) * math.log1p(g) + fixed,
                )
            costs.append(value)
        tables.append(costs)
    best = math.inf
    for price in (math.exp(x / 20) * n / (6 * mass) for x in range(-40, 41)):
        total = price * mass
        for costs in tables:
            total += max(0.0, *(c - price * g for c, g in zip(costs, sizes, strict=True)))
        best = min(best, total)
    return best


@pytest.mark.parametrize("late", [0, 6])
def test_the_guarantee_without_horizon_adds_up_the_grids(late):
    """Each event counts with the grid on which it was forecast, also when its outcome is late."""
    forecaster = Forecaster(feedback="distribution", seed=1)
    rounding, waiting = 0.0, []
    for y in np.tile([1, 0, 0, 1, 1], 1000):
        points = forecaster.spec.levels[int(column(forecaster, LEVEL))]
        waiting.append((forecaster.predict(), y, line_rounding(points_of(points, 2))))
        while len(waiting) > late:
            forecast, outcome, cost = waiting.pop(0)
            forecaster.update(outcome, forecast)
            rounding += cost
    rounds = forecaster.rounds
    points = points_of(forecaster.spec.levels[int(column(forecaster, LEVEL))], 2)
    assert column(forecaster, DELAY) == late
    level = int(column(forecaster, LEVEL))
    coarser = tuple(
        (points_of(forecaster.spec.levels[k], 2), forecaster.spec.end(k)) for k in range(level)
    )
    means = LineForecasts(points, rounds, rounding, waiting=late, coarser=coarser)
    formula = rounding + LEDGER["means on a line"].bound(means)
    assert forecaster.guarantee == pytest.approx(min(formula, rounds), rel=1e-9)
    assert len(points) > 9


# --- distributions ---------------------------------------------------------------------------


@pytest.mark.theorem("calibration")
@every_adversary
@pytest.mark.parametrize("anytime", [False, True], ids=["known horizon", "anytime"])
def test_l2_calibration_error_of_the_distributions(name, anytime, record_property):
    longest = 500 if name == "greedy" else 2000 if anytime else 5000
    ratios = [
        play_and_check({"feedback": "distribution"}, name, horizon, seed, anytime)
        for seed, horizon in enumerate((50, 300, longest))
    ]
    record_property("ratio", float(max(ratios)))


@pytest.mark.theorem("calibration")
@every_adversary
@pytest.mark.parametrize("step", STEPS)
def test_every_multiple_of_the_step(name, step, record_property):
    """The calibration error first, then the regret among multiples, both by slow code."""
    arguments = {"feedback": "distribution", "step": step}
    ratios = [play_and_check(arguments, name, 300, 3, anytime) for anytime in (False, True)]
    forecaster = Forecaster(300, seed=1, **arguments)
    rounds = against(forecaster, make_adversary(name, 4, 300), 300)
    error, regret = forecaster.certificates()
    slow = Measured(events_of(rounds, "distribution"))
    assert error.measured == pytest.approx(slow.l2(), abs=1e-7)
    assert regret.measured == pytest.approx(slow.among_multiples(forecaster), abs=1e-7)
    assert error.holds and regret.holds and regret.measured <= error.measured + 1e-9
    assert len(forecaster.run([]).points) == round(1 / step) + 1
    record_property("ratio", float(max(ratios)))


# --- draws -----------------------------------------------------------------------------------


@every_adversary
@pytest.mark.parametrize("anytime", [False, True], ids=["known horizon", "anytime"])
def test_l2_calibration_error_of_the_issued_forecasts(name, anytime, record_property):
    horizon = 60 if name == "greedy" else 150
    record_property("ratio", float(mean_and_check({}, name, horizon, 20, anytime)))


@pytest.mark.parametrize(
    ("name", "anytime"),
    [("midpoint", True), ("mean_aware", False), ("one_bin", True), ("switching", False)],
)
@pytest.mark.parametrize(
    "arguments",
    [{"step": step} for step in STEPS],
    ids=str,
)
def test_other_errors_of_the_issued_forecasts(name, anytime, arguments, record_property):
    record_property("ratio", float(mean_and_check(arguments, name, 120, 20, anytime)))


# --- weights and late outcomes -----------------------------------------------------------------


@pytest.mark.parametrize("arguments", [{}, {"step": 0.1}], ids=str)
@pytest.mark.parametrize("anytime", [False, True], ids=["known horizon", "anytime"])
def test_weighted_events_are_within_the_scaled_guarantee(arguments, anytime, record_property):
    ratios = []
    for seed, name in enumerate(NAMES):
        rng = np.random.default_rng(seed)
        adversary = make_adversary(name, seed, 200)
        forecaster = Forecaster(
            None if anytime else 200, seed=1, feedback="distribution", max_weight=3.0, **arguments
        )
        weights = 3.0 * rng.random(200) ** rng.choice([0.0, 1.0, 5.0], 200)
        rounds = against(forecaster, adversary, 200, weights=weights)
        ratios.append(check(forecaster, measure(forecaster, rounds)))
        if not anytime:
            plain = Forecaster(200, feedback="distribution", **arguments)
            assert forecaster.guarantee == 3.0 * plain.guarantee
    record_property("ratio", float(max(ratios)))

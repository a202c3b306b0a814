"""Binary forecasts: the measured error against the guarantee, by slow code, for every mode.

Adversaries see the distribution of each forecast, never the draw.
"""

import itertools
import math

import numpy as np
import pytest

from contract.makers import column
from forecasting.playing import check, mean_and_check, play_and_check, played
from forecasting.rounds import NAMES, OBLIVIOUS, against, make_adversary, measure
from fullswap.forecasting import Forecaster
from fullswap.kernels.columns import DELAY, LEVEL

STEPS = (0.25, 0.1, 0.05, 0.02)

every_adversary = pytest.mark.parametrize("name", NAMES)


def grid_size(forecaster):
    return forecaster.spec.levels[int(column(forecaster, LEVEL))].size(2)


# --- the numbers themselves ------------------------------------------------------------------


def regret_sum(x):
    return min(x, 1.0) + math.log(max(x, 1.0))


@pytest.mark.parametrize(
    ("horizon", "cells", "bound"),
    [(10**3, 5, 46.7), (10**4, 9, 109.9), (10**5, 18, 259.0), (10**6, 37, 607.4)],
)
def test_the_guarantee_is_the_tuned_formula(horizon, cells, bound):
    forecaster = Forecaster(horizon, seed=1)
    assert len(forecaster.run([]).points) == cells + 1
    formula = horizon / (4 * cells**2) + (cells + 1) * regret_sum(horizon / (cells + 1))
    assert forecaster.guarantee == pytest.approx(formula) == pytest.approx(bound, abs=0.05)
    forecaster.run(np.zeros(horizon + 50), record=False)
    longer = horizon + 50
    formula = longer / (4 * cells**2) + (cells + 1) * regret_sum(longer / (cells + 1))
    assert forecaster.guarantee == pytest.approx(formula), "beyond the horizon, for these events"


@pytest.mark.parametrize("late", [0, 6])
def test_the_guarantee_without_horizon_adds_up_the_grids(late):
    """Each event counts with the grid on which it was forecast, also when its outcome is late."""
    forecaster = Forecaster(feedback="distribution", seed=1)
    sizes, waiting = [], []
    for y in np.tile([1, 0, 0, 1, 1], 1000):
        waiting.append((forecaster.predict(), y, grid_size(forecaster)))
        while len(waiting) > late:
            forecast, outcome, size = waiting.pop(0)
            forecaster.update(outcome, forecast)
            sizes.append(size)
    rounds, n = len(sizes), grid_size(forecaster)
    formula = sum(1 / (4 * (size - 1) ** 2) for size in sizes) + n * regret_sum(rounds / n)
    if late:
        assert column(forecaster, DELAY) == late
        formula += n * (2 + late + 2 * late * math.log(rounds / n))
    assert forecaster.guarantee == pytest.approx(formula, rel=1e-9)
    assert sizes == sorted(sizes) and len(set(sizes)) > 3


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


@every_adversary
@pytest.mark.parametrize("anytime", [False, True], ids=["known horizon", "anytime"])
def test_the_paper_s_own_rule(name, anytime, record_property):
    arguments = {"feedback": "distribution", "rule": "stationary"}
    ratios = [play_and_check(arguments, name, horizon, 1, anytime) for horizon in (50, 300)]
    record_property("ratio", float(max(ratios)))


@pytest.mark.theorem("calibration for the log loss")
@every_adversary
@pytest.mark.parametrize("anytime", [False, True], ids=["known horizon", "anytime"])
def test_kl_calibration_error_of_the_distributions(name, anytime, record_property):
    arguments = {"feedback": "distribution", "loss": "log"}
    ratios = [play_and_check(arguments, name, horizon, 2, anytime) for horizon in (50, 600)]
    record_property("ratio", float(max(ratios)))


@pytest.mark.theorem("calibration in steps")
@every_adversary
@pytest.mark.parametrize("step", STEPS)
def test_swap_regret_among_multiples_of_the_step(name, step, record_property):
    arguments = {"feedback": "distribution", "step": step}
    ratios = [play_and_check(arguments, name, 300, 3, anytime) for anytime in (False, True)]
    if name in OBLIVIOUS and step == 0.25:  # long enough for the nearly strongly convex rates
        for horizon in (100_000, None):
            forecaster = Forecaster(horizon, seed=1, **arguments)
            rounds = played(forecaster, make_adversary(name, 4, 10_000), 10_000)
            ratios.append(check(forecaster, measure(forecaster, rounds)))
            assert forecaster.spec.ratio is not None
    record_property("ratio", float(max(ratios)))


def test_the_paper_s_rule_with_a_step():
    for name, step in zip(NAMES, itertools.cycle(STEPS)):
        arguments = {"feedback": "distribution", "step": step, "rule": "stationary"}
        for anytime in (False, True):
            play_and_check(arguments, name, 120, 5, anytime)


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
    [*({"step": step} for step in STEPS), {"loss": "log"}, {"rule": "stationary"}],
    ids=str,
)
def test_other_errors_of_the_issued_forecasts(name, anytime, arguments, record_property):
    horizon = 50 if "rule" in arguments else 120
    record_property("ratio", float(mean_and_check(arguments, name, horizon, 20, anytime)))


# --- weights and late outcomes -----------------------------------------------------------------


@pytest.mark.parametrize("arguments", [{}, {"step": 0.1}, {"loss": "log"}], ids=str)
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
            assert forecaster.guarantee == 3.0 * Forecaster(200, **arguments).guarantee
    record_property("ratio", float(max(ratios)))

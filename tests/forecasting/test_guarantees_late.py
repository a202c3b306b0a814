"""Late outcomes: the guarantee grows with those that wait, and still holds."""

import math

import numpy as np
import pytest

from contract.makers import column
from forecasting.playing import check
from forecasting.rounds import NAMES, answer, make_adversary, measure, round_of
from fullswap.forecasting import Forecaster
from fullswap.kernels.columns import DELAY
from fullswap.theorems import LEDGER, Constants
from fullswap.theorems.lateness import LateOutcomes


def late_cost(mass, delay):
    """The entry of the ledger for gradient steps on the squared loss at one point."""
    constants = Constants(2.0, 1.0, strong_convexity=2.0, smoothness=2.0)
    plain_rate = 2.0, 0.0, math.inf  # steps 1/(2G): running means
    return LEDGER["late outcomes"].bound(LateOutcomes(constants, 1.0, 1, mass, delay, plain_rate))


def late_play(forecaster, adversary, rounds, rng, patience):
    """Outcomes chosen at once and told late, in random order; some are never told."""
    told, waiting = [], []
    for t in range(rounds):
        forecast = forecaster.predict()
        waiting.append((forecast, answer(adversary, forecast, t)))
        while waiting and (len(waiting) > patience or rng.random() < 0.4):
            forecast, outcome = waiting.pop(rng.integers(len(waiting)))
            if rng.random() < 0.05:
                forecaster.drop(forecast)
                continue
            forecaster.update(outcome, forecast)
            told.append(round_of(forecast, outcome))
    return told


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("patience", [1, 20])
def test_late_outcomes_are_within_the_guarantee(name, patience, record_property):
    ratios = []
    kinds = ({}, {"step": 0.25, "pick_steps": True}, {"step": 0.05}, {"loss": "log"})
    for arguments in kinds:
        for horizon in (None, 500):
            rng = np.random.default_rng(patience)
            forecaster = Forecaster(horizon, seed=1, feedback="distribution", **arguments)
            rounds = late_play(forecaster, make_adversary(name, 6, 200), 200, rng, patience)
            assert column(forecaster, DELAY) > 0
            ratios.append(check(forecaster, measure(forecaster, rounds)))
    record_property("ratio", float(max(ratios)))


@pytest.mark.parametrize("name", ["mean_aware", "drift", "one_bin"])
def test_late_outcomes_of_issued_forecasts(name, record_property):
    errors, guarantees = [], []
    for seed in range(20):
        forecaster = Forecaster(200, seed=seed)
        adversary, rng = make_adversary(name, seed + 50, 200), np.random.default_rng(seed)
        rounds = late_play(forecaster, adversary, 200, rng, 10)
        errors.append(measure(forecaster, rounds))
        check(forecaster, errors[-1])
        guarantees.append(forecaster.guarantee)  # for as many waiting as there were
    assert np.mean(errors) <= min(guarantees)
    record_property("ratio", float(float(np.mean(errors)) / min(guarantees)))


def late_loss(outcomes, scales, delay):
    """Σ g·|ℓ(q when forecast) − ℓ(q when learnt)| of one sub-learner, each outcome so late."""
    means, learnt, total, lost = [], 0.0, 0.0, 0.0
    size = len(outcomes)

    def recommended():
        return learnt / total if total else 0.5

    for t in range(size + delay):
        if t < size:
            means.append(recommended())
        if t >= delay:
            g, y = scales[t - delay], outcomes[t - delay]
            lost += g * abs((means[t - delay] - y) ** 2 - (recommended() - y) ** 2)
            learnt, total = learnt + g * y, total + g
    return lost, total


@pytest.mark.theorem("late outcomes")
@pytest.mark.parametrize("delay", [1, 3, 10])
def test_what_late_outcomes_cost_one_sub_learner(delay, record_property):
    """At most B·(2 + b) + L²·b·∫η, found by climbing over outcomes and scales."""
    rng = np.random.default_rng(delay)
    best = 0.0
    for size, scale in ((5, 1.0), (40, 1.0), (40, 0.1), (150, 0.5)):
        starts = [rng.integers(0, 2, size), np.arange(size) // (delay + 1) % 2, rng.random(size)]
        for outcomes in starts:
            scales = np.full(size, scale)
            here = 0.0
            for _ in range(150):
                tried, shares = outcomes.astype(float), scales.copy()
                k = rng.integers(size)
                tried[k : k + rng.integers(1, 2 * delay + 2)] = rng.choice([0.0, 1.0])
                shares[k] = rng.choice([scale, 1.0, 0.1])
                lost, total = late_loss(tried, shares, delay)
                allowed = 2 + delay + 2 * delay * math.log(max(total, 1.0))
                assert late_cost(total, delay) == pytest.approx(allowed)
                assert lost <= allowed
                if lost / allowed >= here:
                    here, outcomes, scales = lost / allowed, tried, shares
            best = max(best, here)
    assert best > 0.05, "the search makes lateness cost something"
    record_property("ratio", float(best))

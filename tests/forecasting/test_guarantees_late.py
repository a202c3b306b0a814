"""Late outcomes: the guarantee grows with those that wait, and still holds."""

import numpy as np
import pytest

from contract.makers import column
from forecasting.playing import check
from forecasting.rounds import NAMES, answer, make_adversary, measure, round_of
from fullswap.forecasting import Forecaster
from fullswap.kernels.columns import DELAY


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
    for arguments in ({}, {"step": 0.25}, {"step": 0.05}):
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

"""Play a binary forecaster against an adversary and hold what it measures to its guarantee."""

import math

import numpy as np
import pytest

from forecasting.rounds import (
    OBLIVIOUS,
    Measured,
    against,
    events_of,
    make_adversary,
    measure,
    oblivious_outcomes,
    rounds_of,
)
from fullswap.forecasting import Forecaster


def check(forecaster, measured):
    """Measured by slow code ≤ after the fact ≤ guaranteed; return measured/guaranteed."""
    certificate = forecaster.certificate()
    assert certificate.measured == pytest.approx(measured, rel=1e-7, abs=1e-7)
    assert certificate.guaranteed <= forecaster.guarantee * (1 + 1e-12)
    if forecaster.horizon is None:
        assert certificate.guaranteed == forecaster.guarantee
    if forecaster.feedback == "distribution":
        assert measured <= certificate.guaranteed * (1 + 1e-9), forecaster.explain()
        assert certificate.holds
        assert measured <= certificate.after_the_fact * (1 + 1e-9) + 1e-9
        assert certificate.after_the_fact <= certificate.guaranteed
    return measured / certificate.guaranteed


def play_and_check(arguments, name, horizon, seed=0, anytime=False):
    """The guarantee at several moments on the way, and at the end; the ratio there."""
    forecaster = Forecaster(None if anytime else horizon, **{"seed": seed, **arguments})
    adversary = make_adversary(name, seed, horizon)
    measured, done, ratio = Measured(), 0, 0.0
    for moment in sorted({1, 2, horizon // 20 + 1, horizon // 3 + 1, horizon}):
        rounds = against(forecaster, adversary, moment - done, done)
        measured.add(events_of(rounds, forecaster.feedback))
        done = moment
        ratio = check(forecaster, measured.l2())
    assert forecaster.rounds == horizon
    return ratio


def mean_and_check(arguments, name, horizon, seeds, anytime=False):
    """Realised feedback: the guarantee is for the mean over the draws."""
    errors, guarantee = [], math.nan
    for seed in range(seeds):
        settings = dict(arguments, feedback="realised", seed=seed)
        forecaster = Forecaster(None if anytime else horizon, **settings)
        adversary = make_adversary(name, 100 + seed, horizon)
        rounds = played(forecaster, adversary, horizon)
        errors.append(measure(forecaster, rounds))
        check(forecaster, errors[-1])
        guarantee = forecaster.guarantee
    assert np.mean(errors) <= guarantee
    return float(np.mean(errors)) / guarantee


def played(forecaster, adversary, rounds):
    """The rounds of a run where the adversary does not look, of the loop where it does."""
    if adversary.name in OBLIVIOUS:
        outcomes = oblivious_outcomes(adversary, rounds)
        yield from rounds_of(forecaster.run(outcomes), outcomes)
        return
    for start in range(0, rounds, 1000):  # a million at once would fill the memory
        yield from against(forecaster, adversary, min(1000, rounds - start), start)

"""Binary forecasts against outcomes that were searched for, and for long.

The marked slow tests go on to a million events (``make verify``).
"""

import itertools

import numpy as np
import pytest

from forecasting.playing import check, mean_and_check, played
from forecasting.rounds import NAMES, OBLIVIOUS, against, make_adversary, measure, rounds_of
from fullswap.forecasting import Forecaster

STEPS = (0.25, 0.1, 0.05, 0.02)
LONG = 10**6

every_adversary = pytest.mark.parametrize("name", NAMES)


# --- searching -------------------------------------------------------------------------------


def replay(horizon):
    """Outcomes ↦ measured error of the distributions, from a fresh row in compiled code."""
    forecaster = Forecaster(horizon, feedback="distribution", seed=1)

    def measured(outcomes):
        fresh = forecaster.copy()
        fresh.run(outcomes, record=False)
        return fresh.certificate().measured

    return forecaster, measured


@pytest.mark.parametrize("horizon", range(1, 11))
def test_no_short_sequence_of_bits_beats_the_guarantee(horizon, record_property):
    forecaster, measured = replay(horizon)
    worst = max(
        itertools.product((0.0, 1.0), repeat=horizon), key=lambda bits: measured(np.array(bits))
    )
    result = forecaster.run(np.array(worst))
    ratio = check(forecaster, measure(forecaster, rounds_of(result, worst)))
    assert ratio <= 1
    record_property("ratio", float(ratio))


def climb(horizon, budget, seed):
    """Hill-climb over outcome sequences for the largest measured error; return the worst."""
    rng = np.random.default_rng(seed)
    forecaster, measured = replay(horizon)
    starts = [rng.integers(0, 2, horizon).astype(float)]
    for name in ("mean_aware", "one_bin", "greedy"):
        player = Forecaster(horizon, feedback="distribution", seed=1)
        starts.append(
            np.array([y for *_, y, _ in against(player, make_adversary(name, seed, 100), horizon)])
        )
    found = []
    for worst in starts:
        best = measured(worst)
        for _ in range(budget):
            tried = worst.copy()
            k, size = rng.integers(horizon), rng.choice([1, 1, 2, 8])
            kind = rng.random()
            if kind < 0.5:
                tried[k : k + size] = 1 - tried[k : k + size]
            elif kind < 0.8:
                tried[k : k + size] = rng.choice([0.0, 0.5, 1.0, rng.random()])
            else:
                other = rng.integers(horizon)
                tried[[k, other]] = tried[[other, k]]
            error = measured(tried)
            if error >= best:
                best, worst = error, tried
        found.append((best, worst))
    return forecaster, max(found, key=lambda pair: pair[0])[1], measured(starts[0])


@pytest.mark.parametrize("horizon", [60, 120, 200])
def test_a_searching_adversary_stays_within_the_guarantee(horizon, record_property):
    forecaster, worst, first = climb(horizon, 600, seed=horizon)
    error = measure(forecaster, rounds_of(forecaster.run(worst), worst))
    assert error > first, "the search found something worse than coins"
    record_property("ratio", float(check(forecaster, error)))


# --- long ------------------------------------------------------------------------------------


def long_check(arguments, name, horizon, anytime):
    forecaster = Forecaster(
        None if anytime else horizon, feedback="distribution", seed=1, **arguments
    )
    adversary = make_adversary(name, 9, horizon)
    return check(forecaster, measure(forecaster, played(forecaster, adversary, horizon)))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", [name for name in NAMES if name != "greedy"])
@pytest.mark.parametrize("anytime", [False, True], ids=["known horizon", "anytime"])
def test_a_million_events(name, anytime, record_property):
    record_property("ratio", float(long_check({}, name, LONG, anytime)))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", [name for name in NAMES if name != "greedy"])
@pytest.mark.parametrize("step", STEPS)
def test_many_events_in_steps(name, step, record_property):
    horizon = LONG // 5 if name in OBLIVIOUS else LONG // 20
    ratios = [long_check({"step": step}, name, horizon, anytime) for anytime in (False, True)]
    record_property("ratio", float(max(ratios)))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("anytime", [False, True], ids=["known horizon", "anytime"])
def test_a_hundred_thousand_greedy_events(anytime, record_property):
    record_property("ratio", float(long_check({}, "greedy", LONG // 10, anytime)))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", sorted(OBLIVIOUS))
def test_a_million_issued_forecasts(name, record_property):
    record_property("ratio", float(mean_and_check({}, name, LONG, 3)))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("horizon", [60, 200, 1000])
def test_a_long_search(horizon, record_property):
    forecaster, worst, _ = climb(horizon, 60_000, seed=1)
    error = measure(forecaster, rounds_of(forecaster.run(worst), worst))
    record_property("ratio", float(check(forecaster, error)))

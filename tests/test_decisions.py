"""What forecasts cost somebody who acts on them: against slow sums, and within the ledger."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecasting.rounds import NAMES, Measured, against, events_of, make_adversary
from fullswap import Certificate, Forecaster, MulticlassForecaster
from fullswap.certificates import Quantity
from fullswap.certificates.decisions import average_regret, regret_at, worst_ratio
from fullswap.theorems import LEDGER
from fullswap.theorems.decisions import Acting

CALIBRATION = Quantity.L2_CALIBRATION_ERROR


def slow_regret(table, c):
    """What the best action for each forecast would have saved, action by action."""
    total = 0.0
    for p, weight, mean in zip(*table, strict=True):
        cost = {True: c, False: mean}  # protect or not
        total += weight * (cost[p > c] - min(cost.values()))
    return total / table[1].sum()


def random_table(rng, size=None):
    size = int(rng.integers(1, 12)) if size is None else size
    forecasts = np.sort(rng.choice(np.linspace(0, 1, 41), size, replace=False))
    means = np.where(rng.random(size) < 0.3, rng.choice([0.0, 1.0, 0.5], size), rng.random(size))
    return forecasts, rng.exponential(size=size) + 1e-3, means


def error_of(table):
    forecasts, weights, means = table
    return float(sum(w * (p - y) ** 2 for p, w, y in zip(forecasts, weights, means, strict=True)))


def certified(table, bound=None):
    mass, error = float(table[1].sum()), error_of(table)
    known = error if bound is None else bound
    return Certificate(CALIBRATION, 10, error, known, None, "x", mass=mass, table=table)


@given(seed=st.integers(0, 2**32))
def test_regret_is_the_slow_sum_at_every_ratio(seed):
    rng = np.random.default_rng(seed)
    table = random_table(rng)
    ratios = np.concatenate((rng.random(20), table[0], table[2]))
    expected = [slow_regret(table, c) for c in ratios]
    np.testing.assert_allclose(regret_at(table, ratios), expected, atol=1e-12)
    inside = ratios[(ratios > 1e-9) & (ratios < 1)]
    just_below = [slow_regret(table, c - 1e-10) for c in inside]
    np.testing.assert_allclose(regret_at(table, inside, below=True), just_below, atol=1e-9)


@given(seed=st.integers(0, 2**32))
def test_no_ratio_is_worse_than_the_worst(seed):
    rng = np.random.default_rng(seed)
    table = random_table(rng)
    ratio, worst = worst_ratio(table)
    tried = np.concatenate((rng.random(300), table[0], table[2]))
    assert max(slow_regret(table, c) for c in tried) <= worst + 1e-12
    near = [slow_regret(table, min(max(ratio + d, 0.0), 1.0)) for d in (-1e-10, 0.0)]
    assert max(near) == pytest.approx(worst, abs=1e-9)


@pytest.mark.theorem("decisions")
@pytest.mark.theorem("decisions on average")
def test_random_tables_are_within_the_bounds_and_the_average_is_an_identity(record_property):
    rng, largest = np.random.default_rng(0), 0.0
    for _ in range(300):
        table = random_table(rng)
        mass, error = float(table[1].sum()), error_of(table)
        decisions = certified(table).decisions()
        assert decisions.guaranteed == LEDGER["decisions"].bound(Acting(error, mass)) / mass
        assert decisions.measured <= decisions.guaranteed * (1 + 1e-12)
        # between neighbouring forecasts and frequencies the regret is straight: two points of a
        # piece give its integral exactly
        ends = np.unique(np.concatenate(([0.0, 1.0], table[0], table[2])))
        thirds = (ends[:-1] + np.diff(ends) / 3, ends[1:] - np.diff(ends) / 3)
        area = sum(
            (slow_regret(table, a) + slow_regret(table, b)) / 2 * (high - low)
            for a, b, low, high in zip(*thirds, ends[:-1], ends[1:], strict=True)
        )
        assert average_regret(table) == pytest.approx(area, abs=1e-12)
        assert decisions.average == pytest.approx(area, abs=1e-12)
        assert area <= decisions.guaranteed_average * (1 + 1e-12)
        largest = max(largest, decisions.measured / max(decisions.guaranteed, 1e-9))
    assert largest > 0.9, "the bound is not idle"
    record_property("ratio", largest)


@pytest.mark.theorem("decisions")
@pytest.mark.theorem("decisions on average")
@pytest.mark.parametrize("name", NAMES)
def test_adversarial_runs_are_within_the_bounds(name):
    forecaster = Forecaster(300, feedback="distribution", seed=1)
    rounds = against(forecaster, make_adversary(name, 4, 300), 300)
    sums = Measured(events_of(rounds, "distribution")).sums
    keys = sorted(p for p, (weight, *_) in sums.items() if weight > 0)
    weights = np.array([sums[p][0] for p in keys])
    slow = np.array(keys), weights, np.array([sums[p][1] for p in keys]) / weights
    certificate = forecaster.certificate()
    for c in (0.05, 0.2, 0.35, 0.47, 0.81):
        decision = certificate.decision(cost_loss=c)
        assert decision.measured == pytest.approx(slow_regret(slow, c), abs=1e-9)
        assert decision.measured <= decision.guaranteed
        assert decision.guaranteed == pytest.approx(math.sqrt(certificate.guaranteed / 300))
    worst = certificate.decisions()
    assert worst.measured <= worst.guaranteed and worst.average <= worst.guaranteed_average
    assert worst.average == pytest.approx(error_of(slow) / 600, abs=1e-12)


def test_in_words():
    table = np.array([0.3, 0.4]), np.array([5e5, 5e5]), np.array([0.35, 0.4])
    certificate = replace(certified(table, 232.6), rounds=10**6)
    assert str(certificate.decisions()) == (
        "Anyone who protects when the forecast exceeds their cost/loss ratio loses, against the "
        "best possible re-reading of these forecasts, at most 1.53 % of the loss at stake per "
        "event, whatever the ratio, and 0.0117 % on average over ratios; measured 2.5 % at the "
        "worst ratio, 0.3, and 0.062 % on average."
    )
    assert "measured 1.5 % at 0.32, and" in str(certificate.decision(0.32))
    assert "on average over our own draws" in str(replace(certificate, on_average=True).decisions())
    without = replace(certificate, guaranteed=None)
    assert "nothing is guaranteed" in str(without.decision(0.2))
    assert without.decision(0.2).guaranteed is None


@pytest.mark.parametrize("ratio", [0.0, 1.0, -0.1, 2, math.nan, "0.2", None])
def test_ratios_lie_strictly_between_0_and_1(ratio):
    with pytest.raises(ValueError, match="cost_loss must"):
        certified(random_table(np.random.default_rng(1))).decision(ratio)


def test_without_a_table_it_says_so():
    forecaster = MulticlassForecaster(3, 50, seed=1)
    forecaster.run([0, 1, 2] * 5)
    with pytest.raises(ValueError, match="yes-or-no events"):
        forecaster.certificate().decision(0.5)
    with pytest.raises(ValueError, match="with outcomes, got none"):
        Forecaster(50).certificate().decisions()


def test_a_table_stays_as_it_was_when_the_forecaster_goes_on():
    forecaster = Forecaster(50, seed=1, max_weight=2.0)
    forecaster.run([1, 0, 1, 1], sample_weight=[2, 1, 1, 0.5])
    table = forecaster.certificate().table
    before = [column.copy() for column in table]
    forecaster.run([0] * 20)
    for one, other in zip(table, before, strict=True):
        np.testing.assert_array_equal(one, other)
    assert table[1].sum() == pytest.approx(4.5) and (table[1] > 0).all()

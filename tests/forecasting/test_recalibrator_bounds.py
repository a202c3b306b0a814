"""The parts of the recalibration bounds, each against its exact worst case."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fullswap.online.expert_rows import premises_of, spread_of
from fullswap.online.lattices import Lattice, points_of
from fullswap.theorems.means import own_mean_cost
from fullswap.theorems.premises import regret_sum
from fullswap.theorems.recalibration import IN_PARTS, recalibration_bound

# --- the mean of a point ----------------------------------------------------------------------


def worst_regret(s, events):
    """Of (S + s)/(n + 1) against the best constant, over all sequences of 0 and 1: backwards."""
    ones = np.arange(events + 1)
    value = -ones * (events - ones) / events
    for n in range(events - 1, -1, -1):
        ones = np.arange(n + 1)
        mean = (ones + s) / (n + 1)
        value = np.maximum(mean**2 + value[: n + 1], (1 - mean) ** 2 + value[1 : n + 2])
    return float(value[0])


@pytest.mark.theorem("recalibration")
@pytest.mark.parametrize("s", [0.0, 0.001, 0.1, 1 / 3, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("events", [1, 2, 3, 10, 100, 1000])
def test_the_mean_of_a_point_regrets_no_more_than_it_is_charged(s, events):
    worst = worst_regret(s, events)
    charged = regret_sum(events) / 4 + own_mean_cost(s)
    assert worst <= charged + 1e-12
    assert charged <= worst + 1.1  # and is not charged far too much


@given(st.integers(0, 2**32), st.integers(1, 60))
@settings(max_examples=200)
def test_the_same_for_parts_of_outcomes_and_soft_ones(seed, events):
    """Scales up to 1 and outcomes inside, drawn so that they often change sides."""
    rng = np.random.default_rng(seed)
    s = float(rng.beta(*np.full(2, rng.choice([0.1, 1.0]))))
    scales = rng.choice([1.0, 0.5, 0.1, 1e-3], events, p=rng.dirichlet(np.ones(4)))
    outcomes = np.where(
        rng.random(events) < rng.random(),
        rng.integers(2, size=events),
        rng.beta(0.3, 0.3, events),
    )
    total, mass, lost = s, 1.0, 0.0
    for g, y in zip(scales, outcomes, strict=True):
        lost += g * (total / mass - y) ** 2
        total, mass = total + g * y, mass + g
    mean = scales @ outcomes / scales.sum()
    best = float(scales @ np.square(outcomes - mean))
    assert lost - best <= regret_sum(scales.sum()) / 4 + own_mean_cost(s) + 1e-9


@pytest.mark.theorem("recalibration")
def test_the_bound_is_the_sum_of_its_parts_and_equal_masses_are_the_worst():
    lattice = Lattice("tapered", 8)
    costs = [own_mean_cost(s) for s in points_of(lattice, 2)]
    rng = np.random.default_rng(0)
    bound = recalibration_bound(premises_of(lattice, 2000.0, 5.0))
    for masses in 2000 * rng.dirichlet(np.ones(len(costs)), 50):
        parts = [
            math.log(10) / 2 + cost + regret_sum(mass) / 4
            for mass, cost in zip(masses, costs, strict=True)
        ]
        assert 5 + sum(parts) <= bound + 1e-9


# --- changing experts -----------------------------------------------------------------------------


@given(st.integers(0, 2**32), st.integers(1, 40), st.floats(0, 30), st.booleans())
@settings(max_examples=200)
@example(seed=0, parts=40, before=0.0, hard=True)
def test_what_is_dealt_out_inside_an_event_is_charged(seed, parts, before, hard):
    """Forecasts of one event, all with the weights before it; what was mixed loses little less.

    Mixed by the aggregating rule they lose at most −½·ln E_w[Π exp(−2g·ℓ)]; what comparisons are
    made with is the product of the E as they were learnt, with some weight dealt out in between.
    """
    rng = np.random.default_rng(seed)
    experts = int(rng.integers(2, 6))
    prior = rng.dirichlet(np.full(experts, 0.3))
    weights = 0.999 * rng.dirichlet(np.full(experts, 0.3)) + 0.001 * prior
    scales = rng.dirichlet(np.ones(parts)) if seed else np.full(parts, 1 / parts)
    losses = rng.random((parts, experts))
    if hard:  # all weight on what loses, all that is dealt out on what does not
        losses[:] = np.arange(experts) > 0
        prior, weights = np.eye(experts)[0], 1e-9 + np.arange(experts, dtype=float)
        weights /= weights.sum()
    whole = math.log(weights @ np.exp(-2 * scales @ losses))
    mass, learnt = before, 0.0
    for g, loss in zip(scales, losses, strict=True):
        mass += g
        part = weights * np.exp(-2 * g * loss)
        learnt += math.log(part.sum())
        dealt = g / (mass + 1)
        weights = (1 - dealt) * part / part.sum() + dealt * prior
    assert learnt <= whole + IN_PARTS * scales.sum() / (before + 1) + 1e-12


def test_spreads_by_hand():
    assert spread_of(Lattice("even", 4)) == pytest.approx(2 + 2 * 1.25**2 / 4 + 1 / 16)

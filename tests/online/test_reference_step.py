"""The forecaster beside the readable step of the template, round by round."""

import numpy as np
import pytest

from contract.makers import kind_behind, point_columns
from fullswap.forecasting import Forecaster
from fullswap.grids import line
from fullswap.kernels import line as kernel
from fullswap.learners.gradient import GradientDescent, StronglyConvexRate
from fullswap.losses import QuadraticFamily
from fullswap.rounding import Barycentric
from fullswap.sets import Interval
from fullswap.template import reference_step
from fullswap.theorems import Constants
from naive.line import PlainLine

UNIT = Interval(0.0, 1.0)
SQUARED = Constants(2.0, 1.0, strong_convexity=2.0, smoothness=2.0)


def outcomes_of(name, rounds, rng):
    """First a climb from 0 to 1, so that every point is played: fresh ones serve alone."""
    climb = np.repeat(np.linspace(0, 1, 40), 5)
    rest = {
        "bits": lambda: (rng.random(rounds) < 0.3).astype(float),
        "soft": lambda: rng.random(rounds),
        "switching": lambda: (np.arange(rounds) // 40 % 2).astype(float),
    }[name]()
    return np.concatenate((climb, rest))


def squared_loss(y):
    return QuadraticFamily((1.0, -2 * y, y * y))


def mixture_of(forecast, points):
    mixture = np.zeros(len(points))
    mixture[np.searchsorted(points, forecast.points)] = forecast.weights
    return mixture


@pytest.mark.parametrize("name", ["bits", "soft", "switching"])
@pytest.mark.parametrize("step", [None, 0.25])
def test_each_round_is_the_reference_step(step, name):
    """Propose, round, mix, play, learn: the same mixture and the same recommendations.

    Where several crossings serve, the forecaster's must be one of them, and the reference goes on
    with it.
    """
    forecaster = Forecaster(300, step, "distribution", seed=1)
    points = kind_behind(forecaster).points(0)
    n = len(points)
    bank = GradientDescent(UNIT, StronglyConvexRate(SQUARED), points[:, None])
    rounding = Barycentric(line(UNIT, points))
    state, compared = bank.init(n), 0
    state.weight_sums[:] = 1.0  # means have seen one outcome at their own point
    for y in outcomes_of(name, 300, np.random.default_rng(2)):
        proposals = bank.propose(state)[:, 0].copy()
        mixture = mixture_of(forecaster.predict(), points)
        loss = squared_loss(y)
        if is_only_one(points, proposals, mixture):
            compared += 1
            state, slow, _ = reference_step(
                points[:, None], bank, state, rounding, lambda x, loss=loss: loss, "crossing"
            )
            assert np.abs(slow - mixture).max() <= 1e-6
        else:
            state = bank.update(state, loss, mixture)
        forecaster.update(y)
        learnt = point_columns(forecaster)
        assert learnt[:, kernel.TARGET] == pytest.approx(bank.propose(state)[:, 0], abs=1e-6)
        # tiny differences of the two solvers are not to add up
        state.targets[:, 0] = learnt[:, kernel.TARGET]
        state.weight_sums[:] = learnt[:, kernel.WEIGHT] + 1.0
    assert compared >= 100, compared


def is_only_one(points, targets, mixture):
    """Whether no other mixture would serve; the one that was played does, in any case."""
    plain = PlainLine(points.tolist())
    plain.targets = targets.tolist()
    allowed = set()
    for left, right, share in plain.crossings():
        dense = np.zeros(len(points))
        dense[left] += share
        dense[right] += 1 - share
        allowed.add(tuple(np.round(dense, 9) + 0.0))
    assert any(np.abs(np.array(dense) - mixture).max() <= 1e-8 for dense in allowed)
    return len(allowed) == 1

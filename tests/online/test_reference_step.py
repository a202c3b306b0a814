"""The forecaster beside the readable step of the template, round by round."""

import numpy as np
import pytest

from contract.makers import kind_behind, point_columns
from fullswap.forecasting import Forecaster, MulticlassForecaster
from fullswap.grids import line
from fullswap.grids.kuhn import kuhn_simplex
from fullswap.kernels import line as kernel
from fullswap.learners.gradient import (
    GradientDescent,
    NearlyStronglyConvexRate,
    StronglyConvexRate,
)
from fullswap.losses import Custom, QuadraticFamily
from fullswap.rounding import Barycentric
from fullswap.sets import Interval, Simplex
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


def linearised(y, points):
    """The squared loss made straight between grid points; at a kink the piece to the right."""

    def pieces(x):
        low = np.clip(np.searchsorted(points, x[:, 0], side="right") - 1, 0, len(points) - 2)
        return points[low], points[low + 1]

    def value(x):
        low, high = pieces(x)
        share = (high - x[:, 0]) / (high - low)
        return share * (low - y) ** 2 + (1 - share) * (high - y) ** 2

    def gradient(x):
        low, high = pieces(x)
        return (low + high - 2 * y)[:, None]

    return Custom(value, gradient)


def mixture_of(forecast, points):
    mixture = np.zeros(len(points))
    mixture[np.searchsorted(points, forecast.points)] = forecast.weights
    return mixture


@pytest.mark.parametrize("name", ["bits", "soft", "switching"])
@pytest.mark.parametrize("step", [None, 0.25])
@pytest.mark.parametrize("rule", ["crossing", "stationary"])
def test_each_round_is_the_reference_step(rule, step, name):
    """Propose, round, mix, play, learn: the same mixture and the same recommendations.

    Where several crossings or closed classes serve, the forecaster's must be one of them, and
    the reference goes on with it.
    """
    horizon = 300 if step is None else 100_000
    picks = step is not None  # the paper's schedule for given steps
    forecaster = Forecaster(horizon, step, rule, "distribution", seed=1, pick_steps=picks)
    points = kind_behind(forecaster).points(0)
    n = len(points)
    if step is None:
        bank = GradientDescent(UNIT, StronglyConvexRate(SQUARED), points[:, None])
    else:
        assert forecaster.spec.ratio is not None
        constants = Constants(2.0, 1.0, strong_convexity=2.0, smoothness=2.0, gap=step)
        rate = NearlyStronglyConvexRate(constants, forecaster.spec.ratio)
        bank = GradientDescent(UNIT, rate, points[:, None])
    rounding = Barycentric(line(UNIT, points))
    state, compared = bank.init(n), 0
    imagined = 1.0 if step is None else 0.0  # means have seen one outcome at their own point
    state.weight_sums[:] = imagined
    for y in outcomes_of(name, 300, np.random.default_rng(2)):
        proposals = bank.propose(state)[:, 0].copy()
        mixture = mixture_of(forecaster.predict(), points)
        loss = squared_loss(y) if step is None else linearised(y, points)
        alone = is_only_one(rule, points, proposals, mixture)
        if alone:
            compared += 1
            state, slow, _ = reference_step(
                points[:, None], bank, state, rounding, lambda x, loss=loss: loss, rule
            )
            assert np.abs(slow - mixture).max() <= 1e-6
        else:
            state = bank.update(state, loss, mixture)
        forecaster.update(y)
        learnt = point_columns(forecaster)
        assert learnt[:, kernel.TARGET] == pytest.approx(bank.propose(state)[:, 0], abs=1e-6)
        # tiny differences of the two solvers are not to add up
        state.targets[:, 0] = learnt[:, kernel.TARGET]
        state.weight_sums[:] = learnt[:, kernel.WEIGHT] + imagined
    assert compared >= 100, compared


def is_only_one(rule, points, targets, mixture):
    """Whether no other mixture would serve; the one that was played does, in any case."""
    plain = PlainLine(points.tolist(), "squared")
    plain.targets = targets.tolist()
    if rule == "crossing":
        allowed = set()
        for left, right, share in plain.crossings():
            dense = np.zeros(len(points))
            dense[left] += share
            dense[right] += 1 - share
            allowed.add(tuple(np.round(dense, 9) + 0.0))
        assert any(np.abs(np.array(dense) - mixture).max() <= 1e-8 for dense in allowed)
        return len(allowed) == 1
    transition = np.array(plain.transition())
    assert mixture @ transition == pytest.approx(mixture, abs=1e-9)
    system = np.vstack((transition.T - np.eye(len(points)), np.ones(len(points))))
    return np.linalg.svd(system)[1][-1] > 1e-3


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_several_classes_serve_the_chain_of_the_reference_step(classes):
    """A fixed point Σλ(q − s) = 0 stays within what rounding may cost against Σλ‖q − y‖²."""
    forecaster = MulticlassForecaster(classes, 150, "distribution", seed=1)
    cells = forecaster.spec.levels[0].cells
    grid = kuhn_simplex(Simplex(classes - 1), 1 / cells)
    rng = np.random.default_rng(1)
    for _ in range(150):
        forecast = forecaster.predict()
        play = forecaster.pending[0]._play
        targets = play[4]
        rows = Barycentric(grid)(targets)
        # what the chain would play next has the mean of what is played now
        onward = np.einsum("c,ck,ckj->j", forecast.weights, rows.weights, grid.points[rows.indices])
        assert onward == pytest.approx(forecast.mean, abs=1e-9)
        y = np.eye(classes)[rng.integers(classes)]
        played = forecast.weights @ np.square(forecast.points - y).sum(axis=1)
        recommended = forecast.weights @ np.square(targets - y).sum(axis=1)
        assert played <= recommended + grid.variance + 1e-9
        forecaster.update(y)

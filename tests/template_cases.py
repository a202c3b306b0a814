"""Losses, adversaries and settings for tests of the template."""

import numpy as np
import pytest
from hypothesis import strategies as st

from fullswap.losses import Custom, Linear, LossClass, Quadratic, QuadraticFamily
from fullswap.sets import Ball, Box, Interval, Simplex

seeds = st.integers(0, 2**32 - 1)
unit = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0.0, 1.0))


@st.composite
def line_losses(draw, most=15):
    """Losses on [0, 1]: bowls with centres on grid points or at the ends, lines, constants."""
    made = []
    for kind, z in draw(st.lists(st.tuples(st.integers(0, 3), unit), min_size=1, max_size=most)):
        row = [(1.0, -2 * z, z * z), (0.0, 2 * z - 1, 0.0), (0.0, 0.0, z), (1.0, -2.0, 1.0)][kind]
        made.append(QuadraticFamily(row))
    return made


def dense_of(n, indices, weights):
    mixture = np.zeros(n)
    mixture[indices] = weights
    assert len(set(np.asarray(indices).tolist())) == len(indices)
    assert mixture.min() >= 0 and abs(mixture.sum() - 1) <= 1e-12
    return mixture


def far_bowl(action_set, mixture, t, rng):
    """Squared distance to the point farthest from what is played on average."""
    away = mixture.mean - action_set.center + 1e-3 * rng.normal(size=len(mixture.mean))
    return Quadratic(action_set.minimize_linear(away[None, :])[0])


def any_bowl(action_set, mixture, t, rng):
    """Squared distance to points that drift through the set."""
    phase = np.cos(t / 40 + np.arange(action_set.ambient_dim))
    center = action_set.center + action_set.diameter * (0.4 * phase + 0.1 * rng.normal())
    return Quadratic(action_set.project(center[None, :])[0])


def uphill(action_set, mixture, t, rng):
    """A line of slope 1 that falls away from the mean of what is played."""
    basis = action_set.frame[1]
    y = (mixture.mean - action_set.center) @ basis + 1e-3 * rng.normal(size=basis.shape[1])
    return Linear(basis @ (y / np.linalg.norm(y)))


def dome(action_set, mixture, t, rng):
    """Concave, with its top at the heaviest point played, or a line."""
    if t % 3 == 0:
        return uphill(action_set, mixture, t, rng)
    top = mixture.points[mixture.weights.argmax()]
    return Quadratic(top, -0.5 / action_set.diameter)


TENTS = [
    Custom(lambda x, z=z: np.abs(x[:, 0] - z), lambda x, z=z: np.sign(x - z) * (x != z))
    for z in (-0.8, 0.1, 0.35, 1.2, 1.9)
]
BLIND = [Custom(lambda x, w=w: np.sin(w * x[:, 0]) / w) for w in (3.0, 5.0, 7.0)]


def tent(action_set, mixture, t, rng):
    return TENTS[int(rng.integers(len(TENTS)))]


def wave(action_set, mixture, t, rng):
    return BLIND[t % len(BLIND)]


LINE, BOX, BALL = Interval(-1.0, 2.0), Box([0.0, -1.0], [1.0, 1.0]), Ball([1.0, 2.0], 1.5)
STEEP = LossClass(1.0)
CONVEX = LossClass(1.0, convex=True)
SMOOTH = LossClass(1.0, smoothness=5.0)
CONCAVE = LossClass(1.0, concave=True)
ACTIONS = [-1.0, -0.5, 0.25, 0.5, 1.0, 1.5, 2.0]


def squared(action_set):
    return LossClass.squared(action_set.diameter)


CASES = {
    "1 hedge": (LINE, STEEP, {"row": "lipschitz", "learner": "hedge"}, uphill),
    "1 hedge, no gradient": (LINE, STEEP, {"row": "lipschitz"}, wave),
    "1 matching": (LINE, STEEP, {"row": "lipschitz", "learner": "matching"}, uphill),
    "1 gradient": (LINE, CONVEX, {"row": "lipschitz", "learner": "gradient"}, tent),
    "1 gradient, stationary": (
        LINE,
        CONVEX,
        {"row": "lipschitz", "learner": "gradient", "rule": "stationary"},
        uphill,
    ),
    "1 box": (BOX, STEEP, {"row": "lipschitz", "learner": "hedge"}, uphill),
    "2 hedge": (LINE, SMOOTH, {"row": "smooth", "learner": "hedge"}, uphill),
    "2 ball": (BALL, LossClass(1.0, smoothness=9.0), {"row": "smooth", "learner": "hedge"}, dome),
    "2 gradient": (
        BOX,
        LossClass(1.0, smoothness=5.0, convex=True),
        {"row": "smooth", "learner": "gradient"},
        uphill,
    ),
    "3 line": (LINE, CONCAVE, {"row": "concave"}, dome),
    "3 ball": (BALL, CONCAVE, {"row": "concave"}, dome),
    "3 simplex": (Simplex(2), CONCAVE, {"row": "concave", "learner": "matching"}, uphill),
    "4 line": (LINE, squared(LINE), {"row": "strongly convex"}, far_bowl),
    "4 stationary": (
        LINE,
        squared(LINE),
        {"row": "strongly convex", "rule": "stationary"},
        any_bowl,
    ),
    "4 box": (BOX, squared(BOX), {"row": "strongly convex"}, far_bowl),
    "5 line": (LINE, squared(LINE), {"row": "strongly convex and smooth"}, far_bowl),
    "5 stationary": (
        LINE,
        squared(LINE),
        {"row": "strongly convex and smooth", "rule": "stationary"},
        any_bowl,
    ),
    "5 simplex": (Simplex(2), squared(Simplex(2)), {}, any_bowl),
    "5 ball": (BALL, squared(BALL), {}, far_bowl),
    "5 cube": (Box([0.0] * 3, [1.0] * 3), squared(Box([0.0] * 3, [1.0] * 3)), {}, far_bowl),
    "6 crossing": (LINE, squared(LINE), {"row": "discretised", "actions": ACTIONS}, any_bowl),
    "6 stationary": (
        LINE,
        squared(LINE),
        {"row": "discretised", "actions": ACTIONS, "rule": "stationary"},
        any_bowl,
    ),
    "6 by row 5": (LINE, squared(LINE), {"actions": np.linspace(-1.0, 2.0, 31)}, any_bowl),
}
cases = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def rounds_against(learner, adversary, rounds, seed=0):
    """Play; labels, points and weights must fit together in every round."""
    rng = np.random.default_rng(seed)
    played = []
    for t in range(rounds):
        mixture = learner.play()
        assert np.array_equal(learner.points[mixture.indices], mixture.points)
        assert abs(mixture.weights.sum() - 1) <= 1e-12 and mixture.weights.min() >= 0
        assert learner.action_set.contains(mixture.points, 1e-9).all()
        loss = adversary(learner.action_set, mixture, t, rng)
        learner.observe(loss)
        played.append((mixture, loss))
    return played

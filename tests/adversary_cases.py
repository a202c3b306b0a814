"""Sets, loss classes and mixtures for tests of adversaries."""

from functools import cache

import numpy as np

from fullswap import sets
from fullswap.base.protocols import Mixture
from fullswap.losses import LossClass

_DISC = sets.Ball([-2.0, 5.0], 1.5)
SETS = {
    "interval": sets.Interval(-3.0, -0.5),
    "box": sets.Box([10.0, -1.0], [10.3, 2.0]),
    "simplex": sets.Simplex(2, scale=1.7, shift=0.4),
    "ball": sets.Ball([4.0, -7.0], 0.6),
    "polytope": sets.Polytope(
        [[5, 5, 5], [6, 5, 5], [5, 7, 5], [5, 5, 8], [6, 7, 8], [5.2, 5.2, 4.5]]
    ),
    "functions": sets.Custom(2, _DISC.project, _DISC.minimize_linear, _DISC.diameter),
}


def loss_classes(action_set):
    """Every combination that the rows of the table meet; "tight": slopes just allow the class.

    By Jung's theorem a set of diameter D has a ball of radius 0.62·D around it, up to dimension 3.
    """
    diameter = action_set.diameter
    return {
        "lipschitz": LossClass(1.3),
        "convex lipschitz": LossClass(1.3, convex=True),
        "smooth": LossClass(0.8, smoothness=2.0 / diameter),
        "very smooth": LossClass(2.0, smoothness=0.1 / diameter),
        "barely smooth": LossClass(0.5, smoothness=50.0 / diameter),
        "convex smooth": LossClass(0.8, smoothness=2.0 / diameter, convex=True),
        "linear": LossClass(0.7, concave=True, convex=True),
        "affine": LossClass(0.7, smoothness=0.0),
        "concave": LossClass(1.3, concave=True),
        "concave smooth": LossClass(1.3, concave=True, smoothness=0.3 / diameter),
        "strongly convex": LossClass(2.0 * diameter, strong_convexity=1.0),
        "strongly convex, tight": LossClass(0.65 * diameter, strong_convexity=1.0),
        "squared": LossClass.squared(diameter, scale=0.7),
        "squared, tight": LossClass(1.3 * diameter, 2.0, 2.5),
    }


# A set given by functions cannot say how far it reaches, so there is no room for tight classes.
PAIRS = [
    (set_name, class_name)
    for set_name, action_set in SETS.items()
    for class_name in loss_classes(action_set)
    if not (set_name == "functions" and "tight" in class_name)
]


def members(action_set, count, rng):
    """Random members, those on the boundary included, and the vertices."""
    basis = action_set.frame[1]
    offsets = rng.standard_normal((count, basis.shape[1])) @ basis.T
    points = action_set.project(action_set.center + 0.4 * action_set.diameter * offsets)
    if action_set.vertices is not None:
        points = np.concatenate((points, action_set.vertices))
    return points


def random_mixture(action_set, rng, size=3):
    points = members(action_set, size, rng)[:size]
    return Mixture(points, rng.dirichlet(np.ones(size)))


@cache
def mixtures(action_set, count=60):
    rng = np.random.default_rng(4)
    return [random_mixture(action_set, rng) for _ in range(count)]


def losses_met(adversary, rounds):
    """Answers to random mixtures, over and over the same sixty."""
    played = mixtures(adversary.action_set)
    return [adversary.choose(played[t % len(played)], t) for t in range(rounds)]


def check_promises(loss, promised, action_set, points, where):
    """L, α, β, convexity and concavity from values at pairs of members and their midpoints."""
    x, y = points[: len(points) // 2], points[len(points) // 2 : len(points) // 2 * 2]
    gap = np.linalg.norm(x - y, axis=1)
    at_x, at_y, at_middle = loss.value(x), loss.value(y), loss.value((x + y) / 2)
    scale = promised.lipschitz * action_set.diameter
    noise = 1e-10 * scale * (1 + np.abs(points).max() / action_set.diameter) ** 2
    assert (np.abs(at_x - at_y) <= promised.lipschitz * gap + noise).all(), where
    slopes = np.linalg.norm(loss.gradient(points) @ action_set.frame[1], axis=1)
    assert slopes.max() <= promised.lipschitz * (1 + 1e-9), where
    bend = (at_x + at_y) / 2 - at_middle  # = curvature·gap²/8 for a quadratic
    if promised.convex:
        assert (bend >= promised.strong_convexity / 8 * gap**2 - noise).all(), where
    if promised.concave:
        assert (bend <= noise).all(), where
    if promised.smoothness is not None:
        assert (np.abs(bend) <= promised.smoothness / 8 * gap**2 + noise).all(), where
        tangent = np.einsum("ij,ij->i", loss.gradient(x), y - x)
        away = np.abs(at_y - at_x - tangent)
        assert (away <= promised.smoothness / 2 * gap**2 + noise).all(), where
    assert promised.violation(loss, points, action_set.frame[1], action_set.diameter) is None


LINE, SQUARED = sets.Interval(2.0, 4.0), LossClass.squared(2.0)


def at(position):
    return Mixture(np.array([[2.0 + 2.0 * position]]), np.array([1.0]))


def bits(adversary, rounds, position=0.5):
    """The outcomes: 1 where the loss is smallest at the high end."""
    ends = np.array([[2.0], [4.0]])
    answers = [adversary.choose(at(position), t).value(ends) for t in range(rounds)]
    return np.array([int(high < low) for low, high in answers])

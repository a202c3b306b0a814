"""Learners, losses and promises for tests of multi-scale binning."""

import numpy as np

from fullswap import FullSwapLearner, losses, sets
from fullswap.losses import LossClass

UNIT, CONVEX_LOSSES = sets.Interval(0.0, 1.0), LossClass(lipschitz=1.0, convex=True)


def convex_learner(action_set=UNIT, promised=CONVEX_LOSSES, horizon=100, **options):
    return FullSwapLearner(action_set, promised, horizon, row="convex", **options)


def absolute(center, scale=1.0, gradient=True):
    return losses.Custom(
        lambda x: scale * np.abs(x[:, 0] - center),
        (lambda x: scale * np.sign(x - center)) if gradient else None,
    )


def random_law(rng, cells):
    """P(v < x), P(v ≤ x) of a few atoms, many of them on the grid and at the ends."""
    atoms = rng.choice([0.0, 1.0, 0.5, rng.random(), rng.integers(cells + 1) / cells], 3)
    chances = rng.dirichlet(np.full(3, 0.5))
    grid = np.arange(cells + 1) / cells
    below = (chances * (atoms < grid[:, None])).sum(axis=1)
    up_to = (chances * (atoms <= grid[:, None])).sum(axis=1)
    return np.clip(below, 0, 1), np.clip(up_to, 0, 1), atoms, chances


def promises(scale, place, gamma, v):
    """h_ξ(v) of one bin, written out."""
    b, r = place * gamma, scale * gamma
    far, near = 0.5 - gamma / (4 * r), 0.5 - gamma / (2 * r)
    return np.array(
        [(v > b + 2 * r) - far, (v < b - 2 * r) - far, near - (v >= b), near - (v <= b)]
    )


def mean_of(scale, place, cells):
    return lambda v, chance: chance * promises(scale, place, 1 / cells, v)

"""The tree, slowly and from its definition: every point is computed anew from all past losses."""

from __future__ import annotations

import numpy as np


def node_point(losses, size, parent, first, rate, shrinking, start, project):
    """What the learner of a parent recommends to its child that begins at round ``first``."""
    point, child = np.array(start, dtype=float), 0
    for begin in range(first // parent * parent, first, size):
        slopes = [losses[t].gradient(point[None, :])[0] for t in range(begin, begin + size)]
        child += 1
        step = rate / child if shrinking else rate
        point = project((point - step * np.mean(slopes, axis=0))[None, :])[0]
    return point


def points_of(losses, t, tree, rates, start, project):
    """The points of all levels in round t of one tree, top first, from the losses before t."""
    sizes = [tree.branching ** (tree.levels - 1 - k) for k in range(tree.levels)]
    parents = [tree.rounds, *sizes[:-1]]
    return np.array([
        node_point(losses, size, parent, t // size * size, rate, tree.shrinking, start, project)
        for size, parent, rate in zip(sizes, parents, rates, strict=True)
    ])  # fmt: skip


class PrefixRegret:
    """Full swap regret of linear and quadratic losses after every round, one round at a time."""

    def __init__(self, action_set):
        self.action_set, self.rows, self.gains = action_set, {}, {}

    def add(self, points, weights, loss):
        for point, weight in zip(points, weights, strict=True):
            key = tuple(point.tolist())
            row = self.rows.get(key, 0.0) + weight * loss.coefficients
            best = self.action_set.minimize_quadratic(row[0], row[1:-1])
            value = [row[0] * x @ x + row[1:-1] @ x for x in (point, best)]
            self.rows[key], self.gains[key] = row, max(0.0, float(value[0] - value[1]))

    @property
    def value(self):
        return sum(self.gains.values())

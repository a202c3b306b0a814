"""Sets of many dimensions, off centre and of all sizes, and opponents that know the tree."""

import math

import numpy as np

from fullswap.losses import Linear, LossClass, Quadratic
from fullswap.sets import Ball, Box, Custom, Polytope, Simplex
from fullswap.theorems.tree import Tree


def ellipsoid(middle, axes):
    """{x : Σ ((x − m)_i/a_i)² ≤ 1}, by functions: Newton's method for the nearest point."""
    middle, axes = np.asarray(middle, dtype=float), np.asarray(axes, dtype=float)

    def project(points):
        offsets = points - middle
        outside = np.square(offsets / axes).sum(axis=1) > 1
        # nearest: y_i = a_i²·x_i/(a_i² + m) with Σ (y_i/a_i)² = 1; the sum is convex in m
        m = np.zeros(len(points))
        for _ in range(30):
            parts = np.square(axes * offsets / (axes**2 + m[:, None]))
            slope = -2 * (parts / (axes**2 + m[:, None])).sum(axis=1)
            ahead = outside & (slope < 0)
            step = np.divide(parts.sum(axis=1) - 1, slope, where=ahead, out=np.zeros(len(m)))
            m = m - step
        near = axes**2 * offsets / (axes**2 + m[:, None])
        return middle + np.where(outside[:, None], near, offsets)

    def lowest(directions):
        lengths = np.linalg.norm(directions * axes, axis=1, keepdims=True)
        units = directions * axes / np.where(lengths > 0, lengths, 1.0)
        units[lengths[:, 0] == 0, 0] = 1.0
        return middle - units * axes

    return Custom(len(middle), project, lowest, 2 * float(axes.max()))


def make(kind, d):
    rng = np.random.default_rng(d)
    if kind == "box":
        return Box(-3.0 + np.arange(d) / 4, -2.0 + np.arange(d) / 3)
    if kind == "ball":
        return Ball(2.0 - np.arange(d), 0.7)
    if kind == "simplex":
        return Simplex(d, 1.7, 0.4)
    if kind == "ellipsoid":
        return ellipsoid(1.0 + np.arange(d), 0.5 + np.arange(d) / d)
    points = rng.normal(size=(d + 4, d))
    return Polytope(5.0 + points)


def grow(monkeypatch, levels):
    """Trees of so many levels, whatever is best: short runs would have one."""

    def tree(c, hub, rounds):
        branching = max(2, math.ceil(rounds ** (1 / levels)))
        return Tree(rounds, levels, branching, c.strong_convexity > 0)

    for module in ("template", "theorems"):
        monkeypatch.setattr(f"fullswap.{module}.tree.best_tree", tree)
    return tree


KINDS = ["box", "ball", "simplex", "polytope", "ellipsoid"]
CLASSES = {
    "linear": lambda s: LossClass(0.7, concave=True, convex=True),
    "squared": lambda s: LossClass.squared(s.diameter, 0.6),
    "convex": lambda s: LossClass(1.3, convex=True),
}


class Levelwise:
    """A direction for every level, its sign drawn anew for every node: all levels hurt alike."""

    def __init__(self, action_set, loss_class, tree, seed=0):
        self.set, self.promised, self.tree = action_set, loss_class, tree
        self.rng, self.signs = np.random.default_rng(seed), {}

    def choose(self, mixture, t):
        basis = self.set.frame[1]
        along = np.zeros(basis.shape[1])
        for k, size in enumerate(self.tree.sizes):
            sign = self.signs.setdefault((k, t // size), self.rng.choice([-1.0, 1.0]))
            along[k % len(along)] += sign
        length = float(np.linalg.norm(along)) or 1.0
        if not self.promised.strong_convexity:
            return Linear(basis @ along * (self.promised.lipschitz / length))
        far = self.set.minimize_linear((basis @ along)[None, :])[0]
        return Quadratic(far, self.promised.strong_convexity / 2)


class Uphill:
    """Falls away from the node of one level in play: the finest, the next, and so on."""

    def __init__(self, action_set, loss_class, seed=0):
        self.set, self.promised, self.rng = action_set, loss_class, np.random.default_rng(seed)

    def choose(self, mixture, t):
        basis = self.set.frame[1]
        point = mixture.points[-1 - t // 5 % len(mixture.points)]
        y = (point - self.set.center) @ basis + 1e-3 * self.rng.normal(size=basis.shape[1])
        along = basis @ (y / np.linalg.norm(y))
        if not self.promised.strong_convexity:
            return Linear(self.promised.lipschitz * along)
        far = self.set.minimize_linear(along[None, :])[0]
        return Quadratic(far, self.promised.strong_convexity / 2)

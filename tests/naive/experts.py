"""Recalibration by experts, slowly: the aggregating rule as it is written, lists of outcomes."""

from __future__ import annotations

import math

import numpy as np


def slow_rule(weights, opinions):
    """The aggregating rule as it is written."""
    one, zero = (
        sum(w * math.exp(-2 * (m - y) ** 2) for w, m in zip(weights, opinions, strict=True))
        for y in (1, 0)
    )
    return min(max(0.5 + 0.25 * math.log(one / zero), 0.0), 1.0)


def slow_mesh_rule(weights, opinions):
    """The aggregating rule for K classes by bisection on the common height."""
    corners = np.eye(opinions.shape[1])
    heights = -np.log([weights @ np.exp(-((opinions - e) ** 2).sum(axis=1)) for e in corners])
    low, high = heights.min(), heights.max() + 2
    for _ in range(100):
        middle = (low + high) / 2
        if np.maximum(middle - heights, 0).sum() < 2:
            low = middle
        else:
            high = middle
    return np.maximum(low - heights, 0) / 2


def half_on_the_first(inputs, kinds):
    """Half of all weight on what the inputs say, the rest equally on what is made of it."""
    one = [0.5] + [0.5 / (kinds - 1)] * (kinds - 1)
    return np.array([w / inputs for _ in range(inputs) for w in one])


class SlowExperts:
    """The method as it is written down: lists, logarithms, every grid point every time."""

    def __init__(self, points, inputs):
        self.points = list(points)
        self.prior = half_on_the_first(inputs, 7)
        self.shares = self.prior
        self.outcomes = [[] for _ in self.points]
        self.log_weights = [[math.log(0.9), math.log(0.1)] for _ in self.points]
        self.errors = [[[] for _ in range(20)] for _ in range(inputs)]
        self.mass = 0.0

    def advice(self, opinions):
        awake = [m for m, opinion in enumerate(opinions) if not math.isnan(opinion)]
        return slow_rule([self.shares[m] for m in awake], [opinions[m] for m in awake])

    def shifted(self, j, p):
        errors = self.errors[j][min(int(20 * p), 19)]
        shift = sum(g * e for g, e in errors) / (sum(g for g, _ in errors) + 10)
        return min(max(p + shift, 0), 1)

    def mean(self, i):
        seen = [*self.outcomes[i], (1.0, self.points[i])]
        return sum(g * y for g, y in seen) / sum(g for g, _ in seen)

    def target(self, i, advice):
        top = max(self.log_weights[i])
        weights = [math.exp(x - top) for x in self.log_weights[i]]
        return slow_rule(weights, [advice, self.mean(i)])

    def learn(self, advice, opinions, inputs, support, y, crowd=0):
        """Feed an outcome to (point, scale) pairs while so many other events wait."""
        for i, g in support:
            self.log_weights[i][0] -= 2 * g / (1 + crowd) * (advice - y) ** 2
            self.log_weights[i][1] -= 2 * g / (1 + crowd) * (self.mean(i) - y) ** 2
            self.outcomes[i].append((g, y))
        whole = sum(part for _, part in support)
        self.mass += whole
        g = whole / (1 + crowd)
        said = np.array([advice if math.isnan(m) else m for m in opinions])
        weights = self.shares * np.exp(-2 * g * (said - y) ** 2)
        dealt = g / (self.mass + 1)
        self.shares = (1 - dealt) * weights / weights.sum() + dealt * self.prior
        for j, p in enumerate(inputs):
            if not math.isnan(p):
                error = (whole / math.sqrt(1 + crowd), y - p)
                self.errors[j][min(int(20 * p), 19)].append(error)


class SlowMeshExperts:
    """The same for K classes; points and opinions are vectors."""

    def __init__(self, points, inputs):
        self.points = [np.array(point) for point in points]
        self.prior = half_on_the_first(inputs, 5)
        self.shares = self.prior
        self.outcomes = [[] for _ in self.points]
        self.odds = [math.log(0.1 / 0.9) for _ in self.points]
        classes = len(self.points[0])
        self.errors = [[[] for _ in range(classes)] for _ in range(inputs)]
        self.lost = self.advice_loss = self.played_loss = self.squares = self.mass = 0.0

    def advice(self, opinions):
        awake = ~np.isnan(opinions).any(axis=1)
        return slow_mesh_rule(self.shares[awake], opinions[awake])

    def shifted(self, j, p):
        """p and the mean error of the class that it holds likeliest, cut to the simplex."""
        errors = self.errors[j][int(np.argmax(p))]
        total = sum(g for g, _ in errors) + 20
        return nearest_vector(p + sum((g * e for g, e in errors), np.zeros(len(p))) / total)

    def mean(self, i):
        seen = [*self.outcomes[i], (1.0, self.points[i])]
        return sum(g * y for g, y in seen) / sum(g for g, _ in seen)

    def target(self, i, advice):
        own = 1 / (1 + math.exp(-self.odds[i]))
        return slow_mesh_rule(np.array([1 - own, own]), np.array([advice, self.mean(i)]))

    def learn(self, advice, opinions, inputs, support, y, crowd=0):
        """Feed an outcome to (point, scale, recommended at the forecast) triples."""
        for i, g, target in support:
            self.lost += g * squared(target - y)
            self.played_loss += g * squared(self.points[i] - y)
            self.odds[i] += g / (1 + crowd) * (squared(advice - y) - squared(self.mean(i) - y))
            self.outcomes[i].append((g, y))
        whole = sum(g for _, g, _ in support)
        self.squares += whole * squared(y)
        self.advice_loss += whole * squared(advice - y)
        self.mass += whole
        g = whole / (1 + crowd)
        said = np.where(np.isnan(opinions), advice, opinions)
        weights = self.shares * np.exp(-g * np.square(said - y).sum(axis=1))
        dealt = g / (self.mass + 1)
        self.shares = (1 - dealt) * weights / weights.sum() + dealt * self.prior
        for j, p in enumerate(inputs):
            if not np.isnan(p).any():
                error = (whole / math.sqrt(1 + crowd), y - p)
                self.errors[j][int(np.argmax(p))].append(error)


def squared(x):
    return float((x**2).sum())


def nearest_vector(x):
    """The nearest point of {p ≥ 0, Σp = 1}, by bisection on what is taken from every entry."""
    low, high = x.min() - 1, x.max()
    for _ in range(200):
        middle = (low + high) / 2
        if np.maximum(x - middle, 0).sum() > 1:
            low = middle
        else:
            high = middle
    return np.maximum(x - high, 0)

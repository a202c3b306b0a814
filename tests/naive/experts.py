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

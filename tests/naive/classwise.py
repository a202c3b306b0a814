"""Many classes, the slow way: numpy on dictionaries, and what was measured from a transcript."""

from __future__ import annotations

import math

import numpy as np


def hat_weights(nodes, x):
    """Weights (n,) of the soft bins of x."""
    weights = np.zeros(len(nodes))
    i = min(max(int(np.searchsorted(nodes, x, side="right")) - 1, 0), len(nodes) - 2)
    weights[i + 1] = min(max((x - nodes[i]) / (nodes[i + 1] - nodes[i]), 0.0), 1.0)
    weights[i] = 1.0 - weights[i + 1]
    return weights


def measured_errors(nodes, vectors, outcomes, declared, scales):
    """(class-wise, top-label) error of a transcript, event by event."""
    size, classes = len(nodes), vectors.shape[1]
    mass, error = np.zeros((2, classes, size)), np.zeros((2, classes, size))
    for x, y, top, g in zip(vectors, outcomes, declared, scales, strict=True):
        for k in range(classes):
            part = 0 if k == top else 1
            weights = g * hat_weights(nodes, x[k])
            mass[part, k] += weights
            error[part, k] += weights * (y[k] - x[k])
    return _squares(mass.sum(axis=0), error.sum(axis=0)), _squares(mass[0], error[0])


def _squares(mass, error):
    held = mass > 0
    return float((error[held] ** 2 / mass[held]).sum())


class SlowClasswise:
    """Bins and trust of every class; vectors and the advice are told to it."""

    own, every, part = 0.25, 0.5, 0.25

    def __init__(self, classes, nodes):
        n = len(nodes)
        self.nodes, self.mass = nodes, 0.0
        self.trust = np.full(classes, 1 - self.own)
        self.shares = np.tile([self.every, self.part, self.part], (classes, n, 1))
        self.weight, self.error = np.zeros((classes, n, 2)), np.zeros((classes, n, 2))
        inner = np.concatenate(([0.0], nodes, [1.0]))
        self.widths = 1 + inner[2:] - inner[:-2]

    def means(self, k, i, part):
        """Mean errors of a bin: over all events, and over one part of them."""
        weight, error = self.weight[k, i], self.error[k, i]
        return error.sum() / (weight.sum() + 1), error[part] / (weight[part] + 1)

    def own_offset(self, k, i, part):
        shares = self.shares[k, i, [0, 1 + part]]
        return float(shares @ self.means(k, i, part) / shares.sum())

    def heights(self, advice, declared):
        """F (K, n)."""
        return np.array([
            [
                (1 - self.trust[k]) * self.own_offset(k, i, int(k != declared))
                + self.trust[k] * (advice[k] - s)
                for i, s in enumerate(self.nodes)
            ]
            for k in range(len(advice))
        ])  # fmt: skip

    def learn(self, x, advice, declared, y, g):
        for k in range(len(y)):
            part, own_loss = int(k != declared), 0.0
            weights, r = hat_weights(self.nodes, x[k]), y[k] - x[k]
            for i in np.flatnonzero(weights):
                own_loss += weights[i] * (self.own_offset(k, i, part) - r) ** 2
                self._learn_bin(k, i, part, g * weights[i], r)
            rate = g / (2 * self.widths.max() ** 2)
            trusted = self.trust[k] * math.exp(-rate * (advice[k] - y[k]) ** 2)
            untrusted = (1 - self.trust[k]) * math.exp(-rate * own_loss)
            dealt = g / ((1 + self.mass + g) * (2 + self.mass))
            share = trusted / (trusted + untrusted)
            self.trust[k] = (1 - dealt) * share + dealt * (1 - self.own)
        self.mass += g

    def _learn_bin(self, k, i, part, g, r):
        losses = (np.array(self.means(k, i, part)) - r) ** 2
        awake = [0, 1 + part]
        before = self.shares[k, i, awake]
        after = before * np.exp(-g * losses / (2 * self.widths[i] ** 2))
        self.shares[k, i, awake] = after * before.sum() / after.sum()
        mass = self.weight[k, i].sum()
        dealt = g / ((1 + mass + g) * (2 + mass))
        prior = np.array([self.every, self.part, self.part])
        self.shares[k, i] = (1 - dealt) * self.shares[k, i] + dealt * prior
        self.weight[k, i, part] += g
        self.error[k, i, part] += g * r


def softmax(values):
    shifted = np.exp(values - values.max())
    return shifted / shifted.sum()


def merged(opinions, shares):
    """The aggregating rule for the squared norm: the nearest vector to half the logarithms."""
    losses = np.exp(-np.square(opinions).sum(axis=1)) * shares
    heights = 0.5 * np.log(losses @ np.exp(2 * opinions))
    order = np.sort(heights)[::-1]
    thresholds = (np.cumsum(order) - 1) / np.arange(1, len(order) + 1)
    return np.maximum(heights - thresholds.max(), 0.0)

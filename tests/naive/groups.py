"""Recalibration in groups, slowly: dictionaries of experts, covariances instead of precisions."""

from __future__ import annotations

import math

import numpy as np

from fullswap.kernels.logistic import mode_of
from naive.experts import slow_rule

ADVICE, EVERYBODY = "advice", "everybody"


class SlowPoint:
    """The experts of one grid point, by name; groups by number."""

    def __init__(self, s, priors):
        self.s = s
        self.logs = {name: math.log(prior) for name, prior in priors.items()}
        self.outcomes = {name: [] for name in priors}

    def mean(self, name, advice):
        if name == ADVICE:
            return advice
        seen = [*self.outcomes[name], (1.0, self.s)]
        return sum(g * y for g, y in seen) / sum(g for g, _ in seen)

    def awake(self, groups, advice):
        """(name, weight among the awake, opinion) of each."""
        names = [ADVICE, EVERYBODY, *groups]
        weights = np.exp([self.logs[name] for name in names])
        shares = (weights / weights.sum()).tolist()
        return [(n, v, self.mean(n, advice)) for n, v in zip(names, shares, strict=True)]

    def target(self, groups, advice):
        own = self.awake(groups, advice)
        return slow_rule([v for _, v, _ in own], [m for _, _, m in own])

    def learn(self, awake, g, y, rate=1.0):
        """Feed an outcome to those who were awake, with weights and opinions of the forecast."""
        z = sum(v * math.exp(-2 * (m - y) ** 2) for _, v, m in awake)
        for name, _, m in awake:
            self.logs[name] -= rate * g * (2 * (m - y) ** 2 + math.log(z))
            if name != ADVICE:
                self.outcomes[name].append((g, y))

    @property
    def total(self):
        return sum(map(math.exp, self.logs.values()))


class SlowTrust:
    """Weights in each group of the advice of everybody, and of two recalibrations in groups."""

    def __init__(self, groups, prior):
        self.logs = np.log([[prior, (1 - prior) / 2, (1 - prior) / 2]] * groups)

    def advice(self, groups, opinions):
        """What the groups make of (advice, two opinions)."""
        if not groups:
            return opinions[0]
        weights = np.exp(self.logs[groups])
        shares = (weights / weights.sum(axis=1, keepdims=True)).mean(axis=0)
        return slow_rule(shares.tolist(), opinions)

    def learn(self, groups, opinions, scale, y):
        for j in groups:
            self.logs[j] -= 2 * scale / len(groups) * (np.array(opinions) - y) ** 2


class SlowHierarchy:
    """A normal belief about (intercept, slope) of everybody and of each group, one by one."""

    def __init__(self, groups, variance, group_variances, kept=1.0, group_kept=1.0):
        self.means = [np.zeros(2) for _ in range(1 + groups)]
        self.means[0][1] = 1.0
        self.prior = [np.eye(2) * variance] + [np.diag(group_variances)] * groups
        self.covariances = [own.copy() for own in self.prior]
        self.kept = [kept] + [group_kept] * groups

    def opinion(self, groups, logit):
        mean, covariance, z = self._joint(groups, logit)
        variance = z @ covariance @ z
        return 1 / (1 + math.exp(-(mean @ z) / math.sqrt(1 + math.pi * variance / 8)))

    def learn(self, groups, logit, g, y):
        """The posterior of all blocks together, of which each keeps its own part."""
        for b in (0, *(1 + j for j in groups)):
            kept = self.kept[b] ** g
            fallen = kept * np.linalg.inv(self.covariances[b])
            fallen += (1 - kept) * np.linalg.inv(self.prior[b])
            self.covariances[b] = np.linalg.inv(fallen)
        mean, covariance, z = self._joint(groups, logit)
        chance = mode_of(mean @ z, g * (z @ covariance @ z), y)
        after = mean + covariance @ z * g * (y - chance)
        precision = np.linalg.inv(covariance) + g * chance * (1 - chance) * np.outer(z, z)
        spread = np.linalg.inv(precision)
        for k, b in enumerate((0, *(1 + j for j in groups))):
            part = slice(2 * k, 2 * k + 2)
            self.means[b], self.covariances[b] = after[part], spread[part, part]

    def _joint(self, groups, logit):
        blocks = (0, *(1 + j for j in groups))
        covariance = np.zeros((2 * len(blocks), 2 * len(blocks)))
        for k, b in enumerate(blocks):
            covariance[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] = self.covariances[b]
        mean = np.concatenate([self.means[b] for b in blocks])
        return mean, covariance, np.tile([1.0, logit], len(blocks))

"""Adversaries of groups, compiled with the forecaster that they play against.

An adversary knows the distribution of each forecast and all that was learnt, not the draw.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from fullswap.forecasting.groups import contexts_in_groups
from fullswap.inputs.memberships import memberships_of
from fullswap.kernels import events
from fullswap.kernels.experts_groups import ONES, WEIGHT, column_of

ADVERSARIES = ("additive", "mean-aware", "greedy", "sign keeping")


@dataclass(frozen=True)
class Scene:
    """Groups of events (T, G), chances of yes, and thresholds."""

    member: np.ndarray
    chance: np.ndarray
    threshold: np.ndarray

    @classmethod
    def of(cls, events, groups, seed):
        """Overlapping groups of half to a few percent of the events; additive effects, drift."""
        rng = np.random.default_rng(seed)
        member = rng.random((events, groups)) < np.geomspace(0.5, 0.02, groups)
        effects = member @ rng.normal(0, 0.8, groups)
        drift = np.sin(np.arange(events) * 6 * np.pi / events)
        threshold = 0.6 * np.where(member[:, 0], 0.3, 0.7) + 0.4 * rng.random(events) * member[:, 1]
        return cls(member, 1 / (1 + np.exp(-effects - drift)), threshold)

    def contexts(self, said=None):
        """As compiled loops read them."""
        own = None if said is None else said[:, None]
        return contexts_in_groups(own, memberships_of(self.member, len(self.member)))


@numba.njit(error_model="numpy")
def _gain(points, row, base, columns, i, j, y):
    """How much an outcome at point i would raise the error of a group."""
    place = base + columns * i + column_of(j)
    n, ones = row[place + WEIGHT], row[place + ONES]
    before = (ones - n * points[i]) ** 2 / n if n > 0 else 0.0
    return (ones + y - (n + 1) * points[i]) ** 2 / (n + 1) - before


@numba.njit(error_model="numpy")
def _answer(adversary, points, row, base, columns, ticket, context, models, chance, threshold, u):
    left, right, share = ticket
    count = int(context[models])
    if adversary == 0:
        return 1.0 if u < chance else 0.0
    if adversary == 1:
        return 1.0 if share * points[left] + (1 - share) * points[right] < threshold else 0.0
    if adversary == 2:
        better = 0.0
        for k in range(-1, count):
            j = -1 if k < 0 else int(context[models + 1 + k])
            for y in range(2):
                own = share * _gain(points, row, base, columns, left, j, y)
                own += (1 - share) * _gain(points, row, base, columns, right, j, y)
                better += own if y else -own
        return 1.0 if better > 0 else 0.0
    j = int(context[models + count]) if count else -1  # the rarest of its groups
    i = left if share > 0.5 else right
    place = base + columns * i + column_of(j)
    bias = row[place + ONES] - row[place + WEIGHT] * points[i]
    if abs(bias) > 1.5 * np.sqrt(row[place + WEIGHT] + 1):
        return 1.0 if bias > 0 else 0.0
    return 1.0 if u < 0.5 else 0.0


@numba.njit(error_model="numpy")
def _play(spec, points, row, models, adversary, contexts, chance, threshold, rng, issued, outcomes):
    columns = spec.blank.shape[1]
    for t in range(contexts.shape[0]):
        ticket = events.forecast(spec, points, row, 0, contexts, t)
        outcomes[t] = _answer(
            adversary, points, row, spec.base, columns, ticket, contexts[t], models, chance[t],
            threshold[t], rng.random(),
        )  # fmt: skip
        drawn = 0 if rng.random() < ticket[2] else 1
        issued[t] = points[ticket[1] if drawn else ticket[0]]
        events.learn(spec, points, row, 0, ticket, drawn, outcomes, t, 1.0, t)


def play(kind, scene, adversary, seed, said=None):
    """(row, issued, outcomes) after all events of a scene, on the first grid of a kind."""
    contexts = scene.contexts(said)
    row, points = kind.blank.copy(), kind.points(0)
    issued, outcomes = np.zeros(len(contexts)), np.zeros(len(contexts))
    _play(
        kind.kernel, points, row, kind.spec.models, ADVERSARIES.index(adversary), contexts,
        scene.chance, scene.threshold, np.random.default_rng(seed), issued, outcomes,
    )  # fmt: skip
    return row, issued, outcomes

"""Nearest points of a hull for many targets at once, each as a mixed action.

Targets share a list of corners, embeddings of actions that have come up. The nearest points of the
corners' hull are found by compiled code; the best action of all towards each target then tells
whether that is the nearest point of the whole hull, or joins the corners. This is Wolfe's method
with a memory, and the oracle is asked for all targets in one call.
"""

from __future__ import annotations

import numpy as np

from fullswap.base.protocols import Indices, Points, Vector
from fullswap.games.actions import ActionSet, Column, column_of

_SWEEPS = 200  # at most; ten are usual, more are circles of rounding errors
_MISSED = 1e-13  # distances and gains of this share of the diameter are rounding errors
_MOST_CORNERS = 20_000  # the list begins again beyond: a pass over it costs its length


class Projector:
    """Projections onto {origin + axes·y}: y in coordinates of length ``diameter``, near 0."""

    def __init__(self, actions: ActionSet, origin: Vector, axes: Points, diameter: float) -> None:
        self._actions, self._origin, self._axes = actions, origin, axes
        self._unit = diameter
        self._reset()

    def _reset(self) -> None:
        self._corners: Points = np.zeros((0, self._axes.shape[1]))
        self._owners: list[Column] = []
        self._known: set[bytes] = set()
        self._column: Column | None = None

    def mixtures(self, points: Points) -> tuple[Points, Indices, Vector]:
        """Nearest points (m, k), and corners and weights (m, k + 1) that they are the means of.

        Corners are numbers for ``actions_of``, valid until the next call.
        """
        from fullswap.kernels.nearest import nearest_mixtures

        if len(self._corners) > _MOST_CORNERS:
            self._reset()
        targets = np.ascontiguousarray(points / self._unit)
        m, k = targets.shape
        if not len(self._corners):
            self._add(np.vstack((np.eye(k), -np.eye(k))))
        chosen, shares = np.zeros((m, k + 1), np.int64), np.zeros((m, k + 1))
        nearest = np.zeros_like(targets)
        left = np.arange(m)
        for _ in range(_SWEEPS):
            own, weights = nearest_mixtures(self._corners, targets[left])
            chosen[left], shares[left] = own, weights
            nearest[left] = (weights[:, :, None] * self._corners[own]).sum(axis=1)
            rest = targets[left] - nearest[left]
            distance = np.linalg.norm(rest, axis=1)
            far = distance > _MISSED
            left, rest, distance = left[far], rest[far], distance[far]
            if not left.size:
                break
            units = rest / distance[:, None]
            best = self._actions.best(units @ self._axes.T)[0]
            ends = self._coordinates(best)
            gains = ((ends - nearest[left]) * units).sum(axis=1)
            # a corner that is known already cannot bring the target nearer
            gaining = gains > _MISSED
            gaining &= [end.tobytes() not in self._known for end in ends]
            left = left[gaining]
            if not left.size:
                break
            self._take(best[gaining], ends[gaining])
        return nearest * self._unit, chosen, shares

    def actions_of(self, corners: Indices | slice) -> Column:
        """Whose embeddings the corners are."""
        if self._column is None:
            self._column = column_of([a for column in self._owners for a in column.tolist()])
        return self._column[corners]

    def _coordinates(self, actions: Column) -> Points:
        points = (self._actions.embed(actions) - self._origin) @ self._axes
        return np.asarray(points / self._unit + 0.0)

    def _add(self, directions: Points) -> None:
        best = self._actions.best(directions @ self._axes.T)[0]
        self._take(best, self._coordinates(best))

    def _take(self, actions: Column, corners: Points) -> None:
        """Remember corners, those that are new once each."""
        fresh = []
        for i, corner in enumerate(corners):
            key = corner.tobytes()
            if key not in self._known:
                self._known.add(key)
                fresh.append(i)
        self._corners = np.ascontiguousarray(np.vstack((self._corners, corners[fresh])))
        self._owners.append(actions[fresh])
        self._column = None

"""Many vectors in groups of near ones, so that best answers need not look at all of them."""

from __future__ import annotations

import numpy as np

from fullswap.base.protocols import Indices, Points, Vector
from fullswap.games.actions import ActionSet, Column, dots

LEAST = 4_000
"""Fewer actions are faster looked through than passed over."""
MOST = 10_000_000
"""Actions whose embeddings may be listed a second time."""
MOST_DIMENSIONS = 8
"""In more, groups are too wide for any to be passed over."""
_GROUP = 128  # actions of a group at most
_OUTSIDE = 1 + 1e-9  # factor on radii, so that rounding passes over no group wrongly


class Grouped(ActionSet):
    """The actions of a large finite set, whose embeddings are listed, with a faster oracle.

    Of actions that are equally good another one may be found.
    """

    def __init__(self, actions: ActionSet) -> None:
        assert actions.size is not None
        self.actions, self.dim, self.size = actions, actions.dim, actions.size
        points = actions.embed(np.arange(actions.size))
        parts = _halved(points, np.arange(actions.size))
        self._order: Indices = np.concatenate(parts)
        self._points: Points = np.ascontiguousarray(points[self._order])
        self._starts = np.append(0, np.cumsum([len(part) for part in parts]))
        self._middles = np.array([points[part].mean(axis=0) for part in parts])
        pairs = zip(parts, self._middles, strict=True)
        radii = [np.linalg.norm(points[part] - middle, axis=1).max() for part, middle in pairs]
        self._radii: Vector = np.array(radii) * _OUTSIDE + 1e-12 * np.abs(points).max()

    def embed(self, actions: Column) -> Points:
        """As ever."""
        return self.actions.embed(actions)

    def best(self, directions: Points) -> tuple[Column, Vector]:
        """By the groups that promise most."""
        from fullswap.kernels.groups import best_of_groups

        wanted = np.ascontiguousarray(directions, dtype=float)
        rows = best_of_groups(self._points, self._starts, self._middles, self._radii, wanted)
        return self._order[rows], dots(self._points[rows], wanted)


def quick(actions: ActionSet) -> ActionSet:
    """The same actions, in groups where that makes best answers faster."""
    size = actions.size if actions.listed else None
    fits = size is not None and LEAST <= size <= MOST and actions.dim <= MOST_DIMENSIONS
    return Grouped(actions) if fits else actions


def _halved(points: Points, rows: Indices) -> list[Indices]:
    """Halves along the longest side, until groups are small."""
    if len(rows) <= _GROUP:
        return [rows]
    own = points[rows]
    along = own[:, np.ptp(own, axis=0).argmax()]
    order, middle = along.argpartition(len(rows) // 2), len(rows) // 2
    return _halved(points, rows[order[:middle]]) + _halved(points, rows[order[middle:]])

"""What grids on a simplex have in common: lattices for compiled code and checks of plays."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.grids.kuhn import simplex_geometry
from fullswap.kernels.columns import MASS, SQUARES
from fullswap.kernels.stationary import make_scratch
from fullswap.online.kind import MEAN_SLACK, SLACK, Kind, slack_of
from fullswap.online.plays import check_members, check_shares
from fullswap.sets import Simplex


class SimplexRows(Kind):
    """A play is (id, members, shares, …): arrays, of which these two are the support."""

    pairs = False
    squared_diameter = 2.0
    _largest: int
    """Points of the largest grid that is laid out; set before the arrays that are as long."""

    def rounding_cost(self, level: int) -> float:
        """V: the largest variance of a distribution on one simplex of the grid."""
        simplex = Simplex(self.spec.classes - 1)
        return float(simplex_geometry(simplex, self.spec.levels[level].cells).variance)

    def _walk(self, room: int) -> tuple[Any, ...]:
        """Scratch of a search for a closed class of at most so many points."""
        shape = (self._largest, self.spec.classes)
        return (
            make_scratch(self._largest), np.zeros(1, np.int64), np.zeros((room, room)),
            np.zeros(shape, np.int64), np.zeros(shape),
        )  # fmt: skip

    def _decode_support(self, numbers: list[float], level: int, others: int) -> tuple[Any, Any]:
        """Members and shares at the head of the numbers; ``others`` more numbers a member."""
        size = int(numbers[0]) if numbers and float(numbers[0]).is_integer() else 0
        if size < 1 or len(numbers) < 1 + size * (2 + others):
            raise ValueError(f"play must begin with the size of its support, got {numbers[:1]}")
        n = self.spec.levels[level].size(self.spec.classes)
        members = check_members(numbers[1 : 1 + size], n)
        return members, check_shares(numbers[1 + size : 1 + 2 * size])


def are_probabilities(vectors: Points) -> bool:
    """Whether rows are probabilities that sum to 1, up to rounding of running means."""
    sums = vectors.sum(axis=-1)
    return bool((vectors >= -SLACK).all() and (np.abs(sums - 1) <= MEAN_SLACK).all())


def check_vectors(vectors: Points) -> None:
    """Rows of probabilities that sum to 1."""
    if not are_probabilities(vectors):
        raise ValueError("play must hold probabilities that sum to 1, got others")


def vectors_agree(weights: Vector, means: Points, row: Vector) -> bool:
    """Whether masses of points add up, and mean outcomes, 0 where there was none, are such."""
    learnt = weights > 0
    squares = float((weights * np.square(means).sum(axis=1)).sum())
    return bool(
        (weights >= 0).all()
        and abs(weights.sum() - row[MASS]) <= slack_of(row)
        and are_probabilities(means[learnt])
        and (means[~learnt] == 0).all()
        and squares <= row[SQUARES] + slack_of(row)
    )

"""What grids on a simplex have in common: lattices for compiled code and checks of plays."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.grids.kuhn import simplex_geometry
from fullswap.kernels.stationary import make_scratch
from fullswap.online.kind import SLACK, Kind
from fullswap.online.plays import check_indices, check_shares
from fullswap.sets import Simplex


class SimplexRows(Kind):
    """A play is (id, members, shares, …): arrays, of which these two are the support."""

    pairs = False

    def rounding_cost(self, level: int) -> float:
        """V: the largest variance of a distribution on one simplex of the grid."""
        simplex = Simplex(self.spec.classes - 1)
        return float(simplex_geometry(simplex, self.spec.levels[level].cells).variance)

    def _walk(self, room: int) -> tuple[Any, ...]:
        """Scratch of a search for a closed class of at most so many points."""
        n = max(self.spec.levels[level].size(self.spec.classes) for level in range(self._view))
        shape = (n, self.spec.classes)
        return (
            make_scratch(n), np.zeros(1, np.int64), np.zeros((room, room)),
            np.zeros(shape, np.int64), np.zeros(shape),
        )  # fmt: skip

    def _decode_support(self, numbers: list[float], level: int, others: int) -> tuple[Any, Any]:
        """Members and shares at the head of the numbers; ``others`` more numbers a member."""
        size = int(numbers[0]) if numbers and float(numbers[0]).is_integer() else 0
        if size < 1 or len(numbers) < 1 + size * (2 + others):
            raise ValueError(f"play must begin with the size of its support, got {numbers[:1]}")
        n = self.spec.levels[level].size(self.spec.classes)
        members = np.array(check_indices(numbers[1 : 1 + size], n))
        return members, check_shares(numbers[1 + size : 1 + 2 * size])


def check_vectors(vectors: Points) -> None:
    """Rows of probabilities that sum to 1."""
    inside = (vectors >= -SLACK).all() and (np.abs(vectors.sum(axis=-1) - 1) <= 1e-6).all()
    if not inside:
        raise ValueError("play must hold probabilities that sum to 1, got others")


def vectors_agree(weights: Vector, ones: Points, mass: float) -> bool:
    """Whether masses of points add up, and outcomes of each sum to its mass."""
    slack = SLACK * (1 + mass)
    return bool(
        (weights >= 0).all()
        and (ones >= -slack).all()
        and (np.abs(ones.sum(axis=1) - weights) <= slack).all()
        and abs(weights.sum() - mass) <= slack
    )

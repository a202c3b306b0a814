"""Regret matching+ as a bank of n learners over k experts. [TBJB15], scaled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from fullswap.base.protocols import Indices, Loss, Points, Vector
from fullswap.learners.base import OverGrid, Setting, in_full
from fullswap.theorems import Theorem
from fullswap.theorems.learning import matching_cost


@dataclass
class MatchingState:
    """``regrets`` (n, k): clipped cumulative regrets; ``rows`` (n, k): current play."""

    regrets: Points
    rows: Points


class RegretMatchingPlus:
    """Play in proportion to positive regrets, no rate to tune: Reg_s ≤ B·√(k·G_s)."""

    def __init__(self, experts: Points) -> None:
        self.experts = experts

    def init(self, n: int) -> MatchingState:
        """State of n fresh learners: uniform play."""
        k = len(self.experts)
        return MatchingState(np.zeros((n, k)), np.full((n, k), 1 / k))

    def propose(self, state: MatchingState) -> Points:
        """Distributions over the experts, shape (n, k)."""
        return state.rows

    def update(
        self, state: MatchingState, loss: Loss, weights: Vector, rows: Indices | None = None
    ) -> MatchingState:
        """Add the scaled instantaneous regrets and clip at 0."""
        from fullswap.kernels.hedge import match_regrets

        values = np.asarray(loss.value(self.experts), dtype=float)
        full = in_full(weights, rows, len(state.rows))
        match_regrets(state.regrets, state.rows, full, values)
        return state


@final
class MatchingChoice(OverGrid):
    """Regret matching+ is for games: its bound is never the smallest, so only on request."""

    name = "matching"
    on_request = True

    def theorem(self, theorem: Theorem, horizon: int | None) -> Theorem:
        """No rate to tune."""
        return theorem.with_cost(matching_cost, True, "FKO25, Thm 12; TBJB15")

    def bank(self, setting: Setting, points: Points) -> RegretMatchingPlus:
        """Experts are the grid points."""
        return RegretMatchingPlus(points)

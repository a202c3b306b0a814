"""Multiplicative weights over the grid points, as a bank of n learners. [CBL06], scaled.

Weights live in log space: a row is exp(−η·(C − min C)) normalised, with C the cumulative
scaled losses. Nothing underflows for good, and a rate that changes with G costs no more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import final

import numpy as np

from fullswap.base.protocols import Indices, Loss, Points, Vector
from fullswap.learners.base import OverGrid, Setting, in_full
from fullswap.theorems import Theorem
from fullswap.theorems.learning import TunedHedge, anytime_hedge_cost


@dataclass
class HedgeState:
    """``losses`` (n, k): cumulative scaled losses; ``weight_sums`` (n,): G; ``rows`` (n, k)."""

    losses: Points
    weight_sums: Vector
    rows: Points = field(repr=False)
    stale: bool = False


class Hedge:
    """Exponential weights on ``experts`` (k, A).

    Known ``horizon``: one rate η = √(8·n·ln k/T)/B for all n, and Σ_s Reg_s ≤ B·√(T·n·ln k/2).
    ``horizon=None``: η_s = (2/B)·√(ln k/(1 + G_s)), and Reg_s ≤ B·√((1 + G_s)·ln k).
    """

    def __init__(self, experts: Points, loss_range: float, horizon: int | None) -> None:
        self.experts, self.loss_range, self.horizon = experts, loss_range, horizon

    def init(self, n: int) -> HedgeState:
        """State of n fresh learners: uniform weights."""
        k = len(self.experts)
        return HedgeState(np.zeros((n, k)), np.zeros(n), np.full((n, k), 1 / k))

    def rates(self, state: HedgeState) -> Vector:
        """η of every learner in the coming round, shape (n,)."""
        n, k = state.losses.shape
        if self.horizon is None:
            return 2 / self.loss_range * np.sqrt(math.log(k) / (1 + state.weight_sums))
        return np.full(n, math.sqrt(8 * n * math.log(k) / self.horizon) / self.loss_range)

    def propose(self, state: HedgeState) -> Points:
        """Distributions over the experts, shape (n, k); computed on demand, kept till learning."""
        if state.stale:
            from fullswap.kernels.hedge import exponents, normalise_rows

            exponents(state.losses, self.rates(state), state.rows)
            np.exp(state.rows, out=state.rows)
            normalise_rows(state.rows)
            state.stale = False
        return state.rows

    def update(
        self, state: HedgeState, loss: Loss, weights: Vector, rows: Indices | None = None
    ) -> HedgeState:
        """Add the scaled losses of all experts to the rows."""
        from fullswap.kernels.hedge import add_outer

        values = np.asarray(loss.value(self.experts), dtype=float)
        full = in_full(weights, rows, len(state.weight_sums))
        # shifting a loss by a constant changes no weight, and keeps the sums small
        add_outer(state.losses, full, values - values.min())
        state.weight_sums += full
        state.stale = True
        return state


@final
class HedgeChoice(OverGrid):
    """Multiplicative weights, for rows whose losses need not be convex."""

    name = "hedge"

    def theorem(self, theorem: Theorem, horizon: int | None) -> Theorem:
        """One rate for a known horizon, else rates that fall with G_s."""
        cost = anytime_hedge_cost if horizon is None else TunedHedge(horizon)
        return theorem.with_cost(cost, restarts=True)

    def bank(self, setting: Setting, points: Points) -> Hedge:
        """Experts are the grid points."""
        return Hedge(points, setting.constants.loss_range, setting.horizon)

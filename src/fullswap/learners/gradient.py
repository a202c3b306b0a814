"""Projected gradient descent on scaled losses, with three rate schedules.

All of them are anytime: the rate depends on G, the sum of the scales so far, and on nothing
else. Steps with scale 0 change nothing.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, final

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Indices, Learner, Loss, Points, State, Vector
from fullswap.learners.base import RowLike, Setting, SubLearner
from fullswap.losses import LossClass, piecewise_linear
from fullswap.sets import ConvexSetBase
from fullswap.theorems import Constants, Theorem
from fullswap.theorems.learning import (
    NearlyStronglyConvex,
    gradient_cost,
    nearly_strongly_convex_cost,
    strongly_convex_cost,
)


@dataclass(frozen=True)
class Rate(ABC):
    """A learning rate as a function of G: 1/(ρG) while G ≤ switch, κ/√G after."""

    constants: Constants

    @abstractmethod
    def parameters(self) -> Vector:
        """(ρ, κ, switch), as in ``fullswap.kernels.states``."""

    @abstractmethod
    def regret(self, weight_sum: float) -> float:
        """Guaranteed scaled external regret at G."""

    def __call__(self, weight_sums: Vector) -> Vector:
        """Rates at G > 0."""
        modulus, root, switch = self.parameters().tolist()
        early, late = 1 / (modulus * weight_sums), root / np.sqrt(weight_sums)
        return np.asarray(np.where(weight_sums <= switch, early, late))


@final
class LipschitzRate(Rate):
    """η = D/(L·√(2G)): Reg ≤ √2·L·D·√G for convex losses. [Z03], scaled."""

    def parameters(self) -> Vector:
        """κ = D/(√2·L) from the start."""
        root = self.constants.diameter / (self.constants.lipschitz * math.sqrt(2))
        return np.array([1.0, root, 0.0])

    def regret(self, weight_sum: float) -> float:
        """√2·L·D·√G."""
        return math.sqrt(2 * weight_sum) * self.constants.loss_range


@final
class StronglyConvexRate(Rate):
    """η = 1/(α·G), uncapped: Reg ≤ (L²/2α)·Rt(G). [FKO25, Algorithm 3].

    The cap at 1/α of the paper would leave ‖x_1 − x*‖²/η_0 in the sum; without it the first
    step has infinite prior rate, and on the squared loss q is the weighted mean of the outcomes.
    """

    def parameters(self) -> Vector:
        """ρ = α to the end."""
        return np.array([self.constants.strong_convexity, 0.0, math.inf])

    def regret(self, weight_sum: float) -> float:
        """(L²/2α)·Rt(G)."""
        return strongly_convex_cost(self.constants, 1, weight_sum)


@final
@dataclass(frozen=True)
class NearlyStronglyConvexRate(Rate):
    """η = 1/(ρG) while G ≤ 1/(ρc)², then c/√G. [FKO25, Algorithm 5], corrected schedule.

    ρ = α(1 − 1/τ)² and c = τ·ε/(√2·L) for a ratio τ > 1 with ρ·τ·ε ≤ √2·L:
    Reg ≤ √2·τ·ε·L·√G + (L²/2ρ)·Rt(G) for (α, ε)-nearly strongly convex losses.
    """

    ratio: float

    def __post_init__(self) -> None:
        checks.number("ratio", self.ratio, above=1)
        limit = math.sqrt(2) * self.constants.lipschitz
        # the best ratio may lie on the edge, where rounding decides
        if self.modulus * self.ratio * self.constants.gap > limit * (1 + 1e-12):
            checks.refuse("ratio", "be so small that ρ·τ·ε <= √2·L", self.ratio)

    @property
    def modulus(self) -> float:
        """ρ = α(1 − 1/τ)²."""
        return self.constants.strong_convexity * (1 - 1 / self.ratio) ** 2

    @property
    def root(self) -> float:
        """c = τ·ε/(√2·L)."""
        return self.ratio * self.constants.gap / (math.sqrt(2) * self.constants.lipschitz)

    def parameters(self) -> Vector:
        """Where 1/(ρG) and c/√G meet, they change over."""
        switch = 1 / (self.modulus * self.root) ** 2 if self.root > 0 else math.inf
        return np.array([self.modulus, self.root, switch])

    def regret(self, weight_sum: float) -> float:
        """√2·τ·ε·L·√G + (L²/2ρ)·Rt(G)."""
        return nearly_strongly_convex_cost(self.constants, 1, weight_sum, self.ratio)


@dataclass
class GradientState:
    """``targets`` (n, A): recommendations; ``weight_sums`` (n,): G."""

    targets: Points
    weight_sums: Vector


class GradientDescent:
    """x ← Π(x − η(G)·g·∇ℓ(x)), a bank of n. Starts at given points (n, A) or at the centre."""

    def __init__(self, action_set: ConvexSetBase, rate: Rate, start: Points | None = None) -> None:
        self.action_set, self.rate, self._start = action_set, rate, start
        self._rate = rate.parameters()

    def init(self, n: int) -> GradientState:
        """State of n fresh learners."""
        start = self.action_set.center if self._start is None else self._start
        targets = np.broadcast_to(start, (n, self.action_set.ambient_dim)).astype(float)
        return GradientState(targets.copy(), np.zeros(n))

    def propose(self, state: GradientState) -> Points:
        """Recommendations of all learners, shape (n, A)."""
        return state.targets

    def update(
        self, state: GradientState, loss: Loss, weights: Vector, rows: Indices | None = None
    ) -> GradientState:
        """One scaled gradient step for the rows with positive weight."""
        from fullswap.kernels.quadratic import gradient_steps

        rows = np.arange(len(state.weight_sums)) if rows is None else rows
        if not weights.all():
            rows, weights = rows[weights > 0], weights[weights > 0]
        if rows.size:
            slopes = np.asarray(loss.gradient(state.targets[rows]), dtype=float)
            steps, sums = np.empty_like(slopes), np.empty(len(rows))
            gradient_steps(
                state.targets, state.weight_sums, rows, weights, slopes, self._rate, steps, sums
            )
            state.targets[rows] = self.action_set._project(steps)
            state.weight_sums[rows] = sums
        return state


class Discretised(Generic[State]):
    """Any bank of convex learners, fed piecewise-linearised losses. [FKO25, Algorithm 6].

    So it competes on a given finite set of actions.
    """

    def __init__(self, base: Learner[State], actions: Points) -> None:
        self.base, self.actions = base, actions

    def init(self, n: int) -> State:
        """State of n fresh learners."""
        return self.base.init(n)

    def propose(self, state: State) -> Points:
        """Recommendations of the wrapped learners."""
        return self.base.propose(state)

    def update(
        self, state: State, loss: Loss, weights: Vector, rows: Indices | None = None
    ) -> State:
        """Feed the piecewise-linearised loss to the wrapped learners."""
        return self.base.update(state, self.seen(loss), weights, rows)

    def seen(self, loss: Loss) -> Loss:
        """The piecewise linearisation of the loss on the actions."""
        return piecewise_linear(loss, self.actions)


def rate_of(theorem: Theorem, constants: Constants) -> Rate:
    """The schedule that the theorem's learning cost was proven for."""
    cost = theorem.learning_cost
    if isinstance(cost, NearlyStronglyConvex):
        return NearlyStronglyConvexRate(constants, cost.ratio)
    if cost is strongly_convex_cost:
        return StronglyConvexRate(constants)
    return LipschitzRate(constants)


@final
class GradientChoice(SubLearner):
    """Gradient descent on convex losses, strongly convex or not, wherever points can be rounded."""

    name = "gradient"
    max_points = 10**6  # a few numbers a point
    over_grid = False
    crosses = True

    def fits(self, row: RowLike, loss_class: LossClass) -> bool:
        """Losses must be convex, and its points must be rounded to the grid."""
        return loss_class.convex and row.rounding is not None

    def theorem(self, theorem: Theorem, horizon: int | None) -> Theorem:
        """Rows of strongly convex losses are about gradient descent as they stand."""
        if theorem.needs_convexity:
            return theorem
        convex = theorem.assumption.replace(" losses", ", convex losses")
        return theorem.with_cost(gradient_cost, False, "FKO25, Thm 12; Z03", convex)

    def bank(self, setting: Setting, points: Points) -> GradientDescent:
        """Every learner is to be started at its own point."""
        return GradientDescent(setting.action_set, rate_of(setting.theorem, setting.constants))

"""From a plan to the rule that plays it: sub-learners, rounding and fixed point put together."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.base.protocols import Rounding
from fullswap.grids import Grid, ends
from fullswap.learners import (
    Discretised,
    GradientDescent,
    Hedge,
    LipschitzRate,
    NearlyStronglyConvexRate,
    RegretMatchingPlus,
    StronglyConvexRate,
)
from fullswap.rounding import Barycentric, Nearest
from fullswap.template.convex import MultiScaleRule
from fullswap.template.plan import Plan
from fullswap.template.rules import Crossing, Dense, Rule, Stationary


def make_rule(plan: Plan, grid: Grid) -> Rule:
    """The plan's rule on this grid, nothing learnt yet."""
    if plan.row == "convex":
        assert plan.horizon is not None
        return MultiScaleRule(grid.points, plan.constants.lipschitz, plan.horizon, plan.rule)
    if plan.learner != "gradient":
        return Dense(grid.points, _experts(plan, grid))
    rate = learning_rate(plan)
    discretised = plan.row == "discretised"
    if plan.rule == "crossing":
        low, high = ends(plan.action_set)
        return Crossing(grid.points, low, high, rate.parameters(), discretised)
    bank: Any = GradientDescent(plan.action_set, rate)
    if discretised:
        bank = Discretised(bank, grid.points)
    middle = int(np.linalg.norm(grid.points - plan.action_set.center, axis=1).argmin())
    return Stationary(grid.points, bank, _rounding(plan, grid), middle)


def extend_rule(rule: Rule, plan: Plan, grid: Grid) -> Rule:
    """The rule on a finer grid; points that stay keep what they learnt."""
    if isinstance(rule, Crossing):
        return rule.extended(grid.points)
    if isinstance(rule, Stationary):
        return rule.extended(grid.points, _rounding(plan, grid))
    return rule.extended(grid.points, _experts(plan, grid))


def learning_rate(plan: Plan) -> Any:
    """The schedule of the plan's gradient steps."""
    if plan.row == "discretised":
        return NearlyStronglyConvexRate(plan.constants, plan.ratio)
    if plan.row in ("lipschitz", "smooth") or not plan.constants.strong_convexity > 0:
        return LipschitzRate(plan.constants)
    return StronglyConvexRate(plan.constants)


def _experts(plan: Plan, grid: Grid) -> Hedge | RegretMatchingPlus:
    if plan.learner == "matching":
        return RegretMatchingPlus(grid.points)
    return Hedge(grid.points, plan.constants.loss_range, plan.horizon)


def _rounding(plan: Plan, grid: Grid) -> Rounding:
    return Nearest(grid) if plan.rounding == "nearest" else Barycentric(grid)

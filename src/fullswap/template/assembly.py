"""From a plan to the rule that plays it."""

from __future__ import annotations

from fullswap.grids import Grid
from fullswap.learners.gradient import Rate, rate_of
from fullswap.template.choice import Plan
from fullswap.template.rules import Rule


def make_rule(plan: Plan, grid: Grid) -> Rule:
    """The plan's rule on this grid, nothing learnt yet."""
    return plan.kind.start(plan, grid)


def extend_rule(rule: Rule, plan: Plan, grid: Grid) -> Rule:
    """The rule on a finer grid; points that stay keep what they learnt."""
    return rule.carried_into(make_rule(plan, grid))


def learning_rate(plan: Plan) -> Rate:
    """The schedule of the plan's gradient steps."""
    return rate_of(plan.theorem, plan.constants)

"""The rows of the paper's table: which grid and sub-learners each uses, and when it applies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fullswap.base.protocols import Vector
from fullswap.grids import Choices, Grid, GridFamily, Levels, Nested, ends, line, tuned
from fullswap.learners import Discretised, SubLearner
from fullswap.rounding import Barycentric, Nearest
from fullswap.template.choice import Plan, Request, Row
from fullswap.template.rules import Crossing, Dense, Rule, Stationary
from fullswap.template.subgrids import best_subgrid, nested_subgrids
from fullswap.theorems import THEOREMS, Theorem
from fullswap.theorems.anytime import Schedule
from fullswap.theorems.learning import NearlyStronglyConvex, best_ratio

ANYTIME_RATIO = 2.0
"""τ of the nearly-strongly-convex schedule when there is no horizon to tune it for."""


class PlayedRow(Row):
    """What all rows with sub-learners share: who plays on a grid, and how."""

    def start(self, plan: Plan, grid: Grid) -> Rule:
        """Dense for learners over the grid, else crossing or stationary."""
        assert plan.sub_learner is not None
        bank: Any = plan.sub_learner.bank(plan, grid.points)
        if plan.over_grid:
            return Dense(grid.points, bank)
        if plan.rule == "crossing":
            low, high = ends(plan.action_set)
            return Crossing(grid.points, low, high, bank.rate.parameters(), self.linearised)
        if self.linearised:
            bank = Discretised(bank, grid.points)
        middle = int(np.linalg.norm(grid.points - plan.action_set.center, axis=1).argmin())
        near = self.rounding == "nearest"
        rounding = Nearest(grid) if near else Barycentric(tuned(grid, plan.constants))
        return Stationary(grid.points, bank, rounding, middle)


@final
@dataclass(frozen=True)
class TableRow(PlayedRow):
    """A row of the table: its theorem, kind of grid and rounding, and what losses must promise."""

    theorem: Theorem
    grid: str
    """ "net", "triangulation" or "boundary"."""
    rounding: str | None
    smooth: bool = False
    concave: bool = False
    strongly_convex: bool = False

    def applies(self, request: Request) -> bool:
        """Whether the losses promise enough; on given actions, strong convexity at least."""
        promised = request.loss_class
        if request.actions is not None and not self.strongly_convex:
            return False
        return (
            (not self.smooth or promised.smoothness is not None)
            and (not self.concave or promised.concave)
            and (not self.strongly_convex or promised.strong_convexity > 0)
        )

    def check(self, request: Request, learner: SubLearner | None) -> None:
        """What does not fit gives no plan."""

    def plan(self, request: Request, learner: SubLearner | None) -> Plan | None:
        """The grid that minimises the bound, or a schedule of grids."""
        assert learner is not None
        rule = rule_of(request, learner)
        if rule is None:
            return None
        theorem = learner.theorem(self.theorem, request.horizon)
        chosen: tuple[GridFamily, int | None] | None
        if request.actions is not None:
            chosen = self._on_actions(request, request.actions, theorem)
        else:
            chosen = self._on_set(request, theorem, learner)
        if chosen is None:
            return None
        (grids, level), constants = chosen, request.constants
        schedule = Schedule(theorem, constants, grids.geometry) if level is None else None
        return Plan(
            self, learner.name, rule, theorem, constants, request.field, request.horizon,
            grids, level or 0, schedule, learner,
        )  # fmt: skip

    def _on_set(
        self, request: Request, theorem: Theorem, learner: SubLearner
    ) -> tuple[GridFamily, int | None] | None:
        """The family of grids, and the level to play; no level if the rounds decide."""
        action_set, horizon = request.action_set, request.horizon
        limit: float = learner.max_points
        if request.mesh is not None:
            allowed = Levels(self.grid, action_set, learner.max_points)
            level = allowed.level_of_mesh(request.mesh)
            return None if allowed.geometry(level) is None else (allowed, level)
        if horizon is not None:
            limit = min(limit, max(horizon, 2 ** (action_set.dim + 2)))  # a round for every point
            levels = Levels(self.grid, action_set, limit)
            level, _ = theorem.tune(request.constants, float(horizon), levels.geometry)
            if levels.geometry(level) is None:
                # the coarsest grid may have more points than rounds, but not more than can be held
                levels = Levels(self.grid, action_set, learner.max_points)
            return None if levels.geometry(level) is None else (levels, level)
        growing: GridFamily = Nested(self.grid, action_set, limit)
        if theorem.restarts:  # then nothing is to be kept, and any grids will do
            growing = Levels(self.grid, action_set, limit, doubled=True)
        return None if growing.geometry(0) is None else (growing, None)

    def _on_actions(
        self, request: Request, actions: Vector, theorem: Theorem
    ) -> tuple[GridFamily, int | None]:
        """Sub-grids of the actions: full swap regret bounds the discretised one."""
        field, horizon = request.field, request.horizon
        if horizon is None:
            return Choices(field, tuple(actions[pick] for pick in nested_subgrids(actions))), None
        chosen = best_subgrid(
            actions, theorem, request.constants, float(horizon), lambda t: line(field, t).geometry
        )
        return Choices(field, (actions[chosen],)), 0


@final
@dataclass(frozen=True)
class DiscretisedRow(PlayedRow):
    """Swaps among given actions on a line, which are the grid."""

    theorem: Theorem = THEOREMS["discretised"]
    rounding: str | None = "barycentric"
    linearised = True

    def applies(self, request: Request) -> bool:
        """Where there are actions."""
        return request.actions is not None

    def check(self, request: Request, learner: SubLearner | None) -> None:
        """Actions must be given."""
        if request.actions is None:
            raise ValueError(
                "actions must be the points that may be played with row='discretised', got None"
            )

    def plan(self, request: Request, learner: SubLearner | None) -> Plan | None:
        """All actions, with the ratio τ that suits the horizon."""
        assert learner is not None and request.actions is not None
        rule, constants, actions = rule_of(request, learner), request.constants, request.actions
        ratio = ANYTIME_RATIO
        if request.horizon is not None:
            ratio = best_ratio(constants, len(actions), request.horizon)
        theorem = self.theorem.with_cost(NearlyStronglyConvex(ratio))
        if rule is None or not math.isfinite(theorem.learning_cost(constants, len(actions), 1)):
            return None
        return Plan(
            self, learner.name, rule, theorem, constants, request.field, request.horizon,
            Choices(request.field, (actions,)), sub_learner=learner,
        )  # fmt: skip


TABLE: tuple[Row, ...] = (
    TableRow(THEOREMS["lipschitz"], "net", "nearest"),
    TableRow(THEOREMS["smooth"], "triangulation", "barycentric", smooth=True),
    TableRow(THEOREMS["concave"], "boundary", None, concave=True),
    TableRow(THEOREMS["strongly convex"], "net", "nearest", strongly_convex=True),
    TableRow(
        THEOREMS["strongly convex and smooth"], "triangulation", "barycentric",
        smooth=True, strongly_convex=True,
    ),
    DiscretisedRow(),
)  # fmt: skip
"""The rows that are considered, from the least specific to the most."""


def rule_of(request: Request, learner: SubLearner) -> str | None:
    """The rule asked for, or the faster one; None if the sub-learner cannot be played by it."""
    line = learner.crosses and request.action_set.dim == 1
    rule = request.rule or ("crossing" if line else "stationary")
    return None if rule == "crossing" and not learner.crosses else rule

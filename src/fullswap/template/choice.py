"""What is asked for and what was chosen, as plain data: requests and plans."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from fullswap.base.amounts import counted
from fullswap.base.protocols import Vector
from fullswap.grids import Grid, GridFamily
from fullswap.learners import SubLearner
from fullswap.losses import LossClass
from fullswap.sets import ConvexSetBase, Interval
from fullswap.template.rules import Rule
from fullswap.theorems import Constants, Theorem
from fullswap.theorems.anytime import Schedule
from fullswap.theorems.learning import NearlyStronglyConvex, residual_allowance

SHOWN_ROUNDS = 100_000
"""Plans without a horizon are compared, and explained, at so many rounds."""
LITTLE = 0.4
"""Guarantees above this share of the trivial one are called little: on a ball one point, played for
ever, has a half."""


@dataclass(frozen=True, eq=False)
class Request:
    """What a plan is to be made for; ``rule`` and ``mesh`` are None where they are free."""

    action_set: ConvexSetBase
    loss_class: LossClass
    horizon: int | None
    mesh: float | None = None
    rule: str | None = None
    actions: Vector | None = None
    """Coordinates of the only points that may be played, in rising order."""

    @property
    def field(self) -> ConvexSetBase:
        """Where it is played: deviations go to actions only, so their hull is the whole set."""
        if self.actions is None:
            return self.action_set
        return Interval(float(self.actions[0]), float(self.actions[-1]))

    @property
    def constants(self) -> Constants:
        """What is known of the losses and of the set."""
        known, diameter = self.loss_class, self.field.diameter
        gap = 0.0 if self.actions is None else float(np.diff(self.actions).max())
        slopes = (known.lipschitz, diameter, known.strong_convexity, known.smoothness)
        return Constants(*slopes, gap, known.spread)


class Row(ABC):
    """One way to small swap regret: its theorem, its grids, whom it fits and how it is played.

    A row is one file with its theorem and its test; instances are plain data.
    """

    theorem: Theorem
    rounding: str | None
    """How points of the set become mixtures of grid points: "nearest", "barycentric" or None."""
    linearised: ClassVar[bool] = False
    """Whether deviations go to grid points alone, so that losses are linear between them."""
    has_learners: ClassVar[bool] = True
    """Whether it is played by sub-learners at the grid points."""
    moving: ClassVar[bool] = False
    """Whether its points move from round to round; its grid holds those it starts from."""
    rules: ClassVar[tuple[str, ...]] = ("crossing", "stationary")

    @property
    def name(self) -> str:
        """As the user asks for it."""
        return self.theorem.name

    @abstractmethod
    def applies(self, request: Request) -> bool:
        """Whether the premises hold."""

    @abstractmethod
    def check(self, request: Request, learner: SubLearner | None) -> None:
        """Raise ValueError where the row was asked for and cannot be played as asked."""

    @abstractmethod
    def plan(self, request: Request, learner: SubLearner | None) -> Plan | None:
        """The plan with this sub-learner; None if there is none, such as for want of a grid."""

    @abstractmethod
    def start(self, plan: Plan, grid: Grid) -> Rule:
        """The rule that plays the plan on a grid, nothing learnt yet."""

    def extent(self, grid: Grid) -> str:
        """How many points are in play, in words."""
        return counted(len(grid), "point")

    def details(self, plan: Plan, rounds: int) -> Iterator[str]:
        """Sentences about what is played in the last of so many rounds, for ``explain``."""
        grid, rounding = plan.grid_at(rounds - 1), plan.rounding_cost(rounds)
        learning = max(0.0, plan.untrimmed(rounds) - rounding)
        yield (
            f"That is min(B·T, rounding {rounding:.6g} + learning {learning:.6g}); "
            f"a loss varies by at most B = {plan.constants.loss_range:.6g} over the set."
        )
        variance = f", simplex variance {grid.variance:.6g}" if math.isfinite(grid.variance) else ""
        yield (
            f"Grid: {counted(len(grid), 'point')}, mesh {grid.mesh:.6g}, covering radius "
            f"{grid.covering_radius:.6g}, hull distance {grid.hull_distance:.6g}{variance}."
        )
        yield f"At its points: {plan.learner}; rounding: {plan.rounding}; rule: {plan.rule}."


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """Everything that was chosen, and the guarantee that comes with it: data, and no functions."""

    kind: Row
    """The row, whose name is ``row``."""
    learner: str
    rule: str
    theorem: Theorem
    """What is guaranteed, with the parameters of this plan."""
    constants: Constants
    action_set: ConvexSetBase
    horizon: int | None
    grids: GridFamily
    level: int = 0
    """The grid that is played; with a ``schedule``, levels change."""
    schedule: Schedule | None = None
    sub_learner: SubLearner | None = None
    """What makes the bank, if there is one."""
    considered: tuple[tuple[str, str, float], ...] = ()
    """(row, learner, bound) of every candidate, at the horizon (or at 10⁵ rounds)."""
    remark: str = ""

    def __repr__(self) -> str:
        rounds, share = self.horizon or SHOWN_ROUNDS, ""
        if self.share > LITTLE:
            share = f", {_percent(self.share)} of the most possible"
        return (
            f"<Plan: {self.row}, {self.learner}, {self.kind.extent(self.grid_at(0))}; regret "
            f"of at most {self.bound(rounds):.4g} in {rounds:,} rounds{share}>"
        )

    @property
    def row(self) -> str:
        """The row's name."""
        return self.kind.name

    @property
    def over_grid(self) -> bool:
        """Whether learners propose distributions over the grid, of chains solved approximately."""
        return self.sub_learner is not None and self.sub_learner.over_grid

    @property
    def deviates_on_grid(self) -> bool:
        """Whether the grid points alone are the deviations that learning is measured against."""
        if self.kind.moving:
            return False
        return self.sub_learner is None or self.over_grid or self.kind.linearised

    @property
    def rounding(self) -> str:
        """How targets become mixtures of grid points."""
        rounds = self.sub_learner is not None and not self.over_grid
        return (self.kind.rounding if rounds else None) or "none"

    @property
    def ratio(self) -> float:
        """τ of the nearly-strongly-convex schedule (discretised row), else NaN."""
        cost = self.theorem.learning_cost
        return cost.ratio if isinstance(cost, NearlyStronglyConvex) else math.nan

    def grid_at(self, round_index: int) -> Grid:
        """The grid in play; where points move, those that they start from."""
        level = self.level if self.schedule is None else self.schedule.level(round_index)
        return self.grids.grid(level)

    def start(self, grid: Grid) -> Rule:
        """The plan's rule on this grid, nothing learnt yet."""
        return self.kind.start(self, grid)

    def rounding_cost(self, rounds: int) -> float:
        """Σ_t δ_t."""
        if self.schedule is not None:
            return self.schedule.rounding(rounds)
        return self.theorem.rounding_cost(self.constants, self.grid_at(0).geometry) * rounds

    def bound(self, rounds: int, built: bool = True) -> float:
        """Guaranteed at most after this many rounds (for any number of them).

        ``built=False``: from what is known of the grid without building it, which may be more.
        """
        return min(self.constants.loss_range * rounds, self.untrimmed(rounds, built))

    def untrimmed(self, rounds: int, built: bool = True) -> float:
        """Σ_t δ_t + Σ Reg_s, and what the tolerance of a solver may cost; it may exceed B·T."""
        if self.schedule is not None:
            total = self.schedule.bound(rounds)
            size = self.schedule.geometry(max(rounds - 1, 0)).size
        else:
            known = None if built else self.grids.geometry(self.level)
            geometry = known or self.grid_at(0).geometry
            size, total = geometry.size, self.theorem.total(self.constants, geometry, rounds)
        if self.over_grid:
            total += residual_allowance(self.constants.loss_range, size, rounds)
        return total

    @property
    def share(self) -> float:
        """The bound for the horizon (or 10⁵ rounds) as a share of the trivial B·T."""
        rounds = self.horizon or SHOWN_ROUNDS
        return self.bound(rounds) / (self.constants.loss_range * rounds)

    @property
    def caution(self) -> str:
        """A sentence that says so where little is promised, else nothing."""
        if self.share <= LITTLE:
            return ""
        rivals = {row for row, _, _ in self.considered} - {self.row}
        which = f"the best row is {self.row}" if rivals else f"the row is {self.row}"
        cure = "more rounds" if self.action_set.dim == 1 else "more rounds or fewer dimensions"
        return (
            f"Little is promised here: {_percent(self.share)} of the most that can be lost, "
            f"B·T with B = {self.constants.loss_range:.6g}; {which}; {cure} help."
        )

    def promise(self) -> str:
        """What is guaranteed for the horizon, and whether that is little."""
        rounds = self.horizon or SHOWN_ROUNDS
        which = f"{rounds:,} rounds" if self.horizon else f"any horizon, such as {rounds:,} rounds"
        most = f"Guaranteed for {which}: regret of at most {self.bound(rounds):.6g} in total."
        return f"{most} {self.caution}".rstrip()

    def explain(self) -> str:
        """What was chosen and why, in words and numbers."""
        rounds = self.horizon or SHOWN_ROUNDS
        lines = [
            f"Assumes {self.theorem.assumption} (row: {self.row}) [{self.theorem.citation}].",
            self.promise(),
            *self.kind.details(self, rounds),
        ]
        others = [c for c in self.considered if c[:2] != (self.row, self.learner)]
        if others:
            listed = ", ".join(f"{row} with {learner} {b:.6g}" for row, learner, b in others)
            lines.append(f"Bounds of other choices: {listed}.")
        if self.remark:
            lines.append(self.remark)
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "row": self.row,
            "learner": self.learner,
            "rule": self.rule,
            "rounding": self.rounding,
            "theorem": self.theorem.citation,
            "assumption": self.theorem.assumption,
            "constants": asdict(self.constants),
            "set": self.action_set.to_dict(),
            "horizon": self.horizon,
            "grids": self.grids.to_dict(),
            "level": self.level if self.schedule is None else None,
            "ratio": None if math.isnan(self.ratio) else self.ratio,
            "guaranteed": self.bound(self.horizon or SHOWN_ROUNDS),
            "share": self.share,
            "considered": [list(candidate) for candidate in self.considered],
            "remark": self.remark,
        }


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"

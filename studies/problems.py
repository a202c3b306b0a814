"""One standard problem for each row of the table and each dimension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fullswap.losses import LossClass
from fullswap.sets import Ball, Box, ConvexSetBase, Interval
from fullswap.template import FullSwapLearner
from fullswap.theorems import THEOREMS


def cases() -> list[tuple[str, int]]:
    """All (row, dimension); the discretised row lives in one dimension."""
    return [(row, dim) for row in THEOREMS for dim in ((1, 2, 3) if row != "discretised" else (1,))]


@dataclass(frozen=True)
class Problem:
    """A set, a class of losses, and the row that is to be measured on them."""

    row: str
    dim: int
    action_set: ConvexSetBase
    loss_class: LossClass
    step: float | None = None
    """Spacing of the actions, in the discretised case; the paper's T^(-1/5) if it depends on T."""

    def learner(self, horizon: int, **options: Any) -> FullSwapLearner:
        """The learner of this row, tuned for the horizon."""
        actions = None
        if self.row == "discretised":
            cells = max(2, round(horizon**0.2)) if self.step is None else round(1 / self.step)
            actions = np.linspace(0.0, 1.0, cells + 1)
        return FullSwapLearner(
            self.action_set, self.loss_class, horizon, row=self.row, actions=actions, **options
        )


def problem(row: str, dim: int) -> Problem:
    """The standard problem: unit cubes, and balls for concave losses (a cube has few corners)."""
    unit: ConvexSetBase = Interval(0.0, 1.0) if dim == 1 else Box(np.zeros(dim), np.ones(dim))
    diameter = unit.diameter
    if row == "lipschitz":
        return Problem(row, dim, unit, LossClass(lipschitz=1.0))
    if row == "smooth":
        return Problem(row, dim, unit, LossClass(lipschitz=1.0, smoothness=2.0 / diameter))
    if row == "concave":
        curved = unit if dim == 1 else Ball(np.zeros(dim), 0.5)
        return Problem(row, dim, curved, LossClass(lipschitz=1.0, concave=True))
    if row == "strongly convex":
        return Problem(row, dim, unit, LossClass(2 * diameter, strong_convexity=1.0))
    return Problem(row, dim, unit, LossClass.squared(diameter))

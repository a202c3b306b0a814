"""Convex Lipschitz losses in one dimension by multi-scale binning: the rule of row "convex".

Losses on an interval [low, low + D] with slopes at most L become laws on [0, 1]:
P(v ≤ y) = (ℓ'(low + D·y +)/L + 1)/2, with the one-sided slopes at the grid points alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Indices, Loss, Points, Vector
from fullswap.grids import Grid, Levels, checked_mesh
from fullswap.grids.base import JUST_BELOW
from fullswap.learners import SubLearner
from fullswap.learners.multiscale import MOST_CELLS, MultiScale, default_cells
from fullswap.losses import QuadraticFamily
from fullswap.sets import ConvexSetBase
from fullswap.template.choice import Plan, Request, Row
from fullswap.template.rules import Rule
from fullswap.theorems import Theorem
from fullswap.theorems.multiscale import CONVEX, SLOPE_STEP, MultiScaleCost, multiscale_rates

NUDGE = 1e-9
"""Slopes to the left and right of x are gradients this share of the diameter away from it."""
RULES = ("coarsest", "all scales", "highs")
"""The coarsest game that can be won; the game over all bins; the same, solved by HiGHS."""


def one_sided_slopes(loss: Loss, points: Points) -> tuple[Vector, Vector]:
    """Slopes ℓ'(x+) at all points but the last and ℓ'(x−) at all but the first, (n,) each.

    ``points`` (n + 1, 1) are in rising order; the loss is asked between the first and the last.
    """
    if isinstance(loss, QuadraticFamily):
        slopes = loss.gradient(points)[:, 0]
        return slopes[:-1], slopes[1:]
    length, n = float(points[-1, 0] - points[0, 0]), len(points) - 1
    if getattr(loss, "has_gradient", True):
        step = NUDGE * length
        asked = np.concatenate((points[:-1] + step, points[1:] - step))
        slopes = loss.gradient(asked)[:, 0]
        return slopes[:n], slopes[n:]
    # without a gradient, slopes are differences of values
    step = SLOPE_STEP * length
    asked = np.concatenate((points, points[:-1] + step, points[1:] - step))
    values = loss.value(asked)
    here, right, left = values[: n + 1], values[n + 1 : 2 * n + 1], values[2 * n + 1 :]
    return (right - here[:-1]) / step, (here[1:] - left) / step


def law_of(loss: Loss, points: Points, lipschitz: float) -> tuple[Vector, Vector]:
    """P(v < x) and P(v ≤ x) at the points, (n + 1,) each.

    Slopes beyond ``lipschitz`` are cut off and falling ones evened out, so that there is a law.

    Examples
    --------
    >>> from fullswap.losses import Quadratic
    >>> law_of(Quadratic([0.0], 0.5), np.array([[0.0], [0.5], [1.0]]), 1.0)
    (array([0.  , 0.75, 1.  ]), array([0.5 , 0.75, 1.  ]))
    """
    after, before = one_sided_slopes(loss, points)
    laws = np.zeros((len(points), 2))
    laws[:-1, 1], laws[1:, 0] = after, before
    laws /= 2 * lipschitz
    laws += 0.5
    laws[0, 0], laws[-1, 1] = 0.0, 1.0
    # row after row is the order of the line: before and after the first point, the second, …
    np.clip(laws, 0.0, 1.0, out=laws)
    np.maximum.accumulate(laws.ravel(), out=laws.reshape(-1))
    below, up_to = laws.T.copy()
    return below, up_to


def cells_of(action_set: ConvexSetBase, horizon: int, mesh: float | None) -> int:
    """1/γ, at most 512: by default what suits the horizon, else the least for this ``mesh``."""
    if mesh is None:
        return default_cells(horizon)
    wanted = action_set.diameter / checked_mesh(action_set, mesh) * JUST_BELOW
    if wanted > MOST_CELLS:
        least = f"diameter/{MOST_CELLS} = {action_set.diameter / MOST_CELLS:.6g}"
        checks.refuse("mesh", f"be at least {least} with row='convex'", mesh)
    return int(2 ** max(1, math.ceil(math.log2(wanted))))


class MultiScaleRule:
    """Multi-scale binning on evenly spaced points, in the manner of ``fullswap.template.rules``.

    ``mix()`` gives indices into ``points`` and weights; ``learn`` returns what the points in play
    lost, there being no sub-learners with recommendations of their own.
    """

    residual = 0.0

    def __init__(self, points: Points, lipschitz: float, horizon: int, rule: str) -> None:
        self.points, self.lipschitz = points, lipschitz
        solver = "highs" if rule == "highs" else "simplex"
        self.binning = MultiScale(len(points) - 1, horizon, rule == "coarsest", solver)

    def mix(self) -> tuple[Indices, Vector]:
        """Support and weights of this round's mixture."""
        return self.binning.mix()

    def learn(self, loss: Loss, indices: Indices, weights: Vector) -> Vector:
        """Feed the law of the loss to the bins in play."""
        lost = np.asarray(loss.value(self.points[indices]), dtype=float)
        self.binning.learn(*law_of(loss, self.points, self.lipschitz))
        return lost

    def carried_into(self, fresh: Any) -> MultiScaleRule:
        """Never asked for: γ is set by the horizon, and without one there is no such rule."""
        raise NotImplementedError("multi-scale binning needs a horizon: its grid does not grow")


@final
@dataclass(frozen=True)
class MultiScaleRow(Row):
    """Multi-scale binning, on request only: its guarantee is far above what it was measured at."""

    theorem: Theorem = CONVEX
    rounding: str | None = None
    on_request = True
    has_learners = False
    rules = RULES

    def applies(self, request: Request) -> bool:
        """On a line, with convex losses and a known horizon."""
        convex = request.action_set.dim == 1 and request.loss_class.convex
        return convex and request.horizon is not None

    def check(self, request: Request, learner: SubLearner | None) -> None:
        """Say what is missing, or not to be chosen."""
        dim = request.action_set.dim
        if dim != 1:
            checks.refuse("action_set", "have dimension 1 with row='convex'", dim)
        if not request.loss_class.convex:
            checks.refuse("loss_class", "be convex with row='convex'", request.loss_class)
        if request.horizon is None:
            checks.refuse("horizon", "be a whole number with row='convex'", None)
        if learner is not None:
            checks.refuse("learner", "be None with row='convex'", learner.name)
        if request.actions is not None:
            rule = "be None with row='convex', which plays multiples of mesh"
            checks.refuse("actions", rule, request.actions)

    def plan(self, request: Request, learner: SubLearner | None) -> Plan | None:
        """The mesh that was found to have small measured regret."""
        assert request.horizon is not None
        theorem = self.theorem.with_cost(MultiScaleCost(multiscale_rates(request.horizon)))
        return Plan(
            self, "bins", request.rule or "coarsest", theorem, request.constants,
            request.action_set, request.horizon, Levels("triangulation", request.action_set),
            cells_of(request.action_set, request.horizon, request.mesh),
            remark="The theorem gives Õ(√T), but with large constants; the default mesh was chosen "
            "for small measured regret, not for the bound.",
        )  # fmt: skip

    def start(self, plan: Plan, grid: Grid) -> Rule:
        """The bins, nothing learnt yet."""
        assert plan.horizon is not None
        return MultiScaleRule(grid.points, plan.constants.lipschitz, plan.horizon, plan.rule)

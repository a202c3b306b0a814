"""Convex Lipschitz losses in one dimension by multi-scale binning, as a row of ``FullSwapLearner``.

The row's theorem answers the paper's open question: full swap regret in Õ(√T), with large
constants [HSW26]. The default γ, near 1/(2√T), was chosen for small measured regret instead; up to
about 10⁵ rounds its guarantee is the trivial one, L·D·T, and no other is claimed here.

Losses on an interval [low, low + D] with slopes at most L become laws on [0, 1]:
P(v ≤ y) = (ℓ'(low + D·y +)/L + 1)/2, with the one-sided slopes at the grid points alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fullswap.base.protocols import Indices, Loss, Points, Vector
from fullswap.grids import Grid, Levels
from fullswap.grids.base import JUST_BELOW
from fullswap.learners import SubLearner
from fullswap.losses import QuadraticFamily
from fullswap.template.choice import Plan, Request, Row
from fullswap.template.rules import Rule
from fullswap.theorems import Constants, Theorem
from fullswap.theorems.rows import Power, nearest_cost
from studies.binning import MultiScale

NUDGE = 1e-9
"""Slopes to the left and right of x are gradients this share of the diameter away from it."""
MOST_CELLS = 512
"""1/γ at most: the finest game has 1/γ rows and about 2/γ columns."""
CELLS_PER_ROOT = 2.0
"""1/γ as a multiple of √T, before it is rounded to a power of 2."""


def default_cells(horizon: int) -> int:
    """1/γ for so many rounds: the power of 2 nearest to 2·√T (by ratio), from 4 to 512.

    Examples
    --------
    >>> [default_cells(rounds) for rounds in (1, 300, 1_000, 10_000)]
    [4, 32, 64, 256]
    """
    # odd powers of 2 lie half-way: all of them go up, where round() would go to even exponents
    exponent = math.floor(math.log2(CELLS_PER_ROOT * math.sqrt(horizon)) + 0.5)
    return int(2 ** min(max(exponent, 2), MOST_CELLS.bit_length() - 1))


def multiscale_rates(horizon: float) -> int:
    """How many rates ½, ¼, … multi-scale binning uses: none below about 1/√T is of use.

    Examples
    --------
    >>> multiscale_rates(1), multiscale_rates(1000)
    (1, 5)
    """
    return max(1, math.ceil(math.log2(horizon) / 2))


def trivial_cost(c: Constants, n: int, rounds: float) -> float:
    """B·T: at these horizons the constants of the proof give no less."""
    return c.loss_range * rounds


def one_sided_slopes(loss: Loss, points: Points) -> tuple[Vector, Vector]:
    """Slopes ℓ'(x+) at all points but the last and ℓ'(x−) at all but the first, (n,) each.

    ``points`` (n + 1, 1) are in rising order; the loss is asked between the first and the last.
    """
    if isinstance(loss, QuadraticFamily):
        slopes = loss.gradient(points)[:, 0]
        return slopes[:-1], slopes[1:]
    length, n = float(points[-1, 0] - points[0, 0]), len(points) - 1
    step = NUDGE * length
    asked = np.concatenate((points[:-1] + step, points[1:] - step))
    slopes = loss.gradient(asked)[:, 0]
    return slopes[:n], slopes[n:]


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


class MultiScaleRule:
    """Multi-scale binning on evenly spaced points, in the manner of ``fullswap.template.rules``."""

    residual = 0.0

    def __init__(self, points: Points, lipschitz: float, horizon: int) -> None:
        self.points, self.lipschitz = points, lipschitz
        self.binning = MultiScale(len(points) - 1, multiscale_rates(horizon))

    def mix(self) -> tuple[Indices, Vector]:
        """Support and weights of this round's mixture."""
        return self.binning.mix()

    def learn(self, loss: Loss, indices: Indices, weights: Vector) -> Vector:
        """Feed the law of the loss to the bins in play; what the points in play lost."""
        lost = np.asarray(loss.value(self.points[indices]), dtype=float)
        self.binning.learn(*law_of(loss, self.points, self.lipschitz))
        return lost

    def carried_into(self, fresh: Any) -> MultiScaleRule:
        """Never asked for: γ is set by the horizon, and without one there is no such rule."""
        raise NotImplementedError("multi-scale binning needs a horizon: its grid does not grow")


@final
@dataclass(frozen=True)
class MultiScaleRow(Row):
    """Multi-scale binning: on a line, with convex losses and a known horizon."""

    theorem: Theorem = Theorem(
        "convex", "HSW26", "L-Lipschitz, convex losses, d = 1",
        nearest_cost, trivial_cost, Power(1, 2, slope=0), needs_convexity=True,
    )  # fmt: skip
    rounding: str | None = None
    has_learners = False
    rules = ("coarsest",)

    def applies(self, request: Request) -> bool:
        """On a line, with convex losses and a known horizon."""
        convex = request.action_set.dim == 1 and request.loss_class.convex
        return convex and request.horizon is not None and request.actions is None

    def check(self, request: Request, learner: SubLearner | None) -> None:
        """Nothing beyond ``applies``."""

    def plan(self, request: Request, learner: SubLearner | None) -> Plan | None:
        """The mesh that was found to have small measured regret, or the largest that was asked."""
        assert request.horizon is not None
        cells = default_cells(request.horizon)
        if request.mesh is not None:
            wanted = request.action_set.diameter / request.mesh * JUST_BELOW
            cells = int(2 ** max(1, math.ceil(math.log2(wanted))))
        return Plan(
            self, "bins", "coarsest", self.theorem, request.constants, request.action_set,
            request.horizon, Levels("triangulation", request.action_set), cells,
        )  # fmt: skip

    def start(self, plan: Plan, grid: Grid) -> Rule:
        """The bins, nothing learnt yet."""
        assert plan.horizon is not None
        return MultiScaleRule(grid.points, plan.constants.lipschitz, plan.horizon)

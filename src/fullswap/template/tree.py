"""The tree as a row: points that move, any dimension, no grid. See ``fullswap.theorems.tree``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, final

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Indices, Loss, Points, Vector
from fullswap.grids import Grid
from fullswap.learners import SubLearner
from fullswap.losses import QuadraticFamily
from fullswap.sets import ConvexSetBase
from fullswap.template.choice import Plan, Request, Row
from fullswap.template.hub import hub_of
from fullswap.template.rules import Rule
from fullswap.theorems import Constants, Theorem
from fullswap.theorems.tree import FIRST, TREE, TreeCost, best_tree, forest

STRETCH = 2**14
"""Rounds that a compiled loop plays at once: their nodes must fit the memory."""
KINDS = ("path",)
"""Every round plays the nodes on the way to it, uniformly."""


class TreeRule:
    """Gradient descent in the nodes of a tree, then of a longer one, and so on.

    ``points`` (N, A) are those of the nodes in play: they move.
    """

    residual = 0.0

    def __init__(self, action_set: ConvexSetBase, constants: Constants, first: int) -> None:
        self.action_set, self.constants, self.first = action_set, constants, first
        start, self.hub = hub_of(action_set)
        self.start = np.array(start)
        self.shape = action_set.kernel_shape
        self._trees = 0
        self._plant()

    def _plant(self) -> None:
        """The next tree, nothing learnt yet."""
        _, length = next(islice(forest(self.first), self._trees, None))
        self._trees += 1
        self.tree = tree = best_tree(self.constants, self.hub, length)
        self.rounds_left = length
        self.points: Points = np.tile(self.start, (tree.levels, 1))
        self._slopes = np.zeros_like(self.points)
        self._places = np.zeros((2, tree.levels), np.int64)
        self._sizes = np.array(tree.sizes, np.int64)
        self._rates = np.array(tree.rates(self.constants, self.hub))

    @property
    def _state(self) -> tuple[Any, ...]:
        return self.points, self._slopes, self._places

    @property
    def _plan(self) -> tuple[Any, ...]:
        return self._sizes, self._rates, self.tree.shrinking, self.start

    def mix(self) -> tuple[Indices, Vector]:
        """The nodes in play, uniformly; equal points are one."""
        places: dict[bytes, int] = {}
        # + 0.0 makes −0.0 the same as 0.0
        owners = [places.setdefault((p + 0.0).tobytes(), k) for k, p in enumerate(self.points)]
        indices, counts = np.unique(owners, return_counts=True)
        return indices, counts / len(owners)

    def learn(self, loss: Loss, indices: Indices, weights: Vector) -> Vector:
        """Add the gradients at all nodes; those that end hand over to the next."""
        lost = np.asarray(loss.value(self.points[indices]), dtype=float)
        if self.shape is not None and isinstance(loss, QuadraticFamily):
            from fullswap.kernels.tree import tree_learn

            # what was handed out must not move
            self.points = self.points.copy()
            tree_learn(self._state, self._plan, self.shape, loss.coefficients)
        else:
            self._learn_slowly(np.asarray(loss.gradient(self.points), dtype=float))
        self._pass(1)
        return lost

    def _learn_slowly(self, gradients: Points) -> None:
        """The same as ``tree_learn``, with the projection of the set."""
        ends = np.flatnonzero(self._places[0] + 1 == self._sizes)[0]
        step = self._rates[ends] / self._sizes[ends]
        if self.tree.shrinking:
            step /= self._places[1, ends] + 1
        slope = self._slopes[ends] + gradients[ends]
        moved = self.action_set._project((self.points[ends] - step * slope)[None, :])[0]
        self.points = self.points.copy()
        self.points[ends], self.points[ends + 1 :] = moved, self.start
        self._slopes += gradients
        self._slopes[ends:] = 0.0
        self._places[0] += 1
        self._places[0, ends:] = 0
        self._places[1, ends] += 1
        self._places[1, ends + 1 :] = 0

    def _pass(self, rounds: int) -> None:
        self.rounds_left -= rounds
        if not self.rounds_left:
            self._plant()

    def run(self, rows: Points, record: bool) -> tuple[int, Points, Indices, Vector]:
        """Compiled rounds of quadratic losses (T, A + 2), at most to the end of this tree.

        Rounds played; the points of all nodes (m, A); and, with ``record``, which of them every
        round mixes, (rounds, N), and their weights.
        """
        from fullswap.kernels.tree import tree_run

        rounds, levels = min(len(rows), self.rounds_left, STRETCH), self.tree.levels
        most = int((rounds // self._sizes + 2).sum())
        nodes = np.zeros((most if record else 0, self.points.shape[1]))
        labels = np.zeros((rounds if record else 0, levels), np.int64)
        weights = np.zeros(labels.shape)
        self.points = self.points.copy()
        count = tree_run(self._state, self._plan, self.shape, rows[:rounds], nodes, labels, weights)
        self._pass(rounds)
        return rounds, nodes[:count], labels, weights

    def carried_into(self, fresh: Any) -> TreeRule:
        """Never asked for: there is no grid that could be refined."""
        raise NotImplementedError("a tree has no grid that could be refined")


@dataclass(frozen=True, eq=False)
class StartingPoint:
    """The one point from which all nodes start, as a family of grids that has no other."""

    action_set: ConvexSetBase

    def grid(self, level: int) -> Grid:
        """The point."""
        start, hub = hub_of(self.action_set)
        return Grid(start[None, :], hub.radius, hub.radius, hub.radius)

    def geometry(self, level: int) -> Any:
        """What it measures."""
        return self.grid(level).geometry

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {"family": "tree", "set": self.action_set.to_dict()}


@final
@dataclass(frozen=True)
class TreeRow(Row):
    """A tree of gradient descents: what is left for convex losses where grids grow too large."""

    theorem: Theorem = TREE
    rounding: str | None = None
    has_learners = False
    moving = True
    rules = KINDS

    def applies(self, request: Request) -> bool:
        """Convex (or linear) losses, and nothing that only grids have."""
        promised = request.loss_class
        free = request.actions is None and request.mesh is None
        return free and request.rule in (None, *KINDS) and (
            promised.convex or promised.smoothness == 0
        )  # fmt: skip

    def check(self, request: Request, learner: SubLearner | None) -> None:
        """Say what is missing, or not to be chosen."""
        promised = request.loss_class
        if not (promised.convex or promised.smoothness == 0):
            checks.refuse("loss_class", "be convex with row='tree'", promised)
        if learner is not None:
            checks.refuse("learner", "be None with row='tree'", learner.name)
        for name in ("mesh", "actions"):
            if getattr(request, name) is not None:
                rule = "be None with row='tree', whose points move"
                checks.refuse(name, rule, getattr(request, name))

    def plan(self, request: Request, learner: SubLearner | None) -> Plan | None:
        """The tree with the smallest bound for the horizon, or longer and longer ones."""
        _, hub = hub_of(request.action_set)
        strong = request.constants.strong_convexity > 0
        assumption = "L-Lipschitz, α-strongly convex losses" if strong else None
        cost = TreeCost(hub, request.horizon or FIRST)
        theorem = self.theorem.with_cost(cost, assumption=assumption)
        return Plan(
            self, "gradient", request.rule or KINDS[0], theorem, request.constants,
            request.action_set, request.horizon, StartingPoint(request.action_set),
        )  # fmt: skip

    def start(self, plan: Plan, grid: Grid) -> Rule:
        """The first tree, nothing learnt yet."""
        return TreeRule(plan.action_set, plan.constants, plan.horizon or FIRST)

    def extent(self, grid: Grid) -> str:
        """Its points are never many at a time."""
        return "moving points"

    def details(self, plan: Plan, rounds: int) -> Iterator[str]:
        """The tree that is in play, and its two parts."""
        _, hub = hub_of(plan.action_set)
        *_, length = _trees_until(plan.horizon or FIRST, rounds)
        tree = best_tree(plan.constants, hub, length)
        steps = "1/(α·i)" if tree.shrinking else "R/(L·√n)"
        each = f"of at most {tree.branching} children" if tree.levels > 1 else "of a round each"
        yield f"A loss varies by at most B = {plan.constants.loss_range:.6g} over the set."
        yield (
            f"Tree: {tree.levels} level{'s' if tree.levels > 1 else ''} {each}, over "
            f"{tree.rounds:,} rounds; every round plays one point of each level. The set is within "
            f"{hub.radius:.6g} of the point where they start."
        )
        yield f"At its nodes: gradient descent in steps of {steps}; rule: {plan.rule}."


def _trees_until(first: int, rounds: int) -> Iterator[int]:
    """Lengths of the trees in play up to this round."""
    for start, length in forest(first):
        if start >= rounds:
            return
        yield length

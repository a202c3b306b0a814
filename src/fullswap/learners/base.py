"""What a plan asks of a sub-learner: where it fits, what it costs, how large, and its bank."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Protocol

import numpy as np

from fullswap.base.protocols import Indices, Learner, Points, Vector
from fullswap.losses import LossClass
from fullswap.sets import ConvexSetBase
from fullswap.theorems import Constants, Theorem

MOST_EXPERTS = 2_000
"""Largest grids whose points are experts: n × n weights must fit the memory."""


class RowLike(Protocol):
    """A row of the table, as sub-learners see it."""

    @property
    def theorem(self) -> Theorem:
        """Its costs."""

    @property
    def rounding(self) -> str | None:
        """How points of the set become mixtures of grid points; None where they cannot."""


class Setting(Protocol):
    """What a bank is made for; plans are such."""

    @property
    def action_set(self) -> ConvexSetBase:
        """Where it plays."""

    @property
    def constants(self) -> Constants:
        """What is known of the losses."""

    @property
    def theorem(self) -> Theorem:
        """What is to be guaranteed."""

    @property
    def horizon(self) -> int | None:
        """Number of rounds, if known."""


class SubLearner(ABC):
    """An external-regret algorithm that may serve every grid point of a plan.

    A new one is a file with its bank, its cost in ``fullswap.theorems`` and its test.
    """

    name: ClassVar[str]
    max_points: ClassVar[int]
    """Largest grids tried."""
    over_grid: ClassVar[bool]
    """Whether it proposes distributions over the grid points, and not points of the set."""
    crosses: ClassVar[bool] = False
    """Whether it can be played on a line by crossing; its bank is then gradient descent."""
    on_request: ClassVar[bool] = False
    """Whether it is considered only where it is asked for."""

    @abstractmethod
    def fits(self, row: RowLike, loss_class: LossClass) -> bool:
        """Whether its cost holds for this row and these losses."""

    @abstractmethod
    def theorem(self, theorem: Theorem, horizon: int | None) -> Theorem:
        """The row's theorem with the cost of this sub-learner."""

    @abstractmethod
    def bank(self, setting: Setting, points: Points) -> Learner[Any]:
        """A bank of such learners for the grid points (n, A)."""

    # instances carry no state: they compare by kind
    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


class OverGrid(SubLearner):
    """Experts are the grid points, and the losses need not be convex."""

    max_points = MOST_EXPERTS
    over_grid = True

    def fits(self, row: RowLike, loss_class: LossClass) -> bool:
        """Everywhere but where convexity makes it pointless."""
        return not row.theorem.needs_convexity


def in_full(weights: Vector, rows: Indices | None, n: int) -> Vector:
    """The scales of all n learners, 0 for those that are not named."""
    if rows is None:
        return weights
    full = np.zeros(n)
    full[rows] = weights
    return full

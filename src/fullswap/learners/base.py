"""What a plan asks of a sub-learner: where it fits, what it costs, how large, and its bank."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Protocol

from fullswap.base.protocols import Learner, Points
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

    Instances carry no state and compare by kind; a new one is a file with its bank, its cost in
    ``fullswap.theorems`` and its test.
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

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

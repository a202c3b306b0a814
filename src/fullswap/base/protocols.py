"""The contracts between the parts, and the plain data that passes between them.

A set projects, a loss has values and gradients, a rounding turns points into sparse
distributions on a grid, and a learner is a *bank*: one state holds all n copies of an
external-regret algorithm as rows of arrays, so that no Python object exists per grid point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
"""Shape (m,)."""
Points = NDArray[np.float64]
"""Shape (m, A): m points with A coordinates each."""
Indices = NDArray[np.int64]

State = TypeVar("State")


@dataclass(frozen=True)
class SparseRows:
    """Rows of a transition matrix with at most k entries each.

    ``indices`` and ``weights`` have shape (m, k); unused places carry weight 0.
    """

    indices: Indices
    weights: Vector

    def toarray(self, n: int) -> NDArray[np.float64]:
        """Return the dense (m, n) matrix; repeated indices in a row add up."""
        dense = np.zeros((self.indices.shape[0], n))
        rows = np.repeat(np.arange(self.indices.shape[0]), self.indices.shape[1])
        np.add.at(dense, (rows, self.indices.ravel()), self.weights.ravel())
        return dense


@dataclass(frozen=True, repr=False)
class Mixture:
    """A distribution with finite support: what a learner plays in one round.

    ``points`` has shape (m, A) and ``weights`` shape (m,), positive, summing to 1. ``indices``,
    where given, number the points consistently over all rounds of one learner.
    """

    points: Points
    weights: Vector
    indices: Indices | None = None

    def __repr__(self) -> str:
        count = len(self.weights)
        mean = ", ".join(f"{value:.4g}" for value in np.atleast_1d(self.mean))
        return f"<Mixture of {count:,} point{'' if count == 1 else 's'}, mean ({mean})>"

    @property
    def mean(self) -> Vector:
        """The mean action, shape (A,)."""
        return self.weights @ self.points


@runtime_checkable
class ConvexSet(Protocol):
    """A bounded convex set with exact operations (see ``fullswap.sets``)."""

    @property
    def dim(self) -> int:
        """Affine dimension."""

    @property
    def ambient_dim(self) -> int:
        """Number of coordinates A."""

    @property
    def diameter(self) -> float:
        """Largest distance between two points."""

    def project(self, points: Points) -> Points:
        """Nearest points of the set."""

    def minimize_linear(self, directions: Points) -> Points:
        """Minimisers of ⟨direction, x⟩ over the set."""


@runtime_checkable
class Loss(Protocol):
    """A loss on the action set."""

    def value(self, points: Points) -> Vector:
        """Values at the points, shape (m,)."""

    def gradient(self, points: Points) -> Points:
        """Gradients (any subgradients) at the points, shape (m, A)."""


class Rounding(Protocol):
    """A map from points of the set to sparse distributions on a grid."""

    def __call__(self, targets: Points) -> SparseRows:
        """Round each target."""


class Learner(Protocol[State]):
    """A bank of n external-regret learners on scaled losses.

    ``propose`` gives n points of the set, shape (n, A), or, for learners over a finite
    number k of experts, n distributions, shape (n, k). ``update`` feeds the loss, scaled by
    ``weights``, to the learners named in ``rows`` (all of them if None) and to no other.
    """

    def init(self, n: int) -> State:
        """State of n fresh learners."""

    def propose(self, state: State) -> Points:
        """Recommendations of all learners."""

    def update(
        self, state: State, loss: Loss, weights: Vector, rows: Indices | None = None
    ) -> State:
        """Learn from one round; may reuse the arrays of ``state``."""

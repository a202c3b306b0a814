"""What bounds read: constants of losses and set, the measured geometry of a grid, rounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Constants:
    """What is known of losses and set, in the Euclidean norm: L, α, β (None: not smooth), D."""

    lipschitz: float
    diameter: float
    strong_convexity: float = 0.0
    smoothness: float | None = None
    gap: float = 0.0
    """Largest gap ε between neighbouring actions (discretised case only)."""
    spread: float | None = None
    """No loss varies by more than this over the set, where more than L·D is known."""

    @property
    def loss_range(self) -> float:
        """B bounds max ℓ − min ℓ: L·D, or the spread where that is less."""
        steepest = self.lipschitz * self.diameter
        return steepest if self.spread is None else min(steepest, self.spread)


@dataclass(frozen=True)
class Geometry:
    """What the bounds need to know of a grid, as measured on it."""

    size: int
    covering_radius: float
    hull_distance: float = 0.0
    variance: float = math.inf
    """Largest variance of a distribution on one simplex; infinite without a triangulation."""


@dataclass(frozen=True)
class OnGrid:
    """T rounds on one grid."""

    constants: Constants
    geometry: Geometry
    rounds: float


@dataclass(frozen=True)
class SubLearners:
    """T rounds of n sub-learners, whose scales of every round sum to 1."""

    constants: Constants
    size: int
    rounds: float


RoundingCost = Callable[[Constants, Geometry], float]
"""(constants, geometry) ↦ δ."""
LearningCost = Callable[[Constants, int, float], float]
"""(constants, n, T) ↦ Σ_s Reg_s."""


def regret_sum(weight: float) -> float:
    """Rt(x) = min(x, 1) + ln max(x, 1), the integral of min(1, 1/x).

    Examples
    --------
    >>> regret_sum(0.5), regret_sum(1.0), round(regret_sum(100.0), 3)
    (0.5, 1.0, 5.605)
    """
    return min(weight, 1.0) + math.log(max(weight, 1.0))

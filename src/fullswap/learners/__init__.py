"""External-regret learners on scaled losses, as banks: one state holds n of them.

``SUB_LEARNERS`` are those that plans consider, in this order; a plan may be asked for another.
"""

from fullswap.learners.base import SubLearner
from fullswap.learners.gradient import (
    Discretised,
    GradientChoice,
    GradientDescent,
    LipschitzRate,
    NearlyStronglyConvexRate,
    StronglyConvexRate,
)
from fullswap.learners.hedge import Hedge, HedgeChoice
from fullswap.learners.matching import MatchingChoice, RegretMatchingPlus

SUB_LEARNERS: tuple[SubLearner, ...] = (HedgeChoice(), GradientChoice(), MatchingChoice())
"""A new sub-learner is one file, and one entry here to be considered by every plan."""

__all__ = [
    "SUB_LEARNERS",
    "Discretised",
    "GradientDescent",
    "Hedge",
    "LipschitzRate",
    "NearlyStronglyConvexRate",
    "RegretMatchingPlus",
    "StronglyConvexRate",
    "SubLearner",
]

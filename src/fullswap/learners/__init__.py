"""External-regret learners on scaled losses, as banks: one state holds n of them."""

from fullswap.learners.discretised import Discretised
from fullswap.learners.gradient import (
    GradientDescent,
    LipschitzRate,
    NearlyStronglyConvexRate,
    StronglyConvexRate,
)
from fullswap.learners.hedge import Hedge
from fullswap.learners.matching import RegretMatchingPlus

__all__ = [
    "Discretised",
    "GradientDescent",
    "Hedge",
    "LipschitzRate",
    "NearlyStronglyConvexRate",
    "RegretMatchingPlus",
    "StronglyConvexRate",
]

"""Late outcomes [JGS13]: a sub-learner moves between a forecast and its outcome.

While b other forecasts wait at the same grid point, each update moves its target by at most η·g·L,
so what the recommendations lost differs from what they would have lost at the time of learning by
at most L²·b·∫η over the mass past the first unit, and by the loss range B on what the first unit
touches, of mass 2 + b at most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fullswap.theorems.ledger import Result
from fullswap.theorems.premises import Constants


@dataclass(frozen=True)
class LateOutcomes:
    """n sub-learners of total mass M at which at most ``waiting`` other forecasts wait."""

    constants: Constants
    loss_range: float
    points: int
    mass: float
    waiting: int
    rate: tuple[float, float, float]


def rate_integral(rate: tuple[float, float, float], mass: float) -> float:
    """∫ η over [1, mass]; η(x) = 1/(ρx) up to the switch, κ/√x after.

    Examples
    --------
    >>> round(rate_integral((2.0, 0.0, math.inf), math.e), 12)
    0.5
    """
    modulus, root, switch = rate
    if mass <= 1:
        return 0.0
    first = math.log(max(1.0, min(mass, switch))) / modulus if switch > 1 else 0.0
    start = max(1.0, switch)
    return first + (2 * root * (math.sqrt(mass) - math.sqrt(start)) if mass > start else 0.0)


def late_cost(p: LateOutcomes) -> float:
    """n·[B·(2 + b) + L²·b·∫η(M/n)]."""
    moved = rate_integral(p.rate, p.mass / p.points)
    lost = p.loss_range * (2 + p.waiting) + p.constants.lipschitz**2 * p.waiting * moved
    return p.points * lost


LATENESS = (
    Result(
        "late outcomes", "JGS13",
        "what the recommendations lose more because outcomes come late ≤ n·[B(2 + b) + L²·b·∫η]",
        LateOutcomes, late_cost,
    ),
)  # fmt: skip

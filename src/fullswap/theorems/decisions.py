"""What a small calibration error is worth to somebody who acts on the forecasts.

C = Σ_p n_p·(p − ȳ_p)² over M events. Somebody with cost/loss ratio c in (0, 1) pays c for
protection, and 1 for an event without it, and protects if p > c. What the best re-mapping of
forecasts to actions would have saved is

    R_c = Σ_p n_p·|ȳ_p − c|·1[c between p and ȳ_p] ,

because an action is wrong for ȳ_p only if c lies between, and then costs |ȳ_p − c|. Therefore
max_c R_c ≤ Σ_p n_p·|p − ȳ_p| ≤ √(M·C) by Cauchy and Schwarz, and ∫₀¹ R_c dc = C/2, for the integral
of |c − ȳ| between ȳ and p is (p − ȳ)²/2: the Brier score is a mixture of such decisions [S89]. If C
is random, E max_c R_c ≤ √(M·E C) by Jensen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fullswap.theorems.ledger import Result


@dataclass(frozen=True)
class Acting:
    """Events of total mass M with an l2 calibration error of at most ``error``."""

    error: float
    mass: float


def decision_bound(p: Acting) -> float:
    """min(M, √(M·C)), for every ratio.

    Examples
    --------
    >>> round(decision_bound(Acting(232.6, 1e6)) / 1e6, 4)
    0.0153
    """
    return min(p.mass, math.sqrt(p.mass * p.error))


def average_decision_bound(p: Acting) -> float:
    """min(M, C)/2, on average over ratios."""
    return min(p.mass, p.error) / 2


DECISIONS = (
    Result(
        "decisions", "M77",
        "what any cost/loss user loses against the best re-reading of the forecasts ≤ √(M·C)",
        Acting, decision_bound,
    ),
    Result(
        "decisions on average", "S89",
        "the same on average over cost/loss ratios ≤ C/2, with equality for the measured error",
        Acting, average_decision_bound,
    ),
)  # fmt: skip

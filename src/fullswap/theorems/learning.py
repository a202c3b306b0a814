"""Learning costs Σ_s Reg_s of n sub-learners over T rounds; tuning and bound together.

A cost with parameters is a frozen dataclass, so that plans which hold one are plain data.

Symbols: T rounds · n sub-learners · G_s sum of the scales that sub-learner s was fed with ·
L Lipschitz constant · α strong convexity · D diameter · B = L·D loss range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fullswap.theorems.ledger import Result
from fullswap.theorems.premises import Constants, SubLearners, regret_sum

RESIDUAL_SHARE = 1e-4
"""Share of √(n·ln n/t) to which the chain of round t is solved. So small that what it adds to a
guarantee is below 0.02 % of the learning cost B·√(T·n·ln n/2), and large enough that the last
round's distribution is mostly good enough to start from."""


def hedge_cost(c: Constants, n: int, rounds: float) -> float:
    """B·√(T·n·ln n / 2): multiplicative weights with the common rate of a known horizon."""
    return c.loss_range * math.sqrt(rounds * n * math.log(n) / 2)


@dataclass(frozen=True)
class TunedHedge:
    """The same with the rate of one horizon: n·ln n/η + η·B²·t/8 after any t rounds."""

    horizon: int

    def __call__(self, c: Constants, n: int, rounds: float) -> float:
        """B·√(T·n·ln n / 2)·(1 + t/T)/2."""
        tuned = hedge_cost(c, n, self.horizon)
        return tuned if rounds == self.horizon else tuned * (1 + rounds / self.horizon) / 2


def anytime_hedge_cost(c: Constants, n: int, rounds: float) -> float:
    """B·√(n·(n + T)·ln n): per-state Reg_s ≤ B√((1 + G_s)·ln n), then Cauchy–Schwarz."""
    return c.loss_range * math.sqrt(n * (n + rounds) * math.log(n))


def matching_cost(c: Constants, n: int, rounds: float) -> float:
    """B·n·√T: regret matching+ has Reg_s ≤ B·√(n·G_s). [TBJB15]."""
    return c.loss_range * n * math.sqrt(rounds)


def gradient_cost(c: Constants, n: int, rounds: float) -> float:
    """√2·L·D·√(n·T): projected gradient descent on convex losses. [Z03], scaled."""
    return math.sqrt(2 * n * rounds) * c.loss_range


def strongly_convex_cost(c: Constants, n: int, rounds: float) -> float:
    """(n·L²/2α)·Rt(T/n): [FKO25, Lemma 24] with the uncapped rate 1/(αG)."""
    if c.strong_convexity <= 0:
        return math.inf
    return n * c.lipschitz**2 / (2 * c.strong_convexity) * regret_sum(rounds / n)


def nearly_strongly_convex_cost(c: Constants, n: int, rounds: float, ratio: float) -> float:
    """√2·τ·ε·L·√(nT) + (n·L²/2ρ)·Rt(T/n), ρ = α(1 − 1/τ)². [FKO25, Thm 20], corrected.

    Infinite where the schedule is not defined: τ ≤ 1, or ρ·τ·ε > √2·L.
    """
    if ratio <= 1 or c.strong_convexity <= 0:
        return math.inf
    modulus = c.strong_convexity * (1 - 1 / ratio) ** 2
    if modulus * ratio * c.gap > math.sqrt(2) * c.lipschitz:
        return math.inf
    slow = math.sqrt(2 * n * rounds) * ratio * c.gap * c.lipschitz
    return slow + n * c.lipschitz**2 / (2 * modulus) * regret_sum(rounds / n)


@lru_cache(maxsize=4096)
def best_ratio(c: Constants, n: int, rounds: float) -> float:
    """The τ > 1 that minimises the nearly-strongly-convex cost (golden section on ln(τ − 1)).

    The cost is convex in u = τ − 1: a linear term plus one in (1 + 1/u)². The schedule is
    defined while ρ·τ·ε ≤ √2·L, that is u²/(1 + u) ≤ s = √2·L/(α·ε).
    """
    shrink = (math.sqrt(5) - 1) / 2

    def cost(x: float) -> float:
        return nearly_strongly_convex_cost(c, n, rounds, 1 + math.exp(x))

    low, high = -6.0, 12.0
    if c.strong_convexity * c.gap > 0:
        s = math.sqrt(2) * c.lipschitz / (c.strong_convexity * c.gap)
        edge = (s + math.sqrt(s * (s + 4))) / 2
        high = min(high, math.log(edge) - 1e-12)  # a hair inside, so that the cost is finite
    for _ in range(80):
        left, right = high - shrink * (high - low), low + shrink * (high - low)
        if cost(left) <= cost(right):
            high = right
        else:
            low = left
    return 1 + math.exp((low + high) / 2)


@dataclass(frozen=True)
class NearlyStronglyConvex:
    """The nearly-strongly-convex cost at a given τ."""

    ratio: float

    def __call__(self, c: Constants, n: int, rounds: float) -> float:
        """See ``nearly_strongly_convex_cost``."""
        return nearly_strongly_convex_cost(c, n, rounds, self.ratio)


def discretised_cost(c: Constants, n: int, rounds: float) -> float:
    """The nearly-strongly-convex cost at its best τ."""
    return nearly_strongly_convex_cost(c, n, rounds, best_ratio(c, n, rounds))


# --- Chains that are solved approximately. -------------------------------------------------


def residual_tolerance(n: int, round_number: int) -> float:
    """How far ‖xQ − x‖₁ may be from 0 in a round, the first being 1."""
    return RESIDUAL_SHARE * math.sqrt(n * math.log(n) / round_number)


def residual_allowance(loss_range: float, n: int, rounds: float) -> float:
    """1e-4·B·√(T·n·ln n), at least (B/2)·Σ_t of the tolerances, because Σ_t 1/√t ≤ 2√T."""
    return RESIDUAL_SHARE * loss_range * math.sqrt(rounds * n * math.log(n))


# --- Entries of the ledger. -----------------------------------------------------------------


@dataclass(frozen=True)
class TunedSubLearners(SubLearners):
    """t rounds of multiplicative weights whose rate was set for another number of rounds."""

    horizon: int


@dataclass(frozen=True)
class NearlySubLearners(SubLearners):
    """T rounds of gradient descent on (α, ε)-nearly strongly convex losses, at ratio τ."""

    ratio: float


LEARNING: tuple[Result[Any], ...] = (
    Result(
        "hedge at other rounds", "CBL06",
        "multiplicative weights with the rate of T rounds: Σ Reg_s ≤ B·√(T·n·ln n/2)·(1 + t/T)/2",
        TunedSubLearners, lambda p: TunedHedge(p.horizon)(p.constants, p.size, p.rounds),
    ),
    Result(
        "anytime hedge", "CBL06",
        "multiplicative weights with rates (2/B)·√(ln n/(1 + G_s)): Σ Reg_s ≤ B·√(n·(n + T)·ln n)",
        SubLearners, lambda p: anytime_hedge_cost(p.constants, p.size, p.rounds),
    ),
    Result(
        "regret matching+", "TBJB15", "Σ Reg_s ≤ B·n·√T",
        SubLearners, lambda p: matching_cost(p.constants, p.size, p.rounds),
    ),
    Result(
        "gradient descent", "Z03",
        "projected gradient descent on L-Lipschitz, convex losses: Σ Reg_s ≤ √2·L·D·√(n·T)",
        SubLearners, lambda p: gradient_cost(p.constants, p.size, p.rounds),
    ),
    Result(
        "nearly strongly convex", "FKO25, Thm 20",
        "gradient descent on (α, ε)-nearly strongly convex losses, ρ = α(1 − 1/τ)²: "
        "Σ Reg_s ≤ √2·τ·ε·L·√(nT) + (n·L²/2ρ)·Rt(T/n)",
        NearlySubLearners,
        lambda p: nearly_strongly_convex_cost(p.constants, p.size, p.rounds, p.ratio),
        best_ratio,
    ),
    Result(
        "dense chains", "FKO25, Thm 12",
        "playing x_t with ‖x_t·Q_t − x_t‖₁ within its tolerance costs at most 1e-4·B·√(T·n·ln n)",
        SubLearners, lambda p: residual_allowance(p.constants.loss_range, p.size, p.rounds),
    ),
)  # fmt: skip
"""What the sub-learners cost where a row of the table does not say it, and the solver."""

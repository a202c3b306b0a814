"""Convex losses on a line by multi-scale binning: the answer to the paper's open question."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fullswap.theorems.ledger import Result
from fullswap.theorems.premises import Constants, OnGrid
from fullswap.theorems.rows import Power, Theorem, nearest_cost

GAME_TOLERANCE = 1e-7
"""Values of the games of multi-scale binning up to this count as 0; see ``multiscale_cost``."""
SLOPE_STEP = 1e-6
"""Slopes at a point may be those this share of the diameter away from it, or a mean over it."""


def multiscale_rates(horizon: float) -> int:
    """How many rates ½, ¼, … multi-scale binning uses: none below about 1/√T is of use.

    Examples
    --------
    >>> multiscale_rates(1), multiscale_rates(1000)
    (1, 5)
    """
    return max(1, math.ceil(math.log2(horizon) / 2))


@lru_cache(maxsize=4096)
def multiscale_cost(c: Constants, n: int, rounds: float, rates: int) -> float:
    """Multi-scale binning on n = 1/γ + 1 points, with rates ½, ¼, …, 2^(−rates). [HSW26].

    The proof is the authors', with constants. No potential grows, so the rewards of each of the
    4M experts satisfy U ≤ C/η + η·v·K for every rate η, where C = ln(4M·rates), K is the mass of
    its bin and v the largest square of a reward. A bin (r, b) then loses to a point x at most

        2γ·K + 4r·U⁺ + (|x − b| − 2r)⁺·(2U' − K·γ/2r)⁺        (in units of B = L·D),

    U and U' belonging to its promises at b and beyond b ± 2r. The rates for U' are so small that
    K·γ/2r pays for them, where there are such; those for U make 4r·η·v about the same at all
    scales, at the best of many levels. Slopes that are taken a step away cost 4 steps a round.

    Examples
    --------
    >>> line = Constants(lipschitz=1.0, diameter=1.0)
    >>> [round(multiscale_cost(line, 17, rounds, 10)) for rounds in (10_000, 1_000_000)]
    [4767, 149690]
    """
    cells = n - 1
    scales = [2**k for k in range(cells.bit_length())]  # r/γ
    bins = sum(cells // r + 1 for r in scales)
    # rates are at most ½: a game of value ε lets the potential grow by the share ε/2 at most
    logarithm = math.log(4 * bins * rates) + GAME_TOLERANCE / 2 * rounds
    rate_list = [0.5**j for j in range(1, rates + 1)]
    far, unpaid = 0.0, {}
    for r in scales:
        share, square = 1 / (2 * r), (0.5 + 0.25 / r) ** 2
        reach = sum(max(b, cells - b) - 2 * r for b in range(0, cells + 1, r)
                    if max(b, cells - b) > 2 * r) / cells  # fmt: skip
        rate = next((x for x in rate_list if 2 * x * square <= share), rate_list[-1])
        far += reach * 2 * logarithm / rate
        unpaid[r] = max(0.0, 2 * rate * square - share) if reach else 0.0

    def near(level: float) -> float:
        total, slope = 0.0, 0.0
        for r in scales:
            length, square = r / cells, (0.5 + 0.5 / r) ** 2
            if r > 1:  # at the finest scale the promise at b is kept by every law
                fits = (x for x in rate_list if 4 * length * x * square <= level)
                rate = next(fits, rate_list[-1])
                total += 4 * length * (cells // r + 1) * logarithm / rate
                slope = max(slope, 4 * length * rate * square + unpaid[r])
            else:
                slope = max(slope, unpaid[r])
        return total + slope * rounds

    levels = (2.0 ** (-k / 4) for k in range(4 * rates + 8))
    return c.loss_range * ((2 / cells + 4 * SLOPE_STEP) * rounds + far + min(map(near, levels)))


@dataclass(frozen=True)
class MultiScaleCost:
    """The cost with a given number of rates, or with that which suits the rounds (None)."""

    rates: int | None = None

    def __call__(self, c: Constants, n: int, rounds: float) -> float:
        """See ``multiscale_cost``."""
        rates = multiscale_rates(rounds) if self.rates is None else self.rates
        return multiscale_cost(c, n, rounds, rates)


CONVEX = Theorem(
    "convex", "HSW26", "L-Lipschitz, convex losses, d = 1",
    nearest_cost, MultiScaleCost(), Power(1, 2, slope=0), needs_convexity=True,
)  # fmt: skip
"""The answer to the paper's open question: not a row of its table, and used on request only."""


@dataclass(frozen=True)
class Binned(OnGrid):
    """T rounds of multi-scale binning on one grid, with so many rates."""

    rates: int


def _bound(premises: Binned) -> float:
    theorem = CONVEX.with_cost(MultiScaleCost(premises.rates))
    return theorem.bound(premises.constants, premises.geometry, premises.rounds)


MULTISCALE: tuple[Result[Any], ...] = (
    Result("convex", "HSW26", f"{CONVEX.assumption}: full swap regret in Õ(√T)", Binned, _bound,
           multiscale_rates),
)  # fmt: skip
"""The entry of the ledger."""

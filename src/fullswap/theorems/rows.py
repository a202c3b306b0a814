"""The rows of the paper's table: a rounding cost and a learning cost make a theorem.

Every bound has the form of [FKO25, Thm 12],

    FullSwapReg ≤ δ·T + Σ_s Reg_s ,

with a rounding cost δ per round and the scaled external regret Reg_s of the sub-learner at
each of the n grid points. So a theorem is a pair of parts: a rounding cost, which reads the
measured geometry of the grid, and a learning cost, which reads n and T. The constants are
explicit and hold for any diameter; where they differ from the paper's, docs/errata.md says
why. A proof gives tuning and bound together, so both live here.

Symbols: T rounds · n grid points · L Lipschitz constant · α strong convexity · β smoothness ·
D diameter · B = L·D loss range · r covering radius · h hull distance · V simplex variance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from fullswap.theorems.learning import discretised_cost, hedge_cost, strongly_convex_cost
from fullswap.theorems.ledger import Result
from fullswap.theorems.premises import Constants, Geometry, LearningCost, OnGrid, RoundingCost

GeometryAt = Callable[[int], Geometry | None]
"""Level ↦ the geometry of its grid, finer as the level grows; None where it is out of reach."""

# --- Rounding costs δ: what one round of rounding to the grid can cost. -------------------


def nearest_cost(c: Constants, g: Geometry) -> float:
    """L·r: rounding to the nearest point, or a crossing in d = 1. [FKO25, Lemma 13]."""
    return c.lipschitz * g.covering_radius


def barycentric_cost(c: Constants, g: Geometry) -> float:
    """L·h + β·V/2: projection to the hull, then a mean-preserving split. [FKO25, Lemma 14]."""
    if c.smoothness is None:
        return math.inf
    return c.lipschitz * g.hull_distance + c.smoothness * g.variance / 2


def hull_cost(c: Constants, g: Geometry) -> float:
    """L·h: concave losses never gain from splitting a hull point into vertices."""
    return c.lipschitz * g.hull_distance


def lossless_cost(c: Constants, g: Geometry) -> float:
    """0: neighbours represent a piecewise-linearised loss exactly. [FKO25, Lemma 17]."""
    return 0.0


# --- Theorems: a rounding cost and a learning cost. ----------------------------------------


@dataclass(frozen=True)
class Power:
    """d ↦ (slope·d + p)/(slope·d + q): the exponent a where the paper states Õ(T^a)."""

    p: int
    q: int
    slope: int = 1

    def __call__(self, dim: int) -> float:
        """The exponent in this dimension."""
        return (self.slope * dim + self.p) / (self.slope * dim + self.q)


@dataclass(frozen=True)
class Theorem:
    """One result: FSR ≤ min(B·T, δ·T + Σ Reg_s), with its citation and the paper's exponent."""

    name: str
    citation: str
    assumption: str
    rounding_cost: RoundingCost
    learning_cost: LearningCost
    exponent: Callable[[int], float]
    """d ↦ a where the paper states Õ(T^a)."""
    restarts: bool = False
    """True if learners start afresh when a grid is refined (experts tied to grid points)."""
    needs_convexity: bool = False

    def bound(self, c: Constants, g: Geometry, rounds: float) -> float:
        """Guaranteed at most, for a grid kept over all rounds."""
        return min(c.loss_range * rounds, self.total(c, g, rounds))

    def total(self, c: Constants, g: Geometry, rounds: float) -> float:
        """δ·T + Σ Reg_s, which may exceed the trivial B·T."""
        return self.rounding_cost(c, g) * rounds + self.learning_cost(c, g.size, rounds)

    def with_cost(
        self, cost: LearningCost, restarts: bool | None = None, citation: str | None = None,
        assumption: str | None = None,
    ) -> Theorem:  # fmt: skip
        """The theorem with another sub-learner, hence another Σ Reg_s, and perhaps premises."""
        cited, assumed = citation or self.citation, assumption or self.assumption
        other = replace(self, learning_cost=cost, citation=cited, assumption=assumed)
        return other if restarts is None else replace(other, restarts=restarts)

    def tune(
        self, c: Constants, rounds: float, geometry_at: GeometryAt, first: int = 1
    ) -> tuple[int, float]:
        """Return (level, bound) minimising the explicit bound over grid levels first, first+1, …

        Rounding cost falls and learning cost grows with the level, so no level between two others
        costs less than the rounding of the finer and the learning of the coarser: ranges where
        that exceeds the best are skipped, the others halved. The sum may have several valleys.

        Examples
        --------
        >>> squared = Constants(lipschitz=2.0, diameter=1.0, strong_convexity=2.0, smoothness=2.0)
        >>> line = lambda N: Geometry(N + 1, 0.5 / N, 0.0, 0.25 / N**2)
        >>> level, bound = THEOREMS["strongly convex and smooth"].tune(squared, 1e6, line)
        >>> level, round(bound, 1)
        (37, 607.4)
        """

        @cache
        def costs(level: int) -> tuple[float, float]:
            geometry = geometry_at(level)
            if geometry is None:
                return 0.0, math.inf
            learning = self.learning_cost(c, geometry.size, rounds)
            return self.rounding_cost(c, geometry) * rounds, learning

        best, lowest = first, sum(costs(first))

        def consider(level: int) -> None:
            nonlocal best, lowest
            if sum(costs(level)) < lowest:
                best, lowest = level, sum(costs(level))

        def hopeless(floor: float) -> bool:
            return floor >= lowest * (1 - 1e-12)  # floors may be too high by rounding

        last = first
        while math.isfinite(lowest) and not hopeless(costs(last)[1]):
            last = max(last + 1, 2 * last)
            consider(last)
        ranges = [(first, last)]
        while ranges:
            coarse, fine = ranges.pop()
            if fine - coarse < 2 or hopeless(costs(fine)[0] + costs(coarse)[1]):
                continue
            middle = (coarse + fine) // 2
            consider(middle)
            ranges += [(coarse, middle), (middle, fine)]
        return best, min(c.loss_range * rounds, lowest)


_ALL = (
    Theorem(
        "lipschitz", "FKO25, Table 1 row 1", "L-Lipschitz losses",
        nearest_cost, hedge_cost, Power(1, 2), restarts=True,
    ),
    Theorem(
        "smooth", "FKO25, Table 1 row 2", "L-Lipschitz, β-smooth losses",
        barycentric_cost, hedge_cost, Power(2, 4), restarts=True,
    ),
    Theorem(
        "concave", "FKO25, Table 1 row 3", "L-Lipschitz, linear or concave losses",
        hull_cost, hedge_cost, Power(1, 3), restarts=True,
    ),
    Theorem(
        "strongly convex", "FKO25, Table 1 row 4", "L-Lipschitz, α-strongly convex losses",
        nearest_cost, strongly_convex_cost, Power(0, 1), needs_convexity=True,
    ),
    Theorem(
        "strongly convex and smooth", "FKO25, Table 1 row 5",
        "L-Lipschitz, α-strongly convex, β-smooth losses",
        barycentric_cost, strongly_convex_cost, Power(0, 2), needs_convexity=True,
    ),
    Theorem(
        "discretised", "FKO25, Thm 21",
        "L-Lipschitz, α-strongly convex losses, given actions on a line (swaps among them)",
        lossless_cost, discretised_cost, Power(1, 2, slope=0), needs_convexity=True,
    ),
)  # fmt: skip

THEOREMS: dict[str, Theorem] = {theorem.name: theorem for theorem in _ALL}
"""The six results of the paper, by row name."""


def _entry(theorem: Theorem) -> Result[OnGrid]:
    among = "swap regret among the actions" if theorem.name == "discretised" else "full swap regret"
    return Result(
        theorem.name, theorem.citation, f"{theorem.assumption}: {among} ≤ min(B·T, δ·T + Σ Reg_s)",
        OnGrid, lambda p: theorem.bound(p.constants, p.geometry, p.rounds), theorem.tune,
    )  # fmt: skip


ROWS: tuple[Result[Any], ...] = tuple(_entry(theorem) for theorem in _ALL)
"""The entries of the ledger."""

"""The guarantees as numbers: pure arithmetic, no algorithm.

Every bound has the form of [FKO25, Thm BMCS],

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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache

CITATIONS: dict[str, str] = {
    "FKO25, Thm BMCS": "Blum–Mansour on a discretised convex set: FSR ≤ δT + ΣReg_s",
    "FKO25, Table 1 row 1": "Lipschitz losses: multiplicative weights on a net",
    "FKO25, Table 1 row 2": "smooth losses: multiplicative weights on a triangulation",
    "FKO25, Table 1 row 3": "linear or concave losses: weights on a polytope approximation",
    "FKO25, Table 1 row 4": "strongly convex losses: gradient descent, nearest-point rounding",
    "FKO25, Table 1 row 5": "strongly convex and smooth losses: gradient descent, Algorithm BH",
    "FKO25, Thm disc-main": "discretised swap regret in one dimension",
    "FKO25, Lemma GDS": "gradient descent on scaled strongly convex losses",
    "FKO25, Thm GDK": "gradient descent on scaled nearly strongly convex losses",
    "FKO25, Lemma NH": "nearest-point rounding costs L·ε",
    "FKO25, Lemma BH": "barycentric rounding of smooth losses costs O(ε²)",
    "FKO25, Lemma KH": "rounding to neighbours is lossless for piecewise-linearised losses",
    "FKO25, Def piece-lin": "piecewise linearisation of a convex loss",
    "FKO25, Algorithm BMCS": "Blum–Mansour for convex sets and convex losses",
    "FKO25, Algorithm BMNS": "Blum–Mansour for convex sets and non-convex losses",
    "FKO25, Algorithm BH": "barycentric rounding",
    "FKO25, Algorithm GDS": "gradient descent for strongly convex losses",
    "FKO25, Algorithm GDK": "gradient descent for nearly strongly convex losses",
    "FKO25, Algorithm GDK2": "gradient descent on piecewise-linearised losses",
    "FKO25, Thm calibration": "l2 calibration error is the full swap regret of the squared loss",
    "LSS25": "Luo, Senapati, Sharan, Swap regret minimization via KL-calibration (2025)",
    "HSW26": "Hu, Schneider, Wu, Near-optimal swap regret for convex losses, COLT 2026",
    "CHJL26": "Chen, Huang, Jordan, Luo, calibration that does no harm, COLT 2026",
    "VZ09": "Vovk and Zhdanov, Prediction with expert advice for the Brier game, JMLR 10 (2009)",
    "HKW98": "Haussler, Kivinen, Warmuth, Sequential prediction of individual sequences (1998)",
    "KT81": "Krichevsky and Trofimov, The performance of universal encoding (1981)",
    "JGS13": "Joulani, György, Szepesvári, Online learning under delayed feedback, ICML 2013",
    "M72": "Merrill, Applications and extensions of an algorithm for fixed points (1972)",
    "P99": "Platt, Probabilistic outputs for support vector machines (1999)",
    "M73": "Murphy, A new vector partition of the probability score (1973)",
    "BN23": "Błasiok and Nakkiran, Smooth ECE: principled reliability diagrams via kernels (2023)",
    "BS07": "Bröcker and Smith, Increasing the reliability of reliability diagrams (2007)",
    "BM07": "Blum and Mansour, From external to internal regret, JMLR 8 (2007)",
    "CBL06": "Cesa-Bianchi and Lugosi, Prediction, Learning, and Games (2006)",
    "Z03": "Zinkevich, Online convex programming, ICML 2003",
    "TBJB15": "Tammelin, Burch, Johanson, Bowling, Solving heads-up limit hold'em, IJCAI 2015",
    "GTH85": "Grassmann, Taksar, Heyman, Regenerative analysis, Operations Research 33 (1985)",
    "LH74": "Lawson and Hanson, Solving Least Squares Problems (1974)",
}


GAME_TOLERANCE = 1e-7
"""Values of the games of multi-scale binning up to this count as 0; see ``multiscale_cost``."""
SLOPE_STEP = 1e-6
"""Slopes at a point may be those this share of the diameter away from it, or a mean over it."""


@dataclass(frozen=True)
class Constants:
    """What is known of the losses and of the set: L, α, β (None: not smooth), D."""

    lipschitz: float
    diameter: float
    strong_convexity: float = 0.0
    smoothness: float | None = None
    gap: float = 0.0
    """Largest gap ε between neighbouring actions (discretised case only)."""

    @property
    def loss_range(self) -> float:
        """B = L·D bounds max ℓ − min ℓ."""
        return self.lipschitz * self.diameter


@dataclass(frozen=True)
class Geometry:
    """What the bounds need to know of a grid, as measured on it."""

    size: int
    covering_radius: float
    hull_distance: float = 0.0
    variance: float = math.inf
    """Largest variance of a distribution on one simplex; infinite without a triangulation."""


def regret_sum(weight: float) -> float:
    """Rt(x) = min(x, 1) + ln max(x, 1), the integral of min(1, 1/x).

    Examples
    --------
    >>> regret_sum(0.5), regret_sum(1.0), round(regret_sum(100.0), 3)
    (0.5, 1.0, 5.605)
    """
    return min(weight, 1.0) + math.log(max(weight, 1.0))


# --- Rounding costs δ: what one round of rounding to the grid can cost. -------------------


def nearest_cost(c: Constants, g: Geometry) -> float:
    """L·r: rounding to the nearest point, or a crossing in d = 1. [FKO25, Lemma NH]."""
    return c.lipschitz * g.covering_radius


def barycentric_cost(c: Constants, g: Geometry) -> float:
    """L·h + β·V/2: projection to the hull, then a mean-preserving split. [FKO25, Lemma BH]."""
    if c.smoothness is None:
        return math.inf
    return c.lipschitz * g.hull_distance + c.smoothness * g.variance / 2


def hull_cost(c: Constants, g: Geometry) -> float:
    """L·h: concave losses never gain from splitting a hull point into vertices."""
    return c.lipschitz * g.hull_distance


def lossless_cost(c: Constants, g: Geometry) -> float:
    """0: neighbours represent a piecewise-linearised loss exactly. [FKO25, Lemma KH]."""
    return 0.0


# --- Learning costs Σ_s Reg_s of n sub-learners over T rounds. ----------------------------


def hedge_cost(c: Constants, n: int, rounds: float) -> float:
    """B·√(T·n·ln n / 2): multiplicative weights with the common rate of a known horizon."""
    return c.loss_range * math.sqrt(rounds * n * math.log(n) / 2)


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
    """(n·L²/2α)·Rt(T/n): [FKO25, Lemma GDS] with the uncapped rate 1/(αG)."""
    if c.strong_convexity <= 0:
        return math.inf
    return n * c.lipschitz**2 / (2 * c.strong_convexity) * regret_sum(rounds / n)


def nearly_strongly_convex_cost(c: Constants, n: int, rounds: float, ratio: float) -> float:
    """√2·τ·ε·L·√(nT) + (n·L²/2ρ)·Rt(T/n), ρ = α(1 − 1/τ)². [FKO25, Thm GDK], corrected.

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


def discretised_cost(c: Constants, n: int, rounds: float) -> float:
    """The nearly-strongly-convex cost at its best τ."""
    return nearly_strongly_convex_cost(c, n, rounds, best_ratio(c, n, rounds))


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


# --- Theorems: a rounding cost and a learning cost. ----------------------------------------


@dataclass(frozen=True)
class Theorem:
    """One result: FSR ≤ min(B·T, δ·T + Σ Reg_s), with its citation and the paper's exponent."""

    name: str
    citation: str
    assumption: str
    rounding_cost: Callable[[Constants, Geometry], float]
    learning_cost: Callable[[Constants, int, float], float]
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

    def tune(
        self,
        c: Constants,
        rounds: float,
        geometry_at: Callable[[int], Geometry | None],
        first: int = 1,
    ) -> tuple[int, float]:
        """Return (level, bound) minimising the explicit bound over grid levels first, first+1, …

        ``geometry_at(level)`` measures the grid of that level (finer as the level grows) and
        returns None when the level is out of reach. Rounding cost falls and learning cost
        grows with the level, so no level between two others costs less than the rounding of
        the finer and the learning of the coarser: ranges where that exceeds the best are
        skipped, the others halved. The sum itself may have several valleys.

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
            return floor >= lowest * (1 - 1e-12)

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


def _theorems() -> Iterator[Theorem]:
    yield Theorem(
        "lipschitz", "FKO25, Table 1 row 1", "L-Lipschitz losses",
        nearest_cost, hedge_cost, lambda d: (d + 1) / (d + 2), restarts=True,
    )  # fmt: skip
    yield Theorem(
        "smooth", "FKO25, Table 1 row 2", "L-Lipschitz, β-smooth losses",
        barycentric_cost, hedge_cost, lambda d: (d + 2) / (d + 4), restarts=True,
    )  # fmt: skip
    yield Theorem(
        "concave", "FKO25, Table 1 row 3", "L-Lipschitz, linear or concave losses",
        hull_cost, hedge_cost, lambda d: (d + 1) / (d + 3), restarts=True,
    )  # fmt: skip
    yield Theorem(
        "strongly convex", "FKO25, Table 1 row 4", "L-Lipschitz, α-strongly convex losses",
        nearest_cost, strongly_convex_cost, lambda d: d / (d + 1), needs_convexity=True,
    )  # fmt: skip
    yield Theorem(
        "strongly convex and smooth", "FKO25, Table 1 row 5",
        "L-Lipschitz, α-strongly convex, β-smooth losses",
        barycentric_cost, strongly_convex_cost, lambda d: d / (d + 2), needs_convexity=True,
    )  # fmt: skip
    yield Theorem(
        "discretised", "FKO25, Thm disc-main",
        "L-Lipschitz, α-strongly convex losses, given actions on a line (swaps among them)",
        lossless_cost, discretised_cost, lambda d: 1 / 2, needs_convexity=True,
    )  # fmt: skip


CONVEX = Theorem(
    "convex", "HSW26", "L-Lipschitz, convex losses, d = 1",
    nearest_cost, lambda c, n, t: multiscale_cost(c, n, t, multiscale_rates(t)), lambda d: 1 / 2,
    needs_convexity=True,
)  # fmt: skip
"""The answer to the paper's open question: not a row of its table, and used on request only."""

THEOREMS: dict[str, Theorem] = {theorem.name: theorem for theorem in _theorems()}
"""The six results of the paper, by row name."""


def with_learning_cost(
    theorem: Theorem,
    cost: Callable[[Constants, int, float], float],
    restarts: bool,
    citation: str | None = None,
) -> Theorem:
    """Return the theorem with another sub-learner, hence another Σ Reg_s and citation."""
    cited = theorem.citation if citation is None else citation
    return replace(theorem, learning_cost=cost, restarts=restarts, citation=cited)

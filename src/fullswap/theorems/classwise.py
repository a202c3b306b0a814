"""Many classes: one vector of sum 1, calibrated class by class and for its declared label.

**What is measured.** A grid s_0 = 0 < … < s_N = 1 has hat weights w_i(x): of the two neighbours of
x, with Σ_i w_i(x)·s_i = x. Events have scales g in [0, 1], vectors x in the simplex, outcomes y in
the simplex, errors r = y − x. A bin (k, i) has W = Σg·w_i(x_k) and R = Σg·w_i(x_k)·r_k; then

    CW = Σ_k Σ_i R²/W,      TL = the same over events in which k was the declared label,

TL ≤ the *split* error, in which every bin is two: events with k declared, and the rest. As R²/W ≤
Σg·w·r² in every bin, CW is at most the total Brier score Σg·‖r‖² ≤ 2M, and TL at most M.

**One event.** Let F_ki be any offsets, f_k(x) = Σ_i w_i(x)·F_ki, and x any vector with gap
max_k f_k(x_k) − Σ_k x_k·f_k(x_k); ρ is twice that, known before the outcome. As Σy = 1,

    Σ_k r_k² − Σ_k Σ_i w_i·(F_ki − r_k)² = 2Σ_k f_k(x_k)·(y_k − x_k) − Σw·F² ≤ ρ − Σw·F².    (1)

F may depend on x too, as long as Σ_i w_i·F_ki = f_k at the x that was played. A class that is added
while a forecast waits has x = 0 and F = 0 there; ρ is then taken anew over all classes, max_k with
the new f = 0, so (1) holds for outcomes in the new class too. Nothing in (1) needs
to be fresh. So, after the fact and on every sequence, however late outcomes came,

    CW ≤ Σg·ρ + Σg·Σw·[(F − r)² − F²] − Σ_bins min_b Σg·w·(b − r)²,                          (2)

and the same with split bins for TL.

**Recommendations.** Of class k in bin i, with o the mean errors of the bin: m = merged means, and
F = own·m + trust·(A_k − x_k), own + trust = 1. (A_k − s_i gives the same f_k at x_k.) Errors, means
of errors and their mixtures lie in [−s_{i+1}, 1 − s_{i−1}], an interval of length B_i = 1 + s_{i+1}
− s_{i−1}; A_k − x_k − r_k = A_k − y_k lies in [−1, 1].

*Merging.* v ↦ exp(−η(v − r)²) is concave where |v − r| ≤ B and η ≤ 1/(2B²). So a weighted mean of
experts has loss at most −(1/η)·ln of the weighted mean of exp(−η·loss), and weights that follow
exp(−η·g·w·loss), which is concave too as g·w ≤ 1, lose at most ln(1/π)/η to an expert of prior π.
Experts that sleep keep their weight, and those awake keep their sum: the same bound over the events
in which the expert was awake. Between the bins of a class and the advice there is one pair of
weights for both bins of an event: Σ_e v_e·Π_i exp(−η·w_i·l_ei) ≤ Π_i (Σ_e v_e·exp(−η·l_ei))^w_i by
Hölder's inequality, as Σw_i = 1, so the bound is paid once a class, with B the largest B_i.
*Dealing.* After a step of scale g from mass M to M' a share d = g/((1 + M')(2 + M)) of the weight
is dealt out by the prior. 1 − d = (1 + 1/(1 + M'))/(1 + 1/(1 + M)), so Π(1 − d) ≥ ½: ln 2/η more.
*Means.* o = R/(W + 1) is the minimum of Σw(b − r)² + b² over the past, and

    Σw·(o − r)² = min_b[Σw·(b − r)² + b²] + Σ w²/(W' + 1)·(o − r)²                           (3)

with W' the mass after the step. At b = R/W the bracket adds b²·W/(W + 1) ≤ 1 to what (2) takes
off; w² ≤ w and Σw/(W' + 1) ≤ ln(1 + W). Together, a bin costs at most

    2B_i²·ln(2/π) + 1 + B_i²·ln(1 + W),

and a class 2B²·ln(2/π_own) more. Over the bins of a class ΣW = M, and over all classes ΣW·s_i = M,
because x has sum 1. The sum of B_i²·ln(1 + W) is concave, so classes are alike in the worst case;
by duality it is at most Σ_i a_i·ln(a_i/(μ + ν·s_i)) for each ν, a_i = B_i², with μ such that μ(M +
n) + ν(M/K + Σs) = Σa, where n = N + 1.

**Skill.** Against the advice (1) leaves Σ_k Σ_i w_i·(A_k − y_k)² = ‖A − y‖² and 2B²·ln(2/π_trust) a
class; the advice loses at most ln((1 + M)/π) to an expert of its own (``recalibration``, η = 1).
There is no rounding: the Brier score in excess of a model's is of the order of K + ln M, however
coarse the bins.

With sample weights g = weight/max_weight, and bounds are to be multiplied by max_weight. In advance
they need every outcome before the next forecast, and each event to be forecast once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fullswap.theorems.ledger import Result

OWN_PRIOR = 0.25
"""π_own: prior weight of the bins of a class against the advice."""
ALL_PRIOR, PART_PRIOR = 0.5, 0.25
"""Prior weights of the means of a bin: over all events; over those with the class declared, and
over the rest."""
SEARCH = 60
"""Steps of the search for the best ν: to the last bits."""


@dataclass(frozen=True)
class Classwise:
    """Events of total mass M; ``nodes`` of the bins; Σg·ρ."""

    mass: float
    classes: int
    nodes: tuple[float, ...]
    gaps: float = 0.0


@dataclass(frozen=True)
class ClasswiseExcess:
    """The same against an expert of this prior in the advice."""

    mass: float
    classes: int
    nodes: tuple[float, ...]
    prior: float
    gaps: float = 0.0


def widths_of(nodes: tuple[float, ...]) -> list[float]:
    """B_i of every bin.

    Examples
    --------
    >>> widths_of((0.0, 0.5, 1.0))
    [1.5, 2.0, 1.5]
    """
    inner = [0.0, *nodes, 1.0]
    return [1.0 + above - below for below, above in zip(inner, inner[2:], strict=False)]


def classwise_bound(p: Classwise) -> float:
    """Σρ + K·[2B²·ln(2/π_own) + Σ_i(2B_i²·ln(2/π_all) + 1) + most ΣB_i²·ln(1 + W)] or 2M.

    Examples
    --------
    >>> nodes = tuple(math.sin(math.pi * i / 20) ** 2 for i in range(11))
    >>> round(classwise_bound(Classwise(1e6, 10, nodes)))
    2222
    """
    squares = [width**2 for width in widths_of(p.nodes)]
    bins = sum(2 * a * math.log(2 / ALL_PRIOR) + 1 for a in squares)
    bins += most_logs(squares, p.nodes, p.mass, p.mass / p.classes)
    return min(2 * p.mass, p.gaps + p.classes * (bins + _own(squares)))


def top_label_bound(p: Classwise) -> float:
    """The same for bins split by whether the class was declared; at most M.

    Examples
    --------
    >>> nodes = tuple(math.sin(math.pi * i / 20) ** 2 for i in range(11))
    >>> round(top_label_bound(Classwise(1e6, 10, nodes)))
    4604
    """
    squares = [width**2 for width in widths_of(p.nodes)]
    # one label an event: the declared halves of a class have M/K in the worst case
    each = p.mass / p.classes
    bins = 2 * sum(2 * a * math.log(2 / PART_PRIOR) + 1 for a in squares)
    bins += most_logs(squares, p.nodes, p.mass, each)
    bins += most_logs(squares, p.nodes, each, each)
    return min(p.mass, p.gaps + p.classes * (bins + _own(squares)))


def classwise_excess(p: ClasswiseExcess) -> float:
    """Σρ + K·2B²·ln(2/π_trust) + ln((1 + M)/π), at most 2M.

    Examples
    --------
    >>> nodes = tuple(math.sin(math.pi * i / 20) ** 2 for i in range(11))
    >>> round(classwise_excess(ClasswiseExcess(1e6, 10, nodes, 0.5)), 1)
    48.1
    """
    largest = max(widths_of(p.nodes)) ** 2
    trust = 2 * largest * math.log(2 / (1 - OWN_PRIOR))
    total = p.gaps + p.classes * trust + math.log((1 + p.mass) / p.prior)
    return min(2 * p.mass, total)


def _own(squares: list[float]) -> float:
    return 2 * max(squares) * math.log(2 / OWN_PRIOR)


def most_logs(squares: list[float], nodes: tuple[float, ...], mass: float, height: float) -> float:
    """Most Σ a_i·ln(1 + W_i) with ΣW ≤ mass and ΣW·s ≤ height, from above.

    Examples
    --------
    >>> round(most_logs([1.0, 1.0], (0.0, 1.0), 100.0, 1.0), 3), round(math.log(100 * 2), 3)
    (5.298, 5.298)
    """
    whole, total, sums = sum(squares), mass + len(nodes), height + sum(nodes)

    def value(share: float) -> float:
        """At ν = share·Σa/(height + Σs), and the μ that belongs to it."""
        mu, nu = (1 - share) * whole / total, share * whole / sums
        heights = [mu + nu * s for s in nodes]
        if min(heights) <= 0:
            return math.inf
        return sum(a * math.log(a / h) for a, h in zip(squares, heights, strict=True))

    low, high = 0.0, 1.0
    for _ in range(SEARCH):  # convex: drop the worse third
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if value(left) <= value(right):
            high = right
        else:
            low = left
    return max(min(value(0.0), value((low + high) / 2)), 0.0)


CLASSWISE = (
    Result(
        "classwise calibration", "fullswap, Classwise",
        "class-wise calibration error of vectors of many classes, for any outcomes in time",
        Classwise, classwise_bound,
    ),
    Result(
        "top-label calibration", "fullswap, Classwise",
        "calibration error of the declared label, for any outcomes in time", Classwise,
        top_label_bound,
    ),
    Result(
        "classwise keeps the skill", "fullswap, Classwise; VZ09",
        "total Brier score of many classes in excess of any expert, for any outcomes in time",
        ClasswiseExcess, classwise_excess,
    ),
)  # fmt: skip

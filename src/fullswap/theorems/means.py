"""Running means that start from one imagined outcome: what each grid point can cost.

At the point s of a grid a learner recommends q = (Σ g·y + s)/(G + 1), G = Σ g its mass. With
m = 1 + G before an outcome of scale g ≤ 1, m' = m + g, and h(q) = q(1 − q),

    Σ g·(q − y)² = min_b [Σ g·(b − y)² + (b − s)²] + Σ r,   r = (g²/m')·(q − y)² .

*Variance.* (q − y)² ≤ h(q) + (y − q)(1 − 2q) because y² ≤ y, and the mean moves by
d = g·(y − q)/m', so that h(q') − h(q) = d(1 − 2q) − d². Both together give, for g ≤ 1,

    r ≤ (g/m)·h(q) + (1 + g/m)·(h(q') − h(q)) ,                                            (1)

and by parts, with q_j and m_j after the j-th of k outcomes,

    Σ r ≤ Σ_{j<k} (g_j/m_{j−1})·h(q_j) + (1 + g_k/m_{k−1})·h(q_k) − h(s) .                 (2)

*Any scales.* h ≤ ¼ and Σ g_j/m_{j−1} ≤ Rt(G). The plain minimum over a instead of the one with the
imagined outcome adds (q_k − s)²·m_k/G, and so the regret against the best constant is at most

    ¼·Rt(G) + (2 − 3μ)²/4,   μ = min(s, 1 − s) .                                           (3)

*A crossing* plays neighbours i, i + 1 with shares λ, mean x of points and of recommendations alike:
its loss is that of the recommendations plus λ(1 − λ)·gap² − Σ λ_j·(q_j − x)², whatever the outcome.
As q_i ≥ s_i and q_{i+1} ≤ s_{i+1}, and x lies in the cell, a recommendation that is off its point
by more than the gap ε pays back (|q − s| − ε)² at least. Write a = |1 − 2s|, ε for the gap on the
side of ½, b = max(a − 2ε, 0), and h⁺ for the largest h within ε of s. Then

    h(q)/j − (|q − s| − ε)₊² ≤ h⁺/j + b²/(4j(j + 1))  for every q .

*Whole outcomes* (every g is 0 or 1; only the drawn point learns): (2) is exact, and the calibration
error n·(s − ȳ)² of a point with n outcomes is, beyond the rounding λ(1 − λ)·gap², at most

    Σ_{j<n} [h(q_j)/j − (|q_j − s| − ε)₊²] + h(s)/n + (ȳ − s)(1 − 2s)
    ≤ h⁺·H_{n−1} + b²/4 + a·ε + a²/4·(1 + 1/(n − 1)) + h(s)/n + a(1 − μ)/n                 (4)

for n ≥ 2, because ȳ − s = (q_{n−1} − s) + (y_n − s)/n, and (1 − μ)² for n = 1. H_{n−1} is at most
ln n + 0.5773 − 1/(2n).

*Any scales, on a crossing*: (h(s) + a·ε)·ln(1 + G) + A(s), A(s) = a²/4 + (2 − 3μ)²/4 +
ln 2·(1 − μ(1 − μ)/2) − 2μ(1 − ln 2) + μ²(ln 2 − ½). With v = g/m', r ≤ v·(q − y)² ≤ v·h(q) +
(h(q') − h(q)) + v²·(q − y)². Then v + v²/2 ≤ ln(m'/m); what q is off its point by u beyond the gap
gains v·a·u and pays back g·u², together v·a²/(4m') at most, and Σ g/m'² ≤ 1; |q − y| ≤ 1 − μ/m, and
v² ≤ ∫ dx/(x(x + 1)) over [m, m'] makes the three terms with ln 2.                          (5)
Its part (2 − 3μ)²/4 bounds h(q_k) − h(s) + (q_k − s)²·m/G. The first two alone are at most a²/4,
and (q_k − s)²·m is no more than the error of the point. So where G ≥ G_0 only a²/4 is charged, and
the whole error, rounding included, is multiplied by G_0/(G_0 − 1).                        (5')

*Grids that were refined.* A forecast on a coarser grid, of gap ε_ℓ, pays back beyond ε_ℓ only. The
j-th outcome of a point comes at a mass of j at least. So the coarser grid, which ended at mass m_ℓ,
adds (h⁺_ℓ − h⁺)·(1 + ln m_ℓ) for whole outcomes and a·(ε_ℓ − ε)·ln(2 + m_ℓ) for any scales, level
by level; and a·ε is that of the first grid that had the point.

*All points together.* Σ_s f_s(G_s) under Σ G_s = M is at most p·M + Σ_s max_G [f_s(G) − p·G] for
every price p > 0: a number near Σ h⁺/M is close to the best.

*Late outcomes.* While b others wait at a point, each update moves their recommendation by
g·|y − q|/m', which costs each of them at most 2g·|y − q|/m'. By Cauchy's inequality, (1) again, and
Σ g/m' ≤ ln(1 + G), all of that is at most b·√((Rt(G) + 1)·ln(1 + G)).                      (6)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from fullswap.base.protocols import Vector
from fullswap.theorems.ledger import Result
from fullswap.theorems.premises import regret_sum

EULER = 0.5773
"""At least Euler's constant, 0.57721…"""
SMALL = 1e-6
"""Of masses: what is lost is no more than the mass itself, and that is as good as any bound."""
PRICES = (0.7, 1.0, 1.4)
"""Times Σ h⁺/M: prices of mass that are tried."""
SPLITS = (0.01, 0.03, 0.1, 0.3)
"""Times M/n: masses G_0 that are tried."""


@dataclass(frozen=True, eq=False)
class LineForecasts:
    """Yes-or-no events of total mass M, forecast on these points (rising, in [0, 1]).

    ``rounding`` bounds Σ g·δ_t. ``whole``: every scale is 0 or 1, and one point learns from an
    outcome. ``waiting``: most others that waited at a point when it learnt. ``coarser``: grids
    before this one, coarse to fine, each with the mass at which it ended.
    """

    points: Vector
    mass: float
    rounding: float = 0.0
    whole: bool = False
    waiting: int = 0
    coarser: tuple[tuple[Vector, float], ...] = ()


def line_means_cost(p: LineForecasts) -> float:
    """What all points cost beyond rounding: (4), or the smaller of (3) and (5), and (6).

    Examples
    --------
    >>> even = np.arange(16) / 15
    >>> round(line_means_cost(LineForecasts(even, 10_000, whole=True)), 1)
    25.5
    >>> round(line_means_cost(LineForecasts(even, 10_000, rounding=11.1)), 1)
    34.5
    """
    if p.mass < SMALL:
        return p.mass
    if p.waiting:
        # what waits is paid back late: only what needs no crossing is left
        size = len(p.points)
        return _no_crossing(p.points, p.mass) + size * late_cost(p.mass / size, p.waiting)
    cost = _whole_outcomes(p) if p.whole else _any_scales(p)
    return min(cost, _no_crossing(p.points, p.mass))


def late_cost(mass: float, waiting: int) -> float:
    """b·√((Rt(G) + 1)·ln(1 + G)) of one point, (6)."""
    return waiting * math.sqrt((regret_sum(mass) + 1) * math.log1p(mass))


Shape = tuple[Vector, Vector, Vector, Vector]


def _shape(points: Vector) -> Shape:
    """μ, a, h and the gap on the side of ½ of every point; not to be written."""
    return _shape_of(np.ascontiguousarray(points, dtype=float).tobytes())


@lru_cache(maxsize=32)  # certificates of many streams ask for the same few grids
def _shape_of(grid: bytes) -> Shape:
    points = np.frombuffer(grid)
    gaps = np.diff(points)
    low = np.minimum(points, 1 - points)
    inner = np.where(points <= 0.5, np.append(gaps, 0.0), np.insert(gaps, 0, 0.0))
    return low, 1 - 2 * low, points * (1 - points), inner


def _most(points: Vector) -> Vector:
    """h⁺: the largest h within the gap of every point."""
    _, a, h, gap = _shape(points)
    return np.where(a > 2 * gap, h + a * gap - gap**2, 0.25)


def _earlier(p: LineForecasts) -> tuple[Vector, Vector, Vector]:
    """What coarser grids add: to the cost of whole outcomes, of any scales, and to every gap."""
    key = tuple((points.tobytes(), end) for points, end in p.coarser)
    return _earlier_of(key, p.points.tobytes())


@lru_cache(maxsize=32)
def _earlier_of(
    coarser: tuple[tuple[bytes, float], ...], last: bytes
) -> tuple[Vector, Vector, Vector]:
    final = np.frombuffer(last)
    whole, parts, wider = np.zeros((3, len(final)))
    grids = [np.frombuffer(grid) for grid, _ in coarser] + [final]
    for points, finer, (_, end) in zip(grids, grids[1:], coarser, strict=False):
        own, kept = np.searchsorted(final, points), np.searchsorted(finer, points)
        narrower = _shape(points)[3] - _shape(finer)[3][kept]
        whole[own] += (_most(points) - _most(finer)[kept]) * (1 + math.log(end))
        parts[own] += _shape(points)[1] * narrower * math.log(2 + end)
        wider[own] += narrower
    return whole, parts, wider


def _whole_outcomes(p: LineForecasts) -> float:
    low, a, h, gap = _shape(p.points)
    earlier, _, wider = _earlier(p)
    b = np.maximum(a - 2 * gap, 0.0)
    most = _most(p.points)
    fixed = EULER * most + (b**2 + a**2) / 4 + a * (gap + wider) + earlier
    # what falls like 1/n; 1/(n − 1) ≤ 2/n
    falling = a**2 / 2 + h + a * (1 - low) - most / 2

    def at(price: float) -> float:
        roots = np.sqrt(np.maximum(most**2 - 4 * price * falling, 0.0))
        many = np.clip((most + roots) / (2 * price), 2.0, max(p.mass, 2.0))
        twice = np.full_like(many, 2.0)
        costs = [most * np.log(n) + fixed + falling / n - price * n for n in (twice, many)]
        once = np.maximum((1 - low) ** 2 - price, 0.0)  # or never
        return price * p.mass + float(np.maximum.reduce([*costs, once]).sum())

    return min(at(factor * float(most.sum()) / p.mass) for factor in PRICES)


def own_mean_cost(points: Vector) -> Vector:
    """(2 − 3μ)²/4 of every point: the constant of (3).

    Examples
    --------
    >>> own_mean_cost(np.array([0.0, 0.5]))
    array([1.    , 0.0625])
    """
    cost: Vector = (2 - 3 * np.minimum(points, 1 - points)) ** 2 / 4
    return cost


def _no_crossing(points: Vector, mass: float) -> float:
    last = own_mean_cost(points)
    return len(points) * regret_sum(mass / len(points)) / 4 + float(last.sum())


def _any_scales(p: LineForecasts) -> float:
    low, a, h, gap = _shape(p.points)
    last = own_mean_cost(p.points)
    slope = h + a * gap
    two = math.log(2)
    fixed = a**2 / 4 + two * (1 - h / 2) - 2 * low * (1 - two) + low**2 * (two - 0.5)
    fixed += _earlier(p)[1]

    def by_variance(price: float, least: float, most: float) -> Vector:
        """Largest slope·ln(1 + G) − price·G for masses between these two."""
        masses: Vector = np.clip(slope / price - 1, least, most)
        return slope * np.log1p(masses) - price * masses

    def at(price: float, split: float) -> float:
        """With (5') for masses from ``split`` on."""
        plain = 0.0 if price >= 0.25 else min(0.25 / price, split)
        few = np.minimum(
            regret_sum(plain) / 4 - price * plain + last,
            by_variance(price, 0.0, split) + fixed + last,
        )
        if split == math.inf:
            return price * p.mass + float(few.sum())
        many = by_variance(price, split, math.inf) + fixed + a**2 / 4
        total = price * p.mass + float(np.maximum(few, many).sum())
        return total + (p.rounding + total) / (split - 1)

    prices = [factor * float(slope.sum()) / p.mass for factor in PRICES]
    each = p.mass / len(p.points)
    splits = [math.inf, *(share * each for share in SPLITS if share * each > 2)]
    return min(at(price, split) for price in prices for split in splits)


MEANS = (
    Result(
        "means on a line", "fullswap, Means",
        "what running means at grid points cost beyond rounding, for any outcomes",
        LineForecasts, line_means_cost,
    ),
)  # fmt: skip

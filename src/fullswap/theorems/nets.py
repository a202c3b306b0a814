"""Rounding on a net that is never triangulated: which points it needs, and what it costs.

**Rounding.** Let S be points of a convex set K such that

1. every c ∈ K has an s ∈ S with ‖s − c‖ ≤ r;
2. every boundary point p with unit outward normal ν has an s ∈ S with ‖s − p‖ ≤ r and depth
   ⟨ν, p − s⟩ ≤ τ.

Then every q ∈ K has weights λ on S, at most d + 1 of them positive, with

    k/2·‖u‖² + ½·Σ λ_s·‖s − q‖² ≤ r²/2 + k·τ²/2 ,    u = Σ λ_s·s − q ,

for any k > 0. By duality the least value is max_w ½·[dist(S, c)² − ‖c − q‖²] − ‖w‖²/2k over
c = q − w. For c ∈ K the bracket is at most r². For other c let p be the nearest point of K, ν the
direction from there to c and C the distance, which is at most ‖c − q‖ = ‖w‖: with the s of (p, ν),
‖s − c‖² − ‖q − c‖² ≤ ‖s − p‖² + 2C·⟨ν, p − s⟩ − 2C·⟨ν, p − q⟩ ≤ r² + 2‖w‖·τ, and the largest
r²/2 + ‖w‖·τ − ‖w‖²/2k is the one claimed. An L-Lipschitz, β-smooth loss is at most
L·‖u‖ + β/2·Σ λ_s·‖s − q‖² larger on average over λ than at q; with k = L/(β·τ) that is at most

    L·τ + β·r²/2 ,                                                                          (1)

as on a triangulation with hull distance τ and variance r². Where L/β exceeds 10⁸·τ, k = 10⁸ does
instead: with V = Σ λ_s·‖s − q‖² the programme has ‖u‖² + V/k ≤ τ² + r²/k, hence
L·‖u‖ + β·V/2 ≤ L·√(τ² + r²/k) + β·r²/2. So √(τ² + 10⁻⁸·r²) is charged for τ throughout, and 1 %
more for a solver that reaches the minimum up to 1 %.

**Points for 2** are those of Dudley [D74]. K lies in a ball of radius R. Points z of the concentric
sphere of radius R + M, one within r of each of its points, are projected to K. The ray from p along
ν meets the sphere in a point y, t = ‖y − p‖ ≥ M, which projects to p. Take z within r of it, s its
projection, a = z − y, b = s − p. Projections bring points nearer, so ‖b‖ ≤ ‖a‖ ≤ r; and
⟨z − s, p − s⟩ ≤ 0 is −t·⟨ν, b⟩ ≤ ⟨a, b⟩ − ‖b‖² ≤ r²/4. Hence

    τ = r²/4M .                                                                             (2)

For a ball K, points of its own sphere within an angle θ do as well: r = 2R·sin(θ/2) and
τ = R·(1 − cos θ). The hull of such points is within τ of K, because it reaches that far in every
direction ν: that is all that linear and concave losses need.

**Points for 1** are lattice points in K and projections of those near it. If r is the covering
radius of the lattice and r′ ≤ r serves in 2, then lattice points within

    κ = r − √(r² − r′²)                                                                     (3)

of K do. A c ∈ K whose nearest lattice point z is farther from K is at a depth δ ≤ r − κ, since the
ball of radius δ around c lies in K. Its nearest boundary point p has the normal ν = (p − c)/δ, and
the s of 2 has ‖s − c‖² ≤ r′² + δ² ≤ r².
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fullswap.theorems.ledger import Result

SPARE = 1.01
"""By this factor depth and variance are charged more than (1) says, for solvers that stop early."""
STEEPEST = 1e8
"""Largest k; beyond, rounding errors would show."""


@dataclass(frozen=True)
class OnNet:
    """A net with covering radius r and depth τ, for losses with constants L and β."""

    lipschitz: float
    smoothness: float
    radius: float
    depth: float


@dataclass(frozen=True)
class Projected:
    """Points within ``reach`` of each point of a sphere, ``beyond`` outside of a ball around K."""

    reach: float
    beyond: float


def steepness(ratio: float, depth: float) -> float:
    """k for L/β = ``ratio``."""
    return min(ratio / depth, STEEPEST)


def programme_bound(radius: float, depth: float, k: float) -> float:
    """r²/2 + k·τ²/2."""
    return radius**2 / 2 + k * depth**2 / 2


def charged_depth(radius: float, depth: float) -> float:
    """√(τ² + r²/k) at the largest k, with what is to spare."""
    return SPARE * math.hypot(depth, radius / math.sqrt(STEEPEST))


def net_cost(p: OnNet) -> float:
    """(1), with what is to spare."""
    depth = charged_depth(p.radius, p.depth)
    return p.lipschitz * depth + SPARE * p.smoothness * p.radius**2 / 2


def projected_depth(p: Projected) -> float:
    """(2)."""
    return p.reach**2 / (4 * p.beyond)


def sphere_depth(radius: float, angle: float) -> float:
    """R·(1 − cos θ)."""
    return radius * (1 - math.cos(angle))


def lattice_margin(radius: float, reach: float) -> float:
    """(3); all lattice points within r where r′ is larger."""
    return radius - math.sqrt(max(0.0, radius**2 - reach**2))


NETS: tuple[Result[Any], ...] = (
    Result(
        "rounding on a net", "fullswap, Nets",
        "a net with covering radius r, and with points within r at depth τ of every boundary "
        "point: rounding costs at most L·τ + β·r²/2, and 1 % more as it is computed",
        OnNet, net_cost,
    ),
    Result(
        "projected sphere", "D74; fullswap, Nets",
        "projections of points within r of each point of a sphere at a distance M: the hull is "
        "within r²/4M of the set",
        Projected, projected_depth,
    ),
)  # fmt: skip
"""The entries of the ledger."""

"""Linear swap regret: against one affine map of the set into itself, for all that was played.

    LinearSwapReg = max_φ Σ_t Σ_s x_t[s]·(ℓ_t(s) − ℓ_t(φ(s))),   φ(x) = A·x + b,   φ(K) ⊂ K.

With Φ = [A b] and s̃ = (s, 1), losses a·‖x‖² + ⟨b, x⟩ + c add up to tr(Φ·Q·Φᵀ) + ⟨Φ, C⟩ where
Q = Σ a_s·s̃·s̃ᵀ and C = Σ b_s·s̃ᵀ: two small matrices, however many points and rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Points, Vector
from fullswap.base.records import Record
from fullswap.losses import rows_seen_from
from fullswap.metrics.affine_maps import AffineMaps, BoxMaps, affine_maps
from fullswap.metrics.regret import centred

FLAT = 1e-12
"""Curvature below this share of the largest is a rounding error."""
GAP = 1e-10
"""By how much of the losses' own size the value may be missed before the search goes on."""
MOST_STEPS = 1000
"""After so many the search ends with the bound that it has: it must end."""
RIDGE = 1e-13
"""Added to the curvature among the maps that are mixed, as some may be alike on what was played."""


@dataclass(frozen=True, eq=False)
class LinearSwapRegret:
    """Linear swap regret with its witness: x ↦ ``matrix``·x + ``offset`` gains ``value``.

    ``value`` ≤ the true linear swap regret ≤ ``upper``; the two agree, up to rounding, for linear
    losses, and to 10⁻¹⁰ of the losses' size for convex ones unless the search ends early.
    """

    value: float
    upper: float
    matrix: Points
    """Shape (A, A)."""
    offset: Vector
    """Shape (A,)."""


def linear_swap_regret(record: Record) -> float:
    """Linear swap regret, from above: the best affine map φ of the set K into itself, in hindsight.

        max_φ Σ_t Σ_s x_t[s]·(ℓ_t(s) − ℓ_t(φ(s))),   φ(x) = A·x + b,   φ(K) ⊂ K

    Maps are affine, so constants are among them, and so is the identity: external regret ≤ linear
    swap regret ≤ full swap regret, and it is never negative. (On a simplex the affine maps are the
    linear ones that keep it.)
    Known from learning in Bayesian and extensive-form games [MMSS22], [FP23], [DFFPS24]; full swap
    regret asks for far more, since its φ may be any function.

    Exact for linear losses on intervals, boxes, simplices, balls and polytopes, and for quadratic
    losses whose sums are convex (concave on intervals and boxes, too). Other losses and sets given
    by functions are refused with a ValueError: there the best map cannot be certified.

    Examples
    --------
    >>> from fullswap import losses, sets
    >>> from fullswap.base.protocols import Mixture
    >>> at = lambda x: Mixture(np.array([[x]]), np.array([1.0]))
    >>> up, down = losses.Linear([1.0]), losses.Linear([-1.0])
    >>> pairs = [(at(0.75), up), (at(0.25), down), (at(0.5), up), (at(0.5), down)]
    >>> linear_swap_regret(Record.of_rounds(sets.Interval(0, 1), pairs))
    1.0
    """
    return linear_swap_report(record).upper


def linear_swap_report(record: Record) -> LinearSwapRegret:
    """Linear swap regret with the best map."""
    action_set, tally, moved = centred(record)
    maps = affine_maps(action_set)
    if maps is None:
        rule = "be an interval, box, simplex, ball or polytope for linear swap regret"
        checks.refuse("action_set", rule, action_set)
    if tally.others:
        rule = "be linear or quadratic for linear swap regret"
        checks.refuse("losses", rule, next(iter(tally.others.values()))[0])
    sums = rows_seen_from(maps.origin, tally.sums)
    places = maps.coordinates(tally.points)
    bends = sums[:, 0] * maps.unit**2
    squares: Points = (places * bends[:, None]).T @ places
    cost: Points = maps.unit * (sums[:, 1:-1] @ maps.basis).T @ places
    identity = np.eye(*cost.shape)
    best, missing = _minimum(maps, squares, cost, identity)
    here, there = _value(identity, squares, cost), _value(best, squares, cost)
    if there >= here:
        best, missing, there = identity, missing - (there - here), here
    matrix, offset = maps.outward(best)
    value = here - there
    # x ↦ matrix·(x − moved) + offset + moved, where the set was moved to see it from its centre
    return LinearSwapRegret(
        value, value + max(missing, 0.0), matrix, offset + moved - matrix @ moved
    )


def _value(phi: Points, squares: Points, cost: Points) -> float:
    return float(np.sum(phi * (phi @ squares + cost)))


def _minimum(
    maps: AffineMaps, squares: Points, cost: Points, start: Points
) -> tuple[Points, float]:
    """The best Φ, and by how much its value may be above the least."""
    curvatures = np.linalg.eigvalsh(squares)
    size = float(np.abs(curvatures).max())
    # what a map that moves things by a diameter may change
    scale = size + float(np.abs(cost).sum())
    if size <= FLAT * scale:
        return maps.least(cost), 0.0
    if curvatures[0] >= -FLAT * size:
        best, missing = np.empty_like(start), 0.0
        for rows, part in maps.parts():
            best[rows], gap = _convex_minimum(part, squares, cost[rows], start[rows], scale)
            missing += gap
        return best, missing
    if curvatures[-1] <= FLAT * size and isinstance(maps, BoxMaps):
        return maps.least_concave(squares, cost), 0.0
    rule = (
        "add up to convex ones for linear swap regret (concave ones on intervals and boxes only: "
        "elsewhere the best map cannot be certified)"
    )
    checks.refuse("losses", rule, f"curvatures from {curvatures[0]:.3g} to {curvatures[-1]:.3g}")


def _convex_minimum(
    maps: AffineMaps, squares: Points, cost: Points, start: Points, scale: float
) -> tuple[Points, float]:
    """Frank–Wolfe, fully corrective: mix the best maps for the gradients met so far.

    f is convex, so f(Φ) − min f ≤ ⟨∇f(Φ), Φ − Φ'⟩, Φ' being the best map for ∇f(Φ): the gap that
    is returned. In each step Φ' joins the maps that are mixed, and those without weight leave. On
    polytopes maps Φ' are finitely many, and no mixture comes twice, so that the search ends.
    """
    atoms, weights, phi = [start], np.ones(1), start
    gap = np.inf
    best, least_gap = start, np.inf
    for _ in range(MOST_STEPS):
        gradient = 2 * phi @ squares + cost
        corner = maps.least(gradient)
        gap = float(np.sum(gradient * (phi - corner)))
        if gap < least_gap:
            best, least_gap = phi, gap
        if gap <= GAP * scale:
            break
        atoms.append(corner)
        weights = _mixed(np.stack(atoms), np.append(weights, 0.0), squares, cost)
        atoms = [atom for atom, weight in zip(atoms, weights, strict=True) if weight > 0]
        weights = weights[weights > 0]
        before = _value(phi, squares, cost)
        phi = np.tensordot(weights, np.stack(atoms), 1)
        if _value(phi, squares, cost) >= before:  # as far as rounding goes
            break
    return best, max(least_gap, 0.0)


def _mixed(atoms: Any, weights: Vector, squares: Points, cost: Points) -> Vector:
    """Weights of the best mixture of maps (k, d, d + 1), by Wolfe's active sets.

    The best affine combination of the maps in use; if it has negative weights, go towards it until
    the first weight is 0, drop that map and start again.
    """
    bend = 2 * np.einsum("iab,bc,jac->ij", atoms, squares, atoms)
    slope = np.einsum("iab,ab->i", atoms, cost)
    ridge = RIDGE * max(float(np.trace(bend)), float(np.abs(slope).max()), 1e-300)
    used = np.ones(len(weights), dtype=bool)
    while True:
        k = int(used.sum())
        system = np.ones((k + 1, k + 1))
        system[:k, :k] = bend[np.ix_(used, used)] + ridge * np.eye(k)
        system[k, k] = 0.0
        target = np.linalg.solve(system, np.append(-slope[used], 1.0))[:k]
        old = weights[used]
        if (target > 0).all():
            weights[used] = target / target.sum()
            return weights
        falling = target <= 0
        shares = old[falling] / np.maximum(old[falling] - target[falling], 1e-300)
        step = float(shares.min())
        moved = old + step * (target - old)
        moved[np.flatnonzero(falling)[shares <= step]] = 0.0
        weights[used] = np.maximum(moved, 0.0)
        used &= weights > 0

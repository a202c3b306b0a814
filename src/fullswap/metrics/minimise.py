"""Certified minimisation over a set: of Lipschitz functions in low dimension, of convex ones."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.sets import ConvexSetBase

BUDGET = 20_000
"""Evaluations after which the search ends with the bound that it has: it must end."""
STEPS = 200
"""Of subgradient descent: the gap is then a 14th of what the function may vary by, or less."""
ROUNDING = 1e-9
"""Relative error of a distance between projections, with room."""


def minimise_lipschitz(
    value: Callable[[Points], Vector],
    action_set: ConvexSetBase,
    lipschitz: float,
    tolerance: float,
    budget: int = BUDGET,
) -> tuple[Vector, float, float]:
    """Return (x, f(x), lower) with lower ≤ min f ≤ f(x), by branch and bound on boxes.

    A box with centre c and half-diagonal ρ is represented by the projection x of c. Projection
    is non-expansive, so every point of the set in the box is within ρ of x, and
    f ≥ f(x) − lipschitz·ρ there. Boxes that cannot beat the best value by ``tolerance`` are
    dropped; lower = f(x) − tolerance unless the budget of evaluations ends first.

    Examples
    --------
    >>> from fullswap.sets import Interval
    >>> x, best, lower = minimise_lipschitz(lambda p: abs(p[:, 0] - 0.3), Interval(0, 1), 1, 1e-3)
    >>> bool(lower <= 0 <= best <= 1e-3)
    True
    """
    origin, basis = action_set.frame
    d = basis.shape[1]
    reach = (action_set.minimize_linear(np.concatenate((basis.T, -basis.T))) - origin) @ basis
    low, high = np.diag(reach[:d]), np.diag(reach[d:])
    centers, half = ((low + high) / 2)[None, :], (high - low) / 2
    corners = np.array(list(product((-0.5, 0.5), repeat=d)))
    best, best_point, used = np.inf, np.zeros(basis.shape[0]), 0
    while True:
        ambient = centers @ basis.T + origin
        points = action_set.project(ambient)
        radius = float(np.linalg.norm(half))
        meets = np.linalg.norm(points - ambient, axis=1) <= radius * (1 + ROUNDING)
        centers, points = centers[meets], points[meets]
        if not len(points):  # what was left of the open boxes lies outside the set
            return best_point, best, best - tolerance
        values = value(points)
        used += len(points)
        if values.min() < best:
            best, best_point = float(values.min()), points[values.argmin()]
        open_boxes = values - lipschitz * radius < best - tolerance
        if not open_boxes.any():
            return best_point, best, best - tolerance
        if used + open_boxes.sum() * len(corners) > budget:
            return best_point, best, float((values[open_boxes] - lipschitz * radius).min())
        centers = (centers[open_boxes][:, None, :] + corners * half).reshape(-1, d)
        half = half / 2


def minimise_convex(
    value: Callable[[Points], Vector],
    slope: Callable[[Vector], Vector],
    action_set: ConvexSetBase,
    start: Vector,
    tolerance: float,
) -> tuple[Vector, float, float]:
    """Return (x, f(x), lower) with lower ≤ min f ≤ f(x) for a convex f, by subgradient descent.

    A convex function lies above its tangents, hence above any mean of them, and a mean of tangents
    is linear: its minimum over the set is exact, in any dimension. ``slope`` gives a subgradient.

    Examples
    --------
    >>> from fullswap.sets import Ball
    >>> ball, z = Ball([0.0] * 8, 1.0), np.full(8, 0.1)
    >>> distance = lambda x: np.linalg.norm(x - z, axis=1)
    >>> away = lambda x: (x - z) / max(np.linalg.norm(x - z), 1e-12)
    >>> x, best, lower = minimise_convex(distance, away, ball, ball.center, 0.05)
    >>> bool(lower <= 0 <= best <= lower + 0.05)
    True
    """
    x, best, best_point, lower = start, np.inf, start, -np.inf
    total, offset, mean = 0.0, 0.0, np.zeros_like(start)
    for step in range(STEPS):
        here, tangent = float(value(x[None, :])[0]), slope(x)
        if here < best:
            best, best_point = here, x
        length = float(np.linalg.norm(tangent))
        if length == 0.0:  # a minimum of f everywhere
            return x, here, here
        rate = action_set.diameter / (2 * length * np.sqrt(step + 1))
        total += rate
        offset += rate * (here - float(tangent @ x))
        mean = mean + rate * tangent
        least = action_set.minimize_linear(mean / total)
        lower = max(lower, (offset + float(mean @ least)) / total)
        if best - lower <= tolerance:
            break
        x = action_set.project(x - rate * tangent)
    return best_point, best, min(float(lower), best)  # equal up to rounding where tangents meet it

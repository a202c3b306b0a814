"""Certified minimisation of a Lipschitz function over a set of low dimension."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.sets import ConvexSetBase

BUDGET = 20_000
"""Evaluations after which the search ends with the bound that it has: it must end."""
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

"""Nearest points and simplices by looking at all of them."""

from __future__ import annotations

import numpy as np


def nearest(points, q):
    """Index of the nearest point; of several, the first."""
    best, index = float("inf"), -1
    for i, point in enumerate(points):
        square = sum((a - b) * (a - b) for a, b in zip(point, q, strict=True))
        if square < best:
            best, index = square, i
    return index


def simplices_around(points, simplices, q, slack):
    """Barycentric coordinates by index of the points, for every simplex that holds q."""
    found = []
    for simplex in simplices:
        corners = points[simplex]
        system = np.vstack((corners.T, np.ones(len(simplex))))
        if np.linalg.cond(system) < 1e10:
            weights = np.linalg.solve(system, np.append(q, 1.0))
            if weights.min() >= -slack:
                found.append(dict(zip(simplex.tolist(), weights.tolist(), strict=True)))
    return found


def is_nearest_of_hull(points, q, p, slack):
    """Whether p, of the hull, is its nearest point to q: no point lies farther that way."""
    return ((points - p) @ (q - p)).max() <= slack

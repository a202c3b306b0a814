"""Nearest points by looking at all of them."""

from __future__ import annotations


def nearest(points, q):
    """Index of the nearest point; of several, the first."""
    best, index = float("inf"), -1
    for i, point in enumerate(points):
        square = sum((a - b) * (a - b) for a, b in zip(point, q, strict=True))
        if square < best:
            best, index = square, i
    return index

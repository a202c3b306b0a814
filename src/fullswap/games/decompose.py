"""A mixed action with a given mean: Carathéodory's theorem, by the linear oracle alone.

The nearest point of the hull is found by Wolfe's method: a handful of affinely independent
actions is kept, the best action towards the target joins them, and those that the nearest point
of their affine hull does not need leave again. No list of actions is ever looked through except
by the oracle, so a continuum will do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.games.actions import ActionSet, Column, Curve, Product

_STEPS = 1000
_NEGLIGIBLE = 1e-14
"""Weights up to this leave the support."""


def decompose(action_set: ActionSet, point: Any, tolerance: float = 1e-9) -> tuple[Column, Vector]:
    """At most dim + 1 actions and their weights, with Σ_k weights[k]·v(actions[k]) = point.

    Sets that know a way of their own have a method ``decompose(point, tolerance)``.

    Parameters
    ----------
    action_set : ActionSet
        Actions with their linear oracle.
    point : array (dim,)
        A point of the hull of the embeddings.
    tolerance : float
        How far the mean may be from the point, in units of the largest coordinate.

    Raises
    ------
    ValueError
        If the point is farther from the hull than that; the message says how far.

    Examples
    --------
    >>> from fullswap.games import Vectors
    >>> square = Vectors([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> actions, weights = decompose(square, [0.5, 0.25])
    >>> weights @ square.embed(actions)
    array([0.5 , 0.25])
    """
    if not isinstance(action_set, ActionSet):
        raise ValueError(f"action_set must be a set of fullswap.games, got {action_set!r}")
    target = _as_point(point, action_set.dim)
    if not (isinstance(tolerance, int | float) and 0 < tolerance < 1):
        raise ValueError(f"tolerance must be a number between 0 and 1, got {tolerance!r}")
    own = getattr(action_set, "decompose", None)
    if callable(own):
        return own(target, tolerance)
    if isinstance(action_set, Product):
        return _part_by_part(action_set, target, tolerance)
    if isinstance(action_set, Curve) and action_set.dim == 2:
        found = _on_parabola(action_set, target, tolerance)
        if found is not None:
            return found
    actions, weights, distance, allowed = nearest(action_set, target, tolerance)
    if distance > allowed:
        raise ValueError(
            f"point must lie in the hull of the actions, is {distance:.6g} away from it"
        )
    return actions, weights


def nearest(
    action_set: ActionSet, target: Vector, tolerance: float
) -> tuple[Column, Vector, float, float]:
    """The point of the hull nearest to the target: actions, weights, distance, what counts as 0."""
    actions, _ = action_set.best(target[None, :])
    offsets = action_set.embed(actions) - target
    weights = np.ones(1)
    axes = np.eye(len(target))
    # the largest coordinate of an embedding, either way
    reach = np.abs(action_set.best(np.vstack((axes, -axes)))[1]).max()
    size = max(float(reach), float(np.abs(target).max())) or 1.0
    allowed = tolerance * size
    for _ in range(_STEPS):
        # rounding leaves the sum of the weights a hair from 1 otherwise
        weights = weights / weights.sum()
        mean = weights @ offsets
        distance = float(np.linalg.norm(mean))
        if distance <= allowed:
            break
        towards, _ = action_set.best(-mean[None, :] / distance)
        offset = action_set.embed(towards) - target
        # no point of the hull is nearer than distance − gain
        gain = float((mean - offset[0]) @ mean) / distance
        if gain <= 1e-15 * size or (distance - gain > allowed and gain <= 1e-7 * distance):
            break
        candidates, rows = np.concatenate((actions, towards)), np.vstack((offsets, offset))
        shares, kept = _minimise(rows, np.append(weights, 0.0))
        if kept[-1] != len(actions) or (offsets == offset).all(axis=1).any():
            break  # within rounding nothing is nearer
        actions, offsets, weights = candidates[kept], rows[kept], shares
    return actions, weights, distance, allowed


def _minimise(offsets: Points, weights: Vector) -> tuple[Vector, Any]:
    """Convex weights of the shortest combination, from given ones, and which rows they need."""
    kept = np.arange(len(offsets))
    while True:
        wanted = _affine_minimiser(offsets[kept])
        out = wanted <= _NEGLIGIBLE
        if not out.any():
            return wanted, kept
        # go towards the affine minimiser until the first weight is used up
        steps = weights[out] / np.maximum(weights[out] - wanted[out], 1e-300)
        step = min(1.0, float(steps.min()))
        weights = weights + step * (wanted - weights)
        stays = weights > _NEGLIGIBLE
        stays[np.flatnonzero(out)[steps.argmin()]] = False
        kept, weights = kept[stays], weights[stays]


def _affine_minimiser(offsets: Points) -> Vector:
    """Weights with sum 1, of any sign, of the shortest combination of rows (k, d)."""
    if len(offsets) == 1:
        return np.ones(1)
    edges = offsets[1:] - offsets[0]
    shares = np.linalg.lstsq(edges.T, -offsets[0], rcond=None)[0]
    return np.concatenate(([1.0 - shares.sum()], shares))


def _part_by_part(plans: Product, target: Vector, tolerance: float) -> tuple[Column, Vector]:
    """Decompose in every part, then run through all of them at once.

    Cutting [0, 1] at the cumulative weights of all parts gives at most Σ_k dim_k + 1 pieces, each
    with one choice in every part.
    """
    sizes = [part.dim for part in plans.parts]
    pieces = np.split(target, np.cumsum(sizes)[:-1])
    found = [
        decompose(part, piece, tolerance) for part, piece in zip(plans.parts, pieces, strict=True)
    ]
    ends = [np.append(np.cumsum(weights)[:-1], 1.0) for _, weights in found]
    cuts = np.unique(np.concatenate(ends))
    widths = np.diff(cuts, prepend=0.0)
    middles = cuts - widths / 2
    number = np.zeros(len(cuts), dtype=np.int64)
    for part, (choices, _), until in zip(plans.parts, found, ends, strict=True):
        number = number * int(part.size or 0) + choices[np.searchsorted(until, middles)]
    used = widths > _NEGLIGIBLE
    return number[used], widths[used] / widths[used].sum()


def _on_parabola(curve: Curve, target: Vector, tolerance: float) -> tuple[Column, Vector] | None:
    """Closed form for t ↦ (t, t²): mean m and variance v on two points; None for other curves.

    The points m ± √v if both are in the interval; else the end that is passed, and the point
    beyond the mean at distance v/(m − end).
    """
    probes = np.linspace(curve.low, curve.high, 5)
    if not np.array_equal(curve.embed(probes), np.column_stack((probes, probes * probes))):
        return None
    mean, variance = float(target[0]), float(target[1] - target[0] ** 2)
    size = max(abs(curve.low), abs(curve.high), curve.low**2, curve.high**2)
    room = (mean - curve.low) * (curve.high - mean)
    if not (curve.low <= mean <= curve.high and 0 <= variance <= room):
        return None  # at or beyond the edge of the hull: the oracle tells how far
    spread = variance**0.5
    if spread == 0.0:
        actions = np.array([mean])
        weights = np.ones(1)
    else:
        left, right = mean - spread, mean + spread
        if left < curve.low:
            left, right = curve.low, mean + variance / (mean - curve.low)
        elif right > curve.high:
            left, right = mean - variance / (curve.high - mean), curve.high
        actions = np.clip([left, right], curve.low, curve.high)
        share = (actions[1] - mean) / (actions[1] - actions[0])
        weights = np.array([share, 1 - share])
    missed = float(np.abs(weights @ curve.embed(actions) - target).max())
    return (actions, weights) if missed <= tolerance * size else None


def _as_point(point: Any, dim: int) -> Vector:
    try:
        array = np.array(point, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"point must be {dim} numbers, got {point!r}") from None
    if array.shape != (dim,) or not np.isfinite(array).all():
        raise ValueError(f"point must be {dim} finite numbers, got {point!r}")
    return array

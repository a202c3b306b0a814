"""A mixed action with a given mean: Carathéodory's theorem, by the linear oracle alone.

The nearest point of the hull is found by Wolfe's method: a handful of affinely independent
actions is carried along, the best action towards the target joins them, and those that the
nearest point of their affine hull does not need leave again. No list of actions is ever looked
through except by the oracle, so a continuum will do.
"""

from __future__ import annotations

from typing import NamedTuple, NoReturn, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from fullswap.base import checks
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.games.actions import ActionSet, Column, Curve
from fullswap.games.plans import Product

Mixed: TypeAlias = tuple[Column, Vector]  # actions and their weights
_STEPS = 1000  # of Wolfe's method at most; tens are usual, more are circles of rounding errors
_ROUNDING = 4e-15  # share of the largest coordinate by which means are off by rounding
_NEGLIGIBLE = 1e-14  # weights up to this leave the support
_NO_GAIN = 1e-15  # gains of this share of the largest coordinate are rounding errors
_OUTSIDE = 1e-7  # a point is outside, and how far is known, once no step gains this share of it
_TINY = 1e-300  # divisors are at least this: a weight that does not fall takes no step to its end


@runtime_checkable
class Decomposes(Protocol):
    """A set that knows a way of its own."""

    def decompose(self, point: Vector, tolerance: float) -> Mixed:
        """Actions and weights whose mean embedding is the point."""


class Nearest(NamedTuple):
    """The point of a hull nearest to a target, as a mixed action."""

    actions: Column
    weights: Vector
    distance: float
    allowed: float  # distances up to this count as 0


def decompose(action_set: ActionSet, point: ArrayLike, tolerance: float = 1e-9) -> Mixed:
    """At most dim + 1 actions and their weights, with Σ_k weights[k]·v(actions[k]) = point.

    The point (dim,) lies in the hull of the embeddings, up to ``tolerance`` in units of its largest
    extent and up to rounding, or a ValueError says how far outside. Sets that know a way of their
    own have a method ``decompose(point, tolerance)``.

    Examples
    --------
    >>> from fullswap.games import Vectors
    >>> square = Vectors([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> actions, weights = decompose(square, [0.5, 0.25])
    >>> weights @ square.embed(actions)
    array([0.5 , 0.25])
    """
    checks.instance("action_set", action_set, ActionSet, "a set of fullswap.games")
    target = checks.vector("point", point, action_set.dim)
    if not 0 < checks.setting("tolerance", tolerance) < 1:
        checks.refuse("tolerance", "lie between 0 and 1", tolerance)
    if isinstance(action_set, Decomposes):
        return action_set.decompose(target, tolerance)
    if isinstance(action_set, Product):
        return _part_by_part(action_set, target, tolerance)
    if isinstance(action_set, Curve) and action_set.dim == 2:
        pair = _on_parabola(action_set, target, tolerance)
        if pair is not None:
            return pair
    actions, weights, distance, allowed = nearest(action_set, target, tolerance)
    if distance > allowed:
        refuse_outside(distance)
    return actions, weights


def refuse_outside(distance: float) -> NoReturn:
    """The ValueError for a point that is no mean of actions."""
    raise ValueError(f"point must lie in the hull of the actions, got one {distance:.6g} away")


def nearest(action_set: ActionSet, target: Vector, tolerance: float) -> Nearest:
    """The point of the hull nearest to the target, with weights that sum to 1."""
    actions, _ = action_set.best(target[None, :])
    offsets = action_set.embed(actions) - target
    weights = np.ones(1)
    axes = np.eye(len(target))
    # the largest coordinate of an embedding, either way, and how far apart embeddings are
    ends = action_set.best(np.vstack((axes, -axes)))[1].reshape(2, -1)
    size = max(float(np.abs(ends).max()), float(np.abs(target).max())) or 1.0
    allowed = tolerance * float(ends.sum(axis=0).max()) + _ROUNDING * size
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
        if gain <= _NO_GAIN * size or (distance - gain > allowed and gain <= _OUTSIDE * distance):
            break
        candidates, rows = np.concatenate((actions, towards)), np.vstack((offsets, offset))
        shares, needed = _minimise(rows, np.append(weights, 0.0))
        if needed[-1] != len(actions) or (offsets == offset).all(axis=1).any():
            break  # within rounding nothing is nearer
        actions, offsets, weights = candidates[needed], rows[needed], shares
    return Nearest(actions, weights, distance, allowed)


def _minimise(offsets: Points, weights: Vector) -> tuple[Vector, Indices]:
    """Convex weights of the shortest combination, from given ones, and which rows they need."""
    needed = np.arange(len(offsets))
    while True:
        # weights with sum 1, of any sign, of the shortest combination
        first, others = offsets[needed[0]], offsets[needed[1:]]
        shares = np.linalg.lstsq((others - first).T, -first, rcond=None)[0]
        wanted = np.append(1.0 - shares.sum(), shares)
        out = wanted <= _NEGLIGIBLE
        if not out.any():
            return wanted, needed
        # go towards the affine minimiser until the first weight is used up
        steps = weights[out] / np.maximum(weights[out] - wanted[out], _TINY)
        step = min(1.0, float(steps.min()))
        weights = weights + step * (wanted - weights)
        stays = weights > _NEGLIGIBLE
        stays[np.flatnonzero(out)[steps.argmin()]] = False
        needed, weights = needed[stays], weights[stays]


def _part_by_part(plans: Product, target: Vector, tolerance: float) -> Mixed:
    """Cut [0, 1] at the cumulative weights of all parts: Σ_k dim_k + 1 pieces at most."""
    pairs = zip(plans.parts, plans.split(target), strict=True)
    mixed = [decompose(part, piece, tolerance) for part, piece in pairs]
    ends = [np.append(np.cumsum(weights)[:-1], 1.0) for _, weights in mixed]
    cuts = np.unique(np.concatenate(ends))
    widths = np.diff(cuts, prepend=0.0)
    middles = cuts - widths / 2
    number = np.zeros(len(cuts), dtype=np.int64)
    for part, (choices, _), until in zip(plans.parts, mixed, ends, strict=True):
        number = number * part.size + choices[np.searchsorted(until, middles)]
    used = widths > _NEGLIGIBLE
    return number[used], widths[used] / widths[used].sum()


def _on_parabola(curve: Curve, target: Vector, tolerance: float) -> Mixed | None:
    """Closed form for t ↦ (t, t²): mean m and variance v on two points; None for other curves.

    That is m ± √v, or the end that is passed and the point beyond the mean at v/(m − end).
    """
    # five places tell other curves apart; should one slip through, its mean is checked below
    probes = np.linspace(curve.low, curve.high, 5)
    if not np.array_equal(curve.embed(probes), np.column_stack((probes, probes * probes))):
        return None
    mean, variance = float(target[0]), float(target[1] - target[0] ** 2)
    size = max(abs(curve.low), abs(curve.high), curve.low**2, curve.high**2)
    room = (mean - curve.low) * (curve.high - mean)
    if not (curve.low <= mean <= curve.high and 0 <= variance <= room):
        return None  # at or beyond the edge of the hull: the oracle tells how far
    spread = variance**0.5
    actions, weights = np.array([mean]), np.ones(1)
    if spread:
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

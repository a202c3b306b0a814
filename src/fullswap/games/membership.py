"""A mixed action with a given mean where only membership of the hull can be tested.

Carathéodory's construction: go from an action through the point until the hull ends. The point is
then a mixture of that action and of the exit, which lies on a face of lower dimension, without
that action; go on with the exit.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullswap.base import checks
from fullswap.base.protocols import Points, Vector
from fullswap.games.actions import ActionSet, Vectors
from fullswap.games.decompose import Mixed, nearest, refuse_outside

Contains = Callable[[Points], NDArray[np.bool_]]
"""Points (m, dim) ↦ which of them lie in the hull, (m,)."""
_HALVINGS = 52  # of the stretch beyond the point: to the last digit
_MARGIN = 64.0  # tolerances by which the hull is shrunk for each dimension that is left
_LISTED = 100_000  # actions that can all be tried
_EXACT = 1e-13  # tolerance of the last step, which is a matter of rounding alone


def decompose_by_membership(
    contains: Contains, actions: ActionSet, point: ArrayLike, tolerance: float = 1e-9
) -> Mixed:
    """At most dim + 1 actions and weights with this mean, from a test of membership.

    From every action a the farthest y_a = x + s_a·(x − a) in the hull is found by bisection. An
    action with s_a > 0 has positive weight in some mixture with mean x; the one with the largest
    s_a leaves the smallest rest: x = (s_a·a + y_a)/(1 + s_a). The same is done with y_a, which lies
    on a face without a, and so at most dim times. The weights are found anew at the end: those of
    the point nearest to x in the hull of the actions that reached farthest on the way, at most
    2·dim of each face.

    It asks for 52·dim·n memberships, in 52·dim calls. What is needed of the test: it says yes to
    points inside, and no to points that are outside by more than ``tolerance``, as a share of the
    size of the hull. Exits are taken from a hull that is shrunk towards its middle by 64·(dim + 1)
    tolerances, less from face to face, so that a test that errs so little does no harm. Hulls that
    are thinner than that in some direction may defeat it. The result is checked: a ValueError says
    how far its mean would be from the point, if that is more than 100 tolerances. ``decompose`` is
    faster, and exact, where best responses are known.

    Parameters
    ----------
    contains : callable
        Points (m, dim) ↦ booleans (m,), such as the ``contains`` of a set of ``fullswap.sets``.
    actions : ActionSet
        Finitely many, at most 100,000.
    point : array (dim,)
    tolerance : float

    Examples
    --------
    >>> from fullswap.games import Vectors
    >>> from fullswap.sets import Box
    >>> square = Vectors([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> chosen, weights = decompose_by_membership(Box([0, 0], [1, 1]).contains, square, [0.5, 0.25])
    >>> (weights @ square.embed(chosen)).round(9)
    array([0.5 , 0.25])
    """
    checks.instance("actions", actions, ActionSet, "a set of fullswap.games")
    if actions.size is None or actions.size > _LISTED:
        checks.refuse("actions", f"be at most {_LISTED:,}, which are all tried", actions.size)
    if not callable(contains):
        checks.refuse("contains", "be a function of points (m, dim)", contains)
    target = checks.vector("point", point, actions.dim)
    if not 0 < checks.setting("tolerance", tolerance) < 1:
        checks.refuse("tolerance", "lie between 0 and 1", tolerance)
    corners = actions.embed(np.arange(actions.size))
    size = float(np.ptp(corners, axis=0).max()) or 1.0
    if not _inside(contains, target[None, :])[0]:
        distance = nearest(Vectors(corners), target, tolerance).distance
        refuse_outside(distance)
    chosen = _faces(contains, corners, target, tolerance, size)
    mixed = nearest(Vectors(corners[chosen]), target, _EXACT)
    if mixed.distance > 100 * tolerance * size:
        raise ValueError(
            "contains must tell what lies in the hull of the actions to within tolerance = "
            f"{tolerance:g} of its size, got a test by which the mean stays {mixed.distance:.3g} "
            "from the point"
        )
    return np.asarray(chosen, dtype=np.int64)[mixed.actions], mixed.weights


def _faces(
    contains: Contains, corners: Points, target: Vector, tolerance: float, size: float
) -> list[int]:
    """An action for each face on the way from the point to a single action, and those near them."""
    chosen: list[int] = []
    others: list[int] = []
    middle, dim = corners.mean(axis=0), corners.shape[1]
    place = middle + (target - middle) / (1 + _MARGIN * tolerance * (dim + 1))
    for level in range(dim):
        offsets = place - corners
        lengths = np.linalg.norm(offsets, axis=1)
        # The hull is shrunk towards its middle, less each time. A test that allows for rounding
        # would say no to every step along a face from a place that it has only just let pass.
        shrunk = _MARGIN * tolerance * (dim - level)
        if lengths.min() <= 2 * shrunk * size:
            break  # the exit is an action
        reach = _reaches(contains, place, offsets, size * dim / lengths, middle, shrunk)
        best = int(reach.argmax())
        chosen.append(best)
        others += (-reach).argsort(kind="stable")[: 2 * dim].tolist()
        place = place + reach[best] * offsets[best]
    last = int(np.linalg.norm(place - corners, axis=1).argmin())
    return list(dict.fromkeys([*chosen, last, *others]))


def _reaches(
    contains: Contains, place: Vector, offsets: Points, most: Vector, middle: Vector, shrunk: float
) -> Vector:
    """The largest s (n,) with place + s·offset in the shrunk hull, for all actions at once."""
    low, high = np.zeros(len(offsets)), most.copy()
    for _ in range(_HALVINGS):
        tried = (low + high) / 2
        points = place + tried[:, None] * offsets
        inside = _inside(contains, points + shrunk * (points - middle))
        low, high = np.where(inside, tried, low), np.where(inside, high, tried)
    return low


def _inside(contains: Contains, points: Points) -> NDArray[np.bool_]:
    answers = np.asarray(contains(points))
    if answers.shape != (len(points),) or answers.dtype != bool:
        rule = f"give booleans of shape ({len(points)},) for points {points.shape}"
        checks.refuse("contains", rule, answers)
    return answers

"""The hull of a set of actions as a convex set, known through its linear oracle alone.

Mixed actions are points of K = conv{v}, and what a learner on K needs of it are linear minima,
dimension and diameter. Coordinates are orthonormal ones of the affine hull, seen from a point
inside: lengths stay what they are, flat hulls get full dimension, and none is far from 0.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullswap.base import checks
from fullswap.base.protocols import Points, Vector
from fullswap.games.actions import Action, ActionSet, Column, blocks, column_of
from fullswap.games.decompose import Decomposes, Mixed, decompose, refuse_outside
from fullswap.games.groups import quick
from fullswap.games.plans import Product, Sum
from fullswap.games.projection import Projector
from fullswap.games.regions import Region
from fullswap.learners.base import MOST_EXPERTS
from fullswap.sets import ConvexSetBase, Custom

_FLAT = 1e-9  # directions in which the hull is thinner than this share of its size do not count
_ROUNDING = 1e-12  # nor do those thinner than this share of its largest coordinate
_DIGITS = 12  # directions that agree to so many share an answer: off by 1e-12 of the diameter
_REMEMBERED = 100_000  # answers of the oracle, and mixed actions, that are remembered: some 10 MB
_LISTED = 20_000_000  # entries of embeddings that are all looked at: part of a second
_INSIDE = 1e-9  # points outside of the hull by this share of its diameter are rounding errors
# Directions in which a hull of dimension 2 or 3 is measured: diameters to 0.03 % and 1 %.
_IN_THE_PLANE, _IN_SPACE = 64, 200


@final
class Hull(ConvexSetBase):
    """conv{v(a)} of a set of actions, in coordinates y with x = origin + axes·y.

    The origin (d,) is a point of the relative interior, in the embedding space; the axes (d, dim)
    are an orthonormal basis of the directions of the affine hull.
    """

    origin: Vector
    axes: Points
    _actions: ActionSet
    _oracle: ActionSet  # the same, perhaps with faster best answers
    _owners: dict[bytes, Action]  # extreme points seen so far, and whose they are
    _answers: dict[bytes, Vector]  # what the oracle said, by unit direction
    _mixed: dict[bytes, Mixed]  # points that projections have returned, and their mixed actions
    _projector: Projector

    def __init__(self, actions: ActionSet) -> None:
        checks.instance("actions", actions, ActionSet, "a set of fullswap.games")
        origin, axes = affine_frame(actions)
        dim = axes.shape[1]
        if not dim:
            checks.refuse("actions", "have at least two different embeddings", actions)
        frame = {"origin": origin, "axes": axes, "center": np.zeros(dim)}
        across = diameter(actions, origin, axes)
        sizes = {"dim": dim, "ambient_dim": dim, "diameter": across}
        known: dict[str, Any] = {"_owners": {}, "_answers": {}, "_mixed": {}}
        oracle = quick(actions)
        projector = Projector(oracle, origin, axes, across)
        known |= {"_actions": actions, "_oracle": oracle, "_projector": projector}
        self._store(**frame, **sizes, **known)

    # What others remember of a set, by value, must not be mixed up with the extreme points that
    # this very object remembers.
    __eq__, __hash__ = object.__eq__, object.__hash__

    @property
    def actions(self) -> ActionSet:
        """Whose hull it is."""
        return self._actions

    def mixed_at(self, point: Vector) -> Mixed:
        """A mixed action whose mean is the point (dim,): actions and their weights.

        One action where the point is known to be its embedding, as answers of ``minimize_linear``
        are; at most dim + 1 else. A ValueError says how far outside of the hull a point is.
        """
        key = (point + 0.0).tobytes()
        if key in self._owners:
            return column_of([self._owners[key]]), np.ones(1)
        if key not in self._mixed:
            if isinstance(self._actions, Decomposes):
                return decompose(self._actions, self.origin + self.axes @ point, _INSIDE)
            nearest = self._projected(point[None, :])[0]
            distance = float(np.linalg.norm(nearest - point))
            if distance > _INSIDE * self.diameter:
                refuse_outside(distance)
            self._mixed[key] = self._mixed[(nearest + 0.0).tobytes()]
        return self._mixed[key]

    @cached_property
    def vertices(self) -> Points | None:
        """Embeddings of at most 2,000 actions, those inside of the hull left out; else None."""
        size = self._actions.size
        if size is None or size > MOST_EXPERTS:
            return None
        points = np.unique(self._seen(np.arange(size)), axis=0)
        if len(points) <= self.dim + 1:
            return points
        # once all of them have been projected, those that are extreme are among the corners
        projector = Projector(self._actions, self.origin, self.axes, self.diameter)
        projector.mixtures(points)
        return np.unique(self._seen(projector.actions_of(slice(None))), axis=0)

    @cached_property
    def reach(self) -> float:
        """No point of the hull is farther from its centre than this, exact for finite sets."""
        return min(self.diameter, radius(self._actions, self.origin), super().reach)

    def moved(self, scale: float = 1.0, shift: ArrayLike = 0.0) -> Custom:
        """Return {scale·y + shift}, given by functions."""
        project, minimise = self._project, self._minimize_linear
        return Custom(self.dim, project, minimise, self.diameter).moved(scale, shift)

    def _parameters(self) -> dict[str, Any]:
        return {"actions": self._actions}

    def _seen(self, actions: Column) -> Points:
        """Coordinates of actions, which are remembered."""
        points = (self._actions.embed(actions) - self.origin) @ self.axes + 0.0
        for point, action in zip(points, actions, strict=True):
            self._owners.setdefault(point.tobytes(), action)
        return points

    def _minimize_linear(self, directions: Points) -> Points:
        # approximations grow point by point and ask for most facets again each time
        lengths = np.linalg.norm(directions, axis=1, keepdims=True)
        units = directions / np.where(lengths > 0, lengths, 1.0)
        keys = [key.tobytes() for key in np.round(units, _DIGITS) + 0.0]
        if len(self._answers) > _REMEMBERED:
            self._answers.clear()
        new = [i for i, key in enumerate(keys) if key not in self._answers]
        if new:
            points = self._seen(self._oracle.best(-units[new] @ self.axes.T)[0])
            self._answers.update(zip((keys[i] for i in new), points, strict=True))
        return np.array([self._answers[key] for key in keys])

    def _project(self, points: Points) -> Points:
        return self._projected(points)

    def _projected(self, points: Points) -> Points:
        """Nearest points (m, dim), whose mixed actions are remembered."""
        if len(self._mixed) > _REMEMBERED:
            self._mixed.clear()
        nearest, corners, weights = self._projector.mixtures(points)
        used = weights > 0
        for point, row, shares, own in zip(nearest, corners, weights, used, strict=True):
            shown = self._projector.actions_of(row[own]), shares[own]
            self._mixed[(point + 0.0).tobytes()] = shown
        return nearest

    def _contains(self, points: Points, slack: Vector) -> NDArray[np.bool_]:
        return np.asarray(np.linalg.norm(points - self._project(points), axis=1) <= slack)

    def _minimize_concave(self, curvature: Vector, slope: Points) -> Points:
        corners = self.vertices
        if corners is None:
            raise NotImplementedError(
                f"curvature must be >= 0, got {curvature.min()}: linear minima do not tell the "
                "minimum of a concave quadratic function over the hull of more than "
                f"{MOST_EXPERTS} actions"
            )
        values = slope @ corners.T + curvature[:, None] * np.square(corners).sum(axis=1)
        return np.asarray(corners[values.argmin(axis=1)])


def affine_frame(actions: ActionSet) -> tuple[Vector, Points]:
    """A point inside the hull, and an orthonormal basis (d, k) of its directions; k may be 0.

    Directions are tried at random (fixed seed) orthogonally to those known: a hull that is flat
    in such a direction is flat in all of them.
    """
    d = actions.dim
    both = np.vstack((np.eye(d), -np.eye(d)))
    corners = actions.embed(actions.best(both)[0])
    size = float(np.ptp(corners, axis=0).max())
    thin = max(_FLAT * size, _ROUNDING * float(np.abs(corners).max()))
    axes = np.zeros((d, 0))
    generator = np.random.default_rng(0)
    while axes.shape[1] < d:
        direction = generator.standard_normal(d)
        for _ in range(2):  # twice: once leaves rounding errors along the axes
            direction -= axes @ (axes.T @ direction)
        direction /= np.linalg.norm(direction)
        ends = actions.embed(actions.best(np.array([direction, -direction]))[0])
        edge = ends[0] - ends[1]
        if edge @ direction <= thin:
            break
        corners = np.vstack((corners, ends))
        for _ in range(2):
            edge = edge - axes @ (axes.T @ edge)
        axes = np.column_stack((axes, edge / np.linalg.norm(edge)))
    return corners.mean(axis=0), axes


def diameter(actions: ActionSet, origin: Vector, axes: Points) -> float:
    """The diameter of the hull, exact or a little above.

    Exact for few actions, products of such sets, regions and lines. In two and three dimensions
    from widths: the longest chord is within an angle δ of a direction that is tried, so it is at
    most the largest width over cos δ. Beyond that, the diagonal of the bounding box along the
    axes, or what is known of the embeddings if that is less.
    """
    if isinstance(actions, Region):
        return actions.action_set.diameter
    if isinstance(actions, Product):
        return math.sqrt(sum(diameter(part, *affine_frame(part)) ** 2 for part in actions.parts))
    if actions.size is not None and actions.size <= MOST_EXPERTS:
        points = actions.embed(np.arange(actions.size))
        return max(float(np.linalg.norm(points - point, axis=1).max()) for point in points)
    k = axes.shape[1]
    if not k:
        return 0.0
    directions, cosine = _spread(k)
    along = directions @ axes.T
    reach = actions.best(along)[1] + actions.best(-along)[1]
    bounds = [float(reach.max()) / cosine if k <= 3 else float(np.linalg.norm(reach))]
    bounds.append(2 * radius(actions, origin))
    if isinstance(actions, Sum):
        bounds.append(sum(diameter(part, *affine_frame(part)) for part in actions.parts))
    return min(bounds)


def radius(actions: ActionSet, origin: Vector) -> float:
    """The largest distance of an embedding from there, if they are few enough to look at all."""
    if actions.size is None or actions.size * actions.dim > _LISTED:
        return math.inf
    largest = 0.0
    for rows in blocks(actions.size, actions.dim):
        own = actions.embed(np.arange(*rows.indices(actions.size)))
        largest = max(largest, float(np.linalg.norm(own - origin, axis=1).max()))
    return largest


def _spread(k: int) -> tuple[Points, float]:
    """Directions up to sign, and the cosine of the angle within which one lies near any other."""
    if k == 2:
        angle = np.pi * np.arange(_IN_THE_PLANE) / _IN_THE_PLANE
        nearest_one = math.cos(np.pi / (2 * _IN_THE_PLANE))
        return np.column_stack((np.cos(angle), np.sin(angle))), nearest_one
    if k == 3:
        from scipy.spatial import ConvexHull

        # golden angle around the axis, equal areas in height, one of every two opposite ones
        height = (np.arange(_IN_SPACE) + 0.5) / _IN_SPACE
        turn = np.pi * (3 - math.sqrt(5)) * np.arange(_IN_SPACE)
        ring = np.sqrt(1 - height**2)
        directions = np.column_stack((ring * np.cos(turn), ring * np.sin(turn), height))
        facets = ConvexHull(np.vstack((directions, -directions))).equations
        return directions, float(-facets[:, -1].max())
    return np.eye(k), 1.0

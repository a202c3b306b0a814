"""Sets given by functions, which are compared with each other at construction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np
import numpy.typing as npt

from fullswap.base import checks
from fullswap.sets.base import EPS, LARGEST, Array, Booleans, ConvexSetBase, positive

RowFunction = Callable[[Array], Any]


@final
class Custom(ConvexSetBase):
    """A set of full dimension given by functions on arrays of shape (m, dim).

    ``project`` gives the nearest points of the set and ``minimize_linear`` the minimisers of
    ⟨direction, x⟩ over it, in the shape of what they are given; ``diameter`` is an upper bound;
    ``contains`` gives booleans (m,), without it a point belongs to the set if ``project`` leaves it
    where it is. The functions are compared with each other on a fixed sample of points, and are
    taken to be exact up to rounding by every guarantee.

    Examples
    --------
    >>> from fullswap.sets import Ball
    >>> disc = Ball([0.0, 0.0], 1.0)
    >>> Custom(2, disc.project, disc.minimize_linear, diameter=2.0).project([0.0, 3.0])
    array([0., 1.])
    """

    _project_rows: RowFunction
    _minimize_rows: RowFunction
    _contains_rows: RowFunction | None

    def __init__(
        self,
        dim: int,
        project: RowFunction,
        minimize_linear: RowFunction,
        diameter: float,
        contains: RowFunction | None = None,
    ) -> None:
        dim = checks.whole("dim", dim, 1)
        diameter = positive("diameter", diameter)
        for name, function in [("project", project), ("minimize_linear", minimize_linear)]:
            if not callable(function):
                checks.refuse(name, "be a function", function)
        if contains is not None and not callable(contains):
            checks.refuse("contains", "be a function or None", contains)
        ends = _call("minimize_linear", minimize_linear, _probes(dim))
        center = _call("project", project, ends.mean(axis=0, keepdims=True))[0]
        names = ("_project_rows", "_minimize_rows", "_contains_rows")
        functions = dict(zip(names, (project, minimize_linear, contains), strict=True))
        self._store(dim=dim, ambient_dim=dim, diameter=diameter, center=center, **functions)
        _check_custom(self)

    def _parameters(self) -> dict[str, Any]:
        functions = {"project": self._project_rows, "minimize_linear": self._minimize_rows}
        members = {} if self._contains_rows is None else {"contains": self._contains_rows}
        return {"dim": self.dim, **functions, "diameter": self.diameter, **members}

    @property
    def vertices(self) -> None:
        """None: the functions do not tell."""
        return None

    def moved(self, scale: float = 1.0, shift: npt.ArrayLike = 0.0) -> Custom:
        """Return the set {scale·x + shift}, with functions that go there and back."""
        factor, offset = self._moving(scale, shift)
        project, minimize_linear = self._project_rows, self._minimize_rows
        contains = self._contains_rows
        return Custom(
            self.dim,
            lambda points: factor * project((points - offset) / factor) + offset,
            lambda directions: factor * minimize_linear(directions) + offset,
            factor * self.diameter,
            None if contains is None else lambda points: contains((points - offset) / factor),
        )

    def _project(self, points: Array) -> Array:
        return _call("project", self._project_rows, points)

    def _contains(self, points: Array, slack: Array) -> Booleans:
        near: Booleans = np.linalg.norm(points - self._project(points), axis=1) <= slack
        contains = self._contains_rows
        return near if contains is None else near | _call_contains(contains, points)

    def _minimize_linear(self, directions: Array) -> Array:
        # The function need not know what to do with the direction 0: it gets the first axis.
        some = np.where(directions.any(axis=1, keepdims=True), directions, np.eye(1, self.dim))
        return _call("minimize_linear", self._minimize_rows, some)

    def _minimize_concave(self, curvature: Array, slope: Array) -> Array:
        raise NotImplementedError(
            f"curvature must be >= 0 on a Custom set, got {curvature.min()}: its functions do not "
            "tell where a concave function is least. Describe it as a Polytope, Box or Ball"
        )


def _call(name: str, function: RowFunction, rows: Array) -> Array:
    """Call a function of the user's; it must return finite numbers in the shape of ``rows``."""
    handed = rows.copy()  # the function may write on what it is given
    result = checks.floats(f"the result of {name}", function(handed), LARGEST)
    if result.shape != rows.shape:
        checks.refuse_shape(f"the result of {name}", str(rows.shape), result)
    return result


def _call_contains(function: RowFunction, rows: Array) -> Booleans:
    result = np.asarray(function(rows.copy()))
    if result.shape != (len(rows),) or result.dtype != np.bool_:
        raise ValueError(
            f"the result of contains must be booleans of shape ({len(rows)},), "
            f"got {result.dtype} of shape {result.shape}"
        )
    return result


def _probes(dim: int) -> Array:
    """Return directions (m, dim): both ways along the axes, and a fixed sample of others.

    Along the axes alone a set may show its faces, whose minimisers can all lie in one of them.
    """
    others = np.random.default_rng(0).normal(size=(max(16, 2 * dim), dim))
    return np.vstack([np.eye(dim), -np.eye(dim), others])


def _check_custom(custom: Custom) -> None:
    """Raise ValueError if the functions of a custom set contradict each other on a sample."""
    from scipy.spatial.distance import cdist

    dim, center, diameter = custom.dim, custom.center, custom.diameter
    directions = _probes(dim)
    support = custom._minimize_linear(directions)
    radii = diameter * np.repeat([0.1, 0.5, 3.0], 16)[:, np.newaxis]
    around = center + radii * np.random.default_rng(1).normal(size=(48, dim))
    sample = np.vstack([around, center - diameter * directions, support])
    nearest = custom._project(sample)
    known = np.vstack([support, nearest])
    moves = np.linalg.norm(custom._project(known) - known, axis=1)
    offsets = sample - nearest
    lengths = np.linalg.norm(offsets, axis=1)
    steepness = np.linalg.norm(directions, axis=1)[:, np.newaxis]
    # Positions may be off by this much, as those of a projection that iterates are.
    slack = 1e-6 * diameter + 32.0 * EPS * float(np.abs(known).max())

    def refuse(excess: Array, name: str, what: str) -> None:
        if excess.max() > slack:
            by = f"{what} (by {excess.max():.3g})"
            raise ValueError(f"{name} must be consistent with the other functions, got: {by}")

    refuse(moves[len(support) :], "project", "projecting a second time moves points")
    stretched = cdist(nearest, nearest) - cdist(sample, sample)
    refuse(stretched, "project", "two points are farther apart after it than before")
    refuse(moves[: len(support)], "minimize_linear", "it returns points that project moves")
    products = (offsets @ (known - center).T) - (offsets * (nearest - center)).sum(1)[:, np.newaxis]
    nearer = products / (lengths + diameter)[:, np.newaxis]
    refuse(nearer, "project", "some point of the set is nearer, ⟨x − Px, y − Px⟩ > 0")
    values = directions @ (known - center).T
    smaller = (np.diagonal(values)[:, np.newaxis] - values) / steepness
    refuse(smaller, "minimize_linear", "a point returned by project has a smaller value")
    farther = f"it is {diameter}, and two points of the set are farther apart"
    refuse(cdist(known, known) - diameter, "diameter", farther)
    if np.linalg.svd(known - center, compute_uv=False)[-1] <= 1e-9 * diameter:
        raise ValueError("project must map onto a set of full dimension, got a flat one")
    contains = custom._contains_rows
    if contains is None:
        return
    # A little outside and a little inside, because no rule can decide exactly on the boundary.
    out = lengths > slack
    just_outside = nearest[out] + 0.01 * diameter * offsets[out] / lengths[out, np.newaxis]
    accepted = int(_call_contains(contains, np.vstack([sample[out], just_outside])).sum())
    if accepted:
        raise ValueError(f"contains must reject what project moves, got {accepted} accepted")
    middle = known.mean(axis=0)
    rejected = int((~_call_contains(contains, middle + 0.99 * (known - middle))).sum())
    if rejected:
        raise ValueError(f"contains must accept points of the set, got {rejected} rejected")

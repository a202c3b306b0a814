"""Hypothesis strategies and samplers: convex sets of every kind, their points, losses on them."""

import numpy as np
from hypothesis import strategies as st

from fullswap.losses import Custom as CustomLoss
from fullswap.losses import Linear, Quadratic
from fullswap.sets import Ball, Box, ConvexSetBase, Custom, Interval, Polytope, Simplex

KINDS = ("interval", "box", "simplex", "ball", "polytope", "custom")
seeds = st.integers(0, 10_000)


def ellipsoid(center, axes) -> Custom:
    """Return {x : Σ ((x_i − center_i)/axes_i)² ≤ 1} described by functions.

    The nearest point to y = center + offset is center + axes²·offset/(axes² + t) with t >= 0 the
    root of a falling function, found by bisection.
    """
    center, axes = np.asarray(center, dtype=float), np.asarray(axes, dtype=float)

    def project(points):
        offset = points - center
        outside = np.square(offset / axes).sum(axis=1) > 1
        low = np.zeros(len(points))
        high = np.linalg.norm(offset, axis=1) * axes.max()
        for _ in range(100):
            middle = (low + high) / 2
            inside = np.square(axes * offset / (axes**2 + middle[:, None])).sum(axis=1) > 1
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        nearest = center + axes**2 * offset / (axes**2 + high[:, None])
        return np.where(outside[:, None], nearest, points)

    def minimize_linear(directions):
        length = np.linalg.norm(axes * directions, axis=1, keepdims=True)
        return center - axes**2 * directions / length

    return Custom(len(center), project, minimize_linear, diameter=2 * float(axes.max()))


def make_set(kind: str, dim: int, seed: int) -> ConvexSetBase:
    """Return an off-centre set of no special size; boxes, polytopes, ellipsoids are anisotropic."""
    rng = np.random.default_rng([seed, dim])
    low = rng.normal(scale=2.0, size=dim)
    sides = 10.0 ** rng.uniform(-0.5, 0.5, size=dim)
    if kind == "interval":
        return Interval(low[0], low[0] + sides[0])
    if kind == "box":
        return Box(low, low + sides)
    if kind == "simplex":
        return Simplex(dim, sides[0], rng.normal(size=dim + 1) * (seed % 2))
    if kind == "ball":
        return Ball(low, sides[0])
    if kind == "custom":
        return ellipsoid(low, sides)
    corners = rng.normal(size=(dim + 2 + seed % 5, dim)) * sides
    if seed % 3 == 0:  # points of a coarse lattice: right angles, parallel and coplanar facets
        corners = np.vstack([np.round(corners), np.zeros(dim), 2 * np.eye(dim)])
    return Polytope(low + corners)


@st.composite
def convex_sets(draw, kinds=KINDS, dims=(1, 2, 3)) -> ConvexSetBase:
    """Draw a set of one of the kinds and dimensions (intervals have dimension 1)."""
    kind = draw(st.sampled_from(kinds))
    dim = 1 if kind == "interval" else draw(st.sampled_from(dims))
    return make_set(kind, dim, draw(seeds))


def extreme_points(action_set: ConvexSetBase, rng, count: int = 20):
    """Return extreme points (m, A): all vertices if they are known, else random ones."""
    if action_set.vertices is not None:
        return np.array(action_set.vertices)
    return action_set.minimize_linear(rng.normal(size=(count, action_set.ambient_dim)))


def members(action_set: ConvexSetBase, rng, count: int = 60):
    """Return points (m, A) of the set: random mixtures of extreme points, and those themselves."""
    extreme = extreme_points(action_set, rng)
    few = np.minimum(1.0, 4.0 / len(extreme))  # sparse mixtures come near the boundary as well
    weights = rng.dirichlet(np.full(len(extreme), few), size=count)
    return np.vstack([weights @ extreme, extreme])


@st.composite
def set_points(draw, action_set: ConvexSetBase, count: int = 20):
    """Draw points (m, A) of the set, extreme ones among them."""
    return members(action_set, np.random.default_rng(draw(seeds)), count)


@st.composite
def quadratics(draw, action_set: ConvexSetBase, signs=(-1.0, 1.0)):
    """Draw scale·‖x − center‖², the centre in or about the set, with L and β on the set."""
    rng = np.random.default_rng(draw(seeds))
    scale = draw(st.sampled_from(signs)) * draw(st.floats(0.1, 10.0))
    spread = rng.normal(size=action_set.ambient_dim) * action_set.diameter
    center = action_set.center + draw(st.sampled_from([0.0, 0.3, 2.0])) * spread
    loss = Quadratic(center, scale)
    lipschitz = 2 * abs(scale) * (np.linalg.norm(action_set.center - center) + action_set.diameter)
    return loss, lipschitz, 2 * abs(scale)


@st.composite
def lipschitz_losses(draw, action_set: ConvexSetBase):
    """Draw a loss that need not be smooth, convex or concave, with its Lipschitz constant."""
    rng = np.random.default_rng(draw(seeds))
    direction = rng.normal(size=action_set.ambient_dim)
    length = float(np.linalg.norm(direction))
    anchor = members(action_set, rng, 1)[0]
    kind = draw(st.sampled_from(["linear", "distance", "waves", "kinks"]))
    if kind == "linear":
        return Linear(direction), length
    if kind == "distance":
        return CustomLoss(lambda x: length * np.linalg.norm(x - anchor, axis=1)), length
    pace = float(rng.uniform(1, 20)) / action_set.diameter
    if kind == "waves":
        return CustomLoss(lambda x: np.sin(pace * (x @ direction)) / pace), length
    return CustomLoss(lambda x: -np.abs((x - anchor) @ direction)), length

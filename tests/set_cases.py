"""Sets of every kind for tests of sets, points about them, and exact references."""

import itertools
from fractions import Fraction

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from fullswap.sets import Ball, Box, Custom, Interval, Polytope, Simplex

KINDS = ["interval", "box", "simplex", "ball", "polytope", "custom"]
ROUNDING = 1e-13
many = settings(max_examples=100)


def custom_box(low, high, contains=True):
    """Return a box described by functions, as a user would."""
    return Custom(
        len(low),
        project=lambda points: np.clip(points, low, high),
        minimize_linear=lambda directions: np.where(directions > 0, low, high),
        diameter=float(np.linalg.norm(high - low)),
        contains=(lambda points: ((points >= low) & (points <= high)).all(axis=1))
        if contains
        else None,
    )


def make(kind, dim, seed):
    """Return an off-centre, anisotropic set of the kind and dimension (intervals have dim 1)."""
    rng = np.random.default_rng([seed, dim])
    low = rng.normal(size=dim)
    sides = 10.0 ** rng.uniform(-2, 1, size=dim)
    if kind == "interval":
        return Interval(low[0], low[0] + sides[0])
    if kind == "box":
        return Box(low, low + sides)
    if kind == "simplex":
        return Simplex(dim, sides[0], rng.normal(size=dim + 1))
    if kind == "ball":
        return Ball(low, sides[0])
    if kind == "custom":
        return custom_box(low, low + sides, contains=bool(seed % 2))
    points = rng.normal(size=(dim + 1 + seed % 6, dim)) * sides
    if seed % 3 == 0:
        points = np.round(points / sides.max(), 1) * sides.max()  # ties and coplanar points
        points = np.vstack([points, np.zeros(dim), sides.max() * np.eye(dim)])
    return Polytope(low + points)


@st.composite
def convex_sets(draw, kinds=tuple(KINDS), dims=(1, 2, 3, 4)):
    """Draw a set of any kind, some of them moved and scaled by several orders of magnitude."""
    made = make(draw(st.sampled_from(kinds)), draw(st.sampled_from(dims)), draw(seeds))
    if draw(st.booleans()):
        scale = 10.0 ** draw(st.integers(-4, 4))
        shift = draw(st.sampled_from([0.0, 1.0, -100.0])) * scale
        made = made.moved(scale, shift)
    return made


seeds = st.integers(0, 10_000)


def members(convex_set, rng, count=30):
    """Return random points of the set, and its vertices if it lists them."""
    if convex_set.vertices is not None:
        weights = rng.dirichlet(np.full(len(convex_set.vertices), 0.5), size=count)
        return np.vstack([weights @ convex_set.vertices, convex_set.vertices])
    if isinstance(convex_set, Ball):
        units = rng.normal(size=(count, convex_set.dim))
        units /= np.linalg.norm(units, axis=1, keepdims=True)
        units[::2] *= rng.uniform(size=(len(units[::2]), 1))
        return convex_set.center + convex_set.radius * units
    low = convex_set.minimize_linear(np.eye(convex_set.dim)).diagonal()
    high = convex_set.minimize_linear(-np.eye(convex_set.dim)).diagonal()
    return rng.uniform(low, high, size=(count, convex_set.dim))


def nearby(convex_set, rng, count=12):
    """Return points inside, close to and far from the set."""
    reach = convex_set.diameter * 10.0 ** rng.uniform(-2, 2, size=(count, 1))
    return convex_set.center + reach * rng.normal(size=(count, convex_set.ambient_dim))


def unit(convex_set, *arrays):
    """Return the size of the numbers that enter a computation, to which rounding is relative."""
    largest = max(float(np.abs(array).max()) for array in (convex_set.center, *arrays))
    return max(convex_set.diameter, largest)


# Exact references ---------------------------------------------------------------------------------


def solve_exactly(matrix, right):
    """Solve a small system of Fractions; None if it is singular."""
    size = len(matrix)
    rows = [list(row) + [value] for row, value in zip(matrix, right, strict=True)]
    for i in range(size):
        pivot = next((j for j in range(i, size) if rows[j][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for j in range(size):
            if j != i and rows[j][i]:
                factor = rows[j][i] / rows[i][i]
                rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [rows[i][size] / rows[i][i] for i in range(size)]


def project_exactly(vertices, point):
    """Project on a hull in rational arithmetic: the best over all simplices of vertices."""

    def dot(a, b):
        return sum(x * y for x, y in zip(a, b, strict=True))

    def minus(a, b):
        return [x - y for x, y in zip(a, b, strict=True)]

    exact = [[Fraction(float(x)) for x in vertex] for vertex in vertices]
    target = [Fraction(float(x)) for x in point]
    best = None
    for size in range(1, len(target) + 2):
        for first, *others in itertools.combinations(exact, size):
            edges = [minus(other, first) for other in others]
            gram = [[dot(a, b) for b in edges] for a in edges]
            steps = solve_exactly(gram, [dot(a, minus(target, first)) for a in edges])
            if steps is None or sum(steps) > 1 or any(step < 0 for step in steps):
                continue
            found = [
                x + sum(step * edge[i] for step, edge in zip(steps, edges, strict=True))
                for i, x in enumerate(first)
            ]
            distance = dot(minus(found, target), minus(found, target))
            if best is None or distance < best[0]:
                best = distance, found
    return np.array([float(x) for x in best[1]])


def excess_exactly(curvature, slope, found, others):
    """Return the largest f(found) − f(other), f(x) = curvature·‖x‖² + ⟨slope, x⟩, rounded once."""

    def value(x):
        x = [Fraction(float(t)) for t in x]
        linear = sum(Fraction(float(b)) * t for b, t in zip(slope, x, strict=True))
        return Fraction(float(curvature)) * sum(t * t for t in x) + linear

    mine = value(found)
    return max(float(mine - value(other)) for other in others)

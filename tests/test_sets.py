"""Convex sets: laws of projections and minimisers over every kind, exact references, bad input."""

import copy
import itertools
import math
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.spatial import ConvexHull
from scipy.spatial.distance import cdist, pdist

from fullswap.sets import Ball, Box, ConvexSetBase, Custom, Interval, Polytope, Simplex

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


# Laws of projections ------------------------------------------------------------------------------


@many
@given(convex_sets(), seeds)
def test_projection_is_idempotent_contained_and_fixes_members(convex_set, seed):
    rng = np.random.default_rng(seed)
    points = nearby(convex_set, rng)
    nearest = convex_set.project(points)
    size = unit(convex_set, points)
    assert nearest.shape == points.shape
    assert np.abs(convex_set.project(nearest) - nearest).max() <= ROUNDING * size
    assert convex_set.contains(nearest, tolerance=1e-12).all()
    inside = members(convex_set, rng)
    assert np.abs(convex_set.project(inside) - inside).max() <= ROUNDING * unit(convex_set, inside)


@many
@given(convex_sets(), seeds)
def test_projection_is_non_expansive(convex_set, seed):
    points = nearby(convex_set, np.random.default_rng(seed))
    nearest = convex_set.project(points)
    assert (pdist(nearest) <= pdist(points) + ROUNDING * unit(convex_set, points)).all()


@many
@given(convex_sets(), seeds)
def test_projection_satisfies_the_variational_inequality(convex_set, seed):
    rng = np.random.default_rng(seed)
    points, inside = nearby(convex_set, rng), members(convex_set, rng)
    nearest = convex_set.project(points)
    offsets = points - nearest
    products = np.einsum("ij,ikj->ik", offsets, inside - nearest[:, np.newaxis])
    lengths = np.linalg.norm(offsets, axis=1)[:, np.newaxis]
    # An error e of the projection changes the product by at most (‖x − Px‖ + diameter)·e.
    assert (products <= ROUNDING * unit(convex_set, points) * (lengths + convex_set.diameter)).all()


@many
@given(convex_sets(), seeds)
def test_contains_agrees_with_project(convex_set, seed):
    rng = np.random.default_rng(seed)
    around, (origin, basis) = nearby(convex_set, rng), convex_set.frame
    in_hull = origin + (around - origin) @ basis @ basis.T
    points = np.vstack([around, in_hull, members(convex_set, rng)])
    moves = np.linalg.norm(convex_set.project(points) - points, axis=1)
    slack = 1e-9 * np.maximum(np.abs(points).max(axis=1), max(1.0, convex_set.diameter))
    contained = convex_set.contains(points)
    assert contained[moves <= 0.5 * slack].all()
    # A point may be farther from a sharp corner than it is from every facet.
    assert not contained[moves > 1e4 * slack].any()


@pytest.mark.parametrize(
    ("convex_set", "point", "violation"),
    [
        (Interval(0.0, 1.0), [1.25], 0.2),
        (Interval(0.0, 1e6), [-0.25], 0.25e-6),
        (Interval(1e6, 1e6 + 0.5), [1e6 - 1.0], 1.0 / (1e6 - 1.0)),
        (Box([0.0, 0.0], [1.0, 1.0]), [0.5, -0.5], 0.5 / math.sqrt(2.0)),
        (Ball([0.0, 0.0], 0.25), [0.3, 0.4], 0.25),
        (Simplex(1), [1.5, -0.5], 0.5 / 1.5),
        (Simplex(1), [0.5, 1.0], 0.25),
        (Polytope([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), [0.75, 0.75], 0.25),
        (Polytope([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), [-0.5, 0.5], 0.5 / math.sqrt(2.0)),
    ],
)
def test_tolerance_is_relative_to_the_larger_of_one_diameter_and_coordinates(
    convex_set, point, violation
):
    assert convex_set.contains(point, tolerance=1.001 * violation)
    assert not convex_set.contains(point, tolerance=0.999 * violation)


@given(convex_sets(), seeds)
def test_rows_do_not_influence_each_other(convex_set, seed):
    rng = np.random.default_rng(seed)
    points = nearby(convex_set, rng)
    order = rng.permutation(len(points))
    close = ROUNDING * unit(convex_set, points)
    for operation in (convex_set.project, convex_set.minimize_linear):
        together = operation(points)
        assert np.abs(operation(points[order]) - together[order]).max() <= close
        for row, result in zip(points, together, strict=True):
            assert operation(row).shape == row.shape
            assert np.abs(operation(row) - result).max() <= close
    assert convex_set.contains(points).tolist() == [convex_set.contains(row) for row in points]
    assert isinstance(convex_set.contains(points[0]), bool)


@given(convex_sets(kinds=("box", "ball", "polytope")), seeds)
def test_interior_points_come_back_bit_for_bit_and_inputs_stay(convex_set, seed):
    rng = np.random.default_rng(seed)
    inside = 0.5 * members(convex_set, rng) + 0.5 * convex_set.center
    given_points = np.vstack([inside, nearby(convex_set, rng)])
    before = given_points.copy()
    nearest = convex_set.project(given_points)
    assert np.array_equal(nearest[: len(inside)], inside)
    assert np.array_equal(given_points, before)
    nearest[:] = 0.0
    assert np.array_equal(given_points, before)


@given(convex_sets(), seeds, st.floats(1e-3, 1e3), st.floats(-50.0, 50.0))
def test_moving_commutes_with_the_operations(convex_set, seed, scale, shift):
    rng = np.random.default_rng(seed)
    shift = shift + rng.normal(size=convex_set.ambient_dim)
    moved = convex_set.moved(scale, shift)
    assert type(moved) is type(convex_set) and moved.dim == convex_set.dim
    points = nearby(convex_set, rng)
    size = unit(moved, scale * points, shift)
    there_first = moved.project(scale * points + shift)
    assert np.abs(there_first - (scale * convex_set.project(points) + shift)).max() <= 1e-12 * size
    directions = rng.normal(size=points.shape)
    lowest = scale * convex_set.minimize_linear(directions) + shift
    assert np.abs(moved.minimize_linear(directions) - lowest).max() <= 1e-12 * size
    assert moved.diameter == pytest.approx(scale * convex_set.diameter, abs=1e-12 * size)
    assert np.abs(moved.center - (scale * convex_set.center + shift)).max() <= 1e-12 * size


@given(convex_sets())
def test_frame_and_center(convex_set):
    origin, basis = convex_set.frame
    assert basis.shape == (convex_set.ambient_dim, convex_set.dim)
    assert np.abs(basis.T @ basis - np.eye(convex_set.dim)).max() <= 1e-14
    points = members(convex_set, np.random.default_rng(0))
    rebuilt = origin + (points - origin) @ basis @ basis.T
    assert np.abs(rebuilt - points).max() <= ROUNDING * unit(convex_set, points)
    # In every direction the centre lies well between the ends of the set.
    directions = np.random.default_rng(1).normal(size=(20, convex_set.dim)) @ basis.T
    lowest = (convex_set.minimize_linear(directions) * directions).sum(axis=1)
    highest = (convex_set.minimize_linear(-directions) * directions).sum(axis=1)
    share = (directions @ convex_set.center - lowest) / (highest - lowest)
    if isinstance(convex_set, Custom):
        least = 0.05
    else:
        least = 0.5 if convex_set.vertices is None else 1.0 / len(convex_set.vertices)
    # Away from the origin the ends of a small set are themselves rounded.
    assert share.min() >= least - 1e-12 * unit(convex_set) / convex_set.diameter


@given(convex_sets(kinds=("interval", "box", "simplex", "ball"), dims=(1, 2, 3)), seeds)
def test_projection_against_sequential_quadratic_programming(convex_set, seed):
    rng = np.random.default_rng(seed)
    origin, scale = convex_set.center, convex_set.diameter
    target = rng.normal(size=convex_set.ambient_dim)

    if isinstance(convex_set, Ball):
        rules = [{"type": "ineq", "fun": lambda y: 0.25 - y @ y}]
        limits = None
    elif isinstance(convex_set, Simplex):
        rules = [{"type": "eq", "fun": lambda y: y.sum()}]
        limits = [(low, None) for low in (convex_set.shift - origin) / scale]
    else:
        rules, corners = [], (convex_set.vertices - origin) / scale
        limits = list(zip(corners.min(axis=0), corners.max(axis=0), strict=True))
    slow = minimize(
        lambda y: ((y - target) ** 2).sum(),
        np.zeros(convex_set.ambient_dim),
        method="SLSQP",
        bounds=limits,
        constraints=rules,
        options={"ftol": 1e-14, "maxiter": 300},
    ).x
    fast = (convex_set.project(origin + scale * target) - origin) / scale
    assert np.abs(fast - slow).max() <= 2e-6


# Projections on polytopes -------------------------------------------------------------------------


@many
@given(
    seeds,
    st.sampled_from([2, 3]),
    st.sampled_from([1.0, 1e-3, 1e-6, 1e-9]),
    st.sampled_from([0.0, 1.0, 1e3]),
    st.sampled_from([1e-9, 0.1, 1.0, 1e3, 1e7, 1e12]),
)
def test_polytope_projection_against_rational_arithmetic(seed, dim, thickness, offset, reach):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(dim + 1 + seed % 4, dim))
    points[:, -1] *= thickness
    rotation = np.linalg.qr(rng.normal(size=(dim, dim)))[0]
    polytope = Polytope(points @ rotation + offset * rng.normal(size=dim))
    start = polytope.center if seed % 2 else polytope.vertices[0]
    target = start + reach * polytope.diameter * rng.normal(size=dim)
    found = polytope.project(target)
    expected = project_exactly(polytope.vertices, target)
    assert np.abs(found - expected).max() <= 1e-14 * unit(polytope, target)
    assert polytope.contains(found, tolerance=1e-14)


@pytest.mark.parametrize("kind", ["box", "simplex"])
@pytest.mark.parametrize("seed", range(8))
def test_closed_forms_against_rational_arithmetic(kind, seed):
    convex_set = make(kind, 2 + seed % 2 * (kind == "box"), seed)
    for target in nearby(convex_set, np.random.default_rng(seed), count=3):
        expected = project_exactly(convex_set.vertices, target)
        found = convex_set.project(target)
        assert np.abs(found - expected).max() <= 1e-14 * unit(convex_set, target)


@given(st.integers(2, 6), seeds)
def test_cross_polytope_projects_like_the_simplex_of_absolute_values(dim, seed):
    cross = Polytope(np.vstack([np.eye(dim), -np.eye(dim)]))
    points = np.random.default_rng(seed).normal(size=(5, dim))
    outside = np.abs(points).sum(axis=1, keepdims=True) > 1.0
    on_sphere = np.sign(points) * Simplex(dim - 1).project(np.abs(points))
    expected = np.where(outside, on_sphere, points)
    assert np.abs(cross.project(points) - expected).max() <= 1e-14


@given(st.integers(1, 5), seeds)
def test_polytope_of_the_corners_of_a_box_is_the_box(dim, seed):
    box = make("box", dim, seed)
    rng = np.random.default_rng(seed)
    polytope = Polytope(rng.permutation(box.vertices))
    points = nearby(box, rng, count=5)
    size = unit(box, points)
    assert np.abs(polytope.project(points) - box.project(points)).max() <= ROUNDING * size
    directions = rng.normal(size=points.shape)
    assert np.array_equal(polytope.minimize_linear(directions), box.minimize_linear(directions))
    assert polytope.diameter == pytest.approx(box.diameter, rel=1e-14)


def test_points_on_and_above_vertices_edges_and_facets():
    corners = np.array([[0.0, 0, 0], [2, 0, 0], [0, 1, 0], [0, 0, 3], [2, 1, 3]])
    polytope = Polytope(corners + 5.0)
    hull = ConvexHull(corners + 5.0)
    for facet, equation in zip(hull.simplices, hull.equations, strict=True):
        normal, ends = equation[:3], corners[facet] + 5.0
        for weights in ([1, 0, 0], [0.5, 0.5, 0], [0.2, 0.3, 0.5]):
            foot = np.array(weights) @ ends
            assert np.abs(polytope.project(foot) - foot).max() <= 1e-14
            for height in (1e-12, 1e-6, 1.0, 1e4):
                assert np.abs(polytope.project(foot + height * normal) - foot).max() <= (
                    1e-14 * max(10.0, height)
                )
    for vertex in polytope.vertices:
        assert np.array_equal(polytope.project(vertex), vertex)
    for vertex in range(len(corners)):  # directions in the cone of normals lead back to the vertex
        around = hull.equations[(hull.simplices == vertex).any(axis=1), :3].mean(axis=0)
        found = polytope.project(corners[vertex] + 5.0 + 0.7 * around)
        assert np.abs(found - corners[vertex] - 5.0).max() <= 1e-14


def test_polytope_drops_points_that_are_not_extreme():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    extra = np.array([[0.5, 0.5], [0.5, 0.0], [0.0, 0.25], [1.0, 1.0], [0.0, 0.0], [0.3, 0.9]])
    for shift, scale in [(0.0, 1.0), (3.0, 1e-3), (-7.0, 1e5)]:
        points = scale * np.vstack([extra[:3], square, extra[3:]]) + shift
        kept = Polytope(points).vertices
        assert np.array_equal(kept, scale * square + shift)  # in the order given
    line = Polytope([[3.0], [1.0], [2.0], [1.0]])
    assert line.vertices.tolist() == [[1.0], [3.0]]
    assert line.project([[0.0], [2.5], [9.0]]).tolist() == [[1.0], [2.5], [3.0]]


@pytest.mark.parametrize("thickness", [1.0, 1e-4, 1e-10])
def test_projection_needs_no_guess_of_the_face(thickness, monkeypatch):
    def fail(*arguments):
        raise RuntimeError("too many iterations")

    monkeypatch.setattr("scipy.optimize.nnls", fail)
    rng = np.random.default_rng(6)
    for dim in (2, 3) * 10:
        polytope = Polytope(rng.normal(size=(6, dim)) * np.append(np.ones(dim - 1), thickness))
        reach = polytope.diameter * rng.choice([thickness, 1.0, 1e5])
        target = polytope.vertices[0] + reach * rng.normal(size=dim)
        expected = project_exactly(polytope.vertices, target)
        found = polytope.project(target)
        assert np.abs(found - expected).max() <= 1e-14 * unit(polytope, target)


def test_thin_polytopes_keep_their_extreme_points():
    rng = np.random.default_rng(0)
    for trial in range(300):
        dim = 2 + trial % 4
        points = rng.normal(size=(20, dim))
        sides = np.ones(dim)
        sides[rng.integers(dim)] = 10.0 ** rng.integers(-10, -5)
        sides[rng.integers(dim)] *= 1e-1
        image = points * sides @ np.linalg.qr(rng.normal(size=(dim, dim)))[0]
        # An affine map takes extreme points to extreme points, and no others.
        extreme = (cdist(points, Polytope(points).vertices) == 0.0).any(axis=1)
        assert np.array_equal(Polytope(image).vertices, image[extreme])


def test_nearly_equal_corners_cost_few_steps(monkeypatch):
    solve, rng, calls = np.linalg.lstsq, np.random.default_rng(11), []
    monkeypatch.setattr(np.linalg, "lstsq", lambda *a, **k: calls.append(1) or solve(*a, **k))
    for trial in range(150):
        dim = 3 + trial % 4
        points = rng.normal(size=(30, dim)) * np.append(1.0, np.full(dim - 1, 1e-9))
        points = np.vstack([points, points + 1e-14 * rng.normal(size=points.shape)])
        polytope = Polytope(points @ np.linalg.qr(rng.normal(size=(dim, dim)))[0])
        target = polytope.vertices[0] + 10.0 ** rng.uniform(-15, -11) * rng.normal(size=dim)
        before = len(calls)
        found = polytope.project(target)
        assert len(calls) - before <= 40
        gains = (polytope.vertices - found) @ (target - found)
        slack = 1e-14 * unit(polytope, target)
        assert gains.max() <= slack * (np.linalg.norm(target - found) + polytope.diameter)


@many
@given(seeds, st.sampled_from([1, 2, 3, 4]), st.sampled_from([1.0, 1e-12, 1e12]))
def test_polytope_from_inequalities_is_the_polytope_from_vertices(seed, dim, scale):
    polytope = make("polytope", dim, seed).moved(scale, scale)
    corners, rng = polytope.vertices, np.random.default_rng(seed)
    if dim == 1:
        normals, bounds = np.array([[-1.0], [1.0]]), np.array([-corners.min(), corners.max()])
    else:
        hull = ConvexHull(corners / scale)
        normals, bounds = hull.equations[:, :-1], -scale * hull.equations[:, -1]
    redundant = rng.normal(size=(4, dim))
    slack = (redundant @ corners.T).max(axis=1) + scale * np.array([0.0, 0.1, 1.0, 10.0])
    stretch = 10.0 ** rng.uniform(-3, 3, size=len(normals))
    matrix = np.vstack([normals * stretch[:, np.newaxis], redundant, np.zeros((1, dim))])
    again = Polytope(inequalities=(matrix, np.concatenate([bounds * stretch, slack, [0.5]])))
    distances = cdist(again.vertices, corners)
    # The intersection of facets of flat angles is ill-conditioned.
    assert max(distances.min(axis=0).max(), distances.min(axis=1).max()) <= 1e-8 * unit(polytope)
    points = nearby(polytope, rng, count=4)
    difference = np.abs(again.project(points) - polytope.project(points)).max()
    assert difference <= 1e-7 * unit(polytope)


def test_polytope_from_inequalities_of_a_box_and_a_corner_simplex():
    box = Polytope(inequalities=(np.vstack([np.eye(3), -np.eye(3)]), [1.0, 2, 3, 0, 0, 0]))
    assert sorted(box.vertices.round(14).tolist()) == sorted(
        map(list, itertools.product([0.0, 1.0], [0.0, 2.0], [0.0, 3.0]))
    )
    corner = Polytope(inequalities=(np.vstack([-np.eye(3), np.ones((1, 3))]), [0.0, 0, 0, 1]))
    assert sorted(corner.vertices.round(14).tolist(), reverse=True) == [
        *np.eye(3).tolist(),
        [0.0, 0.0, 0.0],
    ]
    points = np.random.default_rng(3).normal(size=(40, 3))
    clipped = np.maximum(points, 0.0)
    expected = np.where(
        clipped.sum(axis=1, keepdims=True) <= 1.0, clipped, Simplex(2).project(points)
    )
    assert np.abs(corner.project(points) - expected).max() <= 1e-14
    far = Polytope(inequalities=([[1.0], [-1.0], [2.0]], [1e6 + 1e-3, -1e6, 5e6]))
    assert far.vertices.ravel().tolist() == [1e6, 1e6 + 1e-3]


# Extreme sizes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e-74, 1e-20, 1e20, 1e73])
@pytest.mark.parametrize("kind", KINDS[:-1])
def test_extreme_sizes_neither_overflow_nor_vanish(kind, size):
    unscaled = make(kind, 1 if kind == "interval" else 3, 5)
    tiny_or_huge = unscaled.moved(size)
    points = nearby(unscaled, np.random.default_rng(1))
    expected = unscaled.project(points)
    found = tiny_or_huge.project(size * points) / size
    assert np.abs(found - expected).max() <= ROUNDING * unit(unscaled, points)
    if size < 1.0:
        directions = np.random.default_rng(2).normal(size=points.shape)
        farthest = tiny_or_huge.project(-1e75 * directions / np.abs(directions).max()) / size
        assert np.abs(farthest - unscaled.minimize_linear(directions)).max() <= 1e-9


def test_simplex_stays_accurate_far_away():
    points = 1e12 + np.array([[0.5, 0.25, -1e12], [3.0, 0.0, 0.0]])
    assert Simplex(2).project(points).tolist() == [[0.625, 0.375, 0.0], [1.0, 0.0, 0.0]]
    spread = np.random.default_rng(0).normal(size=(50, 6)) * 1e9
    assert np.abs(Simplex(5).project(spread).sum(axis=1) - 1.0).max() <= 4e-16


# Minimisers ---------------------------------------------------------------------------------------


@many
@given(convex_sets(), seeds)
def test_linear_minimisers_beat_every_member(convex_set, seed):
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(8, convex_set.ambient_dim)) * 10.0 ** rng.uniform(-9, 9, (8, 1))
    directions[0] = 0.0
    directions[1, 1:] = 0.0
    found, inside = convex_set.minimize_linear(directions), members(convex_set, rng)
    assert convex_set.contains(found, tolerance=1e-12).all()
    lead = np.einsum("ij,ikj->ik", directions, found[:, np.newaxis] - inside)
    steep = np.abs(directions).max(axis=1)[:, np.newaxis]
    assert (lead <= ROUNDING * unit(convex_set, inside) * steep).all()
    if convex_set.vertices is not None:
        assert cdist(found, convex_set.vertices).min(axis=1).max() == 0.0
    if isinstance(convex_set, Ball):
        lowest = -convex_set.radius * np.linalg.norm(directions, axis=1)
        values = ((found - convex_set.center) * directions).sum(axis=1)
        assert (np.abs(values - lowest) <= ROUNDING * unit(convex_set) * steep[:, 0]).all()


def test_ties_go_to_the_first():
    assert Simplex(2).minimize_linear([1.0, 0.0, 0.0]).tolist() == [0.0, 1.0, 0.0]
    assert Box([0.0, 0.0], [1.0, 1.0]).minimize_linear([0.0, -1.0]).tolist() == [0.0, 1.0]
    assert Polytope([[1.0, 0], [0, 0], [0, 1]]).minimize_linear([0.0, 1.0]).tolist() == [1.0, 0.0]
    assert Ball([3.0, 1.0], 2.0).minimize_linear([0.0, 0.0]).tolist() == [1.0, 1.0]


@many
@given(convex_sets(), seeds)
def test_quadratic_minimisers_beat_every_member(convex_set, seed):
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** rng.uniform(-3, 3, size=12)
    signs = np.array([1.0, 1.0, 0.0, -1.0] * 3)
    if isinstance(convex_set, Custom):
        signs = np.abs(signs)
    curvature = sizes * signs
    # Slopes of the kind that put the vertex of the parabola at, in and around the set.
    centers = nearby(convex_set, rng)
    slope = np.where(
        signs[:, np.newaxis] == 0.0, centers, -2.0 * curvature[:, np.newaxis] * centers
    )
    found = convex_set.minimize_quadratic(curvature, slope)
    assert convex_set.contains(found, tolerance=1e-12).all()
    inside = members(convex_set, rng, count=200)
    for a, b, x in zip(curvature, slope, found, strict=True):
        middle = convex_set.center  # differences from here, against cancellation
        gradient = b + 2.0 * a * middle
        gain = (inside - x) @ gradient + a * (
            ((inside - middle) ** 2).sum(axis=1) - ((x - middle) ** 2).sum()
        )
        steep = np.abs(b).max() + np.abs(a) * unit(convex_set)
        assert gain.min() >= -ROUNDING * steep * unit(convex_set)
        single = convex_set.minimize_quadratic(a, b)
        assert single.shape == b.shape
        assert np.abs(single - x).max() <= ROUNDING * unit(convex_set, centers)


@given(seeds, st.sampled_from([-2.0, -1e-3, -1e3]))
@example(seed=0, curvature=-1.0)
def test_concave_minimum_over_a_disc_against_its_circle(seed, curvature):
    disc = make("ball", 2, seed)
    slope = np.random.default_rng(seed).normal(size=2) * (seed > 0) - 2.0 * curvature * disc.center
    found = disc.minimize_quadratic(curvature, slope)
    angles = np.linspace(0.0, 2.0 * math.pi, 20_001)
    circle = disc.center + disc.radius * np.column_stack([np.cos(angles), np.sin(angles)])
    assert np.linalg.norm(found - disc.center) == pytest.approx(disc.radius, rel=1e-12)
    value = curvature * (found @ found) + slope @ found
    values = curvature * (circle**2).sum(axis=1) + circle @ slope
    assert values.min() - value == pytest.approx(0.0, abs=1e-6 * max(1.0, np.ptp(values)))
    assert value <= values.min() + 1e-12 * np.abs(values).max()


def test_concave_minimum_over_a_box_of_many_dimensions():
    rng = np.random.default_rng(8)
    box = Box(-rng.uniform(size=40), rng.uniform(size=40))
    assert box.vertices is None and len(Box(np.zeros(16), np.ones(16)).vertices) == 2**16
    slope = rng.normal(size=40)
    ends = np.stack([box.low, box.high])
    better = (-3.0 * ends**2 + slope * ends).argmin(axis=0)
    found = box.minimize_quadratic(-3.0, slope)
    assert np.array_equal(found, ends[better, np.arange(40)])
    assert box.diameter == pytest.approx(np.sqrt(((box.high - box.low) ** 2).sum()), rel=1e-14)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("curvature", [5e-324, 1e-310, 1e-150, 1e-20, 1e-13, 1e-12, 1e-9])
def test_tiny_curvature_is_minimised_to_rounding(kind, curvature):
    convex_set = make(kind, 1 if kind == "interval" else 3, 7)
    rng = np.random.default_rng(4)
    slopes = rng.normal(size=(6, convex_set.ambient_dim))
    slopes[1, 1:] = 0.0  # ties of the linear part
    slopes[2] = 0.0
    slopes[3:] = -2.0 * curvature * convex_set.center  # at the border of what counts as far away
    slopes[3:, 0] += 2.0 * curvature * convex_set.diameter * np.array([0.999e12, 1.001e12, 1e9])
    found = convex_set.minimize_quadratic(np.full(6, curvature), slopes)
    for slope, x in zip(slopes, found, strict=True):
        rivals = [*members(convex_set, rng, count=10), convex_set.minimize_linear(slope)]
        with np.errstate(over="ignore"):
            target = -slope / (2.0 * curvature)
        if np.abs(target).max() < 1e70:
            rivals.append(convex_set.project(target))
        steep = float(np.abs(slope + 2.0 * curvature * convex_set.center).max())
        allowed = 2e-12 * (steep + curvature * convex_set.diameter) * unit(convex_set)
        assert excess_exactly(curvature, slope, x, rivals) <= allowed


def test_tiny_curvature_decides_where_the_slope_does_not():
    low, high = np.array([-1e6, -1e6]), np.array([-1e6 + 1.0, -1e6 + 1.0])
    corners = Box(low, high).vertices
    for convex_set in (Box(low, high), Polytope(corners), Polytope(corners[::-1])):
        found = convex_set.minimize_quadratic(1e-19, [1.0, 0.0])
        assert found.tolist() == [low[0], high[1]]  # of the lowest points the one nearest to 0


# Diameter, equality, immutability -----------------------------------------------------------------


@given(convex_sets(), seeds)
def test_diameter_is_the_largest_distance(convex_set, seed):
    rng = np.random.default_rng(seed)
    rounding = ROUNDING * unit(convex_set)
    assert pdist(members(convex_set, rng)).max() <= convex_set.diameter + rounding
    if convex_set.vertices is not None:
        widest = pdist(convex_set.vertices).max()
    else:
        directions = np.array(list(itertools.product([-1.0, 1.0], repeat=convex_set.dim)))
        ends = convex_set.minimize_linear(directions) - convex_set.minimize_linear(-directions)
        widest = np.linalg.norm(ends, axis=1).max()
    assert widest == pytest.approx(convex_set.diameter, abs=rounding)


@given(convex_sets(), convex_sets())
def test_sets_compare_by_value_and_survive_copying(first, second):
    if not isinstance(first, Custom):  # whose functions show their names alone
        same = repr(first) == repr(second) and np.array_equal(first.center, second.center)
        assert (first == second) == same
    twins = [copy.copy(first), copy.deepcopy(first)]
    if not isinstance(first, Custom):
        first.frame, first.vertices  # noqa: B018  (cached arrays travel along)
        twins.append(pickle.loads(pickle.dumps(first)))
        again = Polytope(first.vertices) if isinstance(first, Polytope) else eval(repr(first))
        assert isinstance(again, Polytope) or again == first
    for twin in twins:
        assert twin == first and hash(twin) == hash(first) and repr(twin) == repr(first)
        assert not twin.center.flags.writeable
        point = twin.center + twin.diameter
        assert np.array_equal(twin.project(point), first.project(point))


@pytest.mark.parametrize("kind", KINDS)
def test_sets_are_immutable(kind):
    convex_set = make(kind, 1 if kind == "interval" else 2, 3)
    assert convex_set != "a set" and isinstance(convex_set, ConvexSetBase)
    with pytest.raises(FrozenInstanceError, match="immutable"):
        convex_set.diameter = 7.0
    with pytest.raises(FrozenInstanceError, match="immutable"):
        del convex_set.diameter
    arrays = [convex_set.center, *convex_set.frame]
    if convex_set.vertices is not None:
        arrays.append(convex_set.vertices)
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array += 1.0


def test_arguments_are_copied():
    low, high, center = np.zeros(2), np.ones(2), np.zeros(2)
    shift, corners = np.zeros(3), np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    made = [Box(low, high), Ball(center, 1.0), Simplex(2, shift=shift), Polytope(corners)]
    before = [made_set.project(np.full(made_set.ambient_dim, 5.0)) for made_set in made]
    for array in (low, high, center, shift, corners):
        array += 0.5
    for made_set, expected in zip(made, before, strict=True):
        assert np.array_equal(made_set.project(np.full(made_set.ambient_dim, 5.0)), expected)


def test_representations_show_what_was_given():
    assert repr(Interval(0, 1)) == "Interval(low=0.0, high=1.0)"
    assert repr(Simplex(2)) == "Simplex(dim=2)"
    assert repr(Simplex(1, 2.0, -1)) == "Simplex(dim=1, scale=2.0, shift=-1.0)"
    assert repr(Polytope(np.vstack([np.eye(4), np.zeros((1, 4))]))) == (
        "Polytope(vertices=<5 x 4 array>)"
    )
    assert "project=" in repr(custom_box(np.zeros(2), np.ones(2)))


def test_importing_sets_leaves_scipy_alone():
    code = "import sys, fullswap.sets; assert not {'scipy', 'numba'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


# Bad input ----------------------------------------------------------------------------------------

SQUARE = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
BAD_SETS = {
    "high must be larger than 1, got 1.0": lambda: Interval(1.0, 1.0),
    "low must be a finite number, got nan": lambda: Interval(math.nan, 1.0),
    "high must be a finite number, got inf": lambda: Interval(0.0, math.inf),
    r"high must be at most 1e\+75, got 1e\+80": lambda: Interval(0.0, 1e80),
    r"low must be a finite number, got \[0.0\]": lambda: Interval([0.0], 1.0),
    "low must be a finite number, got 'zero'": lambda: Interval("zero", 1.0),
    "high must be a finite number, got 1j": lambda: Interval(0.0, 1j),
    "diameter must be at least 1e-75, got 1e-90": lambda: Interval(0.0, 1e-90),
    "high must be larger than low everywhere, got 1.0 at position 1": lambda: Box([0.0, 2.0], [1.0, 1.0]),
    "high must have shape .2,., got .3,.": lambda: Box([0.0, 0.0], [1.0, 1.0, 1.0]),
    "low must have shape .*, got .0,.": lambda: Box([], []),
    r"low must have shape .*, got \(\)": lambda: Box(0.0, 1.0),
    "high must be finite, .* got nan at position 1": lambda: Box([0.0, 0.0], [1.0, math.nan]),
    "low must be numbers in a regular array": lambda: Box([[0.0], [0.0, 1.0]], [1.0]),
    "dim must be a whole number >= 1, got 0": lambda: Simplex(0),
    "dim must be a whole number >= 1, got 1.5": lambda: Simplex(1.5),
    "dim must be a whole number >= 1, got True": lambda: Simplex(True),
    "scale must be positive, got 0.0": lambda: Simplex(2, scale=0.0),
    "scale must be positive, got -1.0": lambda: Simplex(2, scale=-1.0),
    r"shift must have shape \(\) or \(3,\), got \(2,\)": lambda: Simplex(2, shift=[0.0, 0.0]),
    "shift must be finite, .* got -inf": lambda: Simplex(1, shift=-math.inf),
    "radius must be positive, got 0.0": lambda: Ball([0.0], 0.0),
    "radius must be positive, got -2.0": lambda: Ball([0.0], -2.0),
    "radius must be a finite number, got nan": lambda: Ball([0.0], math.nan),
    "center must be finite, .* got inf at position 1": lambda: Ball([0.0, math.inf], 1.0),
    "center must have shape .*, got .1, 2.": lambda: Ball([[0.0, 1.0]], 1.0),
    "one of vertices and inequalities must be given, got neither": lambda: Polytope(),
    "one of vertices and inequalities must be given, got both": lambda: Polytope(SQUARE, (SQUARE, [1.0] * 4)),
    "vertices must be finite, .* got nan at position .4, 0.": lambda: Polytope([*SQUARE, [math.nan, 0.0]]),
    "vertices must have shape .*, got .2,.": lambda: Polytope([0.0, 1.0]),
    "vertices must have shape .*, got .0,.": lambda: Polytope([]),
    "vertices must have shape .* v > A .*, got .2, 2.": lambda: Polytope(SQUARE[:2]),
    "vertices must .*interior points, got a flat one.*own affine hull.*Simplex": lambda: Polytope(
        [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]
    ),
    "inequalities must be a pair .A, b., got 3": lambda: Polytope(inequalities=3),
    r"inequalities\[1\] must have shape .2,., got .3,.": lambda: Polytope(
        inequalities=([[1.0], [-1.0]], [1.0, 1.0, 1.0])
    ),
    r"inequalities\[0\] must be finite, .* got nan": lambda: Polytope(inequalities=([[math.nan]], [1.0])),
    r"inequalities\[1\] must be finite, .* got inf": lambda: Polytope(inequalities=([[1.0]], [math.inf])),
    r"inequalities\[0\] must have rows of length": lambda: Polytope(inequalities=([[1e-200]], [1.0])),
    "must have a solution, got 0 <= -1: the polytope is empty": lambda: Polytope(
        inequalities=([[1.0], [-1.0], [0.0]], [1.0, 1.0, -1.0])
    ),
}


@pytest.mark.parametrize("message", BAD_SETS)
def test_bad_sets_are_refused(message):
    with pytest.raises(ValueError, match=message):
        BAD_SETS[message]()


@pytest.mark.parametrize(
    "points",
    [
        np.eye(4)[:, :4],  # a simplex in its own four coordinates has no interior
        [[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0]],
        [[0.3, 0.7], [0.1, 0.9], [0.6, 0.4], [0.2, 0.8]],
        [[1e6, 1e6], [1e6 + 1, 1e6 + 1 + 1e-10], [1e6 + 2, 1e6 + 2]],
        [[2.0], [2.0]],
        [[2.0, 1.0]] * 5,
    ],
)
def test_flat_polytopes_are_refused(points):
    if len(points) == 4 and len(points[0]) == 4:
        points = np.vstack([points, np.full((1, 4), 0.25)])
    with pytest.raises(ValueError, match="got a flat one"):
        Polytope(points)


@pytest.mark.parametrize(
    ("matrix", "bounds", "message"),
    [
        ([[1.0], [-1.0]], [0.0, -1.0], "empty polytope: .*at least 0.5"),
        ([[1.0, 0.0], [-1.0, 0.0]], [0.0, -1.0], "empty polytope"),
        ([[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]], [-1.0, 0.0, 0.0], "empty polytope"),
        ([[1.0]], [1.0], "got an unbounded set"),
        ([[1.0], [2.0]], [1.0, 1.0], "got an unbounded set"),
        ([[0.0, 0.0]], [1.0], "got an unbounded set"),
        ([[1.0, 2.0]], [1.0], "got an unbounded set"),
        ([[-1.0, 0.0], [0.0, -1.0]], [0.5, 0.5], "got an unbounded set"),
        ([[-1.0, 0.0], [0.0, -1.0], [1.0, 0.0]], [0.5, 0.5, 0.5], "got an unbounded set"),
        ([[1.0, 0.0], [-1.0, 0.0], [2.0, 0.0]], [1.0, 1.0, 1.0], "got an unbounded set"),
        (
            [[1.0, 0.0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [1, 1, 0]],
            [1.0] * 5,
            "got an unbounded set",
        ),
        ([[1.0], [-1.0]], [1.0, -1.0], "flat"),
        ([[1.0, 0], [-1.0, 0], [0, 1.0], [0, -1.0]], [1.0, 0.0, 2.0, -2.0], "flat"),
        ([[1.0, 0], [-1.0, 0], [0, 1.0], [0, -1.0]], [0.0] * 4, "flat"),
    ],
)
def test_inequalities_without_a_body_are_refused(matrix, bounds, message):
    with pytest.raises(ValueError, match=message):
        Polytope(inequalities=(matrix, bounds))


@pytest.mark.parametrize("kind", KINDS)
def test_bad_points_are_refused(kind):
    convex_set = make(kind, 1 if kind == "interval" else 2, 1)
    width = convex_set.ambient_dim
    good = np.zeros((3, width))
    for operation, name in [
        (convex_set.project, "points"),
        (convex_set.contains, "points"),
        (convex_set.minimize_linear, "directions"),
        (lambda rows: convex_set.minimize_quadratic(1.0, rows), "slope"),
    ]:
        for bad in (np.zeros((3, width + 1)), np.zeros(width + 1), np.zeros((1, 1, width)), 0.5):
            with pytest.raises(ValueError, match=rf"{name} must have shape \({width},\)"):
                operation(bad)
        with pytest.raises(ValueError, match=rf"{name} must .*, got \(0, {width}\)"):
            operation(np.zeros((0, width)))
        for value in (math.nan, math.inf, -math.inf, 1e90):
            broken = good.copy()
            broken[1, -1] = value
            with pytest.raises(ValueError, match=f"{name} must .*, got {str(value).replace('+', '.')}"):
                operation(broken)
        with pytest.raises(ValueError, match=f"{name} must be numbers, got"):
            operation([["a"] * width])
    with pytest.raises(ValueError, match="tolerance must lie in .*, got -1.0"):
        convex_set.contains(good, tolerance=-1.0)
    with pytest.raises(ValueError, match="tolerance must be a finite number, got nan"):
        convex_set.contains(good, tolerance=math.nan)
    with pytest.raises(ValueError, match=r"curvature must have shape \(\) or \(3,\).*, got \(2,\)"):
        convex_set.minimize_quadratic([1.0, 1.0], good)
    with pytest.raises(ValueError, match="curvature must be finite, .* got nan at position 1"):
        convex_set.minimize_quadratic([1.0, math.nan, 1.0], good)
    with pytest.raises(ValueError, match="scale must be positive, got 0.0"):
        convex_set.moved(scale=0.0)
    with pytest.raises(ValueError, match=rf"shift must have shape \(\) or \({width},\)"):
        convex_set.moved(shift=np.zeros(width + 1))
    with pytest.raises(ValueError, match="shift must be finite, .* got inf"):
        convex_set.moved(shift=math.inf)


# Sets given by functions --------------------------------------------------------------------------


def test_custom_sets_work_like_what_they_describe():
    disc = Ball([1.0, -2.0], 3.0)
    for contains in (None, disc.contains):
        custom = Custom(2, disc.project, disc.minimize_linear, 6.0, contains)
        points = nearby(disc, np.random.default_rng(0))
        assert np.array_equal(custom.project(points), disc.project(points))
        assert np.array_equal(custom.contains(points), disc.contains(points))
        assert np.linalg.norm(custom.center - disc.center) <= 0.5 * disc.radius
        slopes = points[:3]
        assert np.array_equal(
            custom.minimize_quadratic([0.0, 2.0, 1e-200], slopes),
            disc.minimize_quadratic([0.0, 2.0, 1e-200], slopes),
        )
    with pytest.raises(NotImplementedError, match="curvature must be >= 0 on a Custom set, got -2.0"):
        custom.minimize_quadratic([1.0, -2.0], [[0.0, 1.0], [0.0, 1.0]])


def test_custom_sets_far_away_are_allowed_their_rounding():
    far = custom_box(np.zeros(2), np.ones(2)).moved(shift=1e11)
    assert np.abs(far.project([1e11 + 0.5, 2e11]) - [1e11 + 0.5, 1e11 + 1.0]).max() <= 1e-4


def test_custom_center_is_inside_although_ties_hide_a_corner():
    triangle = Polytope([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    axes = np.vstack([np.eye(2), -np.eye(2)])
    assert triangle.minimize_linear(axes).sum(axis=1).min() == 1.0  # never the corner (0, 0)
    custom = Custom(2, triangle.project, triangle.minimize_linear, triangle.diameter)
    assert custom.center.min() >= 0.1 and custom.center.sum() <= 0.9


def test_custom_functions_may_write_on_their_argument_and_need_no_zero_direction():
    def project(points):
        np.clip(points, 0.0, 1.0, out=points)
        return points

    def minimize_linear(directions):
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        return np.where(directions > 0.0, 0.0, 1.0)

    custom = Custom(2, project, minimize_linear, math.sqrt(2.0))
    points = np.array([[3.0, 0.5]])
    assert custom.project(points).tolist() == [[1.0, 0.5]] and points.tolist() == [[3.0, 0.5]]
    assert custom.contains(custom.minimize_linear([0.0, 0.0]))


def inside_out(points):
    """Project on the unit circle instead of the disc: its own inverse image, but expansive."""
    return points / np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-12)


def slanted(points):
    """Retract on the square without expansion, but not to the nearest point."""
    beyond = np.clip(np.abs(points[:, :1]) - 1.0, 0.0, 1.0)
    clipped = np.clip(points, -1.0, 1.0)
    return np.hstack([clipped[:, :1], clipped[:, 1:] * np.cos(beyond)])


LOW, HIGH = np.array([-1.0, -1.0]), np.array([1.0, 1.0])
GOOD = {
    "dim": 2,
    "project": lambda points: np.clip(points, LOW, HIGH),
    "minimize_linear": lambda directions: np.where(directions > 0, LOW, HIGH),
    "diameter": 2.0 * math.sqrt(2.0),
    "contains": lambda points: (np.abs(points) <= 1.0).all(axis=1),
}
BAD_FUNCTIONS = [
    ({"dim": 0}, "dim must be a whole number >= 1, got 0"),
    ({"diameter": -1.0}, "diameter must be positive, got -1.0"),
    ({"project": 3}, "project must be a function, got 3"),
    ({"minimize_linear": None}, "minimize_linear must be a function, got None"),
    ({"contains": 1}, "contains must be a function or None, got 1"),
    ({"project": lambda p: p[:, :1]}, "result of project must have shape"),
    ({"minimize_linear": lambda d: d[:1]}, "result of minimize_linear must have shape"),
    ({"project": lambda p: p * math.nan}, "the result of project must be finite, .* got nan"),
    ({"minimize_linear": lambda d: d + math.inf}, "the result of minimize_linear must be finite, .* got"),
    ({"project": lambda p: 0.9 * np.clip(p, LOW, HIGH)}, r"project .*second time .*\(by 0"),
    ({"project": inside_out}, "project .*farther apart after it than before"),
    ({"project": slanted}, "project must be consistent .*some point of the set is nearer"),
    ({"project": lambda p: np.clip(p, LOW / 2, HIGH / 2)}, "minimize_linear .*project moves"),
    ({"minimize_linear": lambda d: np.where(d > 0, HIGH, LOW)}, "minimize_linear .*smaller value"),
    ({"minimize_linear": lambda d: np.where(d > 0, LOW, 0.9)}, "minimize_linear .*by 0.1"),
    ({"diameter": 2.0}, "diameter must be consistent .*it is 2.0.* .by 0.828."),
    ({"contains": lambda p: np.ones(len(p))}, "contains must be booleans .*, got float64"),
    ({"contains": lambda p: np.abs(p) <= 1.0}, "contains must be booleans .*, got bool of shape"),
    ({"contains": lambda p: (np.abs(p) <= 1.1).all(axis=1)}, "contains must reject .*accepted"),
    ({"contains": lambda p: (np.abs(p) <= 0.9).all(axis=1)}, "contains must accept .*rejected"),
    (
        {
            "project": lambda p: np.clip(p, [-1.0, 0.0], [1.0, 0.0]),
            "minimize_linear": lambda d: np.where(d > 0, [-1.0, 0.0], [1.0, 0.0]),
        },
        "project must map onto a set of full dimension",
    ),
]


@pytest.mark.parametrize(("change", "message"), BAD_FUNCTIONS)
def test_custom_functions_that_contradict_each_other_are_refused(change, message):
    Custom(**GOOD)  # without the change nothing is wrong
    with pytest.raises(ValueError, match=message):
        Custom(**{**GOOD, **change})

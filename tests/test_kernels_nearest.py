"""Nearest points of hulls, against rational arithmetic and closed forms."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fullswap.kernels.nearest import _orthogonalise, nearest_points, project_rows

ROUNDING = 1e-14
seeds = st.integers(0, 10_000)
integers = st.integers(-3, 3)


def dot(first, second):
    return sum(x * y for x, y in zip(first, second, strict=True))


def minus(first, second):
    return [x - y for x, y in zip(first, second, strict=True)]


def solve(matrix, right):
    """Solve a small positive semidefinite system of Fractions; None if it is singular."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i, row in enumerate(rows):
        if row[i] == 0:  # of a semidefinite matrix the whole row is then 0
            return None
        for other in rows:
            if other is not row and other[i]:
                factor = other[i] / row[i]
                other[:] = [x - factor * y for x, y in zip(other, row, strict=True)]
    return [row[-1] / row[i] for i, row in enumerate(rows)]


def nearest_exactly(corners, point):
    """Try all simplices of corners for the one point with ⟨corner − x, point − x⟩ <= 0 for all."""
    exact = [[Fraction(float(x)) for x in corner] for corner in corners]
    target = [Fraction(float(x)) for x in point]
    for size in range(1, len(target) + 2):
        for first, *others in itertools.combinations(exact, size):
            edges = [minus(other, first) for other in others]
            gram = [[dot(a, b) for b in edges] for a in edges]
            shares = solve(gram, [dot(edge, minus(target, first)) for edge in edges])
            if shares is None or sum(shares) > 1 or any(share < 0 for share in shares):
                continue
            moves = [dot(shares, along) for along in zip(*edges, strict=True)] or [0] * len(target)
            found = [x + move for x, move in zip(first, moves, strict=True)]
            rest = minus(target, found)
            if all(dot(minus(corner, found), rest) <= 0 for corner in exact):
                return np.array([float(x) for x in found])
    raise AssertionError("every point has a nearest one")


def unit(*arrays):
    return max(1.0, *(float(np.abs(array).max()) for array in arrays))


def assert_nearest(corners, points, found):
    """Check ⟨corner − x, point − x⟩ <= 0; an error e adds at most (‖point − x‖ + diameter)·e."""
    rest = points - found
    gains = rest @ corners.T - np.einsum("ij,ij->i", rest, found)[:, np.newaxis]
    reach = np.linalg.norm(rest, axis=1) + 2.0 * np.linalg.norm(corners, axis=1).max()
    assert (gains.max(axis=1) <= ROUNDING * unit(points) * reach).all()


def sphere(rng, count, dim):
    """Return corners all of which are extreme, in general position."""
    corners = rng.normal(size=(count, dim))
    return 0.5 * corners / np.linalg.norm(corners, axis=1, keepdims=True)


def cube(dim):
    return np.array(list(itertools.product([-0.25, 0.25], repeat=dim)))


def needle(rng, dim, count=20):
    """Return corners near a line, each with a neighbour at a distance of some roundings."""
    corners = rng.normal(size=(count, dim)) * np.append(1.0, np.full(dim - 1, 1e-9))
    corners = np.vstack([corners, corners + 1e-14 * rng.normal(size=corners.shape)])
    corners = corners @ np.linalg.qr(rng.normal(size=(dim, dim)))[0]
    corners -= corners.mean(axis=0)
    return corners / (2.0 * np.linalg.norm(corners, axis=1).max())


@st.composite
def lattice_cases(draw):
    """Integer corners, few enough to repeat, lie on common faces and span flat hulls."""
    dim = draw(st.integers(1, 3))
    row = st.lists(integers, min_size=dim, max_size=dim)
    corners = draw(st.lists(row, min_size=1, max_size=7))
    return np.array(corners, float), np.array([draw(row)], float) * draw(st.sampled_from([0.5, 1]))


@settings(max_examples=300)
@given(lattice_cases())
@example((np.array([[0.0, 0], [0, 0], [0, 0]]), np.array([[1.0, 2]])))
@example((np.array([[1.0, 0], [1, 0], [0, 1], [0, 1], [0.5, 0.5]]), np.array([[1.0, 1]])))
@example((np.array([[0.0, 0], [2, 0], [0, 2]]), np.array([[0.5, 0.5]])))
@example((np.array([[0.0, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3]]), np.array([[1.0, 2, 3]])))
def test_degenerate_hulls_against_rational_arithmetic(case):
    corners, points = case
    found, steps = nearest_points(corners, points)
    expected = nearest_exactly(corners, points[0])
    assert np.abs(found[0] - expected).max() <= ROUNDING * unit(corners, points)
    assert steps[0] >= 1


@settings(max_examples=150)
@given(
    seeds,
    st.sampled_from([2, 3]),
    st.sampled_from([1.0, 1e-4, 1e-9]),
    st.sampled_from([1e-12, 1e-6, 0.1, 1.0, 1e4, 1e9]),
)
def test_thin_hulls_against_rational_arithmetic(seed, dim, thickness, reach):
    rng = np.random.default_rng(seed)
    corners = sphere(rng, dim + 1 + seed % 4, dim) * np.append(np.ones(dim - 1), thickness)
    corners = corners @ np.linalg.qr(rng.normal(size=(dim, dim)))[0]
    points = corners[:1] * (seed % 2) + reach * rng.normal(size=(1, dim))
    found, _ = nearest_points(corners, points)
    assert np.abs(found[0] - nearest_exactly(corners, points[0])).max() <= ROUNDING * unit(points)


@given(seeds, st.integers(1, 8), st.sampled_from([0.01, 1.0, 1e3]))
def test_cubes_clip(seed, dim, reach):
    rng = np.random.default_rng(seed)
    corners = cube(dim)
    points = reach * rng.normal(size=(20, dim))
    points[:10] = np.round(4.0 * points[:10]) / 4.0  # ties, points on faces and above corners
    found, _ = nearest_points(corners, points)
    assert np.abs(found - np.clip(points, -0.25, 0.25)).max() <= ROUNDING * unit(points)
    rotation = np.linalg.qr(rng.normal(size=(dim, dim)))[0]
    turned, _ = nearest_points(corners @ rotation, points @ rotation)
    assert np.abs(turned - found @ rotation).max() <= ROUNDING * unit(points)


@given(seeds, st.integers(1, 6))
def test_order_and_repetition_of_corners_do_not_matter(seed, dim):
    rng = np.random.default_rng(seed)
    corners = np.round(4.0 * rng.normal(size=(12, dim))) / 16.0 if seed % 2 else cube(dim)
    points = rng.normal(size=(10, dim))
    found, _ = nearest_points(corners, points)
    inside = rng.dirichlet(np.ones(len(corners)), size=5) @ corners
    others = np.vstack([corners, corners[rng.integers(len(corners), size=8)], inside])
    again, _ = nearest_points(others[rng.permutation(len(others))], points)
    assert np.abs(again - found).max() <= ROUNDING * unit(points)


@given(seeds, st.integers(2, 6))
def test_points_on_and_above_faces_come_back_to_the_face(seed, dim):
    rng = np.random.default_rng(seed)
    corners = sphere(rng, 4 * dim, dim)
    corners[:dim, 0] = 0.75  # these span a facet, x_1 <= 3/4 everywhere
    faces = rng.dirichlet(np.ones(dim), size=12) * (rng.random(size=(12, dim)) < 0.7)
    faces[:, 0] += 0.1
    feet = faces / faces.sum(axis=1, keepdims=True) @ corners[:dim]
    for height in (0.0, 1e-15, 1e-9, 1.0, 1e6):
        above = feet + height * np.eye(1, dim)
        found, _ = nearest_points(corners, above)
        assert np.abs(found - feet).max() <= ROUNDING * max(1.0, height)


@pytest.mark.parametrize(("count", "dim"), [(30, 2), (30, 3), (300, 5), (400, 8)])
def test_many_corners_satisfy_the_variational_inequality(count, dim):
    rng = np.random.default_rng(count + dim)
    corners = sphere(rng, count, dim)
    points = 10.0 ** rng.uniform(-2, 4, size=(200, 1)) * rng.normal(size=(200, dim))
    found, steps = nearest_points(corners, points)
    assert_nearest(corners, points, found)
    assert steps.max() <= 8 * dim


@pytest.mark.parametrize("distance", [1e6, 1e15, 1e149])
def test_far_away_the_highest_corner_is_nearest(distance):
    rng = np.random.default_rng(3)
    for dim in (1, 2, 3, 6):
        corners = sphere(rng, 25, dim) if dim > 1 else np.array([[-0.5], [0.1], [0.5]])
        directions = rng.normal(size=(500, dim))
        heights = np.sort(directions @ corners.T, axis=1)
        clear = heights[:, -1] - heights[:, -2] > 1e-4  # else the answer may lie on an edge
        assert clear.sum() >= 400
        found, _ = nearest_points(corners, distance * directions[clear])
        assert np.array_equal(found, corners[(directions[clear] @ corners.T).argmax(axis=1)])


def test_inside_points_stay_up_to_rounding():
    rng = np.random.default_rng(5)
    for dim in range(1, 9):
        corners = cube(dim)
        points = rng.uniform(-0.25, 0.25, size=(50, dim))
        points[0] = 0.0
        assert np.abs(nearest_points(corners, points)[0] - points).max() <= 1e-15


def test_nearly_equal_corners_end_in_few_steps():
    # Without the rule against circles some of these walks never end.
    rng = np.random.default_rng(11)
    for trial in range(150):
        corners = needle(rng, 3 + trial % 4, count=30)
        sizes = 10.0 ** rng.uniform(-15, -11, size=(20, 1))
        points = corners[:20] + sizes * rng.normal(size=(20, corners.shape[1]))
        found, steps = nearest_points(corners, points)
        assert steps.max() <= 60
        assert_nearest(corners, points, found)


@given(seeds, st.integers(2, 8), st.sampled_from([1.0, 1e-4, 1e-8, 1e-11]))
def test_edges_that_are_nearly_parallel_get_an_orthonormal_basis(seed, dim, spread):
    rng = np.random.default_rng(seed)
    edges = rng.normal(size=dim) + spread * rng.normal(size=(dim, dim))
    basis, factor, order = edges.copy(), np.zeros((dim, dim)), np.arange(1, dim + 1)
    assert _orthogonalise(basis, factor, order, dim) == dim
    assert np.abs(basis @ basis.T - np.eye(dim)).max() <= ROUNDING
    size = np.abs(edges).max()
    assert np.abs(np.triu(factor).T @ basis - edges[order - 1]).max() <= ROUNDING * size


def test_edges_that_depend_on_others_up_to_rounding_are_left_out():
    rng = np.random.default_rng(0)
    for rank in (1, 2, 3):
        spanning = rng.normal(size=(rank, 4))
        edges = np.vstack([spanning, rng.uniform(-1.0, 1.0, size=(4 - rank, rank)) @ spanning])
        factor, order = np.zeros((4, 4)), np.arange(1, 5)
        assert _orthogonalise(edges, factor, order, 4) == rank


def test_rows_do_not_influence_each_other():
    rng = np.random.default_rng(8)
    corners = sphere(rng, 40, 4)
    points = rng.normal(size=(60, 4))
    points[::3] *= 1e-3
    together, steps = nearest_points(corners, points)
    for row in range(60):
        alone, alone_steps = nearest_points(corners, points[row : row + 1].copy())
        assert np.array_equal(alone[0], together[row]) and alone_steps[0] == steps[row]


@given(seeds, st.integers(1, 5), st.sampled_from([1.0, 1e-3, 1e5]))
def test_rows_outside_are_replaced_and_others_untouched(seed, dim, diameter):
    rng = np.random.default_rng(seed)
    corners, center = cube(dim), rng.normal(size=dim)
    normals, offsets = np.vstack([np.eye(dim), -np.eye(dim)]), np.full(2 * dim, 0.25)
    points = center + 0.3 * diameter * rng.normal(size=(40, dim))
    rounding = 1e-9
    points[0] = center + 0.25 * diameter * (1.0 + 2.0 * rounding)  # outside, but within rounding
    before = points.copy()
    project_rows(points, center, diameter, corners, normals, offsets, rounding)
    inside = (np.abs(before - center) <= 0.25 * diameter * (1.0 + 3.0 * rounding)).all(axis=1)
    assert inside[0] and np.array_equal(points[inside], before[inside])
    clipped = center + np.clip(before - center, -0.25 * diameter, 0.25 * diameter)
    assert np.abs(points[~inside] - clipped[~inside]).max(initial=0.0) <= (
        ROUNDING * unit(center) * max(1.0, diameter)
    )

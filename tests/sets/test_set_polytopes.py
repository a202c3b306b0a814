"""Projections on polytopes against exact references."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull
from scipy.spatial.distance import cdist

from fullswap.sets import Polytope, Simplex
from set_cases import ROUNDING, make, many, nearby, project_exactly, seeds, unit

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

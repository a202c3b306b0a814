"""Compiled searches of grids against all distances and all simplices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import Delaunay

from fullswap import grids
from fullswap.grids.delaunay import DelaunayLocator
from fullswap.kernels import shapes
from fullswap.kernels.nearest import corners_of, to_nearest
from fullswap.kernels.simplices import list_in_cubes
from fullswap.rounding import Nearest
from fullswap.sets import Ball, Polytope
from naive.search import is_nearest_of_hull, nearest, simplices_around
from strategies import convex_sets, make_set, members, seeds

CURVED = ("ball", "polytope", "custom")


def means(points, rows):
    return np.einsum("mk,mka->ma", rows.weights, points[rows.indices])


# --- the nearest point --------------------------------------------------------------------------


@given(st.integers(1, 120), st.integers(1, 5), seeds, st.booleans())
def test_the_tree_finds_the_first_of_the_nearest_points(n, width, seed, lattice):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, width)) * 10.0 ** rng.integers(-3, 4, size=width)
    if lattice:  # ties, and points that repeat
        points = rng.integers(-2, 3, size=(n, width)) / 2.0
    grid = grids.Grid(points, 1.0, 1.0)
    targets = np.concatenate(
        (points, (points + points[::-1]) / 2, 100.0 * rng.normal(size=(5, width)))
    )
    found = Nearest(grid)(targets)
    assert found.indices[:, 0].tolist() == [nearest(points, q) for q in targets]
    assert (found.weights == 1.0).all()


# --- the simplex around a point -----------------------------------------------------------------


def delaunay_grid(action_set, cells):
    grid = grids.triangulation(action_set, action_set.grids.longest_side / cells)
    assert isinstance(grid.locate, DelaunayLocator)
    return grid


@st.composite
def triangulated(draw):
    dim = draw(st.sampled_from([2, 2, 3, 3, 4]))
    action_set = draw(convex_sets(CURVED, (dim,)))
    return action_set, delaunay_grid(
        action_set, 1.0 if dim == 4 else draw(st.sampled_from([1, 2, 3.3]))
    )


@settings(max_examples=40)
@given(triangulated(), seeds)
def test_points_are_split_over_a_simplex_that_holds_them(pair, seed):
    action_set, grid = pair
    points, rng, scale = grid.points, np.random.default_rng(seed), action_set.diameter
    simplices = grid.locate.simplices
    inside = rng.dirichlet(np.full(simplices.shape[1], 0.5), size=8)
    x = np.einsum("mk,mka->ma", inside, points[simplices[rng.integers(len(simplices), size=8)]])
    x = np.concatenate((x, points[rng.integers(len(points), size=4)]))  # and corners
    rows = grid.locate(x)
    assert np.abs(means(points, rows) - x).max() <= 1e-11 * scale
    around = Delaunay(points).simplices  # of scipy, with all its slivers
    for target, indices, weights in zip(x, rows.indices, rows.weights, strict=True):
        assert sorted(indices) in np.sort(around, axis=1).tolist()
        split = {i: w for i, w in zip(indices.tolist(), weights.tolist(), strict=True) if w > 1e-9}
        valid = simplices_around(points, simplices, target, 1e-9)
        assert any(
            all(abs(each.get(i, 0.0) - w) <= 1e-7 for i, w in split.items()) for each in valid
        )
        if len(valid) == 1:
            (only,) = valid
            assert weights == pytest.approx([max(only[i], 0.0) for i in indices.tolist()], abs=1e-9)


@settings(max_examples=40)
@given(triangulated(), seeds, st.sampled_from([1e-9, 0.01, 1.0, 1e6]))
def test_points_beyond_the_hull_go_to_its_nearest_point(pair, seed, far):
    action_set, grid = pair
    points, rng, scale = grid.points, np.random.default_rng(seed), action_set.diameter
    middle = points.mean(axis=0)
    x = members(action_set, rng, 8)
    x = np.concatenate((x, middle + (x - middle) * (1.0 + far)))
    rows = grid.locate(x)
    assert rows.weights.min() >= 0.0 and rows.weights.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    for target, mean in zip(x, means(points, rows), strict=True):
        slack = 1e-11 * scale * (scale + np.linalg.norm(target - mean))
        assert is_nearest_of_hull(points, target, mean, slack)


@given(seeds, st.sampled_from([2, 3]))
def test_what_is_found_depends_on_the_point_alone(seed, dim):
    grid = delaunay_grid(make_set("ball", dim, seed % 7), 3.3)
    x = np.random.default_rng(seed).normal(size=(20, dim)) * 2
    together = grid.locate(x)
    for k in np.random.default_rng(seed).permutation(20):
        alone = grid.locate(x[k : k + 1])
        assert np.array_equal(alone.indices[0], together.indices[k])
        assert np.array_equal(alone.weights[0], together.weights[k])


def test_numbers_that_are_none_do_no_harm():
    from fullswap.kernels.searching import locate_rows

    grid = delaunay_grid(Ball([0.0, 0.0], 1.0), 5)
    wild = np.array([[np.nan, 0.0], [np.inf, -np.inf], [1e300, -1e300]])
    for search, width in ((grid.locate.search(), 3), (Nearest(grid).search(), 1)):
        indices, weights = np.full((3, width), -1), np.zeros((3, width))
        locate_rows(search, wild.copy(), indices, weights)
        assert indices.min() >= 0 and indices.max() < len(grid)


@pytest.mark.parametrize("sides", [[1.0, 1.0], [1.0, 1e-3], [1.0, 0.3, 0.01]])
def test_every_simplex_is_listed_in_the_cubes_it_meets(sides):
    rng = np.random.default_rng(len(sides))
    locator = DelaunayLocator(Ball(np.zeros(len(sides)), 1.0), rng.random((60, len(sides))) * sides)
    edges = locator.corners[:, :-1] - locator.corners[:, -1:]
    cubes = list_in_cubes(locator.corners, np.linalg.inv(edges.transpose(0, 2, 1)))
    for _ in range(300):
        simplex = rng.integers(len(locator.corners))
        y = rng.dirichlet(np.ones(len(sides) + 1)) @ locator.corners[simplex]
        place = np.clip(np.floor((y - cubes.low) * cubes.per_side), 0, cubes.counts - 1)
        flat = np.ravel_multi_index(tuple(place.astype(int)), tuple(cubes.counts))
        assert simplex in cubes.listed[cubes.start[flat] : cubes.start[flat + 1]]


# --- projections --------------------------------------------------------------------------------


@settings(max_examples=40)
@given(convex_sets(("box", "simplex", "ball", "polytope"), (2, 3, 4)), seeds)
def test_compiled_projections_are_those_of_the_set(action_set, seed):
    rng, shape = np.random.default_rng(seed), action_set.kernel_shape
    around = action_set.center + 2 * action_set.diameter * rng.normal(
        size=(6, action_set.ambient_dim)
    )
    for x in np.concatenate((around, members(action_set, rng, 4))):
        q = x.copy()
        shapes.project(shape, q)
        assert np.abs(q - action_set.project(x)).max() <= 1e-12 * action_set.diameter


@given(seeds, st.sampled_from([2, 3]))
def test_a_hint_changes_how_long_a_walk_takes_and_not_where_it_ends(seed, dim):
    rng = np.random.default_rng(seed)
    polytope = Polytope(rng.normal(size=(25, dim)))
    corners = (polytope.vertices - polytope.center) / polytope.diameter
    v = len(corners)
    edges = rng.integers(v, size=(rng.integers(0, 3 * v), 2))  # any will do
    hull = corners_of(polytope.center, polytope.diameter, corners, edges)
    x = 3 * rng.normal(size=dim) + 2
    for hint in (-1, 0, int(rng.integers(v))):
        q = x.copy()
        to_nearest(hull, q, hint)
        assert q == pytest.approx(polytope.project(x), abs=1e-12)

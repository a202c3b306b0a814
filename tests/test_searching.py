"""Compiled searches of grids against all distances and all simplices."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fullswap import grids
from fullswap.kernels import shapes
from fullswap.rounding import Nearest
from fullswap.sets import Ball
from naive.search import nearest
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


# --- the corners around a point -----------------------------------------------------------------


def net(action_set, cells):
    return grids.triangulation(action_set, action_set.grids.longest_side / cells)


@given(seeds, st.sampled_from([2, 3]))
def test_what_is_found_depends_on_the_point_alone(seed, dim):
    grid = net(make_set("ball", dim, seed % 7), 3.3)
    x = np.random.default_rng(seed).normal(size=(20, dim)) * 2
    together = grid.locate(x)
    for k in np.random.default_rng(seed).permutation(20):
        alone = grid.locate(x[k : k + 1])
        assert np.array_equal(alone.indices[0], together.indices[k])
        assert np.array_equal(alone.weights[0], together.weights[k])


def test_numbers_that_are_none_do_no_harm():
    from fullswap.kernels.searching import locate_rows

    grid = net(Ball([0.0, 0.0], 1.0), 5)
    wild = np.array([[np.nan, 0.0], [np.inf, -np.inf], [1e300, -1e300]])
    for search, width in ((grid.locate.search(), 3), (Nearest(grid).search(), 1)):
        indices, weights = np.full((3, width), -1), np.zeros((3, width))
        locate_rows(search, wild.copy(), indices, weights)
        assert indices.min() >= 0 and indices.max() < len(grid)


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

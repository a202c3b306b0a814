"""Laws of projections over every kind of set; sizes, equality, immutability."""

import copy
import itertools
import math
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.spatial.distance import pdist

from fullswap.sets import Ball, Box, ConvexSetBase, Custom, Interval, Polytope, Simplex
from set_cases import (
    KINDS,
    ROUNDING,
    convex_sets,
    custom_box,
    make,
    many,
    members,
    nearby,
    seeds,
    unit,
)

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

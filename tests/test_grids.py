"""Grids: reported against measured geometry, nesting, boundaries."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize, nnls
from scipy.spatial.distance import cdist, pdist

from fullswap import grids
from fullswap.grids.boundary import measured_hull_distance
from fullswap.rounding import Barycentric
from fullswap.sets import Ball, Box, Interval, Polytope, Simplex
from strategies import KINDS, convex_sets, ellipsoid, extreme_points, make_set, members, seeds

MAKERS = {"net": grids.net, "triangulation": grids.triangulation}
kinds_of_grid = st.sampled_from(sorted(MAKERS))
cell_counts = st.sampled_from([1.0, 1.5, 2.0, 3.3])

LINES = [
    Interval(-3.0, 0.5),
    Box([2.0], [2.7]),
    Simplex(1, 0.4, [1.0, -2.0]),
    Ball([5.0], 0.3),
    Polytope([[1.0], [4.0], [2.0]]),
    ellipsoid([-1.0], [2.5]),
]
FOUR_DIMENSIONAL = [
    Box([0.0, -1.0, 2.0, 0.0], [1.0, 0.0, 2.5, 2.0]),
    Simplex(4, 2.0, [0.0, 1.0, 0.0, -1.0, 0.0]),
    Ball([1.0, 0.0, 0.0, -1.0], 0.5),
]


def distance_to_hull(action_set, points, x):
    """Distances (m,) of x to conv(points); never too small, and exact up to rounding."""
    origin, basis = action_set.frame
    corners, y = (points - origin) @ basis, (x - origin) @ basis
    rank = np.linalg.matrix_rank(corners - corners[0], tol=1e-9 * action_set.diameter)
    if rank == action_set.dim:
        return np.linalg.norm(Polytope(corners).project(y) - y, axis=1)
    heavy = 1e5 * action_set.diameter  # a flat hull: least squares with a heavy sum-to-one row
    system = np.vstack((corners.T, np.full(len(corners), heavy)))
    shares = np.array([nnls(system, np.append(row, heavy))[0] for row in y])
    return np.linalg.norm(shares @ corners / shares.sum(axis=1, keepdims=True) - y, axis=1)


def enclosing_ball(corners):
    """Squared radius of the smallest ball around corners (k, A), by constrained descent."""
    scale = pdist(corners).max()
    local = (corners - corners.mean(axis=0)) / scale
    start = np.append(np.zeros(local.shape[1]), np.square(local).sum(axis=1).max())
    room = {"type": "ineq", "fun": lambda z: z[-1] - np.square(local - z[:-1]).sum(axis=1)}
    found = minimize(lambda z: z[-1], start, constraints=[room], options={"ftol": 1e-12}).x
    # wherever the descent has ended: the ball around its centre holds all corners
    return np.square(local - found[:-1]).sum(axis=1).max() * scale**2


def check_geometry(action_set, grid, rng):
    size = action_set.diameter
    assert action_set.contains(grid.points, tolerance=1e-12).all()
    assert len(grid) == 1 or pdist(grid.points).min() > 1e-9 * size
    x = members(action_set, rng, 80)
    assert cdist(x, grid.points).min(axis=1).max() <= grid.covering_radius + 1e-9 * size
    assert distance_to_hull(action_set, grid.points, x).max() <= grid.hull_distance + 1e-7 * size
    if grid.locate is not None:
        rows = Barycentric(grid)(x)
        means = np.einsum("mk,mka->ma", rows.weights, grid.points[rows.indices])
        spread = np.square(grid.points[rows.indices] - means[:, None]).sum(axis=2)
        assert (rows.weights * spread).sum(axis=1).max() <= grid.variance + 1e-9 * size**2


# Geometry -----------------------------------------------------------------------------------------


@given(convex_sets(), kinds_of_grid, cell_counts, seeds)
def test_reported_geometry_bounds_the_measured_one(action_set, kind, cells, seed):
    grid = MAKERS[kind](action_set, action_set.grids.longest_side / cells)
    check_geometry(action_set, grid, np.random.default_rng(seed))


@pytest.mark.parametrize("action_set", [*LINES, *FOUR_DIMENSIONAL], ids=repr)
@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_geometry_on_lines_and_in_four_dimensions(action_set, kind):
    grid = MAKERS[kind](action_set, action_set.grids.longest_side / 2)
    check_geometry(action_set, grid, np.random.default_rng(0))


@given(convex_sets(kinds=("interval", "box"), dims=(1, 2, 3)), st.floats(1.0, 5.0))
def test_radius_hull_distance_and_variance_of_boxes_are_attained(action_set, cells):
    side = action_set.grids.longest_side
    corners, center = action_set.vertices, action_set.center
    net, tri = (make(action_set, side / cells) for make in MAKERS.values())
    to_net = cdist(corners, net.points).min(axis=1)
    assert to_net.max() == pytest.approx(net.covering_radius)
    assert net.hull_distance == pytest.approx(net.covering_radius)
    # the cells of the triangulation are those whose centres make up the net
    to_tri = cdist(net.points, tri.points).min(axis=1)
    assert to_tri == pytest.approx(tri.covering_radius)
    assert tri.variance == pytest.approx(tri.covering_radius**2)
    assert tri.hull_distance == 0.0
    assert max(net.mesh, tri.mesh) <= side / cells * (1 + 1e-9)
    assert np.ptp(np.concatenate((tri.points, center[None])), axis=0) == pytest.approx(
        np.ptp(corners, axis=0)
    )


def test_radius_of_a_triangle_is_attained_at_centres_of_cells():
    triangle = Simplex(2, 3.0)
    grid = grids.triangulation(triangle, 0.5)
    centre = grid.points[0] + np.array([1 / 3, 1 / 3, -2 / 3]) * grid.mesh
    assert triangle.contains(centre)
    assert cdist([centre], grid.points).min() == pytest.approx(grid.covering_radius)


@pytest.mark.parametrize(
    "action_set",
    [Box([0.0, 1.0], [1.0, 1.4]), Box([0.0] * 3, [1.0, 0.5, 2.0])]
    + [Simplex(2, 0.7, 1.0), Simplex(3), Simplex(4, 2.0)],
    ids=repr,
)
def test_variance_of_kuhn_grids_is_the_largest_enclosing_ball(action_set):
    grid = grids.triangulation(action_set, action_set.grids.longest_side / 2)
    x = members(action_set, np.random.default_rng(1), 400)
    rows = Barycentric(grid)(x)
    # interior points tell their simplex; those with a weight near 0 may repeat a lattice point
    simplices = {tuple(sorted(row)) for row in rows.indices[rows.weights.min(axis=1) > 1e-6]}
    shapes = {}
    for simplex in simplices:
        corners = grid.points[list(simplex)]
        shapes.setdefault(tuple(np.sort(pdist(corners)).round(9)), corners)
    assert max(map(enclosing_ball, shapes.values())) == pytest.approx(grid.variance, rel=1e-5)


@given(st.integers(2, 5), st.integers(1, 4), seeds)
def test_enclosing_radius_matches_descent(corner_count, width, seed):
    rng = np.random.default_rng(seed)
    corners = rng.normal(size=(3, corner_count, width)) * 10.0 ** rng.uniform(-2, 2)
    corners[1] *= np.append(np.ones(width - 1), 1e-3)  # obtuse and flat ones
    found = grids.enclosing_radius_squared(corners)
    assert found == pytest.approx([enclosing_ball(c) for c in corners], rel=1e-5)


def test_enclosing_radius_of_degenerate_simplices():
    repeated = [[0.0, 0.0], [0.0, 0.0], [2.0, 0.0]]
    collinear = [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]
    found = grids.enclosing_radius_squared(np.array([repeated, collinear]))
    assert found == pytest.approx([1.0, 2.0])
    assert grids.enclosing_radius_squared(np.ones((2, 1, 3))).tolist() == [0.0, 0.0]


# Formulas -----------------------------------------------------------------------------------------


def assert_same_geometry(formula, built):
    assert formula.size == built.size
    for name in ("covering_radius", "hull_distance", "variance"):
        expected = getattr(built, name)
        assert getattr(formula, name) == pytest.approx(expected, rel=1e-9, abs=1e-12), name


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("set_kind", KINDS)
@pytest.mark.parametrize("kind", ["net", "triangulation", "boundary"])
def test_measure_equals_built_grids(kind, set_kind, dim):
    action_set = make_set(set_kind, dim, seed=dim)
    build, measure = (
        grids.Levels(kind, action_set).grid,
        grids.Levels(kind, action_set, 10**6).geometry,
    )
    for level in (1, 2, 3):
        known, built = measure(level), build(level).geometry
        assert known.size >= built.size  # a ball's are counted without looking for equal ones
        assert_same_geometry(replace(known, size=built.size), built)


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("set_kind", KINDS)
@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_measure_nested_equals_built_grids(kind, set_kind, dim):
    action_set = make_set(set_kind, dim, seed=dim)
    build = grids.Nested(kind, action_set).grid
    measure = grids.Nested(kind, action_set, 10**6).geometry
    for level in range(3):
        known, built = measure(level), build(level).geometry
        if set_kind in ("ball", "polytope", "custom") and dim > 1:
            # nets are counted level by level: points that two levels share count twice
            assert known.size >= built.size
            known = replace(known, size=built.size)
        assert_same_geometry(known, built)


@pytest.mark.parametrize("level", [1, 3, 4])
def test_sizes_of_kuhn_grids(level):
    box = Box([0.0, 1.0, 2.0], [1.0, 1.5, 2.2])
    cells = [level, math.ceil(level / 2), math.ceil(level / 5)]
    assert len(grids.Levels("triangulation", box).grid(level)) == math.prod(n + 1 for n in cells)
    assert len(grids.Levels("net", box).grid(level)) == math.prod(cells)
    for dim in (2, 3, 4):
        simplex = grids.Levels("triangulation", Simplex(dim, 0.3)).grid(level)
        assert len(simplex) == math.comb(level + dim, dim)


@pytest.mark.parametrize("action_set", [Interval(0, 1), Box([0, 0], [1, 2]), Ball([0, 0], 1)])
def test_measures_stop_at_the_largest_size(action_set):
    for family in (grids.Levels, grids.Nested):
        geometry_at = family("triangulation", action_set, 40).geometry
        sizes = [g.size for g in map(geometry_at, range(1, 12)) if g is not None]
        assert sizes and max(sizes) <= 40
        assert geometry_at(60) is None


@pytest.mark.parametrize("mesh", [0.0, -0.1, math.nan, math.inf, 1.3, "wide"])
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize(
    "action_set", [Interval(0, 1), Box([0, 0], [1, 0.5]), Simplex(2), Ball([0, 0], 0.5)], ids=repr
)
def test_a_mesh_out_of_range_is_refused(action_set, make, mesh):
    with pytest.raises(ValueError, match="mesh"):
        make(action_set, mesh)


@pytest.mark.parametrize(
    "actions", [[], [0.0, 0.0], [0.5, 0.1], [math.nan, 1.0], [-0.1, 1.0], [0.0, 1.5], [[0.0, 1.0]]]
)
def test_bad_actions_on_a_line_are_refused(actions):
    with pytest.raises(ValueError, match="actions"):
        grids.line(Interval(0, 1), actions)


@pytest.mark.parametrize("action_set", LINES, ids=repr)
def test_uneven_actions_on_a_line(action_set):
    low, high = grids.ends(action_set)
    assert high - low == pytest.approx(action_set.diameter)
    grid = grids.line(action_set, low + (high - low) * np.array([0.05, 0.1, 0.5, 0.9]))
    assert grid.mesh == pytest.approx(0.4 * (high - low))
    assert grid.hull_distance == pytest.approx(0.1 * (high - low))
    check_geometry(action_set, grid, np.random.default_rng(0))


# Nesting ------------------------------------------------------------------------------------------


@given(convex_sets(), kinds_of_grid)
def test_nested_grids_keep_every_point_to_the_last_bit(action_set, kind):
    grid_at = grids.Nested(kind, action_set).grid
    for level in range(4 if action_set.dim < 3 else 2):
        earlier, later = (set(map(bytes, grid_at(j).points)) for j in (level, level + 1))
        assert earlier < later


# Boundary -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [3, 4, 7, 50])
def test_boundary_of_a_disc_is_the_regular_polygon(size):
    grid = grids.boundary(Ball([3.0, -1.0], 2.5), size)
    assert len(grid) == size
    assert grid.hull_distance == pytest.approx(2.5 * (1 - math.cos(math.pi / size)))


@given(convex_sets(dims=(2, 3, 4)).filter(lambda s: s.dim > 1), st.integers(0, 8), seeds)
def test_boundary_lies_on_the_set_and_bounds_the_hull_distance(action_set, more, seed):
    grid = grids.boundary(action_set, action_set.dim + 1 + more)
    assert len(grid) <= action_set.dim + 1 + more
    check_geometry(action_set, grid, np.random.default_rng(seed))


@given(convex_sets(kinds=("box", "simplex", "polytope"), dims=(2, 3)))
def test_boundary_of_a_polytope_ends_with_its_vertices(action_set):
    vertices = action_set.vertices
    grid = grids.boundary(action_set, len(vertices) + 20)
    assert grid.hull_distance == 0.0
    assert len(grid) == len(vertices)
    assert cdist(vertices, grid.points).min(axis=1).max() <= 1e-12 * max(1, np.abs(vertices).max())


@given(convex_sets(kinds=("custom",), dims=(2, 3)), st.integers(3, 9))
def test_smaller_boundaries_are_prefixes_of_larger_ones(action_set, size):
    size = max(size, action_set.dim + 1)
    small, large = (grids.boundary(action_set, k).points for k in (size, size + 4))
    assert np.array_equal(small, large[: len(small)])


def test_hull_distance_of_a_ball_falls_with_the_size():
    ball = Ball([1.0, 2.0, 3.0], 2.0)
    found = [grids.boundary(ball, 8 * 2**k).hull_distance for k in range(6)]
    assert all(b < a for a, b in zip(found, found[1:], strict=False))
    assert found[-1] < 0.1 * found[0]


@given(seeds, st.integers(2, 4))
def test_hull_distance_of_points_on_one_side_of_a_ball(seed, dim):
    rng = np.random.default_rng(seed)
    ball = Ball(rng.normal(size=dim), 1.5)
    around = np.eye(dim)[0] + 0.4 * rng.normal(size=(dim + 3, dim))
    around[:, 0] = np.abs(around[:, 0]) + 0.1
    points = ball.center + 1.5 * around / np.linalg.norm(around, axis=1, keepdims=True)
    farthest = distance_to_hull(ball, points, extreme_points(ball, rng, 60)).max()
    assert distance_to_hull(ball, points, ball.center[None])[0] > 0  # the hull misses the centre
    assert farthest <= measured_hull_distance(ball, points)


def test_boundaries_too_small_are_refused():
    with pytest.raises(ValueError, match="size"):
        grids.boundary(Ball([0.0, 0.0], 1.0), 2)


def test_many_dimensional_boundaries_are_known_without_hulls():
    ball = grids.boundary(Ball([1.0] * 7, 2.0), 14)
    # the point of the sphere farthest from the cross-polytope is on the diagonal
    diagonal = np.ones(7) / 7**0.5
    reach = ((ball.points - 1.0) @ diagonal).max()
    assert len(ball) == 14 and ball.hull_distance == pytest.approx(2.0 - reach)
    assert grids.boundary(Simplex(8), 9).hull_distance == 0.0
    few = grids.boundary(Box([0.0] * 7, [1.0] * 7), 100)
    assert len(few) <= 100 and 0 < few.hull_distance < 7**0.5
    assert grids.boundary(Box([0.0] * 7, [1.0] * 7), 8).hull_distance == pytest.approx(7**0.5)
    assert grids.boundary(Box([0.0] * 7, [1.0] * 7), 128).hull_distance == 0.0


@pytest.mark.parametrize("dim", range(2, 7))
def test_the_variance_of_many_dimensional_chambers_is_bounded_from_above(dim):
    exact = grids.Levels("triangulation", Simplex(dim), 10).geometry(1).variance
    assert exact <= 2 * ((dim + 1) // 2) * dim / (2 * (dim + 1)) * (1 + 1e-12)
    assert math.isfinite(grids.Levels("triangulation", Simplex(9), 10).geometry(1).variance)


def test_levels_that_cannot_be_built_are_out_of_reach():
    assert grids.Levels("triangulation", Simplex(8), math.inf).geometry(20) is None
    assert grids.Levels("net", Ball([0.0] * 8, 1.0), math.inf).geometry(60) is None
    assert grids.Levels("triangulation", Ball([0.0] * 8, 1.0), math.inf).geometry(60) is None

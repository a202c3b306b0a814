"""Roundings: sparse rows with the right mean, slow references, and what rounding costs."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from fullswap import grids
from fullswap.kernels.kuhn import kuhn_locate
from fullswap.losses import Custom, Quadratic, piecewise_linear
from fullswap.rounding import Barycentric, Nearest, neighbours
from fullswap.sets import Ball, Box, Interval, Polytope, Simplex
from fullswap.theorems import Constants
from strategies import (
    KINDS,
    convex_sets,
    ellipsoid,
    lipschitz_losses,
    members,
    quadratics,
    seeds,
)

cell_counts = st.sampled_from([1.0, 2.0, 3.3])
LINES = [
    Interval(-3.0, 0.5),
    Box([2.0], [2.7]),
    Simplex(1, 0.4, [1.0, -2.0]),
    Ball([5.0], 0.3),
    Polytope([[1.0], [4.0], [2.0]]),
    ellipsoid([-1.0], [2.5]),
]


@st.composite
def triangulated(draw, kinds=KINDS, dims=(1, 2, 3)):
    """Draw a set and a triangulation of it."""
    action_set = draw(convex_sets(kinds, dims))
    mesh = action_set.grids.longest_side / draw(cell_counts)
    return action_set, grids.triangulation(action_set, mesh)


KUHN = ("interval", "box", "simplex")
"""Sets with triangulations; others have nets, which move means a little: tests/test_nets.py."""


def means(grid, rows):
    return np.einsum("mk,mka->ma", rows.weights, grid.points[rows.indices])


def assert_valid(grid, rows, dim):
    assert rows.indices.dtype == np.int64 and rows.indices.shape[1] == dim + 1
    assert rows.indices.min() >= 0 and rows.indices.max() < len(grid)
    assert rows.weights.min() >= 0
    assert rows.weights.sum(axis=1) == pytest.approx(1.0, abs=1e-12)


def project_to_hull(action_set, grid, x):
    """The nearest points of conv(grid), by way of the set's own coordinates."""
    origin, basis = action_set.frame
    hull = Polytope((grid.points - origin) @ basis)
    return hull.project((x - origin) @ basis) @ basis.T + origin


# Barycentric --------------------------------------------------------------------------------------


@given(triangulated(kinds=KUHN), seeds)
def test_barycentric_keeps_the_mean_of_hull_points(pair, seed):
    action_set, grid = pair
    x = members(action_set, np.random.default_rng(seed), 30)
    rows = Barycentric(grid)(x)
    assert_valid(grid, rows, action_set.dim)
    error = np.abs(means(grid, rows) - project_to_hull(action_set, grid, x)).max()
    assert error <= 1e-9 * action_set.diameter


@pytest.mark.parametrize("action_set", [Box([0, 1, 2, 3], [1, 1.5, 4, 3.1]), Simplex(4, 3.0)])
def test_barycentric_in_four_dimensions(action_set):
    grid = grids.triangulation(action_set, action_set.grids.longest_side / 2)
    x = members(action_set, np.random.default_rng(0), 40)
    rows = Barycentric(grid)(x)
    assert_valid(grid, rows, 4)
    assert means(grid, rows) == pytest.approx(project_to_hull(action_set, grid, x), abs=1e-9)


@given(triangulated())
def test_barycentric_is_exact_at_grid_points(pair):
    _, grid = pair
    dense = Barycentric(grid)(grid.points).toarray(len(grid))
    assert np.abs(dense - np.eye(len(grid))).max() <= 1e-9


@given(triangulated(kinds=KUHN), seeds)
def test_barycentric_on_a_face_uses_its_vertices_alone(pair, seed):
    action_set, grid = pair
    rows = Barycentric(grid)(members(action_set, np.random.default_rng(seed), 20))
    # leave out the lightest vertex: what is left is a point of the opposite facet
    shares = rows.weights.copy()
    np.put_along_axis(shares, shares.argmin(axis=1)[:, None], 0.0, axis=1)
    shares /= shares.sum(axis=1, keepdims=True)
    expected = type(rows)(rows.indices, shares).toarray(len(grid))
    found = Barycentric(grid)(expected @ grid.points).toarray(len(grid))
    assert found == pytest.approx(expected, abs=1e-6)


@given(triangulated(), seeds)
def test_barycentric_permutes_and_repeats_with_its_targets(pair, seed):
    action_set, grid = pair
    rng = np.random.default_rng(seed)
    x = members(action_set, rng, 15)
    order = rng.permutation(np.repeat(np.arange(len(x)), 2))
    once, again = (Barycentric(grid)(rows).toarray(len(grid)) for rows in (x, x[order]))
    assert again == pytest.approx(once[order], abs=1e-9)


# Kuhn ---------------------------------------------------------------------------------------------


def slow_kuhn(y, cells):
    """The path from the floor of y, coordinates raised by falling part, larger index first."""
    base = [min(max(math.floor(v), 0), n - 1) for v, n in zip(y, cells, strict=True)]
    part = [min(max(v - b, 0.0), 1.0) for v, b in zip(y, base, strict=True)]
    order = sorted(range(len(y)), key=lambda i: (part[i], i), reverse=True)
    corners, weights, levels = [tuple(base)], [], [1.0, *(part[i] for i in order), 0.0]
    for i in order:
        base[i] += 1
        corners.append(tuple(base))
    weights = [a - b for a, b in zip(levels, levels[1:], strict=False)]
    return corners, weights


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), seeds)
def test_kuhn_locate_matches_the_slow_path(cells, seed):
    rng = np.random.default_rng(seed)
    cells = np.array(cells)
    free = rng.uniform(-0.2, cells + 0.2, size=(12, len(cells)))
    y = np.vstack([free, np.round(4 * free) / 4, np.round(free), [np.zeros_like(cells), cells]])
    strides = np.append(np.cumprod((cells + 1)[::-1])[-2::-1], 1).astype(np.int64)
    indices = np.empty((len(y), len(cells) + 1), np.int64)
    weights = np.empty(indices.shape)
    kuhn_locate(y, cells, strides, np.zeros(0, np.int64), indices, weights)
    for row, target in enumerate(y):
        corners, expected = slow_kuhn(target, cells)
        assert indices[row].tolist() == [int(strides @ corner) for corner in corners]
        assert weights[row].tolist() == expected


@given(st.integers(1, 4), st.integers(1, 6), seeds)
def test_simplex_lattice_points_survive_rounding_noise(dim, cells, seed):
    rng = np.random.default_rng(seed)
    simplex = Simplex(dim, 10.0 ** rng.uniform(-2, 2), rng.normal(size=dim + 1) * (seed % 2))
    grid = grids.triangulation(simplex, simplex.grids.longest_side / cells)
    faces = rng.dirichlet(np.full(dim + 1, 0.3), size=30)
    faces[rng.uniform(size=faces.shape) < 0.4] = 0.0
    faces = faces[faces.sum(axis=1) > 0]
    faces /= faces.sum(axis=1, keepdims=True)
    x = np.vstack([grid.points, simplex.shift + simplex.scale * faces])
    size = max(simplex.scale, np.abs(simplex.shift).max())
    noisy = x + 1e-16 * size * rng.integers(-3, 4, size=x.shape)
    for targets in (x, noisy, simplex.project(noisy)):
        rows = Barycentric(grid)(targets)
        assert_valid(grid, rows, dim)
        assert means(grid, rows) == pytest.approx(x, abs=1e-13 * size * cells)
    own = Barycentric(grid)(noisy[: len(grid)]).toarray(len(grid)).diagonal()
    assert own.min() >= 1 - 1e-9 * max(1.0, size / simplex.scale)


# Nearest and neighbours ---------------------------------------------------------------------------


@given(convex_sets(dims=(1, 2, 3)), cell_counts, st.booleans(), seeds)
def test_nearest_matches_all_distances(action_set, cells, triangulate, seed):
    make = grids.triangulation if triangulate else grids.net
    grid = make(action_set, action_set.grids.longest_side / cells)
    x = members(action_set, np.random.default_rng(seed), 30)
    rows = Nearest(grid)(x)
    assert rows.indices.shape == rows.weights.shape == (len(x), 1)
    assert rows.indices.dtype == np.int64 and (rows.weights == 1).all()
    distances = cdist(x, grid.points)
    found = np.take_along_axis(distances, rows.indices, axis=1)[:, 0]
    assert found == pytest.approx(distances.min(axis=1), rel=1e-9, abs=1e-12)
    assert (Nearest(grid)(grid.points).indices[:, 0] == np.arange(len(grid))).all()


@pytest.mark.parametrize("action_set", LINES, ids=lambda line: type(line).__name__)
def test_neighbours_on_a_line(action_set):
    low, high = grids.ends(action_set)
    places = low + (high - low) * np.array([0.0, 0.1, 0.4, 1.0])
    grid = grids.line(action_set, places)
    t = np.concatenate((places, np.random.default_rng(0).uniform(low, high, 30)))
    origin, basis = action_set.frame
    rows = neighbours(grid)(t[:, None] * basis[:, 0] + origin)
    assert_valid(grid, rows, 1)
    assert (np.diff(rows.indices, axis=1) == 1).all()
    assert (rows.indices[:4, 0] <= [0, 1, 2, 2]).all()  # the top cell holds its right end
    expected = np.column_stack([np.interp(t, places, unit) for unit in np.eye(4)])
    assert rows.toarray(4) == pytest.approx(expected, abs=1e-12)
    outside = neighbours(grid)((np.array([[low - 1], [high + 1]])) * basis[:, 0] + origin)
    assert outside.toarray(4) == pytest.approx(np.eye(4)[[0, 3]], abs=1e-12)


def test_neighbours_need_a_line_and_two_points():
    with pytest.raises(ValueError, match="line"):
        neighbours(grids.triangulation(Box([0, 0], [1, 1]), 0.5))
    with pytest.raises(ValueError, match="triangulat"):
        neighbours(grids.net(Interval(0, 1), 1.0))
    with pytest.raises(ValueError, match="triangulat"):
        Barycentric(grids.net(Box([0, 0], [1, 1]), 0.5))


@pytest.mark.parametrize("rounding", [Nearest, Barycentric])
@pytest.mark.parametrize(
    "action_set", [Interval(0, 1), Box([0, 0], [1, 1]), Simplex(2), Ball([0, 0], 1)], ids=repr
)
def test_bad_targets_are_refused(rounding, action_set):
    round_ = rounding(grids.triangulation(action_set, 0.5))
    width = action_set.ambient_dim
    for value in (math.nan, math.inf):
        with pytest.raises(ValueError, match="targets must be finite"):
            round_(np.full((2, width), value))
    for shape in [(2, width + 1), (1, 2, width), (width + 2,)]:
        with pytest.raises(ValueError, match="targets must have shape"):
            round_(np.zeros(shape))


# What rounding costs ------------------------------------------------------------------------------


@given(st.data(), convex_sets(), cell_counts, seeds)
def test_nearest_costs_at_most_lipschitz_times_radius(data, action_set, cells, seed):
    grid = grids.net(action_set, action_set.grids.longest_side / cells)
    loss, lipschitz = data.draw(lipschitz_losses(action_set))
    x = members(action_set, np.random.default_rng(seed), 40)
    rounded = grid.points[Nearest(grid)(x).indices[:, 0]]
    cost = (loss.value(rounded) - loss.value(x)).max()
    assert cost <= lipschitz * grid.covering_radius * (1 + 1e-9) + 1e-12


@given(st.data(), triangulated(), seeds)
def test_barycentric_costs_at_most_hull_distance_and_variance(data, pair, seed):
    action_set, grid = pair
    loss, lipschitz, smoothness = data.draw(quadratics(action_set))
    x = members(action_set, np.random.default_rng(seed), 40)
    constants = Constants(lipschitz, action_set.diameter, 0.0, smoothness)
    rows = Barycentric(grids.tuned(grid, constants))(x)
    values = loss.value(grid.points)
    cost = ((rows.weights * values[rows.indices]).sum(axis=1) - loss.value(x)).max()
    allowed = lipschitz * grid.hull_distance + smoothness * grid.variance / 2
    assert cost <= allowed + 1e-9 * (1 + np.abs(values).max())


@pytest.mark.parametrize("action_set", [Interval(1, 3), Box([0, 1], [1, 1.5])], ids=repr)
def test_the_middle_of_a_cell_costs_all_of_the_variance(action_set):
    grid = grids.triangulation(action_set, action_set.grids.longest_side / 2)
    loss = Quadratic(action_set.center, scale=3.0)
    x = grids.net(action_set, grid.mesh).points
    rows = Barycentric(grid)(x)
    cost = (rows.weights * loss.value(grid.points)[rows.indices]).sum(axis=1) - loss.value(x)
    assert cost == pytest.approx(3.0 * grid.variance)


@given(st.data(), convex_sets(dims=(2, 3)).filter(lambda s: s.dim > 1), st.integers(1, 12))
def test_best_boundary_point_of_a_concave_loss(data, action_set, more):
    grid = grids.boundary(action_set, action_set.dim + more)
    loss, lipschitz, _ = data.draw(quadratics(action_set, signs=(-1.0,)))
    if action_set.vertices is None and not isinstance(action_set, Ball):
        x = members(action_set, np.random.default_rng(more), 200)  # no exact minimum is known
    else:
        x = action_set.minimize_quadratic(loss.coefficients[0], loss.coefficients[None, 1:-1])
    lowest, found = loss.value(x).min(), loss.value(grid.points).min()
    assert found <= lowest + lipschitz * grid.hull_distance + 1e-9 * (1 + abs(lowest))


@given(st.sampled_from(LINES), st.lists(st.floats(0, 1), min_size=1, max_size=6, unique=True))
def test_neighbours_represent_piecewise_linear_losses_exactly(action_set, inner):
    low, high = grids.ends(action_set)
    # a rounded lattice, so that no gap between neighbours is tiny
    shares = np.unique(np.round([0.0, 1.0, *inner], 2))
    grid = grids.line(action_set, low + (high - low) * shares)
    origin, basis = action_set.frame
    pieces = piecewise_linear(
        Custom(lambda t: np.abs(t[:, 0] - 0.3 * low - 0.7 * high) + t[:, 0] ** 2),
        low + (high - low) * shares,
    )
    t = np.linspace(low, high, 41)[:, None]
    rows = neighbours(grid)(t * basis[:, 0] + origin)
    at_grid = pieces.value((grid.points - origin) @ basis[:, :1])
    found = (rows.weights * at_grid[rows.indices]).sum(axis=1)
    assert found == pytest.approx(pieces.value(t), abs=1e-9)

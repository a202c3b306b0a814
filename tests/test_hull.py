"""The hull of a set of actions as a convex set: frames, diameters, linear minima."""

import math

import numpy as np
import pytest

from fullswap.games import Curve, Product, Region, Vectors
from fullswap.games.hull import Hull, affine_frame
from fullswap.sets import Box


@pytest.mark.parametrize("dim, rank", [(1, 1), (3, 1), (3, 2), (5, 3), (5, 5)])
def test_frames_of_flat_sets(dim, rank):
    rng = np.random.default_rng([dim, rank])
    rows = rng.normal(size=(200, rank)) @ rng.normal(size=(rank, dim)) + 100.0
    origin, axes = affine_frame(Vectors(rows))
    assert axes.shape == (dim, rank)
    np.testing.assert_allclose(axes.T @ axes, np.eye(rank), atol=1e-12)
    inside = (rows - origin) @ axes @ axes.T + origin
    np.testing.assert_allclose(inside, rows, atol=1e-9)


@pytest.mark.parametrize("dim", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [5, 600, 5000])
def test_diameters_are_never_too_small(dim, n):
    rng = np.random.default_rng([dim, n])
    rows = rng.normal(size=(n, dim)) * np.arange(1, dim + 1)
    hull = Hull(Vectors(rows))
    some = rows[np.argsort(-np.linalg.norm(rows, axis=1))[:400]]
    exact = max(float(np.linalg.norm(some - row, axis=1).max()) for row in some)
    slack = {1: 1e-9, 2: 1e-3, 3: 0.05, 4: 1.0}[dim] if n > 512 else 1e-9
    assert exact * (1 - 1e-12) <= hull.diameter <= exact * (1 + slack)


def test_diameters_in_closed_form():
    box = Region(Box([0.0, 0.0, 0.0], [1.0, 2.0, 0.5]))
    assert Hull(box).diameter == pytest.approx(math.sqrt(1 + 4 + 0.25))
    plans = Product([Vectors([[0.0], [1.0], [3.0]]), Vectors([[0.0, 1.0], [1.0, 0.0]])])
    assert Hull(plans).diameter == pytest.approx(math.sqrt(9 + 2))
    many = Vectors(np.linspace(0, 1, 1001)[:, None])
    assert Hull(Product([many, Vectors([[2.0], [2.0]])])).diameter == pytest.approx(1.0)
    assert Hull(Curve.parabola(0.0, 1.0)).diameter == pytest.approx(math.sqrt(2), rel=1e-3)


def test_the_hull_is_a_convex_set():
    square = Vectors([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [1.0, 1.0]])
    hull = Hull(square)

    def inner(x):
        return (np.array(x, dtype=float) - hull.origin) @ hull.axes

    np.testing.assert_allclose(hull.project(inner([3.0, 1.0])), inner([2.0, 1.0]), atol=1e-9)
    np.testing.assert_allclose(hull.project(inner([1.0, 0.5])), inner([1.0, 0.5]), atol=1e-9)
    assert hull.contains(inner([[1.0, 2.0], [1.0, 2.1]])).tolist() == [True, False]
    slope, corners = np.array([0.1, -0.3]), inner(square.embeddings)
    lowest = hull.minimize_quadratic([-1.0], slope[None])[0]
    values = corners @ slope - np.square(corners).sum(axis=1)
    assert lowest @ slope - lowest @ lowest == pytest.approx(values.min())
    moved = hull.moved(2.0, [1.0, 0.0])
    np.testing.assert_allclose(
        moved.minimize_linear([1.0, 0.3]), 2 * hull.minimize_linear([1.0, 0.3]) + [1.0, 0.0]
    )
    with pytest.raises(NotImplementedError, match="concave"):
        Hull(Curve.parabola(0.0, 1.0)).minimize_quadratic(-1.0, [0.0, 0.0])
    with pytest.raises(ValueError, match="different"):
        Hull(Vectors([[1.0], [1.0]]))
    with pytest.raises(ValueError, match="actions"):
        Hull(np.eye(2))


@pytest.mark.parametrize("n", [50, 3_000])
def test_how_far_the_hull_reaches(n):
    rows = np.random.default_rng(n).normal(size=(n, 6)) + 5.0
    hull = Hull(Vectors(rows))
    assert hull.reach == pytest.approx(np.linalg.norm(rows - hull.origin, axis=1).max())
    assert hull.diameter <= 2 * hull.reach * (1 + 1e-12)
    # a continuum is not looked through: along the axes, and so never too little
    curve = Hull(Curve.parabola(0.0, 1.0))
    t = np.linspace(0, 1, 1001)
    ends = np.column_stack((t, t * t)) - curve.origin
    assert np.linalg.norm(ends, axis=1).max() <= curve.reach <= curve.diameter


def test_mixed_actions_of_points_have_these_means():
    rng = np.random.default_rng(0)
    actions = Vectors(rng.normal(size=(300, 4)))
    hull = Hull(actions)
    outside = rng.normal(size=(40, 4)) * 3
    nearest = hull.project(outside)
    inside = rng.dirichlet(np.full(300, 0.1), size=40) @ actions.embeddings
    for point in (*nearest, *((inside - hull.origin) @ hull.axes)):
        chosen, weights = hull.mixed_at(point)
        assert len(chosen) <= 5 and weights.min() > 0
        mean = (weights @ actions.embed(chosen) - hull.origin) @ hull.axes
        np.testing.assert_allclose(mean, point, atol=1e-9)
    corner = hull.minimize_linear(np.ones(4))
    assert len(hull.mixed_at(corner)[0]) == 1
    with pytest.raises(ValueError, match="point must lie in the hull of the actions, got one"):
        hull.mixed_at(outside[0] * 10)
    # of all nearest points no other point of the hull is nearer: the best answer says so
    rest = outside - nearest
    ends = hull.minimize_linear(-rest)
    assert ((ends - nearest) * rest).sum(axis=1).max() <= 1e-9


def test_vertices_are_the_extreme_actions():
    from scipy.spatial import ConvexHull

    rows = np.random.default_rng(1).normal(size=(400, 3))
    rows = np.vstack((rows, rows[:20], rows[:40] * 0.5 + rows[40:80] * 0.5))
    hull = Hull(Vectors(rows))
    corners = rows[ConvexHull(rows).vertices]
    expected = np.unique(((corners - hull.origin) @ hull.axes).round(9), axis=0)
    np.testing.assert_allclose(np.unique(hull.vertices.round(9), axis=0), expected, atol=1e-8)
    assert Hull(Vectors(np.random.default_rng(1).normal(size=(2_001, 3)))).vertices is None

"""Losses: values and gradients, piecewise linearisation against its definition, loss classes."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from fullswap import grids
from fullswap.losses import (
    Custom,
    Linear,
    LossClass,
    Quadratic,
    QuadraticFamily,
    as_points,
    piecewise_linear,
    quadratic_rows,
)
from fullswap.sets import Ball, Box, Interval, Simplex
from strategies import convex_sets, lipschitz_losses, members, quadratics, seeds

slow = settings(max_examples=20)


def finite_differences(loss, points, step):
    """Central differences (m, A), exact for quadratic functions up to rounding."""
    moves = step * np.eye(points.shape[1])
    columns = [(loss.value(points + e) - loss.value(points - e)) / (2 * step) for e in moves]
    return np.column_stack(columns)


def envelope(grid, values, x):
    """min Σ v_s·ℓ(s) over weights v >= 0 with Σ v_s = 1 and Σ v_s·s = x, for every row of x."""
    system = np.vstack((grid.T, np.ones(len(grid))))
    found = [linprog(values, A_eq=system, b_eq=np.append(row, 1.0), bounds=(0, None)) for row in x]
    assert all(result.status == 0 for result in found)
    return np.array([result.fun for result in found])


def kinked(center):
    """A convex loss with kinks, not aligned to any grid: ‖x − center‖₁ + max_i x_i."""
    return Custom(lambda x: np.abs(x - center).sum(axis=1) + x.max(axis=1))


# Values and gradients -----------------------------------------------------------------------------


@given(st.data(), convex_sets(), seeds)
def test_quadratic_value_and_gradient(data, action_set, seed):
    loss, lipschitz, smoothness = data.draw(quadratics(action_set))
    x = members(action_set, np.random.default_rng(seed), 10)
    curvature, slope = loss.coefficients[0], loss.coefficients[1:-1]
    center = slope / (-2 * curvature)
    expected = curvature * np.square(x - center).sum(axis=1)
    unit = abs(curvature) * (np.abs(x).max() + np.abs(center).max() + 1) ** 2
    assert loss.value(x) == pytest.approx(expected, abs=1e-12 * unit)
    differences = finite_differences(loss, x, step=0.1 * action_set.diameter)
    assert loss.gradient(x) == pytest.approx(differences, abs=1e-9 * unit / action_set.diameter)
    assert np.linalg.norm(loss.gradient(x), axis=1).max() <= lipschitz * (1 + 1e-9)
    assert smoothness == 2 * abs(curvature)


def test_linear_value_and_gradient():
    loss = Linear([1.0, -2.0, 0.5], offset=3.0)
    x = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 4.0]])
    assert loss.value(x).tolist() == [3.0, 4.0]
    assert loss.gradient(x).tolist() == [[1.0, -2.0, 0.5]] * 2
    assert loss.ambient_dim == 3 and Linear(2.0).ambient_dim == 1
    assert loss.value([[1, 1, 4]]).tolist() == [4.0]  # lists and whole numbers will do


@given(st.data(), convex_sets(), seeds)
def test_custom_hands_on_value_and_gradient(data, action_set, seed):
    loss, _, _ = data.draw(quadratics(action_set))
    x = members(action_set, np.random.default_rng(seed), 10)
    custom = Custom(loss.value, loss.gradient)
    assert custom.has_gradient and not Custom(loss.value).has_gradient
    assert np.array_equal(custom.value(x), loss.value(x))
    assert np.array_equal(custom.gradient(x), loss.gradient(x))


@given(st.data(), convex_sets(), seeds)
def test_drawn_losses_keep_their_lipschitz_constant(data, action_set, seed):
    loss, lipschitz = data.draw(lipschitz_losses(action_set))
    x = members(action_set, np.random.default_rng(seed), 20)
    rises = np.abs(loss.value(x)[:, None] - loss.value(x))
    lengths = np.linalg.norm(x[:, None] - x, axis=2)
    assert (rises <= lipschitz * lengths * (1 + 1e-9) + 1e-9).all()


def test_coefficients_are_kept_apart_from_the_argument():
    given_ = np.array([1.0, 2.0, 3.0])
    loss = QuadraticFamily(given_)
    given_[0] = 7.0
    assert loss.coefficients.tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(ValueError):
        loss.coefficients[0] = 5.0


@pytest.mark.parametrize("bad", [math.nan, math.inf, [0.0, -math.inf], [], [[1.0, 2.0]]])
def test_bad_vectors_are_refused_by_name(bad):
    for make, name in ((Linear, "direction"), (Quadratic, "center"), (QuadraticFamily, "coeff")):
        with pytest.raises(ValueError, match=name):
            make(bad)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_bad_numbers_are_refused_by_name(bad):
    with pytest.raises(ValueError, match="offset"):
        Linear([1.0], offset=bad)
    with pytest.raises(ValueError, match="scale"):
        Quadratic([1.0], scale=bad)
    with pytest.raises(ValueError, match="scale"):
        quadratic_rows([1.0], scale=bad)
    with pytest.raises(ValueError, match="centers"):
        quadratic_rows([0.0, bad])


@pytest.mark.parametrize("shape", [(2,), (3, 1), (3, 3), (1, 3, 2)])
def test_points_of_the_wrong_shape_are_refused(shape):
    for method in (Quadratic([0.0, 1.0]).value, Quadratic([0.0, 1.0]).gradient):
        with pytest.raises(ValueError, match="points must have shape"):
            method(np.zeros(shape))


def test_too_few_coefficients_are_refused():
    with pytest.raises(ValueError, match="coefficients"):
        QuadraticFamily([1.0, 2.0])


def test_custom_checks_what_its_functions_return():
    x = np.zeros((3, 2))
    with pytest.raises(ValueError, match="value must be a function"):
        Custom(3.0)
    with pytest.raises(ValueError, match="value must have shape"):
        Custom(lambda x: x).value(x)
    with pytest.raises(ValueError, match="value must be finite"):
        Custom(lambda x: x[:, 0] + np.nan).value(x)
    with pytest.raises(ValueError, match="no gradient"):
        Custom(lambda x: x[:, 0]).gradient(x)
    with pytest.raises(ValueError, match="gradient must have shape"):
        Custom(lambda x: x[:, 0], lambda x: x[:, :1]).gradient(x)
    with pytest.raises(ValueError, match="gradient must be finite"):
        Custom(lambda x: x[:, 0], lambda x: x + np.inf).gradient(x)


def test_as_points():
    assert as_points([1, 2], 2).tolist() == [[1.0, 2.0]]
    assert as_points([[1, 2], [3, 4]], 2).shape == (2, 2)
    for bad in ([1, 2, 3], [[1.0], [2.0]], [[[1, 2]]], 5.0):
        with pytest.raises(ValueError, match="places must have shape"):
            as_points(bad, 2, "places")
    with pytest.raises(ValueError, match="places must be finite"):
        as_points([[1.0, math.nan]], 2, "places")


@given(st.integers(1, 3), st.floats(-3, 3).filter(bool), seeds)
def test_quadratic_rows_are_quadratic_losses(dim, scale, seed):
    centers = np.random.default_rng(seed).normal(size=(5, dim))
    rows = quadratic_rows(centers, scale)
    expected = [Quadratic(center, scale).coefficients for center in centers]
    assert rows == pytest.approx(np.array(expected), rel=1e-12, abs=1e-12)
    assert quadratic_rows(centers[:, 0], scale).shape == (5, 3)


# Piecewise linearisation --------------------------------------------------------------------------


@given(
    st.lists(st.integers(-50, 50), min_size=2, max_size=9, unique=True),
    st.floats(-5, 5),
    st.floats(0.1, 10),
)
def test_piecewise_linear_on_a_line_interpolates(places, center, scale):
    grid = np.array(places) / 10.0  # in any order
    loss = Quadratic([center], scale)
    pieces = piecewise_linear(loss, grid)
    s = np.sort(grid)
    x = np.linspace(s[0], s[-1], 60)
    expected = np.interp(x, s, loss.value(s[:, None]))
    assert pieces.value(x[:, None]) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    # the top cell holds its right end, where the slope is that of the cell
    top = (loss.value(s[-1:, None]) - loss.value(s[-2:-1, None])) / (s[-1] - s[-2])
    assert pieces.value(s[-1:, None]) == pytest.approx(loss.value(s[-1:, None]), abs=1e-9)
    assert pieces.gradient(s[-1:, None])[0] == pytest.approx(top, abs=1e-6)


@slow
@given(st.sampled_from([2, 3]), st.booleans(), st.sampled_from([0.0, 100.0]), seeds)
def test_piecewise_linear_is_the_lower_envelope(dim, smooth, shift, seed):
    rng = np.random.default_rng(seed)
    box = Box(np.full(dim, shift), shift + rng.uniform(0.5, 3.0, size=dim))
    grid = np.vstack([box.vertices, members(box, rng, 12)[:12]])
    center = members(box, rng, 1)[0]
    loss = Quadratic(center, 2.0) if smooth else kinked(center)
    values = loss.value(grid)
    pieces = piecewise_linear(loss, grid)
    x = members(box, rng, 5)
    size = np.ptp(values)
    assert pieces.value(grid) == pytest.approx(values, abs=1e-8 * size)
    assert (pieces.value(x) >= loss.value(x) - 1e-8 * size).all()
    expected = envelope(grid - shift, values, x - shift)
    assert pieces.value(x) == pytest.approx(expected, abs=1e-6 * size)
    # convex: below its chords, and above its tangents
    half = (pieces.value(x[:-1]) + pieces.value(x[1:])) / 2
    assert (pieces.value((x[:-1] + x[1:]) / 2) <= half + 1e-8 * size).all()
    tangents = np.einsum("ia,ija->ij", pieces.gradient(x), x - x[:, None])
    assert (pieces.value(x) >= pieces.value(x)[:, None] + tangents - 1e-8 * size).all()


@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("side", [1.0, 1e3])
def test_affine_losses_stay_as_they_are(offset, side):
    loss = Linear([0.3, -1.7], offset)
    grid = grids.triangulation(Box([0.0, 1.0], [side, 1.0 + side]), side / 3).points
    pieces = piecewise_linear(loss, grid)
    assert pieces.value(grid) == pytest.approx(loss.value(grid), rel=1e-12, abs=1e-9)
    assert pieces.gradient(grid) == pytest.approx(loss.gradient(grid), abs=1e-9)
    constant = piecewise_linear(Linear([0.0, 0.0], offset), grid)
    assert constant.value(grid) == pytest.approx(offset)


def test_piecewise_linear_goes_on_affinely_outside():
    pieces = piecewise_linear(Quadratic([0.0]), [[0.0], [1.0], [2.0]])
    assert pieces.value(np.array([[3.0], [-1.0]])) == pytest.approx([7.0, -1.0])


def test_points_that_carry_no_pieces_are_refused():
    with pytest.raises(ValueError, match="distinct"):
        piecewise_linear(Quadratic([0.0]), [1.0])
    with pytest.raises(ValueError, match="distinct"):
        piecewise_linear(Quadratic([0.0]), [1.0, 1.0])
    with pytest.raises(ValueError, match="finite"):
        piecewise_linear(Quadratic([0.0]), [0.0, math.nan])
    with pytest.raises(ValueError, match="span"):
        piecewise_linear(Quadratic([0.0, 0.0]), [[0, 0], [1, 1], [2, 2], [3, 3]])


@given(
    st.lists(st.integers(0, 40), min_size=2, max_size=8, unique=True),
    st.floats(-1, 5),
    st.floats(0.1, 5),
)
def test_piecewise_linear_losses_are_nearly_strongly_convex(places, center, scale):
    # pieces(y) − pieces(x) − g·(y − x) >= α/2·(|y − x| − ε)₊², ε the widest gap, g any slope at x
    grid = np.sort(np.array(places) / 10.0)
    alpha, gap = 2 * scale, np.diff(grid).max()
    pieces = piecewise_linear(Quadratic([center], scale), grid)
    x = np.concatenate((grid, np.linspace(grid[0], grid[-1], 25)))[:, None]
    values, slopes = pieces.value(x), pieces.gradient(x)[:, 0]
    moves = x[:, 0] - x  # moves[i, j] = x_j − x_i
    left = values - values[:, None] - slopes[:, None] * moves
    reach = np.maximum(np.abs(moves) - gap, 0.0)
    assert (left >= alpha / 2 * reach**2 - 1e-9 * scale * (1 + abs(center)) ** 2).all()


# Loss classes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"lipschitz": 0.0}, "lipschitz"),
        ({"lipschitz": math.nan}, "lipschitz"),
        ({"lipschitz": math.inf}, "lipschitz"),
        ({"strong_convexity": -1.0}, "strong_convexity"),
        ({"strong_convexity": math.nan}, "strong_convexity"),
        ({"smoothness": -1.0}, "smoothness"),
        ({"smoothness": math.inf}, "smoothness"),
        ({"strong_convexity": 2.0, "smoothness": 1.0}, "smoothness"),
        ({"strong_convexity": 1.0, "concave": True}, "strong_convexity"),
    ],
)
def test_impossible_classes_are_refused(arguments, name):
    with pytest.raises(ValueError, match=name):
        LossClass(**arguments)


def test_strong_convexity_implies_convexity():
    assert LossClass(strong_convexity=0.5).convex
    assert not LossClass().convex
    assert LossClass(convex=True, concave=True).convex


@given(convex_sets(), st.floats(0.1, 5.0), seeds)
def test_squared_losses_keep_their_own_promise(action_set, scale, seed):
    promise = LossClass.squared(action_set.diameter, scale)
    x = members(action_set, np.random.default_rng(seed), 20)
    _, tangent = action_set.frame
    for center in x[:5]:
        assert promise.violation(Quadratic(center, scale), x, tangent, action_set.diameter) is None
    steeper = promise.violation(Quadratic(x[0], 1.01 * scale), x, tangent, action_set.diameter)
    assert steeper is not None


def violation(promise, loss, action_set=Interval(0.0, 1.0)):  # noqa: B008
    _, tangent = action_set.frame
    points = members(action_set, np.random.default_rng(0), 20)
    return promise.violation(loss, points, tangent, action_set.diameter)


@pytest.mark.parametrize(
    ("promise", "loss", "message"),
    [
        (LossClass(1.0), Linear([1.1]), "slope 1.1 exceeds lipschitz"),
        (LossClass(1.0), Linear([1.0]), None),
        (LossClass(2.0, 2.0), Quadratic([0.5], 0.5), "below strong_convexity"),
        (LossClass(2.0, 1.0, 1.0), Quadratic([0.5], 1.0), "exceeds smoothness"),
        (LossClass(2.0, smoothness=1.0), Quadratic([0.5], -1.0), "exceeds smoothness"),
        (LossClass(2.0, concave=True), Quadratic([0.5], 0.5), "promised to be concave"),
        (LossClass(2.0, concave=True), Quadratic([0.5], -0.5), None),
        (LossClass(2.0, convex=True), Quadratic([0.5], -0.5), "promised to be convex"),
        (LossClass(2.0, convex=True, concave=True), Linear([2.0]), None),
        (LossClass(2.0), Quadratic([0.5], -0.5), None),
        (LossClass(1.0), Custom(lambda x: 2 * x[:, 0], lambda x: 2 + 0 * x), "slope 2 exceeds"),
        (LossClass(1.0), Custom(lambda x: x[:, 0], lambda x: 1 + 0 * x), None),
        (LossClass(1.0), Custom(lambda x: 2 * x[:, 0]), "range 2 exceeds"),
        (LossClass(1.0), Custom(lambda x: -x[:, 0]), None),
    ],
)
def test_violations(promise, loss, message):
    found = violation(promise, loss)
    assert found is None if message is None else message in found


def test_only_slopes_along_the_set_count():
    steep_across = Linear([5.0, 5.0, 5.0])
    assert violation(LossClass(0.1), steep_across, Simplex(2)) is None
    assert violation(LossClass(0.1), Linear([0.2, 0.0, 0.0]), Simplex(2)) is not None
    across = Custom(lambda x: 5 * x.sum(axis=1), lambda x: 0 * x + 5)
    assert violation(LossClass(0.1), across, Simplex(2)) is None
    assert violation(LossClass(0.1), across, Ball([0.0, 0.0], 1.0)) is not None


def test_bends_are_judged_by_what_they_do_across_the_set():
    bowl = Quadratic([0.0], 4e-7)  # slopes from 0 to 0.8
    assert "concave" in violation(LossClass(1.0, concave=True), bowl, Interval(0.0, 1e6))
    assert (
        violation(LossClass(1.0, concave=True), Quadratic([0.0], 1e-7), Interval(0.0, 1.0)) is None
    )


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: LossClass("steep"), "lipschitz"),
        (lambda: LossClass(1.0, strong_convexity=None), "strong_convexity"),
        (lambda: LossClass(1.0, smoothness=[1.0]), "smoothness"),
        (lambda: LossClass(1.0, concave="no"), "concave"),
        (lambda: Quadratic("left"), "center"),
        (lambda: Quadratic([0.0], scale=None), "scale"),
        (lambda: quadratic_rows(["left"]), "centers"),
    ],
)
def test_what_is_no_number_is_refused_by_name(make, name):
    with pytest.raises(ValueError, match=name):
        make()

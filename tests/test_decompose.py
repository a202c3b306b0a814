"""Mixed actions with a given mean, and the sets of actions that need more than a list."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullswap.games import Curve, Product, StructuredGame, Sum, Vectors, verify
from fullswap.games.decompose import decompose
from fullswap.games.regions import Paraboloid, Region
from fullswap.sets import Ball, Box, Polytope, Simplex


def checked(actions, point, tolerance=1e-8, most=None):
    """Decompose and check everything that is promised; return the support."""
    chosen, weights = decompose(actions, point)
    assert len(chosen) == len(weights) <= (actions.dim + 1 if most is None else most)
    assert weights.min() > 0 and weights.sum() == pytest.approx(1.0, abs=1e-12)
    chosen = actions.check(chosen, "chosen")
    np.testing.assert_allclose(weights @ actions.embed(chosen), point, atol=tolerance)
    return chosen


def a_mean(actions, seed):
    """The mean of a random distribution on some random actions of a finite set."""
    rng = np.random.default_rng(seed)
    some = rng.integers(0, actions.size, size=min(actions.size, 40))
    return rng.dirichlet(np.full(len(some), 0.3)) @ actions.embed(some)


@given(st.integers(1, 6), st.integers(1, 60), st.integers(0, 10_000))
def test_means_of_vectors(dim, n, seed):
    rng = np.random.default_rng([seed, dim, n])
    rows = rng.normal(size=(n, dim)) * 10.0 ** rng.uniform(-2, 2, dim) + rng.normal(size=dim)
    actions = Vectors(rows)
    scale = np.abs(rows).max()
    checked(actions, a_mean(actions, seed), 1e-8 * scale)


@given(st.integers(0, 10_000))
def test_means_of_lattice_points_with_duplicates(seed):
    """Ties everywhere: many actions are best at once, faces are parallel, rows come twice."""
    rng = np.random.default_rng(seed)
    actions = Vectors(rng.integers(-1, 2, size=(30, 3)))
    checked(actions, a_mean(actions, seed))


@pytest.mark.parametrize("dim", [1, 2, 3, 8])
def test_vertices_edges_and_the_centre_of_a_cube(dim):
    corners = np.array(list(np.ndindex(*(2,) * dim)), dtype=float)
    cube = Vectors(corners)
    assert checked(cube, corners[-1]).tolist() == [len(corners) - 1]
    assert len(checked(cube, (corners[0] + corners[1]) / 2)) == 2
    checked(cube, np.full(dim, 0.5))


def test_one_action_and_equal_embeddings():
    assert checked(Vectors([[2.0, 3.0]]), [2.0, 3.0]).tolist() == [0]
    assert len(checked(Vectors(np.ones((5, 3))), [1.0, 1.0, 1.0])) == 1
    assert len(checked(Vectors(np.zeros((5, 2))), [0.0, 0.0])) == 1


def test_points_on_a_line_need_two_actions():
    line = Vectors(np.outer(np.linspace(0, 1, 11), [1.0, 2.0, -1.0]))
    checked(line, [0.33, 0.66, -0.33], most=2)
    with pytest.raises(ValueError, match="got one 0.5 away"):
        decompose(Vectors([[0.0, 0.0], [1.0, 0.0]]), [0.5, 0.5])


def test_many_actions():
    rng = np.random.default_rng(0)
    actions = Vectors(rng.normal(size=(100_000, 3)))
    checked(actions, a_mean(actions, 1))


@pytest.mark.parametrize(
    "point, distance",
    [([2.0, 0.5], 1.0), ([2.0, 3.0], 5**0.5), ([-3e-3, 0.5], 3e-3), ([0.5, 1.0001], 1e-4)],
)
def test_outside_a_square_says_how_far(point, distance):
    square = Vectors([[0, 0], [0, 1], [1, 0], [1, 1]])
    with pytest.raises(ValueError, match="hull of the actions") as failure:
        decompose(square, point)
    said = float(str(failure.value).split(" got one ")[1].split()[0])
    assert said == pytest.approx(distance, 1e-3)


def test_tolerance_is_relative():
    big = Vectors(1e6 * np.array([[0, 0], [0, 1], [1, 0]]))
    decompose(big, [-1e-4, 0.0])
    with pytest.raises(ValueError):
        decompose(big, [-1e-2, 0.0])
    decompose(big, [-1e-2, 0.0], tolerance=1e-7)


# --- curves -----------------------------------------------------------------------------------


@given(st.floats(-2, 1), st.floats(0.1, 3), st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_means_on_a_parabola(low, length, places):
    curve = Curve.parabola(low, low + length)
    t = low + length * np.array(places)
    checked(curve, curve.embed(t).mean(axis=0), 1e-7, most=2 + 1)


def test_a_parabola_takes_two_actions():
    curve = Curve.parabola(-1.0, 2.0)
    assert checked(curve, [0.5, 0.5], most=2).tolist() == [0.0, 1.0]
    assert checked(curve, [-0.5, 1.0], most=2)[0] == -1.0  # beyond the end on one side
    assert checked(curve, [1.5, 3.0], most=2)[1] == 2.0
    assert checked(curve, [0.5, 0.25]).tolist() == [0.5]
    for outside in ([0.5, 0.2], [3.0, 9.0], [0.5, 4.0]):
        with pytest.raises(ValueError, match="hull"):
            decompose(curve, outside)


def arc():
    """t ↦ (cos t, sin t), a quarter of a circle."""

    def maximise(directions):
        angle = np.arctan2(directions[:, 1], directions[:, 0])
        ends = np.where(directions[:, 0] >= directions[:, 1], 0.0, np.pi / 2)
        return np.where((angle >= 0) & (angle <= np.pi / 2), angle, ends)

    return Curve(0.0, np.pi / 2, lambda t: np.column_stack((np.cos(t), np.sin(t))), maximise)


@pytest.mark.parametrize("t", [0.0, 0.3, 1.0, np.pi / 2])
def test_other_curves_by_the_oracle_also_on_their_edge(t):
    checked(arc(), [np.cos(t), np.sin(t)])
    checked(arc(), [0.3 * np.cos(t) + 0.35, 0.3 * np.sin(t) + 0.35])


# --- products and sums ------------------------------------------------------------------------


def some_parts(seed, dims, sizes):
    rng = np.random.default_rng(seed)
    return [Vectors(rng.normal(size=(n, d))) for n, d in zip(sizes, dims, strict=True)]


@given(st.integers(0, 10_000))
def test_plans_part_by_part(seed):
    plans = Product(some_parts(seed, (2, 3, 1), (5, 7, 4)))
    checked(plans, a_mean(plans, seed))


def test_a_large_product():
    plans = Product([Vectors(np.eye(16)) for _ in range(12)])  # 2^48 plans
    point = np.random.default_rng(0).dirichlet(np.ones(16), size=12).ravel()
    checked(plans, point)
    with pytest.raises(ValueError, match="hull"):
        decompose(plans, 2 * point)


@given(st.integers(0, 10_000))
def test_sums_of_choices(seed):
    plans = Sum(some_parts(seed, (3, 3, 3), (4, 2, 5)))
    checked(plans, a_mean(plans, seed))
    everything = np.arange(plans.size)
    directions = np.random.default_rng(seed).normal(size=(6, 3))
    chosen, values = plans.best(directions)
    products = directions @ plans.embed(everything).T
    np.testing.assert_allclose(values, products.max(axis=1))
    np.testing.assert_allclose(np.take_along_axis(products, chosen[:, None], 1)[:, 0], values)


def test_sums_are_numbered_as_products():
    parts = some_parts(0, (2, 2), (2, 3))
    plans = Sum(parts)
    assert plans.size == 6 and plans.choices(np.array([5])).tolist() == [[1, 2]]
    both = parts[0].embeddings[1] + parts[1].embeddings[2]
    np.testing.assert_allclose(plans.embed(np.array([5])), [both])
    assert plans.describe(4) == "(1, 1)"
    with pytest.raises(ValueError, match="same dimension"):
        Sum(some_parts(0, (2, 3), (2, 3)))
    with pytest.raises(ValueError, match="from 0 to 5, got 6 at position 0"):
        plans.check([6], "plans")


# --- regions ----------------------------------------------------------------------------------

REGIONS = [
    Ball([1.0, -1.0], 2.0),
    Box([0.0, 0.0, -1.0], [1.0, 2.0, 0.0]),
    Simplex(2),
    Polytope([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]]),
]


@pytest.mark.parametrize("region", REGIONS, ids=lambda s: type(s).__name__)
def test_regions_answer_like_the_best_of_many_points(region):
    rng = np.random.default_rng(0)
    if region.vertices is None:
        points = region.project(rng.normal(scale=3.0, size=(2000, region.ambient_dim)))
    else:  # much faster than projections, and with the corners themselves
        corners = region.vertices
        mixed = rng.dirichlet(np.full(len(corners), 0.5), size=2000) @ corners
        points = np.vstack((corners, mixed))
    for actions in (Region(region), Paraboloid(region)):
        directions = rng.normal(size=(20, actions.dim))
        chosen, values = actions.best(directions)
        assert chosen.shape == (20,) and isinstance(chosen[0], tuple)
        np.testing.assert_allclose(np.einsum("ij,ij->i", actions.embed(chosen), directions), values)
        sampled = directions @ actions.embed(actions.column(points)).T
        assert (values >= sampled.max(axis=1) - 1e-9).all()


@pytest.mark.parametrize("region", REGIONS, ids=lambda s: type(s).__name__)
def test_means_in_regions(region):
    rng = np.random.default_rng(1)
    points = region.project(rng.normal(scale=2.0, size=(8, region.ambient_dim)))
    flat, lifted = Region(region), Paraboloid(region)
    for k in (1, 2, 8):
        mean = points[:k].mean(axis=0)
        assert checked(flat, mean, most=1)[0] == pytest.approx(tuple(mean))
        checked(lifted, lifted.embed(lifted.column(points[:k])).mean(axis=0), 1e-7)
    far = region.center + 5 * region.diameter
    with pytest.raises(ValueError, match="away"):
        decompose(flat, far)


def test_regions_refuse_what_is_not_in_them():
    disc = Region(Ball([0.0, 0.0], 1.0))
    assert disc.check([[0.0, 1.0]], "x").tolist() == [(0.0, 1.0)]
    assert disc.check(disc.column(np.empty((0, 2))), "x").shape == (0,)
    for bad in ([[1.0, 1.0]], [[0.0]], [0.0], [[np.nan, 0.0]], ["ab"]):
        with pytest.raises(ValueError, match="^x must"):
            disc.check(bad, "x")
    with pytest.raises(ValueError, match="action_set"):
        Region([[0.0, 1.0]])
    with pytest.raises(ValueError, match="points"):
        disc.column([0.0, 1.0])
    assert disc.describe((0.5, 1 / 3)) == "(0.5, 0.333333)"


def test_a_game_of_a_disc_against_a_list():
    """Points and numbers share a table: the first player turns towards one of three corners."""
    disc, corners = Region(Ball([0.0, 0.0], 1.0)), np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    game = StructuredGame(
        (disc, Vectors(np.eye(3))),
        (lambda others: corners[others[0]], lambda others: -disc.points(others[0]) @ corners.T),
    )
    support = np.column_stack((disc.column([[1.0, 0.0], [0.6, 0.8]]), [0, 1]))
    checked = verify(game, (support, [0.5, 0.5]))
    # told (1, 0) the first player has all; told (0.6, 0.8) turning to (0, 1) wins 0.2
    assert checked.gaps[0].swap == pytest.approx(0.5 * 0.2)
    # the second player pays least at the third corner: −1 instead of 1, −1.4 instead of 0.8
    assert checked.gaps[1].swap == pytest.approx(0.5 * 2 + 0.5 * 2.2)
    assert checked.payoffs.tolist() == pytest.approx([0.9, -0.9])


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "point", [[1.0], [[1.0, 2.0]], [np.nan, 0.0], [np.inf, 0.0], "ab", None, [1.0, 2.0, 3.0]]
)
def test_bad_points(point):
    with pytest.raises(ValueError, match="^point must"):
        decompose(Vectors(np.eye(2)), point)


def test_bad_sets_and_tolerances():
    with pytest.raises(ValueError, match="action_set"):
        decompose(np.eye(2), [0.5, 0.5])
    for tolerance in (0.0, -1.0, 1.0, np.nan, "x"):
        with pytest.raises(ValueError, match="tolerance"):
            decompose(Vectors(np.eye(2)), [0.5, 0.5], tolerance)

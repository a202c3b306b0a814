"""Nets: spheres, rims, coverings, and the rounding that needs no triangulation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from fullswap import grids
from fullswap.adversaries import all_adversaries
from fullswap.grids import sphere
from fullswap.grids.net_grids import NetGrids, lattice_points_in_ball
from fullswap.grids.nets import NetPlan, net_grid, tuned
from fullswap.grids.rim import rim_of_size
from fullswap.losses import LossClass
from fullswap.play import simulate
from fullswap.rounding import Barycentric
from fullswap.sets import Ball, Custom, Polytope
from fullswap.template import FullSwapLearner
from fullswap.theorems import LEDGER, Constants

DIMS = (4, 5, 6, 8)


def ellipsoid(dim, seed=0):
    """{x : Σ (x_i − c_i)²/a_i² ≤ 1} as a user would give it: by functions."""
    rng = np.random.default_rng([dim, seed])
    axes, center = rng.uniform(0.4, 1.3, dim), rng.normal(size=dim)

    def project(points):
        offsets = points - center
        outside = np.square(offsets / axes).sum(axis=1) > 1
        # the multiplier μ of the nearest point y_i = x_i·a_i²/(a_i² + μ), by bisection
        low, high = np.zeros(len(points)), np.linalg.norm(offsets * axes, axis=1)
        for _ in range(60):
            middle = (low + high) / 2
            y = offsets * axes**2 / (axes**2 + middle[:, None])
            far = np.square(y / axes).sum(axis=1) > 1
            low, high = np.where(far, middle, low), np.where(far, high, middle)
        y = offsets * axes**2 / (axes**2 + high[:, None])
        return np.where(outside[:, None], center + y, points)

    def minimise(directions):
        scaled = directions * axes
        return center - axes * scaled / np.linalg.norm(scaled, axis=1, keepdims=True)

    return Custom(dim, project, minimise, diameter=float(2 * axes.max()))


def make(kind, dim):
    rng = np.random.default_rng([dim, 5])
    if kind == "ball":
        return Ball(rng.normal(size=dim) * 3, 0.7)
    if kind == "polytope":
        return Polytope(2 + rng.normal(size=(3 * dim, dim)))
    return ellipsoid(dim)


KINDS = ("ball", "polytope", "ellipsoid")
CASES = [(kind, dim) for kind in KINDS for dim in (2, 3, 4, 5, 6)]


def boundary(action_set, count, rng):
    """Boundary points with their normals."""
    normals = rng.normal(size=(count, action_set.dim))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return action_set.minimize_linear(-normals), normals


def members(action_set, count, rng):
    """Points deep inside, near the boundary and on it."""
    edge, _ = boundary(action_set, count, rng)
    shares = 1 - rng.random(count) ** 3
    shares[: count // 4] = 1.0
    mixed = action_set.center + shares[:, None] * (edge - action_set.center)
    return np.concatenate((mixed, action_set.project(mixed + 0.2 * rng.normal(size=mixed.shape))))


# --- the sphere ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [2, 3, 4, 6, 8, 13])
def test_every_direction_is_within_the_angle_of_a_net(dim):
    rng, before = np.random.default_rng(dim), 0
    directions = rng.normal(size=(2000, dim))
    # and near diagonals of coordinate spaces, where orbits are far apart
    directions[1000:] = np.sign(directions[1000:]) * rng.integers(0, 4, size=(1000, dim)) + 1e-3
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    for most in (2 * dim, 300, 3000):
        net = sphere.nets(dim).of_size(most)
        points = net.directions()
        assert points.shape == (net.size, dim) and net.size <= most
        assert len(np.unique(points.round(9), axis=0)) == net.size
        assert np.linalg.norm(points, axis=1) == pytest.approx(1.0)
        nearest = np.arccos(np.clip((directions @ points.T).max(axis=1), -1, 1))
        assert nearest.max() <= net.angle * (1 + 1e-12)
        assert net.size >= before
        before = net.size


def test_the_angle_of_unit_vectors_and_of_all_signs_is_known():
    assert sphere.nets(5).of_size(10).angle == pytest.approx(math.acos(5**-0.5), rel=1e-8)
    assert sphere.nets(5).of_size(9) is None
    assert sphere.nets(3).within(1e-9) is None and sphere.nets(2).within(1e-9) is None
    assert sphere.nets(2).within(math.pi / 7).size == 7


def test_points_of_the_lattice_are_counted():
    for dim in (1, 2, 3, 4):
        matrix = np.linalg.cholesky((np.eye(dim) + 1) / 2).T
        steps = np.indices((25,) * dim).reshape(dim, -1).T - 12
        lengths = np.linalg.norm(steps @ np.linalg.inv(matrix), axis=1)
        for radius in (0.3, 1.0, 1.7, 2.9):
            assert lattice_points_in_ball(dim, radius) == (lengths <= radius * (1 + 1e-9)).sum()


# --- the boundary -------------------------------------------------------------------------------


@pytest.mark.theorem("projected sphere")
@pytest.mark.parametrize("kind, dim", [*CASES, ("ball", 8), ("ellipsoid", 8)])
def test_every_boundary_point_has_a_rim_point_near_and_not_deep(kind, dim):
    action_set, rng = make(kind, dim), np.random.default_rng(1)
    for most in (2 * dim, 400, 2000):
        rim = rim_of_size(action_set, most)
        points = rim.points()
        assert np.asarray(action_set.contains(points, 1e-7)).all()
        edge, normals = boundary(action_set, 300, rng)
        for p, normal in zip(edge, normals, strict=True):
            away = np.linalg.norm(points - p, axis=1)
            depth = (p - points) @ normal
            slack = 1e-6 * action_set.diameter  # the ellipsoid projects by bisection
            assert ((away <= rim.reach + slack) & (depth <= rim.depth + slack)).any()
            # so that the hull reaches that far
            assert depth.min() <= rim.depth + slack
    if kind != "ball":
        premises = LEDGER["projected sphere"].premises(rim.reach, 0.5 * action_set.reach)
        assert rim.depth == LEDGER["projected sphere"].bound(premises)


@pytest.mark.parametrize("kind, dim", CASES)
def test_reach_and_volume_are_not_too_small(kind, dim):
    action_set, rng = make(kind, dim), np.random.default_rng(2)
    edge, _ = boundary(action_set, 500, rng)
    assert np.linalg.norm(edge - action_set.center, axis=1).max() <= action_set.reach * (1 + 1e-9)
    low, high = edge.min(axis=0) - 0.5, edge.max(axis=0) + 0.5
    sample = rng.uniform(low, high, size=(20_000, dim))
    distance = np.linalg.norm(action_set.project(sample) - sample, axis=1)
    for margin in (0.0, 0.3):
        share = (distance <= margin).mean() - 3 / math.sqrt(len(sample))
        assert share * np.prod(high - low) <= action_set.volume_near(margin)


# --- nets and their rounding ----------------------------------------------------------------------


@pytest.mark.parametrize("kind, dim", CASES)
@pytest.mark.parametrize("shape", ["net", "triangulation"])
def test_nets_cover_the_set_and_are_no_larger_than_said(kind, dim, shape):
    action_set, rng = make(kind, dim), np.random.default_rng(3)
    maker = NetGrids(action_set)
    for level in (1, 4, 7, 9) if dim < 6 else (1, 6):
        geometry = maker.geometry(shape, level, math.inf)
        grid = maker.at_mesh(shape, maker.mesh_of(level))
        assert (
            len(grid) <= geometry.size and np.asarray(action_set.contains(grid.points, 1e-7)).all()
        )
        assert grid.geometry == maker.geometry(shape, level, math.inf).__class__(
            len(grid), geometry.covering_radius, geometry.hull_distance, geometry.variance
        )
        points = members(action_set, 300, rng)
        nearest = np.linalg.norm(points[:, None] - grid.points[None], axis=2).min(axis=1)
        assert nearest.max() <= grid.covering_radius * (1 + 1e-6)
        assert maker.level_of(maker.mesh_of(level)) == level


def cost_of(grid, rows, targets, constants):
    """L·‖mean − q‖ + β/2·Σ λ·‖s − q‖², target by target."""
    points = grid.points[rows.indices]
    mean = (rows.weights[:, :, None] * points).sum(axis=1)
    spread = (rows.weights * np.square(points - targets[:, None]).sum(axis=2)).sum(axis=1)
    shift = np.linalg.norm(mean - targets, axis=1)
    return constants.lipschitz * shift + constants.smoothness / 2 * spread


@pytest.mark.theorem("rounding on a net")
@pytest.mark.parametrize("kind, dim", [*CASES, ("ball", 8)])
@pytest.mark.parametrize("steep, smooth", [(2.0, 2.0), (5.0, 0.01), (0.3, 20.0)])
def test_rounding_costs_no_more_than_is_proved(kind, dim, steep, smooth):
    action_set, rng = make(kind, dim), np.random.default_rng(4)
    constants = Constants(steep, action_set.diameter, 0.0, smooth)
    maker = NetGrids(action_set)
    for level in (3, 8) if dim < 6 else (3, 5):
        plan = NetPlan(action_set, maker.mesh_of(level), "triangulation")
        grid = tuned(net_grid(plan), constants)
        targets = np.concatenate((members(action_set, 150, rng), grid.points[::17]))
        rows = Barycentric(grid)(targets)
        assert rows.weights.min() >= 0 and rows.weights.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
        assert rows.indices.shape[1] == dim + 1
        premises = LEDGER["rounding on a net"].premises(steep, smooth, plan.radius, plan.rim.depth)
        proved = LEDGER["rounding on a net"].bound(premises)
        assert proved == pytest.approx(steep * grid.hull_distance + smooth / 2 * grid.variance)
        assert cost_of(grid, rows, targets, constants).max() <= proved * (1 + 1e-6)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3, 4, 5]), st.integers(1, 9))
def test_rounding_on_any_polytope_costs_no_more_than_is_proved(seed, dim, level):
    rng = np.random.default_rng(seed)
    corners = rng.normal(size=(dim + 2 + seed % 9, dim)) * 10.0 ** rng.uniform(-1, 1, dim)
    action_set = Polytope(corners + rng.normal(size=dim))
    maker = NetGrids(action_set)
    plan = NetPlan(action_set, maker.mesh_of(level), "triangulation")
    if plan.looked_at > 200_000:
        return
    constants = Constants(2.0 * action_set.diameter, action_set.diameter, 2.0, 2.0)
    grid = tuned(net_grid(plan), constants)
    targets = np.concatenate((members(action_set, 40, rng), action_set.vertices))
    proved = constants.lipschitz * grid.hull_distance + grid.variance
    found = cost_of(grid, Barycentric(grid)(targets), targets, constants)
    assert found.max() <= proved * (1 + 1e-6)


def test_inside_the_lattice_means_are_kept_exactly():
    ball = Ball(np.full(4, 2.0), 1.0)
    grid = NetGrids(ball).at_mesh("triangulation", 0.15)
    targets = ball.center + 0.3 * np.random.default_rng(0).uniform(-1, 1, size=(200, 4))
    rows = Barycentric(grid)(targets)
    points = grid.points[rows.indices]
    assert (rows.weights[:, :, None] * points).sum(axis=1) == pytest.approx(targets, abs=1e-12)
    spread = (rows.weights * np.square(points - targets[:, None]).sum(axis=2)).sum(axis=1)
    assert spread.max() <= grid.variance


def test_nested_nets_keep_their_points():
    for action_set in (Ball(np.full(4, -1.0), 0.8), make("polytope", 4)):
        coarse, fine = (grids.nested_grid("triangulation", action_set, level) for level in (1, 2))
        there = {row.tobytes() for row in fine.points}
        assert all(row.tobytes() in there for row in coarse.points)
        assert len(fine) <= NetGrids(action_set).nested_geometry("triangulation", 2, math.inf).size


def test_a_mesh_that_is_too_fine_is_refused():
    with pytest.raises(ValueError, match="mesh must be larger .at most 20,000,000 lattice points"):
        grids.triangulation(Ball(np.zeros(6), 1.0), 0.01)


# --- the rows that play on them -------------------------------------------------------------------

CLASSES = {
    "strongly convex and smooth": lambda d: LossClass.squared(d),
    "smooth": lambda d: LossClass(0.8, smoothness=2.0 / d, convex=True),
    "concave": lambda d: LossClass(0.7, concave=True, convex=True),
    "strongly convex": lambda d: LossClass(2.0 * d, strong_convexity=1.0),
}


@pytest.mark.parametrize("row", CLASSES)
@pytest.mark.parametrize("kind, dim", [*CASES, ("ball", 8)])
def test_rows_keep_their_guarantee_in_many_dimensions(kind, dim, row):
    action_set, rounds = make(kind, dim), 200 if dim < 6 else 60
    loss_class = CLASSES[row](action_set.diameter)
    adversaries = list(all_adversaries(action_set, loss_class, 2, rounds=rounds))
    # one of many in turn: each set, dimension and row meets another
    first = (7 * dim + len(kind) + len(row)) % len(adversaries)
    for adversary in adversaries[first : first + 1]:
        learner = FullSwapLearner(action_set, loss_class, 20 * rounds, row=row)
        assert learner.row == row
        transcript = simulate(learner, adversary, rounds, progress=False)
        bound = learner.plan.bound(rounds)
        assert naive.full_swap_regret(transcript, count=40) <= bound
        # minima of losses given as functions are certified up to the effort of a search, which in
        # so many dimensions may be all of it: then `measured` is what a point attains
        certificate = learner.certificate()
        assert certificate.measured <= certificate.after_the_fact + 1e-9 <= bound + 1e-8


@pytest.mark.parametrize("size", [1e-60, 1e60])
def test_sets_of_any_size_are_planned(size):
    learner = FullSwapLearner(Ball(np.zeros(6), size), LossClass(1.0, smoothness=1 / size), 1000)
    assert 0 < learner.plan.share <= 1


@pytest.mark.parametrize("smooth", [1e-3, 1e-6, 0.0])
def test_next_to_linear_losses_on_a_fine_net_cost_no_more_than_is_proved(smooth):
    ball, rng = Ball([0.0, 0.0], 1.0), np.random.default_rng(0)
    constants = Constants(1.0, 2.0, 0.0, smooth)
    grid = tuned(NetGrids(ball).at_mesh("triangulation", 0.02), constants)
    targets = members(ball, 300, rng)
    found = cost_of(grid, Barycentric(grid)(targets), targets, constants)
    assert found.max() <= (grid.hull_distance + smooth / 2 * grid.variance) * (1 + 1e-6)

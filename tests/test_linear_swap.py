"""Linear swap regret: between external and full swap regret, and equal to what slow code finds."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import naive
from fullswap import losses, metrics, sets
from fullswap.base.protocols import Mixture
from fullswap.base.records import Record
from fullswap.metrics.affine_maps import affine_maps

rng = np.random.default_rng(1)
SETS = {
    "interval": sets.Interval(-1.0, 2.5),
    "box-2": sets.Box([0.5, 1.0], [1.2, 3.0]),
    "box-3": sets.Box([0.0, 1.0, -2.0], [1.0, 3.0, -1.5]),
    "segment": sets.Simplex(1, scale=2.0, shift=1.0),
    "simplex-2": sets.Simplex(2, scale=1.5, shift=0.2),
    "simplex-3": sets.Simplex(3),
    "ball-1": sets.Ball([2.0], 0.4),
    "ball-2": sets.Ball([3.0, 1.0], 0.7),
    "ball-3": sets.Ball([3.0, 1.0, -1.0], 0.4),
    "polytope-2": sets.Polytope(vertices=[[0, 0], [4, 1], [3, 3], [1, 2.5]]),
    "polytope-3": sets.Polytope(vertices=rng.standard_normal((7, 3)) * 0.6 + 3.0),
    "far": sets.Ball([1e6, 0.0], 0.5),
}


def random_record(action_set, seed, kind, rounds=25, points=None):
    """Some points of the set, mixed at random, against losses of one kind."""
    rng = np.random.default_rng(seed)
    if points is None:
        away = rng.standard_normal((6, action_set.ambient_dim)) * action_set.diameter / 2
        points = action_set.project(action_set.center + away)
        points = points[np.unique(points.round(6), axis=0, return_index=True)[1]]
    rows = np.zeros((rounds, action_set.ambient_dim + 2))
    rows[:, 1:-1] = rng.standard_normal((rounds, action_set.ambient_dim)) + rng.standard_normal()
    if kind != "linear":
        goals = action_set.center + rows[:, 1:-1] * action_set.diameter / 3
        rows = losses.quadratic_rows(goals, {"convex": 0.7, "concave": -0.7}[kind])
    weights = rng.dirichlet(np.full(len(points), 0.3), size=rounds)
    indices = np.tile(np.arange(len(points)), (rounds, 1))
    return Record(points, indices, weights, action_set=action_set, losses=rows)


def gain(record, matrix, offset):
    """Σ_t Σ_s x_t[s]·(ℓ_t(s) − ℓ_t(φ(s))), by the definition."""
    total = 0.0
    for points, weights, (_, row) in naive.regret.rounds_of(record):
        loss = losses.QuadraticFamily(np.array(row))
        total += weights @ (loss.value(points) - loss.value(points @ matrix.T + offset))
    return float(total)


def scale_of(record):
    return len(record) * record.action_set.diameter * float(np.abs(record.losses[:, :-1]).max())


def sampled_maps(action_set, seed, count=200):
    """Affine maps of the set into itself: each corner of a simplex around it, or its own, moved.

    A random matrix is shrunk towards a constant until it keeps a sample of the boundary inside.
    """
    rng = np.random.default_rng(seed)
    inner = affine_maps(action_set)
    rim = naive.members(action_set, 300, seed)
    if action_set.vertices is not None:
        rim = action_set.vertices
    for _ in range(count):
        turned = inner.basis @ rng.standard_normal((action_set.dim,) * 2) @ inner.basis.T
        goal = naive.members(action_set, 1, int(rng.integers(1 << 30)))[0]
        goal = goal + rng.random() * (action_set.center - goal)
        low, high = 0.0, 4.0
        for _ in range(30):
            share = (low + high) / 2
            image = goal + share * (rim - action_set.center) @ turned.T
            inside = np.all(action_set.contains(image, tolerance=1e-12))
            low, high = (share, high) if inside else (low, share)
        yield low * turned, goal - low * turned @ action_set.center


@pytest.mark.parametrize("kind", ["linear", "convex"])
@pytest.mark.parametrize("name", SETS)
@settings(max_examples=8)
@given(seed=st.integers(0, 10**6))
def test_between_external_and_full_swap_regret(name, kind, seed):
    record = random_record(SETS[name], seed, kind)
    report = metrics.linear_swap_report(record)
    slack = 1e-8 * scale_of(record)
    assert -slack <= report.value <= report.upper == metrics.linear_swap_regret(record)
    assert report.upper - report.value <= slack
    assert metrics.external_regret(record) <= report.upper + slack, "constants are affine"
    assert report.value <= metrics.full_swap_regret(record) + slack, "φ is one function of many"


@pytest.mark.parametrize("kind", ["linear", "convex"])
@pytest.mark.parametrize("name", SETS)
def test_the_witness_is_a_map_of_the_set_that_gains_the_value(name, kind):
    action_set = SETS[name]
    for seed in range(3):
        record = random_record(action_set, seed, kind)
        report = metrics.linear_swap_report(record)
        image = naive.members(action_set, 200, seed) @ report.matrix.T + report.offset
        assert np.all(action_set.contains(image, tolerance=1e-8))
        rough = 1e-9 if name != "far" else 1e-4  # the definition, far from 0, loses digits
        value = gain(record, report.matrix, report.offset)
        assert value == pytest.approx(report.value, abs=rough * scale_of(record))


@pytest.mark.parametrize("kind", ["linear", "convex"])
@pytest.mark.parametrize("name", [name for name in SETS if name != "far"])
def test_no_sampled_map_gains_more(name, kind):
    record = random_record(SETS[name], 4, kind)
    upper = metrics.linear_swap_regret(record) + 1e-9 * scale_of(record)
    gains = [gain(record, *phi) for phi in sampled_maps(SETS[name], 4, 60)]
    assert max(gains) <= upper


@given(seed=st.integers(0, 10**6), kind=st.sampled_from(["linear", "concave"]))
def test_on_a_line_four_maps_suffice(seed, kind):
    """The ends, staying and turning round: all others are mixtures of these."""
    low, high = -1.0, 2.5
    record = random_record(SETS["interval"], seed, kind)
    four = [(0.0, low), (0.0, high), (1.0, 0.0), (-1.0, low + high)]
    best = max(gain(record, np.array([[a]]), np.array([b])) for a, b in four)
    assert metrics.linear_swap_regret(record) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_on_a_line_convex_losses_by_a_fine_net_of_maps(seed):
    record = random_record(SETS["interval"], seed, "convex", rounds=8)
    ends = np.linspace(-1.0, 2.5, 29)  # where the two ends go
    best = max(
        gain(record, np.array([[(b - a) / 3.5]]), np.array([a + (b - a) / 3.5]))
        for a, b in product(ends, ends)
    )
    exact = metrics.linear_swap_regret(record)
    assert best - 1e-9 <= exact <= best + 0.01 * scale_of(record)


@pytest.mark.parametrize("name", ["segment", "simplex-2", "simplex-3"])
def test_on_a_simplex_corners_go_to_corners(name):
    action_set = SETS[name]
    corners = action_set.vertices
    for seed in range(2):
        record = random_record(action_set, seed, "linear", rounds=8)
        gains = []
        for goals in product(range(len(corners)), repeat=len(corners)):
            shares = corners[list(goals)].T / action_set.scale  # image of the corners' shares
            matrix = shares
            gains.append(gain(record, matrix, -matrix @ action_set.shift))
        assert metrics.linear_swap_regret(record) == pytest.approx(max(gains), abs=1e-9)


@pytest.mark.parametrize("kind", ["linear", "convex"])
@pytest.mark.parametrize("name", ["simplex-2", "simplex-3"])
def test_distributions_over_corners_have_their_usual_swap_regret(name, kind):
    action_set = SETS[name]
    record = random_record(action_set, 6, kind, points=np.array(action_set.vertices))
    full = metrics.full_swap_regret(record)
    assert metrics.linear_swap_regret(record) == pytest.approx(full, abs=1e-7 * scale_of(record))


@pytest.mark.parametrize("kind", ["linear", "convex"])
@pytest.mark.parametrize("name", SETS)
def test_one_point_played_has_all_regrets_equal(name, kind):
    action_set = SETS[name]
    record = random_record(action_set, 7, kind, points=action_set.center[None, :])
    full = metrics.full_swap_regret(record)
    slack = 1e-8 * scale_of(record)
    assert metrics.linear_swap_regret(record) == pytest.approx(full, abs=slack)
    assert metrics.external_regret(record) == pytest.approx(full, abs=slack)


@pytest.mark.parametrize("kind", ["linear", "convex"])
def test_shapes_that_are_the_same_set_agree(kind):
    """Closed forms of boxes and simplices against the linear programme of polytopes."""
    for dim in (1, 2, 3):
        box = sets.Box(np.arange(dim) - 0.5, 2.0 * np.arange(dim) + 1.0)
        record = random_record(box, dim, kind)
        for other in [sets.Polytope(vertices=box.vertices)] + [sets.Interval(-0.5, 1.0)] * (
            dim < 2
        ):
            regret = metrics.linear_swap_regret(replace(record, action_set=other))
            assert regret == pytest.approx(
                metrics.linear_swap_regret(record), abs=1e-8 * scale_of(record)
            )
    ball = sets.Ball([2.0], 0.4)
    record = random_record(ball, 3, kind)
    on_line = metrics.linear_swap_regret(replace(record, action_set=sets.Interval(1.6, 2.4)))
    assert metrics.linear_swap_regret(record) == pytest.approx(on_line, abs=1e-8)


def test_balls_lie_between_polygons():
    """Maps that send 120 points of a circle behind 120 tangents, by a linear programme."""
    angles = np.linspace(0, 2 * np.pi, 120, endpoint=False)
    rim = np.column_stack((np.cos(angles), np.sin(angles)))
    disc = SETS["ball-2"]
    for seed in range(3):
        record = random_record(disc, seed, "linear")
        sums = metrics.Tally.from_record(record).sums[:, 1:-1] * disc.radius
        places = (record.points - disc.center) / disc.radius
        lifted = np.column_stack((places, np.ones(len(places))))
        cost, rows = sums.T @ lifted, np.kron(rim, np.column_stack((rim, np.ones(120))))
        best = linprog(cost.ravel(), rows, np.ones(len(rows)), bounds=(None, None))
        outer = float((sums * places).sum()) - best.fun
        assert metrics.linear_swap_regret(record) <= outer + 1e-7
        assert metrics.linear_swap_regret(record) >= outer - 2e-3 * scale_of(record)


@pytest.mark.parametrize("dim", [2, 3, 5])
def test_linear_maps_of_a_ball_gain_the_nuclear_norm(dim):
    """If losses cancel out, so that constants gain nothing, the sum of singular values is left."""
    rng = np.random.default_rng(dim)
    ball = sets.Ball(np.zeros(dim), 1.0)
    points = ball.project(rng.standard_normal((4, dim)))
    slopes = rng.standard_normal((4, dim))
    at = [Mixture(point[None, :], np.ones(1)) for point in points]
    pairs = [(m, losses.Linear(b)) for m, b in zip(at, slopes, strict=True)]
    pairs += [
        (Mixture(-m.points, np.ones(1)), losses.Linear(-b)) for m, b in zip(at, slopes, strict=True)
    ]
    moved = sum(2 * np.outer(b, m.points[0]) for m, b in zip(at, slopes, strict=True))
    expected = np.trace(moved) + np.linalg.svd(moved, compute_uv=False).sum()
    regret = metrics.linear_swap_regret(Record.of_rounds(ball, pairs))
    assert regret == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("kind", ["linear", "convex"])
@pytest.mark.parametrize("name", [name for name in SETS if name != "far"])
@settings(max_examples=5)
@given(factor=st.floats(0.01, 100), seed=st.integers(0, 10**6))
def test_moving_and_scaling_everything_changes_nothing(name, kind, factor, seed):
    action_set = SETS[name]
    shift = np.random.default_rng(seed).standard_normal(action_set.ambient_dim)
    record = random_record(action_set, seed, kind)
    # ℓ'(x) = ℓ((x − shift)/factor)
    a, b, c = record.losses[:, 0], record.losses[:, 1:-1], record.losses[:, -1]
    wider = np.column_stack((a / factor**2, b / factor, c))
    moved = replace(
        record, action_set=action_set.moved(factor, shift), points=factor * record.points + shift,
        losses=losses.rows_seen_from(-shift, wider),
    )  # fmt: skip
    regret = metrics.linear_swap_regret(record)
    assert metrics.linear_swap_regret(moved) == pytest.approx(regret, abs=1e-7 * scale_of(record))


def test_what_cannot_be_certified_is_refused():
    disc = SETS["ball-2"]
    custom = sets.Custom(2, disc.project, disc.minimize_linear, disc.diameter)
    record = random_record(disc, 0, "linear")
    with pytest.raises(ValueError, match="action_set must be an interval"):
        metrics.linear_swap_regret(replace(record, action_set=custom))
    with pytest.raises(ValueError, match="losses must add up to convex ones"):
        metrics.linear_swap_regret(random_record(disc, 0, "concave"))
    absolute = losses.Custom(lambda x: np.abs(x).sum(axis=1))
    with pytest.raises(ValueError, match="losses must be linear or quadratic"):
        metrics.linear_swap_regret(replace(record, losses=(absolute,) * len(record)))
    with pytest.raises(ValueError, match="record must hold the losses"):
        metrics.linear_swap_regret(Record.of_forecasts([0.5], [[0]], [[1.0]]))

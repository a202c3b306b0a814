"""Minimisers of linear and quadratic functions over every kind of set."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from fullswap.sets import Ball, Box, Custom, Polytope, Simplex
from set_cases import (
    KINDS,
    ROUNDING,
    convex_sets,
    excess_exactly,
    make,
    many,
    members,
    nearby,
    seeds,
    unit,
)

# Minimisers ---------------------------------------------------------------------------------------


@many
@given(convex_sets(), seeds)
def test_linear_minimisers_beat_every_member(convex_set, seed):
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(8, convex_set.ambient_dim)) * 10.0 ** rng.uniform(-9, 9, (8, 1))
    directions[0] = 0.0
    directions[1, 1:] = 0.0
    found, inside = convex_set.minimize_linear(directions), members(convex_set, rng)
    assert convex_set.contains(found, tolerance=1e-12).all()
    lead = np.einsum("ij,ikj->ik", directions, found[:, np.newaxis] - inside)
    steep = np.abs(directions).max(axis=1)[:, np.newaxis]
    assert (lead <= ROUNDING * unit(convex_set, inside) * steep).all()
    if convex_set.vertices is not None:
        assert cdist(found, convex_set.vertices).min(axis=1).max() == 0.0
    if isinstance(convex_set, Ball):
        lowest = -convex_set.radius * np.linalg.norm(directions, axis=1)
        values = ((found - convex_set.center) * directions).sum(axis=1)
        assert (np.abs(values - lowest) <= ROUNDING * unit(convex_set) * steep[:, 0]).all()


def test_ties_go_to_the_first():
    assert Simplex(2).minimize_linear([1.0, 0.0, 0.0]).tolist() == [0.0, 1.0, 0.0]
    assert Box([0.0, 0.0], [1.0, 1.0]).minimize_linear([0.0, -1.0]).tolist() == [0.0, 1.0]
    assert Polytope([[1.0, 0], [0, 0], [0, 1]]).minimize_linear([0.0, 1.0]).tolist() == [1.0, 0.0]
    assert Ball([3.0, 1.0], 2.0).minimize_linear([0.0, 0.0]).tolist() == [1.0, 1.0]


@many
@given(convex_sets(), seeds)
def test_quadratic_minimisers_beat_every_member(convex_set, seed):
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** rng.uniform(-3, 3, size=12)
    signs = np.array([1.0, 1.0, 0.0, -1.0] * 3)
    if isinstance(convex_set, Custom):
        signs = np.abs(signs)
    curvature = sizes * signs
    # Slopes of the kind that put the vertex of the parabola at, in and around the set.
    centers = nearby(convex_set, rng)
    slope = np.where(
        signs[:, np.newaxis] == 0.0, centers, -2.0 * curvature[:, np.newaxis] * centers
    )
    found = convex_set.minimize_quadratic(curvature, slope)
    assert convex_set.contains(found, tolerance=1e-12).all()
    inside = members(convex_set, rng, count=200)
    for a, b, x in zip(curvature, slope, found, strict=True):
        middle = convex_set.center  # differences from here, against cancellation
        gradient = b + 2.0 * a * middle
        gain = (inside - x) @ gradient + a * (
            ((inside - middle) ** 2).sum(axis=1) - ((x - middle) ** 2).sum()
        )
        steep = np.abs(b).max() + np.abs(a) * unit(convex_set)
        assert gain.min() >= -ROUNDING * steep * unit(convex_set)
        single = convex_set.minimize_quadratic(a, b)
        assert single.shape == b.shape
        assert np.abs(single - x).max() <= ROUNDING * unit(convex_set, centers)


@given(seeds, st.sampled_from([-2.0, -1e-3, -1e3]))
@example(seed=0, curvature=-1.0)
def test_concave_minimum_over_a_disc_against_its_circle(seed, curvature):
    disc = make("ball", 2, seed)
    slope = np.random.default_rng(seed).normal(size=2) * (seed > 0) - 2.0 * curvature * disc.center
    found = disc.minimize_quadratic(curvature, slope)
    angles = np.linspace(0.0, 2.0 * math.pi, 20_001)
    circle = disc.center + disc.radius * np.column_stack([np.cos(angles), np.sin(angles)])
    assert np.linalg.norm(found - disc.center) == pytest.approx(disc.radius, rel=1e-12)
    value = curvature * (found @ found) + slope @ found
    values = curvature * (circle**2).sum(axis=1) + circle @ slope
    assert values.min() - value == pytest.approx(0.0, abs=1e-6 * max(1.0, np.ptp(values)))
    assert value <= values.min() + 1e-12 * np.abs(values).max()


def test_concave_minimum_over_a_box_of_many_dimensions():
    rng = np.random.default_rng(8)
    box = Box(-rng.uniform(size=40), rng.uniform(size=40))
    assert box.vertices is None and len(Box(np.zeros(16), np.ones(16)).vertices) == 2**16
    slope = rng.normal(size=40)
    ends = np.stack([box.low, box.high])
    better = (-3.0 * ends**2 + slope * ends).argmin(axis=0)
    found = box.minimize_quadratic(-3.0, slope)
    assert np.array_equal(found, ends[better, np.arange(40)])
    assert box.diameter == pytest.approx(np.sqrt(((box.high - box.low) ** 2).sum()), rel=1e-14)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("curvature", [5e-324, 1e-310, 1e-150, 1e-20, 1e-13, 1e-12, 1e-9])
def test_tiny_curvature_is_minimised_to_rounding(kind, curvature):
    convex_set = make(kind, 1 if kind == "interval" else 3, 7)
    rng = np.random.default_rng(4)
    slopes = rng.normal(size=(6, convex_set.ambient_dim))
    slopes[1, 1:] = 0.0  # ties of the linear part
    slopes[2] = 0.0
    slopes[3:] = -2.0 * curvature * convex_set.center  # at the border of what counts as far away
    slopes[3:, 0] += 2.0 * curvature * convex_set.diameter * np.array([0.999e12, 1.001e12, 1e9])
    found = convex_set.minimize_quadratic(np.full(6, curvature), slopes)
    for slope, x in zip(slopes, found, strict=True):
        rivals = [*members(convex_set, rng, count=10), convex_set.minimize_linear(slope)]
        with np.errstate(over="ignore"):
            target = -slope / (2.0 * curvature)
        if np.abs(target).max() < 1e70:
            rivals.append(convex_set.project(target))
        steep = float(np.abs(slope + 2.0 * curvature * convex_set.center).max())
        allowed = 2e-12 * (steep + curvature * convex_set.diameter) * unit(convex_set)
        assert excess_exactly(curvature, slope, x, rivals) <= allowed


def test_tiny_curvature_decides_where_the_slope_does_not():
    low, high = np.array([-1e6, -1e6]), np.array([-1e6 + 1.0, -1e6 + 1.0])
    corners = Box(low, high).vertices
    for convex_set in (Box(low, high), Polytope(corners), Polytope(corners[::-1])):
        found = convex_set.minimize_quadratic(1e-19, [1.0, 0.0])
        assert found.tolist() == [low[0], high[1]]  # of the lowest points the one nearest to 0

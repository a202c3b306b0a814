"""Fixed points and running means of several classes, against plain definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullswap.forecasting.specs import simplex_spec
from fullswap.kernels.columns import LOST, MASS, ROUNDING, ROUNDING_MOST, ROUNDS, SQUARES
from fullswap.kernels.fixed_point import MEAN, WEIGHT
from fullswap.online.kinds import kind_of
from fullswap.online.lattices import Lattice, lookup_of, places_in, points_of
from fullswap.template.step import stationary_mixture
from naive.classes import PlainMeans, on_one_simplex
from online.verbs import forecast, learn, place_of

seeds = st.integers(0, 10_000)


def kind_for(classes, horizon=400, feedback="realised"):
    return kind_of(simplex_spec(classes, horizon, feedback, 1.0))


@pytest.mark.parametrize(("classes", "cells"), [(2, 5), (3, 1), (3, 4), (4, 3), (5, 2)])
def test_the_grid_is_all_vectors_of_multiples(classes, cells):
    points = points_of(Lattice("simplex", cells), classes)
    counts = set()

    def fill(prefix, rest):
        if len(prefix) == classes - 1:
            counts.add((*prefix, rest))
            return
        for k in range(rest + 1):
            fill((*prefix, k), rest - k)

    fill((), cells)
    assert {tuple(np.rint(row * cells).astype(int)) for row in points} == counts
    assert len(points) == len(counts) == Lattice("simplex", cells).size(classes)
    assert points.sum(axis=1) == pytest.approx(np.ones(len(points)))
    sizes, strides, lookup = lookup_of(Lattice("simplex", cells), classes)
    lattice = np.rint(np.cumsum(points, axis=1)[:, :-1] * cells).astype(int)
    assert lookup[lattice @ strides].tolist() == list(range(len(points)))
    assert (lookup >= 0).sum() == len(points) and (sizes == cells).all()
    finer = points_of(Lattice("simplex", 2 * cells), classes)
    assert np.array_equal(finer[places_in(points, finer)], points)
    with pytest.raises(ValueError, match="levels must be nested"):
        places_in(finer, points)


@settings(max_examples=60)
@given(st.integers(2, 5), seeds, st.sampled_from(["anything", "home", "one corner"]))
def test_a_forecast_is_a_fixed_point_on_one_simplex_of_the_grid(classes, seed, how):
    """Σ λ_s·(q_s − s) = 0 whatever the points recommend, on neighbours only."""
    rng = np.random.default_rng(seed)
    kind = kind_for(classes)
    points, cells = kind.points(0), kind.spec.levels[0].cells
    row = kind.blank.copy()
    columns = kind.point_columns(row)
    means = rng.dirichlet(np.full(classes, 0.3), len(points))
    if how == "home":
        means = 0.9 * points + 0.1 / classes
    elif how == "one corner":
        means = np.eye(classes)[rng.integers(classes)] * np.ones((len(points), 1))
    heard = rng.random(len(points)) < 0.8
    columns[heard, WEIGHT] = 1 + rng.exponential(size=heard.sum())
    columns[heard, MEAN:] = means[heard]
    before = row.copy()
    members, shares, targets, _ = forecast(kind, row)
    assert np.array_equal(row, before), "looking changes nothing"
    own = np.where(heard[:, None], means, 1 / classes)
    assert np.array_equal(targets, own[members])
    assert 1 <= len(members) <= classes and sorted(members) == members.tolist()
    assert (shares > 0).all() and shares.sum() == pytest.approx(1)
    assert shares @ targets == pytest.approx(shares @ points[members], abs=1e-10)
    assert on_one_simplex(points[members].tolist(), cells)


@given(st.integers(2, 4), seeds)
def test_without_a_search_a_stationary_distribution_is_played(classes, seed):
    rng = np.random.default_rng(seed)
    kind = kind_for(classes, 60)
    points, cells = kind.points(0), kind.spec.levels[0].cells
    row = kind.blank.copy()
    columns = kind.point_columns(row)
    columns[:, WEIGHT] = 1.0
    columns[:, MEAN:] = rng.dirichlet(np.full(classes, 0.5), len(points))
    usual = kind.kernel
    kind.widen(classes)  # with it comes the other search
    kind.kernel = kind.kernel._replace(limit=0)
    try:
        members, shares, targets, _ = forecast(kind, row)
    finally:
        kind.kernel = usual
    assert shares @ targets == pytest.approx(shares @ points[members], abs=1e-9)
    transition = np.zeros((len(points), len(points)))
    for i, mean in enumerate(columns[:, MEAN:]):
        corners, parts = split(mean, points, cells)
        transition[i, corners] = parts
    mixture = np.zeros(len(points))
    mixture[members] = shares
    if len(members) > classes or not on_one_simplex(points[members].tolist(), cells):
        assert mixture @ transition == pytest.approx(mixture, abs=1e-9)
        slow = stationary_mixture(transition)
        assert slow @ transition == pytest.approx(slow, abs=1e-6)


def split(mean, points, cells):
    """Corners and weights of the Kuhn simplex of a vector: raise coordinates by falling parts."""
    sums = np.cumsum(mean)[:-1] * cells
    base = np.minimum(np.floor(sums), cells - 1)
    parts = sums - base
    order = sorted(range(len(sums)), key=lambda k: (-parts[k], -k))
    lattice = np.rint(np.cumsum(points, axis=1)[:, :-1] * cells).astype(int).tolist()
    corner, corners, weights, previous = base.copy(), [], [], 1.0
    for k in [*order, None]:
        current = 0.0 if k is None else parts[k]
        place = corner.astype(int).tolist()
        if previous - current > 1e-12:
            corners.append(lattice.index(place))
            weights.append(previous - current)
        if k is not None:
            corner[k] += 1
            previous = current
    return corners, weights


@pytest.mark.parametrize("feedback", ["realised", "distribution"])
@pytest.mark.parametrize("classes", [2, 3, 4])
def test_learning_is_that_of_plain_means(classes, feedback):
    rng = np.random.default_rng(classes)
    kind = kind_for(classes, 250, feedback)
    plain = PlainMeans(kind.points(0).tolist())
    row = kind.blank.copy()
    mass = most = 0.0
    for t in range(250):
        play = forecast(kind, row)
        members, shares, targets, _ = (part.tolist() for part in play)
        for i, target in zip(members, targets, strict=True):
            assert target == pytest.approx(plain.target(i), abs=1e-9)
        y = np.eye(classes)[rng.integers(classes)]
        if rng.random() < 0.3:
            y = rng.dirichlet(np.ones(classes))
        g, u = float(rng.choice([0.0, 0.4, 1.0])), rng.random()
        drawn = place_of(shares, u)
        learn(kind, row, play, drawn, y, g, t)
        if g > 0:
            support = list(zip(members, shares, targets, strict=True))
            if feedback == "realised":
                support = [(members[drawn], 1.0, targets[drawn])]
            plain.learn(support, y.tolist(), g)
        mass, most = mass + g, most + g * kind.rounding_cost(0)
    columns = kind.point_columns(row)
    for i, point in enumerate(plain.points):
        total = sum(g for g, _ in plain.seen[point]) - 1  # one is imagined
        assert columns[i, WEIGHT] == pytest.approx(total, abs=1e-12)
        assert columns[i, MEAN:] == pytest.approx(plain.target(i), abs=1e-9)
    heads = (MASS, ROUNDS, SQUARES, LOST, ROUNDING_MOST, ROUNDING)
    expected = (mass, 250, plain.squares, plain.lost, most, 0.0)
    assert [row[place] for place in heads] == pytest.approx(expected)

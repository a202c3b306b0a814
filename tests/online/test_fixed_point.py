"""Fixed points on one simplex of a grid, which forecasts of several classes are made of."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullswap import sets
from fullswap.grids.kuhn import kuhn_simplex
from fullswap.kernels.fixed_point import Means, fixed_point

TARGETS = ("anywhere", "corners", "grid points", "themselves", "one face", "few", "one", "permuted")
CELLS = {2: 60, 3: 20, 4: 9, 5: 6}


def targets_of(kind, points, rng):
    """Targets of all grid points: generic ones, and degenerate ones."""
    n, classes = points.shape
    anywhere = rng.dirichlet(np.full(classes, 0.5), size=n)
    if kind == "one face":
        anywhere[:, 0] = 0.0
        return (anywhere + 1e-9 * (np.arange(classes) > 0)) / (anywhere.sum(axis=1) + 1e-9 * (
            classes - 1))[:, None]  # fmt: skip
    return {
        "anywhere": anywhere,
        "corners": np.eye(classes)[rng.integers(classes, size=n)],
        "grid points": points[rng.integers(n, size=n)],
        "themselves": points,
        "few": points[rng.integers(min(n, 3), size=n)],
        "one": np.repeat(anywhere[:1], n, axis=0),
        "permuted": points[rng.permutation(n)],
    }[kind]


def place_of(position, cells):
    """Base and order of the simplex that holds cumulative sums (d,), in cell units."""
    base = np.minimum(np.floor(position), cells - 1)
    order = sorted(range(len(position)), key=lambda k: (base[k] - position[k], -k))
    return np.concatenate((base, order)).astype(np.int64)


def mixed(grid, state, place, limit):
    classes = grid.points.shape[1]
    members, weights = np.zeros(classes, np.int64), np.zeros(classes)
    lattice = (grid.locate.cells, grid.locate.strides, grid.locate.lookup)
    work = np.zeros((classes + 4, classes + 1)), np.zeros((4, classes + 1), np.int64)
    size = fixed_point(Means(state.ravel(), 0), lattice, place, work, limit, members, weights)
    return members[:size], weights[:size]


@given(
    st.integers(2, 5),
    st.floats(0, 1),
    st.sampled_from(TARGETS),
    st.sampled_from([0.0, 0.3, 0.9, 1.0]),
    st.integers(0, 10**6),
)
def test_fixed_points_are_found_from_everywhere(classes, fineness, kind, fresh_share, seed):
    rng = np.random.default_rng(seed)
    cells = 1 + int(fineness * (CELLS[classes] - 1))
    grid = kuhn_simplex(sets.Simplex(classes - 1), 1 / cells)
    targets = targets_of(kind, grid.points, rng)
    fresh = rng.random(len(grid)) < fresh_share
    targets = np.where(fresh[:, None], rng.dirichlet(np.ones(classes)), targets)
    state = np.column_stack((np.where(fresh, 0.0, 1.0), targets))
    start = cells * np.cumsum(rng.dirichlet(np.ones(classes)))[:-1]
    place = place_of(start, cells)
    members, weights = mixed(grid, state, place, 100 * classes * (cells + 1))
    assert len(members) > 0
    assert (np.diff(members) > 0).all() and (weights >= 0).all()
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(
        weights @ targets[members], weights @ grid.points[members], atol=1e-11
    )
    # one simplex: corners that rise along a path, each coordinate at most once
    corners = np.rint(cells * np.cumsum(grid.points[members], axis=1)[:, :-1])
    steps = corners[:, None] - corners[None]
    assert (np.abs(steps) <= 1).all()
    assert ((steps >= 0).all(axis=2) | (steps <= 0).all(axis=2)).all()
    # the place is where it was found: searching from there finds it again, in no steps
    again, shares = mixed(grid, state, place.copy(), 0)
    if len(again):  # degenerate simplices cannot be solved on the spot
        np.testing.assert_allclose(shares @ grid.points[again], weights @ grid.points[members],
                                   atol=1e-6)  # fmt: skip


def test_a_search_without_steps_gives_up_and_stays():
    grid = kuhn_simplex(sets.Simplex(2), 0.1)
    state = np.column_stack((np.ones(len(grid)), np.full((len(grid), 3), 1 / 3)))
    place = place_of(np.array([0.5, 0.7]), 10)
    before = place.copy()
    assert len(mixed(grid, state, place, 0)[0]) == 0
    np.testing.assert_array_equal(place, before)
    members, weights = mixed(grid, state, place, 1000)
    np.testing.assert_allclose(weights @ grid.points[members], np.full(3, 1 / 3), atol=1e-12)
    assert (place != before).any()

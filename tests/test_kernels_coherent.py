"""Vectors of sum 1 with one height: against brute force, and laws for any heights."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fullswap.kernels.coherent import solve_coherent, solver_room


def solved(heights, grid):
    classes, nodes = heights.shape
    x = np.full(classes, np.nan)
    return x, solve_coherent(heights, grid, x, *solver_room(classes, nodes))


def sines(cells):
    return np.sin(np.pi * np.arange(cells + 1) / 2 / cells) ** 2


def slow_gap(heights, grid, x):
    own = np.array([np.interp(x[k], grid, heights[k]) for k in range(len(x))])
    return own.max() - x @ own


def every_solution(heights, grid):
    """All solutions, by trying all pieces of all classes; heights in general position."""
    classes, nodes = heights.shape
    found = []
    for pieces in itertools.product(range(nodes + 1), repeat=classes):
        # x_k = at_k − slope_k·λ on its piece, which has these heights
        at, slope, low, high = np.zeros(classes), np.zeros(classes), -np.inf, np.inf
        for k, piece in enumerate(pieces):
            if piece == 0:
                low = max(low, heights[k, 0])
            elif piece == nodes:
                at[k], high = 1.0, min(high, heights[k, -1])
            else:
                left, right = heights[k, piece - 1 : piece + 1]
                slope[k] = (grid[piece] - grid[piece - 1]) / (left - right)
                at[k] = grid[piece - 1] + slope[k] * left
                low, high = max(low, min(left, right)), min(high, max(left, right))
        if slope.sum() == 0:
            continue
        level = (at.sum() - 1) / slope.sum()
        if low - 1e-12 <= level <= high + 1e-12:
            found.append(at - slope * level)
    return np.array(found)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("cells", [1, 2, 5])
def test_the_walk_finds_what_brute_force_finds(classes, cells):
    rng = np.random.default_rng(classes + 10 * cells)
    walked = 0
    for _ in range(40):
        grid = sines(cells) if rng.random() < 0.5 else np.linspace(0, 1, cells + 1)
        heights = rng.normal(0, 10.0 ** rng.uniform(-3, 0), (classes, cells + 1))
        x, _ = solved(heights, grid)
        solutions = every_solution(heights, grid)
        assert np.abs(solutions - x).max(axis=1).min() < 1e-6
        walked += len(np.unique(solutions.round(6), axis=0)) > 1
    assert cells == 1 or walked  # some had hills to walk round


@given(
    st.integers(2, 7).flatmap(
        lambda k: st.integers(1, 6).flatmap(
            lambda cells: arrays(
                float, (k, cells + 1), elements=st.floats(-1, 1, width=16, allow_subnormal=False)
            )
        )
    )
)
@settings(max_examples=300, deadline=None)
def test_any_heights_have_a_vector_without_gap(heights):
    """Ties, flat pieces and equal classes included: floats of 16 bits have many of these."""
    grid = sines(heights.shape[1] - 1)
    x, gap = solved(heights, grid)
    assert (x >= 0).all() and abs(x.sum() - 1) <= 1e-12
    assert 0 <= gap <= 1e-9
    assert abs(slow_gap(heights, grid, x) - gap) <= 1e-12


@pytest.mark.parametrize("classes", [10, 100, 1000])
@pytest.mark.parametrize("noise", [0.02, 0.2, 1.0])
def test_many_classes_on_rough_ground(classes, noise):
    rng = np.random.default_rng(classes)
    grid = sines(10)
    for _ in range(20):
        towards = rng.dirichlet(np.full(classes, 0.3))[:, None] - grid
        heights = 0.2 * towards + noise * rng.normal(size=(classes, 11))
        x, gap = solved(heights, grid)
        assert abs(x.sum() - 1) <= 1e-12 and gap <= 1e-9


def test_falling_lines_are_solved_by_their_zeros():
    wanted = np.random.default_rng(0).dirichlet(np.ones(50))
    x, gap = solved(wanted[:, None] - sines(12), sines(12))
    assert np.abs(x - wanted).max() < 1e-14 and gap < 1e-14


def test_equal_classes_get_equal_shares_where_nothing_is_known():
    x, gap = solved(np.zeros((4, 6)), sines(5))
    assert x.tolist() == [0.25] * 4 and gap == 0

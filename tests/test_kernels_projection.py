"""The nearest probability vector against a slow reference in rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullswap.kernels.projection import FEW, project_simplex, project_simplex_rows
from fullswap.sets import Simplex

numbers = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 0.5, 1 / 3]),
    st.floats(-3, 3),
    st.floats(allow_nan=False, allow_infinity=False, width=64, min_value=-1e300, max_value=1e300),
    st.floats(-1e-300, 1e-300),
)


def exact_projection(values):
    """max(x − τ, 0) with the τ at which it sums to 1, over all counts that may stay; Fractions."""
    exact = [Fraction(value) for value in values]
    heights = sorted(exact, reverse=True)
    for k in range(len(heights), 0, -1):
        threshold = (sum(heights[:k]) - 1) / k
        if heights[k - 1] > threshold:
            return [max(value - threshold, Fraction(0)) for value in exact]
    raise AssertionError("the largest always stays")


@settings(max_examples=300)
@given(st.lists(numbers, min_size=1, max_size=2 * FEW))
def test_projection_is_the_exact_one_to_the_last_digits(values):
    x = np.array(values)
    project_simplex(x)
    exact = exact_projection(values)
    assert x.min() >= 0.0
    # relative to 1, however large or small the numbers were
    assert max(abs(float(Fraction(p) - q)) for p, q in zip(x.tolist(), exact, strict=True)) <= 1e-15
    assert abs(x.sum() - 1.0) <= 1e-15 * len(x)


@given(st.lists(st.floats(-2, 2), min_size=FEW + 1, max_size=40), st.integers(1, FEW))
def test_selection_and_sorting_agree_to_the_last_bit(values, size):
    # zeros far below change neither sums nor threshold, but the way
    short = np.array(values[:size])
    long = np.concatenate((short, np.full(FEW + 1, -1e6)))
    project_simplex(short)
    project_simplex(long)
    assert np.array_equal(long[:size], short) and not long[size:].any()


@pytest.mark.parametrize("size", [1, 2, 5, FEW, FEW + 1, 60])
def test_points_of_the_simplex_stay_and_rows_are_independent(size):
    rng = np.random.default_rng(size)
    rows = rng.dirichlet(np.full(size, 0.3), 50)
    near, far = rows.copy(), 100 * rng.normal(size=(50, size))
    project_simplex_rows(near)
    assert np.abs(near - rows).max() <= 1e-15
    alone = far.copy()
    project_simplex_rows(far)
    for row, expected in zip(alone, far, strict=True):
        project_simplex(row)
        assert np.array_equal(row, expected)
    if size > 1:
        assert np.array_equal(Simplex(size - 1).project(alone), alone + 0.0)


def test_ties_share_equally():
    for values, expected in (
        ([5.0, 5.0, 5.0], [1 / 3] * 3),
        ([1e300, 1e300, -1e300], [0.5, 0.5, 0.0]),
        ([-np.inf, 0.0], [0.0, 1.0]),
    ):
        x = np.array(values)
        project_simplex(x)
        assert x.tolist() == pytest.approx(expected, abs=1e-16)

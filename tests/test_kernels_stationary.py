"""Stationary distributions, against exact arithmetic and brute-force reachability."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullswap.kernels.stationary import (
    STAMP,
    gth_in_place,
    make_scratch,
    recurrent_class,
    stationary_dense,
    stationary_sparse,
)

# ---- slow references -----------------------------------------------------------------------------


def exact_stationary(matrix):
    """Solve π(P − I) = 0, Σ π = 1 in rational arithmetic; the diagonal is 1 − the rest of a row."""
    n = len(matrix)
    rates = [[Fraction(float(entry)) for entry in row] for row in matrix]
    for i in range(n):
        rates[i][i] = -sum(rates[i][j] for j in range(n) if j != i)
    # Equations are the columns of the rates; the last one is replaced by the normalisation.
    system = [[rates[i][j] for i in range(n)] + [Fraction(0)] for j in range(n)]
    system[-1] = [Fraction(1)] * (n + 1)
    for column in range(n):
        pivot = next(r for r in range(column, n) if system[r][column] != 0)
        system[column], system[pivot] = system[pivot], system[column]
        head = system[column][column]
        system[column] = [entry / head for entry in system[column]]
        for r in range(n):
            factor = system[r][column]
            if r != column and factor != 0:
                system[r] = [a - factor * b for a, b in zip(system[r], system[column], strict=True)]
    return [row[-1] for row in system]


def eigenvector_stationary(matrix):
    """Left eigenvector of the eigenvalue nearest 1."""
    values, vectors = np.linalg.eig(matrix.T)
    vector = np.real(vectors[:, np.argmin(np.abs(values - 1.0))])
    return vector / vector.sum()


def as_matrix(indices, weights):
    """Dense matrix of sparse rows; duplicated successors add up."""
    n = len(indices)
    matrix = np.zeros((n, n))
    for i, (row, shares) in enumerate(zip(indices, weights, strict=True)):
        for j, share in zip(row, shares, strict=True):
            matrix[i, j] += share
    return matrix


def closed_classes_from(matrix, start):
    """Closed classes reachable from start, by boolean closure."""
    n = len(matrix)
    reach = (matrix > 0) | np.eye(n, dtype=bool)
    for k in range(n):
        reach |= np.outer(reach[:, k], reach[k, :])
    classes = set()
    for i in np.flatnonzero(reach[start]):
        members = np.flatnonzero(reach[i])
        if all(reach[j, i] for j in members):
            classes.add(tuple(members.tolist()))
    return classes


# ---- helpers and strategies ----------------------------------------------------------------------


def gth(matrix):
    out = np.full(len(matrix), np.nan)
    gth_in_place(matrix.copy(), len(matrix), out)
    return out


def solve_sparse(indices, weights, start, scratch=None, stamp=1, room=None):
    """Members and weights as fresh arrays."""
    n = len(indices)
    room = n if room is None else room
    members, out = np.full(n, -1), np.full(max(n, 2), np.nan)
    scratch = make_scratch(n) if scratch is None else scratch
    dense = np.full((room, room), np.nan)  # leftovers of earlier rounds must not matter
    size = stationary_sparse(indices, weights, start, scratch, stamp, dense, members, out)
    assert size > 0
    return members[:size], out[:size]


def assert_stationary(matrix, distribution, tolerance=1e-12):
    assert np.all(distribution >= 0.0)
    assert abs(distribution.sum() - 1.0) <= tolerance
    assert np.abs(distribution @ matrix - distribution).sum() <= tolerance


def random_stochastic(rng, n, power=3):
    matrix = rng.random((n, n)) ** power
    return matrix / matrix.sum(axis=1, keepdims=True)


@st.composite
def sparse_chains(draw):
    """Sparse rows with unused places, duplicates, absorbing states, several classes, weak links."""
    n = draw(st.integers(1, 8))
    k = draw(st.integers(1, 4))
    indices = np.array(draw(st.lists(st.integers(0, n - 1), min_size=n * k, max_size=n * k)))
    shares = st.sampled_from([0.0, 0.0, 1.0, 1.0, 2.0, 1e-12])
    weights = np.array(draw(st.lists(shares, min_size=n * k, max_size=n * k))).reshape(n, k)
    empty = weights.sum(axis=1) == 0.0
    weights[empty, draw(st.integers(0, k - 1))] = 1.0
    weights /= weights.sum(axis=1, keepdims=True)
    return indices.reshape(n, k), weights, draw(st.integers(0, n - 1))


@st.composite
def irreducible_matrices(draw):
    """A cycle through all states plus arbitrary links, with weights of very different sizes."""
    n = draw(st.integers(2, 5))
    sizes = st.sampled_from([1.0, 0.3, 1e-6, 1e-12])
    links = st.one_of(st.just(0.0), sizes)
    matrix = np.array(draw(st.lists(links, min_size=n * n, max_size=n * n))).reshape(n, n)
    for i in range(n):
        matrix[i, (i + 1) % n] = draw(sizes)
    return matrix / matrix.sum(axis=1, keepdims=True)


# ---- elimination ---------------------------------------------------------------------------------


@given(irreducible_matrices())
def test_gth_has_small_relative_error_in_every_component(matrix):
    for found, exact in zip(gth(matrix), exact_stationary(matrix), strict=True):
        assert abs(Fraction(float(found)) - exact) <= Fraction(1, 10**13) * exact


def test_gth_on_two_blocks_coupled_by_1e_minus_12():
    rng = np.random.default_rng(1)
    matrix = np.zeros((6, 6))
    matrix[:3, :3] = random_stochastic(rng, 3)
    matrix[3:, 3:] = random_stochastic(rng, 3)
    matrix[0, 3] = 1e-12
    matrix[5, 1] = 3e-12
    found, exact = gth(matrix), exact_stationary(matrix)
    relative = [abs(Fraction(float(a)) - b) / b for a, b in zip(found, exact, strict=True)]
    assert max(relative) <= Fraction(1, 10**14)


@pytest.mark.parametrize("n", [1, 2, 3, 200])
def test_gth_agrees_with_the_eigenvector(n):
    matrix = random_stochastic(np.random.default_rng(n), n)
    np.testing.assert_allclose(gth(matrix), eigenvector_stationary(matrix), rtol=1e-10)
    assert_stationary(matrix, gth(matrix), 1e-13)


def test_gth_touches_only_the_leading_block():
    matrix = np.full((5, 5), np.nan)
    matrix[:3, :3] = random_stochastic(np.random.default_rng(3), 3)
    expected = gth(matrix[:3, :3])
    out = np.full(5, -7.0)
    gth_in_place(matrix, 3, out)
    np.testing.assert_array_equal(out, [*expected, -7.0, -7.0])
    assert np.isnan(matrix[3:]).all() and np.isnan(matrix[:, 3:]).all()


@given(sparse_chains())
def test_gth_of_a_reducible_chain_is_one_of_its_stationary_distributions(chain):
    matrix = as_matrix(*chain[:2])
    assert_stationary(matrix, gth(matrix))


@pytest.mark.parametrize("weak", [1e-150, 1e-300, 5e-324])
def test_gth_survives_weights_near_underflow(weak):
    # State 1 is almost absorbing: seen from state 0 its weight exceeds the largest double.
    two = np.array([[0.0, 1.0], [weak, 1.0]])
    np.testing.assert_array_equal(gth(two), [weak, 1.0])
    ring = np.array([[1.0, weak, 0.0], [0.0, 1.0, weak], [weak, 0.0, 1.0]])
    np.testing.assert_allclose(gth(ring), [1 / 3] * 3, rtol=1e-15)
    both_ways = np.array([[1.0, weak, 0.0], [weak, 1.0, weak], [0.0, weak, 1.0]])
    assert_stationary(both_ways, gth(both_ways))


# ---- closed classes ------------------------------------------------------------------------------


@settings(max_examples=200)
@given(sparse_chains())
def test_recurrent_class_is_a_closed_class_reachable_from_the_start(chain):
    indices, weights, start = chain
    n = len(indices)
    members = np.full(n, -1)
    size = recurrent_class(indices, weights, start, make_scratch(n), 1, members)
    found = tuple(sorted(members[:size].tolist()))
    assert found in closed_classes_from(as_matrix(indices, weights), start)
    assert (members[size:] == -1).all()


def test_search_stops_at_the_first_closed_class():
    # 0 leads to the absorbing states 1 and 2; after finding one the other is never looked at.
    indices = np.array([[1, 2], [1, 1], [2, 2]])
    weights = np.array([[0.5, 0.5], [1.0, 0.0], [1.0, 0.0]])
    scratch, members = make_scratch(3), np.empty(3, dtype=np.int64)
    assert recurrent_class(indices, weights, 0, scratch, 9, members) == 1
    assert members[0] == 1
    assert (scratch[:, STAMP] == 9).tolist() == [True, True, False]


def test_a_place_of_weight_zero_is_no_successor():
    indices = np.array([[1, 0], [0, 0]])
    weights = np.array([[0.0, 1.0], [1.0, 0.0]])
    members = np.empty(2, dtype=np.int64)
    assert recurrent_class(indices, weights, 0, make_scratch(2), 1, members) == 1
    assert members[0] == 0


def test_a_path_of_many_states_needs_no_recursion():
    n = 100_000
    indices = np.minimum(np.arange(n) + 1, n - 1)[:, None]
    members = np.empty(n, dtype=np.int64)
    size = recurrent_class(indices, np.ones((n, 1)), 0, make_scratch(n), 1, members)
    assert (size, members[0]) == (1, n - 1)
    size = recurrent_class((indices + 1) % n, np.ones((n, 1)), 0, make_scratch(n), 1, members)
    assert size == n // 2  # every second state, round and round


# ---- sparse chains -------------------------------------------------------------------------------


@settings(max_examples=200)
@given(sparse_chains())
def test_sparse_solution_is_stationary_on_one_closed_class(chain):
    indices, weights, start = chain
    matrix = as_matrix(indices, weights)
    members, shares = solve_sparse(indices, weights, start)
    assert tuple(members.tolist()) in closed_classes_from(matrix, start)  # sorted, too
    distribution = np.zeros(len(indices))
    distribution[members] = shares
    assert_stationary(matrix, distribution)
    block = matrix[np.ix_(members, members)]
    for found, exact in zip(shares, exact_stationary(block), strict=True):
        assert abs(Fraction(float(found)) - exact) <= Fraction(1, 10**13) * exact


@given(sparse_chains())
def test_sparse_solution_does_not_depend_on_the_traversal(chain):
    indices, weights, start = chain
    members, shares = solve_sparse(indices, weights, start)
    for other_start in members:
        again, same_shares = solve_sparse(indices, weights, other_start)
        np.testing.assert_array_equal(again, members)
        np.testing.assert_array_equal(same_shares, shares)
        backwards = solve_sparse(indices[:, ::-1].copy(), weights[:, ::-1].copy(), other_start)
        np.testing.assert_array_equal(backwards[0], members)
        np.testing.assert_allclose(backwards[1], shares, rtol=1e-13)


def test_reused_scratch_gives_what_fresh_scratch_gives():
    rng = np.random.default_rng(7)
    n, k = 30, 3
    scratch, dense = make_scratch(n), np.empty((n, n))
    members, out = np.empty(n, dtype=np.int64), np.empty(n)
    sizes = set()
    for stamp in range(1, 501):
        reach = rng.integers(1, 12)
        indices = np.clip(np.arange(n)[:, None] + rng.integers(-reach, reach + 1, (n, k)), 0, n - 1)
        weights = rng.dirichlet(np.ones(k), size=n)
        weights[rng.random((n, k)) < 0.5] = 0.0
        weights[:, 0] += 1.0 - weights.sum(axis=1)
        start = int(rng.integers(n))
        size = stationary_sparse(indices, weights, start, scratch, stamp, dense, members, out)
        fresh_members, fresh_shares = solve_sparse(indices, weights, start)
        np.testing.assert_array_equal(members[:size], fresh_members)
        np.testing.assert_array_equal(out[:size], fresh_shares)
        sizes.add(size)
    assert {1, 2, 3} <= sizes and max(sizes) > 10


@pytest.mark.parametrize("n", [1, 2, 3, 200])
def test_birth_and_death_chain_has_geometric_weights(n):
    up, down = 0.3, 0.4
    states = np.arange(n)
    indices = np.stack([np.maximum(states - 1, 0), states, np.minimum(states + 1, n - 1)], axis=1)
    weights = np.tile([down, 1.0 - up - down, up], (n, 1))
    members, shares = solve_sparse(indices, weights, n - 1)
    expected = (up / down) ** states
    np.testing.assert_array_equal(members, states)
    np.testing.assert_allclose(shares, expected / expected.sum(), rtol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 200])
def test_a_cycle_has_equal_weights(n):
    order = np.random.default_rng(n).permutation(n)
    indices = np.empty((n, 1), dtype=np.int64)
    indices[order, 0] = np.roll(order, -1)
    members, shares = solve_sparse(indices, np.ones((n, 1)), 0)
    np.testing.assert_array_equal(members, np.arange(n))
    np.testing.assert_allclose(shares, 1.0 / n, rtol=1e-13)


def test_too_small_a_work_matrix_is_reported_and_the_next_call_succeeds():
    indices = np.array([[1], [2], [3], [0]])
    weights, scratch = np.ones((4, 1)), make_scratch(4)
    members, out = np.empty(4, dtype=np.int64), np.full(4, -7.0)
    arrays = (np.empty((3, 3)), members, out)
    assert stationary_sparse(indices, weights, 0, scratch, 1, *arrays) == -4
    assert (out == -7.0).all()
    found, shares = solve_sparse(indices, weights, 0, scratch, stamp=2, room=4)
    assert found.tolist() == [0, 1, 2, 3] and shares.tolist() == [0.25] * 4


def test_one_and_two_states_need_no_work_matrix():
    _, one = solve_sparse(np.array([[0, 0]]), np.array([[0.25, 0.75]]), 0, room=0)
    assert one.tolist() == [1.0]
    weights = np.array([[0.25, 0.75], [0.5, 0.5]])
    _, two = solve_sparse(np.array([[0, 1], [0, 0]]), weights, 0, room=0)
    np.testing.assert_allclose(two, [4 / 7, 3 / 7], rtol=1e-15)


# ---- dense chains --------------------------------------------------------------------------------


def improve(matrix, x, tolerance, max_steps):
    """Residual and improved copy of x; checks the certificate on the way."""
    x = x.copy()
    residual = stationary_dense(matrix, x, np.full((3, len(x)), np.nan), tolerance, max_steps)
    assert np.all(x >= 0.0) and abs(x.sum() - 1.0) <= 1e-14
    assert abs(residual - np.abs(x @ matrix - x).sum()) <= 1e-14
    return residual, x


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 7, 200])
def test_dense_iteration_reaches_the_tolerance(n):
    rng = np.random.default_rng(n)
    matrix = random_stochastic(rng, n)
    residual, x = improve(matrix, rng.dirichlet(np.ones(n)), 1e-13, 200)
    assert residual <= 1e-13
    np.testing.assert_allclose(x, gth(matrix), atol=1e-11)


def test_dense_iteration_leaves_a_good_enough_start_alone():
    matrix = random_stochastic(np.random.default_rng(0), 8)
    start = np.full(8, 0.125)
    residual, x = improve(matrix, start, 2.0, 100)
    np.testing.assert_array_equal(x, start)
    assert 0.0 < residual < 2.0
    np.testing.assert_array_equal(improve(matrix, start, 0.0, 0)[1], start)


@given(st.one_of(irreducible_matrices(), sparse_chains().map(lambda c: as_matrix(*c[:2]))))
def test_dense_residual_is_certified_and_never_grows(matrix):
    n = len(matrix)
    start = np.arange(1.0, n + 1) / (n * (n + 1) / 2)
    residuals = [improve(matrix, start, 0.0, steps)[0] for steps in range(12)]
    assert np.all(np.diff(residuals) <= 1e-14)


def test_dense_residual_never_grows_on_slow_chains():
    # Without its safeguards the mixing of steps makes the residual grow on some of these.
    for seed in range(300):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 7))
        matrix, start = random_stochastic(rng, n, power=10), rng.dirichlet(np.full(n, 0.3))
        residuals = [improve(matrix, start, 0.0, steps)[0] for steps in range(15)]
        assert np.all(np.diff(residuals) <= 1e-12)


@pytest.mark.parametrize("period", [2, 3, 7])
def test_dense_iteration_on_periodic_chains(period):
    # Blocks of 3 states visited in turn: the plain iteration would oscillate for ever.
    rng = np.random.default_rng(period)
    n = 3 * period
    matrix = np.zeros((n, n))
    for block in range(period):
        rows, columns = 3 * block, 3 * ((block + 1) % period)
        matrix[rows : rows + 3, columns : columns + 3] = random_stochastic(rng, 3)
    start = np.eye(n)[0]
    residual, x = improve(matrix, start, 1e-12, 60)
    if period == 2:
        assert residual <= 1e-12
        np.testing.assert_allclose(x, gth(matrix), atol=1e-12)
    else:
        assert residual < 2.0  # certified above; the caller falls back on elimination


def test_dense_iteration_is_faster_than_plain_steps_on_a_slow_chain():
    rng = np.random.default_rng(2)
    n = 40
    matrix = np.zeros((n, n))
    matrix[:20, :20] = random_stochastic(rng, 20)
    matrix[20:, 20:] = random_stochastic(rng, 20)
    matrix = 0.999 * matrix + 0.001 / n
    start = np.eye(n)[0]
    plain = start
    for _ in range(60):
        plain = plain @ matrix
    assert np.abs(plain @ matrix - plain).sum() > 1e-5
    assert improve(matrix, start, 1e-12, 60)[0] <= 1e-12


def test_dense_iteration_is_honest_about_an_exhausted_budget():
    ring = np.roll(np.eye(12), 1, axis=1)
    residual, _ = improve(ring, np.eye(12)[0], 1e-12, 3)
    assert residual > 0.1

"""Large classes, against elimination and by their residuals."""

from __future__ import annotations

import numpy as np
import pytest

from fullswap.kernels.stationary import gth_in_place, make_scratch, stationary_sparse


def large_class(kind, size, rng):
    """Rows (size, 3) of one class of all states, in an order that is no help."""
    order = rng.permutation(size)
    after = np.empty(size, dtype=np.int64)
    after[order] = np.roll(order, -1)
    indices = np.column_stack((after, rng.integers(size, size=(size, 2))))
    weights = rng.dirichlet(np.ones(3), size=size)
    if kind == "ring":
        weights = np.tile([1.0, 0.0, 0.0], (size, 1))
    if kind == "slow":  # hardly ever leaves
        indices[:, 1], weights = np.arange(size), np.tile([1e-9, 1.0 - 1e-9, 0.0], (size, 1))
    if kind == "halves":  # hardly ever crosses over
        half = np.flatnonzero(np.isin(np.arange(size), order[: size // 2]))
        other = np.setdiff1d(np.arange(size), half)
        for part in (half, other):
            indices[part, 1:] = rng.choice(part, size=(len(part), 2))
        crossing = np.isin(np.arange(size), half) != np.isin(after, half)
        weights[crossing] = [1e-13, 0.5, 0.5 - 1e-13]
    return indices, weights


@pytest.mark.parametrize("kind", ["random", "ring", "slow", "halves"])
@pytest.mark.parametrize("size", [65, 130, 300])
def test_large_classes_are_solved_up_to_rounding(kind, size):
    rng = np.random.default_rng(size)
    indices, weights = large_class(kind, size, rng)
    matrix = np.zeros((size, size))
    np.add.at(matrix, (np.arange(size)[:, None], indices), weights)
    members, out = np.empty(size, dtype=np.int64), np.empty(size)
    found = stationary_sparse(
        indices, weights, 0, make_scratch(size), 1, np.empty((size, size)), members, out
    )
    assert found == size and members.tolist() == list(range(size))
    assert out.min() > 0.0 and out.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.abs(out @ matrix - out).sum() <= 1e-14
    if kind in ("random", "ring"):
        exact = np.empty(size)
        gth_in_place(matrix, size, exact)
        assert out == pytest.approx(exact, rel=1e-11)

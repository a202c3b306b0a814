"""Best answers of many actions in groups: those of looking through all of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullswap.games import Curve, Vectors, zoo
from fullswap.games.groups import LEAST, Grouped, quick


@settings(max_examples=20)
@given(st.integers(1, 6), st.integers(1, 900), st.integers(0, 10_000), st.sampled_from([0.0, 1e6]))
def test_groups_pass_over_nothing_that_is_best(dim, n, seed, shift):
    rng = np.random.default_rng([dim, n, seed])
    rows = rng.normal(size=(n, dim)) * rng.choice([1e-3, 1.0, 50.0], size=dim) + shift
    rows[rng.integers(n, size=n // 5)] = rows[0]
    directions = np.vstack((rng.normal(size=(20, dim)), np.eye(dim), np.zeros((1, dim))))
    actions = Vectors(rows)
    grouped = Grouped(actions)
    found, values = grouped.best(directions)
    _, largest = actions.best(directions)
    np.testing.assert_allclose(values, largest, rtol=1e-13, atol=1e-12 * np.abs(rows).max())
    np.testing.assert_array_equal(grouped.embed(found), rows[found])


@pytest.mark.parametrize(
    "n, dim, grouped", [(LEAST, 3, True), (LEAST - 1, 3, False), (LEAST, 9, False)]
)
def test_groups_are_for_many_actions_of_few_dimensions(n, dim, grouped):
    actions = Vectors(np.random.default_rng(0).normal(size=(n, dim)))
    assert isinstance(quick(actions), Grouped) is grouped


def test_sets_with_oracles_of_their_own_keep_them():
    for actions in (Curve.parabola(0.0, 1.0), zoo.auction().actions[0]):
        assert quick(actions) is actions

"""Laws of banks: rows learn alone, and weight 0 changes nothing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullswap.learners import (
    Discretised,
    GradientDescent,
    Hedge,
    LipschitzRate,
    NearlyStronglyConvexRate,
    RegretMatchingPlus,
    StronglyConvexRate,
)
from fullswap.losses import Quadratic
from fullswap.sets import Interval
from fullswap.theorems import Constants
from learner_cases import scales_of

# Laws of banks ------------------------------------------------------------------------------------

LINE = Interval(-1.0, 3.0)
EXPERTS = np.linspace(-1.0, 3.0, 5)[:, None]
CONSTANTS = Constants(8.0, 4.0, 2.0, gap=1.0)
BANKS = {
    "hedge known": lambda n: Hedge(EXPERTS, 16.0, 20 * n),
    "hedge anytime": lambda n: Hedge(EXPERTS, 16.0, None),
    "matching": lambda n: RegretMatchingPlus(EXPERTS),
    "lipschitz": lambda n: GradientDescent(LINE, LipschitzRate(CONSTANTS)),
    "strongly convex": lambda n: GradientDescent(LINE, StronglyConvexRate(CONSTANTS)),
    "discretised": lambda n: Discretised(
        GradientDescent(LINE, NearlyStronglyConvexRate(CONSTANTS, 2.0)), EXPERTS
    ),
}
banks = pytest.mark.parametrize("bank", BANKS.values(), ids=BANKS.keys())
centers = st.lists(st.floats(-1.0, 3.0), min_size=1, max_size=6)


def fed(learner, n, outcomes, scales):
    state = learner.init(n)
    for outcome, g in zip(outcomes, scales, strict=True):
        state = learner.update(state, Quadratic([outcome]), g)
    return state


@banks
@settings(max_examples=25)
@given(st.data(), centers)
def test_rows_none_means_all_rows(bank, data, outcomes):
    scales = data.draw(scales_of(len(outcomes), 3))
    learner = bank(3)
    state = learner.init(3)
    for outcome, g in zip(outcomes, scales, strict=True):
        state = learner.update(state, Quadratic([outcome]), g, np.arange(3))
    expected = learner.propose(fed(learner, 3, outcomes, scales))
    assert np.array_equal(learner.propose(state), expected)


@banks
@settings(max_examples=25)
@given(st.data(), centers, st.sampled_from([[0], [2], [0, 2], [2, 1]]), st.floats(1e-3, 1.0))
def test_only_named_rows_learn(bank, data, outcomes, rows, weight):
    learner = bank(3)
    state = fed(learner, 3, outcomes, data.draw(scales_of(len(outcomes), 3)))
    before = learner.propose(state).copy()
    state = learner.update(state, Quadratic([-1.0]), np.full(len(rows), weight), np.array(rows))
    others = [s for s in range(3) if s not in rows]
    assert np.array_equal(learner.propose(state)[others], before[others])
    # and the named ones do learn, each with its own weight
    fresh = learner.init(3)
    told = np.array([1.0, 1e-3])[: len(rows)]
    fresh = learner.update(fresh, Quadratic([-1.0]), told, np.array(rows))
    dense = np.zeros(3)
    dense[rows] = told
    expected = learner.propose(learner.update(learner.init(3), Quadratic([-1.0]), dense))
    assert np.array_equal(learner.propose(fresh), expected)
    assert (learner.propose(fresh)[rows[0]] != learner.propose(learner.init(3))[rows[0]]).any()


@banks
@settings(max_examples=25)
@given(st.data(), centers, st.booleans())
def test_weight_zero_changes_nothing(bank, data, outcomes, named):
    learner = bank(3)
    state = fed(learner, 3, outcomes, data.draw(scales_of(len(outcomes), 3)))
    before = learner.propose(state).copy()
    rows = np.array([1, 2]) if named else None
    state = learner.update(state, Quadratic([2.5]), np.zeros(2 if named else 3), rows)
    assert np.array_equal(learner.propose(state), before)


@banks
@settings(max_examples=25)
@given(st.data(), centers)
def test_a_bank_is_as_many_banks_of_one(bank, data, outcomes):
    scales = data.draw(scales_of(len(outcomes), 3))
    together = bank(3).propose(fed(bank(3), 3, outcomes, scales))
    for s in range(3):
        alone = bank(1).propose(fed(bank(1), 1, outcomes, scales[:, [s]]))
        assert together[s] == pytest.approx(alone[0], abs=1e-12)


@banks
def test_the_smallest_weights_leave_finite_proposals(bank):
    learner = bank(2)
    state = learner.init(2)
    for weight in (5e-324, 1e-310, 0.0, 1e-200, 1.0):
        # the slope at the middle is 0 at first: 0 times an overflown rate would be no number
        state = learner.update(state, Quadratic([1.0]), np.array([weight, 1.0]))
        assert np.isfinite(learner.propose(state)).all()


def test_gradient_descent_starts_where_it_is_told():
    start = np.array([[0.0], [2.5]])
    learner = GradientDescent(LINE, StronglyConvexRate(CONSTANTS), start)
    state = learner.init(2)
    assert np.array_equal(learner.propose(state), start)
    learner.update(state, Quadratic([1.0]), np.array([1.0, 0.0]))
    assert learner.propose(state).tolist() == [[1.0], [2.5]]
    assert start.tolist() == [[0.0], [2.5]], "the caller's array was written to"

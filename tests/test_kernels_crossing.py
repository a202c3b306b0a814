"""Crossings of a one-dimensional grid, against a scan of all neighbours."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fullswap.kernels.crossing import crossing_weight, find_crossing


def valid_answers(points, targets):
    """Every answer that the contract of find_crossing allows, by looking at all of them."""
    n = len(points)
    answers = {
        i for i in range(n - 1) if targets[i] >= points[i] and targets[i + 1] <= points[i + 1]
    }
    if targets[0] < points[0]:
        answers.add(-1)
    if targets[-1] > points[-1] or (n == 1 and targets[0] == points[0]):
        answers.add(n - 1)
    return answers


def mixture(points, targets, i):
    """(index, weight) pairs inside the grid, as a caller would play them."""
    weight = crossing_weight(points, targets, i)
    pairs = [(i, weight), (i + 1, 1.0 - weight)]
    return [(index, share) for index, share in pairs if 0 <= index < len(points)]


@st.composite
def grids_with_targets(draw):
    """Grids with uneven gaps; targets often exactly on their own or another grid point."""
    gaps = draw(st.lists(st.sampled_from([1, 1, 2, 5]), min_size=0, max_size=9))
    points = np.concatenate([[0.0], np.cumsum(gaps, dtype=float)]) / 8.0
    n = len(points)
    on_a_point = st.integers(0, n - 1).map(lambda j: float(points[j]))
    anywhere = st.floats(-0.5, float(points[-1]) + 0.5, allow_subnormal=False)
    targets = [draw(st.one_of(st.just(float(p)), on_a_point, anywhere)) for p in points]
    return points, np.array(targets)


@settings(max_examples=200)
@given(grids_with_targets())
@example((np.array([0.25]), np.array([0.25])))
@example((np.array([0.25]), np.array([0.0])))
@example((np.array([0.25]), np.array([1.0])))
@example((np.array([0.0, 1.0]), np.array([0.0, 1.0])))
@example((np.array([0.0, 1.0, 2.0]), np.array([-1.0, 3.0, 2.0])))
def test_every_hint_leads_to_a_valid_answer(case):
    points, targets = case
    allowed = valid_answers(points, targets)
    assert allowed, "some answer always exists"
    for hint in [-(10**6), *range(-2, len(points) + 3), 10**6]:
        assert find_crossing(points, targets, hint) in allowed


@given(grids_with_targets())
def test_mixture_is_its_own_target(case):
    points, targets = case
    # Targets inside the hull of the grid, as recommendations of sub-learners are.
    targets = np.clip(targets, points[0], points[-1])
    i = find_crossing(points, targets, 0)
    played = mixture(points, targets, i)
    assert all(0.0 <= share <= 1.0 for _, share in played)
    assert sum(share for _, share in played) == 1.0
    mean_target = sum(share * targets[j] for j, share in played)
    mean_point = sum(share * points[j] for j, share in played)
    assert abs(mean_target - mean_point) <= 4e-15 * max(1.0, points[-1])


@given(grids_with_targets(), st.floats(0.0, 8.0))
def test_convex_loss_of_mixture_is_within_the_discretisation_error(case, centre):
    # Σ λ_j ℓ(s_j) ≤ Σ λ_j ℓ(q_j) + βε²/8 for ℓ(x) = (x − centre)², β = 2.
    points, targets = case
    targets = np.clip(targets, points[0], points[-1])
    i = find_crossing(points, targets, 0)
    played = mixture(points, targets, i)
    at_points = sum(share * (points[j] - centre) ** 2 for j, share in played)
    at_targets = sum(share * (targets[j] - centre) ** 2 for j, share in played)
    gap = max(np.diff(points), default=0.0)
    assert at_points <= at_targets + gap**2 / 4 + 1e-12


def test_large_grid_against_scan():
    rng = np.random.default_rng(5)
    points = np.linspace(0.0, 1.0, 1001)
    for spread in (1e-4, 1e-2, 1.0):
        targets = np.clip(0.4 + spread * rng.standard_normal(1001), 0.0, 1.0)
        allowed = valid_answers(points, targets)
        for hint in range(-1, 1001, 7):
            assert find_crossing(points, targets, hint) in allowed


def test_a_hint_that_still_holds_is_kept():
    points = np.arange(6.0)
    targets = np.array([1.0, 0.0, 3.0, 2.0, 5.0, 4.0])  # crossings at 0, 2 and 4
    assert valid_answers(points, targets) == {0, 2, 4}
    for hint in (0, 2, 4):
        assert find_crossing(points, targets, hint) == hint


@pytest.mark.parametrize("hint", [-1, 0, 1, 2, 3])
def test_ends_of_the_grid(hint):
    points = np.array([0.0, 0.5, 1.0])
    assert find_crossing(points, np.array([-0.1, 0.2, 0.3]), hint) == -1
    assert find_crossing(points, np.array([0.6, 0.7, 1.1]), hint) == 2
    # A target exactly on an end is a crossing with its neighbour, not an end played alone.
    assert find_crossing(points, np.array([0.0, 0.2, 0.3]), hint) == 0
    assert find_crossing(points, np.array([0.6, 0.7, 1.0]), hint) == 1


def test_weight_by_hand():
    points = np.array([0.0, 1.0])
    assert crossing_weight(points, np.array([0.5, 0.5]), 0) == 0.5
    assert crossing_weight(points, np.array([0.75, 0.75]), 0) == 0.25
    assert crossing_weight(points, np.array([0.0, 0.5]), 0) == 1.0
    assert crossing_weight(points, np.array([0.5, 1.0]), 0) == 0.0
    assert crossing_weight(points, points.copy(), 0) == 1.0  # both gaps 0
    assert crossing_weight(points, np.array([-1.0, -1.0]), -1) == 0.0
    assert crossing_weight(points, np.array([2.0, 2.0]), 1) == 1.0


def test_weight_of_gaps_near_underflow():
    tiny = 5e-324
    assert crossing_weight(np.array([0.0, tiny]), np.array([tiny, 0.0]), 0) == 0.5


class CountingTargets:
    """One value for all points; counts reads, as a stand-in for the cost of a search."""

    def __init__(self, value):
        self.value = value
        self.reads = 0

    def __getitem__(self, index):
        self.reads += 1
        return self.value


@pytest.mark.parametrize("cell", [0, 1, 500_000, 999_998, 999_999])
@pytest.mark.parametrize("distance", [0, 1, 10, 1_000, 10**6])
def test_cost_is_logarithmic_in_the_distance(cell, distance):
    points = np.arange(1_000_001, dtype=float)
    for hint in (cell - distance, cell + distance):
        targets = CountingTargets(cell + 0.5)
        assert find_crossing.py_func(points, targets, hint) == cell
        assert targets.reads <= 2 * np.log2(1 + distance) + 4

"""Sub-grids of given actions: the least bound of all, and nested ones that serve uneven gaps."""

from __future__ import annotations

import math
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from adversary_cases import SETS, loss_classes
from fullswap import sets
from fullswap.adversaries import all_adversaries
from fullswap.grids import line
from fullswap.kernels.jumps import farthest_jumps
from fullswap.losses import LossClass
from fullswap.play import simulate
from fullswap.template import FullSwapLearner
from fullswap.template.plan import plan
from fullswap.template.subgrids import Jumps, best_subgrid, nested_subgrids
from fullswap.theorems import THEOREMS, Constants
from naive.regret import rt

ROWS = ("strongly convex", "strongly convex and smooth")
LOW, HIGH = -3.0, -0.5
SQUARED = LossClass.squared(HIGH - LOW, scale=0.7)
CONSTANTS = Constants(SQUARED.lipschitz, HIGH - LOW, SQUARED.strong_convexity, SQUARED.smoothness)


@st.composite
def uneven_actions(draw, most=40):
    """Both ends of [LOW, HIGH] and some between, often crowded in places."""
    seed, count = draw(st.integers(0, 10**6)), draw(st.integers(0, most - 2))
    rng = np.random.default_rng(seed)
    crowd = rng.beta(*rng.uniform(0.1, 3.0, 2), size=count)
    inside = LOW + (HIGH - LOW) * crowd[(crowd > 1e-6) & (crowd < 1 - 1e-6)]
    return np.unique(np.concatenate(([LOW, HIGH], inside)))


def total(row, coordinates, rounds):
    """The bound of a sub-grid, by the second copy of the formulas and without B·T."""
    widest = max(b - a for a, b in pairwise(coordinates.tolist()))
    n, L, alpha = len(coordinates), SQUARED.lipschitz, SQUARED.strong_convexity
    delta = L * widest / 2 if row == "strongly convex" else SQUARED.smoothness * widest**2 / 8
    return delta * rounds + n * L**2 / (2 * alpha) * rt(rounds / n)


def chosen(row, actions, rounds):
    field = sets.Interval(LOW, HIGH)
    return best_subgrid(
        actions, THEOREMS[row], CONSTANTS, rounds, lambda t: line(field, t).geometry
    )


def by_index(row, actions, rounds):
    """Every stride, the rest at the end."""
    last = len(actions) - 1
    picks = ([*range(0, last, stride), last] for stride in range(1, last + 1))
    return min(picks, key=lambda pick: total(row, actions[pick], rounds))


@pytest.mark.parametrize("row", ROWS)
@given(actions=uneven_actions(most=11), rounds=st.sampled_from([3, 40, 1000, 10**5]))
def test_no_sub_grid_of_all_has_a_smaller_bound(row, actions, rounds):
    last = len(actions) - 1
    subsets = (
        [0, *inside, last] for size in range(last) for inside in combinations(range(1, last), size)
    )
    least = min(total(row, actions[subset], rounds) for subset in subsets)
    found = chosen(row, actions, rounds)
    assert found[0] == 0 and found[-1] == last
    assert total(row, actions[found], rounds) == pytest.approx(least, rel=1e-8)


@pytest.mark.parametrize("row", ROWS)
@given(actions=uneven_actions(), rounds=st.sampled_from([20, 1000, 10**6]))
def test_never_worse_than_every_so_many_of_them(row, actions, rounds):
    found = total(row, actions[chosen(row, actions, rounds)], rounds)
    stride = total(row, actions[by_index(row, actions, rounds)], rounds)
    assert found <= stride * (1 + 1e-8)


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("last", [1, 2, 7, 60, 101])
def test_evenly_spaced_actions_are_played_at_even_strides(row, last):
    for actions in (np.linspace(LOW, HIGH, last + 1), LOW + np.arange(last + 1) * 2.5 / last):
        for rounds in (10, 2000, 10**6):
            assert chosen(row, actions, rounds).tolist() == by_index(row, actions, rounds)


def halvings(last):
    """Both ends, then every gap of indices halved."""
    choice = [0, last]
    yield choice
    while len(choice) <= last:
        choice = sorted({(i + j) // 2 for i, j in pairwise(choice)}.union(choice))
        yield choice


@given(last=st.integers(1, 70), low=st.floats(-50, 50), step=st.floats(0.001, 10))
def test_evenly_spaced_actions_are_halved_by_index(last, low, step):
    nested = nested_subgrids(low + step * np.arange(last + 1))
    assert [pick.tolist() for pick in nested] == list(halvings(last))


@given(actions=uneven_actions(most=200))
def test_nested_sub_grids_halve_the_widest_gap_in_two_steps(actions):
    nested = nested_subgrids(actions)
    least = float(np.diff(actions).max())
    widths = [float(np.diff(actions[pick]).max()) for pick in nested]
    assert nested[0].tolist() == [0, len(actions) - 1]
    assert widths[-1] == pytest.approx(least), "down to the gaps that are given"
    for coarse, fine in pairwise(nested):
        assert set(coarse) < set(fine)
        assert (np.diff(fine) > 0).all()
    assert all(finer < coarser for coarser, finer in pairwise(widths))
    for coarser, finer in zip(widths, widths[2:], strict=False):
        assert finer <= max(coarser / 2, least) * (1 + 1e-9)


@given(actions=uneven_actions(most=60), share=st.floats(0, 1))
def test_compiled_jumps_are_the_jumps_of_a_plain_loop(actions, share):
    jumps = Jumps(actions)
    gap = jumps.least + share * (HIGH - LOW - jumps.least)
    slow = [0]
    while slow[-1] < len(actions) - 1:
        here = actions[slow[-1]]
        slow.append(max(j for j, x in enumerate(actions) if x <= here + (gap + jumps.slack)))
    filled = np.empty(len(actions), dtype=np.int64)
    count = farthest_jumps(actions, gap + jumps.slack, filled)
    assert filled[:count].tolist() == jumps.pick(gap).indices.tolist() == slow


def test_a_crowd_in_one_place_does_not_spoil_the_bound():
    """A thousand actions in a tenth of the line, ten over the rest: 10,477 by index."""
    crowd = np.linspace(0, 0.1, 1000)
    actions = np.concatenate((crowd, np.linspace(0.1, 1, 10)[1:], [0.95]))
    actions = np.unique(actions)
    line_, losses = sets.Interval(0, 1), LossClass.squared(1.0)
    assert len(actions) == 1010 and np.diff(actions).max() == pytest.approx(0.1)
    assert plan(line_, losses, 10**6, actions=actions).bound(10**6) <= 2700
    unknown = plan(line_, losses, None, actions=actions).bound(10**6)
    assert unknown <= 2800, "without a horizon the widest gap is what costs, too"


def test_many_crowded_actions_cost_hardly_more_than_the_whole_line():
    rng = np.random.default_rng(5)
    actions = np.unique(np.concatenate(([0.0, 1.0], rng.random(200_000) ** 2)))
    even = plan(sets.Interval(0, 1), LossClass.squared(1.0), 10**6)
    given_ = plan(sets.Interval(0, 1), LossClass.squared(1.0), 10**6, actions=actions)
    assert given_.bound(10**6) <= even.bound(10**6) * 1.01, "nearly all points are to be had"


CROWDED = LOW + (HIGH - LOW) * np.array(
    [0, 0.001, 0.002, 0.004, 0.008, 0.01, 0.02, 0.3, 0.31, 0.32, 0.33, 0.5, 0.51, 0.8, 0.99, 1]
)


@pytest.mark.theorem("strongly convex")
@pytest.mark.theorem("strongly convex and smooth")
@pytest.mark.theorem("unknown horizon")
@pytest.mark.parametrize("horizon", [600, None])
@pytest.mark.parametrize("promise", ["strongly convex", "squared"])
def test_regret_among_uneven_actions_is_within_the_guarantee(promise, horizon):
    interval = SETS["interval"]
    promised = loss_classes(interval)[promise]
    row = "strongly convex" + (" and smooth" if promise == "squared" else "")
    for adversary in all_adversaries(interval, promised, 2, rounds=600):
        learner = FullSwapLearner(interval, promised, horizon, row=row, actions=CROWDED)
        record = simulate(learner, adversary, 600, progress=False)
        assert np.isin(record.points, CROWDED).all()
        for rounds in (50, 600) if horizon is None else (600,):
            measured = naive.discretised_swap_regret(record.head(rounds), CROWDED)
            assert measured <= learner.plan.bound(rounds) * (1 + 1e-9)
        assert learner.certificate().holds
        assert math.isfinite(learner.guarantee)

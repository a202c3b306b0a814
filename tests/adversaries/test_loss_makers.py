"""Losses that adversaries choose stay inside their class, whatever the set."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adversary_cases import PAIRS, SETS, check_promises, loss_classes, losses_met, members
from fullswap import sets
from fullswap.adversaries import (
    Losses,
    all_adversaries,
    kinds,
    longest_segment,
)
from fullswap.losses import LossClass


@pytest.mark.parametrize(("set_name", "class_name"), PAIRS)
def test_losses_stay_inside_the_class(set_name, class_name):
    action_set = SETS[set_name]
    promised = loss_classes(action_set)[class_name]
    rng = np.random.default_rng(5)
    points = members(action_set, 120, rng)
    for adversary in all_adversaries(action_set, promised, seed=1, rounds=60):
        met = {id(loss): loss for loss in losses_met(adversary, 60)}
        for loss in met.values():
            check_promises(loss, promised, action_set, points, f"{adversary!r} on {set_name}")


@pytest.mark.parametrize(("set_name", "class_name"), PAIRS)
def test_every_kind_stays_inside_the_class(set_name, class_name):
    action_set = SETS[set_name]
    promised = loss_classes(action_set)[class_name]
    rng = np.random.default_rng(6)
    points = members(action_set, 120, rng)
    for kind in kinds(promised):
        maker = Losses(action_set, promised, kind)
        for center in [action_set.center, *members(action_set, 10, rng)]:
            check_promises(maker.towards(center), promised, action_set, points, (kind, set_name))
        for direction in rng.standard_normal((4, action_set.ambient_dim)):
            check_promises(maker.along(direction), promised, action_set, points, (kind, set_name))


@given(
    low=st.floats(-1e3, 1e3),
    width=st.floats(1e-3, 1e3),
    lipschitz=st.floats(1e-3, 1e3),
    bend=st.floats(0.0, 1.0),
    place=st.floats(0.0, 1.0),
)
def test_curved_losses_fit_any_interval(low, width, lipschitz, bend, place):
    """Up to the largest strong convexity that any loss on the set can have, 2·L/D."""
    action_set = sets.Interval(low, low + width)
    alpha = bend * 2 * lipschitz / action_set.diameter
    promised = LossClass(lipschitz, alpha)
    points = np.linspace(action_set.low, action_set.high, 21)[:, None]
    for kind in kinds(promised):
        loss = Losses(action_set, promised, kind).towards([low + place * width])
        slopes = np.abs(loss.gradient(points))
        assert slopes.max() <= lipschitz * (1 + 1e-6)
        if alpha > 1e-9 * lipschitz / width:
            steps = np.diff(loss.gradient(points)[:, 0]) / np.diff(points[:, 0])
            assert (steps >= alpha * (1 - 1e-6) - 1e-9 * lipschitz / width).all()


@pytest.mark.parametrize("set_name", SETS)
def test_gradients_are_those_of_the_values(set_name):
    action_set = SETS[set_name]
    rng = np.random.default_rng(7)
    step = 1e-6 * action_set.diameter
    for class_name, promised in loss_classes(action_set).items():
        if (set_name, class_name) not in PAIRS:
            continue
        for kind in kinds(promised):
            loss = Losses(action_set, promised, kind).towards(members(action_set, 1, rng)[0])
            x = members(action_set, 40, rng)[:40]
            for direction in action_set.frame[1].T:
                change = loss.value(x + step * direction) - loss.value(x - step * direction)
                slope = loss.gradient(x) @ direction
                off = np.abs(change / (2 * step) - slope)
                # a kink may lie within the step of a point or two
                assert (off <= 1e-4 * promised.lipschitz).mean() >= 0.9, (kind, set_name)


@pytest.mark.parametrize("set_name", SETS)
def test_losses_are_smallest_at_their_centre(set_name):
    action_set = SETS[set_name]
    rng = np.random.default_rng(8)
    others = members(action_set, 300, rng)
    for name in ("lipschitz", "convex lipschitz", "smooth", "strongly convex", "squared"):
        promised = loss_classes(action_set)[name]
        for kind in kinds(promised):
            center = members(action_set, 1, rng)[0]
            maker = Losses(action_set, promised, kind)
            if kind in ("linear", "concave"):  # only the direction counts
                extreme = action_set.minimize_linear(-(center - action_set.center))
                lowest = maker.towards(center).value(extreme[None])
                slack = 0.5 * promised.lipschitz * action_set.diameter if kind == "concave" else 0
            else:
                lowest, slack = maker.towards(center).value(center[None]), 0
            assert lowest[0] <= maker.towards(center).value(others).min() + slack + 1e-9, kind


def test_linear_losses_use_the_whole_slope_and_fall_towards_the_centre():
    for action_set in SETS.values():
        loss = Losses(action_set, LossClass(0.7, concave=True)).towards(
            longest_segment(action_set)[1]
        )
        direction = loss.gradient(action_set.center[None])[0]
        assert np.linalg.norm(direction) == pytest.approx(0.7)
        away = longest_segment(action_set)[1] - action_set.center
        assert direction @ away == pytest.approx(-0.7 * np.linalg.norm(away))
        if action_set.dim < action_set.ambient_dim:
            assert abs(direction.sum()) < 1e-12


@pytest.mark.parametrize("set_name", SETS)
@pytest.mark.parametrize("class_name", ["lipschitz", "smooth", "strongly convex"])
def test_functions_come_from_a_small_pool(set_name, class_name):
    action_set = SETS[set_name]
    promised = loss_classes(action_set)[class_name]
    maker = Losses(action_set, promised)
    rng = np.random.default_rng(9)
    centers = members(action_set, 1500, rng)
    met = {id(maker.towards(center)) for center in centers}
    assert 3 < len(met) <= 40
    assert maker.towards(centers[0]) is maker.towards(centers[0].copy())
    nearest = maker.towards(centers[-1])
    assert nearest.value(centers[-1:])[0] <= promised.lipschitz * action_set.diameter / 2


def test_the_pool_stays_small_where_there_is_much_room():
    action_set = sets.Simplex(60)  # 61 corners, all as far apart as can be
    maker = Losses(action_set, LossClass(1.0, convex=True))
    corners = action_set.vertices
    met = [maker.towards(corner) for corner in corners]
    assert len({id(loss) for loss in met}) == 40
    heights = [loss.value(corner[None])[0] for loss, corner in zip(met, corners, strict=True)]
    assert heights == pytest.approx([0.0] * 40 + [action_set.diameter] * 21)


def test_distinct_functions_stay_few_over_a_long_run():
    action_set = SETS["ball"]
    for adversary in all_adversaries(action_set, LossClass(1.0), seed=2, rounds=600):
        assert len({id(loss) for loss in losses_met(adversary, 600)}) <= 40


def test_kinds_of_a_class():
    assert kinds(LossClass.squared(1.0)) == ("quadratic",)
    assert kinds(LossClass(1.0, 0.5))[0] == "kinked"
    assert kinds(LossClass(1.0, concave=True)) == ("linear", "concave")
    assert kinds(LossClass(1.0, smoothness=0.0)) == ("linear",)
    assert kinds(LossClass(1.0, smoothness=1.0))[0] == "wave"
    assert kinds(LossClass(1.0, smoothness=1.0, convex=True)) == ("quadratic", "linear")
    assert kinds(LossClass(1.0))[:2] == ("tent", "distance")
    tent = Losses(sets.Interval(0, 1), LossClass(1.0)).towards([0.0])
    left, middle, right = tent.value(np.array([[0.0], [0.5], [1.0]]))
    assert left < right < middle  # two valleys, of which the wanted one is the deeper


@pytest.mark.parametrize("set_name", SETS)
def test_segment_joins_far_members(set_name):
    action_set = SETS[set_name]
    low, high = longest_segment(action_set)
    assert action_set.contains(np.array([low, high])).all()
    assert np.linalg.norm(high - low) >= 0.9 * action_set.diameter

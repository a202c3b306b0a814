"""Regret from a record: exact values by hand, agreement with slow code, certified minima."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from fullswap import losses, metrics, sets
from fullswap.base.protocols import Mixture
from fullswap.base.records import Record
from fullswap.certificates import Certificate
from fullswap.metrics.minimise import minimise_lipschitz

SETS = {
    "interval": sets.Interval(-1.0, 2.5),
    "box": sets.Box([0.0, 1.0], [1.0, 3.0]),
    "simplex": sets.Simplex(2),
    "ball": sets.Ball([3.0, 1.0, -1.0], 0.7),
    "polytope": sets.Polytope(vertices=[[0, 0], [4, 1], [3, 3], [1, 2.5]]),
}


def random_record(action_set, seed, rounds=40, kind="quadratic", support=6):
    rng = np.random.default_rng(seed)
    grid = naive.members(action_set, support, seed)[:support]
    width = action_set.ambient_dim
    pool = []
    for _ in range(rounds):
        center = naive.members(action_set, 1, int(rng.integers(1 << 30)))[0]
        if kind == "quadratic":
            pool.append(losses.Quadratic(center, scale=rng.uniform(0.1, 2)))
        elif kind == "concave":
            pool.append(losses.Quadratic(center, scale=-rng.uniform(0.1, 2)))
        elif kind == "linear":
            pool.append(losses.Linear(rng.standard_normal(width), rng.standard_normal()))
        else:
            pool.append(
                losses.Custom(lambda x, c=center: np.abs(x - c).sum(axis=1) / np.sqrt(width))
            )
    pairs = []
    for loss in pool:
        chosen = rng.choice(len(grid), size=int(rng.integers(1, 4)), replace=False)
        weights = rng.dirichlet(np.ones(len(chosen)))
        pairs.append((Mixture(grid[chosen], weights), loss))
    return Record.of_rounds(action_set, pairs, lipschitz=1.0)


def as_rows(record):
    return np.array([loss.coefficients for loss in record.losses])


@pytest.mark.parametrize("kind", ["quadratic", "linear", "concave"])
@pytest.mark.parametrize("name", SETS)
def test_exact_regrets_agree_with_search(name, kind):
    for seed in range(3):
        record = random_record(SETS[name], seed, kind=kind)
        exact, slow = metrics.full_swap_regret(record), naive.full_swap_regret(record)
        # the search can only find less, and on these losses it finds nearly all
        assert slow <= exact * (1 + 1e-9) + 1e-9
        assert exact <= slow * 1.03 + 1e-6
        external, slow = metrics.external_regret(record), naive.external_regret(record)
        assert external == pytest.approx(slow, rel=0.03, abs=0.02)
        assert external <= exact + 1e-9, "the best fixed action is one swap function"


@pytest.mark.parametrize("name", SETS)
def test_custom_losses_are_certified_from_both_sides(name):
    action_set = SETS[name]
    record = random_record(action_set, 1, kind="custom", rounds=12)
    report = metrics.swap_regret_report(record, tolerance=1e-2)
    slow = naive.full_swap_regret(record, count=400)
    slack = 1e-2 * action_set.diameter * len(record)
    assert report.value <= report.upper <= report.value + slack + 1e-9
    assert slow <= report.upper + 1e-9
    assert report.value == pytest.approx(report.per_point.sum())
    # the witness attains the value: moving s to deviations[s] gains exactly per_point[s]
    tally = metrics.Tally.from_record(record)
    for row, deviation in enumerate(report.deviations):
        here, there = tally.at(row, np.array([report.points[row], deviation]))
        assert max(0.0, here - there) == pytest.approx(report.per_point[row], abs=1e-9)


def test_custom_equals_quadratic_when_they_are_the_same_function():
    action_set = SETS["box"]
    record = random_record(action_set, 5, rounds=15)
    wrapped = [losses.Custom(loss.value) for loss in record.losses]
    slope = max(
        np.linalg.norm(loss.gradient(action_set.vertices), axis=1).max() for loss in record.losses
    )
    custom = replace(record, losses=tuple(wrapped), lipschitz=float(slope))
    exact = metrics.full_swap_regret(record)
    report = metrics.swap_regret_report(custom)
    assert report.value <= exact + 1e-9 <= report.upper + 2e-9
    actions = action_set.vertices
    assert metrics.discretised_swap_regret(custom, actions=actions) == pytest.approx(
        metrics.discretised_swap_regret(record, actions=actions)
    )


def test_mixed_losses_add_up():
    action_set = sets.Interval(0, 1)
    half = Mixture(np.array([[0.5]]), np.array([1.0]))
    absolute = losses.Custom(lambda x: np.abs(x[:, 0] - 1.0))
    pairs = [(half, losses.Linear([1.0])), (half, absolute), (half, absolute)]
    record = Record.of_rounds(action_set, pairs, lipschitz=1.0)
    # total loss at x is x + 2(1 − x): best at x = 1 with 1, incurred 1.5
    report = metrics.swap_regret_report(record)
    assert report.value == pytest.approx(0.5, abs=4e-3)
    assert report.value <= 0.5 + 1e-9 <= report.upper + 2e-9


def test_discretised_regret_by_hand_and_against_slow_code():
    action_set = sets.Interval(0, 1)
    point = Mixture(np.array([[0.5]]), np.array([1.0]))
    outcomes = [1.0, 1.0, 0.0, 1.0]
    pairs = [(point, losses.Quadratic([b])) for b in outcomes]
    record = Record.of_rounds(action_set, pairs)
    # n[(p − b̄)² − ([b̄] − b̄)²] with b̄ = 0.75
    assert metrics.discretised_swap_regret(record, actions=[[0.0], [0.5], [1.0]]) == pytest.approx(
        0.0
    )
    assert metrics.discretised_swap_regret(record, actions=[[0.0], [0.8]]) == pytest.approx(
        4 * (0.25**2 - 0.05**2)
    )
    assert metrics.full_swap_regret(record) == pytest.approx(4 * 0.25**2)
    for seed in range(4):
        some = random_record(SETS["polytope"], seed)
        actions = SETS["polytope"].vertices
        assert metrics.discretised_swap_regret(some, actions=actions) == pytest.approx(
            naive.discretised_swap_regret(some, actions), rel=1e-9, abs=1e-9
        )


@given(st.integers(0, 10**6), st.permutations(range(40)))
def test_swap_regret_does_not_depend_on_the_order_of_rounds(seed, order):
    record = random_record(SETS["simplex"], seed % 17)
    order = np.array(order)
    shuffled = replace(
        record, indices=record.indices[order], shares=record.weights[order],
        losses=as_rows(record)[order],
    )  # fmt: skip
    assert metrics.full_swap_regret(shuffled) == pytest.approx(
        metrics.full_swap_regret(record), rel=1e-9, abs=1e-9
    )


def test_regret_curve_ends_at_the_regret():
    record = random_record(SETS["box"], 2)
    rounds, values = metrics.regret_curve(record)
    assert rounds[-1] == len(record) and (np.diff(rounds) > 0).all()
    assert values[-1] == pytest.approx(metrics.full_swap_regret(record))
    _, external = metrics.regret_curve(record, metrics.external_regret, [10, 40])
    assert external[1] == pytest.approx(metrics.external_regret(record))
    for bad in ([0], [41], [[1]]):
        with pytest.raises(ValueError, match="rounds"):
            metrics.regret_curve(record, rounds=bad)


def test_branch_and_bound_brackets_the_minimum_of_a_wavy_function():
    disc = sets.Ball([1.0, -2.0], 1.5)

    def wavy(x):
        return np.cos(3 * x[:, 0]) + np.sin(4 * x[:, 1]) * 0.5

    dense = disc.project(np.random.default_rng(0).normal(size=(200_000, 2)) * 1.2 + [1.0, -2.0])
    truth = wavy(dense).min()
    x, value, lower = minimise_lipschitz(wavy, disc, np.hypot(3, 2), 1e-3)
    assert lower <= truth <= value + 1e-3
    assert disc.contains(x) and wavy(x[None, :])[0] == pytest.approx(value)
    x, value, lower = minimise_lipschitz(wavy, disc, np.hypot(3, 2), 1e-6, budget=200)
    assert lower <= truth, "a budget that ends early still gives a true lower bound"


def test_branch_and_bound_ends_when_all_remaining_boxes_miss_the_set():
    corners = np.random.default_rng(1).standard_normal((9, 3)) * 0.6 + 3
    polytope = sets.Polytope(vertices=corners)
    for vertex in polytope.vertices:
        for tolerance in (1e-3, 1e-2):
            x, value, lower = minimise_lipschitz(
                lambda p, v=vertex: np.linalg.norm(p - v, axis=1),
                polytope, 1.0, tolerance * polytope.diameter, budget=3000,
            )  # fmt: skip
            assert lower <= 0 <= value
            assert polytope.contains(x)


def test_records_refuse_what_does_not_fit():
    action_set = sets.Interval(0, 1)
    rows = np.array([[1.0, 0.0, 0.0]])
    good = dict(
        points=np.array([[0.5]]), indices=np.zeros((1, 1), int), shares=np.ones((1, 1)),
        action_set=action_set,
    )  # fmt: skip
    with pytest.raises(ValueError, match="losses must be given"):
        Record(**good)
    with pytest.raises(ValueError, match="action_set must be given"):
        Record(**{**good, "action_set": None}, losses=rows)
    with pytest.raises(ValueError, match=r"losses must be as long as weights \(1\), got 2"):
        Record(**good, losses=np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"indices must have shape \(1, 2\) as weights"):
        Record(**{**good, "shares": np.ones((1, 2))}, losses=rows)
    custom = Record(**good, losses=(losses.Custom(lambda x: x[:, 0]),))
    with pytest.raises(ValueError, match="lipschitz must be given"):
        metrics.full_swap_regret(custom)
    with pytest.raises(ValueError, match="actions must be given"):
        metrics.discretised_swap_regret(Record(**good, losses=rows))
    forecasts = Record.of_forecasts([0.5], [[0]], [[1.0]], [0])
    for metric in (metrics.full_swap_regret, metrics.external_regret, metrics.Tally.from_record):
        with pytest.raises(ValueError, match="record must hold the losses of a learner"):
            metric(forecasts)


def test_rows_and_objects_are_the_same_losses():
    for name, action_set in SETS.items():
        objects = random_record(action_set, 7)
        rows = replace(objects, losses=as_rows(objects))
        assert rows.coefficients is rows.losses and objects.coefficients is None
        for metric in (metrics.full_swap_regret, metrics.external_regret):
            assert metric(rows) == pytest.approx(metric(objects), rel=1e-12), name


def test_the_head_of_a_record_is_a_record():
    record = Record.of_forecasts(
        [0.25, 0.75],
        np.array([[0, 1]] * 3),
        np.array([[0.5, 0.5], [1.0, 0.0], [0.2, 0.8]]),
        [1, 0, 1],
    )
    assert record.mean.tolist() == pytest.approx([0.5, 0.25, 0.65])
    head = record.head(2)
    assert len(head) == 2 and head.issued.tolist() == [0.75, 0.25]
    assert head.mean.tolist() == record.mean[:2].tolist()


def test_streaming_tally_equals_the_tally_of_the_record():
    record = random_record(SETS["ball"], 3)
    streamed = metrics.Tally(3)
    for t in range(len(record)):
        keep = record.weights[t] > 0
        indices = streamed.indices_of(record.points[record.indices[t][keep]])
        streamed.add(indices, record.weights[t][keep], record.losses[t])
    whole = metrics.Tally.from_record(record)
    order = streamed.indices_of(whole.points)
    np.testing.assert_allclose(streamed.sums[order], whole.sums, atol=1e-10)
    np.testing.assert_allclose(streamed.weights[order], whole.weights, atol=1e-12)


def test_certificates_speak_plainly():
    kept = Certificate("full swap regret", 10, 1.0, 2.0, 1.5, "FKO25, Table 1 row 5")
    assert kept.holds and "guaranteed at most 2" in str(kept)
    assert json.loads(json.dumps(kept.to_dict()))["holds"] is True
    exceeded = Certificate("full swap regret", 10, 3.0, 2.0, 1.5, "x")
    assert not exceeded.holds
    broken = Certificate("full swap regret", 10, 1.0, None, None, "x", ("slope 3 exceeds",))
    assert not broken.holds and "nothing is guaranteed: slope 3" in str(broken)


def test_concave_losses_on_a_set_given_by_functions_are_certified_by_search():
    disc = sets.Ball([0.0, 0.0], 1.0)
    custom = sets.Custom(2, disc.project, disc.minimize_linear, 2.0)
    middle = Mixture(np.zeros((1, 2)), np.ones(1))
    hill = [(middle, losses.Quadratic([0.1, 0.0], -1.0))] * 3
    exact = metrics.full_swap_regret(Record.of_rounds(disc, hill))
    found = metrics.swap_regret_report(Record.of_rounds(custom, hill, lipschitz=2.2))
    assert found.value <= exact + 1e-9 <= found.upper + 2e-9
    assert found.value == pytest.approx(exact, rel=0.02)


def test_a_curve_needs_rounds():
    empty = Record.of_rows(
        np.zeros((1, 1)), [], [], action_set=sets.Interval(0, 1), losses=np.zeros((0, 3))
    )
    with pytest.raises(ValueError, match="record must have at least one round"):
        metrics.regret_curve(empty)


def test_certificates_of_tiny_numbers_can_fail():
    assert not Certificate("full swap regret", 1, 2e-12, 1e-12, 1e-12, "x").holds

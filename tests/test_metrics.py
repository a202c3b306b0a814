"""Regret from a transcript: exact values by hand, agreement with slow code, certified minima."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from fullswap import losses, metrics, sets
from fullswap.base.protocols import Mixture
from fullswap.certificates import Certificate
from fullswap.metrics.minimise import minimise_lipschitz
from fullswap.transcripts import Transcript

SETS = {
    "interval": sets.Interval(-1.0, 2.5),
    "box": sets.Box([0.0, 1.0], [1.0, 3.0]),
    "simplex": sets.Simplex(2),
    "ball": sets.Ball([3.0, 1.0, -1.0], 0.7),
    "polytope": sets.Polytope(vertices=[[0, 0], [4, 1], [3, 3], [1, 2.5]]),
}


def random_transcript(action_set, seed, rounds=40, kind="quadratic", support=6):
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
    return Transcript.from_rounds(action_set, pairs, lipschitz=1.0)


@pytest.mark.parametrize("kind", ["quadratic", "linear", "concave"])
@pytest.mark.parametrize("name", SETS)
def test_exact_regrets_agree_with_search(name, kind):
    for seed in range(3):
        transcript = random_transcript(SETS[name], seed, kind=kind)
        exact, slow = metrics.full_swap_regret(transcript), naive.full_swap_regret(transcript)
        # the search can only find less, and on these losses it finds nearly all
        assert slow <= exact * (1 + 1e-9) + 1e-9
        assert exact <= slow * 1.03 + 1e-6
        external, slow = metrics.external_regret(transcript), naive.external_regret(transcript)
        assert external == pytest.approx(slow, rel=0.03, abs=0.02)
        assert external <= exact + 1e-9, "the best fixed action is one swap function"


@pytest.mark.parametrize("name", SETS)
def test_custom_losses_are_certified_from_both_sides(name):
    action_set = SETS[name]
    transcript = random_transcript(action_set, 1, kind="custom", rounds=12)
    report = metrics.swap_regret_report(transcript, tolerance=1e-2)
    slow = naive.full_swap_regret(transcript, count=400)
    slack = 1e-2 * action_set.diameter * len(transcript)
    assert report.value <= report.upper <= report.value + slack + 1e-9
    assert slow <= report.upper + 1e-9
    assert report.value == pytest.approx(report.per_point.sum())
    # the witness attains the value: moving s to deviations[s] gains exactly per_point[s]
    tally = metrics.Tally.from_transcript(transcript)
    for row, deviation in enumerate(report.deviations):
        here, there = tally.at(row, np.array([report.points[row], deviation]))
        assert max(0.0, here - there) == pytest.approx(report.per_point[row], abs=1e-9)


def test_custom_equals_quadratic_when_they_are_the_same_function():
    action_set = SETS["box"]
    transcript = random_transcript(action_set, 5, rounds=15)
    wrapped = [losses.Custom(losses.QuadraticFamily(row).value) for row in transcript.coefficients]
    slope = max(
        np.linalg.norm(losses.QuadraticFamily(row).gradient(action_set.vertices), axis=1).max()
        for row in transcript.coefficients
    )
    custom = Transcript(
        action_set, transcript.points, transcript.indices, transcript.weights,
        losses=tuple(wrapped), lipschitz=float(slope),
    )  # fmt: skip
    exact = metrics.full_swap_regret(transcript)
    report = metrics.swap_regret_report(custom)
    assert report.value <= exact + 1e-9 <= report.upper + 2e-9
    actions = action_set.vertices
    assert metrics.discretised_swap_regret(custom, actions) == pytest.approx(
        metrics.discretised_swap_regret(transcript, actions)
    )


def test_mixed_losses_add_up():
    action_set = sets.Interval(0, 1)
    half = Mixture(np.array([[0.5]]), np.array([1.0]))
    absolute = losses.Custom(lambda x: np.abs(x[:, 0] - 1.0))
    pairs = [(half, losses.Linear([1.0])), (half, absolute), (half, absolute)]
    transcript = Transcript.from_rounds(action_set, pairs, lipschitz=1.0)
    # total loss at x is x + 2(1 − x): best at x = 1 with 1, incurred 1.5
    report = metrics.swap_regret_report(transcript)
    assert report.value == pytest.approx(0.5, abs=4e-3)
    assert report.value <= 0.5 + 1e-9 <= report.upper + 2e-9


def test_discretised_regret_by_hand_and_against_slow_code():
    action_set = sets.Interval(0, 1)
    point = Mixture(np.array([[0.5]]), np.array([1.0]))
    outcomes = [1.0, 1.0, 0.0, 1.0]
    pairs = [(point, losses.Quadratic([b])) for b in outcomes]
    transcript = Transcript.from_rounds(action_set, pairs)
    # n[(p − b̄)² − ([b̄] − b̄)²] with b̄ = 0.75
    assert metrics.discretised_swap_regret(transcript, [[0.0], [0.5], [1.0]]) == pytest.approx(0.0)
    assert metrics.discretised_swap_regret(transcript, [[0.0], [0.8]]) == pytest.approx(
        4 * (0.25**2 - 0.05**2)
    )
    assert metrics.full_swap_regret(transcript) == pytest.approx(4 * 0.25**2)
    for seed in range(4):
        some = random_transcript(SETS["polytope"], seed)
        actions = SETS["polytope"].vertices
        assert metrics.discretised_swap_regret(some, actions) == pytest.approx(
            naive.discretised_swap_regret(some, actions), rel=1e-9, abs=1e-9
        )


@given(st.integers(0, 10**6), st.permutations(range(40)))
def test_swap_regret_does_not_depend_on_the_order_of_rounds(seed, order):
    transcript = random_transcript(SETS["simplex"], seed % 17)
    order = np.array(order)
    shuffled = Transcript(
        transcript.action_set, transcript.points, transcript.indices[order],
        transcript.weights[order], coefficients=transcript.coefficients[order],
    )  # fmt: skip
    assert metrics.full_swap_regret(shuffled) == pytest.approx(
        metrics.full_swap_regret(transcript), rel=1e-9, abs=1e-9
    )


def test_regret_curve_ends_at_the_regret():
    transcript = random_transcript(SETS["box"], 2)
    rounds, values = metrics.regret_curve(transcript)
    assert rounds[-1] == len(transcript) and (np.diff(rounds) > 0).all()
    assert values[-1] == pytest.approx(metrics.full_swap_regret(transcript))
    _, external = metrics.regret_curve(transcript, metrics.external_regret, [10, 40])
    assert external[1] == pytest.approx(metrics.external_regret(transcript))
    for bad in ([0], [41], [[1]]):
        with pytest.raises(ValueError, match="rounds"):
            metrics.regret_curve(transcript, rounds=bad)


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


def test_transcripts_refuse_what_does_not_fit():
    action_set = sets.Interval(0, 1)
    rows = np.array([[1.0, 0.0, 0.0]])
    good = dict(points=np.array([[0.5]]), indices=np.zeros((1, 1), int), weights=np.ones((1, 1)))
    with pytest.raises(ValueError, match="coefficients or losses"):
        Transcript(action_set, **good)
    with pytest.raises(ValueError, match="mixtures but"):
        Transcript(action_set, **good, coefficients=np.zeros((2, 3)))
    with pytest.raises(ValueError, match="share one shape"):
        Transcript(action_set, **{**good, "weights": np.ones((1, 2))}, coefficients=rows)
    custom = Transcript(action_set, **good, losses=(losses.Custom(lambda x: x[:, 0]),))
    with pytest.raises(ValueError, match="lipschitz"):
        metrics.full_swap_regret(custom)
    with pytest.raises(ValueError, match="actions"):
        metrics.discretised_swap_regret(Transcript(action_set, **good, coefficients=rows))


def test_streaming_tally_equals_the_tally_of_the_transcript():
    transcript = random_transcript(SETS["ball"], 3)
    streamed = metrics.Tally(3)
    for t in range(len(transcript)):
        keep = transcript.weights[t] > 0
        labels = streamed.labels_of(transcript.points[transcript.indices[t][keep]])
        row = losses.QuadraticFamily(transcript.coefficients[t])
        streamed.add(labels, transcript.weights[t][keep], row)
    whole = metrics.Tally.from_transcript(transcript)
    order = streamed.labels_of(whole.points)
    np.testing.assert_allclose(streamed.sums[order], whole.sums, atol=1e-10)
    np.testing.assert_allclose(streamed.weights[order], whole.weights, atol=1e-12)


def test_certificates_speak_plainly():
    kept = Certificate("full swap regret", 10, 1.0, 2.0, 1.5, "FKO25, Table 1 row 5")
    assert kept.holds and "guaranteed at most 2" in str(kept)
    assert json.loads(json.dumps(kept.to_dict()))["holds"] is True
    exceeded = Certificate("full swap regret", 10, 3.0, 2.0, 1.5, "x")
    assert not exceeded.holds
    broken = Certificate("full swap regret", 10, 1.0, None, None, "x", ("slope 3 exceeds",))
    assert not broken.holds and "no guarantee: slope 3" in str(broken)


def test_concave_losses_on_a_set_given_by_functions_are_certified_by_search():
    disc = sets.Ball([0.0, 0.0], 1.0)
    custom = sets.Custom(2, disc.project, disc.minimize_linear, 2.0)
    middle = Mixture(np.zeros((1, 2)), np.ones(1))
    hill = [(middle, losses.Quadratic([0.1, 0.0], -1.0))] * 3
    exact = metrics.full_swap_regret(Transcript.from_rounds(disc, hill))
    found = metrics.swap_regret_report(Transcript.from_rounds(custom, hill, lipschitz=2.2))
    assert found.value <= exact + 1e-9 <= found.upper + 2e-9
    assert found.value == pytest.approx(exact, rel=0.02)


def test_a_curve_needs_rounds():
    empty = Transcript.from_rows(sets.Interval(0, 1), np.zeros((1, 1)), [], [], [])
    with pytest.raises(ValueError, match="transcript"):
        metrics.regret_curve(empty)


def test_certificates_of_tiny_numbers_can_fail():
    assert not Certificate("full swap regret", 1, 2e-12, 1e-12, 1e-12, "x").holds

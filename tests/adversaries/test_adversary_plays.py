"""Repeatability, and what each adversary does."""

import math

import numpy as np
import pytest

from adversary_cases import LINE, SETS, SQUARED, at, bits, losses_met, members
from fullswap.adversaries import (
    ADVERSARIES,
    Adversary,
    Boundary,
    Drift,
    EarlyStop,
    Midpoint,
    OneBin,
    Scripted,
    SignPreservation,
    Switching,
    all_adversaries,
)
from fullswap.losses import LossClass

# --- repeatability ----------------------------------------------------------------------------


def trace(adversary, rounds=140):
    probes = members(adversary.action_set, 5, np.random.default_rng(0))
    return np.array([loss.value(probes) for loss in losses_met(adversary, rounds)])


LEAVES_NOTHING_TO_LUCK = ("one_bin", "boundary")


@pytest.mark.parametrize("name", ADVERSARIES)
def test_equal_seeds_repeat_and_other_seeds_differ(name):
    action_set = SETS["ball"]
    for promised in (LossClass(1.0), LossClass.squared(action_set.diameter)):
        one, same, other = (ADVERSARIES[name](action_set, promised, seed) for seed in (3, 3, 4))
        assert np.array_equal(trace(one), trace(same))
        if name == "greedy":  # chance makes its pool
            center = action_set.center[None]
            mine, others = ({float(loss.value(center)[0]) for loss in a.pool} for a in (one, other))
            assert mine != others
        else:
            again = ADVERSARIES[name](action_set, promised, 3)
            assert np.array_equal(trace(again), trace(other)) == (name in LEAVES_NOTHING_TO_LUCK)


def test_catalogue():
    action_set, promised = SETS["box"], LossClass(1.0)
    assert len(ADVERSARIES) == 9
    for name, made in ADVERSARIES.items():
        assert issubclass(made, Adversary) and made.name == name
    for seed in range(3):
        made = list(all_adversaries(action_set, promised, seed, kind="linear", rounds=77))
        assert [a.name for a in made] == list(ADVERSARIES)
        assert {a.losses.kind for a in made} == {"linear"}
        assert {a.settings["period"] for a in made if "period" in a.settings} == {77}
    paths = {next(a for a in all_adversaries(action_set, promised, s) if a.name == "drift").path
             for s in range(3)}  # fmt: skip
    assert paths == {"sine", "walk", "sweep"}


# --- what each of them does -------------------------------------------------------------------


def test_outcomes_are_the_two_ends():
    adversary = Midpoint(LINE, SQUARED)
    losses = {adversary.choose(at(0.5), t) for t in range(50)}
    centers = sorted(-loss.coefficients[1] / (2 * loss.coefficients[0]) for loss in losses)
    assert centers == pytest.approx([2.0, 4.0])


@pytest.mark.parametrize(("mesh", "level", "expected"), [(0.1, 0.5, 0.55), (0.25, 0.1, 0.125)])
def test_midpoint_has_its_mean_in_the_middle_of_a_cell(mesh, level, expected):
    outcomes = bits(Midpoint(LINE, SQUARED, mesh=mesh, level=level), 20_000)
    assert outcomes.mean() == pytest.approx(expected, abs=4 * math.sqrt(0.25 / 20_000))


def test_one_bin_and_boundary_look_at_the_forecast():
    assert bits(OneBin(LINE, SQUARED), 3, position=0.49).tolist() == [1, 1, 1]
    assert bits(OneBin(LINE, SQUARED), 3, position=0.5).tolist() == [0, 0, 0]
    assert bits(Boundary(LINE, SQUARED), 3, position=0.01).all()
    assert not bits(Boundary(LINE, SQUARED), 3, position=0.03).any()
    assert not bits(Boundary(LINE, SQUARED, style="end"), 50, position=0.0).any()
    rare = bits(Boundary(LINE, SQUARED, style="rare", rate=0.05), 10_000)
    assert rare.mean() == pytest.approx(0.05, abs=0.01)


def test_switching_and_scripted_follow_their_blocks():
    outcomes = bits(Switching(LINE, SQUARED, length=2000), 4000)
    assert outcomes[:2000].mean() == pytest.approx(0.2, abs=0.04)
    assert outcomes[2000:].mean() == pytest.approx(0.8, abs=0.04)
    scripted = bits(Scripted(LINE, SQUARED, chances=(0.0, 1.0, 1.0), length=5), 35)
    assert scripted.tolist() == [0] * 5 + [1] * 10 + [0] * 5 + [1] * 10 + [0] * 5


def test_drift_follows_its_path():
    outcomes = bits(Drift(LINE, SQUARED, period=8000), 8000)
    assert outcomes[:4000].mean() == pytest.approx(0.5 + 0.9 / math.pi, abs=0.03)
    assert outcomes[4000:].mean() == pytest.approx(0.5 - 0.9 / math.pi, abs=0.03)
    swept = bits(Drift(LINE, SQUARED, path="sweep", period=8000, mesh=0.5), 8000)
    assert swept[:4000].mean() == pytest.approx(0.25, abs=0.03)
    assert swept[4000:].mean() == pytest.approx(0.75, abs=0.03)
    walk = Drift(LINE, SQUARED, path="walk", step=0.5)
    chances = [walk.chance(0.5, t) for t in range(2000)]
    assert 0 <= min(chances) < 0.05 and 0.95 < max(chances) <= 1


def test_early_stop_keeps_the_bias_it_found():
    for seed in range(5):
        adversary = EarlyStop(LINE, SQUARED, seed, factor=0.5)
        outcomes = bits(adversary, 400)
        assert adversary._stopped
        assert np.ptp(outcomes[-200:]) == 0
        assert (adversary._bias > 0) == (outcomes[-1] == 1)


def test_sign_preservation_leaves_its_bias_behind():
    for position, sign in ((0.05, 1), (0.95, -1)):
        adversary = SignPreservation(LINE, SQUARED, length=200, depth=3)
        widths, middles = [], []
        for t in range(800):
            adversary.choose(at(position), t)
            if t % 200 == 0:
                widths.append(adversary._slice[1] - adversary._slice[0])
                middles.append(sum(adversary._slice) / 2)
        assert widths == pytest.approx([1, 2 / 3, 4 / 9, 1])
        assert np.sign(np.diff(middles[:3])).tolist() == [sign, sign]

"""What sub-learners and solver cost, measured: each entry of the ledger that is not a row.

A run whose guarantee is δ·T plus the entry's bound is played against every adversary, and its
regret is recomputed by slow code.
"""

from __future__ import annotations

import numpy as np
import pytest

import naive
from fullswap import sets
from fullswap.adversaries import all_adversaries
from fullswap.losses import LossClass
from fullswap.play import simulate
from fullswap.template import FullSwapLearner
from fullswap.theorems import LEDGER
from fullswap.theorems.learning import NearlySubLearners, TunedSubLearners
from fullswap.theorems.premises import SubLearners
from fullswap.theorems.rows import nearest_cost

SETS = {
    "interval": sets.Interval(-1.0, 0.7),
    "box": sets.Box([0.5, 1.0], [1.2, 3.0]),
    "simplex": sets.Simplex(2, scale=1.5, shift=0.2),
    "ball": sets.Ball([3.0, 1.0], 0.7),
}
STEEP, CONVEX = LossClass(lipschitz=1.3), LossClass(lipschitz=1.3, convex=True)
ROUNDS = (1, 30, 250, 600)


def measured_runs(action_set, promised, horizon, seed=0, **options):
    """Learner and transcript of 600 rounds against each adversary."""
    for adversary in all_adversaries(action_set, promised, seed, rounds=ROUNDS[-1]):
        learner = FullSwapLearner(action_set, promised, horizon, **options)
        yield learner, simulate(learner, adversary, ROUNDS[-1], progress=False)


def check_bounds(learner, transcript, learning, solver=True):
    """Regret within min(B·t, δ·t + the learning cost + the solver's), which is what is printed."""
    c, geometry = learner.plan.constants, learner.grid.geometry
    for rounds in ROUNDS:
        whole = nearest_cost(c, geometry) * rounds + learning(c, geometry.size, rounds)
        if solver:
            whole += LEDGER["dense chains"].bound(SubLearners(c, geometry.size, rounds))
        bound = min(c.loss_range * rounds, whole)
        assert learner.plan.bound(rounds) == pytest.approx(bound, rel=1e-12)
        assert naive.full_swap_regret(transcript.head(rounds), count=40) <= bound * (1 + 1e-9)
    assert learner.certificate().after_the_fact <= learner.plan.bound(ROUNDS[-1])


def of_bank(name):
    return lambda c, n, rounds: LEDGER[name].bound(SubLearners(c, n, rounds))


@pytest.mark.theorem("anytime hedge")
@pytest.mark.parametrize("name", SETS)
def test_weights_without_a_horizon(name):
    mesh = SETS[name].diameter / 4
    for run in measured_runs(SETS[name], STEEP, None, row="lipschitz", learner="hedge", mesh=mesh):
        check_bounds(*run, of_bank("anytime hedge"))


@pytest.mark.theorem("hedge at other rounds")
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("horizon", [60, 5000])
def test_weights_at_other_rounds_than_their_horizon(name, horizon):
    def learning(c, n, rounds):
        premises = TunedSubLearners(c, n, rounds, horizon)
        return LEDGER["hedge at other rounds"].bound(premises)

    mesh = SETS[name].diameter / 4
    options = dict(row="lipschitz", learner="hedge", mesh=mesh)
    for run in list(measured_runs(SETS[name], STEEP, horizon, 1, **options))[::2]:
        check_bounds(*run, learning)


@pytest.mark.theorem("regret matching+")
@pytest.mark.parametrize("name", SETS)
def test_regret_matching(name):
    options = dict(row="lipschitz", learner="matching", mesh=SETS[name].diameter / 4)
    for run in measured_runs(SETS[name], STEEP, 600, 2, **options):
        check_bounds(*run, of_bank("regret matching+"))


@pytest.mark.theorem("gradient descent")
@pytest.mark.parametrize("rule", [None, "stationary"])
@pytest.mark.parametrize("name", SETS)
def test_gradient_descent_on_convex_losses(name, rule):
    options = dict(row="lipschitz", learner="gradient", rule=rule, mesh=SETS[name].diameter / 4)
    for run in measured_runs(SETS[name], CONVEX, 600, 3, **options):
        check_bounds(*run, of_bank("gradient descent"), solver=False)


@pytest.mark.theorem("nearly strongly convex")
@pytest.mark.parametrize("horizon", [None, 600])
def test_gradient_descent_on_linearised_losses(horizon):
    line = SETS["interval"]
    promised = LossClass.squared(line.diameter, scale=0.7)
    actions = -1.0 + 1.7 * np.array([0.0, 0.1, 0.25, 0.5, 0.6, 0.85, 1.0])
    ratios = set()
    for learner, transcript in measured_runs(
        line, promised, horizon, row="discretised", actions=actions
    ):
        c, ratio = learner.plan.constants, learner.plan.ratio
        ratios.add(ratio)
        for rounds in ROUNDS:
            premises = NearlySubLearners(c, len(actions), rounds, ratio)
            bound = min(c.loss_range * rounds, LEDGER["nearly strongly convex"].bound(premises))
            assert learner.plan.bound(rounds) == pytest.approx(bound, rel=1e-12)
            part = transcript.head(rounds)
            assert naive.discretised_swap_regret(part, actions) <= bound * (1 + 1e-9)
    (ratio,) = ratios
    assert ratio == (2.0 if horizon is None else LEDGER["nearly strongly convex"].tune(c, 7, 600))


@pytest.mark.theorem("dense chains")
@pytest.mark.parametrize("learner_name", ["hedge", "matching"])
@pytest.mark.parametrize("name", SETS)
def test_what_an_approximate_solution_may_cost(name, learner_name):
    options = dict(row="lipschitz", learner=learner_name, mesh=SETS[name].diameter / 4)
    owed = []
    for learner, _ in measured_runs(SETS[name], STEEP, 600, 4, **options):
        c, n = learner.plan.constants, len(learner.grid)
        # Σ_s x[s]·(ℓ(s) − ⟨Q_s, ℓ⟩) is at most half the range of the loss times ‖xQ − x‖₁
        owed.append(c.loss_range / 2 * learner._rule.residual)
        assert owed[-1] <= LEDGER["dense chains"].bound(SubLearners(c, n, ROUNDS[-1]))
    assert max(owed) > 0


def test_each_entry_grows_with_the_rounds_and_is_cited_where_it_is_printed():
    box = SETS["box"]
    for learner_name, key in (("matching", "TBJB15"), ("gradient", "Z03")):
        learner = FullSwapLearner(box, CONVEX, 600, row="lipschitz", learner=learner_name)
        assert key in learner.plan.theorem.citation.split("; ")
        bounds = [learner.plan.bound(rounds) for rounds in ROUNDS]
        assert bounds == sorted(bounds)

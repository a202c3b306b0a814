"""Measured, after the fact and guaranteed, on adversarial runs."""

import json
import math

import numpy as np
import pytest

from fullswap.metrics import discretised_swap_regret, full_swap_regret
from fullswap.template import FullSwapLearner
from fullswap.template.rules import Crossing, Dense
from fullswap.theorems.learning import RESIDUAL_SHARE
from template_cases import CASES, LINE, STEEP, cases, rounds_against


@cases
@pytest.mark.parametrize("horizon", [150, None])
def test_measured_is_below_after_the_fact_is_below_guaranteed(case, horizon):
    action_set, loss_class, options, adversary = case
    learner = FullSwapLearner(action_set, loss_class, horizon, **options)
    rounds_against(learner, adversary, 150)
    certificate = learner.certificate()
    assert certificate.rounds == 150 and certificate.broken == () and certificate.holds
    slack = 1e-9 * (1 + certificate.guaranteed)
    assert 0 <= certificate.measured <= certificate.after_the_fact + slack
    assert certificate.after_the_fact <= certificate.guaranteed == learner.plan.bound(150)
    assert certificate.measured > 0, "an adversary that does no harm tests nothing"
    # the same two inequalities with the regrets of this very run, before the smaller is taken
    exactly = learner._after_the_fact()
    assert certificate.measured <= exactly + slack
    if not learner.plan.theorem.restarts or learner.plan.schedule is None:
        assert exactly <= learner.plan.rounding_cost(150) + learning_bound(learner, 150) + slack
    assert json.loads(json.dumps(certificate.to_dict()))["measured"] == certificate.measured
    assert learner.plan.theorem.citation in str(certificate)


def learning_bound(learner, rounds):
    """Σ Reg_s ≤ what the theorem says of the final grid, and the allowance for residuals."""
    plan = learner.plan
    geometry = learner.grid.geometry
    if plan.schedule is not None:
        geometry = plan.schedule.geometry(rounds - 1)
    cost = plan.theorem.learning_cost(plan.constants, geometry.size, rounds)
    return cost + plan.constants.loss_range / 2 * learner._rule.residual


@cases
def test_rounds_beyond_the_horizon_stay_covered(case):
    action_set, loss_class, options, adversary = case
    learner = FullSwapLearner(action_set, loss_class, 20, **options)
    first = learner.guarantee
    assert first == learner.plan.bound(20)
    rounds_against(learner, adversary, 120)
    certificate = learner.certificate()
    assert certificate.holds and certificate.guaranteed == learner.guarantee
    assert learner.guarantee == learner.plan.bound(120) >= first


def test_hedge_beyond_its_horizon_is_charged_for_its_rate():
    # n·ln n/η + η·B²·t/8 at t rounds, with the η of the horizon T = 50
    learner = FullSwapLearner(LINE, STEEP, 50, learner="hedge", mesh=1.0)
    n, loss_range, horizon = 3, 3.0, 50
    assert len(learner.grid) == n
    rate = math.sqrt(8 * n * math.log(n) / horizon) / loss_range
    assert learner._rule.learner.rates(learner._rule.bank) == pytest.approx(np.full(n, rate))
    for rounds in (40, 50, 200, 1000):
        learning = n * math.log(n) / rate + rate * loss_range**2 * rounds / 8
        residual = RESIDUAL_SHARE * loss_range * math.sqrt(rounds * n * math.log(n))
        bound = min(loss_range * rounds, 0.5 * rounds + learning + residual)
        assert learner.plan.bound(rounds) == pytest.approx(bound)


@cases
def test_certificates_measure_what_a_transcript_shows(case):
    from fullswap.base.records import Record

    action_set, loss_class, options, adversary = case
    learner = FullSwapLearner(action_set, loss_class, 60, **options)
    played = rounds_against(learner, adversary, 60)
    transcript = Record.of_rounds(action_set, played, **learner.context)
    metric = full_swap_regret if learner._actions is None else discretised_swap_regret
    assert learner.certificate().measured_at_most == pytest.approx(metric(transcript), abs=1e-9)


REFINED = {
    name: CASES[name]
    for name in ("1 hedge", "1 matching", "1 gradient", "1 gradient, stationary", "1 box")
    + ("2 hedge", "2 gradient", "3 ball", "4 line", "4 stationary", "4 box", "5 line", "5 ball")
}


@pytest.mark.parametrize("case", REFINED.values(), ids=REFINED.keys())
def test_unknown_horizons_refine_and_keep_what_was_learnt(case):
    action_set, loss_class, options, adversary = case
    learner = FullSwapLearner(action_set, loss_class, None, **options)
    schedule = learner.plan.schedule
    schedule.level(0)
    starts = []
    while len(starts) < 2:
        starts.append(schedule.level_ends(starts[-1] if starts else 0))
    rounds = starts[1] + 3
    assert rounds <= 2500, "choose constants that refine sooner"
    rng, guarantees, changes = np.random.default_rng(3), [], 0
    for t in range(rounds):
        mixture = learner.play()
        loss = adversary(action_set, mixture, t, rng)
        grid, known, old = learner.grid, learner.points.copy(), learner._rule
        learner.observe(loss)
        guarantees.append(learner.guarantee)
        assert np.array_equal(learner.points[: len(known)], known), "labels must not move"
        if learner.grid is grid:
            continue
        changes += 1
        assert t + 1 in starts
        if isinstance(old, Dense):
            assert learner._rule.residual == old.residual
            continue
        place = {tuple(p): i for i, p in enumerate(learner.grid.points.tolist())}
        where = [place[tuple(p)] for p in grid.points.tolist()]
        for before, after in zip(bank_arrays(old), bank_arrays(learner._rule), strict=True):
            assert np.array_equal(after[where], before)
            fresh = np.delete(np.arange(len(after)), where)
            expected = learner.grid.points[fresh] if after.ndim == 2 else 0.0
            assert np.array_equal(after[fresh], np.broadcast_to(expected, after[fresh].shape))
    assert changes == 2
    assert all(a <= b * (1 + 1e-12) for a, b in zip(guarantees, guarantees[1:], strict=False))
    certificate = learner.certificate()
    assert certificate.holds and certificate.measured <= certificate.after_the_fact + 1e-9


def bank_arrays(rule):
    """Targets (n, A) and sums of weights (n,) of a rule over gradient learners."""
    if isinstance(rule, Crossing):
        return rule.state[1][:, None], rule.state[2]
    return rule.bank.targets, rule.bank.weight_sums

"""What the learner chooses, and what it is told to."""

import numpy as np
import pytest

from fullswap.losses import LossClass, QuadraticFamily, quadratic_rows
from fullswap.sets import Interval, Simplex
from fullswap.template import FullSwapLearner
from fullswap.template.rules import Stationary
from fullswap.theorems import THEOREMS
from template_cases import ACTIONS, CASES, LINE, cases, far_bowl, rounds_against, squared

# The learner: what is chosen ---------------------------------------------------------------------


def test_the_plan_explains_itself():
    learner = FullSwapLearner(Interval(0, 1), LossClass.squared(1.0), horizon=1000)
    assert learner.row == "strongly convex and smooth" and learner.mesh == pytest.approx(0.2)
    assert learner.guarantee == pytest.approx(46.7, abs=0.01)
    assert learner.points.shape == (6, 1) and len(learner.grid) == 6
    text = learner.explain()
    for part in ("row: strongly convex and smooth", "FKO25, Table 1 row 5", "crossing", "46.69"):
        assert part in text
    bounds = {(row, name): bound for row, name, bound in learner.plan.considered}
    assert min(bounds.values()) == bounds[learner.row, "gradient"]
    assert bounds[learner.row, "gradient"] == pytest.approx(learner.guarantee, rel=1e-12)
    assert "Bounds of other choices: lipschitz with hedge" in text
    assert "any horizon" in FullSwapLearner(Interval(0, 1), LossClass.squared(1.0)).explain()


@pytest.mark.parametrize(
    "options",
    [
        {"row": "lipschitz"},
        {"row": "smooth", "learner": "gradient"},
        {"row": "strongly convex", "mesh": 0.25},
        {"mesh": 0.5, "rule": "stationary"},
        {"learner": "hedge", "mesh": 0.1},
        {"learner": "matching"},
    ],
    ids=str,
)
@pytest.mark.parametrize("horizon", [80, None])
def test_every_choice_can_be_overridden(options, horizon):
    learner = FullSwapLearner(LINE, squared(LINE), horizon, **options)
    if "row" in options:
        assert learner.row == options["row"]
    if "mesh" in options:
        assert learner.mesh == pytest.approx(options["mesh"])
    if "learner" in options:
        assert learner.plan.learner == options["learner"]
    if "rule" in options:
        assert learner.plan.rule == options["rule"] and isinstance(learner._rule, Stationary)
    rounds_against(learner, far_bowl, 80)
    assert learner.certificate().holds
    cited = {"gradient": "FKO25, Thm 12; Z03", "matching": "FKO25, Thm 12; TBJB15"}
    own = learner.plan.learner == "hedge" or THEOREMS[learner.row].needs_convexity
    expected = THEOREMS[learner.row].citation if own else cited[learner.plan.learner]
    assert learner.certificate().theorem == expected


def test_actions_are_the_only_points_played():
    for horizon in (50, None):
        learner = FullSwapLearner(LINE, squared(LINE), horizon, actions=ACTIONS)
        rounds_against(learner, far_bowl, 50)
        assert set(learner.points.ravel()) <= set(ACTIONS)
        assert learner.certificate().quantity == "discretised swap regret"
    many = CASES["6 by row 5"][2]["actions"]
    learner = FullSwapLearner(LINE, squared(LINE), 60, actions=many)
    assert set(learner.points.ravel()) < set(many), "few rounds call for few of the actions"
    pair = [[0.1, 0.9], [0.9, 0.1]]
    ends = FullSwapLearner(Simplex(1), squared(Simplex(1)), 50, actions=pair)
    rounds_against(ends, far_bowl, 50)
    assert sorted(ends.points.round(12).tolist()) == pair
    assert ends.certificate().holds


@cases
def test_play_stays_the_same_until_a_loss_comes(case):
    action_set, loss_class, options, adversary = case
    looked, blind = (FullSwapLearner(action_set, loss_class, 30, **options) for _ in range(2))
    rng = np.random.default_rng(1)
    for t in range(30):
        mixture, again = looked.play(), looked.play()
        assert np.array_equal(mixture.weights, again.weights)
        assert np.array_equal(mixture.points, again.points)
        loss = adversary(action_set, mixture, t, rng)
        looked.observe(loss)
        blind.observe(loss)
    assert np.array_equal(looked.play().weights, blind.play().weights)
    assert looked.certificate().measured == blind.certificate().measured


@cases
def test_run_is_the_loop(case):
    action_set, loss_class, options, adversary = case
    slow, fast = (FullSwapLearner(action_set, loss_class, 40, **options) for _ in range(2))
    played = rounds_against(slow, adversary, 40)
    transcript = fast.run([loss for _, loss in played], record=True)
    assert np.array_equal(transcript.points, slow.points)
    for t, (mixture, _) in enumerate(played):
        row = np.zeros(len(transcript.points))
        np.add.at(row, transcript.indices[t], transcript.weights[t])
        expected = np.zeros_like(row)
        expected[mixture.indices] = mixture.weights
        assert np.array_equal(row, expected)
    assert fast.certificate().measured == pytest.approx(slow.certificate().measured, abs=1e-9)


@cases
def test_a_fresh_learner_has_an_empty_certificate(case):
    action_set, loss_class, options, _ = case
    for horizon in (30, None):
        learner = FullSwapLearner(action_set, loss_class, horizon, **options)
        certificate = learner.certificate()
        assert certificate.rounds == 0 and certificate.holds
        assert certificate.measured == certificate.guaranteed == 0.0
        assert learner.guarantee == (0.0 if horizon is None else learner.plan.bound(30))


def test_without_tracking_there_is_play_but_no_certificate():
    learner = FullSwapLearner(LINE, squared(LINE), 30, track=False)
    tracked = FullSwapLearner(LINE, squared(LINE), 30)
    rows = quadratic_rows(np.linspace(-1, 2, 30))
    for one in (learner, tracked):
        one.run(rows[:20])
        for row in rows[20:]:
            one.observe(QuadraticFamily(row))
    assert np.array_equal(learner.play().weights, tracked.play().weights)
    with pytest.raises(ValueError, match="track"):
        learner.certificate()

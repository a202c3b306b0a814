"""Arguments and losses that are refused, and promises that are broken."""

import json
import math

import numpy as np
import pytest

from fullswap.losses import Custom, Linear, LossClass, Quadratic, quadratic_rows
from fullswap.sets import Simplex
from fullswap.template import FullSwapLearner
from template_cases import ACTIONS, BOX, CONVEX, LINE, STEEP, squared

# The learner: bad input --------------------------------------------------------------------------

WRONG = [
    ({"horizon": 0}, "horizon"),
    ({"horizon": -1}, "horizon"),
    ({"horizon": 2.5}, "horizon"),
    ({"horizon": True}, "horizon"),
    ({"horizon": math.nan}, "horizon"),
    ({"horizon": "ten"}, "horizon"),
    ({"mesh": 3.1}, "mesh"),
    ({"mesh": 0.0}, "mesh"),
    ({"mesh": -0.5}, "mesh"),
    ({"mesh": math.nan}, "mesh"),
    ({"mesh": math.inf}, "mesh"),
    ({"mesh": "fine"}, "mesh"),
    ({"mesh": True}, "mesh"),
    ({"mesh": 1e-9}, "mesh"),
    ({"mesh": 1e-3, "learner": "hedge"}, "mesh"),
    ({"mesh": 0.5, "actions": ACTIONS}, "mesh"),
    ({"row": "fastest"}, "row"),
    ({"row": "concave"}, "row"),
    ({"row": "discretised"}, "actions"),
    ({"learner": "adam"}, "learner"),
    ({"learner": "gradient", "loss_class": STEEP}, "learner"),
    ({"row": "strongly convex", "learner": "hedge"}, "learner"),
    ({"rule": "dense"}, "rule"),
    ({"rule": "crossing", "learner": "hedge"}, "rule"),
    ({"rule": "crossing", "action_set": BOX, "loss_class": squared(BOX)}, "rule"),
    ({"actions": [0.0, 1.0, 0.5]}, "actions"),
    ({"actions": [0.0, 1.0, 1.0]}, "actions"),
    ({"actions": [0.0, 2.5]}, "actions"),
    ({"actions": [0.5]}, "actions"),
    ({"actions": []}, "actions"),
    ({"actions": 0.5}, "actions"),
    ({"actions": [0.0, math.nan]}, "actions"),
    ({"actions": [0.0, math.inf]}, "actions"),
    ({"actions": ["low", "high"]}, "actions"),
    ({"actions": {}}, "actions"),
    ({"actions": [[0.0, 1.0], [1.0, 1.0]]}, "actions"),
    ({"actions": [0.0, 0.5], "action_set": BOX, "loss_class": squared(BOX)}, "actions"),
    ({"actions": [[0, 0], [1, 1]], "action_set": BOX, "loss_class": squared(BOX)}, "actions"),
    ({"actions": ACTIONS, "loss_class": CONVEX}, "actions"),
    ({"loss_class": LossClass(1.0, strong_convexity=0.7)}, "strong_convexity"),
    ({"loss_class": "squared"}, "loss_class"),
    ({"action_set": [0, 1]}, "action_set"),
]


@pytest.mark.parametrize("options, name", WRONG, ids=[str(w[0]) for w in WRONG])
def test_wrong_arguments_are_named(options, name):
    options = {"action_set": LINE, "loss_class": squared(LINE), "horizon": 100, **options}
    with pytest.raises(ValueError, match=name):
        FullSwapLearner(**options)


class Duck:
    """A loss of the user's own making."""

    def __init__(self, value, gradient):
        self.value, self.gradient = value, gradient


def value(x):
    return np.square(x).sum(axis=1)


def slope(x):
    return 2 * x


BAD_FUNCTIONS = {
    "gradient of wrong shape": (value, lambda x: slope(x)[:, :0]),
    "flat gradient": (value, lambda x: slope(x).ravel()[:-1]),
    "value of wrong shape": (lambda x: value(x)[:, None], slope),
    "single value": (lambda x: 1.0, slope),
    "NaN value": (lambda x: value(x) * math.nan, slope),
    "infinite value": (lambda x: value(x) + math.inf, slope),
    "NaN gradient": (value, lambda x: slope(x) * math.nan),
    "infinite gradient": (value, lambda x: slope(x) - math.inf),
    "words": (lambda x: ["much"] * len(x), slope),
}
BAD_SETTINGS = {
    "crossing": (LINE, {}),
    "simplex line": (Simplex(1), {}),
    "stationary": (BOX, {}),
    "hedge": (LINE, {"learner": "hedge"}),
    "discretised": (LINE, {"actions": ACTIONS, "row": "discretised"}),
    "discretised, stationary": (
        LINE,
        {"actions": ACTIONS, "row": "discretised", "rule": "stationary"},
    ),
}


def assert_refused(learner, loss, match):
    """The loss is refused, and nothing that can be seen has changed."""
    before, certificate, rounds = learner.play(), learner.certificate(), learner.rounds
    with pytest.raises(ValueError, match=match):
        learner.observe(loss)
    after = learner.play()
    assert np.array_equal(after.weights, before.weights)
    assert np.array_equal(after.points, before.points)
    assert learner.certificate() == certificate and learner.rounds == rounds


@pytest.mark.parametrize("functions", BAD_FUNCTIONS.values(), ids=BAD_FUNCTIONS.keys())
@pytest.mark.parametrize("setting", BAD_SETTINGS.values(), ids=BAD_SETTINGS.keys())
def test_bad_losses_are_refused_and_leave_no_trace(setting, functions):
    action_set, options = setting
    learners = [FullSwapLearner(action_set, squared(action_set), 50, **options) for _ in range(2)]
    for t, learner in enumerate(learners * 5):
        if learner is learners[0]:
            assert_refused(learner, Custom(*functions), "value|gradient|convert")
            assert_refused(learner, Duck(*functions), "value|gradient|convert")
        learner.observe(Quadratic(action_set.vertices[t // 2 % 2]))
    one, other = (learner.play() for learner in learners)
    assert np.array_equal(one.weights, other.weights)
    assert learners[0].certificate() == learners[1].certificate()


@pytest.mark.parametrize("setting", BAD_SETTINGS.values(), ids=BAD_SETTINGS.keys())
def test_what_is_no_loss_on_the_set_is_refused(setting):
    action_set, options = setting
    learner = FullSwapLearner(action_set, squared(action_set), 50, **options)
    learner.observe(Quadratic(action_set.vertices[0]))
    width = action_set.ambient_dim
    assert_refused(learner, Quadratic(np.zeros(width + 1)), f"on {width} coordinates")
    if width > 1:
        assert_refused(learner, Linear(np.zeros(width - 1)), f"on {width} coordinates")
    for nothing in (None, 3.0, "loss", np.zeros(width + 2), Duck(1.0, 2.0), object()):
        assert_refused(learner, nothing, "loss must have")


@pytest.mark.parametrize("setting", BAD_SETTINGS.values(), ids=BAD_SETTINGS.keys())
def test_bad_rows_are_refused_before_anything_is_played(setting):
    action_set, options = setting
    learner = FullSwapLearner(action_set, squared(action_set), 50, **options)
    rows = quadratic_rows(action_set.vertices[[0, 1, 0, 1]])
    learner.run(rows)
    before, certificate = learner.play(), learner.certificate()
    broken = rows.copy()
    broken[2, 1] = math.nan
    wrong = [broken, rows[:, :-1], rows[0], np.array(["a"]), 7, None]
    for losses in wrong + [[Quadratic(np.zeros(9))]]:
        with pytest.raises(ValueError, match="losses|convert"):
            learner.run(losses)
        assert learner.certificate() == certificate and learner.rounds == 4
        assert np.array_equal(learner.play().weights, before.weights)


def test_losses_of_the_users_own_making_are_played_like_any_other():
    for action_set, options in BAD_SETTINGS.values():
        center = np.array(action_set.vertices[0], dtype=float)
        plain = Custom(
            lambda x, z=center: np.square(x - z).sum(axis=1), lambda x, z=center: 2 * (x - z)
        )
        duck = Duck(plain.value, plain.gradient)
        learners = [FullSwapLearner(action_set, squared(action_set), 9, **options) for _ in "ab"]
        for _ in range(9):
            learners[0].observe(plain)
            learners[1].observe(duck)
        assert np.array_equal(learners[0].play().weights, learners[1].play().weights)
        for learner in learners:
            assert len(learner._tally.others) == 1, "one loss, however often it came"
        measured = [learner.certificate().measured for learner in learners]
        assert measured[0] == pytest.approx(measured[1], abs=1e-9)


@pytest.mark.parametrize("setting", BAD_SETTINGS.values(), ids=BAD_SETTINGS.keys())
@pytest.mark.parametrize("at_once", [False, True])
def test_a_loss_too_steep_warns_once_and_ends_the_guarantee(setting, at_once):
    action_set, options = setting
    learner = FullSwapLearner(action_set, squared(action_set), 50, **options)
    good, steep = (Quadratic(action_set.vertices[0], scale) for scale in (1.0, 1.1))
    losses = [good] * 3 + [steep] * 4
    with pytest.warns(UserWarning, match="breaks what its class promises") as caught:
        if at_once:
            learner.run(losses)
        else:
            for loss in losses:
                learner.observe(loss)
    assert len(caught) == 1
    certificate = learner.certificate()
    assert certificate.rounds == 7 and not certificate.holds
    assert certificate.guaranteed is None and certificate.after_the_fact is None
    (told,) = certificate.broken
    assert told.startswith("round 4: ") and "lipschitz" in told
    assert "nothing is guaranteed: round 4: " in str(certificate)
    assert json.loads(json.dumps(certificate.to_dict()))["holds"] is False


def test_a_warning_made_an_error_leaves_no_trace():
    steep, fair = Quadratic([0.0], 5.0), Quadratic([0.0])
    learner = FullSwapLearner(LINE, squared(LINE), 50)
    learner.observe(fair)
    before = learner.certificate(), learner.play().weights.tolist()
    for act in (learner.observe, lambda loss: learner.run([loss])):
        with pytest.raises(UserWarning, match="promises"):
            act(steep)
        assert (learner.certificate(), learner.play().weights.tolist()) == before


def test_a_steep_loss_that_is_also_bad_is_refused_without_a_mark():
    learner = FullSwapLearner(LINE, squared(LINE), 50)
    for _ in range(20):
        learner.observe(Quadratic([0.3]))
    home = learner.points[:, 0]
    # fine wherever it is looked at, and no number at the targets
    bad = Custom(
        lambda x: np.where(np.isin(x[:, 0], home), 0.0, math.nan), lambda x: np.full_like(x, 1e6)
    )
    with pytest.warns(UserWarning, match="promises"):
        assert_refused(learner, bad, "value")
    assert learner.certificate().broken == ()


@pytest.mark.parametrize("setting", BAD_SETTINGS.values(), ids=BAD_SETTINGS.keys())
def test_values_that_only_the_certificate_would_ask_for_are_checked(setting):
    action_set, options = setting
    learner = FullSwapLearner(action_set, squared(action_set), 50, **options)
    z = action_set.center + 0.03 * action_set.frame[1][:, 0]
    for _ in range(20):
        learner.observe(Quadratic(z))
    played = learner.play().points

    def hollow(x):
        at_play = (np.abs(x[:, None, :] - played).max(axis=2) < 1e-9).any(axis=1)
        return np.where(at_play, math.nan, np.square(x - z).sum(axis=1))

    assert_refused(learner, Custom(hollow, lambda x: 2 * (x - z)), "value")


def test_a_loss_without_gradient_needs_experts():
    blind = Custom(lambda x: np.square(x[:, 0]) / 4)
    hedge = FullSwapLearner(LINE, CONVEX, 20, learner="hedge")
    for _ in range(20):
        hedge.observe(blind)
    assert hedge.certificate().holds
    assert_refused(FullSwapLearner(LINE, CONVEX, 20, learner="gradient"), blind, "no gradient")
    rise = Custom(lambda x: 1.5 * x[:, 0])
    with pytest.warns(UserWarning, match="range"):
        hedge.observe(rise)

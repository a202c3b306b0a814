"""Adversaries keep the promises of their class on every set, repeat by seed, and do what they say.

Promises are checked on values at random members and vertices, from the definitions, not through
the code that learners use to check them.
"""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullswap import sets
from fullswap.adversaries import (
    ADVERSARIES,
    Adversary,
    Blocks,
    Boundary,
    ConvexLipschitz,
    Drift,
    EarlyStop,
    Greedy,
    Losses,
    MeanAware,
    Midpoint,
    OneBin,
    Scripted,
    SignPreservation,
    Sweep,
    Switching,
    all_adversaries,
    kinds,
    longest_segment,
    search,
)
from fullswap.adversaries.shapes import circle
from fullswap.base.protocols import Mixture
from fullswap.losses import LossClass, QuadraticFamily
from fullswap.metrics.regret import report
from fullswap.metrics.tally import Tally
from fullswap.template import FullSwapLearner

_DISC = sets.Ball([-2.0, 5.0], 1.5)
SETS = {
    "interval": sets.Interval(-3.0, -0.5),
    "box": sets.Box([10.0, -1.0], [10.3, 2.0]),
    "simplex": sets.Simplex(2, scale=1.7, shift=0.4),
    "ball": sets.Ball([4.0, -7.0], 0.6),
    "polytope": sets.Polytope(
        [[5, 5, 5], [6, 5, 5], [5, 7, 5], [5, 5, 8], [6, 7, 8], [5.2, 5.2, 4.5]]
    ),
    "functions": sets.Custom(2, _DISC.project, _DISC.minimize_linear, _DISC.diameter),
}


def loss_classes(action_set):
    """Every combination that the rows of the table meet; "tight": slopes just allow the class.

    By Jung's theorem a set of diameter D has a ball of radius 0.62·D around it, up to dimension 3.
    """
    diameter = action_set.diameter
    return {
        "lipschitz": LossClass(1.3),
        "convex lipschitz": LossClass(1.3, convex=True),
        "smooth": LossClass(0.8, smoothness=2.0 / diameter),
        "very smooth": LossClass(2.0, smoothness=0.1 / diameter),
        "barely smooth": LossClass(0.5, smoothness=50.0 / diameter),
        "convex smooth": LossClass(0.8, smoothness=2.0 / diameter, convex=True),
        "linear": LossClass(0.7, concave=True, convex=True),
        "affine": LossClass(0.7, smoothness=0.0),
        "concave": LossClass(1.3, concave=True),
        "concave smooth": LossClass(1.3, concave=True, smoothness=0.3 / diameter),
        "strongly convex": LossClass(2.0 * diameter, strong_convexity=1.0),
        "strongly convex, tight": LossClass(0.65 * diameter, strong_convexity=1.0),
        "squared": LossClass.squared(diameter, scale=0.7),
        "squared, tight": LossClass(1.3 * diameter, 2.0, 2.5),
    }


# A set given by functions cannot say how far it reaches, so there is no room for tight classes.
PAIRS = [
    (set_name, class_name)
    for set_name, action_set in SETS.items()
    for class_name in loss_classes(action_set)
    if not (set_name == "functions" and "tight" in class_name)
]


def members(action_set, count, rng):
    """Random members, those on the boundary included, and the vertices."""
    basis = action_set.frame[1]
    offsets = rng.standard_normal((count, basis.shape[1])) @ basis.T
    points = action_set.project(action_set.center + 0.4 * action_set.diameter * offsets)
    if action_set.vertices is not None:
        points = np.concatenate((points, action_set.vertices))
    return points


def random_mixture(action_set, rng, size=3):
    points = members(action_set, size, rng)[:size]
    return Mixture(points, rng.dirichlet(np.ones(size)))


@cache
def mixtures(action_set, count=60):
    rng = np.random.default_rng(4)
    return [random_mixture(action_set, rng) for _ in range(count)]


def losses_met(adversary, rounds):
    """Answers to random mixtures, over and over the same sixty."""
    played = mixtures(adversary.action_set)
    return [adversary.choose(played[t % len(played)], t) for t in range(rounds)]


def check_promises(loss, promised, action_set, points, where):
    """L, α, β, convexity and concavity from values at pairs of members and their midpoints."""
    x, y = points[: len(points) // 2], points[len(points) // 2 : len(points) // 2 * 2]
    gap = np.linalg.norm(x - y, axis=1)
    at_x, at_y, at_middle = loss.value(x), loss.value(y), loss.value((x + y) / 2)
    scale = promised.lipschitz * action_set.diameter
    noise = 1e-10 * scale * (1 + np.abs(points).max() / action_set.diameter) ** 2
    assert (np.abs(at_x - at_y) <= promised.lipschitz * gap + noise).all(), where
    slopes = np.linalg.norm(loss.gradient(points) @ action_set.frame[1], axis=1)
    assert slopes.max() <= promised.lipschitz * (1 + 1e-9), where
    bend = (at_x + at_y) / 2 - at_middle  # = curvature·gap²/8 for a quadratic
    if promised.convex:
        assert (bend >= promised.strong_convexity / 8 * gap**2 - noise).all(), where
    if promised.concave:
        assert (bend <= noise).all(), where
    if promised.smoothness is not None:
        assert (np.abs(bend) <= promised.smoothness / 8 * gap**2 + noise).all(), where
        tangent = np.einsum("ij,ij->i", loss.gradient(x), y - x)
        away = np.abs(at_y - at_x - tangent)
        assert (away <= promised.smoothness / 2 * gap**2 + noise).all(), where
    assert promised.violation(loss, points, action_set.frame[1], action_set.diameter) is None


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


@pytest.mark.parametrize("set_name", SETS)
def test_a_sweep_of_functions_goes_all_the_way_round(set_name):
    """The pool must not be full, or too coarse for pairs, before the rim is covered."""
    action_set, promised = SETS[set_name], LossClass(1.0, convex=True)
    assert len({id(loss) for loss in Blocks(action_set, promised).rim}) == 8
    maker = Losses(action_set, promised)
    for angle in 2 * math.pi * np.arange(128) / 128:
        turn = circle(action_set.frame[1], angle) if action_set.dim > 1 else math.cos(angle)
        goal = maker.rim(np.atleast_1d(turn))
        assert maker.towards(goal).value(goal[None])[0] <= action_set.diameter / 12 + 1e-9


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


# --- repeatability ----------------------------------------------------------------------------


def trace(adversary, rounds=140):
    probes = members(adversary.action_set, 5, np.random.default_rng(0))
    return np.array([loss.value(probes) for loss in losses_met(adversary, rounds)])


LEAVES_NOTHING_TO_LUCK = ("mean_aware", "one_bin", "boundary")


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
    assert len(ADVERSARIES) == 13
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

LINE, SQUARED = sets.Interval(2.0, 4.0), LossClass.squared(2.0)


def at(position):
    return Mixture(np.array([[2.0 + 2.0 * position]]), np.array([1.0]))


def bits(adversary, rounds, position=0.5):
    """The outcomes: 1 where the loss is smallest at the high end."""
    ends = np.array([[2.0], [4.0]])
    answers = [adversary.choose(at(position), t).value(ends) for t in range(rounds)]
    return np.array([int(high < low) for low, high in answers])


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


def test_mean_aware_pulls_back_over_the_threshold():
    assert bits(MeanAware(LINE, SQUARED, threshold=0.3), 2, position=0.2).tolist() == [1, 1]
    assert bits(MeanAware(LINE, SQUARED, threshold=0.3), 2, position=0.4).tolist() == [0, 0]
    swinging = MeanAware(LINE, SQUARED, swing=0.5, period=40)
    assert bits(swinging, 40)[1:20].all()
    assert not bits(swinging, 40)[21:].any()
    box = SETS["box"]
    promised = LossClass.squared(box.diameter)
    rng = np.random.default_rng(12)
    adversary = MeanAware(box, promised)
    for t in range(30):
        mixture = random_mixture(box, rng)
        loss = adversary.choose(mixture, t)
        goal = -loss.coefficients[1:-1] / (2 * loss.coefficients[0])
        assert ((goal - box.center) * (mixture.mean - box.center) <= 1e-9).all()  # every coordinate


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


def test_convex_lipschitz_puts_kinks_between_grid_points():
    promised = LossClass(1.0, convex=True)
    cell = ConvexLipschitz(LINE, promised, style="cell", mesh=0.2, place=0.25)
    kink = cell.choose(at(0.5), 0)
    assert kink is cell.choose(at(0.1), 1)
    assert kink.value(np.array([[2.6], [2.5], [2.7]])) == pytest.approx([0.0, 0.1, 0.1])
    pair = ConvexLipschitz(LINE, promised, mesh=0.2, place=0.25, bias=0.2)
    values = [pair.choose(at(0.5), t).value(np.array([[2.6]]))[0] for t in range(5000)]
    assert np.mean(np.array(values) < 0.1) == pytest.approx(0.7, abs=0.03)
    coin = ConvexLipschitz(LINE, promised, style="coin", bias=0.4)
    assert bits(coin, 5000).mean() == pytest.approx(0.5, abs=0.03)


def test_sweep_turns_in_the_plane_and_alternates_on_a_line():
    assert bits(Sweep(LINE, SQUARED), 6).tolist() == [0, 1, 0, 1, 0, 1]
    ball, spread = sets.Ball([1.0, 2.0, 3.0], 0.5), 0.25
    adversary = Sweep(ball, LossClass(2.0, concave=True), period=100, spread=spread, angles=100)
    middle = Mixture(ball.center[None], np.array([1.0]))
    tilts = []
    for t in range(200):
        w = adversary.choose(middle, t).coefficients[1:-1]
        outward = np.array([math.cos(t * math.pi / 50), math.sin(t * math.pi / 50), 0.0])
        assert np.linalg.norm(w) == pytest.approx(2.0)
        assert w @ outward == pytest.approx(-2.0 / math.sqrt(1 + spread**2))
        tilts.append(math.copysign(1, w @ np.array([-outward[1], outward[0], 0.0])))
    assert 60 < tilts.count(1.0) < 140


def test_blocks_toss_coins_on_one_pair_at_a_time():
    for action_set in (SETS["ball"], SETS["polytope"], SETS["interval"]):
        adversary = Blocks(action_set, LossClass.squared(action_set.diameter), pairs=3, length=40)
        met = losses_met(adversary, 160)
        pairs = [{id(loss) for loss in met[i : i + 40]} for i in range(0, 160, 40)]
        assert [len(pair) for pair in pairs] == [2, 2, 2, 2]
        assert pairs[0] == pairs[3] and not (pairs[0] & pairs[1]) and not (pairs[1] & pairs[2])


# --- greedy -----------------------------------------------------------------------------------


def regret_after(rounds, action_set, loss, mixture):
    tally = Tally(action_set.ambient_dim)
    for played, met in [*rounds, (mixture, loss)]:
        tally.add(tally.labels_of(played.points), played.weights, met)
    return report(tally, action_set, None).value


@pytest.mark.parametrize("class_name", ["squared", "concave", "convex smooth", "linear"])
@pytest.mark.parametrize("set_name", [name for name in SETS if name != "functions"])
def test_greedy_takes_the_worst_of_its_pool(set_name, class_name):
    action_set = SETS[set_name]
    promised = loss_classes(action_set)[class_name]
    adversary = Greedy(action_set, promised, kind=kinds(promised)[-1])
    rng = np.random.default_rng(14)
    shared = members(action_set, 4, rng)[:4]
    rounds = []
    for t in range(12):
        chosen = rng.choice(4, size=2, replace=False)
        mixture = Mixture(shared[chosen], rng.dirichlet([1.0, 1.0]))
        offers = [regret_after(rounds, action_set, loss, mixture) for loss in adversary.pool]
        loss = adversary.choose(mixture, t)
        assert regret_after(rounds, action_set, loss, mixture) >= max(offers) - 1e-9
        rounds.append((mixture, loss))
    assert max(offers) > 0 and np.ptp(offers) > 0  # there was something to choose


@pytest.mark.parametrize("class_name", ["lipschitz", "smooth", "strongly convex"])
def test_greedy_with_functions_is_right_up_to_its_probes(class_name):
    action_set = SETS["interval"]
    promised = loss_classes(action_set)[class_name]
    adversary = Greedy(action_set, promised)
    assert not any(isinstance(loss, QuadraticFamily) for loss in adversary.pool)
    line = np.linspace(action_set.low, action_set.high, 2001)[:, None]
    rng = np.random.default_rng(15)
    shared = members(action_set, 4, rng)[:4]
    held = np.zeros((4, len(adversary.pool)))
    everywhere = np.array([loss.value(line) for loss in adversary.pool])
    here = np.array([loss.value(shared) for loss in adversary.pool]).T
    for t in range(12):
        weights = rng.dirichlet(np.ones(4))
        offers = []
        for j in range(len(adversary.pool)):
            after = held.copy()
            after[:, j] += weights
            offers.append(((after * here).sum(axis=1) - (after @ everywhere).min(axis=1)).sum())
        # the best of the probes is at most a spacing of 1/64 from the best of the line
        scores = adversary.scores(Mixture(shared, weights))
        slack = promised.lipschitz * action_set.diameter / 128 * (t + 1)
        assert (scores <= np.array(offers) + 1e-9).all()
        assert (scores >= np.array(offers) - slack).all()
        loss = adversary.choose(Mixture(shared, weights), t)
        chosen = next(j for j, known in enumerate(adversary.pool) if known is loss)
        assert offers[chosen] >= max(offers) - slack
        held[:, chosen] += weights


# --- the search -------------------------------------------------------------------------------


@pytest.mark.parametrize(("set_name", "class_name"), [("interval", "squared"), ("ball", "concave")])
def test_search_reports_a_run_that_can_be_repeated(set_name, class_name):
    action_set = SETS[set_name]
    promised = loss_classes(action_set)[class_name]

    def make():
        return FullSwapLearner(action_set, promised, 80)

    short = search(make, action_set, promised, rounds=80, budget=1, seed=2)
    found = search(make, action_set, promised, rounds=80, budget=32, seed=2)
    assert (short.tried, found.tried) == (1, 32)
    assert short.ratio == short.first == found.first
    assert found.first < found.ratio <= 1  # thirty more runs find something worse than the first
    assert found.ratio == found.measured / found.guaranteed
    assert found == search(make, action_set, promised, rounds=80, budget=32, seed=2)
    assert set(found.parameters) == {"seed", "kind", *ADVERSARIES[found.adversary].parameters}
    learner = make()
    adversary = ADVERSARIES[found.adversary](action_set, promised, **found.parameters)
    for t in range(80):
        learner.observe(adversary.choose(learner.play(), t))
    certificate = learner.certificate()
    assert (certificate.measured, certificate.guaranteed) == (found.measured, found.guaranteed)


def test_hill_climbing_improves_on_the_restarts():
    action_set, promised = SETS["interval"], loss_classes(SETS["interval"])["squared"]

    def make():
        return FullSwapLearner(action_set, promised, 60)

    defaults = max(measure(make(), made(action_set, promised), 60) for made in ADVERSARIES.values())
    # 13 runs with defaults, 7 with random settings, 20 climb
    best = [search(make, action_set, promised, 60, budget=40, seed=seed).ratio for seed in (0, 1)]
    assert min(best) >= defaults
    assert max(best) > defaults


def measure(learner, adversary, rounds):
    for t in range(rounds):
        learner.observe(adversary.choose(learner.play(), t))
    certificate = learner.certificate()
    return certificate.measured / certificate.guaranteed


@pytest.mark.parametrize("name", ADVERSARIES)
def test_drawn_and_nudged_parameters_are_allowed(name):
    rng = np.random.default_rng(16)
    for key, parameter in ADVERSARIES[name].parameters.items():
        values = [parameter.default]
        for _ in range(50):
            values += [parameter.draw(rng), parameter.nudge(values[-1], rng)]
        assert [parameter.check(key, value) for value in values] == values
        assert len(set(values)) > 1


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "parameters", "message"),
    [
        (Midpoint, {"mesh": 0.0}, r"mesh must lie in \[0.001, 1\], got 0.0"),
        (Midpoint, {"mesh": math.nan}, "mesh must be a finite number, got nan"),
        (Midpoint, {"mesh": "fine"}, "mesh must be a finite number, got 'fine'"),
        (Midpoint, {"level": 2}, r"level must lie in \[0, 1\], got 2"),
        (Midpoint, {"speed": 1}, "of midpoint must be among: mesh, level, got 'speed'"),
        (Switching, {"length": 2.5}, "length must be a whole number, got 2.5"),
        (Switching, {"length": 0}, r"length must lie in \[1, .*, got 0"),
        (Switching, {"length": True}, "length must be a number, got True"),
        (Drift, {"path": "zigzag"}, "path must be .*'walk'.*, got 'zigzag'"),
        (Scripted, {"chances": ()}, r"chances must have shape .*, got \(0,\)"),
        (Scripted, {"chances": (0.5, 1.5)}, r"chances must lie in \[0, 1\], got 1.5"),
        (Scripted, {"chances": (0.5, math.nan)}, "chances must be finite, got nan"),
        (OneBin, {"seed": -1}, "seed must be a whole number >= 0, got -1"),
        (OneBin, {"seed": 1.5}, "seed must be a whole number >= 0, got 1.5"),
        (OneBin, {"kind": "linear"}, "kind must be 'auto' or 'quadratic', got 'linear'"),
    ],
)
def test_bad_parameters(made, parameters, message):
    with pytest.raises(ValueError, match=message):
        made(LINE, SQUARED, **parameters)


def test_bad_sets_classes_centres_and_budgets():
    with pytest.raises(ValueError, match="action_set must be a set"):
        Losses([0, 1], SQUARED)
    with pytest.raises(ValueError, match="loss_class must be a LossClass"):
        Losses(LINE, "squared")
    with pytest.raises(ValueError, match=r"center must have shape \(1,\), got \(2,\)"):
        Losses(LINE, SQUARED).towards([0.0, 1.0])
    with pytest.raises(ValueError, match="nan"):
        Losses(LINE, SQUARED).towards([math.nan])
    for direction in ([math.inf], [1.0, 2.0]):
        with pytest.raises(ValueError, match="direction must (be finite|have shape)"):
            Losses(LINE, SQUARED).along(direction)
    with pytest.raises(ValueError, match="lipschitz must .* 1.2 with strong_convexity 2"):
        Losses(SETS["ball"], LossClass(1.1, 2.0))
    with pytest.raises(ValueError, match="lipschitz must .* with strong_convexity 1"):
        Losses(SETS["functions"], LossClass(0.65 * _DISC.diameter, 1.0))

    def make():
        return FullSwapLearner(LINE, SQUARED, 10)

    for name, bad in [("rounds", 0), ("rounds", 2.5), ("budget", 0), ("budget", True)]:
        given_ = {"rounds": 10, "budget": 2, name: bad}
        with pytest.raises(ValueError, match=f"{name} must be a whole number >= 1, got {bad}"):
            search(make, LINE, SQUARED, **given_)


def test_search_refuses_losses_outside_the_learners_promise():
    narrow = LossClass(SQUARED.lipschitz / 2, 1.0, 2.0)

    def make():
        return FullSwapLearner(LINE, narrow, 10)

    with (
        pytest.warns(UserWarning, match="breaks what its class promises"),
        pytest.raises(ValueError, match="same loss_class"),
    ):
        search(make, LINE, SQUARED, rounds=10, budget=1)


def test_descriptions_name_what_was_set():
    shown = repr(Midpoint(LINE, SQUARED, seed=4, mesh=0.2))
    assert shown == "Midpoint(kind='quadratic', seed=4, mesh=0.2, level=0.5)"

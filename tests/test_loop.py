"""The compiled loop on a line: the same rounds as play and observe, and as plain Python."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullswap.kernels.loop import cell_of, line_learn, line_run
from fullswap.losses import Custom, LossClass, QuadraticFamily, quadratic_rows
from fullswap.sets import Ball, Box, Interval, Polytope, Simplex
from fullswap.template import FullSwapLearner
from fullswap.template.views import LineView

LINES = {
    "interval": Interval(0.0, 1.0),
    "off-centre interval": Interval(-2.5, 0.75),
    "simplex": Simplex(1),
    "moved simplex": Simplex(1, 3.0, [1.0, -4.0]),
    "ball": Ball([2.0], 0.5),
    "polytope": Polytope([[-1.0], [2.0], [0.5]]),
    "box": Box([1.0], [3.0]),
}
ROWS = {
    "row 4": {"row": "strongly convex"},
    "row 5": {"row": "strongly convex and smooth"},
    "convex": {"row": "lipschitz", "learner": "gradient"},
    "discretised": {"row": "discretised"},
}
RATES = {
    "strongly convex": (2.0, 0.0, math.inf),
    "lipschitz": (1.0, 0.3, 0.0),
    "nearly strongly convex": (0.5, 0.8, 6.25),
}

lines = pytest.mark.parametrize("action_set", LINES.values(), ids=LINES.keys())
rows_of_table = pytest.mark.parametrize("options", ROWS.values(), ids=ROWS.keys())


def make(action_set, horizon, options):
    options = dict(options)
    if options["row"] == "discretised":
        ends = np.sort(action_set.vertices[:, 0]) if action_set.vertices is not None else None
        low, high = ends[[0, -1]] if ends is not None else (1.5, 2.5)
        if isinstance(action_set, Simplex):
            # along the set's own coordinate, whose origin is the centre
            low, high = -action_set.diameter / 2, action_set.diameter / 2
        options["actions"] = low + (high - low) * np.array([0.0, 0.1, 0.4, 0.5, 0.75, 1.0])
    return FullSwapLearner(action_set, LossClass.squared(action_set.diameter), horizon, **options)


def outcomes(action_set, rounds, rng):
    """Centres in the set: ends, ties, exact grid points, and anything between."""
    low, high = action_set.minimize_linear([action_set.frame[1][:, 0], -action_set.frame[1][:, 0]])
    share = rng.random(rounds)
    kind = rng.integers(0, 4, rounds)
    share[kind == 0] = rng.integers(0, 2, (kind == 0).sum())
    share[kind == 1] = rng.integers(0, 9, (kind == 1).sum()) / 8
    drift = rounds // 3
    share[drift : 2 * drift] = share[drift : 2 * drift] ** 4  # presses towards one end
    return low + share[:, None] * (high - low)


def played(learner, losses):
    """The loop of play and observe; weights over the labels of each round."""
    mixtures = []
    for loss in losses:
        mixture = learner.play()
        learner.observe(loss)
        mixtures.append(dict(zip(mixture.indices.tolist(), mixture.weights.tolist(), strict=True)))
    return mixtures


def recorded(transcript):
    rounds = zip(transcript.indices.tolist(), transcript.weights.tolist(), strict=True)
    return [{i: w for i, w in zip(*pair, strict=True) if w > 0} for pair in rounds]


# The loop against play and observe ----------------------------------------------------------------


@lines
@rows_of_table
@pytest.mark.parametrize("horizon", [400, None])
def test_run_is_the_loop_of_play_and_observe_to_the_bit(action_set, options, horizon):
    rng = np.random.default_rng(7)
    rows = quadratic_rows(outcomes(action_set, 400, rng))
    slow, fast = make(action_set, horizon, options), make(action_set, horizon, options)
    expected = played(slow, [QuadraticFamily(row) for row in rows])
    transcript = fast.run(rows, record=True)
    assert recorded(transcript) == expected
    assert np.array_equal(fast._rule.state[:3], slow._rule.state[:3])
    assert fast._rule.hint == slow._rule.hint
    assert np.array_equal(fast.points, slow.points)
    assert np.array_equal(transcript.points, slow.points)
    assert fast.rounds == slow.rounds == 400
    if horizon is None and options["row"] != "discretised":
        assert fast.plan.schedule.level(399) >= 2, "the grid was to be refined on the way"
        assert len(fast.grid) > len(make(action_set, None, options).grid)
    one, other = fast.certificate(), slow.certificate()
    assert one.measured == pytest.approx(other.measured, abs=1e-9)
    assert one.after_the_fact == pytest.approx(other.after_the_fact, abs=1e-9)
    assert one.guaranteed == other.guaranteed and one.holds and other.holds


@rows_of_table
@settings(max_examples=15)
@given(
    st.sampled_from(list(LINES.values())),
    st.sampled_from([60, None]),
    st.integers(0, 2**32 - 1),
    st.lists(st.sampled_from(["run", "look", "silent", "loop", "objects"]), min_size=1, max_size=5),
)
def test_any_way_of_cutting_a_run_gives_the_same_rounds(options, action_set, horizon, seed, ways):
    rng = np.random.default_rng(seed)
    rows = quadratic_rows(outcomes(action_set, 60, rng))
    whole = make(action_set, horizon, options)
    expected = recorded(whole.run(rows, record=True))
    pieces = make(action_set, horizon, options)
    got, done = [], 0
    while done < 60:
        length = min(int(rng.integers(0, 25)), 60 - done)
        part = rows[done : done + length]
        ways.append(way := ways.pop(0))
        if way == "look":
            pieces.play()  # looking must not change what is played
            pieces.play()
        if way == "loop":
            got += played(pieces, [QuadraticFamily(row) for row in part])
        elif way == "objects":
            got += recorded(pieces.run((QuadraticFamily(row) for row in part), record=True))
        elif way == "silent":
            assert pieces.run(part) is None
            got += expected[done : done + length]
        else:
            got += recorded(pieces.run(part, record=True))
        done += length
    assert got == expected
    assert np.array_equal(pieces._rule.state[:3], whole._rule.state[:3])


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, 1.0, 1.0, 3.0]),
            st.one_of(st.sampled_from([0.0, -1.0, -2.0, 5.0]), st.floats(-4.0, 4.0)),
            st.floats(-1.0, 1.0),
        ),
        min_size=1,
        max_size=40,
    ),
    st.sampled_from(list(ROWS.values())),
    st.sampled_from([30, None]),
)
def test_losses_that_break_every_promise_are_played_alike(rows, options, horizon):
    rows = np.array(rows)
    slow, fast = (make(LINES["interval"], horizon, options) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = played(slow, [QuadraticFamily(row) for row in rows])
        assert recorded(fast.run(rows, record=True)) == expected
    assert np.array_equal(fast._rule.state[:3], slow._rule.state[:3])
    assert fast.certificate().broken == slow.certificate().broken


@lines
def test_losses_keep_their_values_and_slopes_along_the_line(action_set):
    view, rng = LineView(action_set), np.random.default_rng(2)
    t = rng.uniform(view.inner.low, view.inner.high, (6, 1))
    x = view.outward(t)
    assert action_set.contains(x, 1e-12).all() and view.coordinates(x) == pytest.approx(t[:, 0])
    assert view.inner.diameter == pytest.approx(action_set.diameter)
    rows = rng.normal(size=(5, action_set.ambient_dim + 2))
    for row, inner in zip(rows, view.inward_rows(rows), strict=True):
        loss = QuadraticFamily(row)
        for told in (loss, Custom(loss.value, loss.gradient)):
            seen = view.inward(told)
            assert seen.value(t) == pytest.approx(loss.value(x))
            small = 1e-6
            rise = loss.value(view.outward(t + small)) - loss.value(view.outward(t - small))
            assert seen.gradient(t)[:, 0] == pytest.approx(rise / (2 * small), abs=1e-7)
        assert np.array_equal(view.inward(loss).coefficients, inner)
    assert not view.inward(Custom(lambda x: x[:, 0])).has_gradient


def test_an_empty_run_changes_nothing():
    learner = make(LINES["interval"], 50, ROWS["row 5"])
    learner.run(quadratic_rows([1.0, 0.0, 1.0]))
    before = learner.play(), learner.certificate()
    for nothing in (np.zeros((0, 3)), [], iter(())):
        assert len(learner.run(nothing, record=True)) == 0
    assert np.array_equal(learner.play().weights, before[0].weights)
    assert learner.certificate() == before[1]


# The loop against plain Python --------------------------------------------------------------------


def step(rate, low, high, q, total, g, slope):
    rho, root, switch = rate
    eta = 1 / (rho * total) if total <= switch else root / math.sqrt(total)
    return min(max(q - eta * g * slope, low), high)


def linear_piece(points, q, a, b, c):
    """Slope and value at q of the interpolation of the loss; at a kink, of the piece above."""
    cell = max([j for j in range(len(points) - 1) if points[j] <= q], default=0)
    left, right = points[cell], points[cell + 1]
    at_left, at_right = (a * left + b) * left + c, (a * right + b) * right + c
    slope = (at_right - at_left) / (right - left)
    return slope, at_left + slope * (q - left)


@settings(max_examples=60)
@given(
    st.data(),
    st.sampled_from(list(RATES.values())),
    st.booleans(),
    st.sets(st.integers(0, 16), min_size=2, max_size=9),
    st.integers(-3, 20),
)
def test_every_round_is_a_crossing_and_a_scaled_step(data, rate, linearised, places, hint):
    points = np.array(sorted(places)) / 16
    low, high = (points[0], points[-1]) if linearised else (0.0, 1.0)
    n = len(points)
    value = st.one_of(st.sampled_from([0.0, 1.0, 0.5, 0.25]), st.floats(0.0, 1.0))
    start = [min(max(data.draw(value), low), high) for _ in range(n)]
    rounds = data.draw(st.lists(st.tuples(st.sampled_from([0.0, 1.0]), value), max_size=30))
    rows = np.array([(a, -2 * z, z * z) for a, z in rounds]).reshape(-1, 3)
    state = np.zeros((7, n))
    state[0], state[1] = points, start
    indices, weights = np.zeros(len(rows), np.int64), np.zeros(len(rows))
    line_run(state, np.array(rate), low, high, linearised, rows, hint, indices, weights)

    targets, sums = list(start), [0.0] * n
    held = np.zeros((4, n))
    for t, (a, b, c) in enumerate(rows.tolist()):
        i, share = int(indices[t]), float(weights[t])
        mixture = [(i, share), (i + 1, 1 - share)]
        mixture = [(j, g) for j, g in mixture if g > 0]
        assert all(0 <= j < n for j, _ in mixture)
        gap = sum(g * (targets[j] - points[j]) for j, g in mixture)
        if len(mixture) == 1 and abs(gap) > 1e-12:
            # one point away from its target: only at the ends, with the target beyond them
            j = mixture[0][0]
            assert (j == 0 and targets[j] < points[j]) or (j == n - 1 and targets[j] > points[j])
        else:
            assert abs(gap) <= 1e-12
        for j, g in mixture:
            q = targets[j]
            slope, value_at = 2 * a * q + b, (a * q + b) * q + c
            if linearised:
                slope, value_at = linear_piece(points, q, a, b, c)
            sums[j] += g
            if sums[j] > 1e-290:
                targets[j] = step(rate, low, high, q, sums[j], g, slope)
            held[:, j] += [g * value_at, g * a, g * b, g * c]
        # go on from the compiled state: a kink or a tie within rounding may be seen either way
        single = np.zeros((7, n))
        single[0], single[1] = points, start
        line_run(
            single, np.array(rate), low, high, linearised, rows[: t + 1], hint,
            np.zeros(0, np.int64), np.zeros(0),
        )  # fmt: skip
        for j, _ in mixture:
            if sums[j] > 1e-290:
                assert targets[j] == pytest.approx(single[1, j], abs=1e-9)
        targets = single[1].tolist()
    assert state[2] == pytest.approx(np.array(sums), abs=1e-12)
    assert state[3:] == pytest.approx(held, abs=1e-9)
    assert (low <= state[1]).all() and (state[1] <= high).all()


@given(st.sets(st.integers(-8, 8), min_size=2, max_size=9), st.floats(-10.0, 10.0))
def test_cell_of_is_the_last_cell_that_starts_at_or_before(places, x):
    points = np.array(sorted(places), dtype=float)
    expected = max([j for j in range(len(points) - 1) if points[j] <= x], default=0)
    assert cell_of(points, x) == expected


@pytest.mark.parametrize("rate", RATES.values(), ids=RATES.keys())
@pytest.mark.parametrize("modulus", [1e-12, 1.0])
def test_the_smallest_weights_leave_finite_targets(rate, modulus):
    rate = np.array(rate) * [modulus, 1.0, 1.0]
    state = np.zeros((7, 2))
    state[:2] = [-1.0, 0.0]
    for weight in (5e-324, 1e-310, 1e-200, 1.0):
        # slope 0 at the target: nothing may move, whatever the rate has come to
        line_learn(state, rate, -1.0, 0.0, False, 1, weight, 1.0, -2 * state[1, 1], 0.0)
        assert state[1].tolist() == [-1.0, 0.0]
    line_learn(state, rate, -1.0, 0.0, False, 0, 5e-324, 1.0, 2.0 - 1e-3, 0.0)
    assert np.isfinite(state).all()


def test_targets_just_below_zero_play_with_the_smallest_weights():
    learner = FullSwapLearner(Interval(-1.0, 1.0), LossClass.squared(2.0), 100, mesh=1.0)
    rows = quadratic_rows(np.array([-5e-324, -1e-310, 0.0, -1.0, 1.0, 0.0] * 10))
    transcript = learner.run(rows, record=True)
    assert np.isfinite(transcript.weights).all() and learner.certificate().holds

"""The binary forecaster's verbs: laws of runs, restarts, late outcomes, weights; bad input."""

import copy
import json
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecasting.rounds import rounds_of
from fullswap.forecasting import Forecaster
from fullswap.forecasting.state import pack, unpack
from fullswap.grids.steps import steps_of

SHAPES = {
    "crossing": {},
    "stationary": {"rule": "stationary"},
    "step 1/4": {"step": 0.25},
    "step 5%": {"step": "5%"},
    "step, stationary": {"step": 0.1, "rule": "stationary"},
    "log": {"loss": "log"},
}
FAST = {name: shape for name, shape in SHAPES.items() if "stationary" not in name}
FEEDBACK = ("realised", "distribution")


@st.composite
def settings_of(draw, shapes=SHAPES):
    """Arguments of a forecaster."""
    return {
        **draw(st.sampled_from(list(shapes.values()))),
        "feedback": draw(st.sampled_from(FEEDBACK)),
        "horizon": draw(st.sampled_from([None, None, 1, 40, 3000])),
        "max_weight": draw(st.sampled_from([1.0, 1.0, 2.5])),
        "seed": draw(st.integers(0, 5)),
    }


@st.composite
def streams(draw, most=220):
    """Outcomes and weights (None, or up to 1; some 0): bits, soft ones, runs, extremes."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    size = draw(st.integers(0, most))
    kind = draw(st.sampled_from(["bits", "soft", "runs", "given"]))
    if kind == "bits":
        outcomes = rng.integers(0, 2, size)
    elif kind == "soft":
        outcomes = rng.random(size)
    elif kind == "runs":
        outcomes = (np.cumsum(rng.random(size) < 0.1) % 2).astype(bool)
    else:
        outcomes = np.array(draw(st.lists(st.floats(0, 1), max_size=20)), dtype=float)
    weights = draw(st.sampled_from(["none", "some", "tiny"]))
    if weights == "none":
        return outcomes, None
    sizes = rng.random(len(outcomes)) ** (1 if weights == "some" else 400)
    return outcomes, np.where(rng.random(len(outcomes)) < 0.2, 0.0, sizes)


def looped(forecaster, outcomes, weights):
    """The loop of predict and update: (support with weights, mean, issued) of each event."""
    seen = []
    for t, y in enumerate(outcomes.tolist()):
        forecast = forecaster.predict()
        forecaster.update(y, weight=1.0 if weights is None else float(weights[t]))
        seen.append(described(forecast))
    return seen


def described(forecast):
    support = dict(zip(forecast.points.tolist(), forecast.weights.tolist(), strict=True))
    return support, forecast.mean, forecast.issued


def run_described(result):
    rounds = rounds_of(result, np.zeros(len(result)))
    return [
        (dict(zip(points, weights, strict=True)), mean, issued)
        for (points, weights, issued, _, _), mean in zip(rounds, result.mean.tolist(), strict=True)
    ]


# --- whole runs ------------------------------------------------------------------------------


@settings(max_examples=80)
@given(settings_of(), streams(), streams(most=60), st.booleans())
def test_run_is_the_loop_to_the_last_bit(arguments, first, second, recorded):
    one, other = Forecaster(**arguments), Forecaster(**arguments)
    for outcomes, weights in (first, second):
        expected = looped(one, outcomes, weights)
        result = other.run(outcomes, weights, record=recorded)
        if recorded:
            assert run_described(result) == expected
            assert len(result) == len(outcomes)
        else:
            assert result is None
        assert other.to_json() == one.to_json()
    assert other.guarantee == one.guarantee or math.isnan(one.guarantee)
    assert other.certificate() == one.certificate()


@pytest.mark.parametrize("feedback", FEEDBACK)
@pytest.mark.parametrize("shape", FAST.values(), ids=FAST)
def test_rounding_errors_of_a_run_are_those_of_the_loop(feedback, shape):
    """Sums of masses that are no whole numbers; weights that vanish when split in two."""
    first, second = np.array([0.7, 1.0, 0.0, 5e-324, 1.0]), np.tile([0.3, 1.0], 5)
    weights = np.array([1 / 3, 5e-324, 5e-324, 5e-324, 5e-324])
    one, other = (Forecaster(2000, feedback=feedback, **shape) for _ in range(2))
    for _ in range(3):
        looped(one, first, weights)
        looped(one, second, None)
        other.run(first, weights)
        other = copy.copy(other)
        other.run(second)
        assert other.to_json() == one.to_json()


@settings(max_examples=40)
@given(settings_of(FAST), st.integers(0, 3000), st.integers(0, 10_000))
def test_a_run_in_two_parts_is_the_run_at_once(arguments, cut, seed):
    # 3000 events lead over several refinements where there is no horizon
    rng = np.random.default_rng(seed)
    outcomes, weights = rng.random(3000) < 0.3, rng.random(3000)
    whole, parts = Forecaster(**arguments), Forecaster(**arguments)
    at_once = whole.run(outcomes, weights)
    before = parts.run(outcomes[:cut], weights[:cut])
    after = parts.run(outcomes[cut:], weights[cut:])
    assert parts.to_json() == whole.to_json()
    assert np.array_equal(np.concatenate((before.issued, after.issued)), at_once.issued)
    assert np.array_equal(np.concatenate((before.mean, after.mean)), at_once.mean)


def test_a_run_longer_than_one_stretch_is_the_loop_too():
    rng = np.random.default_rng(3)
    outcomes = rng.random(70_000) < 0.4
    one, other = Forecaster(seed=4), Forecaster(seed=4)
    issued = []
    for y in outcomes.tolist():
        issued.append(one.predict().issued)
        one.update(y)
    assert np.array_equal(other.run(outcomes).issued, issued)
    assert other.to_json() == one.to_json()


@settings(max_examples=60)
@given(settings_of(), st.integers(0, 10_000))
def test_a_run_beside_pending_forecasts_is_the_loop_too(arguments, seed):
    outcomes = np.random.default_rng(seed).random(80)
    pair = [Forecaster(**arguments) for _ in range(2)]
    for forecaster in pair:
        forecaster.run(outcomes[:10])
        forecaster.predict()
    one, other = pair
    waiting = list(one.pending)
    weights = np.where(outcomes < 0.3, 0.0, outcomes)
    for part in (slice(0, 1), slice(1, 1), slice(1, 2), slice(2, 5), slice(5, None)):
        for y, weight in zip(outcomes[part], weights[part], strict=True):
            one.update(y, one.predict(), weight)
        other.run(outcomes[part], weights[part])
        assert other.to_json() == one.to_json()
        waiting.append(one.predict())
        other.predict()
    assert [described(f) for f in other.pending] == [described(f) for f in waiting]


def test_an_empty_run_changes_nothing():
    forecaster = Forecaster()
    forecaster.predict()
    forecaster.predict()
    before = forecaster.to_json()
    result = forecaster.run([])
    assert len(result) == 0 and result.issued.shape == (0,) and result.mean.shape == (0,)
    assert result.indices.shape == result.weights.shape == (0, 2)
    assert forecaster.run([], []) is not None and forecaster.run([], record=False) is None
    assert forecaster.to_json() == before


@pytest.mark.parametrize("kind", [bool, np.int8, np.uint64, np.float32, float, list, tuple])
def test_outcomes_of_every_numeric_kind(kind):
    bits = np.array([1, 0, 0, 1, 1, 0, 1] * 20)
    given_as = kind(bits.tolist()) if kind in (list, tuple) else bits.astype(kind)
    one, other = Forecaster(100), Forecaster(100)
    one.run(bits)
    other.run(given_as)
    assert one.to_json() == other.to_json()
    for y in given_as:
        other.predict()
        other.update(y)
    one.run(bits)
    assert one.to_json() == other.to_json()


# --- restarts --------------------------------------------------------------------------------


def random_step(forecaster, rng, log):
    """One random action; what can be seen of it goes into the log."""
    pending = forecaster.pending
    action = rng.choice(["predict", "predict", "update", "update", "drop", "run", "peek"])
    if action == "predict" and len(pending) < 12:
        log.append(described(forecaster.predict()))
    elif action == "update" and pending:
        chosen = pending[rng.integers(len(pending))]
        weight = rng.choice([0.0, 0.3, 1.0])
        forecaster.update(rng.random(), chosen if rng.random() < 0.5 else chosen.id, weight)
    elif action == "drop" and pending and rng.random() < 0.3:
        forecaster.drop(pending[rng.integers(len(pending))])
    elif action == "run" and rng.random() < 0.3:
        outcomes = rng.random(rng.integers(0, 30)) < 0.7
        log.extend(run_described(forecaster.run(outcomes)))
    elif action == "peek":
        log.append((forecaster.peek().mean.tolist(), forecaster.guarantee))


@settings(max_examples=50)
@given(settings_of(), st.integers(0, 10_000), st.integers(10, 150), st.sampled_from("jpcd"))
def test_a_restart_at_any_moment_goes_unnoticed(arguments, seed, steps, way):
    straight, restarted = Forecaster(**arguments), Forecaster(**arguments)
    logs = [], []
    whole, other = np.random.default_rng(seed), np.random.default_rng(seed)
    moments = np.random.default_rng(seed + 1).random(steps) < 0.15
    for moment in moments:
        random_step(straight, whole, logs[0])
        random_step(restarted, other, logs[1])
        if moment:
            restarted = {
                "j": lambda f: Forecaster.from_json(f.to_json()),
                "p": lambda f: pickle.loads(pickle.dumps(f)),
                "c": copy.copy,
                "d": copy.deepcopy,
            }[way](restarted)
            assert restarted.to_json() == straight.to_json()
    assert str(logs[1]) == str(logs[0])  # as text, because NaN is no equal of itself
    assert restarted.to_json() == straight.to_json()
    assert str(restarted.certificate()) == str(straight.certificate())


CONTINUE = """
import sys
import numpy as np
from fullswap.forecasting import Forecaster
forecaster = Forecaster.from_json(sys.stdin.read())
for forecast in forecaster.pending[::-1]:
    forecaster.update(0.25, forecast)
result = forecaster.run(np.random.default_rng(8).random(500))
print(result.issued.tobytes().hex(), result.mean.tobytes().hex(), forecaster.to_json(), sep="|")
"""


def test_a_restart_in_a_new_process_goes_unnoticed():
    forecaster = Forecaster(seed=3)
    forecaster.run(np.random.default_rng(7).random(100) < 0.3)
    dropped, *_ = [forecaster.predict() for _ in range(5)]
    forecaster.drop(dropped)
    elsewhere = subprocess.run(
        [sys.executable, "-c", CONTINUE], input=forecaster.to_json(), text=True,
        capture_output=True, check=True,
    )  # fmt: skip
    for forecast in forecaster.pending[::-1]:
        forecaster.update(0.25, forecast)
    result = forecaster.run(np.random.default_rng(8).random(500))
    here = (result.issued.tobytes().hex(), result.mean.tobytes().hex(), forecaster.to_json())
    assert elsewhere.stdout.rstrip("\n").split("|") == list(here)


def test_copies_go_their_own_ways():
    forecaster = Forecaster(100)
    pending = forecaster.predict()
    before = forecaster.to_json()
    for made in (copy.copy(forecaster), copy.deepcopy(forecaster)):
        made.update(1, pending)  # a forecast made before the copy is known to it
        made.run([1, 0, 1])
    assert forecaster.to_json() == before
    assert forecaster.pending == (pending,)
    assert described(pickle.loads(pickle.dumps(pending))) == described(pending)


def test_numbers_of_numpy_can_be_saved():
    forecaster = Forecaster(np.int64(50), np.float32(0.25), max_weight=np.float32(2.0))
    forecaster.run(np.ones(3, np.float32))
    restored = Forecaster.from_json(forecaster.to_json())
    assert restored.to_json() == forecaster.to_json()
    assert (restored.horizon, restored.step, restored.max_weight) == (50, 0.25, 2.0)


@pytest.mark.parametrize("shape", FAST.values(), ids=FAST)
def test_the_state_does_not_grow_with_the_rounds(shape):
    forecaster = Forecaster(10_000, **shape)
    rng = np.random.default_rng(0)
    forecaster.run(rng.random(2000))
    points = len(forecaster.run(rng.random(8000)).points)
    small = len(forecaster.to_json())
    forecaster.run(rng.random(300_000), record=False)
    # at most 7 numbers of 25 characters for each point, and then some
    assert len(forecaster.to_json()) <= 180 * points + 1000
    assert len(forecaster.to_json()) <= 1.1 * small + 50


# --- single events ---------------------------------------------------------------------------


@settings(max_examples=60)
@given(settings_of(), streams(most=60))
def test_peek_shows_the_next_forecast_and_changes_nothing(arguments, stream):
    forecaster = Forecaster(**arguments)
    for y in stream[0].tolist():
        before = forecaster.to_json()
        shown = forecaster.peek()
        assert forecaster.to_json() == before
        assert forecaster.peek().points.tolist() == shown.points.tolist()
        forecast = forecaster.predict()
        assert forecast.points.tolist() == shown.points.tolist()
        assert forecast.weights.tolist() == shown.weights.tolist()
        assert shown.mean == pytest.approx(forecast.mean, abs=1e-15)
        forecaster.update(y)


@settings(max_examples=60)
@given(settings_of(), streams(most=100))
def test_a_forecast_is_a_distribution_on_allowed_points(arguments, stream):
    forecaster = Forecaster(**arguments)
    for y in stream[0].tolist():
        forecast = forecaster.predict()
        assert (forecast.weights > 0).all() and forecast.weights.sum() == pytest.approx(1.0)
        assert forecast.issued in forecast.points
        assert 0 <= forecast.points.min() <= forecast.mean <= forecast.points.max() <= 1
        if forecaster.step is not None:
            steps = steps_of(forecaster.step)
            assert np.isin(forecast.points, np.arange(steps + 1) / steps).all()
        forecaster.update(y)


@pytest.mark.parametrize("feedback", FEEDBACK)
@pytest.mark.parametrize("rule", ["crossing", "stationary"])
@pytest.mark.parametrize("horizon", [None, 600])
def test_each_point_recommends_the_mean_of_what_it_saw(feedback, rule, horizon):
    """The distribution has the mean of the recommendations: [FKO25, Thm BMCS] rests on that."""
    forecaster = Forecaster(horizon, rule=rule, feedback=feedback, seed=2)
    rng = np.random.default_rng(1)
    sums = {}
    for t in range(600):
        forecast = forecaster.predict()
        support = dict(zip(forecast.points.tolist(), forecast.weights.tolist(), strict=True))
        recommended = {s: sums[s][1] / sums[s][0] if s in sums else s for s in support}
        assert math.fsum(w * (recommended[s] - s) for s, w in support.items()) == pytest.approx(
            0.0, abs=1e-9
        )
        y = float(rng.random() < (0.2 if t // 100 % 2 else 0.8))
        forecaster.update(y)
        for s, w in support.items() if feedback == "distribution" else [(forecast.issued, 1.0)]:
            n, ones = sums.get(s, (0.0, 0.0))
            sums[s] = n + w, ones + w * y
    assert max(n for n, _ in sums.values()) > 50


def test_one_draw_for_each_forecast_in_both_modes():
    """The draw is the first point whose cumulative weight exceeds the generator's next number."""
    for feedback in FEEDBACK:
        numbers = np.random.default_rng(9)
        forecaster = Forecaster(300, feedback=feedback, seed=np.random.default_rng(9))
        for y in np.random.default_rng(2).integers(0, 2, 600):
            forecast, u = forecaster.predict(), numbers.random()
            place = int((np.cumsum(forecast.weights)[:-1] <= u).sum())
            assert forecast.issued == forecast.points[place]
            forecaster.update(y)


def test_draws_of_equal_seeds_are_not_the_outcomes_over_again():
    forecaster = Forecaster(2000, seed=0)
    result = forecaster.run(np.random.default_rng(0).random(2000) < 0.5)
    assert forecaster.certificate().holds
    assert abs(result.issued.mean() - 0.5) < 0.1


@pytest.mark.parametrize("feedback", FEEDBACK)
@pytest.mark.parametrize("shape", FAST.values(), ids=FAST)
def test_refining_keeps_pending_forecasts(feedback, shape):
    forecaster = Forecaster(feedback=feedback, **shape)
    forecaster.run(np.tile([1, 0, 0], 20))
    waiting = [forecaster.predict() for _ in range(3)]
    before = [described(forecast) for forecast in waiting]
    sizes = {len(forecaster.run(np.tile([1, 0, 0, 1], 100)).points) for _ in range(12)}
    assert len(sizes) > 1 or shape == {"step": 0.25}, "refined"
    assert [described(forecast) for forecast in waiting] == before
    assert [described(forecast) for forecast in forecaster.pending] == before
    held = Forecaster.from_json(forecaster.to_json())
    for forecast, kept in zip(waiting, held.pending, strict=True):
        forecaster.update(1, forecast)
        held.update(1, kept)
    assert forecaster.to_json() == held.to_json()
    totals = forecaster._bank.totals()[0]
    assert math.fsum(totals) == pytest.approx(forecaster.rounds)


@settings(max_examples=40)
@given(settings_of(FAST), st.integers(0, 10_000), st.permutations(range(6)))
def test_outcomes_of_different_points_commute(arguments, seed, order):
    """Where no two outcomes go to the same point their order does not matter, to the last bit."""
    rng = np.random.default_rng(seed)
    forecaster = Forecaster(**{**arguments, "feedback": "realised", "max_weight": 1.0})
    waiting = {}
    for chance in rng.random(40):
        forecaster.run(rng.random(40) < chance)
        forecast = forecaster.predict()
        if forecast.issued in waiting or len(waiting) == 6:
            forecaster.drop(forecast)
        waiting.setdefault(forecast.issued, forecast.id)
    pairs = list(zip(list(waiting.values())[:6], rng.random(6), strict=False))
    assert len(pairs) > 1
    other = copy.copy(forecaster)
    for number, y in pairs:
        forecaster.update(y, number)
    for k in order:
        if k < len(pairs):
            other.update(pairs[k][1], pairs[k][0])
    assert other.to_json() == forecaster.to_json()


# --- weights ---------------------------------------------------------------------------------


@settings(max_examples=40)
@given(settings_of(), streams(most=80), st.sampled_from([2.0, 0.5, 1024.0]))
def test_only_the_share_of_the_largest_weight_matters(arguments, stream, factor):
    outcomes, weights = stream
    weights = np.ones(len(outcomes)) if weights is None else weights
    plain = Forecaster(**{**arguments, "max_weight": 1.0})
    scaled = Forecaster(**{**arguments, "max_weight": factor})
    one, other = plain.run(outcomes, weights), scaled.run(outcomes, factor * weights)
    assert np.array_equal(one.issued, other.issued) and np.array_equal(one.mean, other.mean)
    assert scaled.guarantee == factor * plain.guarantee
    mine, theirs = plain.certificate(), scaled.certificate()
    assert theirs.measured == factor * mine.measured
    assert theirs.guaranteed == factor * mine.guaranteed


@settings(max_examples=40)
@given(settings_of(), st.integers(0, 10_000))
def test_weight_zero_learns_nothing(arguments, seed):
    rng = np.random.default_rng(seed)
    forecaster = Forecaster(**arguments)
    forecaster.run(rng.random(40))
    before = json.loads(forecaster.to_json())
    shown = forecaster.peek()
    forecaster.predict()
    forecaster.update(1, weight=0)
    forecaster.run(rng.random(20), np.zeros(20))
    after = json.loads(forecaster.to_json())
    assert forecaster.rounds == 61
    assert forecaster.peek().mean.tolist() == shown.mean.tolist()
    for name in ("mass", "delay", "pending", "learned"):
        if name == "learned":
            before[name].pop("hint", None), after[name].pop("hint", None)
        assert after[name] == before[name], name


@pytest.mark.parametrize("loss", ["squared", "log"])
def test_a_weight_stands_for_so_many_events(loss):
    """One event of weight k is k events with the same forecast and outcome.

    It is in distribution mode, where equal forecasts teach the same points, if no outcome is
    learnt in between; the mean of what was seen does not depend on how it is split.
    """
    rng = np.random.default_rng(4)
    arguments = dict(horizon=500, feedback="distribution", loss=loss, max_weight=5.0)
    weighted, repeated = Forecaster(**arguments), Forecaster(**arguments)
    for _ in range(120):
        y, k = rng.random(), int(rng.integers(1, 6))
        assert weighted.predict().mean == pytest.approx(repeated.peek().mean, abs=1e-9)
        weighted.update(y, weight=k)
        copies = [repeated.predict() for _ in range(k)]
        for forecast in copies:
            repeated.update(y, forecast)
    mine, theirs = weighted.certificate(), repeated.certificate()
    assert mine.measured == pytest.approx(theirs.measured, rel=1e-9)
    assert (weighted.rounds, weighted._mass) == (120, pytest.approx(repeated._mass))


# --- bad input -------------------------------------------------------------------------------


def refused(forecaster, call, *fragments):
    """The call raises a ValueError that says all of this, and leaves the state as it was."""
    before = forecaster.to_json()
    with pytest.raises(ValueError) as error:
        call()
    for fragment in fragments:
        assert fragment in str(error.value), str(error.value)
    assert forecaster.to_json() == before


@pytest.fixture
def forecaster():
    made = Forecaster(100, max_weight=1.5)
    made.run([1, 0, 1, 1])
    return made


@pytest.mark.parametrize(
    "outcome",
    [2, -0.1, math.nan, math.inf, "1", None, [1], [], [[1], [1, 0]], 1j, 10**400, {}],
    ids=lambda value: repr(value)[:12],
)
def test_outcomes_outside_are_refused(forecaster, outcome):
    forecast = forecaster.predict()
    call = lambda: forecaster.update(outcome)  # noqa: E731
    refused(forecaster, call, "outcome must", "in [0, 1]", repr(outcome)[:20])
    forecaster.update(1, forecast)


@pytest.mark.parametrize(
    "weight",
    [-1, math.nan, 2, "x", None, [1.0], np.array([1.0, 1.0]), math.inf, 10**400, np.float32(1.6)],
    ids=lambda value: repr(value)[:12],
)
def test_weights_outside_are_refused(forecaster, weight):
    forecaster.predict()
    call = lambda: forecaster.update(1, weight=weight)  # noqa: E731
    refused(forecaster, call, "weight must", "max_weight = 1.5", repr(weight)[:20])


def test_updates_without_their_forecast_are_refused(forecaster):
    refused(forecaster, lambda: forecaster.update(1), "no forecast is pending", "predict()")
    first, second = forecaster.predict(), forecaster.predict()
    refused(forecaster, lambda: forecaster.update(1), "forecast must be given", "2 forecasts")
    forecaster.update(1, forecast=first)
    done = lambda: forecaster.update(1, first)  # noqa: E731
    refused(forecaster, done, f"forecast {first.id} is not pending", "had its outcome")
    refused(forecaster, lambda: forecaster.drop(first), "is not pending")
    forecaster.drop(second)
    dropped = lambda: forecaster.update(1, second.id)  # noqa: E731
    refused(forecaster, dropped, f"forecast {second.id} is not pending", "dropped")
    third = forecaster.predict()
    refused(forecaster, lambda: forecaster.update(1, third.id + 1), "did not make it")
    for wrong in ("x", 1.0, True, [third]):
        call = lambda wrong=wrong: forecaster.update(1, wrong)  # noqa: E731
        refused(forecaster, call, "forecast must be a Forecast or its id", repr(wrong))


def test_forecasts_of_another_forecaster_are_refused():
    forecaster, other = Forecaster(1000), Forecaster(1000, feedback="distribution", seed=1)
    forecaster.run([1, 0] * 50)
    other.run([1, 1, 0] * 50)
    refused(forecaster, lambda: forecaster.update(1, other.predict()), "did not make it")
    for _ in range(70):  # the same ids, and now and then the same draw
        mine = forecaster.predict()
    other = Forecaster(1000, seed=1)
    other.run([1, 1, 0] * 20)
    theirs = {forecast.id: forecast for forecast in [other.predict() for _ in range(160)]}
    checked = 0
    for mine in forecaster.pending:
        if mine.id in theirs:
            stranger = theirs[mine.id]
            assert described(mine)[0] != described(stranger)[0]
            call = lambda stranger=stranger: forecaster.update(1, stranger)  # noqa: E731
            refused(forecaster, call, f"forecast {mine.id} was made by another forecaster")
            checked += mine.issued == stranger.issued
    assert checked > 0, "equal draws of unequal forecasts were among them"


@pytest.mark.parametrize("horizon", [0, -1, 1.5, True, "10", math.nan])
@pytest.mark.parametrize("loss", ["squared", "log"])
def test_horizons_that_are_none_are_refused(horizon, loss):
    with pytest.raises(ValueError, match=r"horizon must be a whole number >= 1") as error:
        Forecaster(horizon, loss=loss)
    assert repr(horizon) in str(error.value)


def test_a_horizon_beyond_what_floats_count_is_refused():
    Forecaster(2**53)
    for horizon in (2**53 + 1, 10**400):
        with pytest.raises(ValueError, match=f"horizon must be at most {2**53}"):
            Forecaster(horizon)


@pytest.mark.parametrize(
    "step",
    [0.3, 0, -0.05, "abc", "0%", math.nan, math.inf, 2, "7%", "-5%", "", [0.5], 1e-9, True],
)
def test_steps_that_do_not_divide_one_are_refused(step):
    with pytest.raises(ValueError, match="step must divide 1") as error:
        Forecaster(100, step)
    assert repr(step) in str(error.value) and "0.05" in str(error.value)


@pytest.mark.parametrize(
    ("step", "steps"),
    [(1, 1), (1 / 3, 3), ("1/3", 3), ("5%", 20), (" 2.5 % ", 40), ("0.02", 50), (1e-6, 10**6)],
)  # fmt: skip
def test_steps_may_be_written_in_several_ways(step, steps):
    assert steps_of(step) == steps


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rule": "x"}, "rule must be 'crossing' or 'stationary', got 'x'"),
        ({"feedback": "x"}, "feedback must be 'realised' or 'distribution', got 'x'"),
        ({"loss": "x"}, "loss must be 'squared' or 'log', got 'x'"),
        ({"loss": "log", "step": 0.1}, "step must be None"),
        ({"loss": "log", "rule": "stationary"}, "rule 'crossing'"),
        ({"max_weight": 0}, "max_weight must be positive, got 0"),
        ({"max_weight": -1.0}, "max_weight must be positive, got -1.0"),
        ({"max_weight": math.nan}, "max_weight must be a finite number, got nan"),
        ({"max_weight": "2"}, "max_weight must be a finite number, got '2'"),
        ({"seed": "x"}, "seed must be a whole number >= 0, None or a numpy Generator, got 'x'"),
        ({"seed": -1}, "seed must be a whole number >= 0, None or a numpy Generator, got -1"),
        ({"seed": 1.5}, "seed must be a whole number >= 0, None or a numpy Generator, got 1.5"),
        ({"seed": True}, "seed must be a whole number >= 0, None or a numpy Generator, got True"),
        ({"seed": np.random.Generator(np.random.MT19937(0))}, "over PCG64, to be saved, got MT"),
    ],
)  # fmt: skip
def test_unknown_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError) as error:
        Forecaster(100, **arguments)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("outcomes", "sample_weight", "fragments"),
    [
        ([[1, 0], [0, 1]], None, ("outcomes must have shape (T,), got (2, 2)",)),
        (1, None, ("outcomes must have shape (T,), got ()",)),
        (["1", "0"], None, ("outcomes must be numbers", "<U1")),
        ([1, None], None, ("outcomes must be numbers", "object")),
        ([[1], [1, 0]], None, ("outcomes must",)),
        ([1, 0, math.nan, 1], None, ("outcomes must lie in [0, 1], got nan at position 2",)),
        ([1, 0, 0, 1.5], None, ("outcomes must lie in [0, 1], got 1.5 at position 3",)),
        ([0, -1], None, ("outcomes must lie in [0, 1], got -1 at position 1",)),
        ([1, 0, 1], [1, 1], ("sample_weight must have shape (3,), got (2,)",)),
        ([1, 0], [[1, 1]], ("sample_weight must have shape (2,), got (1, 2)",)),
        ([1, 0], 1.0, ("sample_weight must have shape (2,), got ()",)),
        ([1, 0], [1, math.nan], ("sample_weight must lie in", "1.5", "got nan at position 1")),
        ([1, 0], [1, 1.6], ("sample_weight must lie in", "1.5", "got 1.6 at position 1")),
        ([1, 0], [-0.5, 1], ("sample_weight must lie in", "1.5", "got -0.5 at position 0")),
        ([1, 0], ["1", "1"], ("sample_weight must be numbers",)),
        (np.ma.array([1, 0], mask=[True, False]), None, ("outcomes must be numbers", "masked")),
    ],
)  # fmt: skip
def test_bad_runs_are_refused_whole(forecaster, outcomes, sample_weight, fragments):
    forecaster.predict()
    refused(forecaster, lambda: forecaster.run(outcomes, sample_weight), *fragments)


# --- bad state -------------------------------------------------------------------------------


def saved():
    forecaster = Forecaster(100, seed=2)
    forecaster.run([1, 0, 0, 1])
    forecaster.predict()
    return forecaster.to_json()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("no JSON", "not JSON"),
        (b"\xff\xfe\xfd", "not JSON"),
        ("[1, 2]", "not a state written by to_json"),
        ("{}", "not a state written by to_json"),
        ("3", "not a state written by to_json"),
        (None, "text must be JSON as written by to_json(), got NoneType"),
        (3, "text must be JSON as written by to_json(), got int"),
    ],
)
def test_texts_that_hold_no_state_are_refused(text, message):
    with pytest.raises(ValueError) as error:
        Forecaster.from_json(text)
    assert message in str(error.value)


def test_every_truncated_state_is_refused():
    text = saved()
    for end in range(0, len(text), 7):
        with pytest.raises(ValueError, match="not JSON"):
            Forecaster.from_json(text[:end])


def test_a_changed_digit_is_noticed():
    text = saved()
    assert Forecaster.from_json(text.encode()).to_json() == text
    for place in [i for i, c in enumerate(text) if c.isdigit()]:
        changed = text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]
        with pytest.raises(ValueError, match="damaged|version"):
            Forecaster.from_json(changed)


def test_newer_versions_and_other_kinds_are_told_apart():
    body = json.loads(saved())
    with pytest.raises(ValueError, match="version 2.*reads versions up to 1.*upgrade"):
        Forecaster.from_json(json.dumps({**body, "version": 2}))
    content = {k: v for k, v in body.items() if k not in ("format", "version", "kind", "checksum")}
    assert unpack("Forecaster", pack("Forecaster", content))["rounds"] == 4
    with pytest.raises(ValueError, match="state of a Recalibrator.*Recalibrator.from_json"):
        Forecaster.from_json(pack("Recalibrator", content))
    for name in content:
        lacking = {k: v for k, v in content.items() if k != name}
        with pytest.raises(ValueError, match="damaged"):
            Forecaster.from_json(pack("Forecaster", lacking))


def test_a_refused_state_leaves_the_old_forecaster_alone():
    forecaster = Forecaster.from_json(saved())
    refused(forecaster, lambda: Forecaster.from_json(forecaster.to_json()[:-5]), "not JSON")


# --- what is shown ---------------------------------------------------------------------------


def test_forecasts_show_themselves():
    forecaster = Forecaster(100)
    text = repr(forecaster.predict())
    assert text.startswith("Forecast(id=0, issued=0.") and "distribution={" in text


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_certificates_say_what_they_are_about(shape):
    for feedback, of in (("realised", "issued forecasts"), ("distribution", "distributions")):
        forecaster = Forecaster(100, feedback=feedback, **shape)
        forecaster.run([1, 0] * 20)
        certificate = forecaster.certificate()
        name = {"log": "KL calibration error"}.get(shape.get("loss"), "l2 calibration error")
        name = "discretised swap regret" if "step" in shape else name
        assert certificate.quantity == f"{name} of the {of}"
        assert certificate.on_average == (feedback == "realised")
        assert certificate.rounds == forecaster.rounds == 40
        assert certificate.holds and certificate.theorem in str(certificate)
        assert f"{forecaster.guarantee:.3g}"[:3] in forecaster.explain()

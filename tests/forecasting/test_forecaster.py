"""The binary forecaster's verbs, beyond the laws that all forecasters keep."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.makers import Log, column, described, point_columns, state_of
from fullswap.forecasting import Forecaster
from fullswap.forecasting.specs import tapered_levels
from fullswap.grids.steps import steps_of
from fullswap.kernels.columns import MASS
from fullswap.kernels.line import WEIGHT
from fullswap.online.lattices import tapered

SHAPES = {
    "plain": {},
    "step 1/4": {"step": 0.25},
    "step 5%": {"step": "5%"},
}
FEEDBACK = ("realised", "distribution")


@st.composite
def settings_of(draw):
    """Arguments of a forecaster."""
    return {
        **draw(st.sampled_from(list(SHAPES.values()))),
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


# --- whole runs ------------------------------------------------------------------------------


@pytest.mark.parametrize("feedback", FEEDBACK)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_rounding_errors_of_a_run_are_those_of_the_loop(feedback, shape):
    """Sums of masses that are no whole numbers; weights that vanish when split in two."""
    first, second = np.array([0.7, 1.0, 0.0, 5e-324, 1.0]), np.tile([0.3, 1.0], 5)
    weights = np.array([1 / 3, 5e-324, 5e-324, 5e-324, 5e-324])
    one, other = (Forecaster(2000, feedback=feedback, seed=1, **shape) for _ in range(2))
    for _ in range(3):
        Log(None, first).loop(one, weights=weights)
        Log(None, second).loop(one)
        other.run(first, weights)
        other = other.copy()
        other.run(second)
        assert state_of(other) == state_of(one)


def test_a_run_longer_than_one_stretch_is_the_loop_too():
    rng = np.random.default_rng(3)
    outcomes = rng.random(70_000) < 0.4
    one, other = Forecaster(seed=4), Forecaster(seed=4)
    issued = []
    for y in outcomes.tolist():
        issued.append(one.predict().issued)
        one.update(y)
    assert np.array_equal(other.run(outcomes).issued, issued)
    assert state_of(other) == state_of(one)


@pytest.mark.parametrize("kind", [bool, np.int8, np.uint64, np.float32, float, list, tuple])
def test_outcomes_of_every_numeric_kind(kind):
    bits = np.array([1, 0, 0, 1, 1, 0, 1] * 20)
    given_as = kind(bits.tolist()) if kind in (list, tuple) else bits.astype(kind)
    one, other = Forecaster(100, seed=1), Forecaster(100, seed=1)
    one.run(bits)
    other.run(given_as)
    assert state_of(one) == state_of(other)
    for y in given_as:
        other.predict()
        other.update(y)
    one.run(bits)
    assert state_of(one) == state_of(other)


# --- restarts --------------------------------------------------------------------------------


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


def test_numbers_of_numpy_can_be_saved():
    forecaster = Forecaster(np.int64(50), np.float32(0.25), max_weight=np.float32(2.0))
    forecaster.run(np.ones(3, np.float32))
    restored = Forecaster.from_json(forecaster.to_json())
    assert restored.to_json() == forecaster.to_json()
    assert (restored.horizon, restored.step, restored.max_weight) == (50, 0.25, 2.0)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_state_does_not_grow_with_the_rounds(shape):
    forecaster = Forecaster(10_000, seed=1, **shape)
    rng = np.random.default_rng(0)
    forecaster.run(rng.random(2000))
    points = len(forecaster.run(rng.random(8000)).points)
    small = len(forecaster.to_json())
    forecaster.run(rng.random(300_000), record=False)
    # 12 numbers and 3 for each point, of 8 bytes, in base64; and then some
    assert len(forecaster.to_json()) <= 32 * points + 1000
    assert len(forecaster.to_json()) <= small + 50


# --- single events ---------------------------------------------------------------------------


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
@pytest.mark.parametrize("horizon", [None, 600])
def test_each_point_recommends_the_mean_of_what_it_saw(feedback, horizon):
    """The distribution has the mean of the recommendations: [FKO25, Thm 12] rests on that."""
    forecaster = Forecaster(horizon, feedback=feedback, seed=2)
    rng = np.random.default_rng(1)
    sums = {}
    for t in range(600):
        forecast = forecaster.predict()
        support = dict(zip(forecast.points.tolist(), forecast.weights.tolist(), strict=True))
        seen = {s: sums.get(s, (0.0, 0.0)) for s in support}
        recommended = {s: (ones + s) / (n + 1) for s, (n, ones) in seen.items()}
        if horizon is not None:  # what lies beyond an end is brought there
            points = forecaster.spec.levels[0].cells
            ends = tapered(points)[[0, -1]]
            recommended = {s: min(max(q, ends[0]), ends[1]) for s, q in recommended.items()}
            assert math.fsum(w * (recommended[s] - s) for s, w in support.items()) == pytest.approx(
                0.0, abs=1e-9
            )
        y = float(rng.random() < (0.2 if t // 100 % 2 else 0.8))
        forecaster.update(y)
        for s, w in support.items() if feedback == "distribution" else [(forecast.issued, 1.0)]:
            n, ones = sums.get(s, (0.0, 0.0))
            sums[s] = n + w, ones + w * y
    assert max(n for n, _ in sums.values()) > 50


def test_draws_of_equal_seeds_are_not_the_outcomes_over_again():
    forecaster = Forecaster(2000, seed=0)
    result = forecaster.run(np.random.default_rng(0).random(2000) < 0.5)
    assert forecaster.certificate().holds
    assert abs(result.issued.mean() - 0.5) < 0.1


@pytest.mark.parametrize("feedback", FEEDBACK)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_refining_keeps_pending_forecasts(feedback, shape):
    forecaster = Forecaster(feedback=feedback, seed=1, **shape)
    forecaster.run(np.tile([1, 0, 0], 20))
    waiting = [forecaster.predict() for _ in range(3)]
    before = [described(forecast) for forecast in waiting]
    sizes = {len(forecaster.run(np.tile([1, 0, 0, 1], 100)).points) for _ in range(12)}
    assert len(sizes) > 1 or "step" in shape, "refined"
    assert [described(forecast) for forecast in waiting] == before
    assert [described(forecast) for forecast in forecaster.pending] == before
    held = Forecaster.from_json(forecaster.to_json())
    for forecast, kept in zip(waiting, held.pending, strict=True):
        forecaster.update(1, forecast)
        held.update(1, kept)
    assert state_of(forecaster) == state_of(held)
    totals = point_columns(forecaster)[:, WEIGHT]
    assert math.fsum(totals) == pytest.approx(forecaster.rounds)


# --- weights ---------------------------------------------------------------------------------


def test_a_weight_stands_for_so_many_events():
    """One event of weight k is k events with the same forecast and outcome.

    It is in distribution mode, where equal forecasts teach the same points, if no outcome is
    learnt in between; the mean of what was seen does not depend on how it is split.
    """
    rng = np.random.default_rng(4)
    arguments = dict(horizon=500, feedback="distribution", max_weight=5.0, seed=1)
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
    assert weighted.rounds == 120
    assert column(weighted, MASS) == pytest.approx(column(repeated, MASS))


# --- what is shown ---------------------------------------------------------------------------


def test_forecasts_show_themselves():
    forecaster = Forecaster(100, seed=1)
    text = repr(forecaster.predict())
    assert text.startswith("Forecast(id=0, issued=0.") and "distribution={" in text


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_certificates_say_what_they_are_about(shape):
    for feedback, of in (("realised", "issued forecasts"), ("distribution", "distributions")):
        forecaster = Forecaster(100, feedback=feedback, seed=1, **shape)
        forecaster.run([1, 0] * 20)
        certificate = forecaster.certificate()
        assert certificate.quantity == "l2 calibration error"
        assert certificate.title == f"l2 calibration error of the {of}"
        assert certificate.on_average == (feedback == "realised")
        assert certificate.rounds == forecaster.rounds == 40
        assert certificate.holds and certificate.theorem in str(certificate)
        assert f"{forecaster.guarantee:.3g}"[:3] in forecaster.explain()


@pytest.mark.parametrize("whole", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_known_levels_are_those_that_are_found(whole):
    assert tapered_levels(None, whole) == tapered_levels(None, whole, known=False)

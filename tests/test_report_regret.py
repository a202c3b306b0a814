"""Regret curves of several learners, and records as frames."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fullswap as fs
from fullswap.metrics import full_swap_regret
from fullswap.report import regret_curves
from fullswap.report.regret import _curve
from pictures import all_words, artist

ROUNDS = np.array([10, 30, 100, 300, 1000, 3000])


@pytest.fixture(scope="module")
def played():
    disc = fs.sets.Ball([0.0, 0.0], 0.5)
    losses = fs.LossClass(lipschitz=1.0, concave=True)
    learner = fs.FullSwapLearner(disc, losses, horizon=200)
    adversary = fs.adversaries.ADVERSARIES["drift"](disc, losses, seed=0)
    return fs.simulate(learner, adversary, 200, progress=False), learner.certificate()


def test_a_record_is_measured(played):
    record, certificate = played
    figure = regret_curves({"ours": record, "given": ([100, 200], [5.0, 7.0], 9.0)})
    (line,) = artist(figure, "learner-1")
    assert line.get_xdata()[-1] == 200
    assert line.get_ydata()[-1] == pytest.approx(full_swap_regret(record))
    assert line.get_ydata()[-1] == pytest.approx(certificate.measured)
    assert artist(figure, "guaranteed-2") and not artist(figure, "guaranteed-1")
    assert f"ours: {certificate.measured:.3g}, T^" in all_words(figure)
    figure.savefig(io.BytesIO(), format="png")


@given(rate=st.floats(-1, 2), scale=st.floats(0.1, 1e4))
def test_the_rate_is_the_slope(rate, scale):
    curve = _curve("x", (ROUNDS, scale * ROUNDS**rate))
    assert curve.rate == pytest.approx(rate, abs=1e-6)


def test_guarantees_are_dashed_and_may_be_unknown():
    bounds = np.array([np.nan, 40, 50, 60, 70, 80])
    figure = regret_curves({"a": (ROUNDS, ROUNDS / 50, bounds), "b": (ROUNDS, ROUNDS, np.nan)})
    (line,) = artist(figure, "guaranteed-1")
    np.testing.assert_array_equal(line.get_ydata(), bounds)
    assert not artist(figure, "guaranteed-2")
    assert "(at most 80)" in all_words(figure)
    assert all(line.get_linestyle() == "-" for line in artist(figure, "learner-1"))


@pytest.mark.parametrize("log", [False, True])
def test_regrets_of_zero_and_below_can_be_drawn(log):
    curves = {"none": ([1, 2, 3], [0.0, 0.0, 0.0]), "below": ([1, 2, 3], [-1.0, 0.0, 2.0])}
    figure = regret_curves(curves, log=log)
    figure.savefig(io.BytesIO(), format="png")
    assert figure.axes[0].get_xscale() == ("log" if log else "linear")
    regret_curves({"none": ([1], [0.0])}, log=log).savefig(io.BytesIO(), format="png")


@pytest.mark.parametrize(
    ("learners", "message"),
    [
        ({}, "learners must be a mapping"),
        ([1], "learners must be a mapping"),
        ({"a": 3}, r"learners\['a'\] must be a Record"),
        ({"a": ([2, 1], [1.0, 1.0])}, "rounds of 'a' must be positive and ascending"),
        ({"a": ([0, 1], [1.0, 1.0])}, "rounds of 'a' must be positive and ascending"),
        ({"a": ([1, 2], [1.0])}, r"regret of 'a' must have shape \(2,\)"),
        ({"a": ([1, 2], [1.0, np.nan])}, "regret of 'a' must"),
        ({"a": ([1, 2], [1.0, 1.0], -1)}, "guaranteed of 'a' must be at least 0"),
        ({"a": ([1, 2], [1.0, 1.0], [1.0])}, "guaranteed of 'a' must have shape"),
        ({"a": ([1, 2], [1.0, 1.0], "much")}, "guaranteed of 'a' must be numbers"),
    ],
)
def test_bad_learners(learners, message):
    with pytest.raises(ValueError, match=message):
        regret_curves(learners)


# --- Records as frames ----------------------------------------------------------------------


def test_a_learners_record_is_a_frame(played):
    record, _ = played
    frame = record.to_frame()
    assert list(frame.columns) == ["round", "mean_1", "mean_2", "support", "loss"]
    assert len(frame) == 200 and frame["round"].tolist() == list(range(1, 201))
    long = record.to_frame(long=True)
    assert list(long.columns) == ["round", "point_1", "point_2", "weight"]
    np.testing.assert_allclose(long.groupby("round")["weight"].sum(), 1)
    np.testing.assert_array_equal(long.groupby("round").size(), frame["support"])
    for k in (1, 2):
        mean = (long[f"point_{k}"] * long["weight"]).groupby(long["round"]).sum()
        np.testing.assert_allclose(mean, frame[f"mean_{k}"], atol=1e-12)


def test_losses_are_means_over_the_mixture(played):
    record, _ = played
    rows = [fs.losses.Quadratic([0.2, 0.1], scale=1.5), fs.losses.Linear([1.0, -2.0], 0.5)]
    rows = [rows[t % 2] for t in range(len(record))]
    kept = dict(points=record.points, indices=record.indices, shares=record.shares)
    as_objects = fs.Record(**kept, action_set=record.action_set, losses=tuple(rows))
    table = np.array([loss.coefficients for loss in rows])
    as_rows = fs.Record(**kept, action_set=record.action_set, losses=table)
    slow = [
        float(w @ loss.value(record.points[places]))
        for loss, places, w in zip(rows, record.indices, record.weights, strict=True)
    ]
    np.testing.assert_allclose(as_objects.loss, slow)
    np.testing.assert_allclose(as_rows.loss, slow, atol=1e-12)


def test_a_forecasters_record_is_a_frame():
    record = fs.Forecaster(50, seed=1).run(np.arange(50) % 2)
    frame = record.to_frame()
    assert list(frame.columns) == ["round", "mean", "support", "issued"]
    np.testing.assert_array_equal(frame["issued"], record.issued)
    np.testing.assert_allclose(frame["mean"], record.mean)
    long = record.to_frame(long=True)
    assert (long[long["issued"]].groupby("round").size() == 1).all()
    np.testing.assert_array_equal(long[long["issued"]]["point"], record.issued)
    several = fs.MulticlassForecaster(3, 20, seed=1).run([0, 1, 2, 1])
    assert "issued_3" in several.to_frame().columns
    assert record.to_frame(backend="polars").height == 50
    assert (
        repr(record) == f"<Record: 50 forecasts, each of up to 2 among {len(record.points)} points>"
    )


def test_frames_need_their_extra(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "narwhals", None)
    with pytest.raises(ImportError, match=r"pip install 'fullswap\[frames\]'"):
        fs.Forecaster(50, seed=1).run([1, 0]).to_frame()

"""Calibration error as it grows, against slow sums, beside guarantees of every kind."""

import io
import math

import numpy as np
import pytest
from matplotlib.figure import Figure

from fullswap.report import calibration_history
from fullswap.report.bands import yes_no_events
from fullswap.report.history import checkpoints, running_error
from pictures import calibrated, slow_error


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("log", [False, True])
def test_history_equals_slow_sums(weighted, log):
    y, p = calibrated(900, seed=20)
    w = np.random.default_rng(21).exponential(size=900) if weighted else np.ones(900)
    figure = calibration_history(y, p, sample_weight=w if weighted else None, log=log)
    (line,) = figure.axes[0].lines
    rounds = line.get_xdata()
    assert rounds[0] == 1 and rounds[-1] == 900 and 100 < len(rounds) <= 200
    slow = np.array([slow_error(y[:t], p[:t], w[:t]) for t in rounds])
    shown = np.nan_to_num(line.get_ydata())
    np.testing.assert_allclose(shown, slow, rtol=1e-10, atol=1e-12)
    assert line.get_label() == f"measured: {slow[-1]:.3g}"
    assert (
        figure.axes[0].get_yscale() == figure.axes[0].get_xscale() == ("log" if log else "linear")
    )


def test_history_of_distinct_forecasts_is_the_sum_of_squares():
    y, p = calibrated(700, seed=22, forecasts=np.random.default_rng(22).random(10**6))
    assert len(np.unique(p)) == 700
    rounds = checkpoints(700, log=False)
    expected = np.cumsum((p - y) ** 2)[rounds - 1]
    np.testing.assert_allclose(running_error(yes_no_events(y, p), rounds), expected)


def test_guarantee_is_drawn():
    y, p = calibrated(500, seed=23)
    level = calibration_history(y, p, guarantee=20).axes[0].lines[1]
    assert set(level.get_ydata()) == {20.0}
    assert level.get_label() == "guaranteed for the horizon: 20"
    asked = []

    def cube_root(rounds):
        asked.append(rounds)
        return 3 * rounds ** (1 / 3)

    curve = calibration_history(y, p, guarantee=cube_root).axes[0].lines[1]
    np.testing.assert_allclose(curve.get_ydata(), 3 * np.cbrt(curve.get_xdata()))
    assert curve.get_label() == f"guaranteed: {3 * 500 ** (1 / 3):.3g}"
    assert all(type(rounds) is int for rounds in asked) and asked[-1] == 500


@pytest.mark.parametrize("guarantee", [None, 0.0, 5.0])
def test_history_without_error_can_be_drawn(guarantee):
    figure = calibration_history([0, 1, 0], [0.0, 1.0, 0.0], guarantee=guarantee)
    figure.savefig(io.BytesIO(), format="png")
    assert np.isnan(figure.axes[0].lines[0].get_ydata()).all()
    assert figure.axes[0].get_yscale() == ("log" if guarantee else "linear")


def test_history_of_one_event_can_be_drawn():
    for log in (False, True):
        calibration_history([1], [0.4], guarantee=2, log=log).savefig(io.BytesIO(), format="png")


@pytest.mark.parametrize(
    ("guarantee", "message"),
    [
        (-1.0, "guarantee must be finite and at least 0, got -1.0"),
        (np.inf, "guarantee must .*, got inf"),
        ("much", "guarantee must .*, got 'much'"),
        (lambda t: 1 / (t - 3) if t != 3 else math.nan, r"guarantee\(1\) must .*, got -0.5"),
    ],
)
def test_bad_guarantee(guarantee, message):
    axes = Figure().subplots()
    with pytest.raises(ValueError, match=message):
        calibration_history([0.0, 1.0, 1.0], [0.2, 0.5, 0.5], guarantee=guarantee, ax=axes)
    assert not axes.has_data()

"""The decision curve: its corners against slow sums, its guarantee, and what it refuses."""

import io
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from fullswap import Forecaster, MulticlassForecaster
from fullswap.report import decision_curve, draw_decisions
from fullswap.report.style import VERMILION
from pictures import all_words as words
from pictures import artist, calibrated, slow_error, slow_groups


def curve(figure):
    return figure.axes[0].lines[0].get_xydata()


@pytest.mark.parametrize("weighted", [False, True])
def test_area_is_half_the_mean_squared_error(weighted):
    y, p = calibrated(600, seed=1)
    w = np.random.default_rng(2).exponential(size=600) if weighted else np.ones(600)
    figure = decision_curve(y, p, sample_weight=w if weighted else None)
    ratios, losses = curve(figure).T
    area = (np.diff(ratios) * (losses[1:] + losses[:-1]) / 2).sum() / 100
    assert area == pytest.approx(slow_error(y, p, w) / w.sum() / 2)
    assert (np.diff(ratios) >= 0).all() and ratios[0] == 0 and ratios[-1] == 1


def test_curve_passes_through_slow_regrets():
    y, p = calibrated(300, seed=3)
    groups = slow_groups(y, p, np.ones(300))
    ratios, losses = curve(decision_curve(y, p)).T
    for c in (0.031, 0.2718, 0.513, 0.777):
        regret = 0.0
        for forecast, (frequency, weight) in groups.items():
            cost = c if forecast > c else frequency
            regret += weight * (cost - min(c, frequency)) / 300
        assert np.interp(c, ratios, losses) == pytest.approx(100 * regret, abs=1e-9)


def test_guarantee_is_a_level_line():
    forecaster = Forecaster(500, seed=1)
    record = forecaster.run((np.arange(500) % 4 == 0).astype(float))
    certificate = replace(forecaster.certificate(), guaranteed=2.0)  # near enough to be drawn
    alone = decision_curve(certificate, title="Title")
    (level,) = artist(alone, "guaranteed")
    assert level.get_color() == VERMILION
    assert level.get_ydata()[0] == pytest.approx(100 * (certificate.guaranteed / 500) ** 0.5)
    assert "500 forecasts" in words(alone) and "on average over ratios" in words(alone)
    assert words(alone).count("Title") == 1
    assert "500 events" in words(decision_curve(np.arange(500) % 4 == 0, record))
    both = decision_curve(np.arange(500) % 4 == 0, record, certificate=certificate)
    np.testing.assert_allclose(curve(both), curve(alone), atol=1e-9)
    assert len(both.axes[0].lines) == 3
    assert len(decision_curve(np.arange(500) % 4 == 0, record).axes[0].lines) == 2


def test_a_guarantee_far_above_is_said_and_does_not_flatten_the_curve():
    table = np.array([0.5]), np.array([100.0]), np.array([0.49])
    near, far = (draw_decisions({"measured": table}, level) for level in (0.02, 0.4))
    assert artist(near, "guaranteed") and not artist(far, "guaranteed")
    assert "guaranteed at every ratio: 40 %, above the picture" in words(far)
    assert "guaranteed at every ratio: 2 %" in words(near)
    assert far.axes[0].get_ylim()[1] < 1.2 < 2 <= near.axes[0].get_ylim()[1]


def test_before_and_after_share_axes():
    before = np.array([0.5]), np.array([10.0]), np.array([0.2])
    after = np.array([0.25]), np.array([10.0]), np.array([0.2])
    figure = draw_decisions({"before": before, "after": after}, 0.2, lines=["12 keys"])
    assert artist(figure, "before") and artist(figure, "after")
    assert figure.axes[0].get_ylim()[1] > 30
    assert "12 keys" in words(figure) and "worst: 30 % at 0.5" in words(figure)


def test_a_certificate_without_a_table_brings_no_line():
    several = MulticlassForecaster(3, 30, seed=1)
    several.run([0, 1, 2] * 10)
    figure = decision_curve([0, 1], [0.2, 0.2], certificate=several.certificate())
    assert len(figure.axes[0].lines) == 2
    with pytest.raises(ValueError, match="yes-or-no"):
        decision_curve(several.certificate())


def test_continuous_forecasts_are_binned():
    rng = np.random.default_rng(4)
    p = rng.random(1000)
    assert "10 bins" in words(decision_curve(rng.random(1000) < p, p))
    assert "4 bins" in words(decision_curve(rng.random(1000) < p, p, bins=4))


def test_axes_of_others_are_drawn_on_and_saved():
    figure = Figure()
    assert decision_curve([0, 1, 1], [0.3, 0.3, 0.9], ax=figure.add_subplot()) is figure
    figure.savefig(io.BytesIO(), format="png")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], None), "y_proba must be given"),
        (([0, 1], [0.2, 1.2]), "y_proba must"),
        (([0, 1], [0.2]), "y_true must"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        decision_curve(*arguments)
    certificate = Forecaster(10).certificate()
    with pytest.raises(ValueError, match="certificate must be a Certificate"):
        decision_curve([0, 1], [0.2, 0.3], certificate=3)
    with pytest.raises(ValueError, match="got none so far"):
        decision_curve(certificate)
    with pytest.raises(ValueError, match="must come alone"):
        decision_curve(certificate, [0.2])

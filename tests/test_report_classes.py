"""Diagrams from parts: single ones, and those of classes side by side."""

import io

import numpy as np
import pytest
from matplotlib.figure import Figure

from fullswap.metrics.bins import bins_of
from fullswap.metrics.cells import Cells
from fullswap.metrics.corp import curve_of
from fullswap.report import draw_classes, draw_reliability
from fullswap.report.scale import _rounded_up
from pictures import all_dots, all_words, artist, calibrated, parts, words


def part(label, seed, error=0.0):
    y, p = calibrated(300, seed)
    y[: int(300 * error)] = 1.0
    return (label, *parts(y, p, 6, draws=10))


def titles(figure):
    return [axes.get_title(loc="left").split("\n")[0] for axes in figure.axes if axes.axison]


def test_parts_are_drawn_as_they_are():
    curve, bins, cells = parts(*calibrated(800, seed=1), 9)
    figure = draw_reliability(curve, bins, cells, title="Title")
    shown = all_dots(figure)
    np.testing.assert_array_equal(shown[:, 0], bins.forecast)
    np.testing.assert_array_equal(shown[:, 1], bins.frequency)
    (line,) = artist(figure, "curve")
    drawn = np.interp(curve.forecast, *line.get_data())
    np.testing.assert_allclose(drawn, curve.frequency, atol=0.002)
    assert f"800 events, 9 bins, {100 * bins.error:.1f} points off" in words(figure)
    heights = figure.axes[1].patches[0].get_data().values
    assert heights.sum() == 800


def test_rows_that_share_an_outcome_widen_the_ranges():
    rng = np.random.default_rng(3)
    event = np.repeat(np.arange(60), 10)
    p = np.clip(np.repeat(rng.random(60), 10) + rng.normal(0, 0.02, 600), 0.01, 0.99)
    y = np.repeat(rng.random(60) < p[::10], 10).astype(float)
    spans = []
    for codes in (None, event):
        cells = Cells.of_events(y, p, None, codes)
        figure = draw_reliability(curve_of(cells), bins_of(cells), cells)
        ends = artist(figure, "ranges")[0].get_ydata().reshape(-1, 3)
        spans.append((ends[:, 1] - ends[:, 0]).mean())
    assert spans[1] > 2 * spans[0]
    assert "600 forecasts of 60 events" in words(figure)


def test_weights_are_named():
    y, p = calibrated(300, seed=4)
    w = np.random.default_rng(5).exponential(size=300)
    figure = draw_reliability(*parts(y, p, 6, w))
    assert figure.axes[1].get_ylabel() == "weight"


def test_classes_are_ranked_and_counted():
    given = [part(f"class {k}", k, error=0.03 * k) for k in range(12)]
    figure = draw_classes(given)
    ranked = sorted(given, key=lambda one: -one[2].error)
    assert titles(figure) == [one[0] for one in ranked[:9]]
    assert "classes, worst first; and 3 more" in all_words(figure)
    figure = draw_classes(given, top=part("top label", 99))
    assert titles(figure)[0] == "top label" and len(titles(figure)) == 9
    assert "and 4 more" in all_words(figure)


def test_a_panel_shows_its_class():
    given = [part("a", 1), part("b $5 or $6", 2, 0.3), part("c", 3)]
    figure = draw_classes(given)
    _, curve, bins, _ = given[1]
    first = figure.axes[0]
    assert first.get_title(loc="left") == f"b \\$5 or \\$6\n{100 * bins.error:.1f} points off"
    line = next(line for line in first.lines if line.get_gid() == "curve")
    drawn = np.interp(curve.forecast, *line.get_data())
    np.testing.assert_allclose(drawn, curve.frequency, atol=0.02)
    offsets = np.vstack([kind.get_offsets() for kind in first.collections])
    assert sorted(offsets[:, 1].tolist()) == sorted(bins.frequency.tolist())
    # One axis for all: numbers at the left only.
    assert first.yaxis.get_tick_params()["labelleft"]
    assert not figure.axes[1].yaxis.get_tick_params()["labelleft"]


def test_panels_of_rare_classes_have_their_own_axes():
    y, p = calibrated(2000, 6, np.geomspace(0.001, 0.05, 40))
    figure = draw_classes([("rare", *parts(y, p, 6, draws=10)), part("usual", 1)])
    scales = {axes.get_title(loc="left").split("\n")[0]: axes.get_xscale() for axes in figure.axes}
    assert scales == {"rare": "logit", "usual": "linear"}
    notes = {
        axes.get_title(loc="left").split("\n")[0]: axes.get_title(loc="left")
        for axes in figure.axes
    }
    assert notes["rare"].endswith("; log scale") and "log scale" not in notes["usual"]
    assert figure.axes[1].yaxis.get_tick_params()["labelleft"]


@pytest.mark.parametrize("count", [1, 4, 5])
def test_subfigures_and_odd_numbers(count):
    figure = Figure(figsize=(12, 6), layout="constrained")
    left, right = figure.subfigures(1, 2)
    assert draw_classes([part(str(k), k) for k in range(count)], figure=left) is figure
    assert len(titles(left)) == count and not right.axes
    figure.savefig(io.BytesIO(), format="png")


def test_a_class_is_needed():
    with pytest.raises(ValueError, match="parts must have one class at least"):
        draw_classes([])


@pytest.mark.parametrize(
    ("share", "end"),
    [
        (1.0, 1.0),
        (0.37, 0.4),
        (0.5, 0.5),
        (0.07, 0.08),
        (0.81, 0.9),
        (0.993, 0.995),
        (0.998, 0.999),
    ],
)
def test_ends_of_axes_are_round(share, end):
    assert _rounded_up(share) == pytest.approx(end, abs=1e-12)
    assert _rounded_up(_rounded_up(share)) == pytest.approx(end, abs=1e-12)

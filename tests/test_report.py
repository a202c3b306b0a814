"""The reliability diagram: its data against slow sums, its look, and what it refuses."""

import io
import subprocess
import sys

import numpy as np
import pytest
from matplotlib import rcParams
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from fullswap import Record
from fullswap.report import calibration_history, reliability_diagram
from fullswap.report.bands import (
    consistency_band,
    expected_outside,
    group_events,
    yes_no_events,
)
from fullswap.report.style import BLUE, VERMILION
from pictures import (
    GRID,
    all_dots,
    artist,
    calibrated,
    dots,
    slow_cells,
    slow_curve,
    slow_error,
    slow_groups,
    slow_isotonic,
    words,
)


@pytest.mark.parametrize("weighted", [False, True])
def test_dots_and_counts_equal_slow_sums(weighted):
    y, p = calibrated(600, seed=1)
    w = np.random.default_rng(2).exponential(size=600) if weighted else np.ones(600)
    figure = reliability_diagram(y, p, sample_weight=w if weighted else None)
    expected = slow_groups(y, p, w)
    shown = all_dots(figure)
    np.testing.assert_array_equal(shown[:, 0], list(expected))
    np.testing.assert_allclose(shown[:, 1], [freq for freq, _ in expected.values()], atol=1e-12)
    counts = figure.axes[1].containers[0]
    heights = [bar.get_height() for bar in counts]
    np.testing.assert_allclose(heights, [total for _, total in expected.values()])
    centres = [bar.get_x() + bar.get_width() / 2 for bar in counts]
    np.testing.assert_allclose(centres, list(expected), atol=1e-12)
    assert figure.axes[1].get_ylabel() == ("weight" if weighted else "events")


def test_area_is_proportional_to_count():
    y, p = np.zeros(70), np.repeat([0.2, 0.5, 0.8], [10, 20, 40])
    areas = all_dots(reliability_diagram(y, p))[:, 2]
    np.testing.assert_allclose(areas / areas[0], [1, 2, 4])


def test_numbers_above_the_diagram():
    y, p = calibrated(600, seed=3)
    w = np.random.default_rng(4).integers(1, 4, 600)
    text = words(reliability_diagram(y, p, sample_weight=w, title="Title"))
    error = slow_error(y, p, w)
    brier = sum(w * (p - y) ** 2) / sum(w)
    assert "600 events, 21 forecasts" in text
    assert f"calibration error {error:.3g}, per unit of weight {error / sum(w):.3g}" in text
    assert f"Brier score {brier:.4f}" in text


def test_whole_weights_are_repeated_events_in_dots():
    y, p = calibrated(300, seed=5)
    w = np.random.default_rng(6).integers(0, 4, 300)
    weighted = all_dots(reliability_diagram(y, p, sample_weight=w, grid=GRID))
    repeated = all_dots(reliability_diagram(np.repeat(y, w), np.repeat(p, w), grid=GRID))
    np.testing.assert_allclose(weighted, repeated)


def test_events_of_weight_zero_are_as_if_absent():
    y, p = [0, 1, 1, 0, 1], [0.2, 0.2, 0.9, 0.9, 0.4]
    w = [1, 2, 1, 3, 0]
    diagram = reliability_diagram(y, p, sample_weight=w)
    assert "4 events, 2 forecasts" in words(diagram)
    assert all_dots(diagram)[:, 0].tolist() == [0.2, 0.9]
    history = calibration_history(y, p, sample_weight=w)
    assert history.axes[0].lines[0].get_xdata().tolist() == [1, 2, 3, 4]


def test_ranges_of_dots_and_diamonds_outside():
    y, p = calibrated(2000, seed=14)
    y[p == GRID[4]] = 1.0
    figure = reliability_diagram(y, p, band=0.8)
    groups = group_events(yes_no_events(y, p))
    low, high = consistency_band(groups.forecast, groups.trials, 0.8)
    (ranges,) = artist(figure, "ranges")
    x, ends = (values.reshape(21, 3) for values in ranges.get_data())
    np.testing.assert_array_equal(x, np.repeat(groups.forecast, 3).reshape(21, 3))
    np.testing.assert_array_equal(ends[:, :2], np.column_stack([low, high]))
    assert np.isnan(ends[:, 2]).all()
    beyond = (groups.frequency < low - 1e-9) | (groups.frequency > high + 1e-9)
    assert beyond[4] and not beyond.all()
    found = dots(figure)
    np.testing.assert_array_equal(found["outside"].get_offsets()[:, 0], groups.forecast[beyond])
    np.testing.assert_array_equal(found["observed"].get_offsets()[:, 0], groups.forecast[~beyond])
    assert f"{beyond.sum()} of 21 dots outside, " in words(figure)
    assert tuple(found["outside"].get_edgecolor()[0]) == to_rgba(VERMILION)
    assert tuple(found["observed"].get_facecolor()[0]) == to_rgba(BLUE)
    names = [t.get_text() for t in figure.legends[0].get_texts()]
    assert {"80 % range of a dot", "80 % band of the curve", "best re-reading"} <= set(names)


def test_number_expected_outside_is_that_of_simulations():
    forecast, trials = np.array([0.02, 0.3, 0.5, 0.77]), np.array([30.0, 20, 500, 1])
    low, high = consistency_band(forecast, trials, 0.9)
    rng = np.random.default_rng(8)
    drawn = rng.binomial(trials.astype(int), forecast, (40_000, 4)) / trials
    outside = ((drawn < low - 1e-9) | (drawn > high + 1e-9)).sum(axis=1)
    expected = expected_outside(forecast, trials, 0.9)
    assert expected == pytest.approx(outside.mean(), abs=0.008)
    assert 0.05 < expected < 0.4


def test_curve_and_band_are_those_of_all_forecasts():
    y, p = calibrated(900, seed=15)
    figure = reliability_diagram(y, p)
    cells = slow_cells(y, p)
    fit = slow_isotonic(cells.frequency, cells.weight)
    (curve,), (band,) = artist(figure, "curve"), artist(figure, "band")
    np.testing.assert_allclose(np.interp(cells.forecast, *curve.get_data()), fit, atol=0.002)
    # The band goes round the diagonal: along the lower end, and back along the upper one.
    corners = band.get_xy()
    turn = int(corners[:, 0].argmax())
    low = np.interp(cells.forecast, *corners[: turn + 1].T)
    inner = slice(1, -1)  # where the ends meet, there are two heights
    low, high = low[inner], np.interp(cells.forecast[inner], *corners[turn + 1 :][::-1].T)
    slow = slow_curve(cells, draws=400)
    between = cells.forecast[inner]
    assert np.all(low <= between + 0.003) and np.all(high >= between - 0.003)
    np.testing.assert_allclose(low, slow.low[inner], atol=0.06)
    np.testing.assert_allclose(high, slow.high[inner], atol=0.06)
    assert max(np.abs(low - slow.low[inner]).mean(), np.abs(high - slow.high[inner]).mean()) < 0.02


def test_counts_of_continuous_forecasts_are_a_histogram():
    y, p = calibrated(5000, seed=15, forecasts=np.random.default_rng(15).random(4000))
    figure = reliability_diagram(y, p, bins=10)
    assert "of the bins" in words(figure)
    heights = figure.axes[1].patches[0].get_data().values
    np.testing.assert_array_equal(heights, np.histogram(p, 50, (0, 1))[0])
    w = np.random.default_rng(24).exponential(size=len(p))
    weighted = reliability_diagram(y, p, bins=10, sample_weight=w).axes[1].patches[0]
    expected = np.histogram(p, 50, (0, 1), weights=w)[0]
    np.testing.assert_allclose(weighted.get_data().values, expected)


def test_small_groups_fade():
    counts = [2, 8, 20, 400]
    p = np.repeat([0.2, 0.4, 0.6, 0.8], counts)
    y = np.concatenate(
        [np.arange(n) < round(n * f) for n, f in zip(counts, (0.2, 0.4, 0.6, 0.8), strict=True)]
    )
    opacity = dots(reliability_diagram(y, p))["observed"].get_facecolor()[:, 3]
    np.testing.assert_allclose(opacity, [0.7, 0.7, (20 / 30) ** 0.5, 1])


def test_a_record_stands_for_what_it_issued():
    y, p = calibrated(400, seed=25)
    indices = np.searchsorted(GRID, p)
    record = Record.of_forecasts(GRID, indices[:, None], np.ones((400, 1)), indices)
    shown, expected = reliability_diagram(y, record), reliability_diagram(y, p)
    np.testing.assert_array_equal(all_dots(shown), all_dots(expected))
    assert words(shown) == words(expected)
    lines = [calibration_history(y, about).axes[0].lines[0].get_ydata() for about in (record, p)]
    np.testing.assert_array_equal(*lines)


# --- The picture --------------------------------------------------------------------------


def test_axes_show_what_is_drawn():
    y, p = calibrated(3000, seed=16)
    figure = reliability_diagram(y, p, grid=GRID, title="Title")
    main, counts = figure.axes
    assert main.get_title(loc="left") == "Title"
    assert main.get_ylabel() == "observed frequency"
    assert counts.get_xlabel() == "forecast probability"
    np.testing.assert_allclose(main.get_xlim(), (-0.025, 1.025))
    assert main.get_ylim() == main.get_xlim() == counts.get_xlim()
    marks = next(line for line in main.lines if line.get_label() == "grid")
    np.testing.assert_array_equal(marks.get_xdata(), GRID)
    boxes = [axes.get_position() for axes in (main, counts)]
    assert (boxes[0].x0, boxes[0].width) == pytest.approx((boxes[1].x0, boxes[1].width))
    width, height = figure.get_size_inches()
    assert boxes[0].width * width == pytest.approx(boxes[0].height * height)


@pytest.mark.parametrize("outside", [False, True])
@pytest.mark.parametrize("grid", [None, GRID])
def test_legend_is_below_and_the_head_above(outside, grid):
    y, p = calibrated(3000, seed=16)
    if outside:
        y[p == GRID[4]] = 1.0
    figure = reliability_diagram(y, p, grid=grid, title="Title")
    figure.savefig(io.BytesIO(), format="png")
    legend = figure.legends[0].get_window_extent()
    main, counts = figure.axes
    assert legend.y0 >= 0 and legend.y1 <= counts.xaxis.label.get_window_extent().y0
    words = main.texts[0].get_window_extent()
    title = main._left_title.get_window_extent()
    assert main.get_window_extent().y1 < words.y0 and words.y1 <= title.y0 + 1
    assert title.y1 <= figure.bbox.y1


def test_rare_and_frequent_events_fill_the_axes():
    rng = np.random.default_rng(17)
    p = rng.beta(0.5, 60, 5000)
    y = rng.random(5000) < p
    low, high = reliability_diagram(y, p, log_odds=False).axes[0].get_xlim()
    assert low < 0 and p.mean() < high < 0.2
    # The same picture, turned around.
    turned = reliability_diagram(~y, 1 - p, log_odds=False).axes[0].get_xlim()
    np.testing.assert_allclose(turned, (1 - high, 1 - low), atol=0.02)


def test_rare_and_frequent_events_have_log_odds():
    rng = np.random.default_rng(17)
    p = rng.beta(2, 80, 5000)
    y = rng.random(5000) < p
    figure = reliability_diagram(y, p)
    main, counts = figure.axes
    assert main.get_xscale() == main.get_yscale() == counts.get_xscale() == "logit"
    names = [label.get_text() for label in counts.get_xticklabels()]
    assert {"1 %", "10 %"} <= set(names)
    for tick, name in zip(counts.get_xticks(), names, strict=True):
        assert name == "0" or float(name.removesuffix(" %")) == pytest.approx(100 * tick)
    # No event is lost, and dots stand where they should.
    assert counts.patches[0].get_data().values.sum() == 5000
    groups = group_events(yes_no_events(y, p))
    low, high = main.get_xlim()
    np.testing.assert_array_equal(all_dots(figure)[:, 1], np.clip(groups.frequency, low, high))
    turned = reliability_diagram(~y, 1 - p).axes[0].get_xlim()
    np.testing.assert_allclose(turned, (1 - high, 1 - low), rtol=0.1)
    assert reliability_diagram(y, p, log_odds=False).axes[0].get_xscale() == "linear"
    assert reliability_diagram([0, 1], [0.4, 0.6], log_odds=True).axes[0].get_xscale() == "logit"


@pytest.mark.parametrize(
    ("y", "p"),
    [([0], [0.0]), ([1], [1.0]), ([1], [0.0]), ([0.5], [0.5]), ([0] * 9, [0.3] * 9)],
)
@pytest.mark.parametrize(("bins", "log_odds"), [(None, None), (1, None), (5, True)])
def test_smallest_data(y, p, bins, log_odds):
    figure = reliability_diagram(y, p, bins=bins, log_odds=log_odds)
    figure.savefig(io.BytesIO(), format="png")
    shown = np.array([[p[0], y[0]]])
    if log_odds:
        shown = np.clip(shown, *figure.axes[0].get_xlim())
    assert all_dots(figure)[:, :2].tolist() == shown.tolist()


@pytest.mark.parametrize("draw", [reliability_diagram, calibration_history])
@pytest.mark.parametrize(("form", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_saving(draw, form, start):
    stream = io.BytesIO()
    draw(*calibrated(200, seed=18)).savefig(stream, format=form)
    assert stream.getvalue().startswith(start)


def test_given_axes_are_used():
    figure = Figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subfigures(1, 2)
    first, second = left.subplots(), right.subplots()
    y, p = calibrated(400, seed=19)
    assert reliability_diagram(y, p, ax=first) is figure
    assert calibration_history(y, p, ax=second) is figure
    assert first.get_ylabel() == "observed frequency" and first.get_legend() is not None
    assert second.get_xlabel() == "events"
    assert [axes.get_xlabel() for axes in first.child_axes] == ["forecast probability"]
    figure.savefig(io.BytesIO(), format="png")
    # All that is written lies within the figure.
    box = first.child_axes[0].get_tightbbox()
    assert box.y0 >= 0 and box.x0 >= 0


def test_the_legend_covers_no_data_where_a_layout_makes_room():
    y, p = calibrated(10, seed=3)
    figure = Figure(figsize=(4, 5.6), layout="constrained")
    axes = figure.subplots()
    reliability_diagram(y, p, ax=axes)
    figure.savefig(io.BytesIO(), format="png")
    assert axes.get_legend().get_window_extent().y0 >= axes.get_window_extent().y1
    assert axes.get_legend().get_window_extent().y1 <= 5.6 * figure.dpi
    assert axes.child_axes[0].get_tightbbox().y0 >= 0


def test_counts_take_a_strip_of_axes_without_a_layout():
    figure = Figure(figsize=(5, 5))
    y, p = calibrated(400, seed=19)
    reliability_diagram(y, p, ax=figure.subplots())
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "forecast probability"]
    figure.savefig(io.BytesIO(), format="png")
    assert figure.axes[1].get_tightbbox().y0 >= 0


def test_no_global_state():
    program = (
        "import sys, fullswap.report as r\n"
        "assert 'matplotlib' not in sys.modules and 'scipy' not in sys.modules\n"
        "from io import BytesIO\n"
        "from matplotlib.figure import Figure\n"
        "y, p = [0, 1, 1, 0], [0.2, 0.2, 0.8, 0.8]\n"
        "for draw in (r.reliability_diagram, r.calibration_history):\n"
        "    draw(y, p).savefig(BytesIO(), format='png')\n"
        "    draw(y, p, ax=Figure().subplots()).savefig(BytesIO(), format='svg')\n"
        "from numpy import array\n"
        "from fullswap.metrics.cells import Cells\n"
        "cells = Cells.of_events(array(y, float), array(p))\n"
        "r.draw_benefit(cells), r.draw_evidence([1, 2], [0.1, 0.2])\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_settings_stay_as_they_are():
    before = dict(rcParams)
    reliability_diagram([0, 1], [0.2, 0.8])
    calibration_history([0, 1], [0.2, 0.8])
    assert dict(rcParams) == before


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for draw in (reliability_diagram, calibration_history):
        with pytest.raises(ImportError, match=r"pip install 'fullswap\[plot\]'"):
            draw([0, 1], [0.2, 0.8])


# --- Bad input ----------------------------------------------------------------------------

GOOD = [0.0, 1.0, 1.0]


@pytest.mark.parametrize("draw", [reliability_diagram, calibration_history])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(y_true=[0, np.nan, 1]), r"y_true must lie in \[0, 1\], got nan at position 1"),
        (dict(y_true=[0, 1, 2]), "y_true must .*, got 2.0 at position 2"),
        (dict(y_proba=[0.1, -0.1, 0.5]), "y_proba must .*, got -0.1 at position 1"),
        (dict(y_proba=[0.1, np.inf, 0.5]), "y_proba must .*, got inf at position 1"),
        (dict(y_proba=["a", "b", "c"]), r"y_proba must be numbers, got \['a', 'b', 'c'\]"),
        (dict(y_true=np.array(["0", "1", "x"], dtype=object)), "y_true must be 0 and 1, or words"),
        (
            dict(y_true=np.ma.array([0, 1, 1], mask=[0, 1, 0])),
            "y_true must be numbers, .* masked",
        ),
        (dict(y_proba=[None, 0.1, 0.2]), "y_proba must .*, got nan at position 0"),
        (dict(y_proba=[0.1, 0.2]), r"y_true must have shape \(2,\), got \(3,\)"),
        (dict(y_true=[], y_proba=[]), r"y_proba must have shape .* not empty, got \(0,\)"),
        (dict(y_true=1, y_proba=0.5), r"y_proba must have shape .*, got \(\)"),
        (
            dict(sample_weight=[1, -1, 1]),
            r"sample_weight must lie in \[0, .*, got -1.0 at",
        ),
        (dict(sample_weight=[1, np.nan, 1]), "sample_weight must .*, got nan at position 1"),
        (dict(sample_weight=[1, 1]), r"sample_weight must have shape \(3,\), got \(2,\)"),
        (dict(sample_weight=[0, 0, 0]), "sample_weight must be positive for some event"),
        (dict(sample_weight=[1, 1, 1e200]), "sample_weight must be 0 or lie in .*, got 1e.200"),
        (dict(sample_weight=[1e-200, 0, 1]), "sample_weight must be 0 or lie in .*, got 1e-200"),
    ],
)
def test_bad_events(draw, arguments, message):
    with pytest.raises(ValueError, match=message):
        draw(**(dict(y_true=GOOD, y_proba=[0.2, 0.5, 0.5]) | arguments))


def test_the_diagram_is_of_yes_no_events():
    with pytest.raises(
        ValueError, match=r"y_proba must have shape \(T,\) of yes/no .*, got \(3, 2\)"
    ):
        reliability_diagram(GOOD, [[0.1, 0.9]] * 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(bins=0), "bins must be a whole number >= 1, got 0"),
        (dict(bins=2.0), "bins must be a whole .*, got 2.0"),
        (dict(bins=True), "bins must be a whole .*, got True"),
        (dict(band=0), "band must lie strictly between 0 and 1, got 0"),
        (dict(band=1.0), "band must .*, got 1.0"),
        (dict(band=np.nan), "band must .*, got nan"),
        (dict(band="wide"), "band must .*, got 'wide'"),
        (dict(log_odds="yes"), "log_odds must be None, True or False, got 'yes'"),
        (dict(grid=[0, 1.5]), r"grid must lie in \[0, 1\], got 1.5 at position 1"),
        (dict(grid=[]), r"grid must have shape .*, got \(0,\)"),
    ],
)
def test_bad_options_of_the_diagram(options, message):
    axes = Figure().subplots()
    with pytest.raises(ValueError, match=message):
        reliability_diagram(GOOD, [0.2, 0.5, 0.5], ax=axes, **options)
    assert not axes.has_data() and len(axes.figure.axes) == 1

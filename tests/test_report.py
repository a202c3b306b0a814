"""Pictures of calibration: their data against slow sums, their bands against simulation."""

import io
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import rcParams
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from fullswap.report import calibration_history, reliability_diagram
from fullswap.report.bands import Groups, consistency_band, group_events
from fullswap.report.events import as_events
from fullswap.report.history import checkpoints, running_error
from fullswap.report.style import BLUE, VERMILION

GRID = np.linspace(0, 1, 21)


def calibrated(rounds, seed, forecasts=GRID):
    rng = np.random.default_rng(seed)
    p = rng.choice(forecasts, rounds)
    return (rng.random(rounds) < p).astype(float), p


def slow_groups(y, p, w):
    """Forecast -> (frequency, weight), one event at a time."""
    sums = {}
    for outcome, forecast, weight in zip(y, p, w, strict=True):
        hit, total = sums.get(forecast, (0.0, 0.0))
        sums[forecast] = (hit + weight * outcome, total + weight)
    return {key: (hit / total, total) for key, (hit, total) in sorted(sums.items())}


def slow_error(y, p, w):
    return sum(total * (f - freq) ** 2 for f, (freq, total) in slow_groups(y, p, w).items())


def dots(figure):
    """Offsets and areas of all dots, by colour of the edge: (inside, outside)."""
    found = {}
    for kind in figure.axes[0].collections:
        if kind.get_label().startswith(("observed", "outside")):
            found[kind.get_label().split(" ")[0]] = kind
    return found


def all_dots(figure):
    kinds = dots(figure).values()
    rows = np.vstack([np.column_stack([k.get_offsets(), k.get_sizes()]) for k in kinds])
    return rows[np.argsort(rows[:, 0])]


def words(figure):
    return "\n".join(text.get_text() for text in figure.axes[0].texts)


# --- Groups -------------------------------------------------------------------------------


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


def test_choice_between_single_forecasts_and_bins():
    rng = np.random.default_rng(7)

    def kind(p, **options):
        return group_events(as_events(np.zeros(len(p)), p), **options)

    percents = np.repeat(np.linspace(0, 1, 101), 5)
    assert not kind(percents).binned and len(kind(percents)) == 101
    assert kind(percents[:-5].repeat(2), bins=4).binned
    finer = np.repeat(np.linspace(0, 1, 102), 50)
    assert kind(finer).binned and len(kind(finer)) == math.ceil(5100 ** (1 / 3))
    assert not kind(finer, grid=np.linspace(0, 1, 102)).binned
    assert kind(finer, grid=GRID).binned
    assert kind(rng.random(50)).binned and len(kind(rng.random(50))) == 4
    assert len(kind(rng.random(8))) == 2
    assert not kind(np.array([0.1, 0.2])).binned


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 1), st.floats(0.01, 100)), min_size=1),
    st.integers(1, 12),
)
def test_bins_part_the_events(rows, bins):
    p, y, w = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    p /= 40
    groups = group_events(as_events(y, p, w), bins)
    assert 1 <= len(groups) <= bins
    assert np.all(np.diff(groups.forecast) > 0)
    assert groups.weight.sum() == pytest.approx(w.sum())
    assert groups.weight @ groups.forecast == pytest.approx(w @ p)
    assert groups.weight @ groups.frequency == pytest.approx(w @ y)
    # Beyond its share, a bin holds at most halves of the two forecasts at its ends, or one alone.
    heaviest = max(total for _, total in slow_groups(y, p, w).values())
    assert groups.weight.max() <= w.sum() / bins + heaviest + 1e-9


def test_a_heavy_forecast_has_its_bin_alone():
    rng = np.random.default_rng(8)
    p = np.concatenate([np.full(600, 0.25), rng.random(400)])
    groups = group_events(as_events(rng.random(1000) < p, p), bins=10)
    place = np.argmax(groups.weight)
    assert groups.forecast[place] == 0.25 and groups.weight[place] == 600


def test_bins_of_continuous_forecasts_have_equal_mass():
    p = np.random.default_rng(9).beta(0.3, 5, 2000)
    groups = group_events(as_events(np.zeros(2000), p), bins=20)
    order = np.sort(p).reshape(20, 100)
    np.testing.assert_array_equal(groups.weight, 100)
    np.testing.assert_allclose(groups.forecast, order.mean(axis=1))


# --- Bands --------------------------------------------------------------------------------


def slow_quantile(n, p, level):
    """Smallest k with P(Binomial(n, p) ≤ k) ≥ level."""
    total = 0.0
    for k in range(n + 1):
        total += math.comb(n, k) * p**k * (1 - p) ** (n - k)
        if total >= level - 1e-12:
            return k
    return n


def plain_groups(forecast, trials):
    forecast, trials = np.broadcast_arrays(np.asarray(forecast, float), np.asarray(trials, float))
    return Groups(forecast, forecast, trials, trials, binned=False)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_band_is_made_of_exact_quantiles(level):
    cases = [(n, p) for n in (1, 2, 7, 40, 200) for p in (0.0, 0.003, 0.3, 0.5, 0.91, 1.0)]
    trials, forecast = (np.array(column, dtype=float) for column in zip(*cases, strict=True))
    low, high = consistency_band(plain_groups(forecast, trials), level)
    for (n, p), bottom, top in zip(cases, low, high, strict=True):
        mean = n * p
        first = min(slow_quantile(n, p, (1 - level) / 2), math.floor(mean))
        last = max(slow_quantile(n, p, (1 + level) / 2), math.ceil(mean))
        assert (bottom, top) == pytest.approx((first / n, last / n))


def coverage(events_of, repetitions=400, level=0.9):
    """Share of repetitions in which each group of calibrated events lies in its interval."""
    inside = []
    for seed in range(repetitions):
        groups = group_events(*events_of(np.random.default_rng(seed)))
        low, high = consistency_band(groups, level)
        inside.append((groups.frequency >= low - 1e-9) & (groups.frequency <= high + 1e-9))
    return np.mean(inside, axis=0)


# Of 400 repetitions the share has standard deviation 0.015.


def test_calibrated_forecasts_lie_in_the_band():
    p = np.repeat([0.03, 0.3, 0.5, 0.85], [200, 400, 400, 300])
    shares = coverage(lambda rng: (as_events(rng.random(len(p)) < p, p),))
    assert len(shares) == 4
    assert np.all(shares > 0.86) and np.all(shares < 0.975)


def test_calibrated_bins_lie_in_the_band():
    p = np.random.default_rng(10).beta(0.5, 1.5, 3000)
    shares = coverage(lambda rng: (as_events(rng.random(len(p)) < p, p), 6))
    assert len(shares) == 6
    assert np.all(shares > 0.86) and np.all(shares < 0.985)


def test_weights_widen_the_band_as_much_as_they_must():
    rng = np.random.default_rng(11)
    p, w = np.repeat([0.2, 0.6], 400), rng.exponential(size=800)
    shares = coverage(lambda rng: (as_events(rng.random(len(p)) < p, p, w),))
    assert np.all(shares > 0.85) and np.all(shares < 0.95)
    trials = group_events(as_events(p > 0.5, p, w)).trials
    np.testing.assert_allclose(trials[0], w[:400].sum() ** 2 / (w[:400] ** 2).sum())


def test_equal_weights_change_nothing():
    y, p = calibrated(500, seed=12)
    plain = consistency_band(group_events(as_events(y, p)), 0.9)
    scaled = consistency_band(group_events(as_events(y, p, np.full(500, 0.1))), 0.9)
    np.testing.assert_array_equal(plain, scaled)


def test_unequal_forecasts_keep_the_promise_exactly():
    """Poisson-binomial probability of the interval, by convolution: at least the level."""
    rng = np.random.default_rng(13)
    for count in (1, 3, 10, 60):
        p = rng.random(count) ** 3
        law = np.ones(1)
        for q in p:
            law = np.convolve(law, [1 - q, q])
        groups = plain_groups([p.mean()], [count])
        for level in (0.05, 0.5, 0.9):
            low, high = consistency_band(groups, level)
            first, last = round(low[0] * count), round(high[0] * count)
            assert law[first : last + 1].sum() >= level - 1e-12


def test_bars_of_the_band_and_diamonds_outside():
    y, p = calibrated(2000, seed=14)
    y[p == GRID[4]] = 1.0
    figure = reliability_diagram(y, p, band=0.8)
    groups = group_events(as_events(y, p))
    low, high = consistency_band(groups, 0.8)
    bars = figure.axes[0].containers[0]
    np.testing.assert_allclose([bar.get_y() for bar in bars], low)
    np.testing.assert_allclose([bar.get_y() + bar.get_height() for bar in bars], high)
    beyond = (groups.frequency < low - 1e-9) | (groups.frequency > high + 1e-9)
    assert beyond[4] and not beyond.all()
    found = dots(figure)
    np.testing.assert_array_equal(found["outside"].get_offsets()[:, 0], groups.forecast[beyond])
    np.testing.assert_array_equal(found["observed"].get_offsets()[:, 0], groups.forecast[~beyond])
    assert found["outside"].get_label() == f"outside the band ({beyond.sum()} of 21)"
    assert tuple(found["outside"].get_edgecolor()[0]) == to_rgba(VERMILION)
    assert tuple(found["observed"].get_facecolor()[0]) == to_rgba(BLUE)
    assert "80 % band if calibrated" in [t.get_text() for t in figure.legends[0].get_texts()]


def test_area_of_the_band_in_bins():
    y, p = calibrated(5000, seed=15, forecasts=np.random.default_rng(15).random(4000))
    figure = reliability_diagram(y, p, bins=10)
    low, high = consistency_band(group_events(as_events(y, p), 10), 0.9)
    area = next(c for c in figure.axes[0].collections if "band if" in c.get_label())
    vertices = area.get_paths()[0].vertices
    for edge in (low, high):
        assert all(np.abs(vertices[:, 1] - value).min() < 1e-12 for value in edge)
    assert "of the bins" in words(figure)
    heights = figure.axes[1].patches[0].get_data().values
    np.testing.assert_array_equal(heights, np.histogram(p, 50, (0, 1))[0])
    w = np.random.default_rng(24).exponential(size=len(p))
    weighted = reliability_diagram(y, p, bins=10, sample_weight=w).axes[1].patches[0]
    expected = np.histogram(p, 50, (0, 1), weights=w)[0]
    np.testing.assert_allclose(weighted.get_data().values, expected)


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
    assert boxes[0].x0 == boxes[1].x0 and boxes[0].width == boxes[1].width
    width, height = figure.get_size_inches()
    assert boxes[0].width * width == pytest.approx(boxes[0].height * height)


def test_rare_and_frequent_events_fill_the_axes():
    rng = np.random.default_rng(17)
    p = rng.beta(0.5, 60, 5000)
    y = rng.random(5000) < p
    low, high = reliability_diagram(y, p).axes[0].get_xlim()
    assert low < 0 and p.mean() < high < 0.2
    # The same picture, turned around.
    turned = reliability_diagram(~y, 1 - p).axes[0].get_xlim()
    np.testing.assert_allclose(turned, (1 - high, 1 - low), atol=0.02)


@pytest.mark.parametrize(
    ("y", "p"),
    [([0], [0.0]), ([1], [1.0]), ([1], [0.0]), ([0.5], [0.5]), ([0] * 9, [0.3] * 9)],
)
@pytest.mark.parametrize("bins", [None, 1, 5])
def test_smallest_data(y, p, bins):
    figure = reliability_diagram(y, p, bins=bins)
    figure.savefig(io.BytesIO(), format="png")
    assert all_dots(figure)[:, :2].tolist() == [[p[0], y[0]]]


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
    assert [axes.get_xlabel() for axes in left.axes] == ["", "forecast probability"]
    figure.savefig(io.BytesIO(), format="png")


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


# --- History ------------------------------------------------------------------------------


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
    np.testing.assert_allclose(running_error(as_events(y, p), rounds), expected)


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


# --- Bad input ----------------------------------------------------------------------------

GOOD = [0.0, 1.0, 1.0]


@pytest.mark.parametrize("draw", [reliability_diagram, calibration_history])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(y_true=[0, np.nan, 1]), r"y_true\[1\] is nan; allowed: numbers in \[0, 1\]"),
        (dict(y_true=[0, 1, 2]), r"y_true\[2\] is 2.0; allowed"),
        (dict(y_proba=[0.1, -0.1, 0.5]), r"y_proba\[1\] is -0.1; allowed"),
        (dict(y_proba=[0.1, np.inf, 0.5]), r"y_proba\[1\] is inf; allowed"),
        (dict(y_proba=["a", "b", "c"]), r"y_proba is \['a', 'b', 'c'\]; allowed: arrays of numb"),
        (dict(y_true=np.array(["0", "1", "1"], dtype=object)), "y_true is .*arrays of numb"),
        (dict(y_true=np.ma.array([0, 1, 1], mask=[0, 1, 0])), "(?s)y_true is .*arrays of numb"),
        (dict(y_proba=[None, 0.1, 0.2]), r"y_proba\[0\] is nan; allowed"),
        (dict(y_proba=[0.1, 0.2]), "y_proba has length 2; allowed: 3, the length of y_true"),
        (dict(y_proba=[[0.1, 0.9]] * 3), r"y_proba has shape \(3, 2\); allowed: \(T,\)"),
        (dict(y_true=[], y_proba=[]), r"y_true has shape \(0,\); allowed: \(T,\) with T >= 1"),
        (dict(y_true=1, y_proba=0.5), r"y_true has shape \(\); allowed"),
        (dict(sample_weight=[1, -1, 1]), r"sample_weight\[1\] is -1.0; allowed: numbers in \[0"),
        (dict(sample_weight=[1, np.nan, 1]), r"sample_weight\[1\] is nan; allowed"),
        (dict(sample_weight=[1, 1]), "sample_weight has length 2; allowed: 3"),
        (dict(sample_weight=[0, 0, 0]), "sample_weight is 0 everywhere; allowed: at least one"),
        (dict(sample_weight=[1e-200, 0, 1]), "sample_weight holds 1e-200; allowed: 0 or numb"),
    ],
)
def test_bad_events(draw, arguments, message):
    with pytest.raises(ValueError, match=message):
        draw(**(dict(y_true=GOOD, y_proba=[0.2, 0.5, 0.5]) | arguments))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(bins=0), "bins is 0; allowed: integers >= 1, or None"),
        (dict(bins=2.0), "bins is 2.0; allowed: integers"),
        (dict(bins=True), "bins is True; allowed: integers"),
        (dict(band=0), "band is 0; allowed: numbers strictly between 0 and 1"),
        (dict(band=1.0), "band is 1.0; allowed"),
        (dict(band=np.nan), "band is nan; allowed"),
        (dict(band="wide"), "band is 'wide'; allowed"),
        (dict(grid=[0, 1.5]), r"grid\[1\] is 1.5; allowed: numbers in \[0, 1\]"),
        (dict(grid=[]), r"grid has shape \(0,\); allowed"),
    ],
)
def test_bad_options_of_the_diagram(options, message):
    axes = Figure().subplots()
    with pytest.raises(ValueError, match=message):
        reliability_diagram(GOOD, [0.2, 0.5, 0.5], ax=axes, **options)
    assert not axes.has_data() and len(axes.figure.axes) == 1


@pytest.mark.parametrize(
    ("guarantee", "message"),
    [
        (-1.0, "guarantee is -1.0; allowed: finite numbers >= 0"),
        (np.inf, "guarantee is inf; allowed"),
        ("much", "guarantee is 'much'; allowed"),
        (lambda t: 1 / (t - 3) if t != 3 else math.nan, r"guarantee\(1\) is -0.5; allowed"),
    ],
)
def test_bad_guarantee(guarantee, message):
    axes = Figure().subplots()
    with pytest.raises(ValueError, match=message):
        calibration_history(GOOD, [0.2, 0.5, 0.5], guarantee=guarantee, ax=axes)
    assert not axes.has_data()

"""Windows and segments: what is drawn equals the data, in points."""

import io
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from fullswap.metrics.chance import Chance
from fullswap.metrics.windows import Windows
from fullswap.report import draw_segments, draw_windows
from fullswap.report.segments import rows_height
from fullswap.report.style import VERMILION
from pictures import all_words, artist


def windows(count, size=100, seed=1):
    rng = np.random.default_rng(seed)
    start = np.arange(count) * size
    error, chance = rng.uniform(0.01, 0.06, count), rng.uniform(0.02, 0.03, count)
    bias, noise = rng.normal(0, 0.02, count), np.full(count, 0.01)
    return Windows(start, start + size, bias, noise, error, chance)


def test_windows_in_points():
    given = windows(12)
    figure = draw_windows(given, tolerance=0.02)
    (line,), (chance,) = artist(figure, "error"), artist(figure, "chance")
    np.testing.assert_allclose(line.get_ydata(), 100 * given.error)
    np.testing.assert_array_equal(line.get_xdata(), given.start + 50)
    np.testing.assert_allclose(chance.get_data().values, 100 * given.chance)
    np.testing.assert_array_equal(chance.get_data().edges, np.arange(13) * 100)
    (tolerance,) = artist(figure, "tolerance")
    np.testing.assert_allclose(tolerance.get_data().values, 100 * given.chance + 2)
    assert tolerance.get_linestyle() == ":" and not tolerance.get_fill()
    assert "chance + tolerance" in all_words(figure)
    assert figure.axes[0].get_ylabel() == "average error (points)"
    above = (given.error > given.chance).sum()
    wanted = f"12 windows of 100 events; {above} above chance, 6 expected"
    assert wanted in all_words(figure)
    low, high = figure.axes[0].get_ylim()
    assert low == 0 and high > 100 * given.error.max()
    assert draw_windows(given, tolerance=1.0).axes[0].get_ylim()[1] < 3 * high
    rows = draw_windows(given, unit="rows")
    assert rows.axes[0].get_xlabel() == "rows" and "12 windows of 100 rows" in all_words(rows)


def test_triangles_say_which_way():
    given = windows(30)
    figure = draw_windows(given)
    middles = given.start + 50
    (up,), (down,) = artist(figure, "too-high"), artist(figure, "too-low")
    assert (up.get_marker(), down.get_marker()) == ("^", "v")
    np.testing.assert_array_equal(up.get_xdata(), middles[given.bias > 0.01645])
    np.testing.assert_array_equal(down.get_xdata(), middles[given.bias < -0.01645])
    (rest,) = artist(figure, "dots")
    assert len(rest.get_xdata()) + len(up.get_xdata()) + len(down.get_xdata()) == 30


def test_windows_with_times():
    labels = [f"week {k}" for k in range(20)]
    given = windows(20)
    figure = draw_windows(given, labels=labels)
    names = [text.get_text() for text in figure.axes[0].get_xticklabels()]
    assert names[0] == "week 0" and names[-1] == "week 19"
    for place, name in zip(figure.axes[0].get_xticks(), names, strict=True):
        assert place == given.start[labels.index(name)]
    with pytest.raises(ValueError, match="labels must"):
        draw_windows(given, labels=labels[:3])


def test_one_window_without_error():
    one = Windows(np.array([0]), np.array([5]), np.zeros(1), np.zeros(1), np.zeros(1), np.zeros(1))
    figure = draw_windows(one)
    figure.savefig(io.BytesIO(), format="png")
    assert "1 window of 5 events; 0 above chance" in all_words(figure)
    uneven = Windows(np.array([0, 5]), np.array([5, 8]), *np.zeros((4, 2)))
    assert "2 windows of about 5 events" in all_words(draw_windows(uneven))


# --- Segments -----------------------------------------------------------------------------


def segment(value, error, high, flagged=False, events=100, column="device"):
    chance = Chance(0.6 * high, high, 0.1, 200)
    return SimpleNamespace(
        column=column, value=value, events=events, error=error, chance=chance, flagged=flagged
    )


GIVEN = [
    segment("fine", 0.01, 0.02),
    segment("small", 0.20, 0.25, events=8),
    segment("bad", 0.08, 0.02, flagged=True, events=12_345),
    segment("worst", 0.15, 0.05, flagged=True),
]
ORDER = ["worst", "bad", "fine", "small"]


def names(figure):
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def test_segments_are_ranked_by_certain_error():
    figure = draw_segments(GIVEN)
    assert [name.split("\xa0")[0] for name in names(figure)] == ORDER
    assert "bad\xa0(12,345)" in names(figure)
    assert "device: 4 segments, worst first" in all_words(figure)
    several = draw_segments([*GIVEN, segment("x", 0.01, 0.02, column="region")])
    assert "device = bad\xa0(12,345)" in names(several)
    low, high = figure.axes[0].get_ylim()
    assert low > high  # the first row is at the top
    bars = artist(figure, "chance")
    assert [bar.get_width() for bar in bars] == pytest.approx([5, 2, 2, 25])
    (middle,) = artist(figure, "middle")
    np.testing.assert_allclose(middle.get_xdata(), [3, 1.2, 1.2, 15])
    assert figure.axes[0].get_xlabel() == "average error (points)"


def test_flagged_segments_differ_in_shape_and_weight():
    figure = draw_segments(GIVEN)
    (plain,), (flagged,) = artist(figure, "dots"), artist(figure, "flagged")
    assert (plain.get_marker(), flagged.get_marker()) == ("o", "D")
    np.testing.assert_allclose(flagged.get_xydata(), [(15, 0), (8, 1)])
    np.testing.assert_allclose(plain.get_xydata(), [(1, 2), (20, 3)])
    assert to_rgba(flagged.get_color()) == to_rgba(VERMILION)
    weights = [label.get_fontweight() for label in figure.axes[0].get_yticklabels()]
    assert weights == ["bold", "bold", "normal", "normal"]


def test_the_rest_is_counted():
    many = [segment(str(k), 0.1 + k / 1000, 0.05, flagged=k % 2 == 0) for k in range(51)]
    figure = draw_segments(many)
    assert len(names(figure)) == 20 and names(figure)[0].startswith("50\xa0")
    assert "and 31 more, 16 of them flagged" in figure.axes[0].get_xlabel()
    assert "51 segments, worst first" in all_words(figure)
    assert "more" not in draw_segments(many[:5]).axes[0].get_xlabel()
    assert len(names(draw_segments(many, most=3))) == 3


def test_long_names_and_dollars():
    odd = [segment("from $5 to $9", 0.1, 0.05), segment("x" * 200, 0.1, 0.06, column="")]
    figure = draw_segments(odd)
    figure.savefig(io.BytesIO(), format="svg")
    assert names(figure)[0] == "device = from \\$5 to \\$9\xa0(100)"
    assert "…" in names(figure)[1] and max(map(len, names(figure)[1].split("\n"))) < 45
    assert names(figure)[1].count("\n") == 1
    with pytest.raises(ValueError, match="segments must have one segment at least"):
        draw_segments([])
    with pytest.raises(ValueError, match="most must be a whole number >= 1, got 0"):
        draw_segments(GIVEN, most=0)


@pytest.mark.parametrize("width", [4.0, 5.6])
def test_names_that_begin_alike_stay_apart(width):
    leagues = ["English League Championship", "English League One", "English League Two",
               "South African Premier League", "x" * 28]  # fmt: skip
    given = [segment(name, 0.1, 0.05, flagged=True, events=12_345) for name in leagues]
    figure = Figure(figsize=(width, 1.3 + rows_height(given, width)), layout="constrained")
    axes = figure.subplots()
    draw_segments(given, ax=axes)
    figure.savefig(io.BytesIO(), format="png")
    whole = [name.replace("\n", "").replace(" ", "") for name in names(figure)]
    for league in leagues:
        assert any(name.startswith(league.replace(" ", "")) for name in whole), league
    boxes = [label.get_window_extent() for label in axes.get_yticklabels()]
    assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])
    assert min(box.x0 for box in boxes) >= 0
    assert axes.get_window_extent().width > 0.3 * width * figure.dpi

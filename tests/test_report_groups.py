"""Groups worst first, the diagram of the declared label, and small ones of many classes."""

import io
import re
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

from fullswap import check, metrics
from fullswap.certificates import Certificate, GroupRow, GroupTable, Quantity
from fullswap.report import plot_classes, plot_groups, plot_top_label
from pictures import all_dots, all_words, artist, slow_bins, slow_cells


def row(name, points, noise=0.01, guaranteed=0.2, rounds=1000):
    return SimpleNamespace(
        name=name, rounds=rounds, mass=float(rounds), said=0.3, happened=0.4, points=points,
        points_noise=noise, points_high=None if noise is None else 1.5 * noise,
        points_after_the_fact=guaranteed, points_guaranteed=guaranteed,
        certificate=None,
    )  # fmt: skip


def table(*rows):
    return SimpleNamespace(rows=rows)


def names(figure):
    return [label.get_text().replace("\xa0", " ") for label in figure.axes[0].get_yticklabels()]


def right_names(figure):
    (right,) = figure.axes[0].child_axes
    return [label.get_text() for label in right.get_yticklabels()]


def test_rows_bars_and_guarantees_are_those_of_the_table():
    given = table(
        row("night", 0.08, 0.02, 0.15, 120),
        row("everybody", 0.03, 0.01, 0.0632, 54_000),
        row("$5 to $6", 0.02, 0.04, 1.0, 300),
        row(("age", 40), 0.01, 0.04, None, 9),
    )
    figure = plot_groups(given)
    assert not artist(figure, "before")
    assert names(figure) == [
        "night (120)", "everybody (54,000)", r"\$5 to \$6 (300)", "('age', 40) (9)",
    ]  # fmt: skip
    assert right_names(figure) == ["15.0", "6.4", "too few", "–"]
    (dots,), (beyond,) = artist(figure, "dots"), artist(figure, "beyond")
    np.testing.assert_allclose(dots.get_xydata(), [[2, 2], [1, 3]])
    np.testing.assert_allclose(beyond.get_xydata(), [[8, 0]])
    assert dots.get_markerfacecolor() != dots.get_color() == beyond.get_markerfacecolor()
    (square,), (average,) = artist(figure, "everybody"), artist(figure, "average")
    np.testing.assert_allclose(square.get_xydata(), [[3, 1]])
    np.testing.assert_allclose(
        [bar.get_width() for bar in artist(figure, "chance")], [3, 1.5, 6, 6]
    )
    np.testing.assert_allclose(average.get_xdata(), [2, 1, 4, 4])
    assert "3 groups, worst first" in all_words(figure)
    low, high = figure.axes[0].get_ylim()
    assert low > high, "the worst stands at the top"


def test_everybody_is_shown_and_the_rest_is_counted():
    rows = [row(f"g{k}", 0.1 - k / 1000) for k in range(50)] + [row("everybody", 0.001)]
    rows.append(row("silent", None, None))
    figure = plot_groups(table(*rows), most=5)
    assert [name.split(" ")[0] for name in names(figure)] == ["g0", "g1", "g2", "g3", "everybody"]
    assert "50 groups, the worst 4 shown; 1 without outcomes" in all_words(figure)
    assert figure.axes[0].get_xlabel() == "points off"
    assert names(plot_groups(table(*rows), most=1)) == ["everybody (1,000)"]


def test_what_was_before_is_a_cross():
    rows = [row("a", 0.05), row("b", 0.02), row("everybody", 0.03)]
    for one, before in zip(rows, (0.09, None, 0.06), strict=True):
        one.before = before
    (crosses,) = artist(plot_groups(table(*rows)), "before")
    np.testing.assert_allclose(crosses.get_xdata(), [9, np.nan, 6])


def test_a_check_is_drawn_by_its_segments():
    rng = np.random.default_rng(0)
    p, groups = rng.random(300), rng.choice(["a", "b"], 300).tolist()
    y = rng.random(300) < p
    figure = plot_groups(check(y, p, groups=groups))
    assert "2 segments, worst first" in all_words(figure)
    assert {name.split()[0] for name in names(figure)} == {"a", "b"}
    with pytest.raises(ValueError, match=r"table must have segments: give check\(…, groups=…\)"):
        plot_groups(check(y, p))


def test_nineteen_of_twenty_right_groups_lie_within_their_bars():
    """Forecasts as a recalibrator issues them, of any number of events."""
    rng = np.random.default_rng(0)
    grid = np.linspace(0, 1, 21)[1:-1]
    for size in (3, 30, 300):
        beyond = 0
        for _ in range(400):
            kinds = rng.integers(len(grid), size=size)
            y = rng.random(size) < grid[kinds]
            count, yes = np.bincount(kinds, minlength=19), np.bincount(kinds, y, 19)
            some = count > 0
            p, n, mean = grid[some], count[some] + 0.0, yes[some] / count[some]
            own = Certificate(
                Quantity.L2_CALIBRATION_ERROR, size, float(n @ (p - mean) ** 2), 1.0, 1.0, "x",
                mass=float(size), noise=float(p @ (1 - p)), table=(p, n, mean),
            )  # fmt: skip
            found = GroupRow.of("a", own)
            beyond += found.points > found.points_high
        assert 0.02 <= beyond / 400 <= 0.08, size


def test_errors_by_name_have_neither_chance_nor_guarantee():
    rng = np.random.default_rng(2)
    p, groups = rng.choice([0.2, 0.6], 300), rng.choice(["a", "b", "c"], 300)
    y = rng.random(300) < np.where(groups == "b", 1 - p, p)
    errors = metrics.group_calibration_error(y, p, groups)
    figure = plot_groups(errors)
    ranked = sorted(errors.values(), reverse=True)
    np.testing.assert_allclose(artist(figure, "dots")[0].get_xdata(), 100 * np.array(ranked))
    assert names(figure)[0] == "b"
    assert not artist(figure, "chance") and not figure.axes[0].child_axes
    assert "guaranteed" not in all_words(figure)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1, 2], r"table must be what by_group\(\) gives, a check of groups, or errors by name"),
        (SimpleNamespace(rows=5), r"table must be what by_group\(\) gives"),
        ({}, "table must have one group with outcomes at least"),
        (table(row("a", None)), "table must have one group with outcomes at least"),
        ({"a": 0.1, "b": float("nan")}, r"table\['b'\] must be a finite number"),
        ({"a": -1}, r"table\['a'\] must be .*, got -1"),
        ({"a": "x"}, r"table\['a'\] must be a .*number.*, got 'x'"),
        ({"a": None}, r"table\['a'\] must be .*, got None"),
    ],
)
def test_groups_that_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        plot_groups(given)
    with pytest.raises(ValueError, match="most must be a whole number"):
        plot_groups({"a": 0.1}, most=0)


def test_a_limit_of_a_hundred_points_is_none():
    def own(guaranteed, after):
        table = np.array([0.5]), np.array([9.0]), np.array([0.4])
        error = Quantity.L2_CALIBRATION_ERROR
        return Certificate(error, 9, 0.1, guaranteed, after, "x", mass=9.0, noise=0.2, table=table)

    given = GroupTable.of([("a", own(9.0, 8.9)), ("b", own(20.0, 9.5)), ("c", own(None, 1.0))])
    cells = {line[0]: " ".join(line.split()) for line in str(given).splitlines()[1:4]}
    assert cells["a"].endswith(" 99.5 too few")
    assert cells["b"].endswith(" too few too few") and cells["c"].endswith(" 33.4 –")
    assert "too few" in given._repr_html_()
    assert right_names(plot_groups(given)) == ["too few", "too few", "–"]


# --- many classes -------------------------------------------------------------------------------


def classes(rounds, count, seed=0):
    """Calibrated, but class 1 is said twice as often as it comes, at the expense of class 0."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(count, 0.7), rounds)
    y = (rng.random((rounds, 1)) > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
    wrong = (y == 1) & (rng.random(rounds) < 0.5)
    y[wrong] = 0
    return y, p


def titles(figure):
    return [axes.get_title(loc="left").split("\n")[0] for axes in figure.axes if axes.axison]


def test_the_diagram_of_the_declared_label():
    y, p = classes(600, 4)
    figure = plot_top_label(y, p, bins=7)
    said, hits = p.max(axis=1), y == p.argmax(axis=1)
    expected = slow_bins(slow_cells(hits, said), 7)
    shown = all_dots(figure)
    np.testing.assert_allclose(shown[:, 0], expected.forecast)
    np.testing.assert_allclose(shown[:, 1], expected.frequency)
    assert figure.axes[0].get_ylabel() == "how often it came true"
    assert figure.axes[1].get_xlabel() == "probability of the declared class"
    assert "600 events, 7 bins" in all_words(figure)


def test_the_declared_label_need_not_be_the_likeliest():
    y, p = classes(300, 3)
    declared = np.full(300, 2)
    figure = plot_top_label(y, p, declared, bins=1)
    (dot,) = all_dots(figure)
    np.testing.assert_allclose(dot[:2], [p[:, 2].mean(), (y == 2).mean()])
    with pytest.raises(ValueError, match="declared must be whole numbers from 0 to 2"):
        plot_top_label(y, p, declared + 1)


def test_given_axes_keep_their_figure():
    y, p = classes(300, 3)
    for layout in ("constrained", None):
        figure = Figure(figsize=(3.4, 3.6), layout=layout)
        axes = figure.add_subplot()
        assert plot_top_label(y, p, ax=axes) is figure
        assert "probability of the declared class" in all_words(figure)
        figure.savefig(io.BytesIO(), format="png")


def test_classes_beyond_chance_come_first_and_the_rest_is_counted():
    y, p = classes(3000, 20)
    figure = plot_classes(y, p, most=6)
    found = metrics.classwise_calibration_error(y, p)
    ranked = np.argsort(found.chance - found.by_class)
    assert titles(figure) == [f"class {k}" for k in ranked[:6]]
    assert set(titles(figure)[:2]) == {"class 0", "class 1"}
    words = all_words(figure)
    assert "20 classes, worst first; and 14 more" in words
    assert f"{100 * found.by_class.max():.1f} points off" in words and "(chance: " in words


def test_dots_outside_are_counted_beside_those_of_chance():
    y, p = classes(3000, 5)
    figure = plot_classes(y, p)
    outside = total = 0
    for axes in figure.axes:
        if not axes.axison:
            continue
        kinds = {kind.get_gid(): len(kind.get_offsets()) for kind in axes.collections}
        own, dots = kinds.get("outside", 0), sum(kinds.values())
        assert axes.get_title(loc="left").endswith(f"\n{own} of {dots} dots outside")
        outside, total = outside + own, total + dots
    assert outside > 0
    line = figure.get_suptitle().split("\n")[1]
    found = re.fullmatch(r"(\d+) of (\d+) dots outside, ([\d.]+) expected", line)
    assert [int(found[1]), int(found[2])] == [outside, total]
    assert 0 < float(found[3]) <= 0.1 * total


@pytest.mark.parametrize(("count", "scale"), [(3, "linear"), (60, "logit")])
def test_all_diagrams_have_one_scale_with_a_tick_at_its_end(count, scale):
    y, p = classes(3000, count)
    figure = plot_classes(y, p, most=6)
    panels = [axes for axes in figure.axes if axes.axison]
    assert {axes.get_xscale() for axes in panels} == {axes.get_yscale() for axes in panels}
    assert {axes.get_xscale() for axes in panels} == {scale}
    assert len({(*axes.get_xlim(), *axes.get_ylim()) for axes in panels}) == 1
    low, high = panels[0].get_xlim()
    assert panels[0].get_xticks()[-1] == pytest.approx(high, abs=0.03 * (high - low))
    assert ("log scale" in figure.get_suptitle()) == (scale == "logit")


def test_long_names_that_differ_stay_different():
    y, p = classes(100, 4)
    common = "department of household goods"
    given = [f"{common}, shelf {k}" for k in (1, 2)] + [f"{common} {k} {common}" for k in (3, 4)]
    shown = titles(plot_classes(y, p, given))
    assert len(set(shown)) == 4 and max(map(len, shown)) <= 24
    assert {name[-7:] for name in shown if "shelf" in name} == {"shelf 1", "shelf 2"}


SHAPES = [(3, 3, (1, 3)), (4, 3, (2, 2)), (5, 2, (3, 2)), (12, 1, (12, 1))]


@pytest.mark.parametrize(("count", "columns", "shape"), SHAPES)
def test_diagrams_side_by_side(count, columns, shape):
    y, p = classes(200, count)
    figure = plot_classes(y, p, [f"label {k}" for k in range(count)], columns=columns)
    assert sorted(titles(figure)) == sorted(f"label {k}" for k in range(count))
    assert figure.axes[0].get_gridspec().get_geometry() == shape
    assert "more" not in all_words(figure)


def test_a_panel_shows_its_class():
    y, p = classes(400, 3)
    figure = plot_classes(y, p)
    panel = next(axes for axes in figure.axes if axes.get_title(loc="left").startswith("class 1\n"))
    dots = np.vstack([kind.get_offsets() for kind in panel.collections])
    # equal numbers of events: the mean of the dots is near the mean of the class
    assert dots[:, 0].mean() == pytest.approx(p[:, 1].mean(), abs=0.01)
    assert dots[:, 1].mean() == pytest.approx((y == 1).mean(), abs=0.01)


def test_a_thousand_classes():
    y, p = classes(2000, 1000)
    figure = plot_classes(y, p, most=3)
    assert "1,000 classes, worst first; and 997 more" in all_words(figure)
    figure.savefig(io.BytesIO(), format="png")


def test_labels_and_numbers_that_are_refused():
    y, p = classes(20, 3)
    with pytest.raises(ValueError, match="labels must be 3 names"):
        plot_classes(y, p, ["a", "b"])
    with pytest.raises(ValueError, match="columns must be a whole number"):
        plot_classes(y, p, columns=0)

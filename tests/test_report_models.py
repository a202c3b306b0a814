"""Net benefit, losses of several forecasters, and the plane of their scores."""

import io

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from fullswap.metrics.corp import ScoreDecomposition
from fullswap.report import draw_benefit, draw_murphy, draw_plane
from pictures import all_words, artist, calibrated, slow_cells

Y, P = calibrated(500, seed=1)
CELLS = slow_cells(Y, P)
RARE = slow_cells(*calibrated(4000, 2, np.geomspace(0.0005, 0.03, 60)))


def slow_benefit(y, p, threshold):
    found = sum(
        1 for outcome, forecast in zip(y, p, strict=True) if forecast >= threshold and outcome == 1
    )
    false = sum(
        1 for outcome, forecast in zip(y, p, strict=True) if forecast >= threshold and outcome == 0
    )
    return 100 * (found - false * threshold / (1 - threshold)) / len(y)


def at(figure, gid, x):
    (line,) = artist(figure, gid)
    return np.interp(x, *line.get_data())


def test_benefits_equal_slow_counts():
    better = slow_cells(Y, np.round(P))
    figure = draw_benefit(CELLS, better)
    for threshold in (0.012, 0.226, 0.423, 0.678):
        ours = at(figure, "model", threshold)
        assert ours == pytest.approx(slow_benefit(Y, P, threshold), abs=0.3)
        after = at(figure, "recalibrated", threshold)
        assert after == pytest.approx(slow_benefit(Y, np.round(P), threshold), abs=0.3)
        everyone = at(figure, "all", threshold)
        assert everyone == pytest.approx(slow_benefit(Y, np.ones(500), threshold), abs=0.3)
    assert set(artist(figure, "none")[0].get_ydata()) == {0.0}
    low, high = figure.axes[0].get_ylim()
    assert low == pytest.approx(-5 * Y.mean()) and high == pytest.approx(105 * Y.mean())
    assert not artist(draw_benefit(CELLS), "recalibrated")


def test_benefit_of_rare_events_shows_low_thresholds():
    figure = draw_benefit(RARE)
    assert 0.03 <= figure.axes[0].get_xlim()[1] < 0.1
    assert f"{100 * RARE.yes.sum() / RARE.total:.3g} of 100 events happened" in all_words(figure)


def test_benefit_says_what_happened():
    shown = all_words(draw_benefit(CELLS, happened="the likeliest class was right"))
    rate = f"{100 * Y.mean():.3g} of 100 events"
    assert f"the likeliest class was right in {rate}" in shown and "happened" not in shown


@pytest.mark.parametrize(("y", "p"), [([0.0], [0.0]), ([1.0], [1.0]), ([0.0, 1.0], [0.2, 0.9])])
def test_smallest_data(y, p):
    cells = slow_cells(y, p)
    for figure in (draw_benefit(cells, cells), draw_murphy({"one": cells})):
        figure.savefig(io.BytesIO(), format="png")


# --- Losses at every threshold --------------------------------------------------------------


def slow_loss(y, p, theta):
    losses = [
        theta if forecast > theta and outcome == 0 else
        1 - theta if forecast <= theta and outcome == 1 else 0.0
        for outcome, forecast in zip(y, p, strict=True)
    ]  # fmt: skip
    return sum(losses) / len(losses)


def test_losses_equal_slow_sums():
    blunt = np.round(P)
    figure = draw_murphy({"sharp": CELLS, "blunt": slow_cells(Y, blunt)})
    for theta in (0.027, 0.331, 0.512, 0.871):
        assert at(figure, "model-1", theta) == pytest.approx(slow_loss(Y, P, theta), abs=0.003)
        assert at(figure, "model-2", theta) == pytest.approx(slow_loss(Y, blunt, theta), abs=0.003)
    lines = [artist(figure, gid)[0] for gid in ("model-1", "model-2")]
    assert lines[0].get_color() != lines[1].get_color()
    assert lines[0].get_linestyle() != lines[1].get_linestyle()
    assert {"sharp", "blunt"} <= set(all_words(figure).split("\n"))
    assert figure.axes[0].get_xscale() == "linear"


def test_losses_of_rare_events_are_drawn_over_log_odds():
    figure = draw_murphy({"rare": RARE})
    assert figure.axes[0].get_xscale() == "logit"
    assert figure.axes[0].get_xlim()[1] < 0.2
    assert draw_murphy({"rare": RARE, "not": CELLS}).axes[0].get_xscale() == "linear"


def test_eighteen_lines_all_differ():
    figure = draw_murphy({f"model {k}": CELLS for k in range(18)})
    looks = {
        (line.get_color(), str(line._unscaled_dash_pattern))
        for line in figure.axes[0].lines
    }  # fmt: skip
    assert len(looks) == 18


# --- The plane ------------------------------------------------------------------------------


def models(count, seed=1):
    rng = np.random.default_rng(seed)
    found = {}
    for k in range(count):
        off, apart = rng.uniform(0.001, 0.03), rng.uniform(0.04, 0.09)
        found[f"model {k}"] = ScoreDecomposition(0.25 + off - apart, off, apart, 0.25)
    return found


def plane_texts(figure):
    return [text for text in figure.axes[0].texts if text.get_text()]


def test_dots_and_lines_of_equal_score():
    given = models(5)
    figure = draw_plane(given)
    (dots,) = artist(figure, "dots")
    wanted = [(part.miscalibration, part.discrimination) for part in given.values()]
    np.testing.assert_array_equal(dots.get_xydata(), wanted)
    written = [float(text.get_text()) for text in artist(figure, "score")]
    lines = artist(figure, "scores")
    assert len(lines) == len(written) >= 3
    for line, score in zip(lines, written, strict=True):
        x, y = line.get_xydata()[0]
        assert x - y + 0.25 == pytest.approx(score)
    assert figure.axes[0].get_xlabel() == "miscalibration (Brier score)"
    assert "better to the top left" in all_words(figure)
    assert set(given) <= {text.get_text() for text in plane_texts(figure)}


def test_eighteen_models_get_numbers_that_keep_apart():
    given = models(18)
    figure = draw_plane(given)
    figure.savefig(io.BytesIO(), format="png")
    (key,) = artist(figure, "key")
    best = min(given, key=lambda name: given[name].score)
    assert key.get_text().startswith(f"1 {best} · 2 ")
    numbers = [text for text in plane_texts(figure) if text.get_text().isdigit()]
    assert sorted(int(text.get_text()) for text in numbers) == list(range(1, 19))
    boxes = [text.get_window_extent() for text in numbers]
    hits = sum(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])
    assert hits <= 1
    ranked = {text.get_text(): text.xy for text in numbers}
    assert ranked["1"] == (given[best].miscalibration, given[best].discrimination)


def test_names_keep_apart_and_inside():
    given = models(7, seed=3)
    figure = draw_plane(given)
    figure.savefig(io.BytesIO(), format="png")
    boxes = [t.get_window_extent() for t in plane_texts(figure) if t.get_text() in given]
    assert len(boxes) == 7
    assert sum(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k]) == 0
    width, height = figure.get_size_inches() * figure.dpi
    assert all(box.x0 >= 0 and box.x1 <= width and box.y1 <= height for box in boxes)


def gap(point, box):
    """Pixels from a point to a box."""
    wide = max(box.x0 - point[0], 0, point[0] - box.x1)
    return np.hypot(wide, max(box.y0 - point[1], 0, point[1] - box.y1))


@pytest.mark.parametrize("size", [(2.4, 2.2), (4, 3.4), (6, 4.5)])
@pytest.mark.parametrize("layout", ["constrained", None])
@pytest.mark.parametrize("step", [(1, 0), (-1, 0.3), (0.3, 1), (0.5, -1), (-0.4, -0.7)])
def test_near_dots_have_their_own_names(size, layout, step):
    places = {"a": (0.010, 0.050), "base": (0.03, 0.03)}
    places |= {name: (0.010 + k * step[0] * 0.0012, 0.050 + k * step[1] * 0.0012)
               for name, k in (("b", 1), ("c", 2))}  # fmt: skip
    given = {n: ScoreDecomposition(0.25 + x - y, x, y, 0.25) for n, (x, y) in places.items()}
    figure = Figure(figsize=size, layout=layout)
    axes = figure.subplots()
    draw_plane(given, ax=axes)
    figure.savefig(io.BytesIO(), format="png")
    pixels = {name: axes.transData.transform(place) for name, place in places.items()}
    found = {text.get_text(): text for text in plane_texts(figure) if text.get_text() in places}
    assert set(found) == set(places)
    point = figure.dpi / 72
    for name, text in found.items():
        box = Text.get_window_extent(text)  # without its line
        gaps = {other: gap(pixel, box) for other, pixel in pixels.items()}
        others = min(value for other, value in gaps.items() if other != name)
        # Nearer by a clear margin, or tied; where dots lie on each other, tied.
        assert others > gaps[name] + 4 * point or text.arrow_patch is not None
        apart = min(np.hypot(*(pixels[name] - pixels[o])) for o in places if o != name)
        assert others > gaps[name] or apart < 6.5 * point, (name, gaps)


def test_infinite_scores_and_other_outcomes():
    given = models(2) | {"sure": ScoreDecomposition(np.inf, np.inf, 0.05, 0.25)}
    figure = draw_plane(given, score="log loss")
    assert len(artist(figure, "dots")[0].get_xdata()) == 2
    assert "1 not shown: infinite log loss" in all_words(figure)
    none = draw_plane({"sure": given["sure"]})
    none.savefig(io.BytesIO(), format="png")
    other = models(2) | {"other": ScoreDecomposition(0.2, 0.01, 0.05, 0.24)}
    assert not artist(draw_plane(other), "scores")
    # No spread at all.
    one = {"one": ScoreDecomposition(0.25, 0.0, 0.0, 0.25)}
    draw_plane(one).savefig(io.BytesIO(), format="png")


@pytest.mark.parametrize("draw", [draw_murphy, draw_plane])
def test_models_are_needed(draw):
    for bad in ({}, [CELLS], None):
        with pytest.raises(ValueError, match="models must be a mapping with one entry at least"):
            draw(bad)

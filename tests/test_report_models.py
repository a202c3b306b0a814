"""Net benefit, and the reliability of several models side by side."""

import io

import numpy as np
import pytest

from fullswap.metrics.corp import curve_of
from fullswap.report import draw_benefit
from fullswap.report.classes import MOST, draw_class, draw_models, one_scale
from pictures import all_words, artist, calibrated, slow_bins, slow_cells

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
    draw_benefit(cells, cells).savefig(io.BytesIO(), format="png")


# --- Reliability side by side ---------------------------------------------------------------


def part(name, cells):
    return name, curve_of(cells), slow_bins(cells, 12), cells


def test_models_stand_side_by_side_in_their_order_on_one_scale():
    blunt = slow_cells(Y, np.clip(1.6 * P - 0.3, 0, 1))
    figure = draw_models([part("sharp", CELLS), part("blunt", blunt)])
    assert [axes.get_title(loc="left").split("\n")[0] for axes in figure.axes] == ["sharp", "blunt"]
    assert "2 models, best Brier score first" in all_words(figure)
    for axes in figure.axes:
        assert axes.get_title(loc="left").endswith(" off") and axes.get_xscale() == "linear"
    assert len({(axes.get_xlim(), axes.get_ylim()) for axes in figure.axes}) == 1
    more = draw_models([part(f"m{k}", CELLS) for k in range(MOST)], more=3)
    assert "12 models, best Brier score first; 3 not shown" in all_words(more)
    assert len([axes for axes in more.axes if axes.has_data()]) == MOST


def test_rare_events_of_most_models_are_in_log_odds():
    rare, usual = part("rare", RARE), part("usual", CELLS)
    figure = draw_models([rare, rare, usual])
    assert {axes.get_xscale() for axes in figure.axes} == {"logit"}
    assert "log scale" in all_words(figure)
    assert {axes.get_xscale() for axes in draw_models([rare, usual]).axes} == {"linear"}
    one = draw_class(rare, scale=one_scale([rare, usual]))
    assert one.axes[0].get_xscale() == "linear"
    assert draw_class(rare).axes[0].get_xscale() == "logit"

"""What all pictures share: styles of the user, small files, no global state, small axes."""

import io
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib import rc_context, rcParams
from matplotlib import style as styles
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from fullswap import report
from fullswap.metrics.chance import Chance
from fullswap.metrics.corp import curve_of
from fullswap.metrics.windows import WindowTally
from fullswap.report import style
from fullswap.report.thin import corners
from pictures import calibrated, slow_bins, slow_cells, svg_of

RNG = np.random.default_rng(1)
Y, P = calibrated(20_000, 1, RNG.random(20_000))
CELLS = slow_cells(Y, P)
CURVE, BINS = curve_of(CELLS), slow_bins(CELLS, 28)
TALLY = WindowTally()
TALLY.add(Y, P)
SEGMENTS = [
    SimpleNamespace(
        column="country", value=f"land {k}", events=100 * k, error=k / 500, flagged=k > 30,
        chance=Chance(0.02, 0.04, 0.1, 100),
    )
    for k in range(51)
]  # fmt: skip
GROUPS = SimpleNamespace(
    rows=[
        SimpleNamespace(
            name=f"land {k}" if k else "everybody", rounds=100 * k, points=(60 - k) / 500,
            points_noise=0.02, points_high=0.03, points_guaranteed=0.3,
        )
        for k in range(51)
    ]
)  # fmt: skip
CHANCES = RNG.dirichlet(np.ones(5), 3000)
CLASSES = (RNG.random((3000, 1)) > np.cumsum(CHANCES, axis=1)[:, :-1]).sum(axis=1)

DRAW = {
    "reliability": lambda ax: report.draw_reliability(CURVE, BINS, CELLS, ax=ax),
    "log-odds": lambda ax: report.draw_reliability(CURVE, BINS, CELLS, ax=ax, log_odds=True),
    "evidence": lambda ax: report.draw_evidence(
        np.arange(300), np.cumsum(RNG.normal(0, 1, 300)), alarms=[5, 9], since=50, ax=ax
    ),
    "windows": lambda ax: report.draw_windows(TALLY.windows(), tolerance=0.02, ax=ax),
    "segments": lambda ax: report.draw_segments(SEGMENTS, ax=ax),
    "groups": lambda ax: report.plot_groups(GROUPS, ax=ax),
    "top label": lambda ax: report.plot_top_label(CLASSES, CHANCES, ax=ax),
    "benefit": lambda ax: report.draw_benefit(CELLS, CELLS, ax=ax),
}
every = pytest.mark.parametrize("draw", DRAW.values(), ids=DRAW)


@every
def test_files_are_small_and_parts_have_names(draw):
    figure = draw(None)
    text = svg_of(figure)
    assert len(text) < 60_000
    named = {found.get_gid() for found in figure.findobj() if found.get_gid()}
    assert len(named) >= 2
    for gid in named:
        assert f'id="{gid}"' in text


def test_nine_classes_stay_small():
    parts = [(str(k), CURVE, BINS, CELLS) for k in range(20)]
    assert len(svg_of(report.draw_classes(parts))) < 90_000
    assert len(svg_of(report.plot_classes(CLASSES, CHANCES))) < 90_000


@every
def test_axes_have_units(draw):
    axes = draw(None).axes[0]
    strip = axes.figure.axes[-1]
    assert axes.get_ylabel() or axes.get_yticklabels()
    assert strip.get_xlabel()


@every
@pytest.mark.parametrize(("size", "layout"), [((3.4, 3.6), "constrained"), ((5, 4), None)])
def test_given_axes_of_any_size(draw, size, layout):
    figure = Figure(figsize=size, layout=layout)
    axes = figure.add_subplot()
    assert draw(axes) is figure
    figure.savefig(io.BytesIO(), format="png")
    assert axes.has_data()


@every
@pytest.mark.parametrize("name", ["dark_background", "ggplot"])
def test_styles_of_the_user_are_kept(draw, name):
    with styles.context(name):
        figure = draw(None)
        figure.savefig(io.BytesIO(), format="png")
        background, text = to_rgb(rcParams["axes.facecolor"]), to_rgb(rcParams["text.color"])
        assert to_rgb(figure.axes[0].get_facecolor()) == background
        assert to_rgb(figure.get_facecolor()) == to_rgb(rcParams["figure.facecolor"])
        ticks = to_rgb(figure.axes[0].get_yticklabels()[0].get_color())
    # Nearer to the text than to what is behind.
    assert np.abs(np.subtract(ticks, text)).max() < 0.3
    assert np.abs(np.subtract(ticks, background)).max() > 0.5


def test_default_greys_are_as_before():
    with rc_context():
        styles.use("default")
        for found, wanted in ((style.ink(), style.INK), (style.line(), style.LINE)):
            np.testing.assert_allclose(found, to_rgb(wanted))
        np.testing.assert_allclose(style.shade(), to_rgb(style.SHADE))
        assert style.paper() == (1, 1, 1) and style.main() == style.BLUE
        assert [look["color"] for look in style.palette(3)] == list(style.PALETTE[:3])


def test_colours_of_the_user():
    with styles.context("ggplot"):
        # The red that comes first looks like the colour of warnings.
        assert style.main() == to_rgb("#348ABD")
        assert style.palette(1)[0]["color"] == "#E24A33"
    with styles.context("dark_background"):
        assert style.main() == to_rgb("#8dd3c7")
        assert style.paper() == (0, 0, 0) and min(style.ink()) > 0.8
    with rc_context({"axes.facecolor": "none"}):
        assert style.paper() == (1, 1, 1)
    bare = {"axes.facecolor": "none", "figure.facecolor": "none"}
    with rc_context(bare | {"text.color": "white"}):
        assert style.paper() == (0, 0, 0)
    with rc_context(bare):
        assert style.paper() == (1, 1, 1)


def test_thinned_lines_keep_their_shape():
    x = np.sort(RNG.random(3000))
    for y in (np.cumsum(RNG.normal(size=3000)), np.sort(RNG.random(3000)), np.zeros(3000)):
        kept = corners(x, y, 0.01)
        assert kept[0] == 0 and kept[-1] == 2999 and (np.diff(kept) > 0).all()
        off = np.abs(np.interp(x, x[kept], y[kept]) - y)
        assert off.max() <= 0.01 * np.ptp(y) + 1e-12
        assert len(kept) < 2000
    steps = np.repeat(np.arange(20.0), 10)
    exact = corners(np.arange(200.0), steps, 1e-9)
    assert len(exact) == 40
    assert corners(np.array([0.5]), np.array([0.2])).tolist() == [0]

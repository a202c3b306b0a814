"""Evidence over time: what is drawn, how numbers of any size are written, what is refused."""

import io

import numpy as np
import pytest
from matplotlib.figure import Figure

from fullswap.report import draw_evidence
from fullswap.report.evidence import odds
from pictures import all_words, artist, words

PLACES = np.arange(1, 301) * 50
WALK = np.cumsum(np.random.default_rng(1).normal(0.02, 0.2, 300))


def ticks(figure):
    axes = figure.axes[0]
    return dict(zip(axes.get_yticks(), [t.get_text() for t in axes.get_yticklabels()], strict=True))


def test_line_is_the_evidence():
    figure = draw_evidence(PLACES, WALK)
    (line,) = artist(figure, "evidence")
    shown = np.interp(PLACES, *line.get_data())
    np.testing.assert_allclose(shown, WALK, atol=0.002 * np.ptp(WALK) + 1e-12)
    (threshold,) = artist(figure, "threshold")
    assert threshold.get_ydata()[0] == pytest.approx(np.log10(20))
    assert "strong evidence: 20 : 1" in all_words(figure)
    assert figure.axes[0].get_xlabel() == "events"
    assert not artist(figure, "alarms") and not artist(figure, "since")


@pytest.mark.parametrize(
    ("values", "some"),
    [
        ([-3.0, 0.0, 2.5], {-3: "10⁻³ : 1", -1: "0.1 : 1", 0: "1 : 1", 2: "100 : 1"}),
        ([0.0, 6.2], {0: "1 : 1", 6: "10⁶ : 1"}),
        ([0.0, 21.0], {0: "1 : 1", 20: "10²⁰ : 1"}),
        ([0.0, 4000.0], {0: "1 : 1", 4000: "10⁴⁰⁰⁰ : 1"}),
        ([-4000.0, 0.0], {-4000: "10⁻⁴⁰⁰⁰ : 1", 0: "1 : 1"}),
        ([0.01], {0: "1 : 1", 1: "10 : 1"}),
    ],
)
def test_ticks_are_few_and_in_odds(values, some):
    figure = draw_evidence(np.arange(len(values)), values)
    names = ticks(figure)
    assert some.items() <= names.items()
    assert 2 <= len(names) <= 8
    figure.savefig(io.BytesIO(), format="svg")
    low, high = figure.axes[0].get_ylim()
    assert low < min(values) and high > max(*values, np.log10(20))


def test_alarms_stand_on_the_line_and_since_is_marked():
    figure = draw_evidence(PLACES, WALK, alarms=[500, 75], since=5000)
    (marks,) = artist(figure, "alarms")
    assert marks.get_xdata().tolist() == [75, 500]
    np.testing.assert_allclose(marks.get_ydata(), [(WALK[0] + WALK[1]) / 2, WALK[9]], atol=0.02)
    assert "2 alarms (triangles), the first at event 75" in all_words(figure)
    assert artist(figure, "since")[0].get_xdata()[0] == 5000
    assert "off since event 5,000" in all_words(figure)
    rows = all_words(draw_evidence(PLACES, WALK, alarms=[75], since=5000, unit="rows"))
    assert "the first at row 75" in rows and "off since row 5,000" in rows


def test_many_alarms_stand_at_the_foot():
    figure = draw_evidence(PLACES, WALK, alarms=PLACES)
    (marks,) = artist(figure, "alarms")
    assert len(marks.get_xdata()) <= 100 and set(marks.get_ydata()) == {0.025}
    assert "300 alarms (marks at the foot)" in all_words(figure)


def test_times_take_the_place_of_events():
    labels = [f"day {k}" for k in range(300)]
    figure = draw_evidence(PLACES, WALK, labels=labels, since=PLACES[200] + 1)
    names = [text.get_text() for text in figure.axes[0].get_xticklabels()]
    assert names[0] == "day 0" and names[-1] == "day 299" and 3 <= len(names) <= 9
    for place, name in zip(figure.axes[0].get_xticks(), names, strict=True):
        assert labels[PLACES.tolist().index(place)] == name
    assert "off since day 200" in all_words(figure)
    assert figure.axes[0].get_xlabel() == "time"


def test_one_event():
    figure = draw_evidence([1], [0.3])
    figure.savefig(io.BytesIO(), format="png")
    assert artist(figure, "evidence")[0].get_marker() == "o"
    assert "evidence now 1.9\xa0:\xa01" in all_words(figure)


def test_odds_in_words():
    values = (0.0, np.log10(20), -0.5, 5.99, 25.3)
    assert [odds(value).replace("\xa0", " ") for value in values] == [
        "1 : 1", "20 : 1", "0.31 : 1", "970,000 : 1", "10²⁵ : 1",
    ]  # fmt: skip
    assert odds(-4.5) == "10⁻⁵\xa0:\xa01" and odds(-400.5).startswith("10⁻⁴⁰¹")
    assert " " not in odds(25.3)  # no line ends within


def test_no_words_on_the_curve_and_none_cut():
    figure = Figure(figsize=(4, 3.2), layout="constrained")
    axes = figure.subplots()
    draw_evidence([1, 500, 1000], [0.0, 1.3, 25.3], since=500, ax=axes)
    figure.savefig(io.BytesIO(), format="png")
    assert not words(figure)
    assert axes.get_legend().get_window_extent().y0 >= axes.get_window_extent().y1
    # Plain axes of the user have a margin that does not grow.
    figure = Figure(figsize=(6.4, 4.8))
    axes = figure.subplots()
    draw_evidence([1, 500, 1000], [-6.0, 3.0, 9.5], ax=axes)
    figure.savefig(io.BytesIO(), format="png")
    assert axes.yaxis.get_tightbbox().x0 >= 0
    assert axes.get_legend().get_window_extent().y1 <= 480


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(log10=[0.0]), r"log10 must have shape \(2,\), got \(1,\)"),
        (dict(log10=[0.0, np.nan]), "log10 must be finite, got nan at position 1"),
        (dict(threshold=0), "threshold must be positive, got 0"),
        (dict(labels=["a"]), "labels must"),
        (dict(alarms=[1, np.inf]), "alarms must be finite, got inf at position 1"),
        (dict(since="long"), "since must be a finite number, got 'long'"),
    ],
)
def test_refusals(arguments, message):
    axes = Figure().subplots()
    with pytest.raises(ValueError, match=message):
        draw_evidence(**(dict(positions=[1, 2], log10=[0.0, 1.0], ax=axes) | arguments))
    assert not axes.has_data()

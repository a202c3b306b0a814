"""The page as text: what it holds, what it must not hold, and that it is always the same."""

import json
import re
import sys
from html.parser import HTMLParser
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest

from checking.sample_check import HOSTILE, comparison, sample
from fullswap import __version__
from fullswap.base.amounts import evidence_text
from fullswap.checking.page import (
    fragment_of,
    fragment_of_comparison,
    page_of,
    page_of_comparison,
)
from fullswap.checking.page_parts import KINDS, settings_of, which_way
from fullswap.checking.page_parts_words import raised
from fullswap.checking.settings import Settings
from fullswap.metrics.chance import Chance
from fullswap.metrics.corp import ScoreDecomposition
from fullswap.metrics.cox import Cox
from fullswap.report import draw_evidence
from pictures import all_words

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Reader(HTMLParser):
    """Elements with their attributes, the visible text, and whether tags are balanced."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.open, self.words = [], [], []
        self.feed(html)
        self.close()
        assert not self.open
        self.text = " ".join(" ".join(self.words).split())

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.words.append(data)

    def all(self, *tags):
        return [attributes for tag, attributes in self.elements if tag in tags]


@pytest.fixture(scope="module")
def page():
    return page_of(sample())


@pytest.fixture(scope="module")
def hostile():
    made = sample(HOSTILE)
    made.notes = [f"Note: {text}" for text in HOSTILE]
    made.names = {"y": HOSTILE[0], "by": HOSTILE}
    made.settings |= dict.fromkeys(HOSTILE, HOSTILE[1])
    made.sentence = f"{HOSTILE[0]} \ud800"
    return made


def test_small_and_alone(page):
    assert len(page.encode()) < 300_000
    read = Reader(page)
    assert not re.search(r"https?:|//[a-z]|@import|url\((?!#)", page)
    assert [a.get("type") for a in read.all("script")] == ["application/json"]
    policy = [a["content"] for a in read.all("meta") if "http-equiv" in a]
    assert policy and policy[0].startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert not any(key.startswith("on") for _, a in read.elements for key in a)
    assert not read.all("a", "iframe", "img")


def test_ids_are_unique_and_meet_their_references(page):
    read = Reader(page)
    ids = [a["id"] for _, a in read.elements if "id" in a]
    assert len(ids) == len(set(ids))
    used = re.findall(r'(?:href="#|url\(#|aria-labelledby=")([^")]+)', page)
    assert len(used) > 10 and set(used) <= set(ids)


def test_variables_are_declared(page):
    light, dark = re.findall(r":root\{([^}]*--k0[^}]*)\}", page)
    names = set(re.findall(r"var\((--[\w-]+)\)", page))
    assert {name for name in names if name.startswith("--k")}
    for name in names:
        assert f"{name}:" in page
    assert re.findall(r"--k\d+", light) == re.findall(r"--k\d+", dark)
    assert light != dark
    drawn = "".join(re.findall(r'<svg class="picture".*?</svg>', page, re.S))
    assert not re.findall(r"#[0-9a-f]{6}\b|rgb|currentColor", drawn)
    # Every colour has its own value in the dark, also those that are not grey.
    values = [dict(re.findall(r"(--k\d+):(#\w+)", theme)) for theme in (light, dark)]
    assert all(values[0][name] != values[1][name] for name in values[0])


def test_order_of_parts(page):
    text = Reader(page).text
    marks = ["Miscalibrated", "How far off?", "Which way?", "What does it cost?", "How sure?",
             "Reliability", "Evidence over time", "Error over time", "Net benefit",
             "The most certain errors first", "Rows and columns",
             "Notes", "How to read this page", "do not count", f"made by fullswap {__version__}",
    ]  # fmt: skip
    places = [text.find(mark) for mark in marks]
    assert min(places) >= 0 and places == sorted(places)


def test_numbers_in_words():
    check = sample(
        drawn=False, error=0.0412, smallest_seen=0.018, chance=Chance(0.019, 0.026, 0.001, 1000),
        cox=Cox(0.004, 0.0098, 0.02, 0.05, 0.61, 0.031),
        brier=ScoreDecomposition(0.212, 0.0123, 0.0571, 0.249, 0.0021),
    )  # fmt: skip
    check.evidence.log10_most, check.evidence.log10, check.evidence.most_at = 3.6021, 1.5, 1299
    text = Reader(page_of(check)).text
    for said in ("4.1 points on average", "Chance alone would show 1.9.", "2.6 points or more",
                 "0.4 points too high", "−1.6 to 2.4 points", "Over-confident", "0.55 to 0.67",
                 "0.0123 of a Brier score of 0.2120", "Chance alone would show 0.0021.",
                 "− Discrimination 0.0571", "Recalibrated online 0.2043 0.5900", "2,000 rows",
                 "1 in 4,000 at most", "4,000 : 1 at 16 March 2026", "Evidence now 31 : 1",
                 "20 : 1 or more", "One look only 0.1 %"):  # fmt: skip
        assert said in text, said


def test_every_picture_has_a_name_and_a_caption(page):
    read = Reader(page)
    figures = [a for a in read.all("svg") if "picture" in a["class"]]
    assert len(figures) == len(read.all("figcaption")) == len(read.all("figure")) == 5
    for attributes in figures:
        assert attributes["role"] == "img"
        assert re.search(r"\d", attributes["aria-label"])
    assert all(a.get("aria-hidden") == "true" for a in read.all("svg") if "role" not in a)


def test_same_check_gives_the_same_bytes_whatever_the_settings(page):
    with matplotlib.rc_context({"text.color": "red", "font.size": 30, "svg.fonttype": "path"}):
        before = dict(matplotlib.rcParams)
        assert page_of(sample()) == page
        assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("make", [page_of, fragment_of])
def test_text_of_users_stays_text(make, hostile):
    html = make(hostile)
    read = Reader(html)  # fails where a tag was injected and never closed
    assert len(read.all("script")) <= 1 and not read.all("img")
    assert "<script>alert" not in html and "49" not in re.findall(r"drop (\S+)", read.text)
    assert HOSTILE[0] in read.text
    html.encode("utf-8")


def test_data_for_machines_cannot_end_its_element(hostile):
    found = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page_of(hostile))
    assert json.loads(found[1])["values"][0] == HOSTILE[0]


def test_long_data_for_machines_are_left_out():
    check = sample(drawn=False)
    check.to_json = lambda: json.dumps(["x" * 41_000])
    assert "application/json" not in page_of(check)


def test_a_class_grid_and_many_segments():
    read = Reader(page_of(sample([f"s{i}" for i in range(63)], classes=4)))
    assert "Class by class" in read.text
    assert "13 more segments are not shown" in read.text
    assert sum("flagged" in a.get("class", "") for a in read.all("tr")) == 2
    assert sum(word == "s49" for word in read.text.split()) >= 1 and " s50 " not in read.text
    assert any(
        "Reliability diagrams of 4 classes" in a.get("aria-label", "") for a in read.all("div")
    )
    labels = [a.get("aria-label", "") for a in read.all("svg")]
    assert sum(label.startswith("Reliability diagram of class") for label in labels) == 4
    # Only a bound is known for several classes.
    assert "One look only" not in read.text and "How sure?" in read.text


def test_what_cannot_be_known_is_said():
    bare = Cox(0.3, float("nan"), None, None, None, None)
    check = sample(
        (), drawn=False, cox=bare, recalibrated=None, notes=[], time_labels=None, pending=0
    )
    check.log_loss = ScoreDecomposition(float("inf"), float("inf"), 0.1, 0.7)
    check.evidence.impossible = np.arange(3, 30)
    check.row_of = lambda row: row + 1
    check.evidence.log10_most = 0.0
    text = Reader(page_of(check)).text
    assert "these events cannot tell" in text
    assert "an outcome with probability 0 happened" in text
    assert "27 forecasts of exactly 0 % or 100 % failed" in text
    assert "4, 5, 6, 7, 8, 9, 10, 11, 12, 13 and 17 more" in text
    assert "Certain that forecasts were wrong" in text
    check.evidence.impossible = np.empty(0, int)
    assert "No evidence against calibration" in Reader(page_of(check)).text
    assert "pending" not in text.split("Four questions")[0]


@pytest.mark.parametrize(
    ("bias", "slope", "word"),
    [(0, 0.5, "Over-confident"), (0, 1.5, "Under-confident"), (0.1, 1, "Too high"),
     (-0.1, 1, "Too low"), (0.01, 0.95, "No clear way"), (0.1, None, "Too high"),
     (0.1, 0.7, "Too high and over-confident")],
)  # fmt: skip
def test_which_way(bias, slope, word):
    cox = Cox(bias, 0.01, 0, 0.1, slope, None if slope is None else 0.1)
    for verdict in ("miscalibrated", "miscalibrated, but little"):
        made = SimpleNamespace(cox=cox, classes=2, verdict=verdict)
        assert which_way(made).value == word
    # Without evidence no way is named, but the numbers stay.
    for verdict in ("no evidence of miscalibration", "too little data to say"):
        quiet = which_way(SimpleNamespace(cox=cox, classes=2, verdict=verdict))
        assert quiet.value == "No clear way" and quiet.lines == which_way(made).lines
        assert not {"more often", "less often", "bear out"} & set(quiet.beside.split(" than "))


def test_settings_in_words():
    made = fs_settings(delay=3, step=0.05, level=0.01)
    said = dict(settings_of(SimpleNamespace(settings=made | {"other": 7})))
    assert said == {
        "Bins of the average error": "cube root of the events, of equal mass",
        "Tolerance, beyond chance": "2 points", "Called miscalibrated by mistake": "at most 1 %",
        "Forecasts are rounded to": "multiples of 0.05", "Outcomes late by": "3 rows",
        "Band of the curve holds": "at each forecast", "Recalibrating online": "tried",
        "0 and 1 count, for the evidence, as": "certain",
        "Seed of the drawn records": "0", "Counts as evidence": "100 : 1 or more", "other": "7",
    }  # fmt: skip
    odd = fs_settings(n_bins=12, strategy="uniform", band="simultaneous", recalibrate=False)
    said = dict(settings_of(SimpleNamespace(settings=odd)))
    assert said["Bins of the average error"] == "12, of equal width"
    assert said["Band of the curve holds"] == "for the whole curve"
    assert said["Forecasts are rounded to"] == "not at all"


def fs_settings(**changes):
    made = Settings(**changes)
    return made.to_dict() | {"threshold": made.threshold}


@pytest.mark.parametrize("log10", [-5.5, -1.18, -0.3, 0.0, 0.77, 1.292, 3.7, 7.77, 11.99, 25.3])
def test_evidence_is_written_as_in_the_text(log10):
    check = sample((), drawn=False)
    check.evidence.log10, check.evidence.log10_most = log10, max(log10, 0.5)
    said = raised(evidence_text(log10))
    assert f"Evidence now {said} " in Reader(page_of(check)).text.replace("\xa0", " ")
    picture = draw_evidence([1, 2], [0.0, log10])
    assert f"now {said}, largest" in all_words(picture).replace("\xa0", " ")


def test_verdicts_differ_in_shape_and_word():
    glyphs = set()
    for verdict in KINDS:
        html = fragment_of(sample((), verdict=verdict, drawn=False))
        glyphs.add(re.search(r'<svg class="glyph".*?</svg>', html, re.S)[0])
        assert verdict.capitalize() in Reader(html).text
    assert len(glyphs) == len(KINDS) == 4


@pytest.mark.parametrize("which", ["one", "several"])
def test_fragment_keeps_its_styles_to_itself(which):
    html = fragment_of(sample()) if which == "one" else fragment_of_comparison(comparison())
    Reader(html)
    assert not re.search(r"<(html|body|head|main|h1|h2)\b", html)
    assert len(html) < 80_000
    css = re.search(r"<style>(.*?)</style>", html, re.S)[1]
    selectors = re.findall(r"([^{}]+)\{[^{}]+\}", re.sub(r"@media[^{]*", "", css))
    assert len(selectors) > 20
    for selector in ",".join(selectors).split(","):
        assert ".fullswap-check" in selector, selector


def test_comparison():
    names = ["base", HOSTILE[0], "third"]
    html = page_of_comparison(comparison(names))
    read = Reader(html)
    ids = [a["id"] for _, a in read.elements if "id" in a]
    assert len(ids) == len(set(ids))
    assert all(name in read.text for name in names)
    assert len(read.all("figure")) == 4
    assert "best score" in read.text
    (group,) = [a for a in read.all("div") if a.get("class") == "panels"]
    assert group["aria-label"].startswith("Reliability diagrams of 3 models: errors from ")
    drawings = [a["aria-label"] for a in read.all("svg") if "picture" in a.get("class", "")]
    own = [said.split(" of ", 1)[1].split(": ")[0] for said in drawings]
    assert [name for name in own if name in names] == names


def test_card_of_a_comparison():
    names = ["base", HOSTILE[0], "third"]
    made = comparison(names)
    html = fragment_of_comparison(made)
    read = Reader(html)
    assert made.sentence in read.text and not read.all("script")
    for name, check in made.checks.items():
        assert name in read.text and f"{check.brier.score:.4f}" in read.text
    (drawing,) = [a for a in read.all("svg") if "picture" in a["class"]]
    assert drawing["aria-label"].startswith("Reliability diagrams of 3 models: errors from ")
    made.checks = {f"m{k}": made.checks["base"] for k in range(23)}
    assert "3 more models are not shown" in Reader(fragment_of_comparison(made)).text


@pytest.mark.parametrize("module", ["jinja2", "matplotlib"])
def test_missing_extra_is_named(module, monkeypatch):
    from fullswap.checking import page as home

    home._environment.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"pip install 'fullswap\[report\]'"):
        page_of(sample(drawn=False))

"""The page of the study: it loads nothing, keeps every word, and is the same every time."""

import base64
import io
import re
from html.parser import HTMLParser

import matplotlib
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fullswap.report.paper import page
from fullswap.report.paper.markdown import literal, markdown
from fullswap.report.paper.section import Paragraph, Picture, Section, Table
from fullswap.report.style import new_figure, tidy

ABOUT = {
    "scale": "quick",
    "seed": 7,
    "versions": ["python 3.11.7", "numpy 2.1.0"],
    "revisions": ["git 1a2b3c4d5e6f"],
    "runs": 1234,
    "cpu_seconds": 83.2,
}


def draw():
    figure = new_figure(4, 2.5, arranged=True)
    ax = figure.subplots()
    ax.plot([1, 2, 3], [1, 4, 9], label="measured")
    ax.set(xlabel="horizon $T$", ylabel="regret", title="Regret < guarantee & more")
    ax.legend()
    tidy(ax)
    return figure


def one(*blocks, title="Growth of regret", command="fullswap reproduce table"):
    return [Section(title, command, blocks)]


@pytest.fixture(scope="module")
def sections():
    rows = (("Lipschitz", "0.41 (0.38 to 0.44)", "−1,204"), ("smooth", "—", "≤ 3 %"))
    table = Table("Exponents | by row", ("row", "exponent", "regret"), rows)
    return [
        *one(Paragraph("Worst of **13** `a<b>` runs."), table, Picture("growth", "Grows.", draw)),
        *one(Picture("figure", 'A "quoted" <caption> & more', draw), title="The figure"),
        *one(Paragraph("Last."), title="The figure"),
    ]


class Reader(HTMLParser):
    """Tags with their attributes and text, in reading order; complains of unclosed tags."""

    VOID = {"meta", "link", "img"}

    def __init__(self, text):
        super().__init__()
        self.open, self.found = [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.found.append([tag, dict(attrs), ""])
        if tag not in self.VOID:
            self.open.append(self.found[-1])

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        for element in self.open:
            element[2] += data

    def every(self, *tags):
        return [(attributes, text) for tag, attributes, text in self.found if tag in tags]


@pytest.fixture(scope="module")
def drawn(sections):
    return page.files(sections)


@pytest.fixture(scope="module")
def source(sections, drawn):
    return page.html(sections, ABOUT, drawn)


@pytest.fixture(scope="module")
def read(source):
    return Reader(source)


# --- The page ---------------------------------------------------------------------------------


def test_nothing_is_loaded_from_elsewhere(source, read):
    asked = [
        attributes[key]
        for _, attributes, _ in read.found
        for key in ("src", "href", "srcset", "action", "data", "poster")
        if key in attributes
    ]
    assert len(asked) == 1 + 3 + 2  # icon, contents, pictures
    assert all(address.startswith(("#", "data:")) for address in asked)
    assert not read.every("script", "iframe", "object", "embed")
    assert not re.search(r"url\(|@import|@font-face|https?:", source)
    assert "default-src 'none'" in source


def test_landmarks_and_headings(read):
    assert read.every("html")[0][0]["lang"] == "en"
    assert [len(read.every(tag)) for tag in ("header", "nav", "main", "footer", "h1")] == [1] * 5
    assert read.every("h1")[0][1] == read.every("title")[0][1] == page.TITLE
    levels = [int(tag[1]) for tag, _, _ in read.found if re.fullmatch(r"h[1-6]", tag)]
    assert levels == [1, 2, 2, 2, 2]


def test_contents_lead_to_the_sections(read):
    places = {a["id"]: text for a, text in read.every("h2") if "id" in a}
    links = {a["href"]: text for a, text in read.every("a")}
    assert links == {f"#{place}": text for place, text in places.items()}
    assert list(places) == ["growth-of-regret", "the-figure", "the-figure-2"]
    names = {a["aria-labelledby"] for a, _ in read.every("section")}
    assert names == set(places)


def test_titles_that_look_like_the_place_of_another():
    titles = ["a", "a", "a-2", "a", "—", "…"]
    found = page._anchors(titles)
    assert found == ["a", "a-2", "a-2-2", "a-3", "section", "section-2"]


def test_pictures_are_the_files_and_say_what_they_show(drawn, read):
    images = [attributes for attributes, _ in read.every("img")]
    assert [image["alt"] for image in images] == ["Grows.", 'A "quoted" <caption> & more']
    assert [text for _, text in read.every("figcaption")] == [image["alt"] for image in images]
    for image, name in zip(images, ("growth", "figure"), strict=True):
        kind, data = image["src"].split(",")
        assert kind == "data:image/svg+xml;base64"
        assert base64.b64decode(data) == drawn[f"figures/{name}.svg"]
        assert (image["width"], image["height"]) == ("384", "240")  # 4 by 2.5 inches


def test_tables(read):
    assert read.every("caption")[0][1] == "Exponents | by row"
    assert [(a["scope"], text) for a, text in read.every("th")] == [
        ("col", "row"),
        ("col", "exponent"),
        ("col", "regret"),
        ("row", "Lipschitz"),
        ("row", "smooth"),
    ]
    cells = [text for a, text in read.every("th", "td") if a.get("class") == "number"]
    assert cells == ["exponent", "regret", "0.41 (0.38 to 0.44)", "−1,204", "—", "≤ 3 %"]


def test_marks_of_paragraphs(read):
    assert ({}, "Worst of 13 a<b> runs.") in read.every("p")
    assert ({}, "13") in read.every("strong")
    assert ({}, "a<b>") in read.every("code")
    assert ({}, "fullswap reproduce table") in read.every("code")


def test_facts_of_the_runs(sections, read):
    names = [text for _, text in read.every("dt")]
    told = dict(zip(names, (text for _, text in read.every("dd")), strict=True))
    assert told == {
        "Scale": "quick",
        "Seed": "7",
        "Rows of results": "1,234",
        "CPU time": "83.2 s",
        "Versions": "python 3.11.7, numpy 2.1.0",
        "Source": "git 1a2b3c4d5e6f",
    }
    text = markdown(sections, ABOUT, "figures")
    assert all(f"- {name}: {value}\n" in text for name, value in told.items())


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0, "0 s"), (119.0, "119 s"), (600.0, "10 min"), (9000.0, "2.5 h")]
)
def test_durations(seconds, text):
    assert dict(page.facts({**ABOUT, "cpu_seconds": seconds}))["CPU time"] == text


def test_only_quick_runs_are_called_quick():
    asked = one(Paragraph("x"))
    for render in (page.html, lambda s, a: markdown(s, a, "figures")):
        assert "quick" in render(asked, ABOUT)
        assert "quick" not in render(asked, {**ABOUT, "scale": "full"})


def test_same_bytes_twice_whatever_the_settings(sections, drawn, source):
    with matplotlib.rc_context({"svg.hashsalt": "other", "lines.linewidth": 9, "font.size": 20}):
        assert page.html(sections, ABOUT) == source
        assert page.files(sections) == drawn
        assert matplotlib.rcParams["font.size"] == 20
    assert sorted(drawn) == [
        f"figures/{name}.{kind}" for name in ("figure", "growth") for kind in ("png", "svg")
    ]


def test_files_tell_no_date_and_no_versions(drawn):
    svg = drawn["figures/growth.svg"].decode()
    assert "dc:date" not in svg and "Matplotlib" not in svg and "<text" not in svg
    png = drawn["figures/growth.png"]
    assert b"Matplotlib" not in png and b"tIME" not in png
    from matplotlib.image import imread

    assert imread(io.BytesIO(png)).shape[:2] == (500, 800)  # 200 dots an inch


def test_each_picture_is_drawn_once():
    drawn = []

    def counted():
        drawn.append(1)
        return draw()

    asked = one(Picture("growth", "Grows.", counted))
    page.html(asked, ABOUT, page.files(asked))
    assert len(drawn) == 1


@pytest.mark.parametrize("name", ["", "../growth", "a b", "Growth"])
def test_names_of_pictures_are_names_of_files(name):
    with pytest.raises(ValueError, match=r"names of pictures must be of a-z.* got ") as raised:
        page.files(one(Picture(name, "", draw)))
    assert str(raised.value).endswith(f"got {name!r}")


def test_two_pictures_need_two_names():
    with pytest.raises(ValueError, match="each used once, got 'growth'"):
        page.files(one(Picture("growth", "", draw), Picture("growth", "", draw)))


def test_what_is_refused():
    short = one(Table("short", ("a", "b"), (("1", "2"), ("3",))))
    picture = Picture("growth", "", draw)
    for render in (page.html, lambda s, a: markdown(s, a, "figures")):
        with pytest.raises(ValueError, match="'short' has 2 columns and rows .*3"):
            render(short, ABOUT)
        with pytest.raises(ValueError, match="at least one section"):
            render([], ABOUT)
        with pytest.raises(ValueError, match='scale must be "quick" or "full", got .fast.'):
            render(one(Paragraph("x")), {**ABOUT, "scale": "fast"})
    with pytest.raises(ValueError, match="must be drawn by files"):
        page.html(one(picture), ABOUT, {"figures/growth.svg": b"<svg>"})


# --- Text -------------------------------------------------------------------------------------

any_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
marks = st.text(st.sampled_from("ab 1.-+#*_`|\\<>&{}[]()!:~='\"\n\t≤−é"), min_size=1).filter(
    lambda text: text.strip()
)


@given(title=any_text, command=any_text, caption=any_text, cell=any_text)
def test_any_text_survives_html(title, command, caption, cell):
    asked = one(
        Table(caption, (cell, "b"), (("c", cell),)),
        Picture("growth", caption, draw),
        title=title,
        command=command,
    )
    svg = b'<svg viewBox="0 0 288 180">'
    found = Reader(page.html(asked, ABOUT, {"figures/growth.svg": svg}))
    assert found.every("h2")[0][1] == found.every("a")[0][1] == title
    assert command in [text for _, text in found.every("code")]
    assert found.every("caption")[0][1] == found.every("figcaption")[0][1] == caption
    assert found.every("img")[0][0]["alt"] == caption
    assert found.every("th")[0][1] == found.every("td")[0][1] == cell


@given(text=any_text | marks)
def test_paragraphs_lose_only_their_marks(text):
    found = Reader(page.html(one(Paragraph(text)), ABOUT))
    inside = found.every("main")[0][1].partition("fullswap reproduce table\n")[2][:-2]
    inside = inside.removesuffix("\n")
    kinds = {"plain": "{}", "strong": "**{}**", "code": "`{}`"}
    spans = list(page.spans(text))
    assert inside == "".join(part for _, part in spans)
    assert "".join(kinds[kind].format(part) for kind, part in spans) == text
    assert all(kind != "plain" or not page._SPANS.search(part) for kind, part in spans)


def test_code_is_taken_literally():
    assert list(page.spans("`a**b` and `c**d`, 2 ** 3** and **3 ** 4, `x")) == [
        ("code", "a**b"),
        ("plain", " and "),
        ("code", "c**d"),
        ("plain", ", 2 ** 3** and **3 ** 4, `x"),
    ]


# --- Numbers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cell",
    ["0", "12", "1,234,567", "−0.5", "-0.5", "+3", ".5", "3 %", "3%", "2.5×", "× 2", "≤ 0.2", "< 1"]
    + ["1.5e-07", "1e+3", "0.41 (0.38 to 0.44)", "0.41 [−0.38, 0.44]", "0.4 ± 0.1", "2/3", " 7 "],
)
def test_numbers(cell):
    assert page.is_number(cell)


@pytest.mark.parametrize(
    "cell", ["", "—", "row 5", "5 rows", "T^(1/3)", "1.2.3", "(3)", "1 (2", "e5", "3 to 4 s", "nan"]
)
def test_no_numbers(cell):
    assert not page.is_number(cell)


def test_columns_go_with_most_of_their_cells():
    rows = (("a", "1", "1", "—"), ("2", "no", "—", ""), ("b", "3", "no", "–"))
    assert page.numeric_columns(Table("", tuple("wxyz"), rows)) == [False, True, False, False]
    assert page.numeric_columns(Table("", ("w",), ())) == [False]


# --- Markdown ---------------------------------------------------------------------------------


def cells_of(line):
    """Cells between the bars that no backslash precedes."""
    return re.findall(r"\| ((?:[^\\|]|\\.)*) (?=\|)", line)


@given(data=st.data(), columns=st.integers(1, 4), rows=st.integers(0, 4))
def test_tables_have_as_many_cells_as_columns(data, columns, rows):
    row = st.tuples(*[any_text | marks] * columns)
    table = Table("caption", data.draw(row), tuple(data.draw(row) for _ in range(rows)))
    text = markdown(one(table), ABOUT, "figures")
    lines = text[text.index("**caption**\n\n") : text.index("\n\n## About")].splitlines()[2:]
    assert len(lines) == rows + 2
    assert [len(cells_of(line)) for line in lines] == [columns] * (rows + 2)
    assert all(re.fullmatch(r"\| (-{3}:?( \| )?)+ \|", line) for line in lines[1:2])


@given(text=any_text | marks, code=marks)
def test_no_examples_to_run(text, code):
    blocks = Paragraph(f">>> {text} `>>> {code}` **>>>**"), Table(text, (">>> 1",), ((code,),))
    found = markdown(one(*blocks, title=">>> " + text, command=">>> " + code), ABOUT, "figures")
    assert ">>>" not in found


def test_markdown_of_a_section(sections):
    text = markdown(sections, ABOUT, "study")
    assert text.startswith(f"# {page.TITLE}\n\nThis page sets")
    assert (
        "\n\n".join(
            [
                "## Growth of regret",
                "Made with `fullswap reproduce table`",
                "Worst of **13** `a<b>` runs.",
                r"**Exponents \| by row**",
                "| row | exponent | regret |\n| --- | ---: | ---: |\n"
                "| Lipschitz | 0.41 (0.38 to 0.44) | −1,204 |\n| smooth | — | ≤ 3 % |",
                "![Grows.](study/growth.svg)",
                "*Grows.*",
                "## The figure",
            ]
        )
        in text
    )


def test_both_renderings_share_their_words(sections, read):
    shown = read.every("header")[0][1]
    text = markdown(sections, ABOUT, "study").replace("**", "").replace("`", "")
    lines = [line for line in shown.splitlines() if line]
    assert len(lines) == 5
    assert all(line in text for line in lines)


def squeezed(text):
    return " ".join(text.split())


@settings(max_examples=100)
@example(title="a {: .b }", caption="a {#b}", cell="`a|b`", code="a|b")
@example(title="1. a", caption="![a](b)", cell="``a` |", code="a\\")
@example(title="!!! a", caption="a `b` _c_ <i>", cell="a \\", code="<b> & {#c}")
@given(title=marks, caption=marks, cell=marks, code=marks.filter(lambda text: "`" not in text))
def test_text_survives_markdown(title, caption, cell, code):
    rendering = pytest.importorskip("markdown")
    asked = one(
        Paragraph(literal_free(title) + f" `{code}`"),
        Table(caption, (cell, "b"), (("c", cell),)),
        Picture("growth", caption, draw),
        title=title,
        command=code,
    )
    pytest.importorskip("pymdownx")
    names = ["admonition", "attr_list", "tables", "toc"]
    names += ["pymdownx.highlight", "pymdownx.superfences"]
    text = rendering.markdown(markdown(asked, ABOUT, "study"), extensions=names)
    found = Reader(text.replace(" />", ">"))
    assert squeezed(found.every("h2")[0][1]) == squeezed(title)
    assert squeezed(found.every("p")[5][1]) == squeezed(literal_free(title) + " " + code)
    assert [squeezed(text) for _, text in found.every("code")][1:] == [squeezed(code)] * 2
    assert [squeezed(text) for _, text in found.every("th", "td")] == [
        squeezed(cell),
        "b",
        "c",
        squeezed(cell),
    ]
    image = found.every("img")[0][0]
    assert (image["src"], squeezed(image["alt"])) == ("study/growth.svg", squeezed(caption))
    assert squeezed(found.every("em")[-1][1]) == squeezed(caption)


def literal_free(text):
    """Without what paragraphs read as marks."""
    return text.replace("`", "").replace("**", "")


def test_numbers_are_left_as_they_are():
    for cell in ("0.5", "−1,204", "-3", "+3", "3 %", "0.41 (0.38 to 0.44)", "1e-07", "2/3"):
        assert literal(cell) == cell

"""The page of a study: every number from the summary, the same bytes every time."""

from __future__ import annotations

import copy
import io
import json
import re

import matplotlib
import pytest
from whole import DOCS, SUMMARIES, summary_of

from studies.report import page, text
from studies.study import PARTS, broken


@pytest.fixture(scope="module", params=SUMMARIES)
def summary(request):
    return summary_of(request.param)


def test_the_page_in_the_documentation_is_what_its_summary_says():
    full = summary_of("full")
    assert full["scale"] == "full" and list(full["parts"]) == list(PARTS) and not broken(full)
    assert (DOCS / "measured.md").read_text(encoding="utf-8") == page.render(full)
    drawn = page.page_pictures(full)
    first = {"before-after"}  # the picture that README opens with
    assert {path.stem for path in (DOCS / "figures").glob("*.svg")} - first == drawn.keys()
    shown = (DOCS / "figures" / "convex.svg").read_bytes()
    assert shown.count(b"<path") == page.svg(drawn["convex"]).count(b"<path")


def test_every_part_has_a_section():
    assert page.SECTIONS.keys() == PARTS.keys()


def test_every_value_has_its_place_and_every_place_its_value(summary):
    values = page.page_values(summary)
    places = re.findall(r"\{\{ (\w+)\.(\w+) \}\}", page.TEMPLATE.read_text(encoding="utf-8"))
    assert {(prefix, name) for prefix in values for name in values[prefix]} == set(places)


def test_nothing_is_left_open(summary):
    rendered = page.render(summary)
    assert "{{" not in rendered and "}}" not in rendered
    assert not re.search(r"\b(nan|None|inf)\b", rendered)
    linked = re.findall(r"\]\(figures/([\w-]+)\.svg\)", rendered)
    assert sorted(linked) == sorted(page.page_pictures(summary))
    assert ">>>" not in rendered  # it would be run as an example


def test_sections_of_parts_that_were_not_run_are_left_out(summary):
    for name in PARTS:
        alone = {**summary, "parts": {name: summary["parts"][name]}}
        rendered = page.render(alone)
        assert re.findall(r"^Made with `python -m studies (\w+)", rendered, re.M) == [name]
        assert rendered.count("\n## ") == 2 and "About these runs" in rendered


@pytest.mark.parametrize("template", ["{{ tabel.first }}", "## One\n{{ row.name }}"])
def test_a_placeholder_of_no_part_is_refused(template):
    with pytest.raises(ValueError, match="must begin with a part of the study, got"):
        page.render(summary_of("quick"), template)
    with pytest.raises(KeyError, match="nothing"):
        page.render(summary_of("quick"), "{{ table.nothing }}")


def rows_of(table):
    return [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]


def test_tables_hold_what_was_measured(summary):
    values, parts = page.page_values(summary), summary["parts"]
    assert len(rows_of(values["table"]["exponents"])) == len(parts["table"]["cases"]) == 16
    assert len(rows_of(values["table"]["baselines"])) == int(values["table"]["descents"])
    assert values["table"]["largest_ratio"] == f"{parts['table']['largest_ratio']:.2f}"
    assert values["search"]["largest_ratio"] == f"{parts['search']['largest_ratio']:.2f}"
    longest = parts["figure"]["horizons"][-1]
    steps = rows_of(values["figure"]["steps"])
    assert len(steps) == sum(run["horizon"] == longest for run in parts["figure"]["worst"])
    for columns in (2, 3):  # one of the three approaches is the lowest at each step
        assert sum("**" in row[columns] for row in steps) == len(steps) / 3
    assert len(rows_of(values["figure"]["midpoint"])) == len(parts["figure"]["midpoint"])
    assert len(rows_of(values["convex"]["regrets"])) == len(parts["convex"]["horizons"])
    curves = parts["equilibria"]["rounds"]["curves"]
    assert len(rows_of(values["equilibria"]["rounds"])) == len(curves)
    share = parts["equilibria"]["largest_ratio"]
    assert values["equilibria"]["largest_share"] == f"{100 * share:.0f} %"


def test_regret_of_nothing_can_be_told_and_drawn(summary):
    nothing = copy.deepcopy(summary)
    parts = nothing["parts"]
    convex, rounds = parts["convex"], parts["equilibria"]["rounds"]
    for curve in (*convex["learners"].values(), *convex["search"].values(), convex["mesh"]):
        curve["worst"] = curve["largest"] = [0.0] * len(curve["worst"])
    for run in rounds["runs"]:
        for point in run["points"]:
            point["gap"] = 0.0
    for curve in parts["equilibria"]["sizes"]:
        for point in curve["points"]:
            point["seconds"] = 0.0
    for line in parts["figure"]["midpoint"]:
        line["regret"][-1] = 0.0
    assert not re.search(r"\b(nan|None|inf)\b", page.render(nothing))
    drawn = page.page_pictures(nothing)
    for name in ("convex", "equilibria-seconds", "equilibria-rounds"):
        drawn[name]().savefig(io.BytesIO(), format="rgba", dpi=50)


def test_pictures_are_the_same_whatever_the_settings():
    drawn = page.page_pictures(summary_of("quick"))
    name = "convex"
    first = page.svg(drawn[name])
    with matplotlib.rc_context({"font.size": 30, "svg.fonttype": "none", "axes.grid": True}):
        assert page.svg(drawn[name]) == first
        assert matplotlib.rcParams["font.size"] == 30
    assert b"<dc:date>" not in first and matplotlib.__version__.encode() not in first


def test_pictures_show_the_measured_points(summary):
    parts, drawn = summary["parts"], page.page_pictures(summary)
    growth, mesh = drawn["convex"]().axes
    lines = [list(map(float, line.get_ydata())) for line in growth.lines]
    for kind in ("learners", "search"):
        for found in parts["convex"][kind].values():
            assert found["worst"] in lines
    assert parts["convex"]["mesh"]["worst"] in [list(line.get_ydata()) for line in mesh.lines]
    rows, beside = drawn["table"](), drawn["baselines"]()
    assert [len(ax.lines) for ax in rows.axes] == [6, 6, 6, 6, 6, 2]
    assert sum(ax.get_visible() for ax in beside.axes) == 5
    failed = [c for c in parts["equilibria"]["sizes"] if c["failed"] is not None]
    crosses = [
        line for ax in drawn["equilibria-seconds"]().axes for line in ax.lines
        if line.get_marker() == "x" and len(line.get_xdata())
    ]  # fmt: skip
    assert len(crosses) == len(failed)


def test_a_study_is_published_whole(tmp_path):
    whole = summary_of("quick")
    parts = {name: whole["parts"][name] for name in ("search", "convex")}
    page.publish(whole | {"parts": parts}, tmp_path)
    assert json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))["parts"] == parts
    assert (tmp_path / "page.md").read_text(encoding="utf-8").count("\n## ") == 3
    assert (tmp_path / "figures" / "convex.svg").read_bytes().startswith(b"<?xml")


def test_tables_have_as_many_cells_as_columns():
    with pytest.raises(ValueError, match="rows must have 2 cells, got"):
        text.table(("one", "two"), [("1", "2"), ("1",)])


@pytest.mark.parametrize(
    ("cells", "rule"),
    [
        (["0.50 (0.45 to 0.55)", "–"], "---:"), (["−1,234.5", "2/3"], "---:"),
        (["8.00 (4.00 or more)"], "---:"), (["**3.1**"], "---:"), (["–", "–"], "---"),
        (["3 s at 100", "1"], "---"), (["row 5"], "---"),
    ],
)  # fmt: skip
def test_columns_of_numbers_are_aligned_to_the_right(cells, rule):
    assert text.table(("x",), [[cell] for cell in cells]).splitlines()[1] == f"| {rule} |"


def test_exponents_in_the_documentation_lie_at_or_below_the_papers():
    for case in summary_of("full")["parts"]["table"]["cases"]:
        assert case["players"]["fullswap"]["exponent"][1] <= case["paper_with_log"], case["row"]

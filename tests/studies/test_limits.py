"""Limits: guarantees grow as the paper says, and the page prints what the command prints."""

from pathlib import Path

import pytest

from studies import limits

PAGE = Path(__file__).parents[2] / "docs" / "limits.md"


def check(table):
    page = PAGE.read_text(encoding="utf-8")
    for line in table.splitlines()[2:]:
        assert line in page
        name, _, _, late, paper = (cell.strip() for cell in line.strip("|").split("|"))
        if "convex" in name or name == "concave":  # hedge on 2,000 points falls behind
            slack = 0.09 if name == "concave" else 0.05
            assert float(late) <= float(paper) + slack, line


def test_guarantees_grow_as_in_the_paper_and_the_page_says_so():
    check(limits.slopes(limits.SLOPES[-1:], (1, 4, 6)))


@pytest.mark.slow
def test_all_guarantees_grow_as_in_the_paper_and_the_page_says_so():
    check(limits.slopes())


@pytest.mark.parametrize("dim", [1, 4])
def test_cells_say_how_much_which_row_and_how_many_points(dim):
    for kind, action_set in limits.sets_of(dim).items():
        assert action_set.diameter == pytest.approx(1.0), kind
        made = limits.plan(action_set, limits.CLASSES["squared"], 10**4)
        cell = limits._cell(made, 10**4)
        assert made.row in cell and "point" in cell and " %: " in cell
        assert 0 < limits.share(made, 10**4) <= 1

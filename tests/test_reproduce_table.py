"""The sections on the table and on the search: sentences that follow the numbers."""

from __future__ import annotations

import copy

import pytest

from fullswap.experiments.fits import exponent
from fullswap.experiments.problems import cases
from fullswap.experiments.table import (
    DESCENT,
    NET,
    OURS,
    paper_exponent,
    paper_exponent_with_log,
    players_of,
)
from fullswap.report.paper import search, table
from fullswap.report.paper.section import Picture, Table
from sections import text_of

HORIZONS = [64, 256, 1024, 4096]


def player(power, factor=0.5, guaranteed=True, horizons=HORIZONS):
    worst = [factor * t**power for t in horizons]
    found = {
        "horizons": horizons,
        "worst": worst,
        "adversary": ["MeanAware"] * len(horizons),
        "exponent": exponent(horizons, worst),
    }
    if guaranteed:
        bounds = [t**power for t in horizons]
        found |= {"guaranteed": bounds, "guaranteed_exponent": power, "largest_ratio": factor}
    return found


@pytest.fixture
def summary():
    found = []
    for row, dim in cases():
        a = paper_exponent(row, dim)
        players = {OURS: player(a), NET: player(0.8), DESCENT: player(1.0, 0.3, False)}
        found.append(
            {
                "row": row,
                "dim": dim,
                "paper": a,
                "paper_with_log": paper_exponent_with_log(row, dim, HORIZONS),
                "players": {name: players[name] for name in players_of(row)},
            }
        )
    return {"horizons": HORIZONS, "adversaries": 13, "largest_ratio": 0.5, "cases": found}


def said_of(summary):
    return text_of(table.section(summary, "command"))


def case_of(summary, row, dim):
    return next(c for c in summary["cases"] if (c["row"], c["dim"]) == (row, dim))


def test_what_follows_the_paper_is_said_to(summary):
    text = said_of(summary)
    assert (
        "No run exceeds its guarantee; the largest ratio of measured to guaranteed is 0.50" in text
    )
    assert "Every measured exponent lies at or below a within its interval" in text
    assert "in 15 of 15 problems" in text and "not the worst case" not in text
    assert "T = 64 to 4,096" in text and "optimal" not in text


def test_an_exponent_far_below_is_named(summary):
    case_of(summary, "concave", 2)["players"][OURS] = player(0.3)
    text = said_of(summary)
    assert "row 3 linear or concave in d = 2, 0.30 against 0.60" in text
    assert "the adversaries found are not the worst case" in text


def test_exponents_above_the_papers_are_named_with_or_without_the_logarithm(summary):
    log = copy.deepcopy(summary)
    case_of(log, "smooth", 1)["players"][OURS] = player(0.65)
    assert "even without the logarithm all do but row 2 smooth in d = 1." in said_of(log)
    case_of(summary, "smooth", 1)["players"][OURS] = player(0.95)
    assert "wholly above the paper’s rate, logarithm included, for row 2 smooth in d = 1, and" in (
        said_of(summary)
    )


@pytest.mark.parametrize("who", [OURS, NET])
def test_a_broken_guarantee_is_not_passed_over(summary, who):
    case_of(summary, "smooth", 3)["players"][who] = player(0.7, 1.2)
    assert "**A run exceeds its guarantee**" in said_of(summary)


def test_the_learner_is_compared_over_the_horizons_of_the_others(summary):
    case = case_of(summary, "smooth", 1)
    case["players"][NET] = player(0.7, horizons=HORIZONS[:3])
    case["players"][DESCENT] = player(1.0, 0.3, False, HORIZONS[:3])
    case["players"][OURS]["worst"][3] = 1e6
    (shown,) = (
        row
        for block in table.section(summary, "command").blocks
        if isinstance(block, Table) and "baselines" in block.caption
        for row in block.rows
        if row[:2] == ("2 smooth", "1")
    )
    assert shown[2].startswith("0.60 (0.60 to 0.60)") and shown[3] == "32"


def test_tables_and_pictures_show_all_cases(summary):
    blocks = table.section(summary, "command").blocks
    exponents, baselines = (block for block in blocks if isinstance(block, Table))
    assert len(exponents.rows) == 16 and len(baselines.rows) == 15
    assert all(len(row) == len(exponents.columns) for row in exponents.rows)
    assert exponents.rows[0][-1] == "mean aware"
    rows, beside = (block.draw() for block in blocks if isinstance(block, Picture))
    assert sum(ax.get_visible() for ax in rows.axes) == 6
    assert sum(ax.get_visible() for ax in beside.axes) == 5
    assert [len(ax.lines) for ax in rows.axes] == [6, 6, 6, 6, 6, 2]


def test_the_search_tells_the_closest_run():
    found = {
        "row": "smooth", "dim": 2, "rounds": 100, "budget": 20, "adversary": "mean_aware",
        "settings": "{}", "measured": 5.0, "guaranteed": 10.0, "ratio": 0.5,
    }  # fmt: skip
    worse = {**found, "row": "concave", "dim": 1, "ratio": 0.75}
    text = search.section({"searches": [found, worse]}, "command").blocks[0].text
    assert "None was broken; closest came row 3 linear or concave in d = 1, with 0.75." in text
    broken = search.section({"searches": [found, {**worse, "ratio": 1.5}]}, "command")
    assert "**Broken: 1 guarantee**" in broken.blocks[0].text

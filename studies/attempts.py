"""Trying to break the guarantees: the searching adversary against every row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from studies.fits import significant
from studies.problems import cases, problem
from studies.runs import Job, Part, Row, number
from studies.searching import search

QUICK, FULL = (150, 20), (1_000, 150)
"""Rounds of a run, and runs of a search."""


def jobs(quick: bool, seed: int) -> list[Job]:
    """One search for every row and dimension."""
    rounds, budget = QUICK if quick else FULL
    return [
        Job(attempt, {"row": row, "dim": dim, "rounds": rounds, "budget": budget, "seed": seed})
        for row, dim in cases()
    ]


def attempt(row: str, dim: int, rounds: int, budget: int, seed: int) -> list[Row]:
    """The adversary that comes closest to the guarantee, of those tried: one row."""
    posed = problem(row, dim)
    worst = search(
        partial(posed.learner, rounds), posed.action_set, posed.loss_class, rounds, budget, seed
    )
    return [
        {
            "adversary": worst.adversary,
            "settings": json.dumps(worst.parameters, default=float),
            "measured": worst.measured,
            "guaranteed": worst.guaranteed,
            "ratio": worst.ratio,
        }
    ]


def summarise(rows: Sequence[Row]) -> dict[str, Any]:
    """The worst run of every row and dimension."""
    names = ("row", "dim", "rounds", "budget", "adversary", "settings")
    return {
        "largest_ratio": significant(max(number(row, "ratio") for row in rows)),
        "searches": [
            {key: row[key] for key in names}
            | {key: significant(number(row, key)) for key in ("measured", "guaranteed", "ratio")}
            for row in rows
        ],
    }


PART = Part("search", jobs, summarise)

"""``python -m studies classes``: what ``studies.classes`` measures, as tables of a page."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from studies.class_contenders import GRID, OURS
from studies.classes import BINS, NAME, QUICK, Plan, measure
from studies.report.compared import BEHIND, Loss, about, beside, command, means, section
from studies.runs import Row, rows_where

COLUMNS = (
    "classwise", "classwise_noise", "classwise_beyond", "top", "top_noise", "top_beyond", "ece",
    "brier", "beside_one", "adaptive",
)  # fmt: skip
HEADS = (
    "class-wise, points off (chance)", "top label, points off (chance)",
    f"top label, ECE in {BINS} bins", "Brier score", "sum off 1",
)  # fmt: skip
KINDS = (
    Loss("classwise", "class-wise"),
    Loss("top", "top label"),
    Loss("brier", "Brier score", in_points=False),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    return command(NAME, arguments, __doc__, compare)


def compare(asked: argparse.Namespace) -> tuple[Iterable[Row], Callable[[list[Row]], str]]:
    """Rows, and how to write them down."""
    plan = replace(QUICK if asked.quick else Plan(), seed=asked.seed)
    return measure(plan), partial(text_of, said=about(NAME, asked), plan=plan)


def text_of(rows: list[Row], said: str, plan: Plan) -> str:
    """All tables, each with what it shows."""
    parts = [
        f"{said} Points are percentage points, in brackets what chance alone would show if every "
        "forecast were right; errors are in soft bins, ECE is in hard ones. The Brier score is "
        "summed over the classes. “Sum off 1” is the mean distance of the sum of a vector from 1, "
        "before it is divided by it. " + BEHIND
    ]
    titles = {
        "few": f"{plan.few} classes, {plan.few_events:,} events, means of {plan.few_runs} runs",
        "many": f"{plan.many} classes, {plan.many_events:,} events, one run",
        "data": "Data, with models that learn as they go",
    }
    for part, title in titles.items():
        own = rows_where(rows, part=part)
        if own:
            found = means(own, COLUMNS)
            parts += section(title, found, HEADS, _cells, OURS, KINDS, aside=(GRID,))
    return "\n\n".join(part for part in parts if part)


def _cells(own: dict[str, float]) -> tuple[str, ...]:
    return (
        beside(own["classwise"], own["classwise_noise"]),
        beside(own["top"], own["top_noise"]),
        f"{own['ece']:.1f}",
        f"{own['brier']:.4f}",
        f"{own['beside_one']:.4f}" if own["beside_one"] > 1e-9 else "0",
    )

"""What small comparisons have in common: a command, means over runs, tables of a page."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from studies.report.markers import rewrite
from studies.report.text import bold, listed, table
from studies.runs import Row, number, provenance, rows_where, to_csv, write

Scores = dict[str, dict[str, float]]
"""Contender ↦ column ↦ mean over runs."""


@dataclass(frozen=True)
class Comparison:
    """What is measured with how much effort, and what a page shows of it.

    ``text`` gives, of rows, how they were measured, and the plan, what belongs between the markers.
    Plans have a ``seed``; they and ``measure`` are a module's own.
    """

    name: str
    plan: Any
    quick: Any
    measure: Callable[[Any], Iterable[Row]]
    text: Callable[[list[Row], str, Any], str]


def means(rows: Sequence[Row], columns: Iterable[str]) -> dict[str, Scores]:
    """Stream ↦ contender ↦ means over runs, in the order of the rows."""
    wanted, found = tuple(columns), {}
    for stream in dict.fromkeys(str(row["stream"]) for row in rows):
        own = rows_where(rows, stream=stream)
        found[stream] = {
            name: {
                column: fmean(number(row, column) for row in rows_where(own, contender=name))
                for column in wanted
            }
            for name in dict.fromkeys(str(row["contender"]) for row in own)
        }
    return found


def beside(error: float, noise: float) -> str:
    """Points off, and by chance.

    Examples
    --------
    >>> beside(12.34, 1.26)
    '12.3 (1.3)'
    """
    return f"{error:.1f} ({noise:.1f})"


def blocks(
    found: Mapping[str, Scores],
    heads: Sequence[str],
    cells: Callable[[dict[str, float]], Sequence[str]],
    ours: str,
) -> str:
    """A block of lines a stream, a line a contender; ours in bold."""
    lines = []
    for stream, scores in found.items():
        for place, (name, own) in enumerate(scores.items()):
            shown = bold(name, name == ours)
            lines.append((stream if place == 0 else "", shown, *cells(own)))
    return table(("stream", "method", *heads), lines)


def command(found: Comparison, arguments: Sequence[str] | None, description: str | None) -> int:
    """Measure, print, write; 1 if it cannot be done."""
    name = found.name
    parser = argparse.ArgumentParser(f"python -m studies {name}", description=description)
    parser.add_argument("--quick", action="store_true", help="few short runs, to see that it works")
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--out", type=Path, help=f"folder for {name}.csv; results/{name}")
    parser.add_argument("--page", type=Path, help="file with the markers, to be rewritten")
    asked = parser.parse_args(arguments)
    plan = replace(found.quick if asked.quick else found.plan, seed=asked.seed)
    began, rows = time.monotonic(), []
    try:
        for row in found.measure(plan):
            rows.append(row)
            print(f"{time.monotonic() - began:5.0f} s  {row}", file=sys.stderr)
        write((asked.out or Path("results") / name) / f"{name}.csv", to_csv(rows))
        content = found.text(rows, _about(name, asked), plan)
        print(content)
        if asked.page is not None:
            rewrite(asked.page, name, content)
    except (ValueError, OSError, ImportError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    return 0


def _about(name: str, asked: argparse.Namespace) -> str:
    """How it was measured."""
    made = provenance()
    versions = listed((str(made[key]) for key in ("python", "numpy", "numba")), ", ")
    quick = " --quick" if asked.quick else ""
    return (
        f"Measured by `python -m studies {name}{quick}` with seed {asked.seed} "
        f"({made['revision']}; {versions})."
    )

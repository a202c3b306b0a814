"""What the pages of two comparisons have in common: rows into tables, losses into sentences."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from statistics import fmean

from studies.report.markers import replace_between
from studies.report.text import bold, listed, table
from studies.runs import Row, number, provenance, rows_where, to_csv, write

LEAST_POINTS, LEAST_RATIO = 0.5, 1.005
"""Smaller differences, of errors and of scores, are not worth a word."""
CLEARLY = 4.0
"""Standard deviations: smaller errors may be chance, also the largest of many."""

BEHIND = (
    f"We call ours *behind* if its error is clearly more than chance and {LEAST_POINTS:g} points "
    f"above the best other; for Brier scores, {100 * (LEAST_RATIO - 1):.2g} % above it, where "
    "outcomes do not answer forecasts."
)

Scores = dict[str, dict[str, float]]
"""Contender ↦ column ↦ mean over runs."""


@dataclass(frozen=True)
class Loss:
    """A column in which a contender may lose, and by how much it must, to be said to."""

    column: str
    words: str
    in_points: bool = True
    """An error, with columns ``…_noise`` for what chance shows and ``…_beyond`` in its standard
    deviations; otherwise a score, which is not compared where outcomes answer forecasts."""

    def value(self, scores: Mapping[str, float]) -> float:
        """What is compared: an error less what chance shows, or the score itself."""
        own = scores[self.column]
        if not self.in_points:
            return own
        return sqrt(max(own**2 - scores[f"{self.column}_noise"] ** 2, 0.0))

    def lost(self, ours: Mapping[str, float], others: Mapping[str, float]) -> bool:
        """Whether it is worth a word."""
        if self.in_points:
            clear = ours[f"{self.column}_beyond"] > CLEARLY
            return clear and self.value(ours) - self.value(others) > LEAST_POINTS
        return self.value(ours) > LEAST_RATIO * self.value(others)

    def said(self, scores: Mapping[str, float]) -> str:
        """As the text has it."""
        own = scores[self.column]
        return beside(own, scores[f"{self.column}_noise"]) if self.in_points else f"{own:.4f}"


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


def section(
    title: str, found: Mapping[str, Scores], heads: Sequence[str],
    cells: Callable[[dict[str, float]], Sequence[str]], ours: str, kinds: Sequence[Loss],
    aside: Sequence[str] = (),
) -> list[str]:  # fmt: skip
    """A title, its table, and where ours is behind."""
    return [f"**{title}.**", blocks(found, heads, cells, ours), losses(found, ours, kinds, aside)]


def losses(
    found: Mapping[str, Scores], ours: str, kinds: Sequence[Loss], aside: Sequence[str] = ()
) -> str:
    """Where another contender, but for those aside, is better than ours: a sentence or two."""
    said, compared = [], 0
    for stream, scores in found.items():
        others = {name: own for name, own in scores.items() if name not in (ours, *aside)}
        if ours not in scores or not others:
            continue
        for kind in kinds:
            if not kind.in_points and scores[ours]["adaptive"]:
                continue
            compared += 1
            name = min(others, key=lambda other: kind.value(others[other]))
            own, best = scores[ours], others[name]
            if kind.lost(own, best):
                said.append(
                    f"- {stream}, {kind.words}: {kind.said(own)} against {kind.said(best)} "
                    f"of “{name}”"
                )
    if not compared:
        return ""
    if not said:
        return "Ours is nowhere behind by more than chance or a hair."
    return f"Where ours is behind (in {len(said)} of {compared} comparisons):\n\n" + "\n".join(said)


def command(
    name: str,
    arguments: Sequence[str] | None,
    description: str | None,
    compare: Callable[[argparse.Namespace], tuple[Iterable[Row], Callable[[list[Row]], str]]],
    data: bool = False,
) -> int:
    """Measure, print, write; 1 if it cannot be done."""
    parser = argparse.ArgumentParser(f"python -m studies {name}", description=description)
    parser.add_argument("--quick", action="store_true", help="few short runs, to see that it works")
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--out", type=Path, help=f"folder for {name}.csv; results/{name}")
    parser.add_argument("--page", type=Path, help="file with the markers, to be rewritten")
    if data:
        parser.add_argument("--data", type=Path, help="folder of the public logs")
    asked = parser.parse_args(arguments)
    began, rows = time.monotonic(), []
    try:
        measured, text = compare(asked)
        for row in measured:
            rows.append(row)
            print(f"{time.monotonic() - began:5.0f} s  {row}", file=sys.stderr)
        write((asked.out or Path("results") / name) / f"{name}.csv", to_csv(rows))
        content = text(rows)
        print(content)
        if asked.page is not None:
            page = asked.page.read_text(encoding="utf-8")
            write(asked.page, replace_between(page, name, content))
    except (ValueError, OSError, ImportError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    return 0


def about(name: str, asked: argparse.Namespace) -> str:
    """How it was measured."""
    made = provenance()
    versions = listed((str(made[key]) for key in ("python", "numpy", "numba")), ", ")
    quick = " --quick" if asked.quick else ""
    return (
        f"Measured by `python -m studies {name}{quick}` with seed {asked.seed} "
        f"({made['revision']}; {versions})."
    )

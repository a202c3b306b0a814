"""``python -m studies detection``: what ``studies.detection`` measures, as tables of a page.

Every table stands between markers of its own, with a sentence or two made from its numbers: what is
written by hand on the page has no figures.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from studies.detection import QUICK, Plan, measure
from studies.report.detection_text import TEXTS
from studies.report.markers import replace_between
from studies.report.text import listed
from studies.runs import Row, provenance, rows_where, to_csv, write

NAME = "detection"


def about_text(plan: Plan, quick: bool) -> str:
    """How all of it was measured."""
    made = provenance()
    versions = listed((str(made[name]) for name in ("python", "numpy", "scipy", "numba")), ", ")
    command = f"python -m studies detection{' --quick' if quick else ''}"
    return (
        f"Measured by `{command}` with seed {plan.seed} ({made['revision']}; {versions}, river "
        f"{version('river')}). ± is one standard error."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; 1 if it cannot be done."""
    parser = argparse.ArgumentParser("python -m studies detection", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few short runs, to see that it works")
    parser.add_argument("--seed", type=int, default=0, help="of all streams")
    parser.add_argument("--out", type=Path, help="folder for detection.csv; results/detection")
    parser.add_argument("--page", type=Path, help="file with the markers, to be rewritten")
    asked = parser.parse_args(arguments)
    plan = replace(QUICK if asked.quick else Plan(), seed=asked.seed)
    began, rows = time.monotonic(), []
    try:
        for row in measure(plan):
            rows.append(row)
            print(f"{time.monotonic() - began:5.0f} s  {row}", file=sys.stderr)
        contents = {"about": about_text(plan, asked.quick)}
        contents |= {part: text(rows_where(rows, part=part), plan) for part, text in TEXTS.items()}
        kept: list[Row] = [
            {key: value for key, value in row.items() if value is not None} for row in rows
        ]
        write((asked.out or Path("results") / NAME) / f"{NAME}.csv", to_csv(kept))
        print("\n\n".join(contents.values()))
        if asked.page is not None:
            page = asked.page.read_text(encoding="utf-8")
            for part, content in contents.items():
                page = replace_between(page, f"{NAME}-{part}", content)
            write(asked.page, page)
    except (ValueError, OSError, ImportError) as error:
        print(f"detection: {error}", file=sys.stderr)
        return 1
    return 0

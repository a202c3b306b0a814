"""`fullswap check LOG`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from fullswap.cli.options import COLUMNS, JSON, OUTPUT, QUIET, READING, grouped, listed
from fullswap.cli.output import (
    answered,
    in_shell,
    laid_out,
    progress_wanted,
    refuse_unwritable,
    say,
    without_notes,
)

VERDICTS = ("never", "miscalibrated", "any")
ANSWER = "What counts"
"""The group of options about the verdict."""


def check(
    log: str = typer.Argument(
        metavar="LOG", help="CSV, Parquet or JSON lines; - is standard input."
    ),
    outcome: list[str] = typer.Option(  # noqa: B008
        [], "--outcome", "--y", metavar="COL", rich_help_panel=COLUMNS,
        help="Outcomes: 0/1, yes/no, a class; again for one column of 0/1 a class.",
    ),
    probability: list[str] = typer.Option(  # noqa: B008
        [], "--probability", "--p", metavar="COL", rich_help_panel=COLUMNS,
        help="Probabilities; again for rival models, which are compared.",
    ),
    classes: str | None = typer.Option(
        None, metavar="COL,COL,…", rich_help_panel=COLUMNS,
        help="Probabilities of all classes.",
    ),
    time: str | None = typer.Option(
        None, metavar="COL", rich_help_panel=COLUMNS,
        help="When the forecast was made: rows are read in that order.",
    ),
    event: list[str] = typer.Option(  # noqa: B008
        [], "--event", metavar="COL", rich_help_panel=COLUMNS,
        help="What is forecast, if several rows share one outcome; again for several columns.",
    ),
    together: list[str] = typer.Option(  # noqa: B008
        [], "--together", metavar="COL", rich_help_panel=COLUMNS,
        help="What makes rows hang together without sharing an outcome: a day, a storm.",
    ),
    by: list[str] = typer.Option(  # noqa: B008
        [], "--by", metavar="COL", rich_help_panel=COLUMNS,
        help="Check every value of this column too; again, or with commas, for more.",
    ),
    groups: list[str] = typer.Option(  # noqa: B008
        [], "--groups", metavar="COL", rich_help_panel=COLUMNS,
        help="Check every value of this column as a group. Unlike --by, numbers are not cut into "
        "bands, and empty cells belong to no group.",
    ),
    weight: str | None = typer.Option(
        None, metavar="COL", rich_help_panel=COLUMNS, help="Weights of the rows."
    ),
    due: str | None = typer.Option(
        None, metavar="COL", rich_help_panel=COLUMNS,
        help="When the outcome is due: rows not yet due are left out.",
    ),
    delay: int = typer.Option(
        0, min=0, metavar="ROWS", rich_help_panel=READING,
        help="Outcomes are known only so many rows later.",
    ),
    positive: str | None = typer.Option(
        None, metavar="VALUE", rich_help_panel=READING,
        help="Which outcome is 'yes', if it is not obvious.",
    ),
    step: str | None = typer.Option(
        None, metavar="5%", rich_help_panel=READING,
        help="Probabilities are rounded so, and may be off by half of it.",
    ),
    strict: bool = typer.Option(
        False, "--strict", rich_help_panel=READING, help="Stop at the first malformed line."
    ),
    tolerance: float = typer.Option(
        2.0, metavar="POINTS", rich_help_panel=ANSWER,
        help="Average error that does not matter, in percentage points.",
    ),
    fail_on: str = typer.Option(
        "never", metavar="VERDICT", rich_help_panel=ANSWER,
        help="Exit with 1 if 'miscalibrated', or with 'any' also if a little or in a segment.",
    ),
    report: Path | None = typer.Option(  # noqa: B008
        None, metavar="FILE.html", rich_help_panel=OUTPUT,
        help="Write a report: one page that needs nothing else.",
    ),
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:  # fmt: skip
    """Is this forecaster calibrated? How far off, which way, at what cost, and how sure."""
    roles = {
        "y": listed(outcome), "p": listed(probability), "classes": listed([classes or ""]),
        "time": time, "event": listed(event), "together": listed(together), "by": listed(by),
        "sample_weight": weight, "due": due, "groups": grouped(groups),
    }  # fmt: skip
    progress_wanted(quiet)
    with answered("check"):
        if fail_on not in VERDICTS:
            raise ValueError(f"--fail-on must be {' or '.join(VERDICTS)}, got {fail_on!r}")
        if not 0 <= tolerance <= 100:
            raise ValueError(f"--tolerance must be from 0 to 100 points, got {tolerance:g}")
        from fullswap.base.files import refuse_same

        refuse_same(LOG=log, **{"--report": report})
        if report is not None:
            refuse_unwritable(report, "--report")
        from fullswap.checking.files import check_file
        from fullswap.checking.making import as_step
        from fullswap.checking.settings import Settings

        settings = Settings(tolerance=tolerance / 100, step=as_step(step), delay=delay)
        answer = check_file(log, roles, settings, pos_label=positive, strict=strict)
        if report is not None:
            answer.report(report)
        written = "" if report is None else f"\n\nReport: {report}"
        text = without_notes(str(answer)) if quiet else str(answer)
        say(answer.to_json(indent=2) if as_json else laid_out(in_shell(text)) + written, "check")
    if (fail_on == "miscalibrated" and answer.miscalibrated) or (fail_on == "any" and _any(answer)):
        raise typer.Exit(1)


def _any(answer: Any) -> bool:
    """Whether anything is wrong: a little, or in a segment."""
    if any(verdict.startswith("miscalibrated") for verdict in answer.verdicts):
        return True
    return any(segment.flagged for segment in getattr(answer, "segments", []))

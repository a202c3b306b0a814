"""`fullswap check LOG`."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

VERDICTS = ("never", "miscalibrated", "any")


def check(
    log: str = typer.Argument(help="CSV, Parquet or JSON lines; - is standard input."),
    outcome: list[str] = typer.Option(  # noqa: B008
        [], "--outcome", "--y", metavar="COL", help="Column of outcomes: 0/1, yes/no, a class."
    ),
    probability: list[str] = typer.Option(  # noqa: B008
        [], "--probability", "--p", metavar="COL",
        help="Column of probabilities; again for rival models, which are compared.",
    ),
    classes: str | None = typer.Option(
        None, metavar="COL,COL,…", help="Columns of the probabilities of all classes."
    ),
    time: str | None = typer.Option(
        None, metavar="COL", help="When the forecast was made: rows are read in that order."
    ),
    event: list[str] = typer.Option(  # noqa: B008
        [], "--event", metavar="COL",
        help="What is forecast, if several rows share one outcome; again for several columns.",
    ),
    together: list[str] = typer.Option(  # noqa: B008
        [], "--together", metavar="COL",
        help="What makes rows hang together without sharing an outcome: a day, a storm.",
    ),
    by: list[str] = typer.Option(  # noqa: B008
        [], "--by", metavar="COL", help="Check every value of this column too; may be repeated."
    ),
    weight: str | None = typer.Option(None, metavar="COL", help="Weights of the rows."),
    due: str | None = typer.Option(
        None, metavar="COL", help="When the outcome is due: rows not yet due are left out."
    ),
    delay: int = typer.Option(
        0, min=0, metavar="ROWS", help="Outcomes are known only so many rows later.",
    ),
    positive: str | None = typer.Option(
        None, metavar="VALUE", help="Which outcome is 'yes', if it is not obvious."
    ),
    step: str | None = typer.Option(
        None, metavar="5%", help="Probabilities are rounded so, and may be off by half of it."
    ),
    tolerance: float = typer.Option(
        2.0, metavar="POINTS", help="Average error that does not matter, in percentage points."
    ),
    fail_on: str = typer.Option(
        "never", metavar="VERDICT",
        help="Exit with 1 if miscalibrated ('miscalibrated'), or even a little ('any').",
    ),
    report: Path | None = typer.Option(  # noqa: B008
        None, metavar="FILE.html", help="Write a report: one page that needs nothing else."
    ),
    strict: bool = typer.Option(False, "--strict", help="Stop at the first malformed line."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:  # fmt: skip
    """Is this forecaster calibrated? How far off, which way, at what cost, and how sure."""
    from fullswap.checking.files import check_file
    from fullswap.checking.making import as_step
    from fullswap.checking.settings import Settings

    if fail_on not in VERDICTS:
        raise typer.BadParameter(f"--fail-on must be {', '.join(VERDICTS)}, got {fail_on!r}")
    roles = {
        "y": outcome, "p": probability, "classes": classes.split(",") if classes else [],
        "time": time, "event": event, "together": together, "by": by,
        "sample_weight": weight, "due": due,
    }  # fmt: skip
    try:
        if report is not None and (report.is_dir() or not report.absolute().parent.is_dir()):
            raise ValueError(f"--report must be a file in a folder that exists, got {report}")
        settings = Settings(tolerance=tolerance / 100, step=as_step(step), delay=delay)
        answer = check_file(log, roles, settings, pos_label=positive, strict=strict)
        if report is not None:
            answer.report(report)
    except (ValueError, OSError, ImportError) as error:
        print(f"fullswap check: {error}", file=sys.stderr)
        raise typer.Exit(2) from None
    print(answer.to_json(indent=2) if as_json else answer)
    if report is not None and not as_json:
        print(f"\nReport: {report}")
    little = any(verdict.startswith("miscalibrated") for verdict in answer.verdicts)
    if (fail_on == "miscalibrated" and answer.miscalibrated) or (fail_on == "any" and little):
        raise typer.Exit(1)

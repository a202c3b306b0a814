"""`fullswap forecast LOG`."""

from __future__ import annotations

from pathlib import Path

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

KNOWN, DRAWS = "When outcomes were known", "What is published"
"""Groups of options."""


def forecast(
    log: str = typer.Argument(
        metavar="LOG", help="CSV, Parquet or JSON lines; - is standard input."
    ),
    outcome: list[str] = typer.Option(  # noqa: B008
        [], "--outcome", "--y", metavar="COL",
        help="Column of outcomes: 0/1, yes/no, a class; empty where not known yet.",
        rich_help_panel=COLUMNS,
    ),
    probability: list[str] = typer.Option(  # noqa: B008
        [], "--probability", "--p", metavar="COL",
        help="Column of a model's probabilities; again for rival models, which are combined; "
        "'none' to forecast from the outcomes alone.",
        rich_help_panel=COLUMNS,
    ),
    key: str | None = typer.Option(
        None, metavar="COL", help="Every value has a forecaster of its own: a station, a market.",
        rich_help_panel=COLUMNS,
    ),
    groups: list[str] = typer.Option(  # noqa: B008
        [], "--groups", metavar="COL",
        help="Calibrated for every value of this column too: a region, an age band; again, or "
        "with commas, for more. For yes-or-no events.",
        rich_help_panel=COLUMNS,
    ),
    time: str | None = typer.Option(
        None, metavar="COL", help="When the forecast was made: rows are replayed in that order.",
        rich_help_panel=COLUMNS,
    ),
    resolved: str | None = typer.Option(
        None, metavar="COL",
        help="When the outcome became known: it is used by forecasts made after that moment, not "
        "at it.",
        rich_help_panel=KNOWN,
    ),
    delay: int | None = typer.Option(
        None, min=0, metavar="ROWS", help="Outcomes are known only so many rows later.",
        rich_help_panel=KNOWN,
    ),
    event: list[str] = typer.Option(  # noqa: B008
        [], "--event", metavar="COL",
        help="What is forecast, if several rows share one outcome; again for several columns.",
        rich_help_panel=COLUMNS,
    ),
    classes: str | None = typer.Option(
        None, metavar="COL,COL,…", help="Columns of the probabilities of all classes.",
        rich_help_panel=COLUMNS,
    ),
    step: str | None = typer.Option(
        None, metavar="5%", help="Publish only multiples of it.",
        rich_help_panel=DRAWS,
    ),
    horizon: int | None = typer.Option(
        None, min=1, metavar="EVENTS", help="How many events there will be, if you know it.",
        rich_help_panel=DRAWS,
    ),
    state: Path | None = typer.Option(  # noqa: B008
        None, metavar="FILE",
        help="Go on from there in a later call, with the same log grown or another one; a call "
        "that was killed is made up for by the same call again.",
        rich_help_panel=OUTPUT,
    ),
    out: str | None = typer.Option(
        None, metavar="FILE",
        help="Write all rows with their forecasts: .csv, .jsonl or .parquet; - is standard output.",
        rich_help_panel=OUTPUT,
    ),
    report: Path | None = typer.Option(  # noqa: B008
        None, metavar="FILE.html", help="Write a report: one page that needs nothing else.",
        rich_help_panel=OUTPUT,
    ),
    alarm: bool = typer.Option(
        False, "--alarm", help="Watch the model's own probabilities, and say when they go wrong.",
        rich_help_panel=OUTPUT,
    ),
    positive: str | None = typer.Option(
        None, metavar="VALUE", help="Which outcome is 'yes', if it is not obvious.",
        rich_help_panel=READING,
    ),
    weight: str | None = typer.Option(
        None, metavar="COL", help="Weights of the rows.",
        rich_help_panel=COLUMNS,
    ),
    max_weight: float | None = typer.Option(
        None, "--max-weight", metavar="WEIGHT",
        help="The largest weight that will ever come; left out: that of the first rows.",
        rich_help_panel=READING,
    ),
    seed: int | None = typer.Option(
        None, min=0,
        rich_help_panel=DRAWS,
        help="Of the draws, for the same ones again. Left out: 0 for a log that has happened; with "
        "--state a fresh one that nobody can foresee.",
    ),
    strict: bool = typer.Option(
        False, "--strict", help="Stop at the first malformed line.",
        rich_help_panel=READING,
    ),
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:  # fmt: skip
    """Better probabilities for a log of forecasts, as if it had run all along."""
    from fullswap.replay import ReplaySettings, replay_file

    roles = {
        "y": listed(outcome), "p": listed(probability), "classes": listed([classes or ""]),
        "time": time, "resolved": resolved, "event": listed(event), "key": key,
        "sample_weight": weight, "groups": grouped(groups),
    }  # fmt: skip
    with answered("forecast"):
        wanted = progress_wanted(quiet)
        if as_json and out == "-":
            raise ValueError("--json must be left out where --out is -: both are standard output")
        from fullswap.base.files import refuse_same

        refuse_same(LOG=log, **{"--out": out, "--state": state, "--report": report})
        if report is not None:
            refuse_unwritable(report, "--report")
        own = seed if seed is not None or state is not None else 0
        settings = ReplaySettings(step, horizon, delay, alarm, max_weight, own)
        answer = replay_file(
            log, roles, settings, out=out, state=state, pos_label=positive, strict=strict,
            progress=wanted,
        )  # fmt: skip
        if report is not None:
            answer.report(report)
        if out != "-":
            written = "" if report is None else f"\n\nReport: {report}"
            text = without_notes(str(answer)) if quiet else str(answer)
            text = answer.to_json(indent=2) if as_json else laid_out(in_shell(text)) + written
            say(text, "forecast")

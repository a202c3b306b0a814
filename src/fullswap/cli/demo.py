"""`fullswap demo`."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fullswap.cli.options import JSON, OUTPUT, QUIET
from fullswap.cli.output import (
    answered,
    bold,
    laid_out,
    progress_wanted,
    refuse_unwritable,
    say,
    table,
    width,
)

if TYPE_CHECKING:
    from fullswap.demo import Tour

REPORT = "fullswap-demo.html"
WIDEST = 100
"""Columns of the picture."""


def demo(
    seed: int = typer.Option(0, min=0, metavar="NUMBER", help="Seed of the draws."),
    report: Path | None = typer.Option(  # noqa: B008
        None, metavar="FILE.html", rich_help_panel=OUTPUT,
        help=f"Where to write the report; {REPORT} in this folder unless given.",
    ),
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:  # fmt: skip
    """See it work on real weather: a model is checked, improved and watched, in under a minute.

    Exits with 1 if something that was guaranteed did not come true.
    """
    progress_wanted(quiet)
    with answered("demo"):
        page = _place(report)
        from fullswap.demo import Tour

        tour = Tour(seed)
        if as_json:
            tour.report(page)
            say(json.dumps({**tour.to_dict(), "report": str(page)}, indent=2), "demo")
        else:
            _tell(tour, page, quiet)
    if not tour.holds:
        raise typer.Exit(1)


def _place(report: Path | None) -> Path:
    """Where the report goes, which must be known before the work."""
    if report is not None:
        refuse_unwritable(report, "--report")
        return report
    here = os.access(".", os.W_OK) and not Path(REPORT).is_dir()
    return Path(REPORT) if here else Path(tempfile.mkdtemp()) / REPORT


def _tell(tour: Tour, page: Path, quiet: bool) -> None:
    """Step by step, each as soon as it is known."""
    rain = tour.rain
    if not quiet:
        _say(
            f"Rain in Seattle, {rain.days[0]} to {rain.days[-1]}, {len(rain.days):,} real days. A "
            "simple model (logistic regression on today's weather) says how likely rain is "
            f"tomorrow. It was fitted on {rain.learnt_from} days of 2012, October to March only: "
            "it has never seen a summer."
        )
    for number, step in enumerate((_check, _recalibrate, _watch, _oppose, _solve), 1):
        title, headline, more = step(tour)
        if quiet:
            _say(headline)
            continue
        say(f"\n{bold(f'{number}. {title}')}", "demo")
        _say(headline)
        for block in more:
            say(f"\n{block}" if "\n" in block else laid_out(block), "demo")
    tour.report(page)
    _say(f"{'' if quiet else chr(10)}Report: {page}")


def _check(tour: Tour) -> tuple[str, str, list[str]]:
    return "Is the model right?  (fullswap check)", tour.before.sentence, []


def _recalibrate(tour: Tour) -> tuple[str, str, list[str]]:
    from fullswap.certificates.words import points

    before, after, promised = tour.before, tour.after, tour.certificate
    headline = (
        f"Recalibrated day by day, without looking ahead, in steps of 10 %: "
        f"{points(before.error)} points off before, {points(after.error)} after."
    )
    rows = [
        ("off on average, points", points(before.error), points(after.error)),
        ("chance alone would show", points(before.chance.median), points(after.chance.median)),
        ("Brier score (less is better)", f"{before.brier.score:.4f}", f"{after.brier.score:.4f}"),
    ]
    guarantee = (
        f"Guaranteed, whatever the weather does: at most {_bound(promised.points_guaranteed)} "
        f"points (root of the mean square); it came to {points(promised.points or 0.0)}."
    )
    second = f"What check says of the result: {after.sentence}"
    grid = table("", ("", "before", "after"), rows)
    return (
        "Make it right  (fullswap forecast)",
        headline,
        [grid, _picture(tour), "", guarantee, second],
    )


def _watch(tour: Tour) -> tuple[str, str, list[str]]:
    from fullswap.demo.tour import TEN_YEARS

    alarm, later = tour.alarm, tour.alarm_after
    headline = "A monitor over the model did not ring."
    if alarm is not None:
        day = tour.day(alarm)
        season = ", in its first summer," if "2013-06" <= day < "2013-09" else ""
        headline = (
            f"A monitor over the model rings on {day}{season} after {alarm.at:,} days: its "
            f"forecasts are {alarm.direction}."
        )
    second = "does not ring" if later is None else f"rings on {tour.day(later)}"
    more = (
        f"Over the recalibrated forecasts it {second} in all {len(tour.rain.days):,} days. If "
        f"forecasts are right it rings at most once in {TEN_YEARS:,} days on average."
    )
    return "Notice when it goes wrong  (fullswap.Monitor)", headline, [more]


def _oppose(tour: Tour) -> tuple[str, str, list[str]]:
    from fullswap.certificates.words import points

    met = tour.adversary
    headline = (
        f"Staged: an opponent sees the chances and lets the less likely thing happen. After "
        f"{met.rounds:,} rounds the forecaster is {points(met.points or 0.0)} points off; "
        f"guaranteed were at most {_bound(met.points_guaranteed)}."
    )
    more = (
        f"Somebody who says how often it happened so far is {points(tour.frequency)} points off "
        "against the same opponent."
    )
    return "Somebody plays against it  (fullswap.Forecaster)", headline, [more]


def _solve(tour: Tour) -> tuple[str, str, list[str]]:
    found = tour.equilibrium
    gain = "anything" if found.gap < 1e-12 else f"more than {found.gap:.2g}"
    headline = (
        f"An auction in which both bidders have {found.game.actions[0].size:,} plans (a bid for "
        f"each value): nobody gains {gain} by leaving the recommended plan, checked against all."
    )
    return "Solve a game  (fullswap equilibrium auction)", headline, []


def _picture(tour: Tour) -> str:
    from fullswap.demo.picture import ASCII, FANCY, reliability_lines

    marks = FANCY
    try:
        "".join(marks).encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        marks = ASCII
    rain = tour.rain
    lines = reliability_lines(
        rain.said, tour.issued, rain.happened, min(width(), WIDEST) - 2, marks
    )
    return "\n".join([*lines, f"{marks[1]} said   {marks[0]} happened   scale: 0 % to 100 %"])


def _bound(share: float | None) -> str:
    from fullswap.certificates.words import points

    return "–" if share is None else points(share, up=True)


def _say(text: str) -> None:
    say(laid_out(text), "demo")

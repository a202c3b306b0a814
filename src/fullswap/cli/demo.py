"""`fullswap demo`."""

from __future__ import annotations

import json
from typing import Any

import typer

from fullswap.cli.output import print_table


def demo(
    seed: int = typer.Option(0, min=0, help="Seed of the adversaries."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Forecasters and learners against adversaries: measured error beside the guarantee."""
    from fullswap.demo import run_demo

    results = list(run_demo((1_000, 3_000, 10_000), seed))
    if as_json:
        rows = [{"what": what, "against": who, **c.to_dict()} for what, who, c in results]
        print(json.dumps(rows, indent=2))
    else:
        _print(results)
    if not all(certificate.holds for *_, certificate in results):
        raise typer.Exit(1)


def _print(results: Any) -> None:
    """Forecasters in percentage points, learners in sums."""
    from fullswap.demo import in_points, in_sums

    print_table(
        "Forecasters: percentage points off, on average over the events",
        ("what", "against", "events", "measured", "chance alone", "guaranteed at most", "holds"),
        in_points(results),
    )
    print_table(
        "Learners: full swap regret, summed over the rounds",
        ("what", "against", "rounds", "measured", "guaranteed at most", "holds"),
        in_sums(results),
    )

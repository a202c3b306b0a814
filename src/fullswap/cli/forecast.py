"""`fullswap forecast LOG`."""

from __future__ import annotations

import typer


def forecast(
    log: str = typer.Argument(help="CSV, Parquet or JSON lines; - is standard input."),
) -> None:
    """Better probabilities for a log of forecasts, as if it had run all along."""
    raise typer.Exit(2)

"""Options that commands share."""

from __future__ import annotations

import typer

COLUMNS, READING, OUTPUT = "Columns of the log", "How to read it", "Output"
"""Groups of options."""

JSON = typer.Option(
    False, "--json", help="Print JSON, for programs.", rich_help_panel=OUTPUT
)  # fmt: skip
QUIET = typer.Option(
    False, "--quiet", "-q", help="No progress bar, no notes.", rich_help_panel=OUTPUT
)


def listed(values: list[str]) -> list[str]:
    """Names that were repeated, or joined by commas."""
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


def grouped(values: list[str]) -> list[str]:
    """Columns of groups, each once; one that is empty stays, to be refused as unknown ones are."""
    return list(dict.fromkeys(name for value in values for name in listed([value]) or [""]))

"""Options that every command has."""

from __future__ import annotations

import typer

OUTPUT = "Output"
"""The group of options about what is printed and written."""

JSON = typer.Option(
    False, "--json", help="Print JSON, for programs.", rich_help_panel=OUTPUT
)  # fmt: skip
QUIET = typer.Option(
    False, "--quiet", "-q", help="No progress bar, no notes.", rich_help_panel=OUTPUT
)

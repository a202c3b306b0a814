"""`fullswap backup FOLDER TARGET`."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import typer

from fullswap.cli.options import JSON
from fullswap.cli.output import answered, fail, say

COULD_NOT = 1
"""Exit code: the call was right, and it could not be done."""


def backup(
    folder: Path = typer.Argument(metavar="FOLDER", help="That of a service."),  # noqa: B008
    target: Path = typer.Argument(  # noqa: B008
        metavar="TARGET", help="Where the copy goes; must not be there yet."
    ),
    as_json: bool = JSON,
) -> None:
    """Copy the folder of a service, also while it runs.

    The copy is that of one moment and has all that was answered before the command began. Serve it
    as it is: fullswap serve TARGET.
    """
    with answered("backup"):
        from fullswap.service.backup import backup as copy

        try:
            about = copy(folder, target)
        except (OSError, ValueError, sqlite3.Error) as error:
            fail(error, "backup")
            raise SystemExit(COULD_NOT) from None
        words = (
            f"{about['streams']:,} streams and {about['entries']:,} entries of the journal, "
            f"{about['bytes'] / 2**20:,.1f} MiB, are in {target}."
        )
        say(json.dumps(about, indent=2) if as_json else words, "backup")

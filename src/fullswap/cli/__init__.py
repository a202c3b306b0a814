"""The command `fullswap`: parsing and printing only, one file a command."""

from __future__ import annotations

import sys

from fullswap.base.extras import is_installed


def main() -> None:
    """Entry point; without the extra that brings the command line, say what to install."""
    if not (is_installed("typer") and is_installed("rich")):
        print("fullswap: the command line needs its extra: pip install 'fullswap[cli]'",
              file=sys.stderr)  # fmt: skip
        sys.exit(2)
    try:
        from fullswap.cli.app import run
    except KeyboardInterrupt:  # commands answer for themselves, once they are there
        print("fullswap: interrupted", file=sys.stderr)
        sys.exit(130)
    run(sys.argv[1:])

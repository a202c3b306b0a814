"""The command `fullswap`: parsing and printing only, one file a command."""

from __future__ import annotations

import sys
from importlib.util import find_spec


def main() -> None:
    """Entry point; without the extra that brings the command line, say what to install."""
    if not (_is_there("typer") and _is_there("rich")):
        print("fullswap: the command line needs its extra: pip install 'fullswap[cli]'",
              file=sys.stderr)  # fmt: skip
        sys.exit(2)
    from fullswap.cli.app import run

    run(sys.argv[1:])


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ValueError:  # it was put away on purpose
        return False

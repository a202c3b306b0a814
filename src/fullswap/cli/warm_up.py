"""`fullswap warm-up`."""

from __future__ import annotations

import json
import sys

from fullswap.base.extras import is_installed
from fullswap.cli.options import JSON, QUIET
from fullswap.cli.output import answered, progress_wanted, say


def warm_up(as_json: bool = JSON, quiet: bool = QUIET) -> None:
    """Compile what forecasting, checking and games need, once, so that the first call is fast.

    Exits with 2 if compiled code cannot be kept anywhere.
    """
    progress_wanted(quiet)
    with answered("warm-up"):
        from fullswap.warming import warm_up as compile_all

        more = {}
        if is_installed("msgspec"):
            from fullswap.service.warming import warm_all

            more["the service"] = warm_all
        done = compile_all(None if quiet else _tell, more)
        if not done.kept:
            raise ValueError(" ".join(str(done).split()))
        if as_json:
            say(json.dumps(done.to_dict(), indent=2), "warm-up")
        elif not quiet:
            say(str(done), "warm-up")


def _tell(words: str) -> None:
    print(f"compiling: {words}", file=sys.stderr, flush=True)

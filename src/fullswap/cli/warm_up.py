"""`fullswap warm-up`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

from fullswap.cli.options import JSON, QUIET
from fullswap.cli.output import answered, progress_wanted, say


def warm_up(as_json: bool = JSON, quiet: bool = QUIET) -> None:
    """Compile what all commands and the service need, once, so that the first call is fast.

    Exits with 2 if compiled code cannot be kept anywhere.
    """
    progress_wanted(quiet)
    with answered("warm-up"):
        from fullswap.warming import warm_up as compile_all

        done = compile_all(None if quiet else _tell, _service())
        if not done.kept:
            raise ValueError(" ".join(str(done).split()))
        if as_json:
            say(json.dumps(done.to_dict(), indent=2), "warm-up")
        elif not quiet:
            say(str(done), "warm-up")


def _service() -> dict[str, Callable[[], None]]:
    """What the service needs, where its packages are installed."""
    from fullswap.base.extras import is_installed

    if not is_installed("msgspec"):
        return {}
    from fullswap.service.rehearsal import rehearse

    return {"the service": rehearse}


def _tell(words: str) -> None:
    print(f"compiling: {words}", file=sys.stderr, flush=True)

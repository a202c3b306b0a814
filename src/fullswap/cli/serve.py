"""`fullswap serve FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from fullswap.cli.output import TROUBLE, answered, fail

NETWORK, LIMITS, ALARMS, LOGS = "Where it listens", "How much it takes", "Alarms", "Logs"
"""Groups of options."""
COULD_NOT = 1
"""Exit code: the call was right, and it could not be done."""


def serve(
    folder: Path = typer.Argument(  # noqa: B008
        metavar="FOLDER", help="Where everything is kept; made if it is not there."
    ),
    host: str = typer.Option(
        "127.0.0.1", metavar="ADDRESS", rich_help_panel=NETWORK,
        help="Address to listen on. Others than this machine's own need a token, see fullswap "
        "token.",
    ),
    port: int = typer.Option(
        8642, min=0, max=65535, rich_help_panel=NETWORK, help="0 takes any that is free."
    ),
    webhook: str | None = typer.Option(
        None, metavar="URL", rich_help_panel=ALARMS,
        help="Every alarm that begins is posted there as JSON, at least once.",
    ),
    page: str | None = typer.Option(
        None, metavar="URL", rich_help_panel=ALARMS,
        help="Where people see the page of this service; sent along with alarms.",
    ),
    max_body: int = typer.Option(
        8 * 2**20, min=1, metavar="BYTES", rich_help_panel=LIMITS, help="Of a request."
    ),
    max_batch: int = typer.Option(
        10_000, min=1, metavar="ITEMS", rich_help_panel=LIMITS, help="Of a request."
    ),
    max_streams: int = typer.Option(
        1_000_000, min=1, metavar="STREAMS", rich_help_panel=LIMITS, help="Altogether."
    ),
    max_pending: int = typer.Option(
        100_000, min=1, metavar="FORECASTS", rich_help_panel=LIMITS,
        help="Of a stream, that wait for their outcome.",
    ),
    max_waiting: int = typer.Option(
        200_000, min=1, metavar="ITEMS", rich_help_panel=LIMITS,
        help="That wait for the writer; more are told to come again.",
    ),
    metric_streams: int = typer.Option(
        1_000, min=0, metavar="STREAMS", rich_help_panel=LIMITS,
        help="With numbers of their own in /metrics.",
    ),
    log_level: str = typer.Option(
        "info", metavar="LEVEL", rich_help_panel=LOGS,
        help="debug, info (a line for each request), warning or error.",
    ),
) -> None:  # fmt: skip
    """Forecasts for many streams over HTTP, kept in a folder, with a page to watch them.

    Stops when it gets SIGTERM or Ctrl-C, after all requests under way are answered.
    """
    with answered("serve"):
        needs_extra()
        from fullswap.service.bounds import Bounds
        from fullswap.service.limits import Limits
        from fullswap.service.logs import LEVELS
        from fullswap.service.server import Serving, serve_folder
        from fullswap.service.webhook import check_address

        if log_level not in LEVELS:
            raise ValueError(f"--log-level must be one of {', '.join(LEVELS)}, got {log_level!r}")
        if webhook is not None:
            check_address(webhook)
        limits = Limits(
            body=max_body, batch=max_batch, streams=max_streams, pending=max_pending,
            waiting=max_waiting,
        )  # fmt: skip
        bounds = Bounds(metric_streams=metric_streams)
        serving = Serving(str(folder), host, port, limits, bounds, webhook, page, log_level)
        try:
            serve_folder(serving, _tell)
        except (OSError, ValueError) as error:
            fail(error, "serve")
            raise SystemExit(COULD_NOT) from None


def needs_extra() -> None:
    """Say what to install where the packages of the service are missing."""
    from fullswap.base.extras import is_installed

    if not all(map(is_installed, ("litestar", "msgspec", "uvicorn"))):
        fail("the service needs its extra: pip install 'fullswap[serve]'", "serve")
        raise SystemExit(TROUBLE)


def _tell(address: str) -> None:
    # in one piece: another thread writes the log to the same place
    sys.stderr.write(f"fullswap serve: listening on {address}\n")
    sys.stderr.flush()

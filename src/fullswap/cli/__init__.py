"""The command `fullswap`: parsing and printing only, one file a command."""

from __future__ import annotations

import sys
from typing import Any


def main() -> None:
    """Entry point; without the extra that brings the command line, say what to install."""
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError:
        sys.exit("The command line needs its extra: pip install 'fullswap[cli]'")
    _app()()


def _app() -> Any:
    import typer

    from fullswap.cli.check import check
    from fullswap.cli.demo import demo
    from fullswap.cli.equilibrium import equilibrium
    from fullswap.cli.forecast import forecast
    from fullswap.cli.warm_up import warm_up

    about = "Calibrated forecasts and correlated equilibria, each guarantee a number."
    app = typer.Typer(help=about, no_args_is_help=True, add_completion=False)

    def print_version(wanted: bool) -> None:
        if wanted:
            from fullswap import __version__

            print(__version__)
            raise typer.Exit

    @app.callback(help=about)
    def root(
        version: bool = typer.Option(
            False, "--version", callback=print_version, is_eager=True, help="Print the version."
        ),
    ) -> None: ...

    for command in (check, forecast, equilibrium, demo, warm_up):
        app.command()(command)
    return app

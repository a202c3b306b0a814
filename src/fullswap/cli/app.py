"""All commands together, and what happens around each of them."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, NoReturn

import typer

from fullswap.cli.backup import backup
from fullswap.cli.check import check
from fullswap.cli.demo import demo
from fullswap.cli.equilibrium import GameCommand, equilibrium
from fullswap.cli.forecast import forecast
from fullswap.cli.help import Command, Group
from fullswap.cli.output import TROUBLE, answered, fail, say, stop_writing
from fullswap.cli.serve import serve
from fullswap.cli.token import token_commands
from fullswap.cli.warm_up import warm_up

ABOUT = (
    "Probabilities that you can take at their word: of the events called 30 % likely, about 30 % "
    "happen. Check a log of forecasts, improve it, solve a game."
    "\n\nTo begin with: fullswap demo, or fullswap check LOG.csv with a log of your own."
)


def app() -> Any:
    """The command with its subcommands."""
    made = typer.Typer(
        cls=Group, rich_markup_mode=None, context_settings={"max_content_width": 100},
    )  # fmt: skip

    @made.callback(help=ABOUT, invoke_without_command=True)
    def root(
        context: typer.Context,
        version: bool = typer.Option(
            False, "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ) -> None:
        if context.invoked_subcommand is None:
            say(context.get_help())
            raise typer.Exit(TROUBLE)

    for command in (check, forecast, equilibrium, serve, backup, demo, warm_up):
        made.command(cls=GameCommand if command is equilibrium else Command)(command)
    made.add_typer(token_commands(), name="token")
    return typer.main.get_command(made)


def _print_version(wanted: bool) -> None:
    if wanted:
        from fullswap import __version__

        say(__version__)
        raise typer.Exit


def run(arguments: list[str]) -> NoReturn:
    """Run one command; errors are one line, and the exit code is 0, 1 or 2."""
    if sys.stderr is None:  # closed: print() would take standard output in its place
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        fail("standard output is closed: there is nowhere to write the answer")
        sys.exit(TROUBLE)
    # numba would write an escape sequence at the end, even where none is wanted
    os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")
    code: Any = TROUBLE
    with answered(""):
        try:
            code = app().main(arguments, prog_name="fullswap", standalone_mode=False)
        except SystemExit as stop:
            # where nobody reads the help, typer leaves with 1, which means "no" here
            if stop.code == 1 and isinstance(stop.__context__, BrokenPipeError):
                stop_writing(stop.__context__)
            raise
        except OSError as error:  # of help: commands answer for themselves
            stop_writing(error)
        except Exception as error:
            if not hasattr(error, "format_message"):
                traceback.print_exc()  # not foreseen: all that helps to mend it
            else:
                _refuse(error)
    sys.exit(code or 0)


def _refuse(error: Any) -> None:
    """What was wrong in a call, and a hint, in one line."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "fullswap"
    message = error.format_message().rstrip(".")
    command = re.match("No such command '(.*?)'", message)
    if command and context:
        message = f"no command {command[1]}{_nearest(command[1], context.command.commands)}"
    elif context and hasattr(error, "possibilities"):  # of an option
        known = [name for param in context.command.get_params(context) for name in param.opts]
        message = f"no option {error.option_name}{_nearest(error.option_name, known)}"
    message = message[:1].lower() + message[1:]
    fail(f"{message} (see {path} --help)", path.removeprefix("fullswap").strip())


def _nearest(wrong: str, known: Iterable[str]) -> str:
    """The name that may have been meant; dashes are the same for all options."""
    bare = {name.lstrip("-"): name for name in known}
    near = get_close_matches(wrong.lstrip("-"), bare, 1)
    return f", did you mean {bare[near[0]]}?" if near else ""

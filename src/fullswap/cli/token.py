"""`fullswap token create | list | revoke FOLDER`."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

import typer

from fullswap.cli.help import Command, Group
from fullswap.cli.options import JSON
from fullswap.cli.output import TROUBLE, answered, fail, say, table

ABOUT = (
    "Who may use a service: tokens of three roles. read sees everything, forecast also asks for "
    "forecasts and tells outcomes, admin also makes specs and removes streams."
)
FOLDER = typer.Argument(metavar="FOLDER", help="That of the service.")
COULD_NOT = 1
"""Exit code: the call was right, and it could not be done."""


def token_commands() -> Any:
    """The three commands."""
    made = typer.Typer(cls=Group, rich_markup_mode=None)

    @made.callback(help=ABOUT, invoke_without_command=True)
    def root(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            say(context.get_help())
            raise typer.Exit(TROUBLE)

    for name, command in (("create", create), ("list", list_all), ("revoke", revoke)):
        made.command(name, cls=Command)(command)
    return made


def create(
    folder: Path = FOLDER,
    role: str = typer.Option(metavar="ROLE", help="read, forecast or admin."),
    name: str = typer.Option("", metavar="NAME", help="For whom or what; logs show it."),
    as_json: bool = JSON,
) -> None:
    """Make a token and print it. It is shown only now: the folder keeps no more than its hash.

    The folder is made if it is not there. A running service notices within a second or two.
    """
    with answered("token create"):
        from fullswap.service.paths import ROLES

        if role not in ROLES:
            raise ValueError(f"--role must be {', '.join(ROLES[:-1])} or {ROLES[-1]}, got {role!r}")
        from fullswap.base.files import make_folder
        from fullswap.service.tokens import LONGEST_NAME, create_token

        if len(name) > LONGEST_NAME or not (name.isprintable() or not name):
            raise ValueError(f"--name must have at most {LONGEST_NAME} printable characters")
        try:
            make_folder(folder)
            secret, kept = create_token(folder, role, name)
        except (OSError, ValueError) as error:
            _could_not(error, "token create")
        about = {"token": secret, "id": kept.id, "name": kept.name, "role": kept.role}
        say(json.dumps(about, indent=2) if as_json else secret, "token create")


def list_all(folder: Path = FOLDER, as_json: bool = JSON) -> None:
    """Tokens that there are: names and roles, never the tokens themselves."""
    with answered("token list"):
        from fullswap.service.tokens import read_tokens

        if not folder.is_dir():
            _could_not(FileNotFoundError(2, "No such folder", str(folder)), "token list")
        try:
            tokens = read_tokens(folder)
        except (OSError, ValueError) as error:
            _could_not(error, "token list")
        shown = [
            {"id": one.id, "name": one.name, "role": one.role, "created": one.created}
            for one in tokens or ()
        ]
        if as_json:
            say(json.dumps({"tokens": shown}, indent=2), "token list")
        elif tokens is None:
            say("No tokens: the service listens on this machine alone.", "token list")
        elif not tokens:
            say(f"No tokens are left: {LOCKED}", "token list")
        else:
            rows = [[one.id, one.name, one.role, _day(one.created)] for one in tokens]
            say(table("", ["id", "name", "role", "created"], rows), "token list")


def revoke(
    folder: Path = FOLDER,
    which: str = typer.Argument(metavar="ID", help="Id or name of the token, see token list."),
    as_json: bool = JSON,
) -> None:
    """Take a token back. A running service refuses it within a second or two."""
    with answered("token revoke"):
        from fullswap.service.tokens import read_tokens, revoke_token

        try:
            gone = revoke_token(folder, which)
            left = read_tokens(folder)
        except (OSError, ValueError) as error:
            _could_not(error, "token revoke")
        if not gone:
            _could_not(ValueError(f"there is no token {which}"), "token revoke")
        if as_json:
            say(json.dumps({"revoked": [one.id for one in gone]}, indent=2), "token revoke")
        else:
            names = ", ".join(f"{one.id} ({one.name})" for one in gone)
            say(f"Revoked {names}." + ("" if left else f" It was the last: {LOCKED}"))


LOCKED = "the service refuses everybody until there is a new one, or tokens.json is removed."


def _day(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _could_not(error: Exception, command: str) -> NoReturn:
    fail(error, command)
    raise SystemExit(COULD_NOT)

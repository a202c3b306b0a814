"""Help that shows options in groups, the same on a terminal and in a pipe."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand, TyperGroup

from fullswap.cli.output import styled

MISC = "Options"
"""The group of options that name none."""
HEADING = re.compile(r"^(Usage|[A-Z][^\n:]*)(:)", re.MULTILINE)
NAME = re.compile(r"^(  )(-[^\s,]+(?:, -[^\s,]+)*|[a-z][\w-]*(?=  ))", re.MULTILINE)


class Command(TyperCommand):
    """A command whose help has groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments, then the options group by group, those without one last."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        for param in sorted(self.get_params(ctx), key=_is_misc):
            record = param.get_help_record(ctx)
            if record is not None:
                groups.setdefault(_group(param), []).append(record)
        for title, records in groups.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def get_help(self, ctx: Any) -> str:
        """With colours where they are wanted."""
        return coloured(super().get_help(ctx))


class Group(TyperGroup):
    """The list of commands, each with all of its first sentence."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Name and purpose of each."""
        names = self.list_commands(ctx)
        with formatter.section("Commands"):
            formatter.write_dl([(n, self.commands[n].get_short_help_str(300)) for n in names])

    def get_help(self, ctx: Any) -> str:
        """With colours where they are wanted."""
        return coloured(super().get_help(ctx))


def coloured(text: str) -> str:
    """Headings in bold, names of options and commands in cyan, on a terminal that takes it."""
    if not styled():
        return text
    return NAME.sub("\\1\033[36m\\2\033[0m", HEADING.sub("\033[1m\\1\\2\033[0m", text))


def _group(param: Any) -> str:
    if param.param_type_name == "argument":
        return "Arguments"
    return getattr(param, "rich_help_panel", None) or MISC


def _is_misc(param: Any) -> bool:
    return _group(param) == MISC

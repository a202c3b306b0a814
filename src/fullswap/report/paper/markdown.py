"""The page as Markdown, for a site that lays out and searches many pages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from fullswap.report.paper.page import (
    RUNS_TITLE,
    TITLE,
    facts,
    introduction,
    numeric_columns,
    spans,
)
from fullswap.report.paper.section import Block, Paragraph, Section, Table

# Spaces that keep words together or numbers legible are left as they are.
_SPACE = re.compile(r"[^\S\u00a0\u2007\u2009\u202f]+")
# What would open a list, a rule, a fence or a box at the beginning of a line.
_OPENING = re.compile(r"^(\d+(?=[.)](?: |$))|(?=[-+](?:[ -]|$))|(?=[:=~!]))(.)")


def markdown(sections: Sequence[Section], about: Mapping[str, Any], pictures: str) -> str:
    """The same content as `page.html`; ``pictures`` is the folder that holds ``<name>.svg``."""
    if not sections:
        raise ValueError("sections must hold at least one section, got none")
    told = facts(about)
    blocks = [f"# {TITLE}", *(_paragraph(paragraph) for paragraph in introduction(about))]
    for section in sections:
        blocks += [f"## {literal(section.title)}", f"Made with {_code(section.command)}"]
        blocks += [_block(block, pictures) for block in section.blocks]
    blocks += [f"## {RUNS_TITLE}", "\n".join(f"- {n}: {literal(v)}" for n, v in told)]
    return "\n\n".join(blocks) + "\n"


def literal(text: str) -> str:
    r"""Markdown that reads as this text, on one line, also within a table.

    Examples
    --------
    >>> print(literal("x_t < 2 | >>> 1"))
    x\_t &lt; 2 \| &gt;&gt;&gt; 1
    """
    line = escape(_SPACE.sub(" ", text).strip(" "), quote=False)
    # a reference, not a backslash: tables look for backticks before they look for escapes
    line = re.sub(r"([\\*_{}\[\]#|])", r"\\\1", line).replace("`", "&#96;")
    return _OPENING.sub(lambda found: f"{found[1]}&#{ord(found[2])};", line)


def _code(text: str) -> str:
    line = _SPACE.sub(" ", text).strip(" ")
    # `>>>` would be run as an example where documents are tested
    if not line or "`" in line or ">>>" in line:
        return f"<code>{literal(line)}</code>"
    return f"`{line}`"


def _block(block: Block, pictures: str) -> str:
    if isinstance(block, Paragraph):
        return _paragraph(block)
    if isinstance(block, Table):
        return _table(block)
    caption = literal(block.caption)
    return f"![{caption}]({pictures}/{block.name}.svg)\n\n*{caption}*"


def _paragraph(paragraph: Paragraph) -> str:
    parts = []
    for kind, text in spans(_SPACE.sub(" ", paragraph.text).strip(" ")):
        if kind == "code":
            parts.append(_code(text))
        elif kind == "strong":
            parts.append(f"**{literal(text)}**")
        else:
            # the spaces that part it from its neighbours
            before, after = text[: text[0] == " "], text[len(text) - (text[-1] == " ") :]
            parts.append(f"{before}{literal(text)}{after}" if text != " " else " ")
    return "".join(parts)


def _table(table: Table) -> str:
    rules = ["---:" if numeric else "---" for numeric in numeric_columns(table)]
    cells = [[literal(cell) for cell in row] for row in (table.columns, *table.rows)]
    lines = [f"| {' | '.join(row)} |" for row in (cells[0], rules, *cells[1:])]
    return f"**{literal(table.caption)}**\n\n" + "\n".join(lines)

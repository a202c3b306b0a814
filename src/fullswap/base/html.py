"""Small cards for notebooks: results as tables, in the colours of whatever page shows them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

FRAME = (
    "border:1px solid rgba(127,127,127,.4);border-radius:8px;padding:12px 16px;max-width:46rem;"
    "overflow-x:auto;font-family:system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif"
)
TITLE = "font-size:1.1em;font-weight:650;margin:0 0 .4em"
NOTE = "opacity:.75;margin:.4em 0 0;font-size:.9em"
SPACED = "border-collapse:collapse;margin:0 0 .6em"
CELL = "vertical-align:top;padding:.2em .9em .2em 0;text-align:"
"""Colours are left to the page: cards look right on light and on dark."""


def card(title: str, *parts: str) -> str:
    """A framed box with a title; the parts are HTML already.

    Examples
    --------
    >>> card("a < b").endswith(">a &lt; b</p></div>")
    True
    """
    return f'<div style="{FRAME}"><p style="{TITLE}">{escape(title)}</p>{"".join(parts)}</div>'


def table(head: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """Rows of text, the first ``words`` columns to the left and numbers to the right.

    Examples
    --------
    >>> table(["", "points"], [["measured", "2.1"]]).count("<td")
    2
    """

    def cells(values: Sequence[str], tag: str) -> str:
        return "".join(
            f'<{tag} style="{CELL}{"left" if k < words else "right"}">{escape(value)}</{tag}>'
            for k, value in enumerate(values)
        )

    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    first = f"<tr>{cells(head, 'th')}</tr>"
    return f'<table style="{SPACED}"><thead>{first}</thead><tbody>{body}</tbody></table>'


def note(text: str) -> str:
    """A smaller paragraph.

    Examples
    --------
    >>> "x &amp; y" in note("x & y")
    True
    """
    return f'<p style="{NOTE}">{escape(text)}</p>'

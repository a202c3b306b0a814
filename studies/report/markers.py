"""Parts of a page that a command writes: what stands between two comments is replaced."""

from __future__ import annotations

from pathlib import Path

from studies.runs import write


def replace_between(text: str, name: str, content: str) -> str:
    r"""The text with new content between the markers of this name.

    Examples
    --------
    >>> page = "a\n<!-- sums: begin -->\nold\n<!-- sums: end -->\nb\n"
    >>> print(replace_between(page, "sums", "new"))
    a
    <!-- sums: begin -->
    <BLANKLINE>
    new
    <BLANKLINE>
    <!-- sums: end -->
    b
    <BLANKLINE>
    """
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise ValueError(f"the page must have {begin} and {end} once each, in this order")
    before, rest = text.split(begin)
    _, after = rest.split(end)
    return f"{before}{begin}\n\n{content.strip()}\n\n{end}{after}"


def rewrite(page: Path, name: str, content: str) -> None:
    """Replace what stands between the markers of a file."""
    write(page, replace_between(page.read_text(encoding="utf-8"), name, content))

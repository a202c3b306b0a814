"""Blocks of code in the pages, and the commands among them.

Commands stand in blocks of `sh`, one a line, with what they print in a block of `text` right
beneath; or in blocks of `console`, where a `$` opens each command and its output follows. In front
of a block that cannot be run stands a comment, `<!-- not run: why -->`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "studies" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

FENCE = re.compile(r"^```(.*?)\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)
EXCUSE = re.compile(r"<!-- not run: \S.*?-->\s*\Z", re.DOTALL)
LEFT_ALONE = ("pip ", "make ", "#")
"""Lines that would change the machine, or are none."""


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    page: Path
    line: int
    language: str
    text: str
    excused: bool
    """Whether a comment above it says why it is not run."""
    beneath: str | None
    """What stands in a block of `text` right beneath it."""

    @property
    def where(self) -> str:
        """As messages name it."""
        return f"{name_of(self.page)}, line {self.line}"

    def commands(self) -> Iterator[tuple[str, str | None]]:
        """Commands to run, each with what it shows, if the page says so."""
        if self.excused:
            return
        if self.language == "console":
            for part in re.split(r"^\$ ", self.text, flags=re.MULTILINE)[1:]:
                command, _, shown = part.partition("\n")
                yield command, shown or None
        elif self.language in ("sh", ""):
            lines = self.text.replace("\\\n", "").splitlines()
            own = [line for line in lines if line.strip() and not line.startswith(LEFT_ALONE)]
            if own:
                yield "\n".join(own), self.beneath


def name_of(page: Path) -> str:
    """The page, as messages name it."""
    return page.relative_to(ROOT).as_posix()


def blocks_of(page: Path) -> list[Block]:
    """All fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found: list[Block] = []
    matches = list(FENCE.finditer(text))
    for match, after in zip_longest(matches, matches[1:]):
        before = text[: match.start()]
        is_output = after is not None and after[1] == "text"
        follows = after is not None and not text[match.end() : after.start()].strip()
        found.append(
            Block(
                page, before.count("\n") + 1, match[1].strip(), match[2],
                bool(EXCUSE.search(before)), after[2] if is_output and follows else None,
            )
        )  # fmt: skip
    return found

"""Blocks of code in the pages: found, told apart, and which of them are commands to run."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "studies" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

FENCE = re.compile(r"^```(.*?)\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)
EXCUSE = re.compile(r"<!-- not run: \S.*?-->\s*\Z", re.DOTALL)
OURS = re.compile(r"(?:^|\|\s*)(?:fullswap|python -m)\b")
SHELL = ("sh", "bash", "console", "shell")


@dataclass(frozen=True)
class Block:
    """A block of commands, and the output that the page shows beneath it."""

    page: Path
    line: int
    language: str
    text: str
    excused: bool
    """Whether a comment above it says why it is not run."""
    shown: str | None = None
    """What stands in a block of `text` right beneath it."""

    @property
    def runs(self) -> bool:
        """Whether it is one of commands of ours."""
        lines = [line for line in self.text.splitlines() if line.strip() and line[0] != "#"]
        return self.language in SHELL and any(OURS.search(line) for line in lines)


def name_of(page: Path) -> str:
    """The page, as messages name it."""
    return page.relative_to(ROOT).as_posix()


def blocks_of(page: Path) -> list[Block]:
    """All fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found: list[Block] = []
    matches = list(FENCE.finditer(text))
    for k, match in enumerate(matches):
        before = text[: match.start()]
        shown = None
        if k + 1 < len(matches) and matches[k + 1][1] == "text":
            if not text[match.end() : matches[k + 1].start()].strip():
                shown = matches[k + 1][2]
        line = before.count("\n") + 1
        excused = bool(EXCUSE.search(before))
        found.append(Block(page, line, match[1].strip(), match[2], excused, shown))
    return found

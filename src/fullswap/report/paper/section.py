"""What a section of the page is made of. Sections say; ``page`` renders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Paragraph:
    """A few sentences; **strong** and `code` as in Markdown, nothing else."""

    text: str


@dataclass(frozen=True)
class Table:
    """Rows of text under columns; numbers are right-aligned."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Picture:
    """A figure, drawn when asked for.

    Attributes
    ----------
    name : str
        Of the files, without ending.
    caption : str
        A sentence on what it shows.
    draw : callable
        Gives the figure; the same every time.
    """

    name: str
    caption: str
    draw: Callable[[], Figure]


Block = Paragraph | Table | Picture


@dataclass(frozen=True)
class Section:
    """A heading, the command whose numbers these are, and blocks in reading order."""

    title: str
    command: str
    blocks: tuple[Block, ...]

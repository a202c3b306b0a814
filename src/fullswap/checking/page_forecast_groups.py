"""Groups of a replayed log on its page: a picture and a table, worst first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fullswap.base.amounts import counted
from fullswap.checking.page_parts_figures import WIDTH, Picture
from fullswap.checking.page_parts_svg import Palette, themed_svg
from fullswap.checking.page_parts_words import points
from fullswap.report.groups import height_of, plot_groups
from fullswap.report.style import new_figure

MOST_DRAWN, MOST_ROWS = 20, 100
"""Groups in the picture and in the table; the rest are counted."""
READING = (
    "The dot is how far issued forecasts are off in a group{before}. The bar holds about 19 of 20 "
    "groups whose forecasts are right, with a tick at their average; dots beyond it are filled. "
    "Events may belong to several groups; everybody is the square."
)
BEFORE = ", the cross how far those of the model were"
TABLE = (
    "In points, root mean square: how far off forecasts were, each time beside what chance alone "
    "would show, and at most how far they {promised}. Groups come first where chance explains "
    "least of the error{after}."
)


@dataclass(frozen=True)
class Groups:
    """What a page shows of groups."""

    picture: Picture
    heads: list[str]
    labels: list[str]
    """What each number is, where a narrow page has no heads."""
    rows: list[tuple[str, list[str]]]
    reading: str
    left: int
    """Groups that the table does not show."""


def groups_of(changes: Any, palette: Palette) -> Groups:
    """The picture and the table of ``GroupChanges``."""
    shown, left = changes.shown(MOST_ROWS)
    label = _label(changes)

    def draw() -> Any:
        figure = new_figure(WIDTH, height_of(changes, MOST_DRAWN, WIDTH), arranged=True)
        return plot_groups(changes, most=MOST_DRAWN, ax=figure.add_subplot())

    svg = themed_svg(draw, "f-groups", label, palette)
    reading = READING.format(before=BEFORE if "before" in changes.heads() else "")
    after = " after" if "before" in changes.heads() else ""
    title = "Groups, those least explained by chance first"
    picture = Picture("groups", title, label, reading, svg)
    words = "are guaranteed to be" if changes.in_advance else "can be, known after the fact"
    heads = [head[:1].upper() + head[1:] for head in changes.heads()]
    rows = [(name, cells) for name, *cells in map(changes.cells, shown)]
    labels = [f"Chance {heads[k - 1].lower()}" if head == "Chance" else head
              for k, head in enumerate(heads)][1:]  # fmt: skip
    reading = TABLE.format(promised=words, after=after)
    reading += f" {changes.so_far}." if changes.goes_on else ""
    return Groups(picture, heads, labels, rows, reading, left)


def _label(changes: Any) -> str:
    """The picture in a sentence."""
    worst = changes.rows[0]
    return (
        f"Errors of {counted(len(changes.measured), 'group')} and of everybody; first "
        f"{worst.name}: {points(worst.points)}, where chance alone would show "
        f"{points(worst.points_noise)}."
    )

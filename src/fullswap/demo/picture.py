"""A reliability diagram in letters: what was said beside what happened."""

from __future__ import annotations

import numpy as np

from fullswap.base.protocols import Vector

FANCY, ASCII = ("●", "│", "─", "·"), ("o", "|", "-", ".")
"""Marks of what happened, of what was said, of the way between them, and of the scale."""
FEWEST = 10
"""Events that a line of the picture stands for, at least."""
LEVELS, EDGE, NARROWEST = 10, 36, 12
"""Levels of probability; columns that are not scale; columns of each scale at least."""


def reliability_lines(
    before: Vector, after: Vector, happened: Vector, width: int, marks: tuple[str, ...] = FANCY
) -> list[str]:
    """For each tenth, where it was said and where it happened, of two forecasters side by side.

    Examples
    --------
    >>> bad, happened = np.repeat([0.1, 0.9], 20), np.repeat([0, 1, 0, 1], [14, 6, 6, 14])
    >>> for line in reliability_lines(bad, np.repeat([0.3, 0.7], 20), happened, 68, ASCII):
    ...     print(line)
    said   before           happened    after            happened
     90 %  ...........o--|.     70 %
     70 %                               ...........o....     70 %
     30 %                               ....o...........     30 %
     10 %  .|--o...........     30 %
    """
    wide = max((width - EDGE) // 2, NARROWEST)
    panels = [_panel(said, happened, wide, marks) for said in (before, after)]
    blank = " " * (wide + 9)
    lines = [f"said   {'before':{wide}} happened    {'after':{wide}} happened"]
    for level in reversed(range(LEVELS + 1)):
        if any(level in panel for panel in panels):
            left, right = (panel.get(level, blank) for panel in panels)
            lines.append(f"{100 * level // LEVELS:3d} %  {left}    {right}".rstrip())
    return lines


def _panel(said: Vector, happened: Vector, wide: int, marks: tuple[str, ...]) -> dict[int, str]:
    """Level ↦ its line."""
    dot, bar, way, scale = marks
    levels = np.rint(said * LEVELS).astype(int)
    lines = {}
    for level in range(LEVELS + 1):
        inside = levels == level
        if inside.sum() < FEWEST:
            continue
        p, y = float(said[inside].mean()), float(happened[inside].mean())
        at, seen = (min(int(share * wide), wide - 1) for share in (p, y))
        row = [scale] * wide
        row[min(at, seen) : max(at, seen)] = way * abs(at - seen)
        row[at] = bar
        row[seen] = dot
        lines[level] = f"{''.join(row)}    {100 * y:3.0f} %"
    return lines

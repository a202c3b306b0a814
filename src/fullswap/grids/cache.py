"""Grids asked for by value: kind, set and level. Sets are immutable and compare by value."""

from __future__ import annotations

from functools import lru_cache

from fullswap.grids.base import Grid, GriddedSet
from fullswap.grids.boundary import boundary

MOST_GRIDS = 64
"""So many are held for the next who asks; a search over levels looks at fewer."""


@lru_cache(maxsize=MOST_GRIDS)
def grid_of(kind: str, action_set: GriddedSet, level: int) -> Grid:
    """The grid with ``level`` cells along the longest axis, or dim + level points on the boundary.

    ``kind`` is "net", "triangulation" or "boundary".
    """
    if kind == "boundary":
        return boundary(action_set, action_set.dim + level)
    return action_set.grids.at_mesh(kind, action_set.grids.longest_side / level)


@lru_cache(maxsize=MOST_GRIDS)
def nested_grid(kind: str, action_set: GriddedSet, level: int) -> Grid:
    """Levels 0, 1, … are about twice as fine each time, and keep all earlier points."""
    return action_set.grids.nested(kind, level)
